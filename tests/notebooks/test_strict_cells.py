"""What counts as a failed cell, shown on notebooks of two or three cells."""

import nbformat
import pytest
import run_notebook
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output


def outcome(folder, *cells, limit=30):
    """Run a notebook of these cells and return what was wrong with each code cell, or None."""
    path = folder / "sample.ipynb"
    cells = [new_code_cell(cell) if isinstance(cell, str) else cell for cell in cells]
    nbformat.write(new_notebook(cells=cells), path)
    run = run_notebook.run(path, limit=limit)
    return [cell["problem"] for cell in run.cells], run


def test_good_cells_pass(tmp_path):
    problems, run = outcome(
        tmp_path, new_markdown_cell("# Title"), "x = 6", "assert x == 6\nprint('\\x1b[33mx\\x1b[0m')"
    )
    assert problems == [None, None]
    assert [cell["cell"] for cell in run.cells] == [2, 3]
    assert run.cells[1]["outputs"] == [{"kinds": ["stream"], "text": "x\n"}]
    assert run.report() == ""


def test_a_dead_kernel_fails_its_cell_and_all_after_it_at_once(tmp_path):
    problems, run = outcome(tmp_path, "x = 1", "import os\nos._exit(3)", "y = 2", "z = 3", limit=60)
    assert problems == [
        None,
        "the kernel died in this cell",
        "not run: cell 2 ended the kernel",
        "not run: cell 2 ended the kernel",
    ]
    assert run.seconds < 60, "a dead kernel was waited for until the time limit"


@pytest.mark.parametrize("cell", ["%unknownmagic", "%%unknownmagic\nx = 1"])
def test_an_unknown_magic_fails(tmp_path, cell):
    problems, run = outcome(tmp_path, cell, "y = 2")
    assert problems[0].startswith("did not run: UsageError")
    assert problems[1] is None
    assert "sample.ipynb, cell 1: did not run" in run.report()


def test_an_exception_is_reported_with_the_cell_and_its_traceback(tmp_path):
    problems, run = outcome(tmp_path, "def half(x):\n    return x / 0\n\n\nhalf(1)", "half", "half(2)")
    assert problems[0] == "raised ZeroDivisionError: division by zero"
    assert problems[1] is None
    first, *rest = run.report().splitlines()
    assert first == "sample.ipynb, cell 1: raised ZeroDivisionError: division by zero"
    assert "    |     return x / 0" in rest
    assert rest[-1] == "sample.ipynb, cell 3: raised ZeroDivisionError: division by zero"
    assert "\x1b" not in run.report()


def test_a_time_out_fails_its_cell_and_all_after_it(tmp_path):
    problems, _ = outcome(tmp_path, "import time\ntime.sleep(99)", "y = 2", limit=2)
    assert problems[0].startswith("Timeout of 2 seconds exceeded")
    assert problems[1] == "not run: cell 1 ran out of time"


def test_a_skipped_cell_and_a_changed_output_fail(tmp_path):
    skipped = new_code_cell("1 / 0", metadata={"tags": ["nbval-skip"]})
    stored = {"execution_count": 1, "metadata": {"tags": ["nbval-check-output"]}}
    same = new_code_cell("print(7)", outputs=[new_output("stream", text="7\n")], **stored)
    other = new_code_cell("print(7)", outputs=[new_output("stream", text="8\n")], **stored)
    problems, _ = outcome(tmp_path, skipped, same, other)
    assert problems == ["was skipped: every cell has to run", None, "Cell outputs differ"]


def test_an_exercise_that_is_not_unattempted_fails(tmp_path):
    part = {"metadata": {"exercise": {"id": "2.1", "part": "check"}}}
    unattempted = new_code_cell("'Exercise 2.1: not attempted yet'", **part)
    passed = new_code_cell("'Exercise 2.1: passed'", **part)
    problems, _ = outcome(tmp_path, unattempted, passed, new_code_cell("pass", **part))
    assert problems[0] is None
    assert problems[1:] == ["checks an untouched stub and does not read 'not attempted'"] * 2


def test_a_notebook_that_cannot_be_read_is_an_error(tmp_path):
    path = tmp_path / "sample.ipynb"
    path.write_text('{"cells": [{"cell_type": "code"}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
    with pytest.raises(RuntimeError, match="0 of 1 code cells were run"):
        run_notebook.run(path)


def test_a_slow_notebook_is_a_warning_only():
    run = run_notebook.Run("02.ipynb", [], run_notebook.BUDGET + 1)
    assert "WARNING: over the budget of 60 s" in run.summary()
    assert "WARNING" not in run_notebook.Run("02.ipynb", [], run_notebook.BUDGET).summary()
