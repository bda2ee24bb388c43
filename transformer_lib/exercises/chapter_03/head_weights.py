"""Exercise 3.6: A scale gone wrong, twice."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from transformer_lib.exercises.attention_probes import Probe, near, other_scale, sums_to_one, temperature
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def head_weights(q, k):
    d_k = q.shape[-1]
    scores = q @ k.transpose(-2, -1) / math.sqrt(d_k)
    return torch.softmax(scores, dim=-1)


def _heads(generator: torch.Generator) -> list[tuple]:
    sizes = ((1, 2, 2, 3, 5), (2, 3, 5, 7, 11), (3, 2, 7, 5, 13))  # B, H, T, S, K
    return [
        (torch.randn(B, H, T, K, generator=generator), torch.randn(B, H, S, K, generator=generator))
        for B, H, T, S, K in sizes
    ]


def _shares(attempt: Attempt) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, dict[str, int]]:
    """The learner's weights on further heads, the sums of their rows, the true scores, and the sizes."""
    sizes = {"B": 2, "H": 3, "T": 5, "S": 7, "K": 13}
    generator = torch.Generator().manual_seed(11)
    q = 0.7 * torch.randn(2, 3, 5, 13, generator=generator)
    k = 0.7 * torch.randn(2, 3, 7, 13, generator=generator)
    weights = attempt.call(q, k).double()
    return weights, weights.sum(-1, keepdim=True), (q @ k.mT).double(), sizes


def _factor_is(factor: Callable[..., float]) -> Probe:
    """A probe: the rows are softmax(factor · scores), the factor a function of the sizes."""

    def probe(attempt: Attempt) -> bool:
        weights, _, scores, sizes = _shares(attempt)
        return sums_to_one(weights, -1) and abs(temperature(weights, scores) / factor(**sizes) - 1) < 0.02

    return probe


def _scaled_afterwards(divisor: Callable[..., float]) -> Probe:
    """A probe: the rows are those of a softmax without scale, divided by a function of the sizes."""

    def probe(attempt: Attempt) -> bool:
        weights, sums, scores, sizes = _shares(attempt)
        return near(weights * divisor(**sizes), scores.softmax(-1)) and (sums - 1).abs().max() > 0.01

    return probe


def _sums_along(axis: int) -> Probe:
    def probe(attempt: Attempt) -> bool:
        weights, *_ = _shares(attempt)
        return sums_to_one(weights, axis) and not sums_to_one(weights, -1)

    return probe


def _keys_reshaped(attempt: Attempt) -> bool:
    for case in attempt.cases:
        q, k = case.args
        mixed = q @ k.reshape(*k.shape[:2], k.shape[3], k.shape[2])
        if math.isnan(temperature(case.got, mixed)):
            return False
    return True


def _one_hot(attempt: Attempt) -> bool:
    weights, *_ = _shares(attempt)
    return near(weights.amax(-1), torch.ones(2, 3, 5)) and sums_to_one(weights, -1)


