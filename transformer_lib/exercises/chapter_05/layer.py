"""Exercise 5.7: The layer, ready for a model."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from transformer_lib.exercises.chapter_05.layer_probes import (
    another_width,
    any_of,
    computes,
    default_width,
    has_parameters,
    layers,
    mixes_words,
    network_with,
    only,
    right_count,
    says,
    sizes_of,
    use_layer,
    width_ignored,
)
from transformer_lib.exercises.exercise import Exercise, Mistake


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff=None, dropout=0.0):
        super().__init__()
        d_ff = 4 * d_model if d_ff is None else d_ff
        self.widen = nn.Linear(d_model, d_ff)
        self.narrow = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        hidden = functional.gelu(self.widen(x))
        return self.dropout(self.narrow(hidden))


def normed(x):
    return functional.layer_norm(x, x.shape[-1:])


LAYER = Exercise(
    id="5.7",
    title="The layer, ready for a model",
    kind="write",
    difficulty="hard",
    minutes=15,
    statement=r"""
Write the network as a layer that can be trained: a class `FeedForward(d_model, d_ff=None, dropout=0.0)` that
inherits from `nn.Module`.

- Two linear layers, both with a bias: from `d_model` to `d_ff` numbers, and back. Without `d_ff` the hidden
  layer is 4 times as wide as a word.
- GELU between them (the exact one or its tanh form).
- Dropout with the probability `dropout`, after the activation or at the end. It must act in training and
  **not** at evaluation: after `layer.eval()` the same word always gives the same output.
- `forward(x)` takes `x` of shape `(B, T, d_model)` and returns the same shape. No residual connection, no
  norm.

