"""Texts that are always at hand, tokenizers and batches (chapters 9 and 11).

Nothing is downloaded: number words come from `num2words`, dates from Babel's locale data (Unicode CLDR),
English prose from the help texts that every CPython carries. Install them with
`pip install "transformer_lib[book]"`.

Sources: Sennrich et al. 2016 (byte-pair encoding), arXiv 1508.07909.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import torch
from jaxtyping import Int
from torch import Tensor

PAD, START, END = 0, 1, 2  # ids that every tokenizer here reserves
SPECIAL = ("<pad>", "<start>", "<end>")


def number_pairs(
    source: str = "de", target: str = "en", numbers: Iterable[int] = range(10_000)
) -> list[tuple[str, str]]:
    """The same numbers in words of two languages; German says *vierundzwanzig*, four-and-twenty.

    Args:
        source, target: language codes that `num2words` knows, such as "de", "en", "fr".

    Raises:
        ValueError: num2words does not know a language.

    >>> number_pairs(numbers=[24])
    [('vierundzwanzig', 'twenty-four')]
    """
    from num2words import CONVERTER_CLASSES, num2words

    for language in (source, target):
        if language not in CONVERTER_CLASSES:
            raise ValueError(f"num2words has no language {language!r}; it has {sorted(CONVERTER_CLASSES)}")
    return [(num2words(n, lang=source), num2words(n, lang=target)) for n in numbers]


def date_pairs(
    source: str = "de_DE",
    target: str = "en_US",
    days: Iterable[datetime.date] | None = None,
    style: str = "full",
) -> list[tuple[str, str]]:
    """The same days as two locales write them; by default every day of 1990 to 2019.

    Args:
        source, target: locales that Babel knows, such as "de_DE", "en_US", "ja_JP".
        style: "short", "medium", "long" or "full".

    Raises:
        ValueError: Babel does not know a locale, or the style is another.

    >>> date_pairs(days=[datetime.date(2017, 6, 12)])
    [('Montag, 12. Juni 2017', 'Monday, June 12, 2017')]
    """
    from babel import Locale, UnknownLocaleError
    from babel.dates import format_date

    if style not in ("short", "medium", "long", "full"):
        raise ValueError(f"style must be short, medium, long or full; got {style!r}")
    try:
        locales = Locale.parse(source), Locale.parse(target)
    except (UnknownLocaleError, ValueError) as error:
        raise ValueError(f"Babel knows no such locale: {error}") from None
    if days is None:
        first, last = (datetime.date(year, 1, 1).toordinal() for year in (1990, 2020))
        days = map(datetime.date.fromordinal, range(first, last))
    return [tuple(format_date(day, style, locale=locale) for locale in locales) for day in days]


def english_prose() -> str:
    """Half a million characters of English: Python's own help on its language, topic after topic.

    >>> len(english_prose()) > 400_000
    True
    """
    from pydoc_data.topics import topics

    return "\n\n".join(topics[name].strip() for name in sorted(topics))


class Tokenizer(Protocol):
    """What tokenizers here have in common: ids from text, text from ids, and how many ids there are."""

    vocab_size: int

    def encode(self, text: str) -> list[int]: ...

    def decode(self, ids: Iterable[int]) -> str: ...


class CharTokenizer:
    """One token per character.

    Raises:
        ValueError: on a character that the texts did not hold, or an id outside the vocabulary.

    >>> tokenizer = CharTokenizer(["abba"])
    >>> tokenizer.encode("bab")
    [4, 3, 4]
    >>> tokenizer.decode([START, 4, 3, END, PAD])
    'ba'
    """

    def __init__(self, texts: Iterable[str]):
        self.characters = sorted(set().union(*texts))
        self.ids = {character: id for id, character in enumerate(self.characters, len(SPECIAL))}
        self.vocab_size = len(SPECIAL) + len(self.characters)

    def encode(self, text: str) -> list[int]:
        unknown = set(text) - self.ids.keys()
        if unknown:
            raise ValueError(f"characters that the vocabulary does not hold: {sorted(unknown)}")
        return [self.ids[character] for character in text]

    def decode(self, ids: Iterable[int]) -> str:
        """Text of the ids; the special ones are left out."""
        ids = [int(id) for id in ids]
        _check_ids(ids, self.vocab_size)
        return "".join(self.characters[id - len(SPECIAL)] for id in ids if id >= len(SPECIAL))


class BPETokenizer:
    """Byte-pair encoding over bytes, learned from texts by the `tokenizers` package: any text has ids.

    Args:
        texts: what the pairs are counted in.
        vocab_size: how many ids at most, at least 259 (256 bytes and the special ones).

    >>> tokenizer = BPETokenizer(["low lower lowest"] * 5, vocab_size=270)
    >>> tokenizer.decode(tokenizer.encode("slower, 雪"))
    'slower, 雪'

    Source: Sennrich et al. 2016, section 3.2.
    """

    def __init__(self, texts: Iterable[str], vocab_size: int):
        from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

        fewest = 256 + len(SPECIAL)
        if vocab_size < fewest:
            raise ValueError(f"vocab_size must be at least {fewest}, one id for each byte; got {vocab_size}")
        self._tokenizer = Tokenizer(models.BPE())
        self._tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        self._tokenizer.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size,
            special_tokens=list(SPECIAL),
            initial_alphabet=alphabet,
            show_progress=False,
        )
        self._tokenizer.train_from_iterator(texts, trainer)
        self._tokenizer.encode_special_tokens = True  # "<pad>" in a text is text
        self.vocab_size = self._tokenizer.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        return self._tokenizer.encode(text).ids

    def decode(self, ids: Iterable[int]) -> str:
        """Text of the ids; the special ones are left out."""
        ids = [int(id) for id in ids]
        _check_ids(ids, self.vocab_size)
        return self._tokenizer.decode([id for id in ids if id >= len(SPECIAL)])


def pad(rows: Sequence[Sequence[int]], *, side: str = "right") -> Int[Tensor, "B T"]:
    """Rows of ids as one tensor, filled up with `PAD` to the length of the longest.

    Raises:
        ValueError: no rows, only empty rows, or a side that is not "left" or "right".

    >>> pad([[7], [8, 9]])
    tensor([[7, 0],
            [8, 9]])
    """
    longest = max(map(len, rows), default=0)
    if longest == 0 or side not in ("left", "right"):
        raise ValueError(f"pad needs a row with a word, and side left or right; got {list(rows)!r}, {side!r}")
    fill = [[PAD] * (longest - len(row)) for row in rows]
    both = zip(rows, fill, strict=True)
    return torch.tensor([[*row, *f] if side == "right" else [*f, *row] for row, f in both])


def batches_by_length(
    rows: Sequence[tuple[Sequence[int], ...]], batch_size: int, generator: torch.Generator | None = None
) -> Iterator[tuple[Int[Tensor, "B T"], ...]]:
    """Every row once, in batches of similar length, so that little is padding; the order is random.

    Args:
        rows: tuples of ids, such as (source, target).
        batch_size: rows in a batch; the last one may hold fewer.
        generator: of the random order; without one torch's own.

    Raises:
        ValueError: batch_size below 1, or no rows.

    >>> [(x.shape, y.shape) for x, y in batches_by_length([([5, 6], [7]), ([5], [8])], 2)]
    [(torch.Size([2, 2]), torch.Size([2, 1]))]
    """
    if batch_size < 1 or not rows:
        raise ValueError(f"there must be rows, and batch_size at least 1; got {len(rows)} and {batch_size}")
    order = torch.randperm(len(rows), generator=generator).tolist()
    order.sort(key=lambda n: [len(part) for part in rows[n]])  # stable: random among equal lengths
    starts = range(0, len(order), batch_size)
    for n in torch.randperm(len(starts), generator=generator).tolist():
        batch = [rows[i] for i in order[starts[n] : starts[n] + batch_size]]
        yield tuple(pad(part) for part in zip(*batch, strict=True))


def _check_ids(ids: list[int], vocab_size: int) -> None:
    wrong = [id for id in ids if not 0 <= id < vocab_size]
    if wrong:
        raise ValueError(f"ids must lie between 0 and {vocab_size - 1}; got {wrong[:5]}")
