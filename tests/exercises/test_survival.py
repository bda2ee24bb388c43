"""Whatever a learner's code does, the check returns a result with the right name and leaves no trace."""

import builtins
import contextlib
import random
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from html_check import check_html
from samples import ANSWER, CLASS, SHARES, Scale, shares

from transformer_lib.exercises import runner
from transformer_lib.exercises.card import html_card
from transformer_lib.exercises.card_text import text_card
from transformer_lib.exercises.diagnose import judge

SOURCE = Path(__file__).read_text(encoding="utf-8")


def softmax(scores):
    return torch.softmax(scores, -1)


class Odd(torch.Tensor):
    """A subclass that does nothing but object to everything."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        raise RuntimeError("not with me")


class Hostile(BaseException):
    def __str__(self):
        raise KeyboardInterrupt

    __repr__ = __str__


def raises(error):
    def function(scores):
        raise error

    return function


def printing(scores):
    for n in range(100_000):
        print("line", n)
    return softmax(scores)


def changing(scores):
    result = softmax(scores)
    scores += 1
    return result


def generating(scores):
    yield softmax(scores)


async def waiting(scores):
    return softmax(scores)


def recursive(scores):
    return recursive(scores)


def self_containing(scores):
    parts = []
    parts.append(parts)
    return parts


def too_many(scores, dim, keep):
    return softmax(scores)


def hostile_object(scores):
    class Thing:
        def __repr__(self):
            raise Hostile

        __eq__ = __str__ = __repr__
        __hash__ = None

    return Thing()


def closing(scores):
    sys.stdout.close()
    sys.exit()


def asking(scores):
    return float(input("how much? "))


def warning(scores):
    warnings.warn("watch <out>", stacklevel=1)
    return softmax(scores)


SURVIVED = [
    (None, "not-a-function"),
    (7, "not-a-function"),
    (torch.ones(2), "not-a-function"),
    (Scale, "class-instead-of-function"),
    (lambda: 1, "wrong-arguments"),
    (too_many, "wrong-arguments"),
    (torch.nn.ReLU, "class-instead-of-function"),
    (lambda scores: None, "returned-none"),
    (lambda scores: print(softmax(scores)), "returned-none"),
    (lambda scores: [1, 2], "wrong-type"),
    (lambda scores: "text", "wrong-type"),
    (lambda scores: 3, "wrong-type"),
    (lambda scores: softmax(scores).numpy(), "wrong-type"),
    (lambda scores: (softmax(scores),), "wrong-type"),
    (lambda scores: {"a": scores}, "wrong-type"),
    (lambda scores: softmax(scores).to_sparse(), "wrong-type"),
    (lambda scores: torch.nested.as_nested_tensor([scores]), "wrong-type"),
    (lambda scores: softmax, "wrong-type"),
    (lambda scores: torch.quantize_per_tensor(scores, 0.1, 0, torch.quint8), "wrong-dtype"),
    (self_containing, "wrong-type"),
    (hostile_object, "wrong-type"),
    (generating, "wrong-type"),
    (waiting, "wrong-type"),
    (lambda scores: softmax(scores).amax(-1), "wrong-shape"),
    (lambda scores: softmax(scores)[:, :0], "wrong-shape"),
    (lambda scores: softmax(scores).T, "wrong-shape"),
    (lambda scores: softmax(scores).long(), "wrong-dtype"),
    (lambda scores: softmax(scores).half(), "wrong-dtype"),
    (lambda scores: softmax(scores) > 0.5, "wrong-dtype"),
    (lambda scores: softmax(scores).to(torch.complex64), "wrong-dtype"),
    (lambda scores: softmax(scores).to("meta"), "wrong-device"),
    (lambda scores: softmax(scores) * float("nan"), "contains-nan"),
    (lambda scores: softmax(scores) / 0, "contains-nan"),
    (changing, "argument-changed"),
    (lambda scores: softmax(scores.zero_() + scores), "argument-changed"),
    (lambda scores: softmax(scores) * 0.7, "wrong-values"),
    (raises(ValueError("no")), "error"),
    (raises(Hostile()), "error"),
    (raises(KeyboardInterrupt()), "error"),
    (raises(SystemExit(3)), "error"),
    (raises(GeneratorExit()), "error"),
    (raises(StopIteration()), "error"),
    (closing, "error"),
    (asking, "error"),
    (recursive, "error"),
    (lambda scores: exec("(") or 1, "error"),
    (lambda scores: scores @ scores, "unfitting-shapes"),
    (lambda scores: scores.view(4, 5), "error"),
    (lambda scores: torch.empty(10**15), "error"),
    (lambda scores: torch.softmax(scores.long(), -1), "error"),  # torch's own NotImplementedError
    (lambda scores: missing, "error"),
    (lambda scores: softmax(scores).as_subclass(Odd), None),
    (warning, None),
    (printing, None),
]


@pytest.mark.parametrize(
    ("candidate", "name"), [pytest.param(*s, id=f"{n}-{s[1]}") for n, s in enumerate(SURVIVED)]
)
def test_survives_and_names(candidate, name, capsys):
    result = judge(SHARES, candidate, 10)
    assert result.mistake == name, result
    assert result.passed == (name is None)
    assert result.id in text_card(result)
    check_html(html_card(result))
    assert capsys.readouterr() == ("", "")  # nothing is printed


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


LOOPS = [
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
        assert f"line {result.place.line} of test_survival.py" in result.message
    time.sleep(0.1)
    used = time.process_time()
    time.sleep(0.3)
    assert time.process_time() - used < 0.15, "the loop still runs"
    assert judge(SHARES, softmax, 10).passed


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


def meddle(scores):
    random.seed(5)
    np.random.seed(5)
    torch.manual_seed(5)
    torch.set_default_dtype(torch.float64)
    torch.set_grad_enabled(False)
    torch.softmax = lambda *args: torch.zeros(1)
    torch.nn.functional.softmax = None
    del torch.exp
    builtins.len = lambda x: 0
    warnings.simplefilter("error")
    sys.setrecursionlimit(10_000)
    sys.stdout = sys.stderr = None
    return shares.__wrapped__(scores) if hasattr(shares, "__wrapped__") else scores.softmax(-1)


def state():
    return {
        "torch": torch.random.get_rng_state().tolist(),
        "python": random.getstate(),
        "numpy": np.random.get_state()[1].tolist(),
        "dtype": torch.get_default_dtype(),
        "grad": torch.is_grad_enabled(),
        "functions": (torch.softmax, torch.nn.functional.softmax, torch.exp, builtins.len, builtins.input),
        "streams": (sys.stdout, sys.stderr, sys.stdin),
        "filters": list(warnings.filters),
        "showwarning": warnings.showwarning,
        "limit": sys.getrecursionlimit(),
        "hook": sys.breakpointhook,
        "interval": sys.getswitchinterval(),
        "device": torch.get_default_device(),
    }


@pytest.mark.parametrize("function", [meddle, loop_plainly, raises(SystemExit()), softmax])
def test_what_it_changes_is_put_back(function):
    before = state()
    result = judge(SHARES, function, 0.5)
    assert state() == before
    if function is meddle:
        assert result.passed, result


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, lambda: torch.device("meta")])
def test_modes_of_the_notebook_do_not_matter(mode):
    with mode():
        assert judge(SHARES, softmax, 10).passed
        assert judge(SHARES, lambda scores: scores.softmax(0), 10).mistake == "softmax-over-rows"


def test_default_dtype_of_the_notebook_does_not_matter():
    torch.set_default_dtype(torch.float64)
    try:
        assert judge(SHARES, softmax, 10).passed
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_printed_lines_are_counted_and_kept_short():
    result = judge(SHARES, printing, 10)
    assert result.printed.startswith("line 0\nline 1\n")
    assert result.printed.endswith("more lines")
    assert f"{3 * 100_000 - 20} more" in result.printed
    assert len(result.printed) < 1000
    wide = judge(SHARES, lambda scores: print("x" * 10**7) or softmax(scores), 10)
    assert len(wide.printed) < 1000


def test_warnings_are_shown_with_what_is_printed():
    assert "UserWarning: watch <out>" in judge(SHARES, warning, 10).printed


def test_random_numbers_are_the_same_for_all():
    """The reference, a variant and the learner's function draw from one seed."""
    import dataclasses

    def noisy(scores):
        return scores + torch.rand(scores.shape)

    exercise = dataclasses.replace(SHARES, reference=noisy, stub=SHARES.stub.replace("shares", "noisy"))
    assert judge(exercise, lambda scores: torch.rand(scores.shape) + scores, 10).passed


