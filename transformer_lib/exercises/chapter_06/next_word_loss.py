"""Exercise 6.7: The loss of the next word."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_lib.exercises.attention_probes import Probe
from transformer_lib.exercises.chapter_06.shared import padded_ids
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def next_word_loss(logits, ids, pad_id):
    answers, wanted = logits[:, :-1], ids[:, 1:]
    real = wanted != pad_id
    return F.cross_entropy(answers[real], wanted[real])


def _texts(generator: torch.Generator) -> list[tuple]:
    """Logits of 13 words for texts with padding; the padding is 0 in the first only."""

    def text(B, T, pad_id, lengths):
        ids = padded_ids(B, T, pad_id, lengths, generator)
        ids[:, 1] = 3 if pad_id == 0 else 0  # where the padding is another word, 0 is a word to predict
        return 2 * torch.randn(B, T, 13, generator=generator), ids, pad_id

    return [text(2, 3, 0, [3, 2]), text(3, 7, 5, [7, 2, 4]), text(5, 11, 7, [3, 11, 5, 7, 2])]


def _losses(logits: Tensor, targets: Tensor) -> Tensor:
    """The loss at every place, (B, T)."""
    return F.cross_entropy(logits.transpose(1, 2), targets, reduction="none")


def _mean(losses: Tensor, counted: Tensor) -> Tensor:
    return losses[counted].mean()


def _loss_is(*formulas: Callable[[Tensor, Tensor, int], Tensor]) -> Probe:
    """A probe: on every case the result is one and the same of these functions."""

    def near(got, formula, args) -> bool:
        value = torch.as_tensor(got).double()
        return value.dim() == 0 and abs(value - formula(*args).double()) < 1e-4 * (1 + abs(value))

    def probe(attempt: Attempt) -> bool:
        return any(all(near(c.got, formula, c.args) for c in attempt.cases) for formula in formulas)

    return probe


def _right(finish: Callable = lambda losses, real: _mean(losses, real), change: Callable = lambda z: z):
    """The right formula with one thing changed: the logits, or what is made of the losses."""

    def formula(logits, ids, pad_id):
        return finish(_losses(change(logits[:, :-1]), ids[:, 1:]), ids[:, 1:] != pad_id)

    return formula


def _everywhere(losses: Tensor, real: Tensor) -> Tensor:
    return losses.mean()


def _at(answers: slice, targets: slice):
    """Losses of some places against the words of others, without and with padding counted."""
    return tuple(
        lambda logits, ids, pad_id, every=every: (
            _losses(logits[:, answers], ids[:, targets]).mean()
            if every
            else _mean(_losses(logits[:, answers], ids[:, targets]), ids[:, targets] != pad_id)
        )
        for every in (False, True)
    )


def _wrapped(every: bool):
    def formula(logits, ids, pad_id):
        targets = ids.roll(-1, 1)
        losses = _losses(logits, targets)
        return losses.mean() if every else _mean(losses, targets != pad_id)

    return formula


def _real_inputs(logits, ids, pad_id):
    return _mean(_losses(logits[:, :-1], ids[:, 1:]), ids[:, :-1] != pad_id)


def _zero_left_out(logits, ids, pad_id):
    return _mean(_losses(logits[:, :-1], ids[:, 1:]), ids[:, 1:] != 0)


def _bare_logits(every: bool):
    def formula(logits, ids, pad_id):
        taken = -logits[:, :-1].gather(-1, ids[:, 1:, None])[..., 0]
        return taken.mean() if every else _mean(taken, ids[:, 1:] != pad_id)

    return formula


def _over_borders(logits, ids, pad_id):
    """The shift after all texts were put behind one another."""
    wanted = ids.flatten()[1:]
    return _mean(_losses(logits.flatten(0, 1)[None, :-1], wanted[None])[0], wanted != pad_id)


def _next_text(logits, ids, pad_id):
    return _mean(_losses(logits[:-1], ids[1:]), ids[1:] != pad_id)


def _reshaped(logits, ids, pad_id):
    (B, T, V), wanted = logits.shape, ids[:, 1:]
    taken = logits[:, :-1].reshape(B, V, T - 1)
    return F.cross_entropy(taken, wanted, reduction="none")[wanted != pad_id].mean()


_ALL = slice(None)

LOSS = Exercise(
    id="6.7",
    title="The loss of the next word",
    kind="write",
    difficulty="medium",
    minutes=12,
    statement=r"""
