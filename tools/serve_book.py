"""Show the built book on localhost: `python tools/serve_book.py`. PORT chooses where; a free one is found."""

from __future__ import annotations

import os
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from build_book import HTML
from commands import StopError, reported, say

PORT = 8000


class Pages(SimpleHTTPRequestHandler):
    """The built pages, always as they are now; only what is missing is told."""

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_request(self, code="-", size="-") -> None:
        if int(code) >= 400:
            super().log_request(code, size)


def server(first: int, folder: Path = HTML) -> ThreadingHTTPServer:
    """A server on the port that was asked for or, where it is taken, on one of the next or any free one."""
    handler = partial(Pages, directory=str(folder))
    for port in (*range(first, first + 10), 0):
        try:
            return ThreadingHTTPServer(("127.0.0.1", port), handler)
        except (OSError, OverflowError):
            continue
    raise StopError(
        "There is no free port on this machine: close another server, and run `make serve` again."
    )


def serve() -> None:
    wanted = os.environ.get("PORT", str(PORT))
    if not wanted.isdigit():
        raise StopError(f"PORT={wanted} is not a number: write `make serve PORT=8000`.")
    if not (HTML / "index.html").is_file():
        raise StopError("The book is not built yet: run `make book` first.")
    with server(int(wanted)) as running:
        if running.server_port != int(wanted):
            say(f"Port {wanted} is taken.")
        say(f"The book is at http://localhost:{running.server_port}/ (Ctrl-C ends it).")
        try:
            running.serve_forever()
        except KeyboardInterrupt:
            say("")


if __name__ == "__main__":
    raise SystemExit(reported(serve))
