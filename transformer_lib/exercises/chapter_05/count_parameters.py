"""Exercise 5.3: Where the parameters are."""

from __future__ import annotations

from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake
from transformer_lib.exercises.paper import answers, entries

D, F = 768, 3072
NETWORK, ATTENTION = 2 * D * F + F + D, 4 * D * D + 4 * D


def where_they_are():
    network = 768 * 3072 + 3072 + 3072 * 768 + 768
    attention = 4 * (768 * 768 + 768)
    return [network, attention, network / (network + attention), 2048]


def _entry(number: int, *values: float):
    """A probe: the answer of this number is one of the values, to within half of one."""

    def probe(attempt: Attempt) -> bool:
        got = answers(attempt)
        return len(got) == 4 and any(abs(got[number - 1] - value) < 0.5 for value in values)

    return probe


def _share(value: float):
    def probe(attempt: Attempt) -> bool:
        got = answers(attempt)
        return len(got) == 4 and abs(got[2] / value - 1) < 0.01

    return probe


COUNT = Exercise(
    id="5.3",
    title="Where the parameters are",
    kind="work out",
    difficulty="easy",
    minutes=8,
    statement=r"""
A block of a well-known size: words of $D = 768$ numbers, 12 heads of 64 numbers, a hidden layer of
$F = 4D = 3072$. Attention has four matrices of $D \times D$, each with a bias of $D$ numbers. The network has
two matrices, each with its bias. (Leave the norms out.) How many?

1. parameters of the network
2. parameters of attention
3. the network's share of the two together, a number between 0 and 1
4. Now SwiGLU, with *three* matrices and no biases. How wide must its hidden layer be, so that it has as many
   weights as the network has in its two matrices (biases not counted)?

Return the four numbers as a list.
""",
    stub='''def where_they_are():
    """Four numbers: the network's parameters, attention's, the network's share, SwiGLU's width."""
    raise NotImplementedError
''',
    reference=where_they_are,
    cases=lambda generator: [()],
    tolerance=0.003,
    hints=(
        "W1 has F rows of D numbers, and b1 has one number for each row. W2 and b2?",
        "Python may do the sums: `768 * 3072` and so on.",
        "4: 3 · D · F' = 2 · D · F. What is F'?",
    ),
    mistakes=(
        Mistake(
            name="biases-forgotten",
            message="These are the matrices alone. Each of them has a bias as well: one number for each "
            "number that it gives out.",
            probe=lambda attempt: _entry(1, 2 * D * F)(attempt) or _entry(2, 4 * D * D)(attempt),
        ),
        Mistake(
            name="one-matrix-only",
            message="1: that is one matrix of the network and its bias. It has two.",
            probe=_entry(1, D * F, D * F + F, D * F + D, D * F + F + D),
        ),
        Mistake(
            name="biases-of-one-size",
            message="1: the two biases have not the same size. The first belongs to the hidden layer, "
            "the second to the output.",
            probe=_entry(1, 2 * D * F + 2 * F, 2 * D * F + 2 * D),
        ),
        Mistake(
            name="one-bias-only",
            message="1: that is two matrices with one bias. Each of the two has its own.",
            probe=_entry(1, 2 * D * F + F, 2 * D * F + D),
        ),
        Mistake(
            name="hidden-width-as-d-model",
            message="1: that is a network whose hidden layer is as wide as a word. It is 4 times as wide.",
            probe=_entry(1, 2 * D * D, 2 * D * D + 2 * D),
        ),
        Mistake(
            name="output-matrix-forgotten",
            message="2: queries, keys and values make three matrices. The fourth joins the heads.",
            probe=_entry(2, 3 * D * D, 3 * D * D + 3 * D, 3 * D * D + D),
        ),
        Mistake(
            name="one-bias-for-all",
            message="2: that is four matrices with one bias. Each of the four has its own.",
            probe=_entry(2, 4 * D * D + D),
        ),
        Mistake(
            name="one-part-of-attention",
            message="2: that is one matrix, or the matrices of one head alone. All four were asked for, with "
            "all heads.",
            probe=_entry(2, D * D + D, D * D, *(n * (D * 64 + b) for n in (3, 4) for b in (0, 64))),
        ),
        Mistake(
            name="times-the-heads",
            message="2: the heads share the D numbers among them. More heads mean narrower ones, not "
            "more parameters.",
            probe=_entry(2, 12 * ATTENTION, 12 * 4 * D * D, 12 * 3 * D * D),
        ),
        Mistake(
            name="ratio-for-share",
            message="3: that is the network against attention. The share is the network against both "
            "together, and cannot be above 1.",
            probe=_share(NETWORK / ATTENTION),
        ),
        Mistake(
            name="share-of-attention",
            message="3: that is attention's share (or the ratio the other way round).",
            probe=lambda attempt: (
                _share(ATTENTION / (NETWORK + ATTENTION))(attempt) or _share(ATTENTION / NETWORK)(attempt)
            ),
        ),
        Mistake(
            name="share-in-percent",
            message="3: a share between 0 and 1 was asked for, not percent.",
            probe=_share(100 * NETWORK / (NETWORK + ATTENTION)),
        ),
        Mistake(
            name="gated-width-unchanged",
            message="4: with the old width, three matrices have half as many weights again.",
            probe=_entry(4, F),
        ),
        Mistake(
            name="gated-width-upside-down",
            message="4: that is wider than before. Three matrices instead of two must be narrower.",
            probe=_entry(4, F * 3 / 2),
        ),
        Mistake(
            name="gated-width-divided-by-three",
            message="4: divided by three, three matrices have as many weights as *one* of the old ones. "
            "There were two.",
            probe=_entry(4, F / 3),
        ),
        Mistake(
            name="gated-width-halved",
            message="4: half of the width is for twice as many matrices. There are three in place of two.",
            probe=_entry(4, F / 2),
        ),
        Mistake(
            name="gated-factor-for-width",
            message="4: that is the width as a multiple of something. The number of units is asked for.",
            probe=lambda attempt: (
                entries(None, None, None, 8 / 3, within=0.02)(attempt)
                or entries(None, None, None, 2 / 3, within=0.02)(attempt)
            ),
        ),
        Mistake(
            name="rounded",
            message="1 and 2: close, but each of them is a whole number that can be told exactly, to the "
            "last digit.",
            probe=lambda attempt: (
                entries(NETWORK, ATTENTION, None, None)(attempt)
                and answers(attempt)[:2] != [NETWORK, ATTENTION]
            ),
        ),
    ),
)
