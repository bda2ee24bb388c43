"""Exercise 3.7: Hide the scale in the weights."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from transformer_lib.exercises.attention_probes import Probe, near
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def fold_scale(w_query, b_query):
    root = math.sqrt(len(w_query))
    return w_query / root, b_query / root


def _maps(generator: torch.Generator) -> list[tuple]:
    return [
        (torch.randn(K, D, generator=generator), torch.randn(K, generator=generator))
        for K, D in ((3, 5), (7, 2), (11, 13))
    ]


def _ratios(weight: Callable[[int, int], float], bias: Callable[[int, int], float] | None = None) -> Probe:
    """A probe: the matrix was multiplied by one function of (K, D), the bias by another or the same."""

    def probe(attempt: Attempt) -> bool:
        for case in attempt.cases:
            w, b = case.args
            K, D = w.shape
            got_w, got_b = case.got
            if not near(got_w, w * weight(K, D)) or not near(got_b, b * (bias or weight)(K, D)):
                return False
        return True

    return probe


def _root(K: int, D: int) -> float:
    return 1 / math.sqrt(K)


def _one(K: int, D: int) -> float:
    return 1.0


FOLD = Exercise(
    id="3.7",
    title="Hide the scale in the weights",
    kind="write",
    difficulty="medium",
    minutes=8,
    statement=r"""
A published model was trained with the scale: its queries are $q_i = W^Q x_i + b^Q$, and its scores are
$q_i^\top k_j / \sqrt{d_k}$. You have to run it in a program that computes $q_i^\top k_j$ and divides by
nothing. Change the numbers, not the program: from `w_query` of shape `(K, D)` and `b_query` of shape
`(K,)` make a new matrix and a new bias, so that the program's scores are the scaled ones for **every**
$x_i$ and all keys. (The keys stay as they are. `K` is the width of a query, `D` that of a word vector.)

Return the two as a pair, `(new_w_query, new_b_query)`, of the same shapes. Leave the tensors you were
given unchanged.
""",
    stub='''import math

import torch


def fold_scale(w_query, b_query):
    """A new (K, D) matrix and a new (K,) bias, with the scale inside."""
    raise NotImplementedError
''',
    reference=fold_scale,
    cases=_maps,
    hints=(
        "Write the scaled score with W^Q x + b^Q in place of q. Where can the divisor move?",
        "(W x + b) / c = (W / c) x + b / c.",
        "`w_query` has one row for each number of a query. Which of its two sizes is d_k?",
    ),
    mistakes=(
        Mistake(
            name="nothing-changed",
            message="The matrix and the bias came back as they were: the scores are not scaled.",
            probe=_ratios(_one),
        ),
        Mistake(
            name="bias-left-out",
            message="The matrix is right, but the bias is a part of the query too: its share of the "
            "score is not scaled yet.",
            probe=_ratios(_root, _one),
        ),
        Mistake(
            name="matrix-left-out",
            message="The bias is right, but the matrix was left as it was.",
            probe=_ratios(_one, _root),
        ),
        Mistake(
            name="scale-by-d-model",
            message="The root of D was used, the width of the word vectors (the columns of the "
            "matrix). The scale counts the numbers of a query.",
            probe=lambda attempt: any(
                _ratios(lambda K, D: D**-0.5, bias)(attempt) for bias in (None, _one, _root)
            ),
        ),
        Mistake(
            name="scale-without-root",
            message="Everything was divided by K itself. The formula has a root.",
            probe=lambda attempt: any(
                _ratios(lambda K, D: 1 / K, bias)(attempt) for bias in (None, _one, _root)
            ),
        ),
        Mistake(
            name="scale-upside-down",
            message="The numbers were multiplied by √K instead of divided: the scores are now K times "
            "too large.",
            probe=lambda attempt: any(
                _ratios(lambda K, D: K**0.5, bias)(attempt) for bias in (None, _one, _root)
            ),
        ),
        Mistake(
            name="half-the-scale",
            message="Everything was divided by the fourth root of K, as if the keys carried the other "
            "half of the scale. But the keys stay as they are.",
            probe=lambda attempt: any(_ratios(lambda K, D: K**-0.25, bias)(attempt) for bias in (None, _one)),
        ),
        Mistake(
            name="pair-swapped",
            message="The pair came in the other order: first the matrix, then the bias.",
            variant=lambda w_query, b_query: fold_scale(w_query, b_query)[::-1],
        ),
        Mistake(
            name="matrix-only",
            message="Only a matrix came back. The bias belongs to the query as well; return a pair.",
            variant=lambda w_query, b_query: fold_scale(w_query, b_query)[0],
        ),
    ),
)