def test_arguments_are_new_for_every_call():
    seen = []

    def remember(scores):
        seen.append(scores)
        scores.fill_(0)
        return torch.zeros(2, 2)

    judge(SHARES, remember, 10)
    judge(SHARES, softmax, 10)
    assert len({tensor.data_ptr() for tensor in seen}) == len(seen)


def test_class_exercise():
    assert judge(CLASS, Scale, 10).passed
    assert judge(CLASS, lambda width: Scale(width), 10).passed  # a factory will do
    assert judge(CLASS, Scale(3), 10).mistake == "not-a-class"
    assert judge(CLASS, torch.nn.Identity, 10).mistake == "factor-one"

    class Bare(torch.nn.Module):
        def __init__(self):
            super().__init__()

    assert judge(CLASS, Bare, 10).mistake == "wrong-arguments"

    class Later(Scale):
        def forward(self, x):
            raise NotImplementedError

    assert judge(CLASS, Later, 10).status == "not attempted"

    class NoForward(torch.nn.Module):
        def __init__(self, width):
            super().__init__()

    assert judge(CLASS, NoForward, 10).mistake == "error"  # torch's NotImplementedError, not the stub's


@pytest.mark.parametrize(
    "answer",
    [
        lambda: [0.5, "B"],
        lambda: (0.5, " b"),
        lambda: [torch.tensor(0.5), "B"],
        lambda: (np.float32(0.5), "B"),
        [0.5, "B"],
        (torch.tensor([0.5]), "b"),
    ],
)
def test_answers_in_many_forms(answer):
    assert judge(ANSWER, answer, 10).passed


def test_wrong_answers_are_named_and_the_right_one_not_shown():
    assert judge(ANSWER, [1 / 3, "B"], 10).mistake == "a-third"
    assert judge(ANSWER, lambda: [0.5], 10).mistake == "wrong-shape"
    result = judge(ANSWER, lambda: [0.25, "B"], 10)
    assert result.mistake == "wrong-values"
    assert "0.5" not in repr(result)
    assert "0.5" not in result._repr_html_().split("<details")[0]
