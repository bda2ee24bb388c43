"""cost.py: exactly torch's FlopCounterMode and numel; bytes as autograd and caches hold them."""

import pytest
import torch
import torch.nn.functional as F
from checking import raises
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from transformer_lib import EncoderDecoder, TransformerEncoder, TransformerLM, attention
from transformer_lib.configs import EncoderConfig, EncoderDecoderConfig, LMConfig
from transformer_lib.cost import (
    decoding_bytes,
    decoding_flops,
    flops,
    kv_cache_bytes,
    parameters,
    training_bytes,
)

B, T, S, D, V = 2, 7, 11, 24, 53
MODELS = {LMConfig: TransformerLM, EncoderConfig: TransformerEncoder, EncoderDecoderConfig: EncoderDecoder}


def config(kind, **options):
    return kind(**({"vocab_size": V, "d_model": D, "n_layers": 3, "n_heads": 4, "max_length": 13} | options))


CONFIGS = [
    config(LMConfig),
    config(LMConfig, n_kv_heads=2, bias=False, tie_embeddings=False),
    config(LMConfig, n_kv_heads=1, gated=True, activation="silu", norm="rms", positions="rotary"),
    config(LMConfig, gated=True, d_ff=29, positions="alibi", pre_norm=False),
    config(EncoderConfig, n_segments=2, embedding_norm=True),
    config(EncoderConfig, n_layers=1, pre_norm=True, activation="relu", n_kv_heads=2),
    config(EncoderDecoderConfig),
    config(EncoderDecoderConfig, n_kv_heads=2, gated=True, bias=False, norm="rms", positions="learned"),
    config(EncoderDecoderConfig, n_kv_heads=1, d_ff=31, pre_norm=True, output_bias=True, activation="gelu"),
]
ALL = pytest.mark.parametrize("shape", CONFIGS, ids=lambda c: type(c).__name__)
WRITERS = pytest.mark.parametrize(
    "shape", [c for c in CONFIGS if not isinstance(c, EncoderConfig)], ids=lambda c: type(c).__name__
)


def has_source(shape):
    return isinstance(shape, EncoderDecoderConfig)


def build(shape, device="meta"):
    with torch.device(device):
        ids = torch.randint(V, (B, T))
        return MODELS[type(shape)](shape), ([torch.randint(V, (B, S)), ids] if has_source(shape) else [ids])


def counted(f):
    """FLOPs of f by torch's own count, attention taken apart into its matrix products."""
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        f()
    return counter.get_total_flops()


# Parameters and FLOPs, exactly


@ALL
def test_parameters_are_those_of_the_model(shape):
    model, _ = build(shape)
    terms = parameters(shape)
    assert sum(terms.values()) == sum(p.numel() for p in model.parameters())
    found = dict.fromkeys(terms, 0)
    words = {
        "embedding.words": "embeddings",
        "segments": "embeddings",
        "places": "positions",
        "norm": "norms",
    }
    words |= {"logits": "logits", "feed_forward.": "feed-forward", "attention.": "projections"}
    for name, p in model.named_parameters():  # each parameter by the first word that its name holds
        found[next(term for word, term in words.items() if word in name)] += p.numel()
    assert terms == found


@pytest.mark.parametrize("training", [False, True])
@ALL
def test_flops_are_those_that_torch_counts(shape, training):
    model, ids = build(shape)
    expected = counted(lambda: model(*ids).sum().backward() if training else model(*ids))
    terms = flops(shape, T, source=S if has_source(shape) else None, batch=B, training=training)
    assert sum(terms.values()) == expected


def test_flops_by_hand():
    shape = LMConfig(vocab_size=100, d_model=8, n_layers=2, n_heads=2)
    assert flops(shape, 10) == {
        "projections": 2 * 8 * 10 * 8**2,
        "scores": 2 * 2 * 10**2 * 8,
        "weighted sum": 2 * 2 * 10**2 * 8,
        "feed-forward": 2 * 4 * 10 * 8 * 32,
        "logits": 2 * 10 * 8 * 100,
    }
    terms = flops(shape, 6 * 8)  # where the square overtakes the rest of a layer
    assert terms["scores"] + terms["weighted sum"] == terms["projections"] + terms["feed-forward"]


def writing(shape, past, device="meta"):
    """A model that has read `past` words, and a function that writes one more."""
    model, ids = build(shape, device)
    caches, ids = model.new_caches(B, past + 1), torch.zeros(B, past, dtype=torch.int64, device=device)
    with torch.no_grad():
        if not has_source(shape):
            model(ids, caches=caches)
            return model, caches, lambda: model(ids[:, :1], caches=caches)
        memories = model.memories(model.encode(torch.zeros(B, S, dtype=torch.int64, device=device)))
        model.decode(ids, memories, caches=caches)
    return model, caches, lambda: model.decode(ids[:, :1], memories, caches=caches)


@pytest.mark.parametrize("past", [1, 5])
@WRITERS
def test_decoding_flops_are_those_that_torch_counts(shape, past):
    _, _, write = writing(shape, past)
    terms = decoding_flops(shape, past, source=S if has_source(shape) else None, batch=B)
    assert sum(terms.values()) == counted(write)


def test_decoding_flops_add_up_to_reading_at_once():
    """Word after word with a cache is the triangle of the square that one call computes."""
    shape = config(LMConfig, n_kv_heads=2)
    steps = [decoding_flops(shape, past) for past in range(T)]
    at_once = flops(shape, T)
    for term in ("projections", "feed-forward", "logits"):
        assert sum(step[term] for step in steps) == at_once[term]
    assert sum(step["scores"] for step in steps) * 2 * T == at_once["scores"] * (T + 1)


