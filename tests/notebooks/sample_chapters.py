"""Small samples for the tests of the notebooks' tools."""

from types import SimpleNamespace

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

CONFIG = """\
# the address has a comment that stays
repository:
  url: https://github.com/some-one/the-book  # here
  branch: main
  path_to_book: ""
launch_buttons:
  colab_url: https://colab.research.google.com
"""


def exercise(number: str, **changed) -> SimpleNamespace:
    """An exercise with the fields that a notebook shows."""
    fields = {
        "id": number,
        "title": "Scores",
        "kind": "write",
        "difficulty": "easy",
        "minutes": 5,
        "statement": "Return $q \\cdot k$.\n",
        "stub": "import torch\n\n\ndef score(q, k):\n    raise NotImplementedError\n",
        "name": "score",
    }
    return SimpleNamespace(**{**fields, **changed})


EXERCISES = {number: exercise(number) for number in ("1.1", "2.1", "2.2")}


def chapter(*cells: nbformat.NotebookNode | str) -> nbformat.NotebookNode:
    """Chapter 2 as an author writes it: a title, these cells (strings are Markdown), two exercises."""
    cells = [new_markdown_cell(cell) if isinstance(cell, str) else cell for cell in cells]
    places = [place(number) for number in ("2.1", "2.2")]
    return new_notebook(cells=[new_markdown_cell("# Two\n\nIt opens here."), *cells, *places])


def place(number: str, part: str = "statement") -> nbformat.NotebookNode:
    """An empty cell that says where an exercise goes."""
    return new_code_cell("", metadata={"exercise": {"id": number, "part": part}})
