"""Exercise 1.3: Word after word."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from transformer_lib.exercises.attention_probes import near
from transformer_lib.exercises.chapter_01.shared import gives
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def read_sentences(x, w_x, w_h, b):
    h = x.new_zeros(x.shape[0], w_h.shape[0])
    states = []
    for t in range(x.shape[1]):
        h = torch.tanh(x[:, t] @ w_x.T + h @ w_h.T + b)
        states.append(h)
    return torch.stack(states, dim=1)


def _arguments(B: int, T: int, D: int, H: int, generator: torch.Generator) -> tuple[Tensor, ...]:
    x = torch.randn(B, T, D, generator=generator)
    w_x, w_h = (0.7 * torch.randn(H, width, generator=generator) for width in (D, H))
    return x, w_x, w_h, 0.7 * torch.randn(H, generator=generator)


def _cases(generator: torch.Generator) -> list[tuple]:
    return [_arguments(*sizes, generator) for sizes in ((2, 3, 5, 7), (3, 7, 2, 5), (5, 11, 7, 3))]


def _reads(
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


def _sized_alike(*wrong: Callable):
    """A probe with D = H, where a matrix that does not fit elsewhere does."""

    def probe(attempt: Attempt) -> bool:
        args = _arguments(2, 3, 5, 5, torch.Generator().manual_seed(3))
        got = attempt.call(*args)
        return any(near(got, f(*args)) for f in wrong)

    return probe


def _started_elsewhere(attempt: Attempt) -> bool:
    """Each state follows from the one before, but the first does not follow from zeros."""
    for case in attempt.cases:
        x, w_x, w_h, b = case.args
        follows = torch.tanh(x[:, 1:] @ w_x.T + case.got[:, :-1] @ w_h.T + b)
        if case.got.shape != case.expected.shape or not near(case.got[:, 1:], follows):
            return False
    return not near(attempt.cases[0].got[:, 0], attempt.cases[0].expected[:, 0])


def _over_the_batch(x, *weights):
    return read_sentences(x.transpose(0, 1), *weights).transpose(0, 1)


def _backwards(x, *weights):
    return read_sentences(x.flip(1), *weights)


def _before(x, *weights):
    states = read_sentences(x, *weights)
    return torch.cat([torch.zeros_like(states[:, :1]), states[:, :-1]], 1)


def _overwritten(x, *weights):
    return read_sentences(x, *weights)[:, -1:].repeat(1, x.shape[1], 1)


READ = Exercise(
    id="1.3",
    title="Word after word",
    kind="write",
    difficulty="easy",
    minutes=10,
    statement=r"""
