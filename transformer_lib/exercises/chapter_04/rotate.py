"""Exercise 4.5: Turn the queries."""

from __future__ import annotations

import torch

from transformer_lib.exercises.attention_probes import near
from transformer_lib.exercises.chapter_04.shared import (
    PLACES,
    SPLIT,
    SWAPPED,
    WIDTH,
    halves,
    pairs,
    speeds,
    split_angles_woven_pairs,
    turned,
    turns_by,
    woven_angles_split_pairs,
)
from transformer_lib.exercises.chapter_04.wave_tables import OTHER_UNITS
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def rotate(x, positions):
    K = x.shape[-1]
    theta = 10000 ** (-torch.arange(0, K, 2) / K)  # one speed per pair
    angles = positions[:, None] * theta  # (T, K/2)
    cos, sin = angles.cos(), angles.sin()
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


def _words(generator: torch.Generator) -> list[tuple]:
    sizes = ((1, 2, 3, 4), (3, 2, 7, 10), (2, 5, 3, 14))  # B, H, T, K
    places = (torch.arange(3), torch.arange(4, 11), torch.tensor([400, 3, 0]))
    return [(torch.randn(size, generator=generator), p) for size, p in zip(sizes, places, strict=True)]


def _places_ignored(attempt: Attempt) -> bool:
    """The words are numbered 0, 1, 2, … whatever the positions are."""
    x = torch.randn(2, 3, 5, WIDTH, generator=torch.Generator().manual_seed(2))
    late = torch.arange(5) + 7
    return near(attempt.call(x, late), rotate(x, torch.arange(5))) and not near(
        attempt.call(x, late), rotate(x, late)
    )


def _counted_along(axis: int):
    """A probe: positions are counted off along the batch (0) or the heads (1) instead of the words."""

    def probe(attempt: Attempt) -> bool:
        x = torch.randn(3, 3, 3, WIDTH, generator=torch.Generator().manual_seed(3))
        positions = torch.tensor([1, 4, 2])
        wrong = rotate(x.transpose(axis, 2), positions).transpose(axis, 2)
        return near(attempt.call(x, positions), wrong)

    return probe


def _added(attempt: Attempt) -> bool:
    """Something that does not depend on x is added to it."""
    generator = torch.Generator().manual_seed(4)
    x, y = torch.randn(2, 2, 3, 5, WIDTH, generator=generator)
    positions = torch.arange(5)
    one, other = attempt.call(x, positions) - x, attempt.call(y, positions) - y
    return near(one, other) and not near(one, torch.zeros_like(one))


def _same_at_all_places(attempt: Attempt) -> bool:
    one, other, _ = (turned(attempt, place, True) for place in PLACES)
    return near(one, other)


def _other_base(attempt: Attempt) -> bool:
    M = turned(attempt, 1, True)
    base = float(torch.atan2(M[3, 2], M[2, 2])) ** (-WIDTH / 2)  # θ₁ = base^(−2/K)
    return (
        base > 1.01
        and abs(base / 10000 - 1) > 0.05
        and turns_by(lambda m: pairs(m, speeds(base=base)))(attempt)
    )


def _longer_or_shorter(attempt: Attempt) -> bool:
    M = turned(attempt, 2, True)
    return not near(M.T @ M, torch.eye(WIDTH).double())


