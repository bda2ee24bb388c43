"""Exercise 5.4: The network."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn import functional

from transformer_lib.exercises.attention_probes import Probe, near
from transformer_lib.exercises.chapter_05.shared import another_function, networks, words_mix
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def feed_forward(x, w1, b1, w2, b2):
    hidden = torch.relu(x @ w1.T + b1)
    return hidden @ w2.T + b2


def _any_of(*variants: Callable) -> Probe:
    """A probe: on every case the result is that of one of these functions, and not always right."""

    def probe(attempt: Attempt) -> bool:
        cases = attempt.cases
        if all(near(case.got, case.expected) for case in cases):
            return False
        return any(all(near(case.got, variant(*case.args)) for case in cases) for variant in variants)

    return probe


def _with(activation: Callable) -> Callable:
    return lambda x, w1, b1, w2, b2: activation(x @ w1.T + b1) @ w2.T + b2


def _normed(x):
    return functional.layer_norm(x, x.shape[-1:])


def _max_along_an_axis(attempt: Attempt) -> bool:
    return all("torch.return_types.max" in str(case.error) for case in attempt.cases)


NETWORK = Exercise(
    id="5.4",
    title="The network",
    kind="write",
    difficulty="easy",
    minutes=8,
    statement=r"""
Write the feed-forward network with ReLU, $\operatorname{FFN}(x) = W_2 \max(W_1 x + b_1, 0) + b_2$, for whole
sentences. `x` has shape `(B, T, D)`: one word per row. `w1` has shape `(F, D)`, `b1` `(F,)`, `w2` `(D, F)`
and `b2` `(D,)`. Return a tensor of shape `(B, T, D)`. There is no residual connection and no norm in it. All
sizes can differ.
""",
    stub='''import torch


def feed_forward(x, w1, b1, w2, b2):
    """x (B, T, D), w1 (F, D), b1 (F,), w2 (D, F), b2 (D,); returns (B, T, D)."""
    raise NotImplementedError
''',
    reference=feed_forward,
    cases=networks,
    hints=(
        "The formula has x as a column. Here words are rows: what does W x become?",
        "The first layer gives `(B, T, F)`. A bias of shape `(F,)` fits behind it as it is.",
        "`torch.relu` bends every number by itself. It stands between the two layers, once.",
    ),
    mistakes=(
        Mistake(
            name="shapes-do-not-fit",
            message="Two tensors do not fit each other: {error}. In the formula x is a column. Here words "
            "are rows of D numbers, and `w1` has D *columns*. What does W x become? Ask the same for `w2`.",
            variant=lambda x, w1, b1, w2, b2: torch.relu(x @ w1 + b1) @ w2 + b2,
        ),
        Mistake(
            name="hidden-returned",
            message="That has the shape of the hidden layer, {got_shape}. The second layer has to bring it "
            "back to {expected_shape}.",
            probe=lambda attempt: all(
                case.got.shape == (*case.args[0].shape[:2], len(case.args[1])) for case in attempt.cases
            ),
        ),
        Mistake(
            name="max-along-an-axis",
            message="The second argument of `torch.max` names an axis: it looks for the largest number along "
            "axis 0, and returns a pair. Here each number is compared with 0 by itself, and the shape stays.",
            probe=_max_along_an_axis,
        ),
        Mistake(
            name="words-mix",
            message="The result for a word changes when *other* words change. The network looks at one word "
            "at a time. Look for a softmax, a mean, a maximum, a norm or a reshape over the words.",
            probe=words_mix,
        ),
        Mistake(
            name="no-non-linearity",
            message="There is nothing between the two layers: together they are one single linear layer. "
            "About half of the numbers in the middle should be 0.",
            probe=_any_of(
                _with(lambda z: z),
                lambda x, w1, b1, w2, b2: x @ w1.T @ w2.T + b2,
                lambda x, w1, b1, w2, b2: (x @ w1.T + b1) @ w2.T,
                lambda x, w1, b1, w2, b2: x @ w1.T @ w2.T,
            ),
        ),
        Mistake(
            name="activation-after-second-layer",
            message="The ReLU stands after the second matrix. There it cuts off what the network has to "
            "say (the smallest entry is {got_min}), and the two layers before it are still one.",
            probe=_any_of(
                lambda x, w1, b1, w2, b2: torch.relu((x @ w1.T + b1) @ w2.T + b2),
                lambda x, w1, b1, w2, b2: torch.relu((x @ w1.T + b1) @ w2.T) + b2,
            ),
        ),
        Mistake(
            name="activation-twice",
            message="The ReLU stands between the layers, and once more after the second matrix, where it "
            "cuts off what is below 0. The output must be free to be negative.",
            probe=_any_of(
                lambda *args: torch.relu(feed_forward(*args)),
                lambda x, w1, b1, w2, b2: torch.relu(torch.relu(x @ w1.T + b1) @ w2.T) + b2,
            ),
        ),
        Mistake(
            name="activation-before-first-layer",
            message="The ReLU bends the word itself, before the first layer: its negative features are "
            "thrown away before any unit has seen them.",
            probe=_any_of(
                lambda x, *rest: _with(lambda z: z)(torch.relu(x), *rest),
                lambda x, *rest: feed_forward(torch.relu(x), *rest),
            ),
        ),
        Mistake(
            name="bias-after-activation",
            message="The first bias is added after the ReLU. It belongs inside: it says where the unit "
            "bends.",
            probe=_any_of(lambda x, w1, b1, w2, b2: (torch.relu(x @ w1.T) + b1) @ w2.T + b2),
        ),
        Mistake(
            name="first-bias-missing",
            message="The first bias, `b1`, has no effect: every unit bends at 0.",
            probe=_any_of(lambda x, w1, b1, w2, b2: torch.relu(x @ w1.T) @ w2.T + b2),
        ),
        Mistake(
            name="second-bias-missing",
            message="The second bias, `b2`, has no effect: the result is off by the same vector for every "
            "word.",
            probe=_any_of(lambda x, w1, b1, w2, b2: torch.relu(x @ w1.T + b1) @ w2.T),
        ),
        Mistake(
            name="both-biases-missing",
            message="Neither of the two biases has an effect.",
            probe=_any_of(lambda x, w1, b1, w2, b2: torch.relu(x @ w1.T) @ w2.T),
        ),
        Mistake(
            name="bias-subtracted",
            message="A bias is subtracted where it should be added.",
            probe=_any_of(
                lambda x, w1, b1, w2, b2: feed_forward(x, w1, -b1, w2, b2),
                lambda x, w1, b1, w2, b2: feed_forward(x, w1, b1, w2, -b2),
                lambda x, w1, b1, w2, b2: feed_forward(x, w1, -b1, w2, -b2),
            ),
        ),
        Mistake(
            name="gelu-for-relu",
            message="That is the network with GELU. It is a good one; here ReLU is asked for, which gives "
            "exactly 0 for negative numbers.",
            probe=_any_of(_with(functional.gelu), _with(lambda z: functional.gelu(z, approximate="tanh"))),
        ),
        Mistake(
            name="relu-upside-down",
            message="The negative numbers are kept, and the positive ones set to 0. It should be the other "
            "way round.",
            probe=_any_of(_with(lambda z: z.clamp(max=0)), _with(lambda z: torch.relu(-z))),
        ),
        Mistake(
            name="another-activation",
            message="Everything is in its place, but the function between the layers is another one. "
            "ReLU is max(z, 0): exactly z above 0, and exactly 0 below.",
            probe=lambda attempt: (
                another_function(attempt) or _any_of(_with(lambda z: z.softmax(-1)))(attempt)
            ),
        ),
        Mistake(
            name="first-layer-with-second-matrix",
            message="The matrices have changed places: `w1` belongs to the first layer, `w2` to the second. "
            "(Without a transpose the shapes fit the other way round. But a row of `w1` is one unit.)",
            variant=lambda x, w1, b1, w2, b2: torch.relu(x @ w2 + b1) @ w1 + b2,
        ),
        Mistake(
            name="matrix-reshaped",
            message="The shapes fit, but the numbers of a matrix were put into other places: `view` and "
            "`reshape` cut them up anew, and do not turn rows into columns.",
            probe=_any_of(
                lambda x, w1, b1, w2, b2: feed_forward(x, w1.reshape(w1.T.shape).T, b1, w2, b2),
                lambda x, w1, b1, w2, b2: feed_forward(x, w1, b1, w2.reshape(w2.T.shape).T, b2),
                lambda x, w1, b1, w2, b2: feed_forward(
                    x, w1.reshape(w1.T.shape).T, b1, w2.reshape(w2.T.shape).T, b2
                ),
            ),
        ),
        Mistake(
            name="residual-added",
            message="`x` itself was added to the result. That is the residual connection of chapter 8; the "
            "network alone is asked for.",
            probe=_any_of(lambda x, *rest: x + feed_forward(x, *rest)),
        ),
        Mistake(
            name="norm-included",
            message="There is a norm in it. The norm belongs to the block (chapter 8); the network alone is "
            "asked for.",
            probe=_any_of(
                lambda x, *rest: feed_forward(_normed(x), *rest),
                lambda x, *rest: _normed(feed_forward(x, *rest)),
                lambda x, *rest: _normed(x + feed_forward(x, *rest)),
                lambda x, *rest: x + feed_forward(_normed(x), *rest),
            ),
        ),
    ),
)
