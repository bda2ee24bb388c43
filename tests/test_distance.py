"""distance.py: the Jacobian itself, powers by hand, and what the lecture says of far words."""

import math

import pytest
import torch
from checking import raises
from torch import nn

from transformer_lib.attention import SelfAttention
from transformer_lib.distance import gradient_reach, sequential_steps
from transformer_lib.rnn import LSTM, RNN

B, T, D, H = 2, 7, 3, 5


@pytest.mark.parametrize("layer", [RNN, LSTM])
def test_gradient_reach_is_the_norm_of_the_jacobian(layer):
    module = layer(D, H).double()
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.6)
    x = torch.randn(B, T, D, dtype=torch.float64)
    reach = gradient_reach(module, x)
    for k in range(T):
        norms = []
        for sentence in x:
            jacobian = torch.autograd.functional.jacobian(lambda s: module(s[None])[0, -1], sentence)
            norms.append(jacobian[:, T - 1 - k].norm())
        torch.testing.assert_close(reach[k], torch.stack(norms).mean(), atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize("factor", [0.5, 1.5])
def test_the_gradient_goes_with_the_power_of_the_matrix(factor):
    """At state 0 tanh has slope 1, so k steps back are k products with W_h, here factor times a rotation."""
    module = RNN(H, H).double()
    rotation = torch.linalg.qr(torch.randn(H, H, dtype=torch.float64))[0]
    for parameter, value in zip(module.parameters(), (torch.eye(H), factor * rotation, 0.0), strict=True):
        parameter.data.copy_(torch.as_tensor(value))
    reach = gradient_reach(module, torch.zeros(1, T, H, dtype=torch.float64))
    powers = factor ** torch.arange(T, dtype=torch.float64) * math.sqrt(H)
    torch.testing.assert_close(reach, powers, atol=1e-12, rtol=1e-12)


def test_far_words_reach_furthest_by_attention_then_lstm_then_rnn():
    n, width = 40, 8
    x = torch.randn(2, n, width, dtype=torch.float64)
    rnn, lstm = RNN(width, width).double(), LSTM(width, width, forget_bias=3.0).double()
    attend = SelfAttention(width).double()
    far = {}
    for name, f in (("rnn", rnn), ("lstm", lstm), ("attention", attend)):
        reach = gradient_reach(f, x)
        assert reach.shape == (n,)
        far[name] = (reach[30:].mean() / reach[1:11].mean()).item()
    assert far["rnn"] < 1e-3 < 0.05 < far["lstm"]
    assert far["attention"] > 0.3  # distance is nothing to attention


@pytest.mark.parametrize("n", [1, 2, 101])
def test_sequential_steps(n):
    x = torch.randn(1, n, D)
    for layer in (RNN(D, H), LSTM(D, H)):
        assert sequential_steps(layer, x) == n
    assert sequential_steps(nn.Sequential(RNN(D, H), RNN(H, H)), x) == 2 * n - 1
    for layer in (SelfAttention(D), nn.Sequential(SelfAttention(D), SelfAttention(D))):
        assert sequential_steps(layer, x) == 1
    assert sequential_steps(nn.Linear(D, H), x) == 1


def test_wrong_functions_are_named():
    x = torch.ones(B, T, D)
    with raises(ValueError, r"got \(2, 3\)"):
        gradient_reach(lambda x: x[:, 0], x)
    with raises(ValueError, "depend on x"):
        gradient_reach(torch.ones_like, x)
