"""Exercises of chapter 3, the scale: how scores grow, how sharp a softmax is, and what its slope is.

Most mistakes are recognised by what the learner's function does, so that every spelling of one is caught.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from transformer_lib.exercises.attention_probes import Probe, near, sums_to_one, temperature
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def _answers(attempt: Attempt) -> list[float]:
    """The numbers of an exercise that is answered on paper."""
    return [float(number) for number in attempt.cases[0].got]


def _entries(*wanted: float | None, within: float = 0.01) -> Probe:
    """A probe on answers given as numbers: these came; None stands for any number."""

    def probe(attempt: Attempt) -> bool:
        pairs = zip(_answers(attempt), wanted, strict=True)
        return all(w is None or abs(got - w) <= within * max(1, abs(w)) for got, w in pairs)

    return probe


# ---------------------------------------------------------------- 3.1 predict


def growth_factors():
    return [2.0, 4.0, 1.0, 0.5]


PREDICT = Exercise(
    id="3.1",
    title="Four times as wide",
    kind="predict",
    difficulty="easy",
    minutes=5,
    statement=r"""
Queries and keys have $d_k$ numbers each, all drawn independently, with mean 0 and variance 1. Now $d_k$
grows from 16 to 64, so that a score $q^\top k$ adds up four times as many products. By which factor do
these change?

1. the standard deviation of the scores $q^\top k$
2. the variance of the scores $q^\top k$
3. the standard deviation of the scores divided by the root, $q^\top k / \sqrt{d_k}$
4. the standard deviation of the scores divided by the width itself, $q^\top k / d_k$

Return your four factors as a list of numbers. "Three times as large" is `3`, "a third" is `1 / 3`, "the
same" is `1`. Do not run anything before you have answered: a guess is fine.
""",
    stub='''def growth_factors():
    """Four factors, in the order of the questions."""
    raise NotImplementedError
''',
    reference=growth_factors,
    cases=lambda generator: [()],
    tolerance=0.01,
    hints=(
        "The variance of a sum of independent numbers is the sum of their variances.",
        "The standard deviation is the root of the variance. Divide all scores by 7, and it is divided by 7.",
        "For 3 and 4, first write down what the scores themselves do, then what the divisor does.",
    ),
    mistakes=(
        Mistake(
            name="upside-down",
            message="These are the factors from 64 back to 16. The width *grows*.",
            probe=_entries(0.5, 0.25, 1, 2),
        ),
        Mistake(
            name="spread-and-variance-swapped",
            message="Your first two answers have changed places. The standard deviation is the root "
            "of the variance; which of the two adds up?",
            probe=_entries(4, 2, None, None),
        ),
        Mistake(
            name="spread-grows-like-width",
            message="Look at 1 again. The products have both signs and partly cancel, so the sum does "
            "not grow as fast as the number of its terms. What adds up is the variance.",
            probe=_entries(4, None, None, None),
        ),
        Mistake(
            name="spread-stays",
            message="Look at 1 again. On average the sum stays 0, but it strays further from it the "
            "more products it adds up.",
            probe=_entries(1, None, None, None),
        ),
        Mistake(
            name="variance-like-spread",
            message="Look at 2 again. If the standard deviation changes by some factor, by which does "
            "its square change?",
            probe=_entries(2, 2, None, None),
        ),
        Mistake(
            name="variance-squared-twice",
            message="Look at 2 again. 16 is the square of 4; but the standard deviation does not grow "
            "fourfold.",
            probe=_entries(None, 16, None, None),
        ),
        Mistake(
            name="variance-stays",
            message="Look at 2 again. Each product has variance 1, and variances of independent "
            "numbers add up.",
            probe=_entries(None, 1, None, None),
        ),
        Mistake(
            name="root-too-weak",
            message="Look at 3 again. The scores spread further, and so does the divisor grow. By how "
            "much does √d_k grow from 16 to 64?",
            probe=_entries(None, None, 2, None),
        ),
        Mistake(
            name="root-too-strong",
            message="Look at 3 again. You counted how the divisor grows, and forgot that the scores "
            "grow too.",
            probe=_entries(None, None, 0.5, None),
        ),
        Mistake(
            name="width-cancels",
            message="Look at 4 again. d_k grows by more than the standard deviation of the scores "
            "does, so that the two do not cancel.",
            probe=_entries(None, None, None, 1),
        ),
        Mistake(
            name="width-alone",
            message="Look at 4 again. A quarter is what the divisor does alone. The scores grow meanwhile.",
            probe=_entries(None, None, None, 0.25),
        ),
    ),
)

# ---------------------------------------------------------------- 3.2 work it out


def largest_weights():
    scaled = [1, 2, 4]  # exp(0), exp(2 ln 2 / 2), exp(4 ln 2 / 2)
    plain = [1, 4, 16]  # exp(0), exp(2 ln 2), exp(4 ln 2)
    return [max(scaled) / sum(scaled), max(plain) / sum(plain)]


def _top(scale: float) -> float:
    """The largest weight with this factor on the scores 0, 2 ln 2, 4 ln 2."""
    exponentials = [math.exp(scale * score * math.log(2)) for score in (0, 2, 4)]
    return max(exponentials) / sum(exponentials)


WORK_OUT = Exercise(
    id="3.2",
    title="With and without, by hand",
    kind="work out",
    difficulty="easy",
    minutes=8,
    statement=r"""
