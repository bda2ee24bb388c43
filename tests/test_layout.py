"""The order of the modules, and one test file for each."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIBRARY = ROOT / "transformer_lib"
# The lecture's order. A module may import those before it, never a later one; a row is free within itself.
ORDER = [
    ["checks"],  # of the input, for all
    ["rnn"],
    ["attention"],
    ["positions"],
    ["feed_forward"],
    ["masks"],
    ["multi_head"],
    ["blocks"],
    ["configs", "models"],
    ["cost", "efficient"],
    ["data", "decoding", "generate", "train", "unrolled"],
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


def test_importing_the_library_draws_in_neither_figures_nor_exercises():
    heavy = ["matplotlib", "ipywidgets", "IPython", "transformers"]
    heavy += ["transformer_lib.display", "transformer_lib.exercises"]
    code = f"import sys, transformer_lib; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
