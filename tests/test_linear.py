"""linear.py: by hand, the explicit form to 1e-12, a recurrent network, and memory counted in bytes."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from checking import raises, unchecked
from torch.utils.flop_counter import FlopCounterMode

from transformer_lib.linear import attend_linear, linear_attention_weights
from transformer_lib.masks import causal_mask, padding_mask
from transformer_lib.measuring import fitted_exponent, measure

B, H, T, S, K, DV = 2, 3, 11, 17, 5, 7
close = partial(torch.testing.assert_close, atol=1e-12, rtol=1e-12)


def qkv(T=T, *, dtype=torch.float64, device="cpu"):
    shapes = (B, H, T, K), (B, H, S, K), (B, H, S, DV)
    return [2 * torch.randn(shape, dtype=dtype, device=device) for shape in shapes]


def test_linear_attention_by_hand():
    """elu(x) + 1 is x + 1 above 0 and e^x below: similarities 2 · 3 and 2 · e^-1."""
    q, k = torch.tensor([[1.0]]).double(), torch.tensor([[2.0], [-1.0]]).double()
    a, b = 2 * 3, 2 * torch.tensor(-1.0).double().exp().item()
    torch.testing.assert_close(linear_attention_weights(q, k), torch.tensor([[a, b]]).double() / (a + b))
    out = attend_linear(q, k, torch.tensor([[10.0], [20.0]]).double())
    assert out.item() == pytest.approx((10 * a + 20 * b) / (a + b), abs=1e-12)


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("block", [1, 3, 5, 128])
def test_linear_attention_is_the_explicit_form(block, causal, padded, device):
    mask = padding_mask(torch.tensor([8, S], device=device)) if padded else None
    full = mask
    if causal:
        full = causal_mask(T, S, device=device)
        full = full if mask is None else full & mask
    inputs = [x.requires_grad_() for x in qkv(device=device)]
    out = attend_linear(*inputs, mask, causal=causal, block=block)
    expected = linear_attention_weights(*inputs[:2], full) @ inputs[2]
    close(out, expected)
    direction = torch.randn_like(out)
    for x, y in zip(*(torch.autograd.grad(o, inputs, direction) for o in (out, expected)), strict=True):
        close(x, y)


@pytest.mark.parametrize("causal", [False, True])
def test_lower_ranks(causal):
    inputs = qkv()
    whole = attend_linear(*inputs, causal=causal, block=4)
    for lead in [(0,), (1, 2)]:
        close(attend_linear(*(x[lead] for x in inputs), causal=causal, block=4), whole[lead])


def test_linear_attention_is_a_recurrent_network():
    """Causal: one word after the other, with a state whose size does not depend on the length."""
    q, k, v = qkv(T=S)
    s, z = torch.zeros(B, H, K, DV).double(), torch.zeros(B, H, K).double()
    outputs = []
    for i in range(S):
        phi_q, phi_k = (F.elu(x[:, :, i]) + 1 for x in (q, k))
        s, z = s + phi_k[..., None] * v[:, :, i, None], z + phi_k
        outputs.append((phi_q[..., None] * s).sum(-2) / (phi_q * z).sum(-1, keepdim=True))
    expected = torch.stack(outputs, -2)
    close(attend_linear(q, k, v, causal=True, block=4), expected)


@pytest.mark.parametrize("causal", [False, True])
def test_gradcheck(causal):
    shapes = (2, 3, 2), (2, 4, 2), (2, 4, 3)
    inputs = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    assert torch.autograd.gradcheck(partial(attend_linear, block=2, causal=causal), inputs)


@pytest.mark.parametrize(("dtype", "atol"), [(torch.float32, 1e-5), (torch.bfloat16, 2e-2)])
def test_other_dtypes(dtype, atol, device):
    inputs = [x / 2 for x in qkv(dtype=dtype, device=device)]
    out = attend_linear(*inputs, causal=True, block=4)
    assert out.dtype == dtype
    expected = attend_linear(*(x.double() for x in inputs), causal=True)
    torch.testing.assert_close(out.double(), expected, atol=atol, rtol=atol)


def test_half_precision_sums_are_taken_in_float32():
    # In bfloat16 the sum of 4,096 equal terms would stop at 256: eight bits hold no more.
    q, k, v = (torch.zeros(n, 1, dtype=torch.bfloat16) for n in (1, 4096, 4096))
    v[:2048] = 1
    assert attend_linear(q, k, v).item() == attend_linear(q, k, v, causal=True, block=1).item() == 0.5


def test_a_word_with_nothing_to_read_gives_zero():
    hidden = torch.zeros(1, 1, 1, S, dtype=torch.bool)
    assert (attend_linear(*qkv(), hidden) == 0).all()
    assert (linear_attention_weights(*qkv()[:2], hidden) == 0).all()


def test_the_past_is_blind_to_the_future():
    q, k, v = (x.requires_grad_() for x in qkv(T=S))
    out = attend_linear(q, k, v, causal=True, block=4)
    for i in (0, 2, 3, 4, S - 2):
        changed = [x.detach().clone() for x in (k, v)]
        for x in changed:
            x[..., i + 1 :, :] = torch.randn_like(x[..., i + 1 :, :])
        again = attend_linear(q, *changed, causal=True, block=4)
        assert torch.equal(out[..., : i + 1, :], again[..., : i + 1, :])
        assert not torch.equal(out[..., i + 1, :], again[..., i + 1, :])
        for grad in torch.autograd.grad(out[..., : i + 1, :].square().sum(), (k, v), retain_graph=True):
            assert (grad[..., i + 1 :, :] == 0).all()


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("causal", [False, True])
def test_memory_and_work_are_linear_in_the_length(causal, backward):
    def run(n):
        q, k, v = torch.randn(3, 1, n, 16, device="meta", requires_grad=backward).unbind()
        out = attend_linear(q, k, v, causal=causal, block=32)
        return torch.autograd.grad(out, (q, k, v), torch.ones_like(out)) if backward else out

    sizes, peaks, work = [512, 1024, 2048], [], []
    with unchecked():
        for n in sizes:
            peaks.append(measure(run, n, repeats=1).peak_bytes)
            with FlopCounterMode(display=False) as counter:
                run(n)
            work.append(counter.get_total_flops())
    assert fitted_exponent(sizes, peaks) < 1.05  # below 1 where what one block takes weighs in
    assert work[2] - work[1] == 2 * (work[1] - work[0])  # each word more costs the same


def test_works_compiled():
    q, k, v = qkv()
    with unchecked():
        compiled = torch.compile(attend_linear, backend="eager", fullgraph=True)(
            q, k, v, causal=True, block=5
        )
    close(compiled, attend_linear(q, k, v, causal=True))


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"q": [[1.0]]}, TypeError, "q must be a tensor.*got list"),
        ({"mask": torch.ones(1, 1, 1, S)}, TypeError, "boolean tensor.*got torch.float32"),
        ({"mask": causal_mask(T, S)}, ValueError, r"hides keys only.*got \(1, 1, 11, 17\)"),
        ({"block": 0}, ValueError, "at least 1 word; got 0"),
        ({"q": torch.ones(B, H, S + 1, K).double(), "causal": True}, ValueError, "T=18, S=17"),
    ],
)
def test_wrong_input_is_named(change, kind, message):
    q, k, v = qkv()
    with raises(kind, message):
        attend_linear(**({"q": q, "k": k, "v": v} | change))
