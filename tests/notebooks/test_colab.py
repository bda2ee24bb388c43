"""The rehearsal of Colab, without its minutes: how the address is answered, and that each gate can fail."""

import json
import os
import subprocess
from pathlib import Path

import colab
import nbformat
import pytest
import repository
import run_notebook
from nbformat.v4 import new_code_cell, new_notebook

READY = "Ready: CPU only · torch 2.11.0 · transformer_lib 1.2.3"
WIDGET = "application/vnd.jupyter.widget-view+json"
PROBE = Path(colab.__file__).with_name("colab_probe.py").read_text(encoding="utf-8")


def cell(source="", *texts, kinds=("stream",), tags=()):
    outputs = [{"kinds": list(kinds), "text": text} for text in texts]
    return {
        "cell": 3,
        "source": source,
        "tags": list(tags),
        "problem": None,
        "detail": "",
        "outputs": outputs,
    }


def run(set_up=(READY,), figures=1, source="explore(draw, alt='')", found="[]"):
    shown = cell(source, "Figure to explore", kinds=(WIDGET, "text/plain"))
    probe = cell("", f'warning\n{{"figures": {figures}, "problems": {found}}}\n')
    return run_notebook.Run("02.ipynb", [cell("", *set_up, tags=["set-up"]), shown, probe], 1.0)


def test_a_good_run_has_no_problem():
    note = "Note: you may need to restart the kernel to use updated packages.\n"
    assert colab.problems(run(set_up=(note, READY + "\n")), "1.2.3") == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"set_up": ()}, "must say in one line"),
        ({"set_up": (READY, "and more")}, "must say in one line"),
        ({"set_up": ("ERROR: pip's resolver …", READY)}, "must say in one line"),
        ({"set_up": (READY.replace("1.2.3", "1.2.2"),)}, "must say in one line"),
        ({"figures": 0}, "1 figures to explore are shown, 0 answer"),
        ({"found": '["figure 1 has no control"]'}, "figure 1 has no control"),
    ],
)
def test_each_problem_is_seen(changes, words):
    assert words in colab.problems(run(**changes), "1.2.3")[0]


def test_a_figure_that_shows_no_widget_is_seen():
    silent = run()
    silent.cells[1]["outputs"] = []
    assert colab.problems(silent, "1.2.3")[0] == "cell 3 calls explore but shows no widget"


def test_a_package_that_changed_or_went_is_seen():
    before = {"numpy": "2.1.3", "torch": "2.11.0", "tornado": "6.5.1"}
    after = {"numpy": "2.1.3", "torch": "2.13.0", "jaxtyping": "0.3"}
    found = colab.changed(before, after)
    assert found == ["torch was 2.11.0 and is 2.13.0 now", "tornado was 6.5.1 and is gone now"]
    assert colab.changed(before, before | {"jaxtyping": "0.3"}) == []


def git(*arguments, **settings):
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True, **settings).stdout


def test_the_address_is_answered_by_the_current_commit(project, tmp_path_factory):
    author = ["-c", "user.name=A", "-c", "user.email=a@b"]
    git("-C", project, "add", ".")
    git("-C", project, *author, "commit", "-qm", "One")
    git("-C", project, "tag", "v1.2.3")
    git("-C", project, *author, "commit", "-qm", "Two", "--allow-empty")
    rehearsal = colab.Colab(tmp_path_factory.mktemp("colab"), repository.read(project), project)
    rehearsal.serve()
    seen = git("ls-remote", rehearsal.home.url, f"refs/tags/{rehearsal.home.tag}", env=rehearsal.env)
    assert seen.split()[0] == git("-C", project, "rev-parse", "HEAD").strip()
    assert (rehearsal.checkout / "_config.yml").is_file()
    assert git("-C", project, "tag").split() == ["v1.2.3"]


def test_the_environment_takes_nothing_from_outside(project, tmp_path, monkeypatch):
    for name in ("PYTHONPATH", "VIRTUAL_ENV", "IPYTHONDIR", "MPLBACKEND"):
        monkeypatch.setenv(name, "outside")
    env = colab.Colab(tmp_path, repository.read(project), project).env
    assert "outside" not in env.values()
    assert env["PATH"].split(os.pathsep)[0] == str(tmp_path / "env" / "bin")


DRAW = """from transformer_lib.display import Html, explore


def draw(d, kind):
    return Html(f'<p>{d} {kind}</p>', 'a')


"""
FIGURE = "figure = explore(draw, alt='{d} {kind}', d=[1, 2, 3], kind=['a', 'b'])"


@pytest.mark.parametrize(
    ("after", "problems"),
    [
        ("", []),
        ("figure.widget.children[-1].children = figure.widget.children[-1].children[:2]",
         ["figure 1: d has a choice without a picture"]),
        ("import ipywidgets.widgets.widget_link as links\nlinks.Link = type('Link', (), {})",
         ["figure 1: d is linked to nothing", "figure 1: kind is linked to nothing",
          "figure 1 stays at one picture, or has an empty one"]),
    ],
)  # fmt: skip
def test_the_probe_tries_every_choice_of_a_figure(tmp_path, after, problems):
    path = tmp_path / "figure.ipynb"
    cells = [new_code_cell(text) for text in (DRAW + FIGURE, after, PROBE)]
    nbformat.write(new_notebook(cells=cells), path)
    result = run_notebook.run(path, limit=60)
    assert not result.failed, result.report()
    said = result.cells[-1]["outputs"][-1]["text"]
    assert said.startswith('{"figures": 1')
    assert sorted(json.loads(said)["problems"]) == sorted(problems)
