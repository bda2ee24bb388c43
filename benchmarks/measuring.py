"""What the benchmarks share: times taken in turns, and a table of bounds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import torch

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Result(NamedTuple):
    """A ratio and its bound, which it must not exceed, or reach where `at_least`."""

    what: str
    ratio: float
    bound: float
    at_least: bool = False

    @property
    def met(self) -> bool:
        return self.ratio >= self.bound if self.at_least else self.ratio <= self.bound

    def line(self) -> str:
        bound = f"{'≥' if self.at_least else '≤'} {self.bound:.2f}"
        return f"{self.what:78}{self.ratio:>7.2f}{bound:>8}  {'met' if self.met else 'NOT MET'}"


def device_name() -> str:
    if DEVICE.type == "cuda":
        return torch.cuda.get_device_name()
    return f"CPU, {torch.get_num_threads()} threads"


def best_seconds(*runs: Callable, seconds: float = 2.0, turns: int = 5) -> list[float]:
    """The best time of one call of each. They take turns, so that a slow moment of the machine meets them
    all, for so long, and at least so many turns after one to warm up."""
    best = [float("inf")] * len(runs)
    turn, end = -1, time.perf_counter() + seconds
    while turn < turns or time.perf_counter() < end:
        for i, run in enumerate(runs):
            _finish()
            start = time.perf_counter()
            run()
            _finish()
            if turn >= 0:
                best[i] = min(best[i], time.perf_counter() - start)
        turn += 1
    return best


def _finish() -> None:
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()
