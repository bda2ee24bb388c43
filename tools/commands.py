"""Run a command, show that it is alive, and say in one sentence what to do when it fails."""

from __future__ import annotations

import errno
import os
import re
import selectors
import shutil
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from stamps import ROOT

LOG = ROOT / ".cache" / "set-up.log"
TERMINAL = sys.stdout.isatty()
# Seconds of silence after which a line says that the work goes on.
SILENCE = 1 if TERMINAL else 20

FULL = (
    "The disk is full: free some space (a set-up takes about 3 GB, 8 GB where PyTorch brings CUDA), "
    "and run the same command again."
)
NO_NETWORK = (
    "The package registry cannot be reached: check the network (proxy, firewall), and run the same command "
    "again; it goes on from here."
)
NO_VENV = (
    "This Python cannot make virtual environments: install its module for that (Debian or Ubuntu: "
    "`sudo apt-get install -y python{}.{}-venv`), and run the same command again."
).format(*sys.version_info)
# What a failed command says, and the sentence for it. The first that is found counts.
CAUSES = [
    (r"No space left on device|ENOSPC|Disk quota exceeded|EDQUOT", FULL),
    (r"No module named '?venv|\bensurepip\b", NO_VENV),
    (
        r"Temporary failure in name resolution|Name or service not known|Network is unreachable"
        r"|No route to host|nodename nor servname|Failed to establish a new connection|Connection refused"
        r"|Connection aborted|ConnectTimeout|Read timed out|ProxyError"
        r"|Cannot connect to proxy|RemoteDisconnected"
        r"|E(?:NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|TIMEDOUT|NETUNREACH)"
        r"|ERR_SOCKET_TIMEOUT|network (?:request|timeout)",
        NO_NETWORK,
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|SELF_SIGNED_CERT|unable to get local issuer",
        "The package registry's certificate is not trusted here: tell pip and npm about your network's "
        "certificate (PIP_CERT, NODE_EXTRA_CA_CERTS), and run the same command again.",
    ),
]


class StopError(Exception):
    """What went wrong, and what to do about it, in a sentence."""


def say(text: str) -> None:
    print(text, flush=True)


class Progress:
    """Prints news; between them one line that is rewritten on a terminal, a line now and then elsewhere."""

    def __init__(self) -> None:
        self.start, self.text = time.monotonic(), "working"

    def news(self, text: str) -> None:
        self.clear()
        say(f"  {text}")
        self.text = text

    def beat(self) -> None:
        """Time has passed with nothing to tell."""
        line = f"  … {self.text} ({time.monotonic() - self.start:.0f} s so far)"
        if TERMINAL:
            print("\r\x1b[K" + line[: shutil.get_terminal_size().columns - 1], end="", flush=True)
        else:
            say(line)

    def clear(self) -> None:
        if TERMINAL:
            print("\r\x1b[K", end="", flush=True)


def run(
    command: Sequence[str | Path],
    what: str,
    watch: Callable[[str], str | None] = lambda line: None,
    log: Path = LOG,
    **settings,
) -> str:
    """Run a command to its end; `watch` makes news of a line, or None. Returns what it said last."""
    progress, tail = Progress(), deque(maxlen=2000)
    file = _opened(log)
    process = subprocess.Popen(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        **settings,
    )
    try:
        for line in _lines(process, progress):
            tail.append(line)
            _write(file, line)
            news = watch(line)
            if news is not None:
                progress.news(news)
        code = process.wait()
    finally:
        progress.clear()
        if process.poll() is None:
            process.terminate()
            process.wait()
        process.stdout.close()
        if file:
            file.close()
    output = "\n".join(tail)
    if code:
        raise StopError(diagnosis(output, what, code, log))
    return output


def _lines(process: subprocess.Popen, progress: Progress):
    """The lines of the output as they come; the progress line beats when none comes."""
    rest = b""
    with selectors.DefaultSelector() as ready:
        ready.register(process.stdout, selectors.EVENT_READ)
        while True:
            if not ready.select(SILENCE):
                progress.beat()
                continue
            chunk = os.read(process.stdout.fileno(), 65536)
            if not chunk:
                break
            *whole, rest = (rest + chunk).split(b"\n")
            yield from (line.decode("utf-8", "replace").rstrip("\r") for line in whole)
    if rest:
        yield rest.decode("utf-8", "replace")


def _opened(log: Path):
    """The log; none where the disk has no room for one."""
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        return log.open("a", encoding="utf-8")
    except OSError:
        return None


def _write(file, line: str) -> None:
    try:
        if file:
            file.write(line + "\n")
            file.flush()
    except OSError:
        pass


def diagnosis(output: str, what: str, code: int, log: Path) -> str:
    """The sentence for a known cause; otherwise the end of what the command said."""
    for pattern, sentence in CAUSES:
        if re.search(pattern, output):
            return sentence
    lines = [f"  {line}" for line in output.splitlines() if line.strip()][-12:]
    where = f"; everything it said is in {log.relative_to(ROOT)}" if log.exists() else ""
    return "\n".join([f"{what} failed (exit status {code}){where}. Its last lines:", *lines])


def reported(work: Callable[[], None]) -> int:
    """Do the work; what goes wrong is told in a sentence, and the exit status says so."""
    try:
        work()
    except StopError as problem:
        print(problem, file=sys.stderr, flush=True)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. Run the same command again to go on from here.", file=sys.stderr)
        return 130
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        print(FULL, file=sys.stderr)
        return 1
    return 0
