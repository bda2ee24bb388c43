"""Rehearse Colab: every notebook, alone in an empty folder, in a fresh environment with its older packages.

`python tools/colab.py [NOTEBOOK …]` takes some minutes. It builds an environment outside the repository
with what Colab comes with, lets each notebook's set-up cell install the library (the address is answered
by a clone of the current commit, so no code host is asked), runs the notebook to its end, tries every
figure to explore, and compares the installed packages before and after: nothing may change, only be added.
Not rehearsed: Colab's Python and torch (this machine's are taken), its GPU, and its web page.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat
import repository
import run_notebook
from nbformat.v4 import new_code_cell

ROOT = repository.ROOT
# Colab's package list of August 2026 where the version matters; torch is what requirements.txt pins.
PREINSTALLED = [
    *("ipython==7.34.0", "ipykernel==6.17.1", "ipywidgets==7.7.1", "jupyter_client==7.4.9"),
    *("tornado==6.5.1", "pyzmq<27", "numpy==2.1.3", "matplotlib==3.10.0", "seaborn==0.13.2"),
    *("transformers==5.15.*", "sentence-transformers", "safetensors", "tokenizers"),
]
RUNNER = ["pytest==8.4.2", "nbval==0.11.0"]
# What pip says of the machine's settings and folders, and IPython of every %pip.
PIP_SAYS = re.compile(r"^(?:WARNING: |Note: you may need to restart).*$", re.MULTILINE)
STUB = '"""Stands for the module by which a notebook knows that it is in Colab."""\n'


class RehearsalError(Exception):
    """What stopped the rehearsal, in a sentence."""


def say(text: str) -> None:
    print(text, flush=True)


class Colab:
    """The environment: a folder with the interpreter, the clone that answers the address, the settings."""

    def __init__(self, folder: Path, home: repository.Repository, root: Path = ROOT):
        self.folder, self.home, self.root = folder, home, root
        self.python = folder / "env" / "bin" / "python"
        self.checkout = folder / "checkout"
        self.env = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("VIRTUAL_ENV", "PYTHON", "JUPYTER", "IPYTHON", "MPL", "PYTEST"))
        }
        self.env["PATH"] = f"{self.python.parent}{os.pathsep}{self.env['PATH']}"
        self.env["IPYTHONDIR"] = str(folder / "ipython")

    def pip(self, *arguments: str) -> str:
        done = subprocess.run(
            [self.python, "-m", "pip", *arguments],
            env=self.env,
            cwd=self.folder,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            last = (done.stderr or done.stdout).strip().splitlines()[-3:]
            raise RehearsalError(f"pip {arguments[0]} failed. Is there a network? It said: {' '.join(last)}")
        return done.stdout

    def installed(self) -> dict[str, str]:
        """Every installed package and its version."""
        listed = json.loads(self.pip("list", "--format=json"))
        return {package["name"].lower(): package["version"] for package in listed}

    def build(self, packages: list[str]) -> None:
        """The interpreter with Colab's packages, and `google.colab` already imported in every kernel."""
        subprocess.run([sys.executable, "-m", "venv", self.folder / "env"], check=True)
        self.pip("install", "-q", *packages)
        places = "import sysconfig; print(sysconfig.get_path('purelib'))"
        site = subprocess.run([self.python, "-c", places], capture_output=True, text=True, check=True).stdout
        stub = Path(site.strip()) / "google" / "colab"
        stub.mkdir(parents=True)
        (stub / "__init__.py").write_text(STUB)
        startup = self.folder / "ipython" / "profile_default" / "startup"
        startup.mkdir(parents=True)
        (startup / "00-colab.py").write_text("import google.colab\n")

    def serve(self) -> None:
        """Clone the current commit, tag it as the set-up cell asks, and let git find it at the address."""
        bare = self.folder / "served.git"
        git = ["git", "-c", "safe.directory=*", "-c", "advice.detachedHead=false"]
        subprocess.run([*git, "clone", "-q", "--bare", "--no-hardlinks", self.root, bare], check=True)
        subprocess.run(
            [*git, "-C", bare, "tag", "-f", self.home.tag, "HEAD"], check=True, capture_output=True
        )
        subprocess.run([*git, "-C", bare, "config", "uploadpack.allowFilter", "true"], check=True)
        subprocess.run([*git, "clone", "-q", bare, self.checkout], check=True)
        settings = {f"url.{bare.as_uri()}.insteadOf": self.home.url, "safe.directory": "*"}
        self.env["GIT_CONFIG_COUNT"] = str(len(settings))
        for number, (key, value) in enumerate(settings.items()):
            self.env[f"GIT_CONFIG_KEY_{number}"], self.env[f"GIT_CONFIG_VALUE_{number}"] = key, value

    def rehearse(self, notebook: Path) -> tuple[run_notebook.Run, list[str]]:
        """Run a notebook, alone in an empty folder, no library installed; returns what is wrong too."""
        if "transformer_lib" in {name.replace("-", "_") for name in self.installed()}:
            self.pip("uninstall", "-q", "-y", "transformer_lib")
        folder = self.folder / "alone" / notebook.stem
        folder.mkdir(parents=True)
        document = nbformat.read(self.checkout / "book" / notebook.name, as_version=4)
        probe = Path(__file__).with_name("colab_probe.py").read_text(encoding="utf-8")
        document.cells.append(new_code_cell(probe))
        copy = folder / notebook.name
        nbformat.write(document, copy)
        run = run_notebook.run(copy, str(self.python), env=self.env, cwd=folder)
        return run, [] if run.failed else problems(run, self.home.version)


