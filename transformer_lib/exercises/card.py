"""The card of a result as plain HTML: no script, no colour without a word, legible in light and dark."""

from __future__ import annotations

import html
import re

from transformer_lib.exercises.pictures import pictures
from transformer_lib.exercises.result import Result

# status: (mark, heading, colour of the card's edge, with a contrast of 3 or more on light and dark pages)
LOOKS = {
    "passed": ("✓", "passed", "#009E73"),
    "not attempted": ("○", "not attempted yet", "#808080"),
    "mistake": ("✗", "not right yet", "#D55E00"),
    "error": ("!", "stopped by an error", "#D55E00"),
}
NO_CHECK = ("unknown-exercise", "check-failed")
_WRAP = "white-space:pre-wrap;overflow-wrap:anywhere;"
_PRE = (
    f'<pre style="{_WRAP}margin:.3em 0;padding:.4em .6em;border:0;border-radius:4px;font-size:.9em;'
    'line-height:1.4;color:inherit;background:rgba(128,128,128,.12)">'
)
_CODE = '<code style="color:inherit;background:rgba(128,128,128,.15);border:0;padding:0 .2em">'


def look(result: Result) -> tuple[str, str, str]:
    """Mark, heading and colour of a result."""
    mark, words, color = LOOKS[result.status]
    return mark, "could not be checked" if result.mistake in NO_CHECK else words, color


def html_card(result: Result) -> str:
    """The card."""
    mark, words, color = look(result)
    title = f"Exercise {result.id}" + (f": {result.exercise.title}" if result.exercise else "")
    name = f" · {result.mistake}" if result.status == "mistake" else ""
    parts = [
        f'<h4 style="margin:0 0 .3em;font-size:1.05em;color:inherit">{escape(title)}</h4>',
        f'<p style="margin:.2em 0;font-weight:600"><span aria-hidden="true">{mark}</span> '
        f"{escape(words[0].upper() + words[1:] + name)}</p>",
        f'<p style="margin:.4em 0">{inline(result.message)}</p>',
        *_notes(result),
        *_error(result),
        *([] if result.notes else pictures(result)),  # the notes say what is wrong
        *_folded(result),
    ]
    return (
        f'<div role="group" aria-label="{escape(f"{title}, {words}")}" style="max-width:46em;margin:.5em 0;'
        f"padding:.6em .9em;border:1px solid rgba(128,128,128,.4);border-left:5px solid {color};"
        f'border-radius:6px;color:inherit;overflow-wrap:anywhere">' + "\n".join(parts) + "</div>"
    )


def escape(text: str) -> str:
    """The text made harmless; dollar signs too, or a notebook would typeset what stands between two."""
    return html.escape(text).replace("$", "&#36;")


def inline(text: str) -> str:
    """A text of ours with `code` and *emphasis*; its $…$ is left for the page to typeset."""
    pieces = re.split(r"`([^`]+)`", text)
    out = []
    for number, piece in enumerate(pieces):
        if number % 2:
            out.append(f"{_CODE}{escape(piece)}</code>")
        else:
            out.append(re.sub(r"(?<![\w*])\*(\w[^*]*)\*(?![\w*])", r"<em>\1</em>", html.escape(piece)))
    return "".join(out)


def pre(text: str) -> str:
    return f"{_PRE}{escape(text)}</pre>"


def fold(summary: str, *content: str) -> str:
    return (
        f'<details style="margin:.3em 0"><summary style="cursor:pointer">{escape(summary)}</summary>\n'
        + "\n".join(content)
        + "</details>"
    )


def _notes(result: Result) -> list[str]:
    """A table of what the exercise says of each part of the answer."""
    look = 'style="text-align:left;vertical-align:top;font-weight:400;padding:.15em 1em .15em 0"'
    rows = [
        f'<tr><th scope="row" {look}>{escape(what)}</th><td {look}>{escape(how)}</td></tr>'
        for what, how in result.notes
    ]
    return (
        [f'<table style="margin:.4em 0;font-size:.95em;color:inherit">{"".join(rows)}</table>']
        if rows
        else []
    )


def _error(result: Result) -> list[str]:
    if result.place is not None and result.place.source:
        line = f"line {result.place.line}:  {result.place.source}"
        return [pre("\n".join(filter(None, [line, result.error])))]
    return [pre(result.error)] if result.error else []


def _folded(result: Result) -> list[str]:
    parts = []
    if result.printed:
        parts.append(fold("What your code printed", pre(result.printed)))
    if not result.passed:
        count = len(result.hints)
        for number, hint in enumerate(result.hints, 1):
            parts.append(fold(f"Hint {number} of {count}", f'<p style="margin:.3em 0">{inline(hint)}</p>'))
    if result.solution:
        parts.append(fold("Solution", pre(result.solution)))
    return parts
