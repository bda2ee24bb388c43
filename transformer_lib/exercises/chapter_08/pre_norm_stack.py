"""Exercise 8.5: A pre-norm stack that forgets."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import torch
from torch import Tensor

from transformer_lib.blocks import LayerNorm
from transformer_lib.exercises.attention_probes import Probe
from transformer_lib.exercises.chapter_08.shared import STEPS, parts, result_is
from transformer_lib.exercises.exercise import Exercise, Mistake


def pre_norm_stack(x, blocks, final_norm):
    for attention, feed_forward, norm_1, norm_2 in blocks:
        x = x + attention(norm_1(x))
        x = x + feed_forward(norm_2(x))
    return final_norm(x)


def _stacks(generator: torch.Generator) -> list[tuple]:
    sizes = ((1, 2, 4, 2, 2), (2, 3, 6, 3, 3), (3, 5, 10, 5, 5))  # B, T, D, H, L
    cases = []
    for B, T, D, H, L in sizes:
        final = LayerNorm(D)
        final.scale.data, final.shift.data = (torch.randn(D, generator=generator) for _ in range(2))
        blocks = [parts(D, H, generator) for _ in range(L)]
        cases.append((1.7 * torch.randn(B, T, D, generator=generator), blocks, final))
    return cases


_KINDS = ("pre", "adds the normed", "norm of the sub-layer", "post", "replaces", "no norm", "norm twice")
_ENDS: dict[str, tuple[bool, bool, bool]] = {  # a final norm first; after every block; at the end
    "right": (False, False, True),
    "none": (False, False, False),
    "every block": (False, True, False),
    "every block and the end": (False, True, True),
    "entrance": (True, False, False),
}


def _stack(first: str, second: str, end: str, x: Tensor, blocks: list, final_norm) -> Tensor:
    before, each, last = _ENDS[end]
    x = final_norm(x) if before else x
    for attention, feed_forward, norm_1, norm_2 in blocks:
        x = STEPS[first](x, attention, norm_1)
        x = STEPS[second](x, feed_forward, norm_2)
        x = final_norm(x) if each else x
    return final_norm(x) if last else x


def _written(holds: Callable[[str, str, str], bool]) -> Probe:
    """A probe: the stack is written in one of the ways (first, second, end) for which this holds."""
    ways = [way for way in itertools.product(_KINDS, _KINDS, _ENDS) if holds(*way)]
    return result_is(*(lambda *args, way=way: _stack(*way, *args) for way in ways))


def _some_step(kind: str) -> Probe:
    return _written(lambda first, second, end: kind in (first, second))


def _one_block_only(x, blocks, final_norm):
    return _stack("pre", "pre", "right", x, blocks[:1], final_norm)


def _last_block_only(x, blocks, final_norm):
    return _stack("pre", "pre", "right", x, blocks[-1:], final_norm)


def _skips(skip: Callable[[list], list]) -> Callable[..., Tensor]:
    """The right stack of some of the blocks."""
    return lambda x, blocks, final_norm: pre_norm_stack(x, skip(blocks), final_norm)


def _swaps(swap: Callable[..., tuple]) -> Callable[..., Tensor]:
    """The right stack, the four parts of each block taken for others."""
    return lambda x, blocks, final_norm: pre_norm_stack(x, [swap(*b) for b in blocks], final_norm)


def _reads(words: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A stack whose feed-forward networks read this of the block's (entrance, norm 1, norm 2)."""

    def stack(x, blocks, final_norm):
        for attention, feed_forward, norm_1, norm_2 in blocks:
            entered = x
            x = x + attention(norm_1(x))
            x = x + feed_forward(words(entered, norm_1, norm_2))
        return final_norm(x)

    return stack


def _every_sum_from_the_entrance(x, blocks, final_norm):
    y = x
    for attention, feed_forward, norm_1, norm_2 in blocks:
        y = x + attention(norm_1(y))
        y = y + feed_forward(norm_2(y))
    return final_norm(y)


def _final_norm_everywhere(x, blocks, final_norm):
    return pre_norm_stack(x, [(a, f, final_norm, final_norm) for a, f, _, _ in blocks], final_norm)


def _last_norm_twice(x, blocks, final_norm):
    return pre_norm_stack(x, blocks, blocks[-1][3])


def _residual_from_the_entrance(x, blocks, final_norm):
    for attention, feed_forward, norm_1, norm_2 in blocks:
        x = x + feed_forward(norm_2(x + attention(norm_1(x))))
    return final_norm(x)


