"""Exercise 10.2: Count the operations."""

from __future__ import annotations

from transformer_lib.exercises.chapter_10.shared import is_number
from transformer_lib.exercises.exercise import Exercise, Mistake


def attention_flops(batch, layers, heads, T, S, d_key, d_value):
    scores = 2 * T * d_key * S  # (T, d_key) times (d_key, S)
    weighted_sum = 2 * T * S * d_value  # (T, S) times (S, d_value)
    return batch * layers * heads * (scores + weighted_sum)


def _sizes(generator) -> list[tuple]:
    return [(1, 1, 1, 2, 3, 5, 7), (2, 3, 5, 7, 11, 13, 17), (5, 2, 3, 13, 13, 7, 11), (3, 7, 2, 1, 19, 5, 5)]


def _each(count):
    """A formula for one head of one layer, multiplied up."""
    return lambda B, L, H, T, S, K, V: B * L * H * count(T, S, K, V)


def _without(*left_out: str):
    def formula(B, L, H, T, S, K, V):
        sizes = {"batch": B, "layers": L, "heads": H}
        total = 2 * T * S * (K + V)
        for name, size in sizes.items():
            total *= 1 if name in left_out else size
        return total

    return formula


FLOPS = Exercise(
    id="10.2",
    title="Count the operations",
    kind="write",
    difficulty="easy",
    minutes=8,
    statement=r"""
How many floating-point operations (FLOPs) do the two matrix products of attention take,

$$QK^\top \quad\text{and}\quad AV\,?$$

A product of an $(m, n)$ and an $(n, p)$ matrix counts as $2mnp$: a multiplication and an addition for
each of the $mnp$ pairs. The softmax and the scale do not count, and neither do the projections. If a mask
hides some scores, they are computed all the same, and count.

There are `batch` sentences and `layers` layers with `heads` heads each. In every head `T` queries meet
`S` keys. A query and a key have `d_key` numbers **in one head**, a value has `d_value` numbers in one
head (usually the same number, here not). Return the total, one whole number.
""",
    stub='''def attention_flops(batch, layers, heads, T, S, d_key, d_value):
    """FLOPs of the scores and of the weighted sum, in all: one whole number."""
    raise NotImplementedError
''',
    reference=attention_flops,
    cases=_sizes,
    tolerance=0.4,
    hints=(
        "Write down the shapes of Q, of the transposed K, of A and of V for a single head.",
        "For the scores m, n, p are T, d_key, S. What are they for the weighted sum?",
        "Everything happens in each head, of each layer, for each sentence.",
    ),
    mistakes=(
        Mistake(
            name="multiply-add-as-one",
            message="Exactly half. A multiplication *and* an addition: two operations for each pair.",
            probe=is_number(_each(lambda T, S, K, V: T * S * (K + V))),
        ),
        Mistake(
            name="scores-only",
            message="Only the first product is counted, the scores. The weights are then multiplied with "
            "the values.",
            probe=is_number(_each(lambda T, S, K, V: 2 * T * S * K), _each(lambda T, S, K, V: T * S * K)),
        ),
        Mistake(
            name="weighted-sum-only",
            message="Only the second product is counted, the weighted sum. Before it come the scores.",
            probe=is_number(_each(lambda T, S, K, V: 2 * T * S * V), _each(lambda T, S, K, V: T * S * V)),
        ),
        Mistake(
            name="one-width-for-both",
            message="Both products are counted with the same width. A value has `d_value` numbers, a key "
            "`d_key`.",
            probe=is_number(
                _each(lambda T, S, K, V: 4 * T * S * K),
                _each(lambda T, S, K, V: 4 * T * S * V),
            ),
        ),
        Mistake(
            name="heads-forgotten",
            message="This is right for a single head. The widths are those of *one* head, and all heads "
            "work.",
            probe=is_number(_without("heads")),
        ),
        Mistake(
            name="batch-forgotten",
            message="This is right for one sentence. There are `batch` of them.",
            probe=is_number(_without("batch")),
        ),
        Mistake(
            name="layers-forgotten",
            message="This is right for one layer. Every layer has its own attention.",
            probe=is_number(_without("layers")),
        ),
        Mistake(
            name="several-forgotten",
            message="The count for one head is right, but of batch, layers and heads more than one is "
            "missing.",
            probe=is_number(
                _without("batch", "layers"),
                _without("batch", "heads"),
                _without("layers", "heads"),
                _without("batch", "layers", "heads"),
            ),
        ),
        Mistake(
            name="heads-twice",
            message="The heads are counted twice. The widths already belong to one head: multiply by the "
            "number of heads once.",
            probe=is_number(lambda B, L, H, T, S, K, V: 2 * B * L * H * H * T * S * (K + V)),
        ),
        Mistake(
            name="queries-for-keys",
            message="The number of queries is squared. `T` queries meet `S` keys, and the two numbers "
            "may differ.",
            probe=is_number(
                _each(lambda T, S, K, V: 2 * T * T * (K + V)), _each(lambda T, S, K, V: 4 * T * T * K)
            ),
        ),
        Mistake(
            name="keys-for-queries",
            message="The number of keys is squared. `T` queries meet `S` keys, and the two numbers may "
            "differ.",
            probe=is_number(
                _each(lambda T, S, K, V: 2 * S * S * (K + V)), _each(lambda T, S, K, V: 4 * S * S * K)
            ),
        ),
        Mistake(
            name="products-multiplied",
            message="The two products come one after the other, so that their counts are *added*.",
            probe=is_number(
                _each(lambda T, S, K, V: 4 * T * T * S * S * K * V),
                _each(lambda T, S, K, V: 2 * T * S * K * V),
                _each(lambda T, S, K, V: T * S * K * V),
            ),
        ),
        Mistake(
            name="additions-one-less",
            message="To add up n products takes n − 1 additions, that is true. The usual count, which "
            "this exercise asks for, says n.",
            probe=is_number(
                _each(lambda T, S, K, V: T * S * (2 * K - 1) + T * V * (2 * S - 1)),
            ),
        ),
        Mistake(
            name="hidden-half-left-out",
            message="Only half is counted, or the pairs of a causal mask. All pairs count here, hidden "
            "or not.",
            probe=is_number(
                _each(lambda T, S, K, V: (K + V) * T * (2 * S - T + 1)),
                _each(lambda T, S, K, V: (K + V) * T * (T + 1)),
            ),
        ),
        Mistake(
            name="softmax-counted",
            message="Something is counted for each score on top of the two products, such as the scale "
            "or the softmax. Only the matrix products count here.",
            probe=is_number(
                *(_each(lambda T, S, K, V, c=c: T * S * (2 * K + 2 * V + c)) for c in range(1, 7)),
            ),
        ),
        Mistake(
            name="projections-counted",
            message="The projections that make queries, keys and values are counted too. They were done "
            "before.",
            probe=lambda attempt: all(
                float(case.got) > float(case.expected)
                and float(case.got) - float(case.expected) in {float(x) for x in _projections(*case.args)}
                for case in attempt.cases
            ),
        ),
    ),
)


def _projections(B, L, H, T, S, K, V):
    D = H * K
    query, key, value, out = 2 * T * D * D, 2 * S * D * D, 2 * S * D * H * V, 2 * T * H * V * D
    return [B * L * n for n in (query + key + value, query + key + value + out, query + key, 8 * T * D * D)]
