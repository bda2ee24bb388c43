"""Exercise 9.4: What goes in, what should come out."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def shift_target(sentences, start_id, end_id, pad_id):
    longest = max(len(sentence) for sentence in sentences)
    given, wanted = [], []
    for sentence in sentences:
        padding = [pad_id] * (longest - len(sentence))
        given.append([start_id, *sentence, *padding])
        wanted.append([*sentence, end_id, *padding])
    return torch.tensor(given), torch.tensor(wanted)


def _without_what_does_not_count(function: Callable, sentences, start_id, end_id, pad_id):
    """The call; where nothing is wanted, what is given does not matter and becomes padding."""
    result = function(sentences, start_id, end_id, pad_id)
    if isinstance(result, tuple | list) and len(result) == 2:
        given, wanted = result
        if isinstance(given, Tensor) and isinstance(wanted, Tensor) and given.shape == wanted.shape:
            return given.masked_fill(wanted == pad_id, pad_id), wanted
    return result


def _batches(generator: torch.Generator) -> list[tuple]:
    def words(*lengths: int) -> list[list[int]]:
        return [torch.randint(5, 30, (n,), generator=generator).tolist() for n in lengths]

    return [(words(3, 2), 1, 2, 0), (words(5, 2, 7), 3, 4, 2), (words(3, 11, 7, 2, 5), 0, 1, 4)]


def _pairs(attempt: Attempt):
    """(given, wanted, arguments) of every case, as lists of rows without the padding."""
    for case in attempt.cases:
        sentences, start, end, pad = case.args
        given, wanted = (rows.tolist() for rows in case.got)
        yield given, wanted, sentences, start, end, pad


def _every(holds: Callable[..., bool]) -> Callable[[Attempt], bool]:
    return lambda attempt: all(holds(*pair) for pair in _pairs(attempt))


def _bare(row: list[int], pad: int) -> list[int]:
    return [id for id in row if id != pad]


def _rows_are(given_is: Callable, wanted_is: Callable) -> Callable[[Attempt], bool]:
    """A probe: without padding, the rows are these functions of (sentence, start, end)."""

    def holds(given, wanted, sentences, start, end, pad):
        return all(
            _bare(g, pad) == given_is(s, start, end) and _bare(w, pad) == wanted_is(s, start, end)
            for g, w, s in zip(given, wanted, sentences, strict=True)
        )

    return _every(holds)


def _not_shifted(given, wanted, sentences, start, end, pad):
    return given == wanted


def _end_after_padding(given, wanted, sentences, start, end, pad):
    return any(pad in row[: row.index(end)] for row in wanted if end in row)


def _padded_left(given, wanted, sentences, start, end, pad):
    longest = max(map(len, sentences))
    return all(row[0] == pad for row, s in zip(wanted, sentences, strict=True) if len(s) < longest)


def _backwards(given, wanted, sentences, start, end, pad):
    rows = zip(given, wanted, sentences, strict=True)
    return all(w[:2] == [start, s[0]] and g[0] == s[0] for g, w, s in rows)


def _last_word_lost(given, wanted, sentences, start, end, pad):
    longest = max(sentences, key=len)
    return any(_bare(w, pad) in (longest, longest[:-1]) for w in wanted)


def _zeros(given, wanted, sentences, start, end, pad):
    shortest = min(range(len(sentences)), key=lambda n: len(sentences[n]))
    row = wanted[shortest]
    return pad == 0 or set(row[len(sentences[shortest]) + 1 :]) == {0}


SHIFT_TARGET = Exercise(
    id="9.4",
    title="What goes in, what should come out",
    kind="write",
    difficulty="easy",
    minutes=10,
    statement=r"""
A decoder is trained on whole sentences at once. For every sentence of the target it needs two rows of ids:
what
it is **given**, and what it should write next, **wanted**. At each place it is given all words before and
should
write the word that stands there in `wanted`. For the sentence `[7, 8, 9]`:

| | | | | |
|---|---|---|---|---|
| given | start | 7 | 8 | 9 |
| wanted | 7 | 8 | 9 | end |

`sentences` is a list of lists of ids, without start and end, of any lengths of at least 1. Return a pair
`(given, wanted)` of two whole-number tensors of shape `(B, T + 1)`, where `T` is the length of the longest
sentence; shorter rows are filled up with `pad_id` **on the right**. (Where `wanted` is padding, nothing is
learned, and the check does not mind what stands in `given`.)
""",
    stub='''import torch


def shift_target(sentences, start_id, end_id, pad_id):
    """Two tensors (B, T + 1): what the decoder is given, and what it should write."""
    raise NotImplementedError
''',
    reference=shift_target,
    run=_without_what_does_not_count,
    cases=_batches,
    hints=(
        "Write both rows for `[7, 8]` in a batch with `[7, 8, 9]` on paper.",
        "`[start_id, *sentence]` and `[*sentence, end_id]` have the same length. Only then comes the "
        "padding.",
        "The same rows come from `[start_id, *sentence, end_id]`: once without its last id, once without its "
        "first. Cut before you pad, or the end of a short sentence is not where you think.",
    ),
    mistakes=(
        Mistake(
            name="not-shifted",
            message="`given` and `wanted` are the same: the word to be written is handed to the decoder. It "
            "learns to copy its input, the loss falls towards 0, and when it writes by itself it repeats one "
            "word for ever.",
            probe=_every(_not_shifted),
        ),
        Mistake(
            name="shifted-backwards",
            message="The pair is the wrong way round: the decoder would be given a word and asked for the "
            "one "
            "*before* it.",
            probe=_every(_backwards),
        ),
        Mistake(
            name="shifted-by-two",
            message="`wanted` runs two words ahead of `given`: the word in between is never learned.",
            probe=_rows_are(lambda s, start, end: [start, *s][: len(s)], lambda s, start, end: [*s[1:], end]),
        ),
        Mistake(
            name="padded-on-the-left",
            message="The padding stands on the left. All translations should begin in column 0.",
            probe=_every(_padded_left),
        ),
        Mistake(
            name="end-after-the-padding",
            message="In a shorter sentence the end stands behind the padding. There the decoder would "
            "learn to "
            "write padding after its last word. The end follows the last word at once.",
            probe=_every(_end_after_padding),
        ),
        Mistake(
            name="start-is-wanted",
            message="`wanted` begins with the start: nobody should write that.",
            probe=_every(lambda g, w, s, start, end, pad: all(row[0] == start for row in w)),
        ),
        Mistake(
            name="start-missing",
            message="`given` does not begin with the start. What does a decoder read before it writes its "
            "first "
            "word?",
            probe=_every(
                lambda g, w, s, start, end, pad: all(a[0] == b[0] for a, b in zip(g, s, strict=True))
            ),
        ),
        Mistake(
            name="last-word-lost",
            message="In the longest sentence the end, or the last word too, is missing from `wanted`: "
            "cutting "
            "off a column cut off a word there.",
            probe=lambda attempt: (
                _every(_last_word_lost)(attempt)
                and not _every(lambda g, w, s, start, end, pad: not any(end in row for row in w))(attempt)
            ),
        ),
        Mistake(
            name="end-missing",
            message="No row of `wanted` has the end: the model would never learn to stop.",
            probe=_every(
                lambda g, w, s, start, end, pad: all(
                    end not in a and a[0] in b[:2] for a, b in zip(w, s, strict=True)
                )
            ),
        ),
        Mistake(
            name="padded-with-zeros",
            message="Short rows are filled up with 0. The padding here has the id `pad_id`, and 0 may be "
            "a word.",
            probe=_every(_zeros),
        ),
    ),
)
