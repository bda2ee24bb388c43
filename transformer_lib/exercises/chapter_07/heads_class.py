"""Exercise 7.7: Heads that do not learn."""

from __future__ import annotations

import torch
from torch import nn

from transformer_lib import SelfAttention
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


class Heads(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.heads = nn.ModuleList(SelfAttention(d_model, d_model // n_heads) for _ in range(n_heads))
        self.output = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x):
        return self.output(torch.cat([head(x) for head in self.heads], dim=-1))


def _observe(candidate, d_model: int, n_heads: int) -> dict:
    """What can be seen of a module from outside."""
    module = candidate(d_model, n_heads)
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(101, 5, d_model, generator=generator)
    out = module(x)
    other = x.clone()
    other[:, -1] = torch.randn(101, d_model, generator=generator)
    reads = bool((module(other)[:, 0] - out[:, 0]).abs().max() > 1e-5)
    (out * torch.randn(out.shape, generator=generator)).sum().backward()
    flat = out.detach().flatten(0, -2).double()
    flat = flat - flat.mean(0)
    parameters = list(module.parameters())
    return {
        "shape of the output": list(out.shape),
        "learned numbers": sum(p.numel() for p in parameters),
        "learned numbers that get a gradient": sum(p.numel() for p in parameters if p.grad is not None),
        "numbers in state_dict": sum(p.numel() for p in module.state_dict().values()),
        "independent directions of the outputs": int(torch.linalg.matrix_rank(flat, rtol=1e-5)),
        "the first word reads the last": reads,
    }


def _sizes(generator: torch.Generator) -> list[tuple]:
    return [(6, 2), (15, 3), (35, 5)]


def _sees(holds):
    """A probe on what is seen with D = 14 and H = 2, or 7: `holds` gets both."""

    def probe(attempt: Attempt) -> bool:
        seen = [attempt.call(14, H) for H in (2, 7)]
        if any(one["shape of the output"] != [101, 5, 14] for one in seen):
            return False
        return bool(holds(*seen))

    return probe


def _learned(seen: dict) -> int:
    return seen["learned numbers"]


def _one_copy(seen: dict, H: int) -> bool:
    """Whether the outputs span no more than the numbers of one head."""
    return seen["independent directions of the outputs"] <= 14 // H


HEADS_CLASS = Exercise(
    id="7.7",
    title="Heads that do not learn",
    kind="find the bug",
    difficulty="medium",
    minutes=12,
    statement=r"""
This module should be multi-head self-attention, built from `n_heads` separate heads: each a `SelfAttention`
of the library (chapter 2), of width `d_model // n_heads`, with its own three matrices and without bias;
then their outputs side by side, and one more matrix without bias. For `x` of shape `(B, T, d_model)` it
returns the same shape. `d_model` is a multiple of `n_heads`.

It runs, the loss even falls a little. But an optimiser that was given `module.parameters()` **never changed
a single head**, and someone noticed that **all heads show the same attention map**. Find the two bugs and
mend them. (Delete the `raise` line first.)
""",
    stub="""import torch
from torch import nn

from transformer_lib import SelfAttention


class Heads(nn.Module):
    def __init__(self, d_model, n_heads):
        raise NotImplementedError  # delete this line, then find the two bugs
        super().__init__()
        head = SelfAttention(d_model, d_model // n_heads)
        self.heads = [head] * n_heads
        self.output = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x):
        return self.output(torch.cat([head(x) for head in self.heads], dim=-1))
""",
    reference=Heads,
    cases=_sizes,
    run=_observe,
    tolerance=1e-6,
    hints=(
        "`sum(p.numel() for p in Heads(6, 2).parameters())` should be 4 · 6 · 6 = 144. What do you get?",
        "PyTorch finds the parts of a module among its attributes. It looks into `nn.ModuleList`, but not "
        "into an ordinary Python list.",
        "`[head] * 3` is a list that holds *one* object three times. Make a new head for each place.",
    ),
    mistakes=(
        Mistake(
            name="both-bugs-left",
            message="The heads are still missing from `parameters()`: only the last matrix is there. And "
            "all heads are still one and the same object.",
            probe=_sees(lambda two, seven: _learned(two) == 14 * 14 and _one_copy(two, 2)),
        ),
        Mistake(
            name="heads-in-a-python-list",
            message="There are several heads now, but they are still missing from `parameters()` and from "
            "`state_dict()`: no optimiser will ever train them, and no file will keep them. PyTorch does "
            "not look into Python lists, tuples and dictionaries.",
            probe=_sees(lambda two, seven: _learned(two) == 14 * 14 and not _one_copy(two, 2)),
        ),
        Mistake(
            name="one-head-repeated",
            message="The parameters are found now, but there is only *one* head, which stands in every "
            "place: all of them give the same output, and the number of learned numbers shrinks with more "
            "heads. Repeating a list repeats the name, not the thing.",
            probe=_sees(lambda two, seven: _learned(two) == 14 * 14 + 3 * 14 * 7 and _one_copy(two, 2)),
        ),
        Mistake(
            name="heads-start-alike",
            message="Every head has numbers of its own, but they all start as copies of the same ones, so "
            "that at the start all heads read the same. Draw new random numbers for each.",
            probe=_sees(
                lambda two, seven: (
                    _learned(two) == 4 * 14 * 14
                    and _one_copy(two, 2)
                    and two["learned numbers that get a gradient"] == 4 * 14 * 14
                )
            ),
        ),
        Mistake(
            name="one-head-used",
            message="All heads are there, but not all are used: some parameters get no gradient. In "
            "`forward`, does every head get its turn?",
            probe=_sees(
                lambda two, seven: (
                    _learned(two) == 4 * 14 * 14 and two["learned numbers that get a gradient"] < 4 * 14 * 14
                )
            ),
        ),
        Mistake(
            name="heads-not-narrowed",
            message="Each head is as wide as the word vectors, so that the layer grows with the number of "
            "heads. A head has `d_model // n_heads` numbers.",
            probe=_sees(lambda two, seven: _learned(two) == 8 * 14 * 14 and _learned(seven) == 28 * 14 * 14),
        ),
        Mistake(
            name="output-map-missing",
            message="The last matrix is gone: only the heads' own three matrices are left.",
            probe=_sees(lambda two, seven: _learned(two) == 3 * 14 * 14 == _learned(seven)),
        ),
        Mistake(
            name="biases-added",
            message="There are more learned numbers than asked for, as many as biases would add. None of "
            "the maps has one here.",
            probe=_sees(
                lambda two, seven: _learned(two) in (4 * 14 * 14 + extra for extra in (14, 28, 42, 56))
            ),
        ),
    ),
)
