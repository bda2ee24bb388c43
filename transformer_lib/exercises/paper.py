"""Answers worked out on paper: the numbers that came, and probes that look at them."""

from __future__ import annotations

from transformer_lib.exercises.attention_probes import Probe
from transformer_lib.exercises.exercise import Attempt


def answers(attempt: Attempt) -> list[float]:
    """The numbers of an exercise that is answered on paper.

    Raises:
        TypeError: the answer is no list of numbers, so that nothing can be told from it.
    """
    given = attempt.cases[0].got
    given = given.tolist() if hasattr(given, "tolist") else given
    if not isinstance(given, list | tuple):
        raise TypeError(f"a list of numbers was expected; got {type(given).__name__}")
    numbers = [entry.item() if hasattr(entry, "item") else entry for entry in given]
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise TypeError(f"a number was expected; got {type(number).__name__}")
    return [float(number) for number in numbers]


def entries(*wanted: float | None, within: float = 0.01) -> Probe:
    """A probe on answers given as numbers: these came; None stands for any number."""

    def probe(attempt: Attempt) -> bool:
        pairs = zip(answers(attempt), wanted, strict=True)
        return all(w is None or abs(got - w) <= within * max(1, abs(w)) for got, w in pairs)

    return probe


def first_wrong(number: int, right: list[float], tolerance: float) -> Probe:
    """A probe on answers given as numbers: this one, counted from 1, is the first that is not right."""

    def probe(attempt: Attempt) -> bool:
        pairs = zip(answers(attempt), right, strict=True)
        off = [abs(a - b) > tolerance * (1 + abs(b)) for a, b in pairs]
        return off.index(True) == number - 1

    return probe
