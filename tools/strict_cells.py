"""Run one notebook with nbval, and let no cell pass that did not run.

`python strict_cells.py NOTEBOOK RESULTS.json SECONDS` writes what became of every code cell. Three
things that nbval lets through count as failures here: cells after a dead kernel or a time-out (nbval
calls them xfail), cells whose code the kernel never ran (an unknown magic prints a line and passes), and
skipped cells. A dead kernel is noticed at once. It needs nbval only, so it also runs in another
environment than the book's.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from queue import Empty

import pytest
from nbval.kernel import RunningKernel
from nbval.plugin import IPyNbCell

ANSI = re.compile(r"\x1b\[[0-9;]*m")
NOT_ATTEMPTED = "not attempted"


class KernelDiedError(Exception):
    """The kernel's process ended while a cell ran."""


def await_reply(kernel: RunningKernel, msg_id: str, timeout: float) -> None:
    """nbval's own wait, which also keeps the reply and looks every second whether the kernel lives."""
    end = time.monotonic() + timeout
    while True:
        try:
            message = kernel.get_message(stream="shell", timeout=1)
        except Empty:
            if not kernel.is_alive():
                raise KernelDiedError("the kernel died in this cell") from None
            if time.monotonic() > end:
                raise
            continue
        if message["parent_header"].get("msg_id") == msg_id:
            kernel.reply = message["content"]
            return


RunningKernel.await_reply = await_reply


class Cells:
    """The pytest plugin: one record per code cell."""

    def __init__(self) -> None:
        self.records: list[dict] = []
        self.stopped: str | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item) -> None:
        if self.stopped:
            pytest.fail(f"not run: {self.stopped}", pytrace=False)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        if isinstance(item, IPyNbCell) and (call.when == "call" or (call.when == "setup" and call.excinfo)):
            self.records.append(self._record(item, call, report))
        return report

    def _record(self, item: IPyNbCell, call, report) -> dict:
        place = 1 + next(n for n, cell in enumerate(item.parent.nb.cells) if cell is item.cell)
        problem, detail = _problem(item, call, report)
        if item.parent.timed_out:
            self.stopped = self.stopped or f"cell {place} ran out of time"
        if call.excinfo is not None and call.excinfo.errisinstance(KernelDiedError):
            self.stopped = f"cell {place} ended the kernel"
        return {
            "cell": place,
            "source": item.cell.source,
            "tags": item.cell.metadata.get("tags", []),
            "problem": problem,
            "detail": detail,
            "seconds": call.duration,
            "outputs": [_shown(output) for output in item.test_outputs or []],
        }


def _shown(output) -> dict:
    """The kinds of an output and its text."""
    data = output.get("data", {})
    text = data.get("text/plain", output.get("text", ""))
    return {"kinds": sorted(data) or [output["output_type"]], "text": ANSI.sub("", text)}


def _problem(item: IPyNbCell, call, report) -> tuple[str | None, str]:
    """What is wrong with a cell in one line, and the traceback."""
    if call.excinfo is not None and not call.excinfo.errisinstance(pytest.skip.Exception):
        error = call.excinfo.value
        detail = ANSI.sub("", str(getattr(error, "inner_traceback", None) or "")).strip()
        if str(error) == "Cell execution caused an exception" and detail:
            return f"raised {detail.splitlines()[-1]}", detail
        return str(error) or type(error).__name__, detail
    if report.skipped:
        return "was skipped: every cell has to run", ""
    reply = getattr(item.parent.kernel, "reply", {})
    if reply.get("status") != "ok":
        return f"did not run: {reply.get('ename')}: {reply.get('evalue')}", ""
    text = "\n".join(_shown(output)["text"] for output in item.test_outputs or [])
    part = item.cell.metadata.get("exercise", {}).get("part")
    if part == "check" and NOT_ATTEMPTED not in text.lower():
        return f"checks an untouched stub and does not read '{NOT_ATTEMPTED}'", text
    return None, ""


def main(notebook: str, results: str, seconds: str) -> int:
    cells = Cells()
    options = ["--nbval-lax", "--nbval-current-env", f"--nbval-cell-timeout={seconds}"]
    alone = ["-c", os.devnull, "--rootdir", os.path.dirname(notebook), "-p", "no:cacheprovider"]
    code = pytest.main([*options, *alone, "--color=no", "-q", notebook], plugins=[cells])
    with open(results, "w", encoding="utf-8") as file:
        json.dump(cells.records, file)
    return int(code)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
