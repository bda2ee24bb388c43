"""What scripts and style sheets do can only be seen in a browser: pointing, keys, colours, widths."""

import json
import re
import shutil
from pathlib import Path

import ipywidgets as widgets
import pytest
from ipywidgets.embed import embed_data
from playwright.sync_api import sync_playwright

from transformer_lib.display import attention_map, attention_view, explore, figure, heat_map

VENDOR = Path(__file__).parents[2] / "web" / "vendor"  # the book's own scripts, laid out by `make`
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>figures</title>
<style>body {{background: {background}; color: {ink}; margin: 16px; font: 16px sans-serif}}</style></head>
<body>{body}</body></html>"""
LIGHT, DARK = {"background": "#ffffff", "ink": "#1f2733"}, {"background": "#14181e", "ink": "#dbe1e8"}
TOKENS = ["The", "animal", "was", "tired"]
WEIGHTS = [[0.1, 0.2, 0.3, 0.4], [0, 1, 0, 0], [0.25, 0.25, 0.25, 0.25], [0.05, 0.9, 0.05, 0]]


@pytest.fixture(scope="module")
def browser():
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.fail("no browser was found: install Chromium", pytrace=False)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield running
        running.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Opens a page with the given HTML; it may load nothing but files and must not report an error."""
    faults, pages = [], []

    def open_page(body: str, width: int = 1200, colors=LIGHT):
        (tmp_path / "page.html").write_text(PAGE.format(body=body, **colors), encoding="utf-8")
        page = browser.new_page(viewport={"width": width, "height": 900}, reduced_motion="reduce")
        pages.append(page)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda r: r.url.startswith(("file:", "data:")) or faults.append(r.url))
        page.goto((tmp_path / "page.html").as_uri())
        return page

    yield open_page
    for page in pages:
        page.close()
    assert not faults


def numbers(page) -> list[str]:
    """The weights that are seen beside the words, in all views of the page."""
    return page.evaluate("""() => [...document.querySelectorAll('.shown text')]
        .filter(node => getComputedStyle(node).visibility === 'visible').map(node => node.textContent)""")


def strands(page) -> list[bool]:
    """For each word, whether its connections are seen."""
    return page.evaluate("""() => [...document.querySelectorAll('.strands')]
        .map(node => getComputedStyle(node).opacity === '1')""")


def test_a_view_answers_to_keys_and_pointing(opened):
    page = opened(attention_view(TOKENS, WEIGHTS).html)
    assert numbers(page) == []
    assert strands(page) == [True] * 4

    page.keyboard.press("Tab")
    assert numbers(page) == ["0.10", "0.20", "0.30", "0.40"]
    assert strands(page) == [True, False, False, False]
    page.keyboard.press("Tab")
    assert numbers(page) == ["1.00"]

    page.locator(".reader text").filter(has_text="tired").first.hover()  # pointing comes before the keys
    assert numbers(page) == ["0.05", "0.90", "0.05"]
    assert strands(page) == [False, False, False, True]
    page.mouse.move(0, 0)
    assert numbers(page) == ["1.00"]


def test_views_on_one_page_answer_each_for_itself(opened):
    page = opened(attention_view(TOKENS, WEIGHTS).html + attention_view(TOKENS, WEIGHTS[::-1]).html)
    page.locator(".reader").nth(5).focus()
    assert numbers(page) == ["0.25"] * 4
    assert strands(page) == [True] * 4 + [False, True, False, False]


def test_a_script_for_a_word_does_not_run(opened):
    word = "<img src=x onerror='document.title=1'><script>document.title = 2</script>"
    shown = [show([word, "it"], [[0.5, 0.5], [1, 0]]).html for show in (attention_map, attention_view)]
    page = opened("".join(shown) + heat_map([[1]], rows=[word], columns=[word], caption=word).html)
    assert page.title() == "figures"
    assert page.locator("img").count() == 0


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=["light", "dark"])
def test_everything_is_drawn_in_the_pages_ink(opened, line, colors):
    drawn = figure(line(1, 2, color="black"), alt="x").html
    page = opened(
        drawn + attention_map(TOKENS, WEIGHTS).html + attention_view(TOKENS, WEIGHTS).html, colors=colors
    )
    red, green, blue = (int(colors["ink"][i : i + 2], 16) for i in (1, 3, 5))
    inks = page.evaluate("""() => [...document.querySelectorAll('svg text:not([fill])')]
        .map(node => getComputedStyle(node).fill)""")
    assert len(inks) > 30
    assert set(inks) == {f"rgb({red}, {green}, {blue})"}
    black = page.evaluate("""() => [...document.querySelectorAll('.figure path')]
        .map(node => getComputedStyle(node).stroke)""")
    assert "rgb(0, 0, 0)" not in black


def test_nothing_is_wider_than_a_telephone(opened, line):
    words = [f"internationalisation{n}" for n in range(16)]
    spread = [[1 / 16] * 16] * 16
    shown = [figure(line(1, 2), alt="x"), attention_map(words, spread), attention_view(words, spread)]
    page = opened("".join(one.html for one in [*shown, heat_map(spread)]), width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("generation", ["Stack", "Tab"])
def test_a_figure_to_explore_needs_no_kernel(opened, line, generation, monkeypatch):
    """In a page as the book builds it, with the book's own scripts; Tab is for ipywidgets 7.7.1."""
    if generation == "Tab":
        monkeypatch.delattr(widgets, "Stack")
    shown = explore(
        lambda d_k, scaled: line(d_k, 2),
        alt="d_k is {d_k}, {scaled}",
        d_k=[1, 4, 16],
        scaled=["plain", "scaled"],
    )
    data = embed_data(views=[shown.widget], drop_defaults=False)
    # Within a script element, "</" would end it.
    state, view = (
        json.dumps(part).replace("</", r"<\/") for part in (data["manager_state"], data["view_specs"][0])
    )
    scripts = "".join(
        f'<script src="{(VENDOR / name).as_uri()}"></script>' for name in ("require.js", "embed-amd.js")
    )
    parts = [("state", state), ("view", view)]
    kind = "application/vnd.jupyter.widget"
    data = "".join(f'<script type="{kind}-{name}+json">{part}</script>' for name, part in parts)
    page = opened(scripts + data, colors=DARK)
    slider = page.locator("[role=slider]")
    slider.wait_for()

    def seen():
        page.wait_for_timeout(100)
        return page.evaluate("""() => [...document.querySelectorAll('svg[role=img]')]
            .filter(node => node.checkVisibility()).map(node => node.getAttribute('aria-label'))""")

    assert seen() == ["d_k is 1, plain"]
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert seen() == ["d_k is 4, plain"]
    page.locator("select").focus()
    page.keyboard.press("ArrowDown")
    assert seen() == ["d_k is 4, scaled"]
    slider.focus()
    page.keyboard.press("End")
    assert seen() == ["d_k is 16, scaled"]
    assert page.locator(".widget-readout").inner_text() == "16"

    assert not page.locator(".lm-TabBar").filter(visible=True).count()
    frames = page.locator(".explore-frames").first.evaluate("""node => {
        const {backgroundColor, borderTopWidth, paddingTop} = getComputedStyle(node);
        return [backgroundColor, borderTopWidth, paddingTop]; }""")
    assert frames == ["rgba(0, 0, 0, 0)", "0px", "0px"]
    ink = page.locator("svg text").first.evaluate("node => getComputedStyle(node).fill")
    assert ink == page.locator(".widget-label").first.evaluate("node => getComputedStyle(node).color")
    assert re.fullmatch(r"rgb\(219, 225, 232\)", ink)
