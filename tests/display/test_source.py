"""The library's source as it stands in its file."""

import functools
import inspect
from pathlib import Path

import pytest
import torch

import transformer_lib
from transformer_lib.display import Html, heat_map, source
from transformer_lib.display.source import Source

ROOT = Path(transformer_lib.__file__).parents[1]


class Sample:
    """A class with all that can be asked for."""

    @property
    def size(self):
        return "````"

    @staticmethod
    def fixed():
        return 1

    def method(self):
        return 2


@functools.lru_cache
def wrapped():
    return 3


@pytest.mark.parametrize("obj", [transformer_lib.attention, transformer_lib.SelfAttention, heat_map, Html])
def test_it_is_the_text_of_the_file(obj):
    shown = source(obj)
    assert shown.code in (ROOT / shown.path).read_text(encoding="utf-8")
    assert obj.__name__ in shown.code.splitlines()[0]


def test_it_is_markdown_under_the_name_of_the_file():
    text = source(transformer_lib.attention)._repr_markdown_()
    assert text.startswith("`transformer_lib/attention.py`\n\n```python\ndef attention(")
    assert text.endswith("\n```\n")
    assert not hasattr(source(transformer_lib.attention), "_repr_html_")


def test_text_names_the_file_too():
    assert repr(source(transformer_lib.attention)).startswith(
        "# transformer_lib/attention.py\ndef attention("
    )


@pytest.mark.parametrize(
    ("obj", "first"),
    [
        (Sample.method, "def method(self):"),
        (Sample().method, "def method(self):"),
        (Sample.fixed, "@staticmethod"),
        (Sample.size, "@property"),
        (wrapped, "@functools.lru_cache"),
        (Sample, "class Sample:"),
    ],
)
def test_methods_begin_at_the_margin(obj, first):
    assert source(obj).code.splitlines()[0] == first


def test_a_fence_in_the_code_does_not_end_it():
    assert source(Sample.size)._repr_markdown_().count("`````") == 2


def test_what_was_written_in_the_notebook_has_no_path():
    namespace = {"__name__": "__main__"}
    exec(compile(inspect.getsource(Sample.method).strip(), __file__, "exec"), namespace)
    function = namespace["method"]
    function.__code__ = Sample.method.__code__
    assert source(function).path == "this notebook"


@pytest.mark.parametrize(
    ("obj", "match"),
    [
        (torch.softmax, "softmax has no Python source"),
        (len, "len has no Python source"),
        (torch.Tensor.__add__, "no Python source"),
        (eval("lambda: 1"), "no Python source"),
        (Sample(), "object of type Sample"),
        ("attention", "object of type str"),
        (transformer_lib, "object of type module"),
    ],
)
def test_other_things_are_refused(obj, match):
    with pytest.raises(TypeError, match=match):
        source(obj)


def test_a_longer_fence_only_where_it_is_needed():
    assert Source("a.py", "x = 1")._repr_markdown_() == "`a.py`\n\n```python\nx = 1\n```\n"
