"""Exercise 5.2: Two units that do it."""

from __future__ import annotations

from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake
from transformer_lib.exercises.paper import answers, entries


def two_units():
    return [2, 1, 0, 1, -2]


def _outputs(holds):
    """A probe on what the learner's two last numbers give: out(a + b) with the right units."""

    def probe(attempt: Attempt) -> bool:
        _, _, _, u, w = answers(attempt)
        none, one, both = 0.0, u, 2 * u + w
        return holds(none, one, both)

    return probe


def _about(a: float, b: float) -> bool:
    return abs(a - b) < 0.01


XOR = Exercise(
    id="5.2",
    title="Two units that do it",
    kind="work out",
    difficulty="medium",
    minutes=10,
    statement=r"""
A word has two features $a$ and $b$, each 0 or 1. A network with two ReLU units should answer 1 if exactly
**one** of them is 1 (that is XOR), and 0 if none or both are:

$$h_1 = \operatorname{ReLU}(a + b), \qquad h_2 = \operatorname{ReLU}(a + b - 1), \qquad
y = u\, h_1 + w\, h_2 .$$

Work out with pencil and paper:

1. $h_1$ for the word $a = 1$, $b = 1$
2. $h_2$ for the same word
3. $h_2$ for the word $a = 0$, $b = 0$
4. $u$
5. $w$

Return the five numbers as a list.
""",
    stub='''def two_units():
    """Five numbers: h1 and h2 for (1, 1), h2 for (0, 0), u, w."""
    raise NotImplementedError
''',
    reference=two_units,
    cases=lambda generator: [()],
    tolerance=0.006,
    hints=(
        "Make a table with the four words as rows, and h1, h2 as columns. ReLU(z) = max(z, 0).",
        "For (0, 1) and (1, 0) only h1 is not 0, and y must be 1. What must u be?",
        "For (1, 1), y = u h1 + w h2 must be 0. You know everything but w.",
    ),
    mistakes=(
        Mistake(
            name="relu-forgotten",
            message="For (0, 0) the second unit is negative before its ReLU. What does the ReLU make of "
            "a negative number?",
            probe=entries(None, None, -1, None, None),
        ),
        Mistake(
            name="units-swapped",
            message="The two units came in the other order: first h1, then h2.",
            probe=entries(1, 2, None, None, None),
        ),
        Mistake(
            name="minus-one-forgotten",
            message="h2 for (1, 1): the −1 inside the ReLU was left out. It is what makes the second "
            "unit another function than the first.",
            probe=entries(None, 2, None, None, None),
        ),
        Mistake(
            name="one-for-true",
            message="h1 for (1, 1) is not cut off at 1: a ReLU lets positive numbers through as they are.",
            probe=entries(1, None, None, None, None),
        ),
        Mistake(
            name="always-zero",
            message="With these u and w the output is 0 for every word.",
            probe=entries(None, None, None, 0, 0),
        ),
        Mistake(
            name="or-for-xor",
            message="With these u and w the output is 1 for (1, 1) as well: that is *or*. It should be 0 "
            "when both are 1.",
            probe=_outputs(lambda none, one, both: _about(one, 1) and _about(both, 1)),
        ),
        Mistake(
            name="and-for-xor",
            message="With these u and w the output is 1 for (1, 1) and 0 for all other words: that is *and*.",
            probe=_outputs(lambda none, one, both: _about(one, 0) and _about(both, 1)),
        ),
        Mistake(
            name="sum-for-xor",
            message="With these u and w the output for (1, 1) is the sum of the features, 2. The second "
            "unit has to take something away there.",
            probe=_outputs(lambda none, one, both: _about(one, 1) and _about(both, 2)),
        ),
        Mistake(
            name="sign-of-the-second-weight",
            message="With these u and w, the second unit *adds* to the output for (1, 1). It should take "
            "away what the first one gives too much.",
            probe=_outputs(lambda none, one, both: _about(one, 1) and both > 2.5),
        ),
        Mistake(
            name="weights-swapped",
            message="u and w have changed places: for (0, 1) only h1 is not 0, and the output must be 1.",
            probe=entries(None, None, None, -2, 1),
        ),
        Mistake(
            name="signs-turned",
            message="The signs of u and w are turned: the output for (0, 1) is −1.",
            probe=entries(None, None, None, -1, 2),
        ),
        Mistake(
            name="too-much-or-too-little",
            message="With these u and w the output is 0 for (1, 1), as it should be, but not 1 for (0, 1).",
            probe=_outputs(lambda none, one, both: _about(both, 0) and not _about(one, 1)),
        ),
        Mistake(
            name="unit-wrong",
            message="One of the first three numbers is not right yet. Put a and b into the formula of the "
            "unit, and then take the larger of that and 0.",
            probe=lambda attempt: len(answers(attempt)) == 5 and answers(attempt)[:3] != [2, 1, 0],
        ),
        Mistake(
            name="too-much-taken-away",
            message="The units are right, and u is. But with this w the output for (1, 1) is negative; it "
            "should be 0.",
            probe=_outputs(lambda none, one, both: _about(one, 1) and both < 0),
        ),
    ),
)
