"""Exercise 1.2: The decoder looks back."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from transformer_lib.exercises.attention_probes import Probe, near
from transformer_lib.exercises.chapter_01.shared import gives
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def look_back(s, states):
    scores = torch.einsum("bh,bth->bt", s, states)
    weights = torch.softmax(scores, dim=1)
    return torch.einsum("bt,bth->bh", weights, states)


def _cases(generator: torch.Generator) -> list[tuple]:
    sizes = ((2, 3, 5), (5, 7, 3), (3, 11, 2))
    return [
        tuple(torch.randn(shape, generator=generator) for shape in ((B, H), (B, T, H))) for B, T, H in sizes
    ]


def _scores(s: Tensor, states: Tensor) -> Tensor:
    return (states @ s[:, :, None])[..., 0]


def _with(weights: Callable[[Tensor, Tensor], Tensor]) -> Callable:
    """Attention whose weights (B, T) are this function of the scores (B, T) and of s."""
    return lambda s, states: (weights(_scores(s, states), s)[..., None] * states).sum(1)


def _weights(attempt: Attempt) -> tuple[Tensor, Tensor]:
    """The weights that the learner's function uses, and the scores, both (3, 5).

    The states begin with a unit matrix, so that what is read begins with the weights.
    """
    generator = torch.Generator().manual_seed(11)
    states = torch.cat([torch.eye(5).expand(3, 5, 5), torch.randn(3, 5, 2, generator=generator)], -1)
    s = torch.randn(3, 7, generator=generator)
    out = attempt.call(s, states)
    if out.shape != (3, 7):
        raise ValueError(f"the output has shape {tuple(out.shape)}")
    return out[:, :5], _scores(s, states)


def _uses(weights_of: Callable[[Tensor], Tensor]) -> Probe:
    def probe(attempt: Attempt) -> bool:
        weights, scores = _weights(attempt)
        return near(weights, weights_of(scores))

    return probe


def _reads_other_sentences(attempt: Attempt) -> bool:
    """Whether what one sentence reads changes with the states of another."""
    s, states = attempt.cases[1].args
    other = states.clone()
    other[1:] = 0.5 - other[1:].flip(1)
    return not near(attempt.call(s, states)[0], attempt.call(s, other)[0])


def _all_sentences_as_one(s: Tensor, states: Tensor) -> Tensor:
    flat = states.flatten(0, 1)
    return torch.softmax(s @ flat.T, dim=-1) @ flat


LOOK_BACK = Exercise(
    id="1.2",
    title="The decoder looks back",
    kind="write",
    difficulty="easy",
    minutes=10,
    statement=r"""
