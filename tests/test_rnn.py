"""rnn.py: by hand, against torch's recurrent layers, and in parts."""

import math

import pytest
import torch
from checking import raises, unchecked
from torch import nn

from transformer_lib.rnn import (
    LSTM,
    RNN,
    RecurrentLM,
    lstm_step,
    read,
    rnn_step,
)

B, T, D, H, V = 2, 7, 3, 5, 11
X = torch.ones(B, T, D)
KINDS = pytest.mark.parametrize(("layer", "theirs"), [(RNN, nn.RNN), (LSTM, nn.LSTM)])


def spread(module, std=0.6):
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=std)
    return module


def copy_of(theirs):
    """Our layer with the weights of theirs, which has two biases for the same purpose."""
    ours = (RNN if isinstance(theirs, nn.RNN) else LSTM)(theirs.input_size, theirs.hidden_size)
    ours.to(theirs.weight_ih_l0)
    with torch.no_grad():
        ours.w_x.copy_(theirs.weight_ih_l0)
        ours.w_h.copy_(theirs.weight_hh_l0)
        ours.b.copy_(theirs.bias_ih_l0 + theirs.bias_hh_l0)
    return ours


# By hand


def test_two_words_by_hand():
    layer = RNN(1, 1).double()
    for parameter, value in zip((layer.w_x, layer.w_h, layer.b), (2.0, -3.0, 0.5), strict=True):
        nn.init.constant_(parameter, value)
    states = layer(torch.tensor([[[0.1], [0.4]]], dtype=torch.float64))
    first = math.tanh(2 * 0.1 + 0.5)
    assert states.flatten().tolist() == pytest.approx(
        [first, math.tanh(2 * 0.4 - 3 * first + 0.5)], abs=1e-12
    )


def test_lstm_step_by_hand():
    def sigmoid(a):
        return 1 / (1 + math.exp(-a))

    x, h, c = (torch.tensor([[value]], dtype=torch.float64) for value in (0.7, -0.4, 1.3))
    w_x, w_h = (
        torch.tensor(w, dtype=torch.float64)[:, None] for w in ([0.3, -0.8, 1.1, 0.5], [1, 0.6, -2, -0.7])
    )
    b = torch.tensor([0.1, 0.2, -0.3, 0.4], dtype=torch.float64)
    i, f, g, o = (0.7 * w_x[n].item() - 0.4 * w_h[n].item() + b[n].item() for n in range(4))
    cell = sigmoid(f) * 1.3 + sigmoid(i) * math.tanh(g)
    new_h, new_c = lstm_step(x, h, c, w_x, w_h, b)
    assert new_c.item() == pytest.approx(cell, abs=1e-12)
    assert new_h.item() == pytest.approx(sigmoid(o) * math.tanh(cell), abs=1e-12)


# Against torch


@KINDS
def test_equals_torch(layer, theirs, device):
    theirs = spread(theirs(D, H, batch_first=True)).to(device, torch.float64)
    ours = copy_of(theirs)
    x, y = (torch.randn(B, T, D, dtype=torch.float64, device=device) for _ in range(2))
    expected, last = theirs(x)
    states, state = read(ours, x)
    last = last if isinstance(last, tuple) else (last,)
    torch.testing.assert_close(states, expected, atol=1e-12, rtol=1e-12)
    torch.testing.assert_close(state, tuple(h[0] for h in last), atol=1e-12, rtol=1e-12)
    # On from there, and the gradients of all weights.
    expected, _ = theirs(y, last if len(last) == 2 else last[0])
    out, _ = read(ours, y, state)
    torch.testing.assert_close(out, expected, atol=1e-12, rtol=1e-12)
    out.square().sum().backward()
    expected.square().sum().backward()
    for mine, its in (
        (ours.w_x, theirs.weight_ih_l0),
        (ours.w_h, theirs.weight_hh_l0),
        (ours.b, theirs.bias_ih_l0),
    ):
        torch.testing.assert_close(mine.grad, its.grad, atol=1e-11, rtol=1e-11)


@KINDS
def test_weights_start_as_torchs(layer, theirs):
    ours, theirs = layer(D, 64), theirs(D, 64)
    for mine, its in (
        (ours.w_x, theirs.weight_ih_l0),
        (ours.w_h, theirs.weight_hh_l0),
        (ours.b, theirs.bias_hh_l0),
    ):
        assert mine.shape == its.shape
        assert 0.11 < mine.abs().max() <= 1 / 8
    assert ours.w_h.std().item() == pytest.approx(theirs.weight_hh_l0.std().item(), rel=0.1)


def test_gradcheck():
    shapes = (B, D), (B, H), (H, D), (H, H), (H,)
    x = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    assert torch.autograd.gradcheck(rnn_step, x)
    shapes = (B, D), (B, 2), (B, 2), (8, D), (8, 2), (8,)
    x = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    assert torch.autograd.gradcheck(lstm_step, x)


# The language model


