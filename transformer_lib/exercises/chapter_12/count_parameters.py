"""Exercise 12.2: How many numbers?"""

from __future__ import annotations

from transformer_lib.exercises.attention_probes import Probe
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake
from transformer_lib.exercises.paper import answers, entries

V, P, S, D, F, L = 30522, 512, 2, 384, 1536, 6


def count_parameters():
    tables = (30522 + 512 + 2) * 384  # words, positions, segments
    maps = 4 * (384 * 384 + 384)  # queries, keys, values, output: matrix and bias
    network = (384 * 1536 + 1536) + (1536 * 384 + 384)
    norm = 2 * 384  # scale and shift
    block = maps + network + 2 * norm
    return [tables, block, tables + norm + 6 * block]


MAPS, NETWORK, NORM = 4 * (D * D + D), 2 * D * F + F + D, 2 * D
BLOCK = MAPS + NETWORK + 2 * NORM
TABLES = (V + P + S) * D


def _second(*wrong: int) -> Probe:
    """A probe: the block has one of these numbers, whatever the rest."""
    return lambda attempt: any(entries(None, block, None, within=0)(attempt) for block in wrong)


def _does_not_add_up(attempt: Attempt) -> bool:
    tables, block, total = answers(attempt)
    return total not in (tables + L * block, tables + NORM + L * block)


COUNT = Exercise(
    id="12.2",
    title="How many numbers?",
    kind="work out",
    difficulty="medium",
    minutes=10,
    statement=r"""
From its `config.json` you can count a model before you fetch it. all-MiniLM-L6-v2 has `vocab_size` 30522,
`max_position_embeddings` 512, `type_vocab_size` 2 (segments), `hidden_size` 384, `intermediate_size` 1536,
`num_hidden_layers` 6 and `num_attention_heads` 12. All its linear maps have biases; a LayerNorm has a
scale and a
shift. A block has four linear maps in its attention, two in its feed-forward network, and two norms.

Return three whole numbers:

1. the numbers in the three tables of embeddings (words, positions, segments), without a norm,
2. the numbers in one block,
3. the numbers of the whole model: the tables, the norm that follows them, and all blocks.

Use Python as a calculator. (The library's own count comes later in the chapter.)
""",
    stub='''def count_parameters():
    """Three whole numbers: the tables, one block, the whole model."""
    raise NotImplementedError
''',
    reference=count_parameters,
    cases=lambda generator: [()],
    tolerance=1e-9,
    hints=(
        "A table with n rows has n · 384 numbers. A map from a to b numbers has a · b, and b for its bias.",
        "Heads share out the width 384 among them. Does their number appear anywhere?",
        "A block: 4 maps of 384 to 384, one of 384 to 1536, one of 1536 to 384, and 2 norms of 2 · 384.",
    ),
    mistakes=(
        Mistake(
            name="no-biases",
            message="Your block has no biases. Each of its six linear maps adds one number to each that "
            "comes out.",
            probe=_second(BLOCK - 4 * D - F - D, 4 * D * D + 2 * D * F),
        ),
        Mistake(
            name="norms-left-out",
            message="Your block has no norms, or only one, or norms with a scale alone. Each of the two has "
            "a scale and a shift of 384 numbers.",
            probe=_second(BLOCK - 2 * NORM, BLOCK - NORM, BLOCK + NORM),
        ),
        Mistake(
            name="output-map-left-out",
            message="The attention of your block has three maps. After the heads are joined comes a fourth.",
            probe=_second(BLOCK - D * D - D),
        ),
        Mistake(
            name="network-with-one-map",
            message="The network of your block has one map. It widens and then narrows: two.",
            probe=_second(BLOCK - D * F - D, BLOCK - D * F - F, BLOCK - D * F),
        ),
        Mistake(
            name="every-head-as-wide-as-the-model",
            message="You counted the maps of the attention once for each head. The heads share out the "
            "width: "
            "together they are as large as one.",
            probe=_second(BLOCK + 11 * MAPS, BLOCK + 11 * 3 * (D * D + D), BLOCK + 11 * 4 * D * D),
        ),
        Mistake(
            name="one-head-only",
            message="You counted the maps of one head. The 12 heads of width 32 together give 384 numbers.",
            probe=_second(BLOCK - 3 * (D * D + D) + 3 * (D * 32 + 32), BLOCK - MAPS + 4 * (D * 32 + 32)),
        ),
        Mistake(
            name="bias-as-long-as-the-input",
            message="A bias has one number for each that comes *out*: 1536 and 384 in the network.",
            probe=_second(BLOCK - F + D, BLOCK - D + F),
        ),
        Mistake(
            name="tables-incomplete",
            message="Your first number lacks a table. There are three: words, positions and segments.",
            probe=lambda attempt: any(
                entries(n * D, None, None, within=0)(attempt) for n in (V, V + P, V + S)
            ),
        ),
        Mistake(
            name="norm-in-the-tables",
            message="Your first number holds the norm as well. It belongs to the third.",
            probe=entries(TABLES + NORM, None, None, within=0),
        ),
        Mistake(
            name="embedding-norm-left-out",
            message="The third number lacks the norm that follows the tables.",
            probe=entries(TABLES, BLOCK, TABLES + L * BLOCK, within=0),
        ),
        Mistake(
            name="one-block-for-six",
            message="The third number holds one block. There are six, each with its own numbers.",
            probe=lambda attempt: any(
                entries(TABLES, BLOCK, TABLES + BLOCK + n, within=0)(attempt) for n in (0, NORM)
            ),
        ),
        Mistake(
            name="pooler-counted",
            message="The third number holds a map of 384 to 384 more: the *pooler*. The file has it, for "
            "another task. It is not among the parts that the statement lists.",
            probe=entries(TABLES, BLOCK, TABLES + NORM + L * BLOCK + D * D + D, within=0),
        ),
        Mistake(
            name="parts-do-not-add-up",
            message="The third number is not what your first two give: the tables, six blocks, and one norm.",
            probe=_does_not_add_up,
        ),
    ),
)
