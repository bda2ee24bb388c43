"""efficient.py: the explicit forms to 1e-12, gradcheck, and memory counted in bytes."""

import math

import pytest
import torch
from checking import raises, unchecked
from torch.utils.flop_counter import FlopCounterMode

from transformer_lib import attend_fused, attention, causal_mask, padding_mask, sliding_window_mask
from transformer_lib.efficient import attend_blocks
from transformer_lib.measuring import fitted_exponent, measure

B, H, T, S, K, DV = 2, 3, 11, 17, 5, 7
BLOCKS = pytest.mark.parametrize("block", [1, 3, 5, 128])


def qkv(T=T, *, lead=(B, H), dtype=torch.float64, device="cpu"):
    shapes = (*lead, T, K), (*lead, S, K), (*lead, S, DV)
    return [2 * torch.randn(shape, dtype=dtype, device=device) for shape in shapes]


def random_mask(device="cpu"):
    mask = torch.rand(B, H, T, S, device=device) < 0.5
    mask[0, 1, 4] = False  # a word with nothing to read
    return mask


def masks(device="cpu"):
    return {
        "none": None,
        "every pair": random_mask(device),
        "one head": random_mask(device)[:, :1],
        "padding": padding_mask(torch.tensor([3, S], device=device)),
        "rows": torch.arange(T, device=device)[:, None].expand(1, 1, T, 1) != 5,
    }


def agree(one, other, inputs, atol=1e-12):
    """Outputs and all gradients are the same."""
    inputs = [x.detach().requires_grad_() for x in inputs]
    a, b = one(*inputs), other(*inputs)
    torch.testing.assert_close(a, b, atol=atol, rtol=atol)
    direction = torch.randn_like(a)
    for x, y in zip(*(torch.autograd.grad(out, inputs, direction) for out in (a, b)), strict=True):
        torch.testing.assert_close(x, y, atol=atol, rtol=atol)


# Exact attention by blocks


def test_two_blocks_by_hand():
    """Scores 1000 and then 1001: without the largest score taken off, both are infinite."""
    q, k, v = (torch.tensor(x).double() for x in ([[1.0]], [[1000.0], [1001.0]], [[0.0], [1.0]]))
    for order in ([0, 1], [1, 0]):
        out = attend_blocks(q, k[order], v[order], scale=1.0, block=1)
        assert out.item() == pytest.approx(1 / (1 + math.exp(-1)), abs=1e-12)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("name", masks())
@BLOCKS
def test_blocks_are_the_explicit_form(block, name, causal, device):
    mask = masks(device)[name]
    full = mask
    if causal:
        past = causal_mask(T, S, device=device)
        full = past if mask is None else past & mask
    agree(
        lambda q, k, v: attend_blocks(q, k, v, mask, causal=causal, block=block),
        lambda q, k, v: attention(q, k, v, full),
        qkv(device=device),
    )


@pytest.mark.parametrize("name", ["none", "every pair"])
@pytest.mark.parametrize("window", [1, 2, 6, 100])
@BLOCKS
def test_a_window_is_the_explicit_form(block, window, name, device):
    mask, seen = masks(device)[name], sliding_window_mask(T, window, S, device=device)
    agree(
        lambda q, k, v: attend_blocks(q, k, v, mask, 0.3, window=window, block=block),
        lambda q, k, v: attention(q, k, v, seen if mask is None else seen & mask, 0.3),
        qkv(device=device),
    )


@pytest.mark.parametrize("scale", [None, 1.0, 0.3])
def test_the_scale_is_passed_on(scale):
    agree(
        lambda q, k, v: attend_blocks(q, k, v, scale=scale, block=4),
        lambda q, k, v: attention(q, k, v, scale=scale),
        qkv(),
    )


@pytest.mark.parametrize("lead", [(), (B,)])
def test_lower_ranks(lead):
    for causal in (False, True):
        mask = causal_mask(T, S) if causal else None
        q, k, v = qkv(lead=lead)
        out = attend_blocks(q, k, v, causal=causal, block=4)
        torch.testing.assert_close(out, attention(q, k, v, mask), atol=1e-12, rtol=0)


@pytest.mark.parametrize("options", [{}, {"causal": True}, {"window": 2}, {"masked": True}], ids=str)
def test_gradcheck(options):
    options = dict(options)
    shapes = (2, 3, 2), (2, 4, 2), (2, 4, 3)
    q, k, v = (torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes)
    mask = torch.rand(2, 3, 4) < 0.6 if options.pop("masked", False) else None
    assert torch.autograd.gradcheck(lambda *x: attend_blocks(*x, mask, block=2, **options), (q, k, v))


@pytest.mark.parametrize(("dtype", "atol"), [(torch.float32, 1e-5), (torch.bfloat16, 2e-2)])
def test_other_dtypes(dtype, atol, device):
    q, k, v = (x / 2 for x in qkv(dtype=dtype, device=device))
    inputs = [x.requires_grad_() for x in (q, k, v)]
    exact = [x.detach().double().requires_grad_() for x in inputs]
    out, expected = attend_blocks(*inputs, causal=True, block=4), attend_blocks(*exact, causal=True)
    assert out.dtype == dtype
    torch.testing.assert_close(out.double(), expected, atol=atol, rtol=atol)
    grads = (torch.autograd.grad(o.sum(), i) for o, i in ((out, inputs), (expected, exact)))
    for x, y in zip(*grads, strict=True):
        assert x.dtype == dtype
        torch.testing.assert_close(x.double(), y, atol=2 * atol, rtol=2 * atol)


