"""The library's own source, read from its file: what a chapter shows is what runs."""

from __future__ import annotations

import inspect
import re
import textwrap
from pathlib import Path
from typing import Any


class Source:
    """Python source to show as Markdown; `repr()` is the same as text."""

    def __init__(self, path: str, code: str):
        self.path = path
        self.code = code

    def _repr_markdown_(self) -> str:
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", self.code)), default=0))
        return f"`{self.path}`\n\n{fence}python\n{self.code}\n{fence}\n"

    def __repr__(self) -> str:
        return f"# {self.path}\n{self.code}"


def source(obj: Any) -> Source:
    """The source of a function, method or class, under the name of its file.

    Raises:
        TypeError: obj is not a function, method or class, or has no Python source.

    >>> from transformer_lib.display import source
    >>> source(source).path
    'transformer_lib/display/source.py'
    """
    if isinstance(obj, property):
        obj = obj.fget
    name = getattr(obj, "__qualname__", type(obj).__name__)
    if not (inspect.isclass(obj) or inspect.isroutine(obj)):
        raise TypeError(
            f"source shows a function, method or class; got an object of type {type(obj).__name__}"
        )
    obj = inspect.unwrap(obj)
    try:
        code = inspect.getsource(obj)
        file = Path(inspect.getsourcefile(obj) or "")
    except (TypeError, OSError):
        raise TypeError(
            f"{name} has no Python source to show: it is built in or made while running"
        ) from None
    return Source(_path(obj, file), textwrap.dedent(code).rstrip())


def _path(obj: Any, file: Path) -> str:
    """The file's path from its package on, the same on every machine."""
    module = getattr(obj, "__module__", None) or ""
    if module in ("", "__main__"):
        return "this notebook"
    depth = module.count(".") + (file.name == "__init__.py")
    return "/".join(file.parts[-1 - depth :])
