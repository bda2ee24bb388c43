"""Exercise 1.1: Who has to wait?"""

from __future__ import annotations

from transformer_lib.exercises.chapter_01.shared import given, numbers
from transformer_lib.exercises.exercise import Exercise, Mistake
from transformer_lib.exercises.paper import first_wrong


def steps():
    return [50, 1, 40, 1, 50, 50]


def _is(*wanted: float):
    return lambda got: any(abs(got - w) < 0.01 for w in wanted)


def _is_not(wanted: float):
    return lambda got: abs(got - wanted) > 0.01


PREDICT = Exercise(
    id="1.1",
    title="Who has to wait?",
    kind="predict",
    difficulty="easy",
    minutes=5,
    statement=r"""
A sentence has 50 words. A recurrent network reads it: it starts from an empty state $h_0$, and one *step*
makes $h_t$ from $h_{t-1}$ and word $t$. A layer of attention reads the same sentence: one *step* compares
every word with every word and takes all the weighted averages. How many steps are there?

1. The recurrent network reads the whole sentence. How many steps have to be done **one after the other**?
2. The layer of attention reads the whole sentence. How many steps one after the other?
3. Word 10 has been read: it is in $h_{10}$. How many more steps of the recurrent network until it can have
   an effect on $h_{50}$?
4. How many steps of attention until word 10 has an effect on the output of word 50?
5. The state of the recurrent network becomes twice as wide. How many steps now, in question 1?
6. The recurrent network reads 32 such sentences side by side, on a machine with room for all of them. How
   many steps one after the other, until all are read?

Return your six answers as a list of numbers. A guess is fine: the chapter measures all six.
""",
    stub='''def steps():
    """Six numbers, in the order of the questions."""
    raise NotImplementedError
''',
    reference=steps,
    cases=lambda generator: [()],
    tolerance=0.01,
    hints=(
        "1: can step 17 begin before step 16 has ended? What does it need from there?",
        "2 and 4: to compare word 50 with word 10, does anyone need the result of another comparison?",
        "5 and 6: a wider state and more sentences make each step *bigger*. Do they make more steps?",
    ),
    mistakes=(
        Mistake(
            name="networks-confused",
            message="Look at 1 and 2 again: they have changed places. Which of the two needs its own last "
            "result before it can go on?",
            probe=numbers(1, 50, None, None, None, None),
        ),
        Mistake(
            name="recurrent-steps-in-parallel",
            message="Look at 1 again. Step t starts from the state that step t − 1 has left. Can all of "
            "them be done at the same time?",
            probe=given(1, _is(1)),
        ),
        Mistake(
            name="steps-between-the-words",
            message="Look at 1 again. The first word needs a step too: it starts from the empty state h₀.",
            probe=given(1, _is(49)),
        ),
        Mistake(
            name="words-against-words",
            message="Look at 2 again. 50 words against 50 words are many comparisons. But the question is "
            "how many have to *wait* for another one.",
            probe=given(2, _is(2500, 1225, 2450)),
        ),
        Mistake(
            name="attention-word-by-word",
            message="Look at 2 again. Does the reading of word 17 need what word 16 has read?",
            probe=given(2, _is(50, 49)),
        ),
        Mistake(
            name="distance-off-by-one",
            message="Look at 3 again. Start from h₁₀, where the word already is: one step leads to "
            "h₁₁, two to h₁₂. How many to h₅₀?",
            probe=given(3, _is(39, 41)),
        ),
        Mistake(
            name="distance-of-the-whole-sentence",
            message="Look at 3 again. The word starts at place 10, not at the beginning of the sentence.",
            probe=given(3, _is(50, 49)),
        ),
        Mistake(
            name="recurrent-short-cut",
            message="Look at 3 again. The state h₅₀ is made from h₄₉ and word 50 alone. By "
            "which way could word 10 get there?",
            probe=given(3, _is(0, 1, 2)),
        ),
        Mistake(
            name="attention-passes-on",
            message="Look at 4 again. The output of word 50 is an average over *all* words. Word 10 is "
            "one of them.",
            probe=given(4, _is(39, 40, 41, 50, 49, 10)),
        ),
        Mistake(
            name="wider-means-other-steps",
            message="Look at 5 again. A wider state changes how much work is in a step. Does it change "
            "how many steps there are?",
            probe=given(5, _is_not(50)),
        ),
        Mistake(
            name="sentences-queue",
            message="Look at 6 again. Different sentences need nothing from each other, so step 1 of all "
            "32 can be done together. And then?",
            probe=given(6, _is(1600, 1568, 81)),
        ),
        Mistake(
            name="batch-removes-the-waiting",
            message="Look at 6 again. Side by side, the 32 sentences fill the machine better. But does "
            "any single sentence get by with fewer steps?",
            probe=given(6, lambda got: got < 49.5),
        ),
        Mistake(
            name="recurrent-steps-wrong",
            message="Look at 1 again. One step reads one word, and needs the state that the step before has "
            "left.",
            probe=first_wrong(1, steps(), 0.01),
        ),
        Mistake(
            name="attention-steps-wrong",
            message="Look at 2 again. One step compares *all* pairs and takes all averages, as the text "
            "above the questions says.",
            probe=first_wrong(2, steps(), 0.01),
        ),
        Mistake(
            name="recurrent-distance-wrong",
            message="Look at 3 again. Each further step hands the news on by one place. How many places are "
            "there from the state h₁₀ to the state h₅₀?",
            probe=first_wrong(3, steps(), 0.01),
        ),
        Mistake(
            name="attention-distance-wrong",
            message="Look at 4 again. One step compares every word with every word; word 50 with word 10 is "
            "one of these pairs.",
            probe=first_wrong(4, steps(), 0.01),
        ),
        Mistake(
            name="batch-steps-wrong",
            message="Look at 6 again. The sentences need nothing from each other, and there is room for all "
            "of them. So what is left that has to wait?",
            probe=first_wrong(6, steps(), 0.01),
        ),
    ),
)
