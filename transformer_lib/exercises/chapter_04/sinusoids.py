"""Exercise 4.3: The table of waves."""

from __future__ import annotations

import torch

from transformer_lib.exercises.attention_probes import Probe, near
from transformer_lib.exercises.exercise import Attempt, Case, Exercise, Mistake

REFUSED, ACCEPTED = "a ValueError", "no error"


def sinusoids(T, D):
    if D % 2:
        raise ValueError(f"sines and cosines come in pairs: D must be even; got {D}")
    positions, two_i = torch.arange(T), torch.arange(0, D, 2)
    angles = positions[:, None] / 10000 ** (two_i / D)  # (T, D/2)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)  # (T, D)


def _table_or_refusal(f, T, D):
    """The table; for an odd width, whether it was refused."""
    if D % 2 == 0:
        return f(T, D)
    try:
        f(T, D)
    except NotImplementedError:
        raise
    except ValueError:
        return REFUSED
    return ACCEPTED


def _angles(T, D, exponent=lambda i, D: 2 * i / D, base=10000.0, first=0):
    i, positions = torch.arange(D // 2).double(), torch.arange(first, first + T).double()
    return positions[:, None] * base ** -exponent(i, D)


def _woven(one, other):
    return torch.stack([one, other], dim=-1).flatten(1)


_LAYOUTS = {
    "paper": lambda a: _woven(a.sin(), a.cos()),
    "halves": lambda a: torch.cat([a.sin(), a.cos()], 1),
    "cosines first": lambda a: _woven(a.cos(), a.sin()),
    "cosine half first": lambda a: torch.cat([a.cos(), a.sin()], 1),
    "sines": lambda a: _woven(a.sin(), a.sin()),
    "cosines": lambda a: _woven(a.cos(), a.cos()),
    "sine half twice": lambda a: torch.cat([a.sin(), a.sin()], 1),
}


def _even(attempt: Attempt) -> list[Case]:
    return [case for case in attempt.cases if case.args[1] % 2 == 0]


def _is(*tables) -> Probe:
    """A probe: at every even width the result is one and the same of these functions of T and D."""
    return lambda attempt: any(all(near(c.got, f(*c.args)) for c in _even(attempt)) for f in tables)


def _waves(*layouts: str, **angles) -> list:
    return [lambda T, D, make=_LAYOUTS[name]: make(_angles(T, D, **angles)) for name in layouts]


def _by_column(T, D):
    columns = torch.arange(D).double()
    angles = torch.arange(T).double()[:, None] * 10000.0 ** (-columns / D)
    return torch.where(columns % 2 == 0, angles.sin(), angles.cos())


def _other_base(attempt: Attempt) -> bool:
    sine = attempt.call(2, 4)[1, 2].double()  # sin(base^(−1/2))
    base = float(sine.asin()) ** -2
    return base > 1.01 and abs(base / 10000 - 1) > 0.01 and _is(*_waves("paper", base=base))(attempt)


def _all_rows_alike(attempt: Attempt) -> bool:
    return all(near(c.got, c.got[:1].expand(*c.expected.shape)) for c in _even(attempt))


def _even_right(attempt: Attempt) -> bool:
    return all(c.error is None and near(c.got, c.expected) for c in _even(attempt))


def _odd_error(attempt: Attempt) -> bool:
    return _even_right(attempt) and any(case.error is not None for case in attempt.cases)


def _odd_accepted(attempt: Attempt) -> bool:
    return _even_right(attempt) and any(case.got == ACCEPTED for case in attempt.cases if case.args[1] % 2)


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
    run=_table_or_refusal,
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
                or _is(*_waves("paper", "halves", exponent=lambda i, D: 100.0 * (i > 0)))(attempt)
            ),
        ),
        Mistake(
            name="integer-table",
            message="The table holds whole numbers ({got_dtype}): sines are cut to 0 and ±1. A table made "
            "by `torch.zeros_like` of whole positions is one of whole numbers too.",
            probe=lambda attempt: all(
                not c.got.is_floating_point() and c.got.shape == c.expected.shape for c in _even(attempt)
            ),
        ),
        Mistake(
            name="transposed",
            message="The shape is {got_shape}: positions run along the columns. One position per row is "
            "asked for, {expected_shape}.",
            probe=_is(lambda T, D: _LAYOUTS["paper"](_angles(T, D)).T),
        ),
        Mistake(
            name="half-width",
            message="The shape is {got_shape}, half as wide as {expected_shape}. Each angle is used twice: "
            "once by the sine, once by the cosine.",
            probe=_is(
                lambda T, D: _angles(T, D).sin(), lambda T, D: _angles(T, D).cos(), lambda T, D: _angles(T, D)
            ),
        ),
        Mistake(
            name="angles-returned",
            message="These are the angles. Their sines and cosines are asked for.",
            probe=_is(
                lambda T, D: _woven(_angles(T, D), _angles(T, D)),
                lambda T, D: torch.cat([_angles(T, D)] * 2, 1),
            ),
        ),
        Mistake(
            name="same-for-all-positions",
            message="All rows are the same: the position has no say. This is what a missing `[:, None]` or "
            "a missing colon in a slice often does.",
            probe=_all_rows_alike,
        ),
        Mistake(
            name="columns-never-written",
            message="A whole part of the columns is 0 at every position. Which columns does the slice "
            "`0::2` name, which `1::2`?",
            probe=lambda attempt: all(
                (c.got == 0).all(0).sum() >= c.got.shape[1] // 2 - 1
                and c.got.shape == c.expected.shape
                and len(c.got.unique()) > 1
                for c in _even(attempt)
            ),
        ),
        Mistake(
            name="halves-layout",
            message="All sines come first, then all cosines. That is how Marian's published weights have "
            "it; the formula here has them in turn, column by column.",
            probe=_is(*_waves("halves")),
        ),
        Mistake(
            name="cosines-first",
            message="Sines and cosines have changed places: position 0 should begin with sin 0 = 0.",
            probe=_is(*_waves("cosines first", "cosine half first")),
        ),
        Mistake(
            name="one-function-only",
            message="Every column holds the same function. With sines alone, or cosines alone, a pair is no "
            "clock hand: a shift is no longer a turn.",
            probe=_is(*_waves("sines", "cosines", "sine half twice")),
        ),
        Mistake(
            name="positions-from-one",
            message="Your first row is that of position 1. Positions are counted from 0.",
            probe=_is(*_waves("paper", "halves", first=1)),
        ),
        Mistake(
            name="exponent-doubled",
            message="The exponent is twice as large as it should be: the waves grow too fast, and most "
            "columns hardly move. `torch.arange(0, D, 2)` *is* 2i already.",
            probe=_is(*_waves("paper", "halves", exponent=lambda i, D: 4 * i / D)),
        ),
        Mistake(
            name="exponent-halved",
            message="The exponent is half as large as it should be: even the slowest wave is short. Where "
            "is the 2 of 2i/D?",
            probe=_is(*_waves("paper", "halves", exponent=lambda i, D: i / D)),
        ),
        Mistake(
            name="exponent-cut-to-zero",
            message="All columns turn at the same speed: the exponent is 0 everywhere. `//` cuts a fraction "
            "to a whole number.",
            probe=_is(
                *_waves("paper", "halves", exponent=lambda i, D: 0 * i),
                *_waves("paper", "halves", exponent=lambda i, D: 2 * i // D),
            ),
        ),
        Mistake(
            name="multiplied-instead-of-divided",
            message="The position is multiplied by 10000^(2i/D) instead of divided by it: later columns "
            "turn by thousands of radians per word.",
            probe=lambda attempt: any(
                near(attempt.call(3, 4), table(3, 4))  # 100 radians per word, not thousands: no rounding
                for table in _waves("paper", "halves", exponent=lambda i, D: -2 * i / D)
            ),
        ),
        Mistake(
            name="cosine-has-its-own-wave",
            message="The cosine of a pair has another wavelength than its sine: the exponent counts "
            "columns. Both columns of a pair have the *same* i.",
            probe=_is(
                _by_column,
                lambda T, D: _woven(
                    _angles(T, D).sin(), _angles(T, D, exponent=lambda i, D: (2 * i + 1) / D).cos()
                ),
                lambda T, D: _woven(
                    _angles(T, D).sin(), _angles(T, D, exponent=lambda i, D: 2 * (2 * i + 1) / D).cos()
                ),
                lambda T, D: _woven(
                    _angles(T, D, exponent=lambda i, D: 4 * i / D).sin(),
                    _angles(T, D, exponent=lambda i, D: (4 * i + 2) / D).cos(),
                ),
            ),
        ),
        Mistake(
            name="last-wave-at-the-base",
            message="Your waves end at exactly 10000 · 2π: the exponent is i/(D/2 − 1). Some programs do "
            "that. The formula here divides 2i by D.",
            probe=_is(*_waves("paper", "halves", exponent=lambda i, D: i / max(D / 2 - 1, 1))),
        ),
        Mistake(
            name="other-base",
            message="The shape of the waves is right, but they grow with another base than 10000.",
            probe=_other_base,
        ),
        Mistake(
            name="odd-width-error",
            message="An odd width ends in another error than a `ValueError` ({error}). Whoever meets that "
            "will not know why: test the width first, and say in the error what is wrong with it.",
            probe=_odd_error,
        ),
        Mistake(
            name="odd-width-accepted",
            message="Even widths are right. For an odd width your code returns something without a word; a "
            "`ValueError` is asked for.",
            probe=_odd_accepted,
        ),
    ),
)
