"""data.py: round trips over everything generated, and batches that lose nothing."""

import datetime

import pytest
import torch
from checking import raises

from transformer_lib.data import (
    END,
    PAD,
    START,
    BPETokenizer,
    CharTokenizer,
    batches_by_length,
    date_pairs,
    english_prose,
    number_pairs,
    pad,
)


def test_numbers_in_words_by_hand():
    assert number_pairs(numbers=[7, 24, 1234]) == [
        ("sieben", "seven"),
        ("vierundzwanzig", "twenty-four"),
        ("eintausendzweihundertvierunddreißig", "one thousand, two hundred and thirty-four"),
    ]
    assert number_pairs("fr", "de", [81]) == [("quatre-vingt-un", "einundachtzig")]
    pairs = number_pairs()
    assert len(pairs) == 10_000
    for side in zip(*pairs, strict=True):
        assert len(set(side)) == 10_000, "two numbers share their words"


def test_dates_by_hand():
    day = datetime.date(2017, 6, 12)
    assert date_pairs(days=[day]) == [("Montag, 12. Juni 2017", "Monday, June 12, 2017")]
    assert date_pairs("en_GB", "fr_FR", [day], "long") == [("12 June 2017", "12 juin 2017")]
    pairs = date_pairs()
    assert len(pairs) == 10_957  # 30 years, 7 of them leap years
    for side in zip(*pairs, strict=True):
        assert len(set(side)) == len(pairs), "two days are written alike"


def test_prose_is_english():
    words = english_prose().lower().split()
    assert len(words) > 50_000
    assert words.count("the") / len(words) > 0.03


TEXTS = {
    "numbers": lambda: [text for pair in number_pairs(numbers=range(0, 10_000, 7)) for text in pair],
    "dates": lambda: [text for pair in date_pairs(style="long") for text in pair],
    "prose": lambda: english_prose().split("\n\n"),
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("kind", [CharTokenizer, lambda texts: BPETokenizer(texts, vocab_size=512)])
def test_round_trip_over_everything_generated(kind, name):
    texts = TEXTS[name]()
    tokenizer = kind(texts)
    used = set()
    for text in texts:
        ids = tokenizer.encode(text)
        used.update(ids)
        assert tokenizer.decode([START, *ids, END, PAD]) == text
    assert min(used) > END
    assert max(used) < tokenizer.vocab_size


def test_bpe_shortens_texts_and_takes_any_text():
    prose = english_prose()[:100_000]
    tokenizer = BPETokenizer([prose], vocab_size=1000)
    assert tokenizer.vocab_size == 1000
    assert len(tokenizer.encode(prose)) < 0.6 * len(prose)
    for text in ("<pad> is text here", "雪 and 🤗", "", "  two  spaces\n"):
        assert tokenizer.decode(tokenizer.encode(text)) == text
    assert PAD not in tokenizer.encode("<pad>")


def test_wrong_text_and_ids_are_named():
    letters, pairs = CharTokenizer(["abc"]), BPETokenizer(["abc"], 259)
    with raises(ValueError, r"does not hold: \['x', 'y'\]"):
        letters.encode("axby")
    for tokenizer in (letters, pairs):
        with raises(ValueError, rf"between 0 and {tokenizer.vocab_size - 1}; got \[-1, 999\]"):
            tokenizer.decode([3, -1, 999])
    with raises(ValueError, "at least 259.*got 100"):
        BPETokenizer(["abc"], 100)
    with raises(ValueError, "no language 'xx'"):
        number_pairs("de", "xx")
    with raises(ValueError, "no such locale"):
        date_pairs("de_DE", "xx_XX")
    with raises(ValueError, "style must be.*'tiny'"):
        date_pairs(style="tiny")


def test_padding_on_either_side():
    rows = [[5, 6, 7], [8]]
    assert pad(rows).tolist() == [[5, 6, 7], [8, PAD, PAD]]
    assert pad(rows, side="left").tolist() == [[5, 6, 7], [PAD, PAD, 8]]
    for wrong in ([], [[]]):
        with raises(ValueError, "needs a row"):
            pad(wrong)
    with raises(ValueError, "'up'"):
        pad(rows, side="up")


def test_batches_hold_every_row_once_with_little_padding():
    generator = torch.Generator().manual_seed(3)
    rows = []
    for n in range(103):
        length = int(torch.randint(1, 30, (), generator=generator))
        rows.append(([n + 3] * length, [n + 3] * (length // 2 + 1)))
    batches = list(batches_by_length(rows, 10, generator))
    assert len(batches) == 11
    seen = [
        (x[x != PAD].tolist(), y[y != PAD].tolist())
        for xs, ys in batches
        for x, y in zip(xs, ys, strict=True)
    ]
    assert sorted(seen) == sorted(rows)
    padding = sum(int((xs == PAD).sum()) for xs, _ in batches) / sum(xs.numel() for xs, _ in batches)
    assert padding < 0.15
    first = [xs.shape[1] for xs, _ in batches]
    assert first != sorted(first), "batches must not come in the order of their length"
    again = list(batches_by_length(rows, 10, torch.Generator().manual_seed(3)))
    assert [x.tolist() for x, _ in again] == [
        x.tolist() for x, _ in batches_by_length(rows, 10, torch.Generator().manual_seed(3))
    ]
    with raises(ValueError, "got 0 and 10"):
        next(batches_by_length([], 10))
    with raises(ValueError, "got 103 and 0"):
        next(batches_by_length(rows, 0))
