"""One real browser, a folder served on localhost, and visits that write down all that goes wrong."""

import shutil
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
NO_BROWSER = (
    "No browser was found for the tests of the built book: install Chromium "
    "(Debian or Ubuntu: `sudo apt-get update && sudo apt-get install -y chromium`) and run them again."
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDE, NARROW, HEIGHT = 1200, 390, 900
THEMES = ("light", "dark")
RESIZED = 350  # milliseconds; the theme answers a change of size after 300
SLOW = 20_000  # milliseconds until the page counts as dead

# Everything on the page has come to rest: fonts, mathematics, and a view for each widget.
AT_REST = """() => {
    const views = document.querySelectorAll('script[type="application/vnd.jupyter.widget-view+json"]');
    const alive = [...document.querySelectorAll('.widget-subarea')].filter(area => area.children.length);
    return document.readyState === 'complete' && alive.length >= views.length;
}"""
# The page has been laid out and drawn, observers of its size included.
DRAWN = """() => new Promise(
    done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))))"""
STILL = "*, *::before, *::after { transition: none !important; animation: none !important; }"
UNFOLD = (
    """() => [...document.querySelectorAll('details:not([open])')].map(fold => fold.open = true).length"""
)
# One press of the theme's own switch; the modes follow one another in a circle.
PRESS_SWITCH = """theme => {
    const root = document.documentElement.dataset;
    const done = () => root.theme === theme && (!root.mode || root.mode === theme);
    const button = document.querySelector('.theme-switch-button');
    for (let i = 0; i < 4 && button && !done(); i++) button.click();
    return done();
}"""


def browser_path() -> str:
    """Where Chromium is; FileNotFoundError with one clear sentence when it is nowhere."""
    for name in NAMES:
        if path := shutil.which(name):
            return path
    raise FileNotFoundError(NO_BROWSER)


@contextmanager
def started():
    """A running browser."""
    path = browser_path()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextmanager
def served(folder: Path):
    """The address at which `folder` is served, on a free port of this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Visit:
    """One page opened in a context of its own; `faults` grows by a sentence for all that goes wrong."""

    def __init__(self, browser: Browser, address: str):
        self.address = address
        self.host = urlsplit(address).netloc
        self.faults: list[str] = []
        self.context = browser.new_context(
            viewport={"width": WIDE, "height": HEIGHT}, reduced_motion="reduce"
        )
        self.context.route(self._is_foreign, lambda route: route.abort())
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(SLOW)
        self._listen()
        self.page.goto(address, wait_until="load")
        self.settle()
        self.page.add_style_tag(content=STILL)

    def _listen(self) -> None:
        page = self.page
        page.on("console", lambda m: m.type == "error" and self.faults.append(f"console error: {m.text}"))
        page.on("pageerror", lambda error: self.faults.append(f"page error: {error}"))
        page.on(
            "request", lambda r: self._is_foreign(r.url) and self.faults.append(f"foreign request: {r.url}")
        )
        page.on("websocket", lambda socket: self.faults.append(f"foreign request: {socket.url}"))
        page.on("requestfailed", lambda r: self.faults.append(f"failed request: {r.url} ({r.failure})"))
        page.on(
            "response",
            lambda r: r.status >= 400 and self.faults.append(f"failed request: {r.url} ({r.status})"),
        )

    def _is_foreign(self, url: str) -> bool:
        parts = urlsplit(url)
        own = "file" if self.address.startswith("file:") else "http"
        return not (
            parts.scheme in ("data", "blob", "about") or (parts.scheme == own and parts.netloc == self.host)
        )

    def settle(self) -> None:
        """Wait until the page is at rest; a widget or a formula that never comes is a fault."""
        try:
            self.page.wait_for_function(AT_REST)
            self.page.evaluate(
                "async () => { await document.fonts.ready; await window.MathJax?.startup?.promise; }"
            )
            self.page.evaluate(DRAWN)
        except Exception as error:
            self.faults.append(f"never came to rest: {str(error).splitlines()[0]}")

    def show(self, theme: str = "light", width: int = WIDE) -> Page:
        """The page in this theme, chosen by its own switch, and at this width in pixels."""
        if not self.page.evaluate(PRESS_SWITCH, theme):
            self.faults.append(f"the theme cannot be switched to {theme}")
        if self.page.viewport_size["width"] != width:
            self.page.set_viewport_size({"width": width, "height": HEIGHT})
            self.page.wait_for_timeout(RESIZED)
        return self.page

    def unfold(self) -> Page:
        """Open everything that is folded: hints, solutions, hidden cells."""
        if self.page.evaluate(UNFOLD):
            self.page.wait_for_timeout(RESIZED)
        return self.page

    def close(self) -> None:
        self.context.close()
