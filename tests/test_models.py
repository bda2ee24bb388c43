"""models.py: against nn.Transformer, causality by gradient, how weights begin, caches, padding, depth."""

import math

import pytest
import torch
from checking import compiled, raises, unchecked
from torch import nn

from transformer_lib import (
    EncoderConfig,
    EncoderDecoder,
    EncoderDecoderConfig,
    LMConfig,
    TransformerEncoder,
    TransformerLM,
    padding_mask,
    padding_mask_from_ids,
    sinusoidal_table,
)
from transformer_lib.configs import POSITIONS

B, T, S, V = 2, 5, 11, 47
SIZES = {"vocab_size": V, "d_model": 42, "n_heads": 3, "n_layers": 2, "d_ff": 23, "max_length": 13}
BOTH_ORDERS = pytest.mark.parametrize("pre_norm", [False, True])
KINDS = ("alibi", "rotary", "learned", "sinusoidal")


def close(a, b, atol=1e-12):
    torch.testing.assert_close(a, b, atol=atol, rtol=0)


def randomised(model, device="cpu"):
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.5)
    return model.to(device, torch.float64)


def build(kind, device="cpu", **options):
    configs = {
        TransformerEncoder: EncoderConfig,
        TransformerLM: LMConfig,
        EncoderDecoder: EncoderDecoderConfig,
    }
    return randomised(kind(configs[kind](**(SIZES | options))), device)


def ids(n=T, device="cpu", batch=B):
    return torch.randint(V, (batch, n), device=device)


def copy_weights(ours, theirs):
    """The weights of one of our stacks of blocks into torch's."""
    state = {}
    for i, block in enumerate(ours):
        for name, value in block.state_dict().items():
            decoder = hasattr(block, "cross_attention")
            for old, new in [
                ("cross_attention.qkv.", "multihead_attn.in_proj_"),
                ("cross_attention.output.", "multihead_attn.out_proj."),
                ("cross_attention_norm.", "norm2."),
                ("attention.qkv.", "self_attn.in_proj_"),
                ("attention.output.", "self_attn.out_proj."),
                ("attention_norm.", "norm1."),
                ("feed_forward.widen.", "linear1."),
                ("feed_forward.narrow.", "linear2."),
                ("feed_forward_norm.", "norm3." if decoder else "norm2."),
                (".scale", ".weight"),
                (".shift", ".bias"),
            ]:
                name = name.replace(old, new)
            state[f"layers.{i}.{name}"] = value
    theirs.load_state_dict(state, strict=False)
    return len(state)


# Against torch's own Transformer


@pytest.mark.parametrize("padded", [False, True])
@BOTH_ORDERS
def test_encoder_decoder_equals_torchs(pre_norm, padded, device):
    ours = build(EncoderDecoder, device, pre_norm=pre_norm)
    options = {"batch_first": True, "norm_first": pre_norm}
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(42, 3, 23, 0.0, **options),
        2,
        nn.LayerNorm(42),
        enable_nested_tensor=False,  # the default warns of what it does not do
    )
    theirs = nn.Transformer(42, 3, 2, 2, 23, 0.0, custom_encoder=encoder, **options)
    theirs = theirs.to(device, torch.float64)
    copied = copy_weights(ours.encoder, theirs.encoder) + copy_weights(ours.decoder, theirs.decoder)
    for name in ("encoder", "decoder"):
        norm = getattr(ours, f"{name}_norm")
        if pre_norm:
            getattr(theirs, name).norm.load_state_dict({"weight": norm.scale, "bias": norm.shift})
        else:  # torch adds a last norm to both orders; the original paper has none
            assert isinstance(norm, nn.Identity)
            getattr(theirs, name).norm = None
    assert copied == len(theirs.state_dict()) - 4 * pre_norm

    source, target = ids(S, device), ids(T, device)
    source_pads, target_pads = torch.tensor([7, S], device=device), torch.tensor([T, 3], device=device)
    embed = [
        ours.embedding.words.weight[x] * math.sqrt(42)
        + sinusoidal_table(torch.arange(x.shape[1], device=device), 42, dtype=torch.float64)
        for x in (source, target)
    ]
    hidden = [~padding_mask(n)[:, 0, 0] if padded else None for n in (source_pads, target_pads)]
    out = theirs(
        *embed,
        tgt_mask=theirs.generate_square_subsequent_mask(T, device=device).bool(),
        src_key_padding_mask=hidden[0],
        memory_key_padding_mask=hidden[0],
        tgt_key_padding_mask=hidden[1],
    )
    masks = [padding_mask(n) if padded else None for n in (source_pads, target_pads)]
    logits = ours(source, target, source_mask=masks[0], target_mask=masks[1])
    assert logits.shape == (B, T, V)
    expected = out @ ours.embedding.words.weight.T
    close(logits / expected.abs().max(), expected / expected.abs().max())  # logits reach hundreds here
    close(ours.decode(target, ours.encode(source)), ours(source, target))


