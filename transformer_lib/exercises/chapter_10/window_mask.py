"""Exercise 10.5: A window on the past."""

from __future__ import annotations

from collections.abc import Callable

import torch

from transformer_lib.exercises.attention_probes import Probe
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def window_mask(T, S, window):
    i = torch.arange(T)[:, None] + S - T  # places of the queries, among all S words
    j = torch.arange(S)[None, :]
    return (j <= i) & (j > i - window)


def _sizes(generator: torch.Generator) -> list[tuple]:
    return [(5, 5, 2), (3, 7, 3), (7, 7, 1), (1, 11, 5), (5, 5, 13), (7, 11, 4)]


def _truth(mask: torch.Tensor) -> torch.Tensor:
    """Which pairs are open: True, 1, or 0 among −∞."""
    mask = torch.as_tensor(mask)
    if mask.dtype == torch.bool:
        return mask
    return mask != 0


def _mask_is(*formulas: Callable) -> Probe:
    """A probe: on every case the mask is one and the same of these functions of i, j, T, S and w."""

    def is_it(formula, case) -> bool:
        T, S, w = case.args
        i, j = torch.arange(T)[:, None], torch.arange(S)[None, :]
        return torch.equal(_truth(case.got), formula(i, j, T, S, w).expand(T, S))

    def probe(attempt: Attempt) -> bool:
        return any(all(is_it(formula, case) for case in attempt.cases) for formula in formulas)

    return probe


def _numbers(attempt: Attempt) -> bool:
    """The right pairs, as numbers: 1 and 0, or 0 and −∞ (or very low) to be added."""

    def right(case) -> bool:
        got = torch.as_tensor(case.got)
        ones = got.shape == case.expected.shape and torch.equal(got == 1, case.expected)
        added = got.shape == case.expected.shape and torch.equal(got == 0, case.expected) and (got <= 0).all()
        return got.dtype != torch.bool and bool(ones or added)

    return all(right(case) for case in attempt.cases)


def _leading_axes(attempt: Attempt) -> bool:
    return all(
        torch.as_tensor(case.got).dim() > 2
        and torch.equal(_truth(case.got).reshape(-1, *case.expected.shape)[0], case.expected)
        for case in attempt.cases
    )


