"""Exercise 12.7: What a Llama remembers."""

from __future__ import annotations

from transformer_lib.exercises.exercise import Exercise, Mistake
from transformer_lib.exercises.paper import entries


def cache_bytes():
    d_head = 4096 // 32
    per_word = 2 * 32 * 8 * d_head * 2  # keys and values, layers, heads of keys, width, bytes
    gib = per_word * 8192 / 2**30
    return [per_word, gib, gib * 32 / 8]


CACHE = Exercise(
    id="12.7",
    title="What a Llama remembers",
    kind="work out",
    difficulty="medium",
    minutes=8,
    statement=r"""
A model of the Llama family has `hidden_size` 4096, `num_hidden_layers` 32, `num_attention_heads` 32 and
`num_key_value_heads` 8: four query heads share each head of keys and values. While it writes, it keeps
the keys and
values of all words so far in a cache, in numbers of 2 bytes. Work out

1. the bytes of the cache for **one word**, in all layers together,
2. the size of the cache after 8192 words, in GiB ($2^{30}$ bytes),
3. what 2 would be if every query head had its own keys and values.

Return the three as a list of numbers. One sentence, not a batch.
""",
    stub='''def cache_bytes():
    """Three numbers: bytes for one word, GiB after 8192 words, GiB without grouped queries."""
    raise NotImplementedError
''',
    reference=cache_bytes,
    cases=lambda generator: [()],
    tolerance=0.001,
    hints=(
        "How wide is one head? The heads of queries share out the width of the model.",
        "For each word and each layer: keys and values, 8 heads, the width of a head, 2 bytes.",
        "All numbers here are powers of 2. 8192 is 2 to the 13th.",
    ),
    mistakes=(
        Mistake(
            name="a-factor-of-two-missing",
            message="Your first number is half of what it should be. Two things come in twos: the cache "
            "holds "
            "keys *and* values, and each number takes 2 bytes.",
            probe=entries(65536, None, None),
        ),
        Mistake(
            name="one-layer-only",
            message="Your first number is that of one layer. Each of the 32 has keys and values of its own.",
            probe=entries(4096, None, None),
        ),
        Mistake(
            name="a-head-for-every-query",
            message="Your first number is four times too large: it counts 32 heads of keys, or heads that "
            "are 512 wide. There are 8 heads of keys, each as wide as the query that it meets.",
            probe=entries(524288, None, None),
        ),
        Mistake(
            name="width-of-the-model-for-a-head",
            message="You took a head to be 4096 wide. The 32 heads of queries share out that width.",
            probe=entries(4194304, None, None),
        ),
        Mistake(
            name="width-of-a-head-forgotten",
            message="You counted one number for each head. A key has as many numbers as a head is wide.",
            probe=entries(1024, None, None),
        ),
        Mistake(
            name="four-bytes",
            message="You took 4 bytes for a number. Here each has 2.",
            probe=entries(262144, None, None),
        ),
        Mistake(
            name="thousands-for-1024",
            message="The first is right. Your GiB has 10^9 bytes; a GiB has 2^30.",
            probe=entries(131072, 1.0737, None, within=0.002),
        ),
        Mistake(
            name="in-mib",
            message="The second number is in MiB. A GiB is 1024 of them.",
            probe=entries(131072, 1024, None),
        ),
        Mistake(
            name="groups-upside-down",
            message="Without grouping there are *more* heads of keys and values, not fewer.",
            probe=entries(131072, 1, 0.25),
        ),
        Mistake(
            name="groups-without-effect",
            message="Your third number equals the second. With 32 heads of keys instead of 8 the cache "
            "grows.",
            probe=entries(131072, 1, 1),
        ),
        Mistake(
            name="group-size-misread",
            message="Your third number is off. Go from 8 heads of keys to 32: by which factor does the "
            "cache grow?",
            probe=lambda attempt: any(entries(131072, 1, n)(attempt) for n in (8, 32, 2, 16)),
        ),
    ),
)
