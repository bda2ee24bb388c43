"""schedules.py: rates by hand."""

import pytest
from checking import raises

from transformer_lib.schedules import cosine_schedule, paper_schedule


def test_paper_schedule_by_hand():
    assert paper_schedule(1, 512) == pytest.approx(512**-0.5 * 4000**-1.5)
    assert paper_schedule(4000, 512) == pytest.approx(7.0e-4, rel=0.01)  # the peak
    assert paper_schedule(16_000, 512) == pytest.approx(paper_schedule(4000, 512) / 2)


def test_cosine_schedule_by_hand():
    rates = [cosine_schedule(step, 2.0, warmup=4, steps=12, floor=0.5) for step in range(1, 13)]
    assert rates[:4] == [0.5, 1.0, 1.5, 2.0]
    assert rates[7] == pytest.approx(1.25)  # half-way down
    assert rates[-1] == pytest.approx(0.5)
    assert rates[3:] == sorted(rates[3:], reverse=True)


def test_steps_out_of_range_are_named():
    with raises(ValueError, "got 0 and 4000"):
        paper_schedule(0, 512)
    with raises(ValueError, "step=9, warmup=2, steps=8"):
        cosine_schedule(9, 1.0, warmup=2, steps=8)
    with raises(ValueError, "warmup=8, steps=8"):
        cosine_schedule(1, 1.0, warmup=8, steps=8)
