"""Exercise 10.3: One more block."""

from __future__ import annotations

import math

import torch

from transformer_lib.exercises.chapter_10.shared import on_inputs
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def absorb(m, total, o, scores, v):
    m_new = torch.maximum(m, scores.amax(dim=-1))
    safe = m_new.masked_fill(m_new == -math.inf, 0.0)  # nothing read yet: any finite number will do
    p = torch.exp(scores - safe[:, None])
    shrink = torch.exp(m - safe)
    return m_new, total * shrink + p.sum(dim=-1), o * shrink[:, None] + p @ v


def _begin(T: int, width: int) -> tuple:
    return torch.full((T,), -math.inf), torch.zeros(T), torch.zeros(T, width)


def _state(T: int, width: int, generator: torch.Generator) -> tuple:
    """What some block of 4 keys has left behind."""
    draw = lambda *shape: torch.randn(*shape, generator=generator)  # noqa: E731
    return absorb(*_begin(T, width), 1.5 * draw(T, 4), draw(T, 4, 1)[0].expand(4, width) + draw(4, width))


def _cases(generator: torch.Generator) -> list[tuple]:
    draw = lambda *shape: torch.randn(*shape, generator=generator)  # noqa: E731
    first = (*_begin(2, 3), draw(2, 5), draw(5, 3))
    later = (*_state(3, 2, generator), 2 * draw(3, 5), draw(5, 2))
    higher = (*_state(5, 7, generator), draw(5, 3) + 3, draw(3, 7))
    lower = (*_state(3, 5, generator), draw(3, 2) - 3, draw(2, 5))
    hidden = (*_state(2, 5, generator), draw(2, 3), draw(3, 5))
    hidden[3][0] = -math.inf  # word 0 may read nothing of this block
    nothing = (*_begin(3, 2), draw(3, 5), draw(5, 2))
    nothing[3][1] = -math.inf  # word 1 has read nothing yet, and still may not
    return [first, later, higher, lower, hidden, nothing]


def _finite() -> tuple:
    generator = torch.Generator().manual_seed(10)
    draw = lambda *shape: torch.randn(*shape, generator=generator)  # noqa: E731
    higher_or_lower = torch.tensor([-5.0, 3.0, -2.0, 0.0, 4.0])[:, None]
    return (*_state(5, 3, generator), draw(5, 7) + higher_or_lower, draw(7, 3))


def _does(*formulas) -> object:
    """A probe: on a block without −∞ the learner's function is one of these."""
    return on_inputs(_finite(), *formulas)


def _step(top=None, p=None, sum_shrink=None, out_shrink=None, finish=None):
    """A formula for the whole step, of which single pieces are replaced."""

    def formula(m, total, o, scores, v):
        m_new = torch.maximum(m, scores.amax(-1)) if top is None else top(m, scores)
        weights = (scores - m_new[:, None]).exp() if p is None else p(m, m_new, scores)
        plain = (m - m_new).exp()
        a = plain if sum_shrink is None else sum_shrink(m, m_new, scores)
        b = plain if out_shrink is None else out_shrink(m, m_new, scores)
        result = m_new, total * a + weights.sum(-1), o * b[:, None] + weights @ v
        return result if finish is None else finish(*result)

    return formula


def _one(m, m_new, scores):
    return torch.ones_like(m)


def _nan_where_hidden(attempt: Attempt) -> bool:
    nan = any(
        not torch.as_tensor(part).isfinite().all()
        for case in attempt.cases[4:]
        if case.error is None
        for part in tuple(case.got)[1:]
    )
    return nan and _does(absorb)(attempt)


def _right_but_hidden(attempt: Attempt) -> bool:
    """Right on blocks of finite scores, wrong (but not NaN) where a word may read nothing."""
    return _does(absorb)(attempt)


