"""What several exercises of chapter 9 use: small models whose next word depends on all words before."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from transformer_lib.exercises.exercise import Case

START, END = 1, 2


def next_word_model(seed: int, end_after: int, V: int = 23) -> Callable[..., Tensor]:
    """A function from the ids so far to the logits (V,) of the next word: of all ids, and of their places.

    The end is the likeliest word as soon as so many words have been written; before, it never is.
    """
    generator = torch.Generator().manual_seed(seed)
    tables = torch.randn(40, V, V, generator=generator)  # place, word read, word to be written

    def next_logits(ids):
        ids = torch.as_tensor(ids).reshape(-1).long()
        logits = tables[torch.arange(len(ids)), ids].sum(0) - 50
        logits[START] = -99.0
        logits[END] = 99.0 if len(ids) > end_after else -99.0
        return logits

    return next_logits


def written(case: Case) -> list[int]:
    """What came, where it is a list of ids.

    Raises:
        TypeError: it is something else, of which nothing can be told.
    """
    if not isinstance(case.got, list | tuple) or not all(type(entry) is int for entry in case.got):
        raise TypeError("no list of ids")
    return list(case.got)


def plain_ids(value):
    """Ids as a list of plain numbers where the container holds them otherwise."""
    if isinstance(value, Tensor) and value.dim() == 1:
        return value.tolist()
    if isinstance(value, list | tuple):
        return [
            entry.item() if isinstance(entry, Tensor) and entry.numel() == 1 else entry for entry in value
        ]
    return value
