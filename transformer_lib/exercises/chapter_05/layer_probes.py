"""Exercise 5.7: how a learner's layer is filled with known numbers and used, and what that shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from transformer_lib.exercises.attention_probes import near
from transformer_lib.exercises.exercise import Attempt
from transformer_lib.exercises.measure import is_dense

SEEN = (
    "parameters",
    "output",
    "same each time at evaluation",
    "different each time in training",
    "no dropout unless asked for",
    "every parameter learns",
    "keeps its mean in training",
)


def numbers(D: int, F: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """A matrix (F, D) and two biases. The second layer gets the matrix transposed, so that parameters
    that are kept as (in, out), or made in another order, get the same numbers."""
    generator = torch.Generator().manual_seed(17)
    shapes = ((F, D), (F,), (D,))
    return tuple(torch.randn(shape, generator=generator) * 0.8 for shape in shapes)


def fill(module: nn.Module, D: int, F: int) -> None:
    """Put known numbers into a learner's module, whatever its parameters are called."""
    module(torch.zeros(1, 1, D))  # lazy layers make their parameters at the first call
    matrix, inner, outer = numbers(D, F)
    known = {(F, D): matrix, (D, F): matrix.T, (F,): inner, (D,): outer}
    for shape in ((F, D), (D, F)):  # both matrices in one tensor
        known.setdefault((2, *shape), known[shape].expand(2, *shape))
    generator = torch.Generator().manual_seed(19)  # for parameters that should not be there
    with torch.no_grad():
        for parameter in module.parameters():
            shape = tuple(n for n in parameter.shape if n != 1)  # a convolution's has one axis more
            if shape in known:
                parameter.copy_(known[shape].reshape(parameter.shape))
            else:
                parameter.copy_(torch.randn(parameter.shape, generator=generator))


def use_layer(cls: Callable, x: torch.Tensor, d_ff: int | None) -> Any:
    """Make a layer, fill it and call it: what it gives at evaluation, and what was seen besides."""
    D = x.shape[-1]
    layer = cls(D, dropout=0.5) if d_ff is None else cls(D, d_ff, dropout=0.5)
    if not isinstance(layer, nn.Module):
        return None if layer is None else {"a module": False}
    fill(layer, D, 4 * D if d_ff is None else d_ff)
    out, again = layer.eval()(x), layer(x)
    seen = dict.fromkeys(SEEN, True) | {
        "parameters": sum(parameter.numel() for parameter in layer.parameters()),
        "output": out,
    }
    if not is_dense(out) or out.shape != x.shape:
        return seen
    training = [layer.train()(x) for _ in range(3)]
    return seen | {
        "same each time at evaluation": torch.equal(out, again),
        "different each time in training": not all(torch.equal(training[0], t) for t in training[1:]),
        "no dropout unless asked for": default_keeps_all(cls, x),
        "every parameter learns": all_learn(layer.eval(), x),
        "keeps its mean in training": keeps_mean(layer, x[:1, :1]),
    }


def all_learn(layer: nn.Module, x: torch.Tensor) -> bool:
    """Whether every parameter gets a gradient from the output."""
    layer.zero_grad()
    out = layer(x)
    if not out.requires_grad:
        return False
    (out * torch.randn(out.shape, generator=torch.Generator().manual_seed(23))).sum().backward()
    return all(p.grad is not None and bool(p.grad.any()) for p in layer.parameters())


def keeps_mean(layer: nn.Module, word: torch.Tensor) -> bool:
    """Whether the mean output of one word over many calls in training is that at evaluation.

    It is, for dropout behind the activation: only linear steps follow. In front of it, it is not.
    """
    words = word.expand(64, 1, -1)
    with torch.no_grad():
        means = torch.stack([layer.train()(words).double().mean(dim=(0, 1)) for _ in range(100)])
        right = layer.eval()(word).double()[0, 0]
    off = (means.mean(0) - right).abs()
    return bool((off < 6 * means.std(0) / 10 + 1e-4).all())  # six times the standard error


