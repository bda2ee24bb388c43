"""Exercise 5.6: The network as a convolution, broken twice."""

from __future__ import annotations

import torch
from torch.nn.functional import conv1d

from transformer_lib.exercises.chapter_05.shared import networks, words_mix
from transformer_lib.exercises.exercise import Exercise, Mistake


def network(x, w1, b1, w2, b2):
    h = x.transpose(1, 2)
    h = conv1d(h, w1.unsqueeze(-1), b1)
    h = torch.relu(h)
    h = conv1d(h, w2.unsqueeze(-1), b2)
    return h.transpose(1, 2)


def _built(into, back, relu="between"):
    """The network with these steps before and after the convolutions, and the ReLU at one or two places."""

    def variant(x, w1, b1, w2, b2):
        h = conv1d(into(x), w1.unsqueeze(-1), b1)
        h = torch.relu(h) if relu in ("between", "both") else h
        h = conv1d(h, w2.unsqueeze(-1), b2)
        h = torch.relu(h) if relu in ("after", "both") else h
        return back(h)

    return variant


def _swapped(x):
    return x.transpose(1, 2)


def _reshaped(x):
    return x.reshape(x.shape[0], x.shape[2], x.shape[1])


FIND_THE_BUG = Exercise(
    id="5.6",
    title="The network as a convolution, broken twice",
    kind="find the bug",
    difficulty="medium",
    minutes=10,
    statement=r"""
A convolution of width 1 is a linear layer for each place. This function should be the feed-forward network
with ReLU: `x` is `(B, T, D)`, the weights as in exercise 5.4, the result `(B, T, D)`. `conv1d` wants the
places along the last axis, `(B, D, T)`, so the axes have to change places and back.

It runs, and the shape is right. But someone noticed two things: **a word's result changes when other words
change**, and **no number of the result is ever negative**. Find what is wrong and mend it. (Delete the
`raise` line first.)
""",
    stub='''import torch
from torch.nn.functional import conv1d


def network(x, w1, b1, w2, b2):
    """x (B, T, D), w1 (F, D), b1 (F,), w2 (D, F), b2 (D,); returns (B, T, D)."""
    raise NotImplementedError  # delete this line, then find what is wrong
    B, T, D = x.shape
    h = x.reshape(B, D, T)
    h = conv1d(h, w1.unsqueeze(-1), b1)
    h = conv1d(h, w2.unsqueeze(-1), b2)
    h = torch.relu(h)
    return h.reshape(B, T, D)
''',
    reference=network,
    cases=networks,
    hints=(
        "Try `torch.arange(6).reshape(1, 3, 2)` and its `.reshape(1, 2, 3)`. Where does word 0 go?",
        "Swapping two axes is `transpose`. It is needed on the way in, and on the way back.",
        "Where does the formula have its ReLU?",
    ),
    mistakes=(
        Mistake(
            name="all-bugs-left",
            message="Both are still there: words mix, and no number is negative (the smallest is {got_min}).",
            variant=_built(_reshaped, _reshaped, "after"),
        ),
        Mistake(
            name="not-swapped-back",
            message="The result has shape {got_shape}: the axes did not change back after the convolutions.",
            probe=lambda attempt: all(case.got.shape == case.args[0].mT.shape for case in attempt.cases),
        ),
        Mistake(
            name="not-swapped-on-the-way-in",
            message="A convolution cannot use what it gets: {error}. It wants the D numbers of a word along "
            "axis 1, its channels.",
            probe=lambda attempt: all("channels" in str(case.error) for case in attempt.cases),
        ),
        Mistake(
            name="reshaped-on-the-way-in",
            message="The words still mix on the way *into* the convolutions: `reshape` or `view` keeps the "
            "numbers in their order and cuts them up anew. Swapping two axes is another operation.",
            probe=lambda attempt: any(
                _is(attempt, _built(_reshaped, _swapped, relu)) for relu in ("between", "after", "both", "")
            ),
        ),
        Mistake(
            name="reshaped-on-the-way-back",
            message="On the way in all is well, but the words mix on the way *back*: there is still a "
            "`reshape` or `view` where two axes should be swapped.",
            probe=lambda attempt: any(
                _is(attempt, _built(_swapped, _reshaped, relu)) for relu in ("between", "after", "both", "")
            ),
        ),
        Mistake(
            name="words-mix",
            message="A word's result still changes when other words change. Print what `reshape` makes of "
            "`torch.arange(6).reshape(1, 3, 2)`, and compare it with `transpose`.",
            probe=words_mix,
        ),
        Mistake(
            name="no-non-linearity",
            message="The words are apart now, but the ReLU is gone: two linear layers are one.",
            variant=_built(_swapped, _swapped, ""),
        ),
        Mistake(
            name="activation-after-second-layer",
            message="The words are apart now, but the ReLU still stands after the second layer: no number "
            "is negative (the smallest is {got_min}).",
            variant=_built(_swapped, _swapped, "after"),
        ),
        Mistake(
            name="activation-twice",
            message="There is a ReLU between the layers now, but the one at the end is still there: no "
            "number is negative.",
            variant=_built(_swapped, _swapped, "both"),
        ),
        Mistake(
            name="activation-before-first-layer",
            message="The ReLU moved to the front: it bends the word itself. It belongs between the layers.",
            variant=lambda x, *rest: _built(_swapped, _swapped, "")(torch.relu(x), *rest),
        ),
    ),
)


def _is(attempt, variant) -> bool:
    return all(torch.allclose(case.got, variant(*case.args), atol=1e-4) for case in attempt.cases)
