"""Exercise 12.4: Three bugs, no error."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import torch

from transformer_lib.exercises.attention_probes import Probe, near
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def split_packed(weight, n_heads):
    D = weight.shape[0]
    rows = weight.T  # (3D, D): a row for each number that comes out
    q, k, v = rows.split(D)
    return tuple(part.reshape(n_heads, D // n_heads, D) for part in (q, k, v))


def _packed(generator: torch.Generator) -> list[tuple]:
    return [
        (torch.randn(H * K, 3 * H * K, generator=generator), H) for H, K in ((2, 1), (2, 3), (3, 5), (5, 2))
    ]


# How the (3D, D) rows are come by, and how D rows are shared out among heads.
ROWS: dict[str, Callable] = {
    "turned": lambda w: w.T,
    "reshaped": lambda w: w.reshape(-1, len(w)),
    "beside": lambda w: torch.cat(w.split(len(w), dim=1)),
}
HEADS: dict[str, Callable] = {
    "blocks": lambda part, H: part.reshape(H, -1, part.shape[1]),
    "interleaved": lambda part, H: part.reshape(-1, H, part.shape[1]).transpose(0, 1),
}
RIGHT_ORDER = (0, 1, 2)
ORDERS = tuple(permutations(range(3)))


def _made(weight, n_heads, rows="turned", order=RIGHT_ORDER, heads="blocks"):
    parts = ROWS[rows](weight).split(len(weight))
    return tuple(HEADS[heads](parts[i], n_heads) for i in order)


def _by_head(weight, n_heads):
    """As other families pack: q, k and v of head 0, then of head 1, …"""
    packed = weight.T.reshape(n_heads, 3, -1, len(weight))
    return tuple(packed[:, i] for i in range(3))


def _is(*makes: Callable) -> Probe:
    def same(got, wanted) -> bool:
        return len(got) == 3 and all(near(torch.as_tensor(g), w) for g, w in zip(got, wanted, strict=True))

    def probe(attempt: Attempt) -> bool:
        return any(all(same(c.got, make(*c.args)) for c in attempt.cases) for make in makes)

    return probe


def _choices(rows=("turned",), orders=(RIGHT_ORDER,), heads=("blocks",)) -> Probe:
    return _is(
        *(lambda w, H, r=r, o=o, h=h: _made(w, H, r, o, h) for r in rows for o in orders for h in heads)
    )


WRONG_ORDERS = tuple(order for order in ORDERS if order != RIGHT_ORDER)

SPLIT = Exercise(
    id="12.4",
    title="Three bugs, no error",
    kind="find the bug",
    difficulty="hard",
    minutes=12,
    statement=r"""
GPT-2 keeps the three maps of all heads in one matrix, `weight` of shape `(D, 3D)`, and stores it the
other way
round than a linear layer of torch does: it is used as `x @ weight`. So each **column** makes one number. The
first `D` columns make the queries, the next `D` the keys, the last `D` the values. Within each of the
three, the
first `K = D / n_heads` columns belong to head 0, the next `K` to head 1, and so on.

This function should return `(w_query, w_key, w_value)`, each of shape `(n_heads, K, D)`, so that
`x @ w_query[h].T` are the queries of head `h`. It runs, the shapes are right, and a model filled with
its result
writes nonsense. Find the three bugs and mend them. (Delete the `raise` line first.)
""",
    stub="""import torch


def split_packed(weight, n_heads):
    raise NotImplementedError  # delete this line, then find the three bugs
    D = weight.shape[0]
    rows = weight.reshape(3 * D, D)  # a row for each number that comes out
    k, q, v = rows.split(D)
    parts = [part.reshape(D // n_heads, n_heads, D).transpose(0, 1) for part in (q, k, v)]
    return tuple(parts)
""",
    reference=split_packed,
    cases=_packed,
    hints=(
        "`reshape` reads the numbers row by row and never moves one past another. Does that turn a matrix?",
        "Compare the order of the three names with the order in the statement.",
        "In which order do the D rows come: all of head 0 first, or one row of each head in turn? The axis "
        "that changes slowest stands first.",
    ),
    mistakes=(
        Mistake(
            name="nothing-mended",
            message="All three bugs are still there. Begin with the first line: does it turn the matrix?",
            probe=_choices(("reshaped",), ((1, 0, 2),), ("interleaved",)),
        ),
        Mistake(
            name="reshaped-not-transposed",
            message="The shape (3D, D) is right, but `reshape` does not turn a matrix: it cuts each row into "
            "three. The numbers of one output stand in a column of `weight`.",
            probe=_choices(("reshaped",), ORDERS, tuple(HEADS)),
        ),
        Mistake(
            name="packed-by-head",
            message="You took queries, keys and values of head 0 first, then those of head 1. Some families "
            "pack so. Here all queries come first.",
            probe=_is(_by_head),
        ),
        Mistake(
            name="another-order",
            message="The three parts come in another order than queries, keys, values.",
            probe=_choices(("turned", "beside"), WRONG_ORDERS, tuple(HEADS)),
        ),
        Mistake(
            name="heads-interleaved",
            message="Row by row the heads take turns. In the file all K rows of head 0 come first, then all "
            "of head 1.",
            probe=_choices(heads=("interleaved",)),
        ),
        Mistake(
            name="not-transposed",
            message="The columns were shared out rightly, but the parts are not turned (or are turned "
            "twice): "
            "their rows are still numbers that come *in*.",
            probe=_choices(("beside",), (RIGHT_ORDER,), ("blocks", "interleaved")),
        ),
    ),
)
