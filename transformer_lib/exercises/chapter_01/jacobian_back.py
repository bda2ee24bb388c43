"""Exercise 1.6: What is left after k steps."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from transformer_lib.exercises.chapter_01.shared import gives
from transformer_lib.exercises.exercise import Exercise, Mistake


def jacobian_back(states, w_h, k):
    jacobian = torch.eye(len(w_h), dtype=w_h.dtype)
    for h in states[len(states) - k :]:
        jacobian = (1 - h**2)[:, None] * w_h @ jacobian
    return jacobian


def _cases(generator: torch.Generator) -> list[tuple]:
    cases = []
    for T, H, k in ((3, 2, 2), (7, 5, 1), (11, 3, 4), (5, 7, 3)):
        states = torch.randn(T, H, generator=generator).tanh()
        cases.append((states, torch.randn(H, H, generator=generator), k))
    return cases


def _product(
    step: Callable | None = None,
    chosen: Callable[[Tensor, int], Tensor] = lambda states, k: states[len(states) - k :],
    join: Callable = lambda new, old: new @ old,
    start: Callable[[Tensor], Tensor] = lambda w: torch.eye(len(w)),
) -> Callable:
    """The product with another matrix for a step, other states, or joined in another way."""
    step = step or (lambda h, w: (1 - h**2)[:, None] * w)

    def jacobian(states, w_h, k):
        out = start(w_h)
        for h in chosen(states, k):
            out = join(step(h, w_h), out)
        return out

    return jacobian


def _one_back(states: Tensor, k: int) -> Tensor:
    T = len(states)
    return states[T - k - 1 : T - 1]


JACOBIAN = Exercise(
    id="1.6",
    title="What is left after k steps",
    kind="write",
    difficulty="hard",
    minutes=20,
    statement=r"""
