"""Run one submitted notebook in this process and write down what its exercises' checks say.

`python -m transformer_lib.exercises.grading.attend NOTEBOOK RESULTS` adds a line of JSON to RESULTS for
each check, so that nothing is lost when the notebook takes the process down. The checks are those of the
installed library: a notebook that defines a `check` of its own gains nothing by it.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

from transformer_lib import exercises

CALL = re.compile(r"""\bcheck\(\s*["'](\d+\.\d+)["']""")


class UnreadableError(ValueError):
    """The file is no notebook."""


def code_cells(notebook: Path) -> list[dict]:
    """The code cells of a notebook file, each with its source as one text.

    Raises:
        UnreadableError: it is not the JSON of a notebook.
    """
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        code = [cell for cell in cells if cell["cell_type"] == "code"]
        return [{**cell, "source": "".join(cell["source"])} for cell in code]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnreadableError(f"not a notebook that can be read ({type(error).__name__}: {error})") from error


def asked(cells: list[dict]) -> list[str]:
    """Numbers of all exercises of the chapters that a notebook has an exercise of, deleted ones too."""
    numbers = {str(cell.get("metadata", {}).get("exercise", {}).get("id")) for cell in cells}
    for cell in cells:
        numbers.update(CALL.findall(cell["source"]))
    known = exercises.catalogue()
    chapters = {exercise.key[0] for exercise in known if exercise.id in numbers}
    return [exercise.id for exercise in known if exercise.key[0] in chapters]


def attend(notebook: Path, results: Path) -> None:
    """Run every cell; note each check that a cell makes, and at the end those that no cell made."""
    cells = code_cells(notebook)
    wanted = asked(cells)
    check = exercises.check
    seen: set[str] = set()

    def write(**line: Any) -> None:
        with open(results, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def noted(id: str, *args: Any, **kwargs: Any):
        result = check(id, *args, **kwargs)
        if result.exercise is not None:
            seen.add(result.id)
            write(id=result.id, status=result.status, mistake=result.mistake, message=result.message)
        return result

    write(asked=wanted)
    exercises.check = noted
    shell = _shell()
    for number, cell in enumerate(cells, 1):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            done = shell.run_cell(cell["source"])
        error = done.error_before_exec or done.error_in_exec
        if error is not None:
            write(cell=number, error=f"{type(error).__name__}: {error}"[:300])
    for exercise in exercises.catalogue():
        if exercise.id in wanted and exercise.id not in seen and exercise.name in shell.user_ns:
            with contextlib.redirect_stdout(io.StringIO()):
                noted(exercise.id, shell.user_ns[exercise.name])
    write(ended=True)


def _shell():
    """An IPython that shows nothing, installs nothing and starts no program."""
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.history_manager.enabled = False
    shell.showtraceback = shell.showsyntaxtraceback = lambda *args, **kwargs: None
    shell.system = shell.system_raw = shell.system_piped = lambda command: None
    shell.getoutput = lambda *args, **kwargs: []
    for name in ("pip", "conda", "mamba", "uv"):
        shell.register_magic_function(lambda line: None, "line", name)
    for name in ("bash", "sh", "script", "system"):
        shell.register_magic_function(lambda line, cell="": None, "cell", name)
    return shell


def main(notebook: str, results: str) -> int:
    try:
        attend(Path(notebook), Path(results))
    except UnreadableError as error:
        with open(results, "a", encoding="utf-8") as file:
            file.write(json.dumps({"problem": str(error)}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
