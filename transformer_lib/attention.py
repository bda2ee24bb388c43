r"""Scaled dot-product attention, for one word and for the whole sentence (lecture, sections 2 and 3).

Every word $x_i$ gives a query $q_i = W^Q x_i$, a key $k_i = W^K x_i$ and a value $v_i = W^V x_i$.
One word reads from all of them:

$$\alpha_{ij} = \operatorname{softmax}_j\left(\frac{q_i^\top k_j}{\sqrt{d_k}}\right), \qquad
  o_i = \sum_j \alpha_{ij} v_j.$$

The whole sentence at once, with one word per row of $Q$, $K$ and $V$:

$$\operatorname{Attention}(Q, K, V) = \operatorname{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V.$$

Source: Vaswani et al. 2017, "Attention Is All You Need", arXiv 1706.03762, Eq. 1.

Letters: B batch, H heads, T queries, S keys, D model width, K width of queries and keys ($d_k$),
Dv width of values. Masks are boolean, True = may attend (`masks.py` makes them).
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_lib.checks import check_attention, check_words, fit_bias, fit_mask


def attend_one(
    q: Float[Tensor, " K"],
    keys: Float[Tensor, "S K"],
    values: Float[Tensor, "S Dv"],
    scale: float | None = None,
) -> Float[Tensor, " Dv"]:
    r"""What one word reads: $o_i = \sum_j \alpha_{ij} v_j$, written as the sum over keys that it is.

    Keys and values hold one row per word of the sentence. Scale and errors as `attention_weights`.

    >>> import torch
    >>> attend_one(torch.zeros(2), torch.eye(2), torch.tensor([[1.0], [3.0]]))
    tensor([2.])

    Source: Vaswani et al. 2017, Eq. 1, for one row of Q.
    """
    if isinstance(q, Tensor) and q.dim() != 1:
        raise ValueError(f"q must be the query of one word, of shape (K,); got {tuple(q.shape)}")
    check_attention(q=q[None] if isinstance(q, Tensor) else q, k=keys, v=values)
    scale = _scale(q, scale)
    scores = torch.stack([q @ k_j * scale for k_j in keys])
    weights = torch.softmax(scores, dim=0)
    return torch.stack([a_ij * v_j for a_ij, v_j in zip(weights, values, strict=True)]).sum(0)


def attention_weights(
    q: Float[Tensor, "*batch T K"],
    k: Float[Tensor, "*batch S K"],
    mask: Bool[Tensor, "*mask"] | None = None,
    scale: float | None = None,
    bias: Float[Tensor, "*bias"] | None = None,
) -> Float[Tensor, "*batch T S"]:
    r"""How much each query reads from each key: $\operatorname{softmax}(QK^\top/\sqrt{d_k})$, row by row.

    Each row is non-negative and sums to 1; a row whose mask allows nothing is exactly 0.
    For half-precision inputs torch computes the softmax itself in float32.

    Args:
        q: queries, of rank 2 (T, K), 3 (B, T, K) or 4 (B, H, T, K).
        k: keys, of the same rank.
        mask: True = may attend. Broadcastable to (B, H, T, S), or of the rank of the scores.
        scale: factor on the scores; None means $1/\sqrt{d_k}$, 1.0 leaves them as they are.
        bias: numbers added to the scores after scaling, such as `positions.alibi_bias`; shapes as mask.

    Raises:
        TypeError: an input is not a floating-point tensor, or the mask is not boolean.
        ValueError: shapes, dtypes or devices do not fit, or there is no key or query.

    >>> import torch
    >>> q, k = torch.zeros(1, 2), torch.randn(4, 2)
    >>> attention_weights(q, k)  # a query of zeros matches every key equally
    tensor([[0.2500, 0.2500, 0.2500, 0.2500]])

    Source: Vaswani et al. 2017, Eq. 1, section 3.2.1.
    """
    check_attention(q=q, k=k)
    scores = (q * _scale(q, scale)) @ k.transpose(-2, -1)  # (..., T, S); scaled first, so that none overflows
    if bias is not None:
        scores = scores + fit_bias(bias, scores.shape, scores)
    if mask is None:
        return torch.softmax(scores, dim=-1)
    mask = fit_mask(mask, scores.shape, scores.device)
    # The lecture's −∞: the lowest finite number has the same softmax, and no NaN in an empty row.
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return torch.softmax(scores, dim=-1).masked_fill(~mask, 0.0)


def attention(
    q: Float[Tensor, "*batch T K"],
    k: Float[Tensor, "*batch S K"],
    v: Float[Tensor, "*batch S Dv"],
    mask: Bool[Tensor, "*mask"] | None = None,
    scale: float | None = None,
    bias: Float[Tensor, "*bias"] | None = None,
) -> Float[Tensor, "*batch T Dv"]:
    r"""Scaled dot-product attention, $\operatorname{softmax}(QK^\top/\sqrt{d_k})\,V$, as the lecture has it.

    Each output is a weighted average of the values. Arguments and errors as `attention_weights`;
    v has one value of width Dv for each key.

    >>> import torch
    >>> v = torch.tensor([[1.0, 0.0], [3.0, 2.0]])
    >>> attention(torch.zeros(1, 5), torch.randn(2, 5), v)  # equal weights: the mean of the values
    tensor([[2., 1.]])

    Source: Vaswani et al. 2017, Eq. 1.
    """
    check_attention(q=q, k=k, v=v)
    return attention_weights(q, k, mask, scale, bias) @ v


def attend_fused(
    q: Float[Tensor, "*batch T K"],
    k: Float[Tensor, "*batch S K"],
    v: Float[Tensor, "*batch S Dv"],
    mask: Bool[Tensor, "*mask"] | None = None,
    scale: float | None = None,
    bias: Float[Tensor, "*bias"] | None = None,
    *,
    causal: bool = False,
) -> Float[Tensor, "*batch T Dv"]:
    """The same numbers as `attention`, by torch's fused kernel, which never stores the (T, S) weights.

    Arguments and errors as `attention`, and causal: the kernel itself hides the future, in half the time
    of a mask that says the same; only where T = S, and without mask and bias. Hidden keys must be finite too:
    the kernel adds −∞ to their scores, which leaves NaN as it is.

    >>> import torch
    >>> q, k, v = torch.randn(3, 5, 7).unbind()
    >>> torch.allclose(attend_fused(q, k, v), attention(q, k, v), atol=1e-6)
    True

    Source: Dao et al. 2022, "FlashAttention", arXiv 2205.14135; chapter 10 builds it by hand.
    """
    check_attention(q=q, k=k, v=v)
    scores = (*q.shape[:-1], k.shape[-2])
    if causal and (mask is not None or bias is not None or q.shape[-2] != k.shape[-2]):
        raise ValueError(
            f"causal=True takes no mask or bias, and as many queries as keys; got scores {scores}"
        )
    if mask is not None:
        mask = fit_mask(mask, scores, q.device)
    if bias is not None:
        bias = fit_bias(bias, scores, q)
        mask = bias if mask is None else bias.masked_fill(~mask, float("-inf"))
    lead = (None,) * (4 - q.dim())  # on some devices only rank 4 (B, H, T, K) reaches the fused kernel
    mask = mask if mask is None else mask[lead]
    out = F.scaled_dot_product_attention(
        q[lead], k[lead], v[lead], attn_mask=mask, is_causal=causal, scale=_scale(q, scale)
    )
    return out[(0,) * len(lead)]


class SelfAttention(nn.Module):
    r"""Self-attention with one head: every word of a sentence reads from every word of the same sentence.

    $Q = XW^{Q\top}$, $K = XW^{K\top}$, $V = XW^{V\top}$, then `attention(Q, K, V)`. The lecture's
    $W^Q$ is `query.weight`, $W^K$ is `key.weight`, $W^V$ is `value.weight`, each of shape (d_head, d_model).

    Args:
        d_model: width of the word vectors (D).
        d_head: width of queries, keys and values (K); None means d_model.
        bias: whether the three maps add a bias, as published models often do; the lecture's do not.
        scale: as in `attention_weights`.

    Raises:
        ValueError: a width below 1.

    >>> import torch
    >>> SelfAttention(d_model=6, d_head=4)(torch.randn(2, 5, 6)).shape
    torch.Size([2, 5, 4])

    Source: Vaswani et al. 2017, section 3.2.3 (encoder self-attention).
    """

    def __init__(
        self, d_model: int, d_head: int | None = None, *, bias: bool = False, scale: float | None = None
    ):
        super().__init__()
        d_head = d_model if d_head is None else d_head
        if not all(type(width) is int and width >= 1 for width in (d_model, d_head)):
            raise ValueError(
                f"d_model and d_head must be whole numbers, at least 1; got {d_model!r} and {d_head!r}"
            )
        self.scale = scale
        self.query = nn.Linear(d_model, d_head, bias=bias)
        self.key = nn.Linear(d_model, d_head, bias=bias)
        self.value = nn.Linear(d_model, d_head, bias=bias)

    def forward(
        self, x: Float[Tensor, "*batch T D"], mask: Bool[Tensor, "*mask"] | None = None
    ) -> Float[Tensor, "*batch T K"]:
        """What every word reads. x holds one word per row; mask as in `attention_weights`."""
        self._check_words(x)
        return attend_fused(self.query(x), self.key(x), self.value(x), mask, self.scale)

    def weights(
        self, x: Float[Tensor, "*batch T D"], mask: Bool[Tensor, "*mask"] | None = None
    ) -> Float[Tensor, "*batch T T"]:
        """How much every word (row) reads from every word (column) when `forward` is called on x."""
        self._check_words(x)
        return attention_weights(self.query(x), self.key(x), mask, self.scale)

    def _check_words(self, x: Tensor) -> None:
        weight = self.query.weight
        check_words(x, weight)
        if x.dim() > 3:
            raise ValueError(f"x must have shape (T, D) or (B, T, D); got {tuple(x.shape)}")
        if x.dtype != weight.dtype and not torch.is_autocast_enabled(x.device.type):
            raise TypeError(f"x must hold {weight.dtype} numbers, as the weights; got {x.dtype}")


def _scale(q: Tensor, scale: float | None) -> float:
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    if isinstance(scale, bool) or not isinstance(scale, int | float) or not math.isfinite(scale):
        raise ValueError(f"scale must be a finite number or None; got {scale!r}")
    return scale
