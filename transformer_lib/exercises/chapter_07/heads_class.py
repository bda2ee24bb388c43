"""Exercise 7.7: Heads that do not learn."""

from __future__ import annotations

import torch
from torch import nn

from transformer_lib import SelfAttention
from transformer_lib.exercises.attention_probes import near
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake
from transformer_lib.exercises.measure import kind

SEEN = (
    "shape of the output",
    "learned numbers",
    "learned numbers that get a gradient",
    "numbers in state_dict",
    "independent directions of the outputs",
    "the first word reads the last",
    "outputs move with the words",
    "the output of -x is minus that of x",
    "the output is 0 when all learned numbers are",
)


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
    if not isinstance(out, torch.Tensor):
        return dict.fromkeys(SEEN) | {"shape of the output": kind(out)}
    other = x.clone()
    other[:, -1] = torch.randn(101, d_model, generator=generator)
    reads = bool((module(other)[:, 0] - out[:, 0]).abs().max() > 1e-5)
    order = torch.tensor([3, 0, 4, 2, 1])
    moves = near(module(x[:, order]), out[:, order])
    odd = near(module(-x), -out)  # the scores stay, the values change sign
    (out * torch.randn(out.shape, generator=generator)).sum().backward()
    flat = out.detach().flatten(0, -2).double()
    flat = flat - flat.mean(0)
    parameters = list(module.parameters())
    seen = (
        list(out.shape),
        sum(p.numel() for p in parameters),
        sum(p.numel() for p in parameters if p.grad is not None),
        sum(p.numel() for p in module.state_dict().values()),
        int(torch.linalg.matrix_rank(flat, rtol=1e-5)),
        reads,
        moves,
        odd,
    )
    with torch.no_grad():
        for p in parameters:
            p.zero_()
        return dict(zip(SEEN, (*seen, bool((module(x) == 0).all())), strict=True))


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
            name="no-tensor-returned",
            message="`forward` does not return a tensor. Is there a `return`, and are the heads' outputs "
            "joined by `torch.cat`?",
            probe=lambda attempt: isinstance(attempt.call(14, 2)["shape of the output"], str),
        ),
        Mistake(
            name="both-bugs-left",
            message="The heads are still missing from `parameters()`: only the last matrix is there. And "
            "all heads still give the same output.",
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
            name="gradient-cut",
            message="All heads are there, but no gradient reaches them: only the last matrix gets one. "
            "Something between it and the heads (`detach`, `no_grad`, `.data`) cuts the way back.",
            probe=_sees(
                lambda two, seven: (
                    _learned(two) == 4 * 14 * 14 and two["learned numbers that get a gradient"] == 14 * 14
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
            probe=_sees(
                lambda two, seven: (
                    (_learned(two), _learned(seven))
                    in ((8 * 14 * 14, 28 * 14 * 14), (7 * 14 * 14, 22 * 14 * 14))
                )
            ),
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
        Mistake(
            name="words-do-not-meet",
            message="No word reads another: when the last word changes, the output of the first stays as it "
            "is.",
            probe=_sees(lambda two, seven: not two["the first word reads the last"]),
        ),
        Mistake(
            name="words-mixed",
            message="When words change places, their outputs do not change places in the same way. Are the "
            "heads joined along the right axis, without `reshape` where an axis must move?",
            probe=_sees(lambda two, seven: not two["outputs move with the words"]),
        ),
        Mistake(
            name="input-added",
            message="With all learned numbers set to 0 the output is not 0: x itself was added. A block of a "
            "Transformer does that (chapter 8); here it was not asked for.",
            probe=_sees(lambda two, seven: not two["the output is 0 when all learned numbers are"]),
        ),
        Mistake(
            name="something-added",
            message="Something was added that was not asked for: an activation such as ReLU, or another "
            "step that is not linear in the values. After the heads comes the last matrix, and nothing else.",
            probe=_sees(lambda two, seven: not two["the output of -x is minus that of x"]),
        ),
    ),
)