def problems(run: run_notebook.Run, version: str) -> list[str]:
    """What is wrong with a notebook whose cells all ran: its set-up line, its figures to explore."""
    found = []
    set_up = next((cell for cell in run.cells if "set-up" in cell["tags"]), None)
    said = "\n".join(output["text"] for output in (set_up["outputs"] if set_up else []))
    lines = [line for line in PIP_SAYS.sub("", said).splitlines() if line.strip()]
    if len(lines) != 1 or f"transformer_lib {version}" not in lines[0]:
        found.append(f"the set-up cell must say in one line what it found; it said: {lines}")
    views = 0
    for cell in run.cells:
        if not re.search(r"^explore\(", cell["source"], re.MULTILINE):
            continue  # another widget: a progress bar
        shown = sum(
            "application/vnd.jupyter.widget-view+json" in output["kinds"] for output in cell["outputs"]
        )
        views += shown
        if not shown:
            found.append(f"cell {cell['cell']} calls explore but shows no widget")
    text = "".join(output["text"] for output in run.cells[-1]["outputs"])
    answered = json.loads(text.splitlines()[-1])
    if answered["figures"] != views:
        found.append(f"{views} figures to explore are shown, {answered['figures']} answer")
    return found + answered["problems"]


def changed(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """The packages that Colab came with and that are not as they were."""
    return [
        f"{name} was {version} and is {after.get(name, 'gone')} now"
        for name, version in sorted(before.items())
        if after.get(name) != version
    ]


def main(arguments: list[str]) -> int:
    start = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="colab-"))
    try:
        return _rehearsal([Path(name) for name in arguments], folder, start)
    except (RehearsalError, repository.BadAddressError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 2
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _rehearsal(notebooks: list[Path], folder: Path, start: float) -> int:
    pins = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    torch = re.search(r"^torch==[\w.]+", pins, re.MULTILINE)[0]
    python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    say(
        f"Building Colab's environment in {folder} ({python} and {torch}; Colab has 3.13 and its own torch) …"
    )
    colab = Colab(folder, repository.read())
    colab.build([*PREINSTALLED, torch, *RUNNER])
    colab.serve()
    before = colab.installed()
    say(f"{len(before)} packages preinstalled, {time.monotonic() - start:.0f} s.")
    if subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True).stdout:
        say("Note: the last commit is rehearsed; the working folder has changes that are not in it.")
    wrong, after = 0, before
    for notebook in notebooks or sorted((colab.checkout / "book").glob("*.ipynb")):
        run, found = colab.rehearse(notebook)
        after = colab.installed()
        found += [f"a preinstalled package changed: {change}" for change in changed(before, after)]
        say(run.summary())
        lines = ([run.report()] if run.failed else []) + [f"{notebook.name}: {problem}" for problem in found]
        say("\n".join(lines) or "  set-up line, figures to explore and installed packages: as they should be")
        wrong += bool(lines)
    added = sorted(f"{name} {version}" for name, version in after.items() if name not in before)
    say(f"Added to what Colab has: {', '.join(added) or 'nothing'}.")
    say(f"{wrong} notebooks with problems; {time.monotonic() - start:.0f} s in all.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
