"""Judge an attempt: passed, not attempted, or what is wrong with it, from fundamental to subtle."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any

import numpy as np
from torch import Tensor, nn

from transformer_lib.exercises.attempts import NOTHING, Trial, close_coroutines
from transformer_lib.exercises.compare import Difference, difference
from transformer_lib.exercises.errors import error_text, in_plain_words
from transformer_lib.exercises.exercise import Case, Exercise
from transformer_lib.exercises.generic import ORDER, describe
from transformer_lib.exercises.measure import fields, fill, kind
from transformer_lib.exercises.places import own_place, raised_in_own_code
from transformer_lib.exercises.result import Result

RANDOM = (
    "Called again with the same arguments, it returns other numbers: something in it is drawn at random. "
    "Dropout, which does that, belongs into training only, and after the softmax, never before it."
)
NOT_YET = "Not attempted yet: write your code in the cell above, run it, then run this one again."


def judge(exercise: Exercise, candidate: Any, seconds: float) -> Result:
    """The result of a candidate for an exercise. The candidate may run so many seconds in all."""
    wrong = _wrong_kind(exercise, candidate)
    if wrong is not None:
        return wrong
    if not callable(candidate):
        answer = candidate
        candidate = lambda: answer  # noqa: E731
    candidate = getattr(candidate, "_torchdynamo_orig_callable", candidate)  # compiling may take minutes
    notes: tuple[tuple[str, str], ...] = ()
    if exercise.prepare is not None:
        candidate, notes = exercise.prepare(candidate, seconds)
    trial = Trial(exercise, candidate)
    trial.make_cases()
    trial.run(seconds)
    result = _verdict(trial, seconds)
    close_coroutines(*trial.returned, *(case.got for case in trial.cases))
    return dataclasses.replace(result, printed=trial.printed.text(), notes=notes)


def _verdict(trial: Trial, seconds: float) -> Result:
    exercise, cases = trial.exercise, trial.cases
    for case in cases:
        if isinstance(case.error, NotImplementedError) and raised_in_own_code(case.error):
            return _result(exercise, "not attempted", "not-attempted", NOT_YET)
    if trial.late is None and not any(map(trial.is_wrong, cases)) and not any(trial.changed):
        count = "the one case" if len(cases) == 1 else f"all {len(cases)} cases"
        text = "Right." if exercise.asks_for_answer else f"Right on {count}, small and large."
        return _result(exercise, "passed", None, text)
    call_failed = next((case for case in cases if _cannot_be_called(case.error)), None)
    if call_failed is not None:
        return _wrong_arguments(exercise, call_failed)
    wrong = trial.late is not None or any(map(trial.is_wrong, cases))
    mistake = trial.known_mistake() if wrong else None  # right values, but an argument changed: no known one
    if mistake is not None:
        return _named(trial, mistake)
    if trial.late is not None:
        return _too_late(trial, seconds)
    failed = next((number for number, case in enumerate(cases) if case.error is not None), None)
    return _error(trial, failed) if failed is not None else _generic(trial)


def _result(exercise: Exercise, status: str, mistake: str | None, message: str, **more: Any) -> Result:
    return Result(id=exercise.id, status=status, mistake=mistake, message=message, exercise=exercise, **more)


def _wrong_kind(exercise: Exercise, candidate: Any) -> Result | None:
    """Something that cannot be the function or class asked for, whatever it does."""
    name, wants_class = exercise.name, isinstance(exercise.reference, type)
    if wants_class and isinstance(candidate, nn.Module):
        text = (
            f"The class itself was asked for, not an object made from it: pass `{name}` without parentheses."
        )
        return _result(exercise, "mistake", "not-a-class", text)
    if isinstance(candidate, type) and not wants_class:
        text = f"A function was asked for; this is the class `{candidate.__name__}`. Write `def {name}(…)`."
        return _result(exercise, "mistake", "class-instead-of-function", text)
    if callable(candidate):
        return None
    plain = isinstance(candidate, bool | int | float | str | list | tuple | Tensor | np.ndarray | np.generic)
    if exercise.asks_for_answer and plain:
        return None  # the answer itself instead of a function that returns it
    text = (
        f"The check calls your function itself. You passed {kind(candidate)}: write "
        f'`check("{exercise.id}", {name})` with the bare name, without parentheses and arguments.'
    )
    return _result(exercise, "mistake", "not-a-function", text)


def _cannot_be_called(error: BaseException | None) -> bool:
    """Whether the call itself failed, before any line of the learner's code ran."""
    calls = r"positional argument|unexpected keyword|required (keyword|pos)|multiple values|takes no arg"
    return type(error) is TypeError and own_place(error) is None and bool(re.search(calls, str(error)))


