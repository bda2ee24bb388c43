"""Exercises that check themselves and name the mistake.

`check("2.3", my_function)` returns a result that a notebook shows as a card; `catalogue()` lists all
exercises; `progress()` shows which have passed. Each chapter's are in `chapter_NN/`. A learner's code is
run with a time limit and cannot stop the notebook: see `runner.py` and `restore.py`. How a mistake is
found: `diagnose.py`. Grading folders of notebooks: `python -m transformer_lib.exercises grade --help`.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
import re
import sys
from typing import Any

from transformer_lib.display.html import Html
from transformer_lib.exercises import record
from transformer_lib.exercises.diagnose import judge
from transformer_lib.exercises.errors import error_text
from transformer_lib.exercises.exercise import Attempt, Case, Exercise, Mistake
from transformer_lib.exercises.progress import overview
from transformer_lib.exercises.result import Result
from transformer_lib.exercises.runner import inside

__all__ = ["Attempt", "Case", "Exercise", "Mistake", "Result", "catalogue", "check", "progress"]

_MISSING = object()
SECONDS = 10.0  # that a learner's code may run in one check, in all


def check(id: str, candidate: Any = _MISSING, *, seconds: float = SECONDS) -> Result:
    """Check an answer to an exercise; the result, shown by the notebook, says what is wrong with it.

    Never raises, so that running all cells never stops here.

    Args:
        id: the exercise's number, such as "2.3".
        candidate: the function (or class) itself, not a call of it.
        seconds: how long it may run, over all cases.

    >>> from transformer_lib.exercises import check
    >>> check("99.1", len).status
    'error'
    """
    id = str(id).strip()
    if inside():
        return _failed(id, "check-failed", "`check` was called by the very function that it is checking.")
    try:
        exercises = {exercise.id: exercise for exercise in catalogue()}
        if id not in exercises:
            return _failed(id, "unknown-exercise", _unknown(id, list(exercises)))
        exercise = exercises[id]
        if candidate is _MISSING:
            text = f'Pass your function too: `check("{id}", {exercise.name})`.'
            return Result(id=id, status="mistake", mistake="not-a-function", message=text, exercise=exercise)
        result = judge(exercise, candidate, seconds)
        if result.status != "not attempted" and _in_notebook():
            record.note(id, result.passed)
        return result
    except Exception as error:
        text = f"The check itself failed, which is not your fault: {error_text(error)}. Please report it."
        return _failed(id, "check-failed", text)


def catalogue() -> tuple[Exercise, ...]:
    """All exercises of all chapters, in order.

    Raises:
        ValueError: two exercises share a number, or one is in another chapter's file.
    """
    found: list[Exercise] = []
    for module in sorted(info.name for info in pkgutil.iter_modules(__path__)):
        if re.fullmatch(r"chapter_\d\d", module):
            exercises = importlib.import_module(f"{__name__}.{module}").EXERCISES
            for exercise in exercises:
                if exercise.key[0] != int(module[-2:]):
                    raise ValueError(f"exercise {exercise.id} is in {module}.py")
            found += exercises
    ids = [exercise.id for exercise in found]
    twice = {id for id in ids if ids.count(id) > 1}
    if twice:
        raise ValueError(f"more than one exercise is called {sorted(twice)}")
    return tuple(sorted(found, key=lambda exercise: exercise.key))


def progress() -> Html:
    """What is done, chapter by chapter: a card in a notebook, text elsewhere.

    A check in a notebook notes whether an attempt passed, in a small file of your own (`record.py`
    says where); nothing is sent anywhere.
    """
    return overview(catalogue())


def _in_notebook() -> bool:
    """Whether a kernel runs this, and not a test, a script or a grader."""
    shell = sys.modules.get("IPython") and sys.modules["IPython"].get_ipython()
    return getattr(shell, "kernel", None) is not None


def _failed(id: str, name: str, message: str) -> Result:
    return Result(id=id, status="error", mistake=name, message=message)


def _unknown(id: str, ids: list[str]) -> str:
    near = difflib.get_close_matches(id, ids, n=3, cutoff=0.4) or ids[:3]
    return f"There is no exercise {id!r}. " + (f"Did you mean {', '.join(sorted(near))}?" if near else "")
