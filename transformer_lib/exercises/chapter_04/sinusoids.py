"""Exercise 4.3: The table of waves."""

from __future__ import annotations

import torch

from transformer_lib.exercises.attention_probes import near
from transformer_lib.exercises.chapter_04.wave_tables import (
    LAYOUTS,
    OTHER_UNITS,
    all_rows_alike,
    by_column,
    equals,
    even,
    odd_accepted,
    odd_error,
    other_base,
    power_first,
    table_or_refusal,
    wave_angles,
    waves,
    woven,
)
from transformer_lib.exercises.exercise import Exercise, Mistake


def sinusoids(T, D):
    if D % 2:
        raise ValueError(f"sines and cosines come in pairs: D must be even; got {D}")
    positions, two_i = torch.arange(T), torch.arange(0, D, 2)
    angles = positions[:, None] / 10000 ** (two_i / D)  # (T, D/2)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)  # (T, D)


SINUSOIDS = Exercise(
    id="4.3",
    title="The table of waves",
    kind="write",
    difficulty="easy",
    minutes=12,
    statement=r"""
Write the sinusoidal vectors of positions $0, 1, …, T - 1$, one position per row, as a tensor of shape `(T,
D)`:

$$PE_{(pos,\,2i)} = \sin\left(pos / 10000^{2i/D}\right), \qquad PE_{(pos,\,2i+1)} = \cos\left(pos /
10000^{2i/D}\right), \qquad i = 0, …, D/2 - 1 .$$

Sine and cosine of one pair stand next to each other. `T` and `D` are plain whole numbers. Pairs need an even
width: for an odd `D`, raise a `ValueError` that says so.
""",
    stub='''import torch


def sinusoids(T, D):
    """The sinusoidal vectors of positions 0 to T - 1, shape (T, D)."""
    raise NotImplementedError
''',
    reference=sinusoids,
    cases=lambda generator: [(3, 4), (11, 14), (101, 26), (5, 7)],
    run=table_or_refusal,
    hints=(
        "First the angles: one row per position, one column per *pair*, shape `(T, D/2)`.",
        "`torch.arange(T)[:, None]` is a column of positions. Divide it by a row, `10000 ** (2 * i / D)` "
        "with `i = torch.arange(D // 2)`.",
        "To put sines into the even columns, write into an empty table: `table[:, 0::2] = …`. Or stack the "
        "two on a new last axis and flatten it away.",
        "An odd width is tested in the first line: `if D % 2: raise ValueError(…)`.",
    ),
    mistakes=(
        Mistake(
            name="whole-number-powers",
            message="Only the first pair turns. Where base and exponent are both whole numbers, PyTorch "
            "computes 10000 to a negative power in whole numbers too, and gets 0 (older versions refuse). "
            "Make one of the two a float: `10000.0`, or an exponent that was divided with `/`.",
            probe=lambda attempt: (
                any("negative integer power" in str(case.error) for case in attempt.cases)
                or equals(*waves("paper", "halves", exponent=lambda i, D: 100.0 * (i > 0)))(attempt)
            ),
        ),
        Mistake(
            name="integer-table",
            message="The table holds whole numbers ({got_dtype}): sines are cut to 0 and ±1. A table made "
            "by `torch.zeros_like` of whole positions is one of whole numbers too.",
            probe=lambda attempt: all(
                not c.got.is_floating_point() and c.got.shape == c.expected.shape for c in even(attempt)
            ),
        ),
        Mistake(
            name="transposed",
            message="The shape is {got_shape}: positions run along the columns. One position per row is "
            "asked for, {expected_shape}.",
            probe=equals(lambda T, D: LAYOUTS["paper"](wave_angles(T, D)).T),
        ),
        Mistake(
            name="half-width",
            message="The shape is {got_shape}, half as wide as {expected_shape}. Each angle is used twice: "
            "once by the sine, once by the cosine.",
            probe=equals(
                lambda T, D: wave_angles(T, D).sin(),
                lambda T, D: wave_angles(T, D).cos(),
                lambda T, D: wave_angles(T, D),
            ),
        ),
        Mistake(
            name="angles-returned",
            message="These are the angles. Their sines and cosines are asked for.",
            probe=equals(
                lambda T, D: woven(wave_angles(T, D), wave_angles(T, D)),
                lambda T, D: torch.cat([wave_angles(T, D)] * 2, 1),
            ),
        ),
        Mistake(
            name="same-for-all-positions",
            message="All rows are the same: the position has no say. This is what a missing `[:, None]` or "
            "a missing colon in a slice often does.",
            probe=all_rows_alike,
        ),
        Mistake(
            name="columns-never-written",
            message="A whole part of the columns is 0 at every position. Which columns does the slice "
            "`0::2` name, which `1::2`?",
            probe=lambda attempt: all(
                (c.got == 0).all(0).sum() >= c.got.shape[1] // 2 - 1
                and c.got.shape == c.expected.shape
                and len(c.got.unique()) > 1
                for c in even(attempt)
            ),
        ),
        Mistake(
            name="halves-layout",
            message="All sines come first, then all cosines. That is how Marian's published weights have "
            "it; the formula here has them in turn, column by column.",
            probe=equals(*waves("halves")),
        ),
        Mistake(
            name="cosines-first",
            message="Sines and cosines have changed places: position 0 should begin with sin 0 = 0.",
            probe=equals(*waves("cosines first", "cosine half first")),
        ),
        Mistake(
            name="one-function-only",
            message="Every column holds the same function. With sines alone, or cosines alone, a pair is no "
            "clock hand: a shift is no longer a turn.",
            probe=equals(*waves("sines", "cosines", "sine half twice")),
        ),
        Mistake(
            name="reshaped-instead-of-woven",
            message="`reshape` and `view` keep all numbers in their order and only cut them into other rows: "
            "here sines and cosines of different positions got into one row. Along which axis do the two "
            "have to be stacked?",
            probe=equals(
                lambda T, D: torch.stack([wave_angles(T, D).sin(), wave_angles(T, D).cos()]).reshape(T, D),
                lambda T, D: torch.cat([wave_angles(T, D).sin(), wave_angles(T, D).cos()]).reshape(T, D),
            ),
        ),
        Mistake(
            name="sine-turned-over",
            message="The sines have the wrong sign: position 1 should begin with +sin 1.",
            probe=equals(lambda T, D: woven(-wave_angles(T, D).sin(), wave_angles(T, D).cos())),
        ),
        Mistake(
            name="another-unit-of-angle",
            message="All angles are off by one and the same factor. pos / 10000^(2i/D) *is* the angle, in "
            "radians; `sin` and `cos` take radians.",
            probe=equals(
                *(lambda T, D, c=c: LAYOUTS["paper"](c * wave_angles(T, D)) for c in OTHER_UNITS),
            ),
        ),
        Mistake(
            name="multiplied-not-raised",
            message="10000 is multiplied by 2i/D; the formula *raises* it to that power, `**`.",
            probe=equals(
                lambda T, D: LAYOUTS["paper"](
                    torch.arange(T)[:, None] / 10000 * (torch.arange(0, D, 2) / D).double()
                ),
            ),
        ),
        Mistake(
            name="pairs-counted-from-one",
            message="Your first pair has the speed of the second: i is counted from 0, so that the first "
            "pair turns by one radian per word.",
            probe=equals(*waves("paper", "halves", exponent=lambda i, D: 2 * (i + 1) / D)),
        ),
        Mistake(
            name="positions-from-one",
            message="Your first row is that of position 1. Positions are counted from 0.",
            probe=equals(*waves("paper", "halves", first=1)),
        ),
        Mistake(
            name="power-before-division",
            message="The first pair is far off. Python takes the power first: in `10000 ** 2 * i / D` only "
            "the 2 is an exponent. Put the whole exponent in parentheses.",
            probe=power_first,
        ),
        Mistake(
            name="exponent-doubled",
            message="The exponent is twice as large as it should be: the waves grow too fast, and most "
            "columns hardly move. `torch.arange(0, D, 2)` *is* 2i already.",
            probe=equals(*waves("paper", "halves", exponent=lambda i, D: 4 * i / D)),
        ),
        Mistake(
            name="exponent-halved",
            message="The exponent is half as large as it should be: even the slowest wave is short. Where "
            "is the 2 of 2i/D?",
            probe=equals(*waves("paper", "halves", exponent=lambda i, D: i / D)),
        ),
        Mistake(
            name="exponent-cut-to-zero",
            message="All columns turn at the same speed: the exponent is 0 everywhere. `//` cuts a fraction "
            "to a whole number.",
            probe=equals(
                *waves("paper", "halves", exponent=lambda i, D: 0 * i),
                *waves("paper", "halves", exponent=lambda i, D: 2 * i // D),
            ),
        ),
        Mistake(
            name="multiplied-instead-of-divided",
            message="The position is multiplied by 10000^(2i/D) instead of divided by it: later columns "
            "turn by thousands of radians per word.",
            probe=lambda attempt: any(
                near(attempt.call(3, 4), table(3, 4))  # 100 radians per word, not thousands: no rounding
                for table in waves("paper", "halves", exponent=lambda i, D: -2 * i / D)
            ),
        ),
        Mistake(
            name="cosine-has-its-own-wave",
            message="The cosine of a pair has another wavelength than its sine: the exponent counts "
            "columns. Both columns of a pair have the *same* i.",
            probe=equals(
                by_column,
                lambda T, D: woven(
                    wave_angles(T, D).sin(), wave_angles(T, D, exponent=lambda i, D: (2 * i + 1) / D).cos()
                ),
                lambda T, D: woven(
                    wave_angles(T, D).sin(),
                    wave_angles(T, D, exponent=lambda i, D: 2 * (2 * i + 1) / D).cos(),
                ),
                lambda T, D: woven(
                    wave_angles(T, D, exponent=lambda i, D: 4 * i / D).sin(),
                    wave_angles(T, D, exponent=lambda i, D: (4 * i + 2) / D).cos(),
                ),
            ),
        ),
        Mistake(
            name="last-wave-at-the-base",
            message="Your waves end at exactly 10000 · 2π: the exponent is i/(D/2 − 1). Some programs do "
            "that. The formula here divides 2i by D.",
            probe=equals(*waves("paper", "halves", exponent=lambda i, D: i / max(D / 2 - 1, 1))),
        ),
        Mistake(
            name="other-base",
            message="The shape of the waves is right, but they grow with another base than 10000.",
            probe=other_base,
        ),
        Mistake(
            name="odd-width-error",
            message="An odd width ends in another error than a `ValueError` ({error}). Whoever meets that "
            "will not know why: test the width first, and say in the error what is wrong with it.",
            probe=odd_error,
        ),
        Mistake(
            name="odd-width-accepted",
            message="Even widths are right. For an odd width your code returns something without a word; a "
            "`ValueError` is asked for.",
            probe=odd_accepted,
        ),
    ),
)
