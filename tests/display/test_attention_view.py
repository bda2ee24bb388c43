"""A sentence to point at: described for a screen reader, reached by keyboard, and apart from other views."""

import re
import xml.etree.ElementTree as ET

import torch

from transformer_lib.display import attention_view

TOKENS = ["The", "animal", "was"]
WEIGHTS = [[0.2, 0.5, 0.3], [0, 1, 0], [0.992, 0.008, 0]]


def parsed(shown):
    return ET.fromstring(f"<p>{shown._repr_html_()}</p>")


def readers(shown):
    return [node for node in parsed(shown).iter("g") if node.get("class") == "reader"]


def scope(shown) -> str:
    return re.search(r"class='attention-view (\S+)'", shown.html).group(1)


def test_each_word_can_be_reached_and_says_what_it_reads():
    words = readers(attention_view(TOKENS, WEIGHTS))
    assert [word.get("tabindex") for word in words] == ["0", "0", "0"]
    assert words[0].get("aria-label") == "The reads: animal 0.50, was 0.30, The 0.20"
    assert words[1].get("aria-label") == "animal reads: animal 1.00"


def test_stronger_weights_are_wider_and_darker_and_tiny_ones_are_left_out():
    the, animal, was = (list(word.iter("path")) for word in readers(attention_view(TOKENS, WEIGHTS)))
    for look in ("stroke-width", "stroke-opacity"):
        sizes = [float(path.get(look)) for path in the]
        assert sizes[1] > sizes[2] > sizes[0]
    assert len(animal) == len(was) == 1


def test_weights_stand_beside_the_words_that_are_read():
    shown = attention_view(TOKENS, WEIGHTS)
    height = {}
    for node in parsed(shown).iter("text"):
        height.setdefault(node.text, float(node.get("y")))
    keys = [g for g in parsed(shown).iter("g") if g.get("pointer-events") == "none"][-1]
    place = {node.text: float(node.get("y")) for node in keys.iter("text")}
    numbers = {node.text: float(node.get("y")) for node in readers(shown)[0].iter("text")}
    assert numbers["0.50"] == place["animal"]
    assert numbers["0.30"] == place["was"]
    assert height["The"] == place["The"]


def test_sentences_may_differ_in_length():
    shown = attention_view(["vier", "und", "zwanzig"], torch.full((3, 2), 0.5), keys=["twenty", "four"])
    assert len(readers(shown)) == 3
    assert readers(shown)[0].get("aria-label") == "vier reads: twenty 0.50, four 0.50"


def test_views_on_one_page_do_not_touch_each_other():
    one, other = attention_view(TOKENS, WEIGHTS), attention_view(TOKENS, WEIGHTS[::-1])
    assert scope(one) != scope(other)
    style = re.search("<style>(.*)</style>", one.html).group(1)
    rules = re.sub(r"@media \(prefers-reduced-motion:no-preference\)\{(.*)\}$", r"\1", style)
    selectors = [
        part for rule in re.findall(r"([^{}]+)\{", rules) for part in re.split(r",(?![^(]*\))", rule)
    ]
    assert len(selectors) > 10
    assert all(selector.startswith(f".{scope(one)}") for selector in selectors)
    assert " id=" not in one.html


def test_nothing_moves_for_those_who_want_no_motion():
    html = attention_view(TOKENS, WEIGHTS).html
    assert html.index("@media (prefers-reduced-motion:no-preference)") < html.index("transition")
    assert html.count("transition") == 1


def test_no_scripts():
    assert not re.search(r"<script| on\w+=|javascript:", attention_view(TOKENS, WEIGHTS).html)


def test_the_largest_view_is_small_enough_for_a_page():
    words = [f"word{n}" for n in range(48)]
    assert len(attention_view(words, torch.softmax(torch.randn(48, 48), -1)).html) < 700_000
