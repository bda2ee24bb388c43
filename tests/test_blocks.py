"""blocks.py: norms three ways, blocks against torch's layers by copied weights, the residual path."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from checking import compiled, raises, unchecked
from torch import nn

from transformer_lib import (
    DecoderBlock,
    EncoderBlock,
    FeedForward,
    LayerNorm,
    MultiHeadAttention,
    RMSNorm,
    causal_mask,
    layer_norm,
    padding_mask,
    rms_norm,
    rotate_pairs,
)

B, H, K, T, S, HIDDEN = 2, 3, 14, 5, 11, 23
D = H * K
BOTH_ORDERS = pytest.mark.parametrize("pre_norm", [False, True])


def close(a, b, atol=1e-12):
    torch.testing.assert_close(a, b, atol=atol, rtol=0)


def randomised(module, device="cpu"):
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)
    return module.to(device, torch.float64)


def words(n=T, device="cpu"):
    return torch.randn(B, n, D, dtype=torch.float64, device=device)


def block(kind=EncoderBlock, device="cpu", rotate=None, **options):
    attentions = [MultiHeadAttention(D, H, rotate=rotate)]
    if kind is DecoderBlock:
        attentions.append(MultiHeadAttention(D, H))
    return randomised(kind(*attentions, FeedForward(D, HIDDEN, activation="relu"), **options), device)


def torchs(ours, theirs):
    """torch's layer with the weights of ours."""
    names = {"attention.qkv.": "self_attn.in_proj_", "attention.output.": "self_attn.out_proj."}
    names |= {"cross_attention.qkv.": "multihead_attn.in_proj_"}
    names |= {"cross_attention.output.": "multihead_attn.out_proj."}
    names |= {"feed_forward.widen.": "linear1.", "feed_forward.narrow.": "linear2."}
    cross = hasattr(ours, "cross_attention")
    names |= {"attention_norm.": "norm1.", "cross_attention_norm.": "norm2."}
    names |= {"feed_forward_norm.": "norm3." if cross else "norm2."}
    state = {}
    for name, value in ours.state_dict().items():
        old = max((old for old in names if name.startswith(old)), key=len)
        name = names[old] + name.removeprefix(old)
        state[name.replace("scale", "weight").replace("shift", "bias")] = value
    theirs.to(value)
    theirs.load_state_dict(state)
    return theirs


# Norms


def test_layer_norm_by_hand():
    row = partial(torch.tensor, dtype=torch.float64)
    x = row([[1.0, 2.0, 6.0]])  # mean 3, variance (4 + 1 + 9) / 3
    scale, shift = row([1.0, 2.0, 3.0]), row([0.0, 10.0, 20.0])
    std = (14 / 3 + 0.5) ** 0.5
    close(layer_norm(x, scale, shift, eps=0.5), row([[-2 / std, 10 - 2 / std, 20 + 9 / std]]))
    root = (41 / 3 + 0.5) ** 0.5
    close(rms_norm(x, scale, eps=0.5), row([[1 / root, 4 / root, 18 / root]]))


@pytest.mark.parametrize("eps", [1e-5, 0.5])
def test_explicit_fused_and_torchs_norms_agree(eps, device):
    x = 3 + words(device=device)
    ours, theirs = randomised(LayerNorm(D, eps=eps), device), nn.LayerNorm(D, eps=eps).to(x)
    theirs.load_state_dict({"weight": ours.scale, "bias": ours.shift})
    close(ours(x), theirs(x))
    close(layer_norm(x, ours.scale, ours.shift, eps), theirs(x))
    ours, theirs = randomised(RMSNorm(D, eps=eps), device), nn.RMSNorm(D, eps=eps).to(x)
    theirs.load_state_dict({"weight": ours.scale})
    close(ours(x), theirs(x))
    close(rms_norm(x, ours.scale, eps), theirs(x))


def test_defaults_of_the_norms():
    x = 1e-3 * words()  # so small that eps counts
    one, zero = torch.ones(D).double(), torch.zeros(D).double()
    close(LayerNorm(D).double()(x), F.layer_norm(x, (D,), eps=1e-5))
    close(layer_norm(x, one, zero), F.layer_norm(x, (D,), eps=1e-5))
    close(RMSNorm(D).double()(x), F.rms_norm(x, (D,), eps=1e-6))
    close(rms_norm(x, one), F.rms_norm(x, (D,), eps=1e-6))