ROTATE = Exercise(
    id="4.5",
    title="Turn the queries",
    kind="write",
    difficulty="medium",
    minutes=20,
    statement=r"""
Write RoPE as in the paper. `x` holds queries (or keys) of shape `(B, H, T, K)`: `B` sentences, `H` heads, `T`
words, `K` numbers each, `K` even. `positions` is a tensor of `T` whole numbers, the places of the words;
they need not start at 0. Neighbouring entries $2i$ and $2i + 1$ of a vector form a pair, and each pair is
turned by the angle $m\,\theta_i$, where $m$ is the word's position:

$$\begin{pmatrix} x'_{2i} \\ x'_{2i+1} \end{pmatrix} = \begin{pmatrix} \cos m\theta_i & -\sin m\theta_i \\
\sin m\theta_i & \cos m\theta_i \end{pmatrix} \begin{pmatrix} x_{2i} \\ x_{2i+1} \end{pmatrix}, \qquad
\theta_i = 10000^{-2i/K}.$$

Return a tensor of the shape of `x`. Leave `x` unchanged.
""",
    stub='''import torch


def rotate(x, positions):
    """RoPE: x (B, H, T, K) turned by positions (T,), pairs of neighbouring entries."""
    raise NotImplementedError
''',
    reference=rotate,
    cases=_words,
    hints=(
        "The angles have shape `(T, K/2)`: one row per word, one column per pair. `positions[:, None] * "
        "theta` makes them.",
        "`x[..., 0::2]` are the first numbers of all pairs, `x[..., 1::2]` the second ones. Both have shape "
        "`(B, H, T, K/2)` and go with the angles as they are.",
        "Two new tensors, even · cos − odd · sin and even · sin + odd · cos, must be put back in turn: "
        "`torch.stack([…, …], dim=-1).flatten(-2)`.",
    ),
    mistakes=(
        Mistake(
            name="added-instead-of-turned",
            message="Something that does not depend on x is added to it. RoPE adds nothing: it turns, and "
            "what comes out is as long as what went in.",
            probe=_added,
        ),
        Mistake(
            name="counted-along-heads",
            message="The positions are counted off along the *heads*. The words are the last axis but one "
            "of `x`; angles of shape (T, K/2) fit there without further axes.",
            probe=_counted_along(1),
        ),
        Mistake(
            name="counted-along-batch",
            message="The positions are counted off along the *sentences* of the batch. The words are the "
            "last axis but one of `x`.",
            probe=_counted_along(0),
        ),
        Mistake(
            name="positions-restart-at-zero",
            message="The words are numbered 0, 1, 2, … by your code, whatever `positions` says. When a model "
            "writes word by word with a cache, every new word would stand at place 0.",
            probe=_places_ignored,
        ),
        Mistake(
            name="nothing-turned",
            message="Every vector came back as it was.",
            probe=turns_by(lambda m: torch.eye(WIDTH).double()),
        ),
        Mistake(
            name="same-turn-for-all",
            message="All words are turned by the same angles: the position has no say.",
            probe=_same_at_all_places,
        ),
        Mistake(
            name="layouts-mixed",
            message="Two layouts are mixed: the angles of one, the pairs of the other. Then a pair's two "
            "numbers are turned by different angles: lengths change, and the score at one offset depends on "
            "the place. The word at place 0 is right, which hides it.",
            probe=turns_by(
                woven_angles_split_pairs,
                split_angles_woven_pairs,
                lambda m: woven_angles_split_pairs(m, minus=1.0),
                lambda m: woven_angles_split_pairs(-m),
                lambda m: split_angles_woven_pairs(-m),
            ),
        ),
        Mistake(
            name="halves-layout",
            message="Entry i is paired with entry i + K/2. That is the layout of Llama's weights as Hugging "
            "Face publishes them, and a proper rotation; this exercise asks for the paper's, neighbours 2i "
            "and 2i + 1.",
            probe=turns_by(lambda m: halves(pairs(m)), lambda m: halves(pairs(-m))),
        ),
        Mistake(
            name="results-not-woven",
            message="The numbers are right but stand in another order: first all first halves of the pairs, "
            "then all second ones. They came out of even and odd places and must go back there.",
            probe=turns_by(lambda m: pairs(m)[SPLIT], lambda m: pairs(-m)[SPLIT]),
        ),
        Mistake(
            name="results-exchanged",
            message="The two numbers of every pair have changed places: what belongs into the second entry "
            "stands in the first.",
            probe=turns_by(lambda m: pairs(m)[SWAPPED], lambda m: pairs(-m)[SWAPPED]),
        ),
        Mistake(
            name="turned-backwards",
            message="The pairs turn the other way: the minus stands at the wrong sine. Scores do depend on "
            "the offset alone, but published weights expect the formula's direction.",
            probe=turns_by(lambda m: pairs(-m)),
        ),
        Mistake(
            name="sign-wrong",
            message="The two sines have the same sign. Of a rotation's two sines exactly one has a minus; "
            "without it vectors get longer or shorter.",
            probe=turns_by(
                lambda m: pairs(m, signs=(1, 1, 1, 1)),
                lambda m: pairs(m, signs=(1, -1, -1, 1)),
                lambda m: pairs(m, signs=(1, -1, 1, -1)),
                lambda m: pairs(m, signs=(-1, -1, 1, 1)),
            ),
        ),
        Mistake(
            name="half-of-the-turn",
            message="Each number is multiplied by a cosine (or a sine) alone. In a turn both numbers of a "
            "pair go into both results.",
            probe=turns_by(
                lambda m: pairs(m, signs=(1, 0, 0, 1)),
                lambda m: pairs(m, signs=(1, 0, 1, 0)),
                lambda m: pairs(m, signs=(0, -1, 1, 0)),
            ),
        ),
        Mistake(
            name="overwritten-too-early",
            message="The second number of each pair was made from the *new* first number: it was "
            "overwritten before it had been used.",
            probe=turns_by(
                lambda m: torch.block_diag(
                    *(
                        torch.stack([c, -s, c * s, c - s * s]).reshape(2, 2)
                        for c, s in zip((m * speeds()).cos(), (m * speeds()).sin(), strict=True)
                    )
                )
            ),
        ),
        Mistake(
            name="exponent-doubled",
            message="The exponent is twice as large as it should be: the later pairs hardly turn. "
            "`torch.arange(0, K, 2)` *is* 2i already.",
            probe=turns_by(lambda m: pairs(m, speeds(lambda i: 4 * i / WIDTH))),
        ),
        Mistake(
            name="exponent-halved",
            message="The exponent is half as large as it should be. Where is the 2 of 2i/K?",
            probe=turns_by(lambda m: pairs(m, speeds(lambda i: i / WIDTH))),
        ),
        Mistake(
            name="pairs-counted-from-one",
            message="The first pair has the speed of the second: i is counted from 0, so that the first pair "
            "turns by one radian per word.",
            probe=turns_by(lambda m: pairs(m, speeds(lambda i: 2 * (i + 1) / WIDTH))),
        ),
        Mistake(
            name="another-unit-of-angle",
            message="All angles are off by one and the same factor. m · θᵢ *is* the angle, in radians; "
            "`sin` and `cos` take radians.",
            probe=turns_by(
                *(lambda m, c=c: pairs(c * m) for c in (*OTHER_UNITS, 2.0, 0.5)),
            ),
        ),
        Mistake(
            name="exponent-not-negative",
            message="The minus in the exponent is missing: later pairs turn by thousands of radians per word "
            "instead of ever less.",
            probe=turns_by(lambda m: pairs(m, speeds(lambda i: -2 * i / WIDTH))),
        ),
        Mistake(
            name="whole-number-powers",
            message="Only the first pair turns. Where base and exponent are both whole numbers, PyTorch "
            "computes 10000 to a negative power in whole numbers too, and gets 0 (older versions refuse). "
            "Make one of the two a float: `10000.0`, or an exponent that was divided with `/`.",
            probe=lambda attempt: (
                any("negative integer power" in str(case.error) for case in attempt.cases)
                or turns_by(lambda m: pairs(m, speeds(lambda i: 100.0 * (i > 0))))(attempt)
            ),
        ),
        Mistake(
            name="exponent-cut-to-zero",
            message="All pairs turn at the same speed: the exponent is 0 everywhere. `//` cuts a fraction to "
            "a whole number.",
            probe=turns_by(
                lambda m: pairs(m, speeds(lambda i: 0 * i)),
                lambda m: pairs(m, speeds(lambda i: -(-2 * i // WIDTH))),
            ),
        ),
        Mistake(
            name="places-from-one",
            message="Every word is turned one place too far. `positions` are used as they come.",
            probe=turns_by(lambda m: pairs(m + 1)),
        ),
        Mistake(
            name="other-base",
            message="It is a proper rotation, but the speeds of the pairs fall with another base than 10000.",
            probe=_other_base,
        ),
        Mistake(
            name="length-changes",
            message="It is a linear map, but no turn: vectors come out longer or shorter. Compare "
            "`x.norm(dim=-1)` before and after.",
            probe=_longer_or_shorter,
        ),
    ),
)