# Bytes


@WRITERS
def test_cache_bytes_are_those_of_the_caches(shape):
    model, _ = build(shape)
    n_bytes = sum(c.k.nbytes + c.v.nbytes for c in model.new_caches(B, T))
    if has_source(shape):
        n_bytes += sum(k.nbytes + v.nbytes for k, v in model.memories(torch.zeros(B, S, D, device="meta")))
    source = S if has_source(shape) else None
    assert kv_cache_bytes(shape, T, source=source, batch=B) == n_bytes
    assert kv_cache_bytes(shape, T, source=source, batch=B, dtype=torch.bfloat16) == n_bytes // 2
    assert decoding_bytes(shape, T, source=source, batch=B)["cache"] == n_bytes


@WRITERS
def test_decoding_reads_the_weights_that_have_a_gradient(shape):
    """What a step of decoding reads is what its output depends on."""
    model, caches, write = writing(shape, 3, "cpu")
    for p in model.parameters():
        torch.nn.init.normal_(p, std=0.5)
    for cache in caches:
        torch.nn.init.normal_(cache.k), torch.nn.init.normal_(cache.v)
    (write() * torch.randn(V)).sum().backward()
    touched = sum(int((p.grad != 0).sum()) for p in model.parameters() if p.grad is not None)
    terms = decoding_bytes(shape, 3, source=S if has_source(shape) else None, batch=1)
    cache, embeddings = terms.pop("cache"), terms["embeddings"]
    expected = sum(terms.values()) // 4
    assert cache > 0
    assert embeddings == 4 * D
    if getattr(shape, "tie_embeddings", True):  # the row read is one of the last map's
        expected -= D
    if shape.activation == "relu":  # a word that is cut off leaves no gradient
        assert 0.7 * expected < touched <= expected
    else:
        assert touched == expected


def kept(f, given):
    """Bytes that autograd keeps when f runs, beyond those given; whole numbers (ids) not counted."""
    storages, held = {}, []

    def pack(x):
        held.append(x)  # else another may take its place in memory
        if x.is_floating_point() and x.dim():
            storages[x.untyped_storage().data_ptr()] = x.untyped_storage().nbytes()
        return x

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        out = f()
    for x in given:
        storages.pop(x.untyped_storage().data_ptr(), None)
    del out
    return sum(storages.values())


@pytest.mark.parametrize(
    "shape",
    [
        config(LMConfig),
        config(LMConfig, n_kv_heads=2, bias=False, tie_embeddings=False, activation="relu"),
        config(LMConfig, gated=True, activation="silu", d_ff=29, pre_norm=False),
        config(LMConfig, gated=True, activation="relu"),
        config(LMConfig, norm="rms"),
        config(EncoderDecoderConfig, norm="rms"),
        config(EncoderConfig, embedding_norm=True),
        config(EncoderDecoderConfig),
        config(EncoderDecoderConfig, pre_norm=True, n_kv_heads=1, activation="gelu"),
    ],
    ids=lambda c: type(c).__name__,
)
def test_training_keeps_what_autograd_keeps(shape):
    model, ids = build(shape, "cpu")

    def loss():
        out = model(*ids)
        return out if isinstance(shape, EncoderConfig) else F.cross_entropy(out.mT, ids[-1])

    terms = training_bytes(shape, T, source=S if has_source(shape) else None, batch=B)
    expected = kept(loss, list(model.parameters()))
    assert sum(n for term, n in terms.items() if term.startswith("kept")) == expected


def test_training_bytes_of_weights_gradients_and_averages():
    shape = config(LMConfig)
    model, ids = build(shape, "cpu")
    optimizer = torch.optim.Adam(model.parameters())
    model(*ids).sum().backward()
    optimizer.step()
    terms = training_bytes(shape, T)
    assert terms["weights"] == sum(p.nbytes for p in model.parameters())
    assert terms["gradients"] == sum(p.grad.nbytes for p in model.parameters())
    averages = [
        state[name].nbytes for state in optimizer.state.values() for name in ("exp_avg", "exp_avg_sq")
    ]
    assert terms["Adam's averages"] == sum(averages)


def test_explicit_attention_keeps_its_weights():
    q, k, v = torch.randn(3, B, 4, T, D // 4, requires_grad=True).unbind()
    weights = kept(lambda: attention(q, k, v), (q, k, v)) - 4 * q.numel()  # scaled queries in place of q
    shape = config(LMConfig, n_layers=1)
    explicit, fused = (
        training_bytes(shape, T, batch=B, explicit=e)["kept: attention"] for e in (True, False)
    )
    assert weights == B * 4 * T * T * 4
    assert explicit - fused == B * 4 * T * (T - 1) * 4  # the kernel keeps one number for each query


# Wrong input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: flops(config(LMConfig), 0), "got 0, None and 1"),
        (lambda: flops(config(LMConfig), 5, batch=0), "got 5, None and 0"),
        (lambda: flops(config(LMConfig), 5, source=3), "LMConfig has no source; got source=3"),
        (lambda: flops(config(EncoderDecoderConfig), 5), "EncoderDecoderConfig needs a source"),
        (lambda: decoding_flops(config(LMConfig), -1), "got 0"),
        (lambda: kv_cache_bytes(config(EncoderDecoderConfig), 5), "needs a source"),
        (lambda: training_bytes(config(LMConfig), 0), "at least 1"),
        (lambda: decoding_bytes(config(EncoderDecoderConfig), 4, source=0), "got 5, 0"),
    ],
)
def test_wrong_input_is_named(call, message):
    with raises(ValueError, message):
        call()
