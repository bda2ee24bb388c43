"""Exercise 11.6: The k likeliest words."""

from __future__ import annotations

import torch

from transformer_lib.exercises.chapter_11.shared import result_is
from transformer_lib.exercises.exercise import Exercise, Mistake


def top_k(logits, k):
    lowest = logits.topk(k, dim=-1).values[:, -1:]  # the logit of the k-th place
    return torch.softmax(logits.masked_fill(logits < lowest, float("-inf")), dim=-1)


def _cases(generator: torch.Generator) -> list[tuple]:
    def draw(B, V, k):
        return 2 * torch.randn(B, V, generator=generator), k

    ties = torch.tensor([[1.0, 3.0, 2.0, 2.0, 0.5], [0.0, 1.0, 2.5, -1.0, 2.5]])
    return [draw(2, 5, 2), (ties, 2), draw(3, 7, 1), draw(2, 11, 11), draw(5, 13, 3)]


def _keep(kept, finish=lambda logits, kept: logits.masked_fill(~kept, float("-inf")).softmax(-1)):
    return lambda logits, k: finish(logits, kept(logits, k))


def _right(logits, k):
    return logits >= logits.topk(k).values[:, -1:]


def _first_k(logits, k):
    return torch.zeros_like(logits, dtype=torch.bool).scatter(-1, logits.topk(k).indices, True)


def _below(logits, k):
    values = logits.sort(-1, descending=True).values
    return logits >= values[:, min(k, values.shape[-1] - 1)].unsqueeze(-1)


def _above(logits, k):
    return logits > logits.topk(k).values[:, -1:]


def _lowest(logits, k):
    return logits <= (-logits).topk(k).values.neg()[:, -1:]


def _whole_batch(logits, k):
    return logits >= logits.flatten().topk(k).values[-1]


TOP_K = Exercise(
    id="11.6",
    title="The k likeliest words",
    kind="write",
    difficulty="easy",
    minutes=10,
    statement=r"""
`logits` of shape `(B, V)` scores the next word of `B` texts. Keep the `k` words with the highest logits of
each text and forget the others. Return **probabilities** of shape `(B, V)`: the softmax over the words that
are kept, and exactly 0 for all others. If several words share the k-th place, with exactly the same logit,
all of those are kept. `k` lies between 1 and `V`.
""",
    stub='''import torch


def top_k(logits, k):
    """Probabilities of the k likeliest words of each row, 0 for the others: (B, V)."""
    raise NotImplementedError
''',
    reference=top_k,
    cases=_cases,
    hints=(
        "`logits.topk(k)` gives the k highest of each row, sorted. Which of them is the bar to clear?",
        "What must a logit become so that its softmax is 0? (Chapter 6 did it to the future.)",
        "Compare with the k-th value by `<`, so that equal ones stay, and take the softmax last.",
    ),
    mistakes=(
        Mistake(
            name="complement-kept",
            message="The words outside the best k were kept, and the best were thrown away.",
            probe=result_is(
                _keep(lambda z, k: ~_right(z, k)),
                _keep(lambda z, k: ~_right(z, k), lambda z, kept: z.softmax(-1) * kept),
            ),
        ),
        Mistake(
            name="lowest-kept",
            message="These are the k *least* likely words: the order of the sort is the wrong way round.",
            probe=result_is(_keep(_lowest)),
        ),
        Mistake(
            name="one-too-many",
            message="k + 1 words are kept: the bar is the logit of the place after the k-th.",
            probe=result_is(_keep(_below), _keep(lambda z, k: _first_k(z, min(k + 1, z.shape[-1])))),
        ),
        Mistake(
            name="one-too-few",
            message="One word too few is kept: the word at the bar itself belongs to the k likeliest.",
            probe=result_is(
                _keep(_above),
                _keep(lambda z, k: _first_k(z, k - 1)),
                _keep(lambda z, k: _first_k(z, max(k - 1, 1))),
            ),
        ),
        Mistake(
            name="not-renormalised",
            message="The rows sum to {row_sums}: the softmax was taken over all words, and what was thrown "
            "away is missing. What is kept must sum to 1.",
            probe=result_is(
                _keep(_right, lambda z, kept: z.softmax(-1) * kept),
                _keep(_first_k, lambda z, kept: z.softmax(-1) * kept),
            ),
        ),
        Mistake(
            name="zero-for-minus-infinity",
            message="The forgotten words have probability left. Their logits were set to 0, and "
            "exp(0) = 1: a logit of 0 is an ordinary logit.",
            probe=result_is(
                _keep(_right, lambda z, kept: (z * kept).softmax(-1)),
                _keep(_first_k, lambda z, kept: (z * kept).softmax(-1)),
            ),
        ),
        Mistake(
            name="softmax-twice",
            message="A softmax of probabilities: what was kept goes through the softmax a second time, "
            "which makes it flat.",
            probe=result_is(
                _keep(_right, lambda z, kept: z.softmax(-1).masked_fill(~kept, float("-inf")).softmax(-1)),
                _keep(_right, lambda z, kept: (z.softmax(-1) * kept).softmax(-1)),
            ),
        ),
        Mistake(
            name="divided-by-logits",
            message="The logits themselves were made to sum to 1. The softmax takes exponentials first.",
            probe=result_is(_keep(_right, lambda z, kept: z * kept / (z * kept).sum(-1, keepdim=True))),
        ),
        Mistake(
            name="equal-shares",
            message="Each word that is kept got the same share. The softmax keeps their order.",
            probe=result_is(_keep(_right, lambda z, kept: kept / kept.sum(-1, keepdim=True))),
        ),
        Mistake(
            name="whole-batch",
            message="The k best of the whole batch were kept. Each text has k of its own.",
            probe=result_is(_keep(_whole_batch), _keep(lambda z, k: z >= z.topk(k).values[:, -1].min())),
        ),
        Mistake(
            name="logits-returned",
            message="These are the filtered logits. Asked for are the probabilities.",
            probe=result_is(_keep(_right, lambda z, kept: z.masked_fill(~kept, float("-inf")))),
        ),
        Mistake(
            name="nothing-forgotten",
            message="All words are kept: this is the plain softmax.",
            probe=result_is(lambda logits, k: logits.softmax(-1)),
        ),
        Mistake(
            name="softmax-over-the-batch",
            message="The softmax runs over the texts: the columns sum to 1. It belongs over the words of "
            "each text.",
            probe=result_is(
                _keep(_right, lambda z, kept: z.masked_fill(~kept, float("-inf")).softmax(0)),
                _keep(_right, lambda z, kept: z.masked_fill(~kept, float("-inf")).softmax(0).nan_to_num()),
            ),
        ),
        Mistake(
            name="ties-broken",
            message="Right, except where several words share the k-th place: all of those stay.",
            probe=result_is(_keep(_first_k)),
        ),
    ),
)
