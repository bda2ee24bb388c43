"""Exercise 6.4: Hide the padding."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from transformer_lib.exercises.attention_probes import Probe
from transformer_lib.exercises.chapter_06.shared import (
    additive,
    numbers_for_booleans,
    on_every_case,
    padded_ids,
    truth,
)
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def hide_padding(ids, pad_id):
    real = ids != pad_id  # (B, S)
    return real[:, None, None, :]  # (B, 1, 1, S)


def _batches(generator: torch.Generator) -> list[tuple]:
    return [
        (padded_ids(2, 3, 0, [2, 3], generator), 0),
        (padded_ids(3, 7, 5, [2, 7, 5], generator), 5),
        (padded_ids(5, 11, 7, [11, 3, 1, 5, 7], generator, left=True), 7),
    ]


def _keys_are(*formulas: Callable[[Tensor, int], Tensor]) -> Probe:
    """A probe: on every case the columns that are left open are one and the same of these functions."""

    def probe(attempt: Attempt) -> bool:
        return any(
            all(torch.equal(truth(c.got).squeeze(), formula(*c.args).squeeze()) for c in attempt.cases)
            for formula in formulas
        )

    return probe


def _shape_is(*shapes: Callable[[int, int], tuple]) -> Probe:
    """A probe: on every case the mask has one and the same of these shapes."""

    def probe(attempt: Attempt) -> bool:
        return any(
            all(tuple(c.got.shape) == shape(*c.args[0].shape) for c in attempt.cases) for shape in shapes
        )

    return probe


def _whole_table(combine: Callable[[Tensor, Tensor], Tensor]) -> Probe:
    """A probe: a (B, …, S, S) table, made of the words that are real as columns and as rows."""

    def probe(attempt: Attempt) -> bool:
        for case in attempt.cases:
            real = case.args[0] != case.args[1]
            table = combine(real[:, None, :], real[:, :, None])
            if case.got.dim() < 3 or not torch.equal(truth(case.got).flatten(0, -3), table):
                return False
        return True

    return probe


def _first_words(ids: Tensor, pad_id: int) -> Tensor:
    lengths = (ids != pad_id).sum(-1, keepdim=True)
    return torch.arange(ids.shape[1]) < lengths


PADDING = Exercise(
    id="6.4",
    title="Hide the padding",
    kind="write",
    difficulty="easy",
    minutes=8,
    statement=r"""
`ids` of shape `(B, S)` holds `B` sentences, one per row. Short ones are filled up with `pad_id` to `S`
words; the padding may stand on the right or on the left. Return a mask of booleans of shape `(B, 1, 1, S)`,
with the axes sentence, head, query, key: `True` where the key is a real word, so that no word of sentence
`b` reads the padding of sentence `b`. The two axes of size 1 say "the same for every head and every query".
""",
    stub='''import torch


def hide_padding(ids, pad_id):
    """True where a key is a real word: ids (B, S), returns booleans of shape (B, 1, 1, S)."""
    raise NotImplementedError
''',
    reference=hide_padding,
    cases=_batches,
    hints=(
        "Which words are real? One comparison says it for all ids at once.",
        "The comparison has shape (B, S). Between B and S two axes are missing.",
        "Indexing with `None` puts in an axis of size 1: `x[:, None]` turns (B, S) into (B, 1, S).",
    ),
    mistakes=(
        Mistake(
            name="additive-mask",
            message="These are numbers to *add* to the scores, very low ones where a word is hidden. Asked "
            "for are booleans: `True` where a word may be read.",
            probe=on_every_case(additive),
        ),
        Mistake(
            name="numbers-for-booleans",
            message="The right places, but the mask holds {got_dtype} numbers, not booleans. Programs that "
            "add a mask of numbers to the scores would take these 1 and 0 as such, and hide "
            "nothing.",
            probe=on_every_case(numbers_for_booleans),
        ),
        Mistake(
            name="rows-hidden-too",
            message="The mask also hides whole *rows*, those of the padding's own queries. Such a row has "
            "nothing left to read, and its softmax becomes NaN. Hide keys only.",
            probe=_whole_table(lambda keys, queries: keys & queries),
        ),
        Mistake(
            name="query-rows-for-key-columns",
            message="The padding is marked along the axis of the queries: the mask has shape {got_shape}. "
            "That hides nothing from the real words: they go on reading the padding. The keys are "
            "the last axis.",
            probe=lambda attempt: (
                _shape_is(lambda B, S: (B, 1, S, 1), lambda B, S: (B, S, 1))(attempt)
                or _whole_table(lambda keys, queries: queries.expand(-1, -1, keys.shape[-1]))(attempt)
            ),
        ),
        Mistake(
            name="stretched",
            message="This hides the right words, spelt out for every query: the mask has shape "
            "{got_shape}. Asked for is the small one, {expected_shape}; axes of size 1 stretch by "
            "themselves.",
            probe=_whole_table(lambda keys, queries: keys.expand(-1, queries.shape[1], -1)),
        ),
        Mistake(
            name="one-mask-for-all",
            message="There is one mask for all sentences, of shape {got_shape}. Each sentence has its own "
            "padding: {expected_shape}.",
            probe=_shape_is(lambda B, S: (1, 1, 1, S), lambda B, S: (S,), lambda B, S: (1, S)),
        ),
        Mistake(
            name="axes-missing",
            message="The mask has shape {got_shape}. Laid over scores (B, H, T, S) from the right, its "
            "axes fall on the wrong ones: an error mostly, and a silently wrong mask where two "
            "sizes happen to be equal. It should be {expected_shape}.",
            probe=_shape_is(lambda B, S: (B, S), lambda B, S: (B, 1, S), lambda B, S: (1, B, S)),
        ),
        Mistake(
            name="batch-on-another-axis",
            message="The mask has shape {got_shape}: the sentences stand on the axis of the heads or of "
            "the queries. They belong on the first, {expected_shape}.",
            probe=_shape_is(lambda B, S: (1, 1, B, S), lambda B, S: (1, B, 1, S), lambda B, S: (1, 1, S, B)),
        ),
        Mistake(
            name="inverted-polarity",
            message="True and False have changed places: only the padding may be read. Here `True` means "
            "*may read*. (In `key_padding_mask` of `torch.nn.MultiheadAttention` it means the "
            "opposite.)",
            probe=_keys_are(lambda ids, pad_id: ids == pad_id),
        ),
        Mistake(
            name="pad-id-not-used",
            message="The mask hides the word 0, whatever `pad_id` is. With another padding it hides a real "
            "word and lets the padding through.",
            probe=_keys_are(lambda ids, pad_id: ids != 0),
        ),
        Mistake(
            name="other-words-hidden",
            message="The comparison takes all numbers on one side of `pad_id` for padding. Only the number "
            "itself means padding.",
            probe=_keys_are(
                lambda ids, pad_id: ids > pad_id,
                lambda ids, pad_id: ids < pad_id,
                lambda ids, pad_id: ids >= pad_id,
                lambda ids, pad_id: ids <= pad_id,
            ),
        ),
        Mistake(
            name="padding-on-the-left",
            message="Right as long as the padding stands behind the words. Here some stands before them: "
            "the first places are hidden then, not the last.",
            probe=_keys_are(_first_words),
        ),
        Mistake(
            name="nothing-hidden",
            message="Nothing is hidden: every entry is True.",
            variant=lambda ids, pad_id: torch.ones_like(ids, dtype=torch.bool)[:, None, None],
        ),
    ),
)
