"""What the drawings of attention share: text and the outermost tag of an SVG that is a part of a page."""

from __future__ import annotations

import html

LETTER = 0.6  # about the width of a letter, in parts of its size


def text(x: float, y: float, words: str, attributes: str = "") -> str:
    """Words at a place of the drawing, in the colour of the page's text."""
    return f"<text x='{x:.4g}' y='{y:.4g}'{' ' * bool(attributes)}{attributes}>{html.escape(words)}</text>"


def width_of(words: list[str], size: float) -> float:
    """About the width of the longest word, in pixels, for letters of a size in pixels."""
    return max(map(len, words)) * LETTER * size


def svg(inside: str, *, role: str, css: str, alt: str, size: tuple[float, float], font: int) -> str:
    """The drawing at its own size, or as wide as the page where that is narrower."""
    width, height = size
    box = f"viewBox='0 0 {width:.0f} {height:.0f}'"
    return (
        f"<svg class='{css}' role='{role}' aria-label='{html.escape(alt)}' {box} "
        f"style='width:{width / 16:.4g}rem;max-width:100%;height:auto;display:block;margin:0 auto;"
        f"overflow:visible;color:inherit;fill:currentColor;font:{font}px sans-serif'>{inside}</svg>"
    )
