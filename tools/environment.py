"""The environment: a virtual environment, the pinned packages, the library, the browser scripts."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from pathlib import Path

import browser_scripts
import stamps
from commands import FULL, ROOT, StopError, run, say

VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMPS = VENV / ".set-up"
REQUIREMENTS = ROOT / "requirements.txt"
ROOM = 2.5e9  # bytes that a set-up needs at least
INSTALLED = "the packages are installed"
# Run inside the environment after an interrupted installation: the packages of which a file is missing.
DAMAGED = """
import importlib.metadata as metadata, os
for package in metadata.distributions():
    files = package.files
    if not package.metadata["Name"]:
        continue
    whole = files and all(
        os.path.exists(path := package.locate_file(file)) and file.size in (None, os.path.getsize(path))
        for file in files
    )
    if not whole and not package.read_text("direct_url.json"):
        print("damaged", package.metadata["Name"])
"""


def set_up(explicit: bool = False) -> None:
    """Do what is not done yet. `explicit`: the environment must be of the running Python."""
    start, done = time.monotonic(), []
    done.append(_environment(explicit))
    done.append(_packages())
    done.append(_library())
    done.append(browser_scripts.set_up(PYTHON))
    if any(done):
        say(f"The set-up is complete ({time.monotonic() - start:.0f} s).")
    else:
        say("The set-up is complete: nothing to do.")


def _version(python: Path) -> tuple[int, int] | None:
    """The version of the environment's Python; None where it is gone or does not start."""
    try:
        text = (python.parents[1] / "pyvenv.cfg").read_text(encoding="utf-8")
    except OSError:
        return None
    found = re.search(r"^version(?:_info)? *= *(\d+)\.(\d+)", text, re.MULTILINE)
    return (int(found[1]), int(found[2])) if found and os.access(python, os.X_OK) else None


def _environment(explicit: bool) -> bool:
    running, there = sys.version_info[:2], _version(PYTHON)
    usable = there is not None and (3, 10) <= there <= (3, 13) and (there == running or not explicit)
    stamp = STAMPS / "environment"
    if usable and stamps.matches(stamp, "made"):
        return False
    if usable and _has_pip():
        stamps.write(stamp, "made")
        return False
    room = shutil.disk_usage(ROOT).free
    if room < ROOM:
        raise StopError(f"{FULL} There are {room / 1e9:.1f} GB free in {ROOT}.")
    if VENV.exists():
        why = "is of another Python" if there and there != running else "is not whole"
        say(f"The environment in .venv {why}: making it again.")
        shutil.rmtree(VENV)
    say(f"Making a virtual environment in .venv with Python {running[0]}.{running[1]}.")
    try:
        run([sys.executable, "-m", "venv", VENV], "Making the virtual environment")
    except StopError:
        shutil.rmtree(VENV, ignore_errors=True)
        raise
    stamps.write(stamp, "made")
    return True


def _has_pip() -> bool:
    try:
        run([PYTHON, "-m", "pip", "--version"], "pip")
    except (StopError, OSError):
        return False
    return True


def _pip(*arguments: str | Path, watch=lambda line: None, what: str) -> str:
    command = [
        PYTHON,
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--progress-bar",
        "off",
        *arguments,
    ]
    return run(command, what, watch, cwd=ROOT)


def _packages() -> bool:
    key = stamps.digest(REQUIREMENTS, str(_version(PYTHON)))
    stamp, begun = STAMPS / "packages", STAMPS / "begun"
    if stamps.matches(stamp, key):
        return False
    wanted = sum("==" in line for line in REQUIREMENTS.read_text(encoding="utf-8").splitlines())
    say(f"Installing the pinned packages of requirements.txt (about {wanted}; PyTorch alone is large).")
    if begun.exists():
        _mend()
    stamps.write(begun, key)
    _pip("-r", REQUIREMENTS, watch=_watch(), what="Installing the packages")
    stamps.write(stamp, key)
    begun.unlink()
    return True


def _watch():
    """Turns pip's lines into news: how many packages were looked at, what is large, what takes long."""
    seen = set()

    def news(line: str) -> str | None:
        if found := re.match(r"\s*(?:Collecting|Requirement already satisfied:) ([\w.-]+)", line):
            seen.add(found[1].lower())
            return f"{len(seen)} packages looked up" if len(seen) % 25 == 0 else None
        if found := re.match(r"\s*Downloading (\S+) \((\d+(?:\.\d+)? [MG]B)\)", line):
            large = found[2].endswith("GB") or float(found[2].split()[0]) > 15
            return f"downloading {found[1].split('/')[-1].split('-')[0]}, {found[2]}" if large else None
        if "Retrying (" in line:
            return "the registry does not answer; trying again"
        if line.startswith("Installing collected packages"):
            return f"unpacking {line.count(',') + 1} packages, which takes a while"
        return None

    return news


def _mend() -> None:
    """An installation was interrupted: packages that lack a file are installed again."""
    found = run([PYTHON, "-c", DAMAGED], "Looking for what the interrupted set-up left")
    damaged = [line.split()[1] for line in found.splitlines() if line.startswith("damaged ")]
    if not damaged:
        return
    say(f"The last set-up was interrupted; installing again: {', '.join(damaged)}.")
    pins = STAMPS / "again.txt"
    names = {re.sub(r"[-_.]+", "-", name).lower() for name in damaged}
    lines = REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    pins.write_text(
        "\n".join(line for line in lines if line.split("==")[0] in names) + "\n", encoding="utf-8"
    )
    _pip("--force-reinstall", "--no-deps", "-r", pins, watch=_watch(), what="Mending the interrupted set-up")


def _library() -> bool:
    key = stamps.digest(ROOT / "pyproject.toml", str(ROOT))
    stamp = STAMPS / "library"
    if stamps.matches(stamp, key):
        return False
    say("Installing transformer_lib so that the notebooks find it (editable, moving no pinned package).")
    _pip("--no-deps", "--no-build-isolation", "-q", "-e", f"{ROOT}[book]", what="Installing transformer_lib")
    stamps.write(stamp, key)
    return True
