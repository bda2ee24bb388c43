"""Exercise 6.1: With the answer in sight."""

from __future__ import annotations

from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def predictions():
    return [True, False, False, False, True, True, False]


def _answers(f):
    """The learner's answers as booleans, where they can be read as such."""
    given = answer = f()
    if hasattr(answer, "tolist"):  # tensors and arrays
        answer = answer.tolist()
    if not isinstance(answer, list | tuple):
        return given
    answer = [entry.item() if hasattr(entry, "item") else entry for entry in answer]
    return [bool(entry) for entry in answer] if all(entry in (0, 1) for entry in answer) else given


def _predicted(number: int, answer: bool):
    def probe(attempt: Attempt) -> bool:
        got = attempt.cases[0].got
        return isinstance(got, list) and len(got) == 7 and got[number - 1] is answer

    return probe


PREDICT = Exercise(
    id="6.1",
    title="With the answer in sight",
    kind="predict",
    difficulty="easy",
    minutes=5,
    statement=r"""
A language model reads a text and says at **every** place which word comes next. In training, each of its
answers is compared with the word that really follows in that text. The words read each other by
self-attention. *Masked* means: a word reads itself and the words before it, and its scores for all later
words are set to $-\infty$ before the softmax. Which statements are true?

1. Trained without a mask, the model reaches a much lower loss than trained with one.
2. Trained without a mask, it also writes better text afterwards, word after word.
3. All of six layers are masked. Word 3 can still learn something about word 5, by a detour: from word 4,
   which stands in between.
4. Five of the six layers are masked. Then no word can learn anything about later words.
5. In a masked layer, the weights with which a word reads still sum to 1.
6. A masked model reads 100 words once. Its 100 answers are the same as if it had read the first word, then
   the first two words, then the first three, and so on, 100 times in all.
7. A short sentence is filled up with padding to the length of a long one, and there is no mask at all. The
   outputs of the short sentence's words are the same as without the padding.

Return your seven answers as a list of `True` and `False`.
""",
    stub='''def predictions():
    """Seven answers, True or False, in the order of the statements."""
    raise NotImplementedError
''',
    reference=predictions,
    cases=lambda generator: [()],
    run=_answers,
    hints=(
        "1 and 2: in training, the word that is asked for is a part of the text that the model reads. And "
        "when it writes?",
        "3 and 4: whatever word 3 learns from word 4 went into word 4 in an earlier layer. What could word "
        "4 know there?",
        "5 and 7: over which words does the sum below the softmax's fraction run?",
    ),
    mistakes=(
        Mistake(
            name="no-gain-from-the-answer",
            message="Look at statement 1 again. At place 7 the model is asked for word 8. Without a mask, "
            "which words does it read while it answers?",
            probe=_predicted(1, False),
        ),
        Mistake(
            name="loss-is-all",
            message="Look at statement 2 again. When the model writes, the next word does not exist yet. "
            "Is the skill that lowered its loss of any use then?",
            probe=_predicted(2, True),
        ),
        Mistake(
            name="leak-by-detour",
            message="Look at statement 3 again. For a detour, word 4 would have to know something about "
            "word 5. In which layer could it have learnt that?",
            probe=_predicted(3, True),
        ),
        Mistake(
            name="one-hole-is-harmless",
            message="Look at statement 4 again. In the one layer without a mask every word reads every "
            "word. What do the other layers do with what was read there?",
            probe=_predicted(4, True),
        ),
        Mistake(
            name="rows-lose-weight",
            message="Look at statement 5 again. The mask comes *before* the softmax. What does a softmax "
            "always do with a row of scores, whatever they are?",
            probe=_predicted(5, False),
        ),
        Mistake(
            name="one-pass-differs",
            message="Look at statement 6 again. What does the answer at place 3 depend on, in a masked "
            "model? Does it matter whether words 4 to 100 are there?",
            probe=_predicted(6, False),
        ),
        Mistake(
            name="padding-is-nothing",
            message="Look at statement 7 again. Padding has a vector too, and so a key and a value. What "
            "keeps the words from reading it?",
            probe=_predicted(7, True),
        ),
    ),
)
