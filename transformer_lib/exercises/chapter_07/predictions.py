"""Exercise 7.1: More heads, more what?"""

from __future__ import annotations

from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def predictions():
    return [False, False, True, False, True, False]


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
        return isinstance(got, list) and len(got) == 6 and got[number - 1] is answer

    return probe


PREDICT = Exercise(
    id="7.1",
    title="More heads, more what?",
    kind="predict",
    difficulty="easy",
    minutes=5,
    statement=r"""
A layer works on word vectors of 384 numbers. It has **one head** of width 384: $W^Q$, $W^K$ and $W^V$ of
$384 \times 384$ numbers each, and a last matrix $W^O$ of the same size. Now it gets **twelve heads** of
width 32 instead. Their outputs are put side by side and go through $W^O$, as before. Which statements are
true?

1. The layer with twelve heads has more numbers to learn.
2. Its matrix products take more multiplications.
3. It computes more attention weights $\alpha_{ij}$.
4. One head alone can give the full weight 1 to two different words at the same time.
5. With twelve heads, a word can give weight 1 to *its previous word* in one head, and weight 1 to *the
   first word* in another.
6. Twelve heads after training always attend to twelve different things.

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
        "1: the rows of twelve matrices of 32 × 384, below one another, make one matrix. Of which size?",
        "3: every head has a table of weights of its own, words × words.",
        "4: what do the weights with which a word reads sum to, in one head?",
    ),
    mistakes=(
        Mistake(
            name="more-to-learn",
            message="Look at statement 1 again. Each of the twelve heads is twelve times narrower: how many "
            "rows do their twelve matrices W^Q have together?",
            probe=_predicted(1, True),
        ),
        Mistake(
            name="more-multiplications",
            message="Look at statement 2 again. There are twelve times as many dot products of queries with "
            "keys, but how many multiplications does each of them take?",
            probe=_predicted(2, True),
        ),
        Mistake(
            name="as-many-weights",
            message="Look at statement 3 again. Narrower heads make each score cheaper, but do they make "
            "the table of scores of one head smaller?",
            probe=_predicted(3, False),
        ),
        Mistake(
            name="full-weight-twice",
            message="Look at statement 4 again. In one head the weights with which a word reads sum to 1. "
            "What is left once one word has got 1?",
            probe=_predicted(4, True),
        ),
        Mistake(
            name="heads-share-a-softmax",
            message="Look at statement 5 again. Does the softmax of one head know anything of the others?",
            probe=_predicted(5, False),
        ),
        Mistake(
            name="always-different",
            message="Look at statement 6 again. Nothing in the formula keeps two heads apart: they start "
            "from different random numbers, and that is all.",
            probe=_predicted(6, True),
        ),
    ),
)
