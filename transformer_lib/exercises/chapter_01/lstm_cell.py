"""Exercise 1.5: A cell that forgets."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import torch
from torch import Tensor

from transformer_lib.exercises.attention_probes import Probe, near
from transformer_lib.exercises.chapter_01.shared import gives
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def lstm_cell(x, h, c, w_x, w_h, b):
    i, f, g, o = (x @ w_x.T + h @ w_h.T + b).chunk(4, dim=-1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    h = o.sigmoid() * c.tanh()
    return h, c


def _cases(generator: torch.Generator) -> list[tuple]:
    def draw(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator)

    return [
        (draw(B, D), draw(B, H), 1.5 * draw(B, H), draw(4 * H, D), draw(4 * H, H), draw(4 * H))
        for B, D, H in ((2, 3, 5), (5, 7, 3), (3, 2, 11))
    ]


def _cell(
    new: Callable | None = None, out: Callable | None = None, order: str = "ifgo", pair: bool = True
) -> Callable:
    """The cell with another new(i, f, g, c) or out(o, new c, old c), or the rows read in another order."""
    new = new or (lambda i, f, g, c: f.sigmoid() * c + i.sigmoid() * g.tanh())
    out = out or (lambda o, c, old: o.sigmoid() * c.tanh())

    def cell(x, h, c, w_x, w_h, b):
        gates = dict(zip(order, (x @ w_x.T + h @ w_h.T + b).chunk(4, dim=-1), strict=True))
        made = new(gates["i"], gates["f"], gates["g"], c)
        return (out(gates["o"], made, c), made) if pair else out(gates["o"], made, c)

    return cell


def _swapped(i, f, g, c):
    return i.sigmoid() * c + f.sigmoid() * g.tanh()


def _positive(i, f, g, c):
    return f.sigmoid() * c + i.sigmoid() * g.sigmoid()


def _both(i, f, g, c):
    return i.sigmoid() * c + f.sigmoid() * g.sigmoid()


def _with_gates(i: float, f: float, g: float, cell: float, wanted: float) -> Probe:
    """A probe: with gates and candidate driven by the bias alone, the new cell is not the one wanted."""

    def probe(attempt: Attempt) -> bool:
        B, D, H = 2, 3, 5
        b = torch.cat([torch.full((H,), value) for value in (i, f, g, 0.3)])
        nothing = torch.zeros(4 * H, D), torch.zeros(4 * H, H)
        pair = attempt.call(torch.ones(B, D), torch.ones(B, H), torch.full((B, H), cell), *nothing, b)
        if len(pair) != 2 or pair[1].shape != (B, H):
            return False
        even = near(pair[1], pair[1][:1, :1].expand(B, H))  # as all that went in was
        return even and not near(pair[1], torch.full((B, H), wanted))

    return probe


def _one_tensor(attempt: Attempt) -> bool:
    return all(isinstance(c.got, Tensor) and c.got.shape != (2, *c.expected[0].shape) for c in attempt.cases)


def _cell_right(attempt: Attempt) -> bool:
    return all(near(case.got[1], case.expected[1]) for case in attempt.cases)


_ORDERS = [
    "".join(order) for order in itertools.permutations("ifgo") if "".join(order) not in ("ifgo", "figo")
]

FIND_THE_BUG = Exercise(
    id="1.5",
    title="A cell that forgets",
    kind="find the bug",
    difficulty="medium",
    minutes=10,
    statement=r"""
This function should be one step of an LSTM:

$$c_t = f_t \odot c_{t-1} + i_t \odot g_t, \qquad h_t = o_t \odot \tanh(c_t),$$

where $i, f, o$ are *gates*, squeezed by a sigmoid $\sigma$ to lie between 0 and 1, and $g$ is the
*candidate*, squeezed by a tanh to lie between −1 and 1; $\odot$ multiplies entry by entry. `x` is `(B, D)`,
`h` and `c` are `(B, H)`; the rows of `w_x` `(4H, D)`, `w_h` `(4H, H)` and `b` `(4H,)` belong to i, f, g, o,
in this order. It returns the new $h$ and the new $c$.

It runs, and the shapes are right. But someone who tried it noticed two things. **With a large bias on the
forget gate the cell should keep what it has; it forgets as fast as before.** And **from an empty cell ($c =
0$), no entry of the new cell is ever negative.** Find the two bugs and mend them. (Delete the `raise` line
first.)
""",
    stub="""import torch


