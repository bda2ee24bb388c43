"""What several exercises of chapter 8 use."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_lib.blocks import EncoderBlock, LayerNorm
from transformer_lib.exercises.attention_probes import Probe, near
from transformer_lib.exercises.exercise import Attempt
from transformer_lib.feed_forward import FeedForward
from transformer_lib.multi_head import MultiHeadAttention

SLOPE = 0.6  # standard deviation of weights: large enough that each step counts


def parts(D: int, n_heads: int, generator: torch.Generator) -> tuple[nn.Module, ...]:
    """Attention, feed-forward network and two norms, with random weights, scales and shifts."""
    made = MultiHeadAttention(D, n_heads), FeedForward(D, 3), LayerNorm(D), LayerNorm(D)
    for module in made:
        for parameter in module.parameters():
            parameter.data = SLOPE * torch.randn(parameter.shape, generator=generator)
    for norm in made[2:]:
        norm.scale.data += 1
    return made


def block(D: int, n_heads: int, generator: torch.Generator) -> EncoderBlock:
    """A pre-norm block of such parts."""
    made = EncoderBlock(MultiHeadAttention(D, n_heads), FeedForward(D, 3))
    made.attention, made.feed_forward, made.attention_norm, made.feed_forward_norm = parts(
        D, n_heads, generator
    )
    return made


# One sub-layer f with its norm n: the ways in which it is written.
STEPS: dict[str, Callable[..., Tensor]] = {
    "post": lambda x, f, n: n(x + f(x)),
    "pre": lambda x, f, n: x + f(n(x)),
    "adds the normed": lambda x, f, n: n(x) + f(n(x)),
    "norm of x alone": lambda x, f, n: n(x) + f(x),
    "norm of the sub-layer": lambda x, f, n: x + n(f(x)),
    "norm twice": lambda x, f, n: x + n(f(n(x))),
    "norm before and after": lambda x, f, n: n(x + f(n(x))),
    "norm of both": lambda x, f, n: n(x + n(f(x))),
    "added again": lambda x, f, n: x + n(x + f(x)),
    "replaces": lambda x, f, n: f(n(x)),
    "norm of the output alone": lambda x, f, n: n(f(x)),
    "no norm": lambda x, f, n: x + f(x),
    "neither": lambda x, f, n: f(x),
    "multiplied, post": lambda x, f, n: n(x * f(x)),
    "multiplied, pre": lambda x, f, n: x * f(n(x)),
    "subtracted, post": lambda x, f, n: n(x - f(x)),
    "subtracted, pre": lambda x, f, n: x - f(n(x)),
    "own norm": lambda x, f, n: F.layer_norm(x + f(x), x.shape[-1:]),
    "nothing": lambda x, f, n: x,
}


def result_is(*formulas: Callable[..., torch.Tensor]) -> Probe:
    """A probe: on every case the result is one and the same of these functions of the arguments."""

    def probe(attempt: Attempt) -> bool:
        with torch.no_grad():
            return any(all(near(c.got, f(*c.args)) for c in attempt.cases) for f in formulas)

    return probe
