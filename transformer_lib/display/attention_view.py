"""A sentence to point at: resting on a word, or reaching it with the Tab key, shows what it reads from."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any

import numpy as np

from transformer_lib.display.html import Html, short_name
from transformer_lib.display.numbers import attention_array
from transformer_lib.display.style import PALETTE
from transformer_lib.display.words import reading, shorten, words_of

MOST_WORDS = 48
FONT, ROW, GAP = 14, 24, 130  # pixels: letters, distance of the lines, length of the connections
LETTER = 0.6 * FONT
VISIBLE = 0.01  # smaller weights are not drawn


def attention_view(
    tokens: Iterable[str],
    weights: Any,
    *,
    keys: Iterable[str] | None = None,
    title: str | None = None,
) -> Html:
    """The words that read on the left, the words that are read from on the right, connected by the weights.

    Pointing at a word on the left, or reaching it with the Tab key, leaves its own connections only, and writes
    the weights beside the words on the right. It needs no script.

    Args:
        tokens: the T words that read.
        weights: (T, S), one row for each of them: a tensor of any device, an array or a nested list.
        keys: the S words that are read from; None means the same as tokens.
        title: what the view shows, such as "layer 3, head 1".

    Raises:
        TypeError: tokens are one string, or weights are not numbers.
        ValueError: not one row per token and one column per key, more than one head, NaN, negative, above 1, or
            more than 48 words.

    >>> attention_view(["it", "was"], [[0.75, 0.25], [0.5, 0.5]])
    Attention view, 2 words reading from 2
    it reads: it 0.75, was 0.25
    was reads: it 0.50, was 0.50
    """
    queries = words_of(tokens)
    keys = queries if keys is None else words_of(keys, "keys")
    array = attention_array(weights, len(queries), len(keys))
    if max(array.shape) > MOST_WORDS:
        raise ValueError(f"attention_view shows up to {MOST_WORDS} words; got weights of shape {array.shape}")
    name = f"Attention view{f' ({title})' if title else ''}, {len(queries)} words reading from {len(keys)}"
    lines = [reading(word, keys, row) for word, row in zip(queries, array, strict=True)]
    return Html(_svg(queries, keys, array, title, name, lines), "\n".join([name, *lines]))


def _svg(queries: list[str], keys: list[str], array: np.ndarray, title, name, lines) -> str:
    top = 54 if title else 32
    left = max(max(len(shorten(word)) for word in queries) * LETTER + 12, 60)
    right = left + GAP
    width = right + max(max(len(shorten(word)) for word in keys) * LETTER + 56, 92)
    height = top + ROW * max(array.shape) + 4

    def y(position: int, count: int) -> float:  # the shorter side stands in the middle
        return top + ROW * (position + 0.5 + (max(array.shape) - count) / 2)

    body = []
    if title:
        body.append(_text(width / 2, 16, title, "font-weight='600' text-anchor='middle'"))
    body.append(_text(left - 6, top - 12, "reading", "font-size='12' text-anchor='end'"))
    body.append(_text(right + 6, top - 12, "read from", "font-size='12'"))
    for j, word in enumerate(keys):
        body.append(_text(right + 6, y(j, len(keys)) + 5, shorten(word), "class='key'"))
    for i, word in enumerate(queries):
        yi = y(i, len(queries))
        strands, shown = [], []
        for j, weight in enumerate(array[i]):
            if weight < VISIBLE:
                continue
            yj, share = y(j, len(keys)), min(float(weight), 1.0)
            strands.append(
                f"<path d='M{left:.4g} {yi:.4g}L{right:.4g} {yj:.4g}' stroke-width='{0.5 + 4 * share:.2g}' "
                f"stroke-opacity='{0.1 + 0.9 * share:.2g}'/>"
            )
            shown.append(
                f"<rect x='{right + 2:.4g}' y='{yj - 11:.4g}' width='{width - right - 4:.4g}' height='22' rx='3' "
                f"fill-opacity='{0.06 + 0.34 * share:.2g}'/>"
                + _text(width - 6, yj + 5, f"{weight:.2f}", "text-anchor='end'")
            )
        body.append(
            f"<g class='row' tabindex='0' role='img' aria-label='{html.escape(lines[i])}'>"
            f"<rect class='hit' x='1' y='{yi - 11:.4g}' width='{left - 2:.4g}' height='22' rx='3'/>"
            + _text(left - 6, yi + 5, shorten(word), "text-anchor='end'")
            + f"<g class='strands'>{''.join(strands)}</g><g class='shown'>{''.join(shown)}</g></g>"
        )
    inside = "".join(body)
    scope = f"view-{short_name(inside)}"
    return (
        f"<style>{_css(scope)}</style>"
        f'<svg class="attention-view {scope}" role="group" aria-label="{html.escape(name)}" '
        f'viewBox="0 0 {width:.4g} {height:.4g}" style="width:{width / 16:.4g}em">{inside}</svg>'
    )


def _css(scope: str) -> str:
    """Only the row that is pointed at shows its strands; without a pointer, the row that has the focus."""
    view = f".{scope}"
    active = f"{view} .row:hover", f"{view}:not(:hover) .row:focus"
    others = f"{view}:has(.row:hover) .row:not(:hover)", f"{view}:not(:hover) .row:focus~.row"
    rules = {
        view: "max-width:100%;height:auto;display:block;margin:0 auto;color:inherit;fill:currentColor;"
        f"font:{FONT}px sans-serif",
        f"{view} path": f"stroke:{PALETTE['blue']};fill:none",
        f"{view} .strands,{view} .shown": "pointer-events:none",
        f"{view} .shown": "visibility:hidden",
        f"{view} .shown rect,{view} .row .hit": f"fill:{PALETTE['blue']}",
        f"{view} .row .hit": "fill-opacity:0",
        f"{view} .row": "cursor:pointer;outline:none",
        f"{view} .row:focus .hit": "stroke:currentColor;stroke-width:2",
        ",".join(f"{row} .shown" for row in active): "visibility:visible",
        ",".join(f"{row} .hit" for row in active): "fill-opacity:.25",
        f"{view}:has(.row:hover) .row:not(:hover) .strands": "opacity:0",
        f"{view}:not(:hover):has(.row:focus) .row:not(:focus) .strands": "opacity:0",
    }
    still = f"@media (prefers-reduced-motion:no-preference){{{view} .strands{{transition:opacity .15s}}}}"
    return "".join(f"{selector}{{{style}}}" for selector, style in rules.items()) + still


def _text(x: float, y: float, text: str, attributes: str = "") -> str:
    return f"<text x='{x:.4g}' y='{y:.4g}' {attributes}>{html.escape(text)}</text>"
