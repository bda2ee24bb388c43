"""What several exercises of chapter 4 use: the matrix of a rotation, read off the learner's function."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from transformer_lib.exercises.attention_probes import Probe, near
from transformer_lib.exercises.exercise import Attempt

WIDTH, PLACES = 6, (1, 2, 5)  # of the vectors and of the words that the probes use


def turned(attempt: Attempt, place: int, batched: bool) -> Tensor:
    """The matrix with which the learner's function turns a word at this place, (WIDTH, WIDTH): out = M x.

    Raises:
        ValueError: the function is not linear in x, or its output has another shape.
    """
    positions = torch.tensor([place])
    eye = torch.eye(WIDTH).reshape((WIDTH, 1, 1, WIDTH) if batched else (WIDTH, 1, WIDTH))
    x = torch.randn(eye.shape, generator=torch.Generator().manual_seed(1))
    columns, once = attempt.call(eye, positions), attempt.call(x, positions)
    if columns.shape != eye.shape or once.shape != eye.shape:
        raise ValueError(f"the output has shape {tuple(columns.shape)}")
    M = columns.reshape(WIDTH, WIDTH).T.double()
    if not near(once.reshape(WIDTH, WIDTH), (x.reshape(WIDTH, WIDTH).double() @ M.T).float()):
        raise ValueError("not linear")
    return M


def turns_by(*matrices: Callable[[int], Tensor], batched: bool = True) -> Probe:
    """A probe: at every place the matrix is one and the same of these functions of the place."""

    def probe(attempt: Attempt) -> bool:
        found = [turned(attempt, place, batched) for place in PLACES]
        return any(
            all((M - matrix(place)).abs().max() < 2e-3 for M, place in zip(found, PLACES, strict=True))
            for matrix in matrices
        )

    return probe


def speeds(exponent: Callable = lambda i: 2 * i / WIDTH, base: float = 10000.0) -> Tensor:
    """Angle per word of each pair."""
    return base ** -exponent(torch.arange(WIDTH // 2).double())


def pairs(place: float, theta: Tensor | None = None, signs: tuple = (1, -1, 1, 1)) -> Tensor:
    """The matrix that turns entries 2i and 2i + 1; signs of its cos, −sin, sin, cos."""
    angles = place * (speeds() if theta is None else theta)
    M = torch.zeros(WIDTH, WIDTH).double()
    for i, (c, s) in enumerate(zip(angles.cos(), angles.sin(), strict=True)):
        block = torch.stack([signs[0] * c, signs[1] * s, signs[2] * s, signs[3] * c]).reshape(2, 2)
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = block
    return M


SWAPPED = [1, 0, 3, 2, 5, 4]
SPLIT = [0, 2, 4, 1, 3, 5]  # the order in which the half-split layout has the entries of the woven one


def halves(M: Tensor) -> Tensor:
    """The same map for the layout in which entry i is paired with entry i + WIDTH/2."""
    return M[SPLIT][:, SPLIT]


def woven_angles_split_pairs(place: float, minus: float = -1.0) -> Tensor:
    """The well-known mix: angles 0 0 1 1 2 2, but entry i paired with entry i + WIDTH/2."""
    angles = (place * speeds()).repeat_interleave(2)
    eye = torch.eye(WIDTH).double()
    first, second = eye[: WIDTH // 2], eye[WIDTH // 2 :]
    other = torch.cat([minus * second, first])
    return angles.cos()[:, None] * eye + angles.sin()[:, None] * other


def split_angles_woven_pairs(place: float) -> Tensor:
    """The other mix: angles 0 1 2 0 1 2, but entry 2i paired with entry 2i + 1."""
    angles = torch.cat([place * speeds()] * 2)
    eye = torch.eye(WIDTH).double()
    other = torch.stack([-eye[1::2], eye[0::2]], dim=1).flatten(0, 1)
    return angles.cos()[:, None] * eye + angles.sin()[:, None] * other
