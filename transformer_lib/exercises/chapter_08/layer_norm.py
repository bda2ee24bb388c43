"""Exercise 8.3: Layer normalisation."""

from __future__ import annotations

import torch

from transformer_lib.exercises.chapter_08.layer_norm_probes import (
    EARLY,
    centred,
    core_is,
    eps_elsewhere,
    eps_unused,
    learned,
    less_the_sum,
    moved_by_another_word,
    normalised,
    nothing_holds_the_divisor,
    over,
    size_of_eps,
    words,
)
from transformer_lib.exercises.exercise import Exercise, Mistake


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
            probe=over((1,)),
        ),
        Mistake(
            name="over-the-batch",
            message="Mean and variance run over the sentences of the batch (that is nearly *batch* "
            "normalisation). What is made of a sentence would depend on its neighbours in the batch.",
            probe=over((0,), (0, 1)),
        ),
        Mistake(
            name="over-words-and-numbers",
            message="One mean and one variance for several words together. Each word has its own, so that "
            "no word sees another.",
            probe=over((1, 2), (0, 1, 2), (0, 2)),
        ),
        Mistake(
            name="other-words-read",
            message="What is made of a word changes when *other* words change. Something in it (the mean, "
            "the variance, …) is taken over more than the numbers of that one word.",
            probe=moved_by_another_word,
        ),
        Mistake(
            name="mean-left-in",
            message="The mean is not taken away: the numbers of a word do not average to 0 before the shift. "
            "(Dividing by the root mean square alone is *RMSNorm*, another norm.)",
            probe=core_is(
                lambda: normalised(centre=False),
                lambda: words() / words().std(-1, keepdim=True, correction=0),
                lambda: words() / words().std(-1, keepdim=True),
            ),
        ),
        Mistake(
            name="spread-around-zero",
            message="The mean is taken away from the numbers, but the variance is the mean square of the "
            "numbers as they came. The variance measures the distance from the *mean*.",
            probe=core_is(lambda: centred(words()) / words().square().mean(-1, keepdim=True).sqrt()),
        ),
        Mistake(
            name="square-of-the-mean",
            message="From the mean of the squares you take away the mean. If you compute the variance that "
            "way, it is the *square* of the mean that has to go.",
            probe=core_is(
                lambda: centred(words()) / (words().square().mean(-1, True) - words().mean(-1, True)).sqrt()
            ),
        ),
        Mistake(
            name="sum-for-the-mean",
            message="The *sum* of a word's numbers is taken away from each of them. The mean is the sum "
            "divided by D.",
            probe=core_is(
                lambda: less_the_sum() / words().std(-1, keepdim=True, correction=0),
                lambda: less_the_sum() / less_the_sum().square().mean(-1, keepdim=True).sqrt(),
            ),
        ),
        Mistake(
            name="brackets-missing",
            message="Only the mean is divided by the standard deviation. x − μ needs brackets before it is "
            "divided.",
            probe=core_is(
                lambda: words() - words().mean(-1, True) / words().std(-1, keepdim=True, correction=0),
                lambda: words() - words().mean(-1, True) / words().std(-1, keepdim=True),
            ),
        ),
        Mistake(
            name="input-added",
            message="The input is added to what the norm gives. That addition belongs to the block, not to "
            "the norm.",
            probe=core_is(lambda: words() + normalised()),
        ),
        Mistake(
            name="mean-alone",
            message="The mean is taken away, and nothing is divided: the spread of a word stays as it came.",
            probe=core_is(lambda: centred(words())),
        ),
        Mistake(
            name="divided-by-the-variance",
            message="The numbers are divided by the variance itself. Its root, the standard deviation, is "
            "what brings them to size 1.",
            probe=core_is(
                lambda: centred(words()) / words().var(-1, keepdim=True, correction=0),
                lambda: centred(words()) / words().var(-1, keepdim=True),
            ),
        ),
        Mistake(
            name="rooted-twice",
            message="The numbers are divided by the root of the standard deviation, which is a root already. "
            "Under the root stands the variance.",
            probe=core_is(
                lambda: centred(words()) / words().std(-1, keepdim=True, correction=0).sqrt(),
                lambda: centred(words()) / words().std(-1, keepdim=True).sqrt(),
            ),
        ),
        Mistake(
            name="multiplied",
            message="The numbers are *multiplied* by the spread, so that words that vary much vary "
            "even more.",
            probe=core_is(
                lambda: centred(words()) * words().std(-1, keepdim=True, correction=0),
                lambda: centred(words()) * words().std(-1, keepdim=True),
                lambda: centred(words()) * words().var(-1, keepdim=True, correction=0),
                lambda: centred(words()) * words().var(-1, keepdim=True),
            ),
        ),
        Mistake(
            name="length-one",
            message="Each word is brought to *length* 1, divided by the root of the sum of squares. The "
            "variance is a mean: the sum divided by D.",
            probe=core_is(
                lambda: centred(words()) / centred(words()).norm(dim=-1, keepdim=True),
                lambda: words() / words().norm(dim=-1, keepdim=True),
            ),
        ),
        Mistake(
            name="unbiased-std",
            message="The variance is divided by D − 1 instead of D. With `torch.std` and `torch.var` that is "
            "the default. The results are a little too small, and the fewer numbers a word has, the more: "
            "with D = 4 their standard deviation is 0.866 instead of 1.",
            probe=core_is(lambda: normalised(correction=1)),
        ),
        Mistake(
            name="absolute-deviation",
            message="The numbers are divided by their mean *absolute* distance from the mean. The variance "
            "is the mean of the squares.",
            probe=core_is(
                lambda: centred(words()) / centred(words()).abs().mean(-1, keepdim=True),
                lambda: centred(words()) / centred(words()).abs().mean(-1, keepdim=True).sqrt(),
            ),
        ),
        Mistake(
            name="softmax-or-range",
            message="The numbers are brought between 0 and 1. A layer norm brings them to mean 0 and "
            "variance 1; they may be negative.",
            probe=core_is(
                lambda: words().softmax(-1),
                lambda: (
                    (words() - words().amin(-1, keepdim=True))
                    / (words().amax(-1, keepdim=True) - words().amin(-1, keepdim=True))
                ),
            ),
        ),
        Mistake(
            name="divided-by-the-range",
            message="The numbers are divided by the distance from the smallest to the largest. The formula "
            "divides by the standard deviation.",
            probe=core_is(
                lambda: centred(words()) / (words().amax(-1, keepdim=True) - words().amin(-1, keepdim=True))
            ),
        ),
        Mistake(
            name="eps-outside-the-root",
            message="The ε is added to the standard deviation, after the root. It belongs to the variance, "
            "inside the root.",
            probe=size_of_eps(lambda variance, eps: variance.sqrt() + eps),
        ),
        Mistake(
            name="eps-missing",
            message="The result does not depend on `eps`. Without it, a word whose numbers are all the same "
            "gives 0/0, NaN.",
            probe=nothing_holds_the_divisor,
        ),
        Mistake(
            name="eps-fixed",
            message="A fixed small number stands where `eps` should: the argument is not used.",
            probe=eps_unused,
        ),
        Mistake(
            name="eps-squared",
            message="The ε is squared before it is added to the variance. It is added as it is.",
            probe=size_of_eps(lambda variance, eps: (variance + eps * eps).sqrt()),
        ),
        Mistake(
            name="eps-added-twice",
            message="The ε is added twice. It stands in the formula once, inside the root.",
            probe=size_of_eps(lambda variance, eps: (variance + eps).sqrt() + eps),
        ),
        Mistake(
            name="eps-elsewhere",
            message="With an ε of next to nothing the words come out right, with a larger one they do not. "
            "In the formula it is added to the variance, under the root, and stands nowhere else.",
            probe=eps_elsewhere,
        ),
        Mistake(
            name="scale-and-shift-missing",
            message="The words come out with mean 0 and variance 1, and there it ends: neither `scale` nor "
            "`shift` is used.",
            probe=learned(lambda n, scale, shift: n),
        ),
        Mistake(
            name="scale-missing",
            message="`scale` is not used: γ multiplies every number before β is added.",
            probe=learned(lambda n, scale, shift: n + shift),
        ),
        Mistake(
            name="shift-missing",
            message="`shift` is not used: β is added at the end.",
            probe=learned(lambda n, scale, shift: n * scale),
        ),
        Mistake(
            name="scale-and-shift-swapped",
            message="`scale` is added and `shift` multiplies: they have changed roles.",
            probe=learned(lambda n, scale, shift: n * shift + scale),
        ),
        Mistake(
            name="shift-before-scale",
            message="The shift is added before the scale multiplies, so that it is scaled as well. In the "
            "formula β stands outside of the product.",
            probe=learned(lambda n, scale, shift: (n + shift) * scale),
        ),
        Mistake(
            name="shift-multiplies",
            message="The shift multiplies. β is added, after γ has multiplied.",
            probe=learned(lambda n, scale, shift: n * scale * shift),
        ),
        Mistake(
            name="scaled-before-the-norm",
            message="`scale` (or `shift`) changes the words *before* they are normalised, and the norm "
            "undoes part of that. Both come after the division.",
            probe=lambda attempt: any(learned(formula)(attempt) for formula in EARLY),
        ),
        Mistake(
            name="divided-by-the-scale",
            message="The numbers are divided by `scale`. γ multiplies.",
            probe=learned(lambda n, scale, shift: n / scale + shift),
        ),
        Mistake(
            name="shift-subtracted",
            message="The shift is subtracted. β is added.",
            probe=learned(lambda n, scale, shift: n * scale - shift),
        ),
        Mistake(
            name="one-plus-scale",
            message="The numbers are multiplied by 1 + γ. Some libraries store γ − 1, but `scale` is γ "
            "itself.",
            probe=learned(lambda n, scale, shift: n * (1 + scale) + shift),
        ),
    ),
)
