"""Every change listed in mutants/ must turn a test red."""

import subprocess
import sys
from pathlib import Path

import pytest
from mutate import MODULES


@pytest.mark.parametrize("module", MODULES)
def test_every_mutant_is_noticed(module):
    run = subprocess.run(
        [sys.executable, Path(__file__).with_name("mutate.py"), module], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr
