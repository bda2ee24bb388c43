"""Commands are run with their output kept, and each known failure is told in one sentence."""

import errno
import sys

import commands
import pytest

SAID = {
    "OSError: [Errno 28] No space left on device": commands.FULL,
    "npm ERR! code ENOSPC": commands.FULL,
    "NewConnectionError: Failed to establish a new connection: [Errno 111]": commands.NO_NETWORK,
    "npm error code EAI_AGAIN": commands.NO_NETWORK,
    "because ensurepip is not\navailable.  On Debian/Ubuntu systems": commands.NO_VENV,
    "/usr/bin/python3: No module named venv": commands.NO_VENV,
}


@pytest.mark.parametrize("said", SAID)
def test_a_known_failure_is_told_in_a_sentence(said, tmp_path):
    log = tmp_path / "log"
    code = f"import sys; print({said!r}); sys.exit(3)"
    with pytest.raises(commands.StopError) as stopped:
        commands.run([sys.executable, "-c", code], "Trying", log=log)
    assert str(stopped.value) == SAID[said]
    assert log.read_text(encoding="utf-8") == said + "\n"


def test_an_unknown_failure_shows_the_end_of_what_was_said(monkeypatch, tmp_path):
    monkeypatch.setattr(commands, "ROOT", tmp_path)
    code = "import sys; [print('line', n) for n in range(40)]; sys.exit(3)"
    with pytest.raises(commands.StopError, match=r"^Trying failed \(exit status 3\); .* log\. ") as stopped:
        commands.run([sys.executable, "-c", code], "Trying", log=tmp_path / "log")
    assert str(stopped.value).endswith("line 39")
    assert "line 20\n" not in str(stopped.value)


def test_output_is_returned_and_watched_by_line(tmp_path, capsys):
    code = "import sys; print('one'); print('two', end='')"
    seen = []

    def watch(line):
        seen.append(line)
        return "news" if line == "two" else None

    assert commands.run([sys.executable, "-c", code], "Trying", watch, tmp_path / "log") == "one\ntwo"
    assert seen == ["one", "two"]
    assert capsys.readouterr().out == "  news\n"


def test_silence_is_broken_by_a_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(commands, "SILENCE", 0.05)
    commands.run([sys.executable, "-c", "import time; time.sleep(0.5)"], "Trying", log=tmp_path / "log")
    assert "so far)" in capsys.readouterr().out


def raising(error):
    def work():
        raise error

    return work


def test_what_goes_wrong_sets_the_exit_status(capsys):
    assert commands.reported(lambda: None) == 0
    assert commands.reported(raising(commands.StopError("the reason"))) == 1
    assert commands.reported(raising(OSError(errno.ENOSPC, "full"))) == 1
    assert commands.reported(raising(KeyboardInterrupt())) == 130
    said = capsys.readouterr().err
    assert "the reason\n" in said
    assert commands.FULL in said
    with pytest.raises(PermissionError):
        commands.reported(raising(PermissionError(errno.EACCES, "no")))