Now with a state of $H$ numbers: $h_t = \tanh(W_h h_{t-1} + W_x x_t + b)$. How does the last state move when
the state $k$ steps earlier moves? The answer is a matrix, the Jacobian $\partial h_T / \partial h_{T-k}$:
row $i$, column $j$ says how entry $i$ of $h_T$ moves with entry $j$ of $h_{T-k}$. Write it as a product of
$k$ matrices, without autograd. `states` of shape `(T, H)` holds $h_1, …, h_T$, one per row, `w_h` has shape
`(H, H)`, and `k` is at least 1 and smaller than `T`. Return a tensor of shape `(H, H)`.
""",
    stub='''import torch


def jacobian_back(states, w_h, k):
    """How the last state moves with the state k steps back: states (T, H), w_h (H, H); returns (H, H)."""
    raise NotImplementedError
''',
    reference=jacobian_back,
    cases=_cases,
    hints=(
        "One step first. Entry i of hₜ is the tanh of a sum over j of W[i, j] · hₜ₋₁[j]. Its slope with "
        "respect to entry j of hₜ₋₁ is (1 − hₜ[i]²) · W[i, j].",
        "As a matrix, one step is diag(1 − hₜ²) times `w_h`: each *row* of `w_h` times a number.",
        "The last step, which made the last state, stands on the left; the first of the k steps "
        "stands on the right. `torch.diag(1 - h**2) @ w_h` is one factor.",
    ),
    mistakes=(
        Mistake(
            name="slopes-left-out",
            message="This is the bare power of `w_h`: as if every tanh had slope 1. The states come in too.",
            probe=gives(_product(lambda h, w: w)),
        ),
        Mistake(
            name="matrix-left-out",
            message="These are the slopes of the tanh alone. What multiplies hₜ₋₁ before it goes "
            "into the tanh?",
            probe=gives(
                _product(lambda h, w: torch.diag(1 - h**2)),
                _product(
                    lambda h, w: (1 - h**2)[:, None] * torch.ones_like(w),
                    join=lambda a, b: a * b,
                    start=torch.ones_like,
                ),
            ),
        ),
        Mistake(
            name="one-step-too-many",
            message="The product has a factor too many: there are k steps. The "
            "first of them *starts* from the state k steps back; it does not make it.",
            probe=gives(_product(chosen=lambda states, k: states[len(states) - k - 1 :])),
        ),
        Mistake(
            name="one-step-too-few",
            message="The product has a factor too few: there are k steps, the "
            "one that makes the last state included.",
            probe=gives(
                _product(chosen=lambda states, k: states[len(states) - k + 1 :]),
                _product(chosen=lambda states, k: states[len(states) - k : -1]),
            ),
        ),
        Mistake(
            name="states-late-by-one",
            message="There are k factors, but each has the slope of the wrong state: the tanh of the step "
            "from hₜ₋₁ to hₜ is the one that *made* hₜ.",
            probe=gives(_product(chosen=_one_back)),
        ),
        Mistake(
            name="first-states-instead-of-last",
            message="These are the first k steps of the sentence. k steps back from the end, it is the "
            "last ones.",
            probe=gives(
                _product(chosen=lambda states, k: states[:k]),
                _product(chosen=lambda states, k: states[1 : k + 1]),
            ),
        ),
        Mistake(
            name="whole-sentence",
            message="This goes back over the whole sentence, whatever k is.",
            probe=gives(
                _product(chosen=lambda states, k: states), _product(chosen=lambda states, k: states[1:])
            ),
        ),
        Mistake(
            name="last-step-only",
            message="This is one step back. For k steps there are k factors.",
            probe=gives(_product(chosen=lambda states, k: states[-1:])),
        ),
        Mistake(
            name="product-in-the-wrong-order",
            message="The right factors in the wrong order. A change k steps back goes through its *own* "
            "next step first. A product of matrices is applied from right to left.",
            probe=gives(_product(join=lambda new, old: old @ new)),
        ),
        Mistake(
            name="slopes-on-the-columns",
            message="The slopes multiply the columns of `w_h` instead of its rows. `w_h * v` stretches "
            "columns. The tanh comes *after* the matrix: its slope belongs to what comes out.",
            probe=gives(
                _product(lambda h, w: w * (1 - h**2)),
                _product(lambda h, w: w * (1 - h**2), join=lambda new, old: old @ new),
                _product(lambda h, w: w * (1 - h**2), chosen=_one_back),
            ),
        ),
        Mistake(
            name="transposed",
            message="Rows and columns have changed places: row i, column j should say how entry i of the "
            "*last* state moves with entry j of the earlier one.",
            probe=gives(lambda *args: jacobian_back(*args).T),
        ),
        Mistake(
            name="matrix-transposed",
            message="`w_h` was used transposed. Here is no batch of rows: the formula is W h, "
            "with h as a column.",
            probe=gives(_product(lambda h, w: (1 - h**2)[:, None] * w.T)),
        ),
        Mistake(
            name="factors-transposed",
            message="Every factor is transposed, `w_h` and slopes together. Transposed factors would have "
            "to be multiplied in the opposite order, and give the transposed result.",
            probe=gives(_product(lambda h, w: w.T * (1 - h**2))),
        ),
        Mistake(
            name="same-slopes-in-every-step",
            message="Every step has the slopes of one and the same state. Each of the k steps goes through "
            "the tanh at a state of its own.",
            probe=gives(
                _product(chosen=lambda states, k: states[-1:].expand(k, -1)),
                _product(chosen=lambda states, k: states[-k].expand(k, -1)),
                _product(chosen=lambda states, k: states[-k - 1].expand(k, -1)),
                _product(chosen=lambda states, k: states[-k:].mean(0).expand(k, -1)),
                lambda states, w, k: ((1 - states[-1] ** 2)[:, None] * w) ** k,
            ),
        ),
        Mistake(
            name="steps-before-instead-of-k",
            message="k was taken from the wrong end: these are the T − k steps that are left over, or as "
            "many. k steps are asked for, the last ones.",
            probe=gives(
                _product(chosen=lambda states, k: states[k:]),
                _product(chosen=lambda states, k: states[: len(states) - k]),
            ),
        ),
        Mistake(
            name="entry-by-entry",
            message="The factors were multiplied entry by entry (`*`, `**`). Every entry of a state moves "
            "*all* entries of the next one, so it takes the product of matrices, `@`.",
            probe=gives(
                _product(join=lambda new, old: new * old, start=torch.ones_like),
                lambda states, w, k: _slopes(states, k)[:, None] * w**k,
            ),
        ),
        Mistake(
            name="not-squared",
            message="The slope of the tanh is 1 minus the *square* of the state.",
            probe=gives(_product(lambda h, w: (1 - h)[:, None] * w)),
        ),
        Mistake(
            name="state-instead-of-slope",
            message="The states themselves, or their squares, stand where the slopes belong. The slope of "
            "the tanh is steepest (1) where the state is 0.",
            probe=gives(_product(lambda h, w: h[:, None] * w), _product(lambda h, w: (h**2)[:, None] * w)),
        ),
        Mistake(
            name="tanh-taken-twice",
            message="The states have been through the tanh already: the slope is 1 − hₜ², without "
            "another tanh.",
            probe=gives(_product(lambda h, w: (1 - h.tanh() ** 2)[:, None] * w)),
        ),
        Mistake(
            name="slopes-gathered-first",
            message="All slopes were multiplied together, and `w_h` raised to its power, each by itself. "
            "The two take turns, and matrices must not change places.",
            probe=gives(lambda states, w, k: _slopes(states, k)[:, None] * torch.linalg.matrix_power(w, k)),
        ),
        Mistake(
            name="matrix-only-once",
            message="All slopes are in it, but `w_h` only once. It stands in *every* step.",
            probe=gives(lambda states, w, k: _slopes(states, k)[:, None] * w),
        ),
        Mistake(
            name="added-up",
            message="The steps were added up. They follow one after the other: the chain rule multiplies.",
            probe=gives(_product(join=lambda new, old: new + old, start=torch.zeros_like)),
        ),
    ),
)


def _slopes(states: Tensor, k: int) -> Tensor:
    """The product of the slopes of the last k steps, entry by entry."""
    return (1 - states[len(states) - k :] ** 2).prod(0)
