"""Words of a sentence as labels, and attention weights over them as a sentence of their own."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

import numpy as np


def words_of(tokens: Iterable[object], name: str = "tokens") -> list[str]:
    """The tokens as a list of visible words: white space shows as ␣, line breaks as ⏎, the rest as `visible`.

    Raises:
        TypeError: a sentence in one string, whose words nobody has told apart, or nothing to go through.
        ValueError: no token at all.
    """
    if isinstance(tokens, str):
        raise TypeError(
            f"{name} must be a list of words; got one string, {tokens!r}: split it into words first"
        )
    if not isinstance(tokens, Iterable):
        raise TypeError(f"{name} must be a list of words; got {type(tokens).__name__}")
    words = [visible(str(token).replace("\n", "⏎")) for token in tokens]
    if not words:
        raise ValueError(f"{name} holds no word")
    return [word if word.strip() else "␣" * max(len(word), 1) for word in words]


def visible(text: str) -> str:
    r"""The text with characters that steer instead of show written out, such as \t, \x1b and \u202e.

    What joins letters and emoji (U+200C, U+200D) stays: without it words fall apart.
    """
    return "".join(
        ascii(c)[1:-1]
        if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c not in "\u200c\u200d"
        else c
        for c in text
    )


def count_of_words(count: int) -> str:
    return f"{count} word{'s' * (count != 1)}"


def shorten(word: str, most: int = 14) -> str:
    return word if len(word) <= most else word[: most - 1] + "…"


def reading(word: str, keys: list[str], row: np.ndarray, at_least: float = 0.01, most: int = 64) -> str:
    """What a word reads from, the strongest first: "it reads: animal 0.64, street 0.05"."""
    order = sorted(range(len(keys)), key=lambda j: -row[j])
    parts = [f"{keys[j]} {row[j]:.2f}" for j in order if row[j] >= at_least][:most]
    return f"{word} reads: {', '.join(parts)}" if parts else f"{word} reads: nothing"
