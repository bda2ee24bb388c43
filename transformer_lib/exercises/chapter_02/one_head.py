"""Exercise 2.4: Two bugs, no error."""

from __future__ import annotations

import torch

from transformer_lib.exercises.attention_probes import (
    causal,
    output_is,
    over_queries,
    pattern,
    scale_mistakes,
    transposed,
    unused,
)
from transformer_lib.exercises.chapter_02.shared import matrices
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def one_head(x, w_query, w_key, w_value):
    q = x @ w_query.T
    k = x @ w_key.T
    v = x @ w_value.T
    scores = q @ k.T / q.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=1)
    return weights @ v


def _one_sentence(generator: torch.Generator) -> list[tuple]:
    sizes = ((3, 5, 2, 7), (7, 11, 3, 5), (13, 7, 5, 11))
    return [(torch.randn(T, D, generator=generator), *matrices(D, K, V, generator)) for T, D, K, V in sizes]


def _fixed_one_head(wrong_matrix: bool, wrong_axis: bool):
    def variant(x, w_query, w_key, w_value):
        q, k = x @ w_query.T, x @ (w_query if wrong_matrix else w_key).T
        scores = q @ k.T / q.shape[-1] ** 0.5
        return torch.softmax(scores, dim=0 if wrong_axis else 1) @ (x @ w_value.T)

    return variant


def _both_bugs(attempt: Attempt) -> bool:
    return pattern(over_queries, batched=False)(attempt) and unused(2)(attempt)


FIND_THE_BUG = Exercise(
    id="2.4",
    title="Two bugs, no error",
    kind="find the bug",
    difficulty="medium",
    minutes=8,
    statement=r"""
This function should compute self-attention with one head for one sentence, with the scale: `x` is `(T, D)`,
`w_query` and `w_key` are `(K, D)`, `w_value` is `(V, D)`, and the result is `(T, V)`. It runs, and the
shape is right. But someone who looked at its weights noticed two things: **the scores are symmetric**, and
**the rows of the weights do not sum to 1**. Find the two bugs and mend them. (Delete the `raise` line
first.)
""",
    stub="""import torch


def one_head(x, w_query, w_key, w_value):
    raise NotImplementedError  # delete this line, then find the two bugs
    q = x @ w_query.T
    k = x @ w_query.T
    v = x @ w_value.T
    scores = q @ k.T / q.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=0)
    return weights @ v
""",
    reference=one_head,
    cases=_one_sentence,
    hints=(
        "When is Q Kᵀ symmetric? When Q and K are the same matrix.",
        "In `scores`, which axis counts the queries, and which the keys?",
        "One bug is a slip of copy and paste. The other is a single digit.",
    ),
    mistakes=(
        Mistake(
            name="both-bugs-left",
            message="Both symptoms are still there: the scores are symmetric, and the columns of the "
            "weights sum to 1 instead of the rows.",
            variant=_fixed_one_head(wrong_matrix=True, wrong_axis=True),
            probe=_both_bugs,
        ),
        Mistake(
            name="keys-from-the-queries-matrix",
            message="`w_key` can be changed at will without changing the result: it is never used. So a "
            "word's key still equals its query, and the scores are symmetric.",
            variant=_fixed_one_head(wrong_matrix=True, wrong_axis=False),
            probe=unused(2),
        ),
        Mistake(
            name="queries-from-the-keys-matrix",
            message="Now `w_query` is never used. The copy and paste was mended on the wrong line: the "
            "scores are still symmetric.",
            probe=unused(1),
        ),
        Mistake(
            name="softmax-over-queries",
            message="The columns of the weights sum to 1, the rows do not. The softmax must run over the "
            "keys: each word shares out its own reading.",
            variant=_fixed_one_head(wrong_matrix=False, wrong_axis=True),
            probe=pattern(over_queries, batched=False),
        ),
        Mistake(
            name="queries-keys-swapped",
            message="The pattern is transposed: word i reads what word j should read from it. Whose query "
            "stands in a row of the scores?",
            probe=pattern(transposed, batched=False),
        ),
        Mistake(
            name="weights-returned",
            message="These are the weights, shape {got_shape}. The output is what is read with them.",
            probe=output_is(lambda weights, x, k: weights),
        ),
        Mistake(
            name="causal-mask",
            message="No word reads a later one, as if there were a causal mask. Here every word reads "
            "every word.",
            probe=pattern(causal, batched=False),
        ),
        *scale_mistakes(batched=False),
    ),
)
