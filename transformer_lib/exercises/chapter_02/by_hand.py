"""Exercise 2.2: One word, by hand."""

from __future__ import annotations

import math

from transformer_lib.exercises.chapter_02.shared import plain
from transformer_lib.exercises.exercise import Exercise, Mistake


def by_hand():
    weights = [1 / 7, 2 / 7, 4 / 7]  # exp(0), exp(ln 2), exp(2 ln 2) are 1, 2, 4
    values = [(7, 0), (0, 7), (7, 7)]
    return [sum(a * v[n] for a, v in zip(weights, values, strict=True)) for n in range(2)]


def _numbers(f):
    """The learner's numbers as floats, where they can be read as such."""
    given = plain(f())
    if not isinstance(given, list) or any(type(entry) not in (int, float) for entry in given):
        return given
    return [float(entry) for entry in given]


def _two(first: float, second: float):
    return lambda: [first, second]


def _with_weights(*weights: float):
    """The output of other weights."""
    total = sum(weights)
    return _two(7 * (weights[0] + weights[2]) / total, 7 * (weights[1] + weights[2]) / total)


_LOG = math.log(2)  # the scores are 0, ln 2 and 2 ln 2

WORK_OUT = Exercise(
    id="2.2",
    title="One word, by hand",
    kind="work out",
    difficulty="easy",
    minutes=8,
    statement=r"""
A word with the query $q = (2, 1, 1, 0)$ reads from three words. There is no scale.

| | key | value |
|---|---|---|
| word 1 | $(1, -2, 0, 5)$ | $(7, 0)$ |
| word 2 | $(0, 0, \ln 2, 3)$ | $(0, 7)$ |
| word 3 | $(\ln 2, 0, 0, 1)$ | $(7, 7)$ |

Work out the scores, the weights and the output $o$ on paper. Return the two numbers of $o$ as a list. (They
come out whole. If you prefer to let Python calculate, two decimals are enough.)
""",
    stub='''def by_hand():
    """The output, a list of two numbers."""
    raise NotImplementedError
''',
    reference=by_hand,
    cases=lambda generator: [()],
    run=_numbers,
    tolerance=0.01,
    hints=(
        "A score is a dot product: 2 · 1 + 1 · (−2) + 1 · 0 + 0 · 5 for word 1.",
        "exp(ln 2) = 2, and exp(2 ln 2) = exp(ln 4) = 4.",
        "The three exponentials are small whole numbers. Divide each by their sum, then average the values.",
    ),
    mistakes=(
        Mistake(
            name="no-division",
            message="The exponentials are right, but a weight is a *share*: the three must sum to 1. Your "
            "output is {ratio} times what it should be.",
            variant=_two(35, 42),
        ),
        Mistake(
            name="no-exponential",
            message="This is the average with the scores themselves as shares. The softmax takes the "
            "exponential of each score first; a score of 0 then still gets a share.",
            variant=_two(14 / 3, 7),
        ),
        Mistake(
            name="scores-as-weights",
            message="The values were multiplied by the bare scores. The scores must go through the "
            "softmax first.",
            variant=_two(14 * math.log(2), 21 * math.log(2)),
        ),
        Mistake(
            name="plain-average",
            message="This is the plain average of the three values: the query had no say.",
            variant=_two(14 / 3, 14 / 3),
        ),
        Mistake(
            name="best-match-only",
            message="This is the value of the best match alone. Attention reads a share of *every* word.",
            variant=_two(7, 7),
        ),
        Mistake(
            name="scaled",
            message="The scores were divided by √4. This exercise asks for the formula without scale.",
            variant=_with_weights(1, math.exp(_LOG / 2), math.exp(_LOG)),
        ),
        Mistake(
            name="base-two",
            message="The powers are right, but of 2: the softmax takes powers of e, exp(s).",
            variant=_with_weights(1, 2**_LOG, 2 ** (2 * _LOG)),
        ),
        Mistake(
            name="keys-averaged",
            message="The weights are right, but they were used to average the *keys*. What is read are "
            "the values.",
            variant=lambda: [(1 + 4 * _LOG) / 7, -2 / 7, 2 * _LOG / 7, (5 + 6 + 4) / 7],
        ),
        Mistake(
            name="weights-returned",
            message="These are the weights. The output is what is read with them: the average of the values.",
            variant=lambda: [1 / 7, 2 / 7, 4 / 7],
        ),
        Mistake(
            name="components-swapped",
            message="The two numbers are right but stand in the other order.",
            variant=_two(6, 5),
        ),
    ),
)
