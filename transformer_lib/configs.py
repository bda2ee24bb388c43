"""The shapes of the models: one small frozen config each, checked when it is made (lecture, section 9)."""

from __future__ import annotations

from dataclasses import dataclass

from transformer_lib.blocks import LayerNorm, RMSNorm
from transformer_lib.feed_forward import ACTIVATIONS

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
        for name in ("vocab_size", "d_model", "n_layers", "n_heads", "max_length"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1; got {getattr(self, name)}")
        if self.d_model % self.n_heads:
            raise ValueError(
                f"d_model must be a multiple of n_heads; got d_model={self.d_model}, n_heads={self.n_heads}"
            )
        for name, known in (("positions", POSITIONS), ("norm", NORMS), ("activation", ACTIVATIONS)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {sorted(known)}; got {getattr(self, name)!r}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be at least 0 and below 1; got {self.dropout}")


@dataclass(frozen=True, kw_only=True)
class EncoderConfig(Config):
    """An encoder such as BERT: post-norm, a norm and a vector of the segment on the embeddings."""

    pre_norm: bool = False
    n_segments: int = 0  # BERT has 2: "sentence A" and "sentence B"
    embedding_norm: bool = False


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
