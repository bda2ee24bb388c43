"""Does a result equal what was expected, and if not, what is the most basic way in which it differs?

Other spellings of the same answer are equal: a tuple for a list, a 0-d tensor or numpy number for a
number, float64 for float32. NaN equals NaN, so that a known mistake that produces NaN is recognised.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
import torch
from torch import Tensor

from transformer_lib.exercises.copies import DEEPEST


@dataclass(frozen=True)
class Difference:
    """The first difference: one of the generic names, and where in a nested result it is."""

    name: str
    expected: Any
    got: Any
    path: str = ""  # "[1]" for the second entry of a tuple


def difference(
    expected: Any, got: Any, tolerance: float = 1e-4, path: str = "", depth: int = 0
) -> Difference | None:
    """The first difference of a result from what was expected, or None where they are equal."""

    def differs(name: str) -> Difference:
        return Difference(name, expected, got, path)

    if expected is None or got is None:
        return None if expected is got else differs("wrong-type" if expected is None else "returned-none")
    if depth > DEEPEST:
        return differs("wrong-type")
    if isinstance(expected, Tensor):
        return _tensor(expected, got, tolerance, path)
    if isinstance(expected, np.ndarray):
        if isinstance(got, np.ndarray) and expected.dtype.kind not in "biufc":
            return None if np.array_equal(expected, got) else differs("wrong-values")
        got = torch.as_tensor(got) if isinstance(got, np.ndarray) else got
        return _tensor(torch.as_tensor(expected), got, tolerance, path)
    if isinstance(expected, bool | np.bool_ | Number):
        return _number(expected, got, tolerance, path)
    if isinstance(expected, str):
        if not isinstance(got, str):
            return differs("wrong-type")
        return None if _same_text(expected, got) else differs("wrong-values")
    if isinstance(expected, list | tuple):
        return _sequence(expected, got, tolerance, path, depth)
    if isinstance(expected, dict):
        if not isinstance(got, dict):
            return differs("wrong-type")
        if expected.keys() != got.keys():
            return differs("wrong-shape")
        parts = ((f"[{key!r}]", expected[key], got[key]) for key in expected)
        return _first(parts, tolerance, path, depth)
    if not isinstance(got, type(expected)):
        return differs("wrong-type")
    return None if bool(expected == got) else differs("wrong-values")


def _first(parts, tolerance, path, depth) -> Difference | None:
    found = (difference(a, b, tolerance, path + place, depth + 1) for place, a, b in parts)
    return next((one for one in found if one is not None), None)


def _sequence(expected, got, tolerance, path, depth) -> Difference | None:
    original = got
    if isinstance(got, Tensor) and got.dim() and got.layout == torch.strided and not got.is_meta:
        got = list(got.unbind(0))
    elif isinstance(got, np.ndarray) and got.ndim:
        got = list(got)
    if not isinstance(got, list | tuple):
        return Difference("wrong-type", expected, original, path)
    if len(got) != len(expected):
        return Difference("wrong-shape", expected, original, path)
    places = (f"[{i}]" for i in range(len(expected)))
    return _first(zip(places, expected, got, strict=True), tolerance, path, depth)


def _same_text(expected: str, got: str) -> bool:
    expected, got = expected.strip(), got.strip()
    return expected == got or (len(expected) == 1 and expected.casefold() == got.casefold())


def _number(expected, got, tolerance, path) -> Difference | None:
    def differs(name: str) -> Difference:
        return Difference(name, expected, got, path)

    given = got
    if isinstance(given, Tensor):
        if given.is_meta:
            return differs("wrong-device")
        if given.layout != torch.strided:
            return differs("wrong-type")
    if isinstance(given, Tensor | np.ndarray):
        if math.prod(given.shape) != 1:
            return differs("wrong-shape")
        given = given.item()
    given = given.item() if isinstance(given, np.generic) else given
    wanted = expected.item() if isinstance(expected, np.generic) else expected
    if not isinstance(given, Number) or isinstance(given, bool) != isinstance(wanted, bool):
        return differs("wrong-type")
    if isinstance(wanted, bool):
        return None if wanted is given else differs("wrong-values")
    try:
        given, number = (given, wanted) if isinstance(given, complex) else (float(given), float(wanted))
    except (TypeError, ValueError, OverflowError):
        return differs("wrong-type" if not isinstance(given, int) else "wrong-values")
    if given == number or (given != given and number != number):
        return None
    if not _finite(given):
        return differs("contains-nan")
    bound = tolerance if isinstance(wanted, int) else tolerance * (1 + abs(number))
    return None if abs(given - number) <= bound else differs("wrong-values")


def _finite(number: complex) -> bool:
    return math.isfinite(number.real) and math.isfinite(number.imag)


def kind_of_number(dtype: torch.dtype) -> str:
    """The family of a dtype: any member stands for any other of it."""
    if dtype == torch.bool:
        return "booleans"
    if dtype.is_complex:
        return "complex numbers"
    if not dtype.is_floating_point:
        return "integers"
    return "floats" if dtype in (torch.float32, torch.float64) else str(dtype).removeprefix("torch.")


def _tensor(expected: Tensor, got: Any, tolerance: float, path: str) -> Difference | None:
    def differs(name: str) -> Difference:
        return Difference(name, expected, got, path)

    given = got
    if isinstance(given, bool | int | float | np.generic) and expected.dim() == 0:
        given = torch.as_tensor(given)
        if kind_of_number(expected.dtype) == "floats" and not isinstance(got, bool | np.bool_):
            given = given.double()
    if not isinstance(given, Tensor) or given.is_nested or given.layout != torch.strided:
        return differs("wrong-type")
    if given.is_quantized:
        return differs("wrong-dtype")
    if given.shape != expected.shape:
        return differs("wrong-shape")
    if kind_of_number(given.dtype) != kind_of_number(expected.dtype):
        return differs("wrong-dtype")
    if given.device != expected.device:
        return differs("wrong-device")
    close = close_entries(expected, given, tolerance)
    if bool(close.all()):
        return None
    odd = ~given.isfinite() & ~close
    return differs("contains-nan" if bool(odd.any()) else "wrong-values")


def close_entries(expected: Tensor, got: Tensor, tolerance: float) -> Tensor:
    """For tensors of one shape: which entries are equal up to the tolerance (NaN equals NaN)."""
    wide = torch.complex128 if expected.is_complex() or got.is_complex() else torch.float64
    if not (expected.is_floating_point() or expected.is_complex() or got.is_floating_point()):
        return expected == got
    a, b = expected.detach().cpu().to(wide), got.detach().cpu().to(wide)
    return torch.isclose(b, a, rtol=tolerance, atol=tolerance, equal_nan=True)
