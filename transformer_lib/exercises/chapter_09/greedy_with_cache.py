"""Exercise 9.7: The second word on is wrong."""

from __future__ import annotations

from collections.abc import Callable

import torch

from transformer_lib.exercises.chapter_09.shared import END, START, plain_ids, written
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def greedy_with_cache(read, start_id, end_id, max_words):
    word, cache, written = start_id, (), []
    for place in range(max_words):
        logits, cache = read(word, place, cache)
        word = int(logits.argmax())
        if word == end_id:
            break
        written.append(word)
    return written


def _reader(seed: int, end_after: int, V: int = 23) -> Callable:
    """A decoder that reads one word at its place, beside those in the cache."""
    generator = torch.Generator().manual_seed(seed)
    tables = torch.randn(40, V, V, generator=generator)  # place, word read, word to be written

    def read(word, place, cache):
        cache = (*cache, (int(word), int(place)))
        logits = sum(tables[p % 40, w] for w, p in cache)
        logits = logits - 50
        logits[START] = -99.0
        logits[END] = 99.0 if len(cache) > end_after else -99.0
        return logits, cache

    return read


def _run(function: Callable, *args):
    return plain_ids(function(*args))


def _readers(generator) -> list[tuple]:
    ends = ((3, 9), (0, 5), (20, 7), (11, 13))
    return [(_reader(seed, after), START, END, most) for seed, (after, most) in enumerate(ends, 11)]


def _calls(attempt: Attempt, end_after: int = 7) -> list[tuple[int, int, int]]:
    """(word, place, words in the cache) of every call while a text of 7 words is written."""
    reader, noted = _reader(71, end_after), []

    def read(word, place, cache):
        noted.append((int(word), int(place), len(cache)))
        return reader(word, place, cache)

    attempt.call(read, START, END, 7)
    if len(noted) < 4:
        raise ValueError("too few calls to tell anything")
    return noted


def _calls_hold(holds: Callable[[list[int], list[int], list[int]], bool]) -> Callable[[Attempt], bool]:
    def probe(attempt: Attempt) -> bool:
        words, places, cached = zip(*_calls(attempt), strict=True)
        return bool(holds(list(words), list(places), list(cached)))

    return probe


def _grows(cached: list[int]) -> bool:
    return cached == list(range(len(cached)))


def _rereads(words, places, cached):
    return len(words) > 9 and words.count(START) > 1


def _stub(place_of=lambda n: 0, keep=False, first=None):
    def variant(read, start_id, end_id, max_words):
        word, cache, written = start_id, (), []
        for n in range(max_words):
            logits, new = read(word, place_of(n), cache)
            cache = new if keep else cache
            word = int(logits.argmax())
            if word == end_id:
                break
            written.append(word)
        return written

    return variant


WITH_CACHE = Exercise(
    id="9.7",
    title="The second word on is wrong",
    kind="find the bug",
    difficulty="medium",
    minutes=8,
    statement=r"""
Reading all words again for every new word is a waste: their keys and values do not change. So real decoders
keep them in a *cache* and read the newest word only. `read(word, place, cache)` does that: it reads one word
that stands at `place` (0, 1, 2, …), together with the words in the `cache`, and returns two things: the
logits
of the next word, and a **new** cache that holds this word too. The empty cache is `()`. The start stands at
place 0.

This function should write greedily with it and return the ids as in exercise 9.6, without start and end. Its
first word is always right, the second is mostly wrong. Take out the `raise` line, find the **two bugs** and
mend them.
""",
    stub='''def greedy_with_cache(read, start_id, end_id, max_words):
    """The ids that are written, as a list."""
    raise NotImplementedError("take this line out, then mend what is below")
    word, cache, written = start_id, (), []
    while len(written) < max_words:
        logits, _ = read(word, 0, cache)
        word = int(logits.argmax())
        if word == end_id:
            break
        written.append(word)
    return written
''',
    reference=greedy_with_cache,
    run=_run,
    cases=_readers,
    hints=(
        "Print `word`, the place and `len(cache)` in each round. Which of them should grow?",
        "`read` gives back a new cache, and changes nothing. What becomes of it?",
        "The start is at place 0, the first word written at place 1, the next at place 2.",
    ),
    mistakes=(
        Mistake(
            name="both-bugs-left",
            message="Both are still there: every word is read at place 0, and with an empty cache.",
            variant=_stub(),
            probe=_calls_hold(lambda words, places, cached: set(places) == {0} and set(cached) == {0}),
        ),
        Mistake(
            name="position-restarts",
            message="The cache is kept now, but every word is read at place 0. Its *position* starts again "
            "from 0 with every word, so that the model sees them all on top of each other.",
            probe=_calls_hold(lambda words, places, cached: len(set(places)) == 1 and _grows(cached)),
        ),
        Mistake(
            name="cache-thrown-away",
            message="The places are counted now, but the cache stays empty: the new one that `read` "
            "returns is "
            "thrown away, and the model sees only the newest word.",
            probe=_calls_hold(lambda words, places, cached: set(cached) == {0} and len(set(places)) > 1),
        ),
        Mistake(
            name="read-again-into-the-cache",
            message="All words are read again in every round, although the cache already holds them: it then "
            "holds them several times.",
            probe=_calls_hold(_rereads),
        ),
        Mistake(
            name="start-read-over-and-over",
            message="In every round the start is read, never the word that was written.",
            probe=_calls_hold(lambda words, places, cached: set(words) == {START}),
        ),
        Mistake(
            name="place-one-too-far",
            message="The places are counted from 1. The start stands at place 0.",
            probe=_calls_hold(
                lambda words, places, cached: _grows(cached) and places == list(range(1, len(places) + 1))
            ),
        ),
        Mistake(
            name="place-one-behind",
            message="The start and the first word written both get place 0: from there on the places lag one "
            "behind.",
            probe=_calls_hold(
                lambda words, places, cached: _grows(cached) and places == [0, *range(len(places) - 1)]
            ),
        ),
        Mistake(
            name="place-is-the-word",
            message="The *id* of the word is handed over as its place. A place counts the words before.",
            probe=_calls_hold(lambda words, places, cached: places == words),
        ),
        Mistake(
            name="end-returned",
            message="The end is still in the list: {got}. It is the sign to stop, not a word.",
            probe=lambda attempt: any(END in written(case) for case in attempt.cases),
        ),
        Mistake(
            name="start-returned",
            message="The list begins with the start, which nobody wrote.",
            probe=lambda attempt: all(written(case)[:1] == [START] for case in attempt.cases),
        ),
    ),
)
