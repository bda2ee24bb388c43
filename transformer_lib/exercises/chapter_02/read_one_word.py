"""Exercise 2.3: What one word reads."""

from __future__ import annotations

import math

import torch

from transformer_lib.exercises.attention_probes import near, other_scale, temperature
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def read_one_word(q, keys, values):
    scores = keys @ q
    weights = torch.softmax(scores, dim=0)
    return weights @ values


def _one_word(generator: torch.Generator) -> list[tuple]:
    sizes = ((3, 2, 5), (7, 5, 2), (13, 3, 11))
    return [
        tuple(torch.randn(shape, generator=generator) for shape in ((K,), (S, K), (S, V)))
        for S, K, V in sizes
    ]


def _one_word_weights(attempt: Attempt) -> tuple[torch.Tensor, torch.Tensor]:
    """The weights that the learner's function uses on five words, and their scores."""
    generator = torch.Generator().manual_seed(5)
    q, keys = torch.randn(3, generator=generator), torch.randn(5, 3, generator=generator)
    return attempt.call(q, keys, torch.eye(5)), keys @ q


def _uses(weights_of_scores):
    """A probe: with values of a unit matrix, the output is this function of the scores."""

    def probe(attempt: Attempt) -> bool:
        weights, scores = _one_word_weights(attempt)
        return near(weights, weights_of_scores(scores))

    return probe


def _one_word_weights_returned(attempt: Attempt) -> bool:
    return all(near(c.got, torch.softmax(c.args[1] @ c.args[0], 0)) for c in attempt.cases)


def _one_word_keys_averaged(attempt: Attempt) -> bool:
    return all(near(c.got, torch.softmax(c.args[1] @ c.args[0], 0) @ c.args[1]) for c in attempt.cases)


ONE_WORD = Exercise(
    id="2.3",
    title="What one word reads",
    kind="write",
    difficulty="easy",
    minutes=8,
    statement=r"""
Write attention for one word, without scale. The word has the query `q` of shape `(K,)`. It reads from `S`
words: `keys` of shape `(S, K)` and `values` of shape `(S, V)` hold one word per row. Return the output $o =
\sum_j \operatorname{softmax}_j(q^\top k_j)\, v_j$, a tensor of shape `(V,)`. `K`, `S` and `V` can be any
sizes.
""",
    stub='''import torch


def read_one_word(q, keys, values):
    """What one word reads: q (K,), keys (S, K), values (S, V); returns (V,)."""
    raise NotImplementedError
''',
    reference=read_one_word,
    cases=_one_word,
    hints=(
        "Three steps: scores, weights, output. What is the shape of each?",
        "`keys @ q` gives all scores at once, shape `(S,)`. A loop over the rows is as good.",
        "The weights are `torch.softmax` of the scores; the output is the sum of each weight times its "
        "value.",
    ),
    mistakes=(
        Mistake(
            name="weights-returned",
            message="These are the weights, one per word that is read; they have shape {got_shape}. The "
            "output, of shape {expected_shape}, is what is read with them.",
            probe=_one_word_weights_returned,
        ),
        Mistake(
            name="keys-averaged",
            message="The weights are right, but they average the *keys*. The key is the label on the "
            "spine; what is read are the contents.",
            probe=_one_word_keys_averaged,
        ),
        Mistake(
            name="not-normalised",
            message="The exponentials of the scores are used as they are. A weight is a share: divide by "
            "the sum over all words, so that the weights sum to 1.",
            probe=_uses(torch.exp),
        ),
        Mistake(
            name="no-exponential",
            message="The scores are divided by their sum, without the exponential. Shares made that way "
            "can be negative, or very large where the scores cancel.",
            probe=_uses(lambda scores: scores / scores.sum()),
        ),
        Mistake(
            name="no-softmax",
            message="The values are multiplied by the bare scores. Between the scores and the sum stands "
            "the softmax.",
            probe=_uses(lambda scores: scores),
        ),
        Mistake(
            name="softmax-of-single-numbers",
            message="Every word gets the weight 1. That happens when the softmax runs along an axis with "
            "a single entry: it must run over the words.",
            probe=_uses(torch.ones_like),
        ),
        Mistake(
            name="plain-average",
            message="Every word gets the same weight, whatever the query is. Where does `q` enter?",
            probe=_uses(lambda scores: torch.full_like(scores, 1 / len(scores))),
        ),
        Mistake(
            name="best-match-only",
            message="Only the best match is read. Attention reads a share of *every* word; the best match "
            "merely gets the largest.",
            probe=_uses(lambda scores: (scores == scores.max()).float()),
        ),
        Mistake(
            name="base-two",
            message="The weights are powers of 2 of the scores. The softmax takes powers of e, exp(s).",
            probe=lambda attempt: abs(temperature(*_one_word_weights(attempt)) - math.log(2)) < 1e-3,
        ),
        Mistake(
            name="scale-after-softmax",
            message="The weights sum to 1/√K, not to 1. This exercise has no scale; and "
            "where there is one, it comes before the softmax.",
            probe=_uses(lambda scores: torch.softmax(scores, 0) / math.sqrt(3)),
        ),
        Mistake(
            name="scaled",
            message="The scores are multiplied or divided by something, √K perhaps. That is the library's "
            "default and chapter 3's subject; this exercise asks for the formula without scale.",
            probe=lambda attempt: other_scale(*_one_word_weights(attempt)),
        ),
    ),
)
