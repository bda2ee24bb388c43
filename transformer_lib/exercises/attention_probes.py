"""Probes that look at a learner's attention from outside, for `Mistake(probe=…)`.

With the values of a unit matrix, the output of attention *is* its weights. From those, every spelling of
a mistake can be told: which axis sums to 1, which scale, whose question. The functions are
f(x, w_query, w_key, w_value) with matrices of shape (K, D), for a batch (B, T, D) or one sentence (T, D).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from transformer_lib.exercises.exercise import Attempt, Mistake

Probe = Callable[[Attempt], bool]


def near(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors have the same shape and about the same numbers."""
    return a.shape == b.shape and torch.allclose(a.double(), b.double(), rtol=1e-3, atol=1e-4)


def recovered_weights(attempt: Attempt, batched: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """The weights that the learner's function uses, and the scores q_i · k_j, both (2, T, T).

    Each word begins with its own unit vector, and W^V picks that and three entries more: the values begin
    with a unit matrix, so that the output begins with the weights. No two sizes are the same.

    Raises:
        ValueError: the output has another shape, from which nothing can be told.
    """
    T, K, V, rest = 5, 7, 8, 6
    generator = torch.Generator().manual_seed(7)
    x = torch.cat([torch.eye(T).expand(2, T, T), torch.randn(2, T, rest, generator=generator)], dim=-1)
    w_query, w_key = torch.randn(2, K, T + rest, generator=generator) / math.sqrt(T + rest)
    w_value = torch.eye(V, T + rest)
    scores = (x @ w_query.T) @ (x @ w_key.T).transpose(-2, -1)
    if batched:
        out = attempt.call(x, w_query, w_key, w_value)
    else:
        out = torch.stack([attempt.call(sentence, w_query, w_key, w_value) for sentence in x])
    if out.shape != (2, T, V):
        raise ValueError(f"the output has shape {tuple(out.shape)}")
    return out[..., :T].double(), scores.double()


def sums_to_one(weights: torch.Tensor, axis: int) -> bool:
    """Whether these are shares along the axis: nowhere negative, summing to 1."""
    return bool((weights.sum(axis) - 1).abs().max() < 1e-3 and (weights > -1e-6).all())


def temperature(weights: torch.Tensor, scores: torch.Tensor) -> float:
    """The c for which the rows of the weights are softmax(c · scores); NaN where there is none."""
    logs, s = weights.clamp_min(1e-30).log(), scores - scores.mean(-1, keepdim=True)
    logs = logs - logs.mean(-1, keepdim=True)
    c = float((logs * s).sum() / (s * s).sum())
    return c if (logs - c * s).abs().max() < 0.02 * (1 + abs(c)) else math.nan


def pattern(holds: Callable[..., bool], batched: bool = True) -> Probe:
    """A probe that looks at the learner's weights and the true scores."""
    return lambda attempt: bool(holds(*recovered_weights(attempt, batched)))


def scale_is(scale: float, batched: bool = True) -> Probe:
    """A probe: the rows are softmax(scale · scores), in the sizes of `recovered_weights` (K 7, D 11, T 5)."""

    def holds(weights, scores):
        return sums_to_one(weights, -1) and abs(temperature(weights, scores) / scale - 1) < 0.02

    return pattern(holds, batched)


def other_scale(weights: torch.Tensor, scores: torch.Tensor) -> bool:
    """Whether the rows are softmax(c · scores) for some c."""
    return sums_to_one(weights, -1) and math.isfinite(temperature(weights, scores))


def one_hot(weights: torch.Tensor, scores: torch.Tensor) -> bool:
    """Whether each row gives all to one key."""
    return sums_to_one(weights, -1) and near(weights.amax(-1), torch.ones(weights.shape[:-1]))


def causal(weights: torch.Tensor, scores: torch.Tensor) -> bool:
    """Whether the rows sum to 1 and no word reads a later one."""
    return sums_to_one(weights, -1) and bool((weights.triu(1).abs() < 1e-6).all())


def over_queries(weights: torch.Tensor, scores: torch.Tensor) -> bool:
    """Whether the columns sum to 1 and the rows do not."""
    return sums_to_one(weights, -2) and not sums_to_one(weights, -1)


def transposed(weights: torch.Tensor, scores: torch.Tensor) -> bool:
    """Whether row i is a softmax of how well the others' queries fit key i, at whatever scale."""
    return sums_to_one(weights, -1) and temperature(weights, scores.transpose(-2, -1)) > 0


def unused(position: int) -> Probe:
    """A probe: of all arguments the one at this position alone can be changed without changing the result."""

    def probe(attempt: Attempt) -> bool:
        args, got = attempt.cases[-1].args, attempt.cases[-1].got

        def same_without(n: int) -> bool:
            changed = args[n].flip(0) * 0.7 + 0.1
            return near(attempt.call(*args[:n], changed, *args[n + 1 :]), got)

        return [n for n in range(len(args)) if same_without(n)] == [position]

    return probe


def output_is(compute: Callable[..., torch.Tensor]) -> Probe:
    """A probe: on every case the result is this function of the right weights, x and the keys."""

    def probe(attempt: Attempt) -> bool:
        for case in attempt.cases:
            x, w_query, w_key, _ = case.args
            q, k = x @ w_query.T, x @ w_key.T
            weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), -1)
            if not near(case.got, compute(weights, x, k)):
                return False
        return True

    return probe


def scale_mistakes(batched: bool = True) -> tuple[Mistake, ...]:
    """Every way to get the scale of self-attention wrong, in the sizes of `recovered_weights`."""

    def scaled_by(name: str, message: str, scale: float) -> Mistake:
        return Mistake(name=name, message=message, probe=scale_is(scale, batched))

    return (
        Mistake(
            name="scale-after-softmax",
            message="Each row of the weights sums to 1/√K. The scale belongs to the scores, before the "
            "softmax: after it, it only makes the output smaller.",
            probe=pattern(lambda weights, scores: sums_to_one(weights * math.sqrt(7), -1), batched),
        ),
        scaled_by(
            "no-scale",
            "The scores are not scaled: the weights are too sharp. By what does the formula divide?",
            1,
        ),
        scaled_by(
            "scale-by-d-model",
            "The scores are divided by √D, the width of the word vectors. The scale counts the "
            "numbers that a dot product adds up: those of a query.",
            1 / math.sqrt(11),
        ),
        scaled_by(
            "scale-by-value-width",
            "The scores are divided by the root of the width of a *value*. The scale counts the numbers "
            "that a dot product adds up, and values are in none.",
            1 / math.sqrt(8),
        ),
        scaled_by(
            "scale-without-root",
            "The scores are divided by K itself, so that the weights are too flat. Something is "
            "missing around it.",
            1 / 7,
        ),
        scaled_by(
            "scale-by-length",
            "The scores are divided by the root of the number of words. The scale counts the "
            "numbers that a dot product adds up: those of a query.",
            1 / math.sqrt(5),
        ),
        scaled_by(
            "scale-upside-down",
            "The scores are *multiplied* by √K instead of divided: the weights are far too sharp.",
            math.sqrt(7),
        ),
        Mistake(
            name="best-match-only",
            message="Each row has a single 1: only the best match is read. A softmax gives "
            "*every* word a share.",
            probe=pattern(one_hot, batched),
        ),
        Mistake(
            name="other-scale",
            message="The rows are a softmax of the scores, but the scores were multiplied by another factor "
            "than the formula's. Compare it with what stands under the root.",
            probe=pattern(other_scale, batched),
        ),
    )
