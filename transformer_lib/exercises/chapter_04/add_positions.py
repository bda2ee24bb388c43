"""Exercise 4.4: A module that knows where it is."""

from __future__ import annotations

import math
import re

import torch
from torch import nn

from transformer_lib.exercises.chapter_04.module_probes import (
    NotAModuleError,
    all_values_right,
    by_batch,
    end_without_start,
    errors_past_the_end,
    fits_only,
    one_vector,
    output_is,
    use,
    values_right,
)
from transformer_lib.exercises.exercise import Exercise, Mistake


class AddPositions(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.register_buffer("table", table)

    def forward(self, x, start=0):
        end = start + x.shape[1]
        if end > len(self.table):
            raise ValueError(f"{end} positions are needed, and the table has {len(self.table)}")
        return x + self.table[start:end]


def _tables(generator: torch.Generator) -> list[tuple]:
    # B, T, D, rows, start; the last one reaches just to the end
    sizes = ((2, 3, 5, 7, 0), (3, 5, 2, 11, 4), (5, 2, 7, 13, 11))
    return [
        (torch.randn(rows, D, generator=generator), torch.randn(B, T, D, generator=generator), start)
        for B, T, D, rows, start in sizes
    ]


ADD_POSITIONS = Exercise(
    id="4.4",
    title="A module that knows where it is",
    kind="write",
    difficulty="medium",
    minutes=15,
    statement=r"""
Write a module that adds positions from a ready-made table. `table` has shape `(max_length, D)`, one row per
position. `forward(x, start=0)` gets word vectors `x` of shape `(B, T, D)`, `B` sentences of `T` words, and
adds row `start` of the table to the first word of every sentence, row `start + 1` to the second, and so on.
(Why `start`? When a model writes one word at a time, it is handed only the *new* word; that word does not
stand at place 0.)

The table is part of the module but is not trained: `module.to("cuda")` must take it along, and an optimiser
must not change it. A text that reaches past the end of the table must raise a `ValueError` that says so.
Leave `x` itself unchanged.
""",
    stub='''import torch
from torch import nn


class AddPositions(nn.Module):
    """Adds rows of a table (max_length, D) to the words of x (B, T, D), from row `start` on."""

    def __init__(self, table):
        super().__init__()
        raise NotImplementedError

    def forward(self, x, start=0):
        raise NotImplementedError
''',
    reference=AddPositions,
    cases=_tables,
    run=use,
    hints=(
        "A slice of rows has shape `(T, D)`. Added to `(B, T, D)` it is repeated for every sentence by "
        "itself. Which axis of `x` counts the words?",
        "A tensor that belongs to a module without being trained is a *buffer*: "
        '`self.register_buffer("table", table)`.',
        "Python's slices stop at the end without complaint, so the test has to be written: "
        "compare `start + T` with `len(self.table)`.",
    ),
    mistakes=(
        Mistake(
            name="not-a-module",
            message="{error}. Begin with `class AddPositions(nn.Module):`, so that `.to(device)` and "
            "`parameters()` exist.",
            probe=lambda attempt: any(isinstance(c.error, NotAModuleError) for c in attempt.cases),
        ),
        Mistake(
            name="super-not-called",
            message="PyTorch complains: {error}. The first line of `__init__` must be `super().__init__()`: "
            "it makes the places where a module keeps buffers and parameters.",
            probe=lambda attempt: any(
                re.search(
                    r"Module\.__init__\(\)|no attribute '_\w+(hooks|parameters|buffers|modules)", str(c.error)
                )
                for c in attempt.cases
            ),
        ),
        Mistake(
            name="indexed-by-batch",
            message="Rows of the table are counted off along the *sentences*, not along the words: `x` has "
            "shape (B, T, D), and its length along axis 0 is the number of sentences. What a word gets then "
            "depends on its sentence's place in the batch.",
            probe=by_batch,
        ),
        Mistake(
            name="counted-along-width",
            message="Rows of the table are counted off along the *width* of the vectors: axis 2 of `x` has "
            "D entries. The words are axis 1.",
            probe=fits_only(B=2, T=5, D=5, rows=7),
        ),
        Mistake(
            name="too-many-rows",
            message="Rows are added that no word stands at: the slice runs on to the end of the table. Only "
            "T rows belong to T words, so the slice needs an end as well.",
            probe=fits_only(B=2, T=5, D=3, rows=5),
        ),
        Mistake(
            name="end-without-start",
            message="From `start` on it goes wrong: the slice ends at row T, wherever it begins. T rows from "
            "row `start` on end further down.",
            probe=end_without_start,
        ),
        Mistake(
            name="one-vector-for-all",
            message="Every word gets the same row of the table, so that no order is told. A single number "
            "as index picks one row; a slice with a colon picks a run of rows.",
            probe=one_vector,
        ),
        Mistake(
            name="words-lost",
            message="The rows of the table came back without the words: *add* them to x.",
            probe=output_is(
                lambda table, x, start: table[start : start + x.shape[1]].expand_as(x), slice(0, 2)
            ),
        ),
        Mistake(
            name="rows-alone",
            message="The rows of the table came back alone, shape {got_shape}: *add* them to x, and each "
            "sentence gets them.",
            probe=output_is(lambda table, x, start: table[start : start + x.shape[1]], slice(0, 2)),
        ),
        Mistake(
            name="joined-instead-of-added",
            message="The rows were put *beside* the words, so that the vectors are twice as wide. They are "
            "meant to be added.",
            probe=output_is(
                lambda table, x, start: torch.cat([x, table[start : start + x.shape[1]].expand_as(x)], -1),
                slice(0, 2),
            ),
        ),
        Mistake(
            name="nothing-added",
            message="The words came back as they were.",
            probe=output_is(lambda table, x, start: x),
        ),
        Mistake(
            name="multiplied",
            message="The rows are multiplied with the words. They are meant to be added.",
            probe=output_is(lambda table, x, start: x * table[start : start + x.shape[1]], slice(0, 2)),
        ),
        Mistake(
            name="taken-away",
            message="The rows are subtracted. They are meant to be added.",
            probe=output_is(lambda table, x, start: x - table[start : start + x.shape[1]], slice(0, 2)),
        ),
        Mistake(
            name="words-scaled",
            message="The rows are right, but the words were multiplied by √D first. The original Transformer "
            "does that with its embeddings; this module is to add positions and nothing else.",
            probe=output_is(
                lambda table, x, start: x * math.sqrt(x.shape[-1]) + table[start : start + x.shape[1]]
            ),
        ),
        Mistake(
            name="restarts-at-zero",
            message="The first word of `x` always gets row 0, whatever `start` says. When writing word by "
            "word, every new word would believe that it stands first: right for the first word, wrong from "
            "the second on.",
            probe=output_is(lambda table, x, start: x + table[: x.shape[1]]),
        ),
        Mistake(
            name="counted-from-one",
            message="The first word gets the row after the one it should have: rows are counted from 0.",
            probe=output_is(lambda table, x, start: x + table[start + 1 :][: x.shape[1]], slice(0, 2)),
        ),
        Mistake(
            name="counted-from-the-end",
            message="The rows are taken from the end of the table, or in the wrong direction.",
            probe=lambda attempt: (
                output_is(lambda table, x, start: x + table[-x.shape[1] :], slice(0, 1))(attempt)
                or output_is(lambda table, x, start: x + table[: x.shape[1]].flip(0), slice(0, 1))(attempt)
            ),
        ),
        Mistake(
            name="whole-table-refused",
            message="A text that just fills the table is refused. With max_length rows the last position "
            "is max_length − 1.",
            probe=lambda attempt: (
                isinstance(attempt.cases[2].error, ValueError | IndexError)
                and all(values_right(c) for c in attempt.cases[:2])
            ),
        ),
        Mistake(
            name="table-trained",
            message="An optimiser would change the table: the module has parameters with gradients. A "
            "tensor that belongs to the module but is not trained is a *buffer*.",
            probe=lambda attempt: (
                all_values_right(attempt)
                and any(c.got["numbers that training changes"] > 0 for c in attempt.cases)
            ),
        ),
        Mistake(
            name="table-left-behind",
            message="The sums are right here, but the table does not move with the module. After "
            '`module.to("cuda")` the words are on the GPU and the table is not: a device error. A plain '
            "attribute stays where it is; PyTorch moves parameters and *buffers*.",
            probe=lambda attempt: (
                all_values_right(attempt)
                and any(c.got["table moves with the module"] is False for c in attempt.cases)
            ),
        ),
        Mistake(
            name="remembers-calls",
            message="Called again with the same words, it adds other rows: the module counts along by "
            "itself. The next text would start where this one ended. `start` says where a text is.",
            probe=lambda attempt: (
                all_values_right(attempt)
                and any(c.got["the same when called again"] is False for c in attempt.cases)
            ),
        ),
        Mistake(
            name="end-not-noticed",
            message="A text that reaches past the end of the table goes through without a word: a slice "
            "that is too short, or an index taken round, is added all the same, and words share positions.",
            probe=lambda attempt: all_values_right(attempt) and "nothing" in errors_past_the_end(attempt),
        ),
        Mistake(
            name="end-not-explained",
            message="A text that reaches past the end of the table ends in another error than a "
            "`ValueError`: often the one that the addition or the index happens to raise. That one speaks of "
            "sizes and says nothing of positions. Test the end yourself.",
            probe=lambda attempt: (
                all_values_right(attempt)
                and any(name != "ValueError" for name in errors_past_the_end(attempt))
            ),
        ),
    ),
)
