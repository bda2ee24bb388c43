"""How exercise 4.4 uses the learner's module, and probes that look at what came."""

from __future__ import annotations

import copy

import torch
from torch import nn

from transformer_lib.exercises.attention_probes import Probe, near
from transformer_lib.exercises.exercise import Attempt, Case


class NotAModuleError(TypeError):
    """The learner's class is no nn.Module."""


def use(cls, table, x, start):
    """The output; how many numbers training would change; whether the table moves along; the table's end."""
    if isinstance(cls, type) and not issubclass(cls, nn.Module):
        raise NotAModuleError(f"{cls.__name__} is no nn.Module")
    module = cls(table)
    out = module(x, start) if start else module(x)
    trained = sum(p.numel() for p in module.parameters() if p.requires_grad)
    rows, D = table.shape
    return {
        "output": out,
        "numbers that training changes": trained,
        "table moves with the module": _moves_along(module, table, x),
        "the same when called again": _same(out, module(x, start)),
        "error when the text is too long": _raised(module, x.new_ones(2, rows + 1, D), 0),
        "error when it starts too late": _raised(module, x, rows - 1),
    }


def _same(one, other) -> bool:
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return True  # no tensor came, which the output tells
    return near(one, other)


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


def output_is(formula, cases=slice(None)) -> Probe:
    """A probe: the output on these cases is this function of the table, the words and the start."""

    def probe(attempt: Attempt) -> bool:
        return all(near(c.got["output"], formula(*c.args)) for c in attempt.cases[cases])

    return probe


def by_batch(attempt: Attempt) -> bool:
    """Row b of the table is added to sentence b, or the shapes fit only where B = T."""
    first = attempt.cases[0]
    if first.error is None:
        return near(first.got["output"], first.args[1] + first.args[0][: len(first.args[1]), None])
    if not isinstance(first.error, RuntimeError):
        return False
    table, x = torch.randn(7, 5), torch.randn(3, 3, 5)
    return near(attempt.call(table, x, 0)["output"], x + table[:3])


def one_vector(attempt: Attempt) -> bool:
    table, x, _ = attempt.cases[0].args
    added = attempt.cases[0].got["output"] - x
    return near(added, added[:1, :1].expand_as(added)) and any(near(added[0, 0], row) for row in table)


def fits_only(B: int, T: int, D: int, rows: int) -> Probe:
    """A probe: the shapes do not fit in general, but with these sizes all is right."""

    def probe(attempt: Attempt) -> bool:
        if not isinstance(attempt.cases[0].error, RuntimeError):
            return False
        table, x = torch.randn(rows, D), torch.randn(B, T, D)
        return near(attempt.call(table, x, 0)["output"], x + table[:T])

    return probe


def end_without_start(attempt: Attempt) -> bool:
    table, x, start = attempt.cases[1].args  # one row is left, and is added to all words
    return values_right(attempt.cases[0]) and near(
        attempt.cases[1].got["output"], x + table[start : x.shape[1]]
    )


def errors_past_the_end(attempt: Attempt) -> list[str]:
    return [name for case in attempt.cases for what, name in case.got.items() if what.startswith("error")]


def all_values_right(attempt: Attempt) -> bool:
    return all(values_right(case) for case in attempt.cases)


def values_right(case: Case) -> bool:
    return case.got is not None and near(case.got["output"], case.expected["output"])
