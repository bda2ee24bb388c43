"""What a message says about the learner's own result: its shape, its sums, the first entry that differs."""

from __future__ import annotations

import inspect
import string
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from transformer_lib.exercises.compare import Difference, close_entries
from transformer_lib.exercises.facts import FIELDS

SHOWN = 4  # sums in a sentence
MOST = 8  # entries of a list written out


def short(number: Any) -> str:
    """A number in about five characters."""
    if isinstance(number, bool | np.bool_):
        return str(bool(number))
    if isinstance(number, int | np.integer):
        return str(number) if abs(number) < 10**9 else f"{float(number):.3g}" if number < 10**300 else "huge"
    if isinstance(number, complex):
        return f"{number:.3g}"
    text = f"{float(number):.3g}" if abs(number) < 1000 else f"{float(number):.4g}"
    return "0" if text == "-0" else text


def is_dense(value: Any) -> bool:
    """Whether a value is a tensor whose entries can be read."""
    if not isinstance(value, Tensor) or value.is_nested or value.is_meta or value.is_quantized:
        return False
    return value.layout == torch.strided


def entries(value: Any) -> Tensor | None:
    """The value as a real float64 tensor, where it is one or can be read as one."""
    if isinstance(value, bool | int | float | np.generic | np.ndarray | list | tuple):
        try:
            value = torch.as_tensor(np.asarray(value, dtype=np.float64))
        except (ValueError, TypeError, OverflowError):
            return None
    if not is_dense(value) or value.is_complex():
        return None
    return value.detach().cpu().double()


def shape_text(value: Any) -> str:
    """The shape of a tensor or the length of a list; the kind of anything else."""
    if isinstance(value, Tensor) and value.is_nested:
        return kind(value)
    if isinstance(value, Tensor | np.ndarray):
        return str(tuple(value.shape))
    if isinstance(value, list | tuple | dict):
        return f"length {len(value)}"
    return kind(value)


def kind(value: Any) -> str:
    """What something is, in words; never runs code of the value."""
    if value is None:
        return "None"
    if isinstance(value, Tensor):
        if value.is_meta:
            return 'a tensor on the device "meta", which has no values'
        if value.is_nested:
            return "a nested tensor"
        if value.is_quantized:
            return "a quantised tensor"
        return "a tensor" if value.layout == torch.strided else f"a tensor in the layout {value.layout}"
    if isinstance(value, np.ndarray):
        return "a NumPy array"
    if inspect.iscoroutine(value):
        return "a coroutine (the function is `async def`)"
    if inspect.isgenerator(value) or inspect.isasyncgen(value):
        return "a generator (there is a `yield` in the function)"
    words = {bool: "a truth value", int: "a number", float: "a number", complex: "a complex number"}
    words |= {str: "a text", list: "a list", tuple: "a tuple", dict: "a dictionary"}
    if isinstance(value, np.generic):
        return "a number"
    if isinstance(value, type):
        return f"a class ({value.__name__})"
    if isinstance(value, nn.Module):
        return f"a module ({type(value).__name__})"
    if inspect.isroutine(value):
        return "a function"
    return words.get(type(value), f"an object of type {type(value).__name__}")


def brief(value: Any) -> str:
    """A number as itself, anything larger as its kind and shape."""
    if isinstance(value, bool | int | float | complex | np.generic):
        return short(value.item() if isinstance(value, np.generic) else value)
    if isinstance(value, str):
        return repr(value if len(value) <= 40 else value[:39] + "…")
    if is_dense(value) and value.numel() == 1:
        return short(value.item())
    if isinstance(value, Tensor | np.ndarray):
        shape = shape_text(value)
        return f"{kind(value)} of shape {shape}" if shape.startswith("(") else shape
    if isinstance(value, list | tuple | dict):
        return f"{kind(value)} of length {len(value)}"
    return kind(value)


def outline(value: Any, depth: int = 0) -> str:
    """A value that is no matrix, in a line."""
    if isinstance(value, list | tuple) and len(value) <= MOST and depth < 3:
        left, right = ("[", "]") if isinstance(value, list) else ("(", ")")
        return left + ", ".join(outline(part, depth + 1) for part in value) + right
    if is_dense(value) and value.numel() <= MOST and value.dim() == 1:
        return "[" + ", ".join(brief(part) for part in value) + "]"
    return brief(value)


def few(values: Tensor) -> str:
    """The first few numbers, as in "1, 0.5, 2, …"."""
    flat = values.reshape(-1)
    return ", ".join(short(float(x)) for x in flat[:SHOWN]) + (", …" if len(flat) > SHOWN else "")


def first_difference(expected: Tensor, got: Tensor, tolerance: float) -> tuple[tuple[int, ...], int] | None:
    """The place of the first entry that differs and how many do, for tensors of one shape."""
    far = ~close_entries(expected, got, tolerance)
    if not bool(far.any()):
        return None
    return tuple(far.nonzero()[0].tolist()), int(far.sum())


def fields(found: Difference | None, args: tuple, error: str, tolerance: float) -> dict[str, str]:
    """A text for each of `facts.FIELDS`; "?" where there is nothing to say."""
    known = dict.fromkeys(FIELDS, "?")
    shapes = [str(tuple(a.shape)) for a in args if isinstance(a, Tensor | np.ndarray)]
    known |= {"arg_shapes": ", ".join(shapes), "error": error}
    if found is None:
        return known
    pair = {"got": found.got, "expected": found.expected}
    for name, value in pair.items():
        known |= {name: brief(value), f"{name}_shape": shape_text(value), f"{name}_type": kind(value)}
        if isinstance(value, Tensor | np.ndarray):
            known[f"{name}_dtype"] = str(value.dtype).removeprefix("torch.")
        x = entries(value)
        if x is None or not x.numel():
            continue
        known |= {f"{name}_min": short(float(x.min())), f"{name}_max": short(float(x.max()))}
        known[f"{name}_mean"] = short(float(x.mean()))
        known[f"{name}_std"] = short(float(x.std(correction=0)))
        prefix = "" if name == "got" else "expected_"
        if x.dim():
            known[f"{prefix}row_sums"] = few(x.sum(-1))
        if name == "got" and x.dim() > 1:
            known["column_sums"] = few(x.sum(-2))
    a, b = entries(found.expected), entries(found.got)
    if a is not None and b is not None and a.shape == b.shape and a.numel():
        known |= _differing(a, b, tolerance)
    return known


def _differing(a: Tensor, b: Tensor, tolerance: float) -> dict[str, str]:
    """Fields about the entries of two tensors of one shape."""
    usable = (a.abs() > 1e-6) & b.isfinite()
    known = {"ratio": short(float((b[usable] / a[usable]).median()))} if bool(usable.any()) else {}
    place = first_difference(a, b, tolerance)
    if place is None:
        return known
    where, count = place
    return known | {
        "where": str(list(where)),
        "got_value": short(float(b[where])),
        "expected_value": short(float(a[where])),
        "different": f"{count} of {a.numel()}",
    }


class _Lenient(string.Formatter):
    def get_value(self, key, args, kwargs):
        return kwargs.get(key, "?")


def fill(message: str, known: dict[str, str]) -> str:
    """The message with its fields filled in."""
    return _Lenient().vformat(message, (), known)
