r"""Linear attention: another similarity, whose sums over the past are carried along (lecture, section 10).

With $\phi(q)^\top \phi(k)$, $\phi(x) = \operatorname{elu}(x) + 1$, in place of $e^{q^\top k}$, the past is
summed up in a state of one size, like that of a recurrent network:

$$o_i = \frac{\phi(q_i)^\top S_i}{\phi(q_i)^\top z_i}, \qquad S_i = \sum_{j \le i} \phi(k_j) v_j^\top, \qquad
  z_i = \sum_{j \le i} \phi(k_j).$$

Source: Katharopoulos et al. 2020, arXiv 2006.16236, Eq. 4 to 12.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from transformer_lib.checks import check_attention, check_blocks, fit_mask


def linear_attention_weights(
    q: Float[Tensor, "*batch T K"],
    k: Float[Tensor, "*batch S K"],
    mask: Bool[Tensor, "*mask"] | None = None,
) -> Float[Tensor, "*batch T S"]:
    r"""The weights that `attend_linear` never writes down: $\phi(q_i)^\top \phi(k_j)$ over its row's sum.

    Arguments and errors as `attention_weights`; a row with nothing to read is 0.

    >>> import torch
    >>> linear_attention_weights(torch.zeros(1, 2), torch.zeros(4, 2))
    tensor([[0.2500, 0.2500, 0.2500, 0.2500]])

    Source: Katharopoulos et al. 2020, Eq. 4.
    """
    check_attention(q=q, k=k)
    similar = _feature(q) @ _feature(k).mT  # (..., T, S)
    if mask is not None:
        similar = similar * fit_mask(mask, similar.shape, similar.device)
    return divide(similar, similar.sum(-1, keepdim=True))


def attend_linear(
    q: Float[Tensor, "*batch T K"],
    k: Float[Tensor, "*batch S K"],
    v: Float[Tensor, "*batch S Dv"],
    mask: Bool[Tensor, "*mask"] | None = None,
    *,
    causal: bool = False,
    block: int = 128,
) -> Float[Tensor, "*batch T Dv"]:
    """Linear attention: another function than softmax attention, in time and memory linear in T and S.

    Args:
        q, k, v: as `attention`.
        mask: hides keys from all queries alike (padding), of shape (B, 1, 1, S).
        causal: hides the future, by sums carried from block to block; the queries are the last T words.
        block: queries, and keys, taken at a time; sums are kept in float32 at least.

    Raises:
        ValueError: another mask, a block below 1, causal with fewer keys than queries; or as `attention`.

    >>> import torch
    >>> q, v = torch.zeros(3, 1), torch.tensor([[1.0], [2.0], [6.0]])
    >>> attend_linear(q, q, v, causal=True).T  # running means
    tensor([[1.0000, 1.5000, 3.0000]])

    Source: Katharopoulos et al. 2020, Eq. 5 to 7, causal Eq. 9 to 12.
    """
    check_blocks(q, k, v, causal, block)
    dtype, T, S = torch.promote_types(v.dtype, torch.float32), q.shape[-2], k.shape[-2]
    if mask is not None:
        mask = fit_mask(mask, (*q.shape[:-1], S), q.device)
        if mask.shape[-2] != 1:
            raise ValueError(f"linear attention hides keys only, by (B, 1, 1, S); got {tuple(mask.shape)}")
        mask = mask.expand(*mask.shape[:-1], S).mT
    past = q.new_zeros(*q.shape[:-2], q.shape[-1], v.shape[-1] + 1, dtype=dtype)  # S and z side by side
    before = S - T if causal else S  # words that every query reads
    for j in range(0, before, block):
        k_j, v_j = _keys_values(k, v, mask, slice(j, min(j + block, before)), dtype)
        past = past + k_j.mT @ v_j
    outputs = []
    for i in range(0, T, block):
        q_i = _feature(q[..., i : i + block, :].to(dtype))
        o = q_i @ past
        if causal:
            k_i, v_i = _keys_values(k, v, mask, slice(before + i, min(before + i + block, S)), dtype)
            o = o + (q_i @ k_i.mT).tril() @ v_i
            past = past + k_i.mT @ v_i
        outputs.append(divide(o[..., :-1], o[..., -1:]).to(v.dtype))
    return torch.cat(outputs, -2)


def _feature(x: Tensor) -> Tensor:
    return F.elu(x) + 1


def _keys_values(k, v, mask, words: slice, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Features of these keys, 0 where hidden, and their values with a last column of 1, which sums to z."""
    phi = _feature(k[..., words, :].to(dtype))
    phi = phi if mask is None else phi * mask[..., words, :]
    return phi, F.pad(v[..., words, :].to(dtype), (0, 1), value=1.0)


def divide(x: Tensor, total: Tensor) -> Tensor:
    """x / total, and 0 where there was nothing to read."""
    return x / total.masked_fill(total == 0, 1.0)
