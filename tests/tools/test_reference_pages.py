"""The reference pages name what is there: chapters, modules, functions, exercises."""

import re
from pathlib import Path

import pytest
import yaml

import transformer_lib
from transformer_lib.exercises import catalogue
from transformer_lib.exercises.chapters import CHAPTERS

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = (ROOT / "book" / "library.md").read_text(encoding="utf-8")
# Parts that no line of the lecture and no chapter is about.
HELPERS = {"__init__", "checks", "configs", "hub", "unrolled", "weights"}


def table_of_contents():
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))["parts"]
    return {entry["file"]: entry.get("title") for part in parts for entry in part["chapters"]}


def test_chapters_have_one_title_everywhere():
    listed = {file: title for file, title in table_of_contents().items() if re.match(r"book/\d\d_", file)}
    assert listed == {
        f"book/{name}": f"{number} · {title}"
        for number, (title, name) in CHAPTERS.items()
        if f"book/{name}" in listed
    }
    written = {f"book/{path.stem}" for path in (ROOT / "book").glob("[0-9][0-9]_*.ipynb")}
    assert written == set(listed)


def test_every_exercise_belongs_to_a_chapter_of_the_book():
    assert {exercise.key[0] for exercise in catalogue()} <= set(CHAPTERS)


@pytest.mark.parametrize("name", sorted(p.stem for p in (ROOT / "transformer_lib").glob("*.py")))
def test_every_module_stands_in_the_table_with_its_tests(name):
    if name not in HELPERS:
        assert f"(../transformer_lib/{name}.py)" in LIBRARY
        assert f"(../tests/test_{name}.py)" in LIBRARY


def test_functions_in_the_table_exist():
    table = LIBRARY.split("## What the models")[0]
    named = set(re.findall(r"`(\w+)`", table)) - {"transformer_lib"}
    assert len(named) > 20
    assert not {name for name in named if not hasattr(transformer_lib, name)}


def test_glossary_is_in_order_and_names_chapters_of_the_book():
    text = (ROOT / "book" / "glossary.md").read_text(encoding="utf-8").split(":::{glossary}")[1]
    terms = re.findall(r"^(\S.*)$", text.replace(":::", ""), re.MULTILINE)
    assert terms == sorted(terms, key=str.casefold)
    explained = re.findall(r"^    .*\((\d+)\)$", text, re.MULTILINE)
    assert len(explained) == len(terms) > 40
    assert {int(number) for number in explained} <= set(CHAPTERS)
