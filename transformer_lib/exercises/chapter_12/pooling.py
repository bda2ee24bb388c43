"""Exercise 12.5: One vector for a sentence."""

from __future__ import annotations

from collections.abc import Callable

import torch

from transformer_lib.exercises.attention_probes import Probe, near
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def pool_words(x, real):
    shares = real / real.sum(dim=1, keepdim=True)  # 1/n for each of the n real words, 0 for padding
    return (x * shares[:, :, None]).sum(dim=1)


def _sentences(generator: torch.Generator) -> list[tuple]:
    cases = []
    for lengths, T, D in (((3, 2), 4, 2), ((5, 2, 1), 7, 11), ((4, 11, 7, 2, 9), 13, 3)):
        x = 0.5 + torch.randn(len(lengths), T, D, generator=generator)
        real = torch.arange(T) < torch.tensor(lengths)[:, None]
        x[~real] *= 3  # what stands at the places of padding is as large as anything
        cases.append((x, real))
    return cases


Formula = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def _pooled_by(*formulas: Formula) -> Probe:
    """A probe: on every case the result is one and the same of these functions of x and real."""

    def probe(attempt: Attempt) -> bool:
        return any(all(near(c.got, f(c.args[0], c.args[1])) for c in attempt.cases) for f in formulas)

    return probe


def _of_padding(attempt: Attempt) -> bool:
    """Whether sentences that have padding got the mean of just that."""
    for case in attempt.cases:
        x, real = case.args
        for b in range(len(x)):
            if not real[b].all() and not near(case.got[b], x[b][~real[b]].mean(0)):
                return False
    return True


def _mask_misplaced(attempt: Attempt) -> bool:
    """Whether it runs where all sizes are equal, with the mask on other axes than sentence and word."""
    generator = torch.Generator().manual_seed(12)
    x = torch.randn(3, 3, 3, generator=generator)
    real = torch.tensor([[True, True, False], [True, False, False], [True, True, True]])
    got = attempt.call(x, real)
    n = real.sum(1)[:, None]
    for mask in (real, real[:, None, :], real.T[:, :, None], real.T):
        total = (x * mask).sum(1)
        if any(near(got, total / count) for count in (n, n.T, mask.expand_as(x).sum(1).clamp_min(1), 1, 3)):
            return True
    return False