A word with the query $q = (2, 0, 1, 1)$ reads from three words:

| | key |
|---|---|
| word 1 | $(1, 5, -1, -1)$ |
| word 2 | $(\ln 2, 0, 0, 0)$ |
| word 3 | $(\ln 2, 1, \ln 2, \ln 2)$ |

Work out the weights on paper, first with the scale $1/\sqrt{d_k}$, then without any. Return a list of
two numbers: the **largest weight with the scale**, then the **largest weight without**. (Both are
simple fractions. Two decimals are enough.)
""",
    stub='''def largest_weights():
    """Two numbers: the largest weight with the scale, the largest weight without."""
    raise NotImplementedError
''',
    reference=largest_weights,
    cases=lambda generator: [()],
    tolerance=0.004,
    hints=(
        "How many numbers has a key? That is d_k, and its root is a whole number.",
        "The scores are 0, 2 ln 2 and 4 ln 2. exp(ln 2) = 2, and exp(2 ln 2) = 4.",
        "With the scale the exponentials are 1, 2 and 4. Each weight is one of them divided by their sum.",
    ),
    mistakes=(
        Mistake(
            name="order-swapped",
            message="Both numbers are right, but in the other order: first with the scale, then "
            "without. (The scale makes the softmax softer.)",
            probe=_entries(16 / 21, 4 / 7, within=0.004),
        ),
        Mistake(
            name="exponentials-returned",
            message="These are exponentials. A weight is a share: divide by the sum of all three.",
            probe=_entries(4, 16),
        ),
        Mistake(
            name="no-exponential",
            message="You divided the scores by their sum. The softmax takes the exponential of each "
            "first. Without it the scale would make no difference at all.",
            probe=_entries(2 / 3, 2 / 3),
        ),
        Mistake(
            name="scale-without-root",
            message="With the scale you divided by d_k itself. The softmax came out too flat: the "
            "formula has a root.",
            probe=_entries(_top(1 / 4), None, within=0.004),
        ),
        Mistake(
            name="scale-by-length",
            message="You divided by the root of the number of *words*. The scale counts the numbers "
            "in a key: they are what a dot product adds up.",
            probe=_entries(_top(1 / math.sqrt(3)), None, within=0.004),
        ),
        Mistake(
            name="scale-upside-down",
            message="You multiplied the scores by √d_k. The scale divides: it makes the softmax softer.",
            probe=_entries(_top(2), None, within=0.004),
        ),
        Mistake(
            name="scale-after-softmax",
            message="You divided the finished weight. Then the three no longer sum to 1. The scale "
            "belongs to the scores, before the softmax.",
            probe=_entries(8 / 21, None, within=0.004),
        ),
        Mistake(
            name="scale-forgotten",
            message="Your first number is the one without the scale.",
            probe=_entries(16 / 21, None, within=0.004),
        ),
        Mistake(
            name="scale-in-both",
            message="Your second number still has the scale in it. Use the bare scores there.",
            probe=_entries(None, 4 / 7, within=0.004),
        ),
        Mistake(
            name="smallest-weights",
            message="These are the *smallest* weights of the three.",
            probe=_entries(1 / 7, 1 / 21, within=0.004),
        ),
    ),
)

# ---------------------------------------------------------------- 3.3 entropy


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

# ---------------------------------------------------------------- 3.4 the slope by hand


def slopes():
    p = [1 / 2, 1 / 4, 1 / 4]
    return [p[0] - p[0] * p[0], -p[1] * p[0], -p[2] * p[0], -p[1] * p[2]]


SLOPE = Exercise(
    id="3.4",
    title="The slope of a softmax, by hand",
    kind="work out",
    difficulty="medium",
    minutes=8,
    statement=r"""