def test_half_precision_sums_are_taken_in_float32():
    # In bfloat16 the sum of 4,096 equal terms would stop at 256: eight bits hold no more.
    q, k, v = (torch.zeros(n, 1, dtype=torch.bfloat16) for n in (1, 4096, 4096))
    v[:2048] = 1
    assert attend_blocks(q, k, v).item() == attend_blocks(q, k, v, causal=True, block=1).item() == 0.5


def test_a_word_with_nothing_to_read_gives_zero_and_a_finite_gradient():
    q, k, v = (x.requires_grad_() for x in qkv(dtype=torch.float32))
    with torch.autograd.set_detect_anomaly(True):
        out = attend_blocks(q, k, v, random_mask(), block=4)
        out.sum().backward()
    assert (out[0, 1, 4] == 0).all()
    assert (q.grad[0, 1, 4] == 0).all()


def test_the_past_is_blind_to_the_future():
    q, k, v = (x.requires_grad_() for x in qkv(T=S))
    out = attend_blocks(q, k, v, causal=True, block=4)
    for i in (0, 2, 3, 4, S - 2):
        changed = [x.detach().clone() for x in (k, v)]
        for x in changed:
            x[..., i + 1 :, :] = torch.randn_like(x[..., i + 1 :, :])
        again = attend_blocks(q, *changed, causal=True, block=4)
        assert torch.equal(out[..., : i + 1, :], again[..., : i + 1, :])
        assert not torch.equal(out[..., i + 1, :], again[..., i + 1, :])
        for grad in torch.autograd.grad(out[..., : i + 1, :].square().sum(), (k, v), retain_graph=True):
            assert (grad[..., i + 1 :, :] == 0).all()


# Memory and work, counted


FORMS = {
    "blocks": attend_blocks,
    "causal blocks": lambda q, k, v: attend_blocks(q, k, v, causal=True),
    "window": lambda q, k, v: attend_blocks(q, k, v, window=100),
}


def peak_bytes(f, n, backward, device="meta"):
    """Peak extra bytes of one head of width 16 for n words; on the meta device no length is too long."""
    q, k, v = torch.randn(3, 1, n, 16, device=device, requires_grad=backward).unbind()

    def run():
        out = f(q, k, v)
        return torch.autograd.grad(out, (q, k, v), torch.ones_like(out)) if backward else out

    with unchecked():
        return measure(run, repeats=1).peak_bytes


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_memory_is_linear_in_the_length(form, backward):
    sizes = [256, 512, 1024]
    peaks = [peak_bytes(FORMS[form], n, backward) for n in sizes]
    assert fitted_exponent(sizes, peaks) < 1.05  # below 1 where what one block takes weighs in
    for_each_word = [(peaks[i + 1] - peaks[i]) / sizes[i] for i in (0, 1)]
    assert for_each_word[1] == pytest.approx(for_each_word[0], rel=0.03)
    assert for_each_word[0] > 0
    explicit = [peak_bytes(attention, n, backward) for n in sizes]
    assert fitted_exponent(sizes, explicit) == pytest.approx(2, abs=0.05)


@pytest.mark.parametrize("backward", [False, True])
def test_memory_is_at_most_twice_the_fused_kernels(backward, device):
    """At n = 4096, and without what the fused kernel borrows while it runs, which is not counted."""
    fused, blocks = (peak_bytes(f, 4096, backward, device) for f in (attend_fused, attend_blocks))
    assert blocks <= 2 * fused


def count(f, n):
    q, k, v = torch.randn(3, n, 16, device="meta").unbind()
    with unchecked(), FlopCounterMode(display=False) as counter:
        f(q, k, v)
    return counter.get_total_flops()


def test_work_outside_the_mask_is_skipped():
    n, block = 1024, 128
    full = count(attend_blocks, n)
    assert full == 4 * n * n * 16
    assert count(FORMS["causal blocks"], n) == full * (n // block + 1) / (2 * n // block)
    costs = [count(FORMS["window"], words) for words in (512, 1024, 1536)]
    assert costs[1] - costs[0] == costs[2] - costs[1]  # each word more costs the same
    wide = 4 * n * 16 * (block + 100 - 1)  # at most the keys that some query of the block may read
    assert 0.8 * wide < count(FORMS["window"], n) <= wide


# torch.compile makes an instance of the function's class, which torch itself advises against.
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_works_compiled():
    q, k, v = qkv()
    with unchecked():
        compiled = torch.compile(attend_blocks, backend="eager", fullgraph=True)(
            q, k, v, causal=True, block=5
        )
    torch.testing.assert_close(compiled, attend_blocks(q, k, v, causal=True))


# Wrong input


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"q": [[1.0]]}, TypeError, "q must be a tensor.*got list"),
        ({"k": torch.ones(B, H, S, K + 1).double()}, ValueError, r"as wide as queries.*k \(2, 3, 17, 6\)"),
        ({"mask": torch.ones(1, 1, 1, S)}, TypeError, "boolean tensor.*got torch.float32"),
        ({"mask": torch.ones(B, S, dtype=torch.bool)}, ValueError, r"shape \(2, 17\) does not fit"),
        ({"block": 0}, ValueError, "at least 1 word; got 0"),
        ({"q": torch.ones(B, H, S + 1, K).double(), "causal": True}, ValueError, "T=18, S=17"),
    ],
)
def test_wrong_input_is_named(change, kind, message):
    q, k, v = qkv()
    with raises(kind, message):
        attend_blocks(**({"q": q, "k": k, "v": v} | change))


def test_wrong_windows_are_named():
    q, k, v = qkv()
    with raises(ValueError, "window must hold at least 1 word, the word itself; got 0"):
        attend_blocks(q, k, v, window=0)
    with raises(ValueError, "T=17, S=11"):
        attend_blocks(k, q, q, window=3)
