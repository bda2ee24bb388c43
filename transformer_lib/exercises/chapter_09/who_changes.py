"""Exercise 9.1: Who reads whom?"""

from __future__ import annotations

from transformer_lib.exercises.exercise import Exercise, Mistake
from transformer_lib.exercises.paper import entries


def who_changes():
    return [5, 7, 7, 5, 3, 0]


def _look_at(number: int, wrong: float, name: str, message: str) -> Mistake:
    wanted = [None] * 6
    wanted[number - 1] = wrong
    return Mistake(name=name, message=f"Look at {number} again. {message}", probe=entries(*wanted))


PREDICT = Exercise(
    id="9.1",
    title="Who reads whom?",
    kind="predict",
    difficulty="easy",
    minutes=6,
    statement=r"""
An encoder has read a source of **7** words. A decoder with masked self-attention and cross-attention has read
the first **5** words of the target. All weights are ordinary numbers, nothing is 0 by chance. Six questions:

1. How many **rows** has the map of cross-attention (one head)?
2. How many **columns** has it?
3. The *last* word of the source is replaced. How many of the encoder's 7 outputs change?
4. The same replacement. How many of the decoder's 5 outputs change?
5. Instead, the *third* word of the target is replaced. How many of the decoder's 5 outputs change?
6. The same replacement as in 5. How many of the encoder's 7 outputs change?

Return your six answers as a list of numbers. Do not run anything before you have answered.
""",
    stub='''def who_changes():
    """Six numbers, in the order of the questions."""
    raise NotImplementedError
''',
    reference=who_changes,
    cases=lambda generator: [()],
    tolerance=0.01,
    hints=(
        "A map of attention has a row for each word that asks and a column for each word that is read.",
        "The encoder has no mask. In the decoder, only self-attention has one against the future.",
        "Cross-attention goes one way: the decoder reads the encoder, never the other way round.",
    ),
    mistakes=(
        Mistake(
            name="map-transposed",
            message="Your first two answers have changed places. Who asks in cross-attention, and who is "
            "read?",
            probe=entries(7, 5, None, None, None, None),
        ),
        Mistake(
            name="map-square",
            message="The map need not be square. One sentence asks, *another* one is read.",
            probe=lambda attempt: any(entries(n, n, None, None, None, None)(attempt) for n in (5, 7, 12, 35)),
        ),
        _look_at(
            3, 1, "encoder-masked", "You gave the encoder a mask: here earlier words read later ones too."
        ),
        _look_at(3, 6, "word-itself-forgotten", "The replaced word has an output as well."),
        _look_at(3, 0, "encoder-deaf", "Every word of the source reads every word of the source."),
        _look_at(
            4,
            1,
            "cross-attention-masked",
            "You masked the future of the *source*. The decoder may read all of it, from its first word on.",
        ),
        _look_at(
            4,
            0,
            "decoder-deaf",
            "The decoder reads what the encoder made of the source, and that has changed.",
        ),
        _look_at(5, 5, "decoder-not-masked", "No output may depend on a later word of the target."),
        _look_at(5, 2, "word-itself-hidden", "The replaced word reads itself: its own output changes."),
        _look_at(5, 1, "later-words-deaf", "The words after it read it."),
        _look_at(6, 7, "encoder-reads-the-target", "The encoder has read the source, and nothing else."),
    ),
)