@pytest.mark.parametrize(("kind", "theirs"), [("rnn", nn.RNN), ("lstm", nn.LSTM)])
def test_the_language_model_is_embeddings_layers_and_logits(kind, theirs):
    model = spread(RecurrentLM(V, H, kind=kind, n_layers=2)).double()
    ids = torch.randint(V, (B, T))
    x = model.embedding(ids)
    for layer in model.layers:
        reference = theirs(H, H, batch_first=True).double()
        with torch.no_grad():
            reference.weight_ih_l0.copy_(layer.w_x)
            reference.weight_hh_l0.copy_(layer.w_h)
            reference.bias_ih_l0.copy_(layer.b)
            reference.bias_hh_l0.zero_()
        x = reference(x)[0]
    torch.testing.assert_close(model(ids), model.logits(x), atol=1e-12, rtol=1e-12)
    assert model(ids).shape == (B, T, V)


@pytest.mark.parametrize("kind", ["rnn", "lstm"])
def test_reading_in_parts_is_reading_at_once(kind):
    model = spread(RecurrentLM(V, H, kind=kind, n_layers=2)).double()
    ids = torch.randint(V, (B, T))
    for split in range(1, T):
        first, states = model.read(ids[:, :split])
        rest, _ = model.read(ids[:, split:], states)
        torch.testing.assert_close(torch.cat([first, rest], 1), model(ids), atol=1e-12, rtol=0)


@pytest.mark.parametrize("kind", ["rnn", "lstm"])
def test_the_past_is_blind_to_the_future(kind):
    model = spread(RecurrentLM(V, H, kind=kind))
    ids = torch.randint(V, (B, T))
    changed = ids.clone()
    changed[:, 4:] = (changed[:, 4:] + 1) % V
    assert torch.equal(model(ids)[:, :4], model(changed)[:, :4])
    assert not torch.equal(model(ids)[:, 4], model(changed)[:, 4])


@pytest.mark.parametrize("kind", ["rnn", "lstm"])
def test_the_language_model_learns(kind):
    """Which word comes next depends on the word before last: no table of pairs can know it."""
    model = RecurrentLM(V, 24, kind=kind)
    ids = torch.tensor([[1, 2, 3, 4, 2, 5] * 2])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    with unchecked():  # the shape checks of every step would take most of the time
        for _ in range(50):
            loss = nn.functional.cross_entropy(model(ids[:, :-1])[0], ids[0, 1:])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert (model(ids[:, :-1])[0, 1:].argmax(-1) == ids[0, 2:]).all()


def test_the_forget_bias_stands_in_the_forget_gate_only():
    module = LSTM(D, H, forget_bias=3.0)
    assert (module.b[H : 2 * H] == 3).all()
    assert (module.b[:H].abs() < 1).all()
    assert (module.b[2 * H :].abs() < 1).all()


def test_works_on_the_meta_device_and_compiled():
    with torch.device("meta"):
        assert RecurrentLM(V, H, kind="lstm")(torch.zeros(B, T, dtype=torch.int64)).shape == (B, T, V)
    model = RecurrentLM(V, H, kind="lstm")
    ids = torch.randint(V, (B, T))
    with unchecked():
        compiled = torch.compile(model, backend="eager", fullgraph=True)(ids)
    torch.testing.assert_close(compiled, model(ids))


# Wrong input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: RNN(0, 4), "at least 1; got 0 and 4"),
        (lambda: LSTM(4, 0), "at least 1; got 4 and 0"),
        (lambda: RNN(D, H)(torch.ones(B, T, D + 1)), r"width 4, but d_model is 3"),
        (lambda: RNN(D, H)(torch.ones(B, D)), r"shape \(B, T, 3\); got \(2, 3\)"),
        (lambda: RNN(D, H)(torch.ones(B, 0, D)), r"at least one word; got \(2, 0, 3\)"),
        (lambda: read(RNN(D, H), X, (X[:1, 0],)), r"1 of shape \(2, 5\); got \[\(1, 3\)\]"),
        (lambda: read(LSTM(D, H), X, (torch.ones(B, H),)), r"2 of shape \(2, 5\); got \[\(2, 5\)\]"),
        (lambda: RecurrentLM(V, H, kind="gru"), r"\['lstm', 'rnn'\]; got 'gru'"),
        (lambda: RecurrentLM(0, H), "got 0 and 1"),
        (lambda: RecurrentLM(V, H)(torch.ones(B, dtype=torch.int64)), r"\(B, T\).*got \(2,\)"),
        (lambda: RecurrentLM(V, H)(torch.full((B, T), V)), "between 0 and 10.*got 11"),
    ],
)
def test_wrong_input_is_named(call, message):
    with raises(ValueError, message):
        call()


def test_numbers_of_the_wrong_kind_are_named():
    with raises(TypeError, "whole numbers.*got torch.float32"):
        RecurrentLM(V, H)(torch.ones(B, T))
    with raises(TypeError, "floating-point numbers; got torch.int64"):
        RNN(D, H)(X.long())
    with raises(ValueError, "x is on meta, the weights on cpu"):
        LSTM(D, H)(X.to("meta"))
