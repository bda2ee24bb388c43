"""Exercise 5.7: The layer, ready for a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from transformer_lib.exercises.attention_probes import near
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake
from transformer_lib.exercises.measure import is_dense


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


def _numbers(D: int, F: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """A matrix (F, D) and two biases. The second layer gets the matrix transposed, so that parameters
    that are kept as (in, out), or made in another order, get the same numbers."""
    generator = torch.Generator().manual_seed(17)
    shapes = ((F, D), (F,), (D,))
    return tuple(torch.randn(shape, generator=generator) * 0.8 for shape in shapes)


def _fill(module: nn.Module, D: int, F: int) -> None:
    """Put known numbers into a learner's module, whatever its parameters are called."""
    matrix, inner, outer = _numbers(D, F)
    known = {(F, D): matrix, (D, F): matrix.T, (F,): inner, (D,): outer}
    generator = torch.Generator().manual_seed(19)  # for parameters that should not be there
    with torch.no_grad():
        for parameter in module.parameters():
            shape = tuple(n for n in parameter.shape if n != 1)  # a convolution's has one axis more
            if shape in known:
                parameter.copy_(known[shape].reshape(parameter.shape))
            else:
                parameter.copy_(torch.randn(parameter.shape, generator=generator))


def _use(cls: Callable, x: torch.Tensor, d_ff: int | None) -> Any:
    """Make a layer, fill it and call it: what it gives at evaluation, and what was seen besides."""
    D = x.shape[-1]
    layer = cls(D, dropout=0.5) if d_ff is None else cls(D, d_ff, dropout=0.5)
    if not isinstance(layer, nn.Module):
        return layer
    _fill(layer, D, 4 * D if d_ff is None else d_ff)
    layer.eval()
    out, again = layer(x), layer(x)
    if not is_dense(out):
        return out
    layer.train()
    training = [layer(x) for _ in range(3)]
    return {
        "parameters": sum(parameter.numel() for parameter in layer.parameters()),
        "output": out,
        "same each time at evaluation": torch.equal(out, again),
        "different each time in training": not torch.equal(training[0], training[1])
        or not torch.equal(training[0], training[2]),
        "no dropout unless asked for": _default_keeps_all(cls, x),
    }


def _default_keeps_all(cls: Callable, x: torch.Tensor) -> bool:
    """Whether a layer made without `dropout` does in training what it does at evaluation."""
    layer = cls(x.shape[-1])
    _fill(layer, x.shape[-1], 4 * x.shape[-1])
    return near(layer.train()(x), layer.eval()(x))


def _cases(generator: torch.Generator) -> list[tuple]:
    sizes = ((2, 3, 2, 5), (3, 5, 7, None), (5, 2, 3, 11))  # B, T, D, F
    return [(torch.randn(B, T, D, generator=generator), F) for B, T, D, F in sizes]


def _sizes(args: tuple) -> tuple[int, int]:
    x, d_ff = args
    return x.shape[-1], 4 * x.shape[-1] if d_ff is None else d_ff


def _parameters(count: Callable[[int, int], int]):
    """A probe: the number of parameters is this function of D and F, in every case."""

    def probe(attempt: Attempt) -> bool:
        return all(case.got["parameters"] == count(*_sizes(case.args)) for case in attempt.cases)

    return probe


def _right_count(D: int, F: int) -> int:
    return 2 * D * F + F + D


def _computes(f: Callable[..., torch.Tensor]):
    """A probe: with the numbers that were filled in, the output is f(x, w1, b1, w2, b2) in every case."""

    def probe(attempt: Attempt) -> bool:
        for case in attempt.cases:
            w, inner, outer = _numbers(*_sizes(case.args))
            if not near(case.got["output"], f(case.args[0], w, inner, w.T, outer)):
                return False
        return True

    return probe


def _any(*probes):
    return lambda attempt: any(_holds(probe, attempt) for probe in probes)


def _holds(probe, attempt) -> bool:
    try:
        return probe(attempt)
    except (RuntimeError, KeyError):
        return False


def _with(activation):
    return lambda x, w1, b1, w2, b2: activation(x @ w1.T + b1) @ w2.T + b2


def _default_width(attempt: Attempt) -> bool:
    """Whether the number of parameters is wrong only where no width was given."""
    wrong = [case.got["parameters"] != _right_count(*_sizes(case.args)) for case in attempt.cases]
    return wrong == [case.args[1] is None for case in attempt.cases]


def _width_ignored(attempt: Attempt) -> bool:
    return all(
        case.got["parameters"] == _right_count(case.args[0].shape[-1], 4 * case.args[0].shape[-1])
        for case in attempt.cases
    )


