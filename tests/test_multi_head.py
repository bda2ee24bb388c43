"""multi_head.py: against torch and transformers by copied weights, the cache, grouped queries."""

from functools import partial

import pytest
import torch
from checking import compiled, raises, unchecked
from torch import nn

from transformer_lib import (
    KVCache,
    MultiHeadAttention,
    causal_mask,
    padding_mask,
    rotate_halves,
    rotate_pairs,
)
from transformer_lib.attention import attention

B, H, K, T, S = 2, 3, 10, 5, 11
D = H * K


def close(a, b, atol=1e-12):
    torch.testing.assert_close(a, b, atol=atol, rtol=0)


def layer(device="cpu", **options) -> MultiHeadAttention:
    module = MultiHeadAttention(options.pop("d_model", D), options.pop("n_heads", H), **options)
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)
    return module.to(device, torch.float64)


def words(n=T, device="cpu"):
    return torch.randn(B, n, D, dtype=torch.float64, device=device)


def torchs(ours: MultiHeadAttention) -> nn.MultiheadAttention:
    """torch's module with the weights of ours, which stand in the same order."""
    theirs = nn.MultiheadAttention(D, H, bias=ours.qkv.bias is not None, batch_first=True)
    theirs = theirs.to(ours.qkv.weight)
    state = {"in_proj_weight": ours.qkv.weight, "out_proj.weight": ours.output.weight}
    if ours.qkv.bias is not None:
        state |= {"in_proj_bias": ours.qkv.bias, "out_proj.bias": ours.output.bias}
    theirs.load_state_dict(state)
    return theirs


# By hand and against others


def test_head_by_head():
    module, x = layer(bias=False), words()
    heads = []
    for h in range(H):
        rows = slice(h * K, (h + 1) * K)
        q, k, v = (x @ w[rows].T for w in (module.w_q, module.w_k, module.w_v))
        heads.append(attention(q, k, v))
    close(module(x), torch.cat(heads, dim=-1) @ module.output.weight.T)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("masked", ["none", "causal", "padding", "both"])
@pytest.mark.parametrize("cross", [False, True])
def test_equals_torch(cross, masked, bias, device):
    ours = layer(device, bias=bias)
    x = words(device=device)
    memory = words(S, device) if cross else None
    read = memory if cross else x
    causal, padded = masked in ("causal", "both"), masked in ("padding", "both")
    lengths = torch.tensor([3, read.shape[1]], device=device)
    mask = padding_mask(lengths) if padded else None
    out, weights = torchs(ours)(
        x,
        read,
        read,
        # In torch's module True means "may not attend": the opposite of ours.
        attn_mask=~causal_mask(T, read.shape[1], device=device)[0, 0] if causal else None,
        key_padding_mask=~mask[:, 0, 0] if padded else None,
        average_attn_weights=False,
    )
    close(ours(x, memory, mask=mask, causal=causal), out)
    close(ours.weights(x, memory, mask=mask, causal=causal), weights)


def test_equals_transformers_llama_with_rotation_and_grouped_queries():
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaAttention, LlamaRotaryEmbedding

    config = LlamaConfig(
        hidden_size=24, num_attention_heads=6, num_key_value_heads=2, attn_implementation="eager",
        rope_parameters={"rope_type": "default", "rope_theta": 500.0},
    )  # fmt: skip
    theirs = LlamaAttention(config, layer_idx=0)
    rotate = partial(rotate_halves, base=500.0)
    ours = layer(d_model=24, n_heads=6, n_kv_heads=2, bias=False, rotate=rotate).float()
    parts = dict(zip("qkv", (ours.w_q, ours.w_k, ours.w_v), strict=True)) | {"o": ours.output.weight}
    theirs.load_state_dict({f"{name}_proj.weight": weight for name, weight in parts.items()})
    x, positions = torch.randn(B, T, 24), torch.tensor([[0, 1, 2, 3, 4], [7, 8, 3, 0, 20]])
    hidden = torch.zeros(1, 1, T, T).masked_fill(~causal_mask(T), float("-inf"))
    angles = LlamaRotaryEmbedding(config)(x, positions)
    out, weights = theirs(x, position_embeddings=angles, attention_mask=hidden)
    close(ours(x, causal=True, positions=positions), out, atol=2e-5)
    close(ours.weights(x, causal=True, positions=positions), weights, atol=1e-5)


