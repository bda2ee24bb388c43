"""Figures to explore: what is linked to what, what is described, and what is too large to ship."""

import ipywidgets as widgets
import pytest
from ipywidgets.widgets.widget import _instances as every_widget
from ipywidgets.widgets.widget_link import DirectionalLink
from matplotlib import pyplot as plt

from transformer_lib.display import Html, attention_map, explore
from transformer_lib.display.explore import MOST_BYTES, MOST_FRAMES


def say(**choice) -> Html:
    words = " ".join(f"{name}={value}" for name, value in choice.items())
    return Html(f"<p>{words}</p>", words)


def controls(exploration) -> dict:
    kinds = (widgets.SelectionSlider, widgets.Dropdown)
    return {child.description: child for child in exploration.widget.children if isinstance(child, kinds)}


def links() -> dict:
    """The links made since the test began: what each source turns."""
    return [w for w in every_widget.values() if isinstance(w, DirectionalLink)]


def shown(exploration, before) -> str:
    """The frame that is seen once every link has done in the browser what it does."""
    for link in links():
        if link not in before:
            (control, index), (book, selected) = link.source, link.target
            setattr(book, selected, getattr(control, index))
    page = exploration.widget.children[-1]
    while not isinstance(page, widgets.HTML):
        page = page.children[page.selected_index]
    return page.value


@pytest.fixture
def before():
    return links()


@pytest.fixture(params=["Stack", "Tab"])
def generation(request, monkeypatch):
    """Both generations of ipywidgets: 8 with Stack, 7.7.1 without."""
    if request.param == "Tab":
        monkeypatch.delattr(widgets, "Stack")
    return getattr(widgets, request.param)


def test_every_choice_shows_its_frame(generation, before):
    found = explore(say, alt="{a} {b} {c}", a=[1, 2, 3], b=["x", "y"], c={"first": 5, "second": 7})
    assert isinstance(found.widget.children[-1], generation)
    for i, a in enumerate([1, 2, 3]):
        for j, b in enumerate(["x", "y"]):
            for k, c in enumerate([5, 7]):
                for name, index in zip("abc", (i, j, k), strict=True):
                    controls(found)[name].index = index
                assert f"a={a} b={b} c={c}" in shown(found, before)


def test_the_first_frame_shows_before_anything_is_moved(generation):
    page = explore(say, alt="{a} {b}", a=[1, 2], b=["x", "y"]).widget.children[-1]
    while not isinstance(page, widgets.HTML):
        assert page.selected_index == 0
        page = page.children[page.selected_index]
    assert "a=1 b=x" in page.value


def test_numbers_get_a_slider_that_shows_them_and_words_a_menu():
    found = controls(explore(say, alt="{a} {b} {c}", a=[0.5, 2.0], b=["x", "y"], c=[True, False]))
    assert [type(control).__name__ for control in found.values()] == [
        "SelectionSlider",
        "Dropdown",
        "Dropdown",
    ]
    assert [control.options for control in found.values()] == [("0.5", "2"), ("x", "y"), ("yes", "no")]


def test_one_number_has_nothing_to_slide_to():
    assert isinstance(controls(explore(say, alt="{a}", a=[1]))["a"], widgets.Dropdown)


def test_a_mapping_gives_labels(before):
    found = explore(say, alt="{a}", a={"small": 1, "large": 100})
    assert controls(found)["a"].options == ("small", "large")
    assert isinstance(controls(found)["a"], widgets.SelectionSlider)
    controls(found)["a"].index = 1
    assert "a=100" in shown(found, before)


def test_controls_are_named_in_words():
    assert set(controls(explore(say, alt="{d_k} {divide_by}", d_k=[1, 2], divide_by=[1, 2]))) == {
        "d_k",
        "divide by",
    }


def test_each_frame_is_described(line, before):
    found = explore(lambda d_k: line(d_k, 2), alt="At d_k = {d_k:.2f}.", d_k=[1, 4])
    controls(found)["d_k"].index = 1
    assert 'aria-label="At d_k = 4.00."' in shown(found, before)
    found = explore(say, alt="<{a}>", a=["x", "y"])
    assert 'aria-label="&lt;x&gt;"' in shown(found, before)


def test_values_without_a_short_name_are_described_by_their_label(before):
    found = explore(lambda w: say(w=len(w)), alt="Weights: {w}", w={"flat": [1, 1], "sharp": [0, 1]})
    assert 'aria-label="Weights: flat"' in shown(found, before)


