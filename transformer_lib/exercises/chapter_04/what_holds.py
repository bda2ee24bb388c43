"""Exercise 4.1: Who bites whom?"""

from __future__ import annotations

from transformer_lib.exercises.chapter_02.shared import plain
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def what_holds():
    return [True, True, False, False, True, False]


def _answers(f):
    """The learner's answers as booleans, where they can be read as such."""
    given = plain(f())
    if not isinstance(given, list) or any(entry not in (0, 1) for entry in given):
        return given
    return [bool(entry) for entry in given]


def _answered(number: int, answer: bool):
    def probe(attempt: Attempt) -> bool:
        got = attempt.cases[0].got
        return len(got) == 6 and got[number - 1] is answer

    return probe


PREDICT = Exercise(
    id="4.1",
    title="Who bites whom?",
    kind="predict",
    difficulty="medium",
    minutes=7,
    statement=r"""
Two sentences, *Dog bites man* and *Man bites dog*, go through self-attention. A word has the same vector
wherever it stands, and no position is added. Which statements hold for *every* choice of the matrices?

1. The three outputs are the same three vectors in both sentences, in another order.
2. After two layers of self-attention, each followed by a feed-forward network that works on one word at a
   time, the mean of the three outputs is still the same for both sentences.
3. Add one and the same vector $p$ to all three words. Now the two sentences can be told apart.

For the last three, words are read from left to right: a word may read itself and the words before it, and
none after it.

4. The output of *dog* is the same in both sentences.
5. One layer, a longer sentence: the output of the last word stays the same when the words before it change
   places.
6. The same with two layers.

Return your six answers as a list of `True` and `False`.
""",
    stub='''def what_holds():
    """Six answers, True or False, in the order of the statements."""
    raise NotImplementedError
''',
    reference=what_holds,
    cases=lambda generator: [()],
    run=_answers,
    hints=(
        "1 and 2: the output of a word is a sum over all words of the sentence. Does the order of the terms "
        "matter? And what can a second layer know that the first did not?",
        "3: what is different from word to word after the same vector was added to all?",
        "4: which words can *dog* read in *Dog bites man*, and which in *Man bites dog*?",
        "5 and 6: the last word may read everything. In the first layer it reads the words; in the second "
        "it reads *outputs*. Did those of the other words stay the same?",
    ),
    mistakes=(
        Mistake(
            name="order-seen-by-attention",
            message="Look at statement 1 again. Every output is a sum over the words of the sentence, with "
            "weights made from the words alone. Where could the order enter?",
            probe=_answered(1, False),
        ),
        Mistake(
            name="order-seen-by-depth",
            message="Look at statement 2 again. If the first layer hands on the same vectors in another "
            "order, what can the network on single words, and then the second layer, make of it?",
            probe=_answered(2, False),
        ),
        Mistake(
            name="same-vector-tells-places",
            message="Look at statement 3 again. After adding one p to all words, *dog* still has one and "
            "the same vector in both sentences. What has changed for the order?",
            probe=_answered(3, True),
        ),
        Mistake(
            name="mask-changes-nothing",
            message="Look at statement 4 again. In one of the sentences *dog* stands first and can read "
            "only itself. In the other?",
            probe=_answered(4, True),
        ),
        Mistake(
            name="last-word-sees-order",
            message="Look at statement 5 again. The last word may read all words, and it reads them as "
            "every word does without a mask.",
            probe=_answered(5, False),
        ),
        Mistake(
            name="mask-and-depth-change-nothing",
            message="Look at statement 6 again. The second layer reads the outputs of the first. By "
            "statement 4, do those of the other words depend on where they stand?",
            probe=_answered(6, True),
        ),
    ),
)
