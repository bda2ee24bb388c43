"""Whether every file names the same repository, branch and version as the two files that own them.

The address and the branch are at home in _config.yml, the version in pyproject.toml. Looked at are
Colab badges, set-up cells, `git clone` lines, the launch button's settings and the package's metadata.
"""

from __future__ import annotations

import re
from pathlib import Path

from repository import BEFORE, COLAB, ROOT, SLUG, Repository, config, read, text_files


def disagreements(root: Path = ROOT) -> list[str]:
    """Every place where a file names another address, branch or version than its home has, in words."""
    home, found = read(root), []
    notebooks = {path.name for path in (root / "book").glob("*.ipynb")}
    for path in text_files(root):
        if path.relative_to(root).parts[0] == "tests":
            continue
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(lines, 1):
            where = f"{path.relative_to(root)}, line {number}"
            found += [f"{where}: {what}" for what in _in_line(line, home, notebooks)]
    readme = root / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.exists() else ""
    missing = [name for name in sorted(notebooks) if home.colab(name) not in text]
    found += [f"README.md has no Colab badge of {name}" for name in missing]
    return found + _settings(config(root), home) + _citation(root, home)


def _in_line(line: str, home: Repository, notebooks: set[str]) -> list[str]:
    """What one line says differently about the address, the branch or the tag."""
    wrong = []
    for owner, name in re.findall(rf"{BEFORE}{SLUG.pattern}", line):
        ours = (home.owner.lower(), home.name.lower())
        theirs = (owner.lower(), name.removesuffix(".git").rstrip(".").lower())
        own_kind = re.search(r"transformer_lib|git clone|colab\.research\.google\.com", line)
        if theirs != ours and (own_kind or theirs[1] == ours[1]):
            wrong.append(f"names {owner}/{name}, the repository is {home.owner}/{home.name} (_config.yml)")
    for branch, notebook in re.findall(r"/github/[\w./-]+?/blob/([^/\s]+)/book/([\w.-]+\.ipynb)", line):
        if branch != home.branch:
            wrong.append(f"opens branch {branch}, _config.yml has {home.branch}")
        if notebook not in notebooks:
            wrong.append(f"opens book/{notebook}, which does not exist")
    for tag in re.findall(r"git\+https://[^\s@\"]+@([\w.-]+)", line):
        if tag != home.tag:
            wrong.append(f"installs {tag}, pyproject.toml has version {home.version}")
    return wrong


def _settings(settings: dict, home: Repository) -> list[str]:
    """What makes Jupyter Book's own launch button go elsewhere than the badges."""
    repository, launch, wrong = settings.get("repository") or {}, settings.get("launch_buttons") or {}, []
    if repository.get("url") != home.url:
        wrong.append(f"_config.yml: write repository.url as {home.url}")
    if repository.get("branch") is None:
        wrong.append("_config.yml: repository.branch is missing, the launch button would open 'master'")
    if repository.get("path_to_book") not in ("", None):
        wrong.append('_config.yml: repository.path_to_book must be "": the book is built from the root')
    if launch.get("colab_url") != COLAB:
        wrong.append(f"_config.yml: launch_buttons.colab_url must be {COLAB}")
    return wrong


def _citation(root: Path, home: Repository) -> list[str]:
    path = root / "CITATION.cff"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    cited = re.search(r"^version: *[\"']?([^\s\"']+)", text, re.MULTILINE)
    if cited is None or cited[1] == home.version:
        return []
    return [f"CITATION.cff: names version {cited[1]}, pyproject.toml has {home.version}"]
