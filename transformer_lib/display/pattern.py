"""The attention of one head on one sentence, checked and named: what a map and a view of it both draw."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from transformer_lib.display.numbers import attention_array
from transformer_lib.display.words import count_of_words, reading, visible, words_of

MOST_WORDS = 48


@dataclass(frozen=True)
class Pattern:
    """Who reads from whom: words, weights (T, S), the title, a name for all of it, a line for each word."""

    queries: list[str]
    keys: list[str]
    array: np.ndarray
    title: str
    name: str
    lines: list[str]

    @property
    def text(self) -> str:
        return "\n".join([self.name, *self.lines])


def pattern_of(kind: str, tokens: Iterable[object], weights: Any, keys: Any, title: Any) -> Pattern:
    """The arguments of `attention_map` and `attention_view`, checked.

    Raises:
        TypeError, ValueError: as those two.
    """
    queries = words_of(tokens)
    keys = queries if keys is None else words_of(keys, "keys")
    array = attention_array(weights, len(queries), len(keys), MOST_WORDS)
    title = "" if title is None else visible(str(title))
    count = count_of_words(len(queries))
    name = f"{kind}{f' ({title})' if title else ''}, {count} reading from {len(keys)}"
    lines = [reading(word, keys, row) for word, row in zip(queries, array, strict=True)]
    return Pattern(queries, keys, array, title, name, lines)
