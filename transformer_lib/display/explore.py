"""A figure to explore: sliders and menus over frames drawn now, so that no kernel is needed later."""

from __future__ import annotations

import html
import itertools
import math
import numbers
import string
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from transformer_lib.display.figure import figure

MOST_FRAMES = 150
MOST_BYTES = 1_500_000  # of all frames of one figure, in the notebook and on the page

Options = list[tuple[str, Any]]  # the choices under one name: (label, value)


class Exploration:
    """What `explore` returns: controls and frames where there are widgets, the choices in words elsewhere."""

    def __init__(self, widget: Any, text: str):
        self.widget = widget
        self.text = text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        # No HTML beside the widget: some notebook programs would prefer it, and show a dead picture.
        view = {"version_major": 2, "version_minor": 0, "model_id": self.widget.model_id}
        return {"text/plain": self.text, "application/vnd.jupyter.widget-view+json": view}

    def __repr__(self) -> str:
        return self.text


def explore(
    draw: Callable[..., Any], *, alt: str, **choices: Iterable[Any] | Mapping[str, Any]
) -> Exploration:
    """A figure with a slider for each choice among numbers and a menu for every other choice.

    `draw` is called now, once for every combination of choices. Keep the grid small: one figure holds up to
    150 frames and 1.5 MB.

    Args:
        draw: called as draw(name=value, …). It returns a matplotlib figure, always of one size, or what
            `attention_map` and the other display functions return. Axis limits that stay the same let the
            reader compare.
        alt: what a frame shows, with each choice in braces: "Softmax weights at d_k = {d_k}".
        choices: for each name the values to choose from; a mapping gives them labels.

    Raises:
        TypeError: draw returned something that cannot be shown.
        ValueError: no choice, an empty one, one that alt does not name, frames of several sizes, or a grid
            too large to ship.

    >>> from transformer_lib.display import heat_map
    >>> explore(lambda n: heat_map([[n]]), alt="The number {n}", n=[1, 2])
    Figure to explore. n: 1, 2. First picture: The number 1
    """
    from transformer_lib.display.widgets import linked

    grid = {name: _options(name, values) for name, values in choices.items()}
    _check_size(grid)
    _check_alt(grid, alt)
    frames: dict[tuple[str, ...], str] = {}
    alts, sizes, total = [], set(), 0
    for combination in itertools.product(*grid.values()):
        chosen = dict(zip(grid, combination, strict=True))
        alts.append(alt.format(**{name: _word(label, value) for name, (label, value) in chosen.items()}))
        drawn = draw(**{name: value for name, (_, value) in chosen.items()})
        frame, size = _frame(drawn, alts[-1])
        frames[tuple(label for label, _ in combination)] = frame
        total += len(frame.encode())
        sizes.add(size)
        if total > MOST_BYTES:
            raise ValueError(
                f"the first {len(frames)} of {math.prod(map(len, grid.values()))} frames take {total:,} "
                f"bytes, more than {MOST_BYTES:,} for one figure: offer fewer values, or draw fewer points"
            )
        if len(sizes) > 1:
            raise ValueError(f"all frames must have one size, or the page jumps; got {sorted(sizes)} inches")
    listed = "; ".join(f"{name}: {', '.join(label for label, _ in opts)}" for name, opts in grid.items())
    return Exploration(linked(grid, frames), f"Figure to explore. {listed}. First picture: {alts[0]}")


def _options(name: str, values: Iterable[Any] | Mapping[str, Any]) -> Options:
    if isinstance(values, Mapping):
        options = [(str(label), value) for label, value in values.items()]
    elif isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(f"{name} must be a list of values to choose from; got {values!r}")
    else:
        options = [(_label(value), value) for value in values]
    if not options:
        raise ValueError(f"{name} has no value to choose from")
    labels = [label for label, _ in options]
    if twice := [label for label in dict.fromkeys(labels) if labels.count(label) > 1]:
        raise ValueError(f"{name} has several choices that read {', '.join(twice)}")
    return options


def _label(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _word(label: str, value: Any) -> Any:
    """What stands for a choice in the alt text: a number, which can be formatted, or a label."""
    return value if isinstance(value, numbers.Real) and not isinstance(value, bool) else label


def _check_size(grid: Mapping[str, Options]) -> None:
    if not grid:
        raise ValueError("explore needs at least one choice, such as d_k=[1, 4, 16]")
    counts = [len(options) for options in grid.values()]
    if math.prod(counts) > MOST_FRAMES:
        raise ValueError(
            f"{' × '.join(map(str, counts))} choices are {math.prod(counts):,} frames, "
            f"more than {MOST_FRAMES}: offer fewer values"
        )


def _check_alt(grid: Mapping[str, Options], alt: str) -> None:
    """Every choice changes the picture, so it belongs into its description."""
    try:
        fields = [field for _, field, _, _ in string.Formatter().parse(alt) if field is not None]
    except (TypeError, ValueError):
        raise ValueError(f"alt must be a text with the choices in braces; got {alt!r}") from None
    if set(fields) != set(grid):
        raise ValueError(
            f"alt must name each choice in braces: the choices are {', '.join(sorted(grid))}; "
            f"alt names {', '.join(sorted(set(fields))) or 'none'}"
        )


def _frame(drawn: Any, alt: str) -> tuple[str, tuple[float, ...]]:
    """The frame as HTML, and its size in inches where it is a figure."""
    from matplotlib.figure import Figure

    if isinstance(drawn, Figure):
        return figure(drawn, alt).html, tuple(round(float(side), 2) for side in drawn.get_size_inches())
    if not hasattr(drawn, "_repr_html_"):
        raise TypeError(
            f"draw must return a matplotlib figure or an object with _repr_html_; got {type(drawn).__name__}"
        )
    return f'<div role="group" aria-label="{html.escape(alt)}">{drawn._repr_html_()}</div>', ()
