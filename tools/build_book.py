"""Build the book into _build/html: every notebook run, every warning an error.

A notebook runs again when its code or the library changes: the cache of outputs knows only the notebooks'
code, so a digest of the library and the pinned packages stands beside it, and drops it when they differ.
Notebooks run one after the other: some measure times, which two at once would falsify.
"""

from __future__ import annotations

import re
import shutil
import sys
import time
from pathlib import Path

import stamps
from commands import ROOT, StopError, reported, run, say

BUILD = ROOT / "_build"
HTML = BUILD / "html"
LOG = BUILD / "build.log"
UNFINISHED = BUILD / "unfinished"
JUPYTER_BOOK = "import sys; from jupyter_book.cli.main import main; sys.exit(main())"
ANSI = re.compile(r"\x1b\[[0-9;]*m")
# What Jupyter Book and Sphinx say when all is well.
ROUTINE = re.compile(
    r"Running |Source Folder|Config Path|Output Path|loading |making |\[etoc\]|myst|Using jupyter-cache"
    r"|sphinx-|building |updating |checking |preparing |copying|writing |reading |generating |dumping "
    r"|pickling |looking |build (?:succeeded|finished)|Finished generating|The HTML pages|Building your book"
    r"|Your book's HTML pages|Or paste|You can (?:look|open)|={5,}|\s*(?:_build/html|file://|open |$)"
    r"|\[IPKernelApp\] WARNING \| Kernel is running over TCP"
)


def code() -> list[Path]:
    """The files on which the notebooks' outputs depend, besides the notebooks."""
    library = (path for path in (ROOT / "transformer_lib").rglob("*") if "__pycache__" not in path.parts)
    return [*(path for path in library if path.is_file()), ROOT / "requirements.txt"]


def settings() -> list[Path]:
    """The files on which all pages depend."""
    web = [path for path in (ROOT / "web").rglob("*") if path.is_file() and "vendor" not in path.parts]
    tools = [
        ROOT / "tools/book_pages.py",
        ROOT / "tools/browser_scripts.py",
        ROOT / "tools/npm/package-lock.json",
    ]
    return [ROOT / "_config.yml", ROOT / "_toc.yml", ROOT / "requirements.txt", *web, *tools]


def drop(*names: str) -> None:
    for name in names:
        shutil.rmtree(BUILD / name, ignore_errors=True)


class News:
    """Makes news of the build's lines: what is run and written, and every warning without inner frames."""

    def __init__(self) -> None:
        self.in_frames = False

    def __call__(self, line: str) -> str | None:
        line = ANSI.sub("", line)
        self.in_frames = line.startswith("Traceback (most") or (self.in_frames and line.startswith("  "))
        if self.in_frames:
            return None
        if found := re.match(r".*/(book/\S+): Executing notebook", line):
            return f"running {found[1]}"
        if found := re.match(r".*/(book/\S+): Executed notebook in ([\d.]+) seconds", line):
            return f"ran {found[1]} in {float(found[2]):.0f} s"
        if found := re.match(r"writing output\.\.\. \[ *\d+%\] (\S+)", line):
            return f"wrote {found[1]}"
        routine = ROUTINE.match(line) or ("[mystnb]" in line and "WARNING" not in line)
        return None if routine else line


def build() -> None:
    start = time.monotonic()
    BUILD.mkdir(exist_ok=True)
    outputs, pages = stamps.digest(code(), sys.version), stamps.digest(settings())
    if not stamps.matches(BUILD / "outputs-of", outputs):
        if (BUILD / ".jupyter_cache").exists():
            say("The library or the pinned packages changed: every notebook runs again.")
        drop(".jupyter_cache", ".doctrees")
        stamps.write(BUILD / "outputs-of", outputs)
    if not stamps.matches(BUILD / "pages-of", pages):
        drop("html", ".doctrees")
        stamps.write(BUILD / "pages-of", pages)
    if UNFINISHED.exists():
        drop(".doctrees")  # Sphinx would not tell the warnings of an unfinished build again
    UNFINISHED.touch()
    LOG.unlink(missing_ok=True)
    say("Building the book: running notebooks that changed, writing pages, warnings are errors.")
    command = [sys.executable, "-c", JUPYTER_BOOK, "build", ".", "-n", "-W", "--keep-going"]
    try:
        run(command, "Building the book", News(), LOG, cwd=ROOT)
    except StopError as error:
        raise StopError(_failure(str(error))) from None
    if stamps.digest(code(), sys.version) != outputs:
        (BUILD / "outputs-of").unlink()  # changed while the notebooks ran: their outputs belong to neither
    UNFINISHED.unlink()
    say(f"The book is built ({time.monotonic() - start:.0f} s): {HTML / 'index.html'}")
    say("Read it with `make serve`, or open that file in a browser: it needs no network.")


def _failure(sentence: str) -> str:
    text = ANSI.sub("", LOG.read_text(encoding="utf-8")) if LOG.exists() else ""
    found = re.search(r"build finished with problems, (\d+) warning", text)
    if not found:
        return sentence
    return (
        f"The book is not built: {found[1]} warnings, which count as errors. They stand above; "
        f"all that was said is in {LOG.relative_to(ROOT)}."
    )


if __name__ == "__main__":
    sys.exit(reported(build))
