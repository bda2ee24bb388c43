"""Exercise 11.4: Rise, then fall."""

from __future__ import annotations

import math

import torch

from transformer_lib.exercises.chapter_11.shared import result_is
from transformer_lib.exercises.exercise import Exercise, Mistake


def learning_rates(peak, warmup, steps):
    rates = []
    for step in range(1, steps + 1):
        if step <= warmup:
            rates.append(peak * step / warmup)
        else:
            done = (step - warmup) / (steps - warmup)  # share of the fall that is done
            rates.append(peak * (1 + math.cos(math.pi * done)) / 2)
    return torch.tensor(rates)


def _each(rate):
    """All rates, from a function of the step, the peak, warmup and steps."""

    def rates(peak, warmup, steps):
        return torch.tensor([float(rate(step, peak, warmup, steps)) for step in range(1, steps + 1)])

    return rates


def _right(s, peak, w, n):
    if s <= w:
        return peak * s / w
    return peak * (1 + math.cos(math.pi * (s - w) / (n - w))) / 2


def _fall(done, peak=1.0):
    return peak * (1 + math.cos(math.pi * done)) / 2


def _rise_then(fall):
    """The right rise, and another fall."""
    return _each(lambda s, peak, w, n: peak * s / w if s <= w else fall(s, peak, w, n))


def _then_fall(rise):
    """Another rise, and the right fall."""
    return _each(lambda s, peak, w, n: rise(s, peak, w, n) if s <= w else _right(s, peak, w, n))


def _only_zero_fails(attempt) -> bool:
    """All is right where there is a warm-up, and the case without one is not."""
    with_rise = [case for case in attempt.cases if case.args[1] > 0]
    right = all(
        case.error is None and torch.allclose(case.got.double(), case.expected.double(), atol=1e-4)
        for case in with_rise
    )
    return right and len(with_rise) < len(attempt.cases)


