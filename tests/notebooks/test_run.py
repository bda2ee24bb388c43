"""Every notebook of the book has the one form, and runs untouched to its end with no cell left out.

A cell fails that raises, that never ran, or that prints something else than its stored output (tag
`nbval-check-output`); so does the check of an exercise that reads anything but "not attempted".
"""

import notebook_rules
import notebooks
import pytest
import repository
import run_notebook

NOTEBOOKS = sorted((repository.ROOT / "book").glob("*.ipynb"))
every_notebook = pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)


def test_there_are_notebooks_for_all_exercises():
    chapters = {path.stem.split("_")[0].lstrip("0") for path in NOTEBOOKS}
    assert {number.split(".")[0] for number in notebook_rules.catalogue()} <= chapters
    assert NOTEBOOKS


@every_notebook
def test_the_form_is_the_common_one(notebook):
    problems = notebooks.check(notebook, repository.read(), notebook_rules.catalogue())
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


@every_notebook
def test_run_all_never_stops(notebook, record_property):
    run = run_notebook.run(notebook)
    record_property("notebook", run.summary())
    if run.failed:
        pytest.fail(run.report(), pytrace=False)
