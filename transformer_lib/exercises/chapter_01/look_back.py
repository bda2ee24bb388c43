"""Exercise 1.2: The decoder looks back."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from transformer_lib.exercises.attention_probes import Probe, near, other_scale, sums_to_one, temperature
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

    Raises:
        ValueError: it does not return a weighted sum of the states, so that there are no weights to see.
    """
    generator = torch.Generator().manual_seed(11)
    states = torch.cat([torch.eye(5).expand(3, 5, 5), torch.randn(3, 5, 2, generator=generator)], -1)
    s = torch.randn(3, 7, generator=generator)
    out = attempt.call(s, states)
    if out.shape != (3, 7):
        raise ValueError(f"the output has shape {tuple(out.shape)}")
    out = out.detach().double()
    if not near(out[:, 5:], (out[:, :5, None] * states[..., 5:]).sum(1)):
        raise ValueError("the output is no weighted sum of the states")
    return out[:, :5], _scores(s, states).double()


def _uses(weights_of: Callable[[Tensor], Tensor]) -> Probe:
    def probe(attempt: Attempt) -> bool:
        weights, scores = _weights(attempt)
        return near(weights, weights_of(scores))

    return probe


def _shares_shrunk(attempt: Attempt) -> bool:
    """Whether the weights are those of the softmax times one number."""
    weights, scores = _weights(attempt)
    total = weights.sum(1, keepdim=True)
    one_factor = bool((total - total[0]).abs().max() < 1e-3) and not near(total, torch.ones_like(total))
    return one_factor and bool(total.abs().min() > 1e-2) and near(weights / total, scores.softmax(1))


def _shares_of_no_whole(attempt: Attempt) -> bool:
    """Whether a weighted average of the states comes back whose weights do not sum to 1."""
    weights, scores = _weights(attempt)
    kept = weights[weights != 0] / scores.softmax(1)[weights != 0]
    dropped = kept.numel() < weights.numel() and near(kept, kept[:1].expand_as(kept))  # dropout: at random
    return not sums_to_one(weights, 1) and not dropped


def _changes_with(position: int) -> Probe:
    """A probe: what a sentence reads changes when this argument is changed for all other sentences."""

    def probe(attempt: Attempt) -> bool:
        args, expected = attempt.cases[1].args, attempt.cases[1].expected
        before = attempt.call(*args)
        if not isinstance(before, Tensor) or before.shape != expected.shape:
            return False
        for own in range(len(expected)):
            changed = [arg.clone() for arg in args]
            changed[position] = 0.5 - changed[position].flip(1)
            changed[position][own] = args[position][own]
            if not near(attempt.call(*changed)[own], before[own]):
                return True
        return False

    return probe


def _every_pair(s: Tensor, states: Tensor) -> Tensor:
    """Every decoder state with every sentence: (B, B, H)."""
    return (s @ states.mT).softmax(-1) @ states


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
            name="every-pair-of-sentences",
            message="Every decoder state was compared with every sentence of the batch: shape {got_shape}. "
            "The first decoder state belongs to the first sentence alone, and so on.",
            probe=gives(_every_pair, lambda s, h: _every_pair(s, h).transpose(0, 1)),
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
            name="softmax-before-the-sum",
            message="The softmax was taken of the products entry by entry. A score is *one* number for each "
            "word: the products are summed over H first.",
            probe=gives(
                lambda s, h: ((s[:, None] * h).softmax(1) * h).sum(1),
                lambda s, h: ((s[:, None] * h).softmax(2) * h).sum(1),
            ),
        ),
        Mistake(
            name="softmax-twice",
            message="The softmax was taken twice. The second one gets numbers between 0 and 1, which makes "
            "the shares nearly equal.",
            probe=_uses(lambda scores: scores.softmax(1).softmax(1)),
        ),
        Mistake(
            name="log-softmax",
            message="The states were summed with the *logarithms* of the shares, which are negative.",
            probe=_uses(lambda scores: scores.log_softmax(1)),
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
            name="signs-turned",
            message="The word that fits *worst* gets the largest share: the scores go into the softmax "
            "with the wrong sign.",
            probe=lambda attempt: temperature(*_weights(attempt)) < 0,
        ),
        Mistake(
            name="scaled",
            message="The shares are a softmax, but not of the bare scores: these were divided or multiplied "
            "by something first, as by √H. That is the subject of chapter 3; this exercise asks for the "
            "formula without scale.",
            probe=lambda attempt: (
                other_scale(*_weights(attempt)) and abs(temperature(*_weights(attempt)) - 1) > 0.02
            ),
        ),
        Mistake(
            name="shares-shrunk",
            message="What came is {ratio} times what is read: something multiplied or divided it after the "
            "softmax. A `mean` over the words, for instance, divides by their number once more.",
            probe=_shares_shrunk,
        ),
        Mistake(
            name="decoder-state-added",
            message="What is read is right, but the decoder's state was added or joined to it. The exercise "
            "asks for what is read alone.",
            probe=gives(
                lambda s, states: look_back(s, states) + s,
                lambda s, states: torch.cat([look_back(s, states), s], -1),
                lambda s, states: torch.cat([s, look_back(s, states)], -1),
            ),
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
            name="last-state-only",
            message="This is the encoder's last state, whatever the scores are. That is what decoders had "
            "to live on before there was attention; here they read from all states.",
            probe=gives(lambda s, states: states[:, -1]),
        ),
        Mistake(
            name="reads-other-sentences",
            message="What a sentence reads changes when only the *other* sentences of the batch "
            "change. Each decoder state belongs to its own sentence.",
            probe=_changes_with(1),
        ),
        Mistake(
            name="asks-for-other-sentences",
            message="What is read from a sentence changes with the decoder's state of *another* one. Each "
            "decoder state belongs to its own sentence.",
            probe=_changes_with(0),
        ),
        Mistake(
            name="shares-of-no-whole",
            message="What comes back is a weighted sum of the states, but the shares of one sentence do not "
            "sum to 1. Over which axis does the softmax run, and does anything change the shares after it?",
            probe=_shares_of_no_whole,
        ),
    ),
)
