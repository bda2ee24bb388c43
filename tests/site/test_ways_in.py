"""The ways into the book and on to Colab: first page, search, launch buttons, the README's badges."""

import re

import built_book
import chromium
import pytest
from verdict import none

CHAPTERS = [name for name in built_book.pages() if built_book.is_notebook(name)]
IN_CONTENTS = [name for name in built_book.pages() if name not in built_book.MADE_BY_SPHINX]
COLAB = "a[href*='colab.research.google.com']"


def test_first_page(browser, site):
    """The bare address leads to the first page of the table of contents."""
    visit = chromium.Visit(browser, f"{site}/index.html")
    visit.page.wait_for_url(f"**/{built_book.contents()[0]}.html")
    visit.close()
    none(visit.faults)


def _longest_word(text: str) -> str:
    return max(re.findall(r"[A-Za-z]+", text), key=len)


@pytest.mark.parametrize("page", IN_CONTENTS or [pytest.param(None, id="not-built")])
def test_search_finds_the_page(browser, site, page):
    """A word of the page's heading is found, and one of the results leads to the page."""
    visit = chromium.Visit(browser, f"{site}/{page}.html")
    word = _longest_word(visit.page.locator("main h1:visible").inner_text())
    visit.page.goto(f"{site}/search.html?q={word}")
    visit.page.wait_for_load_state("networkidle")  # each result fetches its page for a few words of it
    visit.page.locator(f"#search-results a[href*='{page}.html']").first.click()
    visit.page.wait_for_url(f"**/{page}.html*")
    assert word.lower() in visit.page.locator("main").inner_text().lower()
    visit.close()
    none(visit.faults)


def test_search_by_keyboard(browser, site):
    """Control and K open the search field; Enter shows results."""
    visit = chromium.Visit(browser, f"{site}/{built_book.contents()[0]}.html")
    visit.page.keyboard.press("Control+k")
    visit.page.keyboard.type("attention")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_url("**/search.html?q=attention*")
    visit.page.locator("#search-results li a").first.wait_for()
    visit.close()
    none(visit.faults)


def test_search_that_finds_nothing(browser, site):
    visit = chromium.Visit(browser, f"{site}/search.html?q=zzyzzy")
    visit.page.get_by_text("did not match any documents").wait_for()
    assert visit.page.locator("#search-results li").count() == 0
    visit.close()


def test_colab_button(visit, name):
    """A chapter's launch button opens that very notebook in Colab; other pages have none."""
    found = set(visit.page.eval_on_selector_all(COLAB, "links => links.map(link => link.href)"))
    assert found == ({built_book.colab_address(name)} if built_book.is_notebook(name) else set())


def test_readme_badges():
    """The README has one Colab badge for each chapter, with the same address as the chapter's button."""
    none([built_book.NOT_BUILT] * (not CHAPTERS))
    readme = (built_book.ROOT / "README.md").read_text(encoding="utf-8")
    badges = re.findall(r"\]\((https://colab\.research\.google\.com/github/[^)\s]*)", readme)
    assert badges == [built_book.colab_address(name) for name in CHAPTERS]


@pytest.mark.parametrize("theme", chromium.THEMES)
def test_theme_is_remembered(browser, site, theme):
    """The theme chosen on one page is that of the next."""
    visit = chromium.Visit(browser, f"{site}/{built_book.contents()[0]}.html")
    visit.show(theme)
    visit.page.goto(f"{site}/{built_book.contents()[-1]}.html")
    assert visit.page.evaluate("() => document.documentElement.dataset.theme") == theme
    visit.close()
    none(visit.faults)