A row of scores $s_1, s_2, s_3$ gives the weights $p = (\tfrac12, \tfrac14, \tfrac14)$. How fast do the
weights change when a score changes a little? The slopes are

$$\frac{\partial p_i}{\partial s_j} = p_i(\delta_{ij} - p_j), \qquad \delta_{ij} = 1 \text{ for } i = j,
\text{ otherwise } 0.$$

Return a list of four numbers: $\dfrac{\partial p_1}{\partial s_1}$, $\dfrac{\partial p_2}{\partial
s_1}$, $\dfrac{\partial p_3}{\partial s_1}$ and $\dfrac{\partial p_2}{\partial s_3}$.
""",
    stub='''def slopes():
    """Four slopes: of p1, p2, p3 in s1, and of p2 in s3."""
    raise NotImplementedError
''',
    reference=slopes,
    cases=lambda generator: [()],
    tolerance=0.002,
    hints=(
        "For the first slope i = j = 1; for the other three i and j differ.",
        "When one weight rises, the others must give way. What do the first three slopes add up to?",
    ),
    mistakes=(
        Mistake(
            name="signs-turned",
            message="All signs are turned: a score that rises makes its own weight rise and the others fall.",
            probe=_entries(-1 / 4, 1 / 8, 1 / 8, 1 / 16, within=0.002),
        ),
        Mistake(
            name="only-the-diagonal",
            message="You used p_i for i = j and 0 elsewhere. The weights share one sum: what one "
            "gains, the others lose, and that also slows down the gain.",
            probe=_entries(1 / 2, 0, 0, 0, within=0.002),
        ),
        Mistake(
            name="others-do-not-move",
            message="The first slope is right, but the other weights move as well: together they lose "
            "what the first gains.",
            probe=_entries(1 / 4, 0, 0, None, within=0.002),
        ),
        Mistake(
            name="product-alone",
            message="You left out δ: for i = j the slope has the term p_i as well. A score that rises "
            "makes its own weight rise.",
            probe=_entries(-1 / 4, -1 / 8, -1 / 8, None, within=0.002),
        ),
        Mistake(
            name="sign-of-the-product",
            message="The product p_i p_j is subtracted, not added: when the first score rises, the "
            "other weights fall.",
            probe=_entries(None, 1 / 8, 1 / 8, None, within=0.002),
        ),
        Mistake(
            name="all-on-the-diagonal",
            message="p_i (1 − p_i) holds for i = j only. Where i and j differ, δ is 0.",
            probe=_entries(1 / 4, 3 / 16, 3 / 16, None, within=0.002),
        ),
        Mistake(
            name="wrong-pair",
            message="The first three are right. In the last one neither p_2 nor s_3 has to do with "
            "word 1: multiply the weights of words 2 and 3.",
            probe=_entries(1 / 4, -1 / 8, -1 / 8, None, within=0.002),
        ),
        Mistake(
            name="out-of-balance",
            message="Your first three slopes do not sum to 0. The weights always sum to 1, so what "
            "the first gains must be what the other two lose.",
            probe=lambda attempt: len(_answers(attempt)) == 4 and abs(sum(_answers(attempt)[:3])) > 0.01,
        ),
    ),
)

# ---------------------------------------------------------------- 3.5 the Jacobian


def softmax_jacobian(scores):
    p = torch.softmax(scores, dim=-1)
    return torch.diag_embed(p) - p[:, :, None] * p[:, None, :]


def _score_rows(generator: torch.Generator) -> list[tuple]:
    return [(torch.randn(shape, generator=generator),) for shape in ((2, 3), (5, 7), (3, 11))]


def _matrix_is(*formulas: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> Probe:
    """A probe: on every case the result is one and the same of these functions of scores and weights."""

    def probe(attempt: Attempt) -> bool:
        return any(
            all(near(c.got, f(c.args[0], c.args[0].softmax(-1))) for c in attempt.cases) for f in formulas
        )

    return probe


def _outer(p: torch.Tensor) -> torch.Tensor:
    return p[:, :, None] * p[:, None, :]


def _eye(p: torch.Tensor) -> torch.Tensor:
    return torch.eye(p.shape[-1]).expand(*p.shape, p.shape[-1])


JACOBIAN = Exercise(
    id="3.5",
    title="All the slopes at once",
    kind="write",
    difficulty="medium",
    minutes=12,
    statement=r"""
