"""families.py: hidden states and logits equal to those of `transformers` on the same weights."""

import json

import pytest
import torch
from checking import raises
from published import V, small
from safetensors.torch import load_file, save_file

from transformer_lib.families import FAMILIES, build
from transformer_lib.masks import padding_mask
from transformer_lib.pretrained import load_folder
from transformer_lib.weights import fill

B, S, T = 3, 11, 7
CLOSE = {"atol": 1e-4, "rtol": 0}  # the bound for float32; the numbers are of size 1 to 10


def both(family, folder, device="cpu", **settings):
    published = small(family, folder, **settings)
    return published.to(device), load_folder(folder).to(device)


def some_ids(length=S, device="cpu"):
    return torch.randint(0, V, (B, length), device=device)


def some_lengths(device):
    lengths = torch.tensor([S, 4, 8], device=device)
    return lengths, (torch.arange(S, device=device) < lengths[:, None]).long()


@pytest.mark.parametrize("act", ["gelu", "gelu_new", "relu", "silu"])
def test_bert(tmp_path, device, act):
    published, ours = both("bert", tmp_path, device, hidden_act=act, layer_norm_eps=1e-3)
    ids, (lengths, real), segments = (
        some_ids(device=device),
        some_lengths(device),
        some_ids(device=device) % 2,
    )
    expected = published(input_ids=ids, attention_mask=real, token_type_ids=segments).last_hidden_state
    x = ours(ids, mask=padding_mask(lengths, S), segments=segments)
    torch.testing.assert_close(x[real.bool()], expected[real.bool()], **CLOSE)
    torch.testing.assert_close(ours(ids), published(input_ids=ids).last_hidden_state, **CLOSE)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"n_inner": 17, "activation_function": "relu", "layer_norm_epsilon": 1e-3},
        {"tie_word_embeddings": False},
    ],
)
def test_gpt2(tmp_path, device, settings):
    published, ours = both("gpt2", tmp_path, device, **settings)
    ids = some_ids(device=device)
    torch.testing.assert_close(ours(ids), published(input_ids=ids).logits, **CLOSE)
    assert (ours.logits.weight is ours.embedding.words.weight) == settings.get("tie_word_embeddings", True)


@pytest.mark.parametrize("family", ["llama", "mistral"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"tie_word_embeddings": True, "num_key_value_heads": 6, "rms_norm_eps": 1e-2},
        {"rope_parameters": {"rope_type": "default", "rope_theta": 123.0}, "num_key_value_heads": 1},
    ],
)
def test_llama(tmp_path, device, family, settings):
    published, ours = both(family, tmp_path, device, **settings)
    ids = some_ids(device=device)
    torch.testing.assert_close(ours(ids), published(input_ids=ids).logits, **CLOSE)
    assert (ours.logits.weight is ours.embedding.words.weight) == settings.get("tie_word_embeddings", False)


def test_llama_with_biases(tmp_path):
    published, ours = both("llama", tmp_path, attention_bias=True, mlp_bias=True)
    ids = some_ids()
    torch.testing.assert_close(ours(ids), published(input_ids=ids).logits, **CLOSE)


def test_older_settings_of_llama_name_the_base_elsewhere():
    settings = small("llama").config.to_dict()
    settings = {name: value for name, value in settings.items() if name != "rope_parameters"}
    assert build({**settings, "rope_theta": 77.0, "rope_scaling": None})[0].config.rotary_base == 77.0
    assert build(settings)[0].config.rotary_base == 10000.0