ABSORB = Exercise(
    id="10.3",
    title="One more block",
    kind="write",
    difficulty="medium",
    minutes=15,
    statement=r"""
This is the heart of fused attention. `T` words read a long text in blocks. For each of them three things
are carried from block to block:

- `m` of shape `(T,)`: the largest score so far,
- `total` of shape `(T,)`: $\sum_j e^{s_j - m}$ over all keys so far,
- `o` of shape `(T, Dv)`: $\sum_j e^{s_j - m}\, v_j$ over all keys so far, **not** divided by anything.

Now the next block comes: its `scores` of shape `(T, S)`, scaled already, and its values `v` of shape `(S,
Dv)`. Return the new `(m, total, o)`, a tuple of three tensors of the same shapes as the old ones, in
which this block is counted as well. Do not change the old ones.

Before the first block, `m` is $-\infty$ and `total` and `o` are 0. A mask may have hidden keys: their
scores are $-\infty$, perhaps for a whole row. A word that has not read anything yet stays at $-\infty$, 0
and 0. There must never be a NaN.
""",
    stub='''import torch


def absorb(m, total, o, scores, v):
    """Old m (T,), total (T,), o (T, Dv); block: scores (T, S), v (S, Dv). New (m, total, o)."""
    raise NotImplementedError
''',
    reference=absorb,
    cases=_cases,
    hints=(
        "First the new largest score: of the old one and those of the block. `torch.maximum` takes the "
        "larger of two tensors, entry by entry.",
        "The old sums contain exp(s − m) with the old m. By what must they be multiplied, so that they "
        "contain exp(s − m′) with the new one?",
        "That factor is exp(m − m′), for `total` and `o` alike (`o` needs another axis: `[:, None]`).",
        "−∞ minus −∞ is NaN. Where the new largest score is still −∞, subtract 0 instead: exp(−∞ − 0) is 0.",
    ),
    mistakes=(
        Mistake(
            name="divided-already",
            message="`o` comes divided by `total`. The division comes once, after the last block: the "
            "next block would have to undo it.",
            probe=_does(
                _step(finish=lambda m, total, o: (m, total, o / total[:, None])),
                _step(finish=lambda m, total, o: (m, torch.ones_like(total), o / total[:, None])),
            ),
        ),
        Mistake(
            name="nothing-rescaled",
            message="The old `total` and `o` are taken over as they are. They were made with the old "
            "largest score, and the block's share with the new one: the two do not fit.",
            probe=_does(
                _step(sum_shrink=_one, out_shrink=_one),
                _step(top=lambda m, s: s.amax(-1), sum_shrink=_one, out_shrink=_one),
            ),
        ),
        Mistake(
            name="sum-not-rescaled",
            message="The old `o` is brought to the new largest score, the old `total` is not.",
            probe=_does(_step(sum_shrink=_one)),
        ),
        Mistake(
            name="output-not-rescaled",
            message="The old `total` is brought to the new largest score, the old `o` is not.",
            probe=_does(_step(out_shrink=_one)),
        ),
        Mistake(
            name="rescaled-upside-down",
            message="The factor for the old sums is turned round: when the largest score rises, exp(s − "
            "m) of the old keys *shrinks*.",
            probe=_does(
                _step(
                    sum_shrink=lambda m, new, s: (new - m).exp(), out_shrink=lambda m, new, s: (new - m).exp()
                )
            ),
        ),
        Mistake(
            name="new-part-rescaled",
            message="The factor belongs to the *old* sums. The block's own share is made with the new "
            "largest score already.",
            probe=_does(
                lambda m, total, o, s, v: _swap_factor(m, total, o, s, v),
            ),
        ),
        Mistake(
            name="no-running-maximum",
            message="The new `m` is the largest score of this block alone. Where an earlier block had a "
            "larger one, that is forgotten.",
            probe=_does(
                _step(top=lambda m, s: s.amax(-1)),
                lambda m, total, o, s, v: (s.amax(-1), *_step()(m, total, o, s, v)[1:]),
            ),
        ),
        Mistake(
            name="old-maximum",
            message="The block's weights are made with the *old* largest score, the rest with the new "
            "one. All must use the same.",
            probe=_does(
                _step(p=lambda m, new, s: (s - m[:, None]).exp()),
                _step(p=lambda m, new, s: (s - m[:, None]).exp(), sum_shrink=_one, out_shrink=_one),
                lambda m, total, o, s, v: (m, *_step(top=lambda m, s: m)(m, total, o, s, v)[1:]),
            ),
        ),
        Mistake(
            name="no-maximum",
            message="exp is taken of the bare scores. The largest score has to be subtracted first: at "
            "large scores exp overflows, and the old sums are made that way.",
            probe=_does(
                _step(p=lambda m, new, s: s.exp()),
                _step(p=lambda m, new, s: s.exp(), sum_shrink=_one, out_shrink=_one),
            ),
        ),
        Mistake(
            name="softmax-in-the-block",
            message="The block got a softmax of its own, so that its weights sum to 1 whatever the other "
            "blocks hold. Only exp(s − m) is needed; the division comes at the very end.",
            probe=_does(
                _step(p=lambda m, new, s: s.softmax(-1)),
                _step(p=lambda m, new, s: s.softmax(-1), sum_shrink=_one, out_shrink=_one),
            ),
        ),
        Mistake(
            name="one-maximum-for-all",
            message="All words share one largest score. Each word has its own: which axis of `scores` "
            "are the keys?",
            probe=_does(
                _step(top=lambda m, s: torch.maximum(m, s.max())),
                _step(top=lambda m, s: torch.maximum(m.max(), s.max()).expand_as(m)),
            ),
        ),
        Mistake(
            name="block-alone",
            message="What came before is lost: the result is that of this block alone. The old `total` "
            "and `o` have to be added.",
            probe=_does(
                lambda m, total, o, s, v: absorb(*_begin(len(m), o.shape[1]), s, v),
                _step(sum_shrink=lambda m, n, s: 0 * m, out_shrink=lambda m, n, s: 0 * m),
            ),
        ),
        Mistake(
            name="nan-where-hidden",
            message="Blocks of finite scores come out right. Where every score of a word has been −∞ so "
            "far, −∞ − (−∞) makes a NaN.",
            probe=_nan_where_hidden,
        ),
        Mistake(
            name="wrong-where-hidden",
            message="Blocks of finite scores come out right. Where a word may read nothing of a block, "
            "or has not read anything yet, its three numbers do not come out as they should: a hidden "
            "key counts as nothing at all.",
            probe=_right_but_hidden,
        ),
    ),
)


def _swap_factor(m, total, o, scores, v):
    new = torch.maximum(m, scores.amax(-1))
    p, shrink = (scores - new[:, None]).exp(), (m - new).exp()
    return new, total + p.sum(-1) * shrink, o + (p @ v) * shrink[:, None]
