"""Exercise 7.5: The whole of it."""

from __future__ import annotations

import math

import torch

from transformer_lib.exercises.chapter_07.shared import (
    deviates,
    heads_read_heads,
    layer,
    mask_in_wrong_order,
    mask_over_heads,
    nan_with_nothing_hidden,
    random_mask,
    reads_hidden,
)
from transformer_lib.exercises.exercise import Exercise, Mistake


def multi_head_attention(x, w_query, w_key, w_value, w_output, n_heads, mask):
    B, T, D = x.shape
    K = D // n_heads
    q, k, v = (
        (x @ w.T).view(B, T, n_heads, K).transpose(1, 2)  # (B, H, T, K)
        for w in (w_query, w_key, w_value)
    )
    scores = q @ k.transpose(-2, -1) / math.sqrt(K)  # (B, H, T, T)
    scores = scores.masked_fill(~mask[:, None], -math.inf)  # one mask for all heads
    heads = torch.softmax(scores, dim=-1) @ v
    return heads.transpose(1, 2).reshape(B, T, D) @ w_output.T


def _layers(generator: torch.Generator) -> list[tuple]:
    sizes = ((1, 3, 2, 2), (2, 5, 3, 7), (3, 5, 3, 2), (5, 7, 2, 11))  # B, T, H, K; once as many B as H
    return [(*layer(B, T, H, K, generator), random_mask(B, T, generator)) for B, T, H, K in sizes]


