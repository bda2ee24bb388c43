"""Exercise 2.1: What must be true?"""

from __future__ import annotations

from transformer_lib.exercises.chapter_02.shared import plain
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def predictions():
    return [True, False, False, True, True, True]


def _answers(f):
    """The learner's answers as booleans, where they can be read as such."""
    given = plain(f())
    if not isinstance(given, list) or any(entry not in (0, 1) for entry in given):
        return given
    return [bool(entry) for entry in given]


def _predicted(number: int, answer: bool):
    def probe(attempt: Attempt) -> bool:
        got = attempt.cases[0].got
        return len(got) == 6 and got[number - 1] is answer

    return probe


PREDICT = Exercise(
    id="2.1",
    title="What must be true?",
    kind="predict",
    difficulty="easy",
    minutes=5,
    statement=r"""
Five words with vectors $x_1, …, x_5$ go through self-attention without scale, mask or positions: $q_i = W^Q
x_i$, $k_i = W^K x_i$, $v_i = W^V x_i$, $\alpha_{ij} = \operatorname{softmax}_j(q_i^\top k_j)$, $o_i =
\sum_j \alpha_{ij} v_j$. Which statements hold for *every* sentence and *every* choice of the three
matrices?

1. The five weights with which a word reads, $\alpha_{i1}, …, \alpha_{i5}$, sum to 1.
2. The five weights with which a word is read, $\alpha_{1j}, …, \alpha_{5j}$, sum to 1.
3. Words read each other equally: $\alpha_{ij} = \alpha_{ji}$.
4. If words 1 and 4 have the same vector, their outputs $o_1$ and $o_4$ are the same.
5. If words 1 and 3 change places, the output of word 2 stays what it was.
6. Every number in an output lies between the smallest and the largest number at the same place of the five
   values.

Return your six answers as a list of `True` and `False`.
""",
    stub='''def predictions():
    """Six answers, True or False, in the order of the statements."""
    raise NotImplementedError
''',
    reference=predictions,
    cases=lambda generator: [()],
    run=_answers,
    hints=(
        "1 and 2: over which index does the sum in the denominator of the softmax run?",
        "4 and 5: does the place of a word appear anywhere in the formulas?",
        "6: the weights are positive and sum to 1. What can an average do, and what can it not?",
    ),
    mistakes=(
        Mistake(
            name="rows-need-not-sum-to-one",
            message="Look at statement 1 again: the softmax divides by a sum. Over which words does that "
            "sum run?",
            probe=_predicted(1, False),
        ),
        Mistake(
            name="columns-sum-to-one",
            message="Look at statement 2 again. Each word shares out its own reading; does anything limit "
            "how much a word is read by all the others together?",
            probe=_predicted(2, True),
        ),
        Mistake(
            name="symmetric-pattern",
            message="Look at statement 3 again. α_ij compares the query of word i with the key of word j. "
            "What does α_ji compare?",
            probe=_predicted(3, True),
        ),
        Mistake(
            name="equal-words-differ",
            message="Look at statement 4 again. Same vector: same query, same key, same value. What could "
            "still tell the two words apart?",
            probe=_predicted(4, False),
        ),
        Mistake(
            name="order-matters",
            message="Look at statement 5 again. The output of word 2 is a sum over the words. Does a sum "
            "change when two of its terms change places?",
            probe=_predicted(5, False),
        ),
        Mistake(
            name="outside-the-range",
            message="Look at statement 6 again. An output is an average of the values with positive "
            "weights that sum to 1. Can an average of 2 and 5 be 7?",
            probe=_predicted(6, False),
        ),
    ),
)
