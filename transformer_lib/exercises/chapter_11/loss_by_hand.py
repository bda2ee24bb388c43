"""Exercise 11.3: Loss and perplexity, by hand."""

from __future__ import annotations

import math

from transformer_lib.exercises.exercise import Exercise, Mistake
from transformer_lib.exercises.paper import answers, entries


def loss_by_hand():
    bits = [1, 2, 3, 2]  # of 1/2, 1/4, 1/8, 1/4
    mean = sum(bits) / len(bits)
    return [mean * math.log(2), 2**mean, sum(bits) / 10]


_NATS = 2 * math.log(2)

WORK_OUT = Exercise(
    id="11.3",
    title="Loss and perplexity, by hand",
    kind="work out",
    difficulty="easy",
    minutes=7,
    statement=r"""
A model reads a text of four tokens, ten characters in all. At each place it gives the token that really
comes next these probabilities:

$$\tfrac12, \quad \tfrac14, \quad \tfrac18, \quad \tfrac14 .$$

Work out on paper:

1. its loss: the mean of $-\ln p$, in **nats per token** (with $\ln 2 \approx 0.693$),
2. its **perplexity**, the exponential of the loss in nats,
3. the same quality in **bits per character**. (A bit is $-\log_2 \tfrac12$; the loss in bits is the one in
   nats divided by $\ln 2$.)

Return the three as a list of numbers. Two decimals are enough.
""",
    stub='''def loss_by_hand():
    """Nats per token, perplexity, bits per character."""
    raise NotImplementedError
''',
    reference=loss_by_hand,
    cases=lambda generator: [()],
    tolerance=0.01,
    hints=(
        "−ln(1/8) = 3 ln 2. Write all four in multiples of ln 2, then take the mean.",
        "exp(n · ln 2) is 2 to the power n.",
        "For 3: how many bits does the whole text cost? And how many characters share that cost?",
    ),
    mistakes=(
        Mistake(
            name="probabilities-averaged",
            message="You took the mean of the probabilities and then the logarithm. The logarithm comes "
            "first, for each token; then the mean.",
            probe=entries(-math.log(9 / 32), None, None),
        ),
        Mistake(
            name="sum-for-mean",
            message="Your first number is the sum over the four tokens. The loss is their mean.",
            probe=entries(8 * math.log(2), None, None),
        ),
        Mistake(
            name="sign-missing",
            message="The logarithm of a probability is negative; the loss has a minus in front.",
            probe=entries(-_NATS, None, None),
        ),
        Mistake(
            name="in-bits",
            message="Your first number is in bits. Nats come from the natural logarithm.",
            probe=entries(2, None, None),
        ),
        Mistake(
            name="base-ten",
            message="Your first number comes from logarithms to base 10. Nats use the natural logarithm.",
            probe=entries(2 * math.log10(2), None, None),
        ),
        Mistake(
            name="exponential-of-bits",
            message="Your perplexity is e to the loss in *bits*. Take e to the loss in nats, or 2 to the "
            "loss in bits.",
            probe=entries(None, math.exp(2), None),
        ),
        Mistake(
            name="two-to-the-nats",
            message="Your perplexity is 2 to the loss in *nats*. Base and unit go together.",
            probe=entries(None, 2**_NATS, None),
        ),
        Mistake(
            name="inverses-averaged",
            message="Your perplexity is a mean of 1/p over the tokens. It is the exponential of the mean "
            "*logarithm*: a geometric mean.",
            probe=lambda attempt: entries(None, 4.5, None)(attempt) or entries(None, 32 / 9, None)(attempt),
        ),
        Mistake(
            name="characters-multiplied",
            message="Look at 3 again. A token is longer than a character here, so the cost *per character* "
            "is the smaller one.",
            probe=entries(None, None, 5),
        ),
        Mistake(
            name="nats-per-character",
            message="Look at 3 again. That is nats per character; bits were asked for.",
            probe=entries(None, None, 8 * math.log(2) / 10),
        ),
        Mistake(
            name="still-per-token",
            message="Look at 3 again. That is the loss in bits per *token*.",
            probe=entries(None, None, 2),
        ),
        Mistake(
            name="mean-over-the-wrong-count",
            message="Look at 3 again. The mean per token was divided by the ten characters. It is the "
            "*whole* cost that they share.",
            probe=lambda attempt: answers(attempt)[2] > 0 and entries(None, None, 0.2, within=0.005)(attempt),
        ),
    ),
)
