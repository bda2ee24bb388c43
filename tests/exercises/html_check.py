"""Is a piece of HTML well formed, and does it keep the rules of a card?"""

from html.parser import HTMLParser

VOID = {"br", "hr", "img", "input", "meta", "link", "col", "wbr"}
ALLOWED = {"div", "p", "h4", "span", "pre", "code", "em", "details", "summary"}
ALLOWED |= {"table", "caption", "thead", "tbody", "tr", "th", "td"}


class _Checker(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.problems, self.text = [], [], []

    def handle_starttag(self, tag, attributes):
        if tag not in ALLOWED:
            self.problems.append(f"<{tag}> is not for a card")
        for name, value in attributes:
            if name.startswith("on") or name in ("src", "href", "id") or "url(" in (value or ""):
                self.problems.append(f"<{tag} {name}={value!r}>")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.problems.append(f"</{tag}> closes {self.open[-1:]}")
        else:
            self.open.pop()

    def handle_data(self, data):
        self.text.append(data)


def check_html(html):
    """The visible text; fails where tags do not match or something else than plain HTML comes up."""
    checker = _Checker()
    checker.feed(html)
    checker.close()
    assert not checker.problems, checker.problems
    assert not checker.open, f"never closed: {checker.open}"
    return "".join(checker.text)
