"""What a chapter's notebook must keep to, and what each of its cells is. Used by tools/notebooks.py."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from nbformat import NotebookNode

TAGS = {
    *("hide-cell", "hide-input", "hide-output", "remove-cell", "remove-input", "remove-output"),
    *("nbval-check-output", "set-up"),
}
# Syntax of Jupyter Book that Colab, GitHub and VS Code show as it stands.
MYST = {
    "a directive": r"^ {0,3}(?:(?:`{3,}|~{3,})\{|:{3,}).*",
    "a role": r"\{[a-zA-Z][\w:.+-]*\}`",
    "a target": r"^ {0,3}\([\w -]+\)=\s*$",
    "a block break": r"^\+\+\+",
    "a comment": r"^%",
    "a substitution": r"\{\{.*?\}\}",
    "attributes in braces": r"\{(?:[.#][\w-]|[\w-]+=)[^}]*\}",
}
LINK = r"(?<!!)\[[^\[\]]*\]\(\s*<?([^)\s>#]+)"
IMAGE = r"!\[[^\]]*\]\s*[\(\[]|<img\b"


def is_badge(cell: NotebookNode) -> bool:
    return cell.cell_type == "markdown" and "colab-badge.svg" in cell.source and len(cell.source.split()) < 8


def is_set_up(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and (
        "set-up" in cell.metadata.get("tags", []) or cell.source.startswith("#@title Set-up")
    )


def is_title(cell: NotebookNode) -> bool:
    return cell.cell_type == "markdown" and cell.source.startswith("# ")


def is_compared(cell: NotebookNode) -> bool:
    """Whether nbval compares the cell's stored output with what the cell prints now."""
    return "nbval-check-output" in cell.metadata.get("tags", [])


def exercise_id(cell: NotebookNode) -> str | None:
    return cell.metadata.get("exercise", {}).get("id")


def text_only(output: NotebookNode) -> NotebookNode | None:
    """What is kept of a compared cell's output: its text."""
    if output.output_type == "stream":
        return output if output.name == "stdout" else None
    text = output.get("data", {}).get("text/plain")
    if text is None:
        return None
    kept = NotebookNode(output_type=output.output_type, metadata=NotebookNode())
    kept.data = NotebookNode({"text/plain": text})
    if output.output_type == "execute_result":
        kept.execution_count = 1
    return kept


def catalogue() -> dict:
    """Every exercise of the library by its number, in the chapters' order."""
    from transformer_lib import exercises

    return {exercise.id: exercise for exercise in exercises.catalogue()}


def differences(notebook: NotebookNode, fixed: NotebookNode) -> list[str]:
    """What `fix` would change, in words."""
    found = []
    if "widgets" in notebook.metadata:
        found.append("the file's metadata holds widget state")
    elif notebook.metadata != fixed.metadata or notebook.nbformat_minor != fixed.nbformat_minor:
        found.append("the file's metadata (kernel, language, colab) is not the form that all chapters share")
    wanted = {cell.id: cell for cell in fixed.cells}
    for number, cell in enumerate(notebook.cells, 1):
        other = wanted.get(cell.get("id"))
        if cell.cell_type == "code" and other is not None and other.cell_type == "code":
            if cell.outputs and cell.outputs != other.outputs:
                found.append(f"cell {number} carries outputs")
            elif cell.execution_count != other.execution_count:
                found.append(f"cell {number} carries an execution count")
        if other is None:
            found.append(f"cell {number} is empty, stands twice or is one that is generated")
        elif (cell.cell_type, cell.source) != (other.cell_type, other.source):
            found.append(f"cell {number} ({_what(other)}) has not the text that it should have")
        elif cell.metadata != other.metadata:
            found.append(f"cell {number} ({_what(other)}) has not the metadata that it should have")
    here = {cell.get("id") for cell in notebook.cells}
    found += [f"{_what(cell)} is missing" for cell in fixed.cells if cell.id not in here]
    if not found and [cell.id for cell in notebook.cells] != [cell.id for cell in fixed.cells]:
        found.append("the cells' order differs: badge, title, set-up, then the text")
    return found


def _what(cell: NotebookNode) -> str:
    if "exercise" in cell.metadata:
        return f"exercise {cell.metadata.exercise.id}, {cell.metadata.exercise.part}"
    if is_badge(cell):
        return "the Colab badge"
    return "the set-up cell" if is_set_up(cell) else "an ordinary cell"


def lint(notebook: NotebookNode, path: Path, exercises: dict) -> list[str]:
    """What only the author can mend: syntax that not every reader shows, and what is missing."""
    found = _chapter(notebook, path, exercises)
    for number, cell in enumerate(notebook.cells, 1):
        problems = _markdown(cell.source, path) if cell.cell_type == "markdown" else []
        if cell.cell_type == "code":
            problems = _code(cell.source, is_set_up(cell))
            if is_compared(cell) and not cell.outputs:
                problems.append("is tagged nbval-check-output but holds no output: run it, save, then fix")
        if is_badge(cell):
            problems = []
        tags = set(cell.metadata.get("tags", [])) - TAGS
        problems += [f"has the tag '{tag}', which is not in use here" for tag in sorted(tags)]
        problems += ["carries an attachment: draw pictures by code"] * bool(cell.get("attachments"))
        found += [f"cell {number} {problem}" for problem in problems]
    return found


