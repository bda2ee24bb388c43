"""Exercise 10.7: Share the keys."""

from __future__ import annotations

import math

import torch

from transformer_lib.exercises.chapter_10.shared import on_inputs
from transformer_lib.exercises.exercise import Exercise, Mistake


def grouped_attention(q, k, v):
    group = q.shape[1] // k.shape[1]  # how many heads of queries share one head of keys and values
    k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.softmax(scores, dim=-1) @ v


def _tensors(B, H, G, T, S, K, V, generator) -> tuple:
    shapes = ((B, H, T, K), (B, G, S, K), (B, G, S, V))
    return tuple(1.2 * torch.randn(shape, generator=generator) for shape in shapes)


def _cases(generator: torch.Generator) -> list[tuple]:
    sizes = (
        (1, 4, 2, 2, 3, 5, 2),
        (2, 6, 2, 3, 5, 7, 4),
        (3, 6, 3, 5, 2, 4, 7),
        (2, 3, 1, 5, 7, 11, 3),
        (2, 5, 5, 3, 4, 7, 2),
    )
    return [_tensors(*size, generator) for size in sizes]


_INPUTS = _tensors(2, 6, 2, 5, 7, 11, 3, torch.Generator().manual_seed(6))


def _with(share=None, scale=None, axis=-1):
    """The formula with another way to share, another scale, or another axis of the softmax."""

    def formula(q, k, v):
        group = q.shape[1] // k.shape[1]
        spread = share or (lambda x, group: x.repeat_interleave(group, 1))
        k, v = spread(k, group), spread(v, group)
        scores = q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale(q, k))
        return scores.softmax(axis) @ v

    return formula


def _tiled(x, group):
    return x.repeat(1, group, 1, 1)


def _does(*formulas):
    return on_inputs(_INPUTS, *formulas)


GROUPED = Exercise(
    id="10.7",
    title="Share the keys",
    kind="write",
    difficulty="medium",
    minutes=12,
    statement=r"""
Write attention with grouped queries. `q` has shape `(B, H, T, K)`: `H` heads of queries. `k` is `(B, G,
S, K)` and `v` is `(B, G, S, Dv)`: only `G` heads of keys and values, where `H` is a multiple of `G`.
**Neighbouring** heads of queries share: with `H = 6` and `G = 2` the heads 0, 1, 2 read from keys and
values 0, and the heads 3, 4, 5 from keys and values 1.

Every head of queries has weights of its own, $\operatorname{softmax}(QK^\top/\sqrt{d_k})$. Return a
tensor of shape `(B, H, T, Dv)`. With `G = H` it is the usual attention, with `G = 1` all heads share one.
""",
    stub='''import math

import torch


def grouped_attention(q, k, v):
    """q (B, H, T, K), k (B, G, S, K), v (B, G, S, Dv), returns (B, H, T, Dv)."""
    raise NotImplementedError
''',
    reference=grouped_attention,
    cases=_cases,
    hints=(
        "How many heads of queries share one head of keys? Which keys does head h read?",
        "Head h reads the keys h // group. You can repeat each head of keys and values, or go through "
        "the heads in a loop.",
        "`repeat_interleave` repeats each entry in place: 0, 0, 0, 1, 1, 1. `repeat` repeats the whole: "
        "0, 1, 0, 1, 0, 1.",
    ),
    mistakes=(
        Mistake(
            name="softmax-over-queries",
            message="The softmax runs over the queries. Each query shares out its reading among the keys.",
            probe=_does(_with(axis=-2), _with(_tiled, axis=-2)),
        ),
        Mistake(
            name="no-scale",
            message="The scores are not scaled: the weights are too sharp.",
            probe=_does(_with(scale=lambda q, k: 1), _with(_tiled, scale=lambda q, k: 1)),
        ),
        Mistake(
            name="scale-by-something-else",
            message="The scale is not 1/√K. It counts the numbers that one dot product of one head adds up.",
            probe=_does(
                *(
                    _with(share, scale=scale)
                    for share in (None, _tiled)
                    for scale in (
                        lambda q, k: 1 / q.shape[-1],
                        lambda q, k: (q.shape[1] * q.shape[-1]) ** -0.5,
                        lambda q, k: (2 * q.shape[-1]) ** -0.5,
                        lambda q, k: (q.shape[-1] / q.shape[1]) ** -0.5,
                        lambda q, k: q.shape[-1] ** 0.5,
                        lambda q, k: q.shape[-2] ** -0.5,
                        lambda q, k: k.shape[-2] ** -0.5,
                        lambda q, k: 3**-0.5,
                    )
                )
            ),
        ),
        Mistake(
            name="shared-in-turn",
            message="The heads take turns: head 0 reads keys 0, head 1 reads keys 1, head 2 keys 0 "
            "again. *Neighbouring* heads should share.",
            probe=_does(_with(_tiled)),
        ),
        Mistake(
            name="keys-and-values-apart",
            message="Keys and values are shared in different orders: a head finds words by one head's "
            "keys and reads another head's values.",
            probe=_does(
                lambda q, k, v: (
                    (q @ _tiled(k, 3).mT / q.shape[-1] ** 0.5).softmax(-1) @ v.repeat_interleave(3, 1)
                ),
                lambda q, k, v: (
                    (q @ k.repeat_interleave(3, 1).mT / q.shape[-1] ** 0.5).softmax(-1) @ _tiled(v, 3)
                ),
            ),
        ),
        Mistake(
            name="one-head-for-all",
            message="All heads of queries read from the same head of keys and values. Here there are "
            "several.",
            probe=_does(
                *(
                    _with(lambda x, group, n=n: x[:, n : n + 1].expand(-1, x.shape[1] * group, -1, -1))
                    for n in (0, 1)
                )
            ),
        ),
        Mistake(
            name="keys-averaged",
            message="The heads of keys and values are averaged into one. They stay apart: each serves "
            "its own group.",
            probe=_does(
                _with(lambda x, group: x.mean(1, keepdim=True).expand(-1, x.shape[1] * group, -1, -1)),
                _with(lambda x, group: x.sum(1, keepdim=True).expand(-1, x.shape[1] * group, -1, -1)),
            ),
        ),
        Mistake(
            name="queries-averaged",
            message="The queries of a group are averaged, so that its heads have the same weights. Only "
            "keys and values are shared.",
            probe=_does(
                lambda q, k, v: _with()(
                    q.unflatten(1, (k.shape[1], -1)).mean(2).repeat_interleave(q.shape[1] // k.shape[1], 1),
                    k,
                    v,
                ),
            ),
        ),
        Mistake(
            name="outputs-averaged",
            message="The outputs of a group are joined into one: shape {got_shape} came, "
            "{expected_shape} was asked for. Every head of queries keeps its own output.",
            probe=_does(
                lambda q, k, v: grouped_attention(q, k, v).unflatten(1, (k.shape[1], -1)).mean(2),
                lambda q, k, v: grouped_attention(q, k, v).unflatten(1, (k.shape[1], -1)).sum(2),
            ),
        ),
        Mistake(
            name="heads-do-not-fit",
            message="The heads of queries and of keys do not fit together: {error}. Keys and values have "
            "to be repeated (or the queries put into groups) first.",
            variant=lambda q, k, v: (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1) @ v,
        ),
    ),
)