@pytest.mark.parametrize("norm", [LayerNorm, RMSNorm])
def test_a_norm_looks_at_one_word_and_forgets_its_size(norm):
    module, x = norm(D, eps=0.0).double(), words()
    out = module(x)
    close(module(x[:, 2:3]), out[:, 2:3])
    close(module(7 * x), out)
    close(out.square().mean(-1), torch.ones(B, T).double())
    if norm is LayerNorm:
        close(module(x + 5), out)
        close(out.mean(-1), torch.zeros(B, T).double())
    half = norm(D)(x.float().bfloat16()) if norm is LayerNorm else None
    assert half is None or half.isfinite().all()


def test_gradcheck_of_the_explicit_norms():
    x, scale, shift = (torch.randn(n, dtype=torch.float64, requires_grad=True) for n in ((2, 3), 3, 3))
    assert torch.autograd.gradcheck(layer_norm, (x, scale, shift))
    assert torch.autograd.gradcheck(rms_norm, (x, scale))


# Blocks against torch


@pytest.mark.parametrize("masked", ["none", "causal", "padding", "both"])
@BOTH_ORDERS
def test_encoder_block_equals_torchs(pre_norm, masked, device):
    ours = block(device=device, pre_norm=pre_norm)
    theirs = torchs(
        ours, nn.TransformerEncoderLayer(D, H, HIDDEN, 0.0, batch_first=True, norm_first=pre_norm)
    )
    x = words(device=device).requires_grad_()
    causal = masked in ("causal", "both")
    mask = padding_mask(torch.tensor([3, T], device=device)) if masked in ("padding", "both") else None
    expected = theirs(
        x,
        src_mask=~causal_mask(T, device=device)[0, 0] if causal else None,  # True hides, in torch's layers
        src_key_padding_mask=~mask[:, 0, 0] if mask is not None else None,
    )
    out = ours(x, mask=mask, causal=causal)
    close(out, expected)
    direction = torch.randn_like(out)
    grads = [torch.autograd.grad((y * direction).sum(), x)[0] for y in (out, expected)]
    close(*grads, atol=1e-10)  # sums of hundreds of terms of size 10


@pytest.mark.parametrize("padded", [False, True])
@BOTH_ORDERS
def test_decoder_block_equals_torchs(pre_norm, padded, device):
    ours = block(DecoderBlock, device, pre_norm=pre_norm)
    theirs = torchs(
        ours, nn.TransformerDecoderLayer(D, H, HIDDEN, 0.0, batch_first=True, norm_first=pre_norm)
    )
    x, memory = words(device=device), words(S, device)
    masks = [padding_mask(torch.tensor(n, device=device)) if padded else None for n in ([3, T], [S, 2])]
    expected = theirs(
        x,
        memory,
        tgt_mask=~causal_mask(T, device=device)[0, 0],
        tgt_key_padding_mask=~masks[0][:, 0, 0] if padded else None,
        memory_key_padding_mask=~masks[1][:, 0, 0] if padded else None,
    )
    close(ours(x, memory, mask=masks[0], memory_mask=masks[1]), expected, atol=1e-11)
    read = ours.cross_attention.keys_values(memory)
    close(ours(x, read, mask=masks[0], memory_mask=masks[1]), expected, atol=1e-11)


# The equations


@pytest.mark.parametrize("norm", [LayerNorm, RMSNorm])
@BOTH_ORDERS
def test_the_two_formulas(pre_norm, norm):
    ours, x = block(pre_norm=pre_norm, norm=norm, eps=0.125), words()
    assert isinstance(ours.attention_norm, norm)
    assert ours.attention_norm.eps == ours.feed_forward_norm.eps == 0.125
    expected = x
    for sub, normed in [(ours.attention, ours.attention_norm), (ours.feed_forward, ours.feed_forward_norm)]:
        expected = expected + sub(normed(expected)) if pre_norm else normed(expected + sub(expected))
    close(ours(x), expected)


def test_a_pre_norm_block_that_adds_nothing_hands_its_input_through():
    for kind, inputs in [(EncoderBlock, (words(),)), (DecoderBlock, (words(), words(S)))]:
        ours = block(kind, pre_norm=True)
        for name, parameter in ours.named_parameters():
            if "output." in name or "narrow." in name:
                nn.init.zeros_(parameter)
        assert torch.equal(ours(*inputs), inputs[0])


@pytest.mark.parametrize("kind", [EncoderBlock, DecoderBlock])
@BOTH_ORDERS
def test_the_past_is_blind_to_the_future(kind, pre_norm):
    ours, x, memory = block(kind, pre_norm=pre_norm), words().requires_grad_(), words(S).requires_grad_()
    out = ours(x, memory) if kind is DecoderBlock else ours(x, causal=True)
    for i in range(T):
        (grad,) = torch.autograd.grad(out[:, : i + 1].pow(3).sum(), x, retain_graph=True)
        assert (grad[:, i + 1 :] == 0).all()
        assert (grad[:, : i + 1] != 0).any(-1).all()
    if kind is DecoderBlock:  # but every word reads the whole memory
        (grad,) = torch.autograd.grad(out[:, 0].pow(3).sum(), memory)
        assert (grad != 0).any(-1).all()


