"""The questions of a chapter: plain Markdown, to be read and answered everywhere, with no kernel.

A cell that begins with "## Questions" holds at least three of this form; opening a choice tells why:

    **1. What does a row of the weights sum to?**

    <details><summary>To 1</summary>

    Right. The softmax divides by the row's sum.

    </details>
"""

from __future__ import annotations

import re

HEADING = "## Questions"
FEWEST_QUESTIONS, FEWEST_CHOICES = 3, 3
SHORTEST = 40  # letters of an explanation
CHOICE = re.compile(r"<details><summary>([^\n]*)</summary>\n\n(.*?)\n\n</details>", re.DOTALL)


def questions(text: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """(question, [(choice, explanation), …]) of a cell, in order."""
    parts = re.split(r"^\*\*(\d+\. .+?)\*\*$", text, flags=re.MULTILINE | re.DOTALL)
    return [(parts[i], CHOICE.findall(parts[i + 1])) for i in range(1, len(parts), 2)]


def problems(cells: list[str]) -> list[str]:
    """What is wrong with a chapter's questions, given its Markdown cells."""
    own = [cell for cell in cells if cell.startswith(HEADING)]
    if len(own) != 1:
        return [f'must have one cell that begins with "{HEADING}"; it has {len(own)}']
    asked = questions(own[0])
    found = []
    if len(asked) < FEWEST_QUESTIONS:
        found.append(f"has {len(asked)} questions; at least {FEWEST_QUESTIONS} are wanted")
    if own[0].count("<details>") != sum(len(choices) for _, choices in asked):
        found.append("has a choice that is not in the form that tools/quiz.py shows")
    for number, (question, choices) in enumerate(asked, 1):
        found += [f"question {number}: {what}" for what in _question(number, question, choices)]
    return found


def _question(number: int, question: str, choices: list[tuple[str, str]]) -> list[str]:
    found = []
    if not question.startswith(f"{number}. "):
        found.append("is numbered out of order")
    if len(choices) < FEWEST_CHOICES:
        found.append(f"has {len(choices)} choices; at least {FEWEST_CHOICES} are wanted")
    verdicts = [re.match(r"(Right|No)\. ", explanation) for _, explanation in choices]
    if not all(verdicts):
        found.append('has an explanation that begins neither with "Right. " nor with "No. "')
    if sum(verdict is not None and verdict[1] == "Right" for verdict in verdicts) != 1:
        found.append("must have exactly one right choice")
    if any(len(explanation) < SHORTEST for _, explanation in choices):
        found.append("has a choice that is not explained")
    if any("$" in choice or "`" in choice for choice, _ in choices):
        found.append("has a choice with $ or `, which is shown raw there: write plain text")
    return found
