"""Exercise 10.1: Twice as many words."""

from __future__ import annotations

from transformer_lib.exercises.exercise import Exercise, Mistake
from transformer_lib.exercises.paper import entries


def factors():
    return [4.0, 4.0, 4.0, 2.0, 2.0, 2.0]


def _look_again(number: int, name: str, wrong: float, message: str) -> Mistake:
    """This wrong factor at one question (from 1), whatever the other answers are."""
    wanted = [None] * 6
    wanted[number - 1] = wrong
    return Mistake(name=name, message=f"Look at {number} again. {message}", probe=entries(*wanted))


DOUBLED = Exercise(
    id="10.1",
    title="Twice as many words",
    kind="predict",
    difficulty="easy",
    minutes=6,
    statement=r"""
A text grows from $n$ to $2n$ words, and $n$ is large already: say from 8,000 to 16,000. All words are
read at once. By about which factor does each of these grow?

1. the **time** of attention written as the formula says, $\operatorname{softmax}(QK^\top/\sqrt{d_k})\,V$
2. the **memory** that it needs at its peak
3. the floating-point operations of **fused** attention, which computes the same output in small blocks
   and never stores the matrix of weights
4. the **memory** that fused attention needs at its peak
5. the floating-point operations of the **feed-forward network** of the same layer
6. the bytes of all **keys and values** of the text, kept for writing on

Return your six factors as a list of numbers, "twice" is `2`. Do not run anything before you have
answered: a guess is fine.
""",
    stub='''def factors():
    """Six factors, in the order of the questions."""
    raise NotImplementedError
''',
    reference=factors,
    cases=lambda generator: [()],
    tolerance=0.01,
    hints=(
        "How many pairs of words are there among n words? And among 2n?",
        "Which of the six have to do with pairs of words, and which with each word by itself?",
        "Fused attention still looks at every pair. What does it not do with them?",
    ),
    mistakes=(
        Mistake(
            name="upside-down",
            message="These are the factors from 2n back to n. The text *grows*.",
            probe=entries(1 / 4, 1 / 4, 1 / 4, 1 / 2, 1 / 2, 1 / 2),
        ),
        Mistake(
            name="exponents",
            message="These are the powers of n, not the factors. By what does n² grow when n doubles?",
            probe=entries(2, 2, 2, 1, 1, 1),
        ),
        Mistake(
            name="all-quadratic",
            message="Not everything in a Transformer looks at pairs of words. Which of the six belong to "
            "each word by itself?",
            probe=entries(4, 4, 4, 4, 4, 4),
        ),
        Mistake(
            name="all-linear",
            message="Every word is compared with every word. How many comparisons are there for n words, "
            "and how many for 2n?",
            probe=entries(2, 2, 2, 2, 2, 2),
        ),
        _look_again(
            1, "time-linear", 2, "Twice as many words ask, and each of them asks twice as many words."
        ),
        _look_again(
            1, "time-cubic", 8, "Pairs are counted, not triples: who asks, and who is asked. d_k stays."
        ),
        _look_again(
            2, "memory-linear", 2, "The formula makes a matrix with a row and a column for each word."
        ),
        _look_again(2, "memory-cubic", 8, "A matrix has two axes that grow with the text, not three."),
        _look_again(
            3,
            "fused-fewer-flops",
            2,
            "Fused attention gives exactly the same numbers, so every pair of words still has its score. "
            "It saves something else.",
        ),
        _look_again(3, "fused-free", 1, "Fused attention is no free lunch: each pair still has its score."),
        _look_again(
            4,
            "fused-stores-weights",
            4,
            "What would have to be stored for that? Read question 3 again: the matrix of weights never "
            "exists.",
        ),
        _look_again(
            4, "fused-memory-constant", 1, "The blocks stay small, but the output has a row for each word."
        ),
        _look_again(
            5, "network-quadratic", 4, "The feed-forward network looks at each word by itself (chapter 5)."
        ),
        _look_again(5, "network-constant", 1, "Its weights stay the same, but it is applied to every word."),
        _look_again(
            6, "cache-quadratic", 4, "What is kept is one key and one value for each word, not for each pair."
        ),
        _look_again(6, "cache-constant", 1, "Every word of the text adds a key and a value."),
    ),
)
