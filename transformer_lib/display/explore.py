"""A figure to explore: sliders and menus over frames that are drawn now, so that no kernel is needed later."""

from __future__ import annotations

import html
import itertools
import numbers
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from transformer_lib.display.figure import figure

MOST_FRAMES = 150
MOST_BYTES = 1_500_000  # of one figure, in the notebook and on the page

# The page's own colours instead of the widgets'; Tab, where there is no Stack, without its headers and frame.
_CSS = """
.explore, .explore * {--jp-widgets-color: inherit; --jp-widgets-label-color: inherit;
 --jp-widgets-readout-color: inherit}
.explore {color: inherit; max-width: 100%; overflow: visible}
.explore .widget-label, .explore .widget-readout {color: inherit}
.explore .widget-html-content {line-height: normal; color: inherit}
.explore .noUi-handle:focus {outline: 3px solid #0072B2; outline-offset: 2px}
.explore-frames, .explore-frames .widget-tab-contents {border: 0; padding: 0; margin: 0; overflow: visible;
 background: none}
.explore-frames > .p-TabBar, .explore-frames > .lm-TabBar {display: none}
"""


class Exploration:
    """What `explore` returns: the controls and frames where there are widgets, the choices in words elsewhere."""

    def __init__(self, widget: Any, text: str):
        self.widget = widget
        self.text = text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        view = {"version_major": 2, "version_minor": 0, "model_id": self.widget.model_id}
        return {"text/plain": self.text, "application/vnd.jupyter.widget-view+json": view}

    def __repr__(self) -> str:
        return self.text


def explore(draw: Callable[..., Any], *, alt: str, **choices: Iterable | Mapping[str, Any]) -> Exploration:
    """A figure with a slider for each choice among numbers and a menu for every other choice.

    `draw` is called now, once for every combination. Keep the grid small: one figure holds up to 150 frames
    and 1.5 MB.

    Args:
        draw: called as draw(name=value, …); returns a matplotlib figure, or what `attention_map` and the other
            display functions return. Frames should be of one size, with the same axis limits.
        alt: what the frame shows, with each choice in braces: "Softmax weights at d_k = {d_k}".
        choices: for each name the values to choose from; a mapping gives them labels.

    Raises:
        TypeError: draw returned something that cannot be shown.
        ValueError: no choice, an empty one, one that alt does not name, or a grid too large to ship.
    """
    grid = {name: _options(name, values) for name, values in choices.items()}
    _check(grid, alt)
    frames = {}
    size, total = 0, 1
    for options in grid.values():
        total *= len(options)
    for combination in itertools.product(*grid.values()):
        labels = {name: label for name, (label, _) in zip(grid, combination, strict=True)}
        values = {name: value for name, (_, value) in zip(grid, combination, strict=True)}
        frame = _frame(draw(**values), alt.format(**{n: _word(v, labels[n]) for n, v in values.items()}))
        frames[tuple(labels.values())] = frame
        size += len(frame.encode())
        if size > MOST_BYTES:
            raise ValueError(
                f"the first {len(frames)} of {total} frames take {size:,} bytes, more than {MOST_BYTES:,} for one "
                "figure: fewer choices, fewer points, or a smaller picture"
            )
    listed = "; ".join(
        f"{name}: {', '.join(label for label, _ in options)}" for name, options in grid.items()
    )
    first = alt.format(**{name: _word(options[0][1], options[0][0]) for name, options in grid.items()})
    text = f"Figure to explore. Choices: {listed}. First picture: {first}"
    return Exploration(_widget(grid, frames), text)


def _options(name: str, values: Iterable | Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The choices under one name as (label, value)."""
    if isinstance(values, Mapping):
        options = [(str(label), value) for label, value in values.items()]
    elif isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(f"{name} must be a list of values to choose from; got {values!r}")
    else:
        options = [(_label(value), value) for value in values]
    if not options:
        raise ValueError(f"{name} has no value to choose from")
    labels = [label for label, _ in options]
    if len(set(labels)) < len(labels):
        raise ValueError(f"{name} has two choices that read the same: {', '.join(labels)}")
    return options


def _label(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _word(value: Any, label: str) -> Any:
    """What stands for a choice in the alt text: a number as it is, anything else by its label."""
    return value if isinstance(value, numbers.Real) and not isinstance(value, bool) else label


def _check(grid: Mapping[str, Sequence], alt: str) -> None:
    if not grid:
        raise ValueError("explore needs at least one choice, such as d_k=[1, 4, 16]")
    try:
        named = {
            field.split(".")[0].split("[")[0] for _, field, _, _ in string.Formatter().parse(alt) if field
        }
    except (TypeError, ValueError):
        raise ValueError(f"alt must be a text with the choices in braces; got {alt!r}") from None
    if named != set(grid):
        raise ValueError(
            f"alt must name each choice in braces, so that every picture is described: the choices are "
            f"{', '.join(sorted(grid))}; alt names {', '.join(sorted(named)) or 'none'}"
        )
    counts = [len(options) for options in grid.values()]
    total = 1
    for count in counts:
        total *= count
    if total > MOST_FRAMES:
        sizes = " × ".join(map(str, counts))
        raise ValueError(f"{sizes} choices are {total:,} frames, more than {MOST_FRAMES}: offer fewer values")


def _frame(drawn: Any, alt: str) -> str:
    from matplotlib.figure import Figure

    if isinstance(drawn, Figure):
        return figure(drawn, alt).html
    if not hasattr(drawn, "_repr_html_"):
        raise TypeError(
            f"draw must return a matplotlib figure or an object with _repr_html_; got {type(drawn).__name__}"
        )
    return f'<div role="group" aria-label="{html.escape(alt)}">{drawn._repr_html_()}</div>'


def _widget(grid: Mapping[str, list[tuple[str, Any]]], frames: Mapping[tuple[str, ...], str]) -> Any:
    import ipywidgets as widgets

    controls = [_control(widgets, name, options) for name, options in grid.items()]
    shared: dict[str, Any] = {}  # one layout and style for all frames: half the bytes

    def pages(chosen: tuple[str, ...], depth: int) -> Any:
        """The frame of a full choice, or the pages among which the next control chooses."""
        if depth == len(grid):
            page = widgets.HTML(frames[chosen], **shared)
            shared.update(layout=page.layout, style=page.style)
            return page
        name = list(grid)[depth]
        children = [pages((*chosen, label), depth + 1) for label, _ in grid[name]]
        stack = widgets.Stack if hasattr(widgets, "Stack") else widgets.Tab  # 7.7.1 has no Stack
        chooser = stack(children=children, selected_index=0)
        chooser.add_class("explore-frames")
        widgets.jslink((controls[depth], "index"), (chooser, "selected_index"))
        return chooser

    css = widgets.HTML(f"<style>{_CSS}</style>", layout=widgets.Layout(display="none"))
    box = widgets.VBox([css, *controls, pages((), 0)])
    box.add_class("explore")
    return box


def _control(widgets: Any, name: str, options: list[tuple[str, Any]]) -> Any:
    """A slider over numbers, a menu over anything else. The values stay in Python: the page has the labels."""
    are_numbers = all(isinstance(v, numbers.Real) and not isinstance(v, bool) for _, v in options)
    kind = widgets.SelectionSlider if are_numbers and len(options) > 1 else widgets.Dropdown
    parts = name.split("_")
    description = name if any(len(part) == 1 for part in parts) else " ".join(parts)
    return kind(
        options=[label for label, _ in options],
        index=0,
        description=description,
        style={"description_width": "initial"},
        layout={"width": "auto", "max_width": "28em"},
    )
