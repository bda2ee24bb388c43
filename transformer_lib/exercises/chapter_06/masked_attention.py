"""Exercise 6.5: Attention with a mask."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from transformer_lib.exercises.attention_probes import Probe, near, sums_to_one
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def masked_attention(q, k, v, mask):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    lowest = torch.finfo(scores.dtype).min  # finite, so that an empty row is no NaN
    weights = torch.softmax(scores.masked_fill(~mask, lowest), dim=-1)
    return weights.masked_fill(~mask, 0.0) @ v


def _heads(generator: torch.Generator) -> list[tuple]:
    """Three cases in float32, the third with rows that have nothing to read; and one in half precision, whose
    weights are all 1, 1/2, 1/4 or 0 and whose values are eighths, so that every right way gives the same."""

    def drawn(B, H, T, S, K, V):
        return [torch.randn(B, H, n, w, generator=generator) for n, w in ((T, K), (S, K), (S, V))]

    causal = torch.ones(2, 3, dtype=torch.bool).tril(1)[None, None]
    padding = (torch.arange(7) < torch.tensor([4, 7])[:, None])[:, None, None]
    ragged = torch.rand(3, 2, 7, 5, generator=generator) < 0.5
    ragged[..., 0] = True
    ragged[0, :, 2] = ragged[2, 1, 4] = False  # rows with nothing to read
    q, k, v = drawn(2, 3, 5, 7, 11, 2)
    few = torch.zeros(2, 1, 5, 7, dtype=torch.bool)
    for row, places in enumerate(((1,), (0, 3), (), (6,), (1, 2, 4, 5))):
        few[..., row, list(places)] = True
    half = (q * 0).half(), k.half(), ((v * 8).round() / 8).half()
    return [
        (*drawn(1, 2, 2, 3, 5, 2), causal),
        (*drawn(2, 3, 5, 7, 11, 3), padding),
        (*drawn(3, 2, 7, 5, 3, 11), ragged),
        (*half, few),
    ]


@dataclass
class _Seen:
    """The learner's weights on further heads, and what they might be made of, all (2, 3, T, S)."""

    weights: Tensor
    scores: Tensor  # scaled
    mask: Tensor

    def masked(self, mask: Tensor | None = None, scale: float = 1.0) -> Tensor:
        mask = self.mask if mask is None else mask
        return torch.softmax((self.scores * scale).masked_fill(~mask, -math.inf), -1)


def _look(attempt: Attempt, T: int = 5, S: int = 7) -> _Seen:
    """With the values of a unit matrix the output is the weights."""
    generator = torch.Generator().manual_seed(6)
    q = torch.randn(2, 3, T, 11, generator=generator)
    k = torch.randn(2, 3, S, 11, generator=generator)
    mask = torch.rand(2, 3, T, S, generator=generator) < 0.6
    mask[..., 1], mask[..., 2] = True, False  # in each row something to read, and something hidden
    mask[0, :, 1], mask[1, :, 1] = mask[0, :, 1].roll(2, -1), mask[1, :, 1].roll(-1, -1)
    weights = attempt.call(q, k, torch.eye(S).expand(2, 3, S, S), mask).double()
    return _Seen(weights, (q @ k.mT / math.sqrt(11)).double(), mask)


def _weights_are(*formulas: Callable[[_Seen], Tensor], **sizes: int) -> Probe:
    """A probe: the learner's weights are one of these."""

    def probe(attempt: Attempt) -> bool:
        seen = _look(attempt, **sizes)
        made = [formula(seen) for formula in formulas]  # NaN in rows of which it says nothing
        return any(near(seen.weights, torch.where(one.isnan(), seen.weights, one)) for one in made)

    return probe


def _added(sign: float, where: Callable[[Tensor], Tensor], before_scale: bool = False) -> Callable:
    """Weights with the mask's truth values added to the scores as 1 and 0."""
    shift = sign / math.sqrt(11) if before_scale else sign

    def formula(seen: _Seen) -> Tensor:
        return torch.softmax(seen.scores + shift * where(seen.mask).double(), -1)

    return formula


def _lowered(seen: _Seen) -> bool:
    """Rows are shares in which every hidden word got less by one and the same factor, but not 0."""
    ratio = seen.weights / seen.scores.softmax(-1)
    shown = ratio.masked_fill(~seen.mask, math.nan)
    hidden = ratio.masked_fill(seen.mask, math.nan)
    factor = hidden.nanmedian(-1).values / shown.nanmedian(-1).values
    return bool(
        sums_to_one(seen.weights, -1)
        and (seen.weights[~seen.mask] > 0).all()
        and near(factor, factor.mean().expand_as(factor))
        and factor.mean() < 0.9
    )


