"""Exercise 3.3: How sharp is a row of weights?"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from transformer_lib.exercises.attention_probes import Probe, near
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def entropy(weights):
    safe = torch.where(weights > 0, weights, 1.0)  # ln 1 = 0: a weight of 0 adds nothing
    return -(weights * safe.log()).sum(-1)


def _rows(generator: torch.Generator) -> list[tuple]:
    """Weights whose rows differ in sharpness, the first row of each matrix one-hot."""
    cases = []
    for shape in ((3, 5), (2, 3, 7), (2, 5, 3, 11)):
        sharpness = torch.linspace(0.5, 4, shape[-2])[:, None]
        weights = torch.softmax(sharpness * torch.randn(shape, generator=generator), -1)
        weights[..., 0, :] = torch.eye(shape[-1])[1]
        cases.append((weights,))
    return cases


def _entropy_is(*formulas: Callable[[torch.Tensor], torch.Tensor]) -> Probe:
    """A probe: on weights without a zero, the learner's function is one of these."""

    def probe(attempt: Attempt) -> bool:
        generator = torch.Generator().manual_seed(3)
        weights = torch.softmax(torch.randn(2, 3, 7, generator=generator), -1)
        got = torch.as_tensor(attempt.call(weights))
        return any(near(got, formula(weights)) for formula in formulas)

    return probe


def _off_by_little(attempt: Attempt) -> bool:
    return all(
        c.got.shape == c.expected.shape and (c.got - c.expected).abs().max() < 0.3 for c in attempt.cases
    )


_terms = torch.special.entr  # −p ln p, and 0 for p = 0

ENTROPY = Exercise(
    id="3.3",
    title="How sharp is a row of weights?",
    kind="write",
    difficulty="easy",
    minutes=8,
    statement=r"""
The *entropy* of weights $p_1, …, p_S$ says over how many words the reading is spread:

$$H(p) = -\sum_{j=1}^{S} p_j \ln p_j \quad\text{(in nats; a term with } p_j = 0 \text{ counts as 0)}.$$

It is 0 when one word gets everything, and $\ln S$ when all get the same. Write it for a tensor
`weights` of shape `(…, S)` with any number of axes in front, whose rows along the last axis sum to 1.
Return one number per row, shape `(…)`. **Weights can be exactly 0**, after a mask for example.
""",
    stub='''import torch


def entropy(weights):
    """Entropy in nats of each row: weights (..., S), returns (...)."""
    raise NotImplementedError
''',
    reference=entropy,
    cases=_rows,
    hints=(
        "The sum runs over the words that are read. Which axis is that, whatever stands in front?",
        "`torch.log` is the natural logarithm. What is `0 * torch.log(torch.tensor(0.0))`?",
        "Replace zeros by something harmless before the logarithm, or use `torch.special.entr`.",
    ),
    mistakes=(
        Mistake(
            name="softmax-again",
            message="The weights went through a softmax once more. They are shares already.",
            probe=_entropy_is(lambda w: _terms(w.softmax(-1)).sum(-1)),
        ),
        Mistake(
            name="wrong-axis",
            message="The sum runs over another axis than the last: the result has shape {got_shape}, "
            "where one number per row would be {expected_shape}.",
            probe=_entropy_is(lambda w: _terms(w).sum(0), lambda w: _terms(w).sum(1)),
        ),
        Mistake(
            name="one-number-for-all",
            message="All rows were thrown together. Each row has an entropy of its own, so the result "
            "has shape {expected_shape}.",
            probe=_entropy_is(
                lambda w: _terms(w).sum(), lambda w: _terms(w).mean(), lambda w: _terms(w).sum(-1).mean()
            ),
        ),
        Mistake(
            name="sign-missing",
            message="The entropy comes out negative. The logarithm of a share is negative or 0; "
            "something in the formula turns that round.",
            probe=_entropy_is(lambda w: -_terms(w).sum(-1)),
        ),
        Mistake(
            name="in-bits",
            message="This is the entropy in *bits*, with logarithms to base 2: too large by the "
            "factor 1.44. Nats use the natural logarithm.",
            probe=_entropy_is(lambda w: _terms(w).sum(-1) / math.log(2)),
        ),
        Mistake(
            name="base-ten",
            message="Logarithms to base 10 make it too small by the factor 2.30. Nats use the natural "
            "logarithm.",
            probe=_entropy_is(lambda w: _terms(w).sum(-1) / math.log(10)),
        ),
        Mistake(
            name="mean-for-sum",
            message="The terms were averaged. The average is already in the p_j: the terms are to be summed.",
            probe=_entropy_is(lambda w: _terms(w).mean(-1)),
        ),
        Mistake(
            name="share-of-the-largest",
            message="The entropy was divided by ln S, its largest value. The formula asks for it in nats.",
            probe=_entropy_is(lambda w: _terms(w).sum(-1) / math.log(w.shape[-1])),
        ),
        Mistake(
            name="number-of-words",
            message="This is the exponential of the entropy, the number of words that would be read "
            "equally. A useful number, but not the entropy.",
            probe=_entropy_is(lambda w: _terms(w).sum(-1).exp(), lambda w: 2 ** (_terms(w).sum(-1))),
        ),
        Mistake(
            name="logarithms-not-weighted",
            message="The logarithms are added up with equal say. Each is multiplied by its own weight first.",
            probe=_entropy_is(
                lambda w: -w.log().sum(-1), lambda w: -w.log().mean(-1), lambda w: w.log().sum(-1)
            ),
        ),
        Mistake(
            name="squares-for-logarithms",
            message="Sums of squares also measure sharpness, but the entropy uses logarithms.",
            probe=_entropy_is(
                lambda w: 1 - (w * w).sum(-1), lambda w: -(w * w).sum(-1).log(), lambda w: (w * w).sum(-1)
            ),
        ),
        Mistake(
            name="zero-times-log-zero",
            message="Rows without a zero come out right. A weight of exactly 0 gives 0 · (−∞), which "
            "is NaN in Python; in the formula that term counts as 0.",
            probe=lambda attempt: (
                _entropy_is(lambda w: _terms(w).sum(-1))(attempt)
                and any(not torch.as_tensor(c.got).isfinite().all() for c in attempt.cases if c.error is None)
            ),
        ),
        Mistake(
            name="epsilon-too-large",
            message="Nearly right. Where something is added to the weights, or they are held above a "
            "bound, to keep the logarithm finite, it must be so small that it does not show.",
            probe=_off_by_little,
        ),
    ),
)
