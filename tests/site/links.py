"""Links, anchors and files named by a built page, read from the disk: do they all lead somewhere?"""

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes that make a browser fetch something at once, by tag; links in <a> are only followed on a click.
FETCHED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
}
LINK_KINDS_FETCHED = {
    "stylesheet",
    "icon",
    "preload",
    "prefetch",
    "preconnect",
    "dns-prefetch",
    "modulepreload",
    "manifest",
}


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.anchors: set[str] = {"", "top"}
        self.links: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag, attrs):
        has = dict(attrs)
        self.anchors |= {has[key] for key in ("id", "name") if has.get(key)}
        if tag in ("a", "area") and "href" in has:
            self.links.append(has["href"] or "")
        if tag == "link" and set((has.get("rel") or "").lower().split()) & LINK_KINDS_FETCHED:
            self.fetched.append(has.get("href") or "")
        if has.get(FETCHED.get(tag, "")):
            self.fetched.append(has[FETCHED[tag]])


@cache
def read(path: Path) -> _Reader:
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader


def _fault(page: Path, address: str, root: Path, kind: str) -> str | None:
    parts = urlsplit(address)
    if parts.scheme in ("mailto", "data", "javascript"):
        return None
    if parts.scheme or parts.netloc:
        if kind == "link":
            return (
                None if parts.scheme == "https" and parts.netloc else f"a link that is not https: {address}"
            )
        return f"fetched from another host: {address}"
    target = page if not parts.path else (page.parent / unquote(parts.path)).resolve()
    if target.is_dir():
        target /= "index.html"
    if not target.is_relative_to(root) or not target.is_file():
        return f"a {kind}{' to a file' * (kind == 'link')} that is not there: {address}"
    if target.suffix == ".html" and unquote(parts.fragment) not in read(target).anchors:
        return f"a {kind} to an anchor that is not there: {address}"
    return None


def broken(page: Path, root: Path) -> list[str]:
    """Links and files of one built page that lead nowhere within `root`, or fetch from another host."""
    found, root = read(page.resolve()), root.resolve()
    addresses = [(link, "link") for link in found.links] + [(link, "file") for link in found.fetched]
    faults = (_fault(page.resolve(), address, root, kind) for address, kind in dict.fromkeys(addresses))
    return [fault for fault in faults if fault]
