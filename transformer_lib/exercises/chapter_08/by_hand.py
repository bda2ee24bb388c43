"""Exercise 8.2: Twenty layers on paper."""

from __future__ import annotations

from transformer_lib.exercises.attention_probes import Probe
from transformer_lib.exercises.chapter_02.shared import plain
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake
from transformer_lib.exercises.paper import entries


def twenty_layers():
    return [0.5**20, 1.1**20, 0.9**20, 0.95**20]


_UP, _DOWN = 1.1**20, 0.9**20


def _read(f):
    """The learner's numbers; one within 2.5 % of the right one (0.35 for 0.3585) counts as it."""
    given = plain(f())
    if not isinstance(given, list) or len(given) != 4 or any(type(n) not in (int, float) for n in given):
        return given
    return [
        right if abs(n / right - 1) < 0.025 else n for n, right in zip(given, twenty_layers(), strict=True)
    ]


def _any_is(number: int, *wrong: float) -> Probe:
    """A probe: the answer of this number (from 1) is one of these, within 1 %."""
    return lambda attempt: any(
        abs(attempt.cases[0].got[number - 1] - w) <= 0.01 * max(abs(w), 1e-9) for w in wrong
    )


def _either(*probes: Probe) -> Probe:
    return lambda attempt: any(probe(attempt) for probe in probes)


def _some_wrong(*numbers: int) -> Probe:
    """A probe: of the answers these are wrong, and all others right."""

    def probe(attempt: Attempt) -> bool:
        pairs = enumerate(zip(attempt.cases[0].got, twenty_layers(), strict=True), 1)
        return [n for n, (got, right) in pairs if got != right] == list(numbers)

    return probe


def _wrong_power(attempt: Attempt) -> bool:
    """Whether an answer is the right slope to the power of 19 or 21."""
    pairs = list(zip(attempt.cases[0].got, (0.5, 1.1, 0.9, 0.95), strict=True))
    return any(all(abs(got / slope**n - 1) < 0.004 for got, slope in pairs) for n in (19, 21))


