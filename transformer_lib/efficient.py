r"""Exact attention without the (T, S) matrix: in blocks, and in a window (lecture, section 10).

**In blocks.** A softmax can be taken block by block: with the largest score $m$, the sum
$\ell = \sum_j e^{s_j - m}$ and $o = \sum_j e^{s_j - m} v_j$ so far, the scores $s'$ of one more block give

$$m' = \max(m, \max_j s'_j), \qquad \ell' = e^{m - m'} \ell + \sum_j e^{s'_j - m'}, \qquad
  o' = e^{m - m'} o + \sum_j e^{s'_j - m'} v_j,$$

and the output is $o / \ell$ after the last block. Backwards, the weights are computed again from the one
number $L = m + \log \ell$ kept for each query, $P_{ij} = e^{s_{ij} - L_i}$:

$$dV = P^\top dO, \quad dS = P \odot \bigl(dO\,V^\top - \operatorname{rowsum}(dO \odot O)\bigr), \quad
  dQ = \tfrac{1}{\sqrt{d_k}}\, dS\,K, \quad dK = \tfrac{1}{\sqrt{d_k}}\, dS^\top Q.$$

**In a window**, each word reads the `window` words up to itself; blocks outside are never computed.
`linear.py` has another function, of another similarity.

Sources: Milakov & Gimelshein 2018, arXiv 1805.02867, Algorithm 3 (online softmax); Rabe & Staats 2021,
arXiv 2112.05682 (attention by it); Dao et al. 2022, arXiv 2205.14135, Appendix B.2 (backward); Beltagy et al.
2020, arXiv 2004.05150, section 3.1 (window).
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from transformer_lib.checks import check_blocks, fit_mask
from transformer_lib.linear import attend_linear, divide, linear_attention_weights  # noqa: F401  also found here


def attend_blocks(
    q: Float[Tensor, "*batch T K"],
    k: Float[Tensor, "*batch S K"],
    v: Float[Tensor, "*batch S Dv"],
    mask: Bool[Tensor, "*mask"] | None = None,
    scale: float | None = None,
    *,
    causal: bool = False,
    window: int | None = None,
    block: int = 128,
) -> Float[Tensor, "*batch T Dv"]:
    """The same numbers as `attention`, in memory that grows with T + S, forward and backward.

    Args:
        q, k, v, mask, scale: as `attention`. A mask of every pair is itself (T, S); causal needs none.
        causal: hides the future as `causal_mask`, skipping the blocks that lie in it; combines with mask.
        window: each word reads itself and the window − 1 words before it, as `sliding_window_mask`; blocks
            outside are skipped, so that time grows with T · window.
        block: queries, and keys, taken at a time; sums are kept in float32 at least.

    Raises:
        ValueError: a block or window below 1, or either form of causal with fewer keys than queries; else
            as `attention`.

    >>> import torch
    >>> v = torch.tensor([[1.0, 0.0], [3.0, 2.0]])
    >>> attend_blocks(torch.zeros(1, 5), torch.randn(2, 5), v, block=1)
    tensor([[2., 1.]])
    >>> q, v = torch.zeros(4, 1), torch.tensor([[1.0], [2.0], [3.0], [4.0]])
    >>> attend_blocks(q, q, v, window=2).T  # each the mean of itself and the word before
    tensor([[1.0000, 1.5000, 2.5000, 3.5000]])

    Source: Rabe & Staats 2021; Dao et al. 2022, Algorithm 1 and Appendix B; Beltagy et al. 2020,
    section 3.1 (window, here looking back only).
    """
    if window is not None and window < 1:
        raise ValueError(f"a window must hold at least 1 word, the word itself; got {window}")
    check_blocks(q, k, v, causal or window is not None, block)
    if mask is not None:
        mask = fit_mask(mask, (*q.shape[:-1], k.shape[-2]), q.device)
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    reach = window if window is not None else k.shape[-2] if causal else None
    return _Blocks.apply(q, k, v, mask, scale, reach, block)


class _Blocks(torch.autograd.Function):
    """Softmax attention by blocks. reach: how many words up to itself a query reads; None means all."""

    @staticmethod
    def forward(ctx, q, k, v, mask, scale, reach, block):
        wide = torch.promote_types(q.dtype, torch.float32)
        out, log_sum = v.new_empty(*q.shape[:-1], v.shape[-1]), q.new_empty(*q.shape[:-1], 1, dtype=wide)
        for i, columns in _pairs(q, k, reach, block):
            m = torch.full_like(log_sum[i], torch.finfo(wide).min)
            total, o = torch.zeros_like(m), torch.zeros_like(out[i], dtype=wide)
            for j in columns:
                scores, hidden = _scores(q, k, mask, scale, reach, i, j)
                m_new = torch.maximum(m, scores.amax(-1, keepdim=True))
                p = _weights(m_new, scores, hidden)
                shrink = (m - m_new).exp()
                total = total * shrink + p.sum(-1, keepdim=True)
                o = o.mul_(shrink).add_(p @ v[j].to(wide))
                m = m_new
            out[i] = divide(o, total)
            log_sum[i] = m + total.masked_fill(total == 0, 1.0).log()
        ctx.save_for_backward(q, k, v, mask, out, log_sum)
        ctx.options = scale, reach, block
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, d_out):
        q, k, v, mask, out, log_sum = ctx.saved_tensors
        scale, reach, block = ctx.options
        wide = log_sum.dtype
        d_q, d_k, d_v = (torch.zeros_like(x, dtype=wide) for x in (q, k, v))
        for i, columns in _pairs(q, k, reach, block):
            d_i = d_out[i].to(wide)
            row_sum = (d_i * out[i]).sum(-1, keepdim=True)
            for j in columns:
                p = _weights(log_sum[i], *_scores(q, k, mask, scale, reach, i, j))  # once more
                d_v[j].add_(p.mT @ d_i)
                d_s = (d_i @ v[j].to(wide).mT).sub_(row_sum).mul_(p).mul_(scale)
                d_q[i].add_(d_s @ k[j].to(wide))
                d_k[j].add_(d_s.mT @ q[i].to(wide))
        return d_q.to(q.dtype), d_k.to(k.dtype), d_v.to(v.dtype), None, None, None, None


def _pairs(q: Tensor, k: Tensor, reach: int | None, block: int):
    """Which rows make a block of queries, and which the blocks of keys that these may read."""
    T, S = q.shape[-2], k.shape[-2]
    for start in range(0, T, block):
        end = min(start + block, T)
        first = 0 if reach is None else max(0, start + S - T - reach + 1)
        last = S if reach is None else end + S - T
        yield (
            (..., slice(start, end), slice(None)),
            [(..., slice(j, min(j + block, last)), slice(None)) for j in range(first, last, block)],
        )


def _scores(q, k, mask, scale, reach, i, j) -> tuple[Tensor, Tensor | None]:
    """The scores of one block, in float32 at least, and which of them are hidden."""
    wide = torch.promote_types(q.dtype, torch.float32)
    rows, columns = i[1], j[1]
    hidden = None
    if mask is not None:
        mask = mask if mask.shape[-2] == 1 else mask[i]
        hidden = ~(mask if mask.shape[-1] == 1 else mask[..., columns])
    if reach is not None:
        back = torch.arange(rows.start, rows.stop, device=q.device)[:, None] + k.shape[-2] - q.shape[-2]
        back = back - torch.arange(columns.start, columns.stop, device=q.device)  # below 0 in the future
        outside = (back < 0) | (back >= reach)
        hidden = outside if hidden is None else hidden | outside
    scores = (q[i].to(wide) @ k[j].to(wide).mT).mul_(scale)
    return (scores if hidden is None else scores.masked_fill_(hidden, torch.finfo(wide).min)), hidden


def _weights(minus: Tensor, scores: Tensor, hidden: Tensor | None) -> Tensor:
    """exp(scores − minus), 0 where hidden; in the place of the scores."""
    weights = scores.sub_(minus).exp_()
    return weights if hidden is None else weights.masked_fill_(hidden, 0.0)
