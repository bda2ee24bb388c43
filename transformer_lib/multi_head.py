r"""Several heads at the cost of one: multi-head attention (lecture, section 7).

$$\operatorname{MultiHead}(X) = \operatorname{Concat}(o^1, …, o^H)\,W^{O\top}, \qquad
  o^h = \operatorname{Attention}(XW^{Q\top}_h, XW^{K\top}_h, XW^{V\top}_h),$$

each head in $K = D/H$ dimensions. In cross-attention keys and values come from another sequence, the
*memory*: $o^h = \operatorname{Attention}(XW^{Q\top}_h, MW^{K\top}_h, MW^{V\top}_h)$. With grouped queries
several query heads share one head of keys and values.

Sources: Vaswani et al. 2017, arXiv 1706.03762, section 3.2.2; Ainslie et al. 2023 (grouped queries),
arXiv 2305.13245; Shazeer 2019 (one head of keys and values), arXiv 1911.02150.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_lib.attention import attend_fused, attention_weights
from transformer_lib.checks import check_words, fit_mask
from transformer_lib.masks import causal_mask


class KVCache:
    """Keys and values of the words read so far, of one attention layer, with room for `max_length`.

    The tensors `k` and `v` have shape (B, heads, max_length, K), of which the first `length` are in use.
    A cache is made by `MultiHeadAttention.new_cache` and passed to every call.
    """

    def __init__(self, k: Float[Tensor, "B Hkv max K"], v: Float[Tensor, "B Hkv max K"]):
        self.k, self.v, self.length = k, v, 0

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """All keys and values up to and with the new ones, in the dtype of these (autocast's, if it is on).

        Raises:
            ValueError: there is no room left, or the batch has another size.
        """
        end = self.length + k.shape[-2]
        if end > self.k.shape[-2] or k.shape[0] != self.k.shape[0]:
            raise ValueError(
                f"the cache holds {self.length} of at most {self.k.shape[-2]} words for a batch of "
                f"{self.k.shape[0]}; it cannot take {k.shape[-2]} more for a batch of {k.shape[0]}"
            )
        self.k[:, :, self.length : end] = k
        self.v[:, :, self.length : end] = v
        self.length = end
        return self.k[:, :, :end].to(k.dtype), self.v[:, :, :end].to(v.dtype)

    def select(self, rows: Int[Tensor, " rows"]) -> None:
        """Keep these rows of the batch, in this order (beam search continues some and drops others)."""
        self.k, self.v = self.k[rows], self.v[rows]


class MultiHeadAttention(nn.Module):
    """Split into heads, attend in each, merge, project.

    The lecture's $W^Q$, $W^K$ and $W^V$, of all heads, stand below one another in `qkv.weight`, so that
    one matrix product computes all three; `w_q`, `w_k`, `w_v` give each by itself. `output.weight` is $W^O$.

    Args:
        d_model: width of a word's vector (D).
        n_heads: heads of queries (H).
        n_kv_heads: heads of keys and values; None means n_heads, 1 is multi-query attention.
        d_head: width of a head (K); None means d_model / n_heads.
        bias: whether the four maps add a bias.
        rotate: a function of (queries or keys, positions) such as `positions.rotate_halves`.

    Raises:
        ValueError: a size below 1, d_model no multiple of n_heads, or n_heads none of n_kv_heads.

    >>> import torch
    >>> MultiHeadAttention(d_model=12, n_heads=3)(torch.randn(2, 5, 12), causal=True).shape
    torch.Size([2, 5, 12])

    Source: Vaswani et al. 2017, section 3.2.2.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        n_kv_heads: int | None = None,
        d_head: int | None = None,
        bias: bool = True,
        rotate: Callable[[Tensor, Tensor], Tensor] | None = None,
    ):
        super().__init__()
        n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        sizes = {"d_model": d_model, "n_heads": n_heads, "n_kv_heads": n_kv_heads, "d_head": d_head}
        for name, size in sizes.items():
            if size is not None and size < 1:
                raise ValueError(f"{name} must be at least 1; got {size}")
        if d_head is None and d_model % n_heads:
            raise ValueError(
                f"d_model must be a multiple of n_heads; got d_model={d_model}, n_heads={n_heads}"
            )
        if n_heads % n_kv_heads:
            raise ValueError(
                f"n_heads must be a multiple of n_kv_heads; got n_heads={n_heads}, n_kv_heads={n_kv_heads}"
            )
        self.d_model, self.n_heads, self.n_kv_heads = d_model, n_heads, n_kv_heads
        self.d_head = d_model // n_heads if d_head is None else d_head
        self.sizes = [n * self.d_head for n in (n_heads, n_kv_heads, n_kv_heads)]  # rows of W^Q, W^K, W^V
        self.qkv = nn.Linear(d_model, sum(self.sizes), bias=bias)
        self.output = nn.Linear(n_heads * self.d_head, d_model, bias=bias)
        self.rotate = rotate

    w_q = property(lambda self: self.qkv.weight.split(self.sizes)[0], doc="W^Q of all heads, a view.")
    w_k = property(lambda self: self.qkv.weight.split(self.sizes)[1], doc="W^K of all heads, a view.")
    w_v = property(lambda self: self.qkv.weight.split(self.sizes)[2], doc="W^V of all heads, a view.")

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        memory: Float[Tensor, "B S D"] | tuple[Tensor, Tensor] | None = None,
        *,
        mask: Bool[Tensor, "*mask"] | None = None,
        causal: bool = False,
        bias: Float[Tensor, "*bias"] | None = None,
        positions: Int[Tensor, "*places"] | None = None,
        cache: KVCache | None = None,
    ) -> Float[Tensor, "B T D"]:
        """What every word of x reads: from x itself, or from the memory.

        Args:
            memory: another sequence (cross-attention), or its `keys_values`.
            mask: True = may attend, of shape (B, H, T, S) with 1 where it is the same for all.
            causal: hide each word's future; combines with mask.
            bias: numbers added to the scores, as mask.
            positions: places of the words for `rotate`; None means 0, 1, …, or on from the cache.
            cache: keys and values of the words before x, to which those of x are added.
        """
        q, k, v = self._project(x, memory, positions, cache)
        plain = causal and mask is None and bias is None and q.shape[-2] == k.shape[-2]
        if causal and not plain:
            mask = self._with_past(mask, q, k)
        heads = attend_fused(q, *self._shared(k, v), mask, bias=bias, causal=plain)  # (B, H, T, K)
        return self.output(heads.transpose(1, 2).flatten(2))  # (B, T, D)

    def weights(
        self,
        x: Float[Tensor, "B T D"],
        memory: Float[Tensor, "B S D"] | tuple[Tensor, Tensor] | None = None,
        *,
        mask: Bool[Tensor, "*mask"] | None = None,
        causal: bool = False,
        bias: Float[Tensor, "*bias"] | None = None,
        positions: Int[Tensor, "*places"] | None = None,
    ) -> Float[Tensor, "B H T S"]:
        """How much every word reads from every word in each head, for plots; arguments as `forward`."""
        q, k, v = self._project(x, memory, positions, None)
        if causal:
            mask = self._with_past(mask, q, k)
        return attention_weights(q, self._shared(k, v)[0], mask, bias=bias)

    def keys_values(self, memory: Float[Tensor, "B S D"]) -> tuple[Tensor, Tensor]:
        """Keys and values of a memory, (B, heads, S, K) each: computed once, read by many calls."""
        self._check(memory, "memory")
        start = self.sizes[0]
        bias = None if self.qkv.bias is None else self.qkv.bias[start:]
        k, v = F.linear(memory, self.qkv.weight[start:], bias).split(self.sizes[1:], dim=-1)
        return self._split(k), self._split(v)

    def new_cache(self, batch: int, max_length: int) -> KVCache:
        """An empty cache for so many sentences and words, on the device and in the dtype of the weights."""
        shape = batch, self.n_kv_heads, max_length, self.d_head
        return KVCache(self.qkv.weight.new_empty(shape), self.qkv.weight.new_empty(shape))

    def _project(self, x, memory, positions, cache) -> tuple[Tensor, Tensor, Tensor]:
        self._check(x, "x")
        if memory is not None:
            if cache is not None:
                raise ValueError("a cache is for self-attention; a memory's keys and values never change")
            bias = None if self.qkv.bias is None else self.qkv.bias[: self.sizes[0]]
            q = self._split(F.linear(x, self.w_q, bias))
            return q, *(memory if isinstance(memory, tuple) else self.keys_values(memory))
        heads = self._split(self.qkv(x))  # (B, H + 2 Hkv, T, K)
        q, k, v = heads.split((self.n_heads, self.n_kv_heads, self.n_kv_heads), dim=1)
        if self.rotate is not None:
            if positions is None:
                start = 0 if cache is None else cache.length
                positions = torch.arange(start, start + x.shape[1], device=x.device)
            q, k = self.rotate(q, positions), self.rotate(k, positions)
        return (q, k, v) if cache is None else (q, *cache.append(k, v))

    def _split(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:2], -1, self.d_head).transpose(1, 2)  # (B, T, heads · K) -> (B, heads, T, K)

    def _shared(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Each head of keys and values repeated for the query heads that share it."""
        group = self.n_heads // self.n_kv_heads
        return (k, v) if group == 1 else (k.repeat_interleave(group, 1), v.repeat_interleave(group, 1))

    def _with_past(self, mask: Tensor | None, q: Tensor, k: Tensor) -> Tensor | None:
        if q.shape[-2] == 1:  # the newest word has no future
            return mask
        past = causal_mask(q.shape[-2], k.shape[-2], device=q.device)
        return past if mask is None else past & fit_mask(mask, (*q.shape[:-1], k.shape[-2]), q.device)

    def _check(self, x: Tensor, name: str) -> None:
        check_words(x, self.qkv.weight, name)
        if x.dim() != 3:
            raise ValueError(f"{name} must have shape (B, T, {self.d_model}); got {tuple(x.shape)}")
