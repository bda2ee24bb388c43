"""What the tests of the notebooks share: the tools on the path, a project in miniature."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

CONFIG = """\
# the address has a comment that stays
repository:
  url: https://github.com/some-one/the-book  # here
  branch: main
  path_to_book: ""
launch_buttons:
  colab_url: https://colab.research.google.com
"""


def exercise(number: str, **changed) -> SimpleNamespace:
    """An exercise with the fields that a notebook shows."""
    fields = {
        "id": number,
        "title": "Scores",
        "kind": "write",
        "difficulty": "easy",
        "minutes": 5,
        "statement": "Return $q \\cdot k$.\n",
        "stub": "import torch\n\n\ndef score(q, k):\n    raise NotImplementedError\n",
        "name": "score",
    }
    return SimpleNamespace(**{**fields, **changed})


@pytest.fixture
def project(tmp_path):
    """A repository in miniature, with an address and a version of its own."""
    (tmp_path / "_config.yml").write_text(CONFIG)
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "transformer_lib"\nversion = "1.2.3"\n')
    (tmp_path / "book").mkdir()
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return tmp_path
