"""Exercise 4.4: A module that knows where it is."""

from __future__ import annotations

import copy

import torch
from torch import nn

from transformer_lib.exercises.attention_probes import Probe, near
from transformer_lib.exercises.exercise import Attempt, Case, Exercise, Mistake


class AddPositions(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.register_buffer("table", table)

    def forward(self, x, start=0):
        end = start + x.shape[1]
        if end > len(self.table):
            raise ValueError(f"{end} positions are needed, and the table has {len(self.table)}")
        return x + self.table[start:end]


class NotAModuleError(TypeError):
    """The learner's class is no nn.Module."""


def _use(cls, table, x, start):
    """The output; how many numbers training would change; whether the table moves along; the table's end."""
    if isinstance(cls, type) and not issubclass(cls, nn.Module):
        raise NotAModuleError(f"{cls.__name__} is no nn.Module")
    module = cls(table)
    out = module(x, start) if start else module(x)
    trained = sum(p.numel() for p in module.parameters() if p.requires_grad)
    rows, D = table.shape
    past_the_end = [_raised(module, x.new_ones(2, rows + 1, D), 0), _raised(module, x, rows - 1)]
    return out, trained, _moves_along(module, table, x), past_the_end


def _raised(module, x, start):
    """Name of the error that a text past the end of the table raises."""
    try:
        module(x, start)
    except NotImplementedError:
        raise
    except Exception as error:
        return type(error).__name__
    return "nothing"


def _moves_along(module, table, x) -> bool:
    """Whether the module can be used on another device after `module.to(device)`."""
    held = [*module.buffers(), *module.parameters()]
    if any(sorted(t.shape)[-2:] == sorted(table.shape) for t in held):
        return True
    moved = copy.deepcopy(module)
    try:
        return moved.to("meta")(x.to("meta")).is_meta
    except Exception:
        pass
    try:
        return copy.deepcopy(module).to(torch.bfloat16)(x.to(torch.bfloat16)).dtype == torch.bfloat16
    except Exception:
        return False


def _tables(generator: torch.Generator) -> list[tuple]:
    sizes = (
        (2, 3, 5, 7, 0),
        (3, 5, 2, 11, 4),
        (5, 2, 7, 13, 11),
    )  # B, T, D, rows, start: the last to the end
    return [
        (torch.randn(rows, D, generator=generator), torch.randn(B, T, D, generator=generator), start)
        for B, T, D, rows, start in sizes
    ]


def _output_is(formula, cases=slice(None)) -> Probe:
    """A probe: the output on these cases is this function of the table, the words and the start."""

    def probe(attempt: Attempt) -> bool:
        return all(near(c.got[0], formula(*c.args)) for c in attempt.cases[cases])

    return probe


def _by_batch(attempt: Attempt) -> bool:
    """Row b of the table is added to sentence b, or the shapes fit only where B = T."""
    first = attempt.cases[0]
    if first.error is None:
        return near(first.got[0], first.args[1] + first.args[0][: len(first.args[1]), None])
    if not isinstance(first.error, RuntimeError):
        return False
    table, x = torch.randn(7, 5), torch.randn(3, 3, 5)
    return near(attempt.call(table, x, 0)[0], x + table[:3])


def _one_vector(attempt: Attempt) -> bool:
    table, x, _ = attempt.cases[0].args
    added = attempt.cases[0].got[0] - x
    return near(added, added[:1, :1].expand_as(added)) and any(near(added[0, 0], row) for row in table)


def _end(attempt: Attempt) -> list[str]:
    return [name for case in attempt.cases for name in case.got[3]]


def _values_right(case: Case) -> bool:
    return case.got is not None and near(case.got[0], case.expected[0])


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
    run=_use,
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
            probe=lambda attempt: any("Module.__init__()" in str(c.error) for c in attempt.cases),
        ),
        Mistake(
            name="indexed-by-batch",
            message="Rows of the table are counted off along the *sentences*, not along the words: `x` has "
            "shape (B, T, D), and its length along axis 0 is the number of sentences. What a word gets then "
            "depends on its sentence's place in the batch.",
            probe=_by_batch,
        ),
        Mistake(
            name="one-vector-for-all",
            message="Every word gets the same row of the table, so that no order is told. A single number "
            "as index picks one row; a slice with a colon picks a run of rows.",
            probe=_one_vector,
        ),
        Mistake(
            name="words-lost",
            message="The rows of the table came back without the words: *add* them to x.",
            probe=_output_is(
                lambda table, x, start: table[start : start + x.shape[1]].expand_as(x), slice(0, 2)
            ),
        ),
        Mistake(
            name="nothing-added",
            message="The words came back as they were.",
            probe=_output_is(lambda table, x, start: x),
        ),
        Mistake(
            name="multiplied",
            message="The rows are multiplied with the words. They are meant to be added.",
            probe=_output_is(lambda table, x, start: x * table[start : start + x.shape[1]], slice(0, 2)),
        ),
        Mistake(
            name="taken-away",
            message="The rows are subtracted. They are meant to be added.",
            probe=_output_is(lambda table, x, start: x - table[start : start + x.shape[1]], slice(0, 2)),
        ),
        Mistake(
            name="restarts-at-zero",
            message="The first word of `x` always gets row 0, whatever `start` says. When writing word by "
            "word, every new word would believe that it stands first: right for the first word, wrong from "
            "the second on.",
            probe=_output_is(lambda table, x, start: x + table[: x.shape[1]]),
        ),
        Mistake(
            name="counted-from-one",
            message="The first word gets the row after the one it should have: rows are counted from 0.",
            probe=_output_is(lambda table, x, start: x + table[start + 1 :][: x.shape[1]], slice(0, 2)),
        ),
        Mistake(
            name="counted-from-the-end",
            message="The rows are taken from the end of the table, or in the wrong direction.",
            probe=lambda attempt: (
                _output_is(lambda table, x, start: x + table[-x.shape[1] :], slice(0, 1))(attempt)
                or _output_is(lambda table, x, start: x + table[: x.shape[1]].flip(0), slice(0, 1))(attempt)
            ),
        ),
        Mistake(
            name="whole-table-refused",
            message="A text that just fills the table is refused. With max_length rows the last position "
            "is max_length − 1.",
            probe=lambda attempt: (
                isinstance(attempt.cases[2].error, ValueError | IndexError)
                and all(_values_right(c) for c in attempt.cases[:2])
            ),
        ),
        Mistake(
            name="table-trained",
            message="An optimiser would change the table: the module has parameters with gradients. A "
            "tensor that belongs to the module but is not trained is a *buffer*.",
            probe=lambda attempt: any(c.got[1] > 0 for c in attempt.cases),
        ),
        Mistake(
            name="table-left-behind",
            message="The sums are right here, but the table does not move with the module. After "
            '`module.to("cuda")` the words are on the GPU and the table is not: a device error. A plain '
            "attribute stays where it is; PyTorch moves parameters and *buffers*.",
            probe=lambda attempt: any(c.got[2] is False for c in attempt.cases),
        ),
        Mistake(
            name="end-not-noticed",
            message="A text that reaches past the end of the table goes through without a word: a slice "
            "that is too short, or an index taken round, is added all the same, and words share positions.",
            probe=lambda attempt: "nothing" in _end(attempt),
        ),
        Mistake(
            name="end-not-explained",
            message="A text that reaches past the end of the table raises no `ValueError`, but whatever the "
            "addition or the index happens to raise. That message speaks of sizes and says nothing of "
            "positions: test the end yourself.",
            probe=lambda attempt: any(name != "ValueError" for name in _end(attempt)),
        ),
    ),
)
