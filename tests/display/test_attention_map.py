"""Heat maps of attention: each word at its side, each weight in its cell, and no word that becomes code."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import torch

from transformer_lib.display import attention_map, attention_view
from transformer_lib.display.colors import cell_color
from transformer_lib.display.words import reading, shorten, words_of

TOKENS = ["The", "animal", "<script>alert(1)</script>"]
WEIGHTS = [[0.2, 0.5, 0.3], [0, 1, 0], [0.9921875, 0.0078125, 0]]
BOTH = pytest.mark.parametrize("show", [attention_map, attention_view])


def texts(shown) -> list[str]:
    return [node.text for node in ET.fromstring(f"<p>{shown._repr_html_()}</p>").iter("text")]


def cells(shown) -> dict[tuple[int, int], tuple[str, str]]:
    """Colour and tip of the cells, by row and column."""
    found = re.findall(r"<path d='M(\d+) (\d+)h1v1h-1z' fill='(#\w+)'><title>(.*?)</title>", shown.html)
    return {(int(row), int(column)): (color, tip) for column, row, color, tip in found}


def test_rows_read_and_columns_are_read_from():
    shown = attention_map(["it", "was"], [[0.1, 0.4, 0.5], [0, 1, 0]], keys=["the", "red", "ball"])
    assert [word for word in texts(shown) if word in "it was the red ball"] == [
        "the",
        "red",
        "ball",
        "it",
        "was",
    ]
    assert cells(shown)[0, 2][1] == "it reads ball: 0.50"
    assert cells(shown)[1, 1] == ("#fee838", "was reads red: 1.00")
    assert (1, 0) not in cells(shown)  # a weight of 0 is the sheet below


def test_both_sides_say_what_they_are():
    assert {"reading (queries)", "read from (keys) →", "weight"} <= set(texts(attention_map(TOKENS, WEIGHTS)))


def test_small_maps_have_numbers_and_large_ones_do_not():
    assert ".50" in texts(attention_map(TOKENS, WEIGHTS))
    assert ".50" not in texts(attention_map(TOKENS, WEIGHTS, numbers=False))
    words = [f"w{n}" for n in range(11)]
    assert ".00" not in texts(attention_map(words, np.eye(11)))
    assert "1.00" in texts(attention_map(words, np.eye(11), numbers=True))


def test_the_scale_ends_at_the_largest_weight():
    assert "0.24" in texts(attention_map(["a", "b"], [[0.24, 0.1], [0, 0]]))


def test_colours_reach_from_zero_to_the_largest_weight():
    found = cells(attention_map(["a", "b"], [[0.002, 0.001], [0, 0.0005]]))
    assert [color for color, _ in found.values()] == ["#fee838", "#7d7c78", cell_color(0.25)]


def test_weights_of_zero_only_can_be_shown():
    assert cells(attention_map(["a", "b"], np.zeros((2, 2)))) == {}


def test_the_largest_map_is_small_enough_for_a_page():
    words = [f"word{n}" for n in range(48)]
    assert len(attention_map(words, torch.softmax(torch.randn(48, 48), -1)).html) < 300_000


@BOTH
def test_words_are_shown_and_never_run(show):
    shown = show(TOKENS, WEIGHTS, title="<b>&")
    assert "<script" not in shown.html
    assert "<b>" not in shown.html
    assert "<script>alert…" in texts(shown)
    assert "<b>&" in texts(shown)


@BOTH
def test_the_text_names_what_is_read(show):
    assert "animal reads: animal 1.00\n" in repr(show(TOKENS, WEIGHTS))
    assert "The reads: animal 0.50, <script>alert(1)</script> 0.30, The 0.20" in repr(show(TOKENS, WEIGHTS))


@BOTH
@pytest.mark.parametrize("form", [torch.DoubleTensor, np.array, list])
def test_weights_may_come_in_any_form(show, form):
    assert show(TOKENS, form(WEIGHTS)).html == show(TOKENS, WEIGHTS).html


@BOTH
def test_on_every_device_with_gradients(show, device):
    weights = torch.tensor(WEIGHTS, device=device, requires_grad=True)
    assert "animal 1.00" in repr(show(TOKENS, weights))


@BOTH
def test_the_same_weights_give_the_same_bytes(show):
    assert show(TOKENS, WEIGHTS).html == show(iter(TOKENS), WEIGHTS).html


@BOTH
@pytest.mark.parametrize(
    ("tokens", "weights", "kind", "match"),
    [
        (TOKENS, np.ones((2, 3, 3)) / 3, ValueError, r"one head.*\(2, 3, 3\).*weights\[0, 2\]"),
        (TOKENS, [0.5, 0.5], ValueError, r"shape \(3, 3\); got \(2,\)"),
        (TOKENS, np.ones((3, 2)) / 2, ValueError, r"3 words reading from 3 .* got \(3, 2\)"),
        (TOKENS, np.full((3, 3), np.nan), ValueError, "9 of 9 are NaN"),
        (TOKENS, np.eye(3) * 2 - 1, ValueError, "between 0 and 1; these go from -1 to 1"),
        (TOKENS, np.eye(3) * 1.5, ValueError, "from 0 to 1.5"),
        (TOKENS, [["a"] * 3] * 3, TypeError, "real numbers"),
        ("the animal", np.eye(2), TypeError, "split it into words"),
        (7, np.eye(2), TypeError, "got int"),
        ([], np.zeros((0, 0)), ValueError, "no word"),
        (["w"] * 49, np.eye(49), ValueError, r"up to 48 words .*\(49, 49\)"),
    ],
)
def test_other_things_are_refused(show, tokens, weights, kind, match):
    with pytest.raises(kind, match=match):
        show(tokens, weights)


@BOTH
def test_rounding_of_half_precision_is_no_fault(show):
    show(TOKENS, torch.softmax(torch.randn(3, 3), -1).bfloat16())
    show(TOKENS, [[1.0009, 0, 0]] * 3)


@BOTH
def test_keys_must_fit(show):
    with pytest.raises(ValueError, match=r"3 words reading from 2 need weights of shape \(3, 2\)"):
        show(TOKENS, WEIGHTS, keys=["a", "b"])
    with pytest.raises(TypeError, match="keys must be a list"):
        show(TOKENS, WEIGHTS, keys="abc")


def test_white_space_can_be_seen():
    assert words_of(["a", " ", "", "\n", "b\nc", 7]) == ["a", "␣", "␣", "⏎", "b⏎c", "7"]


@BOTH
def test_characters_that_steer_the_text_are_shown(show):
    shown = show(["a\u202eb", "\x1b[1m", "\t"], WEIGHTS, title="t\u202e\x00")
    assert not any(c in shown.html + repr(shown) for c in "\u202e\x1b\x00\t")
    assert {"a\\u202eb", "\\x1b[1m", "\\t", "t\\u202e\\x00"} <= set(texts(shown))


def test_what_joins_letters_and_emoji_stays():
    joined = ["\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\U0001f469\u200d\U0001f52c"]
    assert words_of(joined) == joined


@BOTH
def test_one_word_is_no_plural(show):
    assert "1 word reading from 2" in repr(show(["it"], [[0.5, 0.5]], keys=["a", "b"]))


@BOTH
def test_a_title_need_not_be_a_string(show):
    assert "7" in texts(show(TOKENS, WEIGHTS, title=7))
    assert "0" in texts(show(TOKENS, WEIGHTS, title=0))


def size(shown) -> tuple[float, float]:
    return tuple(map(float, re.search(r"viewBox='0 0 (\d+) (\d+)'", shown.html).groups()))


@BOTH
@pytest.mark.parametrize("words", [["a"], TOKENS])
def test_a_long_title_stays_inside_the_drawing(show, words):
    title = "a long title of many words " * 5
    shown = show(words, np.eye(len(words)), title=title)
    assert title in re.search("aria-label='(.*?)'", shown.html).group(1)
    (node,) = [n for n in ET.fromstring(f"<p>{shown.html}</p>").iter("text") if n.get("font-weight")]
    assert node.text.endswith("…")
    half = len(node.text) * 0.55 * (13 if show is attention_map else 15) / 2
    assert half <= float(node.get("x")) <= size(shown)[0] - half


@pytest.mark.parametrize("rows", [1, 2, 3, 12])
@pytest.mark.parametrize("title", [None, "a title"])
def test_the_name_of_the_rows_stays_inside_the_drawing(rows, title):
    words = ["a"] * rows
    shown = attention_map(words, np.eye(rows), title=title)
    (node,) = [n for n in ET.fromstring(f"<p>{shown.html}</p>").iter("text") if n.text == "reading (queries)"]
    half = len(node.text) * 0.55 * 13 / 2
    assert half <= float(node.get("y")) <= size(shown)[1] - half


def test_long_words_are_shortened():
    assert shorten("internationalisation") == "internationali"[:13] + "…"
    assert shorten("fourteen chars") == "fourteen chars"


def test_reading_goes_from_strongest_to_weakest():
    assert reading("it", ["a", "b", "c"], np.array([0.2, 0.795, 0.005])) == "it reads: b 0.80, a 0.20"
    assert reading("it", ["a"], np.array([0.0])) == "it reads: nothing"
