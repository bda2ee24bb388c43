"""What is remembered of a learner's work, and that a broken file costs nothing."""

import json

import pytest
from html_check import check_html

from transformer_lib.exercises import catalogue, progress, record


@pytest.fixture
def file(tmp_path, monkeypatch):
    path = tmp_path / "deep" / "progress.jsonl"
    monkeypatch.setenv(record.PLACE, str(path))
    monkeypatch.setattr(record, "_session", [])
    return path


def test_nothing_done_yet(file):
    text = repr(progress())
    assert text.startswith(f"0 of {len(catalogue())} exercises passed")
    assert f"Next: exercise {catalogue()[0].id}" in text
    assert not file.exists()  # looking writes nothing


def test_attempts_are_counted_and_survive(file):
    record.note("2.1", True)
    record.note("2.3", False)
    record.note("2.3", True)
    record.note("3.1", False)
    text = repr(progress())
    assert text.startswith("2 of ")
    assert "✓ 2.1" in text
    assert "✓ 2.3" in text
    assert "… 3.1" in text
    assert "○ 2.2" in text
    assert len(file.read_text().splitlines()) == 4


def test_card_is_sound_html(file):
    record.note("2.1", True)
    check_html(progress()._repr_html_())


@pytest.mark.parametrize(
    "rubbish", [b"\xff\x00garbage\n", b"{}\n", b'[1, 2]\n"x"\n', b'{"id": "2.1"', b"7\n"]
)
def test_broken_lines_are_reported_set_aside_and_cost_nothing(file, rubbish):
    record.note("2.1", True)
    with open(file, "ab") as out:
        out.write(rubbish)
    text = repr(progress())
    assert "could not be read: the file was set aside as" in text
    assert "✓ 2.1" in text
    aside = next(file.parent.glob("*.broken-1"))
    assert aside.read_bytes().endswith(rubbish)
    assert "could not be read" not in repr(progress())  # once is enough
    record.note("2.2", True)
    assert "✓ 2.1  ✓ 2.2" in repr(progress())


def test_broken_files_never_overwrite_each_other(file):
    for n in (1, 2, 3):
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"broken {n}")
        record.read()
    assert [path.read_text() for path in sorted(file.parent.glob("*.broken-*"))] == [
        f"broken {n}" for n in (1, 2, 3)
    ]


def test_file_that_cannot_be_written_is_said_and_not_fatal(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(
        record.PLACE, str(tmp_path / "file" / "progress.jsonl")
    )  # a file where a folder must be
    monkeypatch.setattr(record, "_session", [])
    record.note("2.1", True)
    text = repr(progress())
    assert "✓ 2.1" in text
    assert "remembered until Python ends" in text


def test_place_that_is_a_folder_is_said_and_not_fatal(tmp_path, monkeypatch):
    monkeypatch.setenv(record.PLACE, str(tmp_path))
    monkeypatch.setattr(record, "_session", [])
    record.note("2.1", True)
    assert "cannot be read" in repr(progress())


def test_drive_takes_over_what_was_done_before_it_was_mounted(tmp_path, monkeypatch):
    import sys
    import types

    monkeypatch.delenv(record.PLACE, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(record, "DRIVE", tmp_path / "MyDrive")
    monkeypatch.setitem(sys.modules, "google.colab", types.ModuleType("google.colab"))
    record.note("2.1", True)
    (tmp_path / "MyDrive").mkdir()
    record.note("2.2", True)
    kept = (tmp_path / "MyDrive" / "transformer_lib" / "progress.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in kept] == ["2.1", "2.2"]
    assert record.read().passed() == {"2.1", "2.2"}


def test_a_check_outside_a_notebook_notes_nothing(file):
    from transformer_lib.exercises import check

    first = catalogue()[0]
    assert check(first.id, first.reference).passed
    assert not file.exists()


def test_a_check_in_a_kernel_is_noted(file):
    from nbclient import NotebookClient
    from nbformat.v4 import new_code_cell, new_notebook

    first = catalogue()[0]
    code = f'{first.solution}\nfrom transformer_lib.exercises import check\ncheck("{first.id}", {first.name})'
    stub = f'{first.stub}\ncheck("{first.id}", {first.name})'
    cells = [new_code_cell(code), new_code_cell(stub), new_code_cell(f'check("{catalogue()[1].id}", 1)')]
    NotebookClient(new_notebook(cells=cells), timeout=100).execute()
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(line["id"], line["passed"]) for line in lines] == [
        (first.id, True),
        (catalogue()[1].id, False),
    ]
