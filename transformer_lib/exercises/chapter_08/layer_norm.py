"""Exercise 8.3: Layer normalisation."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import torch
from torch import Tensor

from transformer_lib.exercises.attention_probes import Probe, near
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def layer_norm(x, scale, shift, eps):
    mean = x.mean(dim=-1, keepdim=True)
    variance = (x - mean).square().mean(dim=-1, keepdim=True)
    return scale * (x - mean) / torch.sqrt(variance + eps) + shift


def _sentences(generator: torch.Generator) -> list[tuple]:
    sizes = ((1, 2, 3, 1e-5), (2, 3, 5, 0.3), (3, 7, 11, 1e-5), (5, 11, 7, 1.7))  # B, T, D, eps
    return [
        (
            0.7 + 1.5 * torch.randn(B, T, D, generator=generator),
            1.5 + torch.randn(D, generator=generator),
            torch.randn(D, generator=generator),
            eps,
        )
        for B, T, D, eps in sizes
    ]


def _x() -> Tensor:
    return 0.9 + 1.4 * torch.randn(3, 7, 5, generator=torch.Generator().manual_seed(5)).double()


def _core(attempt: Attempt, eps: float) -> Tensor:
    """What the learner's function makes of x with scale 1 and shift 0, (3, 7, 5)."""
    return attempt.call(_x().float(), torch.ones(5), torch.zeros(5), eps).double()


def _normalised(axes=(-1,), correction: int = 0, centre: bool = True, eps: float = 0.0) -> Tensor:
    """x normalised over these axes; without the mean taken away where `centre` is not set."""
    x = _x()
    mean = x.mean(axes, keepdim=True)
    spread = (
        x.var(axes, keepdim=True, correction=correction) if centre else x.square().mean(axes, keepdim=True)
    )
    return ((x - mean) if centre else x) / torch.sqrt(spread + eps)


def _core_is(*formulas: Callable[[], Tensor]) -> Probe:
    """A probe: with scale 1, shift 0 and next to no eps the result is one of these."""

    def probe(attempt: Attempt) -> bool:
        core = _core(attempt, 1e-6)
        return any(near(core, formula()) for formula in formulas)

    return probe


def _over(*axes: tuple[int, ...]) -> Probe:
    """A probe: normalised over one of these sets of axes, with whichever kind of spread."""
    kinds = list(itertools.product(axes, (0, 1), (True, False)))
    return _core_is(*(lambda a=a, n=n, centre=centre: _normalised(a, n, centre) for a, n, centre in kinds))


def _size_of_eps(formula: Callable[[Tensor, float], Tensor]) -> Probe:
    """A probe: with eps 0.7 the divisor is this function of the variance and eps."""

    def probe(attempt: Attempt) -> bool:
        x, eps = _x(), 0.7
        centred = x - x.mean(-1, keepdim=True)
        variance = centred.square().mean(-1, keepdim=True)
        return near(_core(attempt, eps), centred / formula(variance, eps)) and _core_is(_normalised)(attempt)

    return probe


def _eps_unused(attempt: Attempt) -> bool:
    """Whether eps makes no difference, and the words are centred and brought to one size."""
    core, other = _core(attempt, 0.7), _core(attempt, 0.2)
    return near(core, other) and torch.cosine_similarity(core, _centred(_x()), dim=-1).min().item() > 0.9999