WORK_OUT = Exercise(
    id="8.2",
    title="Twenty layers on paper",
    kind="work out",
    difficulty="easy",
    minutes=10,
    statement=r"""
To see what a residual connection does, let every layer have one number in and one number out, and the
same slope everywhere. Twenty such layers stand in a row. By which factor is the gradient multiplied
between the output of the last layer and the input of the first?

1. plain layers $h \leftarrow f(h)$, each with slope $f' = 0.5$
2. layers with a residual connection, $h \leftarrow h + f(h)$, each with slope $f' = 0.1$
3. the same, $h \leftarrow h + f(h)$, each with slope $f' = -0.1$
4. twenty *steps* of an LSTM's cell, $c \leftarrow 0.95\,c + 0.3$: the forget gate stands at 0.95 and does
   not depend on $c$; nor does what is added

Return the four factors as a list of numbers. Two digits of each are enough, and Python may do the
arithmetic: `0.5 ** 3` is a power.
""",
    stub='''def twenty_layers():
    """Four factors, in the order of the questions."""
    raise NotImplementedError
''',
    reference=twenty_layers,
    cases=lambda generator: [()],
    run=_read,
    tolerance=1e-7,
    hints=(
        "The chain rule multiplies the slopes of the layers.",
        "What is the slope of h + f(h) in h? There are two terms.",
        "In 4, a constant that is added has slope 0.",
    ),
    mistakes=(
        Mistake(
            name="one-layer-only",
            message="These are the slopes of *one* layer. The chain rule multiplies those of all twenty.",
            probe=entries(0.5, 1.1, 0.9, 0.95),
        ),
        Mistake(
            name="slope-of-one-layer",
            message="At least one of these numbers is the slope of *one* layer. There are twenty, and the "
            "chain rule multiplies their slopes.",
            probe=_either(_any_is(1, 0.5), _any_is(2, 1.1), _any_is(3, 0.9), _any_is(4, 0.95)),
        ),
        Mistake(
            name="nineteen-or-twenty-one",
            message="You multiplied 19 or 21 slopes. There are twenty layers, and each has one.",
            probe=_wrong_power,
        ),
        Mistake(
            name="added-instead-of-multiplied",
            message="You added up the slopes of the layers. A layer hands on its slope times what came to "
            "it: the chain rule multiplies.",
            probe=_either(_any_is(1, 10, 11), _any_is(2, 2, 3, 22), _any_is(3, -2, -1, 18), _any_is(4, 19)),
        ),
        Mistake(
            name="rounded-to-nothing",
            message="Look at 1 again. The factor is small, but it is not 0. Two *digits* are asked for, not "
            "two places behind the point: of 0.000123 they are 0.00012.",
            probe=lambda attempt: abs(attempt.cases[0].got[0]) < 1e-12,
        ),
        Mistake(
            name="in-percent",
            message="These are percentages. Factors were asked for: one half is 0.5, not 50.",
            probe=entries(*(100 * n for n in twenty_layers())),
        ),
        Mistake(
            name="plain-with-a-one",
            message="Look at 1 again. Those layers have no residual connection: nothing is added to f(h).",
            probe=_any_is(1, 1.5**20),
        ),
        Mistake(
            name="residual-without-the-one",
            message="Look at 2 and 3 again. You used the slope of f alone. The layer is h + f(h): what is "
            "the slope of the first term?",
            probe=lambda attempt: any(abs(n) < 1e-9 for n in attempt.cases[0].got[1:3]),
        ),
        Mistake(
            name="one-way-round-the-whole-stack",
            message="Look at 2 and 3 again. Each layer has a way around it, not only the stack as a whole: "
            "the 1 belongs into every factor.",
            probe=lambda attempt: any(abs(n - 1) < 1e-6 for n in attempt.cases[0].got[1:3]),
        ),
        Mistake(
            name="two-and-three-swapped",
            message="The answers to 2 and 3 have changed places: which of the two grows?",
            probe=lambda attempt: _any_is(2, _DOWN)(attempt) and _any_is(3, _UP)(attempt),
        ),
        Mistake(
            name="sign-lost",
            message="Look at 3 again. The slope of f is negative there: the two terms pull against each "
            "other.",
            probe=_either(_any_is(3, _UP, -_UP), _any_is(2, _DOWN)),
        ),
        Mistake(
            name="sign-kept-too-long",
            message="Look at 3 again. Each factor is 1 − 0.1, which is above 0; so is their product.",
            probe=_any_is(3, -_DOWN),
        ),
        Mistake(
            name="gate-and-a-one",
            message="Look at 4 again. The gate stands *in the place* of the 1: the cell is 0.95 c, and not "
            "c + 0.95 c.",
            probe=_any_is(4, 1.95**20),
        ),
        Mistake(
            name="constant-has-a-slope",
            message="Look at 4 again. What is added does not depend on c, so it has no slope in c.",
            probe=_any_is(4, 1.25**20, 0.95**20 + 0.3, 0.95**20 + 6, 0.285**20, 0.65**20),
        ),
        Mistake(
            name="value-instead-of-slope",
            message="Look at 4 again. That is the *value* of the cell after twenty steps. What was asked for "
            "is by how much it moves when the first value moves a little.",
            probe=_any_is(4, 0.3 * (1 - 0.95**20) / 0.05, 0.95**20 + 0.3 * (1 - 0.95**20) / 0.05),
        ),
        Mistake(
            name="gate-does-not-count",
            message="Look at 4 again. A gate of 0.95 lets most through, not all: what is left after twenty "
            "steps?",
            probe=lambda attempt: abs(attempt.cases[0].got[3] - 1) < 1e-6,
        ),
        Mistake(
            name="plain-layers-wrong",
            message="2, 3 and 4 are right. Look at 1 again: twenty slopes of 0.5, multiplied.",
            probe=_some_wrong(1),
        ),
        Mistake(
            name="residual-layers-wrong",
            message="1 and 4 are right. Look at 2 and 3 again: what is the slope of h + f(h), and what do "
            "twenty of them make?",
            probe=_either(_some_wrong(2), _some_wrong(3), _some_wrong(2, 3)),
        ),
        Mistake(
            name="cell-wrong",
            message="1, 2 and 3 are right. Look at 4 again: by how much does 0.95 c + 0.3 change when c "
            "changes by a little?",
            probe=_some_wrong(4),
        ),
    ),
)
