"""Attention weights of a sentence as a labelled heat map: a row for each query, a column for each key."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any

import numpy as np

from transformer_lib.display.colors import cell_color, text_color
from transformer_lib.display.drawing import svg, text, title_of, width_of
from transformer_lib.display.html import Html
from transformer_lib.display.pattern import pattern_of
from transformer_lib.display.words import reading, shorten

FONT = 13  # pixels


def attention_map(
    tokens: Iterable[str],
    weights: Any,
    *,
    keys: Iterable[str] | None = None,
    title: object = None,
    numbers: bool | None = None,
) -> Html:
    """The weights of one head as a heat map, with the words at its sides and a scale of colours.

    A row is the word that reads (its query), a column the word that is read from (its key). Colours go
    from 0 to the largest weight. Resting on a cell shows its words and its weight.

    Args:
        tokens: the T words that read.
        weights: (T, S), one row for each of them: a tensor of any device, an array or a nested list.
        keys: the S words that are read from; None means the same as tokens.
        title: what the map shows, such as "layer 3, head 1"; a long one is cut in the drawing.
        numbers: whether to write the weights into the cells; None means in maps of up to 10 columns.

    Raises:
        TypeError: tokens are one string, or weights are not numbers.
        ValueError: not one row per token and one column per key, more than one head, NaN, negative,
            above 1, or more than 48 words.

    >>> attention_map(["it", "was"], [[0.75, 0.25], [0.5, 0.5]])
    Attention map, 2 words reading from 2
    it reads: it 0.75, was 0.25
    was reads: it 0.50, was 0.50
    """
    pattern = pattern_of("Attention map", tokens, weights, keys, title)
    queries, keys, array = pattern.queries, pattern.keys, pattern.array
    strongest = [reading(word, keys, row, most=1) for word, row in zip(queries, array, strict=True)]
    alt = f"{pattern.name}. Strongest: {'; '.join(strongest)}."
    numbers = len(keys) <= 10 if numbers is None else numbers
    inside, size = _drawing(queries, keys, array, pattern.title, numbers)
    return Html(svg(inside, role="img", css="attention-map", alt=alt, size=size, font=FONT), pattern.text)


def _drawing(
    queries: list[str], keys: list[str], array: np.ndarray, title: str, numbers: bool
) -> tuple[str, tuple[float, float]]:
    """The inside of the SVG and its size in pixels."""
    side = 36 if numbers else 22 if len(keys) <= 24 else 16
    rows, columns = [shorten(word) for word in queries], [shorten(word) for word in keys]
    left = width_of(rows, FONT) + 34
    rise = width_of(columns, FONT) * 0.71 + 16  # the columns' words stand at 45 degrees
    top = rise + 20 + 24 * bool(title)
    right, bottom = left + side * len(keys), top + side * len(queries)
    overhang = max(side * (j + 0.5) + width_of([word], FONT) * 0.75 for j, word in enumerate(columns))
    axis = "reading (queries)"
    # With few rows the name of the axis is longer than they are: it then begins at the drawing's bottom.
    height = max(bottom, top + 60, width_of([axis], FONT) + 4) + 6
    middle = min((top + bottom) / 2, height - 4 - width_of([axis], FONT) / 2)
    middle = max(middle, 4 + width_of([axis], FONT) / 2)
    line, wide = title_of(title, FONT)
    width = max(right + 66, left + overhang + 4, left + width_of(["read from (keys) →"], FONT), wide + 12)
    centre = min(max((left + right) / 2, wide / 2 + 6), width - wide / 2 - 6)
    out = [
        text(centre, 16, line, "font-weight='600' text-anchor='middle'") if title else "",
        text(left, top - rise - 6, "read from (keys) →"),
        text(14, middle, axis, f"text-anchor='middle' transform='rotate(-90 14 {middle:.4g})'"),
    ]
    for j, word in enumerate(columns):
        x, y = left + side * (j + 0.5) + 2, top - 6
        out.append(text(x, y, word, f"transform='rotate(-45 {x:.4g} {y:.4g})'"))
    for i, word in enumerate(rows):
        out.append(text(left - 7, top + side * (i + 0.5) + 4.5, word, "text-anchor='end'"))
    high = float(array.max()) or 1.0
    out.append(_cells(queries, keys, array, high, f"translate({left:.4g} {top:.4g}) scale({side})"))
    if numbers:
        out.append(_numbers(array, high, side, f"translate({left:.4g} {top:.4g})"))
    out.append(_scale(right + 12, top, min(bottom - top, 150), high))
    return "".join(out), (width, height)


def _cells(queries: list[str], keys: list[str], array: np.ndarray, high: float, place: str) -> str:
    """A sheet in the colour of 0, and on it, in units of one cell, the cells of every other colour."""
    lowest = cell_color(0)
    out = [f"<path d='M0 0h{len(keys)}v{len(queries)}h-{len(keys)}z' fill='{lowest}'/>"]
    for i, row in enumerate(array):
        for j, weight in enumerate(row):
            if (color := cell_color(weight / high)) != lowest:
                tip = html.escape(f"{queries[i]} reads {keys[j]}: {weight:.2f}")
                out.append(f"<path d='M{j} {i}h1v1h-1z' fill='{color}'><title>{tip}</title></path>")
    return f"<g transform='{place}' shape-rendering='crispEdges'>{''.join(out)}</g>"


def _numbers(array: np.ndarray, high: float, side: int, place: str) -> str:
    out = []
    for i, row in enumerate(array):
        for j, weight in enumerate(row):
            ink = text_color(cell_color(weight / high))
            words = f"{weight:.2f}".removeprefix("0")
            out.append(text(side * (j + 0.5), side * (i + 0.5) + 4.5, words, f"fill='{ink}'"))
    return f"<g transform='{place}' text-anchor='middle' pointer-events='none'>{''.join(out)}</g>"


def _scale(x: float, y: float, height: float, high: float) -> str:
    """The scale of colours, from 0 at the bottom to the largest weight at the top."""
    steps = 16
    bars = "".join(
        f"<path d='M0 {k}h1v1h-1z' fill='{cell_color(1 - k / (steps - 1))}'/>" for k in range(steps)
    )
    place = f"translate({x:.4g} {y:.4g}) scale(12 {height / steps:.4g})"
    return (
        f"<g transform='{place}' shape-rendering='crispEdges'>{bars}</g>"
        + text(x + 17, y + 10, f"{high:.2f}")
        + text(x + 17, y + height / 2 + 4, "weight")
        + text(x + 17, y + height, "0")
    )
