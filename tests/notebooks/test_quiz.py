"""Every chapter's questions: enough of them, each choice explained, one right."""

from pathlib import Path

import nbformat
import pytest
import quiz

BOOK = Path(__file__).parents[2] / "book"
WHY = "Because the softmax divides by the sum of its row."
CHOICES = [("To 1", f"Right. {WHY}"), ("To n", f"No. {WHY}"), ("To 0", f"No. {WHY}")]


def question(number, choices=CHOICES):
    shown = "".join(f"<details><summary>{a}</summary>\n\n{b}\n\n</details>\n\n" for a, b in choices)
    return f"**{number}. What does a row sum to?**\n\n{shown}"


def cell(*questions):
    return f"{quiz.HEADING}\n\nThink first.\n\n" + "".join(questions)


GOOD = cell(question(1), question(2), question(3))


@pytest.mark.parametrize("path", sorted(BOOK.glob("[0-9][0-9]_*.ipynb")), ids=lambda path: path.stem)
def test_chapter_has_its_questions(path):
    cells = nbformat.read(path, as_version=4).cells
    assert quiz.problems([one.source for one in cells if one.cell_type == "markdown"]) == []


def test_sound_questions_pass_and_are_read_whole():
    assert quiz.problems(["# Title", GOOD]) == []
    assert quiz.questions(GOOD)[1] == ("2. What does a row sum to?", CHOICES)


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([], "must have one cell"),
        ([GOOD, GOOD], "must have one cell"),
        ([cell(question(1), question(2))], "has 2 questions"),
        ([cell(question(1), question(2), question(4))], "numbered out of order"),
        ([cell(question(1), question(2), question(3, CHOICES[:2]))], "has 2 choices"),
        ([cell(question(1), question(2), question(3, [*CHOICES[:2], CHOICES[0]]))], "exactly one right"),
        ([cell(question(1), question(2), question(3, CHOICES[1:] * 2))], "exactly one right"),
        ([cell(question(1), question(2), question(3, [*CHOICES, ("To 2", WHY)]))], "neither with"),
        (
            [cell(question(1), question(2), question(3, [*CHOICES, ("To 2", "No. It is not.")]))],
            "not explained",
        ),
        ([cell(question(1), question(2), question(3, [*CHOICES, ("To $2$", f"No. {WHY}")]))], "plain text"),
        ([GOOD.replace("\n\n</details>", "</details>", 1)], "not in the form"),
    ],
)
def test_what_is_wrong_is_said(cells, words):
    found = quiz.problems(cells)
    assert any(words in problem for problem in found), found
