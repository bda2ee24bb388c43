"""Write requirements.txt from requirements.in: exact versions for Python 3.10 to 3.13 on every platform."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from commands import ROOT, reported, run, say

HEADER = "# Written by 'make requirements' from requirements.in: the one place for exact versions."
# PyTorch asks for these itself where it comes with CUDA, in the versions that it was built with.
WITH_TORCH = re.compile(r"(?:nvidia-|cuda-|triton\b)")
OPTIONS = ["--universal", "--python-version", "3.10", "--no-header", "--no-annotate"]


def pinned(compiled: str) -> str:
    """The file's text: the header, then every pin but those that come with PyTorch."""
    lines = (line.rstrip() for line in compiled.splitlines())
    kept = [line for line in lines if line and not line.startswith("#") and not WITH_TORCH.match(line)]
    return "\n".join([HEADER, *kept]) + "\n"


def main() -> None:
    target = ROOT / "requirements.txt"
    with tempfile.TemporaryDirectory() as folder:
        say("Installing uv into a folder of its own.")
        run([sys.executable, "-m", "pip", "install", "-q", "--target", folder, "uv"], "Installing uv")
        say("Looking for the newest versions that fit together (uv pip compile).")
        command = [Path(folder) / "bin" / "uv", "pip", "compile", *OPTIONS, "requirements.in"]
        environment = {**os.environ, "PYTHONPATH": folder, "NO_COLOR": "1", "UV_PYTHON_DOWNLOADS": "never"}
        done = subprocess.run(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False
        )
    if done.returncode:
        raise SystemExit("requirements.txt is as it was: uv found no versions that fit together (see above).")
    before, after = target.read_text(encoding="utf-8"), pinned(done.stdout)
    target.write_text(after, encoding="utf-8")
    changed = sorted(set(after.splitlines()) ^ set(before.splitlines()))
    say("\n".join(f"  {'+' if line in after else '-'} {line}" for line in changed) or "Nothing changed.")
    say("Run `make test` before you commit it.")


if __name__ == "__main__":
    sys.exit(reported(main))
