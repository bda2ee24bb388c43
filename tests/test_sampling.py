"""sampling.py: filters by hand and against `transformers`, draws by count."""

import math

import pytest
import torch
from checking import raises
from published import V, transformers

from transformer_lib.sampling import Sampler, filter_logits

B, INF = 4, float("inf")


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("top_k", [None, 1, 5, V + 9])
@pytest.mark.parametrize("top_p", [None, 0.01, 0.5, 0.9, 1.0])
def test_filters_are_those_of_transformers(temperature, top_k, top_p):
    logits = 3 * torch.randn(B, V)
    logits[:, 7] = logits[:, 3]  # a tie
    logits[0, 5] = -INF
    expected = transformers.TemperatureLogitsWarper(temperature)(None, logits)
    if top_k is not None:
        expected = transformers.TopKLogitsWarper(top_k)(None, expected)
    if top_p is not None:
        expected = transformers.TopPLogitsWarper(top_p)(None, expected)
    assert torch.equal(filter_logits(logits, temperature, top_k, top_p), expected)


def test_filters_by_hand():
    logits = torch.tensor([[0.1, 0.4, 0.2, 0.3]]).log()
    kept = [(filter_logits(logits, top_p=p)[0] > -INF).tolist() for p in (0.3, 0.41, 0.71, 0.95)]
    assert kept == [
        [False, True, False, False],
        [False, True, False, True],
        [False, True, True, True],
        [True, True, True, True],
    ]
    both = filter_logits(logits, 2.0, top_k=3, top_p=0.5)[0]  # of √0.4, √0.3, √0.2 the first two
    assert both.tolist() == pytest.approx([-INF, math.log(0.4) / 2, -INF, math.log(0.3) / 2])


@pytest.mark.parametrize("options", [{}, {"top_k": 3}, {"top_p": 0.6}, {"temperature": 2.0, "top_k": 4}])
def test_words_are_drawn_as_often_as_their_probability_says(options, device):
    options = {"temperature": 1.0, **options}
    logits = torch.tensor([[0.5, 2.0, -1.0, 1.0, 0.0], [0.0, 1.0, 1.5, -2.0, 0.3]], device=device)
    n = 20_000
    drawn = Sampler(generator=torch.Generator(device).manual_seed(3), **options)(logits.repeat(n, 1))
    for row in range(2):
        p = filter_logits(logits, **options)[row].softmax(-1)
        share = torch.bincount(drawn[row::2], minlength=5) / n
        assert (
            (share - p).abs() <= 4 * (p * (1 - p) / n).sqrt()
        ).all()  # 4 standard deviations; 0 where p is 0


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"temperature": -0.1}, "temperature must be at least 0 and finite; got -0.1"),
        ({"temperature": INF}, "got inf"),
        ({"top_k": 0}, "top_k must be at least 1; got 0"),
        ({"top_p": 0.0}, "top_p must be above 0 and at most 1; got 0.0"),
        ({"top_p": 1.1}, "got 1.1"),
    ],
)
def test_samplers_out_of_range_are_refused(options, match):
    with raises(ValueError, match=match):
        Sampler(**options)


def test_temperature_0_takes_the_likeliest_and_draws_come_from_the_generator_alone():
    logits = 3 * torch.randn(B, V)
    assert torch.equal(Sampler(top_k=7)(logits), logits.argmax(-1))
    assert torch.equal(Sampler(temperature=9.0, top_k=1)(logits), logits.argmax(-1))
    before = torch.get_rng_state()
    first, again, other = (
        Sampler(temperature=9.0, generator=torch.Generator().manual_seed(seed))(logits) for seed in (1, 1, 2)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(torch.get_rng_state(), before)