WINDOW = Exercise(
    id="10.5",
    title="A window on the past",
    kind="write",
    difficulty="easy",
    minutes=10,
    statement=r"""
Write the mask of a sliding window. `S` words are there in all, and the **last** `T` of them ask, so
$1 \le T \le S$ (the others were read earlier, and their keys and values were kept). Each word may read
the `window` words **up to and with itself**: with a window of 1 only itself, with a window of 3 itself
and the two words before it. Nobody reads the future.

Return a tensor of booleans of shape `(T, S)`, `True` where query `i` **may** read word `j`. At the
beginning of the text there are fewer words to read; the window may be larger than the whole text.
""",
    stub='''import torch


def window_mask(T, S, window):
    """Booleans (T, S): True where the query may read the word."""
    raise NotImplementedError
''',
    reference=window_mask,
    cases=_sizes,
    hints=(
        "Row i belongs to which place in the text? With T = S it is i. With a cache, S − T words come "
        "before.",
        "Make a column of the queries' places, `torch.arange(T)[:, None]` and something, and a row of "
        "the words' places.",
        "Two conditions, joined by `&`: not later than the query, and not too far back. Check with a "
        "window of 1.",
    ),
    mistakes=(
        Mistake(
            name="numbers-not-booleans",
            message="The right pairs, but as numbers ({got_dtype}). A boolean mask says True or False; "
            "numbers would be added to the scores.",
            probe=_numbers,
        ),
        Mistake(
            name="axes-in-front",
            message="The right pairs, but with axes in front: shape {got_shape}. Asked for is "
            "{expected_shape}.",
            probe=_leading_axes,
        ),
        Mistake(
            name="inverted",
            message="True and False have changed places: True stands where the word may *not* be read. "
            "(Some torch classes mean it that way; this course does not.)",
            probe=_mask_is(lambda i, j, T, S, w: ~((j <= i + S - T) & (j > i + S - T - w))),
        ),
        Mistake(
            name="one-too-many",
            message="The window holds one word too many: with a window of 1 a word should read only itself.",
            probe=_mask_is(
                lambda i, j, T, S, w: (j <= i + S - T) & (j >= i + S - T - w),
                lambda i, j, T, S, w: (j <= i + S - T + 1) & (j > i + S - T - w),
            ),
        ),
        Mistake(
            name="one-too-few",
            message="The window holds one word too few: with a window of 1 there is nothing left to read.",
            probe=_mask_is(
                lambda i, j, T, S, w: (j <= i + S - T) & (j > i + S - T - w + 1),
            ),
        ),
        Mistake(
            name="itself-hidden",
            message="A word cannot read itself. The window ends *with* the word, not before it.",
            probe=_mask_is(
                lambda i, j, T, S, w: (j < i + S - T) & (j > i + S - T - w),
                lambda i, j, T, S, w: (j < i + S - T) & (j >= i + S - T - w),
            ),
        ),
        Mistake(
            name="two-sided",
            message="The window looks in both directions: words read the future. An encoder may do that, "
            "here nobody may.",
            probe=_mask_is(
                lambda i, j, T, S, w: (i + S - T - j).abs() < w,
                lambda i, j, T, S, w: (i + S - T - j).abs() <= w,
                lambda i, j, T, S, w: (i - j).abs() < w,
                lambda i, j, T, S, w: (i - j).abs() <= w,
                lambda i, j, T, S, w: (i + S - T - j).abs() <= w // 2,
            ),
        ),
        Mistake(
            name="not-causal",
            message="Only one side is bounded: words too far back are hidden, the whole future is visible.",
            probe=_mask_is(
                lambda i, j, T, S, w: j > i + S - T - w,
                lambda i, j, T, S, w: j >= i + S - T - w,
                lambda i, j, T, S, w: j > i - w,
            ),
        ),
        Mistake(
            name="no-window",
            message="The future is hidden, but nothing else: this is the causal mask. Words too far back "
            "must be hidden too.",
            probe=_mask_is(lambda i, j, T, S, w: j <= i + S - T, lambda i, j, T, S, w: j <= i),
        ),
        Mistake(
            name="window-on-the-future",
            message="The window looks forward: each word reads itself and words *after* it. Rows ask, "
            "columns are read.",
            probe=_mask_is(
                lambda i, j, T, S, w: (j >= i + S - T) & (j < i + S - T + w),
                lambda i, j, T, S, w: (j >= i) & (j < i + w),
            ),
        ),
        Mistake(
            name="far-for-near",
            message="The window is turned inside out: the words *far* back can be read and those near by "
            "cannot.",
            probe=_mask_is(
                lambda i, j, T, S, w: j <= i + S - T - w,
                lambda i, j, T, S, w: j < i + S - T - w,
            ),
        ),
        Mistake(
            name="aligned-to-the-start",
            message="With T = S it is right. When fewer words ask than are there, the queries are the "
            "*last* T: row 0 belongs to place S − T.",
            probe=_mask_is(
                lambda i, j, T, S, w: (j <= i) & (j > i - w),
                lambda i, j, T, S, w: (j <= i) & (j >= i - w),
            ),
        ),
        Mistake(
            name="fixed-blocks",
            message="The text is cut into pieces of the window's length, and words read within their "
            "piece. The window should move along with the word.",
            probe=_mask_is(
                lambda i, j, T, S, w: (j <= i + S - T) & ((i + S - T) // w == j // w),
                lambda i, j, T, S, w: (i + S - T) // w == j // w,
            ),
        ),
    ),
)
