"""Exercise 1.3: Word after word."""

from __future__ import annotations

import torch

from transformer_lib.exercises.chapter_01.loops import (
    arguments,
    backwards,
    before,
    of_one_sum,
    other_functions,
    over_the_batch,
    overwritten,
    reads,
    runs_on,
    sized_alike,
    started_elsewhere,
    step_with_state,
    without_effect,
    words_first,
)
from transformer_lib.exercises.chapter_01.shared import gives
from transformer_lib.exercises.exercise import Exercise, Mistake


def read_sentences(x, w_x, w_h, b):
    h = x.new_zeros(x.shape[0], w_h.shape[0])
    states = []
    for t in range(x.shape[1]):
        h = torch.tanh(x[:, t] @ w_x.T + h @ w_h.T + b)
        states.append(h)
    return torch.stack(states, dim=1)


def _cases(generator: torch.Generator) -> list[tuple]:
    return [arguments(*sizes, generator) for sizes in ((2, 3, 5, 7), (3, 7, 2, 5), (5, 11, 7, 3))]


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
            probe=sized_alike(lambda x, w_x, w_h, b: read_sentences(x, w_h, w_x, b)),
        ),
        Mistake(
            name="matrix-not-transposed",
            message="A matrix is used the wrong way round. With one word per row, the lecture's W x is "
            "`x @ w.T`. Only where the two sides have the same size does the other product run at all, "
            "and it gives other numbers.",
            probe=sized_alike(
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
            name="reshaped-instead-of-transposed",
            message="The shape is right, but words and sentences are mixed up: `reshape` and `view` keep all "
            "numbers in their order and only cut them into other rows. To make two axes change places, "
            "there is `transpose`; `torch.stack` has a `dim`.",
            probe=gives(
                lambda x, *w: words_first(x, *w).reshape(len(x), x.shape[1], -1),
                lambda x, *w: read_sentences(x.reshape(x.shape[1], x.shape[0], -1).transpose(0, 1), *w),
                lambda x, *w: words_first(x.reshape(x.shape[1], x.shape[0], -1), *w).reshape(
                    x.shape[1], x.shape[0], -1
                ),
                lambda x, *w: words_first(x.reshape(x.shape[1], x.shape[0], -1).transpose(0, 1), *w).reshape(
                    len(x), x.shape[1], -1
                ),
            ),
        ),
        Mistake(
            name="empty-state-included",
            message="There is a state too many, shape {got_shape} instead of {expected_shape}: h₀, from "
            "which the loop starts, came back with the others.",
            probe=gives(
                lambda *args: torch.nn.functional.pad(read_sentences(*args), (0, 0, 1, 0)),
            ),
        ),
        Mistake(
            name="one-state-missing",
            message="There is a state too few, shape {got_shape} instead of {expected_shape}. Count the "
            "turns of the loop: one for each word, from the first to the last.",
            probe=gives(
                lambda *args: read_sentences(*args)[:, :-1],
                lambda *args: read_sentences(*args)[:, 1:],
                lambda x, *w: read_sentences(x[:, 1:], *w),
                lambda x, *w: torch.nn.functional.pad(read_sentences(x, *w), (0, 0, 1, 0))[:, :-2],
            ),
        ),
        Mistake(
            name="states-joined-end-to-end",
            message="The states of a sentence were joined into one long row, shape {got_shape}. `torch.cat` "
            "joins along an axis that is there; the axis of the words is a *new* one.",
            probe=gives(
                lambda *args: read_sentences(*args).flatten(1),
                lambda *args: read_sentences(*args).flatten(0, 1),
                lambda *args: words_first(*args).flatten(0, 1),
            ),
        ),
        Mistake(
            name="batch-and-time-mixed",
            message="The loop runs over the *sentences*, and hands the state from one sentence to the "
            "next. `for x_t in x` and `x[t]` walk along the first axis, which is the batch. Where is the "
            "axis of the words?",
            variant=over_the_batch,
        ),
        Mistake(
            name="runs-on-into-the-next-sentence",
            message="The first sentence is right. But the second does not start from h₀ = 0: it starts from "
            "the state that the sentence before has left.",
            variant=runs_on,
        ),
        Mistake(
            name="state-reset-each-step",
            message="Each state depends on its own word alone: what came before has no effect. Does the "
            "loop hand the new state on to the next word, or does every word start from zeros again?",
            probe=gives(reads(lambda a, c, b: torch.tanh(a + b))),
        ),
        Mistake(
            name="read-backwards",
            message="The sentence is read from its last word to its first.",
            probe=gives(backwards, lambda *args: backwards(*args).flip(1)),
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
            variant=overwritten,
        ),
        Mistake(
            name="state-before-the-word",
            message="The states are late by one: place t holds the state *before* word t was read, and "
            "the first one is zeros. Append after the update.",
            variant=before,
        ),
        Mistake(
            name="same-word-each-step",
            message="The state moves on, but the same word is read in every step. Which word should step "
            "t take?",
            probe=gives(
                reads(words=lambda x, t: x[:, 0]),
                reads(words=lambda x, t: x[:, -1]),
                reads(words=lambda x, t: x.mean(1)),
            ),
        ),
        Mistake(
            name="no-tanh",
            message="The tanh is missing: entries go from {got_min} to {got_max}, and a tanh stays "
            "between −1 and 1. Without it the network is a chain of matrix products, and the state can "
            "grow without end.",
            probe=gives(reads(lambda a, c, b: a + c + b), reads(lambda a, c, b: a + c)),
        ),
        Mistake(
            name="no-bias",
            message="`b` is never added: it can be changed without changing the result.",
            probe=without_effect(3),
        ),
        Mistake(
            name="words-never-read",
            message="The words have no effect: `x` can be changed without changing the result.",
            probe=without_effect(0, 1),
        ),
        Mistake(
            name="state-without-matrix",
            message="The old state goes into the sum as it is: `w_h` can be changed without changing the "
            "result.",
            probe=without_effect(2),
        ),
        Mistake(
            name="bias-twice",
            message="The bias is added twice. (PyTorch's own recurrent layer has two biases; here there is "
            "one.)",
            probe=gives(reads(lambda a, c, b: torch.tanh(a + c + 2 * b))),
        ),
        Mistake(
            name="multiplied-instead-of-added",
            message="What comes from the word and what comes from the state were multiplied entry by entry. "
            "The formula adds them.",
            probe=gives(reads(lambda a, c, b: torch.tanh(a * c + b))),
        ),
        Mistake(
            name="tanh-before-the-sum",
            message="The tanh stands around a part of the sum. Word, state and bias are added first; then "
            "one tanh goes around all three.",
            probe=gives(
                reads(lambda a, c, b: torch.tanh(a) + c + b),
                reads(lambda a, c, b: torch.tanh(a + b) + c),
                reads(lambda a, c, b: a + torch.tanh(c) + b),
                reads(lambda a, c, b: a + torch.tanh(c + b)),
                reads(lambda a, c, b: torch.tanh(a + c) + b),
                reads(lambda a, c, b: torch.tanh(a) + torch.tanh(c) + b),
                reads(lambda a, c, b: torch.tanh(a + b) + torch.tanh(c)),
                reads(lambda a, c, b: torch.tanh(a) + torch.tanh(c + b)),
                reads(lambda a, c, b: torch.tanh(a) + torch.tanh(c) + torch.tanh(b)),
            ),
        ),
        Mistake(
            name="another-function",
            message="Another function stands where the formula has tanh: entries go from {got_min} to "
            "{got_max}. There is one tanh around the sum, and it alone: it takes both signs and comes near "
            "to −1 and 1.",
            probe=lambda attempt: of_one_sum(attempt) or other_functions(attempt),
        ),
        Mistake(
            name="old-state-added",
            message="The old state is added on to the new one. In this formula it comes in through `w_h` "
            "only.",
            probe=gives(
                reads(update=lambda h, new: h + new),
                reads(update=lambda h, new: (h + new) / 2),
                step_with_state(lambda total, h: torch.tanh(total + h)),
            ),
        ),
        Mistake(
            name="not-from-zeros",
            message="From the second word on each state follows from the one before. But the first does "
            "not start from h₀ = 0.",
            probe=started_elsewhere,
        ),
    ),
)
