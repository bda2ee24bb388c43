"""Exercise 9.5: Padding teaches nothing."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from transformer_lib.exercises.exercise import Exercise, Mistake


def loss_without_pads(logits, wanted, pad_id):
    log_p = torch.log_softmax(logits, dim=-1)
    loss = -log_p.gather(-1, wanted[..., None])[..., 0]
    real = wanted != pad_id
    return loss[real].mean()


def _batches(generator: torch.Generator) -> list[tuple]:
    cases = []
    for B, T, V, pad in ((2, 3, 5, 0), (3, 5, 7, 2), (5, 11, 13, 4)):
        wanted = torch.randint(0, V - 1, (B, T), generator=generator)
        wanted += (wanted >= pad).long()  # any word but the padding
        lengths = torch.tensor([max(1, T - 2 * b) for b in range(B)])
        wanted[torch.arange(T) >= lengths[:, None]] = pad
        cases.append((2 * torch.randn(B, T, V, generator=generator), wanted, pad))
    return cases


def _losses(logits, wanted):
    return -torch.log_softmax(logits, -1).gather(-1, wanted[..., None])[..., 0]


def _softmax_first(logits, wanted, pad_id):
    return F.cross_entropy(logits.softmax(-1).flatten(0, 1), wanted.flatten(), ignore_index=pad_id)


def _log_softmax_over(axis):
    def variant(logits, wanted, pad_id):
        log_p = torch.log_softmax(logits, axis)
        return -log_p.gather(-1, wanted[..., None])[..., 0][wanted != pad_id].mean()

    return variant


def _by_sentence(logits, wanted, pad_id):
    real = wanted != pad_id
    return ((_losses(logits, wanted) * real).sum(1) / real.sum(1)).mean()


def _mixed(logits, wanted, pad_id):
    B, T, V = logits.shape
    return F.cross_entropy(logits.reshape(B, V, T), wanted, ignore_index=pad_id)


def _read(logits, wanted):
    return logits.gather(-1, wanted[..., None])[..., 0]


LOSS = Exercise(
    id="9.5",
    title="Padding teaches nothing",
    kind="write",
    difficulty="medium",
    minutes=10,
    statement=r"""
`logits` of shape `(B, T, V)` are a decoder's scores for each of `V` words at each place, as they come, before
any softmax. `wanted` of shape `(B, T)` holds the ids that should be written there, filled up with `pad_id`.
Return the loss, a single number: the mean over all **real** words of the batch of

$$-\ln p(\text{the wanted word}), \qquad p = \operatorname{softmax}(\text{logits over the } V \text{
words}).$$

