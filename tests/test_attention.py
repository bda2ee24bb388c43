"""attention.py: by hand, against torch, by gradcheck, and by the properties of the equation."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from checking import compiled, raises, unchecked

from transformer_lib import SelfAttention, attend_fused, attend_one, attention, attention_weights
from transformer_lib.masks import causal_mask, padding_mask

B, H, T, S, K, DV, D = 2, 3, 5, 7, 11, 13, 17  # all different: a swapped axis cannot pass


def qkv(*, heads=True, dtype=torch.float64, device="cpu", T=T):
    lead = (B, H) if heads else (B,)
    shapes = (*lead, T, K), (*lead, S, K), (*lead, S, DV)
    return [torch.randn(shape, dtype=dtype, device=device) for shape in shapes]


def random_mask(device="cpu"):
    mask = torch.rand(B, H, T, S, device=device) < 0.6
    mask[..., 0] = True
    return mask


BOTH_FORMS = pytest.mark.parametrize("attend", [attention, attend_fused])


# By hand


def test_two_words_by_hand():
    q, k, v = (
        torch.tensor(rows, dtype=torch.float64)
        for rows in ([[2.0, 0.0]], [[1.0, 5.0], [0.0, 3.0]], [[10.0], [20.0]])
    )
    a = math.exp(math.sqrt(2)) / (math.exp(math.sqrt(2)) + 1)  # scores 2/√2 and 0
    assert attention_weights(q, k)[0].tolist() == pytest.approx([a, 1 - a], abs=1e-12)
    assert attention(q, k, v).item() == pytest.approx(10 * a + 20 * (1 - a), abs=1e-12)


def test_word_by_word_in_numpy():
    q, k, v = qkv()
    mask = random_mask()
    expected = np.empty((B, H, T, DV))
    for b, h, i in np.ndindex(B, H, T):
        allowed = [j for j in range(S) if mask[b, h, i, j]]
        scores = [math.fsum(float(q[b, h, i, c] * k[b, h, j, c]) for c in range(K)) for j in allowed]
        exps = [math.exp(s / math.sqrt(K)) for s in scores]
        for c in range(DV):
            read = math.fsum(e * float(v[b, h, j, c]) for e, j in zip(exps, allowed, strict=True))
            expected[b, h, i, c] = read / math.fsum(exps)
    np.testing.assert_allclose(attention(q, k, v, mask).numpy(), expected, atol=1e-12)


def test_one_word_is_a_row_of_the_sentence():
    q, k, v = (x[0] for x in qkv(heads=False))
    rows = torch.stack([attend_one(q_i, k, v) for q_i in q])
    torch.testing.assert_close(rows, attention(q, k, v), atol=1e-12, rtol=0)
    rows = torch.stack([attend_one(q_i, k, v, scale=0.5) for q_i in q])
    torch.testing.assert_close(rows, attention(q, k, v, scale=0.5), atol=1e-12, rtol=0)


# Against torch


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("scale", [None, 1.0, 0.3])
@BOTH_FORMS
def test_equals_torch(attend, scale, masked, device):
    q, k, v = qkv(device=device)
    mask = random_mask(device) if masked else None
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)
    torch.testing.assert_close(attend(q, k, v, mask, scale), expected, atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize(("dtype", "atol"), [(torch.float32, 1e-5), (torch.bfloat16, 2e-2)])
def test_explicit_and_fused_agree(dtype, atol, device):
    q, k, v = qkv(dtype=dtype, device=device)
    for mask in (None, random_mask(device), causal_mask(T, S, device=device)):
        explicit, fused = attention(q, k, v, mask), attend_fused(q, k, v, mask)
        assert explicit.dtype == fused.dtype == dtype
        torch.testing.assert_close(explicit, fused, atol=atol, rtol=atol)


def test_half_precision_weights_are_computed_in_float32():
    # In bfloat16 the sum of 4,096 equal terms would stop at 256: eight bits hold no more.
    q, k = torch.zeros(1, 2, dtype=torch.bfloat16), torch.zeros(4096, 2, dtype=torch.bfloat16)
    weights = attention_weights(q, k)
    assert weights.dtype == torch.bfloat16
    assert torch.equal(weights, torch.full_like(weights, 1 / 4096))


# A bias on the scores, and the kernel's own causal mask


@pytest.mark.parametrize("masked", [False, True])
@BOTH_FORMS
def test_a_bias_is_added_to_the_scaled_scores(attend, masked, device):
    q, k, v = qkv(device=device)
    mask = random_mask(device) if masked else None
    for shape in [(B, H, T, S), (1, H, T, S), (1, 1, T, S), (B, 1, 1, S)]:
        bias = torch.randn(shape, dtype=torch.float64, device=device)
        scores = q @ k.mT * 0.3 + bias
        if masked:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        torch.testing.assert_close(attend(q, k, v, mask, 0.3, bias), weights @ v, atol=1e-12, rtol=0)
        torch.testing.assert_close(attention_weights(q, k, mask, 0.3, bias), weights, atol=1e-12, rtol=0)


@BOTH_FORMS
def test_a_bias_takes_the_rank_and_the_dtype_of_the_scores(attend):
    q, k, v = (x.to(torch.bfloat16) for x in qkv(heads=False))
    bias = torch.randn(1, 1, T, S)
    out = attend(q, k, v, bias=bias)
    assert out.dtype == torch.bfloat16
    torch.testing.assert_close(out, attend(q, k, v, bias=bias[0].to(torch.bfloat16)))


@BOTH_FORMS
def test_a_bias_learns_and_an_empty_row_stays_zero(attend):
    q, k, v = (x.requires_grad_() for x in qkv())
    bias = torch.randn(1, H, T, S, dtype=torch.float64, requires_grad=True)
    mask = random_mask()
    mask[1, 2, 3] = False
    out = attend(q, k, v, mask, bias=bias)
    assert torch.equal(out[1, 2, 3], torch.zeros(DV, dtype=torch.float64))
    out.square().sum().backward()
    for x in (q, k, v, bias):
        assert x.grad.isfinite().all()
    assert (bias.grad[0] != 0).any(-1).all()
    assert (bias.grad.masked_select(~mask.any(0)) == 0).all()


@BOTH_FORMS
def test_gradcheck_of_a_bias(attend):
    shapes = (2, 5), (3, 5), (3, 7), (2, 3)
    inputs = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    mask = random_mask()[0, 0, :2, :3]
    assert torch.autograd.gradcheck(lambda q, k, v, bias: attend(q, k, v, mask, bias=bias), inputs)


def test_the_kernels_causal_is_the_causal_mask(device):
    q, k, v = qkv(T=S, device=device)
    expected = attention(q, k, v, causal_mask(S, device=device), scale=0.3)
    torch.testing.assert_close(attend_fused(q, k, v, scale=0.3, causal=True), expected, atol=1e-12, rtol=0)
    for wrong in ({"mask": causal_mask(S, device=device)}, {"bias": torch.zeros(1, 1, S, S, device=device)}):
        with raises(ValueError, r"takes no mask or bias.*got scores \(2, 3, 7, 7\)"):
            attend_fused(q, k, v, **wrong, causal=True)
    with raises(ValueError, r"as many queries as keys; got scores \(2, 3, 5, 7\)"):
        attend_fused(q[..., :T, :], k, v, causal=True)


# Gradients


@pytest.mark.parametrize("masked", [False, True])
@BOTH_FORMS
def test_gradcheck(attend, masked):
    shapes = (2, 5), (3, 5), (3, 7)
    q, k, v = (torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes)
    mask = random_mask()[0, 0, :2, :3] if masked else None
    assert torch.autograd.gradcheck(lambda *x: attend(*x, mask), (q, k, v))


@BOTH_FORMS
def test_a_word_with_nothing_to_read_gives_zero_and_a_finite_gradient(attend, device):
    for dtype in (torch.float32, torch.float16):
        q, k, v = (x.requires_grad_() for x in qkv(dtype=dtype, device=device))
        mask = random_mask(device)
        mask[1, 2, 3] = False
        with torch.autograd.set_detect_anomaly(True):  # no NaN on the way
            out = attend(q, k, v, mask)
            out.sum().backward()
        assert torch.equal(out[1, 2, 3], torch.zeros_like(out[1, 2, 3]))
        assert out.isfinite().all()
        for x in (q, k, v):
            assert x.grad.isfinite().all()
        assert torch.equal(q.grad[1, 2, 3], torch.zeros_like(q.grad[1, 2, 3]))


# Properties of the equation


def test_rows_sum_to_one_and_hidden_words_have_weight_zero(device):
    q, k, _ = qkv(device=device)
    mask = random_mask(device)
    weights = attention_weights(q, k, mask)
    assert weights.shape == (B, H, T, S)
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, H, T).to(weights), atol=1e-12, rtol=0)
    assert (weights >= 0).all()
    assert (weights[~mask] == 0).all()
    assert (weights[mask] > 0).all()


def test_the_scale_is_one_over_the_root_of_the_key_width():
    q, k, _ = qkv()
    torch.testing.assert_close(
        attention_weights(q, k), torch.softmax(q @ k.mT / K**0.5, -1), atol=1e-12, rtol=0
    )
    torch.testing.assert_close(attention_weights(q, k, scale=1.0), torch.softmax(q @ k.mT, -1))


@BOTH_FORMS
def test_the_past_is_blind_to_the_future(attend):
    q, k, v = (x.requires_grad_() for x in qkv(T=S))
    mask = causal_mask(S)
    out = attend(q, k, v, mask)
    for i in range(S - 1):
        changed = [x.detach().clone() for x in (k, v)]
        for x in changed:
            x[..., i + 1 :, :] = torch.randn_like(x[..., i + 1 :, :])
        again = attend(q, *changed, mask)
        assert torch.equal(out[..., : i + 1, :], again[..., : i + 1, :])
        assert not torch.equal(out[..., i + 1, :], again[..., i + 1, :])
        past = out[..., : i + 1, :].square().sum()
        grad_k, grad_v = torch.autograd.grad(past, (k, v), retain_graph=True)
        assert (grad_k[..., i + 1 :, :] == 0).all()
        assert (grad_v[..., i + 1 :, :] == 0).all()
        assert (grad_v[..., : i + 1, :] != 0).any(-1).all()


@BOTH_FORMS
def test_a_padded_batch_equals_its_sentences_one_by_one(attend):
    q, k, v = qkv()
    lengths = [3, S]
    together = attend(q, k, v, padding_mask(torch.tensor(lengths)))
    for b, n in enumerate(lengths):
        alone = attend(q[b : b + 1], k[b : b + 1, :, :n], v[b : b + 1, :, :n])
        torch.testing.assert_close(together[b : b + 1], alone, atol=1e-12, rtol=0)


def test_the_words_are_a_set():
    """Reordering keys with their values changes nothing; reordering queries reorders the outputs."""
    q, k, v = qkv()
    order = torch.randperm(S)
    torch.testing.assert_close(
        attention(q, k[:, :, order], v[:, :, order]), attention(q, k, v), atol=1e-12, rtol=0
    )
    order = torch.randperm(T)
    torch.testing.assert_close(
        attention(q[:, :, order], k, v), attention(q, k, v)[:, :, order], atol=1e-12, rtol=0
    )


def test_the_output_is_an_average_of_the_values():
    q, k, v = qkv()
    out = attention(q, k, v)
    assert (out >= v.amin(-2, keepdim=True)).all()
    assert (out <= v.amax(-2, keepdim=True)).all()


# The module


@pytest.mark.parametrize("bias", [False, True])
def test_self_attention_is_the_equation(bias, device):
    module = SelfAttention(D, K, bias=bias).to(device, torch.float64)
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter, std=0.7)
    x = torch.randn(B, T, D, dtype=torch.float64, device=device)
    mask = causal_mask(T, device=device)
    q, k, v = (
        x @ layer.weight.T + (layer.bias if bias else 0) for layer in (module.query, module.key, module.value)
    )
    torch.testing.assert_close(module(x, mask), attention(q, k, v, mask), atol=1e-12, rtol=1e-12)
    torch.testing.assert_close(module.weights(x, mask) @ v, module(x, mask), atol=1e-12, rtol=1e-12)
    torch.testing.assert_close(module(x[0]), module(x)[0], atol=1e-12, rtol=1e-12)
    assert len(list(module.parameters())) == (6 if bias else 3)


def test_self_attention_passes_its_scale_on():
    torch.manual_seed(1)
    module = SelfAttention(D, K, scale=1.0)
    x = 3 * torch.randn(B, T, D)
    unscaled = attention_weights(module.query(x), module.key(x), scale=1.0)
    torch.testing.assert_close(module.weights(x), unscaled)
    torch.testing.assert_close(module(x), unscaled @ module.value(x), atol=1e-5, rtol=1e-5)


def test_works_on_the_meta_device_and_compiled():
    q, k, v = qkv(device="meta")
    mask = causal_mask(T, S, device="meta")
    assert attention(q, k, v, mask).shape == attend_fused(q, k, v, mask).shape == (B, H, T, DV)
    with torch.device("meta"):
        assert SelfAttention(D, K)(torch.randn(B, T, D)).shape == (B, T, K)
    for attend in (attention, attend_fused):
        q, k, v = qkv()
        with unchecked():
            out = compiled(attend)(q, k, v, causal_mask(T, S))
        torch.testing.assert_close(out, attend(q, k, v, causal_mask(T, S)))


# Wrong input


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"q": [[1.0]]}, TypeError, "q must be a tensor.*got list"),
        ({"k": torch.ones(B, H, S, K, dtype=torch.int64)}, TypeError, "k must.*got torch.int64"),
        ({"v": torch.ones(B, H, S, DV, dtype=torch.float64)}, ValueError, "one dtype.*torch.float64"),
        ({"v": torch.ones(B, H, S, DV, device="meta")}, ValueError, "one device.*meta"),
        ({"k": torch.ones(B, H, S, K + 1)}, ValueError, r"as wide as queries.*k \(2, 3, 7, 12\)"),
        ({"v": torch.ones(B, H, S + 1, DV)}, ValueError, r"as many as values.*v \(2, 3, 8, 13\)"),
        ({"q": torch.ones(H, T, K)}, ValueError, r"same rank.*q \(3, 5, 11\)"),
        ({"q": torch.ones(K)}, ValueError, r"same rank.*q \(11,\)"),
        ({"k": torch.ones(B, H, 0, K), "v": torch.ones(B, H, 0, DV)}, ValueError, "at least one word"),
        ({"mask": torch.ones(B, H, T, S)}, TypeError, "boolean tensor.*got torch.float32"),
        ({"mask": [[True]]}, TypeError, "boolean tensor.*got list"),
        ({"mask": torch.ones(B, S, dtype=torch.bool)}, ValueError, r"shape \(2, 7\) does not fit"),
        (
            {"mask": torch.ones(B, 1, S, T, dtype=torch.bool)},
            ValueError,
            r"shape \(2, 1, 7, 5\) does not fit",
        ),
        ({"mask": torch.ones(1, 1, T, S, dtype=torch.bool, device="meta")}, ValueError, "mask is on meta"),
        ({"bias": torch.ones(B, H, T, S, dtype=torch.bool)}, TypeError, "a bias must be.*got torch.bool"),
        ({"bias": 1.0}, TypeError, "a bias must be.*got float"),
        ({"bias": torch.ones(T, S)}, ValueError, r"bias of shape \(5, 7\) does not fit"),
        ({"bias": torch.ones(1, 1, T, S, device="meta")}, ValueError, "bias is on meta"),
    ],
)
@BOTH_FORMS
def test_wrong_input_is_named(attend, change, kind, message):
    q, k, v = qkv(dtype=torch.float32)
    with raises(kind, message):
        attend(**({"q": q, "k": k, "v": v} | change))


def test_a_mask_of_batch_by_keys_never_passes_for_one_of_queries_by_keys():
    x = torch.randn(T, T, K)  # B = T: broadcasting alone would take the mask
    with raises(ValueError, "does not fit"):
        attention(x, x, x, torch.ones(T, T, dtype=torch.bool))


def test_masks_of_rank_four_serve_one_head_and_one_sentence():
    q, k, v = qkv(heads=False)
    mask = causal_mask(T, S) & padding_mask(torch.tensor([6, S]))
    for attend in (attention, attend_fused):
        torch.testing.assert_close(
            attend(q, k, v, mask), attend(q[:, None], k[:, None], v[:, None], mask)[:, 0], atol=1e-12, rtol=0
        )
        torch.testing.assert_close(attend(q[0], k[0], v[0], mask[:1]), attend(q, k, v, mask)[0])
    with raises(ValueError, "does not fit"):  # which of the two sentences?
        attention(q[0], k[0], v[0], mask)


def test_wrong_widths_of_the_module_are_named():
    with raises(ValueError, "at least 1; got 0"):
        SelfAttention(0)
    with raises(ValueError, "at least 1; got 4 and 0"):
        SelfAttention(4, 0)
    with raises(ValueError, "whole numbers.*got '4'"):
        SelfAttention("4")
    with raises(ValueError, r"width 5, but d_model is 4: x has shape \(2, 5, 5\)"):
        SelfAttention(4)(torch.randn(B, T, 5))
    for shape in [(4,), (B, H, T, 4)]:
        with raises(ValueError, rf"got \({', '.join(map(str, shape))}"):
            SelfAttention(4)(torch.randn(shape))
    for wrong in (torch.arange(4)[None], torch.randn(T, 4).double(), [[1.0] * 4]):
        with raises(TypeError, "x must .*got"):
            SelfAttention(4)(wrong)
    with raises(ValueError, "x is on meta, the weights on cpu"):
        SelfAttention(4)(torch.randn(B, T, 4, device="meta"))
    with raises(ValueError, r"one word, of shape \(K,\); got \(5, 11\)"):
        attend_one(torch.randn(T, K), torch.randn(S, K), torch.randn(S, DV))


@pytest.mark.parametrize("scale", [True, math.nan, math.inf, "1", torch.ones(T, S)])
@BOTH_FORMS
def test_a_wrong_scale_is_named(attend, scale):
    with raises(ValueError, "scale must be a finite number or None; got"):
        attend(*qkv(), scale=scale)


def test_large_half_precision_scores_do_not_overflow():
    q, k, v = qkv(dtype=torch.float16)
    q, k = 120 * q, 120 * k
    assert (q @ k.mT).isinf().any()
    torch.testing.assert_close(attention(q, k, v), attend_fused(q, k, v), atol=2e-2, rtol=2e-2)


def test_hidden_keys_that_are_not_finite_spoil_nothing_in_the_explicit_form_only():
    """The fused kernel adds −∞ to their scores, and NaN − ∞ is NaN: `attend_fused` says so."""
    q, k, v = qkv()
    mask = torch.ones(1, 1, 1, S, dtype=torch.bool)
    mask[..., -1] = False
    expected = attention(q, k, v, mask)
    k[..., -1, :] = math.nan
    torch.testing.assert_close(attention(q, k, v, mask), expected, rtol=0, atol=0)
    assert attend_fused(q, k, v, mask).isnan().any()


@pytest.mark.parametrize("rank", [2, 3, 4])
def test_every_rank_reaches_the_fused_kernel(rank):
    q, k, v = (x[(0,) * (4 - rank)] for x in qkv(dtype=torch.float32))
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        attend_fused(q, k, v[..., :K])
    names = {event.key for event in profile.key_averages()}
    assert not any("attention_math" in name for name in names), names
