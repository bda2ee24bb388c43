"""The smallest input that shows a mistake, what was expected and what came, as small heat maps or text."""

from __future__ import annotations

import html
from typing import Any

import numpy as np
import torch
from torch import Tensor

from transformer_lib.display.heat_map import heat_map
from transformer_lib.exercises.compare import kind_of_number
from transformer_lib.exercises.measure import MOST, brief, entries, first_difference, is_dense, outline
from transformer_lib.exercises.result import Result


def comparison(result: Result) -> list[tuple[str, Any]]:
    """(label, value) for what was expected and what came; the expected answer of a
    question is not shown. Empty where there is nothing to compare."""
    if result.found is None or result.exercise is None:
        return []
    found = result.found
    part = f", part {found.path}" if found.path else ""
    if result.exercise.asks_for_answer:
        return [("Your answer", result.case.got)]
    expected, got = found.expected, found.got
    a, b = as_tensor(expected), as_tensor(got)
    note = ""
    if a is not None and b is not None and a.shape == b.shape and a.dim() > 2:
        place = first_difference(a, b, result.exercise.tolerance)
        at = place[0][:-2] if place else (0,) * (a.dim() - 2)
        expected, got, note = a[at], b[at], f", [{', '.join(map(str, at))}] of it"
    return [(f"Expected{part}{note}", expected), (f"What came{part}{note}", got)]


def arguments(result: Result) -> list[tuple[str, Any]]:
    """The arguments worth showing: of the case that shows what is wrong."""
    return [] if result.status in ("passed", "not attempted") else result.arguments()


def pictures(result: Result) -> list[str]:
    """HTML for the input and the two results."""
    parts = []
    given = arguments(result)
    if given:
        head = "Smallest input that shows it: " if result.found is not None else "Input: "
        names = ", ".join(f"{name} = {brief(value)}" for name, value in given)
        maps = [_picture(name, value) for name, value in given if can_be_drawn(value)]
        parts.append(f'<p style="margin:.4em 0">{head}{html.escape(names)}</p>')
        if maps:
            parts.append(
                '<details style="margin:.3em 0"><summary style="cursor:pointer">The numbers of the input'
                f"</summary>{_row(maps)}</details>"
            )
    compared = comparison(result)
    low, high = _ends([value for _, value in compared])
    if compared:
        parts.append(_row([_picture(label, value, low, high) for label, value in compared]))
    return parts


def _row(pieces: list[str]) -> str:
    box = '<div role="group" aria-label="numbers" tabindex="0" style="max-width:100%;overflow-x:auto">'
    inner = "".join(f"{box}{piece}</div>" for piece in pieces)
    return f'<div style="display:flex;flex-wrap:wrap;gap:.6em 1.6em;margin:.5em 0">{inner}</div>'


def as_tensor(value: Any) -> Tensor | None:
    """The value with its own kind of entries (booleans stay booleans), where it can be drawn."""
    if is_dense(value) and not value.is_complex():
        value = value.detach().cpu()
        return value if kind_of_number(value.dtype) in ("booleans", "integers") else value.double()
    if isinstance(value, np.ndarray | list | tuple):
        return entries(value)
    return None


def can_be_drawn(value: Any) -> bool:
    if isinstance(value, list | tuple) and len(value) <= MOST and not any(map(_has_parts, value)):
        return False  # reads better written out
    x = as_tensor(value)
    return x is not None and x.dim() > 0 and x.numel() > 0


def _has_parts(value: Any) -> bool:
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray | Tensor) and value.ndim > 0)


def _picture(label: str, value: Any, low: float | None = None, high: float | None = None) -> str:
    if not can_be_drawn(value):
        return f'<p style="margin:.2em 0">{html.escape(label)}: {html.escape(outline(value))}</p>'
    x = as_tensor(value)
    if x.dim() > 2:
        first = (0,) * (x.dim() - 2)
        label, x = f"{label}, [{', '.join(map(str, first))}] of it", x[first]
    caption = f"{label}, shape {tuple(x.shape)}" if x.dim() > 1 else label
    rows = [str(i) for i in range(len(x))] if x.dim() > 1 else None
    columns = [str(i) for i in range(x.shape[-1])]
    return heat_map(x, rows, columns, caption, low=low, high=high)._repr_html_()


def _ends(values: list[Any]) -> tuple[float | None, float | None]:
    """One range of colours for all, so that equal colours mean equal numbers."""
    numbers = [x.double().reshape(-1) for x in map(as_tensor, values) if x is not None and x.numel()]
    finite = [x[x.isfinite()] for x in numbers]
    together = torch.cat(finite) if finite else torch.tensor([])
    if not together.numel() or float(together.min()) == float(together.max()):
        return None, None
    return float(together.min()), float(together.max())