SCHEDULE = Exercise(
    id="11.4",
    title="Rise, then fall",
    kind="write",
    difficulty="medium",
    minutes=12,
    statement=r"""
Write the learning rates of a whole run. Steps are counted from **1** to `steps`:

$$\text{rate}(s) = \begin{cases} \text{peak} \cdot \dfrac{s}{w} & \text{for } s \le w \\[2ex]
\dfrac{\text{peak}}{2}\left(1 + \cos\left(\pi\,\dfrac{s - w}{n - w}\right)\right) & \text{for } s > w
\end{cases}$$

with $w$ = `warmup` and $n$ = `steps`: a straight line up to the peak, then half a cosine down to 0. Return
a tensor of shape `(steps,)`. `warmup` is at least 0 and smaller than `steps`; with 0 there is no rise at
all, and the fall begins at once.
""",
    stub='''import math

import torch


def learning_rates(peak, warmup, steps):
    """The learning rate of every step, a tensor of shape (steps,)."""
    raise NotImplementedError
''',
    reference=learning_rates,
    cases=lambda generator: [(1.0, 2, 5), (0.7, 0, 5), (3.0, 3, 13), (2.0, 11, 17)],
    hints=(
        "The first step is step 1: its rate is peak / warmup, not 0. Which is the last?",
        "Two cases, one `if`: up to and including step `warmup` the line, after it the cosine.",
        "The cosine counts from the end of the rise: at s = warmup it has done nothing, at s = steps all.",
    ),
    mistakes=(
        Mistake(
            name="warmup-zero",
            message="Right where there is a warm-up. With `warmup` = 0 it fails: nothing may be divided "
            "by it then.",
            probe=_only_zero_fails,
        ),
        Mistake(
            name="steps-from-zero",
            message="The steps are counted from 0 here: the first update has rate {got_min} and the last is "
            "not reached. They run from 1 to `steps`.",
            probe=result_is(
                _each(lambda s, peak, w, n: _right(s - 1, peak, w, n) if w or s > 1 else peak),
                _each(lambda s, peak, w, n: peak * (s - 1) / w if s - 1 < w else _right(s - 1, peak, w, n)),
            ),
        ),
        Mistake(
            name="no-warmup",
            message="There is no rise: the first rate is already the highest. The first `warmup` steps go "
            "up in a line.",
            probe=result_is(
                _each(lambda s, peak, w, n: _fall(s / n, peak)),
                _each(lambda s, peak, w, n: peak if s <= w else _right(s, peak, w, n)),
                _each(lambda s, peak, w, n: _fall((s - 1) / n, peak)),
            ),
        ),
        Mistake(
            name="fall-counted-from-the-start",
            message="The rise is right. The cosine counts from step 0 instead of from the end of the "
            "warm-up, so that the rate jumps where the two meet.",
            probe=result_is(_rise_then(lambda s, peak, w, n: _fall(s / n, peak))),
        ),
        Mistake(
            name="fall-too-slow",
            message="The rise is right. The fall counts from the end of the warm-up, but is divided by all "
            "`steps`: it does not arrive at 0.",
            probe=result_is(_rise_then(lambda s, peak, w, n: _fall((s - w) / n, peak))),
        ),
        Mistake(
            name="whole-cosine",
            message="The cosine runs through a whole period: down to 0 in the middle, and up again. Half of "
            "it is π.",
            probe=result_is(_rise_then(lambda s, peak, w, n: _fall(2 * (s - w) / (n - w), peak))),
        ),
        Mistake(
            name="below-zero",
            message="The rates become negative: the lowest is {got_min}. A cosine runs from 1 to −1; the "
            "formula lifts it and halves it.",
            probe=result_is(_rise_then(lambda s, peak, w, n: peak * math.cos(math.pi * (s - w) / (n - w)))),
        ),
        Mistake(
            name="quarter-cosine",
            message="A quarter of a cosine (π/2) also ends at 0, but with another curve: it is steepest at "
            "the end.",
            probe=result_is(
                _rise_then(lambda s, peak, w, n: peak * math.cos(math.pi / 2 * (s - w) / (n - w)))
            ),
        ),
        Mistake(
            name="half-forgotten",
            message="The fall begins at twice the peak: 1 + cos runs from 2 to 0.",
            probe=result_is(_rise_then(lambda s, peak, w, n: 2 * _right(s, peak, w, n))),
        ),
        Mistake(
            name="fall-upside-down",
            message="After the warm-up the rate starts at 0 and rises again: the sign of the cosine is the "
            "wrong way round.",
            probe=result_is(_rise_then(lambda s, peak, w, n: peak - _right(s, peak, w, n))),
        ),
        Mistake(
            name="degrees-for-radians",
            message="The cosine hardly moves: `math.cos` wants its angle in radians, where half a turn "
            "is π, not 180 and not 1.",
            probe=result_is(
                _rise_then(lambda s, peak, w, n: peak * (1 + math.cos((s - w) / (n - w))) / 2),
                _rise_then(lambda s, peak, w, n: peak * (1 + math.cos(180 * (s - w) / (n - w))) / 2),
            ),
        ),
        Mistake(
            name="straight-fall",
            message="The fall is a straight line. Asked for is half a cosine.",
            probe=result_is(_rise_then(lambda s, peak, w, n: peak * (n - s) / (n - w))),
        ),
        Mistake(
            name="constant-after-the-rise",
            message="After the warm-up the rate stays at its peak. It should fall to 0.",
            probe=result_is(_rise_then(lambda s, peak, w, n: peak)),
        ),
        Mistake(
            name="peak-forgotten",
            message="The highest rate is {got_max}, whatever the peak is.",
            probe=result_is(_each(lambda s, peak, w, n: _right(s, 1.0, w, n))),
        ),
        Mistake(
            name="rise-over-all-steps",
            message="The rise is divided by `steps`, so that it does not reach the peak before the fall "
            "begins.",
            probe=result_is(_then_fall(lambda s, peak, w, n: peak * s / n)),
        ),
        Mistake(
            name="root-of-the-paper",
            message="After the warm-up the rate falls with the root of the step, as in the original paper. "
            "Asked for is half a cosine.",
            probe=result_is(
                _rise_then(lambda s, peak, w, n: peak * (max(w, 1) / s) ** 0.5),
            ),
        ),
    ),
)
