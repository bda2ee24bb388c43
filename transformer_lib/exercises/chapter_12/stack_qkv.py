"""Exercise 12.3: Three tensors into one."""

from __future__ import annotations

from itertools import permutations

import torch

from transformer_lib.exercises.attention_probes import Probe, near
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def stack_qkv(tensors, layer):
    name = f"encoder.layer.{layer}.attention.self"
    parts = ("query", "key", "value")
    weight = torch.cat([tensors[f"{name}.{part}.weight"] for part in parts])
    bias = torch.cat([tensors[f"{name}.{part}.bias"] for part in parts])
    return weight, bias


PARTS = ("query", "key", "value")


def _files(generator: torch.Generator) -> list[tuple]:
    cases = []
    for D, layers, layer in ((2, 2, 1), (5, 12, 1), (3, 13, 10)):
        tensors = {}
        for n in reversed(range(layers)):  # as in a file, in no order to rely on
            for part in ("value", "key", "query"):
                name = f"encoder.layer.{n}.attention.self.{part}"
                tensors[f"{name}.bias"] = torch.randn(D, generator=generator)
                tensors[f"{name}.weight"] = torch.randn(D, D, generator=generator)
        cases.append((tensors, layer))
    return cases


def _read(tensors: dict, layer: int, parts: tuple[str, ...] = PARTS) -> tuple[list, list]:
    names = [f"encoder.layer.{layer}.attention.self.{part}" for part in parts]
    return [tensors[f"{n}.weight"] for n in names], [tensors[f"{n}.bias"] for n in names]


def _weight_is(*makes, bias: bool = False) -> Probe:
    """A probe: on every case the matrix (or the bias) is one and the same of these functions of the parts."""

    def probe(attempt: Attempt) -> bool:
        return any(
            all(near(torch.as_tensor(c.got[bias]), make(_read(*c.args)[bias])) for c in attempt.cases)
            for make in makes
        )

    return probe


def _in_order(order: tuple[int, ...]):
    return lambda parts: torch.cat([parts[i] for i in order])


OTHERS = [_in_order(order) for order in permutations(range(3)) if order != (0, 1, 2)]


def _another_layer(attempt: Attempt) -> bool:
    """Whether somewhere the numbers are those of another layer."""
    for case in attempt.cases:
        tensors, layer = case.args
        for other in range(len(tensors) // 6):
            if other != layer and near(case.got[0], torch.cat(_read(tensors, other)[0])):
                return True
    return False


def _interleaved(parts: list[torch.Tensor]) -> torch.Tensor:
    return torch.stack(parts, dim=1).flatten(0, 1)


STACK = Exercise(
    id="12.3",
    title="Three tensors into one",
    kind="write",
    difficulty="easy",
    minutes=8,
    statement=r"""
A file of BERT's family holds, for each layer `n`, three matrices of shape `(D, D)` and three biases of shape
`(D,)` under the names

`encoder.layer.n.attention.self.query.weight`, `….query.bias`, and the same with `key` and `value`.

Our module keeps them below one another, queries first, then keys, then values: one matrix of shape
`(3D, D)` and one bias of shape `(3D,)`. `tensors` is a dictionary from names to tensors, in any order, with
up to 13 layers; `layer` is the number of one of them, counted from 0. Return the pair `(weight, bias)`.
""",
    stub='''import torch


def stack_qkv(tensors, layer):
    """From a dictionary of tensors: weight (3D, D) and bias (3D,) of a layer."""
    raise NotImplementedError
''',
    reference=stack_qkv,
    cases=_files,
    hints=(
        "Each tensor can be looked up by its full name: an f-string puts the number in.",
        "`torch.cat` joins tensors along an axis that they have; `torch.stack` makes a new one.",
        '`torch.cat([tensors[f"encoder.layer.{layer}.attention.self.{part}.weight"] for part in …])`',
    ),
    mistakes=(
        Mistake(
            name="matrix-only",
            message="Only one tensor came. The biases belong to it; return a pair.",
            variant=lambda tensors, layer: stack_qkv(tensors, layer)[0],
        ),
        Mistake(
            name="pair-swapped",
            message="The pair came in the other order: first the matrix, then the bias.",
            variant=lambda tensors, layer: stack_qkv(tensors, layer)[::-1],
        ),
        Mistake(
            name="another-layer",
            message="In a file with more layers the numbers are those of another layer. Either they are "
            "counted from 1, or a name was looked for by its beginning: `layer.1` also begins `layer.10` "
            "and `layer.11`.",
            probe=_another_layer,
        ),
        Mistake(
            name="stacked-not-joined",
            message="The matrix has shape {got_shape}: the three parts lie behind one another on an axis of "
            "their own. They should stand below one another.",
            probe=_weight_is(torch.stack),
        ),
        Mistake(
            name="side-by-side",
            message="The three matrices stand beside one another. The columns of each are the D numbers that "
            "come in, and those are the same for all three: the rows are what is joined.",
            probe=_weight_is(lambda parts: torch.cat(parts, dim=1)),
        ),
        Mistake(
            name="transposed",
            message="Each matrix is the wrong way round. BERT's are stored as ours are: a row for each "
            "number "
            "that comes out.",
            probe=_weight_is(lambda parts: torch.cat([part.T for part in parts])),
        ),
        Mistake(
            name="rows-interleaved",
            message="The rows of the three matrices alternate. First come all rows of the queries, then all "
            "of the keys, then all of the values.",
            probe=_weight_is(_interleaved),
        ),
        Mistake(
            name="another-order",
            message="The parts stand in another order than queries, keys, values. No error would come of it, "
            "and no sense.",
            probe=_weight_is(*OTHERS),
        ),
        Mistake(
            name="biases-in-another-order",
            message="The matrix is right, but the biases stand in another order than its rows.",
            probe=_weight_is(*OTHERS, _interleaved, bias=True),
        ),
        Mistake(
            name="biases-not-joined",
            message="The matrix is right, but the three biases were added or put on an axis of their own. "
            "There is one number for each row of the matrix.",
            probe=_weight_is(torch.stack, lambda parts: sum(parts), bias=True),
        ),
    ),
)
