"""Run a notebook from its first cell to its last, and report every cell that failed in plain words."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

CELL_LIMIT = 120  # seconds for one cell
BUDGET = 60  # seconds for one notebook on two cores


@dataclass(frozen=True)
class Run:
    """What became of a notebook: a record of each code cell, as strict_cells.py writes them."""

    notebook: str
    cells: list[dict]
    seconds: float

    @property
    def failed(self) -> list[dict]:
        return [cell for cell in self.cells if cell["problem"]]

    def report(self) -> str:
        """The first failing cell with its code and traceback, every later one in a line."""
        lines = []
        for cell in self.failed:
            lines.append(f"{self.notebook}, cell {cell['cell']}: {cell['problem']}")
            if len(lines) == 1:
                code = [f"    | {line}" for line in cell["source"].splitlines()]
                detail = [f"    {line}" for line in cell["detail"].splitlines()]
                lines += [*code, *detail, "The cells that failed after it:"] if detail else code
        return "\n".join(lines).removesuffix("\nThe cells that failed after it:")

    def summary(self) -> str:
        """A line for the end of the run: cells, seconds, and whether that is over the budget."""
        line = (
            f"{self.notebook}: {len(self.cells)} code cells, {len(self.failed)} failed, {self.seconds:.1f} s"
        )
        return f"{line}  WARNING: over the budget of {BUDGET} s" if self.seconds > BUDGET else line


def run(notebook: Path, python: str = sys.executable, limit: float = CELL_LIMIT, **settings) -> Run:
    """Run a notebook in `python`'s environment; no cell passes that did not run.

    `limit` is in seconds for one cell; `settings` go to subprocess.run (env=…, cwd=…).
    """
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "cells.json"
        script = Path(__file__).with_name("strict_cells.py")
        start = time.monotonic()
        command = [python, str(script), str(notebook.resolve()), str(results), str(limit)]
        done = subprocess.run(command, capture_output=True, text=True, **settings)
        seconds = time.monotonic() - start
        cells = json.loads(results.read_text(encoding="utf-8")) if results.exists() else []
    document = json.loads(notebook.read_text(encoding="utf-8"))
    wanted = sum(cell["cell_type"] == "code" for cell in document["cells"])
    silent = done.returncode and not any(cell["problem"] for cell in cells)
    if len(cells) != wanted or silent:
        raise RuntimeError(
            f"{notebook.name}: {len(cells)} of {wanted} code cells were run.\n{done.stdout}\n{done.stderr}"
        )
    return Run(notebook.name, cells, seconds)
