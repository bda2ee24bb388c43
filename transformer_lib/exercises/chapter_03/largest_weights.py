"""Exercise 3.2: With and without, by hand."""

from __future__ import annotations

import math

from transformer_lib.exercises.exercise import Exercise, Mistake
from transformer_lib.exercises.paper import entries


def largest_weights():
    scaled = [1, 2, 4]  # exp(0), exp(2 ln 2 / 2), exp(4 ln 2 / 2)
    plain = [1, 4, 16]  # exp(0), exp(2 ln 2), exp(4 ln 2)
    return [max(scaled) / sum(scaled), max(plain) / sum(plain)]


def _top(scale: float) -> float:
    """The largest weight with this factor on the scores 0, 2 ln 2, 4 ln 2."""
    exponentials = [math.exp(scale * score * math.log(2)) for score in (0, 2, 4)]
    return max(exponentials) / sum(exponentials)


WORK_OUT = Exercise(
    id="3.2",
    title="With and without, by hand",
    kind="work out",
    difficulty="easy",
    minutes=8,
    statement=r"""
A word with the query $q = (2, 0, 1, 1)$ reads from three words:

| | key |
|---|---|
| word 1 | $(1, 5, -1, -1)$ |
| word 2 | $(\ln 2, 0, 0, 0)$ |
| word 3 | $(\ln 2, 1, \ln 2, \ln 2)$ |

Work out the weights on paper, first with the scale $1/\sqrt{d_k}$, then without any. Return a list of
two numbers: the **largest weight with the scale**, then the **largest weight without**. (Both are
simple fractions. Two decimals are enough.)
""",
    stub='''def largest_weights():
    """Two numbers: the largest weight with the scale, the largest weight without."""
    raise NotImplementedError
''',
    reference=largest_weights,
    cases=lambda generator: [()],
    tolerance=0.004,
    hints=(
        "How many numbers has a key? That is d_k, and its root is a whole number.",
        "The scores are 0, 2 ln 2 and 4 ln 2. exp(ln 2) = 2, and exp(2 ln 2) = 4.",
        "With the scale the exponentials are 1, 2 and 4. Each weight is one of them divided by their sum.",
    ),
    mistakes=(
        Mistake(
            name="order-swapped",
            message="Both numbers are right, but in the other order: first with the scale, then "
            "without. (The scale makes the softmax softer.)",
            probe=entries(16 / 21, 4 / 7, within=0.004),
        ),
        Mistake(
            name="exponentials-returned",
            message="These are exponentials. A weight is a share: divide by the sum of all three.",
            probe=entries(4, 16),
        ),
        Mistake(
            name="no-exponential",
            message="You divided the scores by their sum. The softmax takes the exponential of each "
            "first. Without it the scale would make no difference at all.",
            probe=entries(2 / 3, 2 / 3),
        ),
        Mistake(
            name="scale-without-root",
            message="With the scale you divided by d_k itself. The softmax came out too flat: the "
            "formula has a root.",
            probe=entries(_top(1 / 4), None, within=0.004),
        ),
        Mistake(
            name="scale-by-length",
            message="You divided by the root of the number of *words*. The scale counts the numbers "
            "in a key: they are what a dot product adds up.",
            probe=entries(_top(1 / math.sqrt(3)), None, within=0.004),
        ),
        Mistake(
            name="scale-upside-down",
            message="You multiplied the scores by √d_k. The scale divides: it makes the softmax softer.",
            probe=entries(_top(2), None, within=0.004),
        ),
        Mistake(
            name="scale-after-softmax",
            message="You divided the finished weight. Then the three no longer sum to 1. The scale "
            "belongs to the scores, before the softmax.",
            probe=entries(8 / 21, None, within=0.004),
        ),
        Mistake(
            name="scale-forgotten",
            message="Your first number is the one without the scale.",
            probe=entries(16 / 21, None, within=0.004),
        ),
        Mistake(
            name="scale-in-both",
            message="Your second number still has the scale in it. Use the bare scores there.",
            probe=entries(None, 4 / 7, within=0.004),
        ),
        Mistake(
            name="smallest-weights",
            message="These are the *smallest* weights of the three.",
            probe=entries(1 / 7, 1 / 21, within=0.004),
        ),
    ),
)
