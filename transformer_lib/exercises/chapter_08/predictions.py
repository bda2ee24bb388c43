"""Exercise 8.1: What must be true of a block?"""

from __future__ import annotations

from transformer_lib.exercises.chapter_02.shared import plain
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def predictions():
    return [True, False, True, False, True, False]


def _answers(f):
    """The learner's answers as booleans, where they can be read as such."""
    given = plain(f())
    if not isinstance(given, list) or any(entry not in (0, 1) for entry in given):
        return given
    return [bool(entry) for entry in given]


def _predicted(number: int, answer: bool):
    def probe(attempt: Attempt) -> bool:
        got = attempt.cases[0].got
        return isinstance(got, list) and len(got) == 6 and got[number - 1] is answer

    return probe


PREDICT = Exercise(
    id="8.1",
    title="What must be true of a block?",
    kind="predict",
    difficulty="easy",
    minutes=6,
    statement=r"""
Two ways to put a sub-layer (attention, or the feed-forward network) into a block:

- **post-norm**, as the lecture draws it:
  $x \leftarrow \operatorname{LayerNorm}(x + \operatorname{Sublayer}(x))$
- **pre-norm**, as in most models since:
  $x \leftarrow x + \operatorname{Sublayer}(\operatorname{LayerNorm}(x))$

LayerNorm subtracts a mean and divides by a standard deviation (and has no learned numbers in this
exercise). Which statements hold for *every* choice of the other weights? (Cases in which something
is divided by zero aside.)

1. What leaves a **post-norm** block has mean 0 and variance 1 over the numbers of each word.
2. What leaves a **pre-norm** block has mean 0 and variance 1 over the numbers of each word.
3. What leaves a stack of **pre-norm** blocks is what entered it *plus* what the sub-layers put out,
   with nothing multiplied.
4. Layer normalisation lets a word see the other words of its sentence: its mean and its standard deviation
   are taken over the sentence.
5. Make every number of a word ten times as large. What the layer norm makes of it stays the same.
6. Twelve blocks in a row, made by `[block] * 12`, have twelve times the parameters of one.

Return your six answers as a list of `True` and `False`.
""",
    stub='''def predictions():
    """Six answers, True or False, in the order of the statements."""
    raise NotImplementedError
''',
    reference=predictions,
    cases=lambda generator: [()],
    run=_answers,
    hints=(
        "1 and 2: which operation comes last in each of the two lines?",
        "3: write two pre-norm sub-layers below each other. Is x ever multiplied or normalised on its way?",
        "5: if every number is ten times as large, what are the mean and the standard deviation?",
        "6: what does Python put into a list when it is multiplied: copies, or the same thing again?",
    ),
    mistakes=(
        Mistake(
            name="post-norm-drifts",
            message="Look at statement 1 again. What is the very last thing that happens in a post-norm "
            "block?",
            probe=_predicted(1, False),
        ),
        Mistake(
            name="pre-norm-is-normal",
            message="Look at statement 2 again. The norm stands inside, before the sub-layer. Does anything "
            "normalise the sum that leaves the block?",
            probe=_predicted(2, True),
        ),
        Mistake(
            name="stream-is-interrupted",
            message="Look at statement 3 again. In the pre-norm line, follow the x that stands alone: what "
            "is done to it?",
            probe=_predicted(3, False),
        ),
        Mistake(
            name="norm-over-the-sentence",
            message="Look at statement 4 again. It would mean that a word's vector changes when a *later* "
            "word changes. The lecture's layer norm looks at one word at a time.",
            probe=_predicted(4, True),
        ),
        Mistake(
            name="norm-keeps-the-size",
            message="Look at statement 5 again. The standard deviation grows along with the numbers, and "
            "what is divided by it?",
            probe=_predicted(5, False),
        ),
        Mistake(
            name="one-block-counted-often",
            message="Look at statement 6 again. Multiplying a list repeats what stands in it. How many "
            "blocks were made?",
            probe=_predicted(6, True),
        ),
    ),
)
