"""Every example in a docstring of the package runs and prints what it says."""

import doctest
import importlib
import pkgutil

import pytest
import torch

import transformer_lib

MODULES = [info.name for info in pkgutil.walk_packages(transformer_lib.__path__, "transformer_lib.")]


@pytest.mark.parametrize("name", [n for n in MODULES if not n.endswith("__main__")])
def test_examples(name):
    torch.manual_seed(0)
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0, "the examples above print something else"
