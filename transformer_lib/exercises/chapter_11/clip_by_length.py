"""Exercise 11.5: A speed limit for gradients."""

from __future__ import annotations

import math

import torch

from transformer_lib.exercises.chapter_11.shared import result_is, same
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def clip_by_length(gradients, longest):
    length = math.sqrt(sum(float(g.square().sum()) for g in gradients))
    factor = min(1.0, longest / length) if length > 0 else 1.0
    return tuple(g * factor for g in gradients)


def _cases(generator: torch.Generator) -> list[tuple]:
    def draw(size, *shapes):
        return [size * torch.randn(shape, generator=generator) for shape in shapes]

    return [
        ([torch.tensor([3.0, 0.0]), torch.tensor([[-4.0, 12.0, 0.0]])], 2.6),  # length 13
        (draw(2.0, (2, 3), (5,), (7, 2)), 3.0),
        (draw(0.05, (3,), (5, 2)), 1.0),  # short enough
        ([torch.zeros(2), torch.zeros(3, 2)], 0.5),
        (draw(4.0, (11,), (3, 5), (2, 7), (2,)), 0.7),
        ([torch.tensor([1.5, 0.0]), torch.tensor([2.0])], 2.5),  # just as long as it may be
    ]


def _by(factor):
    """All gradients times one factor of (gradients, longest)."""
    return lambda gradients, longest: tuple(g * factor(gradients, longest) for g in gradients)


def _each(change):
    return lambda gradients, longest: tuple(change(g, longest) for g in gradients)


def _norm(gradients, p=2):
    return float(torch.cat([g.flatten() for g in gradients]).norm(p))


def _up_to(length, longest):
    return min(1.0, longest / length) if length > 0 else 1.0


def _times(length, longest):
    return longest / length if length > 0 else 1.0


def _only_zeros_fail(attempt: Attempt) -> bool:
    """Right where there is a gradient; not where all are 0."""

    def right(case):
        return case.error is None and same(case.got, case.expected)

    zero = [not any(g.any() for g in case.args[0]) for case in attempt.cases]
    return all(right(case) != is_zero for case, is_zero in zip(attempt.cases, zero, strict=True))


CLIP = Exercise(
    id="11.5",
    title="A speed limit for gradients",
    kind="write",
    difficulty="medium",
    minutes=12,
    statement=r"""
`gradients` is a list of tensors of any shapes: the gradients of all weights of a model. Together they are
one long vector, whose length is the root of the sum of the squares of **all** their numbers,

$$\|g\| = \sqrt{\textstyle\sum_n g_n^2} .$$

If this length is above `longest`, all gradients are multiplied by one factor, so that together they have
length `longest`. Otherwise they stay as they are. Return the gradients as a tuple (or a list) of new
tensors, in the same order; leave those you were given unchanged. All of them may be 0: then they stay 0.

Write it out: `clip_grad_norm_` does not count as practice.
""",
    stub='''import torch


def clip_by_length(gradients, longest):
    """Gradients with a length of at most `longest` together: a tuple of new tensors."""
    raise NotImplementedError
''',
    reference=clip_by_length,
    cases=_cases,
    hints=(
        "One length for the whole list: add up the squares of every tensor first, take the root last.",
        "The factor is longest / length, but only where that makes the gradients shorter.",
        "`min(1, longest / length)` covers both. What if the length is 0?",
    ),
    mistakes=(
        Mistake(
            name="clipped-one-by-one",
            message="Each tensor was shortened by its own length. Then the direction of the step changes. "
            "One length, of all tensors together, decides.",
            probe=result_is(
                _each(lambda g, longest: g * _up_to(float(g.norm()), longest)),
                _each(lambda g, longest: g * _times(float(g.norm()), longest)),
            ),
        ),
        Mistake(
            name="clipped-by-value",
            message="Each number was held within ±`longest` by itself. That bends the direction; shortening "
            "multiplies all by one factor.",
            probe=result_is(_each(lambda g, longest: g.clamp(-longest, longest))),
        ),
        Mistake(
            name="short-ones-stretched",
            message="Gradients that were short enough came back longer. The limit only shortens.",
            probe=result_is(
                _by(lambda g, longest: _times(_norm(g), longest)),
                _by(lambda g, longest: longest / _norm(g) if _norm(g) else math.nan),
                _by(lambda g, longest: longest / (_norm(g) + 1e-6)),
            ),
        ),
        Mistake(
            name="upside-down",
            message="Long gradients stay, short ones are stretched: the comparison is the wrong way round.",
            probe=result_is(
                _by(lambda g, longest: max(1.0, _times(_norm(g), longest))),
            ),
        ),
        Mistake(
            name="root-forgotten",
            message="The sum of the squares was used as the length. Its root is missing.",
            probe=result_is(
                _by(lambda g, longest: _up_to(_norm(g) ** 2, longest)),
                _by(lambda g, longest: _times(_norm(g) ** 2, longest) if _norm(g) > longest else 1.0),
            ),
        ),
        Mistake(
            name="lengths-added",
            message="The lengths of the tensors were added. It is the *squares* that add up: 3 and 4 at "
            "right angles are 5 together, not 7.",
            probe=result_is(_by(lambda gs, longest: _up_to(sum(float(g.norm()) for g in gs), longest))),
        ),
        Mistake(
            name="absolute-values-added",
            message="The length was taken as the sum of all absolute values. The length of a vector is the "
            "root of the sum of squares.",
            probe=result_is(_by(lambda gs, longest: _up_to(_norm(gs, 1), longest))),
        ),
        Mistake(
            name="largest-number",
            message="The largest single number was taken for the length. All numbers count.",
            probe=result_is(_by(lambda gs, longest: _up_to(_norm(gs, math.inf), longest))),
        ),
        Mistake(
            name="mean-for-sum",
            message="The squares were averaged, not added up: this is the typical size of one number, not "
            "the length of all.",
            probe=result_is(
                _by(lambda gs, longest: _up_to(_norm(gs) / sum(g.numel() for g in gs) ** 0.5, longest)),
                _by(lambda gs, longest: _up_to(_norm(gs) / len(gs) ** 0.5, longest)),
            ),
        ),
        Mistake(
            name="longest-forgotten",
            message="What is too long was shortened to length 1, not to `longest`.",
            probe=result_is(
                _by(lambda g, longest: 1 / _norm(g) if _norm(g) > longest else 1.0),
                _by(lambda g, longest: _up_to(_norm(g), 1.0)),
            ),
        ),
        Mistake(
            name="last-length-only",
            message="The length of one tensor (the first or the last of the list) decides for all. A "
            "variable that each round of a loop overwrites does that.",
            probe=result_is(
                _by(lambda gs, longest: _up_to(_norm(gs[-1:]), longest)),
                _by(lambda gs, longest: _up_to(_norm(gs[:1]), longest)),
            ),
        ),
        Mistake(
            name="thrown-away",
            message="Gradients that were too long became 0. They should be shortened, not lost.",
            probe=result_is(_by(lambda g, longest: float(_norm(g) <= longest))),
        ),
        Mistake(
            name="nothing-changed",
            message="All gradients came back as they were.",
            probe=result_is(_by(lambda g, longest: 1.0)),
        ),
        Mistake(
            name="zero-divided",
            message="Right, but not where all gradients are 0: their length is 0, and nothing may be "
            "divided by it.",
            probe=_only_zeros_fail,
        ),
    ),
)