The check puts its own numbers into your parameters, whatever you call them, and compares. It also counts
them.
""",
    stub='''import torch
from torch import nn


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff=None, dropout=0.0):
        super().__init__()
        raise NotImplementedError

    def forward(self, x):
        """x (B, T, d_model); returns (B, T, d_model)."""
        raise NotImplementedError
''',
    reference=FeedForward,
    cases=layers,
    run=use_layer,
    tolerance=3e-3,
    hints=(
        "`nn.Linear(n, m)` is a layer from n to m numbers, with a bias. Make two of them in `__init__`, as "
        "attributes: `self.… = …`.",
        "`nn.Dropout(p)` as an attribute knows by itself whether the layer is in training.",
        "`forward` is one line: second layer of GELU of first layer of x, with the dropout at one place.",
    ),
    mistakes=(
        Mistake(
            name="super-forgotten",
            message="`nn.Module` has not been set up when the first layer is put into it. The first line of "
            "`__init__` has to be `super().__init__()`.",
            probe=says("before Module.__init__() call"),
        ),
        Mistake(
            name="forward-missing",
            message="The class has no method `forward`. Is its name misspelled, or does it stand too far to "
            "the right, inside of `__init__`?",
            probe=says('is missing the required "forward" function'),
        ),
        Mistake(
            name="class-for-a-layer",
            message="A class stands where a layer is needed: {error}. Parentheses make a layer of a class.",
            probe=says("is not a Module subclass"),
        ),
        Mistake(
            name="not-a-module",
            message="The class does not inherit from `nn.Module`, so nothing finds its parameters, and "
            "`eval()` and `train()` are missing.",
            probe=lambda attempt: all("a module" in case.got for case in attempt.cases),
        ),
        Mistake(
            name="parameters-hidden",
            message="`layer.parameters()` finds too few of your parameters, so an optimizer would not train "
            "them. A plain Python list or a tensor that is no `nn.Parameter` is not looked into: keep layers "
            "as attributes, or in an `nn.ModuleList`.",
            probe=any_of(has_parameters(lambda D, F: 0)),
        ),
        Mistake(
            name="weights-shared",
            message="There is only one matrix: both layers share it. Each layer has a matrix of its own.",
            probe=any_of(
                has_parameters(lambda D, F: D * F + F + D),
                has_parameters(lambda D, F: D * F + F),
                has_parameters(lambda D, F: D * F),
            ),
        ),
        Mistake(
            name="gated",
            message="There are three matrices. That is the gated variant, SwiGLU; the plain network with "
            "two is asked for.",
            probe=any_of(
                has_parameters(lambda D, F: 3 * D * F),
                has_parameters(lambda D, F: 3 * D * F + 2 * F + D),
                has_parameters(lambda D, F: 3 * D * F + F + D),
            ),
        ),
        Mistake(
            name="norm-included",
            message="There is a norm in it. The norm belongs to the block (chapter 8), not to the network.",
            probe=any_of(
                has_parameters(lambda D, F: right_count(D, F) + 2 * D),
                has_parameters(lambda D, F: right_count(D, F) + 2 * F),
                computes(lambda x, *rest: network_with(functional.gelu)(normed(x), *rest)),
                computes(lambda *args: normed(network_with(functional.gelu)(*args))),
                computes(lambda x, *rest: normed(x + network_with(functional.gelu)(x, *rest))),
                computes(lambda x, *rest: x + network_with(functional.gelu)(normed(x), *rest)),
            ),
        ),
        Mistake(
            name="width-ignored",
            message="The hidden layer is always 4 times as wide: `d_ff` has no effect.",
            probe=width_ignored,
        ),
        Mistake(
            name="default-width",
            message="Where `d_ff` is given, the number of parameters is right. Without it, the hidden layer "
            "should be 4 times as wide as a word, and it is not.",
            probe=default_width,
        ),
        Mistake(
            name="another-width",
            message="There are two layers with biases, but the number of parameters belongs to another "
            "hidden width. It should be `d_ff`, or 4 times `d_model` where no `d_ff` is given.",
            probe=another_width,
        ),
        Mistake(
            name="extra-parameters",
            message="There are more parameters than two layers have. Is there a layer, or a matrix, too "
            "many?",
            probe=lambda attempt: all(
                case.got["parameters"] > right_count(*sizes_of(case.args)) for case in attempt.cases
            ),
        ),
        Mistake(
            name="bias-missing",
            message="There are too few parameters: at least one of the two layers has no bias.",
            probe=any_of(
                has_parameters(lambda D, F: 2 * D * F),
                has_parameters(lambda D, F: 2 * D * F + F),
                has_parameters(lambda D, F: 2 * D * F + D),
            ),
        ),
        Mistake(
            name="dropout-at-evaluation",
            message="After `layer.eval()`, the same word gives another output each time: something is still "
            "random. What is made in `forward` knows nothing of `eval()`; make it in `__init__`. "
            "(`functional.dropout` has to be told: it has an argument `training`.)",
            probe=lambda attempt: any(not case.got["same each time at evaluation"] for case in attempt.cases),
        ),
        Mistake(
            name="hidden-returned",
            message="What `forward` returns is as wide as the hidden layer. The second layer has to bring it "
            "back to the shape of x.",
            probe=lambda attempt: all(
                case.got["output"].shape == (*case.args[0].shape[:2], sizes_of(case.args)[1])
                for case in attempt.cases
            ),
        ),
        Mistake(
            name="words-mix",
            message="A word's output changes when other words change. The network looks at one word at a "
            "time. Look for a softmax, a norm or a reshape over the words.",
            probe=mixes_words,
        ),
        Mistake(
            name="no-non-linearity",
            message="There is nothing between the two layers: together they are one single linear layer.",
            probe=computes(network_with(lambda z: z)),
        ),
        Mistake(
            name="activation-after-second-layer",
            message="The activation stands after the second layer; the two layers before it are still one.",
            probe=computes(lambda *args: functional.gelu(network_with(lambda z: z)(*args))),
        ),
        Mistake(
            name="activation-twice",
            message="The activation stands between the layers, and once more at the end.",
            probe=computes(lambda *args: functional.gelu(network_with(functional.gelu)(*args))),
        ),
        Mistake(
            name="activation-before-first-layer",
            message="The activation bends the word itself, before any unit has seen it.",
            probe=any_of(
                computes(lambda x, *rest: network_with(lambda z: z)(functional.gelu(x), *rest)),
                computes(lambda x, *rest: network_with(functional.gelu)(functional.gelu(x), *rest)),
            ),
        ),
        Mistake(
            name="relu-for-gelu",
            message="That is the network with ReLU. Here GELU is asked for.",
            probe=computes(network_with(torch.relu)),
        ),
        Mistake(
            name="rough-gelu",
            message="z · sigmoid(1.702 z) is a rough form of GELU, off by up to 0.02. The exact one or the "
            "tanh form is asked for.",
            probe=computes(network_with(lambda z: z * torch.sigmoid(1.702 * z))),
        ),
        Mistake(
            name="another-activation",
            message="Everything is in its place, but the function between the layers is not GELU.",
            probe=any_of(
                *(
                    computes(network_with(f))
                    for f in (
                        functional.silu,
                        torch.tanh,
                        torch.sigmoid,
                        functional.leaky_relu,
                        functional.elu,
                        functional.softplus,
                        lambda z: 0.5 * (1 + torch.erf(z / 2**0.5)),
                        lambda z: z.softmax(-1),
                    )
                )
            ),
        ),
        Mistake(
            name="residual-added",
            message="`x` itself was added to the output. That is the residual connection of chapter 8; the "
            "network alone is asked for.",
            probe=computes(lambda x, *rest: x + network_with(functional.gelu)(x, *rest)),
        ),
        Mistake(
            name="scaled-at-evaluation",
            message="At evaluation the output is scaled by the dropout's probability. PyTorch's dropout "
            "scales in training, so that nothing is left to do here.",
            probe=any_of(
                computes(lambda *args: 0.5 * network_with(functional.gelu)(*args)),
                computes(network_with(lambda z: 0.5 * functional.gelu(z))),
            ),
        ),
        Mistake(
            name="default-dropout",
            message="A layer made without `dropout` should have none: in training it does not give what it "
            "gives at evaluation. What is the default in your `__init__`, and is the argument used?",
            probe=only("no dropout unless asked for"),
        ),
        Mistake(
            name="no-dropout",
            message="At evaluation all is well. But in training, too, the same word gives the same output "
            "each time: the dropout never acts, or not with the probability that was given.",
            probe=only("different each time in training"),
        ),
        Mistake(
            name="nothing-learns",
            message="The numbers are right, but not every parameter gets a gradient: an optimizer would "
            "leave some of them as they are. Look for `no_grad`, `detach`, `requires_grad`, and for a layer "
            "that is made and then not used.",
            probe=only("every parameter learns"),
        ),
        Mistake(
            name="dropout-in-another-place",
            message="At evaluation all is well. But in training, the mean over many calls is not the output "
            "at evaluation. Dropout *before* the activation bends the mean; a dropout of your own has to "
            "make up for what it drops.",
            probe=only("keeps its mean in training"),
        ),
    ),
)
