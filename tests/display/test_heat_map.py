"""Small tables of coloured numbers, for every matrix that may come."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import torch

from transformer_lib.display import heat_map
from transformer_lib.display.numbers import short_number


def cells(shown) -> list[list[str]]:
    return [[cell.text for cell in row.iter("td")] for row in ET.fromstring(shown._repr_html_()).iter("tr")]


def backgrounds(shown) -> list[str]:
    return re.findall(r"background:(#\w+)", shown.html)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.25, "0.25"), (-0.25, "−0.25"), (3, "3"), (3.0, "3"), (-0.0, "0"), (0.004, "4e−3"), (1e-9, "1e−9"),
        (123.4, "123"), (123456.0, "1e5"), (float("nan"), "NaN"), (float("inf"), "∞"), (-float("inf"), "−∞"),
        (True, "True"), (np.bool_(False), "False"), (np.int64(7), "7"), (0.995, "0.99"), (99.999, "100.00"),
    ],
)  # fmt: skip
def test_numbers_are_short(value, text):
    assert short_number(value) == text


def test_every_number_stands_in_its_cell():
    assert cells(heat_map([[0.25, 0.75], [1, 0]])) == [["0.25", "0.75"], ["1", "0"]]


@pytest.mark.parametrize(
    "matrix",
    [
        torch.tensor([[0.25, 0.75]]),
        torch.tensor([[0.25, 0.75]], requires_grad=True),
        torch.tensor([[0.25, 0.75]], dtype=torch.bfloat16),
        np.array([[0.25, 0.75]], dtype=np.float16),
        [torch.tensor([0.25, 0.75], requires_grad=True)],
        [[torch.tensor(0.25), 0.75]],
        ((0.25, 0.75),),
        [0.25, 0.75],
    ],
)
def test_numbers_may_come_in_any_form(matrix):
    assert cells(heat_map(matrix)) == [["0.25", "0.75"]]


def test_on_every_device(device):
    assert cells(heat_map(torch.eye(2, device=device)))[0] == ["1", "0"]


def test_labels_and_caption_are_escaped():
    shown = heat_map([[1, 2]], rows=["<b>"], columns=["&", "<script>"], caption="<i>")
    root = ET.fromstring(shown.html)
    assert [head.text for head in root.iter("th")] == ["&", "<script>", "<b>"]
    assert root.find(".//caption").text == "<i>"
    assert "<script" not in shown.html


def test_colours_go_from_lowest_to_highest():
    assert backgrounds(heat_map([[0, 5], [10, 0]])) == ["#00224e", "#7d7c78", "#fee838", "#00224e"]


def test_two_matrices_can_share_their_colours():
    assert backgrounds(heat_map([[5]], low=0, high=10)) == ["#7d7c78"]
    assert backgrounds(heat_map([[50]], low=0, high=10)) == ["#fee838"]


def test_a_constant_matrix_has_one_colour():
    assert set(backgrounds(heat_map([[4, 4], [4, 4]]))) == {"#7d7c78"}


def test_booleans_are_words_on_the_two_ends():
    shown = heat_map(torch.tensor([[True, False]]))
    assert cells(shown) == [["True", "False"]]
    assert backgrounds(shown) == ["#fee838", "#00224e"]
    assert set(backgrounds(heat_map([[True, True]]))) == {"#fee838"}


def test_numbers_stand_out_from_their_colour():
    assert re.findall(r"background:#\w+;color:(#\w+)", heat_map([[0, 10]]).html) == ["#fff", "#000"]


def test_what_is_no_number_has_no_colour_and_does_not_spoil_the_others():
    shown = heat_map([[float("nan"), 0.0], [float("inf"), 1.0]])
    assert cells(shown) == [["NaN", "0"], ["∞", "1"]]
    assert backgrounds(shown) == ["#00224e", "#fee838"]
    assert shown.html.count("dashed") == 2
    assert cells(heat_map([[float("nan")]])) == [["NaN"]]


def test_extreme_numbers_have_colours():
    assert backgrounds(heat_map([[-1.7e308, 1.7e308]])) == ["#00224e", "#fee838"]


def test_a_vector_is_one_row_and_a_number_one_cell():
    assert cells(heat_map([1, 2, 3])) == [["1", "2", "3"]]
    assert cells(heat_map(torch.tensor(2.0))) == [["2"]]


def test_a_large_matrix_is_cut_and_says_so():
    shown = heat_map(torch.arange(40 * 30).view(40, 30), rows=range(40), columns=range(30), caption="big")
    assert "big, first 11 of 40 rows and 7 of 30 columns" in shown.html
    table = cells(shown)[1:]
    assert len(table) == 12
    assert {len(row) for row in table} == {8}
    assert table[10] == ["300", "301", "302", "303", "304", "305", "306", "…"]
    assert set(table[11]) == {"…"}
    assert len(shown.html) < 20_000
    assert "first 7 of 30 columns" in heat_map(torch.zeros(3, 30)).html
    assert "first 11 of 40 rows" in heat_map(torch.zeros(40, 3)).html


def test_the_largest_matrix_shown_in_full_is_not_cut():
    shown = heat_map(torch.zeros(12, 8))
    assert "…" not in shown.html
    assert "first" not in shown.html


def test_an_empty_matrix_says_so():
    assert "empty, shape (0, 5)" in heat_map(torch.zeros(0, 5), caption="x").html


def test_a_wide_table_scrolls_by_itself_and_by_keyboard():
    assert 'tabindex="0"' in heat_map(torch.randn(2, 8) - 50).html
    assert "tabindex" not in heat_map(torch.eye(3)).html


def test_text_has_the_same_numbers():
    assert repr(heat_map([[0.25, 3]], rows=["it"], columns=["the", "animal"], caption="weights")) == (
        "weights\n    the animal\nit 0.25      3"
    )


@pytest.mark.parametrize(
    ("matrix", "kind", "match"),
    [
        (torch.zeros(2, 3, 5), ValueError, r"shape \(2, 3, 5\)"),
        ([[1, 2], [3]], ValueError, "rows of one length"),
        ([["a"]], TypeError, "real numbers"),
        (None, TypeError, "real numbers"),
        (torch.zeros(2, dtype=torch.complex64), TypeError, "complex"),
    ],
)
def test_other_things_are_refused(matrix, kind, match):
    with pytest.raises(kind, match=match):
        heat_map(matrix)


def test_labels_must_fit():
    with pytest.raises(ValueError, match="3 labels for 2 rows"):
        heat_map(torch.eye(2), rows="abc")
    with pytest.raises(ValueError, match="1 labels for 2 columns"):
        heat_map(torch.eye(2), columns=["a"])
