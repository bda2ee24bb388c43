"""Code that does not end is stopped, however hard it resists, and the check goes on."""

import contextlib
import time
from pathlib import Path

import pytest
from samples import SHARES, softmax

from transformer_lib.exercises import runner
from transformer_lib.exercises.diagnose import judge

SOURCE = Path(__file__).read_text(encoding="utf-8")


def loop_plainly(scores):
    while True:
        pass


def loop_and_swallow(scores):
    while True:
        try:  # noqa: SIM105
            time.sleep(0.01)
        except:  # noqa: E722
            pass


def loop_and_swallow_without_calls(scores):
    number = 0
    while True:
        try:
            number += 1
        except BaseException:
            continue


def loop_in_loops(scores):
    while True:
        with contextlib.suppress(BaseException):
            while True:
                with contextlib.suppress(BaseException):
                    loop_and_swallow(scores)


def loop_in_c(scores):
    time.sleep(3)


def loop_printing(scores):
    while True:
        print("again")


def loop_with_finally(scores):
    try:
        loop_plainly(scores)
    finally:
        loop_plainly(scores)


def loop_by_recursion(scores):
    try:
        loop_by_recursion(scores)
    finally:
        loop_by_recursion(scores)


LOOPS = [
    loop_by_recursion,
    loop_plainly,
    loop_and_swallow,
    loop_and_swallow_without_calls,
    loop_in_loops,
    loop_in_c,
    loop_printing,
    loop_with_finally,
]


@pytest.mark.parametrize("loop", LOOPS)
def test_endless_loop_is_stopped(loop):
    start = time.monotonic()
    result = judge(SHARES, loop, 0.3)
    assert time.monotonic() - start < 0.3 + runner.GRACE + 2
    assert (result.status, result.mistake) == ("error", "time-limit")
    if loop in (loop_plainly, loop_and_swallow, loop_in_c, loop_printing):
        assert result.place.source in SOURCE
        assert f"line {result.place.line} of test_time_limit.py" in result.message
    time.sleep(0.1)
    used = time.process_time()
    time.sleep(0.3)
    assert time.process_time() - used < 0.15, "the loop still runs"
    assert judge(SHARES, softmax, 10).passed


def test_exception_that_stops_is_raised_again_where_it_is_swallowed():
    def job():
        try:
            raise runner.Stopped  # as from outside
        except BaseException:
            pass
        return "escaped"

    outcome = runner.run_guarded(job, 5)
    assert isinstance(outcome.error, runner.Stopped)


def test_thread_that_cannot_be_ended_is_put_to_sleep(monkeypatch):
    monkeypatch.setattr(runner, "GRACE", 0)
    before = set(runner._parked)
    assert judge(SHARES, loop_plainly, 0.2).mistake == "time-limit"
    assert len(set(runner._parked) - before) == 1
    used = time.process_time()
    time.sleep(0.3)
    assert time.process_time() - used < 0.15


def test_slow_code_may_ask_for_more_time():
    def slow(scores):
        time.sleep(0.2)
        return softmax(scores)

    assert judge(SHARES, slow, 0.3).mistake == "time-limit"
    assert judge(SHARES, slow, 5).passed


def test_time_of_probes_is_limited_too():
    def slow_on_new_inputs(scores):
        while scores.shape == (2, 3) and bool((scores == 1).all()):
            pass
        return softmax(scores) * 0.7

    start = time.monotonic()
    assert judge(SHARES, slow_on_new_inputs, 0.5).mistake == "wrong-values"
    assert time.monotonic() - start < 3


def test_interrupt_reaches_the_caller_and_stops_the_code(monkeypatch):
    before = set(runner._workers)

    def wait(lock, until):
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "_wait", wait)
    with pytest.raises(KeyboardInterrupt):
        runner.run_guarded(lambda: loop_plainly(None), 5)
    time.sleep(0.2)
    assert set(runner._workers) == before
