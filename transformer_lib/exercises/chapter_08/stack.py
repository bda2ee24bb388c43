"""Exercise 8.6: A stack of N blocks."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from transformer_lib.blocks import EncoderBlock, LayerNorm
from transformer_lib.exercises.attention_probes import Probe, near
from transformer_lib.exercises.chapter_08.shared import block as random_block
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


class Stack(nn.Module):
    def __init__(self, make_block, n_layers, final_norm):
        super().__init__()
        self.blocks = nn.ModuleList(make_block() for _ in range(n_layers))
        self.final_norm = final_norm

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.final_norm(x)


class CountError(ValueError):
    """The stack has another number of parameters than its parts."""


class NoModuleError(TypeError):
    """What the class makes is no torch module."""


class MakeBlock:
    """Makes a fresh pre-norm block at each call, the n-th always with the same weights."""

    def __init__(self, D: int):
        self.D, self.made = D, 0

    def __call__(self) -> nn.Module:
        self.made += 1
        return random_block(self.D, 2, torch.Generator().manual_seed(self.made))


def final(D: int) -> LayerNorm:
    norm, generator = LayerNorm(D), torch.Generator().manual_seed(99)
    norm.scale.data, norm.shift.data = (torch.randn(D, generator=generator) for _ in range(2))
    return norm


def count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def _build(candidate, n_layers: int, x: Tensor):
    """The learner's stack on x; raises where its parameters are not those of its parts."""
    D = x.shape[-1]
    made = candidate(MakeBlock(D), n_layers, final(D))
    if not isinstance(made, nn.Module):
        if hasattr(made, "__dict__") and isinstance(candidate, type):
            raise NoModuleError(f"an object of {type(made).__name__} is no nn.Module")
        return made
    one, norm, here = count(MakeBlock(D)()), count(final(D)), count(made)
    if here != n_layers * one + norm:
        blocks = sum(isinstance(module, EncoderBlock) for module in made.modules())
        raise CountError(
            f"{n_layers} blocks of {one} parameters and a norm of {norm} make {n_layers * one + norm}; "
            f"`parameters()` gives {here}, and torch finds {blocks} block{'s' * (blocks != 1)} in the object"
        )
    return made(x)


def _counted(holds) -> Probe:
    """A probe: in every case the count is wrong, and this holds of (count, one block, norm, layers)."""

    def probe(attempt: Attempt) -> bool:
        if not all(isinstance(case.error, CountError) for case in attempt.cases):
            return False
        facts = []
        for case in attempt.cases:
            n_layers, x = case.args
            here = int(str(case.error).split("gives ")[1].split(",")[0])
            facts.append((here, count(MakeBlock(x.shape[-1])()), count(final(x.shape[-1])), n_layers))
        return all(holds(*fact) for fact in facts)

    return probe


def _gives(compute) -> Probe:
    """A probe: on every case the result is this of (blocks, norm, x)."""

    def probe(attempt: Attempt) -> bool:
        for case in attempt.cases:
            n_layers, x = case.args
            make = MakeBlock(x.shape[-1])
            blocks = [make() for _ in range(n_layers)]
            with torch.no_grad():
                if not near(case.got, compute(blocks, final(x.shape[-1]), x)):
                    return False
        return True

    return probe


def _through(blocks, x, after=lambda x: x) -> Tensor:
    for one in blocks:
        x = after(one(x))
    return x


def _raised(*words: str) -> Probe:
    return lambda attempt: any(
        case.error is not None and all(word in str(case.error) for word in words) for case in attempt.cases
    )


