"""Exercise 8.4: The block as the lecture draws it."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import torch
from torch import Tensor

from transformer_lib.exercises.attention_probes import Probe, near
from transformer_lib.exercises.chapter_08.shared import STEPS, parts, result_is
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def post_norm_block(x, attention, feed_forward, norm_1, norm_2):
    x = norm_1(x + attention(x))
    return norm_2(x + feed_forward(x))


def _blocks(generator: torch.Generator) -> list[tuple]:
    sizes = ((1, 2, 4, 2), (2, 3, 6, 3), (3, 7, 10, 5))  # B, T, D, H
    return [(torch.randn(B, T, D, generator=generator), *parts(D, H, generator)) for B, T, D, H in sizes]


def _written(holds: Callable[[str, str], bool]) -> Probe:
    """A probe: the two lines are written in one of the ways (first, second) for which this holds."""

    def probe(attempt: Attempt) -> bool:
        return any(holds(*way) for way in _ways(attempt))

    return probe


def _ways(attempt: Attempt) -> list[tuple[str, str]]:
    """All ways to write the two lines that give the learner's results."""
    found = list(itertools.product(STEPS, STEPS))
    with torch.no_grad():
        for case in attempt.cases:
            x, a, f, m, n = case.args
            between = {first: STEPS[first](x, a, m) for first in {way[0] for way in found}}
            found = [
                (first, second)
                for first, second in found
                if near(case.got, STEPS[second](between[first], f, n))
            ]
    return found


def _some(*kinds: str) -> Probe:
    return _written(lambda *way: any(kind in way for kind in kinds))


# Each formula below is a block with x (B, T, D), attention a, feed-forward network f, norms m and n.


def _second(y: Tensor, f, n) -> Tensor:
    return n(y + f(y))


def _from_the_entrance(x, a, f, m, n):
    return n(x + f(m(x + a(x))))


def _past_attention(x, a, f, m, n):
    return _second(m(x + x), f, n)


def _one_way_around_both(x, a, f, m, n):
    return n(x + f(m(a(x))))


def _one_way_around_both_one_norm(x, a, f, m, n):
    return n(x + f(a(x)))


def _attention_twice(x, a, f, m, n):
    return _second(m(x + a(x)), a, n)


def _feed_forward_twice(x, a, f, m, n):
    return _second(m(x + f(x)), f, n)


def _both_sums_under_one_norm(x, a, f, m, n):
    return n(x + a(x) + f(x))


def _before_its_norm(x, a, f, m, n):
    y = x + a(x)
    return n(y + f(m(y)))


def _attention_bypassed(x, a, f, m, n):
    return n(x + f(x))


def _feed_forward_reads_the_entrance(x, a, f, m, n):
    return n(m(x + a(x)) + f(x))


def _parallel(x, a, f, m, n):
    return n(m(x + a(x) + f(x)))


def _parallel_two_norms(x, a, f, m, n):
    return m(x + a(x)) + n(x + f(x))


def _one_norm(x, a, f, m, n):
    return _second(m(x + a(x)), f, m)


def _other_norm(x, a, f, m, n):
    return _second(n(x + a(x)), f, n)


def _norms_swapped(x, a, f, m, n):
    return _second(n(x + a(x)), f, m)


def _sublayers_swapped(x, a, f, m, n):
    x = m(x + f(x))
    return n(x + a(x))


def _sublayers_and_norms_swapped(x, a, f, m, n):
    x = n(x + f(x))
    return m(x + a(x))


_REPLACES = ("replaces", "norm of the output alone", "neither")

