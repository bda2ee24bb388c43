"""What several exercises of chapter 11 use."""

from __future__ import annotations

from collections.abc import Callable

import torch

from transformer_lib.exercises.attention_probes import Probe
from transformer_lib.exercises.exercise import Attempt


def same(a, b, within: float = 1e-4) -> bool:
    """Whether two tensors, or two sequences of tensors, have the same shapes and about the same numbers."""
    if isinstance(b, list | tuple):
        return len(a) == len(b) and all(same(x, y, within) for x, y in zip(a, b, strict=True))
    return a.shape == b.shape and torch.allclose(
        a.double(), b.double(), rtol=within, atol=within, equal_nan=True
    )


def result_is(*formulas: Callable) -> Probe:
    """A probe: on every case what came is one and the same of these functions."""

    def is_it(attempt: Attempt, formula: Callable) -> bool:
        values = [formula(*case.args) for case in attempt.cases]
        return all(same(case.got, value) for case, value in zip(attempt.cases, values, strict=True))

    return lambda attempt: any(is_it(attempt, formula) for formula in formulas)
