"""What an exercise is: statement, stub, reference solution, cases, hints and the mistakes it can name.

Each `chapter_NN` of this folder defines `EXERCISES: tuple[Exercise, ...]`. Everything about an exercise
is written there and only there; notebooks, cards, graders and tests read it from here.
"""

from __future__ import annotations

import ast
import inspect
import re
import string
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from transformer_lib.exercises import facts
from transformer_lib.exercises.solution import source_with_imports

KINDS = ("write", "find the bug", "predict", "work out")
DIFFICULTIES = ("easy", "medium", "hard")


class CallError(Exception):
    """A further call of the learner's function, made by a probe, raised or ran out of time."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One call: the arguments, what the reference returned and what the learner's function returned.

    `got` is a plain copy: tensors are detached, subclasses of Tensor are stripped. Where the call raised,
    `got` is None and `error` is the exception.
    """

    args: tuple
    expected: Any
    got: Any = None
    error: BaseException | None = None


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """All cases of one check, and a way to ask the learner's function about further inputs."""

    cases: tuple[Case, ...]
    _call: Callable[..., Any] = field(repr=False)

    def call(self, *args: Any) -> Any:
        """The learner's function on further inputs, called as for a case, with the same guards.

        Raises:
            CallError: it raised, or the time of the check is used up. A probe need not catch this:
                a probe that raises does not hold.
        """
        return self._call(*args)


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """One known mistake: a stable name, what to tell the learner, and how to recognise it.

    Args:
        name: lower case with hyphens, such as "softmax-over-queries".
        message: what is wrong, how it shows, where to look; never the answer itself. May use the fields
            of `facts.FIELDS`, such as {got_shape}; other braces are doubled. `Backticks` become code.
        variant: an implementation that makes the mistake. The attempt makes it too when its results equal
            the variant's on every case (NaN equals NaN; where the variant raises, the attempt raises the
            same kind of error), and the variant differs from the reference on at least one.
        probe: a property of the attempt, so that every spelling is caught. Either of the two suffices.

    Raises:
        ValueError: a name of another form, an unknown field in the message, neither variant nor probe.
    """

    name: str
    message: str
    variant: Callable | None = None
    probe: Callable[[Attempt], bool] | None = None

    def __post_init__(self):
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", self.name):
            raise ValueError(f"a mistake's name is lower case with hyphens; got {self.name!r}")
        if self.variant is None and self.probe is None:
            raise ValueError(f"mistake {self.name!r} needs a variant or a probe, or it is never found")
        for _, name, _, _ in string.Formatter().parse(self.message):
            if name is not None and name not in facts.FIELDS:
                raise ValueError(
                    f"the message of {self.name!r} has the unknown field {{{name}}}; double other braces. "
                    f"Fields: {', '.join(facts.FIELDS)}"
                )


def call(function: Callable, *args: Any) -> Any:
    """How a candidate is called on a case unless the exercise says otherwise."""
    return function(*args)


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """One exercise.

    Args:
        id: chapter and number, such as "2.1".
        title: a short heading.
        kind: one of `KINDS`.
        difficulty: one of `DIFFICULTIES`.
        minutes: about how long it takes.
        statement: CommonMark with $…$.
        stub: source text of the stub cell, imports at the top; its function raises NotImplementedError.
        reference: the solution, a function or class of the same name as the stub's.
        cases: tuples of arguments, from the smallest to the largest.
        hints: from a nudge to nearly the whole way.
        mistakes: in the order in which they are tried, fundamental first.
        run: how a candidate is called on a case: for classes, or several calls.
        prepare: of a candidate and the seconds that it may run, what is judged in its place, and notes for
            the card, (what, how it went). For answers that are put together from several; it must guard
            each call of the learner's code itself.
        tolerance: largest difference from the reference, absolute and relative.

    Raises:
        ValueError: any of these is not as described.
    """

    id: str
    title: str
    kind: str
    difficulty: str
    minutes: int
    statement: str
    stub: str
    reference: Callable
    cases: Callable[[torch.Generator], list[tuple]]
    hints: tuple[str, ...]
    mistakes: tuple[Mistake, ...]
    run: Callable = call
    prepare: Callable[[Any, float], tuple[Any, tuple[tuple[str, str], ...]]] | None = None
    tolerance: float = 1e-4

    def __post_init__(self):
        def require(holds: bool, what: str) -> None:
            if not holds:
                raise ValueError(f"exercise {self.id!r}: {what}")

        require(bool(re.fullmatch(r"\d+\.\d+", self.id)), 'id must be like "2.1"')
        require(self.kind in KINDS, f"kind must be one of {KINDS}; got {self.kind!r}")
        require(
            self.difficulty in DIFFICULTIES,
            f"difficulty must be one of {DIFFICULTIES}; got {self.difficulty!r}",
        )
        require(self.minutes >= 1, f"minutes must be at least 1; got {self.minutes}")
        require(bool(self.title.strip() and self.statement.strip()), "title and statement must not be empty")
        defined = {getattr(node, "name", None) for node in ast.parse(self.stub).body}
        require(self.name in defined, f"the stub defines {defined - {None}}, the reference is {self.name!r}")
        require("raise NotImplementedError" in self.stub, "the stub must raise NotImplementedError")
        names = [mistake.name for mistake in self.mistakes]
        require(len(set(names)) == len(names), f"two mistakes share a name: {names}")
        taken = set(names) & set(facts.GENERIC)
        require(not taken, f"the engine itself gives the names {taken}; choose others")

    @property
    def name(self) -> str:
        """Name of the function (or class) that the learner writes."""
        return self.reference.__name__

    @property
    def solution(self) -> str:
        """Source text of the reference with the imports it needs, ready to paste into a cell."""
        return source_with_imports(self.reference)

    @property
    def asks_for_answer(self) -> bool:
        """Whether it asks for an answer, which cards must not show, and not for a function of something."""
        return not isinstance(self.reference, type) and not inspect.signature(self.reference).parameters

    def argument_names(self, count: int) -> list[str]:
        """Names of the arguments of a case: as the reference has them, or `run` after the candidate."""
        takes_them = self.reference if self.run is call else self.run
        if not isinstance(takes_them, type):
            parameters = list(inspect.signature(takes_them).parameters.values())[self.run is not call :]
            names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
            if len(names) >= count:
                return names[:count]
        return [f"argument {number}" for number in range(1, count + 1)]

    @property
    def points(self) -> int:
        """What it counts when graded: 1, 2 or 3 by difficulty."""
        return 1 + DIFFICULTIES.index(self.difficulty)

    @property
    def key(self) -> tuple[int, int]:
        """(chapter, number), to sort by."""
        chapter, number = self.id.split(".")
        return int(chapter), int(number)
