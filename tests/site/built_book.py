"""What the book consists of: its pages, their sources and the addresses they must give."""

import ast
import json
import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
HTML = ROOT / "_build" / "html"
AXE = ROOT / ".cache" / "npm" / "node_modules" / "axe-core" / "axe.min.js"
NOT_BUILT = f"The book is not built, there are no pages in {HTML.relative_to(ROOT)}: run `make book` first."
# Pages that Sphinx writes besides those of the table of contents.
MADE_BY_SPHINX = ("genindex", "search")


def _files(node) -> list[str]:
    if isinstance(node, list):
        return [name for part in node for name in _files(part)]
    if isinstance(node, dict):
        own = [node[key] for key in ("root", "file") if key in node]
        return own + [name for value in node.values() for name in _files(value)]
    return []


def contents(root: Path = ROOT) -> list[str]:
    """The pages of the table of contents without suffix, as "book/02_self_attention", in order."""
    return [
        re.sub(r"\.(md|ipynb)$", "", name) for name in _files(yaml.safe_load((root / "_toc.yml").read_text()))
    ]


def pages() -> list[str]:
    """Every page to visit; empty when the book is not built."""
    if not HTML.is_dir() or not (ROOT / "_toc.yml").is_file():
        return []
    return contents() + [name for name in MADE_BY_SPHINX if (HTML / f"{name}.html").is_file()]


def built() -> set[str]:
    """Every page that lies in the built book, without the notebooks' sources and the theme's own files."""
    found = (path.relative_to(HTML) for path in HTML.rglob("*.html"))
    return {path.with_suffix("").as_posix() for path in found if not path.parts[0].startswith("_")}


def cells(name: str, kind: str) -> list[str]:
    """The text of a chapter's cells of one kind ("code" or "markdown"), those hidden in the book left out."""
    notebook = ROOT / f"{name}.ipynb"
    if kind == "markdown" and (ROOT / f"{name}.md").is_file():
        return [(ROOT / f"{name}.md").read_text()]
    if not notebook.is_file():
        return []
    found = json.loads(notebook.read_text())["cells"]
    shown = (cell for cell in found if "remove-cell" not in cell["metadata"].get("tags", []))
    return ["".join(cell["source"]) for cell in shown if cell["cell_type"] == kind]


def calls(name: str, function: str) -> int:
    """How often a chapter's code calls `function`."""
    code = "\n".join(re.sub(r"^(\s*)%.*", r"\1pass", cell, flags=re.M) for cell in cells(name, "code"))
    names = (node.func for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call))
    return sum(getattr(called, "id", getattr(called, "attr", None)) == function for called in names)


def has_mathematics(name: str) -> bool:
    """Whether the chapter's prose has a formula."""
    text = "\n".join(cells(name, "markdown"))
    text = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.S)
    return bool(re.search(r"(?<!\\)\$[^$]+\$|\{math\}", text))


def is_notebook(name: str) -> bool:
    return (ROOT / f"{name}.ipynb").is_file()


def colab_address(name: str) -> str:
    """The address of the chapter in Colab, from `_config.yml` alone."""
    repository = yaml.safe_load((ROOT / "_config.yml").read_text())["repository"]
    owner_and_name = repository["url"].removeprefix("https://github.com/").strip("/")
    return (
        f"https://colab.research.google.com/github/{owner_and_name}/blob/{repository['branch']}/{name}.ipynb"
    )


def axe_script() -> Path:
    """The accessibility checker's script, which the set-up puts outside the served pages."""
    if not AXE.is_file():
        raise FileNotFoundError("The accessibility checker axe-core is not there: run `make set-up` first.")
    return AXE