@BOTH_ORDERS
@torch.no_grad()
def test_cached_equals_uncached_at_every_split(pre_norm):
    x, memory = words(), words(S)
    encoder = block(pre_norm=pre_norm, rotate=rotate_pairs)
    decoder = block(DecoderBlock, pre_norm=pre_norm, rotate=rotate_pairs)
    for split in range(1, T):
        caches = [b.attention.new_cache(B, T) for b in (encoder, decoder)]
        read = decoder.cross_attention.keys_values(memory)
        parts = [
            (encoder(part, causal=True, cache=caches[0]), decoder(part, read, cache=caches[1]))
            for part in x.split([split, T - split], dim=1)
        ]
        whole = encoder(x, causal=True), decoder(x, memory)
        for pieces, full in zip(zip(*parts, strict=True), whole, strict=True):
            close(torch.cat(pieces, 1), full, atol=1e-11)


@BOTH_ORDERS
def test_positions_bias_and_mask_reach_the_attention(pre_norm):
    x, memory, bias = words(), words(S), torch.randn(1, H, T, T, dtype=torch.float64)
    places, mask = torch.tensor([0, 1, 5, 9, 30]), padding_mask(torch.tensor([2, T]))
    for kind, inputs in [(EncoderBlock, (x,)), (DecoderBlock, (x, memory))]:
        ours = block(kind, rotate=rotate_pairs, pre_norm=pre_norm)
        plain = ours(*inputs)
        for option in ({"bias": bias}, {"positions": places}, {"mask": mask}):
            assert (ours(*inputs, **option) - plain).abs().max() > 1e-3


def test_dropout_falls_on_each_sublayer_in_training_only():
    for kind, inputs, sublayers in [(EncoderBlock, (words(),), 2), (DecoderBlock, (words(), words(S)), 3)]:
        ours = block(kind, dropout=0.5)
        calls = []
        ours.dropout.register_forward_hook(lambda *args, calls=calls: calls.append(args[2]))
        ours(*inputs)
        assert len(calls) == sublayers
        assert all(0.3 < (out == 0).double().mean() < 0.7 for out in calls)
        close(ours.eval()(*inputs), ours(*inputs))
        with raises(ValueError, "dropout"):
            block(kind, dropout=1.5)


# Elsewhere and wrong


def test_gradcheck_of_a_block():
    ours = randomised(EncoderBlock(MultiHeadAttention(4, 2), FeedForward(4, 3)))
    x = torch.randn(1, 3, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: ours(x, causal=True), x)


def test_works_on_the_meta_device_and_compiled():
    with torch.device("meta"):
        x, memory = torch.randn(B, T, D), torch.randn(B, S, D)
        attentions = MultiHeadAttention(D, H), MultiHeadAttention(D, H)
        assert EncoderBlock(attentions[0], FeedForward(D))(x, causal=True).shape == x.shape
        assert DecoderBlock(*attentions, FeedForward(D))(x, memory).shape == x.shape
    x, memory = words(), words(S)
    with unchecked():
        encoder, decoder = block(), block(DecoderBlock)
        close(compiled(encoder)(x, causal=True), encoder(x, causal=True))
        close(compiled(decoder)(x, memory), decoder(x, memory))


@pytest.mark.parametrize("norm", [LayerNorm, RMSNorm])
def test_wrong_input_is_named(norm):
    for call, kind, message in [
        (lambda: norm(0), ValueError, "at least 1 and eps at least 0; got 0"),
        (lambda: norm(4, eps=-1.0), ValueError, r"got 4 and -1\.0"),
        (lambda: norm(4)(torch.zeros(2, 3)), ValueError, "width 3, but d_model is 4"),
        (lambda: norm(4)(torch.zeros(2, 4, device="meta")), ValueError, "x is on meta, the weights on cpu"),
        (lambda: block(norm=norm)(words()[..., 1:]), ValueError, "width 41, but d_model is 42"),
        (lambda: block(norm=norm)(words(), mask=torch.ones(B, T).bool()), ValueError, "does not fit"),
        (lambda: block(norm=norm)(words(), causal=True, mask=torch.ones(T, T)), TypeError, "boolean"),
    ]:
        with raises(kind, message):
            call()
    with raises(ValueError, "memory holds vectors of width 41"):
        block(DecoderBlock)(words(), words()[..., 1:])
