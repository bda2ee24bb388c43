"""Grading a folder of notebooks: honest, hostile, broken and endless ones, side by side."""

import csv
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from transformer_lib.exercises import catalogue
from transformer_lib.exercises.__main__ import main
from transformer_lib.exercises.grading import report, supervise

EXERCISES = {exercise.id: exercise for exercise in catalogue()}
CHAPTER = [exercise for exercise in catalogue() if exercise.key[0] == 2]
IMPORT = "from transformer_lib.exercises import check"


def notebook(path, *cells):
    """Write a notebook; a cell is its source, or (source, metadata)."""
    pairs = [cell if isinstance(cell, tuple) else (cell, {}) for cell in cells]
    made = [{"cell_type": "code", "metadata": metadata, "source": source} for source, metadata in pairs]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return path


def solved(*exercises):
    cells = [IMPORT]
    for exercise in exercises:
        cells += [exercise.solution, f'check("{exercise.id}", {exercise.name})']
    return cells


def run(path, seconds=60, memory=4):
    return supervise.run(path, Path(path.name), seconds, memory)


def status(submission):
    return {id: result.get("status") for id, result in submission.results.items()}


def test_every_exercise_of_the_chapter_counts_whether_it_is_there_or_not(tmp_path):
    one = run(notebook(tmp_path / "a.ipynb", *solved(CHAPTER[0], CHAPTER[2])))
    assert one.complete
    assert not one.remarks
    assert list(one.results) == [exercise.id for exercise in CHAPTER]
    passed = {id for id, state in status(one).items() if state == "passed"}
    assert passed == {CHAPTER[0].id, CHAPTER[2].id}
    points = CHAPTER[0].points + CHAPTER[2].points
    assert report.total(one, EXERCISES) == (points, sum(exercise.points for exercise in CHAPTER))


def test_the_last_check_counts_and_a_missing_one_is_made(tmp_path):
    first, second = CHAPTER[0], CHAPTER[2]
    marked = {"exercise": {"id": second.id, "part": "stub"}}
    cells = [*solved(first), first.stub, f'check("{first.id}", {first.name})', (second.solution, marked)]
    states = status(run(notebook(tmp_path / "a.ipynb", *cells)))
    assert states[first.id] == "not attempted"
    assert states[second.id] == "passed"


def test_a_check_of_ones_own_earns_nothing(tmp_path):
    fake = "class R: passed = True\ndef check(id, f):\n    return R()"
    stub = CHAPTER[0].stub
    one = run(notebook(tmp_path / "a.ipynb", fake, stub, f'check("{CHAPTER[0].id}", {CHAPTER[0].name})'))
    assert status(one)[CHAPTER[0].id] == "not attempted"


def test_a_cell_that_raises_is_remarked_and_the_rest_runs(tmp_path):
    cells = ["1 / 0", "this is no Python", *solved(CHAPTER[0])]
    one = run(notebook(tmp_path / "a.ipynb", *cells))
    assert status(one)[CHAPTER[0].id] == "passed"
    assert "code cell 1 raised ZeroDivisionError: division by zero" in one.remarks
    assert any("SyntaxError" in remark for remark in one.remarks)


def test_results_made_before_the_process_ends_are_kept(tmp_path):
    one = run(notebook(tmp_path / "a.ipynb", *solved(CHAPTER[0]), "import os; os._exit(3)"))
    assert status(one)[CHAPTER[0].id] == "passed"
    assert not one.complete
    assert one.remarks == ["its process ended early, with status 3"]


def test_endless_notebook_is_stopped_with_all_that_it_started(tmp_path):
    pid_file = tmp_path / "pid"
    start = (
        "import subprocess, sys\n"
        f"open({str(pid_file)!r}, 'w').write(str(subprocess.Popen([sys.executable, '-c', "
        "'import time; time.sleep(600)']).pid))"
    )
    one = run(notebook(tmp_path / "a.ipynb", *solved(CHAPTER[0]), start, "while True: pass"), seconds=20)
    assert status(one)[CHAPTER[0].id] == "passed"
    assert one.remarks == ["stopped after 20 seconds"]
    end = time.monotonic() + 10
    pid = int(pid_file.read_text())
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie" and time.monotonic() < end:
        time.sleep(0.1)
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == "zombie"


