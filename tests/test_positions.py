"""positions.py: values by hand, other people's tables, and what rotation must keep."""

import math
from functools import partial

import pytest
import torch
from checking import compiled, raises, unchecked
from torch import nn

from transformer_lib import (
    LearnedPositions,
    SinusoidalPositions,
    alibi_bias,
    attention_weights,
    causal_mask,
    rotate_halves,
    rotate_pairs,
    sinusoidal_table,
)
from transformer_lib.positions import fit_positions, inverse_wavelengths

B, H, T, K, D = 2, 3, 5, 14, 22
F64 = torch.float64
BOTH_LAYOUTS = pytest.mark.parametrize("rotate", [rotate_pairs, rotate_halves])


def close(a, b, atol=1e-12):
    torch.testing.assert_close(a, b, atol=atol, rtol=0)


# The sinusoidal table


def test_sinusoidal_values_by_hand():
    positions = [0, 1, 7, 1000]
    table = sinusoidal_table(torch.tensor(positions), D, dtype=F64)
    for row, pos in zip(table.tolist(), positions, strict=True):
        for i in range(D // 2):
            angle = pos / 10000 ** (2 * i / D)
            assert row[2 * i] == pytest.approx(math.sin(angle), abs=1e-12)
            assert row[2 * i + 1] == pytest.approx(math.cos(angle), abs=1e-12)
    close(sinusoidal_table(torch.tensor(positions), D).double(), table, atol=2e-4)  # 1000 · 1e-7 radians
    assert sinusoidal_table(torch.tensor(positions), D).dtype == torch.float32


def test_sinusoidal_table_is_marians_up_to_the_order_of_its_columns():
    from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding

    marian = MarianSinusoidalPositionalEmbedding(101, D).create_weight()  # all sines, then all cosines
    ours = sinusoidal_table(torch.arange(101), D)
    close(torch.cat([ours[:, 0::2], ours[:, 1::2]], dim=1), marian, atol=1e-5)
    close(sinusoidal_table(torch.arange(101), D, halves=True), marian, atol=1e-5)
    module = SinusoidalPositions(D, halves=True)
    close(module(torch.zeros(1, 101, D))[0], marian, atol=1e-5)


def test_a_shift_is_a_linear_map_that_does_not_depend_on_the_position():
    """PE(pos + k) = M(k) PE(pos), with M(k) made of rotations: the reason the paper gives for the choice."""
    positions, k = torch.arange(50), 13
    angles = k * inverse_wavelengths(D, dtype=F64)
    M = torch.zeros(D, D, dtype=F64)
    for i, a in enumerate(angles.tolist()):
        c, s = math.cos(a), math.sin(a)
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[c, s], [-s, c]], dtype=F64)
    table, shifted = (sinusoidal_table(p, D, dtype=F64) for p in (positions, positions + k))
    close(table @ M.T, shifted)


def test_sinusoidal_module_adds_the_table_at_the_given_places(device):
    module = SinusoidalPositions(D, base=50.0).to(device)
    x = torch.randn(B, T, D, dtype=F64, device=device)
    table = partial(sinusoidal_table, d_model=D, base=50.0, dtype=F64)
    close(module(x), x + table(torch.arange(T, device=device)))
    places = torch.tensor([[0, 0, 1, 2, 3], [9, 8, 7, 6, 1 << 20]], device=device)
    close(module(x, places), x + table(places))
    assert not list(module.parameters())
    half = module(x.to(torch.bfloat16), places)
    assert half.dtype == torch.bfloat16
    torch.testing.assert_close(half.to(F64), module(x, places), atol=5e-2, rtol=2e-2)  # 8 bits


def test_half_precision_tells_far_positions_apart():
    a, b = sinusoidal_table(torch.tensor([2048, 2049]), D)
    x = torch.zeros(1, 2, D, dtype=torch.bfloat16)
    out = SinusoidalPositions(D)(x, torch.tensor([2048, 2049]))[0]
    assert torch.equal(out, torch.stack([a, b]).to(torch.bfloat16))
    turned = rotate_pairs(torch.ones(2, D, dtype=torch.bfloat16), torch.tensor([2048, 2049]))
    assert not torch.equal(turned[0], turned[1])


# Learned positions


