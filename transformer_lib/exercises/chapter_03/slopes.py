"""Exercise 3.4: The slope of a softmax, by hand."""

from __future__ import annotations

from transformer_lib.exercises.exercise import Exercise, Mistake
from transformer_lib.exercises.paper import answers, entries


def slopes():
    p = [1 / 2, 1 / 4, 1 / 4]
    return [p[0] - p[0] * p[0], -p[1] * p[0], -p[2] * p[0], -p[1] * p[2]]


SLOPE = Exercise(
    id="3.4",
    title="The slope of a softmax, by hand",
    kind="work out",
    difficulty="medium",
    minutes=8,
    statement=r"""
A row of scores $s_1, s_2, s_3$ gives the weights $p = (\tfrac12, \tfrac14, \tfrac14)$. How fast do the
weights change when a score changes a little? The slopes are

$$\frac{\partial p_i}{\partial s_j} = p_i(\delta_{ij} - p_j), \qquad \delta_{ij} = 1 \text{ for } i = j,
\text{ otherwise } 0.$$

Return a list of four numbers: $\dfrac{\partial p_1}{\partial s_1}$, $\dfrac{\partial p_2}{\partial
s_1}$, $\dfrac{\partial p_3}{\partial s_1}$ and $\dfrac{\partial p_2}{\partial s_3}$.
""",
    stub='''def slopes():
    """Four slopes: of p1, p2, p3 in s1, and of p2 in s3."""
    raise NotImplementedError
''',
    reference=slopes,
    cases=lambda generator: [()],
    tolerance=0.006,
    hints=(
        "For the first slope i = j = 1; for the other three i and j differ.",
        "When one weight rises, the others must give way. What do the first three slopes add up to?",
    ),
    mistakes=(
        Mistake(
            name="signs-turned",
            message="All signs are turned: a score that rises makes its own weight rise and the others fall.",
            probe=entries(-1 / 4, 1 / 8, 1 / 8, 1 / 16, within=0.006),
        ),
        Mistake(
            name="only-the-diagonal",
            message="You used p_i for i = j and 0 elsewhere. The weights share one sum: what one "
            "gains, the others lose, and that also slows down the gain.",
            probe=entries(1 / 2, 0, 0, 0, within=0.006),
        ),
        Mistake(
            name="others-do-not-move",
            message="The first slope is right, but the other weights move as well: together they lose "
            "what the first gains.",
            probe=entries(1 / 4, 0, 0, None, within=0.006),
        ),
        Mistake(
            name="product-alone",
            message="You left out δ: for i = j the slope has the term p_i as well. A score that rises "
            "makes its own weight rise.",
            probe=entries(-1 / 4, -1 / 8, -1 / 8, None, within=0.006),
        ),
        Mistake(
            name="sign-of-the-product",
            message="The product p_i p_j is subtracted, not added: when the first score rises, the "
            "other weights fall.",
            probe=entries(None, 1 / 8, 1 / 8, None, within=0.006),
        ),
        Mistake(
            name="all-on-the-diagonal",
            message="p_i (1 − p_i) holds for i = j only. Where i and j differ, δ is 0.",
            probe=entries(1 / 4, 3 / 16, 3 / 16, None, within=0.006),
        ),
        Mistake(
            name="wrong-pair",
            message="The first three are right. In the last one neither p_2 nor s_3 has to do with "
            "word 1: multiply the weights of words 2 and 3.",
            probe=entries(1 / 4, -1 / 8, -1 / 8, None, within=0.006),
        ),
        Mistake(
            name="out-of-balance",
            message="Your first three slopes do not sum to 0. The weights always sum to 1, so what "
            "the first gains must be what the other two lose.",
            probe=lambda attempt: len(answers(attempt)) == 4 and abs(sum(answers(attempt)[:3])) > 0.01,
        ),
    ),
)