def test_greedy_notebook_is_stopped(tmp_path):
    grow = "grown = []\nwhile True: grown.append(bytearray(20_000_000))"
    one = run(notebook(tmp_path / "a.ipynb", grow), memory=1.5)
    assert len(one.remarks) == 1
    assert re.fullmatch(r"stopped at 1\.\d GB of memory, over 1\.5 GB", one.remarks[0])


def test_installs_nothing_and_starts_no_shell(tmp_path):
    trace = tmp_path / "trace"
    cells = [f"!touch {trace}", f"%%bash\ntouch {trace}", "%pip install nothing", f"x = !touch {trace}"]
    one = run(notebook(tmp_path / "a.ipynb", *cells, *solved(CHAPTER[0])))
    assert status(one)[CHAPTER[0].id] == "passed"
    assert not trace.exists()


def test_submission_is_not_changed(tmp_path):
    path = notebook(tmp_path / "a.ipynb", "open('a.ipynb', 'w').write('gone')", *solved(CHAPTER[0]))
    before = path.read_bytes()
    assert status(run(path))[CHAPTER[0].id] == "passed"
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.ipynb"]


def test_command_writes_a_table_and_a_page_and_no_bad_notebook_stops_it(tmp_path):
    folder = tmp_path / "in"
    notebook(folder / "ada" / "chapter 2.ipynb", *solved(*CHAPTER[:2]))
    notebook(folder / "none.ipynb", "print('no exercise')")
    notebook(folder / ".ipynb_checkpoints" / "old.ipynb", *solved(CHAPTER[0]))
    (folder / "broken.ipynb").write_bytes(b'\xff{"cells"')
    (folder / "list.ipynb").write_text("[]")
    out = tmp_path / "out"
    command = [sys.executable, "-m", "transformer_lib.exercises", "grade", str(folder), "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    assert "4 notebooks graded" in done.stdout
    with open(out / "grades.csv", encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    ada = [row for row in rows if row["notebook"] == "ada/chapter 2.ipynb"]
    assert [row["exercise"] for row in ada] == [exercise.id for exercise in CHAPTER]
    assert [int(row["earned"]) for row in ada[:3]] == [CHAPTER[0].points, CHAPTER[1].points, 0]
    assert [row["status"] for row in ada[:3]] == ["passed", "passed", report.NOT_CHECKED]
    assert {row["notebook"] for row in rows if "not a notebook" in row["remarks"]} == {
        "broken.ipynb",
        "list.ipynb",
    }
    page = (out / "grades.html").read_text(encoding="utf-8")
    assert "ada/chapter 2.ipynb" in page
    assert "<script" not in page


def test_hostile_texts_are_harmless_in_table_and_page(tmp_path):
    one = supervise.Submission(Path("=cmd()<script>.ipynb"), remarks=["<script>alert(1)</script>"])
    one.results = {CHAPTER[0].id: {"status": "error", "mistake": "error", "message": "=1+1 <b>"}}
    report.write_csv(tmp_path / "g.csv", [one], EXERCISES)
    report.write_html(tmp_path / "g.html", [one], EXERCISES)
    row = next(csv.DictReader((tmp_path / "g.csv").read_text(encoding="utf-8-sig").splitlines()))
    assert row["notebook"].startswith("'=")
    assert row["message"].startswith("'=")
    page = (tmp_path / "g.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "<b>" not in page


@pytest.mark.parametrize("arguments", [["grade", "/no/such/folder"], ["grade", "."]])
def test_no_notebooks_is_said_in_a_sentence(arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith("Nothing could be graded: there is no ")
    with pytest.raises(SystemExit):
        main(["grade", ".", "--seconds", "-1"])


def test_list_names_every_exercise(capsys):
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(EXERCISES)
