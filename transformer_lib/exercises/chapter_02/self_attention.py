"""Exercise 2.5: Every word at once."""

from __future__ import annotations

import math

import torch

from transformer_lib.exercises.attention_probes import (
    causal,
    near,
    output_is,
    over_queries,
    pattern,
    scale_mistakes,
    sums_to_one,
    transposed,
    unused,
)
from transformer_lib.exercises.chapter_02.shared import matrices
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def self_attention(x, w_query, w_key, w_value):
    q = x @ w_query.T
    k = x @ w_key.T
    v = x @ w_value.T
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    return weights @ v


def _sentences(generator: torch.Generator) -> list[tuple]:
    sizes = ((2, 3, 7, 5, 11), (3, 7, 11, 5, 2), (5, 13, 11, 3, 7))
    return [
        (torch.randn(B, T, D, generator=generator), *matrices(D, K, V, generator)) for B, T, D, K, V in sizes
    ]


def _keys_reshaped(x, w_query, w_key, w_value):
    q, k, v = x @ w_query.T, x @ w_key.T, x @ w_value.T
    scores = q @ k.reshape(k.shape[0], k.shape[2], k.shape[1]) / math.sqrt(q.shape[-1])
    return torch.softmax(scores, dim=-1) @ v


def _reads_from_the_batch(attempt: Attempt) -> bool:
    x, *maps = attempt.cases[0].args
    changed = x.clone()
    changed[1:] = changed[1:].flip(-1) * 0.7 + 0.3
    return not near(attempt.call(x, *maps)[0], attempt.call(changed, *maps)[0])


WHOLE_SENTENCE = Exercise(
    id="2.5",
    title="Every word at once",
    kind="write",
    difficulty="medium",
    minutes=15,
    statement=r"""
Write self-attention in matrix form, for a batch of sentences and with the scale:
$\operatorname{softmax}\left(QK^\top/\sqrt{K}\right)V$. `x` has shape `(B, T, D)`: `B` sentences of `T`
words, one word per row. The matrices are the lecture's $W^Q$, $W^K$ of shape `(K, D)` and $W^V$ of shape
`(V, D)`, without biases. Return a tensor of shape `(B, T, V)`. Sentences must not read from each other. All
sizes can differ.
""",
    stub='''import torch


def self_attention(x, w_query, w_key, w_value):
    """x (B, T, D), w_query and w_key (K, D), w_value (V, D); returns (B, T, V)."""
    raise NotImplementedError
''',
    reference=self_attention,
    cases=_sentences,
    hints=(
        "The lecture's q = W x has x as a column. Here words are rows. What does the product become?",
        "Only the last two axes of the keys change places: `k.transpose(-2, -1)`. The batch stays in front.",
        "Scores have shape `(B, T, T)`: queries along axis -2, keys along axis -1. The softmax runs over "
        "the keys.",
    ),
    mistakes=(
        Mistake(
            name="weights-returned",
            message="These are the weights, shape {got_shape}: every word against every word. The output, "
            "{expected_shape}, is what is read with them.",
            probe=output_is(lambda weights, x, k: weights),
        ),
        Mistake(
            name="words-averaged",
            message="The weights are right, but they average the word vectors `x` themselves. What a word "
            "hands over is the value made from it.",
            probe=output_is(lambda weights, x, k: weights @ x),
        ),
        Mistake(
            name="keys-averaged",
            message="The weights are right, but they average the *keys*. What is read are the values.",
            probe=output_is(lambda weights, x, k: weights @ k),
        ),
        Mistake(
            name="softmax-over-queries",
            message="The columns of the weights sum to 1, the rows do not. Each word must share out its "
            "own reading: the softmax runs over the keys.",
            probe=pattern(over_queries),
        ),
        Mistake(
            name="softmax-over-batch",
            message="The weights sum to 1 over the *sentences* of the batch. Counted from the front, the "
            "axes of the scores are batch, query, key.",
            probe=pattern(lambda weights, scores: sums_to_one(weights, 0) and not sums_to_one(weights, -1)),
        ),
        Mistake(
            name="sentences-mixed",
            message="When one sentence of the batch changes, the output of another changes too: they read "
            "from each other. The batch stays in front as it is; only words of one sentence meet.",
            probe=_reads_from_the_batch,
        ),
        Mistake(
            name="causal-mask",
            message="No word reads a later one, as if there were a causal mask. Here every word reads "
            "every word of its sentence.",
            probe=pattern(causal),
        ),
        Mistake(
            name="no-softmax",
            message="The weights are the scores, up to a factor. There is no softmax: they are negative "
            "in places and do not sum to 1.",
            probe=pattern(
                lambda weights, scores: (weights - scores * (weights / scores).median()).abs().max() < 1e-3
            ),
        ),
        Mistake(
            name="keys-reshaped",
            message="The keys were brought into the shape `(B, K, T)` by `reshape` or `view`. That keeps "
            "the numbers in their order and mixes up the words; swapping two axes is another operation.",
            variant=_keys_reshaped,
        ),
        Mistake(
            name="queries-keys-swapped",
            message="The pattern is transposed: in row i stands how well the *others'* queries fit word "
            "i's key. Row i belongs to word i's query.",
            probe=pattern(transposed),
        ),
        Mistake(
            name="keys-from-the-queries-matrix",
            message="`w_key` can be changed without changing the result: it is never used.",
            probe=unused(2),
        ),
        Mistake(
            name="queries-from-the-keys-matrix",
            message="`w_query` can be changed without changing the result: it is never used.",
            probe=unused(1),
        ),
        *scale_mistakes(),
    ),
)
