"""The set-up: refuses an unsuitable Python in a sentence, does a thing once, mends what was interrupted."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import browser_scripts
import environment
import pytest
import set_up
import stamps

TOOLS = Path(set_up.__file__).parent


@pytest.mark.parametrize(
    ("version", "fault"), [((3, 9), "too old"), ((3, 14), "too new"), ((2, 7), "too old")]
)
def test_an_unsuitable_python_is_refused_in_a_sentence(version, fault, monkeypatch, capsys):
    monkeypatch.setattr(sys, "version_info", (*version, 1))
    assert set_up.main() == 1
    said = capsys.readouterr().err
    assert said.startswith(f"This is Python {version[0]}.{version[1]} (")
    assert f"{fault} for the book: install Python 3.10, 3.11, 3.12 or 3.13" in said


def test_a_suitable_python_goes_on(monkeypatch):
    asked = []
    monkeypatch.setattr(environment, "set_up", lambda explicit: asked.append(explicit))
    for python, version in {"python3": (3, 10), "": (3, 13)}.items():
        monkeypatch.setenv("PYTHON", python)
        monkeypatch.setattr(sys, "version_info", (*version, 1))
        assert set_up.main() == 0
    assert asked == [True, False]


def test_an_old_python_can_read_the_first_script():
    tree = ast.parse((TOOLS / "set_up.py").read_text(encoding="utf-8"), feature_version=(3, 4))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr | ast.AnnAssign)]


def shell(path, **settings):
    command = ["/bin/sh", str(TOOLS / "python.sh"), "-c", "print('runs')"]
    return subprocess.run(
        command, capture_output=True, text=True, env={"PATH": str(path), **settings}, cwd=path
    )


def test_the_first_suitable_python_is_taken(tmp_path):
    for name, line in {"python3": "exit 1", "python3.13": f'exec "{sys.executable}" "$@"'}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / name).chmod(0o755)
    assert shell(tmp_path).stdout == "runs\n"
    assert shell(tmp_path, PYTHON=sys.executable).stdout == "runs\n"


def test_no_python_is_told_in_a_sentence(tmp_path):
    assert "There is no Python here: install Python 3.10" in shell(tmp_path).stderr
    assert "There is no python3.77 here: leave PYTHON out" in shell(tmp_path, PYTHON="python3.77").stderr


def test_a_stamp_holds_until_a_file_changes(tmp_path):
    file, stamp = tmp_path / "file", tmp_path / "stamps" / "stamp"
    file.write_text("one")
    key = stamps.digest(file, "3.11")
    assert not stamps.matches(stamp, key)
    stamps.write(stamp, key)
    assert stamps.matches(stamp, stamps.digest(file, "3.11"))
    assert not stamps.matches(stamp, stamps.digest(file, "3.12"))
    file.write_text("two")
    assert not stamps.matches(stamp, stamps.digest(file, "3.11"))
    assert os.listdir(stamp.parent) == ["stamp"]


def test_packages_that_lack_a_file_are_found(tmp_path):
    for name, size in {"whole": 3, "cut": 9, "lost": 0}.items():
        info = tmp_path / f"{name}-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: {name}\nVersion: 1\n")
        (info / "RECORD").write_text(f"{name}.py,,{size}\n")
        if size:
            (tmp_path / f"{name}.py").write_text("x=1")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{environment.DAMAGED}"
    said = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert sorted(said.split("\n")) == ["", "damaged cut", "damaged lost"]


def test_pip_is_told_of_in_few_lines():
    news = environment._watch()
    lines = [f"Collecting p{n}==1 (from x)" for n in range(30)]
    assert [line for line in map(news, lines) if line] == ["25 packages looked up"]
    assert news("  Downloading torch-2.13.0-cp311-linux.whl (526.7 MB)") == "downloading torch, 526.7 MB"
    assert news("  Downloading six-1.17.0.whl (11 kB)") is None
    assert news("Installing collected packages: a, b, c") == "unpacking 3 packages, a minute or so"


def test_browser_scripts_are_laid_out_whole(tmp_path, monkeypatch):
    modules = tmp_path / "node_modules"
    for source in browser_scripts.LAYOUT:
        path = modules / source
        if path.suffix:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source)
        else:
            path.mkdir(parents=True)
    (modules / browser_scripts.MANAGER / "icons.woff2").write_text("font")
    monkeypatch.setattr(browser_scripts, "VENDOR", tmp_path / "vendor")
    (tmp_path / "vendor" / "old").mkdir(parents=True)
    browser_scripts._lay_out(modules)
    found = {path.relative_to(tmp_path / "vendor").as_posix() for path in (tmp_path / "vendor").rglob("*")}
    assert {"require.js", "embed-amd.js", "mathjax/output/chtml", "npm/@jupyter-widgets/icons.woff2"} <= found
    assert "old" not in found
    assert not (tmp_path / "vendor.part").exists()


def test_the_lock_file_has_a_hash_for_each_package_and_no_address():
    import json

    packages = json.loads((browser_scripts.HOME / "package-lock.json").read_text(encoding="utf-8"))[
        "packages"
    ]
    assert len(packages) > 5
    for name, package in packages.items():
        assert name == "" or package["integrity"].startswith("sha512-"), name
        assert "resolved" not in package, name
