"""`progress()`: what is done, chapter by chapter, as a card and as text."""

from __future__ import annotations

import html

from transformer_lib.display.html import Html
from transformer_lib.exercises import record
from transformer_lib.exercises.chapters import CHAPTERS, by_chapter
from transformer_lib.exercises.exercise import Exercise

MARKS = {"passed": "✓", "tried": "…", "open": "○"}
WORDS = {"passed": "passed", "tried": "tried, not passed yet", "open": "not tried yet"}


def overview(exercises: tuple[Exercise, ...]) -> Html:
    """A card with each chapter's exercises, those that passed, and the next one to try."""
    known = record.read()
    states = {exercise.id: _state(exercise.id, known) for exercise in exercises}
    done = sum(state == "passed" for state in states.values())
    head = f"{done} of {len(exercises)} exercises passed"
    following = next((e for e in exercises if states[e.id] != "passed"), None)
    last = f"Next: exercise {following.id}, {following.title}." if following else "All of them. Well done!"
    kept = f"Kept in {known.path}, on your machine only."
    rows, lines = [], [head]
    for chapter, own in by_chapter(exercises).items():
        title = CHAPTERS[chapter][0]
        count = sum(states[exercise.id] == "passed" for exercise in own)
        rows.append(_row(chapter, title, own, states, count))
        marks = "  ".join(f"{MARKS[states[e.id]]} {e.id}" for e in own)
        lines.append(f"{chapter:>2} {title:<26} {count} of {len(own)}   {marks}")
    lines += [last, *known.remarks, kept]
    return Html(_card(head, rows, [last, *known.remarks], kept), "\n".join(lines))


def _state(id: str, known: record.Record) -> str:
    return "passed" if id in known.passed() else "tried" if id in known.tried() else "open"


def _row(chapter: int, title: str, own: list[Exercise], states: dict[str, str], count: int) -> str:
    chips = " ".join(
        f'<span title="{html.escape(e.title)}" style="display:inline-block;padding:.05em .5em;margin:.1em 0;'
        f"border:1px {'solid' if states[e.id] != 'open' else 'dashed'} "
        f'{"#009E73" if states[e.id] == "passed" else "#808080"};border-radius:1em;white-space:nowrap">'
        f'<span aria-hidden="true">{MARKS[states[e.id]]}</span> {e.id}'
        f'<span style="position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden">'
        f": {WORDS[states[e.id]]}</span></span>"
        for e in own
    )
    share = round(100 * count / len(own))
    bar = (
        '<div aria-hidden="true" style="height:.45em;margin:.25em 0;border-radius:.3em;'
        f'background:rgba(128,128,128,.25)"><div style="height:100%;width:{share}%;border-radius:.3em;'
        'background:#009E73"></div></div>'
    )
    return (
        f'<div style="margin:.7em 0"><div style="display:flex;justify-content:space-between;gap:1em">'
        f"<span>{chapter} · {html.escape(title)}</span><span>{count} of {len(own)}</span></div>"
        f"{bar}{chips}</div>"
    )


def _card(head: str, rows: list[str], remarks: list[str], kept: str) -> str:
    below = "".join(f'<p style="margin:.4em 0">{html.escape(remark)}</p>' for remark in remarks)
    return (
        '<div role="group" aria-label="Progress" style="position:relative;max-width:46em;margin:.5em 0;'
        "padding:.6em .9em;border:1px solid rgba(128,128,128,.4);border-left:5px solid #009E73;"
        'border-radius:6px;color:inherit;overflow-wrap:anywhere">'
        f'<p style="margin:0 0 .3em;font-weight:600">{html.escape(head)}</p>{"".join(rows)}{below}'
        f'<p style="margin:.4em 0 0;font-size:.9em">{html.escape(kept)}</p></div>'
    )
