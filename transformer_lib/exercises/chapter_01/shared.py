"""What several exercises of chapter 1 use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from transformer_lib.exercises.attention_probes import Probe, near
from transformer_lib.exercises.exercise import Attempt
from transformer_lib.exercises.paper import answers


def same(a: Any, b: Any) -> bool:
    """`near`, for tensors and for pairs of them."""
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return near(a, b)
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return False


def gives(*wrong: Callable) -> Probe:
    """A probe: on every case the result is that of one of these functions, the same one throughout."""

    def probe(attempt: Attempt) -> bool:
        return any(all(same(case.got, f(*case.args)) for case in attempt.cases) for f in wrong)

    return probe


def given(number: int, holds: Callable[[float], bool]) -> Probe:
    """A probe on an exercise answered by numbers: this holds of answer `number`, counted from 1."""
    return lambda attempt: holds(answers(attempt)[number - 1])


def numbers(*wanted: float | None, within: float = 0.004) -> Probe:
    """A probe on an exercise answered by numbers: these came; None stands for any number."""

    def probe(attempt: Attempt) -> bool:
        pairs = zip(answers(attempt), wanted, strict=True)
        return all(w is None or abs(got - w) <= within * max(1, abs(w)) for got, w in pairs)

    return probe