`scores` of shape `(B, S)` holds the scores of `B` queries, one row each. Return the Jacobian of the
softmax of each row, a tensor of shape `(B, S, S)`: entry `[b, i, j]` is $\partial p_i / \partial s_j$
for row `b`,

$$J = \operatorname{diag}(p) - p\,p^\top, \qquad p = \operatorname{softmax}(s).$$

The rows have nothing to do with each other. The scores come as they are: no scale.
""",
    stub='''import torch


def softmax_jacobian(scores):
    """Slopes of the weights: scores (B, S), returns (B, S, S)."""
    raise NotImplementedError
''',
    reference=softmax_jacobian,
    cases=_score_rows,
    hints=(
        "Start with one row: what are the shapes of diag(p) and of p pᵀ?",
        "`torch.diag_embed` makes a diagonal matrix from each row. A column times a row, `p[:, :, None] * "
        "p[:, None, :]`, makes all products.",
        "A loop over the rows with `torch.diag` and `torch.outer`, then `torch.stack`, is as good.",
    ),
    mistakes=(
        Mistake(
            name="softmax-missing",
            message="The formula was applied to the scores themselves. Its p are the weights: the "
            "softmax comes first.",
            probe=_matrix_is(lambda s, p: torch.diag_embed(s) - _outer(s)),
        ),
        Mistake(
            name="softmax-over-the-batch",
            message="The softmax ran over the wrong axis, across the queries. Each row is a query of "
            "its own.",
            probe=_matrix_is(lambda s, p: torch.diag_embed(s.softmax(0)) - _outer(s.softmax(0))),
        ),
        Mistake(
            name="only-the-diagonal",
            message="Only diag(p) is there. Each of its rows sums to more than 0; but when a score "
            "changes, the weights that fall make up for those that rise.",
            probe=_matrix_is(lambda s, p: torch.diag_embed(p)),
        ),
        Mistake(
            name="own-slopes-only",
            message="The diagonal is right, and everything beside it is 0. A score also moves the "
            "*other* weights.",
            probe=_matrix_is(lambda s, p: torch.diag_embed(p * (1 - p))),
        ),
        Mistake(
            name="product-alone",
            message="Only the product p pᵀ is there: the diagonal matrix is missing.",
            probe=_matrix_is(lambda s, p: -_outer(p), lambda s, p: _outer(p)),
        ),
        Mistake(
            name="signs-turned",
            message="All signs are turned. A score that rises makes its own weight rise: the diagonal "
            "is positive.",
            probe=_matrix_is(lambda s, p: _outer(p) - torch.diag_embed(p)),
        ),
        Mistake(
            name="sign-of-the-product",
            message="The two parts were added. Each row of a softmax's Jacobian sums to 0.",
            probe=_matrix_is(lambda s, p: torch.diag_embed(p) + _outer(p)),
        ),
        Mistake(
            name="unit-matrix-for-diagonal",
            message="The first part has ones on its diagonal. It should have the weights p there.",
            probe=_matrix_is(lambda s, p: _eye(p) - _outer(p)),
        ),
        Mistake(
            name="slopes-of-the-logarithm",
            message="These are the slopes of ln p, which is another (useful) thing: 1 − p_j for i = "
            "j, and −p_j otherwise.",
            probe=_matrix_is(lambda s, p: _eye(p) - p[:, None, :], lambda s, p: _eye(p) - p[:, :, None]),
        ),
        Mistake(
            name="rows-added-up",
            message="The B rows were thrown together in one matrix product: p pᵀ belongs to one row "
            "at a time.",
            probe=_matrix_is(lambda s, p: torch.diag_embed(p) - p.T @ p),
        ),
        Mistake(
            name="diagonal-only-returned",
            message="The result has shape {got_shape}: one slope for each weight. The Jacobian has "
            "one for each *pair*, shape {expected_shape}.",
            probe=_matrix_is(lambda s, p: p * (1 - p), lambda s, p: p - p * p),
        ),
        Mistake(
            name="scaled",
            message="The scores were divided by a root first. This exercise takes them as they are.",
            probe=_matrix_is(
                lambda s, p: softmax_jacobian(s / math.sqrt(s.shape[-1])),
                lambda s, p: softmax_jacobian(s) / math.sqrt(s.shape[-1]),
            ),
        ),
    ),
)

# ---------------------------------------------------------------- 3.6 find the bug


def head_weights(q, k):
    d_k = q.shape[-1]
    scores = q @ k.transpose(-2, -1) / math.sqrt(d_k)
    return torch.softmax(scores, dim=-1)


def _heads(generator: torch.Generator) -> list[tuple]:
    sizes = ((1, 2, 2, 3, 5), (2, 3, 5, 7, 11), (3, 2, 7, 5, 13))  # B, H, T, S, K
    return [
        (torch.randn(B, H, T, K, generator=generator), torch.randn(B, H, S, K, generator=generator))
        for B, H, T, S, K in sizes
    ]


def _shares(attempt: Attempt) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, dict[str, int]]:
    """The learner's weights on further heads, the sums of their rows, the true scores, and the sizes."""
    sizes = {"B": 2, "H": 3, "T": 5, "S": 7, "K": 13}
    generator = torch.Generator().manual_seed(11)
    q = 0.7 * torch.randn(2, 3, 5, 13, generator=generator)
    k = 0.7 * torch.randn(2, 3, 7, 13, generator=generator)
    weights = attempt.call(q, k).double()
    return weights, weights.sum(-1, keepdim=True), (q @ k.mT).double(), sizes


