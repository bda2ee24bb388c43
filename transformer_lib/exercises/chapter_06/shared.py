"""What several exercises of chapter 6 use."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from transformer_lib.exercises.attention_probes import Probe


def on_every_case(holds: Callable[[Tensor, Tensor], bool]) -> Probe:
    """A probe: this holds of what came and what was expected, on every case."""
    return lambda attempt: all(
        case.error is None and holds(case.got, case.expected) for case in attempt.cases
    )


def numbers_for_booleans(got: Tensor, expected: Tensor) -> bool:
    """1 and 0 (or another number) for True and False."""
    return got.dtype != torch.bool and got.shape == expected.shape and bool(torch.equal(got != 0, expected))


def additive(got: Tensor, expected: Tensor) -> bool:
    """0 for True and a very low number for False, to be added to the scores."""
    if got.dtype == torch.bool or got.shape != expected.shape:
        return False
    return bool((got[expected] == 0).all() and (got[~expected] < -50).all())


def truth(mask: Tensor) -> Tensor:
    """The mask as booleans.

    Raises:
        ValueError: it holds other numbers than 0 and 1.
    """
    if not bool(((mask == 0) | (mask == 1)).all()):
        raise ValueError("not a mask")
    return mask.bool()


def padded_ids(
    B: int, S: int, pad_id: int, lengths: list[int], generator: torch.Generator, left: bool = False
) -> Tensor:
    """Ids of B sentences of these lengths, filled up with the padding on the right or on the left.

    Where the padding is not 0, the word 0 occurs, and words above and below the padding do as well.
    """
    ids = torch.randint(0, 12, (B, S), generator=generator)
    ids[ids == pad_id] = 12
    ids[:, S - 1 if left else 0] = 12 if pad_id == 0 else 0
    places = torch.arange(S).flip(0) if left else torch.arange(S)
    ids[places >= torch.tensor(lengths)[:, None]] = pad_id
    return ids
