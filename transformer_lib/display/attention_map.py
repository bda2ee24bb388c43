"""Attention weights of a sentence as a labelled heat map: one row for each query, one column for each key."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any

import numpy as np

from transformer_lib.display.colors import cell_color, text_color
from transformer_lib.display.html import Html
from transformer_lib.display.numbers import attention_array
from transformer_lib.display.words import reading, shorten, words_of

MOST_WORDS = 48
FONT = 12  # pixels
LETTER = 0.6 * FONT  # about the width of one


def attention_map(
    tokens: Iterable[str],
    weights: Any,
    *,
    keys: Iterable[str] | None = None,
    title: str | None = None,
    numbers: bool | None = None,
) -> Html:
    """The weights of one head as a heat map with the words at its sides and a scale of colours.

    A row is the word that reads (its query), a column the word that is read from (its key). Colours go from 0
    to the largest weight. Resting on a cell shows its words and its weight.

    Args:
        tokens: the T words that read.
        weights: (T, S), one row for each of them: a tensor of any device, an array or a nested list.
        keys: the S words that are read from; None means the same as tokens.
        title: what the map shows, such as "layer 3, head 1".
        numbers: whether to write the weights into the cells; None means in maps of up to 10 columns.

    Raises:
        TypeError: tokens are one string, or weights are not numbers.
        ValueError: not one row per token and one column per key, more than one head, NaN, negative, above 1, or
            more than 48 words.

    >>> attention_map(["it", "was"], [[0.75, 0.25], [0.5, 0.5]])
    Attention map, 2 words reading from 2
    it reads: it 0.75, was 0.25
    was reads: it 0.50, was 0.50
    """
    queries = words_of(tokens)
    keys = queries if keys is None else words_of(keys, "keys")
    array = attention_array(weights, len(queries), len(keys))
    if max(array.shape) > MOST_WORDS:
        raise ValueError(f"attention_map labels up to {MOST_WORDS} words; got weights of shape {array.shape}")
    numbers = len(keys) <= 10 if numbers is None else numbers
    name = f"Attention map{f' ({title})' if title else ''}, {len(queries)} words reading from {len(keys)}"
    lines = [reading(word, keys, row) for word, row in zip(queries, array, strict=True)]
    strongest = [reading(word, keys, row, most=1) for word, row in zip(queries, array, strict=True)]
    svg = _svg(queries, keys, array, title, numbers, f"{name}. Strongest: {'; '.join(strongest)}.")
    return Html(svg, "\n".join([name, *lines]))


def _svg(queries: list[str], keys: list[str], array: np.ndarray, title, numbers, alt) -> str:
    size = 34 if numbers else 24 if len(keys) <= 16 else 14
    left = max(len(shorten(word)) for word in queries) * LETTER + 30
    slant = max(len(shorten(word)) for word in keys) * LETTER * 0.71 + 12
    top = slant + 24 + (22 if title else 0)
    right, bottom = left + size * len(keys), top + size * len(queries)
    high = float(array.max()) or 1.0
    out = []
    if title:
        out.append(_text(left + (right - left) / 2, 14, title, "font-weight='600' text-anchor='middle'"))
    middle = (top + bottom) / 2
    out.append(_text(left + (right - left) / 2, top - slant - 8, "read from (keys)", "text-anchor='middle'"))
    turned = f"text-anchor='middle' transform='rotate(-90 12 {middle:.4g})'"
    out.append(_text(12, middle, "reading (queries)", turned))
    for j, word in enumerate(keys):
        x = left + size * (j + 0.5)
        turned = f"transform='rotate(-45 {x:.4g} {top - 6:.4g})'"
        out.append(_text(x, top - 6, shorten(word), turned))
    lowest = cell_color(0)
    out.append(
        f"<rect x='{left:.4g}' y='{top:.4g}' width='{right - left:.4g}' height='{bottom - top:.4g}' fill='{lowest}'/>"
    )
    for i, word in enumerate(queries):
        y = top + size * i
        out.append(_text(left - 6, y + size / 2 + 4, shorten(word), "text-anchor='end'"))
        for j, weight in enumerate(array[i]):
            color, x = cell_color(weight / high), left + size * j
            if color != lowest:
                tip = html.escape(f"{word} reads {keys[j]}: {weight:.2f}")
                out.append(
                    f"<rect x='{x:.4g}' y='{y:.4g}' width='{size}' height='{size}' fill='{color}'><title>{tip}</title></rect>"
                )
            if numbers:
                style = f"text-anchor='middle' font-size='11' style='fill:{text_color(color)};pointer-events:none'"
                out.append(
                    _text(x + size / 2, y + size / 2 + 4, f"{weight:.2f}".removeprefix("0") or "0", style)
                )
    out.append(_scale(right + 14, top, min(bottom - top, 160), high))
    width, height = right + 76, bottom + 8
    return (
        f'<svg class="attention-map" role="img" aria-label="{html.escape(alt)}" viewBox="0 0 {width:.4g} {height:.4g}" '
        f'style="width:{width / 16:.4g}em;max-width:100%;height:auto;display:block;margin:0 auto;color:inherit;'
        f'fill:currentColor;font:{FONT}px sans-serif" shape-rendering="crispEdges">{"".join(out)}</svg>'
    )


def _scale(x: float, y: float, height: float, high: float) -> str:
    """The scale of colours, from 0 at the bottom to the largest weight at the top."""
    steps = 20
    step = height / steps
    out = [
        f"<rect x='{x:.4g}' y='{y + step * k:.4g}' width='12' height='{step + 0.5:.4g}' fill='{cell_color(1 - k / (steps - 1))}'/>"
        for k in range(steps)
    ]
    out.append(_text(x + 17, y + 9, f"{high:.2f}"))
    out.append(_text(x + 17, y + height / 2 + 4, "weight"))
    out.append(_text(x + 17, y + height, "0"))
    return "".join(out)


def _text(x: float, y: float, text: str, attributes: str = "") -> str:
    return f"<text x='{x:.4g}' y='{y:.4g}' {attributes}>{html.escape(text)}</text>"
