"""The card: plain HTML that is well formed and escaped, and the same as text."""

import dataclasses
import re

import pytest
import torch
from html_check import check_html
from samples import ANSWER, SHARES, over_rows, shares

from transformer_lib.exercises import card, check, pictures
from transformer_lib.exercises.card import html_card
from transformer_lib.exercises.card_text import text_card
from transformer_lib.exercises.diagnose import judge


def stub(scores):
    raise NotImplementedError


def failing(scores):
    raise ValueError("<b>bold</b> & $x$")


def printing(scores):
    print("<script>alert(1)</script>")
    return over_rows(scores)


RESULTS = {
    "passed": judge(SHARES, shares, 10),
    "not attempted": judge(SHARES, stub, 10),
    "mistake": judge(SHARES, printing, 10),
    "error": judge(SHARES, failing, 10),
    "time": judge(SHARES, lambda scores: exec("while True: pass"), 0.2),
    "answer": judge(ANSWER, [0.25, "B"], 10),
    "unknown": check("99.9", len),
    "three axes": judge(
        dataclasses.replace(SHARES, cases=lambda g: [(torch.randn(2, 3, 5, generator=g),)], mistakes=()),
        lambda scores: torch.cat([scores[:1].softmax(-1), scores[1:].softmax(-2)]),
        10,
    ),
    "notes": judge(
        dataclasses.replace(
            SHARES, prepare=lambda candidate, seconds: (candidate, (("a <part>", "$yours$"),))
        ),
        shares,
        10,
    ),
    "booleans": judge(dataclasses.replace(SHARES, run=lambda f, s: f(s) > 0.3, mistakes=()), over_rows, 10),
}


@pytest.mark.parametrize("name", RESULTS)
def test_card_is_well_formed_plain_html(name):
    text = check_html(html_card(RESULTS[name]))
    assert RESULTS[name].id in text


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("passed", "Passed"),
        ("not attempted", "Not attempted yet"),
        ("mistake", "Not right yet · softmax-over-rows"),
        ("error", "Stopped by an error"),
        ("unknown", "Could not be checked"),
    ],
)
def test_status_is_said_in_words_and_to_screen_readers(name, words):
    html = html_card(RESULTS[name])
    assert words in check_html(html)
    label = re.search(r'role="group" aria-label="([^"]*)"', html).group(1)
    assert words.split(" ·")[0].lower() in label
    assert "<h4" in html


def test_everything_is_escaped():
    html = html_card(RESULTS["mistake"])
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)" in html
    assert "Shares &lt;of&gt; scores" in html
    assert "where a &lt; b" in html
    assert "&lt;b&gt;bold" in html_card(RESULTS["error"])
    assert "$x$" not in html_card(RESULTS["error"])  # or the page would typeset it


def test_notes_are_a_table_and_lines_of_text():
    html = html_card(RESULTS["notes"])
    assert html.count("<tr>") == 1
    assert "a &lt;part&gt;" in html
    assert "&#36;yours&#36;" in html
    assert "a <part>: $yours$" in text_card(RESULTS["notes"])
    assert "<table" not in html_card(RESULTS["passed"])


def test_hints_and_solution_are_folded():
    html = html_card(RESULTS["mistake"])
    shown = html.split("<details")[0]
    for hidden in (*SHARES.hints, "exponentials = torch.exp"):
        assert hidden.split("`")[0].split("<")[0] not in shown
        assert hidden.split("`")[0].split("<")[0] in html
    assert "<details open" not in html
    summaries = re.findall(r"<summary[^>]*>([^<]*)</summary>", html)
    assert summaries == [
        "The numbers of the input",
        "What your code printed",
        "Hint 1 of 2",
        "Hint 2 of 2",
        "Solution",
    ]
    assert "Hint" not in html_card(RESULTS["passed"])
    assert "Solution" in html_card(RESULTS["passed"])


def test_expected_and_got_are_heat_maps_of_one_scale():
    html = html_card(RESULTS["mistake"])
    assert html.count("<table") == 3  # with the input
    assert "Expected, shape (2, 3)" in html
    assert "What came, shape (2, 3)" in html
    assert html.index("Smallest input") < html.index("Expected") < html.index("What came")
    assert "Expected" not in html_card(RESULTS["passed"])
    low, high = pictures._ends([torch.tensor([0.0, 1.0]), torch.tensor([3.0, float("nan")])])
    assert (low, high) == (0, 3)


def test_the_slice_that_differs_is_drawn():
    assert "Expected, [1] of it, shape (3, 5)" in html_card(RESULTS["three axes"])


def test_learners_line_is_shown_and_no_frame_of_the_engine():
    for text in (check_html(html_card(RESULTS["error"])), text_card(RESULTS["error"])):
        assert 'raise ValueError("<b>bold</b> & $x$")' in text
        assert "ValueError: <b>bold</b> & $x$" in text
        assert "test_card.py" in text
        assert "runner" not in text
        assert "Traceback" not in text


def test_text_says_the_same():
    text = repr(RESULTS["mistake"])
    assert text.startswith(
        "✗ Exercise 9.1: Shares <of> scores: not right yet (softmax-over-rows)\nRows sum to"
    )
    assert "Smallest input that shows it: scores = a tensor of shape (2, 3)" in text
    assert "Expected, shape (2, 3)" in text
    assert "<script>alert(1)</script>" in text
    assert max(map(len, text.splitlines())) <= 110
    assert repr(RESULTS["passed"]).startswith("✓ Exercise 9.1")


def test_colours_are_legible_in_light_and_dark():
    from transformer_lib.display.colors import contrast

    for _, _, color in card.LOOKS.values():
        assert contrast(color, "#ffffff") >= 3
        assert contrast(color, "#14181e") >= 3
    for html in map(html_card, RESULTS.values()):
        without_maps = re.sub(r"<table.*?</table>", "", html, flags=re.DOTALL)
        colors = set(re.findall(r"(?<!-)color:([^;\"]+)", without_maps))
        assert colors <= {"inherit"} | {color for _, _, color in card.LOOKS.values()}


def test_nothing_is_wider_than_a_telephone():
    for html in map(html_card, RESULTS.values()):
        assert not re.search(
            r"(?<!max-)width:\s*\d{3,}px|nowrap(?![^<]*</t)", re.sub(r"<t[dh].*?>", "", html)
        )
        for pre in re.findall(r"<pre[^>]*>", html):
            assert "pre-wrap" in pre


def test_a_result_that_cannot_be_drawn_still_says_what_is_wrong(monkeypatch):
    def broken(result):
        raise RuntimeError

    monkeypatch.setattr(card, "html_card", broken)
    assert "Rows sum to" in RESULTS["mistake"]._repr_html_()


def test_works_without_ipython(monkeypatch):
    import subprocess
    import sys

    code = (
        "import sys; sys.modules['IPython'] = None\n"
        "from transformer_lib.exercises import catalogue, check\n"
        "result = check(catalogue()[0].id, lambda: None)\n"
        "assert result.mistake and result._repr_html_() and repr(result)\n"
        "assert not any(name in sys.modules for name in ('matplotlib', 'ipywidgets'))\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
