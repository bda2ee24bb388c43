"""Exercise 7.4: What four heads cost."""

from __future__ import annotations

from transformer_lib.exercises.attention_probes import Probe
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake
from transformer_lib.exercises.paper import answers


def costs():
    D, H, T = 100, 4, 10
    return [4 * D * D, 2 * T * T * D, H * T * T, 4 * H * D * D]


def _said(number: int, *wrong: float) -> Probe:
    """A probe: the answer of this number is one of these."""

    def probe(attempt: Attempt) -> bool:
        got = answers(attempt)
        return len(got) == 4 and any(abs(got[number - 1] - one) < 0.5 for one in wrong)

    return probe


COSTS = Exercise(
    id="7.4",
    title="What four heads cost",
    kind="work out",
    difficulty="medium",
    minutes=10,
    statement=r"""
Word vectors have $D = 100$ numbers. There are $H = 4$ heads of width $K = D/H$, and $W^O$ after them. No
map has a bias. A sentence of $T = 10$ words reads from itself. Work out on paper:

1. How many numbers does the layer learn ($W^Q$, $W^K$, $W^V$ of all heads, and $W^O$)?
2. How many FLOPs do the **scores** $q_i^\top k_j$ of all heads together take? (A product of an $m \times n$
   and an $n \times p$ matrix takes $2mnp$: one multiplication and one addition for each term.)
3. How many attention weights $\alpha_{ij}$ are there, over all heads?
4. Someone forgets to make the heads narrower: each of the 4 heads has $K = D$. Then $W^O$ must read $4D$
   numbers. How many numbers does that layer learn?

Return the four numbers as a list.
""",
    stub='''def costs():
    """Four numbers: learned, FLOPs of the scores, attention weights, learned with wide heads."""
    raise NotImplementedError
''',
    reference=costs,
    cases=lambda generator: [()],
    tolerance=1e-6,
    hints=(
        "1: one head's W^Q is K × D. Four of them below one another are how large?",
        "2: one head multiplies a T × K with a K × T matrix. Then four heads.",
        "4: three matrices of D × D for each head; W^O now has D rows of 4D numbers.",
    ),
    mistakes=(
        Mistake(
            name="output-map-forgotten",
            message="In 1, count the matrices again: three make queries, keys and values, and one more "
            "comes after the heads.",
            probe=_said(1, 30_000, 7_500),
        ),
        Mistake(
            name="output-map-of-one-head",
            message="In 1, W^O is as wide as a head. It reads the numbers of all heads, side by side, and "
            "makes a whole word vector of them.",
            probe=_said(1, 32_500, 30_625),
        ),
        Mistake(
            name="one-head-counted",
            message="Answer 1 counts the maps of a single head: all four have queries, keys and values of "
            "their own.",
            probe=_said(1, 17_500, 10_000, 2_500),
        ),
        Mistake(
            name="heads-not-narrowed",
            message="Answer 1 counts heads as wide as the word vectors. Here each head has only K = D/H "
            "numbers.",
            probe=_said(1, 160_000, 130_000, 120_000),
        ),
        Mistake(
            name="biases-counted",
            message="Answer 1 counts biases too. None of the maps has one here.",
            probe=_said(1, 40_400, 40_300, 40_100),
        ),
        Mistake(
            name="additions-forgotten",
            message="Answer 2 counts the multiplications only. Each term is added up as well.",
            probe=_said(2, 10_000, 2_500),
        ),
        Mistake(
            name="flops-of-one-head",
            message="Answer 2 is the work of one head. There are four.",
            probe=_said(2, 5_000),
        ),
        Mistake(
            name="flops-times-heads",
            message="Answer 2 is H times too large: a score of a narrow head adds up K products, not D.",
            probe=_said(2, 80_000),
        ),
        Mistake(
            name="flops-twice",
            message="Answer 2 is twice what was asked for. Only the scores count here: the weighted sum of "
            "the values takes as much again. (And one score of one head adds up K products, not D.)",
            probe=_said(2, 40_000),
        ),
        Mistake(
            name="maps-counted",
            message="Answer 2 counts more than the scores: the maps that make queries, keys and values have "
            "done their work before.",
            probe=_said(2, 800_000, 840_000, 600_000, 620_000, 640_000),
        ),
        Mistake(
            name="flops-without-width",
            message="Answer 2 counts each score once. How many products does a score add up?",
            probe=_said(2, 100, 200, 400, 800),
        ),
        Mistake(
            name="flops-one-addition-less",
            message="Answer 2 counts one addition less for each score. That is exact, but count as the "
            "statement does: one multiplication *and* one addition for each term.",
            probe=_said(2, 19_600, 19_900),
        ),
        Mistake(
            name="weights-of-one-head",
            message="Answer 3 is the table of one head. Each head has a table of its own, every word "
            "against every word.",
            probe=_said(3, 100),
        ),
        Mistake(
            name="weights-divided",
            message="Answer 3 came out too small: only the *width* is shared out among the heads. Each head "
            "still compares every word with every word.",
            probe=_said(3, 25),
        ),
        Mistake(
            name="weights-times-width",
            message="Answer 3 counts products, not weights: a weight is one number, however many products "
            "its score adds up.",
            probe=_said(3, 10_000, 2_500, 20_000, 1_000),
        ),
        Mistake(
            name="weights-of-words",
            message="Answer 3 counts each word once. A word has a weight for *every* word that it reads.",
            probe=_said(3, 40, 10),
        ),
        Mistake(
            name="own-word-left-out",
            message="Answer 3 leaves out that a word reads itself, too.",
            probe=_said(3, 360, 90),
        ),
        Mistake(
            name="earlier-words-only",
            message="Answer 3 counts the word itself and the words before it. Nothing is hidden here: every "
            "word reads all of them.",
            probe=_said(3, 220, 55, 180, 45),
        ),
        Mistake(
            name="wide-output-map-forgotten",
            message="Answer 4 leaves out W^O, or gives it too few columns: it now reads four times as many "
            "numbers.",
            probe=_said(4, 120_000, 130_000),
        ),
        Mistake(
            name="wide-output-map-square",
            message="Answer 4 gives W^O as many rows as columns. It reads 4D numbers, but what comes out is "
            "a word vector again.",
            probe=_said(4, 280_000),
        ),
        Mistake(
            name="wide-heads-counted-narrow",
            message="Answer 4 is the same as with narrow heads. Now every head has W^Q, W^K and W^V of D × "
            "D.",
            probe=_said(4, 40_000, 70_000),
        ),
    ),
)