def test_learned_positions_are_rows_of_the_table(device):
    module = LearnedPositions(D, max_length=7).to(device)
    x = torch.randn(B, T, D, device=device)
    table = module.table.weight.detach()
    close(module(x).detach(), x + table[:T])
    places = torch.tensor([[6, 5, 4, 3, 0], [0, 0, 1, 2, 6]], device=device)
    close(module(x, places).detach(), x + table[places])
    module(x, places).sum().backward()
    assert module.table.weight.grad[:, 0].tolist() == [3, 1, 1, 1, 1, 1, 2]


def test_the_end_of_the_learned_table_is_named():
    module, x = LearnedPositions(4, max_length=5), torch.zeros(1, 5, 4)
    assert module(x).shape == x.shape
    assert module(x, torch.arange(5)).shape == x.shape
    with raises(ValueError, "position 5 lies outside the learned table, which has positions 0 to 4"):
        module(torch.zeros(1, 6, 4))
    with raises(ValueError, "position 5 lies outside"):
        module(x, torch.arange(1, 6))
    with raises(ValueError, "position -1 lies outside"):
        module(x, torch.arange(-1, 4))
    with raises(ValueError, "width 1, but d_model is 4"):  # would broadcast
        module(torch.zeros(1, 5, 1))


# RoPE


