"""What the tests of the notebooks share: the tools on the path, a project in miniature, the times."""

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))


@pytest.fixture
def project(tmp_path):
    """A repository in miniature, with an address and a version of its own."""
    from sample_chapters import CONFIG

    (tmp_path / "_config.yml").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "transformer_lib"\nversion = "1.2.3"\n')
    (tmp_path / "book").mkdir()
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return tmp_path


def pytest_terminal_summary(terminalreporter):
    """A line for each notebook that ran: its cells and its time."""
    reports = terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
    lines = sorted(value for report in reports for key, value in report.user_properties if key == "notebook")
    if lines:
        terminalreporter.section("notebooks")
        terminalreporter.write("\n".join(lines) + "\n")