def _too_high(seen: _Seen) -> bool:
    """The words that may be read have the right shares, but of less than the whole row."""
    shown = seen.weights * seen.mask
    total = shown.sum(-1, keepdim=True)
    shares_right = near(shown / total, seen.masked())
    return bool(shares_right and total.min() < 1 - 1e-5 and total.max() - total.min() > 1e-6)


def _other_scale(seen: _Seen) -> bool:
    """The words that may be read have shares by softmax(c · scores) for some c."""
    logs = seen.weights.clamp_min(1e-30).log().masked_fill(~seen.mask, 0)
    scores, n = seen.scores.masked_fill(~seen.mask, 0), seen.mask.sum(-1, keepdim=True)
    logs = (logs - logs.sum(-1, keepdim=True) / n) * seen.mask
    scores = (scores - scores.sum(-1, keepdim=True) / n) * seen.mask
    c = (logs * scores).sum() / scores.square().sum()
    hidden = bool((seen.weights[~seen.mask] == 0).all())
    return (
        hidden
        and sums_to_one(seen.weights, -1)
        and bool((logs - c * scores).abs().max() < 0.02 * (1 + abs(c)))
    )


def _nan_with_nothing_hidden(attempt: Attempt) -> bool:
    q, k = torch.randn(2, 2, 3, 5, 11, generator=torch.Generator().manual_seed(9))
    return bool(attempt.call(q, k, k, torch.ones(2, 3, 5, 5, dtype=torch.bool)).isnan().all())


def _transposed(seen: _Seen) -> Tensor:
    mask = seen.mask.transpose(-2, -1)
    return torch.where(mask.any(-1, keepdim=True), seen.masked(mask), 0.0)


def _empty_row(attempt: Attempt) -> tuple[Tensor, Tensor]:
    """What a row with nothing to read gets, with unit values, and whether all other rows are right."""
    generator = torch.Generator().manual_seed(8)
    q = torch.randn(2, 3, 5, 11, generator=generator)
    k = torch.randn(2, 3, 7, 11, generator=generator)
    mask = torch.ones(2, 1, 5, 7, dtype=torch.bool).tril(1)
    mask[:, :, 3] = False
    weights = attempt.call(q, k, torch.eye(7).expand(2, 3, 7, 7), mask).double()
    right = masked_attention(q, k, torch.eye(7), mask).double()
    others = [0, 1, 2, 4]
    return weights[:, :, 3], torch.tensor(near(weights[:, :, others], right[:, :, others]))


def _empty_row_is(holds: Callable[[Tensor], bool]) -> Probe:
    def probe(attempt: Attempt) -> bool:
        row, others_right = _empty_row(attempt)
        return bool(others_right) and bool(holds(row))

    return probe


def _right_but_in_half(attempt: Attempt) -> bool:
    """In float32 all is right; in half precision a number was too large."""
    *others, half = attempt.cases
    if any(c.error is not None or not near(c.got, c.expected) for c in others):
        return False
    return half.error is not None and "overflow" in str(half.error)


def _nan_in_half(attempt: Attempt) -> bool:
    *others, half = attempt.cases
    return all(near(c.got, c.expected) for c in others) and not half.got.isfinite().all()


def _full_masks_only(attempt: Attempt) -> bool:
    """It raises where the mask has axes of size 1, and is right where it has none."""
    seen = _look(attempt)  # with a full mask it does not raise
    return near(seen.weights, seen.masked()) and any(isinstance(c.error, IndexError) for c in attempt.cases)


def _two_dtypes(attempt: Attempt) -> bool:
    *others, half = attempt.cases
    if any(c.error is not None or not near(c.got, c.expected) for c in others):
        return False
    return half.error is not None and any(word in str(half.error) for word in ("dtype", "scalar type"))


