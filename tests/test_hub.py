"""hub.py: files by commit and hash, and clear words where they cannot be had. Nothing is fetched here."""

import hashlib
import importlib.util

import pytest
from checking import raises

from transformer_lib import hub as hub_module
from transformer_lib.hub import PINNED, hub_files
from transformer_lib.pretrained import minilm_files

huggingface_hub = pytest.importorskip("huggingface_hub")
COMMIT = "0123456789abcdef" * 2 + "01234567"


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """A hub whose one repository holds some bytes; what is asked of it is written down."""
    (tmp_path / "model.safetensors").write_bytes(b"numbers" * 300_000)
    asked = []

    def snapshot_download(repo_id, **options):
        asked.append((repo_id, options))
        return str(tmp_path)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    return tmp_path, asked


def test_files_come_by_commit_and_are_compared_with_their_hash(hub):
    folder, asked = hub
    sha256 = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    assert hub_files("some/model", COMMIT, sha256) == folder
    [(name, options)] = asked
    assert (name, options["revision"]) == ("some/model", COMMIT)
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= set(options["allow_patterns"])
    with raises(ValueError, match=rf"have SHA-256 {sha256}, not {'0' * 64}"):
        hub_files("some/model", COMMIT, "0" * 64)


def test_a_pinned_name_stands_for_repository_commit_and_hash(hub):
    _, asked = hub
    for name, (repository, commit, sha256) in PINNED.items():
        with raises(ValueError, match=sha256):  # the stand-in holds other bytes
            hub_files(name)
        assert asked[-1][0] == repository
        assert asked[-1][1]["revision"] == commit
        assert (len(commit), len(sha256)) == (40, 64)


def test_the_pinned_hash_is_that_of_the_weights_in_the_package():
    weights = (minilm_files() / "model.safetensors").read_bytes()
    assert hashlib.sha256(weights).hexdigest() == PINNED["minilm"][2]


@pytest.mark.parametrize("arguments", [("gpt3",), ("some/model", "main", "0" * 64), ("some/model", COMMIT)])
def test_what_is_not_pinned_is_refused(hub, arguments):
    with raises(ValueError, match=r"40 digits of a commit and the SHA-256.*got '"):
        hub_files(*arguments)
    assert hub[1] == []


def test_no_network_and_no_client_are_explained(monkeypatch):
    def snapshot_download(repo_id, **options):
        raise OSError("Name or service not known")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    monkeypatch.setattr(hub_module, "_answers", lambda address: None)
    with raises(ConnectionError, match=r"gpt2 is not on this disk.*is there a network.*Name or service"):
        hub_files("gpt2")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with raises(ModuleNotFoundError, match="pip install huggingface_hub"):
        hub_files("gpt2")


def test_a_hub_that_does_not_answer_is_asked_once(monkeypatch):
    asked = []

    def snapshot_download(repo_id, *, local_files_only=False, **options):
        asked.append(local_files_only)
        raise OSError("not on disk")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:9")
    with raises(ConnectionError, match="gpt2 is not on this disk.*is there a network"):
        hub_files("gpt2")
    assert asked == [True]


def test_what_is_on_disk_only_in_part_is_fetched(monkeypatch, tmp_path):
    asked = []

    def snapshot_download(repo_id, *, local_files_only=False, **options):
        asked.append(local_files_only)
        if not local_files_only:
            (tmp_path / "model.safetensors").write_bytes(b"numbers")
        return str(tmp_path)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    monkeypatch.setattr(hub_module, "_answers", lambda address: None)
    sha256 = hashlib.sha256(b"numbers").hexdigest()
    assert hub_files("some/model", COMMIT, sha256) == tmp_path
    assert asked == [True, False]
