"""What an exercise must be, its solution's text, the catalogue, and `check` itself."""

import dataclasses
import pkgutil
import re

import pytest
import torch
from samples import CLASS, SHARES, shares

import transformer_lib.exercises as exercises
from transformer_lib.exercises import catalogue, check
from transformer_lib.exercises.exercise import Mistake
from transformer_lib.exercises.facts import FIELDS, GENERIC
from transformer_lib.exercises.generic import ORDER
from transformer_lib.exercises.measure import fields
from transformer_lib.exercises.result import STATUSES

BAD = [
    ({"id": "9"}, "id"),
    ({"kind": "guess"}, "kind"),
    ({"difficulty": "very"}, "difficulty"),
    ({"minutes": 0}, "minutes"),
    ({"title": " "}, "title"),
    ({"stub": "def other(x):\n    raise NotImplementedError\n"}, "shares"),
    ({"stub": "def shares(x):\n    pass\n"}, "NotImplementedError"),
    ({"mistakes": SHARES.mistakes * 2}, "share a name"),
    ({"mistakes": (Mistake(name="wrong-shape", message="", probe=len),)}, "engine itself"),
]


@pytest.mark.parametrize(("change", "words"), BAD)
def test_exercise_refuses(change, words):
    with pytest.raises(ValueError, match=words):
        dataclasses.replace(SHARES, **change)


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        ({"name": "Not This", "message": "", "variant": len}, "lower case"),
        ({"name": "empty", "message": ""}, "variant or a probe"),
        ({"name": "unknown", "message": "{shape}", "variant": len}, "unknown field"),
    ],
)
def test_mistake_refuses(mistake, words):
    with pytest.raises(ValueError, match=words):
        Mistake(**mistake)


def test_arguments_have_the_names_that_the_reference_or_run_gives_them():
    assert SHARES.argument_names(1) == ["scores"]
    assert dataclasses.replace(SHARES, run=lambda f, table, x: f(table + x)).argument_names(2) == [
        "table",
        "x",
    ]
    assert dataclasses.replace(SHARES, run=lambda f, *args: f(*args)).argument_names(1) == ["argument 1"]


def test_every_documented_field_has_a_value():
    from transformer_lib.exercises.compare import difference

    expected, got = torch.rand(2, 3), torch.rand(2, 3) + 1
    known = fields(difference(expected, got), (expected,), "text", 1e-4)
    assert known.keys() == FIELDS.keys()
    assert "?" not in known.values()


def test_generic_names_are_all_documented():
    assert set(ORDER) <= set(GENERIC)


def test_solution_stands_alone():
    source = SHARES.solution
    assert source.startswith("import torch\n\n\ndef shares(scores):")
    assert "Exercise" not in source
    namespace = {}
    exec(source, namespace)
    assert torch.equal(namespace["shares"](torch.eye(3)), shares(torch.eye(3)))
    assert CLASS.solution.startswith("import torch\nfrom torch import nn\n\n\nclass Scale(nn.Module):")


def test_solution_brings_helpers(tmp_path, monkeypatch):
    (tmp_path / "with_helpers.py").write_text(
        "import math, torch\nfrom os import path as p, sep\n\nHALF = 0.5\nOTHER = 1\n\n\n"
        "def helper(x):\n    return math.exp(x) * HALF\n\n\ndef unused():\n    return OTHER\n\n\n"
        "def solve(x):\n    return helper(x), sep\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    import with_helpers

    from transformer_lib.exercises.solution import source_with_imports

    source = source_with_imports(with_helpers.solve)
    assert source.splitlines()[:2] == ["import math", "from os import sep"]
    assert "HALF = 0.5" in source
    assert "def helper" in source
    assert "unused" not in source
    assert "torch" not in source


def test_catalogue_is_in_order_and_complete():
    found = catalogue()
    assert [e.key for e in found] == sorted(e.key for e in found)
    modules = [m.name for m in pkgutil.iter_modules(exercises.__path__) if m.name.startswith("chapter_")]
    assert {f"chapter_{e.key[0]:02}" for e in found} == set(modules)
    for exercise in found:
        for name in ("id", "title", "difficulty", "minutes", "stub", "solution", "hints", "mistakes"):
            assert getattr(exercise, name)


def test_check_finds_the_exercise(monkeypatch):
    monkeypatch.setattr(exercises, "catalogue", lambda: (SHARES, CLASS))
    assert check("9.1", shares).passed
    result = check("9.1", lambda s: s.softmax(0))
    assert (result.status, result.mistake, result.passed) == ("mistake", "softmax-over-rows", False)
    assert result.hints == SHARES.hints
    assert result.solution == SHARES.solution


def test_check_never_raises(monkeypatch):
    monkeypatch.setattr(exercises, "catalogue", lambda: (SHARES, CLASS))
    unknown = check("9.12", shares)
    assert (unknown.status, unknown.mistake) == ("error", "unknown-exercise")
    assert "Did you mean 9.1, 9.2?" in unknown.message
    assert check(9.1, shares).passed  # the number for the text
    assert '`check("9.1", shares)`' in check("9.1").message

    def broken():
        raise ImportError("no such file")

    monkeypatch.setattr(exercises, "catalogue", broken)
    result = check("9.1", shares)
    assert (result.status, result.mistake) == ("error", "check-failed")
    assert "no such file" in result.message


def test_check_inside_of_what_is_checked(monkeypatch):
    monkeypatch.setattr(exercises, "catalogue", lambda: (SHARES,))
    inner = []

    def checks_itself(scores):
        inner.append(check("9.1", checks_itself))
        return scores.softmax(-1)

    assert check("9.1", checks_itself).passed
    assert {result.mistake for result in inner} == {"check-failed"}


def test_broken_exercise_is_not_the_learners_fault(monkeypatch):
    broken = dataclasses.replace(SHARES, cases=lambda g: [(1, 2, 3)])
    monkeypatch.setattr(exercises, "catalogue", lambda: (broken,))
    assert check("9.1", shares).mistake == "check-failed"


def test_statuses():
    assert {"passed", "not attempted", "mistake", "error"} == set(STATUSES)


def test_catalogue_refuses_one_number_twice(monkeypatch):
    first = catalogue()[0]
    module = __import__(f"transformer_lib.exercises.chapter_{first.key[0]:02}", fromlist=["EXERCISES"])
    monkeypatch.setattr(module, "EXERCISES", (first, first))
    with pytest.raises(ValueError, match=re.escape(first.id)):
        catalogue()
    monkeypatch.setattr(module, "EXERCISES", (SHARES,))
    with pytest.raises(ValueError, match=r"9\.1 is in chapter"):
        catalogue()
