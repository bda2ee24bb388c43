"""Messages for results that no known mistake explains: the most basic property that they break."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from torch import Tensor

from transformer_lib.exercises.compare import Difference, close_entries, kind_of_number
from transformer_lib.exercises.measure import brief, entries, few, first_difference, kind, short


def describe(found: Difference, tolerance: float, hide: bool = False, printed: str = "") -> str:
    """What differs, in words; without what was expected where that is the answer (`hide`)."""
    silent = hide and found.name == "wrong-values"  # which entry is wrong is a part of the answer
    where = f" (at {found.path} of the result)" if found.path and not silent else ""
    return _TEXTS[found.name](found, tolerance, hide, printed) + where


def _none(found, tolerance, hide, printed):
    text = "It returned nothing (None). The result has to be given back with `return`."
    if printed:
        text += " Printing it, as your code does, shows it but does not hand it over."
    return text


def _type(found: Difference, tolerance, hide, printed):
    got, expected = found.got, found.expected
    what = "It returned" if not found.path else "One entry is"
    text = f"{what} {kind(got)}; {kind(expected)} was expected."
    if isinstance(expected, Tensor) and isinstance(got, np.ndarray):
        text += " `torch.from_numpy` makes a tensor of it; or stay with torch throughout."
    elif isinstance(expected, Tensor) and isinstance(got, list | tuple):
        text += " A comma after the result makes a tuple; `torch.stack` joins a list of tensors."
    elif isinstance(expected, Tensor) and isinstance(got, bool | int | float):
        text += f" Its shape would be {tuple(expected.shape)}."
    elif "yield" in kind(got) or "async" in kind(got):
        text += " Write a plain `def` with `return`."
    elif callable(got):
        text += " Parentheses call a function; without them it is only named."
    return text


def _shape(found: Difference, tolerance, hide, printed):
    got, expected = found.got, found.expected
    if isinstance(expected, dict):
        return f"The keys of the dictionary should be {list(expected)}; they are {list(got)[:9]}."
    if isinstance(expected, list | tuple):
        return f"{len(expected)} entries were expected; {len(got)} came."
    if not isinstance(expected, Tensor):
        return f"A single number was expected; {brief(got)} came."
    a, b = tuple(expected.shape), tuple(got.shape)
    text = f"It returned a tensor of shape {b}; {a} was expected."
    if len(a) == len(b) and sorted(a) == sorted(b):
        text += " The sizes are right but stand in another order: which axis is which?"
    elif [n for n in a if n != 1] == [n for n in b if n != 1]:
        text += " Only axes of size 1 are too many or too few."
    elif math.prod(a) == math.prod(b):
        text += " The number of entries is right; they are arranged in other axes."
    elif len(a) > len(b):
        text += " An axis has been lost: a sum, a mean or an index takes one away."
    elif len(a) < len(b):
        text += " There is an axis too many."
    else:
        axes = [i for i in range(len(a)) if a[i] != b[i]]
        which = f"axis {axes[0]}" if len(axes) == 1 else f"axes {', '.join(map(str, axes))}"
        text += f" Look at {which}: which of the inputs gives it its size?"
    return text


def _dtype(found: Difference, tolerance, hide, printed):
    got, expected = (str(x.dtype).removeprefix("torch.") for x in (found.got, found.expected))
    text = f"The result holds {kind_of_number(found.got.dtype)} ({got}); {expected} was expected."
    if kind_of_number(found.got.dtype) == "integers":
        text += " Integers cut off what is behind the decimal point: where does a tensor become one?"
    return text


def _device(found: Difference, tolerance, hide, printed):
    return (
        f"The result is on the device {found.got.device}, which is not that of the inputs. "
        "Make new tensors on the device of the inputs: `device=x.device`."
    )


def _nan(found: Difference, tolerance, hide, printed):
    cause = "NaN comes from 0/0, from ∞ − ∞, and from the softmax of a row that is −∞ throughout."
    if not isinstance(found.got, Tensor) or not found.got.dim():
        return f"The result is {brief(found.got)}. {cause}"
    bad = ~found.got.isfinite()
    where = bad.nonzero()[0].tolist()
    return (
        f"{int(bad.sum())} of {bad.numel()} entries are NaN or infinite, the first at {where}. {cause} "
        "Dividing by zero and exp of a large number give ∞."
    )


def _values(found: Difference, tolerance, hide, printed):
    got, expected = found.got, found.expected
    if hide:
        return "That is not it yet."
    a, b = entries(expected), entries(got)
    if a is None or b is None or a.shape != b.shape:
        return f"It returned {brief(got)}; {brief(expected)} was expected."
    if not a.dim() or a.numel() == 1:
        return f"It returned {short(b.item())}; {short(a.item())} was expected." + _factor(a, b, tolerance)
    where, count = first_difference(a, b, tolerance)
    first = (
        f"{count} of {a.numel()} entries differ, the first at {list(where)}: "
        f"{_told_apart(_at(got, where), _at(expected, where))}"
    )
    return f"{_property(a, b, tolerance)} {first}".strip()


def _told_apart(got: Any, expected: Any) -> str:
    """Both numbers in short, with more digits where they would read the same."""
    texts = short(got), short(expected)
    if texts[0] == texts[1]:
        texts = f"{got:.7g}", f"{expected:.7g}"
    return f"{texts[0]} came, {texts[1]} was expected."


def _at(value: Any, where: tuple[int, ...]) -> Any:
    return value[where].item() if isinstance(value, Tensor) else np.asarray(value)[where].item()


def _property(a: Tensor, b: Tensor, tolerance: float) -> str:
    """The most basic property that the values break, as a sentence; empty where there is none to name."""

    def ones(x: Tensor, axis: int) -> bool:
        return bool(((x.sum(axis) - 1).abs() < 1e-3).all())

    if ones(a, -1) and bool((a >= 0).all()):
        if not ones(b, -1):
            text = f"Each row should sum to 1; the rows here sum to {few(b.sum(-1))}."
            if b.dim() > 1 and ones(b, -2) and not ones(a, -2):
                text += " The columns do sum to 1."
            return text
        if bool((b < -1e-6).any()):
            return "Each row sums to 1, but some entries are negative."
    if bool((a == 0).any()) and not bool((b[a == 0].abs() < 1e-6).all()):
        zeros = int((a == 0).sum())
        if zeros < a.numel():
            return f"{zeros} entries should be exactly 0, and not all of them are."
    if bool((a >= 0).all()) and bool((b < 0).any()):
        return "No entry should be negative."
    if bool((b == b.reshape(-1)[0]).all()):
        return f"All entries are {short(float(b.reshape(-1)[0]))}."
    if a.dim() > 1 and a.shape[-1] == a.shape[-2] and _close(a.transpose(-2, -1), b, tolerance):
        return "The values are right, but rows and columns have changed places."
    if a.dim() > 1 and a.shape[0] > 1:
        good = [i for i in range(len(a)) if _close(a[i], b[i], tolerance)]
        if good and good != list(range(len(a))):
            return f"Along the first axis, {', '.join(map(str, good[:8]))} is right and the rest is not."
    return _factor(a, b, tolerance).strip() or _offset(a, b, tolerance)


def _factor(a: Tensor, b: Tensor, tolerance: float) -> str:
    usable = a.abs() > 1e-6
    if not bool(usable.any()):
        return ""
    ratio = float((b[usable] / a[usable]).median())
    if not math.isfinite(ratio) or abs(ratio) < 1e-6 or not _close(a * ratio, b, tolerance):
        return ""
    if abs(ratio + 1) < 1e-3:
        return " The sign is the wrong way round."
    if a.numel() == 1:
        return f" That is {short(ratio)} times as much."
    return f"Each entry is {short(ratio)} times the right one."


def _offset(a: Tensor, b: Tensor, tolerance: float) -> str:
    shift = float((b - a).median())
    return f"Each entry is off by {short(shift)}." if _close(a + shift, b, tolerance) else ""


def _close(a: Tensor, b: Tensor, tolerance: float) -> bool:
    return bool(close_entries(a, b, tolerance).all())


_TEXTS = {
    "returned-none": _none,
    "wrong-type": _type,
    "wrong-shape": _shape,
    "wrong-dtype": _dtype,
    "wrong-device": _device,
    "contains-nan": _nan,
    "wrong-values": _values,
}
ORDER = tuple(_TEXTS)  # from fundamental to subtle
