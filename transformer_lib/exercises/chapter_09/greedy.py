"""Exercise 9.6: Write by yourself."""

from __future__ import annotations

from collections.abc import Callable

from transformer_lib.exercises.chapter_09.shared import END, START, next_word_model, plain_ids, written
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def greedy(next_logits, start_id, end_id, max_words):
    ids = [start_id]
    while len(ids) <= max_words:
        word = int(next_logits(ids).argmax())
        if word == end_id:
            break
        ids.append(word)
    return ids[1:]


def _run(function: Callable, *args):
    return plain_ids(function(*args))


def _models(generator) -> list[tuple]:
    ends = ((3, 9), (0, 5), (20, 7), (11, 13), (5, 5))  # the end comes after so many words; max_words
    return [(next_word_model(seed, after), START, END, most) for seed, (after, most) in enumerate(ends, 5)]


def _writer(
    choose=lambda logits: int(logits.argmax()), read=lambda ids: ids, stops=lambda word, end: word == end
):
    """Greedy decoding with another choice, another thing read, or another reason to stop."""

    def variant(next_logits, start_id, end_id, max_words):
        ids = [start_id]
        for _ in range(max_words):
            word = choose(next_logits(read(ids)))
            if stops(word, end_id):
                break
            ids.append(word)
        return ids[1:]

    return variant


def _rows_are(change: Callable) -> Callable[[Attempt], bool]:
    """A probe: on every case, what came is this function of (the right ids, start, end, max_words)."""

    def probe(attempt: Attempt) -> bool:
        return all(
            written(case) == change(list(case.expected), *case.args[1:]) for case in attempt.cases
        ) and any(written(case) != list(case.expected) for case in attempt.cases)

    return probe


def _with_end(ids, start, end, most):
    return [*ids, end] if len(ids) < most else ids


def _calls(attempt: Attempt) -> list[list[int]]:
    """The ids that are read at each step of writing a text of 6 words."""
    model, read = next_word_model(31, 6), []

    def noted(ids):
        read.append(list(plain_ids(ids)) if not isinstance(ids, int) else [ids])
        return model(ids)

    attempt.call(noted, START, END, 9)
    return read


def _only_the_last(attempt: Attempt) -> bool:
    read = _calls(attempt)
    return len(read) > 2 and all(len(ids) == 1 for ids in read) and len({ids[0] for ids in read}) > 1


def _never_longer(attempt: Attempt) -> bool:
    read = _calls(attempt)
    return len(read) > 2 and all(ids == read[0] for ids in read)


def _without_start(attempt: Attempt) -> bool:
    read = _calls(attempt)
    return len(read) > 1 and all(START not in ids for ids in read)


def _one_too_many(ids, start, end, most):
    return ids


def _longer(attempt: Attempt) -> bool:
    """The end is respected, but one word more than allowed is written."""
    return all(
        len(written(case)) == case.args[3] + 1 and written(case)[:-1] == list(case.expected)
        if len(case.expected) == case.args[3] and case.args[3] != 5
        else True
        for case in attempt.cases
    ) and any(len(written(case)) == case.args[3] + 1 for case in attempt.cases)


def _goes_on(attempt: Attempt) -> bool:
    """It always writes all max_words words, whatever comes."""
    return all(len(written(case)) >= case.args[3] for case in attempt.cases)


GREEDY = Exercise(
    id="9.6",
    title="Write by yourself",
    kind="write",
    difficulty="medium",
    minutes=12,
    statement=r"""
Greedy decoding: write the likeliest word, read it, write the next.

`next_logits(ids)` takes the list of **all** ids so far, beginning with `start_id`, and returns the logits of
the next word, a tensor of shape `(V,)`. Write until the likeliest word is `end_id`, or until there are
`max_words` words. Return the list of the ids that you wrote: without the start, and without the end. (If the
very first word is the end, the list is empty.)
""",
    stub='''def greedy(next_logits, start_id, end_id, max_words):
    """The ids that are written, as a list."""
    raise NotImplementedError
''',
    reference=greedy,
    run=_run,
    cases=_models,
    hints=(
        "You need a list that begins with `[start_id]` and grows by one word in each round.",
        "`int(logits.argmax())` is the likeliest word.",
        "Three things can happen in a round: the word is the end; the list is full; or the word is appended.",
    ),
    mistakes=(
        Mistake(
            name="start-and-end-returned",
            message="Start and end are still in the list. They are signs for the model, no words.",
            probe=_rows_are(lambda ids, start, end, most: [start, *_with_end(ids, start, end, most)]),
        ),
        Mistake(
            name="start-returned",
            message="The list begins with the start, which nobody wrote.",
            probe=_rows_are(lambda ids, start, end, most: [start, *ids]),
        ),
        Mistake(
            name="end-returned",
            message="The list still has the end in it, {got}. It is the sign to stop, not a word.",
            probe=_rows_are(_with_end),
        ),
        Mistake(
            name="last-word-lost",
            message="The last word is missing: the end was already left out, and then one more was cut off.",
            probe=_rows_are(lambda ids, start, end, most: ids[:-1]),
        ),
        Mistake(
            name="one-word-repeated",
            message="The model is given the same ids each time: what was written is never read. So it writes "
            "one word over and over.",
            probe=_never_longer,
        ),
        Mistake(
            name="only-the-last-word-read",
            message="The model is given the newest word alone. Each word depends on *all* words before "
            "it, and "
            "its place on how many there are.",
            probe=_only_the_last,
        ),
        Mistake(
            name="start-not-read",
            message="The start is never read. The model learned to write its first word after the start.",
            probe=_without_start,
        ),
        Mistake(
            name="least-likely-word",
            message="The *least* likely word is taken.",
            variant=_writer(choose=lambda logits: int(logits.argmin())),
            probe=lambda attempt: (
                written(attempt.cases[2])[:1] == [int(attempt.cases[2].args[0]([START]).argmin())]
                or written(attempt.cases[2])[:1] == [START]
            ),
        ),
        Mistake(
            name="second-best-word",
            message="The second-best word is taken.",
            variant=_writer(choose=lambda logits: int(logits.topk(2).indices[1])),
        ),
        Mistake(
            name="never-stops",
            message="The end does not end the text: it goes on to `max_words`, and the end stands among the "
            "words.",
            variant=_writer(stops=lambda word, end: False),
            probe=_goes_on,
        ),
        Mistake(
            name="one-word-too-many",
            message="A text that has no end yet becomes {got_shape} words long: one more than "
            "`max_words`. The "
            "start is no word that was written; is it counted?",
            probe=_longer,
        ),
        Mistake(
            name="one-word-too-few",
            message="A text that has no end yet is cut one word too early. The start does not count as a "
            "word.",
            probe=_rows_are(lambda ids, start, end, most: ids[: most - 1]),
        ),
    ),
)
