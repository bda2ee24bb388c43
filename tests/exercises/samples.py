"""Three small exercises for the engine's own tests (a function, a class, an answer) and two right answers."""

import torch
from torch import nn

from transformer_lib.exercises.exercise import Exercise, Mistake


def shares(scores):
    exponentials = torch.exp(scores)
    return exponentials / exponentials.sum(-1, keepdim=True)


STUB = '''import torch


def shares(scores):
    """Softmax over the last axis: scores (T, S), returns (T, S)."""
    raise NotImplementedError
'''


def over_rows(scores):
    return torch.softmax(scores, 0)


def rows_sum_to_two(attempt):
    more = attempt.call(torch.ones(2, 3))
    return bool(((more.sum(-1) - 2).abs() < 1e-4).all())


def without_transpose(scores):
    return torch.softmax(scores @ scores, -1)


SHARES = Exercise(
    id="9.1",
    title="Shares <of> scores",
    kind="write",
    difficulty="easy",
    minutes=5,
    statement="Write the softmax.",
    stub=STUB,
    reference=shares,
    cases=lambda g: [(torch.randn(T, S, generator=g),) for T, S in ((2, 3), (5, 7), (11, 13))],
    hints=("Take `exp` first, where a < b.", "Divide by the sum."),
    mistakes=(
        Mistake(
            name="softmax-over-rows",
            message="Rows sum to {row_sums}, columns to {column_sums}. Shape {got_shape}; see `dim`, "
            "at {where}: {got_value} for {expected_value}, {different}.",
            variant=over_rows,
        ),
        Mistake(name="twice", message="Twice too much: {ratio}.", probe=rows_sum_to_two),
        Mistake(name="unfitting-shapes", message="Said torch: {error}", variant=without_transpose),
    ),
)


class Scale(nn.Module):
    def __init__(self, width, factor=2.0):
        super().__init__()
        self.weight = nn.Parameter(torch.full((width,), factor))

    def forward(self, x):
        return x * self.weight


CLASS = Exercise(
    id="9.2",
    title="A module",
    kind="write",
    difficulty="medium",
    minutes=5,
    statement="Write the module.",
    stub="from torch import nn\n\n\nclass Scale(nn.Module):\n    def __init__(self, width):\n"
    "        raise NotImplementedError\n",
    reference=Scale,
    cases=lambda g: [(3, torch.randn(2, 3, generator=g))],
    run=lambda cls, width, x: cls(width)(x),
    hints=("A parameter.",),
    mistakes=(Mistake(name="factor-one", message="It changes nothing.", variant=lambda w: nn.Identity()),),
)


def half():
    return [0.5, "B"]


ANSWER = Exercise(
    id="9.3",
    title="An answer",
    kind="work out",
    difficulty="easy",
    minutes=2,
    statement="What is it?",
    stub="def half():\n    raise NotImplementedError\n",
    reference=half,
    cases=lambda g: [()],
    hints=(),
    mistakes=(Mistake(name="a-third", message="That is a third.", variant=lambda: [1 / 3, "B"]),),
)


def softmax(scores):
    return torch.softmax(scores, -1)


def printing(scores):
    for n in range(100_000):
        print("line", n)
    return softmax(scores)