@pytest.mark.parametrize("tied", [False, True])
@BOTH_ORDERS
def test_lm_and_encoder_equal_torchs_encoder_layers(pre_norm, tied, device):
    lm = build(TransformerLM, device, pre_norm=pre_norm, tie_embeddings=tied, activation="relu")
    encoder = build(TransformerEncoder, device, pre_norm=pre_norm, activation="relu", n_segments=3)
    for ours, causal in ((lm, True), (encoder, False)):
        layer = nn.TransformerEncoderLayer(42, 3, 23, 0.0, batch_first=True, norm_first=pre_norm)
        theirs = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).to(device, torch.float64)
        copy_weights(ours.blocks, theirs)
        words = ids(device=device)
        x = ours.embedding.words.weight[words] + ours.embedding.places.table.weight[:T]
        options, segments = {}, torch.tensor([[0, 1, 2, 0, 2]] * B, device=device)
        if not causal:
            x, options = x + ours.segments.weight[segments], {"segments": segments}
        hidden = ~torch.ones(T, T, dtype=torch.bool, device=device).tril() if causal else None
        expected = ours.norm(theirs(x, mask=hidden))
        if causal:
            expected = expected @ (ours.embedding.words if tied else ours.logits).weight.T
        close(ours(words, **options), expected, atol=1e-11)
    close(encoder(words), encoder(words, segments=torch.zeros_like(words)))


def test_a_norm_on_the_embeddings_of_an_encoder():
    plain, normed = (build(TransformerEncoder, embedding_norm=on) for on in (False, True))
    missing = normed.load_state_dict(plain.state_dict(), strict=False).missing_keys
    assert missing == ["embedding_norm.scale", "embedding_norm.shift"]
    words, seen = ids(), []
    normed.blocks[0].register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    normed(words)
    close(seen[0], normed.embedding_norm(plain.embedding(words)))


# The future


def gradients(model, run, words, i):
    """Of the first i + 1 outputs, with respect to the vector of every word."""
    seen = []
    hook = model.embedding.words.register_forward_hook(lambda *args: seen.append(args[2]))
    out = run(words)
    hook.remove()
    return torch.autograd.grad(out[:, : i + 1].pow(2).sum(), seen[-1])[0]


@pytest.mark.parametrize("positions", POSITIONS)
@BOTH_ORDERS
def test_the_past_is_blind_to_the_future(pre_norm, positions):
    lm = build(TransformerLM, pre_norm=pre_norm, positions=positions)
    both, source = build(EncoderDecoder, pre_norm=pre_norm, positions=positions), ids(S)
    memory = both.encode(source).detach()
    for model, run in [(lm, lm), (both, lambda words: both.decode(words, memory))]:
        words = ids()
        for i in range(T - 1):
            grad = gradients(model, run, words, i)
            assert (grad[:, i + 1 :] == 0).all()
            assert (grad[:, : i + 1] != 0).any(-1).all()
        changed = words.clone()
        changed[:, 3:] = (changed[:, 3:] + 1) % V
        assert torch.equal(run(words)[:, :3], run(changed)[:, :3])


def test_an_encoder_reads_both_ways():
    encoder = build(TransformerEncoder)
    assert (gradients(encoder, encoder, ids(), 0) != 0).any(-1).all()


# Order, padding, batch


@pytest.mark.parametrize("positions", POSITIONS)
def test_only_positions_tell_the_order(positions):
    encoder, words, order = (
        build(TransformerEncoder, positions=positions),
        ids(),
        torch.tensor([3, 0, 4, 1, 2]),
    )
    gap = (encoder(words[:, order]) - encoder(words)[:, order]).abs().max()
    assert gap < 1e-11 if positions == "none" else gap > 1e-3


@pytest.mark.parametrize("positions", POSITIONS)
def test_padding_changes_nothing_nor_does_the_batch(positions, device):
    lengths = torch.tensor([3, S], device=device)
    source, mask = ids(S, device), padding_mask(lengths)
    encoder = build(TransformerEncoder, device, positions=positions)
    lm = build(TransformerLM, device, positions=positions)
    both, target = build(EncoderDecoder, device, positions=positions), ids(T, device)
    together = encoder(source, mask=mask), lm(source, mask=mask), both(source, target, source_mask=mask)
    for b, n in enumerate(lengths.tolist()):
        alone = source[b : b + 1, :n]
        close(together[0][b : b + 1, :n], encoder(alone), atol=1e-11)
        close(together[1][b : b + 1, :n], lm(alone), atol=1e-11)
        close(together[2][b : b + 1], both(alone, target[b : b + 1]), atol=1e-10)


