"""The repository's address: its one home is `repository.url` in _config.yml.

python tools/repository.py https://github.com/OWNER/NAME rewrites it in every file that names it;
without an address, the command says where a file disagrees (agreement.py).
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
COLAB = "https://colab.research.google.com"
OWNER = r"(?P<owner>[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?)"
SLUG = re.compile(rf"{OWNER}/(?P<name>[\w.-]{{1,100}})", re.ASCII)
# What stands before OWNER/NAME in an address: a plain link, a clone by ssh, raw files, Colab, other viewers.
BEFORE = r"(?:github(?:usercontent)?\.com[/:]|/github/|/gh/)"
# A name ends where no letter, digit, '-' or '_' follows, and no dot that goes on ('.git' ends it).
AFTER = r"(?![\w-])(?!\.(?!git\b)\w)"


class BadAddressError(ValueError):
    """An address that the book cannot have, with what to write instead."""


@dataclass(frozen=True)
class Repository:
    """Where the book lives, as _config.yml and pyproject.toml have it."""

    owner: str
    name: str
    branch: str = "main"
    version: str = "0.0.0"

    @property
    def url(self) -> str:
        return f"https://github.com/{self.owner}/{self.name}"

    @property
    def tag(self) -> str:
        return f"v{self.version}"

    @property
    def requirement(self) -> str:
        """What pip installs in Colab: the library at the tag of this version."""
        return f"transformer_lib[book] @ git+{self.url}@{self.tag}"

    def colab(self, notebook: str) -> str:
        """Colab's address of `book/NAME.ipynb`."""
        return f"{COLAB}/github/{self.owner}/{self.name}/blob/{self.branch}/book/{notebook}"

    def badge(self, notebook: str) -> str:
        """The Colab badge of a notebook, in Markdown."""
        return f"[![Open in Colab]({COLAB}/assets/colab-badge.svg)]({self.colab(notebook)})"


def parse(address: str) -> tuple[str, str]:
    """OWNER and NAME of an address on GitHub, in any of the spellings that GitHub offers."""
    text = re.sub(r"^(?:https?://|ssh://)?(?:www\.|git@)?github\.com[/:]", "", address.strip().rstrip("/"))
    text = text.removesuffix(".git")
    match = SLUG.fullmatch(text)
    if "github.com" not in address or match is None or match["name"] in (".", ".."):
        raise BadAddressError(
            f"'{address}' is not the address of a repository on GitHub, from where Colab opens notebooks. "
            "Write it as https://github.com/OWNER/NAME."
        )
    return match["owner"], match["name"]


def config(root: Path = ROOT) -> dict:
    try:
        return yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8")) or {}
    except FileNotFoundError:
        raise BadAddressError(f"{root} has no _config.yml, which holds the repository's address.") from None


def version(root: Path = ROOT) -> str:
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r'^version *= *"([^"]+)"', text, re.MULTILINE)
    if found is None:
        raise BadAddressError('pyproject.toml has no line version = "…".')
    return found[1]


def read(root: Path = ROOT) -> Repository:
    """The repository as the two files that own its address and its version have it."""
    settings = config(root).get("repository") or {}
    if not settings.get("url"):
        raise BadAddressError("_config.yml has no repository.url: write the repository's address there.")
    owner, name = parse(settings["url"])
    return Repository(owner, name, settings.get("branch", "main"), version(root))


def text_files(root: Path) -> list[Path]:
    """Every text file that belongs to the repository (what git ignores does not)."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root, capture_output=True, text=True, check=True,
    ).stdout.split("\0")  # fmt: skip
    paths = [root / name for name in listed if name]
    return [path for path in paths if path.is_file() and b"\0" not in path.read_bytes()[:4096]]


def rewrite(address: str, root: Path = ROOT) -> list[Path]:
    """Give the book a new address, in every file that names the old one; returns the files changed."""
    old, (owner, name) = read(root), parse(address)
    slug = re.compile(rf"({BEFORE}){re.escape(f'{old.owner}/{old.name}')}{AFTER}")
    pages = re.compile(rf"\b{re.escape(f'{old.owner}.github.io/{old.name}')}{AFTER}")
    changed = []
    for path in text_files(root):
        before = path.read_bytes()
        try:
            text = before.decode("utf-8")
        except UnicodeDecodeError:
            continue
        text = slug.sub(lambda found: f"{found[1]}{owner}/{name}", text)
        text = pages.sub(f"{owner}.github.io/{name}", text)
        if text.encode() != before:
            path.write_bytes(text.encode())
            changed.append(path)
    return changed


def main(arguments: list[str], root: Path = ROOT) -> int:
    import agreement

    try:
        if len(arguments) > 1:
            raise BadAddressError("Give one address: make repository URL=https://github.com/OWNER/NAME.")
        if arguments:
            changed = rewrite(arguments[0], root)
            print(f"The repository is {read(root).url} now; {len(changed)} files changed.")
            for path in changed:
                print(f"  {path.relative_to(root)}")
        wrong = agreement.disagreements(root)
    except BadAddressError as error:
        print(error, file=sys.stderr)
        return 2
    print("\n".join(wrong) or f"Every file agrees on {read(root).url}, tag {read(root).tag}.")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
