"""Exercise 1.4: A gradient, three steps back."""

from __future__ import annotations

import math

from transformer_lib.exercises.chapter_01.shared import given, numbers
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake
from transformer_lib.exercises.paper import answers, first_wrong


def gradients():
    w = 1.5
    slopes = [w * (1 - h**2) for h in (-0.4, 0.8, 0.5)]  # of the last step, the one before, the first
    return [slopes[0], slopes[0] * slopes[1], slopes[0] * slopes[1] * slopes[2], 0.9**30]


def _with(slope, join=math.prod, fourth=None):
    """The answers with another slope of a step."""
    s = [slope(h) for h in (-0.4, 0.8, 0.5)]
    return numbers(s[0], join(s[:2]), join(s), fourth)


def _rounded(attempt: Attempt) -> bool:
    """Whether every answer is the right one, rounded to two decimals or one."""
    near = zip(answers(attempt), gradients(), strict=True)
    return all(any(abs(a - round(b, places)) < 1e-6 for places in (1, 2, 3, 4)) for a, b in near)


WORK_OUT = Exercise(
    id="1.4",
    title="A gradient, three steps back",
    kind="work out",
    difficulty="medium",
    minutes=10,
    statement=r"""
A recurrent network whose state is a single number: $h_t = \tanh(w\,h_{t-1} + x_t)$ with $w = 1.5$. It has
read three words, and its states were

$$h_1 = 0.5, \qquad h_2 = 0.8, \qquad h_3 = -0.4.$$

The slope of $\tanh$ at $a$ is $1 - \tanh(a)^2$. Work out, by the chain rule,

1. $\partial h_3 / \partial h_2$
2. $\partial h_3 / \partial h_1$
3. $\partial h_3 / \partial h_0$
4. and, for a network with $w = 0.9$ whose states all stayed at 0: $\partial h_{30} / \partial h_0$.

Return the four numbers as a list, with three decimals or more. You may let Python do the arithmetic.
""",
    stub='''def gradients():
    """Four numbers, in the order of the questions."""
    raise NotImplementedError
''',
    reference=gradients,
    cases=lambda generator: [()],
    tolerance=0.002,
    hints=(
        "One step: h₃ = tanh(a) with a = w·h₂ + x₃. So the first answer is the "
        "slope of the tanh at a, times what a does when h₂ moves.",
        "You do not need a or the words: tanh(a) *is* the state, so the slope is 1 − h₃².",
        "Each step back brings one more factor w(1 − hₜ²): first with h₃, then with h₂, then with h₁.",
    ),
    mistakes=(
        Mistake(
            name="weight-left-out",
            message="Each step has two factors. You have the slope of the tanh; by what is hₜ₋₁ "
            "multiplied before it goes into the tanh?",
            probe=_with(lambda h: 1 - h**2),
        ),
        Mistake(
            name="slope-left-out",
            message="Each step has two factors. You have w; the tanh has a slope too, and it is not 1 "
            "where the state is not 0.",
            probe=_with(lambda h: 1.5),
        ),
        Mistake(
            name="not-squared",
            message="The slope of the tanh is 1 minus the *square* of the state.",
            probe=_with(lambda h: 1.5 * (1 - h)),
        ),
        Mistake(
            name="square-of-the-state-alone",
            message="The slope of the tanh is not the square of the state, but what is missing from it to 1.",
            probe=_with(lambda h: 1.5 * h**2),
        ),
        Mistake(
            name="tanh-taken-twice",
            message="The states have been through the tanh already. The slope needs 1 − hₜ², without "
            "another tanh.",
            probe=_with(lambda h: 1.5 * (1 - math.tanh(h) ** 2)),
        ),
        Mistake(
            name="tanh-of-the-weighted-state",
            message="The slope belongs to the point where the tanh was taken: a = w·hₜ₋₁ + xₜ. "
            "You need not compute it: the tanh of it is the state hₜ that came out.",
            probe=given(1, lambda got: abs(got - 1.5 * (1 - math.tanh(1.2) ** 2)) < 0.004),
        ),
        Mistake(
            name="state-before",
            message="The step from h₂ to h₃ has the slope of the tanh that made h₃. You took the "
            "state it started from.",
            probe=numbers(1.5 * 0.36, 1.5 * 0.36 * 1.5 * 0.75, None, None),
        ),
        Mistake(
            name="weight-only-once",
            message="w stands in *every* step, so it comes in as often as there are steps.",
            probe=numbers(1.5 * 0.84, 1.5 * 0.84 * 0.36, 1.5 * 0.84 * 0.36 * 0.75, None),
        ),
        Mistake(
            name="slope-only-once",
            message="Every step goes through a tanh of its own, so there is a slope for each of them.",
            probe=numbers(1.5 * 0.84, 1.5**2 * 0.84, 1.5**3 * 0.84, None),
        ),
        Mistake(
            name="added-up",
            message="The steps were added up. They follow one after the other; the chain rule multiplies.",
            probe=_with(lambda h: 1.5 * (1 - h**2), join=sum),
        ),
        Mistake(
            name="single-steps",
            message="These are the slopes of the single steps. From further back, all steps in between "
            "count.",
            probe=numbers(1.26, 0.54, 1.125, None),
        ),
        Mistake(
            name="order-turned",
            message="The right numbers for 1 to 3, in the opposite order. From h₂ to h₃ it is a single step.",
            probe=numbers(0.76545, 0.6804, 1.26, None),
        ),
        Mistake(
            name="first-step-forgotten",
            message="1 and 2 are right. From h₀ there are three steps to h₃; the one that made "
            "h₁ counts too.",
            probe=numbers(1.26, 0.6804, 0.6804, None),
        ),
        Mistake(
            name="multiplied-by-the-steps",
            message="Look at 4 again: thirty equal factors one after the other are not thirty times the "
            "factor.",
            probe=given(4, lambda got: abs(got - 27) < 0.1),
        ),
        Mistake(
            name="one-step-off",
            message="Look at 4 again, and count the steps from h₀ to h₃₀.",
            probe=given(4, lambda got: min(abs(got - 0.9**29), abs(got - 0.9**31)) < 0.0005),
        ),
        Mistake(
            name="does-not-fade",
            message="Look at 4 again. At state 0 the slope of the tanh is 1, so it takes nothing away. "
            "What does w do?",
            probe=given(4, lambda got: abs(got - 1) < 0.001),
        ),
        Mistake(
            name="a-single-step",
            message="Look at 4 again: that is one step. There are thirty of them.",
            probe=given(4, lambda got: abs(got - 0.9) < 0.001),
        ),
        Mistake(
            name="zero-states-zero-slope",
            message="Look at 4 again. The states are 0, but the slope of the tanh there is not: it is the "
            "steepest place of the whole curve.",
            probe=given(4, lambda got: got == 0),
        ),
        Mistake(
            name="rounded-too-far",
            message="Right as far as it goes, but rounded too far: give three decimals or more.",
            probe=_rounded,
        ),
        Mistake(
            name="wrong-end",
            message="You began with the step that made h₁. One step back from h₃ is the step that made h₃.",
            probe=numbers(1.125, 0.6075, 0.76545, None),
        ),
        Mistake(
            name="one-step-wrong",
            message="Look at 1 again. Two factors: how steep the tanh is where h₃ came out, and what hₜ₋₁ is "
            "multiplied by on its way in.",
            probe=first_wrong(1, gradients(), 0.002),
        ),
        Mistake(
            name="two-steps-wrong",
            message="1 is right. Look at 2 again: from h₁ to h₃ there are two steps, each with two factors "
            "of its own.",
            probe=first_wrong(2, gradients(), 0.002),
        ),
        Mistake(
            name="three-steps-wrong",
            message="1 and 2 are right. Look at 3 again: one step more than in 2. Which state did it make?",
            probe=first_wrong(3, gradients(), 0.002),
        ),
        Mistake(
            name="thirty-steps-wrong",
            message="1 to 3 are right. Look at 4 again: what is the factor of one step, where the state is "
            "0? How often does it come in?",
            probe=first_wrong(4, gradients(), 0.002),
        ),
    ),
)
