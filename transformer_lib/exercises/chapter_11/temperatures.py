"""Exercise 11.2: Warm and cold."""

from __future__ import annotations

from transformer_lib.exercises.exercise import Exercise, Mistake
from transformer_lib.exercises.paper import answers, entries


def temperatures():
    return [4 / 7, 256 / 273, 0.0]


TEMPERATURE = Exercise(
    id="11.2",
    title="Warm and cold",
    kind="predict",
    difficulty="medium",
    minutes=8,
    statement=r"""
At some place a model gives three letters the logits $\ln 16$, $\ln 4$ and $0$: at temperature 1 they have
the probabilities $\tfrac{16}{21}, \tfrac{4}{21}, \tfrac{1}{21}$. Work out on paper, with
$p(w) \propto e^{z_w/\tau}$:

1. the probability of the **likeliest** letter at temperature $\tau = 2$,
2. the probability of the **likeliest** letter at temperature $\tau = \tfrac12$,
3. the probability of the **third** letter at $\tau \to 0$.

Return the three as a list of numbers. (Fractions or two decimals.)
""",
    stub='''def temperatures():
    """Three probabilities, in the order of the questions."""
    raise NotImplementedError
''',
    reference=temperatures,
    cases=lambda generator: [()],
    tolerance=0.006,
    hints=(
        "exp(ln 16 / 2) is the root of 16. What is exp(ln 16 / ½)?",
        "Write the three exponentials down, then divide by their sum.",
        "At τ → 0 the differences of the logits grow without limit. Who takes all?",
    ),
    mistakes=(
        Mistake(
            name="temperature-upside-down",
            message="Your first two answers have changed places: the logits are *divided* by the "
            "temperature. A high temperature makes the draw more even.",
            probe=entries(256 / 273, 4 / 7, None, within=0.006),
        ),
        Mistake(
            name="probabilities-divided",
            message="The temperature acts on the logits, before the exponential. Dividing the "
            "probabilities by it does not leave shares.",
            probe=lambda attempt: any(
                entries(*numbers, None, within=0.006)(attempt)
                for numbers in ((8 / 21, 32 / 21), (16 / 21, 16 / 21), (8 / 21, 1.0))
            ),
        ),
        Mistake(
            name="exponentials-returned",
            message="These are exponentials. A probability is a share: divide by the sum of all three.",
            probe=entries(4, 256, None, within=0.006),
        ),
        Mistake(
            name="no-exponential",
            message="You divided the logits by their sum. Then the temperature would cancel; the softmax "
            "takes exponentials first.",
            probe=entries(2 / 3, 2 / 3, None, within=0.006),
        ),
        Mistake(
            name="another-letter",
            message="The first two answers are the shares of another letter. Asked for is the likeliest.",
            probe=lambda attempt: (
                entries(2 / 7, 16 / 273, None, within=0.006)(attempt)
                or entries(1 / 7, 1 / 273, None, within=0.006)(attempt)
            ),
        ),
        Mistake(
            name="cold-is-even",
            message="Look at 3 again. Equal shares are the limit of a *high* temperature. Near 0 the "
            "differences grow.",
            probe=entries(None, None, 1 / 3, within=0.006),
        ),
        Mistake(
            name="third-takes-all",
            message="Look at 3 again. Near 0 one letter takes everything, but the third has the *lowest* "
            "logit.",
            probe=entries(None, None, 1, within=0.006),
        ),
        Mistake(
            name="third-as-at-one",
            message="Look at 3 again. This is its share at temperature 1. At 0 the division has the "
            "largest effect of all.",
            probe=entries(None, None, 1 / 21, within=0.006),
        ),
        Mistake(
            name="no-probabilities",
            message="A probability lies between 0 and 1.",
            probe=lambda attempt: not all(0 <= number <= 1 for number in answers(attempt)),
        ),
    ),
)
