"""The shapes of the models: one small frozen config each, checked when it is made (lecture, section 9);
and the embedding and the blocks built to it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lib.blocks import DecoderBlock, EncoderBlock, LayerNorm, RMSNorm
from transformer_lib.checks import check_ids
from transformer_lib.feed_forward import ACTIVATIONS, FeedForward, GatedFeedForward
from transformer_lib.multi_head import MultiHeadAttention
from transformer_lib.positions import LearnedPositions, SinusoidalPositions, alibi_bias, rotate_halves

NORMS = {"layer": LayerNorm, "rms": RMSNorm}
POSITIONS = ("sinusoidal", "sinusoidal-halves", "learned", "rotary", "alibi", "none")


@dataclass(frozen=True, kw_only=True)
class Config:
    """The shape of a Transformer; each model's own config adds to it.

    Raises:
        ValueError: sizes that do not fit, or an unknown name, with what came.

    >>> Config(vocab_size=100, d_model=30, n_heads=4)
    Traceback (most recent call last):
    ValueError: d_model must be a multiple of n_heads; got d_model=30, n_heads=4
    """

    vocab_size: int
    d_model: int = 128
    n_layers: int = 4
    n_heads: int = 4
    n_kv_heads: int | None = None  # None: n_heads
    d_ff: int | None = None  # None: 4 · d_model, or 8/3 of it when gated
    max_length: int = 1024  # of learned positions only, in words
    positions: str = "learned"  # a name in POSITIONS
    rotary_base: float = 10000.0
    norm: str = "layer"  # a name in NORMS
    norm_eps: float = 1e-5
    pre_norm: bool = True
    activation: str = "gelu"  # a name in ACTIVATIONS
    gated: bool = False
    bias: bool = True
    dropout: float = 0.0
    init_std: float = 0.02

    def __post_init__(self):
        for name in ("vocab_size", "d_model", "n_layers", "n_heads", "n_kv_heads", "d_ff", "max_length"):
            size = getattr(self, name)
            if size is not None and (not isinstance(size, int) or size < 1):
                raise ValueError(f"{name} must be a whole number of at least 1; got {size!r}")
        d_head, rest = divmod(self.d_model, self.n_heads)
        if rest:
            raise ValueError(
                f"d_model must be a multiple of n_heads; got d_model={self.d_model}, n_heads={self.n_heads}"
            )
        if self.n_heads % (self.n_kv_heads or self.n_heads):
            raise ValueError(
                f"n_heads must be a multiple of n_kv_heads; got {self.n_heads} and {self.n_kv_heads}"
            )
        for name, known in (("positions", POSITIONS), ("norm", NORMS), ("activation", ACTIVATIONS)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {sorted(known)}; got {getattr(self, name)!r}")
        paired = {"sinusoidal": self.d_model, "sinusoidal-halves": self.d_model, "rotary": d_head}
        if paired.get(self.positions, 0) % 2:
            raise ValueError(
                f"{self.positions} positions come in pairs, so the width they act on must be even; got "
                f"{paired[self.positions]} (d_model={self.d_model}, n_heads={self.n_heads})"
            )
        for name in ("rotary_base", "init_std"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be above 0; got {getattr(self, name)}")
        if not self.norm_eps >= 0:
            raise ValueError(f"norm_eps must be at least 0; got {self.norm_eps}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be at least 0 and below 1; got {self.dropout}")


@dataclass(frozen=True, kw_only=True)
class EncoderConfig(Config):
    """An encoder such as BERT: post-norm, a norm and a vector of the segment on the embeddings."""

    pre_norm: bool = False
    n_segments: int = 0  # BERT has 2: "sentence A" and "sentence B"
    embedding_norm: bool = False

    def __post_init__(self):
        super().__post_init__()
        if self.n_segments < 0:
            raise ValueError(f"n_segments must be at least 0; got {self.n_segments}")


@dataclass(frozen=True, kw_only=True)
class EncoderDecoderConfig(Config):
    """The original Transformer, as the lecture draws it: post-norm, sinusoidal positions, ReLU."""

    positions: str = "sinusoidal"
    activation: str = "relu"
    pre_norm: bool = False
    scale_embeddings: bool = True  # by √d_model
    output_bias: bool = False  # a learned number added to each word's logit, as Marian does


@dataclass(frozen=True, kw_only=True)
class LMConfig(Config):
    """A decoder-only language model such as GPT-2 (the defaults) or Llama."""

    tie_embeddings: bool = True  # the last map is the table of embeddings


class Embedding(nn.Module):
    """Vectors of words plus, for added kinds of positions, those of their places.

    Raises:
        ValueError: ids outside the vocabulary, empty or of another shape; a place past a learned table.
    """

    def __init__(self, config: Config, *, scale: float = 1.0):
        super().__init__()
        self.words = nn.Embedding(config.vocab_size, config.d_model)
        self.places = nn.Identity()
        if config.positions == "learned":
            self.places = LearnedPositions(config.d_model, config.max_length)
        elif config.positions.startswith("sinusoidal"):
            halves = config.positions == "sinusoidal-halves"
            self.places = SinusoidalPositions(config.d_model, halves=halves)
        self.dropout = nn.Dropout(config.dropout)
        self.scale, self.added = scale, not isinstance(self.places, nn.Identity)

    def forward(
        self, ids: Int[Tensor, "B T"], positions: Int[Tensor, "*places"] | None = None
    ) -> Float[Tensor, "B T D"]:
        check_ids(ids, self.words.weight)
        x = self.words(ids) * self.scale
        return self.dropout(self.places(x, positions) if self.added else x)


def encoder_block(config: Config) -> EncoderBlock:
    """One block of an encoder or of a decoder-only model."""
    return EncoderBlock(_attention(config), _feed_forward(config), **_block_options(config))


def decoder_block(config: Config) -> DecoderBlock:
    """One block of a decoder with cross-attention, in which nothing is rotated: places of two texts."""
    cross = MultiHeadAttention(config.d_model, config.n_heads, n_kv_heads=config.n_kv_heads, bias=config.bias)
    return DecoderBlock(_attention(config), cross, _feed_forward(config), **_block_options(config))


def score_bias(config: Config, T: int, S: int, x: Tensor) -> Float[Tensor, "1 H T S"] | None:
    """What the kind of positions adds to the scores: ALiBi's penalties, else nothing."""
    return alibi_bias(config.n_heads, T, S, device=x.device) if config.positions == "alibi" else None


def _attention(config: Config) -> MultiHeadAttention:
    rotate = partial(rotate_halves, base=config.rotary_base) if config.positions == "rotary" else None
    return MultiHeadAttention(
        config.d_model, config.n_heads, n_kv_heads=config.n_kv_heads, bias=config.bias, rotate=rotate
    )


def _feed_forward(config: Config) -> nn.Module:
    kind = GatedFeedForward if config.gated else FeedForward
    return kind(config.d_model, config.d_ff, activation=config.activation, bias=config.bias)


def _block_options(config: Config) -> dict:
    return {
        "pre_norm": config.pre_norm,
        "norm": NORMS[config.norm],
        "eps": config.norm_eps,
        "dropout": config.dropout,
    }
