"""Catch what a learner's code prints, and put back what it may have changed for the whole program."""

from __future__ import annotations

import builtins
import contextlib
import io
import math
import random
import sys
import threading
import warnings
from collections.abc import Iterator

import numpy as np
import torch

FIRST_LINES, LINE_LENGTH = 20, 300  # kept of what is printed
_NAMESPACES = (torch, torch.nn.functional, math, builtins)


class Printed(io.TextIOBase):
    """Keeps the first lines written to it and counts the others, so that an endless print costs nothing."""

    encoding = "utf-8"

    def __init__(self):
        self.lines = [""]
        self.count = 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self.count += text.count("\n")
        if len(self.lines) <= FIRST_LINES:
            pieces = text[: 10 * FIRST_LINES * LINE_LENGTH].split("\n")
            self.lines[-1] = (self.lines[-1] + pieces[0])[:LINE_LENGTH]
            self.lines += [piece[:LINE_LENGTH] for piece in pieces[1 : FIRST_LINES + 1]]
        return len(text)

    def text(self) -> str:
        """What was printed, shortened to the first lines and a count."""
        kept = self.lines[:FIRST_LINES]
        total = self.count + bool(self.lines[-1])
        more = [f"… and {total - len(kept)} more lines"] if total > len(kept) else []
        return "\n".join([*kept, *more]).strip("\n")


@contextlib.contextmanager
def restored(printed: Printed, seed: int = 0) -> Iterator[None]:
    """Inside, output is caught, warnings are shown there, and random numbers start from this seed.
    Afterwards random states, dtype, streams, warning filters and torch's own functions are as before."""
    streams = sys.stdout, sys.stderr, sys.stdin
    states = random.getstate(), np.random.get_state()
    dtype, limit = torch.get_default_dtype(), sys.getrecursionlimit()
    hooks = sys.breakpointhook, sys.unraisablehook, threading.excepthook
    names = [dict(vars(namespace)) for namespace in _NAMESPACES]
    cuda = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    shell = _shell()
    with torch.random.fork_rng(devices=list(cuda)), warnings.catch_warnings():
        try:
            sys.stdout = sys.stderr = printed
            sys.stdin = io.StringIO()
            sys.breakpointhook = lambda *args, **kwargs: None
            # In a thread of the learner's, or where garbage is collected at the bottom of a recursion.
            sys.unraisablehook = threading.excepthook = lambda failed: printed.write(
                f"Ignored: {failed.exc_type.__name__}\n"
            )
            builtins.input = _no_input
            if shell is not None:  # exit() in a notebook asks for the kernel's end
                shell.__dict__["ask_exit"] = sys.exit
            warnings.resetwarnings()
            warnings.simplefilter("default")
            warnings.showwarning = lambda message, category, *place: printed.write(
                f"{category.__name__}: {message}\n"
            )
            torch.set_default_dtype(torch.float32)
            torch.manual_seed(seed)
            random.seed(seed)
            np.random.seed(seed)
            yield
        finally:
            if shell is not None:
                shell.__dict__.pop("ask_exit", None)
            for namespace, before in zip(_NAMESPACES, names, strict=True):
                _put_back(namespace, before)
            sys.stdout, sys.stderr, sys.stdin = streams
            sys.breakpointhook, sys.unraisablehook, threading.excepthook = hooks
            sys.setrecursionlimit(limit)
            torch.set_default_dtype(dtype)
            random.setstate(states[0])
            np.random.set_state(states[1])


def _put_back(namespace, before: dict) -> None:
    """Undo what was replaced or removed; what was added (a module imported on first use) stays."""
    now = vars(namespace)
    for name, value in before.items():
        if now.get(name, now) is not value:
            setattr(namespace, name, value)


def _no_input(*args, **kwargs):
    raise EOFError("input() cannot be used in an exercise: the arguments hold all that is needed")


def _shell():
    """The running IPython, if any, without importing it."""
    module = sys.modules.get("IPython")
    with contextlib.suppress(Exception):
        return module.get_ipython() if module is not None else None
    return None
