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
