"""Keep the chapters' notebooks in one form: badge, title, set-up cell, exercises, metadata, no outputs.

`python tools/notebooks.py fix` rewrites every notebook of book/ (or those that are named) in that form;
`python tools/notebooks.py check` says what differs, by file and cell. The text of an exercise comes from
the catalogue in transformer_lib/exercises: to place exercise 2.1, put one empty cell with the metadata
{"exercise": {"id": "2.1", "part": "statement"}}; `fix` writes its three cells.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import sys
from pathlib import Path

import nbformat
import notebook_rules as rules
import repository
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

ROOT = repository.ROOT
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
KEPT_CELL_METADATA = ("cellView", "exercise", "mystnb", "tags")
PARTS = ("statement", "stub", "check")
SET_UP = """\
#@title Set-up: run this first
import sys

if "google.colab" in sys.modules:
    import importlib.util

    if importlib.util.find_spec("transformer_lib") is None:
        %pip install -q "{requirement}"
from transformer_lib.display import set_up

device = set_up()"""


class UnreadableError(ValueError):
    """A file that is no notebook, or is not there."""


def badge_cell(name: str, home: repository.Repository) -> NotebookNode:
    return new_markdown_cell(home.badge(name), id="badge", metadata={"tags": ["remove-cell"]})


def set_up_cell(home: repository.Repository) -> NotebookNode:
    folded = {"cellView": "form", "jupyter": {"source_hidden": True}, "tags": ["hide-cell", "set-up"]}
    return new_code_cell(SET_UP.format(requirement=home.requirement), id="set-up", metadata=folded)


def exercise_cells(exercise) -> list[NotebookNode]:
    """The three cells of an exercise: what it asks, where it is written, what checks it."""
    unit = "minute" if exercise.minutes == 1 else "minutes"
    anchor = f"exercise-{exercise.id.replace('.', '-')}"
    statement = (
        f'<a id="{anchor}"></a>\n\n'  # headings get other names in each place; links need one name
        f"### Exercise {exercise.id}: {exercise.title}\n\n"
        f"*{exercise.kind} · {exercise.difficulty} · {exercise.minutes} {unit}*\n\n"
        f"{exercise.statement.strip()}"
    )
    texts = (statement, exercise.stub.strip("\n"), f'check("{exercise.id}", {exercise.name})')
    cells = []
    for part, text in zip(PARTS, texts, strict=True):
        new = new_markdown_cell if part == "statement" else new_code_cell
        metadata = {"exercise": {"id": exercise.id, "part": part}}
        cells.append(new(text, id=f"{anchor}-{part}", metadata=metadata))
    return cells


def fix(notebook: NotebookNode, name: str, home: repository.Repository, exercises: dict) -> NotebookNode:
    """The notebook in the one form that all chapters have. What only its author can know is left alone."""
    fixed = copy.deepcopy(notebook)
    _metadata(fixed)
    body = [cell for cell in fixed.cells if not rules.is_badge(cell) and not rules.is_set_up(cell)]
    body = _exercises([_tidy(cell) for cell in body], exercises)
    body = [cell for cell in body if cell.source or rules.exercise_id(cell)]
    title = 1 if body and rules.is_title(body[0]) else 0
    fixed.cells = [badge_cell(name, home), *body[:title], set_up_cell(home), *body[title:]]
    _ids(fixed.cells)
    return fixed


def _metadata(notebook: NotebookNode) -> None:
    """Kernel and language, and Colab's request for a GPU where the notebook already makes it."""
    colab = {"provenance": []}
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}, "colab": colab}
    if notebook.metadata.get("accelerator") == "GPU":
        metadata["accelerator"] = "GPU"
        colab["gpuType"] = "T4"
    notebook.metadata = nbformat.from_dict(metadata)
    notebook.nbformat, notebook.nbformat_minor = 4, 5


def _tidy(cell: NotebookNode) -> NotebookNode:
    """A cell without outputs, counts, attachments of an editor and space around its text."""
    kept = {key: cell.metadata[key] for key in KEPT_CELL_METADATA if cell.metadata.get(key)}
    if cell.metadata.get("jupyter", {}).get("source_hidden"):
        kept["jupyter"] = {"source_hidden": True}
    cell.metadata = nbformat.from_dict(kept)
    cell.source = cell.source.strip("\n")
    if cell.cell_type == "code":
        cell.outputs = [rules.text_only(output) for output in cell.outputs] if rules.is_compared(cell) else []
        cell.outputs = [output for output in cell.outputs if output]
        cell.execution_count = 1 if cell.outputs else None
    return cell


def _exercises(cells: list[NotebookNode], exercises: dict) -> list[NotebookNode]:
    """Each exercise as its three cells, where its first cell stands."""
    placed, result = set(), []
    for cell in cells:
        number = rules.exercise_id(cell)
        if number not in exercises:
            result.append(cell)
        elif number not in placed:
            placed.add(number)
            result += exercise_cells(exercises[number])
    return result


def _ids(cells: list[NotebookNode]) -> None:
    """Keep the ids that are there, so that an edit changes one cell; make the missing ones from the text."""
    taken = set()
    for cell in cells:
        name = cell.get("id")
        if not name or name in taken:
            digest = hashlib.sha1(cell.source.encode()).hexdigest()
            name = next(name for n in range(8, 41) if (name := digest[:n]) not in taken)
        cell["id"] = name
        taken.add(name)


def text_of(notebook: NotebookNode) -> str:
    """The file: indent 1, sorted keys, letters as they are, a newline at the end."""
    return nbformat.writes(notebook, version=4).rstrip("\n") + "\n"


def read(path: Path) -> NotebookNode:
    try:
        return nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    except Exception as error:  # nbformat has an exception of its own for every way to be no notebook
        raise UnreadableError(f"{path.name} is no notebook that can be read: {error}") from error


def check(path: Path, home: repository.Repository, exercises: dict) -> list[str]:
    """What is wrong with a notebook: what `fix` would change, then what only its author can mend."""
    notebook = read(path)
    fixed = fix(notebook, path.name, home, exercises)
    problems = rules.differences(notebook, fixed)
    if not problems and path.read_text(encoding="utf-8") != text_of(fixed):
        problems = ["the file's form differs (cell ids, indent, order of keys, last newline)"]
    problems = [f"{problem}. Mend it with: python tools/notebooks.py fix" for problem in problems]
    problems += rules.lint(notebook, path, exercises)
    return [f"{path.name}: {problem}" for problem in problems]


def main(arguments: list[str], root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(description="Keep the chapters' notebooks in one form.")
    parser.add_argument("command", choices=("fix", "check"))
    parser.add_argument("notebooks", nargs="*", type=Path, help="notebooks (default: all of book/)")
    options = parser.parse_args(arguments)
    paths = options.notebooks or sorted((root / "book").glob("*.ipynb"))
    try:
        home, exercises = repository.read(root), rules.catalogue()
        problems = []
        for path in paths:
            if options.command == "fix":
                text = text_of(fix(read(path), path.name, home, exercises))
                if text != path.read_text(encoding="utf-8"):
                    path.write_text(text, encoding="utf-8")
                    print(f"{path.name}: rewritten")
            else:
                problems += check(path, home, exercises)
    except (repository.BadAddressError, UnreadableError) as error:
        print(error, file=sys.stderr)
        return 2
    if options.command == "check":
        print("\n".join(problems) or f"{len(paths)} notebooks: nothing to mend")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