Write the loop of a recurrent network: $h_t = \tanh(W_x x_t + W_h h_{t-1} + b)$, starting from $h_0 = 0$.
`x` has shape `(B, T, D)`: `B` sentences of `T` words, one word per row. `w_x` has shape `(H, D)`, `w_h` has
shape `(H, H)`, `b` has shape `(H,)`. Return the states after every word, $h_1, …, h_T$, as a tensor of
shape `(B, T, H)`. All sizes can differ.
""",
    stub='''import torch


def read_sentences(x, w_x, w_h, b):
    """x (B, T, D), w_x (H, D), w_h (H, H), b (H,); returns all states, (B, T, H)."""
    raise NotImplementedError
''',
    reference=read_sentences,
    cases=_cases,
    hints=(
        "Start with a state of zeros, one row for each sentence: shape `(B, H)`.",
        "Word t of all sentences is `x[:, t]`, shape `(B, D)`. With one word per row, the product of W "
        "and word t reads `x[:, t] @ w_x.T`.",
        "In the loop, make the new state from the old one and append it to a list; at the end "
        "`torch.stack(states, dim=1)` puts the list along the axis of the words.",
    ),
    mistakes=(
        Mistake(
            name="matrices-swapped",
            message="`w_x` and `w_h` have changed places: the word is multiplied by the matrix of the "
            "state. Look at their shapes: `w_x` is `(H, D)`, `w_h` is `(H, H)`.",
            probe=_sized_alike(lambda x, w_x, w_h, b: read_sentences(x, w_h, w_x, b)),
        ),
        Mistake(
            name="matrix-not-transposed",
            message="A matrix is used the wrong way round. With one word per row, the lecture's W x is "
            "`x @ w.T`. Only where the two sides have the same size does the other product run at all, "
            "and it gives other numbers.",
            probe=_sized_alike(
                lambda x, w_x, w_h, b: read_sentences(x, w_x.T, w_h.T, b),
                lambda x, w_x, w_h, b: read_sentences(x, w_x.T, w_h, b),
                lambda x, w_x, w_h, b: read_sentences(x, w_x, w_h.T, b),
            ),
        ),
        Mistake(
            name="last-state-only",
            message="Only the last state came back, shape {got_shape}. The exercise asks for the state "
            "after *every* word, {expected_shape}: keep each one as you make it.",
            probe=gives(
                lambda *args: read_sentences(*args)[:, -1], lambda *args: read_sentences(*args)[:, -1:]
            ),
        ),
        Mistake(
            name="words-first",
            message="The states are right, but the words stand on the first axis: shape {got_shape} "
            "instead of {expected_shape}. Along which axis is the list put together?",
            probe=gives(lambda *args: read_sentences(*args).transpose(0, 1)),
        ),
        Mistake(
            name="batch-and-time-mixed",
            message="The loop runs over the *sentences*, and hands the state from one sentence to the "
            "next. `for x_t in x` and `x[t]` walk along the first axis, which is the batch. Where is the "
            "axis of the words?",
            variant=_over_the_batch,
        ),
        Mistake(
            name="state-reset-each-step",
            message="Each state depends on its own word alone: what came before has no effect. Does the "
            "loop hand the new state on to the next word, or does every word start from zeros again?",
            probe=gives(_reads(lambda a, c, b: torch.tanh(a + b))),
        ),
        Mistake(
            name="read-backwards",
            message="The sentence is read from its last word to its first.",
            probe=gives(_backwards, lambda *args: _backwards(*args).flip(1)),
        ),
        Mistake(
            name="states-in-reverse",
            message="The states are right, but they come in the opposite order: the last word's first.",
            probe=gives(lambda *args: read_sentences(*args).flip(1)),
        ),
        Mistake(
            name="one-tensor-overwritten",
            message="All states are equal: every entry is the *last* state. A state that is written into "
            "in place (`h[:] = …`) is one and the same tensor each time it is appended. Make a new one in "
            "each step.",
            variant=_overwritten,
        ),
        Mistake(
            name="state-before-the-word",
            message="The states are late by one: place t holds the state *before* word t was read, and "
            "the first one is zeros. Append after the update.",
            variant=_before,
        ),
        Mistake(
            name="same-word-each-step",
            message="The state moves on, but the same word is read in every step. Which word should step "
            "t take?",
            probe=gives(
                _reads(words=lambda x, t: x[:, 0]),
                _reads(words=lambda x, t: x[:, -1]),
                _reads(words=lambda x, t: x.mean(1)),
            ),
        ),
        Mistake(
            name="no-tanh",
            message="The tanh is missing: entries go from {got_min} to {got_max}, and a tanh stays "
            "between −1 and 1. Without it the network is a chain of matrix products, and the state can "
            "grow without end.",
            probe=gives(_reads(lambda a, c, b: a + c + b), _reads(lambda a, c, b: a + c)),
        ),
        Mistake(
            name="no-bias",
            message="`b` is never added: it can be changed without changing the result.",
            probe=gives(_reads(lambda a, c, b: torch.tanh(a + c))),
        ),
        Mistake(
            name="tanh-before-the-sum",
            message="The tanh stands around a part of the sum. Word, state and bias are added first; then "
            "one tanh goes around all three.",
            probe=gives(
                _reads(lambda a, c, b: torch.tanh(a) + c + b),
                _reads(lambda a, c, b: torch.tanh(a + b) + c),
                _reads(lambda a, c, b: a + torch.tanh(c) + b),
                _reads(lambda a, c, b: a + torch.tanh(c + b)),
                _reads(lambda a, c, b: torch.tanh(a + c) + b),
                _reads(lambda a, c, b: torch.tanh(a) + torch.tanh(c) + b),
                _reads(lambda a, c, b: torch.tanh(a + b) + torch.tanh(c)),
            ),
        ),
        Mistake(
            name="another-function",
            message="Another function stands where the formula has tanh: entries go from {got_min} to "
            "{got_max}. A tanh takes both signs and stays between −1 and 1.",
            probe=gives(
                _reads(lambda a, c, b: torch.sigmoid(a + c + b)),
                _reads(lambda a, c, b: torch.relu(a + c + b)),
                _reads(lambda a, c, b: torch.sin(a + c + b)),
                _reads(lambda a, c, b: torch.nn.functional.softsign(a + c + b)),
                _reads(lambda a, c, b: torch.nn.functional.hardtanh(a + c + b)),
            ),
        ),
        Mistake(
            name="old-state-added",
            message="The old state is added on to the new one. In this formula it comes in through `w_h` "
            "only.",
            probe=gives(_reads(update=lambda h, new: h + new), _reads(update=lambda h, new: (h + new) / 2)),
        ),
        Mistake(
            name="not-from-zeros",
            message="From the second word on each state follows from the one before. But the first does "
            "not start from h₀ = 0.",
            probe=_started_elsewhere,
        ),
    ),
)
