"""Can the page be read: nothing cut off, formulas set, pictures described, headings in order, by keyboard?

Each function returns the faults it finds, one sentence each; an empty list is a pass.
"""

from pathlib import Path

from playwright.sync_api import Page

_SCRIPT = (Path(__file__).parent / "reading.js").read_text(encoding="utf-8")
_LOOK = "([name, value]) => {\nconst reader =\n" + _SCRIPT + ";\nreturn reader[name](value); }"


def look(page: Page, name: str, value=None):
    """The answer of one function of reading.js."""
    return page.evaluate(_LOOK, [name, value])


def overflow(page: Page) -> list[str]:
    """Sideways scrolling of the whole page, and text that is cut off at its edge."""
    return look(page, "overflow")


def small_print(page: Page, least: float) -> list[str]:
    """Letters in drawings that are smaller than `least` pixels on the screen."""
    return look(page, "smallPrint", least)


def mathematics(page: Page, expected: bool = True) -> list[str]:
    """Formulas that were not set, were set as errors, or stand there as raw dollars."""
    return look(page, "mathematics", expected)


def pictures(page: Page) -> list[str]:
    """Pictures and drawings that a screen reader cannot name."""
    return look(page, "pictures")


def structure(page: Page) -> list[str]:
    """Language, title, and headings that skip no level."""
    return look(page, "structure")


def keyboard(page: Page, most: int = 2000) -> list[str]:
    """A skip link that comes first and works; a walk with Tab once around the page, caught nowhere."""
    look(page, "toTheTop")
    page.keyboard.press("Tab")
    first = look(page, "focused")
    skip = page.evaluate("() => document.activeElement?.getAttribute('href') || ''")
    faults = [] if skip.startswith("#") else [f"the first stop of the Tab key is no skip link: {skip!r}"]
    if not faults:
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        if not page.evaluate("skip => document.querySelector(skip)?.contains(document.activeElement)", skip):
            faults.append(f"the skip link {skip} does not lead into the text")
    seen: list[str] = []
    for _ in range(most):
        page.keyboard.press("Tab")
        focused = look(page, "focused")
        number = focused.partition(" ")[0]  # the rest may change: a link that leads to what is in view
        if number and number == first.partition(" ")[0]:
            return faults
        if number and number in seen:
            return [*faults, f"the Tab key is caught at {focused}"]
        seen.append(number)
    return [*faults, f"no end after {most} presses of the Tab key"]
