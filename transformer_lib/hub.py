"""Files of published models from the Hugging Face hub, where there is a network (lecture, throughout).

What a name on the hub stands for may change from one day to the next. So a model is named by its commit and
by the hash of its weights, and what comes is compared with them.
"""

from __future__ import annotations

import hashlib
import importlib.util
import urllib.error
import urllib.request
from pathlib import Path

# Repository, revision (a commit), SHA-256 of model.safetensors.
PINNED = {
    "gpt2": (
        "openai-community/gpt2",
        "607a30d783dfa663caf39e06633721c8d4cfcd7e",
        "248dfc3911869ec493c76e65bf2fcf7f615828b0254c12b473182f0f81d3a707",
    ),
    "minilm": (
        "sentence-transformers/all-MiniLM-L6-v2",
        "1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    ),
    "smollm2": (  # of the Llama family, 135 million numbers
        "HuggingFaceTB/SmolLM2-135M",
        "93efa2f097d58c2a74874c7e644dbc9b0cee75a2",
        "80521b40281d6ce74e35c9282c22539e75aa0ac8578892b2a59955ef78d55da1",
    ),
}
_PATIENCE = 5  # seconds
_FILES = ["config.json", "generation_config.json", "model.safetensors", "tokenizer.json"]


def hub_files(name: str, revision: str | None = None, sha256: str | None = None) -> Path:
    """The folder of a model from the Hugging Face hub, fetched once and kept on disk.

    Args:
        name: a name in `PINNED`, or a repository such as "Helsinki-NLP/opus-mt-en-de".
        revision: of a repository, the full commit; a branch would change under our feet.
        sha256: of a repository, the hash of its `model.safetensors`.

    Raises:
        ValueError: an unknown name, a revision that is no full commit, or weights with another hash.
        ModuleNotFoundError: the package huggingface_hub is not installed.
        ConnectionError: the files are neither on disk nor to be had from the hub.

    Source: https://huggingface.co/docs/huggingface_hub/guides/download
    """
    if name in PINNED and revision is None and sha256 is None:
        name, revision, sha256 = PINNED[name]
    if revision is None or len(revision) != 40 or sha256 is None:
        raise ValueError(
            f"name one of {sorted(PINNED)}, or a repository with the 40 digits of a commit and the SHA-256 "
            f"of its model.safetensors; got {name!r}, revision={revision!r}, sha256={sha256!r}"
        )
    if importlib.util.find_spec("huggingface_hub") is None:
        raise ModuleNotFoundError(
            f"{name} comes from the hub; install its client with: pip install huggingface_hub",
            name="huggingface_hub",
        )
    import huggingface_hub

    wanted = {"repo_id": name, "revision": revision, "allow_patterns": _FILES}
    try:
        try:
            folder = huggingface_hub.snapshot_download(**wanted, local_files_only=True)
            complete = (Path(folder) / "model.safetensors").is_file()
        except Exception:  # not on disk, or only in part
            complete = False
        if not complete:
            _answers(huggingface_hub.constants.ENDPOINT)
            folder = huggingface_hub.snapshot_download(**wanted)
    except Exception as error:  # each version of the client has its own
        raise ConnectionError(
            f"{name} is not on this disk and could not be fetched from the hub: is there a network? "
            f"all-MiniLM-L6-v2 needs none: `pretrained.minilm_files()`. ({error})"
        ) from error
    with (Path(folder) / "model.safetensors").open("rb") as file:
        digest = hashlib.sha256()
        while block := file.read(1 << 20):
            digest.update(block)
    if digest.hexdigest() != sha256:
        raise ValueError(f"the weights in {folder} have SHA-256 {digest.hexdigest()}, not {sha256}")
    return Path(folder)


def _answers(address: str) -> None:
    """Ask once whether the hub is there: its client would ask six times in half a minute, with warnings."""
    try:
        with urllib.request.urlopen(urllib.request.Request(address, method="HEAD"), timeout=_PATIENCE):
            pass
    except urllib.error.HTTPError:  # an answer, if not a friendly one
        pass
