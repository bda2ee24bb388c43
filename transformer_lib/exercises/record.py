"""What a learner has tried and passed, in a small file of the learner's own; nothing is ever sent anywhere.

One line of JSON for each check of an attempt, added at the end, so that two open notebooks lose nothing.
In Colab the file is on Drive when that is mounted, else in the session, which forgets it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

PLACE = "TRANSFORMER_LIB_PROGRESS"  # an environment variable that names another file
DRIVE = Path("/content/drive/MyDrive")
_session: list[Entry] = []  # for when the file cannot be written


@dataclass(frozen=True)
class Entry:
    """One attempt: the exercise's number, whether it passed, the day as 2026-11-29."""

    id: str
    passed: bool
    day: str

    def line(self) -> str:
        return json.dumps({"id": self.id, "passed": self.passed, "day": self.day})

    @classmethod
    def of(cls, line: str) -> Entry:
        """Read a line.

        Raises:
            ValueError: the line is none that `line` writes.
        """
        try:
            data = json.loads(line)
            entry = cls(data["id"], data["passed"], data["day"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"not an entry: {line[:60]!r}") from error
        if not (isinstance(entry.id, str) and isinstance(entry.passed, bool) and isinstance(entry.day, str)):
            raise ValueError(f"not an entry: {line[:60]!r}")
        return entry


@dataclass
class Record:
    """All entries that could be read, the file that is written to, and what there is to say about it."""

    entries: list[Entry]
    path: Path
    remarks: list[str] = field(default_factory=list)

    def passed(self) -> set[str]:
        return {entry.id for entry in self.entries if entry.passed}

    def tried(self) -> set[str]:
        return {entry.id for entry in self.entries}


def places() -> list[Path]:
    """The files that are read; the last one is written to."""
    if os.environ.get(PLACE):
        return [Path(os.environ[PLACE])]
    home = Path.home() / ".transformer_lib" / "progress.jsonl"
    if "google.colab" in sys.modules and DRIVE.is_dir():
        return [home, DRIVE / "transformer_lib" / "progress.jsonl"]
    return [home]


def note(id: str, passed: bool) -> None:
    """Add an attempt. Never raises: where the file cannot be written, the session remembers."""
    entry = Entry(id, passed, date.today().isoformat())
    _carry_over(places())
    if _write(places()[-1], [entry]) is not None:
        _session.append(entry)


def read() -> Record:
    """What is known. A file with lines that cannot be read is set aside, and what can be read is kept."""
    entries, remarks, files = [], [], places()
    _carry_over(files)
    for path in files:
        good, broken, problem = _lines(path)
        entries += good
        if problem:
            remarks.append(f"{path} cannot be read: {problem}.")
        if broken:
            remarks.append(_set_aside(path, good, broken))
    if _session:
        remarks.append(f"{files[-1]} cannot be written: what you do is remembered until Python ends.")
    unique = dict.fromkeys([*entries, *_session])
    return Record(list(unique), files[-1], remarks)


def _carry_over(files: list[Path]) -> None:
    """What was done before Drive was mounted goes into the file that stays."""
    *others, last = files
    there = set(_lines(last)[0]) if others else set()
    missing = [entry for path in others for entry in _lines(path)[0] if entry not in there]
    if missing:
        _write(last, dict.fromkeys(missing))


def _lines(path: Path) -> tuple[list[Entry], int, str]:
    """Entries of a file, how many lines are none, and why it cannot be read at all."""
    try:
        text = path.read_bytes().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return [], 0, ""
    except OSError as error:
        return [], 0, error.strerror or str(error)
    good, broken = [], 0
    for line in filter(str.strip, text.splitlines()):
        try:
            good.append(Entry.of(line))
        except ValueError:
            broken += 1
    return good, broken, ""


def _set_aside(path: Path, good: Iterable[Entry], broken: int) -> str:
    """Give the broken file another name and write its good lines anew; says what was done."""
    count = f"{broken} line{'s' * (broken != 1)} of {path} could not be read"
    aside = next(name for n in range(1, 10**6) if not (name := path.with_suffix(f".broken-{n}")).exists())
    try:
        os.replace(path, aside)
    except OSError as error:
        return f"{count}; the file could not be set aside either: {error.strerror}."
    _write(path, good)
    return f"{count}: the file was set aside as {aside.name}; everything else is kept."


def _write(path: Path, entries: Iterable[Entry]) -> OSError | None:
    """Add lines at the end of a file, in one piece; the error, where that fails."""
    text = "".join(f"{entry.line()}\n" for entry in entries)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        return error
    return None