STACK = Exercise(
    id="8.6",
    title="A stack of N blocks",
    kind="write",
    difficulty="medium",
    minutes=12,
    statement=r"""
Write the class of a stack of `n_layers` blocks with a final norm, as pre-norm needs it.

- `Stack(make_block, n_layers, final_norm)`: `make_block()` makes one **fresh** block each time it is called;
  `final_norm` is a module.
- `stack(x)` with `x` of shape `(B, T, D)`: the first block gets `x`, each further one what the block before
  it gave; the final norm comes last. It returns `(B, T, D)`.

An optimizer must find the parameters of *all* blocks in `stack.parameters()`: the check counts them. Call
`make_block()` exactly once for each layer, first layer first.
""",
    stub='''import torch
from torch import nn


class Stack(nn.Module):
    def __init__(self, make_block, n_layers, final_norm):
        super().__init__()
        raise NotImplementedError

    def forward(self, x):
        """x (B, T, D); returns (B, T, D)."""
        raise NotImplementedError
''',
    reference=Stack,
    cases=lambda generator: [
        (n_layers, torch.randn(B, T, D, generator=generator))
        for n_layers, B, T, D in ((2, 1, 3, 4), (3, 2, 5, 6), (7, 3, 2, 10))
    ],
    run=_build,
    hints=(
        "Which container does torch search for parameters, and which does it not? `nn.ModuleList` is a list "
        "that it does.",
        "`[make_block() for _ in range(3)]` makes three blocks. `[make_block()] * 3` makes one, three times.",
        "In `forward`, a loop over the blocks gives each one's result to the next.",
    ),
    mistakes=(
        Mistake(
            name="super-init-missing",
            message="torch cannot store modules in the object before its own set-up has run. The first line "
            "of `__init__` should call it: `super().__init__()`.",
            probe=_raised("before Module.__init__() call"),
        ),
        Mistake(
            name="no-module",
            message="The class is not a kind of `nn.Module`, so its objects have no `parameters()`. What "
            "stands in the brackets behind its name?",
            probe=lambda attempt: all(isinstance(case.error, NoModuleError) for case in attempt.cases),
        ),
        Mistake(
            name="list-called",
            message="An `nn.ModuleList` is only a list: it holds the blocks and does not know what to do "
            "with x. Something has to hand x from block to block.",
            probe=_raised('[ModuleList] is missing the required "forward"'),
        ),
        Mistake(
            name="forward-missing",
            message="torch finds no method `forward` in the class. Is it there, spelt so, and indented as "
            "`__init__` is?",
            probe=_raised('is missing the required "forward"'),
        ),
        Mistake(
            name="make-block-not-called",
            message="`make_block` is stored instead of what it makes: a block comes out only when it is "
            "called, with parentheses.",
            probe=lambda attempt: all(
                case.error is not None and "MakeBlock is not a Module subclass" in str(case.error)
                for case in attempt.cases
            ),
        ),
        Mistake(
            name="one-block-repeated",
            message="{error}. One and the same block stands in every place, so all layers share their "
            "weights, and more layers bring no more parameters.",
            probe=_counted(lambda here, one, norm, n: here == one + norm or (here == one and n > 1)),
        ),
        Mistake(
            name="blocks-in-a-python-list",
            message="{error}. A plain list (or tuple, or dictionary) hides its modules from torch: they run, "
            "but an optimizer never sees them, `state_dict()` does not save them, and `to(device)` leaves "
            "them behind. (Blocks made in `forward` are not in the object either, and new at every call.)",
            probe=_counted(lambda here, one, norm, n: here in (norm, 0)),
        ),
        Mistake(
            name="final-norm-not-registered",
            message="{error}. The final norm's own parameters are missing: is it stored in the object?",
            probe=_counted(lambda here, one, norm, n: here == n * one),
        ),
        Mistake(
            name="one-block-too-many-or-few",
            message="{error}. `make_block()` was not called once for each layer: does the counting start or "
            "end one off?",
            probe=_counted(lambda here, one, norm, n: (here - norm) / one in (n - 1, n + 1)),
        ),
        Mistake(
            name="wrong-count",
            message="{error}. Each layer has a block of its own, and the object must hold each of them once.",
            probe=lambda attempt: any(isinstance(case.error, CountError) for case in attempt.cases),
        ),
        Mistake(
            name="copies-of-one-block",
            message="There are as many parameters as there should be, but all blocks *start* with the same "
            "numbers: they are copies of the first. Make each one fresh.",
            probe=_gives(lambda blocks, norm, x: norm(_through(blocks[:1] * len(blocks), x))),
        ),
        Mistake(
            name="make-block-called-too-often",
            message="`make_block()` was called once before the blocks of the stack were made: the first "
            "block that it made is missing from them. It should be called once for each layer.",
            probe=_gives(
                lambda blocks, norm, x: norm(_through([*blocks[1:], _block_number(len(blocks) + 1, x)], x))
            ),
        ),
        Mistake(
            name="another-norm",
            message="What leaves the last block is normalised, but not by the `final_norm` that was given: "
            "that one has learned numbers of its own.",
            probe=_gives(lambda blocks, norm, x: LayerNorm(x.shape[-1])(_through(blocks, x))),
        ),
        Mistake(
            name="no-final-norm",
            message="What leaves the last block is returned as it is: the final norm is not used, and with "
            "pre-norm the numbers grow with the depth.",
            probe=_gives(lambda blocks, norm, x: _through(blocks, x)),
        ),
        Mistake(
            name="norm-after-every-block",
            message="The final norm is applied after *every* block. It belongs after the last one.",
            probe=lambda attempt: (
                _gives(lambda blocks, norm, x: _through(blocks, x, norm))(attempt)
                or _gives(lambda blocks, norm, x: norm(_through(blocks, x, norm)))(attempt)
            ),
        ),
        Mistake(
            name="norm-before-every-block",
            message="The final norm is applied before *every* block. The blocks have norms of their own: "
            "this one belongs after the last.",
            probe=lambda attempt: (
                _gives(lambda blocks, norm, x: _norm_before_each(blocks, norm, x))(attempt)
                or _gives(lambda blocks, norm, x: norm(_norm_before_each(blocks, norm, x)))(attempt)
            ),
        ),
        Mistake(
            name="norm-first",
            message="The norm is applied to what enters the stack. It belongs after the last block.",
            probe=_gives(lambda blocks, norm, x: _through(blocks, norm(x))),
        ),
        Mistake(
            name="all-read-the-entrance",
            message="Every block gets the x that entered the stack, so that only the last one counts. Each "
            "should get what the block before it gave.",
            probe=_gives(lambda blocks, norm, x: norm(blocks[-1](x))),
        ),
        Mistake(
            name="returned-too-early",
            message="The result is that of the first block alone: the `return` stands inside the loop.",
            probe=lambda attempt: (
                _gives(lambda blocks, norm, x: norm(blocks[0](x)))(attempt)
                or _gives(lambda blocks, norm, x: blocks[0](x))(attempt)
            ),
        ),
        Mistake(
            name="outputs-added-up",
            message="Something is added around the blocks. Their residual connections are inside of them: "
            "the stack only hands on.",
            probe=lambda attempt: (
                _gives(lambda blocks, norm, x: norm(_with_a_residual(blocks, x)))(attempt)
                or _gives(lambda blocks, norm, x: norm(sum(one(x) for one in blocks)))(attempt)
                or _gives(lambda blocks, norm, x: norm(x + _through(blocks, x)))(attempt)
                or _gives(_norm_of_each_sum)(attempt)
            ),
        ),
        Mistake(
            name="blocks-not-used",
            message="The result is that of the final norm alone: what the blocks return goes nowhere.",
            probe=_gives(lambda blocks, norm, x: norm(x)),
        ),
        Mistake(
            name="a-block-skipped",
            message="The object holds all blocks, but the first or the last of them is not run.",
            probe=lambda attempt: (
                _gives(lambda blocks, norm, x: norm(_through(blocks[1:], x)))(attempt)
                or _gives(lambda blocks, norm, x: norm(_through(blocks[:-1], x)))(attempt)
            ),
        ),
        Mistake(
            name="last-block-first",
            message="The blocks run in the opposite order.",
            probe=_gives(lambda blocks, norm, x: norm(_through(blocks[::-1], x))),
        ),
    ),
)


def _block_number(n: int, x: Tensor) -> nn.Module:
    """The block that the n-th call of `make_block` makes."""
    make = MakeBlock(x.shape[-1])
    make.made = n - 1
    return make()


def _norm_before_each(blocks, norm, x):
    for one in blocks:
        x = one(norm(x))
    return x


def _norm_of_each_sum(blocks, norm, x):
    for one in blocks:
        x = norm(x + one(x))
    return x


def _with_a_residual(blocks, x):
    for one in blocks:
        x = x + one(x)
    return x
