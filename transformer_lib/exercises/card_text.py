"""The card of a result as text, for a terminal, a test report or a screen without HTML."""

from __future__ import annotations

import textwrap

from transformer_lib.display.heat_map import heat_map
from transformer_lib.exercises.card import look
from transformer_lib.exercises.measure import brief, outline
from transformer_lib.exercises.pictures import arguments, as_tensor, can_be_drawn, comparison
from transformer_lib.exercises.result import Result

WIDTH = 88


def text_card(result: Result) -> str:
    """The card."""
    mark, words, _ = look(result)
    title = f"Exercise {result.id}" + (f": {result.exercise.title}" if result.exercise else "")
    name = f" ({result.mistake})" if result.status == "mistake" else ""
    lines = [f"{mark} {title}: {words}{name}", *_wrapped(result.message)]
    for what, how in result.notes:
        lines += _wrapped(f"{what}: {how}", "  ")
    if result.place is not None and result.place.source:
        lines.append(f"  line {result.place.line}:  {result.place.source}")
    if result.error:
        lines += _wrapped(result.error, "  ")
    shown = not result.notes  # or the notes say what is wrong
    given = ", ".join(f"{name} = {brief(value)}" for name, value in arguments(result) if shown)
    if given:
        head = "Smallest input that shows it" if result.found is not None else "Input"
        lines += _wrapped(f"{head}: {given}")
    for label, value in comparison(result) if shown else ():
        lines += _value(label, value)
    if result.printed:
        lines += ["What your code printed:", textwrap.indent(result.printed, "  ")]
    if result.exercise is not None and not result.passed:
        count = len(result.hints)
        hints = f"{count} hint{'s' * (count != 1)}: the result's .hints; s" if count else "S"
        lines.append(f"{hints}olution: .solution")
    return "\n".join(lines)


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent)


def _value(label: str, value) -> list[str]:
    if not can_be_drawn(value):
        return [f"{label}: {outline(value)}"]
    x = as_tensor(value)
    x = x[(0,) * (x.dim() - 2)] if x.dim() > 2 else x
    caption = f"{label}, shape {tuple(x.shape)}" if x.dim() > 1 else label
    return repr(heat_map(x, caption=caption)).splitlines()
