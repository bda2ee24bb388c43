"""The counts at the end of the tests, the lint of texts, the pins, the pages' buttons: each can say no."""

import json
from types import SimpleNamespace

import book_pages
import commands
import lint
import pytest
import requirements
import run_tests

REPORT = """<testsuites><testsuite>
<testcase name="a"/><testcase name="b"><failure/></testcase><testcase name="c"><error/></testcase>
<testcase name="d"><skipped type="pytest.skip"/></testcase>
<testcase name="e"><skipped type="pytest.xfail"/></testcase>
</testsuite></testsuites>"""


@pytest.fixture
def reports(tmp_path, monkeypatch):
    """The folder of reports; the steps' pytest runs write `reports.xml` and end with `reports.code`."""
    settings = SimpleNamespace(xml=REPORT, code=0)

    def run(command, **_):
        target = next(str(part).split("=")[1] for part in command if str(part).startswith("--junitxml"))
        if settings.xml:
            with open(target, "w") as file:
                file.write(settings.xml)
        return SimpleNamespace(returncode=settings.code)

    monkeypatch.setattr(run_tests, "REPORTS", tmp_path)
    monkeypatch.setattr(run_tests.subprocess, "run", run)
    return settings


def test_every_kind_of_result_is_counted(reports):
    result = run_tests.tested("library")
    assert (result.passed, result.failed, result.skipped) == (1, 3, 1)


ONE, SKIP = '<t><testcase name="a"/>{}</t>', '<testcase name="b"><skipped type="pytest.skip"/></testcase>'


@pytest.mark.parametrize(
    ("step", "xml", "code", "wrong"),
    [
        ("library", ONE.format(""), 0, False),
        ("library", ONE.format(SKIP), 0, False),
        ("browser", ONE.format(SKIP), 0, True),
        ("library", ONE.format(""), 3, True),
        ("library", "<t/>", 5, True),
        ("library", "", 0, True),
    ],
)
def test_skipped_browser_tests_and_steps_without_tests_are_wrong(reports, step, xml, code, wrong):
    reports.xml, reports.code = xml, code
    assert run_tests.tested(step).wrong == wrong


def test_no_browser_is_told_in_a_sentence_and_fails(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(run_tests, "REPORTS", tmp_path / "reports")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(commands.StopError, match=r"^0 passed, 1 failed, 0 skipped$"):
        run_tests.main(["browser"])
    assert run_tests.NO_BROWSER in capsys.readouterr().out
    with pytest.raises(commands.StopError, match="There is no step brewser: "):
        run_tests.main(["brewser"])


HOME = "/".join(["", "home", "someone", "book"])
FAULTS = {
    '"resolved": "x"': "a package registry",
    "pip install --index-url x": "a package registry",
    "https://registry." + "npmjs.org/axe": "a package registry",
    f"see {HOME}/x.py": "a path of one machine",
    "open('/" + "tmp/shot.png')": "a path of one machine",
}


@pytest.mark.parametrize("line", FAULTS)
def test_hosts_and_paths_are_seen(line):
    assert [
        fault for fault in lint.text_faults("f", f"fine\n{line}") if f"line 2: names {FAULTS[line]}" in fault
    ]


@pytest.mark.parametrize(
    "line", ["pip install torch", "https://github.com/home/work/", "a/work/b", "#!/usr/bin/env bash"]
)
def test_ordinary_lines_pass(line):
    assert lint.text_faults("f", line, root="(nowhere)") == []


def test_outputs_and_widget_state_are_seen():
    cells = [{"outputs": [1], "metadata": {"tags": tags}} for tags in ([], ["nbval-check-output"])]
    text = json.dumps({"metadata": {"widgets": {}}, "cells": cells})
    assert lint.notebook_faults("n", text) == ["n: holds widget state", "n, cell 1: carries outputs"]
    assert "can be read" in lint.notebook_faults("n", "no json")[0]


def test_pins_leave_out_what_comes_with_torch():
    compiled = (
        "# comment\ncuda-toolkit==1\nnumpy==2 ; python_version < '3'\nnvidia-cublas==1\ntriton==3\ntorch==2\n"
    )
    assert (
        requirements.pinned(compiled) == f"{requirements.HEADER}\nnumpy==2 ; python_version < '3'\ntorch==2\n"
    )


def test_the_colab_button_stands_in_sight():
    entry = {"type": "link", "url": "https://example.org", "text": "Colab", "icon": "logo.png"}
    context = {
        "header_buttons": [{"type": "group", "label": "launch-buttons", "buttons": [entry]}, {"type": "link"}]
    }
    book_pages.show_colab(None, "book/02", "page.html", context, None)
    shown = context["header_buttons"][0]
    assert (shown["type"], shown["url"], shown["text"]) == ("link", "https://example.org", "Open in Colab")


def test_unused_scripts_are_left_out():
    files = [
        SimpleNamespace(filename="sphinx-thebe.js", attributes={}),
        SimpleNamespace(filename=None, attributes={"body": "const THEBE_JS_URL = 1"}),
        SimpleNamespace(filename="boot.js", attributes={}),
    ]
    context = {"script_files": files, "css_files": files[:1]}
    book_pages.leave_out_unused(None, "x", "page.html", context, None)
    assert context == {"script_files": files[2:], "css_files": []}