def test_attention_maps_can_be_explored(before):
    found = explore(lambda h: attention_map(["a", "b"], [[h, 1 - h], [1, 0]]), alt="{h}", h=[0.25, 0.5])
    assert "a reads a: 0.25" in shown(found, before)


def test_figures_are_closed(line):
    explore(lambda a: line(a, 2), alt="{a}", a=[1, 2, 3])
    assert not plt.get_fignums()


def test_it_prints_nothing(capsys, line):
    explore(lambda a: line(a, 2), alt="{a}", a=[1, 2])
    assert capsys.readouterr() == ("", "")


def test_each_frame_is_kept_once():
    start = set(every_widget)
    found = explore(say, alt="{a} {b}", a=[1, 2, 3], b=[1, 2])
    made = [w for key, w in every_widget.items() if key not in start]
    assert sum(isinstance(w, widgets.HTML) for w in made) == 6 + 1  # and the style
    assert len(made) < 40
    assert found.widget in made


def test_notebooks_get_the_widget_and_everyone_else_text():
    found = explore(say, alt="Picture {a} {b}", a=[1, 2], b=["x"])
    bundle = found._repr_mimebundle_()
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == found.widget.model_id
    assert (
        bundle["text/plain"] == repr(found) == "Figure to explore. a: 1, 2; b: x. First picture: Picture 1 x"
    )
    assert set(bundle) == {"text/plain", "application/vnd.jupyter.widget-view+json"}


def test_a_grid_too_large_is_refused_before_anything_is_drawn():
    def never(**_):
        raise AssertionError("drawn")

    with pytest.raises(ValueError, match=r"16 × 10 choices are 160 frames, more than 150"):
        explore(never, alt="{a} {b}", a=range(16), b=range(10))


def test_the_largest_grid_is_drawn():
    assert len(controls(explore(say, alt="{a}", a=range(MOST_FRAMES)))["a"].options) == MOST_FRAMES


def test_too_many_bytes_are_refused_as_soon_as_they_are_reached():
    drawn = []

    def big(a):
        drawn.append(a)
        return Html("x" * (MOST_BYTES // 3), "x")

    with pytest.raises(
        ValueError, match=r"the first 3 of 10 frames take 1,500,\d{3} bytes, more than 1,500,000"
    ):
        explore(big, alt="{a}", a=range(10))
    assert len(drawn) == 3


def test_frames_of_several_sizes_are_refused():
    def draw(a):
        fig, ax = plt.subplots(figsize=(3 + a, 3))
        ax.set(xlabel="x (1)", ylabel="y (1)")
        return fig

    with pytest.raises(ValueError, match=r"one size.*\(4.0, 3.0\), \(5.0, 3.0\)"):
        explore(draw, alt="{a}", a=[1, 2])


@pytest.mark.parametrize("result", [None, "text", plt])
def test_what_cannot_be_shown_is_refused(result):
    with pytest.raises(TypeError, match="must return a matplotlib figure"):
        explore(lambda a: result, alt="{a}", a=[1, 2])


@pytest.mark.parametrize(
    ("alt", "choices", "match"),
    [
        ("x", {}, "at least one choice"),
        ("{a}", {"a": []}, "no value"),
        ("{a}", {"a": "xyz"}, "list of values"),
        ("{a}", {"a": 3}, "list of values"),
        ("{a}", {"a": [1, 1]}, "several choices that read 1"),
        ("{a}", {"a": [1.00001, 1.00002]}, "several choices that read 1"),
        ("a figure", {"a": [1, 2]}, "alt names none"),
        ("{a} {b}", {"a": [1, 2]}, "the choices are a; alt names a, b"),
        ("{}", {"a": [1, 2]}, "name each choice"),
        ("{a", {"a": [1, 2]}, "in braces"),
        (None, {"a": [1, 2]}, "in braces"),
    ],
)
def test_choices_and_description_must_fit(alt, choices, match):
    with pytest.raises(ValueError, match=match):
        explore(say, alt=alt, **choices)


@pytest.mark.skipif(not hasattr(Exception, "add_note"), reason="notes came with Python 3.11")
def test_an_error_while_drawing_names_the_choice():
    def draw(n, word):
        if n == 2 and word == "b":
            raise ZeroDivisionError("by zero")
        return say(n=n, word=word)

    with pytest.raises(ZeroDivisionError, match="by zero") as raised:
        explore(draw, alt="{n} {word}", n=[1, 2], word=["a", "b"])
    assert raised.value.__notes__ == ["explore was drawing the frame for n = 2, word = b"]
