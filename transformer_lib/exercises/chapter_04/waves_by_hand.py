"""Exercise 4.2: Waves by hand."""

from __future__ import annotations

import math

from transformer_lib.exercises.exercise import Exercise, Mistake
from transformer_lib.exercises.paper import answers, entries, first_wrong


def waves_by_hand():
    first, last = math.tau, math.tau * 10**3  # tau is 2π; 10000 to the power 6/8 is 10 to the power 3
    sine = 0.6 * 0.6 + 0.8 * 0.8
    cosine = -0.6 * 0.8 + 0.8 * 0.6
    return [first, last, sine, cosine]


_TURN = math.tau

BY_HAND = Exercise(
    id="4.2",
    title="Waves by hand",
    kind="work out",
    difficulty="medium",
    minutes=10,
    statement=r"""
Word vectors of width $D = 8$ get sinusoidal positions with the base 10000: pair $i$, that is columns $2i$
and $2i + 1$, holds $\sin(pos\,\theta_i)$ and $\cos(pos\,\theta_i)$ with $\theta_i = 10000^{-2i/D}$, for $i =
0, 1, 2, 3$. Work out on paper:

1. the wavelength of the first pair ($i = 0$), in words
2. the wavelength of the last pair ($i = 3$), in words

At some position one pair holds $(\sin, \cos) = (0.6, 0.8)$. Some words further on it has turned by an angle
whose sine is 0.8 and whose cosine is 0.6. Which numbers does it hold there?

3. the sine
4. the cosine

Return the four numbers as a list. An accuracy of one percent is enough.
""",
    stub='''def waves_by_hand():
    """Four numbers: two wavelengths in words, then a sine and a cosine."""
    raise NotImplementedError
''',
    reference=waves_by_hand,
    cases=lambda generator: [()],
    tolerance=0.01,
    hints=(
        "A wavelength is how many words it takes until the angle has grown by a full turn, 2π.",
        "For i = 3 the exponent 2i/D is 6/8, and 10000 is 10 to the power 4.",
        "sin(a + b) = sin a cos b + cos a sin b, and cos(a + b) = cos a cos b − sin a sin b.",
    ),
    mistakes=(
        Mistake(
            name="pairs-counted-from-one",
            message="Your wavelengths are those of the pairs i = 1 and i = 4. The pairs are counted from 0.",
            probe=entries(10 * _TURN, 10000 * _TURN, None, None),
        ),
        Mistake(
            name="last-wave-at-the-base",
            message="2π · 10000 would belong to 2i = D. The last pair does not quite get there: what is "
            "2i/D for it?",
            probe=entries(None, 10000 * _TURN, None, None),
        ),
        Mistake(
            name="exponent-doubled",
            message="Your second wavelength is 2π to the million: the exponent was taken twice as large. "
            "The i in 2i/D counts pairs, not columns.",
            probe=entries(None, 1e6 * _TURN, None, None),
        ),
        Mistake(
            name="exponent-halved",
            message="Your second wavelength belongs to the exponent i/D. Where is the 2?",
            probe=entries(None, 10000 ** (3 / 8) * _TURN, None, None),
        ),
        Mistake(
            name="two-pi-missing",
            message="After 1/θ words the angle has grown by 1 radian. A full turn takes longer.",
            probe=entries(1, 1000, None, None),
        ),
        Mistake(
            name="speeds-instead-of-lengths",
            message="These are speeds, per word: the second is the smaller one. A slow wave is a "
            "*long* wave.",
            probe=lambda attempt: any(
                entries(first, None, None, None)(attempt) and 0 < answers(attempt)[1] < 0.01
                for first in (1, 1 / _TURN, _TURN)
            ),
        ),
        Mistake(
            name="turned-backwards",
            message="Your pair turned the other way: back by that angle, towards earlier words.",
            probe=entries(None, None, -0.28, 0.96),
        ),
        Mistake(
            name="sign-of-one-term",
            message="One of your two numbers has a wrong sign inside: the sine of a sum has a plus, the "
            "cosine of a sum a minus. Check: the two squares must add up to 1.",
            probe=lambda attempt: (
                entries(None, None, 1, 0.96)(attempt) or entries(None, None, -0.28, 0)(attempt)
            ),
        ),
        Mistake(
            name="numbers-added",
            message="Angles add up; sines and cosines do not. No sine is larger than 1.",
            probe=entries(None, None, 1.4, 1.4),
        ),
        Mistake(
            name="numbers-multiplied",
            message="Sine times sine and cosine times cosine are only two of the four products.",
            probe=entries(None, None, 0.48, 0.48),
        ),
        Mistake(
            name="sine-cosine-swapped",
            message="The last two numbers are right, but they stand in the other order.",
            probe=entries(None, None, 0, 1),
        ),
        Mistake(
            name="in-degrees",
            message="A full turn is 360 degrees, but the angles pos · θ are radians. How many radians are a "
            "full turn?",
            probe=entries(360, None, None, None),
        ),
        Mistake(
            name="fast-and-slow-exchanged",
            message="The two wavelengths have changed places. Pair 0 turns fastest: is its wave the short "
            "one or the long one?",
            probe=entries(1000 * _TURN, _TURN, None, None),
        ),
        Mistake(
            name="first-wavelength-wrong",
            message="Look at 1 again: what is θ for i = 0, and after how many words has the angle gone all "
            "the way round?",
            probe=first_wrong(1, waves_by_hand(), 0.01),
        ),
        Mistake(
            name="last-wavelength-wrong",
            message="1 is right. Look at 2 again: the same, with another θ. What is 10000 to the power 2i/D "
            "for the last pair?",
            probe=first_wrong(2, waves_by_hand(), 0.01),
        ),
        Mistake(
            name="sine-wrong",
            message="The wavelengths are right. Look at 3 again: it is the sine of a *sum* of two angles, of "
            "both of which you know sine and cosine.",
            probe=first_wrong(3, waves_by_hand(), 0.01),
        ),
        Mistake(
            name="cosine-wrong",
            message="1 to 3 are right. Look at 4 again: the squares of 3 and 4 must add up to 1.",
            probe=first_wrong(4, waves_by_hand(), 0.01),
        ),
    ),
)
