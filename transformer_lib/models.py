r"""Encoder, decoder, both, and the decoder-only language model (lecture, section 9).

An encoder reads a whole sentence: self-attention without a mask. A decoder writes word after word: masked
self-attention, then cross-attention to the encoder's output. A language model is a decoder without an
encoder: it predicts each word from the words before,

$$p(w_1, …, w_T) = \prod_t p(w_t \mid w_1, …, w_{t-1}).$$

`configs.py` holds their shapes. How the weights begin (tests/test_models.py measures it):

| weights | distribution |
|---|---|
| embeddings, learned positions | normal, standard deviation `init_std` |
| linear maps | normal, standard deviation `init_std` |
| last map of each sub-layer (`output`, `narrow`) | the same, divided by √(number of sub-layers) |
| biases; shifts of norms | 0 |
| scales of norms | 1 |

Sources: Vaswani et al. 2017, arXiv 1706.03762, section 3 and Fig. 1; Radford et al. 2019 (GPT-2, the
start of the last maps), section 2.3; Press & Wolf 2017 (tied embeddings), arXiv 1608.05859.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_lib.checks import check_ids
from transformer_lib.configs import (
    NORMS,
    Config,
    Embedding,
    EncoderConfig,
    EncoderDecoderConfig,
    LMConfig,
    decoder_block,
    encoder_block,
    score_bias,
)
from transformer_lib.multi_head import KVCache


class TransformerEncoder(nn.Module):
    """Reads whole sentences: every word may read every other.

    >>> import torch
    >>> TransformerEncoder(EncoderConfig(vocab_size=50, d_model=12, n_heads=3))(torch.tensor([[4, 9]])).shape
    torch.Size([1, 2, 12])

    Source: Vaswani et al. 2017, section 3.1; Devlin et al. 2018 (BERT), arXiv 1810.04805.
    """

    def __init__(self, config: EncoderConfig):
        super().__init__()
        self.config = config
        self.embedding = Embedding(config)
        self.segments = nn.Embedding(config.n_segments, config.d_model) if config.n_segments else None
        norm = partial(NORMS[config.norm], config.d_model, eps=config.norm_eps)
        self.embedding_norm = norm() if config.embedding_norm else nn.Identity()
        self.blocks = nn.ModuleList(encoder_block(config) for _ in range(config.n_layers))
        self.norm = norm() if config.pre_norm else nn.Identity()
        init_weights(self, config, sublayers=2 * config.n_layers)

    def forward(
        self,
        ids: Int[Tensor, "B T"],
        *,
        mask: Bool[Tensor, "*mask"] | None = None,
        segments: Int[Tensor, "B T"] | None = None,
    ) -> Float[Tensor, "B T D"]:
        """Vectors of the words in their sentence. mask hides padding; segments are 0 unless given."""
        x = self.embedding(ids)
        if self.segments is not None:
            segments = torch.zeros_like(ids) if segments is None else segments
            check_ids(segments, self.segments.weight, "segments")
            x = x + self.segments(segments)
        elif segments is not None:
            raise ValueError("this encoder knows no segments: its config has n_segments=0")
        x = self.embedding_norm(x)
        bias = score_bias(self.config, ids.shape[1], ids.shape[1], x)
        for block in self.blocks:
            x = block(x, mask=mask, bias=bias)
        return self.norm(x)


class TransformerLM(nn.Module):
    """A decoder-only language model: from the words so far, logits of the next word at every place.

    >>> import torch
    >>> TransformerLM(LMConfig(vocab_size=50, d_model=12, n_heads=3))(torch.tensor([[4, 9]])).shape
    torch.Size([1, 2, 50])

    Source: Radford et al. 2019 (GPT-2), section 2.3.
    """

    def __init__(self, config: LMConfig):
        super().__init__()
        self.config = config
        self.embedding = Embedding(config)
        self.blocks = nn.ModuleList(encoder_block(config) for _ in range(config.n_layers))
        norm = partial(NORMS[config.norm], config.d_model, eps=config.norm_eps)
        self.norm = norm() if config.pre_norm else nn.Identity()
        self.logits = nn.Linear(config.d_model, config.vocab_size, bias=False)
        init_weights(self, config, sublayers=2 * config.n_layers)
        if config.tie_embeddings:
            self.logits.weight = self.embedding.words.weight

    def forward(
        self,
        ids: Int[Tensor, "B T"],
        *,
        mask: Bool[Tensor, "*mask"] | None = None,
        positions: Int[Tensor, "*places"] | None = None,
        caches: Sequence[KVCache] | None = None,
        last_only: bool = False,
    ) -> Float[Tensor, "B out V"]:
        """Logits of the next word. The future is always hidden.

        Args:
            mask: hides padding as well.
            positions: of the words, where they do not count on from 0 or from the caches.
            caches: one for each layer, from `new_caches`; ids then hold only the new words.
            last_only: logits after the last word only, (B, 1, V): all that writing needs.
        """
        caches = _each(caches, self.blocks, "one cache")
        past = caches[0].length if caches[0] else 0
        if positions is None and past:
            positions = _from(past, ids)
        x = self.embedding(ids, positions)
        bias = score_bias(self.config, ids.shape[1], past + ids.shape[1], x)
        for block, cache in zip(self.blocks, caches, strict=True):
            x = block(x, mask=mask, causal=True, bias=bias, positions=positions, cache=cache)
        return self.logits(self.norm(x[:, -1:] if last_only else x))

    def new_caches(self, batch: int, max_length: int) -> list[KVCache]:
        """Empty caches, one for each layer, for so many sentences of at most so many words."""
        return [block.attention.new_cache(batch, max_length) for block in self.blocks]


class EncoderDecoder(nn.Module):
    """The original Transformer: reads a sentence, writes another.

    >>> import torch
    >>> model = EncoderDecoder(EncoderDecoderConfig(vocab_size=50, d_model=12, n_heads=3))
    >>> model(torch.tensor([[4, 9, 7]]), torch.tensor([[1, 2]])).shape
    torch.Size([1, 2, 50])

    Source: Vaswani et al. 2017, section 3 and Fig. 1.
    """

    def __init__(self, config: EncoderDecoderConfig):
        super().__init__()
        self.config = config
        scale = math.sqrt(config.d_model) if config.scale_embeddings else 1.0
        self.embedding = Embedding(config, scale=scale)
        self.encoder = nn.ModuleList(encoder_block(config) for _ in range(config.n_layers))
        self.decoder = nn.ModuleList(decoder_block(config) for _ in range(config.n_layers))
        norm = partial(NORMS[config.norm], config.d_model, eps=config.norm_eps)
        self.encoder_norm = norm() if config.pre_norm else nn.Identity()
        self.decoder_norm = norm() if config.pre_norm else nn.Identity()
        self.logits = nn.Linear(config.d_model, config.vocab_size, bias=config.output_bias)
        init_weights(self, config, sublayers=3 * config.n_layers)
        self.logits.weight = self.embedding.words.weight

    def forward(
        self,
        source: Int[Tensor, "B S"],
        target: Int[Tensor, "B T"],
        *,
        source_mask: Bool[Tensor, "*source_mask"] | None = None,
        target_mask: Bool[Tensor, "*target_mask"] | None = None,
    ) -> Float[Tensor, "B out V"]:
        """Logits of the word after each word of the target; masks hide padding."""
        memory = self.encode(source, mask=source_mask)
        return self.decode(target, memory, mask=target_mask, memory_mask=source_mask)

    def encode(
        self, source: Int[Tensor, "B S"], *, mask: Bool[Tensor, "*mask"] | None = None
    ) -> Float[Tensor, "B S D"]:
        """What the decoder will read: the memory."""
        x = self.embedding(source)
        bias = score_bias(self.config, source.shape[1], source.shape[1], x)
        for block in self.encoder:
            x = block(x, mask=mask, bias=bias)
        return self.encoder_norm(x)

    def memories(self, memory: Float[Tensor, "B S D"]) -> list[tuple[Tensor, Tensor]]:
        """The memory's keys and values for each layer of the decoder, computed once for many words."""
        return [block.cross_attention.keys_values(memory) for block in self.decoder]

    def decode(
        self,
        target: Int[Tensor, "B T"],
        memory: Float[Tensor, "B S D"] | Sequence[tuple[Tensor, Tensor]],
        *,
        mask: Bool[Tensor, "*mask"] | None = None,
        memory_mask: Bool[Tensor, "*memory_mask"] | None = None,
        caches: Sequence[KVCache] | None = None,
        last_only: bool = False,
    ) -> Float[Tensor, "B out V"]:
        """Logits of the next word, from the words so far and the memory; caches as `TransformerLM`."""
        caches = _each(caches, self.decoder, "one cache")
        past = caches[0].length if caches[0] else 0
        x = self.embedding(target, _from(past, target) if past else None)
        bias = score_bias(self.config, target.shape[1], past + target.shape[1], x)
        memories = [memory] * len(self.decoder) if isinstance(memory, Tensor) else memory
        memories = _each(memories, self.decoder, "one pair of keys and values")
        for block, read, cache in zip(self.decoder, memories, caches, strict=True):
            x = block(x, read, mask=mask, memory_mask=memory_mask, bias=bias, cache=cache)
        return self.logits(self.decoder_norm(x[:, -1:] if last_only else x))

    def new_caches(self, batch: int, max_length: int) -> list[KVCache]:
        """Empty caches for the decoder's self-attention, one for each layer."""
        return [block.attention.new_cache(batch, max_length) for block in self.decoder]


def init_weights(model: nn.Module, config: Config, *, sublayers: int) -> None:
    """Start the weights as the table at the top says."""
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            last = name.endswith((".output", ".narrow"))
            std = config.init_std / math.sqrt(sublayers) if last else config.init_std
            nn.init.normal_(module.weight, std=std)
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)


def _each(given: Sequence | None, blocks: nn.ModuleList, what: str) -> Sequence:
    """What is given for each of the blocks, or nothing for each."""
    if given is None:
        return [None] * len(blocks)
    if len(given) != len(blocks):
        raise ValueError(f"there must be {what} for each of the {len(blocks)} layers; got {len(given)}")
    return given


def _from(past: int, ids: Tensor) -> Tensor:
    return torch.arange(past, past + ids.shape[1], device=ids.device)
