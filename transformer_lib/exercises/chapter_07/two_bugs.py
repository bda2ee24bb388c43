"""Exercise 7.6: It trains, and it is wrong."""

from __future__ import annotations

import math
from functools import partial

import torch

from transformer_lib.exercises.chapter_07 import shared
from transformer_lib.exercises.chapter_07.shared import layer
from transformer_lib.exercises.exercise import Exercise, Mistake

deviates = partial(shared.deviates, given="causal")


def causal_multi_head(x, w_query, w_key, w_value, w_output, n_heads):
    B, T, D = x.shape
    K = D // n_heads
    q, k, v = ((x @ w.T).view(B, T, n_heads, K).transpose(1, 2) for w in (w_query, w_key, w_value))
    scores = q @ k.transpose(-2, -1) / math.sqrt(K)
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    scores = scores.masked_fill(future, -math.inf)
    heads = torch.softmax(scores, dim=-1) @ v
    return heads.transpose(1, 2).reshape(B, T, D) @ w_output.T


def _layers(generator: torch.Generator) -> list[tuple]:
    sizes = ((1, 3, 2, 2), (2, 5, 3, 7), (5, 7, 2, 11))  # B, T, H, K
    return [tuple(layer(B, T, H, K, generator)) for B, T, H, K in sizes]


TWO_BUGS = Exercise(
    id="7.6",
    title="It trains, and it is wrong",
    kind="find the bug",
    difficulty="medium",
    minutes=10,
    statement=r"""
This function should compute multi-head self-attention in which no word reads a later one. `x` is `(B, T,
D)`, the four matrices are `(D, D)`, the result is `(B, T, D)`; the rows of the first three matrices belong
to the heads in turn. It runs, and a model with it learns. But someone has measured two things:

- **when the last word changes, the output of the first word changes too**, although the mask is right;
- **with one head everything is right**; with more, the weights are too flat as well.

Find the two bugs and mend them. (Delete the `raise` line first.)
""",
    stub="""import math

import torch


def causal_multi_head(x, w_query, w_key, w_value, w_output, n_heads):
    raise NotImplementedError  # delete this line, then find the two bugs
    B, T, D = x.shape
    K = D // n_heads
    q, k, v = (
        (x @ w.T).view(B, T, n_heads, K).transpose(1, 2)
        for w in (w_query, w_key, w_value)
    )
    scores = q @ k.transpose(-2, -1) / math.sqrt(D)
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    scores = scores.masked_fill(future, -math.inf)
    heads = torch.softmax(scores, dim=-1) @ v
    return heads.reshape(B, T, D) @ w_output.T
""",
    reference=causal_multi_head,
    cases=_layers,
    hints=(
        "Follow the shapes line by line. Which axes does `heads` have, and in which order?",
        "How many products does one score of one head add up?",
        "One bug is in the line of the scores, the other in the last line.",
    ),
    mistakes=(
        Mistake(
            name="split-and-merged-by-view",
            message="Now splitting and merging are both wrong in the same way. The future no longer leaks, "
            "but each head holds a piece of the sentence, and words in different pieces never meet. The "
            "split was right.",
            probe=deviates("split-by-view", "merged-without-transposing"),
        ),
        Mistake(
            name="both-bugs-left",
            message="Both symptoms are still there: the first word's output depends on the last word, and "
            "the weights are too flat.",
            probe=deviates("merged-without-transposing", "scale-by-d-model"),
        ),
        Mistake(
            name="split-by-view",
            message="The split was right and is no longer: row t of a head does not hold word t any more.",
            probe=deviates("split-by-view"),
        ),
        Mistake(
            name="merged-without-transposing",
            message="The output of the first word still depends on the last word. The mask is not to blame: "
            "in the last line, which axis comes before which when everything is joined?",
            probe=deviates("merged-without-transposing"),
        ),
        Mistake(
            name="heads-interleaved",
            message="Every word has its own numbers again, but the heads are interleaved: the K numbers of "
            "head 0 must come first, then those of head 1.",
            probe=deviates("heads-interleaved"),
        ),
        Mistake(
            name="heads-read-heads",
            message="Now the heads of a word read from each other, and no word reads another. The split was "
            "right: words and K must be the last two axes.",
            probe=shared.heads_read_heads(causal_only=True),
        ),
        Mistake(
            name="one-head-only",
            message="Now there is a single wide head. Each head needs weights of its own.",
            probe=deviates("one-head-only"),
        ),
        Mistake(
            name="mask-not-used",
            message="The future is visible now: the mask got lost. It was not one of the bugs.",
            probe=deviates("mask-not-used"),
        ),
        Mistake(
            name="mask-upside-down",
            message="Now the past is hidden and the future visible. The mask was right.",
            probe=lambda attempt: any(
                deviates(name)(attempt) for name in ("mask-upside-down", "mask-transposed")
            ),
        ),
        Mistake(
            name="own-word-hidden",
            message="Now a word cannot read itself, and the first word has nothing to read. The mask was "
            "right.",
            probe=deviates("own-word-hidden"),
        ),
        Mistake(
            name="next-word-visible",
            message="Now every word reads the next one as well. The mask was right.",
            probe=deviates("next-word-visible"),
        ),
        Mistake(
            name="scale-by-d-model",
            message="The scores are still divided by √D, √H times too much.",
            probe=deviates("scale-by-d-model"),
        ),
        Mistake(
            name="no-scale",
            message="The scale got lost: the weights are too sharp now. It was in the right place, only too "
            "large.",
            probe=deviates("no-scale"),
        ),
        Mistake(
            name="scale-without-root",
            message="The scores are divided by K itself now. The root was right, what stands under it was "
            "not.",
            probe=deviates("scale-without-root"),
        ),
        Mistake(
            name="scale-by-something-else",
            message="The scores are divided by the root of the number of heads, or of words. One score of "
            "one head adds up how many products?",
            probe=deviates("scale-by-something-else"),
        ),
        Mistake(
            name="output-map-missing",
            message="`w_output` got lost: the heads stand side by side and that is all.",
            probe=deviates("output-map-missing"),
        ),
    ),
)