@BOTH_LAYOUTS
def test_rotation_by_hand(rotate):
    x = torch.randn(T, K, dtype=F64)
    out = rotate(x, torch.arange(T) + 3, base=50.0)
    for t in range(T):
        for i in range(K // 2):
            angle = (t + 3) * 50.0 ** (-2 * i / K)
            a, b = (2 * i, 2 * i + 1) if rotate is rotate_pairs else (i, i + K // 2)
            z = complex(x[t, a], x[t, b]) * complex(math.cos(angle), math.sin(angle))
            assert (out[t, a].item(), out[t, b].item()) == pytest.approx((z.real, z.imag), abs=1e-12)


def test_halves_equal_transformers_llama():
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

    config = LlamaConfig(
        hidden_size=H * K,
        num_attention_heads=H,
        rope_parameters={"rope_type": "default", "rope_theta": 500.0},
    )
    q, k = torch.randn(2, B, H, T, K).unbind()
    positions = torch.tensor([[0, 1, 2, 3, 4], [90, 91, 3, 0, 100]])
    cos, sin = LlamaRotaryEmbedding(config)(q, positions)
    for ours, theirs in zip((q, k), apply_rotary_pos_emb(q, k, cos, sin), strict=True):
        close(rotate_halves(ours, positions, base=500.0), theirs, atol=1e-5)


def test_pairs_and_halves_are_the_same_map_up_to_order():
    x, positions = torch.randn(B, H, T, K, dtype=F64), torch.randint(0, 99, (B, T))
    order = torch.cat([torch.arange(0, K, 2), torch.arange(1, K, 2)])  # 0 2 4 … 1 3 5 …
    close(rotate_halves(x[..., order], positions), rotate_pairs(x, positions)[..., order])
    assert (rotate_halves(x, positions) - rotate_pairs(x, positions)).abs().max() > 0.5  # not without it


@BOTH_LAYOUTS
def test_rotation_keeps_norms_and_scores_depend_on_the_offset_only(rotate):
    q, k = torch.randn(2, 1, K, dtype=F64).unbind()
    at = lambda x, place: rotate(x, torch.tensor([place]))[0]  # noqa: E731
    scores = [[float(at(q, m) @ at(k, n)) for n in range(9)] for m in range(9)]
    for m in range(9):
        assert at(q, m).norm().item() == pytest.approx(q.norm().item(), abs=1e-12)
        for n in range(9):
            assert scores[m][n] == pytest.approx(scores[max(m - n, 0)][max(n - m, 0)], abs=1e-12)
    assert torch.tensor(scores[0]).std() > 0.1  # and do depend on it
    assert float(at(q, 100_000) @ at(k, 99_996)) == pytest.approx(scores[4][0], abs=1e-9)
    close(at(q, 0), q[0])


@BOTH_LAYOUTS
def test_places_by_sentence_or_for_all(rotate, device):
    x = torch.randn(B, H, T, K, dtype=F64, device=device)
    places = torch.randint(0, 99, (B, T), device=device)
    for b in range(B):
        for h in range(H):
            alone = rotate(x[b, h], places[b])
            close(rotate(x, places)[b, h], alone)  # (B, H, T, K) with (B, T)
            close(rotate(x[:, h], places)[b], alone)  # (B, T, K) with (B, T)
    close(rotate(x, places[0]), rotate(x, places[:1].expand(B, T)))


@BOTH_LAYOUTS
def test_gradcheck(rotate):
    x = torch.randn(3, 4, dtype=F64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: rotate(x, torch.tensor([0, 2, 5])), x)


# ALiBi


@pytest.mark.parametrize(("n_heads", "T", "S"), [(1, 1, 1), (8, 3, 7), (5, 7, 7)])
def test_alibi_pair_by_pair(n_heads, T, S, device):
    bias = alibi_bias(n_heads, T, S, device=device)
    assert bias.shape == (1, n_heads, T, S)
    for h in range(n_heads):
        slope = 2 ** (-8 * (h + 1) / n_heads)
        for i in range(T):
            for j in range(S):
                assert bias[0, h, i, j].item() == pytest.approx(-slope * abs(S - T + i - j), rel=1e-6)
    assert torch.equal(alibi_bias(n_heads, S)[:, :, S - T :], alibi_bias(n_heads, T, S))


def test_alibi_equals_blooms():
    """Bloom adds slope · j instead: the same but for a number per row, which the softmax does not see."""
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    S = 11
    q, k = torch.randn(2, B, 8, S, K).unbind()
    bloom = build_alibi_tensor(torch.ones(1, S), 8, torch.float32).view(1, 8, 1, S)
    theirs = attention_weights(q, k, causal_mask(S), bias=bloom)
    close(attention_weights(q, k, causal_mask(S), bias=alibi_bias(8, S)), theirs, atol=1e-5)


# Elsewhere and wrong


def test_works_on_the_meta_device_and_compiled():
    with torch.device("meta"):
        x, heads = torch.randn(B, T, D), torch.randn(B, H, T, K)
        assert SinusoidalPositions(D)(x).shape == LearnedPositions(D, 9)(x).shape == x.shape
        assert LearnedPositions(D, 9)(x, torch.arange(T)).shape == x.shape
        assert alibi_bias(H, T).device.type == "meta"
        for rotate in (rotate_pairs, rotate_halves):
            assert rotate(heads, torch.arange(T)).shape == heads.shape
    x, places = torch.randn(B, T, K), torch.tensor([3, 1, 4, 1, 5])
    for f in (rotate_pairs, rotate_halves, SinusoidalPositions(K), LearnedPositions(K, 9)):
        with unchecked():
            close(compiled(f)(x, places), f(x, places), atol=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: inverse_wavelengths(5), "even and at least 2; got 5"),
        (lambda: SinusoidalPositions(7), "even and at least 2; got 7"),
        (lambda: SinusoidalPositions(0), "even and at least 2; got 0"),
        (lambda: SinusoidalPositions(4, base=0.0), "base must be above 0; got 0"),
        (lambda: SinusoidalPositions(4)(torch.zeros(1, 2, 6)), "width 6, but d_model is 4"),
        (lambda: LearnedPositions(4, 0), "got 4 and 0"),
        (lambda: rotate_pairs(torch.zeros(2, 5), torch.arange(2)), "even and at least 2; got 5"),
        (lambda: rotate_halves(torch.zeros(2, 4), torch.arange(3)), r"of shape \(2,\); got .*shape \(3,\)"),
        (lambda: rotate_pairs(torch.zeros(2, 4), torch.zeros(2)), r"whole numbers.*got torch.float32"),
        (lambda: rotate_pairs(torch.zeros(2, 4), torch.zeros(2, 2).int()), r"shape \(2,\); got"),
        (lambda: rotate_pairs(torch.zeros(2, 3, 4), torch.zeros(3, 3).int()), r"\(3,\) or \(2, 3\); got"),
        (
            lambda: rotate_pairs(torch.zeros(2, 4), torch.arange(2, device="meta")),
            "on meta, the words on cpu",
        ),
        (lambda: alibi_bias(0, 2), "got n_heads=0, T=2, S=2"),
        (lambda: alibi_bias(2, 0), "T=0, S=0"),
        (lambda: alibi_bias(2, 4, 3), "T=4, S=3"),
    ],
)
def test_wrong_input_is_named(call, message):
    with raises(ValueError, message):
        call()


def test_nothing_is_stored_but_the_learned_table():
    assert not SinusoidalPositions(D).state_dict()
    assert isinstance(LearnedPositions(D, 3).table, nn.Embedding)
    assert torch.equal(fit_positions(None, torch.zeros(B, T, D)), torch.arange(T))