Write one step of the last lecture's attention, for a batch of `B` sentences at once. `s` of shape `(B, H)`
holds the decoder's state for each sentence. `states` of shape `(B, T, H)` holds the encoder's states, one
for each of the `T` words. Score each word of a sentence by the dot product with the decoder's state, turn
the scores of that sentence into shares by a softmax over its words, and return what the decoder reads: the
average of the encoder's states with these shares, of shape `(B, H)`. There is no scale. Sentences must not
read from each other. All sizes can differ.
""",
    stub='''import torch


def look_back(s, states):
    """What the decoder reads: s (B, H), states (B, T, H); returns (B, H)."""
    raise NotImplementedError
''',
    reference=look_back,
    cases=_cases,
    hints=(
        "Three lines: scores `(B, T)`, weights `(B, T)`, what is read `(B, H)`.",
        '`torch.einsum("bh,bth->bt", s, states)` multiplies each decoder state with each word of its own '
        "sentence. `(s[:, None] * states).sum(-1)` does the same.",
        "The softmax runs over the words: `dim=1` of the scores. The last line is the second `einsum`, or "
        "a weighted sum over the same axis.",
    ),
    mistakes=(
        Mistake(
            name="weights-returned",
            message="These are the weights: a share for each word, shape {got_shape}. What the decoder "
            "reads with them has shape {expected_shape}.",
            probe=gives(lambda s, h: _scores(s, h).softmax(1)),
        ),
        Mistake(
            name="scores-returned",
            message="These are the scores, shape {got_shape}. They still have to become shares, and then "
            "something has to be read with them.",
            probe=gives(_scores),
        ),
        Mistake(
            name="all-sentences-as-one",
            message="Each decoder state reads from the words of *all* sentences of the batch, as if they "
            "were one long text. Keep the axis `B` in front.",
            variant=_all_sentences_as_one,
        ),
        Mistake(
            name="softmax-over-the-batch",
            message="The shares of one word sum to 1 over the *sentences* of the batch. They should sum "
            "to 1 over the words of one sentence: which axis of the scores is that?",
            variant=_with(lambda scores, s: scores.softmax(0)),
            probe=_uses(lambda scores: scores.softmax(0)),
        ),
        Mistake(
            name="softmax-of-single-numbers",
            message="Every word gets the share 1, so the states are added up. That happens when the "
            "softmax runs along an axis with one entry: it must run over the words.",
            variant=_with(lambda scores, s: torch.ones_like(scores)),
        ),
        Mistake(
            name="no-exponential",
            message="The scores are divided by their sum, without the exponential. Shares made that way "
            "can be negative.",
            probe=_uses(lambda scores: scores / scores.sum(1, keepdim=True)),
        ),
        Mistake(
            name="not-normalised",
            message="The exponentials of the scores are used as they are. A share is a part of 1: divide "
            "by the sum over the words of the sentence.",
            probe=_uses(torch.exp),
        ),
        Mistake(
            name="no-softmax",
            message="The states are multiplied by the bare scores. Between the scores and the sum stands "
            "the softmax.",
            probe=_uses(lambda scores: scores),
        ),
        Mistake(
            name="plain-average",
            message="Every word gets the same share, whatever the decoder's state is. Where does `s` enter?",
            probe=_uses(lambda scores: torch.full_like(scores, 1 / scores.shape[1])),
        ),
        Mistake(
            name="best-match-only",
            message="Only the best match is read. Attention reads a share of *every* word; the best match "
            "merely gets the largest.",
            probe=_uses(lambda scores: (scores == scores.amax(1, keepdim=True)).float()),
        ),
        Mistake(
            name="scaled",
            message="The scores are divided by √H. That is the subject of chapter 3; this exercise asks "
            "for the formula without scale.",
            probe=_uses(lambda scores: (scores / math.sqrt(7)).softmax(1)),
        ),
        Mistake(
            name="signs-turned",
            message="The word that fits *worst* gets the largest share: the scores go into the softmax "
            "with the wrong sign.",
            probe=_uses(lambda scores: (-scores).softmax(1)),
        ),
        Mistake(
            name="decoder-state-added",
            message="What is read is right, but the decoder's state was added to it. The exercise asks "
            "for what is read alone.",
            probe=gives(lambda s, states: look_back(s, states) + s),
        ),
        Mistake(
            name="words-and-features-mixed",
            message="The shape is right, but the axes of `states` were rearranged by `reshape` or `view`: "
            "that keeps the numbers in their order and mixes words with features. `transpose` swaps two "
            "axes.",
            probe=gives(
                lambda s, h: ((s[:, None] @ h.reshape(len(h), h.shape[2], h.shape[1])).softmax(-1) @ h)[:, 0],
                lambda s, h: (
                    h.reshape(len(h), h.shape[2], h.shape[1]) @ _scores(s, h).softmax(1)[..., None]
                )[..., 0],
            ),
        ),
        Mistake(
            name="reads-other-sentences",
            message="What the first sentence reads changes when only the *other* sentences of the batch "
            "change. Each decoder state belongs to its own sentence.",
            probe=_reads_other_sentences,
        ),
    ),
)
