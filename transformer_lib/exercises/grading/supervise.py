"""Run each submitted notebook in a process of its own; one that fails, hangs or grows stops no other."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil

POLL = 0.2  # seconds between two looks at a notebook's process
ATTEND = "transformer_lib.exercises.grading.attend"


@dataclass
class Submission:
    """One notebook and what came of it.

    Args:
        path: the file, relative to the folder that was graded.
        results: for each exercise that the notebook has, its last check ({} where none was made).
        remarks: what else happened: cells that raised, limits that were passed.
        seconds: how long it ran.
        complete: whether it ran to its end.
    """

    path: Path
    results: dict[str, dict] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    seconds: float = 0.0
    complete: bool = False


def notebooks(folder: Path) -> list[Path]:
    """The notebooks below a folder, without editors' checkpoints.

    Raises:
        ValueError: there is no such folder, or no notebook in it.
    """
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}")
    found = [
        p for p in sorted(folder.rglob("*.ipynb")) if ".ipynb_checkpoints" not in p.parts and p.is_file()
    ]
    if not found:
        raise ValueError(f"there is no notebook (*.ipynb) in {folder}")
    return found


def run_all(folder: Path, seconds: float, memory: float) -> Iterator[Submission]:
    """Run every notebook of a folder, one after the other.

    Args:
        folder: where the submissions are.
        seconds: limit of each notebook.
        memory: limit of each notebook and the processes that it starts, in GB.
    """
    for path in notebooks(folder):
        yield run(path, path.relative_to(folder), seconds, memory)


def run(path: Path, name: Path, seconds: float, memory: float) -> Submission:
    """Run one notebook on a copy of it, so that the submission stays as it is."""
    submission, start = Submission(name), time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        copy, results = Path(scratch) / "work" / path.name, Path(scratch) / "results.jsonl"
        copy.parent.mkdir()
        try:
            shutil.copyfile(path, copy)
        except OSError as error:
            submission.remarks.append(f"cannot be read: {error.strerror}")
            return submission
        environment = {**os.environ, "MPLBACKEND": "Agg", "IPYTHONDIR": str(Path(scratch) / "ipython")}
        process = subprocess.Popen(
            [sys.executable, "-m", ATTEND, str(copy), str(results)],
            cwd=copy.parent,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        stopped = _watch(process, start + seconds, seconds, memory)
        _read(submission, results)
    submission.seconds = time.monotonic() - start
    if stopped:
        submission.remarks.append(stopped)
    elif not submission.complete and not submission.remarks:
        submission.remarks.append(f"its process ended early, with status {process.returncode}")
    return submission


def _watch(process: subprocess.Popen, end: float, seconds: float, memory: float) -> str:
    """Wait for the end; kill what goes over a limit, and say so."""
    try:
        while process.poll() is None:
            if time.monotonic() > end:
                return f"stopped after {seconds:g} seconds"
            used = _bytes_used(process.pid)
            if used > memory * 1e9:
                return f"stopped at {used / 1e9:.1f} GB of memory, over {memory:g} GB"
            time.sleep(POLL)
        return ""
    finally:
        _kill(process)


def _family(pid: int) -> list[psutil.Process]:
    try:
        parent = psutil.Process(pid)
        return [*parent.children(recursive=True), parent]
    except psutil.Error:
        return []


def _bytes_used(pid: int) -> int:
    total = 0
    for process in _family(pid):
        try:
            total += process.memory_info().rss
        except psutil.Error:
            continue
    return total


def _kill(process: subprocess.Popen) -> None:
    """End the process and all that it started."""
    for one in _family(process.pid):
        try:
            one.kill()
        except psutil.Error:
            continue
    process.wait()


def _read(submission: Submission, results: Path) -> None:
    """What the process wrote down, up to where it came."""
    lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
    for text in lines:
        try:
            line = json.loads(text)
        except ValueError:
            continue  # the last line of a process that was killed
        if "asked" in line:
            submission.results.update({id: {} for id in line["asked"]})
        elif "id" in line:
            submission.results[line["id"]] = line
        elif "error" in line:
            submission.remarks.append(f"code cell {line['cell']} raised {line['error']}")
        elif "problem" in line:
            submission.remarks.append(line["problem"])
        submission.complete = submission.complete or "ended" in line
