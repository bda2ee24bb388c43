r"""Which words may be read: masks for the future and for padding (lecture, section 6).

A mask is a boolean tensor, **True = may attend**, of shape (B, H, T, S) with 1 where it is the same for
all. Masks are combined with `&`. Where a mask is False, the score becomes −∞ before the softmax, so that
the weight becomes exactly 0:

$$s_{ij} = -\infty \text{ where } i \text{ may not read } j \quad\Rightarrow\quad \alpha_{ij} = 0.$$

torch is of two minds: `F.scaled_dot_product_attention` reads a boolean mask as here, while in
`nn.MultiheadAttention` and `nn.Transformer` True means "may *not* attend".

Source: Vaswani et al. 2017, arXiv 1706.03762, section 3.2.3.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transformer_lib.checks import kind


def causal_mask(
    T: int, S: int | None = None, *, device: torch.device | str | None = None
) -> Bool[Tensor, "1 1 T S"]:
    r"""Word i may read itself and the words before it, never a later one.

    The T queries are the *last* T of the S words (aligned bottom-right: $j \le i + S - T$), so that
    reading a prompt and writing one more word after a cache are the same call.

    Args:
        T: number of queries (words).
        S: number of keys (words), at least T; None means T.
        device: where the mask is made.

    Raises:
        ValueError: T below 1, or S below T.

    >>> causal_mask(3)[0, 0].int()
    tensor([[1, 0, 0],
            [1, 1, 0],
            [1, 1, 1]], dtype=torch.int32)
    >>> causal_mask(1, 3)[0, 0].int()  # the newest word sees all
    tensor([[1, 1, 1]], dtype=torch.int32)

    Source: Vaswani et al. 2017, section 3.2.3 (masked decoder self-attention).
    """
    S = T if S is None else S
    if not all(type(size) is int for size in (T, S)) or T < 1 or S < T:
        raise ValueError(
            "a causal mask needs whole numbers 1 <= T <= S (queries are the last T of S words); "
            f"got T={T!r}, S={S!r}"
        )
    i = torch.arange(T, device=device)[:, None]
    j = torch.arange(S, device=device)
    return (j <= i + S - T)[None, None]


def padding_mask(lengths: Int[Tensor, " B"], S: int | None = None) -> Bool[Tensor, "B 1 1 S"]:
    """Every word may read the first `lengths[b]` words of sentence b, and none of the padding after them.

    It hides *keys* (columns). The rows of padding words still hold numbers, which nobody reads.

    Args:
        lengths: number of real words of each sentence, from 0 to S.
        S: number of words with padding; None means the longest length, which the meta device cannot tell.

    Raises:
        TypeError: lengths are not integers.
        ValueError: lengths are not of rank 1, are negative, or exceed S.

    >>> import torch
    >>> padding_mask(torch.tensor([1, 3])).int()[:, 0, 0]
    tensor([[1, 0, 0],
            [1, 1, 1]], dtype=torch.int32)
    """
    _check_whole("lengths", lengths)
    lengths = lengths.long()
    if lengths.dim() != 1 or lengths.numel() == 0:
        raise ValueError(f"lengths must have shape (B,), one number per sentence; got {tuple(lengths.shape)}")
    S = int(lengths.max()) if S is None else S
    if not lengths.is_meta and (lengths.min() < 0 or lengths.max() > S):
        raise ValueError(f"lengths must lie between 0 and S={S}; got {lengths.tolist()}")
    return (torch.arange(S, device=lengths.device) < lengths[:, None])[:, None, None]


def padding_mask_from_ids(ids: Int[Tensor, "B S"], pad_id: int) -> Bool[Tensor, "B 1 1 S"]:
    """Every word may read the words that are not padding, wherever in the row the padding stands.

    Raises:
        TypeError: ids are not integers.
        ValueError: ids are not of shape (B, S).

    >>> import torch
    >>> padding_mask_from_ids(torch.tensor([[7, 8, 0], [0, 9, 9]]), pad_id=0).int()[:, 0, 0]
    tensor([[1, 1, 0],
            [0, 1, 1]], dtype=torch.int32)
    """
    _check_whole("ids", ids)
    if ids.dim() != 2:
        raise ValueError(f"ids must have shape (B, S), a row per sentence; got {tuple(ids.shape)}")
    return (ids != pad_id)[:, None, None]


def sliding_window_mask(
    T: int, window: int, S: int | None = None, *, device: torch.device | str | None = None
) -> Bool[Tensor, "1 1 T S"]:
    r"""Word i may read itself and the window − 1 words before it: $i - window < j \le i$.

    Aligned and checked as `causal_mask`; a window of S or more is the causal mask.

    Raises:
        ValueError: window below 1, T below 1, or S below T.

    >>> sliding_window_mask(4, window=2)[0, 0].int()
    tensor([[1, 0, 0, 0],
            [1, 1, 0, 0],
            [0, 1, 1, 0],
            [0, 0, 1, 1]], dtype=torch.int32)

    Source: Beltagy et al. 2020, "Longformer", arXiv 2004.05150, section 3.1 (here looking back only).
    """
    if window < 1:
        raise ValueError(f"a window must hold at least 1 word, the word itself; got {window}")
    seen = causal_mask(T, S, device=device)
    i = torch.arange(seen.shape[-1] - T, seen.shape[-1], device=device)[:, None]
    return seen & (torch.arange(seen.shape[-1], device=device) > i - window)


def explain_mask(mask: Bool[Tensor, "B H T S"]) -> str:
    """A mask in words: its shape, how many pairs it allows, whether it hides the future, empty rows.

    Raises:
        TypeError: the mask is not a boolean tensor.

    >>> explain_mask(causal_mask(3))
    'mask (1, 1, 3, 3): 6 of 9 pairs may be read; the future is hidden'
    """
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        raise TypeError(f"a mask must be a boolean tensor, True = may attend; got {kind(mask)}")
    T, S = mask.shape[-2:]
    parts = [f"{int(mask.sum())} of {mask.numel()} pairs may be read"]
    if 1 < T <= S:
        future = ~causal_mask(T, S, device=mask.device)
        parts.append("the future is hidden" if not (mask & future).any() else "the future may be read")
    padded = int((~mask).all(-2).sum())
    if padded:
        parts.append(f"columns hidden from every word: {padded}")
    empty = int((~mask).all(-1).sum())
    if empty:
        parts.append(f"rows with nothing to read: {empty}")
    return f"mask {tuple(mask.shape)}: " + "; ".join(parts)


def _check_whole(name: str, x: Tensor) -> None:
    if not isinstance(x, Tensor) or x.is_floating_point() or x.is_complex() or x.dtype == torch.bool:
        raise TypeError(f"{name} must be a tensor of integers; got {kind(x)}")