def _factor_is(factor: Callable[..., float]) -> Probe:
    """A probe: the rows are softmax(factor · scores), the factor a function of the sizes."""

    def probe(attempt: Attempt) -> bool:
        weights, _, scores, sizes = _shares(attempt)
        return sums_to_one(weights, -1) and abs(temperature(weights, scores) / factor(**sizes) - 1) < 0.02

    return probe


def _scaled_afterwards(divisor: Callable[..., float]) -> Probe:
    """A probe: the rows are those of a softmax without scale, divided by a function of the sizes."""

    def probe(attempt: Attempt) -> bool:
        weights, sums, scores, sizes = _shares(attempt)
        return near(weights * divisor(**sizes), scores.softmax(-1)) and (sums - 1).abs().max() > 0.01

    return probe


def _sums_along(axis: int) -> Probe:
    def probe(attempt: Attempt) -> bool:
        weights, *_ = _shares(attempt)
        return sums_to_one(weights, axis) and not sums_to_one(weights, -1)

    return probe


def _one_hot(attempt: Attempt) -> bool:
    weights, *_ = _shares(attempt)
    return near(weights.amax(-1), torch.ones(2, 3, 5)) and sums_to_one(weights, -1)


FIND_THE_BUG = Exercise(
    id="3.6",
    title="A scale gone wrong, twice",
    kind="find the bug",
    difficulty="medium",
    minutes=10,
    statement=r"""
This function should return the attention weights of several heads,
$\operatorname{softmax}(QK^\top/\sqrt{d_k})$ for each head: `q` has shape `(B, H, T, K)` for `B`
sentences, `H` heads, `T` queries of `K` numbers; `k` has shape `(B, H, S, K)` for `S` keys; the result
has shape `(B, H, T, S)`. It runs, and a model that uses it even learns. But **two things are wrong with
its scale**.

One shows in the sums of the rows. The other hides when there is only one head. Take out the `raise`
line, then find and mend both.
""",
    stub='''import math

import torch


def head_weights(q, k):
    """Attention weights: q (B, H, T, K), k (B, H, S, K), returns (B, H, T, S)."""
    raise NotImplementedError("take this line out, then mend what is below")
    n_heads, width = q.shape[1], q.shape[-1]
    d_model = n_heads * width
    scores = q @ k.transpose(-2, -1)
    weights = torch.softmax(scores, dim=-1)
    return weights / math.sqrt(d_model)
''',
    reference=head_weights,
    cases=_heads,
    hints=(
        "Print `head_weights(q, k).sum(-1)` for random q and k. What should stand there?",
        "Dividing *after* a softmax makes every weight smaller. Dividing *before* makes the row softer.",
        "How many products does one score of one head add up: H · K, or K?",
    ),
    mistakes=(
        Mistake(
            name="both-bugs-left",
            message="The rows still sum to 1/√(H · K) instead of 1, and the scale still counts the "
            "numbers of all heads together.",
            probe=_scaled_afterwards(lambda H, K, **_: math.sqrt(H * K)),
        ),
        Mistake(
            name="scale-after-softmax",
            message="The rows do not sum to 1: they sum to {row_sums}. The scale still comes after "
            "the softmax, where it only makes the weights smaller. It is meant to make them "
            "softer.",
            probe=lambda attempt: any(
                _scaled_afterwards(divisor)(attempt)
                for divisor in (
                    lambda K, **_: math.sqrt(K),
                    lambda K, **_: 1 / math.sqrt(K),
                    lambda K, **_: K,
                    lambda H, K, **_: H * K,
                )
            ),
        ),
        Mistake(
            name="softmax-over-queries",
            message="The columns sum to 1 instead of the rows: the softmax runs over the queries.",
            probe=_sums_along(-2),
        ),
        Mistake(
            name="softmax-over-heads",
            message="The weights sum to 1 over the heads. Each head has a softmax of its own, over its keys.",
            probe=_sums_along(1),
        ),
        Mistake(
            name="softmax-over-the-batch",
            message="The weights sum to 1 over the sentences. Each query has a softmax of its own, "
            "over its keys.",
            probe=_sums_along(0),
        ),
        Mistake(
            name="scale-by-d-model",
            message="The rows sum to 1 now, but the scores are still divided by √(H · K), √H times "
            "too much. One score adds up the products of *one* head.",
            probe=_factor_is(lambda H, K, **_: 1 / math.sqrt(H * K)),
        ),
        Mistake(
            name="no-scale",
            message="The rows sum to 1, but the scores are not scaled at all: the weights are too sharp.",
            probe=_factor_is(lambda **_: 1),
        ),
        Mistake(
            name="scale-without-root",
            message="The scores are divided by K itself (or twice by its root): the weights are too flat.",
            probe=_factor_is(lambda K, **_: 1 / K),
        ),
        Mistake(
            name="scale-upside-down",
            message="The scores are *multiplied* by √K: the weights are far too sharp.",
            probe=_factor_is(lambda K, **_: math.sqrt(K)),
        ),
        Mistake(
            name="scale-by-heads",
            message="The scores are divided by the root of the number of heads. The number of heads "
            "has no say: a score adds up K products.",
            probe=_factor_is(lambda H, **_: 1 / math.sqrt(H)),
        ),
        Mistake(
            name="scale-by-length",
            message="The scores are divided by the root of a number of words. A score adds up K "
            "products, however long the sentence is.",
            probe=lambda attempt: (
                _factor_is(lambda T, **_: 1 / math.sqrt(T))(attempt)
                or _factor_is(lambda S, **_: 1 / math.sqrt(S))(attempt)
            ),
        ),
        Mistake(
            name="half-the-scale",
            message="The scores are divided by the fourth root of K. That is the share of the queries "
            "alone, if queries *and* keys are to carry half of the scale each.",
            probe=_factor_is(lambda K, **_: K**-0.25),
        ),
        Mistake(
            name="best-match-only",
            message="Each row has a single 1 and nothing else: that is an arg-max, with no gradient "
            "to learn from.",
            probe=_one_hot,
        ),
        Mistake(
            name="no-softmax",
            message="The rows are bare scores: there is no softmax left.",
            probe=lambda attempt: (
                lambda weights, _, scores, sizes: (
                    near(weights, scores) or near(weights * sizes["K"] ** 0.5, scores)
                )
            )(*_shares(attempt)),
        ),
    ),
)