def _sum(x: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    return (x * real[:, :, None]).sum(1)


def _unit(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.normalize(x, dim=-1)


def _hidden(x: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    return x.masked_fill(~real[:, :, None], -torch.inf)


POOL = Exercise(
    id="12.5",
    title="One vector for a sentence",
    kind="write",
    difficulty="easy",
    minutes=8,
    statement=r"""
An encoder has read `B` sentences of different lengths, padded to `T` words: `x` of shape `(B, T, D)`.
`real` of shape `(B, T)` is boolean: `True` for a real word, `False` for padding. Return the mean of each
sentence's **real** words,

$$\bar x_b = \frac{1}{n_b} \sum_{t \text{ real}} x_{bt},$$

a tensor of shape `(B, D)`, where $n_b$ is the number of real words of sentence $b$, at least 1. What
stands in `x` at the places of padding is not 0 and must not count. Do not bring the vectors to length 1.
""",
    stub='''import torch


def pool_words(x, real):
    """x (B, T, D), real (B, T) boolean; returns the means (B, D)."""
    raise NotImplementedError
''',
    reference=pool_words,
    cases=_sentences,
    hints=(
        "Two things are asked of the padding: it must not be in the sum, and not in the count.",
        "`real` has shape (B, T), `x` has one axis more. `real[:, :, None]` has shape (B, T, 1).",
        "The sum is `(x * real[:, :, None]).sum(dim=1)`, of shape (B, D). How many real words has each "
        "sentence, as a column?",
    ),
    mistakes=(
        Mistake(
            name="padding-counted",
            message="The padding is in the mean: the same sentence gets another vector when it stands in "
            "a batch with a longer one.",
            probe=_pooled_by(lambda x, real: x.mean(1)),
        ),
        Mistake(
            name="divided-by-all-places",
            message="The sum is over the real words only, but it is divided by T, the number of all "
            "places. Short sentences come out too small.",
            probe=_pooled_by(lambda x, real: _sum(x, real) / x.shape[1]),
        ),
        Mistake(
            name="padding-in-the-sum",
            message="The count is right, but the padding is still in the sum.",
            probe=_pooled_by(lambda x, real: x.sum(1) / real.sum(1, keepdim=True)),
        ),
        Mistake(
            name="sum-for-mean",
            message="This is the sum over the real words. A long sentence gets a long vector; divide by "
            "the number of its words.",
            probe=_pooled_by(_sum),
        ),
        Mistake(
            name="sum-over-everything",
            message="This is the sum over all places, padding included.",
            probe=_pooled_by(lambda x, real: x.sum(1)),
        ),
        Mistake(
            name="one-count-for-all",
            message="All sentences are divided by the same number. Each has a count of its own.",
            probe=_pooled_by(
                lambda x, real: _sum(x, real) / real.sum(),
                lambda x, real: _sum(x, real) / real.sum() * len(x),
                lambda x, real: _sum(x, real) / real.sum(1).max(),
            ),
        ),
        Mistake(
            name="sentences-mixed",
            message="The words of all sentences were thrown together. Each sentence has a mean of its own, "
            "shape {expected_shape}.",
            probe=_pooled_by(
                lambda x, real: x[real].mean(0),
                lambda x, real: x[real].mean(0).expand(len(x), -1),
                lambda x, real: x.mean((0, 1)),
            ),
        ),
        Mistake(
            name="first-word-only",
            message="This is the vector of the first word, [CLS] in BERT. Some models are trained to be "
            "read there; here the mean over all real words is asked for.",
            probe=_pooled_by(lambda x, real: x[:, 0]),
        ),
        Mistake(
            name="last-word-only",
            message="This is the vector of one place, the last. The mean over all real words is asked for.",
            probe=_pooled_by(
                lambda x, real: x[:, -1], lambda x, real: x[torch.arange(len(x)), real.sum(1) - 1]
            ),
        ),
        Mistake(
            name="first-word-left-out",
            message="The first word is missing from the mean. It is a real word like the others: `real` "
            "alone says which count.",
            probe=lambda attempt: all(
                near(c.got[b], c.args[0][b, 1:][c.args[1][b, 1:]].mean(0))
                for c in attempt.cases
                for b in range(len(c.got))
                if c.args[1][b].sum() > 1
            ),
        ),
        Mistake(
            name="mask-upside-down",
            message="The means are those of the *padding*. `True` stands for a real word.",
            probe=_of_padding,
        ),
        Mistake(
            name="brought-to-length-one",
            message="The direction is right, but each vector has the length 1. That is a good next step for "
            "a search; here the mean itself is asked for.",
            probe=_pooled_by(lambda x, real: _unit(_sum(x, real)), lambda x, real: _unit(x.mean(1))),
        ),
        Mistake(
            name="largest-for-mean",
            message="This is the largest entry at each place of the vectors. The mean is asked for.",
            probe=_pooled_by(
                lambda x, real: _hidden(x, real).amax(1),
                lambda x, real: x.amax(1),
                lambda x, real: (x * real[:, :, None]).amax(1),
            ),
        ),
        Mistake(
            name="mean-over-the-numbers",
            message="The mean runs over the numbers of each word's vector: shape {got_shape}. It should "
            "run over the words, which gives {expected_shape}.",
            probe=_pooled_by(
                lambda x, real: x.mean(-1),
                lambda x, real: (x * real[:, :, None]).mean(-1),
                lambda x, real: (x * real[:, :, None]).sum(-1) / real.sum(1, keepdim=True),
            ),
        ),
        Mistake(
            name="mean-over-the-batch",
            message="The mean runs over the sentences: shape {got_shape}. It should run over the words of "
            "each, which gives {expected_shape}.",
            probe=_pooled_by(
                lambda x, real: x.mean(0),
                lambda x, real: (x * real[:, :, None]).mean(0),
                lambda x, real: (x * real[:, :, None]).sum(0) / real.sum(0)[:, None],
            ),
        ),
        Mistake(
            name="mask-on-another-axis",
            message="The mask meets the wrong axes of `x`. Where all sizes are equal, your function runs "
            "and hides numbers of the vectors, or words of another sentence; where they differ, it stops "
            "with an error. `real` belongs to the axes of sentences and words, and needs one more at its "
            "end.",
            probe=_mask_misplaced,
        ),
    ),
)
