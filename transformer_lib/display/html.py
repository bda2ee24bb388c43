"""The object that every display function returns: HTML where there is HTML, plain text elsewhere."""

from __future__ import annotations

import hashlib


class Html:
    """A piece of HTML with a text that says the same: `_repr_html_` is the one, `repr()` the other."""

    def __init__(self, html: str, text: str):
        self.html = html
        self.text = text

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.text


def short_name(*contents: object) -> str:
    """Eight letters that depend on the contents only: for ids and classes that must not collide on a page."""
    digest = hashlib.sha256("\0".join(map(str, contents)).encode()).digest()
    return "".join(chr(ord("a") + byte % 26) for byte in digest[:8])
