"""What the modules ask of their input: errors that name what came and what was expected.

Nothing of the lecture stands here. Letters as in `attention.py`.
"""

from __future__ import annotations

import torch
from torch import Tensor


def check_words(x: Tensor, weight: Tensor, name: str = "x") -> None:
    """Raise unless x holds a vector for each word, as wide as the rows of the weight and on its device.

    >>> import torch
    >>> check_words(torch.zeros(2, 5, 7), torch.zeros(4, 4))
    Traceback (most recent call last):
    ValueError: x holds vectors of width 7, but d_model is 4: x has shape (2, 5, 7)
    """
    if not isinstance(x, Tensor) or not x.is_floating_point():
        raise TypeError(f"{name} must be a tensor of floating-point numbers; got {kind(x)}")
    if x.dim() < 2 or 0 in x.shape:
        raise ValueError(f"{name} must hold a row per word, and at least one word; got {tuple(x.shape)}")
    d_model = weight.shape[1]
    if x.shape[-1] != d_model:
        raise ValueError(
            f"{name} holds vectors of width {x.shape[-1]}, but d_model is {d_model}: "
            f"{name} has shape {tuple(x.shape)}"
        )
    if x.device != weight.device:
        raise ValueError(f"{name} is on {x.device}, the weights on {weight.device}")


def check_ids(ids: Tensor, table: Tensor, name: str = "ids") -> None:
    """Raise unless ids, of shape (B, T), number rows of the table and lie on its device.

    >>> import torch
    >>> check_ids(torch.tensor([[3, 50]]), torch.zeros(50, 4))
    Traceback (most recent call last):
    ValueError: ids must lie between 0 and 49, for a vocabulary of 50; got 50
    """
    if not isinstance(ids, Tensor) or ids.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"{name} must be a tensor of whole numbers, int64 or int32; got {kind(ids)}")
    if ids.dim() != 2 or 0 in ids.shape:
        raise ValueError(f"{name} must have shape (B, T), at least one word each; got {tuple(ids.shape)}")
    if ids.device != table.device:
        raise ValueError(f"{name} are on {ids.device}, the weights on {table.device}")
    size = len(table)
    outside = first_outside(ids, size)
    if outside is not None:
        raise ValueError(
            f"{name} must lie between 0 and {size - 1}, for a vocabulary of {size}; got {outside}"
        )


def first_outside(rows: Tensor, size: int) -> int | None:
    """A number in rows that is no row of a table of `size` rows, or None.

    Nothing is looked at on the meta device, which holds no numbers, nor by a compiled model, which would
    have to stop for them.
    """
    if rows.is_meta or torch.compiler.is_compiling():
        return None
    low, high = (int(n) for n in torch.aminmax(rows))
    return low if low < 0 else high if high >= size else None


def kind(x) -> str:
    """What came: the dtype of a tensor, the type of anything else."""
    return str(x.dtype) if isinstance(x, Tensor) else type(x).__name__


def check_attention(**named: Tensor) -> None:
    """Raise unless q, k and, if given, v are floating-point tensors whose shapes, dtypes and devices fit."""
    for name, x in named.items():
        if not isinstance(x, Tensor) or not x.is_floating_point():
            raise TypeError(f"{name} must be a tensor of floating-point numbers; got {kind(x)}")
    q, k, v = named["q"], named["k"], named.get("v", named["k"])
    if not q.dtype == k.dtype == v.dtype or not q.device == k.device == v.device:
        raise ValueError(f"{', '.join(named)} must share one dtype and one device; got {_came(named)}")
    if not 2 <= q.dim() <= 4 or not q.shape[:-2] == k.shape[:-2] == v.shape[:-2]:
        raise ValueError(
            "all must have the same rank, 2 (T, K), 3 (B, T, K) or 4 (B, H, T, K), and the same B and H; "
            f"got {_came(named)}"
        )
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError(f"keys must be as wide as queries, and as many as values; got {_came(named)}")
    if 0 in q.shape or 0 in k.shape or 0 in v.shape:
        raise ValueError(f"a sentence must have at least one word, and a word a vector; got {_came(named)}")


def _came(named: dict[str, Tensor]) -> str:
    return ", ".join(f"{name} {tuple(x.shape)} {x.dtype} on {x.device}" for name, x in named.items())


def check_blocks(q: Tensor, k: Tensor, v: Tensor, causal: bool, block: int) -> None:
    """Raise unless q, k and v fit, a block holds a word and, if causal, there is a key for every query."""
    check_attention(q=q, k=k, v=v)
    if block < 1:
        raise ValueError(f"a block must hold at least 1 word; got {block}")
    T, S = q.shape[-2], k.shape[-2]
    if causal and T > S:
        raise ValueError(f"to hide the future, queries must be the last T of S words; got T={T}, S={S}")


def fit_mask(mask: Tensor, scores: tuple[int, ...], device: torch.device) -> Tensor:
    """The mask with the rank of the scores; raises unless it is boolean and fits their shape and device."""
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        raise TypeError(
            f"a mask must be a boolean tensor, True = may attend (see masks.py); got {kind(mask)}"
        )
    return _fit("mask", mask, scores, device)


def fit_bias(bias: Tensor, scores: tuple[int, ...], q: Tensor) -> Tensor:
    """The bias with the rank of the scores and the dtype of q; raises unless it is numbers and fits."""
    if not isinstance(bias, Tensor) or not bias.is_floating_point():
        raise TypeError(f"a bias must be a tensor of floating-point numbers; got {kind(bias)}")
    return _fit("bias", bias, scores, q.device).to(q.dtype)


def _fit(name: str, x: Tensor, scores: tuple[int, ...], device: torch.device) -> Tensor:
    """x with the rank of the scores, checked. No axis is ever guessed: a (B, S) mask would broadcast as
    (T, S) where B = T, and hide the wrong words silently."""
    if x.device != device:
        raise ValueError(f"the {name} is on {x.device}, the scores on {device}")
    fitted = x
    if x.dim() == 4 > len(scores) and x.shape[1] == 1:  # one head
        fitted = x[:, 0]
        if len(scores) == 2 and x.shape[0] == 1:  # one sentence
            fitted = fitted[0]
    if fitted.dim() != len(scores) or any(m not in (1, n) for m, n in zip(fitted.shape, scores, strict=True)):
        raise ValueError(
            f"a {name} of shape {tuple(x.shape)} does not fit scores of shape {tuple(scores)}: it must be "
            "(B, H, T, S), with 1 where it is the same for all (masks.py makes such masks), or of their rank"
        )
    return fitted
