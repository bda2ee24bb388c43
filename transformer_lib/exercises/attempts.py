"""Call the learner's function on the cases of an exercise, and a known mistake's variant likewise."""

from __future__ import annotations

import contextlib
import functools
import inspect
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from transformer_lib.exercises.compare import difference
from transformer_lib.exercises.copies import fresh, snapshot, unchanged
from transformer_lib.exercises.errors import error_text, same_error
from transformer_lib.exercises.exercise import Attempt, CallError, Case, Exercise, Mistake
from transformer_lib.exercises.measure import entries, is_dense
from transformer_lib.exercises.places import after
from transformer_lib.exercises.restore import Printed, restored
from transformer_lib.exercises.runner import Outcome, run_guarded

NOTHING = object()  # in place of what a call that failed returned


@contextlib.contextmanager
def ordinary() -> Iterator[None]:
    """On the CPU and with gradients, whatever the notebook has switched on or off."""
    with torch.inference_mode(False), torch.enable_grad(), torch.device("cpu"):
        yield


@dataclass
class Trial:
    """The calls of one check: the cases with what came, and what else was seen."""

    exercise: Exercise
    candidate: Any
    printed: Printed = field(default_factory=Printed)
    deadline: float = 0.0
    cases: list[Case] = field(default_factory=list)
    changed: list[list[int]] = field(default_factory=list)  # per case: positions of changed arguments
    late: Outcome | None = None
    returned: list[Any] = field(default_factory=list)  # by the function itself, before `exercise.run` used it

    def make_cases(self) -> None:
        """The arguments and what the reference makes of them."""
        with ordinary():
            with restored(Printed()):
                all_args = self.exercise.cases(torch.Generator().manual_seed(0))
            for args in all_args:
                with restored(Printed()):
                    given = fresh(args)
                    expected = snapshot(self.exercise.run(self.exercise.reference, *given))
                changes = [i for i, a in enumerate(args) if not unchanged(a, given[i])]
                self.cases.append(Case(args=args, expected=expected))
                self.changed.append(changes)

    def run(self, seconds: float) -> None:
        """Call the candidate on every case, until one of them takes too long."""
        self.deadline = time.monotonic() + seconds
        self._run_cases()
        self.deadline = max(self.deadline, time.monotonic() + seconds / 2)  # for probes

    def _run_cases(self) -> None:
        for number, case in enumerate(self.cases):
            with ordinary():
                given = fresh(case.args)
            self.returned.append(NOTHING)
            outcome = self.guarded(given, self.printed, keep=True)
            if outcome.late:
                self.late = outcome
                self.cases[number] = Case(args=case.args, expected=case.expected)
                del self.cases[number + 1 :], self.changed[number:]
                return
            meant = self.changed[number]
            self.changed[number] = [
                i for i, a in enumerate(case.args) if i not in meant and not unchanged(a, given[i])
            ]
            self.cases[number] = Case(
                args=case.args, expected=case.expected, got=outcome.value, error=outcome.error
            )
            if isinstance(outcome.error, NotImplementedError):
                return

    def guarded(self, args: tuple, printed: Printed, keep: bool = False, seed: int = 0) -> Outcome:
        """One call of the candidate in a thread of its own; `keep` makes a plain copy of the result."""
        candidate = self._recorded()

        def job():
            value = self.exercise.run(candidate, *args)
            return snapshot(value) if keep else value

        with restored(printed, seed):
            outcome = run_guarded(job, self.deadline - time.monotonic())
        if outcome.error is not None:
            outcome.error.__traceback__ = after(outcome.error.__traceback__, self.exercise.run)
        return outcome

    def _recorded(self) -> Any:
        """The candidate, and a note of what it returns: `exercise.run` may not cope with that."""
        if isinstance(self.candidate, type | nn.Module):
            return self.candidate

        def recorded(*args, **kwargs):
            self.returned[-1] = value = self.candidate(*args, **kwargs)
            return value

        with contextlib.suppress(Exception):
            functools.update_wrapper(recorded, self.candidate)
        return recorded

    def attempt(self) -> Attempt:
        """What a probe sees."""

        def call(*args):
            if self.late is not None or time.monotonic() > self.deadline:
                raise CallError("no time is left")
            self.returned.append(NOTHING)
            given = tuple(a if _carries_gradient(a) else fresh(a) for a in args)
            outcome = self.guarded(given, Printed())
            if outcome.late or outcome.error is not None:
                raise CallError("it ran out of time" if outcome.late else error_text(outcome.error))
            return outcome.value

        return Attempt(cases=tuple(self.cases), _call=call)

    def is_wrong(self, case: Case) -> bool:
        tolerance = self.exercise.tolerance
        return case.error is not None or difference(case.expected, case.got, tolerance) is not None

    def is_random(self, case: Case) -> bool:
        """Whether the candidate's result changes with the seed of the random numbers."""
        for seed in (1, 2, 3):
            with ordinary():
                given = fresh(case.args)
            outcome = self.guarded(given, Printed(), keep=True, seed=seed)
            if outcome.late or outcome.error is not None:
                return False
            if difference(case.got, outcome.value, self.exercise.tolerance) is not None:
                return True
        return False

    def known_mistake(self) -> Mistake | None:
        """The first known mistake that explains the attempt."""
        attempt = self.attempt()
        empty = _says_nothing(self.cases)
        for mistake in self.exercise.mistakes:
            if mistake.probe is not None and not empty and _holds(mistake.probe, attempt):
                return mistake
            if mistake.variant is not None and self.late is None and self._equals(mistake.variant):
                return mistake
        return None

    def _equals(self, variant: Callable) -> bool:
        """Whether the attempt gives what the variant gives on every case, and that is not always right."""
        wrong = False
        for case in self.cases:
            value, error = self._of_variant(variant, case)
            if error is not None:
                if case.error is None or not same_error(error, case.error):
                    return False
                wrong = True
            elif case.error is not None or difference(value, case.got, self.exercise.tolerance):
                return False
            else:
                wrong = wrong or difference(case.expected, value, self.exercise.tolerance) is not None
        return wrong

    def _of_variant(self, variant: Callable, case: Case) -> tuple[Any, Exception | None]:
        with ordinary(), restored(Printed()):
            try:
                return snapshot(self.exercise.run(variant, *fresh(case.args))), None
            except Exception as error:
                return None, error


def _carries_gradient(value: Any) -> bool:
    """Whether a probe may want to differentiate by this argument, so that it must not be copied."""
    return isinstance(value, Tensor) and value.requires_grad


def _says_nothing(cases: list[Case]) -> bool:
    """Whether the result is one and the same number on all cases: all too many properties hold of that."""
    numbers = [entries(case.got) if is_dense(case.got) else None for case in cases]
    if len(cases) < 2 or any(x is None for x in numbers):
        return False
    return len(torch.cat([x.reshape(-1) for x in numbers]).unique()) <= 1


def _holds(probe: Callable[[Attempt], bool], attempt: Attempt) -> bool:
    """Whether a probe holds; one that raises does not."""
    with ordinary(), restored(Printed()):
        try:
            return bool(probe(attempt))
        except Exception:
            return False


def close_coroutines(*values: Any) -> None:
    """End coroutines that nobody will await, or Python warns about them later."""
    for value in values:
        if inspect.iscoroutine(value):
            value.close()
