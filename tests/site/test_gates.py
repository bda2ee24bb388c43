"""The checks of this folder, checked: each reports a page that is broken in its way, and none a good one."""

from pathlib import Path

import accessibility
import chromium
import figures
import links
import pytest
import reading
from playwright.sync_api import Browser
from sample_pages import DRAWING, GOOD, LINKS, LOADING, PAGE, READING, VIEW, VIEWS


@pytest.fixture
def visited(browser: Browser, tmp_path: Path):
    """Opens a page with this body, served on its own."""
    visits = []
    with chromium.served(tmp_path) as address:

        def visit(body: str, page: str = PAGE) -> chromium.Visit:
            (tmp_path / "page.html").write_text(page.format(body), encoding="utf-8")
            visits.append(chromium.Visit(browser, f"{address}/page.html"))
            return visits[-1]

        yield visit
        for each in visits:
            each.close()


def test_good_page_has_no_faults(visited, axe_script, tmp_path):
    visit = visited(GOOD)
    for theme in chromium.THEMES:
        for width in (chromium.WIDE, chromium.NARROW):
            page = visit.show(theme, width)
            assert reading.overflow(page) == []
            assert accessibility.contrast(page) == []
            assert accessibility.axe(page, axe_script) == []
    assert reading.mathematics(page, expected=False) == []
    assert reading.pictures(page) + reading.structure(page) + reading.keyboard(page) == []
    assert figures.explored(page, 1) == []
    assert links.broken(tmp_path / "page.html", tmp_path) == []
    assert visit.faults == []


@pytest.mark.parametrize("body", LOADING)
def test_loading_faults_are_seen(visited, body):
    assert any(LOADING[body] in fault for fault in visited(body).faults)


def test_page_without_theme_switch_is_seen(visited):
    visit = visited("", PAGE.replace("theme-switch-button", "other"))
    visit.show("dark")
    assert visit.faults == ["the theme cannot be switched to dark"]


def test_widget_that_never_comes_is_seen(visited, monkeypatch):
    monkeypatch.setattr(chromium, "SLOW", 500)
    body = '<script type="application/vnd.jupyter.widget-view+json">{"model_id": "0"}</script>'
    faults = visited(body).faults
    assert "never came to rest" in faults[0]


@pytest.mark.parametrize("body", READING)
def test_faults_of_a_page_are_seen(visited, body):
    gate, expected = READING[body]
    width = chromium.NARROW if gate is reading.overflow else chromium.WIDE
    faults = gate(visited(body).show(width=width))
    assert any(expected in fault for fault in faults), faults


def test_text_for_one_theme_only_is_seen(visited):
    """Black words of a plot are legible in light mode and lost in dark mode."""
    visit = visited(DRAWING.format("", 'fill="#000"'))
    assert accessibility.contrast(visit.show("light")) == []
    assert any('"words"' in fault for fault in accessibility.contrast(visit.show("dark")))


def test_small_letters_are_seen(visited):
    page = visited(DRAWING.format("", 'transform="scale(0.5)"')).page
    assert reading.small_print(page, 8) == []
    assert "letters of 8.0 px, under 8.1" in reading.small_print(page, 8.1)[0]


def test_box_that_stays_bright_is_seen(visited):
    page = visited("<div style='background: #ddd; color: #000; height: 200px'>bright</div>").show("dark")
    assert accessibility.contrast(page) == []
    assert [fault[:19] for fault in accessibility.glare(page)] == ["bright in dark mode"]
    assert accessibility.glare(visited("<p>dark</p>").show("dark")) == []


def test_folded_text_is_seen_when_unfolded(visited):
    visit = visited("<details><summary>Hint</summary><p style='color: #999'>pale</p></details>")
    assert accessibility.contrast(visit.show()) == []
    assert accessibility.contrast(visit.unfold()) != []


def test_page_without_language_title_and_skip_link_is_seen(visited):
    page = visited("", "<body><main><h1>x</h1>{}<input></main>").page
    faults = reading.structure(page) + reading.keyboard(page)
    assert ["language" in faults[0], "title" in faults[1], "no skip link" in faults[2]] == [True] * 3


def test_skip_link_to_nowhere_is_seen(visited):
    faults = reading.keyboard(visited("", PAGE.replace('href="#main">Skip', 'href="#gone">Skip')).page)
    assert faults == ["the skip link #gone does not lead into the text"]


def test_axe_violation_is_seen_and_define_comes_back(visited, axe_script):
    page = visited("<button></button><script>window.define = () => 'kept'; define.amd = {}</script>").page
    assert any("button-name" in fault for fault in accessibility.axe(page, axe_script))
    assert page.evaluate("() => define()") == "kept"


@pytest.mark.parametrize("body", LINKS)
def test_broken_links_are_seen(tmp_path, body):
    (tmp_path / "page.html").write_text(PAGE.format(body), encoding="utf-8")
    assert links.broken(tmp_path / "page.html", tmp_path) == [LINKS[body]]


def test_missing_browser_is_told_in_one_sentence(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(
        FileNotFoundError, match=r"^No browser was found .* install Chromium \(.*\) and run them again\.$"
    ):
        chromium.browser_path()


@pytest.mark.parametrize("style", VIEWS)
def test_attention_view_that_does_not_answer_is_seen(visited, style):
    faults = figures.pointed_at(visited(VIEW.replace("{}", style)).page)
    assert len(faults) == len(VIEWS[style])
    assert all(part in fault for part, fault in zip(VIEWS[style], faults, strict=True))