def lstm_cell(x, h, c, w_x, w_h, b):
    raise NotImplementedError  # delete this line, then find the two bugs
    i, f, g, o = (x @ w_x.T + h @ w_h.T + b).chunk(4, dim=-1)
    c = i.sigmoid() * c + f.sigmoid() * g.sigmoid()
    h = o.sigmoid() * c.tanh()
    return h, c
""",
    reference=lstm_cell,
    cases=_cases,
    hints=(
        "Compare the formula with the second and third line of the code, letter by letter.",
        "Which gate decides how much of the *old* cell is kept?",
        "A sigmoid is never negative. Which of the four should be able to take something away from the cell?",
    ),
    mistakes=(
        Mistake(
            name="both-bugs-left",
            message="Both symptoms are still there: the forget gate does not decide what is kept, and an "
            "empty cell never gets a negative entry.",
            variant=_cell(_both),
        ),
        Mistake(
            name="gates-swapped",
            message="The input gate and the forget gate still have each other's job. Which of the two "
            "stands next to the old cell in the formula?",
            probe=gives(_cell(_swapped), _cell(_swapped, lambda o, c, old: o.tanh() * c.tanh())),
        ),
        Mistake(
            name="candidate-never-negative",
            message="The candidate still goes through a sigmoid: it lies between 0 and 1, so a cell can "
            "only be added to. Which function takes both signs?",
            variant=_cell(_positive),
        ),
        Mistake(
            name="candidate-not-squeezed",
            message="The candidate goes in as it is, without a tanh: it can have any size.",
            probe=gives(_cell(lambda i, f, g, c: f.sigmoid() * c + i.sigmoid() * g)),
        ),
        Mistake(
            name="gates-by-tanh",
            message="A gate goes through a tanh: it can become negative, and turn the sign of what it "
            "lets through. A gate is a share between 0 and 1.",
            probe=gives(
                _cell(lambda i, f, g, c: f.tanh() * c + i.tanh() * g.tanh()),
                _cell(lambda i, f, g, c: f.tanh() * c + i.tanh() * g.sigmoid()),
                _cell(lambda i, f, g, c: f.sigmoid() * c + i.tanh() * g.tanh()),
                _cell(lambda i, f, g, c: f.tanh() * c + i.sigmoid() * g.tanh()),
                _cell(lambda i, f, g, c: f.sigmoid() * c + i.tanh() * g.sigmoid()),
                _cell(out=lambda o, c, old: o.tanh() * c.tanh()),
                _cell(
                    lambda i, f, g, c: f.tanh() * c + i.tanh() * g.tanh(),
                    lambda o, c, old: o.tanh() * c.tanh(),
                ),
                _cell(
                    lambda i, f, g, c: f.tanh() * c + i.tanh() * g.sigmoid(),
                    lambda o, c, old: o.tanh() * c.sigmoid(),
                ),
            ),
        ),
        Mistake(
            name="forget-gate-missing",
            message="The old cell is kept whole, whatever the forget gate says: it can never be emptied.",
            probe=gives(_cell(lambda i, f, g, c: c + i.sigmoid() * g.tanh())),
        ),
        Mistake(
            name="input-gate-missing",
            message="The candidate goes in whole, whatever the input gate says.",
            probe=gives(_cell(lambda i, f, g, c: f.sigmoid() * c + g.tanh())),
        ),
        Mistake(
            name="one-gate-for-both",
            message="One gate does both jobs. In the formula, what is kept and what is let in are decided "
            "by two gates of their own.",
            probe=gives(
                _cell(lambda i, f, g, c: f.sigmoid() * c + (1 - f.sigmoid()) * g.tanh()),
                _cell(lambda i, f, g, c: (1 - i.sigmoid()) * c + i.sigmoid() * g.tanh()),
                _cell(lambda i, f, g, c: f.sigmoid() * (c + g.tanh())),
                _cell(lambda i, f, g, c: i.sigmoid() * (c + g.tanh())),
            ),
        ),
        Mistake(
            name="forget-gate-upside-down",
            message="The old cell is multiplied by 1 minus the forget gate. Despite its name, f = 1 "
            "means: keep everything.",
            probe=gives(_cell(lambda i, f, g, c: (1 - f.sigmoid()) * c + i.sigmoid() * g.tanh())),
        ),
        Mistake(
            name="old-cell-lost",
            message="The old cell is never used: the new one is made from the candidate alone. What a "
            "cell has is its memory.",
            probe=gives(_cell(lambda i, f, g, c: i.sigmoid() * g.tanh())),
        ),
        Mistake(
            name="state-kept-instead-of-cell",
            message="The forget gate was put on the state h. What runs through from step to step is the "
            "cell c.",
            probe=gives(lambda x, h, c, *w: lstm_cell_with_state(x, h, c, *w)),
        ),
        Mistake(
            name="rows-in-another-order",
            message="The four parts are told apart in another order than i, f, g, o. Which rows belong to "
            "which gate is a convention; weights made with one do not fit the other.",
            probe=gives(*(_cell(order=order) for order in _ORDERS)),
        ),
        Mistake(
            name="output-from-the-old-cell",
            message="The new state is made from the *old* cell: what was just let in cannot be seen "
            "before the next step.",
            probe=gives(_cell(out=lambda o, c, old: o.sigmoid() * old.tanh())),
        ),
        Mistake(
            name="output-not-squeezed",
            message="The cell is right. But it goes into the state without a tanh, at any size.",
            probe=gives(_cell(out=lambda o, c, old: o.sigmoid() * c)),
        ),
        Mistake(
            name="output-by-sigmoid",
            message="The cell is right. But on its way into the state it goes through a sigmoid, and the "
            "state is never negative. That line had no bug.",
            probe=gives(_cell(out=lambda o, c, old: o.sigmoid() * c.sigmoid())),
        ),
        Mistake(
            name="output-gate-missing",
            message="The cell is right. But the state shows all of it: the output gate has been left out.",
            probe=gives(_cell(out=lambda o, c, old: c.tanh())),
        ),
        Mistake(
            name="cell-not-returned",
            message="Only the state came back. The next step needs the cell too: return first h, then c.",
            probe=gives(lambda *args: lstm_cell(*args)[0]),
        ),
        Mistake(
            name="pair-swapped",
            message="The right two tensors, in the opposite order: first the state h, then the cell c.",
            probe=gives(lambda *args: lstm_cell(*args)[::-1]),
        ),
        Mistake(
            name="same-tensor-twice",
            message="The two results are one and the same tensor. Return the new h, then the new c.",
            probe=lambda attempt: all(near(c.got[0], c.got[1]) for c in attempt.cases),
        ),
        Mistake(
            name="one-tensor-instead-of-two",
            message="One tensor came back, shape {got_shape}. A step has two results, and the next step "
            "needs both: return first h, then c.",
            probe=_one_tensor,
        ),
        Mistake(
            name="state-not-right",
            message="The new cell is right. The new state is not: compare its line with the formula once "
            "more. (As given, it had no bug.)",
            probe=_cell_right,
        ),
        Mistake(
            name="does-not-keep",
            message="Try it with the forget gate wide open and the input gate shut (biases of 30 and −30): "
            "the cell should stay as it is, and it does not.",
            probe=_with_gates(i=-30, f=30, g=0.7, cell=1.3, wanted=1.3),
        ),
        Mistake(
            name="does-not-let-go",
            message="Try it with both gates shut (biases of −30): what was in the cell should be gone and "
            "nothing should come in, so that the new cell is 0. It is not.",
            probe=_with_gates(i=-30, f=-30, g=0.7, cell=1.3, wanted=0.0),
        ),
        Mistake(
            name="takes-in-something-else",
            message="Try it with the input gate wide open and the forget gate shut: the new cell should be "
            "the candidate, squeezed as the formula says. It is not.",
            probe=lambda attempt: (
                _with_gates(i=30, f=-30, g=0.7, cell=1.3, wanted=0.60437)(attempt)
                or _with_gates(i=30, f=-30, g=-0.7, cell=1.3, wanted=-0.60437)(attempt)
            ),
        ),
    ),
)


def lstm_cell_with_state(x, h, c, w_x, w_h, b):
    i, f, g, o = (x @ w_x.T + h @ w_h.T + b).chunk(4, dim=-1)
    made = f.sigmoid() * h + i.sigmoid() * g.tanh()
    return o.sigmoid() * made.tanh(), made
