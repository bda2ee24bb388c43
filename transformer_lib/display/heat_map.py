"""A matrix as a small table of coloured numbers: for an exercise's card, and wherever the digits count."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import numpy as np

from transformer_lib.display.colors import cell_color, text_color
from transformer_lib.display.html import Html
from transformer_lib.display.numbers import short_number, to_array

MOST_ROWS, MOST_COLUMNS = 12, 8  # shown; eight columns fit a telephone

_CELL = "padding:1px 5px;text-align:center;border:0;white-space:nowrap;"
_HEAD = _CELL + "max-width:8em;overflow:hidden;text-overflow:ellipsis;font-weight:600;background:none;"
_TABLE = "border-collapse:separate;border-spacing:1px;border:0;width:auto;margin:0;color:inherit;"
_TABLE += "font:12px/1.5 monospace"
_CAPTION = "caption-side:top;text-align:left;font:inherit;font-family:inherit;color:inherit;padding:0 0 2px"
_UNDEFINED = "background:none;color:inherit;outline:1px dashed currentColor;outline-offset:-1px;"


def heat_map(
    matrix: Any,
    rows: Sequence[object] | None = None,
    columns: Sequence[object] | None = None,
    caption: str | None = None,
    *,
    low: float | None = None,
    high: float | None = None,
) -> Html:
    """The matrix as a table of numbers on colours, from dark blue (lowest) to yellow (highest).

    Of a large matrix the first 11 rows and 7 columns are shown, and the caption says so. A vector is one row.
    NaN and infinite entries stand on no colour, in a dashed frame.

    Args:
        matrix: numbers or booleans of rank 0 to 2: a tensor of any device, an array or a nested list.
        rows, columns: their labels, one for each.
        caption: what the matrix is.
        low, high: the values at the ends of the colours; None means the matrix's own. Give two matrices the
            same ends and their colours can be compared.

    Raises:
        TypeError: the entries are not real numbers.
        ValueError: rank above 2, rows of several lengths, or not one label for each row and column.

    >>> heat_map([[0.25, 0.75], [1, 0]], rows=["it", "was"], columns=["the", "animal"])
         the animal
     it 0.25   0.75
    was    1      0
    """
    array = to_array(matrix)
    if array.ndim > 2:
        raise ValueError(f"heat_map shows a matrix; got shape {array.shape}. Choose one, such as x[0]")
    array = np.atleast_2d(array)
    for name, labels, count in (("rows", rows, array.shape[0]), ("columns", columns, array.shape[1])):
        if labels is not None and len(labels) != count:
            raise ValueError(f"{len(labels)} labels for {count} {name}")
    if array.size == 0:
        text = f"{caption or 'Matrix'}: empty, shape {array.shape}"
        return Html(f"<p>{html.escape(text)}</p>", text)

    shown, note = _shown(array.shape)
    caption = ", ".join(part for part in (caption, note) if part)
    row_names = _labels(rows, array.shape[0], shown[0])
    column_names = _labels(columns, array.shape[1], shown[1])
    cells = [
        [short_number(value) for value in row[: shown[1]]] + ["…"] * (shown[1] < len(row))
        for row in array[: shown[0]]
    ]
    if shown[0] < array.shape[0]:
        cells.append(["…"] * len(cells[0]))
    colors = _colors(array[: shown[0], : shown[1]], low, high)
    return Html(
        _table(cells, colors, row_names, column_names, caption),
        _text(cells, row_names, column_names, caption),
    )


def _shown(shape: tuple[int, int]) -> tuple[tuple[int, int], str]:
    """How many rows and columns are shown, and the words that say so when they are not all."""
    rows = shape[0] if shape[0] <= MOST_ROWS else MOST_ROWS - 1
    columns = shape[1] if shape[1] <= MOST_COLUMNS else MOST_COLUMNS - 1
    if (rows, columns) == shape:
        return shape, ""
    return (rows, columns), f"first {rows} of {shape[0]} rows and {columns} of {shape[1]} columns"


def _labels(labels: Sequence[object] | None, count: int, shown: int) -> list[str] | None:
    if labels is None:
        return None
    return [str(label) for label in labels[:shown]] + ["…"] * (shown < count)


def _colors(array: np.ndarray, low: float | None, high: float | None) -> list[list[str]]:
    """The style of each cell. A matrix of one value is drawn in the middle of the colours."""
    values = array.astype(np.float64)
    finite = values[np.isfinite(values)]
    if array.dtype == bool:
        low, high = 0, 1
    low = low if low is not None else finite.min(initial=np.inf)
    high = high if high is not None else finite.max(initial=-np.inf)

    def style(value: float) -> str:
        if not np.isfinite(value):
            return _UNDEFINED
        color = cell_color((value / 2 - low / 2) / (high / 2 - low / 2) if high > low else 0.5)
        return f"background:{color};color:{text_color(color)};"

    return [[style(value) for value in row] for row in values]


def _table(cells, colors, rows, columns, caption) -> str:
    out = [f'<table class="heat-map" style="{_TABLE}">']
    if caption:
        out.append(f'<caption style="{_CAPTION}">{html.escape(caption)}</caption>')
    if columns:
        heads = "".join(f'<th scope="col" style="{_HEAD}">{html.escape(name)}</th>' for name in columns)
        corner = f'<td style="{_HEAD}"></td>' * (rows is not None)
        out.append(f'<tr style="background:none">{corner}{heads}</tr>')
    for i, row in enumerate(cells):
        out.append('<tr style="background:none">')
        if rows:
            out.append(f'<th scope="row" style="{_HEAD}text-align:right">{html.escape(rows[i])}</th>')
        for j, text in enumerate(row):
            style = (
                colors[i][j] if i < len(colors) and j < len(colors[i]) else "background:none;color:inherit;"
            )
            out.append(f'<td style="{_CELL}{style}">{text}</td>')
        out.append("</tr>")
    out.append("</table>")
    # A table wider than the page scrolls by itself, and by keyboard too, instead of moving the page.
    wide = sum(max(len(row[j]) for row in cells) * 7.3 + 11 for j in range(len(cells[0])))
    wide += max(map(len, rows)) * 7.3 + 11 if rows else 0
    wide = max(wide, sum(len(name) * 7.3 + 11 for name in columns)) if columns else wide
    name = html.escape(caption or "matrix")
    reachable = f' tabindex="0" role="region" aria-label="{name}"' if wide > 320 else ""
    return f'<div style="max-width:100%;overflow-x:auto"{reachable}>{"".join(out)}</div>'


def _text(cells, rows, columns, caption) -> str:
    """The same as aligned text, for where there is no HTML."""
    lines = [list(row) for row in cells]
    if columns:
        lines.insert(0, list(columns))
    if rows:
        lines = [[name, *line] for name, line in zip([""] * bool(columns) + rows, lines, strict=True)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = "\n".join(" ".join(cell.rjust(n) for cell, n in zip(line, widths, strict=True)) for line in lines)
    return f"{caption}\n{text}" if caption else text
