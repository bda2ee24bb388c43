"""measuring.py: bytes by hand and against torch's profiler, seconds by a clock of our own."""

import pytest
import torch
from checking import raises
from torch.profiler import ProfilerActivity, profile

from transformer_lib.attention import attention
from transformer_lib.measuring import fitted_exponent, measure


def profiled(f):
    """Peak bytes by torch's profiler, which sees every allocation, those inside of kernels too."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        f()
    now = peak = 0
    events = (e for e in record.profiler.kineto_results.events() if e.name() == "[memory]")
    for event in sorted(events, key=lambda e: e.start_ns()):
        now += event.nbytes()
        peak = max(peak, now)
    return peak


def test_peak_bytes_are_those_of_the_profiler():
    q, k, v = torch.randn(3, 2, 4, 128, 16, requires_grad=True).unbind()

    def f():
        torch.autograd.grad(attention(q, k, v).square().sum(), (q, k, v))

    f()
    expected = profiled(f)
    assert expected > 2 * 2 * 4 * 128 * 128 * 4
    assert measure(f).peak_bytes == pytest.approx(expected, rel=0.01)


def test_peak_bytes_by_hand():
    x = torch.zeros(1000)
    assert measure(lambda: x.view(10, 100).T).peak_bytes == 0  # a view holds nothing of its own
    assert measure(lambda: x.clone().add_(1).mul_(2)).peak_bytes == 4000
    assert measure(lambda: [x + 1 for _ in range(5)]).peak_bytes == 20_000
    assert measure(lambda: [(x + 1).sum() for _ in range(5)]).peak_bytes == 4000 + 5 * 4
    meta = torch.zeros(10**9, device="meta")
    assert measure(lambda x: x + 1, meta, repeats=1).peak_bytes == 4 * 10**9


def test_seconds_are_the_fastest_of_the_calls(monkeypatch):
    calls, clock = [], iter([0.0, 5.0, 10.0, 12.0, 20.0, 23.0])
    monkeypatch.setattr("transformer_lib.measuring.time.perf_counter", lambda: next(clock))
    assert measure(calls.append, 7, repeats=3).seconds == 2.0
    assert calls == [7] * 4


def test_fitted_exponent():
    sizes = [64, 128, 256, 512]
    assert fitted_exponent(sizes, [3 * n**2 for n in sizes]) == pytest.approx(2)
    assert fitted_exponent(sizes, [0.1 * n**0.5 for n in sizes]) == pytest.approx(0.5)
    assert fitted_exponent([1, 10], [10**6, 10**7]) == pytest.approx(1)
    peaks = [measure(attention, *torch.randn(3, 1, n, 8, device="meta"), repeats=1).peak_bytes for n in sizes]
    assert fitted_exponent(sizes, peaks) == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: measure(torch.ones, 3, repeats=0), "repeats must be at least 1; got 0"),
        (lambda: fitted_exponent([1, 1], [2, 3]), "two sizes or more"),
        (lambda: fitted_exponent([1, 2], [2, 3, 4]), "an amount for each"),
        (lambda: fitted_exponent([1, 2], [0, 3]), "above 0"),
    ],
)
def test_wrong_input_is_named(call, message):
    with raises(ValueError, message):
        call()