def _mixing(attempt: Attempt) -> bool:
    """Whether a word's output at evaluation changes when all other words do, and nothing is random."""
    x, d_ff = attempt.cases[-1].args
    before = attempt.call(x, d_ff)
    changed = x + torch.randn(x.shape, generator=torch.Generator().manual_seed(3))
    changed[1, 1] = x[1, 1]
    after = attempt.call(changed, d_ff)
    steady = before["same each time at evaluation"]
    return steady and not near(before["output"][1, 1], after["output"][1, 1])


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
    cases=_cases,
    run=_use,
    tolerance=3e-3,
    hints=(
        "`nn.Linear(n, m)` is a layer from n to m numbers, with a bias. Make two of them in `__init__`, as "
        "attributes: `self.… = …`.",
        "`nn.Dropout(p)` as an attribute knows by itself whether the layer is in training.",
        "`forward` is one line: second layer of GELU of first layer of x, with the dropout at one place.",
    ),
    mistakes=(
        Mistake(
            name="parameters-hidden",
            message="`layer.parameters()` finds too few of your parameters, so an optimizer would not train "
            "them. A plain Python list or a tensor that is no `nn.Parameter` is not looked into: keep layers "
            "as attributes, or in an `nn.ModuleList`.",
            probe=_any(_parameters(lambda D, F: 0)),
        ),
        Mistake(
            name="weights-shared",
            message="There is only one matrix: both layers share it. Each layer has a matrix of its own.",
            probe=_any(
                _parameters(lambda D, F: D * F + F + D),
                _parameters(lambda D, F: D * F + F),
                _parameters(lambda D, F: D * F),
            ),
        ),
        Mistake(
            name="gated",
            message="There are three matrices. That is the gated variant, SwiGLU; the plain network with "
            "two is asked for.",
            probe=_any(
                _parameters(lambda D, F: 3 * D * F),
                _parameters(lambda D, F: 3 * D * F + 2 * F + D),
                _parameters(lambda D, F: 3 * D * F + F + D),
            ),
        ),
        Mistake(
            name="norm-included",
            message="There are more parameters than two layers have, as many more as a norm brings. The norm "
            "belongs to the block (chapter 8), not to the network.",
            probe=_any(
                _parameters(lambda D, F: _right_count(D, F) + 2 * D),
                _parameters(lambda D, F: _right_count(D, F) + 2 * F),
            ),
        ),
        Mistake(
            name="extra-parameters",
            message="There are more parameters than two layers have. Is there a layer, or a matrix, too "
            "many?",
            probe=lambda attempt: all(
                case.got["parameters"] > _right_count(*_sizes(case.args)) for case in attempt.cases
            ),
        ),
        Mistake(
            name="bias-missing",
            message="There are too few parameters: at least one of the two layers has no bias.",
            probe=_any(
                _parameters(lambda D, F: 2 * D * F),
                _parameters(lambda D, F: 2 * D * F + F),
                _parameters(lambda D, F: 2 * D * F + D),
            ),
        ),
        Mistake(
            name="width-ignored",
            message="The hidden layer is always 4 times as wide: `d_ff` has no effect.",
            probe=_width_ignored,
        ),
        Mistake(
            name="default-width",
            message="Where `d_ff` is given, the number of parameters is right. Without it, the hidden layer "
            "should be 4 times as wide as a word, and it is not.",
            probe=_default_width,
        ),
        Mistake(
            name="dropout-at-evaluation",
            message="After `layer.eval()`, the same word gives another output each time: the dropout is "
            "still on. `functional.dropout` has to be told: it has an argument `training`.",
            probe=lambda attempt: any(not case.got["same each time at evaluation"] for case in attempt.cases),
        ),
        Mistake(
            name="words-mix",
            message="A word's output changes when other words change. The network looks at one word at a "
            "time. Look for a softmax, a norm or a reshape over the words.",
            probe=_mixing,
        ),
        Mistake(
            name="no-non-linearity",
            message="There is nothing between the two layers: together they are one single linear layer.",
            probe=_computes(_with(lambda z: z)),
        ),
        Mistake(
            name="activation-after-second-layer",
            message="The activation stands after the second layer; the two layers before it are still one.",
            probe=_computes(lambda *args: functional.gelu(_with(lambda z: z)(*args))),
        ),
        Mistake(
            name="activation-twice",
            message="The activation stands between the layers, and once more at the end.",
            probe=_computes(lambda *args: functional.gelu(_with(functional.gelu)(*args))),
        ),
        Mistake(
            name="activation-before-first-layer",
            message="The activation bends the word itself, before any unit has seen it.",
            probe=_any(
                _computes(lambda x, *rest: _with(lambda z: z)(functional.gelu(x), *rest)),
                _computes(lambda x, *rest: _with(functional.gelu)(functional.gelu(x), *rest)),
            ),
        ),
        Mistake(
            name="relu-for-gelu",
            message="That is the network with ReLU. Here GELU is asked for.",
            probe=_computes(_with(torch.relu)),
        ),
        Mistake(
            name="rough-gelu",
            message="z · sigmoid(1.702 z) is a rough form of GELU, off by up to 0.02. The exact one or the "
            "tanh form is asked for.",
            probe=_computes(_with(lambda z: z * torch.sigmoid(1.702 * z))),
        ),
        Mistake(
            name="another-activation",
            message="Everything is in its place, but the function between the layers is not GELU.",
            probe=_any(
                *(
                    _computes(_with(f))
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
            probe=_computes(lambda x, *rest: x + _with(functional.gelu)(x, *rest)),
        ),
        Mistake(
            name="scaled-at-evaluation",
            message="At evaluation the output is scaled by the dropout's probability. PyTorch's dropout "
            "scales in training, so that nothing is left to do here.",
            probe=_any(
                _computes(lambda *args: 0.5 * _with(functional.gelu)(*args)),
                _computes(_with(lambda z: 0.5 * functional.gelu(z))),
            ),
        ),
        Mistake(
            name="default-dropout",
            message="A layer made without `dropout` should have none: in training it does not give what it "
            "gives at evaluation. What is the default in your `__init__`, and is the argument used?",
            probe=lambda attempt: (
                any(not case.got["no dropout unless asked for"] for case in attempt.cases)
                and all(near(case.got["output"], case.expected["output"]) for case in attempt.cases)
            ),
        ),
        Mistake(
            name="no-dropout",
            message="At evaluation all is well. But in training, too, the same word gives the same output "
            "each time: the dropout never acts, or not with the probability that was given.",
            probe=lambda attempt: (
                any(not case.got["different each time in training"] for case in attempt.cases)
                and all(near(case.got["output"], case.expected["output"]) for case in attempt.cases)
            ),
        ),
    ),
)