FIND_THE_BUG = Exercise(
    id="3.6",
    title="A scale gone wrong, twice",
    kind="find the bug",
    difficulty="medium",
    minutes=10,
    statement=r"""
This function should return the attention weights of several heads,
$\operatorname{softmax}(QK^\top/\sqrt{d_k})$ for each head: `q` has shape `(B, H, T, K)` for `B`
sentences, `H` heads, `T` queries of `K` numbers; `k` has shape `(B, H, S, K)` for `S` keys; the result
has shape `(B, H, T, S)`. It runs, and a model that uses it even learns. But **two things are wrong with
its scale**.

One shows in the sums of the rows. The other hides when there is only one head. Take out the `raise`
line, then find and mend both.
""",
    stub='''import math

import torch


def head_weights(q, k):
    """Attention weights: q (B, H, T, K), k (B, H, S, K), returns (B, H, T, S)."""
    raise NotImplementedError("take this line out, then mend what is below")
    n_heads, width = q.shape[1], q.shape[-1]
    d_model = n_heads * width
    scores = q @ k.transpose(-2, -1)
    weights = torch.softmax(scores, dim=-1)
    return weights / math.sqrt(d_model)
''',
    reference=head_weights,
    cases=_heads,
    hints=(
        "Print `head_weights(q, k).sum(-1)` for random q and k. What should stand there?",
        "Dividing *after* a softmax makes every weight smaller. Dividing *before* makes the row softer.",
        "How many products does one score of one head add up: H · K, or K?",
    ),
    mistakes=(
        Mistake(
            name="both-bugs-left",
            message="The rows still sum to 1/√(H · K) instead of 1, and the scale still counts the "
            "numbers of all heads together.",
            probe=_scaled_afterwards(lambda H, K, **_: math.sqrt(H * K)),
        ),
        Mistake(
            name="scale-after-softmax",
            message="The rows do not sum to 1: they sum to {row_sums}. The scale still comes after "
            "the softmax, where it only makes the weights smaller. It is meant to make them "
            "softer.",
            probe=lambda attempt: any(
                _scaled_afterwards(divisor)(attempt)
                for divisor in (
                    lambda K, **_: math.sqrt(K),
                    lambda K, **_: 1 / math.sqrt(K),
                    lambda K, **_: K,
                    lambda H, K, **_: H * K,
                )
            ),
        ),
        Mistake(
            name="softmax-over-queries",
            message="The columns sum to 1 instead of the rows: the softmax runs over the queries.",
            probe=_sums_along(-2),
        ),
        Mistake(
            name="softmax-over-heads",
            message="The weights sum to 1 over the heads. Each head has a softmax of its own, over its keys.",
            probe=_sums_along(1),
        ),
        Mistake(
            name="softmax-over-the-batch",
            message="The weights sum to 1 over the sentences. Each query has a softmax of its own, "
            "over its keys.",
            probe=_sums_along(0),
        ),
        Mistake(
            name="scale-by-d-model",
            message="The rows sum to 1 now, but the scores are still divided by √(H · K), √H times "
            "too much. One score adds up the products of *one* head.",
            probe=_factor_is(lambda H, K, **_: 1 / math.sqrt(H * K)),
        ),
        Mistake(
            name="no-scale",
            message="The rows sum to 1, but the scores are not scaled at all: the weights are too sharp.",
            probe=_factor_is(lambda **_: 1),
        ),
        Mistake(
            name="scale-without-root",
            message="The scores are divided by K itself (or twice by its root): the weights are too flat.",
            probe=_factor_is(lambda K, **_: 1 / K),
        ),
        Mistake(
            name="scale-upside-down",
            message="The scores are *multiplied* by √K: the weights are far too sharp.",
            probe=_factor_is(lambda K, **_: math.sqrt(K)),
        ),
        Mistake(
            name="scale-by-heads",
            message="The scores are divided by the root of the number of heads. The number of heads "
            "has no say: a score adds up K products.",
            probe=_factor_is(lambda H, **_: 1 / math.sqrt(H)),
        ),
        Mistake(
            name="scale-by-length",
            message="The scores are divided by the root of a number of words. A score adds up K "
            "products, however long the sentence is.",
            probe=lambda attempt: (
                _factor_is(lambda T, **_: 1 / math.sqrt(T))(attempt)
                or _factor_is(lambda S, **_: 1 / math.sqrt(S))(attempt)
            ),
        ),
        Mistake(
            name="half-the-scale",
            message="The scores are divided by the fourth root of K. That is the share of the queries "
            "alone, if queries *and* keys are to carry half of the scale each.",
            probe=_factor_is(lambda K, **_: K**-0.25),
        ),
        Mistake(
            name="keys-reshaped",
            message="The keys were brought into the shape `(B, H, K, S)` by `reshape` or `view`. That keeps "
            "the numbers in their order and mixes up the words; swapping two axes is another operation.",
            probe=_keys_reshaped,
        ),
        Mistake(
            name="best-match-only",
            message="Each row has a single 1 and nothing else: that is an arg-max, with no gradient "
            "to learn from.",
            probe=_one_hot,
        ),
        Mistake(
            name="no-softmax",
            message="The rows are bare scores: there is no softmax left.",
            probe=lambda attempt: (
                lambda weights, _, scores, sizes: (
                    near(weights, scores) or near(weights * sizes["K"] ** 0.5, scores)
                )
            )(*_shares(attempt)),
        ),
        Mistake(
            name="other-scale",
            message="The rows are a softmax of the scores, but the scores were multiplied by another factor "
            "than the formula's. Compare it with what stands under the root.",
            probe=lambda attempt: other_scale(*(_shares(attempt)[n] for n in (0, 2))),
        ),
    ),
)
