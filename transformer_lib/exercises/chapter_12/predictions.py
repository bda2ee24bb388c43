"""Exercise 12.1: What changed since the lecture?"""

from __future__ import annotations

from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def predictions():
    return [False, True, False, True, True, False]


def _booleans(f):
    """The learner's answers as booleans, where they can be read as such."""
    given = f()
    given = given.tolist() if hasattr(given, "tolist") else given
    if not isinstance(given, list | tuple) or any(entry not in (0, 1) for entry in given):
        return given
    return [bool(entry) for entry in given]


def _predicted(number: int, answer: bool):
    def probe(attempt: Attempt) -> bool:
        got = attempt.cases[0].got
        return len(got) == 6 and got[number - 1] is answer

    return probe


PREDICT = Exercise(
    id="12.1",
    title="What changed since the lecture?",
    kind="predict",
    difficulty="easy",
    minutes=6,
    statement=r"""
Published models are built from the parts of this book, with changes. Which of these statements hold?

1. In GPT-2 and in Llama the scores are divided by another number than $\sqrt{d_k}$.
2. A Llama has rotary positions only. When all words of a text move three places on, and nothing else
   changes, its logits stay what they were (up to rounding).
3. The same is true of GPT-2, whose positions are a learned table.
4. A search with a published encoder can put first a sentence that has no word in common with the
   question.
5. To such an encoder, *Dog bites man* and *Man bites dog* are more alike than most sentences of the same
   meaning are.
6. Such an encoder gives a sentence and its denial ("is open", "is not open") very different vectors.

Return your six answers as a list of `True` and `False`. A guess is fine; the chapter measures each.
""",
    stub='''def predictions():
    """Six answers, True or False, in the order of the statements."""
    raise NotImplementedError
''',
    reference=predictions,
    cases=lambda generator: [()],
    run=_booleans,
    hints=(
        "1: chapter 3 gave the reason for the root. Does it depend on the year?",
        "2 and 3: of what does a score depend when queries and keys are turned, and of what when a vector "
        "of the place is added?",
        "5 and 6: the vector of a sentence is a mean over its words. Which words do the two sentences share?",
    ),
    mistakes=(
        Mistake(
            name="another-scale",
            message="Look at statement 1 again. The scale keeps the spread of a dot product at 1, whatever "
            "model it is in. Has anything about dot products changed?",
            probe=_predicted(1, True),
        ),
        Mistake(
            name="rotary-sees-the-place",
            message="Look at statement 2 again. A rotation by place m against one by place n: what of "
            "m and n is left in the score?",
            probe=_predicted(2, False),
        ),
        Mistake(
            name="learned-table-sees-offsets-only",
            message="Look at statement 3 again. Row 0 and row 3 of a learned table are two vectors that "
            "were learned one by one. Why should they act alike?",
            probe=_predicted(3, True),
        ),
        Mistake(
            name="search-needs-shared-words",
            message="Look at statement 4 again. The encoder compares vectors, not letters. Can two words "
            "have like vectors without sharing a letter?",
            probe=_predicted(4, False),
        ),
        Mistake(
            name="order-weighs-much",
            message="Look at statement 5 again. Chapter 4 measured that pair. A mean over the same three "
            "words is hard to move.",
            probe=_predicted(5, False),
        ),
        Mistake(
            name="denial-weighs-much",
            message="Look at statement 6 again. Both sentences are about the same things. How much can one "
            "short word move the mean of all?",
            probe=_predicted(6, True),
        ),
    ),
)
