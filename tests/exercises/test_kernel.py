"""The engine in a real notebook's kernel: endless loops, exit, errors in a cell, and "Run all"."""

import asyncio

import nbformat
import pytest
from nbclient import NotebookClient

from transformer_lib.exercises import catalogue

EXERCISE = next(exercise for exercise in catalogue() if exercise.kind == "write")
NAME, ID = EXERCISE.name, EXERCISE.id

CELLS = {
    "stub": EXERCISE.stub,
    "not attempted": f'from transformer_lib.exercises import check\ncheck("{ID}", {NAME})',
    "wrong": f"def {NAME}(*args):\n    first = args[0]\n    return first.nothing_of_the_kind",
    "error": f'check("{ID}", {NAME})',
    "loop": f"import time\n\ndef {NAME}(*args):\n    while True:\n        try:\n"
    "            time.sleep(0.01)\n        except:\n            pass",
    "stopped": f'check("{ID}", {NAME}, seconds=0.5)',
    "exit": f'def {NAME}(*args):\n    print("leaving")\n    exit()',
    "still there": f'check("{ID}", {NAME})',
    "quit": f"def {NAME}(*args):\n    get_ipython().ask_exit()",
    "there again": f'check("{ID}", {NAME})',
    "input": f'def {NAME}(*args):\n    return input("?")',
    "not asked": f'check("{ID}", {NAME})',
    "solution": EXERCISE.solution,
    "passed": f'check("{ID}", {NAME})',
    "alive": "print(6 * 7)",
}


@pytest.fixture(scope="module")
def outputs():
    """For each cell: its outputs, joined by kind."""
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in CELLS.values()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
        NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    found = {}
    for name, cell in zip(CELLS, notebook.cells, strict=True):
        found[name] = {"stream": "", "html": "", "plain": ""}
        for output in cell.outputs:
            if output.output_type == "stream":
                found[name]["stream"] += output.text
            else:
                found[name]["html"] += output.data.get("text/html", "")
                found[name]["plain"] += output.data.get("text/plain", "")
    asyncio.set_event_loop(None)
    return found


def test_run_all_reaches_the_end(outputs):
    assert outputs["alive"]["stream"] == "42\n"


def test_checks_print_nothing_and_show_a_card(outputs):
    for name, source in CELLS.items():
        if "check(" in source:
            assert outputs[name]["stream"] == ""
            assert '<div role="group"' in outputs[name]["html"]
            assert f"Exercise {ID}" in outputs[name]["plain"]


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("not attempted", "Not attempted yet"),
        ("stopped", "time.sleep(0.01)"),
        ("stopped", "had not ended after 0.5 seconds"),
        ("still there", "leaving"),
        ("still there", "asked Python to exit"),
        ("there again", "asked Python to exit"),
        ("not asked", "input() cannot be used"),
        ("passed", "Passed"),
    ],
)
def test_card_says_what_happened(outputs, cell, words):
    assert words in outputs[cell]["html"]


def test_error_shows_the_line_of_the_cell(outputs):
    html = outputs["error"]["html"]
    assert "line 3:  return first.nothing_of_the_kind" in html
    assert "line 3 of your cell In[3]" in html
    assert "Traceback" not in html
