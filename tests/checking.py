"""The shape checker of `conftest.py`, switched off where it stands in the way."""

from contextlib import contextmanager

import jaxtyping
import pytest
import torch


@contextmanager
def unchecked():
    """The shape checker off, for what it stands in the way of: wrong input and torch.compile."""
    jaxtyping.config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        jaxtyping.config.update("jaxtyping_disable", False)


def compiled(f):
    """f compiled, without code generation; whatever else was compiled is forgotten: the shape checker wraps
    every function in the same code, of which torch compiles 8 versions and then gives up."""
    torch.compiler.reset()
    return torch.compile(f, backend="eager", fullgraph=True)


@contextmanager
def raises(kind: type[Exception], match: str):
    """`pytest.raises` for wrong input: the message must be the library's own, not the shape checker's."""
    with unchecked(), pytest.raises(kind, match=match):
        yield
