"""A language model's next word in straight-line calls (lecture, sections 7 and 8, once more).

With one sentence and a small model, a word takes a few hundred microseconds, most of them Python: modules
calling modules, each checking what comes. `Unrolled` is `TransformerLM.forward` for one new word per row,
written out: the same sums, the same caches, nothing else. `decoding.py` uses it where it can.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_lib.blocks import EncoderBlock, LayerNorm, RMSNorm
from transformer_lib.configs import Embedding
from transformer_lib.feed_forward import FeedForward, GatedFeedForward
from transformer_lib.models import TransformerLM
from transformer_lib.multi_head import KVCache, MultiHeadAttention
from transformer_lib.positions import LearnedPositions, SinusoidalPositions

_KNOWN = {TransformerLM, EncoderBlock, MultiHeadAttention, FeedForward, GatedFeedForward, LayerNorm, RMSNorm}
_KNOWN |= {Embedding, LearnedPositions, SinusoidalPositions}
_KNOWN |= {nn.Embedding, nn.Linear, nn.Dropout, nn.Identity, nn.ModuleList}


def can_unroll(model: nn.Module) -> bool:
    """Whether the model is made of the library's own modules only, without hooks, and without ALiBi.

    >>> can_unroll(nn.Linear(2, 3))
    False
    """
    return (
        isinstance(model, TransformerLM)
        and model.config.positions != "alibi"
        and not any(
            type(m) not in _KNOWN or m._forward_hooks or m._forward_pre_hooks for m in model.modules()
        )
    )


class Unrolled:
    """Logits after one new word per row, from a model and its caches.

    >>> from transformer_lib.configs import LMConfig
    >>> model = TransformerLM(LMConfig(vocab_size=50, d_model=12, n_heads=3)).eval()
    >>> caches = model.new_caches(batch=2, max_length=5)
    >>> Unrolled(model, caches)(torch.tensor([[4], [9]])).shape
    torch.Size([2, 50])
    """

    def __init__(self, model: TransformerLM, caches: Sequence[KVCache]):
        self.caches, self.pre_norm = caches, model.config.pre_norm
        self.words, self.scale = model.embedding.words.weight, model.embedding.scale
        places = model.embedding.places
        self.table = None  # of added positions
        if isinstance(places, LearnedPositions):
            self.table = places.table.weight
        elif isinstance(places, SinusoidalPositions):
            self.table = places(self.words.new_zeros(1, caches[0].k.shape[2], places.d_model))[0]
        self.layers = [
            (
                _norm(block.attention_norm),
                block.attention,
                _linear(block.attention.qkv),
                _linear(block.attention.output),
                _norm(block.feed_forward_norm),
                _feed_forward(block.feed_forward),
            )
            for block in model.blocks
        ]
        self.norm, self.logits = _norm(model.norm), _linear(model.logits)

    def __call__(
        self,
        ids: Int[Tensor, "B 1"],
        positions: Int[Tensor, "B 1"] | None = None,
        mask: Bool[Tensor, "B 1 1 S"] | None = None,
    ) -> Float[Tensor, "B V"]:
        """Arguments as `TransformerLM.forward`; positions None means on from the caches."""
        past = self.caches[0].length
        x = F.embedding(ids, self.words)
        if self.scale != 1:
            x = x * self.scale
        if self.table is not None:
            x = x + (self.table[past] if positions is None else F.embedding(positions, self.table))
        for (norm_1, attention, qkv, output, norm_2, feed_forward), cache in zip(
            self.layers, self.caches, strict=True
        ):
            H, Hkv, K = attention.n_heads, attention.n_kv_heads, attention.d_head
            heads = qkv(norm_1(x) if self.pre_norm else x).view(len(ids), 1, -1, K).transpose(1, 2)
            if attention.rotate is None:
                q, k, v = heads.split((H, Hkv, Hkv), dim=1)
            else:
                places = torch.arange(past, past + 1, device=ids.device) if positions is None else positions
                qk, v = heads.split((H + Hkv, Hkv), dim=1)
                q, k = attention.rotate(qk, places).split((H, Hkv), dim=1)
            k, v = cache.append(k, v)
            if Hkv != H:
                k, v = k.repeat_interleave(H // Hkv, 1), v.repeat_interleave(H // Hkv, 1)
            read = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
            x = x + output(read.transpose(1, 2).flatten(2))
            if not self.pre_norm:
                x = norm_1(x)
            x = x + feed_forward(norm_2(x) if self.pre_norm else x)
            if not self.pre_norm:
                x = norm_2(x)
        return self.logits(self.norm(x))[:, -1]


def _linear(layer: nn.Linear) -> Callable[[Tensor], Tensor]:
    return partial(F.linear, weight=layer.weight, bias=layer.bias)


def _norm(layer: nn.Module) -> Callable[[Tensor], Tensor]:
    if isinstance(layer, nn.Identity):
        return layer
    scale, shape, eps = layer.scale, layer.scale.shape, layer.eps
    if isinstance(layer, RMSNorm):
        return lambda x: torch.rms_norm(x, shape, scale, eps)
    shift = layer.shift
    return lambda x: torch.layer_norm(x, shape, scale, shift, eps)


def _feed_forward(layer: FeedForward | GatedFeedForward) -> Callable[[Tensor], Tensor]:
    activation, widen, narrow = layer.activation, _linear(layer.widen), _linear(layer.narrow)
    if isinstance(layer, FeedForward):
        return lambda x: narrow(activation(widen(x)))
    gate = _linear(layer.gate)
    return lambda x: narrow(activation(gate(x)) * widen(x))