def default_keeps_all(cls: Callable, x: torch.Tensor) -> bool:
    """Whether a layer made without `dropout` does in training what it does at evaluation."""
    layer = cls(x.shape[-1])
    fill(layer, x.shape[-1], 4 * x.shape[-1])
    return near(layer.train()(x), layer.eval()(x))


def layers(generator: torch.Generator) -> list[tuple]:
    sizes = ((2, 3, 2, 5), (3, 5, 7, None), (5, 2, 3, 11))  # B, T, D, F
    return [(torch.randn(B, T, D, generator=generator), F) for B, T, D, F in sizes]


def sizes_of(args: tuple) -> tuple[int, int]:
    x, d_ff = args
    return x.shape[-1], 4 * x.shape[-1] if d_ff is None else d_ff


def has_parameters(count: Callable[[int, int], int]):
    """A probe: the number of parameters is this function of D and F, in every case."""

    def probe(attempt: Attempt) -> bool:
        return all(case.got["parameters"] == count(*sizes_of(case.args)) for case in attempt.cases)

    return probe


def right_count(D: int, F: int) -> int:
    return 2 * D * F + F + D


def computes(f: Callable[..., torch.Tensor]):
    """A probe: with the numbers that were filled in, the output is f(x, w1, b1, w2, b2) in every case."""

    def probe(attempt: Attempt) -> bool:
        for case in attempt.cases:
            w, inner, outer = numbers(*sizes_of(case.args))
            if not near(case.got["output"], f(case.args[0], w, inner, w.T, outer)):
                return False
        return True

    return probe


def any_of(*probes):
    return lambda attempt: any(_holds(probe, attempt) for probe in probes)


def _holds(probe, attempt) -> bool:
    try:
        return probe(attempt)
    except (RuntimeError, KeyError):
        return False


def network_with(activation):
    return lambda x, w1, b1, w2, b2: activation(x @ w1.T + b1) @ w2.T + b2


def default_width(attempt: Attempt) -> bool:
    """Whether the number of parameters is wrong only where no width was given."""
    wrong = [case.got["parameters"] != right_count(*sizes_of(case.args)) for case in attempt.cases]
    return wrong == [case.args[1] is None for case in attempt.cases]


def width_ignored(attempt: Attempt) -> bool:
    return all(
        case.got["parameters"] == right_count(case.args[0].shape[-1], 4 * case.args[0].shape[-1])
        for case in attempt.cases
    )


def another_width(attempt: Attempt) -> bool:
    """Whether the parameters are as many as two layers have, but not with the hidden width asked for."""
    counts = [(case.got["parameters"], *sizes_of(case.args)) for case in attempt.cases]
    fits = all(count > D and (count - D) % (2 * D + 1) == 0 for count, D, _ in counts)
    return fits and any(count != right_count(D, F) for count, D, F in counts)


def only(*wrong: str):
    """A probe: somewhere one of these is not so, and the output at evaluation is right."""

    def probe(attempt: Attempt) -> bool:
        outputs = all(near(case.got["output"], case.expected["output"]) for case in attempt.cases)
        return outputs and any(not case.got[key] for case in attempt.cases for key in wrong)

    return probe


def says(text: str):
    """A probe: the layer could not be made or called, and the error has this text in it."""
    return lambda attempt: any(text in str(case.error) for case in attempt.cases)


def mixes_words(attempt: Attempt) -> bool:
    """Whether a word's output at evaluation changes when all other words do, and nothing is random."""
    x, d_ff = attempt.cases[-1].args
    before = attempt.call(x, d_ff)
    changed = x + torch.randn(x.shape, generator=torch.Generator().manual_seed(3))
    changed[1, 1] = x[1, 1]
    after = attempt.call(changed, d_ff)
    steady = before["same each time at evaluation"]
    return steady and not near(before["output"][1, 1], after["output"][1, 1])
