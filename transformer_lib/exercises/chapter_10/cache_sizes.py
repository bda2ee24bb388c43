"""Exercise 10.6: How large is the memory of a text?"""

from __future__ import annotations

from transformer_lib.exercises.exercise import Exercise, Mistake
from transformer_lib.exercises.paper import entries


def cache_sizes():
    word = 2 * 32 * 8 * 128 * 2  # keys and values, layers, heads of them, numbers in each, bytes of a number
    text = word * 8192
    return [word / 2**10, text / 2**30, 16 * text / 2**30, 4 * text / 2**30, text / 2 / 2**30]


def _word(name: str, kibibytes: tuple, message: str) -> Mistake:
    """This answer to the first question; the others follow from it."""

    def probe(attempt) -> bool:
        return any(entries(x, None, None, None, None, within=0.002)(attempt) for x in kibibytes)

    return Mistake(name=name, message=f"Look at 1 again. {message}", probe=probe)


def _at(number: int, name: str, wrong: tuple, message: str) -> Mistake:
    def probe(attempt) -> bool:
        return any(
            entries(*(x if n == number else None for n in range(1, 6)), within=0.002)(attempt) for x in wrong
        )

    return Mistake(name=name, message=f"Look at {number} again. {message}", probe=probe)


CACHE = Exercise(
    id="10.6",
    title="How large is the memory of a text?",
    kind="work out",
    difficulty="medium",
    minutes=10,
    statement=r"""
A language model has 32 layers and vectors of 4096 numbers. In each layer 32 heads of queries, each 128
wide, share **8** heads of keys and values, each 128 wide (grouped queries). Its numbers take 16 bits.
While it writes, it keeps the keys and values of all words so far. Work out on paper:

1. How many **KiB** does one word take, in all layers together? (1 KiB is 1024 bytes.)
2. How many **GiB** does a text of 8192 words take? (1 GiB is $1024^3$ bytes.)
3. How many GiB do 16 such texts take, which are written at the same time?
4. Someone builds the same model *without* sharing: every head of queries has its own keys and values. How
   many GiB does one text of 8192 words take?
5. Someone gives the model of question 1 a window of 4096 words in every layer, and keeps only what can
   still be read. How many GiB does one text of 8192 words take?

Return the five numbers as a list. Powers of two make it easy: $8192 = 2^{13}$.
""",
    stub='''def cache_sizes():
    """Five numbers: KiB of a word, then GiB four times."""
    raise NotImplementedError
''',
    reference=cache_sizes,
    cases=lambda generator: [()],
    tolerance=0.001,
    hints=(
        "What is kept of one word, in one head of keys and values, of one layer? Two vectors of 128 "
        "numbers each.",
        "Then: times the heads of keys and values, times the layers, times the bytes of a number (16 "
        "bits are 2 bytes).",
        "2 · 32 · 8 · 128 · 2 bytes for a word. For a text, multiply by its words; for several, by their "
        "number.",
        "Without sharing there are 32 heads of keys and values in place of 8. With the window, only the "
        "last 4096 words are kept.",
    ),
    mistakes=(
        _word(
            "keys-or-values-only", (64,), "Keys *and* values are kept: two vectors for each word and head."
        ),
        _word(
            "heads-of-queries",
            (512,),
            "You counted 32 heads of keys and values, or the whole width of 4096 numbers. Several heads "
            "of queries share one head of keys and values; queries are not kept.",
        ),
        _word("one-layer-only", (4,), "This is one layer. Every layer has its own keys and values."),
        _word("one-head-only", (16,), "This is one head of keys and values. There are 8 in each layer."),
        _word("four-bytes", (256,), "You counted 4 bytes for a number. It has 16 bits."),
        _word("bits-for-bytes", (1024, 2048), "You counted bits. 8 bits make a byte."),
        _word(
            "one-byte",
            (32,),
            "Something that counts twice is missing, twice: keys *and* values, and 16 bits are 2 bytes.",
        ),
        _word(
            "width-of-a-head-forgotten",
            (1,),
            "The width of a head is missing: a key is not one number but 128.",
        ),
        _word(
            "queries-kept-too",
            (192, 384, 320, 640, 768),
            "Something else is counted too. Only keys and values are kept: nobody asks with an old query "
            "again.",
        ),
        _word("bytes-for-kibibytes", (131072,), "This is in bytes. Divide by 1024."),
        _word("thousands", (131.072,), "The bytes are right. A KiB has 1024 of them, not 1000."),
        _at(2, "words-forgotten", (1 / 8192,), "The text has 8192 words."),
        _at(2, "mebibytes", (1024,), "This is in MiB. 1024 MiB are one GiB."),
        _at(
            2,
            "pairs-kept",
            (8192,),
            "You multiplied by the words twice. A key and a value are kept for each word, not for each "
            "pair of words.",
        ),
        _at(
            3,
            "batch-forgotten",
            (1,),
            "Each of the 16 texts has its own words, so also its own keys and values. (It is the model's "
            "*weights* that they share.)",
        ),
        _at(4, "sharing-turned-round", (0.25,), "Without sharing there are more keys and values, not fewer."),
        _at(
            4,
            "sharing-saves-nothing",
            (1,),
            "32 heads of keys and values in place of 8: that cannot take the same bytes.",
        ),
        _at(
            4,
            "heads-not-ratio",
            (32, 8),
            "By which factor does the number of heads of keys and values grow? From 8 to 32.",
        ),
        _at(5, "window-saves-nothing", (1,), "Which of the 8192 words can the next word still read?"),
        _at(
            5,
            "window-on-top",
            (1.5, 2),
            "The window makes the memory smaller: words out of reach are dropped.",
        ),
    ),
)
