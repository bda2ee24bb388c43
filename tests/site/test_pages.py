"""Every page of the built book in a real browser: does it load, fit, and read well?"""

import accessibility
import built_book
import chromium
import figures
import links
import pytest
import reading
from verdict import none

VIEWS = [
    ("light", chromium.WIDE),
    ("dark", chromium.WIDE),
    ("dark", chromium.NARROW),
    ("light", chromium.NARROW),
]
SMALLEST = {chromium.WIDE: 10, chromium.NARROW: 7}  # pixels of the letters in drawings
NOT_ATTEMPTED = "not attempted yet"


def test_all_pages_are_built():
    """The built pages are those of the table of contents, so that no page escapes these tests."""
    none([built_book.NOT_BUILT] * (not built_book.pages()))
    expected = {*built_book.contents(), *built_book.MADE_BY_SPHINX, "index"}
    assert built_book.built() == expected


def test_loads_without_errors(opened, name):
    """No script error, no missing file, no request to another host."""
    none(opened.faults)


@pytest.mark.parametrize(("theme", "width"), VIEWS)
def test_fits_and_is_legible(visit, theme, width):
    """No sideways scrolling, letters large enough, contrast enough, with everything unfolded."""
    page = visit.show(theme, width)
    visit.unfold()
    glare = accessibility.glare(page) if theme == "dark" else []
    small = reading.small_print(page, SMALLEST[width])
    none(reading.overflow(page) + small + accessibility.contrast(page) + glare)


@pytest.mark.parametrize(("theme", "width"), VIEWS)
def test_accessible(visit, axe_script, theme, width):
    """axe-core finds nothing serious or critical."""
    page = visit.show(theme, width)
    visit.unfold()
    none(accessibility.axe(page, axe_script))


def test_reads_well(visit, name):
    """Mathematics is set, pictures are described, headings are in order."""
    page = visit.show()
    mathematics = reading.mathematics(page, built_book.has_mathematics(name))
    none(mathematics + reading.pictures(page) + reading.structure(page))


def test_figures_move(visit, name):
    """Each slider and menu changes its picture by keyboard, there and back, with no kernel."""
    page = visit.show()
    none(figures.explored(page, built_book.calls(name, "explore")) + figures.pointed_at(page))


def test_figures_move_when_narrow(visit, name):
    none(figures.explored(visit.show("dark", chromium.NARROW), built_book.calls(name, "explore")))


def test_exercises_wait(visit, name):
    """Each check of the chapter shows its card, which says that nothing was attempted."""
    outputs = visit.show().locator("main .cell_output").all_inner_texts()
    waiting = sum(NOT_ATTEMPTED in output.lower() for output in outputs)
    assert waiting == built_book.calls(name, "check")


def test_keyboard(visit):
    """The skip link comes first; Tab walks once around the page."""
    none(reading.keyboard(visit.show()))


def test_links_lead_somewhere(site, name):
    """Links, anchors and files, those in raw HTML included."""
    none(links.broken(built_book.HTML / f"{name}.html", built_book.HTML))


def test_opens_from_disk(browser, site, name):
    """Opened as a file, with no server and no network, the page shows its text, formulas and figures."""
    visit = chromium.Visit(browser, (built_book.HTML / f"{name}.html").as_uri())
    try:
        page, count = visit.page, built_book.calls(name, "explore")
        assert page.locator("main h1:visible").count() == 1
        faults = reading.mathematics(page, built_book.has_mathematics(name)) + figures.explored(page, count)
        none(visit.faults + faults)
    finally:
        visit.close()
