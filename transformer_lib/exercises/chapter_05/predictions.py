"""Exercise 5.1: Average, bend, mix."""

from __future__ import annotations

from transformer_lib.exercises.chapter_02.shared import plain
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def predictions():
    return [True, False, False, False, False, True, False]


def _answers(f):
    """The learner's answers as booleans, where they can be read as such."""
    given = plain(f())
    if not isinstance(given, list) or any(entry not in (0, 1) for entry in given):
        return given
    return [bool(entry) for entry in given]


def _predicted(number: int, answer: bool):
    def probe(attempt: Attempt) -> bool:
        got = attempt.cases[0].got
        return len(got) == 7 and got[number - 1] is answer

    return probe


PREDICT = Exercise(
    id="5.1",
    title="Average, bend, mix",
    kind="predict",
    difficulty="easy",
    minutes=6,
    statement=r"""
Attention is $o_i = \sum_j \alpha_{ij} v_j$, with weights $\alpha_{ij}$ that come from a softmax. The
feed-forward network is $W_2\, f(W_1 x + b_1) + b_2$, applied to each word by itself. Which statements
hold, for *all* numbers that the matrices may hold?

1. Hold the weights $\alpha$ fixed. Then twice the values give twice the output.
2. Self-attention as a whole is linear: twice $x$ gives twice the output. (No biases.)
3. Three layers of averaging, one after another, can carry a number above the largest one they began with.
4. Two linear layers with nothing between them can do something that a single one cannot, if the middle is
   wide enough.
5. When the other words of the sentence change, the network's output for this word changes.
6. A ReLU unit whose input is negative for *every* word gets no gradient at all, from any word.
7. A linear score of two features can tell the words whose features are equal from those whose features
   differ.

Return your seven answers as a list of `True` and `False`.
""",
    stub='''def predictions():
    """Seven answers, True or False, in the order of the statements."""
    raise NotImplementedError
''',
    reference=predictions,
    cases=lambda generator: [()],
    run=_answers,
    hints=(
        "1 and 2 differ in one point: who computes the weights, and from what?",
        "3: can the average of some averages be larger than the largest number?",
        "4: write W2 (W1 x + b1) + b2 without the brackets.",
        "7: add up the scores of (+, +) and (−, −). Then those of (+, −) and (−, +).",
    ),
    mistakes=(
        Mistake(
            name="not-linear-in-the-values",
            message="Look at statement 1 again: with fixed weights the output is a plain sum. What does "
            "doubling every term do to a sum?",
            probe=_predicted(1, False),
        ),
        Mistake(
            name="attention-taken-for-linear",
            message="Look at statement 2 again. Doubling x doubles the values, but the weights are made "
            "from x too. What happens to the scores, and so to the softmax?",
            probe=_predicted(2, True),
        ),
        Mistake(
            name="averages-can-grow",
            message="Look at statement 3 again. The first layer's outputs lie between the smallest and "
            "the largest number. The second layer averages *those*.",
            probe=_predicted(3, True),
        ),
        Mistake(
            name="two-linear-layers-are-more",
            message="Look at statement 4 again. Multiply out W2 (W1 x + b1) + b2. What is the factor of "
            "x, and does its shape depend on the width of the middle?",
            probe=_predicted(4, True),
        ),
        Mistake(
            name="network-mixes-words",
            message="Look at statement 5 again. How many words occur in the network's formula?",
            probe=_predicted(5, True),
        ),
        Mistake(
            name="dead-unit-learns",
            message="Look at statement 6 again. What is the slope of max(z, 0) at a negative z? The "
            "gradient of the unit is multiplied by it, for each word.",
            probe=_predicted(6, False),
        ),
        Mistake(
            name="linear-score-solves-parity",
            message="Look at statement 7 again. For a linear score, the scores of (+, +) and (−, −) "
            "together equal those of (+, −) and (−, +). Can both of the first be high and both of the "
            "others low?",
            probe=_predicted(7, True),
        ),
    ),
)