@pytest.mark.parametrize("settings", [{}, {"activation_function": "relu", "scale_embedding": False}])
def test_marian(tmp_path, device, settings):
    published, ours = both("marian", tmp_path, device, **settings)
    source, target, (lengths, real) = some_ids(device=device), some_ids(T, device), some_lengths(device)
    given = {"input_ids": source, "attention_mask": real, "decoder_input_ids": target}
    mask = padding_mask(lengths, S)
    expected = published(**given)
    torch.testing.assert_close(ours(source, target, source_mask=mask), expected.logits, **CLOSE)
    memory = ours.encode(source, mask=mask)[real.bool()]
    torch.testing.assert_close(memory, expected.encoder_last_hidden_state[real.bool()], **CLOSE)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_tensor_is_used_once(tmp_path, family):
    small(family, tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    settings = json.loads((tmp_path / "config.json").read_text())
    model, names = build(settings)
    fill(model, names, tensors)
    needed = {name: t for name, t in tensors.items() if "pooler" not in name}  # a head for another task
    assert sum(p.numel() for p in model.parameters()) == sum(t.numel() for t in needed.values())
    used = [name for parameter, _ in model.named_parameters() for name in names.published_names(parameter)]
    assert len(used) == len(set(used)) == len(needed)
    for name in needed:
        with raises(ValueError, match=f"missing {name.removeprefix(names.prefix)}".replace(".", r"\.")):
            fill(model, names, {other: t for other, t in tensors.items() if other != name})


@pytest.mark.parametrize("family", FAMILIES)
def test_weights_with_the_tensors_that_older_files_hold_are_read(tmp_path, family):
    published = small(family, tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    older = {
        "bert": {"embeddings.position_ids": torch.arange(31)[None], "cls.predictions.bias": torch.zeros(V)},
        "gpt2": {"transformer.h.1.attn.bias": torch.ones(1, 1, 64, 64).tril()},
        "llama": {"model.layers.2.self_attn.rotary_emb.inv_freq": torch.ones(2)},
        "marian": {"model.encoder.embed_positions.weight": torch.zeros(64, 12)},
    }.get(family, {})
    if family in ("gpt2", "marian"):
        older["lm_head.weight"] = published.lm_head.weight.detach().clone()
    prefix = FAMILIES[family].prefix
    without = {name.removeprefix(prefix): tensor for name, tensor in (tensors | older).items()}
    for kind, given in (("with", {prefix + name: t for name, t in without.items()}), ("without", without)):
        save_file(given, tmp_path / "model.safetensors")
        ours = load_folder(tmp_path)
        word = ours.embedding.words.weight
        assert torch.equal(word, published.get_input_embeddings().weight), kind


def test_settings_that_the_modules_do_not_have_are_refused():
    def refused(family, match, **settings):
        with raises(ValueError, match=match):
            build({**small(family).config.to_dict(), **settings})

    refused("bert", "models of type 't5'.*'bert', 'gpt2'", model_type="t5")
    refused("bert", "models of type None", model_type=None)
    refused("bert", "activation 'quick' cannot be read; known are", hidden_act="quick")
    refused("bert", "is_decoder=True", is_decoder=True)
    refused(
        "bert",
        "position_embedding_type='relative_key'.*only 'absolute'",
        position_embedding_type="relative_key",
    )
    refused("gpt2", "scale_attn_by_inverse_layer_idx=True", scale_attn_by_inverse_layer_idx=True)
    refused("gpt2", "scale_attn_weights=False", scale_attn_weights=False)
    refused("llama", "head_dim=8 cannot be read, only 4", head_dim=8)
    scaled = {"rope_type": "llama3", "factor": 8.0, "original_max_position_embeddings": 8192}
    refused("llama", r"are scaled cannot be read; got .*'llama3', 'factor': 8\.0", rope_parameters=scaled)
    refused("llama", "'llama3'", rope_parameters=None, rope_scaling=scaled)
    refused("llama", "'linear'", rope_parameters=None, rope_scaling={"type": "linear", "factor": 2.0})
    refused("llama", "mlp_bias=True", mlp_bias=True)
    refused("mistral", "sliding_window=4096", sliding_window=4096)
    refused("marian", "decoder_layers=2 cannot be read, only 3", decoder_layers=2)
    refused("marian", "decoder_attention_heads=3", decoder_attention_heads=3)
    refused("marian", "decoder_ffn_dim=23", decoder_ffn_dim=23)
    refused("marian", "share_encoder_decoder_embeddings=False", share_encoder_decoder_embeddings=False)
    refused("marian", "normalize_before=True", normalize_before=True)
    for name in ("hidden_size", "vocab_size"):
        settings = {key: value for key, value in small("bert").config.to_dict().items() if key != name}
        with raises(ValueError, match=f"settings of a bert model lack '{name}'"):
            build(settings)
