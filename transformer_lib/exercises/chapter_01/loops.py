"""Loops that go wrong, and probes that look at the learner's loop, for exercise 1.3."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from transformer_lib.exercises.attention_probes import Probe, near
from transformer_lib.exercises.chapter_01.shared import gives
from transformer_lib.exercises.exercise import Attempt


def read_loop(x, w_x, w_h, b):
    h = x.new_zeros(x.shape[0], w_h.shape[0])
    states = []
    for t in range(x.shape[1]):
        h = torch.tanh(x[:, t] @ w_x.T + h @ w_h.T + b)
        states.append(h)
    return torch.stack(states, dim=1)


def arguments(B: int, T: int, D: int, H: int, generator: torch.Generator) -> tuple[Tensor, ...]:
    x = torch.randn(B, T, D, generator=generator)
    w_x, w_h = (0.7 * torch.randn(H, width, generator=generator) for width in (D, H))
    return x, w_x, w_h, 0.7 * torch.randn(H, generator=generator)


def reads(
    step: Callable | None = None, update: Callable | None = None, words: Callable | None = None
) -> Callable:
    """The loop with another step(a, c, b), of a = W_x x_t, c = W_h h; another new state; or other words."""
    step = step or (lambda a, c, b: torch.tanh(a + c + b))
    update = update or (lambda h, new: new)

    def read(x, w_x, w_h, b):
        h, states = x.new_zeros(len(x), len(w_h)), []
        for t in range(x.shape[1]):
            word = x[:, t] if words is None else words(x, t)
            h = update(h, step(word @ w_x.T, h @ w_h.T, b))
            states.append(h)
        return torch.stack(states, 1)

    return read


def sized_alike(*wrong: Callable):
    """A probe with D = H, where a matrix that does not fit elsewhere does."""

    def probe(attempt: Attempt) -> bool:
        args = arguments(2, 3, 5, 5, torch.Generator().manual_seed(3))
        got = attempt.call(*args)
        return any(near(got, f(*args)) for f in wrong)

    return probe


def started_elsewhere(attempt: Attempt) -> bool:
    """Each state follows from the one before, but the first does not follow from zeros."""
    for case in attempt.cases:
        x, w_x, w_h, b = case.args
        follows = torch.tanh(x[:, 1:] @ w_x.T + case.got[:, :-1] @ w_h.T + b)
        if case.got.shape != case.expected.shape or not near(case.got[:, 1:], follows):
            return False
    return not near(attempt.cases[0].got[:, 0], attempt.cases[0].expected[:, 0])


def without_effect(*positions: int) -> Probe:
    """A probe: these arguments, and no others, can be changed without changing the result."""

    def probe(attempt: Attempt) -> bool:
        args, got = attempt.cases[-1].args, attempt.cases[-1].got

        def same_without(n: int) -> bool:
            return near(attempt.call(*args[:n], 0.1 + 0.7 * args[n].flip(0), *args[n + 1 :]), got)

        return tuple(n for n in range(len(args)) if same_without(n)) == positions

    return probe


def of_one_sum(attempt: Attempt) -> bool:
    """Whether every new state is one rising function of the right sum, entry by entry."""
    for case in attempt.cases:
        x, w_x, w_h, b = case.args
        got = case.got
        if got.shape != case.expected.shape or got.std() < 1e-3:
            return False
        before = torch.cat([torch.zeros_like(got[:, :1]), got[:, :-1]], 1)
        total = x @ w_x.T + before @ w_h.T + b
        steps = got.flatten()[total.flatten().argsort()].diff()
        if steps.min() < -1e-5 or (got - total.tanh()).abs().max() < 0.03:  # rounded, say
            return False
    return True


other_functions = gives(
    reads(lambda a, c, b: torch.sin(a + c + b)),
    reads(lambda a, c, b: torch.cos(a + c + b)),
    reads(lambda a, c, b: torch.nn.functional.gelu(a + c + b)),
    reads(lambda a, c, b: torch.nn.functional.silu(a + c + b)),
    reads(lambda a, c, b: torch.softmax(a + c + b, -1)),
)


def step_with_state(step: Callable) -> Callable:
    """The loop with another step(W_x x_t + W_h h + b, h)."""

    def read(x, w_x, w_h, b):
        h, states = x.new_zeros(len(x), len(w_h)), []
        for t in range(x.shape[1]):
            h = step(x[:, t] @ w_x.T + h @ w_h.T + b, h)
            states.append(h)
        return torch.stack(states, 1)

    return read


def runs_on(x, w_x, w_h, b):
    """Each sentence starts from the last state of the sentence before."""
    h, sentences = x.new_zeros(1, len(w_h)), []
    for sentence in x:
        states = []
        for word in sentence:
            h = torch.tanh(word @ w_x.T + h @ w_h.T + b)
            states.append(h)
        sentences.append(torch.cat(states))
    return torch.stack(sentences)


def words_first(x, *weights):
    return read_loop(x, *weights).transpose(0, 1)


def over_the_batch(x, *weights):
    return read_loop(x.transpose(0, 1), *weights).transpose(0, 1)


def backwards(x, *weights):
    return read_loop(x.flip(1), *weights)


def before(x, *weights):
    states = read_loop(x, *weights)
    return torch.cat([torch.zeros_like(states[:, :1]), states[:, :-1]], 1)


def overwritten(x, *weights):
    return read_loop(x, *weights)[:, -1:].repeat(1, x.shape[1], 1)