@pytest.mark.parametrize("positions", KINDS)
def test_padding_on_the_left_with_places_given(positions):
    lm, words = build(TransformerLM, positions=positions), ids()
    words[words == 0] = 1
    words[0, :2] = 0
    places = torch.tensor([[0, 0, 0, 1, 2], [0, 1, 2, 3, 4]])
    out = lm(words, mask=padding_mask_from_ids(words, pad_id=0), positions=places)
    close(out[:1, 2:], lm(words[:1, 2:]), atol=1e-11)
    close(out[1:], lm(words[1:]), atol=1e-11)
    assert out.isfinite().all()


# Caches


@pytest.mark.parametrize("positions", POSITIONS)
@torch.no_grad()
def test_cached_equals_uncached_at_every_split(positions, device):
    lm = build(TransformerLM, device, positions=positions, n_kv_heads=1)
    both = build(EncoderDecoder, device, positions=positions, n_kv_heads=1)
    words, source = ids(device=device), ids(S, device)
    mask = padding_mask(torch.tensor([S, 4], device=device))
    memories = both.memories(both.encode(source, mask=mask))

    def decode(part, **options):
        return both.decode(part, memories, memory_mask=mask, **options)

    for model, run, full in [(lm, lm, lm(words)), (both, decode, both(source, words, source_mask=mask))]:
        close(run(words, last_only=True), full[:, -1:], atol=1e-10)
        for split in range(1, T):
            caches = model.new_caches(B, T)
            with unchecked():
                parts = [run(part, caches=caches) for part in words.split([split, T - split], dim=1)]
            close(torch.cat(parts, 1), full, atol=1e-10)
            assert all(cache.length == T for cache in caches)
        caches = model.new_caches(B, T)
        with unchecked():
            parts = [run(word, caches=caches, last_only=True) for word in words.split(1, dim=1)]
        close(torch.cat(parts, 1), full, atol=1e-10)


# How the weights begin, and how deep it goes


@pytest.mark.parametrize("kind", ["encoder", "lm", "both"])
def test_weights_begin_as_the_table_says(kind):
    sizes = {"vocab_size": 101, "d_model": 96, "n_heads": 3, "n_layers": 3, "init_std": 0.03}
    model = {
        "encoder": lambda: TransformerEncoder(EncoderConfig(**sizes, n_segments=60, embedding_norm=True)),
        "lm": lambda: TransformerLM(LMConfig(**sizes, tie_embeddings=False, gated=True)),
        "both": lambda: EncoderDecoder(EncoderDecoderConfig(**sizes, output_bias=True, positions="learned")),
    }[kind]()
    sublayers, seen = 9 if kind == "both" else 6, {"last": 0, "linear": 0, "bias": 0, "scale": 0}
    for name, parameter in model.named_parameters():
        if name.endswith((".bias", ".shift")):
            seen["bias"] += 1
            assert (parameter == 0).all(), name
        elif name.endswith(".scale"):
            seen["scale"] += 1
            assert (parameter == 1).all(), name
        else:
            last = name.endswith(("output.weight", "narrow.weight"))
            seen["last" if last else "linear"] += 1
            std = 0.03 / math.sqrt(sublayers) if last else 0.03
            # The standard deviation of n numbers is off by 1/√(2n) of itself; five times that is allowed.
            assert parameter.std().item() == pytest.approx(std, rel=5 / math.sqrt(2 * parameter.numel())), (
                name
            )
            assert abs(parameter.mean()) < 5 * std / math.sqrt(parameter.numel()), name
    assert seen["last"] == (3 * 2 + 3 * 3 if kind == "both" else 6)
    assert all(seen.values())


@pytest.mark.parametrize("n_layers", [1, 101])
def test_any_depth_builds_with_its_own_weights(n_layers):
    sizes = SIZES | {"n_layers": n_layers}
    with torch.device("meta"), unchecked():
        lm, words = TransformerLM(LMConfig(**sizes)), torch.zeros(B, T, dtype=torch.int64)
        both = EncoderDecoder(EncoderDecoderConfig(**sizes))
        encoder = TransformerEncoder(EncoderConfig(**sizes))
        assert lm(words).shape == both(words, words).shape == (B, T, V)
        assert encoder(words).shape == (B, T, 42)
    count = lambda module: sum(p.numel() for p in module.parameters())  # noqa: E731
    outside = V * 42 + 13 * 42 + 2 * 42  # tied embeddings, positions, the last norm
    assert count(lm) == outside + n_layers * count(lm.blocks[0])
    assert count(both) == V * 42 + n_layers * (count(both.encoder[0]) + count(both.decoder[0]))


