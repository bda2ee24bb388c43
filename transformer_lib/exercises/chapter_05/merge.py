"""Exercise 5.5: Two layers into one."""

from __future__ import annotations

import torch

from transformer_lib.exercises.attention_probes import near
from transformer_lib.exercises.chapter_05.shared import two_layers
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def merge(w1, b1, w2, b2):
    return w2 @ w1, w2 @ b1 + b2


def _layers(generator: torch.Generator) -> list[tuple]:
    return [two_layers(D, F, generator, out) for D, F, out in ((3, 2, 5), (7, 11, 2), (13, 5, 7))]


def _pair(matrix=None, bias=None):
    """A probe: these were returned; None stands for what is right."""

    def probe(attempt: Attempt) -> bool:
        for case in attempt.cases:
            right, (got_w, got_b) = case.expected, case.got
            w = right[0] if matrix is None else matrix(*case.args)
            b = right[1] if bias is None else bias(*case.args)
            if not near(got_w, w) or not near(got_b, b):
                return False
        return True

    return probe


def _matrix(matrix):
    """A probe: this matrix came, with whatever bias."""

    def probe(attempt: Attempt) -> bool:
        return all(near(case.got[0], matrix(*case.args)) for case in attempt.cases)

    return probe


def _bent(w1, b1, w2, b2):
    return w2 @ torch.relu(w1)


MERGE = Exercise(
    id="5.5",
    title="Two layers into one",
    kind="write",
    difficulty="medium",
    minutes=8,
    statement=r"""
Somebody forgot the activation. Two trained layers stand right behind each other: $y = W_2 (W_1 x + b_1) +
b_2$, with `w1` of shape `(F, D)`, `b1` `(F,)`, `w2` `(E, F)` and `b2` `(E,)`. Make *one* layer of them that
gives the same $y$ for every $x$.

Return its matrix, of shape `(E, D)`, and its bias, `(E,)`, as a pair `(w, b)`. Leave the tensors you were
given unchanged.
""",
    stub='''import torch


def merge(w1, b1, w2, b2):
    """One (E, D) matrix and one (E,) bias that do the work of both layers."""
    raise NotImplementedError
''',
    reference=merge,
    cases=_layers,
    hints=(
        "Multiply out the brackets: one part has x in it, the other has not.",
        "The part with x is W2 W1 x: first W1, then W2. Which product of the two has shape `(E, D)`?",
        "The first bias goes through the second layer as well.",
    ),
    mistakes=(
        Mistake(
            name="pair-swapped",
            message="The pair came in the other order: first the matrix, then the bias.",
            probe=lambda attempt: all([part.dim() for part in case.got] == [1, 2] for case in attempt.cases),
        ),
        Mistake(
            name="matrix-only",
            message="Only a matrix came back. The merged layer has a bias too; return a pair.",
            variant=lambda *args: merge(*args)[0],
        ),
        Mistake(
            name="matrix-transposed",
            message="The matrix has rows and columns the wrong way round. It needs one row for each number "
            "that the layer gives out, so E rows.",
            probe=_matrix(lambda w1, b1, w2, b2: (w2 @ w1).T),
        ),
        Mistake(
            name="shapes-do-not-fit",
            message="Two tensors do not fit each other: {error}. In W2 (W1 x), the matrix that acts first "
            "stands next to x. And a bias of F numbers has to become one of E numbers before it can join "
            "the other.",
            variant=lambda w1, b1, w2, b2: (w1 @ w2, w2 @ b1 + b2),
        ),
        Mistake(
            name="first-bias-lost",
            message="The matrix is right. The first bias is lost: the word x = 0 gives W2 b1 + b2, not b2.",
            probe=_pair(bias=lambda w1, b1, w2, b2: b2),
        ),
        Mistake(
            name="second-bias-lost",
            message="The matrix is right. The second bias is lost: it is added last, and stays as it is.",
            probe=_pair(bias=lambda w1, b1, w2, b2: w2 @ b1),
        ),
        Mistake(
            name="no-bias",
            message="The matrix is right, but the bias is 0. What do the two layers make of the word x = 0?",
            probe=_pair(bias=lambda w1, b1, w2, b2: torch.zeros_like(b2)),
        ),
        Mistake(
            name="bias-not-through-the-matrix",
            message="The matrix is right. The first bias was added as numbers, not sent through the second "
            "layer.",
            probe=lambda attempt: (
                _pair(bias=lambda w1, b1, w2, b2: b1.sum() + b2)(attempt)
                or _pair(bias=lambda w1, b1, w2, b2: b1.mean() + b2)(attempt)
            ),
        ),
        Mistake(
            name="bias-subtracted",
            message="The matrix is right. A bias was subtracted; both are added.",
            probe=lambda attempt: any(
                _pair(bias=lambda w1, b1, w2, b2, s=s, t=t: s * (w2 @ b1) + t * b2)(attempt)
                for s, t in ((1, -1), (-1, 1), (-1, -1))
            ),
        ),
        Mistake(
            name="second-bias-through-the-matrix",
            message="The matrix is right. The *second* bias is scaled as if it went through a matrix; it is "
            "added last, after both.",
            probe=_pair(bias=lambda w1, b1, w2, b2: w2 @ b1 + (w2.sum(1) * b2)),
        ),
        Mistake(
            name="activation-inside",
            message="There is a ReLU inside. The two layers have nothing between them, and with a ReLU "
            "there they could not be merged at all.",
            probe=lambda attempt: (
                _matrix(_bent)(attempt)
                or _matrix(lambda w1, b1, w2, b2: torch.relu(w2 @ w1))(attempt)
                or _pair(bias=lambda w1, b1, w2, b2: w2 @ torch.relu(b1) + b2)(attempt)
            ),
        ),
    ),
)
