"""The translator that exercise 9.8 puts together from the learner's functions."""

import copy

import pytest
import torch

from transformer_lib.data import END, PAD, START, number_pairs
from transformer_lib.exercises import catalogue, check
from transformer_lib.exercises.chapter_09.assembled import LONGEST, Assembled, small_translator
from transformer_lib.exercises.chapter_09.own_transformer import PAIRS, SENTENCES, offered
from transformer_lib.exercises.chapter_09.parts import PARTS
from transformer_lib.generate import generate
from transformer_lib.train import word_loss

NUMBERS = number_pairs(numbers=range(100))


def test_small_translator_translates():
    translator = small_translator()
    written = generate(
        translator.model,
        [translator.ids(german) for german, _ in NUMBERS],
        LONGEST,
        start_id=START,
        end_id=END,
    )
    texts = [translator.tokenizer.decode(row).strip() for row in written]
    assert sum(text == english for text, (_, english) in zip(texts, NUMBERS, strict=True)) > 95
    own = Assembled(translator, {})
    assert [own.translate(german) for german, _ in NUMBERS] == texts


def test_loss_is_the_librarys():
    translator = small_translator()
    model, expected = translator.model, []
    for german, english in PAIRS:
        target = torch.tensor([[START, *translator.ids(english), END]])
        with torch.no_grad():
            logits = model(torch.tensor([translator.ids(german)]), target[:, :-1])
        expected += [word_loss(logits, target[:, 1:], pad_id=PAD).item()] * (target.shape[1] - 1)
    assert Assembled(translator, {}).loss(PAIRS) == pytest.approx(sum(expected) / len(expected), abs=1e-5)


def test_training_leaves_the_random_numbers_alone():
    small_translator.cache_clear()
    torch.manual_seed(3)
    first = torch.rand(1)
    torch.manual_seed(3)
    weights = copy.deepcopy(small_translator().model.state_dict())
    assert torch.equal(torch.rand(1), first)
    small_translator.cache_clear()
    again = small_translator().model.state_dict()
    assert all(torch.equal(weights[name], again[name]) for name in weights)


@pytest.mark.parametrize("name", PARTS)
def test_every_part_is_used(name):
    def broken(*args):
        raise KeyError(name)

    own = Assembled(small_translator(), {name: broken})
    with pytest.raises(KeyError, match=name):
        own.translate("elf"), own.loss(PAIRS)


def test_parts_are_exercises_of_their_chapters():
    chapters = {exercise.key[0] for exercise in catalogue()}
    wanted = {name for name, part in PARTS.items() if part.chapter in chapters}
    assert wanted - set(offered()) == set()


def test_every_reference_can_be_a_part():
    result = check("9.8", lambda: {name: exercise.reference for name, exercise in offered().items()})
    assert result.passed, result
    *parts, (read, wrote) = result.notes
    assert [how for _, how in parts] == ["yours"] * len(offered())
    assert SENTENCES[0] in read
    assert "twenty-four" in wrote


def test_card_says_whose_each_part_is():
    def my_parts():
        return {
            "greedy": None,
            "decoder_block": lambda *args: args[0],
            "cross_attention": right["cross_attention"],
        }

    right = {name: exercise.reference for name, exercise in offered().items()}
    notes = {what.split()[1].strip(":"): how for what, how in check("9.8", my_parts).notes[:-1]}
    assert notes["cross_attention"] == "yours"
    assert notes["shift_target"] == "the library's"
    assert "not-a-function" in notes["greedy"]
    assert "exercise 9.3" in notes["decoder_block"]


def test_stub_among_the_parts_is_the_librarys():
    def greedy(next_logits, start_id, end_id, max_words):
        raise NotImplementedError

    right = {name: exercise.reference for name, exercise in offered().items()}
    result = check("9.8", lambda: {"greedy": greedy, "shift_target": right["shift_target"]})
    assert result.passed
    assert any("not written yet" in how for _, how in result.notes)


def test_weights_survive_what_a_part_does_to_them():
    before = copy.deepcopy(small_translator().model.state_dict())

    def cross_attention(x, memory, w_query, w_key, w_value, real):
        if x.shape[-1] == 32:  # only in the translator
            w_query.zero_()
        return PARTS["cross_attention"].library(x, memory, w_query, w_key, w_value, real)

    result = check("9.8", lambda: {"cross_attention": cross_attention})
    assert result.mistake == "part-changes-the-translation"
    after = small_translator().model.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