# ---------------------------------------------------------------- 3.7 fold the scale into W^Q


def fold_scale(w_query, b_query):
    root = math.sqrt(len(w_query))
    return w_query / root, b_query / root


def _maps(generator: torch.Generator) -> list[tuple]:
    return [
        (torch.randn(K, D, generator=generator), torch.randn(K, generator=generator))
        for K, D in ((3, 5), (7, 2), (11, 13))
    ]


def _ratios(weight: Callable[[int, int], float], bias: Callable[[int, int], float] | None = None) -> Probe:
    """A probe: the matrix was multiplied by one function of (K, D), the bias by another or the same."""

    def probe(attempt: Attempt) -> bool:
        for case in attempt.cases:
            w, b = case.args
            K, D = w.shape
            got_w, got_b = case.got
            if not near(got_w, w * weight(K, D)) or not near(got_b, b * (bias or weight)(K, D)):
                return False
        return True

    return probe


def _root(K: int, D: int) -> float:
    return 1 / math.sqrt(K)


def _one(K: int, D: int) -> float:
    return 1.0


FOLD = Exercise(
    id="3.7",
    title="Hide the scale in the weights",
    kind="write",
    difficulty="medium",
    minutes=8,
    statement=r"""
A published model was trained with the scale: its queries are $q_i = W^Q x_i + b^Q$, and its scores are
$q_i^\top k_j / \sqrt{d_k}$. You have to run it in a program that computes $q_i^\top k_j$ and divides by
nothing. Change the numbers, not the program: from `w_query` of shape `(K, D)` and `b_query` of shape
`(K,)` make a new matrix and a new bias, so that the program's scores are the scaled ones for **every**
$x_i$ and all keys. (The keys stay as they are. `K` is the width of a query, `D` that of a word vector.)

Return the two as a pair, `(new_w_query, new_b_query)`, of the same shapes. Leave the tensors you were
given unchanged.
""",
    stub='''import math

import torch


def fold_scale(w_query, b_query):
    """A new (K, D) matrix and a new (K,) bias, with the scale inside."""
    raise NotImplementedError
''',
    reference=fold_scale,
    cases=_maps,
    hints=(
        "Write the scaled score with W^Q x + b^Q in place of q. Where can the divisor move?",
        "(W x + b) / c = (W / c) x + b / c.",
        "`w_query` has one row for each number of a query. Which of its two sizes is d_k?",
    ),
    mistakes=(
        Mistake(
            name="nothing-changed",
            message="The matrix and the bias came back as they were: the scores are not scaled.",
            probe=_ratios(_one),
        ),
        Mistake(
            name="bias-left-out",
            message="The matrix is right, but the bias is a part of the query too: its share of the "
            "score is not scaled yet.",
            probe=_ratios(_root, _one),
        ),
        Mistake(
            name="matrix-left-out",
            message="The bias is right, but the matrix was left as it was.",
            probe=_ratios(_one, _root),
        ),
        Mistake(
            name="scale-by-d-model",
            message="The root of D was used, the width of the word vectors (the columns of the "
            "matrix). The scale counts the numbers of a query.",
            probe=lambda attempt: any(
                _ratios(lambda K, D: D**-0.5, bias)(attempt) for bias in (None, _one, _root)
            ),
        ),
        Mistake(
            name="scale-without-root",
            message="Everything was divided by K itself. The formula has a root.",
            probe=lambda attempt: any(
                _ratios(lambda K, D: 1 / K, bias)(attempt) for bias in (None, _one, _root)
            ),
        ),
        Mistake(
            name="scale-upside-down",
            message="The numbers were multiplied by √K instead of divided: the scores are now K times "
            "too large.",
            probe=lambda attempt: any(
                _ratios(lambda K, D: K**0.5, bias)(attempt) for bias in (None, _one, _root)
            ),
        ),
        Mistake(
            name="half-the-scale",
            message="Everything was divided by the fourth root of K, as if the keys carried the other "
            "half of the scale. But the keys stay as they are.",
            probe=lambda attempt: any(_ratios(lambda K, D: K**-0.25, bias)(attempt) for bias in (None, _one)),
        ),
        Mistake(
            name="pair-swapped",
            message="The pair came in the other order: first the matrix, then the bias.",
            variant=lambda w_query, b_query: fold_scale(w_query, b_query)[::-1],
        ),
        Mistake(
            name="matrix-only",
            message="Only a matrix came back. The bias belongs to the query as well; return a pair.",
            variant=lambda w_query, b_query: fold_scale(w_query, b_query)[0],
        ),
    ),
)

EXERCISES = (PREDICT, WORK_OUT, ENTROPY, SLOPE, JACOBIAN, FIND_THE_BUG, FOLD)