Places where `wanted` is `pad_id` must not count at all. Every real word of the batch counts the same, in
whatever sentence it stands. There is at least one.
""",
    stub='''import torch


def loss_without_pads(logits, wanted, pad_id):
    """Mean of −ln p(wanted word) over the places that are not padding: a single number."""
    raise NotImplementedError
''',
    reference=loss_without_pads,
    cases=_batches,
    hints=(
        "First compute −ln p for every place, shape `(B, T)`; then choose the places that count.",
        "`torch.log_softmax(logits, dim=-1)` gives ln p of every word; `gather` picks the wanted one.",
        "`loss[wanted != pad_id]` keeps the real places, as one long row. Its mean is the answer.",
    ),
    mistakes=(
        Mistake(
            name="padding-counted",
            message="Padding counts like a word: {got_value} came, {expected_value} was expected. The model "
            "would be praised for predicting padding, the easiest thing of all.",
            variant=lambda logits, wanted, pad_id: _losses(logits, wanted).mean(),
        ),
        Mistake(
            name="divided-by-all-places",
            message="Padding adds nothing, but it is still counted when you divide. The more padding a batch "
            "has, the smaller its loss: {got_value} instead of {expected_value}.",
            variant=lambda logits, wanted, pad_id: (_losses(logits, wanted) * (wanted != pad_id)).mean(),
        ),
        Mistake(
            name="only-padding-counted",
            message="The mask is upside down: only the padding counts.",
            variant=lambda logits, wanted, pad_id: _losses(logits, wanted)[wanted == pad_id].mean(),
        ),
        Mistake(
            name="zero-taken-for-padding",
            message="Places with the id 0 are left out. What padding is, `pad_id` says; 0 may be a word.",
            variant=lambda logits, wanted, pad_id: _losses(logits, wanted)[wanted != 0].mean(),
        ),
        Mistake(
            name="summed-not-averaged",
            message="The losses are added up. The mean does not depend on how many words a batch has.",
            variant=lambda logits, wanted, pad_id: _losses(logits, wanted)[wanted != pad_id].sum(),
        ),
        Mistake(
            name="summed-over-the-words",
            message="The losses of a sentence are added up and then averaged over the sentences. Asked "
            "for is "
            "the mean over the words.",
            variant=lambda logits, wanted, pad_id: (
                (_losses(logits, wanted) * (wanted != pad_id)).sum() / len(logits)
            ),
        ),
        Mistake(
            name="mean-of-sentences",
            message="Each sentence is averaged by itself, and then the sentences: a word in a short sentence "
            "counts more than one in a long sentence. Every word should count the same.",
            variant=_by_sentence,
        ),
        Mistake(
            name="softmax-before-cross-entropy",
            message="There are two softmaxes: `cross_entropy` and `log_softmax` have one inside. Given "
            "probabilities instead of logits, the loss can never get small, however good the model is.",
            variant=_softmax_first,
        ),
        Mistake(
            name="no-softmax",
            message="The logits themselves are averaged. They are no logarithms of probabilities yet.",
            variant=lambda logits, wanted, pad_id: -_read(logits, wanted)[wanted != pad_id].mean(),
        ),
        Mistake(
            name="no-logarithm",
            message="These are probabilities, without a logarithm.",
            variant=lambda logits, wanted, pad_id: (
                -_read(logits.softmax(-1), wanted)[wanted != pad_id].mean()
            ),
            probe=lambda attempt: all(
                abs(abs(float(case.got)) - p) < 1e-4 or abs(1 - float(case.got) - p) < 1e-4
                for case in attempt.cases
                for p in [
                    float(_read(case.args[0].softmax(-1), case.args[1])[case.args[1] != case.args[2]].mean())
                ]
            ),
        ),
        Mistake(
            name="logarithm-of-the-mean",
            message="First the probabilities are averaged, then the logarithm is taken. It is the logarithms "
            "that are averaged: one hopeless word must cost much.",
            variant=lambda logits, wanted, pad_id: (
                -_read(logits.softmax(-1), wanted)[wanted != pad_id].mean().log()
            ),
        ),
        Mistake(
            name="sign-forgotten",
            message="The sign is missing: ln p is negative, and the loss is −ln p.",
            variant=lambda logits, wanted, pad_id: -_losses(logits, wanted)[wanted != pad_id].mean(),
        ),
        Mistake(
            name="best-word-rewarded",
            message="This takes the likeliest word of each place, whatever was wanted.",
            variant=lambda logits, wanted, pad_id: -logits.log_softmax(-1).amax(-1)[wanted != pad_id].mean(),
        ),
        Mistake(
            name="softmax-over-places",
            message="The softmax runs over the places of a sentence. At each place, the *words* share 1.",
            variant=_log_softmax_over(1),
        ),
        Mistake(
            name="softmax-over-the-batch",
            message="The softmax runs over the sentences. At each place, the *words* share 1.",
            variant=_log_softmax_over(0),
        ),
        Mistake(
            name="axes-reshaped",
            message="The logits were brought into the shape `(B, V, T)` by `reshape` or `view`: the "
            "numbers keep "
            "their order, and places and words are mixed. `transpose(1, 2)` swaps the axes.",
            variant=_mixed,
        ),
        Mistake(
            name="in-bits",
            message="The logarithm has base 2. Asked for is the natural one.",
            variant=lambda logits, wanted, pad_id: (
                _losses(logits, wanted)[wanted != pad_id].mean() / torch.log(torch.tensor(2.0))
            ),
        ),
        Mistake(
            name="one-loss-per-word",
            message="These are the losses of the places, shape {got_shape}. Asked for is their mean, a "
            "single "
            "number.",
            probe=lambda attempt: all(
                case.got.dim() > 0
                and case.got.numel() in (case.args[1].numel(), int((case.args[1] != case.args[2]).sum()))
                for case in attempt.cases
            ),
        ),
    ),
)