def _wrong_arguments(exercise: Exercise, case: Case) -> Result:
    parameters = inspect.signature(exercise.reference).parameters
    text = (
        f"It cannot be called as the exercise asks, `{exercise.name}({', '.join(parameters)})`: "
        f"{error_text(case.error).removeprefix('TypeError: ')}. Compare the line with `def`."
    )
    return _result(exercise, "mistake", "wrong-arguments", text, case=case, error=error_text(case.error))


def _shown(trial: Trial) -> Case:
    """The smallest input that shows that something is wrong."""
    wrong = [case for case in trial.cases if trial.is_wrong(case)]
    changed = [case for case, places in zip(trial.cases, trial.changed, strict=False) if places]
    return (wrong or changed or trial.cases)[0]


def _named(trial: Trial, mistake) -> Result:
    exercise, case = trial.exercise, _shown(trial)
    if "{error}" in mistake.message:  # a small case may have gone through
        case = next((one for one in trial.cases if one.error is not None), case)
    place, found, error = own_place(case.error), None, ""
    if case.error is not None:
        error = error_text(case.error)
    else:
        found = difference(case.expected, case.got, exercise.tolerance)
    whole = Difference(found.name, case.expected, case.got) if found else None
    known = fields(whole, case.args, error.split(": ", 1)[-1].rstrip(".") or "?", exercise.tolerance)
    message = fill(mistake.message, known)
    return _result(
        exercise, "mistake", mistake.name, message, case=case, found=found, error=error, place=place
    )


def _too_late(trial: Trial, seconds: float) -> Result:
    place = own_place(None, trial.late.places)
    text = f"It had not ended after {seconds:g} seconds and was stopped."
    if place is not None:
        text += f" It was in {place.where}. Does a loop there ever end?"
    text += f' If it is only slow: `check("{trial.exercise.id}", {trial.exercise.name}, seconds=60)`.'
    return _result(trial.exercise, "error", "time-limit", text, case=trial.cases[-1], place=place)


def _error(trial: Trial, number: int) -> Result:
    """The call on the case of this number raised."""
    exercise, case = trial.exercise, trial.cases[number]
    error, place, returned = case.error, own_place(case.error), trial.returned[number]
    if place is None and returned is not NOTHING:  # the rest of the call could not use what came
        if returned is None:
            found = Difference("returned-none", case.expected, None)
            text = describe(found, exercise.tolerance, printed=trial.printed.text())
            return _result(exercise, "mistake", "returned-none", text, case=case)
        text = f"It returned {kind(returned)}, which the check cannot use: {error_text(error)}."
        return _result(exercise, "mistake", "wrong-type", text, case=case)
    where = f" in {place.where}" if place is not None else ""
    text = f"Your code raised an error{where}. {in_plain_words(error)}".strip()
    return _result(exercise, "error", "error", text, case=case, place=place, error=error_text(error))


def _generic(trial: Trial) -> Result:
    """The most basic difference over all cases, on the smallest of them."""
    exercise = trial.exercise
    differing = []
    for case in trial.cases:
        found = difference(case.expected, case.got, exercise.tolerance)
        if found is not None:
            differing.append((ORDER.index(found.name), case, found))
    pairs = zip(trial.cases, trial.changed, strict=True)
    changed = next(((case, places) for case, places in pairs if places), None)
    if differing:
        rank, case, found = min(differing, key=lambda entry: entry[0])
        if changed is None or rank < ORDER.index("contains-nan"):
            if found.name in ("wrong-values", "contains-nan") and trial.is_random(case):
                return _result(exercise, "mistake", "random-result", RANDOM, case=case, found=found)
            text = describe(found, exercise.tolerance, exercise.asks_for_answer, trial.printed.text())
            return _result(exercise, "mistake", found.name, text, case=case, found=found)
    case, places = changed
    names = exercise.argument_names(len(case.args))
    which = ", ".join(f"`{names[i]}`" for i in places)
    text = (
        f"It changed its argument {which}: whoever calls it finds other numbers there afterwards. Writing "
        "into a tensor (`x[…] =`, `x +=`, methods that end in `_`) changes the caller's; work on a new one."
    )
    return _result(exercise, "mistake", "argument-changed", text, case=case)
