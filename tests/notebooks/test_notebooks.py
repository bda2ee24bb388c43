"""tools/notebooks.py: what `fix` writes, and that `check` names every way to break it."""

import copy
import json

import nbformat
import notebooks
import pytest
import repository
from nbformat.v4 import new_code_cell, new_output
from sample_chapters import EXERCISES, chapter, exercise, place

HOME = repository.Repository("some-one", "the-book", "main", "1.2.3")
TAGGED = {"metadata": {"tags": ["nbval-check-output"]}, "execution_count": 9}


def fixed(notebook):
    return notebooks.fix(notebook, "02_two.ipynb", HOME, EXERCISES)


def problems(folder, notebook):
    path = folder / "02_two.ipynb"
    path.write_text(notebooks.text_of(notebook), encoding="utf-8")
    return notebooks.check(path, HOME, EXERCISES)


def test_a_fixed_chapter_has_its_parts_in_order_and_nothing_to_mend(tmp_path):
    chapter_two = fixed(chapter("Some text.", new_code_cell("x = 1")))
    assert [cell.id for cell in chapter_two.cells if "-" in cell.id or cell.id == "badge"] == [
        "badge",
        "set-up",
        *(f"exercise-2-{n}-{part}" for n in (1, 2) for part in ("statement", "stub", "check")),
    ]
    assert chapter_two.cells[1].source.startswith("# Two")
    assert problems(tmp_path, chapter_two) == []


def test_fixing_twice_changes_nothing_and_keeps_ids():
    first = fixed(chapter("Some text."))
    text = notebooks.text_of(first)
    assert notebooks.text_of(fixed(first)) == text
    edited = copy.deepcopy(first)
    edited.cells[3].source += " And more."
    assert [cell.id for cell in fixed(edited).cells] == [cell.id for cell in first.cells]


def test_the_file_has_one_form():
    text = notebooks.text_of(fixed(chapter("√d_k and ü")))
    assert text.endswith("}\n")
    assert not text.endswith("\n\n")
    assert "√d_k and ü" in text
    assert text.splitlines()[1] == ' "cells": ['
    nbformat.validate(json.loads(text))


def test_the_generated_cells_read_as_agreed():
    cells = {cell.id: cell for cell in fixed(chapter()).cells}
    assert cells["badge"].source == (
        "[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]"
        "(https://colab.research.google.com/github/some-one/the-book/blob/main/book/02_two.ipynb)"
    )
    assert cells["badge"].metadata == {"tags": ["remove-cell"]}
    assert "@ git+https://github.com/some-one/the-book@v1.2.3" in cells["set-up"].source
    assert cells["exercise-2-1-statement"].source == (
        "### Exercise 2.1: Scores\n\n*write · easy · 5 minutes*\n\nReturn $q \\cdot k$."
    )
    assert cells["exercise-2-1-statement"].cell_type == "markdown"
    assert cells["exercise-2-1-stub"].source == EXERCISES["2.1"].stub.strip()
    assert cells["exercise-2-1-check"].source == 'check("2.1", score)'
    assert "1 minute*" in notebooks.exercise_cells(exercise("2.1", minutes=1))[0].source


def test_outputs_go_but_the_text_of_compared_cells_stays():
    html = {"text/plain": "7", "text/html": "<b>7</b>"}
    plain = new_code_cell("x", outputs=[new_output("stream", text="7\n")], execution_count=4)
    compared = new_code_cell("y", outputs=[new_output("execute_result", html, execution_count=4)], **TAGGED)
    cells = {cell.source: cell for cell in fixed(chapter(plain, compared)).cells}
    assert (cells["x"].outputs, cells["x"].execution_count) == ([], None)
    assert cells["y"].outputs[0].data == {"text/plain": "7"}
    assert cells["y"].execution_count == cells["y"].outputs[0].execution_count == 1


