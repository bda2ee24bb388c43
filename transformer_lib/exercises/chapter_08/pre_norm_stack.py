"""Exercise 8.5: A pre-norm stack that forgets."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import torch
from torch import Tensor

from transformer_lib.blocks import LayerNorm
from transformer_lib.exercises.attention_probes import Probe
from transformer_lib.exercises.chapter_08.shared import parts, result_is
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


# One sub-layer f with its norm n, the ways in which it is written.
_STEPS: dict[str, Callable[..., Tensor]] = {
    "right": lambda x, f, n: x + f(n(x)),
    "adds the normed": lambda x, f, n: n(x) + f(n(x)),
    "norm of the sub-layer": lambda x, f, n: x + n(f(x)),
    "post": lambda x, f, n: n(x + f(x)),
    "replaces": lambda x, f, n: f(n(x)),
    "no norm": lambda x, f, n: x + f(x),
    "norm twice": lambda x, f, n: x + n(f(n(x))),
}
_ENDS: dict[str, tuple[bool, bool]] = {  # a final norm after every block; after the last one
    "right": (False, True),
    "none": (False, False),
    "every block": (True, False),
}


def _stack(first: str, second: str, end: str, x: Tensor, blocks: list, final_norm) -> Tensor:
    each, last = _ENDS[end]
    for attention, feed_forward, norm_1, norm_2 in blocks:
        x = _STEPS[first](x, attention, norm_1)
        x = _STEPS[second](x, feed_forward, norm_2)
        x = final_norm(x) if each else x
    return final_norm(x) if last else x


def _written(holds: Callable[[str, str, str], bool]) -> Probe:
    """A probe: the stack is written in one of the ways (first, second, end) for which this holds."""
    ways = [way for way in itertools.product(_STEPS, _STEPS, _ENDS) if holds(*way)]
    return result_is(*(lambda *args, way=way: _stack(*way, *args) for way in ways))


def _some_step(kind: str) -> Probe:
    return _written(lambda first, second, end: kind in (first, second))


def _one_block_only(x, blocks, final_norm):
    return _stack("right", "right", "right", x, blocks[:1], final_norm)


def _last_block_only(x, blocks, final_norm):
    return _stack("right", "right", "right", x, blocks[-1:], final_norm)


def _residual_from_the_entrance(x, blocks, final_norm):
    for attention, feed_forward, norm_1, norm_2 in blocks:
        x = x + feed_forward(norm_2(x + attention(norm_1(x))))
    return final_norm(x)


def _one_norm(x, blocks, final_norm):
    for attention, feed_forward, norm_1, _ in blocks:
        x = x + attention(norm_1(x))
        x = x + feed_forward(norm_1(x))
    return final_norm(x)


def _norms_swapped(x, blocks, final_norm):
    return pre_norm_stack(x, [(a, f, n, m) for a, f, m, n in blocks], final_norm)


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
            probe=_written(lambda *way: way == ("right", "right", "none")),
        ),
        Mistake(
            name="final-norm-in-every-block",
            message="The final norm is applied after *every* block, so that nothing travels on untouched. It "
            "belongs after the last one.",
            probe=_written(lambda *way: way == ("right", "right", "every block")),
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
            probe=result_is(_one_norm, _norms_swapped),
        ),
    ),
)