@BOTH_ORDERS
def test_a_hundred_layers_run_forward_and_back(pre_norm):
    lm = TransformerLM(LMConfig(vocab_size=7, d_model=8, n_heads=2, n_layers=100, pre_norm=pre_norm))
    words = torch.randint(7, (2, 5))
    with unchecked():
        loss = nn.functional.cross_entropy(lm(words)[:, :-1].flatten(0, 1), words[:, 1:].flatten())
    loss.backward()
    assert 0.5 * math.log(7) < loss < 2 * math.log(7)
    for name, parameter in lm.named_parameters():
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.any(), name


def test_tied_weights_are_one_tensor():
    for model in (build(TransformerLM), build(EncoderDecoder)):
        assert model.logits.weight is model.embedding.words.weight
    untied = build(TransformerLM, tie_embeddings=False)
    assert untied.logits.weight is not untied.embedding.words.weight
    scaled, plain = (build(EncoderDecoder, scale_embeddings=on) for on in (True, False))
    assert (scaled.embedding.scale, plain.embedding.scale) == (math.sqrt(42), 1.0)


# Compiled, meta, wrong input


def test_compiles():
    words = ids()
    for model in (build(TransformerLM, positions="rotary"), build(TransformerLM), build(TransformerEncoder)):
        with unchecked():
            close(compiled(model)(words), model(words), atol=1e-11)
    both = build(EncoderDecoder)
    with unchecked():
        close(compiled(both)(ids(S), words).isfinite().double(), torch.ones(B, T, V).double())


@pytest.mark.parametrize("kind", [TransformerEncoder, TransformerLM, EncoderDecoder])
def test_wrong_input_is_named(kind):
    model = build(kind)
    run = (lambda words: model(ids(), words)) if kind is EncoderDecoder else model
    for words, error, message in [
        (torch.tensor([[3, V]]), ValueError, "ids must lie between 0 and 46, for a vocabulary of 47; got 47"),
        (torch.tensor([[-1, 3]]), ValueError, "for a vocabulary of 47; got -1"),
        (torch.zeros(B, 0, dtype=torch.int64), ValueError, r"at least one word each; got \(2, 0\)"),
        (torch.zeros(T, dtype=torch.int64), ValueError, r"shape \(B, T\).*got \(5,\)"),
        (torch.zeros(B, T), TypeError, "whole numbers.*got torch.float32"),
        ([[1, 2]], TypeError, "got list"),
        (ids(device="meta"), ValueError, "ids are on meta, the weights on cpu"),
    ]:
        with raises(error, message):
            run(words)


def test_the_end_of_the_learned_table_is_named():
    for model in (build(TransformerLM), build(TransformerEncoder)):
        model(ids(13))
        with raises(ValueError, "position 13 lies outside the learned table, which has positions 0 to 12"):
            model(ids(14))
    lm = build(TransformerLM)
    caches = lm.new_caches(B, 20)
    lm(ids(13), caches=caches)
    with raises(ValueError, "position 13 lies outside the learned table"):
        lm(ids(1), caches=caches)
    for positions in ("rotary", "alibi", "sinusoidal", "none"):
        build(TransformerLM, positions=positions)(ids(14))


def test_more_wrong_input_is_named():
    encoder, lm, both = build(TransformerEncoder), build(TransformerLM), build(EncoderDecoder)
    with raises(ValueError, "knows no segments: its config has n_segments=0"):
        encoder(ids(), segments=torch.zeros(B, T).long())
    with raises(ValueError, "segments must lie between 0 and 1, for a vocabulary of 2; got 2"):
        build(TransformerEncoder, n_segments=2)(ids(), segments=torch.full((B, T), 2))
    with raises(ValueError, "holds 0 of at most 3 words"):
        lm(ids(), caches=lm.new_caches(B, 3))
    with raises(ValueError, "one cache for each of the 2 layers; got 1"):
        lm(ids(), caches=lm.new_caches(B, T)[:1])
    with raises(ValueError, "one cache for each of the 2 layers; got 1"):
        both.decode(ids(), both.encode(ids(S)), caches=both.new_caches(B, T)[:1])
    with raises(ValueError, "one pair of keys and values for each of the 2 layers; got 1"):
        both.decode(ids(), both.memories(both.encode(ids(S)))[:1])
    with raises(ValueError, "does not fit"):
        lm(ids(), mask=torch.ones(B, T).bool())
    with raises(TypeError, "boolean"):
        encoder(ids(), mask=torch.ones(B, 1, 1, T))
