"""Exercise 6.2: A masked row, by hand."""

from __future__ import annotations

import math
from functools import partial

from transformer_lib.exercises import paper
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def masked_row():
    exponentials = [1, 2, 5, 0]  # of the third row of scores; exp(−∞) = 0
    return [e / sum(exponentials) for e in exponentials]


def _sum_is_not_one(attempt: Attempt) -> bool:
    got = paper.answers(attempt)
    return len(got) == 4 and min(got) >= 0 and abs(sum(got) - 1) > 0.02


_E = math.e
entries = partial(paper.entries, within=0.006)

WORK_OUT = Exercise(
    id="6.2",
    title="A masked row, by hand",
    kind="work out",
    difficulty="easy",
    minutes=6,
    statement=r"""
Four words read each other with a causal mask. These are their scores $q_i^\top k_j / \sqrt{d_k}$, before
the mask; row $i$ belongs to the word that reads:

| | word 1 | word 2 | word 3 | word 4 |
|---|---|---|---|---|
| **word 1** | $0$ | $\ln 2$ | $\ln 3$ | $0$ |
| **word 2** | $\ln 3$ | $0$ | $\ln 4$ | $\ln 2$ |
| **word 3** | $0$ | $\ln 2$ | $\ln 5$ | $\ln 8$ |
| **word 4** | $\ln 2$ | $\ln 3$ | $\ln 7$ | $0$ |

With which weights does **word 3** read? Return them as a list of four numbers, for words 1 to 4. (They are
simple fractions. Two decimals are enough.)
""",
    stub='''def masked_row():
    """The four weights with which word 3 reads."""
    raise NotImplementedError
''',
    reference=masked_row,
    cases=lambda generator: [()],
    tolerance=0.006,
    hints=(
        "Which of the four words may word 3 read? The other score becomes −∞.",
        "exp(ln 5) = 5, exp(0) = 1 and exp(−∞) = 0.",
        "Divide each exponential by the sum of all that are left.",
    ),
    mistakes=(
        Mistake(
            name="mask-after-softmax",
            message="You took the softmax of all four scores and then set the last weight to 0. What is "
            "left sums to one half only: the hidden word still stands in the sum that everything "
            "was divided by.",
            probe=entries(1 / 16, 1 / 8, 5 / 16, 0),
        ),
        Mistake(
            name="mask-missing",
            message="These are the weights without a mask. Word 4 comes after word 3.",
            probe=entries(1 / 16, 1 / 8, 5 / 16, 1 / 2),
        ),
        Mistake(
            name="score-zero-for-hidden",
            message="You set the hidden score to 0. But exp(0) = 1: a score of 0 is an ordinary score, and "
            "gets its share.",
            probe=entries(1 / 9, 2 / 9, 5 / 9, 1 / 9),
        ),
        Mistake(
            name="boolean-added",
            message="You added 1 to the scores that may be read and 0 to the hidden one. That shifts "
            "weight to the visible words, by the factor e, and hides nothing.",
            probe=entries(*(e / (8 * _E + 8) for e in (_E, 2 * _E, 5 * _E, 8))),
        ),
        Mistake(
            name="cannot-see-itself",
            message="You hid word 3 from itself. A word may read itself and those before it; if it could "
            "not, the first word would have nothing to read at all.",
            probe=entries(1 / 3, 2 / 3, 0, 0),
        ),
        Mistake(
            name="inverted-polarity",
            message="The past is hidden here and the future visible: it should be the other way round.",
            probe=lambda attempt: entries(0, 0, 0, 1)(attempt) or entries(0, 0, 5 / 13, 8 / 13)(attempt),
        ),
        Mistake(
            name="column-for-row",
            message="You read down the column of word 3. There stand the scores with which the *others* "
            "read it. Word 3 reads along its row.",
            probe=lambda attempt: any(
                entries(*numbers)(attempt)
                for numbers in (
                    (3 / 12, 4 / 12, 5 / 12, 0),
                    (3 / 19, 4 / 19, 5 / 19, 7 / 19),
                    (0, 0, 5 / 12, 7 / 12),
                )
            ),
        ),
        Mistake(
            name="exponentials-returned",
            message="These are the exponentials. A weight is a share: divide by their sum.",
            probe=lambda attempt: entries(1, 2, 5, 0)(attempt) or entries(1, 2, 5, 8)(attempt),
        ),
        Mistake(
            name="percentages",
            message="These are percentages. A weight is a share of 1.",
            probe=entries(12.5, 25, 62.5, 0),
        ),
        Mistake(
            name="scores-returned",
            message="These are the scores. The weights are what the softmax makes of them.",
            probe=lambda attempt: any(
                entries(0, math.log(2), math.log(5), last)(attempt) for last in (0, math.log(8))
            ),
        ),
        Mistake(
            name="score-zero-left-out",
            message="Word 1 has got nothing. Its score is 0, but exp(0) is 1: a score of 0 is an ordinary "
            "score, and gets its share.",
            probe=lambda attempt: any(
                entries(*numbers)(attempt) for numbers in ((0, 2 / 7, 5 / 7, 0), (0, 2 / 15, 5 / 15, 8 / 15))
            ),
        ),
        Mistake(
            name="no-exponential",
            message="You divided the scores by their sum. The softmax takes the exponential of each first; "
            "a score of 0 then still gets a share.",
            probe=entries(0, math.log(2) / math.log(10), math.log(5) / math.log(10), 0),
        ),
        Mistake(
            name="equal-shares",
            message="Each word got the same share. The mask says only *who* may be read; how much, "
            "the scores say.",
            probe=lambda attempt: (
                entries(1 / 3, 1 / 3, 1 / 3, 0, within=0.007)(attempt)
                or entries(1 / 4, 1 / 4, 1 / 4, 1 / 4)(attempt)
            ),
        ),
        Mistake(
            name="another-row",
            message="These are the weights of another word. Word 3 is the third row.",
            probe=lambda attempt: any(
                entries(*numbers)(attempt)
                for numbers in ((1, 0, 0, 0), (3 / 4, 1 / 4, 0, 0), (2 / 13, 3 / 13, 7 / 13, 1 / 13))
            ),
        ),
        Mistake(
            name="sum-is-not-one",
            message="Your four weights do not sum to 1. What is left after the mask goes through the "
            "softmax, which makes shares of it.",
            probe=_sum_is_not_one,
        ),
    ),
)
