"""Exercise 3.5: All the slopes at once."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from transformer_lib.exercises.attention_probes import Probe, near
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def softmax_jacobian(scores):
    p = torch.softmax(scores, dim=-1)
    return torch.diag_embed(p) - p[:, :, None] * p[:, None, :]


def _score_rows(generator: torch.Generator) -> list[tuple]:
    return [(torch.randn(shape, generator=generator),) for shape in ((2, 3), (5, 7), (3, 11))]


def _matrix_is(*formulas: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> Probe:
    """A probe: on every case the result is one and the same of these functions of scores and weights."""

    def probe(attempt: Attempt) -> bool:
        return any(
            all(near(c.got, f(c.args[0], c.args[0].softmax(-1))) for c in attempt.cases) for f in formulas
        )

    return probe


def _outer(p: torch.Tensor) -> torch.Tensor:
    return p[:, :, None] * p[:, None, :]


def _eye(p: torch.Tensor) -> torch.Tensor:
    return torch.eye(p.shape[-1]).expand(*p.shape, p.shape[-1])


JACOBIAN = Exercise(
    id="3.5",
    title="All the slopes at once",
    kind="write",
    difficulty="medium",
    minutes=12,
    statement=r"""
`scores` of shape `(B, S)` holds the scores of `B` queries, one row each. Return the Jacobian of the
softmax of each row, a tensor of shape `(B, S, S)`: entry `[b, i, j]` is $\partial p_i / \partial s_j$
for row `b`,

$$J = \operatorname{diag}(p) - p\,p^\top, \qquad p = \operatorname{softmax}(s).$$

The rows have nothing to do with each other. The scores come as they are: no scale.
""",
    stub='''import torch


def softmax_jacobian(scores):
    """Slopes of the weights: scores (B, S), returns (B, S, S)."""
    raise NotImplementedError
''',
    reference=softmax_jacobian,
    cases=_score_rows,
    hints=(
        "Start with one row: what are the shapes of diag(p) and of p pᵀ?",
        "`torch.diag_embed` makes a diagonal matrix from each row. A column times a row, `p[:, :, None] * "
        "p[:, None, :]`, makes all products.",
        "A loop over the rows with `torch.diag` and `torch.outer`, then `torch.stack`, is as good.",
    ),
    mistakes=(
        Mistake(
            name="softmax-missing",
            message="The formula was applied to the scores themselves. Its p are the weights: the "
            "softmax comes first.",
            probe=_matrix_is(lambda s, p: torch.diag_embed(s) - _outer(s)),
        ),
        Mistake(
            name="softmax-over-the-batch",
            message="The softmax ran over the wrong axis, across the queries. Each row is a query of "
            "its own.",
            probe=_matrix_is(lambda s, p: torch.diag_embed(s.softmax(0)) - _outer(s.softmax(0))),
        ),
        Mistake(
            name="only-the-diagonal",
            message="Only diag(p) is there. Each of its rows sums to more than 0; but when a score "
            "changes, the weights that fall make up for those that rise.",
            probe=_matrix_is(lambda s, p: torch.diag_embed(p)),
        ),
        Mistake(
            name="own-slopes-only",
            message="The diagonal is right, and everything beside it is 0. A score also moves the "
            "*other* weights.",
            probe=_matrix_is(lambda s, p: torch.diag_embed(p * (1 - p))),
        ),
        Mistake(
            name="product-alone",
            message="Only the product p pᵀ is there: the diagonal matrix is missing.",
            probe=_matrix_is(lambda s, p: -_outer(p), lambda s, p: _outer(p)),
        ),
        Mistake(
            name="signs-turned",
            message="All signs are turned. A score that rises makes its own weight rise: the diagonal "
            "is positive.",
            probe=_matrix_is(lambda s, p: _outer(p) - torch.diag_embed(p)),
        ),
        Mistake(
            name="sign-of-the-product",
            message="The two parts were added. Each row of a softmax's Jacobian sums to 0.",
            probe=_matrix_is(lambda s, p: torch.diag_embed(p) + _outer(p)),
        ),
        Mistake(
            name="unit-matrix-for-diagonal",
            message="The first part has ones on its diagonal. It should have the weights p there.",
            probe=_matrix_is(lambda s, p: _eye(p) - _outer(p)),
        ),
        Mistake(
            name="slopes-of-the-logarithm",
            message="These are the slopes of ln p, which is another (useful) thing: 1 − p_j for i = "
            "j, and −p_j otherwise.",
            probe=_matrix_is(lambda s, p: _eye(p) - p[:, None, :], lambda s, p: _eye(p) - p[:, :, None]),
        ),
        Mistake(
            name="rows-added-up",
            message="The B rows were thrown together in one matrix product: p pᵀ belongs to one row "
            "at a time.",
            probe=_matrix_is(lambda s, p: torch.diag_embed(p) - p.T @ p),
        ),
        Mistake(
            name="diagonal-only-returned",
            message="The result has shape {got_shape}: one slope for each weight. The Jacobian has "
            "one for each *pair*, shape {expected_shape}.",
            probe=_matrix_is(lambda s, p: p * (1 - p), lambda s, p: p - p * p),
        ),
        Mistake(
            name="scaled",
            message="The scores were divided by a root first. This exercise takes them as they are.",
            probe=_matrix_is(
                lambda s, p: softmax_jacobian(s / math.sqrt(s.shape[-1])),
                lambda s, p: softmax_jacobian(s) / math.sqrt(s.shape[-1]),
            ),
        ),
    ),
)
