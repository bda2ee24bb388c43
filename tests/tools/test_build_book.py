"""The build: outputs are computed anew when the library changes; warnings are told until they are mended."""

from contextlib import suppress

import build_book
import commands
import pytest
import serve_book
import stamps


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A book in miniature; `project.result` is what Jupyter Book answers, None for success."""
    library, page = tmp_path / "attention.py", tmp_path / "_config.yml"
    library.write_text("one")
    page.write_text("one")
    build = tmp_path / "_build"

    class Project:
        result, runs = None, []

    def run(command, what, watch, log, **settings):
        Project.runs.append(command)
        for name in (".jupyter_cache", ".doctrees", "html"):
            (build / name).mkdir(parents=True, exist_ok=True)
        if Project.result:
            log.write_text(Project.result, encoding="utf-8")
            raise commands.StopError("failed")

    monkeypatch.setattr(build_book, "BUILD", build)
    monkeypatch.setattr(build_book, "ROOT", tmp_path)
    monkeypatch.setattr(build_book, "HTML", build / "html")
    monkeypatch.setattr(build_book, "LOG", build / "build.log")
    monkeypatch.setattr(build_book, "UNFINISHED", build / "unfinished")
    monkeypatch.setattr(build_book, "code", lambda: [library])
    monkeypatch.setattr(build_book, "settings", lambda: [page])
    monkeypatch.setattr(build_book, "run", run)
    Project.library, Project.page, Project.build = library, page, build
    return Project


def kept(project) -> set[str]:
    """What of an earlier build is still there when the next one has run."""
    marks = [project.build / name / "mark" for name in (".jupyter_cache", ".doctrees", "html")]
    for mark in marks:
        mark.touch()
    with suppress(commands.StopError):
        build_book.build()
    return {mark.parent.name for mark in marks if mark.exists()}


def test_outputs_are_kept_until_the_library_changes(project, capsys):
    build_book.build()
    assert "The book is built" in capsys.readouterr().out
    assert kept(project) == {".jupyter_cache", ".doctrees", "html"}
    project.library.write_text("two")
    assert kept(project) == {"html"}
    assert "every notebook runs again" in capsys.readouterr().out
    project.page.write_text("two")
    assert kept(project) == {".jupyter_cache"}


def test_warnings_are_errors_and_told_again(project):
    project.result = "build finished with problems, 2 warnings."
    with pytest.raises(commands.StopError, match="2 warnings, which count as errors"):
        build_book.build()
    assert kept(project) == {".jupyter_cache", "html"}
    project.result = None
    assert kept(project) == {".jupyter_cache", "html"}
    assert kept(project) == {".jupyter_cache", ".doctrees", "html"}
    assert all({"-n", "-W", "--keep-going"} < set(command) for command in project.runs)


def test_a_library_that_changes_during_the_build_leaves_no_stamp(project, monkeypatch):
    run = build_book.run
    monkeypatch.setattr(build_book, "run", lambda *a, **k: (run(*a, **k), project.library.write_text("new")))
    build_book.build()
    monkeypatch.setattr(build_book, "run", run)
    project.library.write_text("one")  # changed back: what ran in between may be of either
    assert kept(project) == {"html"}


def test_every_library_file_counts():
    code = {path.name for path in build_book.code()}
    assert {"attention.py", "__init__.py", "requirements.txt"} <= code
    assert not any(path.suffix == ".pyc" for path in build_book.code())
    assert len(stamps.digest(build_book.code())) == 32


def test_the_builds_lines_become_news():
    news = build_book.News()
    warning = "/x/book/intro.md:3: WARNING: unknown label [myst.xref]"
    lines = {
        "\x1b[01mRunning Sphinx v7.4.7\x1b[39m": None,
        "/x/book/02_two.ipynb: Executing notebook using local CWD [mystnb]": "running book/02_two.ipynb",
        "/x/book/02_two.ipynb: Executed notebook in 12.34 seconds [mystnb]": "ran book/02_two.ipynb in 12 s",
        f"\x1b[91m{warning}": warning,
        "Traceback (most recent call last):": None,
        "  File 'inner', line 3": None,
        "ValueError: wrong": "ValueError: wrong",
    }
    assert {line: news(line) for line in lines} == lines


def test_a_taken_port_is_passed_over(tmp_path):
    with serve_book.server(0, tmp_path) as first, serve_book.server(first.server_port, tmp_path) as second:
        assert second.server_port != first.server_port


def test_a_port_that_is_no_number_is_told(monkeypatch):
    monkeypatch.setenv("PORT", "eighty")
    with pytest.raises(commands.StopError, match="PORT=eighty is not a number"):
        serve_book.serve()
