"""A sentence to point at: resting on a word, or reaching it with Tab, shows what it reads from."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any

import numpy as np

from transformer_lib.display.drawing import svg, text, title_of, width_of
from transformer_lib.display.html import Html, short_name
from transformer_lib.display.pattern import pattern_of
from transformer_lib.display.style import PALETTE
from transformer_lib.display.words import shorten

FONT, ROW, GAP = 15, 26, 120  # pixels: letters, distance of the words, length of the connections
VISIBLE = 0.01  # smaller weights are not drawn


def attention_view(
    tokens: Iterable[str],
    weights: Any,
    *,
    keys: Iterable[str] | None = None,
    title: object = None,
) -> Html:
    """The words that read on the left, what they read from on the right, connected by the weights.

    Pointing at a word on the left, or reaching it with the Tab key, leaves only its own connections, and
    writes the weights beside the words on the right. It needs no script.

    Args:
        tokens: the T words that read.
        weights: (T, S), one row for each of them: a tensor of any device, an array or a nested list.
        keys: the S words that are read from; None means the same as tokens.
        title: what the view shows, such as "layer 3, head 1"; a long one is cut in the drawing.

    Raises:
        TypeError: tokens are one string, or weights are not numbers.
        ValueError: not one row per token and one column per key, more than one head, NaN, negative,
            above 1, or more than 48 words.

    >>> attention_view(["it", "was"], [[0.75, 0.25], [0.5, 0.5]])
    Attention view, 2 words reading from 2
    it reads: it 0.75, was 0.25
    was reads: it 0.50, was 0.50
    """
    pattern = pattern_of("Attention view", tokens, weights, keys, title)
    inside, size = _drawing(pattern.queries, pattern.keys, pattern.array, pattern.title, pattern.lines)
    scope = f"view-{short_name(pattern.name, inside)}"
    css = f"attention-view {scope}"
    drawing = svg(inside, role="group", css=css, alt=pattern.name, size=size, font=FONT)
    return Html(f"<style>{_css(scope)}</style>{drawing}", pattern.text)


def _drawing(
    queries: list[str], keys: list[str], array: np.ndarray, title: str, lines: list[str]
) -> tuple[str, tuple[float, float]]:
    """The inside of the SVG and its size in pixels."""
    reads, read = [shorten(word) for word in queries], [shorten(word) for word in keys]
    most = max(array.shape)
    top = 28 + 26 * bool(title)
    left = max(width_of(reads, FONT), 54) + 14
    right = left + GAP
    width = right + max(width_of(read, FONT), 64) + 56  # the weights end there
    line, wide = title_of(title, FONT)
    full = max(width, wide + 12)

    def height(position: int, count: int) -> float:  # the shorter side stands in the middle
        return top + ROW * (position + 0.5 + (most - count) / 2)

    out = [
        text(full / 2, 17, line, "font-weight='600' text-anchor='middle'") if title else "",
        text(left - 7, top - 8, "reading", "font-size='13' text-anchor='end'"),
        text(right + 7, top - 8, "read from", "font-size='13'"),
    ]
    for i, word in enumerate(reads):
        y = height(i, len(queries))
        strands, shown = [], []
        for j, weight in enumerate(array[i]):
            if weight >= VISIBLE:
                end = height(j, len(keys))
                strands.append(_strand(left, y, right, end, min(weight, 1.0)))
                shown.append(_box(right + 2, end, width - right - 3, 0.06 + 0.34 * min(weight, 1.0)))
                shown.append(text(width - 6, end + 5, f"{weight:.2f}", "text-anchor='end'"))
        out.append(
            f"<g class='reader' tabindex='0' role='img' aria-label='{html.escape(lines[i])}'>"
            f"{_box(1, y, left - 2, None)}{text(left - 7, y + 5, word, 'text-anchor=' + repr('end'))}"
            f"<g class='strands'>{''.join(strands)}</g><g class='shown'>{''.join(shown)}</g></g>"
        )
    words = [text(right + 7, height(j, len(keys)) + 5, word) for j, word in enumerate(read)]
    out.append(f"<g pointer-events='none'>{''.join(words)}</g>")
    return "".join(out), (full, top + ROW * most + 4)


def _strand(x: float, y: float, x_end: float, y_end: float, weight: float) -> str:
    look = f"stroke-width='{0.5 + 4.5 * weight:.2g}' stroke-opacity='{0.1 + 0.9 * weight:.2g}'"
    return f"<path d='M{x:.4g} {y:.4g}L{x_end:.4g} {y_end:.4g}' {look}/>"


def _box(x: float, y: float, width: float, opacity: float | None) -> str:
    """A sheet behind a word; without an opacity, what a pointer can hit."""
    look = "class='hit'" if opacity is None else f"fill-opacity='{opacity:.2g}'"
    return f"<rect x='{x:.4g}' y='{y - 12:.4g}' width='{width:.4g}' height='24' rx='3' {look}/>"


def _css(scope: str) -> str:
    """The word pointed at, or else the one in focus, shows its weights and hides the others' strands."""
    view = f".{scope}"
    unpointed = f"{view}:not(:has(.reader:hover))"
    rules = {
        f"{view} path": f"fill:none;stroke:{PALETTE['blue']}",
        f"{view} .strands,{view} .shown": "pointer-events:none",
        f"{view} .shown": "visibility:hidden",
        f"{view} rect": f"fill:{PALETTE['blue']}",
        f"{view} .hit": "fill-opacity:0",
        f"{view} .reader": "cursor:pointer;outline:none",
        f"{view} .reader:focus .hit": "stroke:currentColor;stroke-width:2",
        f"{view} .reader:hover .shown": "visibility:visible",
        f"{unpointed} .reader:focus .shown": "visibility:visible",
        f"{view} .reader:hover .hit": "fill-opacity:.3",
        f"{unpointed} .reader:focus .hit": "fill-opacity:.3",
        f"{view}:has(.reader:hover) .reader:not(:hover) .strands": "opacity:0",
        f"{unpointed}:has(.reader:focus) .reader:not(:focus) .strands": "opacity:0",
    }
    moving = f"@media (prefers-reduced-motion:no-preference){{{view} .strands{{transition:opacity .15s}}}}"
    return "".join(f"{selector}{{{style}}}" for selector, style in rules.items()) + moving