ATTENTION = Exercise(
    id="6.5",
    title="Attention with a mask",
    kind="write",
    difficulty="hard",
    minutes=20,
    statement=r"""
Write $\operatorname{softmax}(QK^\top/\sqrt{d_k})\,V$ with a mask. `q` has shape `(B, H, T, K)`, `k` `(B, H,
S, K)` and `v` `(B, H, S, V)`; return `(B, H, T, V)`. `mask` holds booleans, `True` where the query may read
the key; its shape is `(B, H, T, S)`, or has 1 where it is the same for all. Where it is `False`, the score
becomes $-\infty$ **before** the softmax, or something that acts like it.

Two demands that a first attempt often misses:

- A row of the mask with no `True` at all gives an output of **exactly 0**, not NaN, and not an average.
- It also works in half precision (`torch.float16`), whose largest number is 65504. The result has the dtype
  of the inputs.

Write it out: attention functions of torch and of the library do not count as practice.
""",
    stub='''import math

import torch


def masked_attention(q, k, v, mask):
    """q (B, H, T, K), k (B, H, S, K), v (B, H, S, V), mask True = may read; returns (B, H, T, V)."""
    raise NotImplementedError
''',
    reference=masked_attention,
    cases=_heads,
    hints=(
        "`scores.masked_fill(where, number)` puts the number in wherever `where` is True. Is that your "
        "mask, or its opposite `~mask`?",
        "A row that is −∞ throughout gives 0/0. The lowest finite number of a dtype, "
        "`torch.finfo(scores.dtype).min`, gives the same weights without that.",
        "After such a softmax an empty row is an average of everything. Set the weights of hidden words to "
        "0 once more.",
    ),
    mistakes=(
        Mistake(
            name="weights-returned",
            message="These are the weights, of shape {got_shape}. The output is the sum of the values, each "
            "times its weight.",
            probe=lambda attempt: all(
                c.got.shape == (*c.expected.shape[:-1], c.args[1].shape[-2]) for c in attempt.cases
            ),
        ),
        Mistake(
            name="mask-ignored",
            message="The mask changes nothing: hidden words are read like all others. (A `masked_fill` "
            "without underscore returns a new tensor; is it used?)",
            probe=_weights_are(lambda seen: seen.scores.softmax(-1)),
        ),
        Mistake(
            name="own-mask",
            message="The function hides the future on its own and does not look at the `mask` it was "
            "given. That could hide something else, such as padding.",
            probe=_weights_are(
                lambda seen: seen.masked(torch.ones_like(seen.mask).tril()),
                lambda seen: seen.masked(torch.ones_like(seen.mask).tril(2)),
            ),
        ),
        Mistake(
            name="future-hidden-as-well",
            message="The function hides the future on its own, besides what the `mask` hides. Not every "
            "attention is causal: the mask alone decides.",
            probe=_weights_are(
                lambda seen: seen.masked(seen.mask.tril()),
                lambda seen: seen.masked(seen.mask.tril(2)),
            ),
        ),
        Mistake(
            name="inverted-polarity",
            message="The words that may be read are hidden, and the hidden ones are read. `True` means "
            "*may read*: which places are to be filled?",
            probe=_weights_are(
                lambda seen: seen.masked(~seen.mask),
                lambda seen: seen.scores.softmax(-1) * ~seen.mask,
            ),
        ),
        Mistake(
            name="zero-times-infinity",
            message="Even where nothing is hidden, all is NaN: 0 · ∞ is not 0 but NaN. Do not multiply the "
            "mask by −∞; put −∞ where the mask says so (`masked_fill`, `torch.where`).",
            probe=_nan_with_nothing_hidden,
        ),
        Mistake(
            name="mask-after-softmax",
            message="The rows sum to less than 1. The mask was multiplied in *after* the softmax, when the "
            "hidden words had already taken their share (and still stand in the sum below the "
            "fraction).",
            probe=_weights_are(lambda seen: seen.scores.softmax(-1) * seen.mask),
        ),
        Mistake(
            name="score-zero-for-hidden",
            message="Hidden words have the score 0, because the scores were multiplied by the mask. exp(0) "
            "= 1: that is an ordinary score, and they are still read.",
            probe=_weights_are(
                lambda seen: (seen.scores * seen.mask).softmax(-1),
                lambda seen: (seen.scores * seen.mask).softmax(-1) * seen.mask,
            ),
        ),
        Mistake(
            name="boolean-added",
            message="The mask was added to the scores as 1 and 0 (or subtracted). That changes the weights "
            "by the factor e ≈ 2.7 at most, and hides nothing.",
            probe=_weights_are(
                *(
                    _added(sign, where, early)
                    for sign in (1.0, -1.0)
                    for where in (lambda m: m, lambda m: ~m)
                    for early in (False, True)
                )
            ),
        ),
        Mistake(
            name="not-low-enough",
            message="Hidden words still take a part of each row: the number that lowers their scores, or "
            "stands in their place, is not low enough. exp of it must be 0, whatever the other scores are.",
            probe=lambda attempt: _lowered(_look(attempt)) or _too_high(_look(attempt)),
        ),
        Mistake(
            name="mask-on-the-query-axis",
            message="The mask was turned: its rows were taken for the words that are read. Rows are "
            "queries, columns are keys.",
            probe=_weights_are(
                _transposed,
                lambda seen: seen.scores.masked_fill(~seen.mask.mT, -1e9).softmax(-1),
                lambda seen: seen.masked(seen.mask.mT),
                T=5,
                S=5,
            ),
        ),
        Mistake(
            name="softmax-over-queries",
            message="The columns of the weights sum to 1, the rows do not. The softmax must run over the "
            "keys.",
            probe=lambda attempt: (lambda w: sums_to_one(w, -2) and not sums_to_one(w, -1))(
                _look(attempt).weights
            ),
        ),
        Mistake(
            name="no-scale",
            message="The mask works, but the scores are not divided by √K.",
            probe=_weights_are(lambda seen: seen.masked(scale=math.sqrt(11))),
        ),
        Mistake(
            name="scale-without-root",
            message="The mask works, but the scores are divided by K itself. The formula has a root.",
            probe=_weights_are(lambda seen: seen.masked(scale=1 / math.sqrt(11))),
        ),
        Mistake(
            name="scale-upside-down",
            message="The mask works, but the scores are *multiplied* by √K.",
            probe=_weights_are(lambda seen: seen.masked(scale=11)),
        ),
        Mistake(
            name="scale-after-softmax",
            message="The rows sum to 1/√K: the scale comes after the softmax, where it only makes the output "
            "smaller. It belongs to the scores.",
            probe=_weights_are(
                lambda seen: seen.masked() / math.sqrt(11),
                lambda seen: seen.masked(scale=math.sqrt(11)) / math.sqrt(11),
            ),
        ),
        Mistake(
            name="other-scale",
            message="The mask works, but the scores are scaled by another factor than the formula's. It "
            "counts the numbers that one score adds up: those of a query.",
            probe=lambda attempt: (
                not near(_look(attempt).weights, _look(attempt).masked()) and _other_scale(_look(attempt))
            ),
        ),
        Mistake(
            name="empty-row-nan",
            message="All is right but for the rows with nothing to read. There every score is −∞ and the "
            "sum is 0: 0/0 is NaN. One NaN spoils everything that is computed from it.",
            probe=_empty_row_is(lambda row: row.isnan().any()),
        ),
        Mistake(
            name="empty-row-average",
            message="All is right but for the rows with nothing to read. All their scores are equally low, "
            "so the softmax gives every word the same share, hidden or not. The output there "
            "should be 0.",
            probe=_empty_row_is(lambda row: near(row, torch.full_like(row, 1 / 7))),
        ),
        Mistake(
            name="empty-row-reads",
            message="All is right but for the rows with nothing to read. They read something all the same; "
            "the output there should be exactly 0.",
            probe=_empty_row_is(lambda row: row.isfinite().all() and row.abs().max() > 1e-3),
        ),
        Mistake(
            name="mask-not-stretched",
            message="With a mask of the full shape (B, H, T, S) all is right. With axes of size 1 it stops: "
            "“{error}”. Indexing does not stretch a mask; `masked_fill`, `torch.where`, `+`, `*` and `&` do.",
            probe=_full_masks_only,
        ),
        Mistake(
            name="overflow-in-half-precision",
            message="All is right in float32. In half precision it stops: “{error}”. The number that "
            "lowers the scores does not exist there. Each dtype has its own lowest number; ask "
            "torch for it.",
            probe=_right_but_in_half,
        ),
        Mistake(
            name="two-dtypes",
            message="All is right in float32. With half-precision inputs it stops: “{error}”. Something in "
            "it made float32 numbers: a boolean mask times a number does. Stay in the dtype of the "
            "inputs.",
            probe=_two_dtypes,
        ),
        Mistake(
            name="nan-in-half-precision",
            message="All is right in float32. In half precision there are NaNs: a very small number that "
            "was added against 0/0 is 0 there, and a very low one is −∞.",
            probe=_nan_in_half,
        ),
    ),
)
