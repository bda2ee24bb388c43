r"""Time and memory of any call, measured, and how they grow (lecture, section 10).

Where an amount grows as $c \cdot n^p$, its logarithm is a straight line in $\log n$, with slope $p$: 1 is
linear, 2 is quadratic. `cost.py` counts what can be known without running.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class Measurement(NamedTuple):
    """What one call took: seconds, and bytes held at its peak beyond those held before it."""

    seconds: float
    peak_bytes: int


def measure(f: Callable, *args, repeats: int = 3) -> Measurement:
    """The fastest of `repeats` calls after a first one to warm up, and the peak of another call's memory.

    Bytes are those of tensors that torch's operators give back, kept for the backward pass or not, on any
    device, `meta` too, where no length is too long; not what a kernel borrows while it runs.

    >>> import torch
    >>> measure(lambda x: (x + 1).sum(), torch.zeros(1000)).peak_bytes  # x + 1 and the sum
    4004
    """
    if repeats < 1:
        raise ValueError(f"repeats must be at least 1; got {repeats}")
    with _Peak() as memory:
        f(*args)
    seconds = []
    for _ in range(repeats):
        _wait()
        start = time.perf_counter()
        f(*args)
        _wait()
        seconds.append(time.perf_counter() - start)
    return Measurement(min(seconds), memory.peak)


def fitted_exponent(sizes: Sequence, amounts: Sequence) -> float:
    """The p of amount = c · size^p, by least squares on the logarithms.

    Raises:
        ValueError: fewer than two different sizes, another number of amounts, or a number not above 0.

    >>> round(fitted_exponent([1, 2, 4], [3, 12, 48]), 6)
    2.0
    """
    if len(sizes) != len(amounts) or len(set(sizes)) < 2 or min(*sizes, *amounts) <= 0:
        raise ValueError(f"need two sizes or more and an amount for each, above 0; got {sizes} and {amounts}")
    return float(np.polyfit(np.log(sizes), np.log(amounts), 1)[0])


class _Peak(TorchDispatchMode):
    """Adds up the storages that operators give back, and takes off those let go."""

    def __init__(self):
        super().__init__()
        self.now, self.peak, self.alive = 0, 0, set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        outputs = func(*args, **(kwargs or {}))
        given = {id(x.untyped_storage()) for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)}
        for x in tree_leaves(outputs):
            storage = x.untyped_storage() if isinstance(x, Tensor) else None
            if storage is None or id(storage) in given | self.alive:
                continue
            self.alive.add(id(storage))
            self.now += storage.nbytes()
            self.peak = max(self.peak, self.now)
            weakref.finalize(storage, self._let_go, id(storage), storage.nbytes())
        return outputs

    def _let_go(self, key: int, n_bytes: int) -> None:
        self.alive.discard(key)
        self.now -= n_bytes


def _wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