FIND_THE_BUG = Exercise(
    id="8.5",
    title="A pre-norm stack that forgets",
    kind="find the bug",
    difficulty="medium",
    minutes=12,
    statement=r"""
This function should run a stack of **pre-norm** blocks, $x \leftarrow x +
\operatorname{Sublayer}(\operatorname{LayerNorm}(x))$, and what such a stack needs at its end. `x` has shape
`(B, T, D)`; `blocks` is a list of tuples of four modules, `(attention, feed_forward, norm_1, norm_2)`;
`final_norm` is one more norm. It runs, and the shape is right. But **three things are wrong**, and someone
has measured what they do:

- in the first half of a block, the values on the residual path do not grow: they are brought back to
  the same size in every block, and what entered the stack is soon lost;
- in the second half, the feed-forward network gets values of any size as its input, yet what it adds has
  always the same size;
- the deeper the stack, the larger the numbers it returns.

Take out the `raise` line, then find and mend all three.
""",
    stub='''def pre_norm_stack(x, blocks, final_norm):
    """x (B, T, D), blocks a list of (attention, feed_forward, norm_1, norm_2); returns (B, T, D)."""
    raise NotImplementedError("take this line out, then mend what is below")
    for attention, feed_forward, norm_1, norm_2 in blocks:
        x = norm_1(x)
        x = x + attention(x)
        x = x + norm_2(feed_forward(x))
    return x
''',
    reference=pre_norm_stack,
    cases=_stacks,
    hints=(
        "Write the formula of pre-norm next to each of the lines. Which x stands alone on the right?",
        "`x = norm_1(x)` overwrites what should travel on untouched. Give the normed words another name, or "
        "none at all.",
        "What is not used at all, of all the arguments?",
    ),
    mistakes=(
        Mistake(
            name="nothing-mended",
            message="All three are still there.",
            probe=_written(lambda *way: way == ("adds the normed", "norm of the sub-layer", "none")),
        ),
        Mistake(
            name="post-norm",
            message="A norm goes around a whole sum: that is *post-norm*, as the lecture draws it. This "
            "stack is to be pre-norm: the norm is inside, before the sub-layer.",
            probe=_some_step("post"),
        ),
        Mistake(
            name="residual-adds-the-normed",
            message="The residual adds the wrong tensor: the *normalised* words instead of x itself. Then "
            "what entered is overwritten in every block.",
            probe=_some_step("adds the normed"),
        ),
        Mistake(
            name="residual-missing",
            message="A sub-layer's output replaces x. It must be added to it.",
            probe=_some_step("replaces"),
        ),
        Mistake(
            name="norm-of-the-sublayer",
            message="A sub-layer's *output* is normalised and then added. In pre-norm its *input* is.",
            probe=_some_step("norm of the sub-layer"),
        ),
        Mistake(
            name="norm-on-both-sides",
            message="A norm stands before a sub-layer and after it. One is enough: the one before.",
            probe=_some_step("norm twice"),
        ),
        Mistake(
            name="norm-missing",
            message="A sub-layer gets x as it is, with no norm before it.",
            probe=_some_step("no norm"),
        ),
        Mistake(
            name="no-final-norm",
            message="The blocks are right now. But nothing normalises what leaves the last one, so that the "
            "numbers grow with the depth, and so do the logits made from them.",
            probe=_written(lambda *way: way == ("pre", "pre", "none")),
        ),
        Mistake(
            name="final-norm-in-every-block",
            message="The final norm is applied after *every* block, so that nothing travels on untouched. It "
            "belongs after the last one.",
            probe=_written(lambda *way: way[:2] == ("pre", "pre") and "every" in way[2]),
        ),
        Mistake(
            name="one-block-only",
            message="The result is that of a single block: the loop ends, or begins anew, too early.",
            probe=result_is(_one_block_only, _last_block_only),
        ),
        Mistake(
            name="second-sum-from-the-entrance",
            message="The feed-forward network's output is added to what entered the block, so that what "
            "attention found is not passed on.",
            probe=result_is(_residual_from_the_entrance),
        ),
        Mistake(
            name="norms-mixed-up",
            message="A norm is used in the wrong half of the block. Each half has its own.",
            probe=result_is(
                _swaps(lambda a, f, m, n: (a, f, m, m)),
                _swaps(lambda a, f, m, n: (a, f, n, n)),
                _swaps(lambda a, f, m, n: (a, f, n, m)),
            ),
        ),
        Mistake(
            name="feed-forward-reads-too-early",
            message="The feed-forward network does not read what attention has just added: it gets words "
            "that were there before. What does the second norm have to be given?",
            probe=result_is(
                _reads(lambda x, m, n: n(x)), _reads(lambda x, m, n: m(x)), _reads(lambda x, m, n: n(m(x)))
            ),
        ),
        Mistake(
            name="every-sum-from-the-entrance",
            message="In every block attention's output is added to what entered the *stack*. It belongs to "
            "what enters the block, or the blocks below are lost.",
            probe=result_is(_every_sum_from_the_entrance),
        ),
        Mistake(
            name="final-norm-first",
            message="The final norm stands before the first block. It belongs after the last one: that is "
            "where the numbers have grown.",
            probe=_written(lambda *way: way == ("pre", "pre", "entrance")),
        ),
        Mistake(
            name="final-norm-mixed-up",
            message="A block's norm and the final norm are taken for each other. Each has learned numbers "
            "of its own.",
            probe=result_is(_final_norm_everywhere, _last_norm_twice),
        ),
        Mistake(
            name="sublayers-swapped",
            message="The feed-forward network comes first in each block. In the lecture's figure, and in the "
            "stub, attention does.",
            probe=result_is(_swaps(lambda a, f, m, n: (f, a, n, m)), _swaps(lambda a, f, m, n: (f, a, m, n))),
        ),
        Mistake(
            name="last-block-first",
            message="The blocks run in the opposite order.",
            probe=result_is(_skips(lambda blocks: blocks[::-1])),
        ),
        Mistake(
            name="a-block-skipped",
            message="One block is left out, at the beginning or at the end.",
            probe=result_is(_skips(lambda blocks: blocks[1:]), _skips(lambda blocks: blocks[:-1])),
        ),
    ),
)
