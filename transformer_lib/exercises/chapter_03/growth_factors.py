"""Exercise 3.1: Four times as wide."""

from __future__ import annotations

from transformer_lib.exercises.exercise import Exercise, Mistake
from transformer_lib.exercises.paper import entries


def growth_factors():
    return [2.0, 4.0, 1.0, 0.5]


PREDICT = Exercise(
    id="3.1",
    title="Four times as wide",
    kind="predict",
    difficulty="easy",
    minutes=5,
    statement=r"""
Queries and keys have $d_k$ numbers each, all drawn independently, with mean 0 and variance 1. Now $d_k$
grows from 16 to 64, so that a score $q^\top k$ adds up four times as many products. By which factor do
these change?

1. the standard deviation of the scores $q^\top k$
2. the variance of the scores $q^\top k$
3. the standard deviation of the scores divided by the root, $q^\top k / \sqrt{d_k}$
4. the standard deviation of the scores divided by the width itself, $q^\top k / d_k$

Return your four factors as a list of numbers. "Three times as large" is `3`, "a third" is `1 / 3`, "the
same" is `1`. Do not run anything before you have answered: a guess is fine.
""",
    stub='''def growth_factors():
    """Four factors, in the order of the questions."""
    raise NotImplementedError
''',
    reference=growth_factors,
    cases=lambda generator: [()],
    tolerance=0.01,
    hints=(
        "The variance of a sum of independent numbers is the sum of their variances.",
        "The standard deviation is the root of the variance. Divide all scores by 7, and it is divided by 7.",
        "For 3 and 4, first write down what the scores themselves do, then what the divisor does.",
    ),
    mistakes=(
        Mistake(
            name="upside-down",
            message="These are the factors from 64 back to 16. The width *grows*.",
            probe=entries(0.5, 0.25, 1, 2),
        ),
        Mistake(
            name="spread-and-variance-swapped",
            message="Your first two answers have changed places. The standard deviation is the root "
            "of the variance; which of the two adds up?",
            probe=entries(4, 2, None, None),
        ),
        Mistake(
            name="spread-grows-like-width",
            message="Look at 1 again. The products have both signs and partly cancel, so the sum does "
            "not grow as fast as the number of its terms. What adds up is the variance.",
            probe=entries(4, None, None, None),
        ),
        Mistake(
            name="spread-stays",
            message="Look at 1 again. On average the sum stays 0, but it strays further from it the "
            "more products it adds up.",
            probe=entries(1, None, None, None),
        ),
        Mistake(
            name="variance-like-spread",
            message="Look at 2 again. If the standard deviation changes by some factor, by which does "
            "its square change?",
            probe=entries(2, 2, None, None),
        ),
        Mistake(
            name="variance-squared-twice",
            message="Look at 2 again. 16 is the square of 4; but the standard deviation does not grow "
            "fourfold.",
            probe=entries(None, 16, None, None),
        ),
        Mistake(
            name="variance-stays",
            message="Look at 2 again. Each product has variance 1, and variances of independent "
            "numbers add up.",
            probe=entries(None, 1, None, None),
        ),
        Mistake(
            name="root-too-weak",
            message="Look at 3 again. The scores spread further, and so does the divisor grow. By how "
            "much does √d_k grow from 16 to 64?",
            probe=entries(None, None, 2, None),
        ),
        Mistake(
            name="root-too-strong",
            message="Look at 3 again. You counted how the divisor grows, and forgot that the scores "
            "grow too.",
            probe=entries(None, None, 0.5, None),
        ),
        Mistake(
            name="width-cancels",
            message="Look at 4 again. d_k grows by more than the standard deviation of the scores "
            "does, so that the two do not cancel.",
            probe=entries(None, None, None, 1),
        ),
        Mistake(
            name="width-alone",
            message="Look at 4 again. A quarter is what the divisor does alone. The scores grow meanwhile.",
            probe=entries(None, None, None, 0.25),
        ),
    ),
)
