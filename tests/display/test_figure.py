"""Inline SVG: in the page's ink, alone with its ids, described, the same bytes every time, and small."""

import re
import xml.etree.ElementTree as ET

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot as plt

from transformer_lib.display import figure


def parsed(shown):
    return ET.fromstring(shown._repr_html_())


def ids(svg: str) -> set[str]:
    return set(re.findall(r' id="([^"]+)"', svg))


def referred(svg: str) -> set[str]:
    return set(re.findall(r'(?:href="#|url\(#)([^")]+)', svg))


def test_it_is_one_picture_with_its_description(line):
    root = parsed(figure(line(1, 2), alt='a < b & "c"\nand more'))
    assert root.tag == "svg"
    assert root.get("role") == "img"
    assert root.get("aria-label") == 'a < b & "c" and more'


def test_text_says_what_it_shows(line):
    assert repr(figure(line(1, 2), alt="It rises.")) == "Figure: It rises."


def test_text_axes_and_black_take_the_pages_colour(line):
    fig = line(1, 2, color="black")
    fig.axes[0].set_title("a title with $d_k$")
    svg = figure(fig, alt="x").html
    assert not re.search(r"#000000|#010203|#ffffff|:\s*black|:\s*white", svg)
    assert svg.count("currentColor") > 10
    assert "fill:currentColor" in svg[: svg.index(">")]


def test_colours_of_data_stay(line):
    assert "#0072b2" in figure(line(1, 2), alt="x").html.lower()


def test_the_background_is_the_pages_own(line):
    fig = line(1, 2, label="a")
    fig.set_facecolor("red")
    fig.axes[0].set_facecolor("lime")
    fig.axes[0].legend(frameon=True, facecolor="yellow")
    svg = figure(fig, alt="x").html.lower()
    assert not [color for color in ("#ff0000", "#00ff00", "#ffff00") if color in svg]


def test_it_leaves_the_page_alone(line):
    svg = figure(line(1, 2), alt="x").html
    assert "<style" not in svg
    assert "<?xml" not in svg
    assert "<metadata" not in svg
    assert "font-family: '" not in svg


def test_ids_belong_to_the_drawing_and_lead_somewhere(line):
    one, other = (figure(line(*heights), alt="x").html for heights in ((1, 2), (3, 1)))
    assert ids(one)
    assert referred(one) == ids(one)
    assert not ids(one) & ids(other)


def test_figures_that_differ_in_their_description_only_share_no_id(line):
    one, other = (figure(line(1, 2), alt=alt).html for alt in ("x = 1", "x = 2"))
    assert not ids(one) & ids(other)


def test_hatches_and_formulas_keep_their_references():
    fig, ax = plt.subplots()
    ax.bar([1, 2], [1, 2], hatch="//")
    ax.set(xlabel="$d_k$", ylabel=r"$\sqrt{d_k}$")
    svg = figure(fig, alt="x").html
    assert "url(#" in svg
    assert referred(svg) == ids(svg)


def test_words_are_text_and_formulas_are_paths(line):
    root = parsed(figure(line(1, 2, xlabel="words", ylabel="$d_k$"), alt="x"))
    texts = [node.text for node in root.iter("text")]
    assert "words" in texts
    assert not any("d" in text for text in texts if text != "words")


def test_numbers_in_words_are_not_shortened(line):
    assert "0.123456" in figure(line(1, 2, xlabel="step 0.123456"), alt="x").html


def test_the_same_figure_gives_the_same_bytes(line):
    assert figure(line(1, 2, 4), alt="x").html == figure(line(1, 2, 4), alt="x").html


def test_coordinates_stay_right(line):
    """Hundredths of a point: what is drawn is where matplotlib would put it."""
    fig = line(3, 1, 4)
    svg = figure(fig, alt="x").html
    found = re.search(r'd="(M[^"]*)"[^>]*style="fill:none;stroke:#0072b2', svg, re.I).group(1)
    points = np.array([[float(n) for n in pair.split()] for pair in re.split("[ML]", found)[1:]])
    ax = fig.axes[0]
    exact = ax.transData.transform([[0, 3], [1, 1], [2, 4]]) / fig.dpi * 72
    exact[:, 1] = fig.get_figheight() * 72 - exact[:, 1]
    np.testing.assert_allclose(points, exact, atol=0.02)


def test_heat_maps_are_pictures():
    fig, (left, right) = plt.subplots(1, 2)
    values = np.random.default_rng(0).random((60, 60))
    left.imshow(values)
    right.pcolormesh(values)
    for ax in (left, right):
        ax.set(xlabel="key", ylabel="query")
    svg = figure(fig, alt="x").html
    assert svg.count("data:image/png;base64,iVBOR") == 2
    assert svg.count("<path") < 200
    assert len(svg) < 60_000


def test_no_grid_over_a_heat_map():
    fig, ax = plt.subplots()
    ax.imshow(np.eye(3))
    ax.set(xlabel="key", ylabel="query")
    assert "#808080" not in figure(fig, alt="x").html


def test_it_closes_the_figure(line):
    fig = line(1, 2)
    figure(fig, alt="x")
    assert not plt.fignum_exists(fig.number)


@pytest.mark.parametrize("alt", ["", "  \n", None])
def test_a_figure_without_description_is_refused(line, alt):
    with pytest.raises(ValueError, match="alt must say"):
        figure(line(1, 2), alt=alt)


def test_axes_without_labels_are_refused(line):
    with pytest.raises(ValueError, match="missing: x of axes 1, y of axes 1"):
        figure(line(1, 2, xlabel="", ylabel=" "), alt="x")


def test_a_colour_bar_without_label_is_refused():
    fig, ax = plt.subplots()
    bar = fig.colorbar(ax.imshow(np.eye(3)))
    ax.set(xlabel="key", ylabel="query")
    with pytest.raises(ValueError, match="the colour bar"):
        figure(fig, alt="x")
    bar.set_label("weight")
    figure(fig, alt="x")


def test_one_label_serves_axes_that_share_it():
    fig, axes = plt.subplots(2, 2, sharex=True, sharey=True)
    axes[1, 0].set(xlabel="step", ylabel="loss (nats)")
    figure(fig, alt="x")
    fig, _ = plt.subplots(1, 2)
    fig.supxlabel("step")
    fig.supylabel("loss (nats)")
    figure(fig, alt="x")
    fig, (one, _) = plt.subplots(1, 2)
    one.set(xlabel="step", ylabel="loss (nats)")
    with pytest.raises(ValueError, match="missing: x of axes 2, y of axes 2"):
        figure(fig, alt="x")


def test_axes_that_are_not_drawn_need_no_label():
    fig, ax = plt.subplots()
    ax.set_axis_off()
    figure(fig, alt="x")


def test_other_things_are_refused(line):
    with pytest.raises(TypeError, match="got Axes"):
        figure(line(1, 2).axes[0], alt="x")


def test_a_huge_figure_is_refused_with_its_size():
    fig, ax = plt.subplots()
    ax.scatter(*np.random.default_rng(0).random((2, 9000)))
    ax.set(xlabel="x (1)", ylabel="y (1)")
    with pytest.raises(ValueError, match=r"takes \d{3},\d{3} bytes, more than 500,000"):
        figure(fig, alt="x")


def test_a_small_figure_is_small(line):
    assert len(figure(line(1, 2, 3), alt="x").html) < 8_000


def test_it_leaves_matplotlibs_settings_as_they_were(line):
    before = dict(matplotlib.rcParams)
    figure(line(1, 2), alt="x")
    assert dict(matplotlib.rcParams) == before
