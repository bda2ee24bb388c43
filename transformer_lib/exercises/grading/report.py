"""The grades as a table for spreadsheets (CSV) and as a page to read (HTML)."""

from __future__ import annotations

import csv
import html
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from transformer_lib.exercises.exercise import Exercise
from transformer_lib.exercises.grading.supervise import Submission

COLUMNS = ("notebook", "exercise", "title", "points", "earned", "status", "mistake", "message", "remarks")
NOT_CHECKED = "not checked"
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { border: 1px solid #8886; padding: .25rem .6rem; text-align: left; vertical-align: top; }
td.number { text-align: right; } .passed { color: #00734f; }
@media (prefers-color-scheme: dark) {
  body { background: #14181e; color: #ced6dd; }
  .passed { color: #3cc79b; }
}
"""


def earned(exercise: Exercise, result: dict) -> int:
    """All points of an exercise that passed, none of another."""
    return exercise.points if result.get("status") == "passed" else 0


def total(submission: Submission, exercises: dict[str, Exercise]) -> tuple[int, int]:
    """(earned, possible) points of a submission."""
    pairs = [(exercises[id], result) for id, result in submission.results.items()]
    return sum(earned(*pair) for pair in pairs), sum(exercise.points for exercise, _ in pairs)


def rows(submission: Submission, exercises: dict[str, Exercise]) -> list[tuple]:
    """A row of the table for each exercise; one row where a notebook has none."""
    remarks = "; ".join(submission.remarks)
    if not submission.results:
        return [(submission.path.as_posix(), "", "", 0, 0, "no exercise found", "", "", remarks)]
    return [
        (
            submission.path.as_posix(),
            id,
            exercises[id].title,
            exercises[id].points,
            earned(exercises[id], result),
            result.get("status", NOT_CHECKED),
            result.get("mistake") or "",
            result.get("message", ""),
            remarks,
        )
        for id, result in submission.results.items()
    ]


def _harmless(value: object) -> object:
    """A text that a spreadsheet does not take for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def write_csv(path: Path, submissions: Sequence[Submission], exercises: dict[str, Exercise]) -> None:
    with open(path, "w", newline="", encoding="utf-8-sig") as file:  # with a mark, or Excel spoils letters
        table = csv.writer(file)
        table.writerow(COLUMNS)
        for submission in submissions:
            table.writerows([map(_harmless, row) for row in rows(submission, exercises)])


def write_html(path: Path, submissions: Sequence[Submission], exercises: dict[str, Exercise]) -> None:
    """The totals, the mistakes made most often, and each notebook in full."""
    path.write_text(
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>Grades</title>'
        f"<style>{STYLE}</style></head><body><h1>Grades</h1>"
        + _totals(submissions, exercises)
        + _mistakes(submissions, exercises)
        + "".join(_one(submission, exercises) for submission in submissions)
        + "</body></html>\n",
        encoding="utf-8",
    )


def _table(head: Sequence[str], body: Sequence[Sequence[object]]) -> str:
    def cell(value: object) -> str:
        kind = "number" if isinstance(value, int | float) else "passed" if value == "passed" else ""
        return f'<td class="{kind}">{html.escape(str(value))}</td>'

    heads = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in head)
    lines = "".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in body)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"


def _totals(submissions: Sequence[Submission], exercises: dict[str, Exercise]) -> str:
    body = []
    for one in submissions:
        passed = sum(result.get("status") == "passed" for result in one.results.values())
        body.append(
            (
                one.path.as_posix(),
                *total(one, exercises),
                f"{passed} of {len(one.results)}",
                round(one.seconds),
                "; ".join(one.remarks),
            )
        )
    return _table(("notebook", "points", "of", "passed", "seconds", "remarks"), body)


def _mistakes(submissions: Sequence[Submission], exercises: dict[str, Exercise]) -> str:
    made = Counter(
        (id, result["mistake"])
        for one in submissions
        for id, result in one.results.items()
        if result.get("mistake") not in (None, "not-attempted")
    )
    if not made:
        return ""
    body = [(id, exercises[id].title, name, count) for (id, name), count in made.most_common(20)]
    return "<h2>Mistakes made most often</h2>" + _table(("exercise", "title", "mistake", "notebooks"), body)


def _one(submission: Submission, exercises: dict[str, Exercise]) -> str:
    head = ("exercise", "title", "points", "earned", "status", "mistake", "message")
    body = [row[1:8] for row in rows(submission, exercises)]
    remarks = "".join(f"<li>{html.escape(remark)}</li>" for remark in submission.remarks)
    return f"<h2>{html.escape(submission.path.as_posix())}</h2>{_table(head, body)}<ul>{remarks}</ul>"