@pytest.mark.parametrize("n_kv_heads", [1, 2])
def test_grouped_queries_are_repeated_heads(n_kv_heads):
    grouped = layer(d_model=24, n_heads=4, n_kv_heads=n_kv_heads)
    full = layer(d_model=24, n_heads=4)
    repeat = lambda p: p.unflatten(0, (n_kv_heads, 6)).repeat_interleave(4 // n_kv_heads, 0).flatten(0, 1)  # noqa: E731
    with torch.no_grad():
        for name in ("weight", "bias"):
            q, k, v = getattr(grouped.qkv, name).split(grouped.sizes)
            getattr(full.qkv, name).copy_(torch.cat([q, repeat(k), repeat(v)]))
    full.output.load_state_dict(grouped.output.state_dict())
    x, memory = torch.randn(2, B, T, 24, dtype=torch.float64).unbind()
    for read in (None, memory):
        close(grouped(x, read, causal=True), full(x, read, causal=True))
        close(grouped.weights(x, read), full.weights(x, read))
    assert grouped.new_cache(3, 9).k.shape == (3, n_kv_heads, 9, 6)


# The weights


def test_weights_times_values_are_the_forward_pass():
    module, x, memory = layer(), words(), words(S)
    bias = torch.randn(1, H, T, S, dtype=torch.float64)
    mask = padding_mask(torch.tensor([4, S]))
    weights = module.weights(x, memory, mask=mask, bias=bias)
    assert weights.shape == (B, H, T, S)
    close(weights.sum(-1), torch.ones_like(weights[..., 0]))
    assert (weights[0, ..., 4:] == 0).all()
    _, values = module.keys_values(memory)
    read = module.output((weights @ values).transpose(1, 2).flatten(2))
    close(module(x, memory, mask=mask, bias=bias), read)
    close(module(x, module.keys_values(memory), mask=mask, bias=bias), read)
    assert (module(x, memory, mask=mask) - read).abs().max() > 0.1  # the bias counts


def test_lecture_names():
    module = layer(n_kv_heads=1)
    assert module.w_q.shape == (D, D)
    assert module.w_k.shape == module.w_v.shape == (K, D)
    assert torch.equal(torch.cat([module.w_q, module.w_k, module.w_v]), module.qkv.weight)
    wide = layer(d_head=4)
    assert wide.w_q.shape == (H * 4, D)
    assert wide(words()).shape == (B, T, D)


def test_all_heads_cost_no_more_than_one_of_full_width():
    count = lambda h: sum(p.numel() for p in MultiHeadAttention(24, h).parameters())  # noqa: E731
    assert count(1) == count(4) == count(12) == 4 * (24 * 24 + 24)


# The future


@pytest.mark.parametrize("rotate", [None, rotate_pairs])
def test_the_past_is_blind_to_the_future(rotate):
    module, x = layer(rotate=rotate), words().requires_grad_()
    out = module(x, causal=True)
    for i in range(T):
        (grad,) = torch.autograd.grad(out[:, : i + 1].square().sum(), x, retain_graph=True)
        assert (grad[:, i + 1 :] == 0).all()
        assert (grad[:, : i + 1] != 0).any(-1).all()
    close(module(x, mask=causal_mask(T)), out)


def test_a_padded_batch_equals_its_sentences_one_by_one():
    module, x, lengths = layer(), words(), [3, T]
    for causal in (False, True):
        together = module(x, mask=padding_mask(torch.tensor(lengths)), causal=causal)
        for b, n in enumerate(lengths):
            close(together[b : b + 1, :n], module(x[b : b + 1, :n], causal=causal))


# The cache


@pytest.mark.parametrize("n_kv_heads", [3, 1])
@pytest.mark.parametrize("rotate", [None, rotate_pairs, rotate_halves])
@torch.no_grad()
def test_cached_equals_uncached_at_every_split(rotate, n_kv_heads, device):
    module, x = layer(device, rotate=rotate, n_kv_heads=n_kv_heads), words(device=device)
    full = module(x, causal=True)
    for first in range(1, T):
        for second in range(first + 1, T + 1):  # three parts, the last perhaps empty
            cache = module.new_cache(B, T)
            parts = [x[:, :first], x[:, first:second], x[:, second:]]
            outs = [module(part, causal=True, cache=cache) for part in parts if part.shape[1]]
            close(torch.cat(outs, 1), full)
            assert cache.length == T


@torch.no_grad()
def test_a_cache_under_autocast_takes_and_gives_its_dtype(device):
    module, x = layer(device).float(), words(device=device).float()
    cache = module.new_cache(B, T)
    with torch.autocast(device.type, torch.bfloat16):
        full = module(x, causal=True)
        parts = [module(part, causal=True, cache=cache) for part in x.split([2, 1, T - 3], dim=1)]
    assert torch.cat(parts, 1).dtype == full.dtype == torch.bfloat16
    torch.testing.assert_close(torch.cat(parts, 1), full, atol=2e-2, rtol=2e-2)


@torch.no_grad()
def test_a_cache_with_left_padding_and_rows_chosen():
    """Padding on the left, given positions: each sentence as if it were alone; then rows are reordered."""
    module, x = layer(rotate=rotate_halves), words()
    pads = torch.tensor([2, 0])
    mask = (torch.arange(T) >= pads[:, None])[:, None, None]
    places = (torch.arange(T) - pads[:, None]).clamp(min=0)
    cache = module.new_cache(B, T)
    outs = [
        module(x[:, a:b], mask=mask[..., :b], causal=True, positions=places[:, a:b], cache=cache)
        for a, b in [(0, 4), (4, T)]
    ]
    for b, n in enumerate(pads):
        close(torch.cat(outs, 1)[b : b + 1, n:], module(x[b : b + 1, n:], causal=True))
    k, v = cache.k.clone(), cache.v.clone()
    cache.select(torch.tensor([1, 1, 0]))
    assert torch.equal(cache.k, k[[1, 1, 0]])
    assert torch.equal(cache.v, v[[1, 1, 0]])
    assert cache.length == T


def test_a_full_cache_says_so():
    cache = KVCache(torch.zeros(2, 1, 3, 4), torch.zeros(2, 1, 3, 4))
    keys = torch.ones(2, 1, 2, 4)
    k, v = cache.append(keys, 2 * keys)
    assert torch.equal(k, keys)
    assert torch.equal(v, 2 * keys)
    with raises(ValueError, "holds 2 of at most 3 words for a batch of 2; it cannot take 2 more"):
        cache.append(keys, keys)
    with raises(ValueError, "for a batch of 2; it cannot take 1 more for a batch of 1"):
        cache.append(keys[:1, :, :1], keys[:1, :, :1])
    assert cache.length == 2


# Gradients, devices, wrong input


def test_gradcheck():
    module = layer(d_model=4, n_heads=2, n_kv_heads=1, rotate=rotate_pairs)
    x = torch.randn(1, 3, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: module(x, causal=True), x)


def test_works_on_the_meta_device_and_compiled():
    with torch.device("meta"):
        module = MultiHeadAttention(D, H, rotate=rotate_pairs)
        x = torch.randn(B, T, D)
        assert module(x, causal=True, cache=module.new_cache(B, T)).shape == module(x, x).shape == x.shape
        assert module.weights(x, causal=True).shape == (B, H, T, T)
    module, x, mask = layer(rotate=rotate_halves), words(), padding_mask(torch.tensor([3, T]))
    with unchecked():
        for options in ({"causal": True}, {"mask": mask}, {"mask": mask, "causal": True}):
            close(compiled(module)(x, **options), module(x, **options))


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: MultiHeadAttention(10, 3), ValueError, "got d_model=10, n_heads=3"),
        (lambda: MultiHeadAttention(12, 6, n_kv_heads=4), ValueError, "got n_heads=6, n_kv_heads=4"),
        (lambda: MultiHeadAttention(12, 0), ValueError, "n_heads must be at least 1; got 0"),
        (lambda: MultiHeadAttention(12, 3, n_kv_heads=0), ValueError, "n_kv_heads must be at least 1; got 0"),
        (lambda: MultiHeadAttention(12, 3, d_head=0), ValueError, "d_head must be at least 1; got 0"),
        (lambda: layer()(words()[0]), ValueError, r"x must have shape \(B, T, 30\); got \(5, 30\)"),
        (lambda: layer()(words()[..., 1:]), ValueError, "x holds vectors of width 29, but d_model is 30"),
        (lambda: layer()(words(), words()[..., 1:]), ValueError, "memory holds vectors of width 29"),
        (lambda: layer()(words(), words()[:1]), ValueError, r"same B and H.*k \(1, 3, 5, 10\)"),
        (lambda: layer()(words(0)), ValueError, r"at least one word; got \(2, 0, 30\)"),
        (lambda: layer()(words().long()), TypeError, "x must be.*got torch.int64"),
        (lambda: layer()(words(device="meta")), ValueError, "x is on meta, the weights on cpu"),
        (lambda: layer()(words(), mask=torch.ones(1, 1, T, T)), TypeError, "boolean.*got torch.float32"),
        (
            lambda: layer()(words(), mask=torch.ones(1, 1, T, T), causal=True),
            TypeError,
            "boolean.*got torch.float32",
        ),
        (lambda: layer()(words(), words(3), causal=True), ValueError, "got T=5, S=3"),
        (
            lambda: layer()(words(), words(), cache=layer().new_cache(B, T)),
            ValueError,
            "cache is for self-attention",
        ),
        (
            lambda: layer()(words(), bias=torch.ones(1, 1, T, T).bool()),
            TypeError,
            "bias must.*got torch.bool",
        ),
        (lambda: layer(d_head=5, rotate=rotate_pairs)(words()), ValueError, "must be even.*got 5"),
    ],
)
def test_wrong_input_is_named(call, kind, message):
    with raises(kind, message):
        call()


@pytest.mark.parametrize("causal", [False, True])
def test_a_mask_of_batch_by_keys_never_passes_for_one_of_queries_by_keys(causal):
    x = torch.randn(T, T, D, dtype=torch.float64)  # B = T: broadcasting alone would take the mask
    for wrong in (torch.ones(T, T).bool(), torch.ones(1, T, T).bool()):
        with raises(ValueError, "does not fit"):
            layer()(x, mask=wrong, causal=causal)
        with raises(ValueError, "does not fit"):
            layer().weights(x, mask=wrong, causal=causal)
