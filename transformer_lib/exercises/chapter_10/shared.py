"""What several exercises of this chapter look at: formulas that the learner's function may be."""

from __future__ import annotations

from collections.abc import Callable

import torch

from transformer_lib.exercises.attention_probes import Probe, near
from transformer_lib.exercises.exercise import Attempt


def is_number(*formulas: Callable[..., float]) -> Probe:
    """A probe: on every case the number that came is one and the same of these functions of the arguments."""

    def holds(formula, case) -> bool:
        return abs(float(case.got) - formula(*case.args)) < 0.5

    def probe(attempt: Attempt) -> bool:
        return any(all(holds(formula, case) for case in attempt.cases) for formula in formulas)

    return probe


def on_inputs(inputs: tuple, *formulas: Callable[..., torch.Tensor | tuple]) -> Probe:
    """A probe: on these inputs the learner's function gives what one of the formulas gives."""

    def same(got, wanted) -> bool:
        if isinstance(wanted, tuple):
            got = tuple(got)
            return len(got) == len(wanted) and all(same(a, b) for a, b in zip(got, wanted, strict=True))
        return near(torch.as_tensor(got), wanted)

    def probe(attempt: Attempt) -> bool:
        got = attempt.call(*inputs)
        return any(same(got, formula(*inputs)) for formula in formulas)

    return probe