A masked language model has read `ids` of shape `(B, T)`: `B` texts, filled up with `pad_id` on the right.
Its `logits` have shape `(B, T, V)`: `logits[b, t]` is its answer at place `t`, where it has read the words
0 to `t`, to the question which word comes **next** (scores of all `V` words, before a softmax). Return its
loss: the cross-entropy $-\ln p(\text{right word})$ in nats, **averaged over all places whose next word
exists and is no padding**, all texts together. The result is one number.
""",
    stub='''import torch
import torch.nn.functional as F


def next_word_loss(logits, ids, pad_id):
    """Mean loss of the next word: logits (B, T, V), ids (B, T); returns one number."""
    raise NotImplementedError
''',
    reference=next_word_loss,
    cases=_texts,
    hints=(
        "For a text of 5 words, which answers have a right word to compare with? Which words are right "
        "answers?",
        "`F.cross_entropy` takes logits, not probabilities. It wants them as (places, V), and the words as "
        "(places,).",
        "Leave out the places whose *next* word is padding: with a boolean index, or `ignore_index`.",
    ),
    mistakes=(
        Mistake(
            name="target-not-shifted",
            message="Each answer is compared with the word that stands at the *same* place, which the "
            "model has just read. Trained so, it learns to repeat its last word: the loss goes to "
            "0, and when it writes, it repeats one word for ever.",
            probe=_loss_is(
                *_at(_ALL, _ALL), *_at(slice(-1), slice(-1)), *_at(slice(1, None), slice(1, None))
            ),
        ),
        Mistake(
            name="shifted-backwards",
            message="The shift goes the wrong way: each answer is compared with the word *before*. The "
            "model has read that word already.",
            probe=_loss_is(*_at(slice(1, None), slice(-1))),
        ),
        Mistake(
            name="wrapped-around",
            message="`roll` wraps around: the last answer of each text is compared with the *first* word "
            "of the text. After the last word nothing is known; that place does not count.",
            probe=_loss_is(_wrapped(True), _wrapped(False)),
        ),
        Mistake(
            name="shifted-after-flattening",
            message="All texts were put behind one another before the shift: the last answer of each text is "
            "compared with the first word of the *next* text. Shift along the axis of the words first.",
            probe=_loss_is(_over_borders),
        ),
        Mistake(
            name="next-text",
            message="The shift goes along the axis of the texts: the answers to one text are compared with "
            "the words of the next. Places are the second axis.",
            probe=_loss_is(_next_text),
        ),
        Mistake(
            name="shifted-twice",
            message="The shift is two places: each answer is compared with the word after the next.",
            probe=_loss_is(*_at(slice(-2), slice(2, None))),
        ),
        Mistake(
            name="last-place-only",
            message="Only the last answer of each text was counted. Every place gives an answer, and all "
            "but the last have a right word to compare with.",
            probe=_loss_is(
                *_at(slice(-2, -1), slice(-1, None)),
                *_at(slice(-1, None), slice(-1, None)),
            ),
        ),
        Mistake(
            name="logits-reshaped",
            message="`cross_entropy` takes axis 1 for the V words, and the logits were brought there by "
            "`view` or `reshape`. That leaves the numbers in their order and mixes places with words. An "
            "axis must change places.",
            probe=_loss_is(_reshaped),
        ),
        Mistake(
            name="softmax-before-cross-entropy",
            message="The logits went through a softmax first. `cross_entropy` takes logits and does that "
            "itself; fed with probabilities, the loss can never come near 0.",
            probe=_loss_is(
                _right(change=lambda z: z.softmax(-1)), _right(_everywhere, change=lambda z: z.softmax(-1))
            ),
        ),
        Mistake(
            name="softmax-missing",
            message="The logits themselves were averaged: there is no softmax and no logarithm. "
            "(`nll_loss` wants logarithms of probabilities, `cross_entropy` wants logits.)",
            probe=_loss_is(_bare_logits(False), _bare_logits(True)),
        ),
        Mistake(
            name="classes-on-another-axis",
            message="It stops: “{error}”. For logits (B, T, V), `cross_entropy` takes axis 1 for the V "
            "words. Flatten both to a list of places, or swap the axes.",
            probe=lambda attempt: any("xpected target size" in str(case.error) for case in attempt.cases),
        ),
        Mistake(
            name="padding-counted",
            message="The padding counts as a word to be predicted. It is easily predicted, so that in real "
            "training the loss would look better than it is, and the model would be trained to "
            "write padding.",
            probe=_loss_is(_right(_everywhere)),
        ),
        Mistake(
            name="padding-in-the-count",
            message="The padding's losses are left out of the sum, but its places still count in the "
            "number by which it is divided: the loss comes out {ratio} times what it should be.",
            probe=_loss_is(
                _right(lambda losses, real: (losses * real).sum() / real.numel()),
                lambda logits, ids, pad_id: (
                    (_losses(logits[:, :-1], ids[:, 1:]) * (ids[:, 1:] != pad_id)).sum() / ids.numel()
                ),
            ),
        ),
        Mistake(
            name="padding-of-the-wrong-word",
            message="The places left out are those where the word that was *read* is padding. So the last "
            "word of a short text is still asked for the padding behind it. It is the *next* word "
            "that must be real.",
            probe=_loss_is(_real_inputs),
        ),
        Mistake(
            name="pad-id-not-used",
            message="The word 0 is left out, whatever `pad_id` is. With another padding that drops a real "
            "word and counts the padding.",
            probe=_loss_is(_zero_left_out),
        ),
        Mistake(
            name="mean-of-means",
            message="First the mean of each text was taken, then the mean of those. A word in a short text "
            "then counts more than one in a long text.",
            probe=_loss_is(_right(lambda losses, real: ((losses * real).sum(-1) / real.sum(-1)).mean())),
        ),
        Mistake(
            name="sum-for-mean",
            message="The losses were added up, not averaged: the result grows with the number of words.",
            probe=_loss_is(
                _right(lambda losses, real: losses[real].sum()),
                _right(lambda losses, real: losses[real].sum() / len(losses)),
            ),
        ),
        Mistake(
            name="sign-missing",
            message="The sign is the wrong way round: logarithms of probabilities are negative, the loss "
            "is not.",
            probe=_loss_is(_right(lambda losses, real: -losses[real].mean())),
        ),
        Mistake(
            name="exponential-of-the-loss",
            message="This is the exponential of the loss (the *perplexity*). Asked for is the loss itself, "
            "in nats.",
            probe=_loss_is(_right(lambda losses, real: losses[real].mean().exp())),
        ),
        Mistake(
            name="in-bits",
            message="The logarithm has base 2: the loss comes out in bits, 1.44 times too large. Nats use "
            "the natural logarithm.",
            probe=_loss_is(_right(lambda losses, real: losses[real].mean() / math.log(2))),
        ),
        Mistake(
            name="probabilities-averaged",
            message="The probabilities were averaged. The logarithm is taken of each one first, then the "
            "mean.",
            probe=_loss_is(
                _right(lambda losses, real: (-losses[real]).exp().mean()),
                _right(lambda losses, real: -(-losses[real]).exp().mean()),
                _right(lambda losses, real: -(-losses[real]).exp().mean().log()),
                _right(lambda losses, real: 1 - (-losses[real]).exp().mean()),
            ),
        ),
    ),
)
