"""The order of the modules, and one test file for each."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import transformer_lib

ROOT = Path(__file__).parents[1]
LIBRARY = ROOT / "transformer_lib"
# The lecture's order. A module may import those before it, never a later one; a row is free within itself.
ORDER = [
    ["checks"],  # of the input, for all
    ["distance", "rnn"],
    ["attention"],
    ["positions"],
    ["feed_forward"],
    ["masks"],
    ["multi_head"],
    ["blocks"],
    ["configs", "models"],
    ["cost", "efficient", "linear", "measuring"],
    ["data", "decoding", "generate", "sampling", "schedules", "train", "unrolled"],
    ["hub", "weights", "families", "pretrained"],
]
PLACE = {name: place for place, row in enumerate(ORDER) for name in row}
MODULES = sorted(path.stem for path in LIBRARY.glob("*.py") if path.stem != "__init__")


def imports(path: Path) -> set[str]:
    """The modules of the library that a file imports, by the first name after `transformer_lib.`"""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [".".join(filter(None, ["transformer_lib", node.module, a.name])) for a in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("transformer_lib.")}
    return found


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_earlier_ones(module):
    assert module in PLACE, f"{module}.py has no place in the lecture's order"
    used = imports(LIBRARY / f"{module}.py")
    later = {name for name in used if name not in PLACE or PLACE[name] > PLACE[module]}
    assert not later, f"{module}.py imports {sorted(later)}, which come after it (or name no module)"


@pytest.mark.parametrize("module", MODULES)
def test_every_module_has_its_tests(module):
    assert (ROOT / "tests" / f"test_{module}.py").exists()


def test_importing_the_library_costs_little_over_importing_torch():
    code = (
        "import sys, torch; before = {*sys.modules}; import transformer_lib; print(*{*sys.modules} - before)"
    )
    more = set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split())
    own = {name for name in more if name.split(".")[0] == "transformer_lib"}
    assert own == {"transformer_lib", *(f"transformer_lib.{name}" for name in MODULES)}  # no figures
    heavy = {"babel", "huggingface_hub", "IPython", "ipywidgets", "matplotlib", "num2words", "pydoc_data"}
    heavy |= {"beartype", "safetensors", "seaborn", "tokenizers", "tqdm", "transformers"}
    assert not heavy & {name.split(".")[0] for name in more}
    assert len(more - own) < 50, sorted(more - own)  # jaxtyping and a few of Python's own


def test_the_package_gives_the_names_that_chapters_use():
    names = transformer_lib.__all__
    assert names == sorted(set(names), key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    assert set(names) <= set(dir(transformer_lib))
    everything = {}
    exec("from transformer_lib import *", everything)
    assert set(everything) - {"__builtins__"} == set(names)
    taken_from = {getattr(everything[name], "__module__", None) for name in names}
    for module in set(MODULES) - {"checks", "families", "unrolled", "weights"}:  # which chapters do not call
        assert f"transformer_lib.{module}" in taken_from, f"{module}.py gives the package no name"


def test_the_package_lists_its_modules():
    for module in MODULES:
        assert f"`{module}`" in transformer_lib.__doc__
