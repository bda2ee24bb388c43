"""Tables of waves with one thing changed, and how exercise 4.3 looks at the learner's."""

from __future__ import annotations

import math

import torch

from transformer_lib.exercises.attention_probes import Probe, near
from transformer_lib.exercises.exercise import Attempt, Case

REFUSED, ACCEPTED = "a ValueError", "no error"


def table_or_refusal(f, T, D):
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


def wave_angles(T, D, exponent=lambda i, D: 2 * i / D, base=10000.0, first=0):
    i, positions = torch.arange(D // 2).double(), torch.arange(first, first + T).double()
    return positions[:, None] * base ** -exponent(i, D)


def woven(one, other):
    return torch.stack([one, other], dim=-1).flatten(1)


LAYOUTS = {
    "paper": lambda a: woven(a.sin(), a.cos()),
    "halves": lambda a: torch.cat([a.sin(), a.cos()], 1),
    "cosines first": lambda a: woven(a.cos(), a.sin()),
    "cosine half first": lambda a: torch.cat([a.cos(), a.sin()], 1),
    "sines": lambda a: woven(a.sin(), a.sin()),
    "cosines": lambda a: woven(a.cos(), a.cos()),
    "sine half twice": lambda a: torch.cat([a.sin(), a.sin()], 1),
}


# degrees, turns, half turns
OTHER_UNITS = (math.pi / 180, 2 * math.pi, math.pi, 1 / (2 * math.pi))


def even(attempt: Attempt) -> list[Case]:
    return [case for case in attempt.cases if case.args[1] % 2 == 0]


def equals(*tables) -> Probe:
    """A probe: at every even width the result is one and the same of these functions of T and D."""
    return lambda attempt: any(all(near(c.got, f(*c.args)) for c in even(attempt)) for f in tables)


def waves(*layouts: str, **changed) -> list:
    return [lambda T, D, make=LAYOUTS[name]: make(wave_angles(T, D, **changed)) for name in layouts]


def by_column(T, D):
    columns = torch.arange(D).double()
    a = torch.arange(T).double()[:, None] * 10000.0 ** (-columns / D)
    return torch.where(columns % 2 == 0, a.sin(), a.cos())


def other_base(attempt: Attempt) -> bool:
    sine = attempt.call(2, 4)[1, 2].double()  # sin(base^(−1/2))
    base = float(sine.asin()) ** -2
    return base > 1.01 and abs(base / 10000 - 1) > 0.01 and equals(*waves("paper", base=base))(attempt)


def power_first(attempt: Attempt) -> bool:
    """10000 ** 2 * i / D, or 10000 ** two_i / D: the first pair is divided by 0, or by 1/D."""

    def first_pair(case: Case) -> bool:
        T, D = case.args
        places = torch.arange(T).double()
        nan = case.got[:, 0].isnan().all() and not case.got.isnan().all()
        return case.got.shape == (T, D) and bool(nan or near(case.got[:, 0], (places * D).sin()))

    return all(first_pair(case) for case in even(attempt))


def all_rows_alike(attempt: Attempt) -> bool:
    return all(near(c.got, c.got[:1].expand(*c.expected.shape)) for c in even(attempt))


def _even_right(attempt: Attempt) -> bool:
    return all(c.error is None and near(c.got, c.expected) for c in even(attempt))


def odd_error(attempt: Attempt) -> bool:
    return _even_right(attempt) and any(case.error is not None for case in attempt.cases)


def odd_accepted(attempt: Attempt) -> bool:
    return _even_right(attempt) and any(case.got == ACCEPTED for case in attempt.cases if case.args[1] % 2)