POST_NORM = Exercise(
    id="8.4",
    title="The block as the lecture draws it",
    kind="write",
    difficulty="easy",
    minutes=10,
    statement=r"""
Put the parts together: one block in **post-norm**, as the lecture draws it. Each sub-layer is *added to its
input*, and the *sum* is normalised; first attention, then the feed-forward network:

$$x \leftarrow \operatorname{LayerNorm}_1(x + \operatorname{Attention}(x)), \qquad
x \leftarrow \operatorname{LayerNorm}_2(x + \operatorname{FFN}(x)) .$$

`x` has shape `(B, T, D)`. The other four arguments are modules that you call like functions: each maps
`(B, T, D)` to `(B, T, D)`, and the two norms have learned numbers of their own. Return a tensor of shape
`(B, T, D)`, and leave the `x` that you were given unchanged.
""",
    stub='''def post_norm_block(x, attention, feed_forward, norm_1, norm_2):
    """x (B, T, D), and four modules from (B, T, D) to (B, T, D); returns (B, T, D)."""
    raise NotImplementedError
''',
    reference=post_norm_block,
    cases=_blocks,
    hints=(
        "Two lines are enough. The second takes what the first gave.",
        "In each line, the same x stands twice: once alone, once inside the sub-layer.",
        "The norm comes last in its line: around the whole sum.",
    ),
    mistakes=(
        Mistake(
            name="pre-norm",
            message="That is *pre-norm*: the norm stands before the sub-layer, inside it, as in most models "
            "since. The lecture draws the norm after the addition.",
            probe=_written(lambda *way: way == ("pre", "pre")),
        ),
        Mistake(
            name="norm-orders-mixed",
            message="One of the two sub-layers is post-norm, the other is pre-norm. In the lecture's block "
            "both sums are normalised.",
            probe=_written(lambda *way: set(way) == {"pre", "post"}),
        ),
        Mistake(
            name="norm-of-the-sublayer",
            message="The *sub-layer's output* is normalised and then added. The sum itself never is, so it "
            "grows with every block. In post-norm the norm goes around the sum.",
            probe=_some("norm of the sub-layer"),
        ),
        Mistake(
            name="no-residuals",
            message="Nothing is added: what entered a sub-layer is lost, and so is the gradient's way back.",
            probe=_written(lambda *way: set(way) <= {"replaces", "norm of the output alone", "neither"}),
        ),
        Mistake(
            name="attention-not-added",
            message="What attention puts out replaces its input (or is added to "
            "itself, which the norm cannot tell from that). It should be added to what entered.",
            probe=_written(lambda first, second: first in _REPLACES),
        ),
        Mistake(
            name="feed-forward-not-added",
            message="What the feed-forward network puts out replaces its input (or is added to "
            "itself, which the norm cannot tell from that). It should be added to what entered.",
            probe=_written(lambda first, second: second in _REPLACES),
        ),
        Mistake(
            name="second-sum-from-the-entrance",
            message="The feed-forward network's output is added to the x that *entered the block*. So what "
            "attention found is by-passed. Each residual starts where its own sub-layer does.",
            probe=result_is(_from_the_entrance),
        ),
        Mistake(
            name="second-sum-before-the-norm",
            message="The feed-forward network reads the normalised sum, but its output is added to the sum "
            "*before* that norm. Both must be the same vector.",
            probe=result_is(_before_its_norm),
        ),
        Mistake(
            name="attention-by-passed",
            message="What attention computed is not used: the result is the same without it. What is added "
            "to what in the first line?",
            probe=lambda attempt: (
                result_is(_attention_bypassed, _past_attention)(attempt)
                or _written(lambda first, second: first == "nothing")(attempt)
            ),
        ),
        Mistake(
            name="feed-forward-reads-the-entrance",
            message="The feed-forward network reads the x that entered the block, not what attention made of "
            "it. The second line works on the result of the first.",
            probe=result_is(
                _feed_forward_reads_the_entrance, _parallel, _parallel_two_norms, _both_sums_under_one_norm
            ),
        ),
        Mistake(
            name="norms-swapped",
            message="The two norms have changed places. Each has learned numbers of its own.",
            probe=result_is(_norms_swapped),
        ),
        Mistake(
            name="one-norm-twice",
            message="The same norm is used for both sums. There are two, each with learned numbers of "
            "its own.",
            probe=result_is(_one_norm, _other_norm),
        ),
        Mistake(
            name="sublayers-swapped",
            message="The feed-forward network comes first. In the lecture's figure words first read from "
            "each other, and then each one works on what it has read.",
            probe=result_is(_sublayers_swapped, _sublayers_and_norms_swapped),
        ),
        Mistake(
            name="no-norms",
            message="Nothing is normalised: the sums grow from block to block.",
            probe=_written(lambda *way: way == ("no norm", "no norm")),
        ),
        Mistake(
            name="a-norm-missing",
            message="Only one of the two sums is normalised. Each sub-layer has a norm after it.",
            probe=_some("no norm"),
        ),
        Mistake(
            name="norm-before-and-after",
            message="A norm is used twice around one sub-layer. Post-norm has one norm for each: that of "
            "the sum.",
            probe=_some("norm before and after", "norm twice", "norm of both"),
        ),
        Mistake(
            name="feed-forward-missing",
            message="Half of the block is missing: after attention comes the feed-forward network.",
            probe=_written(lambda first, second: second == "nothing"),
        ),
        Mistake(
            name="residual-adds-the-normed",
            message="The residual adds the wrong tensor: the *normalised* words instead of x itself. In "
            "post-norm a sub-layer gets x, its output is added to x, and the norm comes last.",
            probe=_some("adds the normed", "norm of x alone"),
        ),
        Mistake(
            name="one-way-around-both",
            message="There is one addition around both sub-layers. Each of them has a residual connection of "
            "its own.",
            probe=result_is(_one_way_around_both, _one_way_around_both_one_norm),
        ),
        Mistake(
            name="same-sublayer-twice",
            message="The same sub-layer is used in both lines, and the other one not at all.",
            probe=result_is(_attention_twice, _feed_forward_twice),
        ),
        Mistake(
            name="added-again",
            message="x is added once more after the norm. In post-norm the norm is the last thing in each "
            "line.",
            probe=_some("added again"),
        ),
        Mistake(
            name="multiplied-or-subtracted",
            message="A sub-layer's output is multiplied with its input, or subtracted from it. It should be "
            "added.",
            probe=_some("multiplied, post", "multiplied, pre", "subtracted, post", "subtracted, pre"),
        ),
        Mistake(
            name="norms-of-your-own",
            message="The sums are normalised, but not by the norms that you were given: those have learned "
            "numbers, which are lost.",
            probe=_some("own norm"),
        ),
    ),
)
