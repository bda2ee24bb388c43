"""What several exercises of chapter 5 use."""

from __future__ import annotations

import torch

from transformer_lib.exercises.attention_probes import near
from transformer_lib.exercises.exercise import Attempt


def two_layers(
    D: int, F: int, generator: torch.Generator, out: int | None = None
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """W1 (F, D), b1 (F,), W2 (out or D, F) and b2, in which every bias matters."""
    out = D if out is None else out
    w1 = 0.7 * torch.randn(F, D, generator=generator)
    w2 = 0.7 * torch.randn(out, F, generator=generator)
    return w1, torch.randn(F, generator=generator), w2, torch.randn(out, generator=generator)


def networks(generator: torch.Generator) -> list[tuple]:
    """x (B, T, D) with the weights and biases of a network, small and large."""
    sizes = ((2, 3, 2, 5), (3, 2, 7, 11), (5, 7, 3, 13))  # B, T, D, F
    return [(torch.randn(B, T, D, generator=generator), *two_layers(D, F, generator)) for B, T, D, F in sizes]


def another_function(attempt: Attempt) -> bool:
    """Whether all is in its place but for the function between the layers, whichever it is.

    With one feature, one unit and weights of 1 the network *is* that function: so it can be asked for its
    values at every place that the last case needs, in another order lest something is random.
    """
    x, w1, b1, w2, b2 = attempt.cases[-1].args
    z = x @ w1.T + b1
    one, zero = torch.ones(1, 1), torch.zeros(1)
    bent = attempt.call(z.reshape(1, -1, 1).flip(1), one, zero, one, zero).flip(1).reshape(z.shape)
    right = near(bent, torch.relu(z))
    return not right and near(attempt.cases[-1].got, bent.to(w2.dtype) @ w2.T + b2)


def words_mix(attempt: Attempt) -> bool:
    """Whether a word's result changes when the other words of its sentence, or other sentences, do."""
    x, *rest = attempt.cases[-1].args
    before = attempt.call(x, *rest)
    changed = x + torch.randn(x.shape, generator=torch.Generator().manual_seed(3))
    changed[1, 2] = x[1, 2]
    after = attempt.call(changed, *rest)
    return before.shape == after.shape == x.shape and not near(before[1, 2], after[1, 2])