def _chapter(notebook: NotebookNode, path: Path, exercises: dict) -> list[str]:
    """The title, and the chapter's exercises: each once, in order."""
    body = [cell for cell in notebook.cells if not is_badge(cell)]
    found = [] if body and is_title(body[0]) else ["the first cell after the badge must begin with '# Title'"]
    texts = [prose(cell.source) for cell in notebook.cells if cell.cell_type == "markdown"]
    titles = sum(len(re.findall(r"^# ", text, re.MULTILINE)) for text in texts)
    found += [f"has {titles} headings of the first level ('# '); a page has one"] * (titles > 1)
    anchors = re.findall(r"<[^<>]*\bid=[\"']([^\"']+)", "\n".join(texts))
    twice = [name for name in dict.fromkeys(anchors) if anchors.count(name) > 1]
    found += [
        f"the id {name!r} stands {anchors.count(name)} times; a link finds only the first" for name in twice
    ]
    chapter = path.stem.split("_")[0].lstrip("0")
    wanted = [number for number in exercises if number.split(".")[0] == chapter]
    placed = [exercise_id(c) for c in notebook.cells if c.metadata.get("exercise", {}).get("part") == "check"]
    found += [f"exercise {n} is missing: place a cell with its metadata" for n in wanted if n not in placed]
    found += [f"exercise {n} stands {placed.count(n)} times" for n in wanted if placed.count(n) > 1]
    ids = dict.fromkeys(exercise_id(cell) for cell in notebook.cells if exercise_id(cell))
    found += [f"exercise {n} is not one of this chapter's in the catalogue" for n in ids if n not in wanted]
    if sorted(set(placed)) == sorted(wanted) and list(dict.fromkeys(placed)) != wanted:
        found.append(f"the exercises stand in the order {', '.join(placed)}; wanted is {', '.join(wanted)}")
    return found


def prose(text: str) -> str:
    """Markdown without its fenced code, code spans and mathematics (fences with {…} stay)."""
    text = re.sub(r"^ {0,3}(`{3,}|~{3,})(?!\{)[^\n]*\n.*?^ {0,3}\1[`~]*\s*$", "", text, flags=re.M | re.S)
    text = re.sub(r"(?<![\\}`])(?!`{3,}\{)(`+)(?!`)(?:(?!\n\n).)+?(?<!`)\1(?!`)", "CODE", text, flags=re.S)
    text = re.sub(r"(?<!\\)\$\$.*?\$\$(?: *\([\w:.-]+\) *$)?", _displayed, text, flags=re.M | re.S)
    return re.sub(r"(?<![\\$])\$(?!\s)(?:\\.|[^$\\])+?\$", "MATHS", text)


def _displayed(found: re.Match) -> str:
    return "{#label-of-an-equation}" if found[0].endswith(")") else "MATHS"


def _markdown(text: str, path: Path) -> list[str]:
    text = prose(text)
    found = [
        f"uses {name} of MyST ({match[0].strip()!r}), which Colab and GitHub show raw: write CommonMark"
        for name, pattern in MYST.items()
        if (match := re.search(pattern, text, re.MULTILINE))
    ]
    if re.search(IMAGE, text):
        found.append("shows a picture from a file or another host: draw it by code")
    if re.search(r"<a\b[^>]*href=[\"'][^\"'#]*\.ipynb", text):
        found.append("links to a notebook by HTML, dead in the book: write [text](file.ipynb)")
    found += [f"has <{tag}>" for tag in ("script", "style", "iframe") if f"<{tag}" in text.lower()]
    for target in re.findall(LINK, text):
        if not re.match(r"[a-z]+:", target) and not (path.parent / target).exists():
            found.append(f"links to {target}, which does not exist")
    return found


def _code(source: str, in_set_up: bool) -> list[str]:
    """Magics, widgets and pictures that a chapter must not use directly."""
    from IPython.core.inputtransformer2 import TransformerManager

    try:
        tree = ast.parse(TransformerManager().transform_cell(source))
    except SyntaxError as error:
        return [f"is not valid Python: {error.msg}, line {error.lineno}"]
    found = ["has an NBVAL comment: use tags"] * bool(re.search(r"^\s*#\s*NBVAL_", source, re.MULTILINE))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            found += _call(node, in_set_up)
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if any(module.split(".")[0] == "ipywidgets" for module in modules):
            found.append("imports ipywidgets: use transformer_lib.display.explore, alive without a kernel")
    return found


def _call(node: ast.Call, in_set_up: bool) -> list[str]:
    called = ast.unparse(node.func)
    if called.startswith("get_ipython()."):
        what = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else "?"
        if called.endswith(".run_line_magic") and what == "pip" and in_set_up:
            return []
        shown = {"run_line_magic": "%", "run_cell_magic": "%%"}.get(called.split(".")[-1], "!")
        return [f"uses {shown}{what}: only %pip in the set-up cell is allowed (an unknown magic never runs)"]
    if called.split(".")[-1] in ("interact", "interactive", "interact_manual"):
        return [f"calls {called}: it is dead in the built page, use transformer_lib.display.explore"]
    if called in ("plt.show", "pyplot.show"):
        return ["calls plt.show: end the cell with transformer_lib.display.figure(fig, alt=…)"]
    return []
