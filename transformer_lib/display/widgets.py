"""Controls and frames as widgets, linked in the browser: no kernel takes part.

Written for ipywidgets 8, and for 7.7.1, which has no Stack.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import ipywidgets as widgets

# In the colours of the page. A Tab stands in for Stack, without its headers and its frame.
CSS = """
.explore {color: inherit; max-width: 100%; overflow: visible}
.explore .widget-label, .explore .widget-readout {color: inherit}
.explore .widget-readout {min-width: 4em; text-align: left}
.explore .widget-html, .explore .widget-html-content {color: inherit; line-height: normal; overflow: visible}
.explore .widget-html {height: auto; margin: 0; width: 100%}
.explore .noUi-handle:focus, .explore select:focus {outline: 3px solid #0072B2; outline-offset: 2px}
.explore-frames, .explore-frames > .widget-tab-contents {
  background: none; border: 0; margin: 0; overflow: visible; padding: 0; width: 100%}
.explore-frames > .p-TabBar, .explore-frames > .lm-TabBar {display: none}
""".replace("\n", "")


def linked(grid: Mapping[str, list[tuple[str, Any]]], frames: Mapping[tuple[str, ...], str]) -> Any:
    """One control for each name of the grid, above the frame of what is chosen.

    Frames lie in pages: the first control turns the outer ones, the next one those inside, and so on.
    """
    controls = [_control(name, options) for name, options in grid.items()]
    css = widgets.HTML(f"<style>{CSS}</style>", layout=widgets.Layout(display="none"))
    shared = {"layout": widgets.Layout(), "style": css.style}  # one for all frames: fewer bytes

    def pages(chosen: tuple[str, ...]) -> Any:
        if chosen in frames:
            return widgets.HTML(frames[chosen], **shared)
        control, options = list(zip(controls, grid.values(), strict=True))[len(chosen)]
        kind = widgets.Stack if hasattr(widgets, "Stack") else widgets.Tab
        book = kind(children=[pages((*chosen, label)) for label, _ in options], selected_index=0)
        book.add_class("explore-frames")
        widgets.jslink((control, "index"), (book, "selected_index"))
        return book

    box = widgets.VBox([css, *controls, pages(())])
    box.add_class("explore")
    return box


def _control(name: str, options: list[tuple[str, Any]]) -> Any:
    """A slider over numbers, a menu over anything else. The page gets the labels, the values stay here."""
    are_numbers = all(isinstance(v, numbers.Real) and not isinstance(v, bool) for _, v in options)
    kind = widgets.SelectionSlider if are_numbers and len(options) > 1 else widgets.Dropdown
    parts = name.split("_")
    return kind(
        options=[label for label, _ in options],
        index=0,
        description=name if any(len(part) == 1 for part in parts) else " ".join(parts),
        style={"description_width": "initial"},
        layout={"width": "auto", "max_width": "30em"},
    )
