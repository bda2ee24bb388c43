"""Exercise 4.6: First words right, then garbage."""

from __future__ import annotations

import torch

from transformer_lib.exercises.attention_probes import near
from transformer_lib.exercises.chapter_04.shared import (
    WIDTH,
    halves,
    pairs,
    speeds,
    split_angles_woven_pairs,
    turned,
    turns_by,
    woven_angles_split_pairs,
)
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def rotate_halves(x, positions):
    K = x.shape[-1]
    theta = 10000 ** (-torch.arange(0, K, 2) / K)
    angles = positions[:, None] * theta  # (T, K/2)
    angles = angles.repeat(1, 2)  # (T, K): 0 1 2 … 0 1 2 …
    first, second = x.chunk(2, dim=-1)
    other = torch.cat([-second, first], dim=-1)
    return x * angles.cos() + other * angles.sin()


def _heads(generator: torch.Generator) -> list[tuple]:
    sizes = ((2, 3, 4), (5, 7, 10), (3, 11, 14))  # H, T, K
    places = (torch.arange(3), torch.arange(7), torch.arange(300, 311))
    return [(torch.randn(size, generator=generator), p) for size, p in zip(sizes, places, strict=True)]


def _turns(*matrices):
    return turns_by(*matrices, batched=False)


def _plus(m):
    """The angles mended, the sign not."""
    return halves(pairs(m, signs=(1, 1, 1, 1)))


def _quarter(m):
    """x sin + other cos, for pairs of neighbours."""
    c, s = (m * speeds()).cos(), (m * speeds()).sin()
    return torch.block_diag(*(torch.stack([a, -b, b, a]).reshape(2, 2) for a, b in zip(s, c, strict=True)))


def _each_by_itself(attempt: Attempt) -> bool:
    """Every number that comes out depends on the one at the same place alone."""
    M = turned(attempt, 2, False)
    return near(M, torch.diag(M.diagonal())) and not near(M, torch.eye(WIDTH).double())


def _longer_or_shorter(attempt: Attempt) -> bool:
    M = turned(attempt, 2, False)
    return not near(M.T @ M, torch.eye(WIDTH).double())


FIND_THE_BUG = Exercise(
    id="4.6",
    title="First words right, then garbage",
    kind="find the bug",
    difficulty="hard",
    minutes=12,
    statement=r"""
Someone loaded Llama's weights as Hugging Face publishes them. In their layout RoPE pairs entry $i$ of a query
or key with entry $i + K/2$, and turns both by $m\,\theta_i$, $\theta_i = 10000^{-2i/K}$:

$$x'_i = x_i \cos m\theta_i - x_{i+K/2} \sin m\theta_i, \qquad x'_{i+K/2} = x_{i+K/2} \cos m\theta_i + x_i
\sin m\theta_i, \qquad i = 0, …, K/2 - 1 .$$

`x` has shape `(H, T, K)`, `positions` holds the `T` places `m`. With the function below, the model writes a
first sensible word or two, then garbage. Two symptoms were measured: **vectors change their length**, and
**the two numbers of one pair are turned by different angles**. Take out the `raise` line, then find the two
bugs and mend them. Keep the layout: the weights expect it.
""",
    stub='''import torch


def rotate_halves(x, positions):
    """RoPE, entry i paired with entry i + K/2: x (H, T, K), positions (T,)."""
    raise NotImplementedError("take this line out, then mend what is below")
    K = x.shape[-1]
    theta = 10000 ** (-torch.arange(0, K, 2) / K)
    angles = positions[:, None] * theta  # (T, K/2)
    angles = angles.repeat_interleave(2, dim=-1)  # (T, K)
    first, second = x.chunk(2, dim=-1)
    other = torch.cat([second, first], dim=-1)
    return x * angles.cos() + other * angles.sin()
''',
    reference=rotate_halves,
    cases=_heads,
    hints=(
        "Take K = 4 and write down the four angles in `angles`, then which entry stands at each place of "
        "`other`. Entries 0 and 2 are a pair.",
        "A turn by an angle has two sines, one of them with a minus. Where is it?",
        "Angles in the order 0, 0, 1, 1 belong to neighbours. Which order belongs to the pairs (0, 2) and "
        "(1, 3)?",
    ),
    mistakes=(
        Mistake(
            name="both-bugs-left",
            message="Both symptoms are still there: vectors change their length, and the two numbers of a "
            "pair get different angles. Word 0 is right in any case: all its angles are 0.",
            probe=_turns(lambda m: woven_angles_split_pairs(m, minus=1.0)),
        ),
        Mistake(
            name="angles-of-the-other-layout",
            message="The sign is right now, but the angles still stand in the order 0, 0, 1, 1, …, which "
            "belongs to pairs of neighbours. Here entry 0 and entry K/2 need the same angle.",
            probe=_turns(woven_angles_split_pairs, lambda m: woven_angles_split_pairs(-m)),
        ),
        Mistake(
            name="minus-missing",
            message="The angles are right now, but vectors still change their length: both sines have the "
            "same sign. Compare `other` with the two formulas.",
            probe=_turns(_plus, lambda m: _plus(-m)),
        ),
        Mistake(
            name="turned-backwards",
            message="It is a rotation now, but the wrong way round: the minus went to the other half. "
            "Scores among your own vectors would still be consistent; published weights are not trained "
            "for it.",
            probe=_turns(lambda m: halves(pairs(-m))),
        ),
        Mistake(
            name="neighbours-paired",
            message="It is a proper rotation now, of neighbours 2i and 2i + 1. That is the paper's layout; "
            "the weights here expect entry i with entry i + K/2.",
            probe=_turns(pairs, lambda m: pairs(-m)),
        ),
        Mistake(
            name="mixed-the-other-way",
            message="Now the pairs are neighbours and the angles those of the halves: mixed the other way "
            "round. Keep the pairs as they were.",
            probe=_turns(split_angles_woven_pairs, lambda m: split_angles_woven_pairs(-m)),
        ),
        Mistake(
            name="halves-not-swapped",
            message="`other` holds each half in its own place, so that a number is turned with itself. "
            "The two numbers of a pair must meet.",
            probe=_each_by_itself,
        ),
        Mistake(
            name="sine-and-cosine-exchanged",
            message="Sine and cosine have changed places: word 0, whose angles are all 0, should come out "
            "as it went in.",
            probe=_turns(lambda m: halves(_quarter(m)), lambda m: halves(-_quarter(-m))),
        ),
        Mistake(
            name="speeds-changed",
            message="It is a rotation of the right pairs, but θ is not what it was: that line had no bug.",
            probe=_turns(
                lambda m: halves(pairs(m, speeds(lambda i: 4 * i / WIDTH))),
                lambda m: halves(pairs(m, speeds(lambda i: i / WIDTH))),
                lambda m: halves(pairs(m, speeds(lambda i: -2 * i / WIDTH))),
            ),
        ),
        Mistake(
            name="length-changes",
            message="It is a linear map, but no rotation: vectors come out longer or shorter.",
            probe=_longer_or_shorter,
        ),
    ),
)
