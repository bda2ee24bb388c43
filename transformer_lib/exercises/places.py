"""The learner's own line that an error comes from, among the frames of the engine and of libraries."""

from __future__ import annotations

import contextlib
import dis
import linecache
import os
import re
import sys
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType


class Place:
    """A line of the learner's code."""

    def __init__(self, file: str, line: int):
        self.file, self.line = file, line
        self.source = linecache.getline(file, line).strip()

    @property
    def where(self) -> str:
        """ "line 3 of your cell In[5]" or "line 3 of my_file.py"."""
        return f"line {self.line} of {_file_name(self.file)}"


def own_place(error: BaseException | None, places: Sequence[tuple[str, int]] = ()) -> Place | None:
    """The last line of the learner's own code that an error (or a stopped call) was in."""
    if error is not None:
        if isinstance(error, SyntaxError) and error.filename and _is_own(error.filename):
            return Place(error.filename, error.lineno or 1)
        places = []
        trace = error.__traceback__
        while trace is not None:
            places.append((trace.tb_frame.f_code.co_filename, trace.tb_lineno))
            trace = trace.tb_next
    own = [place for place in places if _is_own(place[0])]
    return Place(*own[-1]) if own else None


def after(trace: TracebackType | None, function: Callable) -> TracebackType | None:
    """The part of a traceback inside of this function: what it called."""
    code, inner = getattr(function, "__code__", None), trace
    while inner is not None:
        if inner.tb_frame.f_code is code:
            return inner.tb_next
        inner = inner.tb_next
    return trace


def raised_in_own_code(error: BaseException) -> bool:
    """Whether a `raise` in the learner's own code raised it, and not torch or another library."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or not _is_own(trace.tb_frame.f_code.co_filename):
        return False
    return trace.tb_frame.f_code.co_code[trace.tb_lasti] == dis.opmap["RAISE_VARARGS"]


_LIBRARY = Path(__file__).resolve().parents[1]
_NOT_OWN = tuple(
    os.path.normcase(os.path.realpath(path)) + os.sep
    for path in {
        str(_LIBRARY),
        *(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")),
        os.path.dirname(os.__file__),
    }
)


def _is_own(file: str) -> bool:
    """Whether a file is neither of this library nor of Python nor of an installed package."""
    if file.startswith("<"):
        return file.startswith(("<ipython-input", "<stdin", "<string", "<cell", "<doctest"))
    path = os.path.normcase(os.path.realpath(file))
    return not path.startswith(_NOT_OWN) and "site-packages" not in path


def _file_name(file: str) -> str:
    """A file's name without its folders; of a notebook's cell, its number."""
    old = re.match(r"<ipython-input-(\d+)-", file)
    if old:
        return f"your cell In[{old.group(1)}]"
    shell = sys.modules.get("IPython")
    with contextlib.suppress(Exception):  # IPython 8 on
        kind, number = shell.get_ipython().compile.format_code_name(file)
        return f"your {kind.lower()} {number}"
    if file.startswith("<") or "ipykernel_" in file:
        return "your cell"
    return Path(file).name
