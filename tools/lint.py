"""Check the style of the code, the form of the notebooks, and the text of every file of the repository."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from commands import ROOT, StopError, reported, say

# A registry's host in a lock file or a requirement ties the book to one place to install from.
HOSTS = [
    r"files\.pythonhosted\.org",
    r"https?://(?:test\.)?pypi\.(?:org/simple|python\.org)",
    r"registry\.(?:npmjs\.org|yarnpkg\.com)",
    r"--(?:extra-)?index-url",
    r'"resolved":',
]
# Folders of one machine: homes, work folders, temporary ones. Made-up ones are of no machine: /home/me, and
# the place that every kernel gives its cells.
PATHS = [
    r"(?<![\w.])/(?:home|Users)/(?!me/)[\w.-]+/",
    r"(?<![\w./-])/(?:root|work|tmp|opt/wheels|mnt|scratch)/(?!ipykernel)[\w.-]+",
]
OUTPUTS_OF = "nbval-check-output"
# What is forbidden elsewhere is named there.
NAMED_IN = ("tools/lint.py", "tests/tools/test_gatekeepers.py")


def files() -> list[Path]:
    """Every file that is in the repository or would be."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    return sorted(path for name in listed.split("\0") if name and (path := ROOT / name).is_file())


def text_faults(name: str, text: str, root: str = str(ROOT)) -> list[str]:
    """Hosts of registries and paths of one machine in a text, by line."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        for kind, patterns in (
            ("a package registry", HOSTS),
            ("a path of one machine", [*PATHS, re.escape(root)]),
        ):
            hit = next((match for pattern in patterns if (match := re.search(pattern, line))), None)
            if hit:
                found.append(f"{name}, line {number}: names {kind}: {hit[0]}")
    return found


def notebook_faults(name: str, text: str) -> list[str]:
    """Outputs, counts and widget state in a notebook, other than the text that nbval compares."""
    try:
        notebook = json.loads(text)
    except ValueError as error:
        return [f"{name}: is no notebook that can be read: {error}"]
    found = [f"{name}: holds widget state"] * ("widgets" in notebook.get("metadata", {}))
    for number, cell in enumerate(notebook.get("cells", []), 1):
        if cell.get("outputs") and OUTPUTS_OF not in cell.get("metadata", {}).get("tags", []):
            found.append(f"{name}, cell {number}: carries outputs")
    return found


def faults() -> list[str]:
    found = []
    for path in files():
        name = path.relative_to(ROOT).as_posix()
        data = path.read_bytes()
        if b"\0" in data[:4096] or name in NAMED_IN:
            continue
        text = data.decode("utf-8", "replace")
        found += text_faults(name, text)
        if name.endswith(".ipynb"):
            found += notebook_faults(name, text)
    return found


def main() -> None:
    python = sys.executable
    checks = {
        "the code (ruff check)": [python, "-m", "ruff", "check", "."],
        "the code's form (ruff format)": [python, "-m", "ruff", "format", "--check", "."],
        "the notebooks' form": [python, "tools/notebooks.py", "check"],
        "the list of exercises": [python, "tools/exercise_page.py", "check"],
        "the repository's address": [python, "tools/repository.py"],
    }
    wrong = []
    for what, command in checks.items():
        say(f"Checking {what}.")
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            wrong.append(what)
    say("Checking the text of every file: no registry's host, no path of one machine, no outputs.")
    found = faults()
    if found:
        say("\n".join(f"  {fault}" for fault in found))
        wrong.append("the text of every file")
    if wrong:
        raise StopError(f"Not in order: {', '.join(wrong)}. It says above what and where.")
    say("All in order.")


if __name__ == "__main__":
    sys.exit(reported(main))