WHOLE = Exercise(
    id="7.5",
    title="The whole of it",
    kind="write",
    difficulty="hard",
    minutes=25,
    statement=r"""
Write multi-head self-attention for a batch of sentences, with a mask. `x` has shape `(B, T, D)`. The four
matrices `w_query`, `w_key`, `w_value` and `w_output` are $W^Q$, $W^K$, $W^V$ and $W^O$, each of shape `(D,
D)` and without bias: the query of a word is $W^Q x$. The `D` rows of the first three belong to the heads in
turn: rows 0 to `K` − 1 to head 0, the next `K` to head 1, … with `K = D / n_heads`. Each head is
$\operatorname{softmax}(QK^\top/\sqrt{K})\,V$ of its own queries, keys and values; their outputs, side by
side, go through $W^O$.

`mask` has shape `(B, T, T)` and is boolean: `mask[b, i, j]` is True where word `i` of sentence `b` **may**
read word `j`. It is the same for all heads of a sentence. Hide the rest before the softmax, with $-\infty$.
Every word may at least read itself. Return a tensor of shape `(B, T, D)`.
""",
    stub='''import torch


def multi_head_attention(x, w_query, w_key, w_value, w_output, n_heads, mask):
    """x (B, T, D), matrices (D, D), mask (B, T, T) with True = may attend; returns (B, T, D)."""
    raise NotImplementedError
''',
    reference=multi_head_attention,
    cases=_layers,
    hints=(
        "Five steps: make queries, keys and values; split; attend in each head; merge; one more matrix. "
        "Exercises 7.2 and 7.3 are two of them.",
        "After the split everything has shape `(B, H, T, K)`, and `q @ k.transpose(-2, -1)` gives the scores "
        "of all heads, `(B, H, T, T)`. Which axis does the mask lack?",
        "`mask[:, None]` has shape `(B, 1, T, T)` and fits all heads. "
        "`scores.masked_fill(~mask[:, None], -torch.inf)` hides what may not be read.",
    ),
    mistakes=(
        Mistake(
            name="split-and-merged-by-view",
            message="Splitting and merging both use `view` (or `reshape`) alone. The two fit each other, so "
            "it looks tidy: but each head now holds a *piece of the sentence* instead of a piece of every "
            "vector, and words in different pieces never read each other.",
            probe=deviates("split-by-view", "merged-without-transposing"),
        ),
        Mistake(
            name="split-by-view",
            message="The heads are cut out by `view` (or `reshape`) alone. The shape `(B, H, T, K)` is "
            "right, but row t of a head does not hold word t: words are mixed. First cut the last axis into "
            "heads, then let words and heads change places.",
            probe=deviates("split-by-view"),
        ),
        Mistake(
            name="merged-without-transposing",
            message="The heads are merged without changing words and heads back. The shape is right, but "
            "the vector of a word holds outputs of several words: change a word that is hidden from word 0, "
            "and the output of word 0 changes.",
            probe=deviates("merged-without-transposing"),
        ),
        Mistake(
            name="heads-read-heads",
            message="The heads of one word read from each other, and no word reads another: the axis of the "
            "heads stands where the words should be. After the split, the last two axes must be words and K.",
            probe=heads_read_heads(),
        ),
        Mistake(
            name="one-head-only",
            message="There is one softmax for all D numbers: a single wide head. Each head needs scores and "
            "weights of its own.",
            probe=deviates("one-head-only"),
        ),
        Mistake(
            name="heads-interleaved",
            message="The numbers of the heads are interleaved: a head must own K *neighbouring* rows of a "
            "matrix, both when splitting and when merging.",
            probe=deviates("heads-interleaved"),
        ),
        Mistake(
            name="matrices-not-transposed",
            message="The query of a word is W^Q x with x as a column. With one word per row, which way "
            "round does the matrix stand in `x @ …`? It is square, so the shapes cannot tell.",
            probe=deviates("matrices-not-transposed"),
        ),
        Mistake(
            name="queries-keys-swapped",
            message="The pattern is transposed: in row i stands how well the *others'* queries fit word i's "
            "key. Row i belongs to word i's query.",
            probe=deviates("queries-keys-swapped"),
        ),
        Mistake(
            name="wrong-matrix",
            message="One of the matrices is used twice and another not at all. Queries, keys and values "
            "have a matrix each.",
            probe=deviates("wrong-matrix"),
        ),
        Mistake(
            name="matrices-exchanged",
            message="Two of the matrices W^Q, W^K and W^V have changed places. Scores are made of queries "
            "and keys; what is averaged are the values.",
            probe=deviates("matrices-exchanged"),
        ),
        Mistake(
            name="words-cut-into-heads",
            message="Each head sees only its own K numbers of a word. A query is made of the *whole* word: "
            "W^Q first, then the cut into heads.",
            probe=deviates("words-cut-into-heads"),
        ),
        Mistake(
            name="first-head-repeated",
            message="All heads use the rows of head 0, so that all of them read the same. Head h has rows of "
            "its own.",
            probe=deviates("first-head-repeated"),
        ),
        Mistake(
            name="keys-reshaped",
            message="The keys got the shape `(B, H, K, T)` by `view` or `reshape`, which leaves the numbers "
            "in their order: the columns are not the words' keys. An axis must change places.",
            probe=deviates("keys-reshaped"),
        ),
        Mistake(
            name="no-softmax",
            message="The values are multiplied by the bare scores: there is no softmax.",
            probe=deviates("no-softmax"),
        ),
        Mistake(
            name="softmax-over-queries",
            message="The softmax runs over the words that read, not over those that are read: columns sum "
            "to 1 instead of rows.",
            probe=deviates("softmax-over-queries"),
        ),
        Mistake(
            name="softmax-over-heads",
            message="The softmax runs over the heads: they compete with each other. Each head has a softmax "
            "of its own, over its keys.",
            probe=lambda attempt: any(
                deviates("softmax-over-heads", given=g)(attempt) for g in ("random", "open")
            ),
        ),
        Mistake(
            name="softmax-over-the-batch",
            message="The softmax runs over the sentences. It must run over the keys of one sentence.",
            probe=lambda attempt: any(
                deviates("softmax-over-the-batch", given=g)(attempt) for g in ("random", "open")
            ),
        ),
        Mistake(
            name="mask-in-wrong-order",
            message="Heads get the masks of other sentences: the mask was repeated for the heads in the "
            "wrong order. All heads of sentence 0 come first, then all of sentence 1. Or give the mask an "
            "axis of size 1 in place of the heads: then nothing has to be repeated.",
            probe=mask_in_wrong_order,
        ),
        Mistake(
            name="mask-lacks-the-head-axis",
            message="The mask lacks the axis of the heads. Scores are `(B, H, T, T)`, the mask `(B, T, T)`: "
            "counted from the back, its sentences stand where the heads are. That is an error for most "
            "sizes, and with as many sentences as heads it silently gives every *head* the mask of another "
            "sentence.",
            probe=deviates("mask-lacks-the-head-axis"),
        ),
        Mistake(
            name="mask-axis-misplaced",
            message="The mask got a fourth axis, but in the wrong place: `(B, T, 1, T)` lets the *heads* "
            "take the mask's rows in turn. Scores are `(B, H, T, T)`; which of its axes does the mask lack?",
            probe=mask_over_heads,
        ),
        Mistake(
            name="mask-not-used",
            message="The mask has no effect: words read what is hidden from them.",
            probe=deviates("mask-not-used"),
        ),
        Mistake(
            name="mask-upside-down",
            message="The mask is turned round: True means *may* attend, and those were hidden.",
            probe=deviates("mask-upside-down"),
        ),
        Mistake(
            name="mask-transposed",
            message="The mask is transposed: row i says what word i may read, not who may read word i.",
            probe=deviates("mask-transposed"),
        ),
        Mistake(
            name="mask-after-softmax",
            message="The mask comes after the softmax: the rows then sum to less than 1. Hide before it.",
            probe=deviates("mask-after-softmax"),
        ),
        Mistake(
            name="mask-added",
            message="The mask was added to the scores as 0 and 1: what is hidden is still read, only a "
            "little less. It takes −∞.",
            probe=deviates("mask-added"),
        ),
        Mistake(
            name="hidden-scores-zero",
            message="Hidden scores became 0. But 0 is a score like any other: exp(0) is 1, and the word is "
            "still read. It takes −∞.",
            probe=deviates("hidden-scores-zero"),
        ),
        Mistake(
            name="own-mask",
            message="Every word reads itself and the words before it, whatever the mask says. The mask comes "
            "as an argument here, and is another one for each sentence.",
            probe=deviates("own-mask"),
        ),
        Mistake(
            name="zero-times-infinity",
            message="Even where nothing is hidden, all is NaN: 0 · ∞ is not 0 but NaN. Do not multiply the "
            "mask by −∞; put −∞ where the mask says so (`masked_fill`, `torch.where`).",
            probe=nan_with_nothing_hidden,
        ),
        Mistake(
            name="scale-after-softmax",
            message="The scale comes after the softmax, where it only makes the outputs smaller. It belongs "
            "to the scores.",
            probe=deviates("scale-after-softmax"),
        ),
        Mistake(
            name="scale-by-d-model",
            message="The scores are divided by √D, the root of the model's width: √H times too much. A "
            "score of one head adds up K products. With one head nobody notices.",
            probe=deviates("scale-by-d-model"),
        ),
        Mistake(
            name="no-scale",
            message="The scores are not scaled: the weights are too sharp.",
            probe=deviates("no-scale"),
        ),
        Mistake(
            name="scale-without-root",
            message="The scores are divided by K itself: the weights are too flat.",
            probe=deviates("scale-without-root"),
        ),
        Mistake(
            name="scale-upside-down",
            message="The scores are *multiplied* by √K: the weights are far too sharp.",
            probe=deviates("scale-upside-down"),
        ),
        Mistake(
            name="scale-by-something-else",
            message="The scores are divided by another number than √K: the number of words, of heads or "
            "the width of the model came in. The scale counts the products that *one* score adds up.",
            probe=deviates("scale-by-something-else"),
        ),
        Mistake(
            name="output-map-missing",
            message="The heads stand side by side and that is all: `w_output` is never used.",
            probe=deviates("output-map-missing"),
        ),
        Mistake(
            name="output-map-not-transposed",
            message="All is right up to W^O, which stands the wrong way round: with words in rows, "
            "`w_output` must be transposed like the others.",
            probe=deviates("output-map-not-transposed"),
        ),
        Mistake(
            name="input-added",
            message="x itself was added at the end. A block of a Transformer does that (chapter 8); here "
            "only what the heads have read is asked for.",
            probe=deviates("input-added"),
        ),
        Mistake(
            name="hidden-words-still-read",
            message="A word that the mask hides still changes the output of those from whom it is hidden. "
            "Hidden scores must become −∞ (any other number leaves a weight), and each word's numbers must "
            "stay with it.",
            probe=reads_hidden,
        ),
    ),
)