def _learned(combine: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Probe:
    """A probe: of the normalised words n, the scale and the shift the learner makes this."""

    def probe(attempt: Attempt) -> bool:
        scale, shift = torch.tensor([0.5, 1.3, -0.7, 2.0, 1.6]), torch.tensor([0.4, -1.1, 0.9, 2.5, -0.6])
        right = _normalised(eps=1e-5)
        return near(attempt.call(_x().float(), scale, shift, 1e-5), combine(right, scale, shift))

    return probe


def _centred(x: Tensor) -> Tensor:
    return x - x.mean(-1, keepdim=True)


LAYER_NORM = Exercise(
    id="8.3",
    title="Layer normalisation",
    kind="write",
    difficulty="medium",
    minutes=12,
    statement=r"""
Write layer normalisation, for each word by itself:

$$\operatorname{LayerNorm}(x) = \gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta,
\qquad \mu = \frac1D \sum_{i=1}^D x_i, \qquad \sigma^2 = \frac1D \sum_{i=1}^D (x_i - \mu)^2 .$$

`x` has shape `(B, T, D)`: `B` sentences of `T` words of `D` numbers. `scale` is $\gamma$ and `shift` is
$\beta$, both of shape `(D,)`; `eps` is the number $\varepsilon$. Return a tensor of shape `(B, T, D)`.
(In real models $\varepsilon$ is tiny. Here it may be large, so that its place counts.)
""",
    stub='''import torch


def layer_norm(x, scale, shift, eps):
    """x (B, T, D), scale and shift (D,), eps a number; returns (B, T, D)."""
    raise NotImplementedError
''',
    reference=layer_norm,
    cases=_sentences,
    hints=(
        "Which axis counts the D numbers of a word? Mean and variance run over that one alone.",
        "`keepdim=True` keeps the axis with size 1, so that the mean can be subtracted from every number.",
        "Compute the variance from the formula, or look up what `correction` (or `unbiased`) does in "
        "`torch.var`. And the root is taken of a *sum* of two terms.",
    ),
    mistakes=(
        Mistake(
            name="over-the-sequence",
            message="Mean and variance run over the words of the sentence. So a word's result depends on the "
            "others, the later ones too: change the last word, and the first one changes. Which axis counts "
            "the numbers of one word?",
            probe=_over((1,)),
        ),
        Mistake(
            name="over-the-batch",
            message="Mean and variance run over the sentences of the batch (that is nearly *batch* "
            "normalisation). What is made of a sentence would depend on its neighbours in the batch.",
            probe=_over((0,), (0, 1)),
        ),
        Mistake(
            name="over-words-and-numbers",
            message="One mean and one variance for several words together. Each word has its own, so that "
            "no word sees another.",
            probe=_over((1, 2), (0, 1, 2), (0, 2)),
        ),
        Mistake(
            name="mean-left-in",
            message="The mean is not taken away: the numbers of a word do not average to 0 before the shift. "
            "(Dividing by the root mean square alone is *RMSNorm*, another norm.)",
            probe=_core_is(
                lambda: _normalised(centre=False),
                lambda: _x() / _x().std(-1, keepdim=True, correction=0),
                lambda: _x() / _x().std(-1, keepdim=True),
            ),
        ),
        Mistake(
            name="spread-around-zero",
            message="The mean is taken away from the numbers, but the variance is the mean square of the "
            "numbers as they came. The variance measures the distance from the *mean*.",
            probe=_core_is(lambda: _centred(_x()) / _x().square().mean(-1, keepdim=True).sqrt()),
        ),
        Mistake(
            name="mean-alone",
            message="The mean is taken away, and nothing is divided: the spread of a word stays as it came.",
            probe=_core_is(lambda: _centred(_x())),
        ),
        Mistake(
            name="divided-by-the-variance",
            message="The numbers are divided by the variance itself. Its root, the standard deviation, is "
            "what brings them to size 1.",
            probe=_core_is(
                lambda: _centred(_x()) / _x().var(-1, keepdim=True, correction=0),
                lambda: _centred(_x()) / _x().var(-1, keepdim=True),
            ),
        ),
        Mistake(
            name="multiplied",
            message="The numbers are *multiplied* by the spread, so that words that vary much vary "
            "even more.",
            probe=_core_is(
                lambda: _centred(_x()) * _x().std(-1, keepdim=True, correction=0),
                lambda: _centred(_x()) * _x().std(-1, keepdim=True),
                lambda: _centred(_x()) * _x().var(-1, keepdim=True, correction=0),
                lambda: _centred(_x()) * _x().var(-1, keepdim=True),
            ),
        ),
        Mistake(
            name="length-one",
            message="Each word is brought to *length* 1, divided by the root of the sum of squares. The "
            "variance is a mean: the sum divided by D.",
            probe=_core_is(
                lambda: _centred(_x()) / _centred(_x()).norm(dim=-1, keepdim=True),
                lambda: _x() / _x().norm(dim=-1, keepdim=True),
            ),
        ),
        Mistake(
            name="unbiased-std",
            message="The variance is divided by D − 1 instead of D. With `torch.std` and `torch.var` that is "
            "the default. The results are a little too small, and the fewer numbers a word has, the more: "
            "with D = 4 their standard deviation is 0.866 instead of 1.",
            probe=_core_is(lambda: _normalised(correction=1)),
        ),
        Mistake(
            name="absolute-deviation",
            message="The numbers are divided by their mean *absolute* distance from the mean. The variance "
            "is the mean of the squares.",
            probe=_core_is(lambda: _centred(_x()) / _centred(_x()).abs().mean(-1, keepdim=True)),
        ),
        Mistake(
            name="softmax-or-range",
            message="The numbers are brought between 0 and 1. A layer norm brings them to mean 0 and "
            "variance 1; they may be negative.",
            probe=_core_is(
                lambda: _x().softmax(-1),
                lambda: (
                    (_x() - _x().amin(-1, keepdim=True))
                    / (_x().amax(-1, keepdim=True) - _x().amin(-1, keepdim=True))
                ),
            ),
        ),
        Mistake(
            name="eps-outside-the-root",
            message="The ε is added to the standard deviation, after the root. It belongs to the variance, "
            "inside the root.",
            probe=_size_of_eps(lambda variance, eps: variance.sqrt() + eps),
        ),
        Mistake(
            name="eps-missing",
            message="The result does not depend on `eps`. Without it, a word whose numbers are all the same "
            "gives 0/0, NaN.",
            probe=_size_of_eps(lambda variance, eps: variance.sqrt()),
        ),
        Mistake(
            name="eps-fixed",
            message="A fixed small number stands where `eps` should: the argument is not used.",
            probe=_eps_unused,
        ),
        Mistake(
            name="eps-squared",
            message="The ε is squared before it is added to the variance. It is added as it is.",
            probe=_size_of_eps(lambda variance, eps: (variance + eps * eps).sqrt()),
        ),
        Mistake(
            name="eps-added-twice",
            message="The ε is added twice. It stands in the formula once, inside the root.",
            probe=_size_of_eps(lambda variance, eps: (variance + eps).sqrt() + eps),
        ),
        Mistake(
            name="scale-and-shift-missing",
            message="The words come out with mean 0 and variance 1, and there it ends: neither `scale` nor "
            "`shift` is used.",
            probe=_learned(lambda n, scale, shift: n),
        ),
        Mistake(
            name="scale-missing",
            message="`scale` is not used: γ multiplies every number before β is added.",
            probe=_learned(lambda n, scale, shift: n + shift),
        ),
        Mistake(
            name="shift-missing",
            message="`shift` is not used: β is added at the end.",
            probe=_learned(lambda n, scale, shift: n * scale),
        ),
        Mistake(
            name="scale-and-shift-swapped",
            message="`scale` is added and `shift` multiplies: they have changed roles.",
            probe=_learned(lambda n, scale, shift: n * shift + scale),
        ),
        Mistake(
            name="shift-before-scale",
            message="The shift is added before the scale multiplies, so that it is scaled as well. In the "
            "formula β stands outside of the product.",
            probe=_learned(lambda n, scale, shift: (n + shift) * scale),
        ),
        Mistake(
            name="divided-by-the-scale",
            message="The numbers are divided by `scale`. γ multiplies.",
            probe=_learned(lambda n, scale, shift: n / scale + shift),
        ),
        Mistake(
            name="shift-subtracted",
            message="The shift is subtracted. β is added.",
            probe=_learned(lambda n, scale, shift: n * scale - shift),
        ),
        Mistake(
            name="one-plus-scale",
            message="The numbers are multiplied by 1 + γ. Some libraries store γ − 1, but `scale` is γ "
            "itself.",
            probe=_learned(lambda n, scale, shift: n * (1 + scale) + shift),
        ),
    ),
)
