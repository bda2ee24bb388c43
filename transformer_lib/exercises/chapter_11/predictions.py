"""Exercise 11.1: What do you believe about training?"""

from __future__ import annotations

from transformer_lib.exercises.exercise import Exercise, Mistake


def predictions():
    return [False, False, False, True, False, False, True]


def _answers(f):
    """The learner's answers as booleans, where they can be read as such."""
    given = f()
    given = given.tolist() if hasattr(given, "tolist") else given
    if not isinstance(given, list | tuple):
        return given
    given = [entry.item() if hasattr(entry, "item") else entry for entry in given]
    return [bool(entry) for entry in given] if all(entry in (0, 1) for entry in given) else given


def _predicted(number: int, answer: bool):
    def probe(attempt) -> bool:
        got = attempt.cases[0].got
        return len(got) == 7 and got[number - 1] is answer

    return probe


PREDICT = Exercise(
    id="11.1",
    title="What do you believe about training?",
    kind="predict",
    difficulty="easy",
    minutes=5,
    statement=r"""
Seven statements. Which are true?

1. Model A predicts letters with a loss of 1.6 nats per letter. Model B predicts pieces of words with a
   loss of 3.2 nats per piece. So A is the better model of the text.
2. A model that goes on learning from the same text for ever gets better and better on *other* text of the
   same kind.
3. The likeliest text of all is the one that reads most like real text.
4. A temperature below 1 makes the likeliest next letter even likelier, and never changes which one that is.
5. Gradients are clipped at length 1. A gradient of length 0.2 is stretched to length 1.
6. A run is killed, and its weights were saved. Continued from those weights, it ends with the same weights
   as a run that was never stopped.
7. Two computers read one half of each batch each, and average their gradients. The losses are those of one
   computer that reads the whole batch, up to rounding.

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
        "1: what is a loss per piece worth when a piece is three letters long?",
        "4: dividing all logits by one number changes their distances. Does it change their order?",
        "5 and 6: read the words exactly. *Clipped* is not *set to*. And is a run nothing but its weights?",
    ),
    mistakes=(
        Mistake(
            name="losses-of-different-units",
            message="Look at statement 1 again. One loss is counted for each letter, the other for each "
            "piece. How many letters has a piece?",
            probe=_predicted(1, True),
        ),
        Mistake(
            name="learning-by-heart-is-learning",
            message="Look at statement 2 again. What is the easiest way to a low loss on a short text that "
            "is read hundreds of times?",
            probe=_predicted(2, True),
        ),
        Mistake(
            name="likeliest-is-best",
            message="Look at statement 3 again. If people always wrote the likeliest next word, could "
            "anything in a text be news?",
            probe=_predicted(3, True),
        ),
        Mistake(
            name="temperature-reorders",
            message="Look at statement 4 again. All logits are divided by the same positive number. What "
            "happens to the largest of them?",
            probe=_predicted(4, False),
        ),
        Mistake(
            name="clipping-stretches",
            message="Look at statement 5 again. A speed limit does not make slow cars faster.",
            probe=_predicted(5, True),
        ),
        Mistake(
            name="weights-are-all",
            message="Look at statement 6 again. What else does the optimiser remember from step to step, "
            "and who remembers which part of the text comes next?",
            probe=_predicted(6, True),
        ),
        Mistake(
            name="halves-differ-from-the-whole",
            message="Look at statement 7 again. The loss of a batch is a mean over its words. What is the "
            "mean of the means of two equal halves?",
            probe=_predicted(7, False),
        ),
    ),
)