def test_the_choice_of_a_gpu_is_kept_and_other_metadata_goes():
    notebook = chapter()
    assert "accelerator" not in fixed(notebook).metadata
    notebook.metadata.update(
        accelerator="GPU", widgets={}, kernelspec={"name": "my-env"}, colab={"name": "x"}
    )
    metadata = fixed(notebook).metadata
    assert metadata.pop("accelerator") == "GPU"
    assert metadata.pop("colab") == {"gpuType": "T4", "provenance": []}
    assert metadata.pop("kernelspec")["name"] == "python3"
    assert metadata == {"language_info": {"name": "python"}}


def change(notebook, name, **changes):
    cell = next(cell for cell in notebook.cells if cell.id == name)
    for key, value in changes.items():
        cell[key] = value


OUTPUT = [new_output("stream", text="7\n")]
BREAKS = {
    "carries outputs": lambda n: change(n, "set-up", outputs=OUTPUT),
    "carries an execution count": lambda n: change(n, "set-up", execution_count=1),
    "holds widget state": lambda n: n.metadata.update(widgets={"state": {}}),
    "the file's metadata": lambda n: n.metadata.kernelspec.update(name="mine"),
    "(the Colab badge) has not the text": lambda n: change(
        n, "badge", source=n.cells[0].source.replace("02_", "03_")
    ),
    "(the set-up cell) has not the text": lambda n: change(
        n, "set-up", source="#@title Set-up\nimport torch"
    ),
    "(the set-up cell) has not the metadata": lambda n: change(n, "set-up", metadata={"tags": ["set-up"]}),
    "exercise 2.1, statement) has not": lambda n: change(n, "exercise-2-1-statement", source="Do it."),
    "exercise 2.2, stub) has not": lambda n: change(
        n, "exercise-2-2-stub", source="def score(q, k): return q"
    ),
    "the set-up cell is missing": lambda n: n.cells.pop(2),
    "exercise 2.2, check is missing": lambda n: n.cells.pop(),
    "order differs": lambda n: n.cells.insert(0, n.cells.pop(1)),
}


@pytest.mark.parametrize("words", BREAKS)
def test_check_names_what_fix_would_change(tmp_path, words):
    notebook = fixed(chapter("Some text."))
    BREAKS[words](notebook)
    found = problems(tmp_path, notebook)
    assert any(words in problem for problem in found), found
    assert any("python tools/notebooks.py fix" in problem for problem in found)
    assert problems(tmp_path, fixed(notebook)) == []


def test_check_sees_the_files_form(tmp_path):
    path = tmp_path / "02_two.ipynb"
    path.write_text(json.dumps(fixed(chapter())), encoding="utf-8")
    assert "the file's form differs" in notebooks.check(path, HOME, EXERCISES)[0]


def test_missing_or_doubled_ids_are_made_from_the_text():
    notebook = chapter("One.", "Two.", "Two.")
    for cell in notebook.cells:
        cell["id"] = "same"
    ids = [cell.id for cell in fixed(notebook).cells]
    assert len(set(ids)) == len(ids)
    assert ids == [cell.id for cell in fixed(notebook).cells]


def test_the_command_fixes_checks_and_says_what_is_wrong(project, monkeypatch, capsys):
    monkeypatch.setattr(notebooks.rules, "catalogue", lambda: EXERCISES)
    path = project / "book" / "02_two.ipynb"
    nbformat.write(chapter(), path)
    assert notebooks.main(["check"], project) == 1
    assert "02_two.ipynb: the Colab badge is missing" in capsys.readouterr().out
    assert notebooks.main(["fix"], project) == 0
    assert capsys.readouterr().out == "02_two.ipynb: rewritten\n"
    assert notebooks.main(["fix"], project) == notebooks.main(["check"], project) == 0
    assert capsys.readouterr().out == "1 notebooks: nothing to mend\n"
    path.write_text("no json")
    assert notebooks.main(["check"], project) == 2
    assert "02_two.ipynb" in capsys.readouterr().err


def test_placing_an_exercise_takes_any_of_its_cells():
    notebook = chapter()
    notebook.cells = [notebook.cells[0], place("2.1", "check"), place("2.1", "stub"), place("2.2", "stub")]
    assert [cell.source for cell in fixed(notebook).cells] == [cell.source for cell in fixed(chapter()).cells]
