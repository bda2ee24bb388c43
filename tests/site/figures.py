"""Figures to explore: every slider and menu moved by keyboard changes its picture, and changes it back."""

from pathlib import Path

from playwright.sync_api import Locator, Page

CONTROLS = ".widget-subarea :is(.noUi-handle, select, input[type=range], input[type=radio])"
_SCRIPT = (Path(__file__).parent / "figures.js").read_text(encoding="utf-8")
_LOOK = "(control, name) => {\nconst reader =\n" + _SCRIPT + ";\nreturn reader[name](control); }"
_SLIDER, _MENU = ("ArrowRight", "ArrowLeft"), ("ArrowDown", "ArrowUp")


def _moved(page: Page, control: Locator, key: str, before: str) -> str:
    """What is seen after a press of the key, as soon as it differs from before or a second has passed."""
    control.focus()
    page.keyboard.press(key)
    for _ in range(20):
        if (seen := control.evaluate(_LOOK, "seen")) != before:
            return seen
        page.wait_for_timeout(50)
    return before


def _one(page: Page, control: Locator, label: str) -> list[str]:
    there, back = _MENU if control.evaluate("control => control.tagName") == "SELECT" else _SLIDER
    if control.evaluate(_LOOK, "atEnd"):
        there, back = back, there
    before = control.evaluate(_LOOK, "seen")
    if not before:
        return [f"{label} has no picture"]
    after = _moved(page, control, there, before)
    if after == before:
        return [f"{label} does not change its picture"]
    if _moved(page, control, back, after) != before:
        return [f"{label} does not bring its picture back"]
    return []


def explored(page: Page, figures: int = 1) -> list[str]:
    """Each control of the page, one step there and back; at least `figures` figures must be alive."""
    alive = page.locator(".widget-subarea").filter(has=page.locator(".jupyter-widgets")).count()
    faults = [] if alive >= figures else [f"{alive} figures to explore are alive instead of {figures}"]
    controls = page.locator(CONTROLS).all()
    if len(controls) < figures:
        faults.append(f"{len(controls)} sliders and menus for {figures} figures to explore")
    for number, control in enumerate(controls, 1):
        if not control.is_visible():
            faults.append(f"control {number} is not to be seen")
            continue
        name = control.evaluate(_LOOK, "name")
        if not name:
            faults.append(f"control {number} has no accessible name")
        faults += _one(page, control, f"control {number} ({name})")
    return faults


def pointed_at(page: Page) -> list[str]:
    """Each attention view shows another picture for each of its first words, by keyboard and by pointing."""
    faults = []
    for number, view in enumerate(page.locator(".attention-view").all(), 1):
        rows = view.locator("[tabindex='0']").all()
        if len(rows) < 2 or not view.is_visible():
            faults.append(f"attention view {number} has {len(rows)} words to point at, or is not to be seen")
            continue
        page.mouse.move(0, 0)
        page.evaluate("() => document.activeElement.blur()")
        seen = [view.screenshot()]
        for row in rows[:2]:
            row.focus()
            seen.append(view.screenshot())
        page.evaluate("() => document.activeElement.blur()")
        rows[0].locator("text").first.hover()
        seen.append(view.screenshot())
        page.mouse.move(0, 0)
        if len(set(seen[:3])) < 3:
            faults.append(f"attention view {number} does not change with the focused word")
        if seen[3] == seen[0]:
            faults.append(f"attention view {number} does not change with the word pointed at")
    return faults
