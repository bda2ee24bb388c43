"""What a check returns: for the learner a card, for tests and graders four fields."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

from transformer_lib.exercises.compare import Difference
from transformer_lib.exercises.exercise import Case, Exercise
from transformer_lib.exercises.places import Place

STATUSES = ("passed", "not attempted", "mistake", "error")


@dataclass(frozen=True, kw_only=True, repr=False)
class Result:
    """The outcome of a check. Shown as the last value of a cell, it is the card.

    Args:
        id: the exercise's number as it was asked for.
        status: one of `STATUSES`.
        mistake: a stable short name, of the exercise or of `facts.GENERIC`; None where it passed.
        message: what to tell the learner.
        exercise: None where there is no exercise of this number.
        case: the smallest input that shows it.
        found: the first difference on this input.
        place: the learner's own line that an error comes from.
        error: the error's type and text.
        printed: what the learner's code printed, shortened.
        notes: what the exercise says of each part of the answer: (what, how it went).
    """

    id: str
    status: str
    mistake: str | None
    message: str
    exercise: Exercise | None = None
    case: Case | None = None
    found: Difference | None = None
    place: Place | None = None
    error: str = ""
    printed: str = ""
    notes: tuple[tuple[str, str], ...] = ()

    @property
    def passed(self) -> bool:
        return self.status == "passed"

    @property
    def hints(self) -> tuple[str, ...]:
        """The exercise's hints, from a nudge to nearly the whole way."""
        return self.exercise.hints if self.exercise else ()

    @property
    def solution(self) -> str:
        """Source text of the exercise's solution."""
        return self.exercise.solution if self.exercise else ""

    def arguments(self) -> list[tuple[str, Any]]:
        """The arguments of the case that is shown, each with its name."""
        if self.case is None or self.exercise is None:
            return []
        names = self.exercise.argument_names(len(self.case.args))
        return list(zip(names, self.case.args, strict=True))

    def _repr_html_(self) -> str:
        from transformer_lib.exercises.card import html_card

        try:
            return html_card(self)
        except Exception:  # a result that cannot be drawn must not stop the notebook
            return f"<p>{html.escape(self._plain())}</p>"

    def __repr__(self) -> str:
        from transformer_lib.exercises.card_text import text_card

        try:
            return text_card(self)
        except Exception:
            return self._plain()

    def _plain(self) -> str:
        return f"Exercise {self.id}: {self.status}. {self.message}"
