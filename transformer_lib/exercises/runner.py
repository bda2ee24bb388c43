"""Run a learner's code so that whatever it does, the check goes on.

The code runs in a thread of its own, on any platform. When its time is over, an exception is raised in
that thread again and again until it ends: also `while True: try: … except: pass` ends. Code that
swallows even that is put to sleep for good, so that it costs nothing. One long call into C cannot be
stopped; the caller goes on without it.
"""

from __future__ import annotations

import _thread
import ctypes
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

GRACE = 1.0  # seconds in which a thread that has been told to stop may end
STACK = 64 * 2**20  # bytes, virtual: deep recursion must end in RecursionError, not in a crash
PARK = 0.25  # seconds in which one that did not end is put to sleep
_workers: set[int] = set()
_stopping: set[int] = set()
_parked: set[int] = set()


class Stopped(SystemExit):
    """Raised in the learner's thread when its time is over.

    Where the learner's code swallows it, making the exception turns on a trace function that raises it
    once more on the very next line: an `except: pass` is left on its first line.
    """

    def __init__(self):
        super().__init__("out of time")
        if not inside():
            return
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != __file__:
            frame.f_trace = _stop
            frame = frame.f_back
        sys.settrace(_stop)


def _stop(frame, event, argument):
    """Trace function of a thread that is being stopped."""
    if frame.f_code.co_filename == __file__:
        return None
    if event == "line":
        raise Stopped
    return _stop


def _tick(frame, event, argument):
    """Trace function for Python 3.10, where a loop around a `try` without calls never lets another
    thread run; this one does, on every line."""
    if _thread.get_ident() in _stopping:
        raise _Parked
    return _tick


class _Parked(Stopped):
    """Making this exception never returns: the thread sleeps until the program ends."""

    def __init__(self):
        sys.settrace(None)
        _parked.add(_thread.get_ident())
        lock = _thread.allocate_lock()
        lock.acquire()
        lock.acquire()


@dataclass
class Outcome:
    """What a call did: a value, or an exception; late where it had to be stopped, with the places
    (file, line) where it then was, outermost first."""

    value: Any = None
    error: BaseException | None = None
    late: bool = False
    places: list[tuple[str, int]] = field(default_factory=list)


def inside() -> bool:
    """Whether the current thread runs a learner's code."""
    return _thread.get_ident() in _workers


def run_guarded(job: Callable[[], Any], seconds: float) -> Outcome:
    """The outcome of `job()` in a thread of its own, stopped after so many seconds."""
    outcome = Outcome()
    finished = _thread.allocate_lock()
    finished.acquire()
    ident: list[int] = []

    def work() -> None:
        ident.append(_thread.get_ident())
        _workers.add(ident[0])
        try:
            try:
                if sys.version_info < (3, 11):
                    sys.settrace(_tick)
                outcome.value = job()
            except BaseException as error:
                sys.settrace(None)
                outcome.error = error
        finally:
            sys.settrace(None)
            _workers.discard(ident[0])
            finished.release()

    start = time.monotonic()
    _start(work)
    ended = False
    places: list[tuple[str, int]] = []
    try:
        ended = _wait(finished, start + seconds)
    finally:  # also where the learner pressed "interrupt"
        if not ended:
            while not ident:  # it has hardly begun
                time.sleep(0.001)
            places = _places(sys._current_frames().get(ident[0]))
            _stop_thread(ident[0], finished)
    if ended:
        return outcome
    return Outcome(late=True, places=places)


def _places(frame) -> list[tuple[str, int]]:
    places = []
    while frame is not None:
        if frame.f_code.co_filename != __file__:
            places.append((frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return places[::-1]


def _start(work: Callable[[], None]) -> None:
    try:
        old = _thread.stack_size(STACK)
    except (ValueError, RuntimeError):  # not on this platform
        old = None
    try:
        _thread.start_new_thread(work, ())
    finally:
        if old is not None:
            _thread.stack_size(old)


def _wait(lock, until: float) -> bool:
    """Whether the lock was released in time; in short steps, so that an interrupt gets through."""
    while True:
        left = until - time.monotonic()
        if lock.acquire(timeout=max(0.0, min(left, 0.2))):
            return True
        if left <= 0:
            return False


def _stop_thread(ident: int, finished) -> None:
    """Raise `Stopped` in the thread until it ends; put it to sleep where it does not.

    The threads change places as often as possible meanwhile, so that an exception also arrives between
    the handler that swallowed the last one and the next round of the loop.
    """
    _stopping.add(ident)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        if sys.version_info < (3, 11):
            time.sleep(PARK)  # `_tick` puts it to sleep
        elif _raise_in(ident, Stopped, finished, GRACE):
            return
        _raise_in(ident, _Parked, finished, PARK)
    finally:
        sys.setswitchinterval(interval)
        _stopping.discard(ident)


def _raise_in(ident: int, kind: type[Stopped], finished, seconds: float) -> bool:
    """Whether the thread ended (or sleeps) after having this exception raised in it over and over."""
    until = time.monotonic() + seconds
    pause = 0
    while time.monotonic() < until:
        if ident in _parked or finished.acquire(blocking=False):
            return True
        if not ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(kind)):
            return True  # no such thread: it has ended
        time.sleep(0 if pause % 100 else 0.002)
        pause += 1
    return False
