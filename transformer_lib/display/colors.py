"""The heat maps' colours without matplotlib: cividis by its values at even steps, straight lines between."""

from __future__ import annotations

_STEPS = ["00224e", "083370", "35456c", "4f576c", "666970", "7d7c78"]
_STEPS += ["948e77", "aea371", "c8b866", "e5cf52", "fee838"]
_RGB = [tuple(int(step[i : i + 2], 16) for i in (0, 2, 4)) for step in _STEPS]


def cell_color(share: float) -> str:
    """The colour at a share of the way from the lowest (0, dark blue) to the highest value (1, yellow)."""
    place = min(max(share, 0.0), 1.0) * (len(_RGB) - 1)
    low = min(int(place), len(_RGB) - 2)
    mixed = (a + (b - a) * (place - low) for a, b in zip(_RGB[low], _RGB[low + 1], strict=True))
    return "#" + "".join(f"{round(value):02x}" for value in mixed)


def text_color(background: str) -> str:
    """Black or white, whichever is the easier to read on the background."""
    return "#000" if contrast("#000000", background) >= contrast("#ffffff", background) else "#fff"


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours #rrggbb, from 1 to 21 (WCAG 2.2, "contrast ratio")."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: str) -> float:
    channels = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
