"""feed_forward.py: against torch's layers, and that each word stands by itself."""

import pytest
import torch
import torch.nn.functional as F
from checking import compiled, raises, unchecked
from torch import nn

from transformer_lib import FeedForward, GatedFeedForward
from transformer_lib.feed_forward import ACTIVATIONS

B, T, D, HIDDEN = 2, 5, 7, 11
LAYERS = {"relu": nn.ReLU(), "gelu": nn.GELU(), "gelu-tanh": nn.GELU(approximate="tanh"), "silu": nn.SiLU()}


def randomised(module, device="cpu"):
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.7)
    return module.to(device, torch.float64)


def words(device="cpu"):
    return torch.randn(B, T, D, dtype=torch.float64, device=device)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("activation", LAYERS)
def test_equals_torchs_layers(activation, bias, device):
    ours = randomised(FeedForward(D, HIDDEN, activation=activation, bias=bias), device)
    theirs = nn.Sequential(
        nn.Linear(D, HIDDEN, bias=bias), LAYERS[activation], nn.Linear(HIDDEN, D, bias=bias)
    )
    theirs.to(device, torch.float64)
    theirs.load_state_dict(
        {k.replace("widen", "0").replace("narrow", "2"): v for k, v in ours.state_dict().items()}
    )
    x = words(device)
    torch.testing.assert_close(ours(x), theirs(x), atol=1e-12, rtol=0)
    assert set(LAYERS) == set(ACTIVATIONS)


@pytest.mark.parametrize("activation", ["silu", "gelu"])
def test_gated_equals_its_equation_and_llamas(activation):
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaMLP

    ours = randomised(GatedFeedForward(D, HIDDEN, activation=activation))
    config = LlamaConfig(
        hidden_size=D, num_attention_heads=1, head_dim=2, intermediate_size=HIDDEN, hidden_act=activation
    )
    llama = LlamaMLP(config).double()
    names = {"gate": "gate_proj", "widen": "up_proj", "narrow": "down_proj"}
    llama.load_state_dict({f"{names[k.split('.')[0]]}.weight": v for k, v in ours.state_dict().items()})
    x = words()
    gate, up, down = ours.gate.weight, ours.widen.weight, ours.narrow.weight
    torch.testing.assert_close(
        ours(x), (LAYERS[activation](x @ gate.T) * (x @ up.T)) @ down.T, atol=1e-12, rtol=0
    )
    torch.testing.assert_close(ours(x), llama(x), atol=1e-12, rtol=0)


@pytest.mark.parametrize("kind", [FeedForward, GatedFeedForward])
def test_words_never_mix(kind):
    module, x = randomised(kind(D)), words().requires_grad_()
    out = module(x)
    torch.testing.assert_close(out[1, 3], module(x[1:, 3:4])[0, 0], atol=1e-12, rtol=0)
    (grad,) = torch.autograd.grad(out[1, 3].sum(), x)
    assert (grad[1, 3] != 0).all()
    grad[1, 3] = 0
    assert (grad == 0).all()
    order = torch.randperm(T)
    torch.testing.assert_close(module(x[:, order]), out[:, order], atol=1e-12, rtol=0)


def test_it_is_no_linear_map():
    module = randomised(FeedForward(D, bias=False))
    a, b = words(), words()
    assert (module(a + b) - module(a) - module(b)).abs().max() > 0.5


def test_widths():
    assert FeedForward(D).widen.weight.shape == (4 * D, D)
    assert FeedForward(D).narrow.weight.shape == (D, 4 * D)
    # The published rule for Llama's first sizes: 8/3 of the width, rounded up.
    for d_model, hidden in [(1, 8), (3, 8), (4, 16), (6, 16), (96, 256), (4096, 10928)]:
        with torch.device("meta"):
            assert GatedFeedForward(d_model).gate.out_features == hidden
        assert 0 <= hidden - 8 / 3 * d_model < 8
    assert len(list(GatedFeedForward(D).parameters())) == 3
    assert len(list(FeedForward(D).parameters())) == 4


@pytest.mark.parametrize("kind", [FeedForward, GatedFeedForward])
def test_gradcheck(kind):
    module = randomised(kind(2, 3))
    assert torch.autograd.gradcheck(module, torch.randn(1, 2, 2, dtype=torch.float64, requires_grad=True))


@pytest.mark.parametrize("kind", [FeedForward, GatedFeedForward])
def test_meta_compiled_and_wrong_input(kind):
    with torch.device("meta"):
        assert kind(D)(torch.randn(B, T, D)).shape == (B, T, D)
    module, x = randomised(kind(D)), words()
    with unchecked():
        torch.testing.assert_close(compiled(module)(x), module(x))
    for call, error, message in [
        (lambda: kind(0), ValueError, "got 0 and"),
        (lambda: kind(4, 0), ValueError, "at least 1; got 4 and 0"),
        (lambda: kind(4, activation="swish"), ValueError, "one of .*'relu'.*got 'swish'"),
        (lambda: module(torch.zeros(B, T, D + 1)), ValueError, "width 8, but d_model is 7"),
        (lambda: module(x.to("meta")), ValueError, "x is on meta, the weights on cpu"),
        (lambda: module(torch.ones(B, T, D).long()), TypeError, "floating-point numbers; got torch.int64"),
        (lambda: module(torch.zeros(B, 0, D)), ValueError, r"at least one word; got \(2, 0, 7\)"),
        (lambda: module([1.0]), TypeError, "got list"),
    ]:
        with raises(error, message):
            call()


def test_gelu_and_its_approximation_differ_by_little_but_do_differ():
    x = torch.linspace(-5, 5, 1001, dtype=torch.float64)
    gap = (ACTIVATIONS["gelu"](x) - ACTIVATIONS["gelu-tanh"](x)).abs().max()
    assert 1e-4 < gap < 1e-3
    assert torch.equal(ACTIVATIONS["relu"](x), F.relu(x))
