"""What a learner's code changes for the whole program is put back; what it prints is caught."""

import builtins
import dataclasses
import random
import sys
import threading
import warnings

import numpy as np
import pytest
import torch
from samples import SHARES, printing, shares, softmax

from transformer_lib.exercises.copies import fresh, snapshot, unchanged
from transformer_lib.exercises.diagnose import judge
from transformer_lib.exercises.restore import Printed


def loop_plainly(scores):
    while True:
        pass


def leaving(scores):
    sys.exit()


def warning(scores):
    warnings.warn("watch <out>", stacklevel=1)
    return softmax(scores)


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
        "stack": threading.stack_size(),
        "hook": sys.breakpointhook,
        "interval": sys.getswitchinterval(),
        "device": torch.get_default_device(),
    }


@pytest.mark.parametrize("function", [meddle, loop_plainly, leaving, softmax])
def test_what_it_changes_is_put_back(function):
    before = state()
    result = judge(SHARES, function, 0.5)
    assert state() == before
    assert sys.getswitchinterval() > 1e-3
    if function is meddle:
        assert result.passed, result


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, lambda: torch.device("meta")])
def test_modes_of_the_notebook_do_not_matter(mode):
    with mode():
        assert judge(SHARES, lambda scores: softmax(scores.requires_grad_()), 10).passed
        assert judge(SHARES, lambda scores: scores.softmax(0), 10).mistake == "softmax-over-rows"


def test_default_dtype_of_the_notebook_does_not_matter():
    torch.set_default_dtype(torch.float64)
    try:
        assert judge(SHARES, lambda scores: scores, 10).case.expected.dtype == torch.float32
        assert judge(SHARES, lambda scores: softmax(scores) @ torch.eye(scores.shape[1]), 10).passed
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
    printed = Printed()
    for _ in range(10_000):
        printed.write("x\n")
    assert len(printed.lines) < 100  # kept in memory


def test_warnings_are_shown_with_what_is_printed():
    assert "UserWarning: watch <out>" in judge(SHARES, warning, 10).printed


def test_random_numbers_are_the_same_for_all():
    """The reference, a variant and the learner's function draw from one seed."""

    def noisy(scores):
        return scores + torch.rand(scores.shape)

    exercise = dataclasses.replace(SHARES, reference=noisy, stub=SHARES.stub.replace("shares", "noisy"))
    assert judge(exercise, lambda scores: torch.rand(scores.shape) + scores, 10).passed
    torch.manual_seed(1)
    first = judge(exercise, lambda scores: scores, 10).case.expected
    torch.manual_seed(2)
    assert torch.equal(judge(exercise, lambda scores: scores, 10).case.expected, first)


def test_arguments_are_new_for_every_call():
    seen = []

    def remember(scores):
        seen.append(scores)
        scores.fill_(0)
        return torch.zeros(2, 2)

    judge(SHARES, remember, 10)
    judge(SHARES, softmax, 10)
    assert len({tensor.data_ptr() for tensor in seen}) == len(seen)


def test_results_are_copied_at_once():
    kept = []

    def reusing(scores):
        for result in kept:
            result.zero_()
        kept.append(softmax(scores))
        return kept[-1]

    assert judge(SHARES, reusing, 10).passed


def test_gradient_of_arguments_is_kept():
    def shapes(scores):
        return [scores.requires_grad, scores.is_leaf]

    exercise = dataclasses.replace(
        SHARES,
        reference=shapes,
        stub=SHARES.stub.replace("shares", "shapes"),
        cases=lambda g: [(torch.ones(2, requires_grad=True),), (torch.nn.Parameter(torch.ones(2)),)],
    )
    assert judge(exercise, lambda scores: [True, True], 10).passed


def test_nan_in_an_argument_is_no_change():
    x = torch.tensor([float("nan"), 1.0])
    assert unchanged(x, x.clone())
    assert not unchanged(x, torch.tensor([float("nan"), 2.0]))
    assert not unchanged(x, torch.tensor([0.0, 1.0]))
    module = torch.nn.Linear(2, 1)
    other = fresh(module)
    assert unchanged(module, other)
    other.weight.data += 1
    assert not unchanged(module, other)
    assert fresh([x, x])[0] is not x
    endless = []
    endless.append(endless)
    assert len(snapshot(endless)) == 1
    pair = fresh((x, [x]))
    assert pair[0] is pair[1][0]  # the same tensor twice stays the same tensor twice
