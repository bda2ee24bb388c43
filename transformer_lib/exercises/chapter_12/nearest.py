"""Exercise 12.6: The nearest sentences."""

from __future__ import annotations

from collections.abc import Callable

import torch

from transformer_lib.exercises.attention_probes import Probe
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def nearest(vectors, k):
    unit = vectors / vectors.norm(dim=1, keepdim=True)
    cosines = unit @ unit.T
    cosines.fill_diagonal_(-float("inf"))  # not itself
    return cosines.topk(k, dim=1).indices


def _vectors(generator: torch.Generator) -> list[tuple]:
    cases = []
    for N, D, k in ((5, 3, 4), (11, 7, 3), (13, 2, 5)):
        lengths = 0.3 + 3 * torch.rand(N, 1, generator=generator)
        cases.append((lengths * torch.randn(N, D, generator=generator), k))
    return cases


Likeness = Callable[[torch.Tensor], torch.Tensor]


def _cosines(v: torch.Tensor) -> torch.Tensor:
    unit = v / v.norm(dim=1, keepdim=True)
    return unit @ unit.T


def _others(likeness: torch.Tensor, value: float = -torch.inf) -> torch.Tensor:
    return likeness.clone().fill_diagonal_(value)


def _found_by(*rankings: Callable[[torch.Tensor, int], torch.Tensor]) -> Probe:
    """A probe: on every case the result is one and the same of these functions of vectors and k."""

    def same(got: torch.Tensor, wanted: torch.Tensor) -> bool:
        return got.shape == wanted.shape and bool((got == wanted).all())

    def probe(attempt: Attempt) -> bool:
        return any(all(same(c.got, r(*c.args)) for c in attempt.cases) for r in rankings)

    return probe


def _by(likeness: Likeness, largest: bool = True) -> Probe:
    """The same for a ranking by some likeness, with or without the sentence itself."""
    never = -torch.inf if largest else torch.inf
    return _found_by(
        lambda v, k: likeness(v).topk(k, largest=largest).indices,
        lambda v, k: _others(likeness(v), never).topk(k, largest=largest).indices,
        lambda v, k: likeness(v).topk(k + 1, largest=largest).indices[:, 1:],
    )


def _values(attempt: Attempt) -> bool:
    return all(
        c.got.is_floating_point()
        and torch.allclose(c.got, _others(_cosines(c.args[0])).topk(c.args[1]).values)
        for c in attempt.cases
    )


def _both(attempt: Attempt) -> bool:
    return all(isinstance(c.got, tuple) and len(c.got) == 2 for c in attempt.cases)


def _same_sets(attempt: Attempt) -> bool:
    return all(
        c.got.shape == c.expected.shape
        and not c.got.is_floating_point()
        and torch.equal(c.got.sort(1).values, c.expected.sort(1).values)
        for c in attempt.cases
    )


NEAREST = Exercise(
    id="12.6",
    title="The nearest sentences",
    kind="write",
    difficulty="medium",
    minutes=12,
    statement=r"""
`vectors` of shape `(N, D)` holds the vectors of `N` sentences, of any lengths (they are not unit
vectors). For each sentence find the `k` **other** sentences that are most alike to it by the cosine

$$\cos(a, b) = \frac{a^\top b}{\lVert a \rVert\, \lVert b \rVert},$$

the most alike first. Return their numbers (0 to `N` − 1) as a tensor of whole numbers of shape `(N, k)`.
A sentence does not find itself. `k` is at most `N` − 1; cosines may be negative.
""",
    stub='''import torch


def nearest(vectors, k):
    """vectors (N, D); returns the numbers of the k nearest others of each, (N, k)."""
    raise NotImplementedError
''',
    reference=nearest,
    cases=_vectors,
    hints=(
        "If all vectors had length 1, the cosine would be the scalar product: all of them at once are one "
        "product of matrices.",
        "`torch.topk` gives the largest entries along an axis, in order, and their places.",
        "Each sentence is most alike to itself, with cosine 1. Which number can you write on the diagonal so "
        "that it is never chosen, even before a negative cosine?",
    ),
    mistakes=(
        Mistake(
            name="pair-returned",
            message="`topk` returns two things: the cosines and their places. The places are asked for.",
            probe=_both,
        ),
        Mistake(
            name="cosines-returned",
            message="These are the cosines themselves. The *numbers* of the sentences are asked for.",
            probe=_values,
        ),
        Mistake(
            name="finds-itself",
            message="Each sentence finds itself first: its cosine with itself is 1. Only others are "
            "asked for.",
            probe=_found_by(lambda v, k: _cosines(v).topk(k).indices),
        ),
        Mistake(
            name="itself-set-to-zero",
            message="The sentence itself is given the cosine 0. That still beats every negative cosine, so "
            "that in small collections a sentence finds itself.",
            probe=_found_by(lambda v, k: _others(_cosines(v), 0.0).topk(k).indices),
        ),
        Mistake(
            name="first-sentence-dropped",
            message="A sentence is left out, but not always the sentence itself.",
            probe=_found_by(lambda v, k: 1 + _cosines(v)[:, 1:].topk(k).indices),
        ),
        Mistake(
            name="norms-missing",
            message="The ranking is by the scalar product: long vectors come first, whatever their "
            "direction. (Dividing by the length of the asking sentence alone changes nothing in its "
            "ranking.)",
            probe=_by(lambda v: v @ v.T),
        ),
        Mistake(
            name="norms-squared",
            message="The scalar products are divided by the *squares* of the lengths. A cosine has length "
            "times length below, each once.",
            probe=_by(lambda v: v @ v.T / v.square().sum(1) / v.square().sum(1, keepdim=True)),
        ),
        Mistake(
            name="norms-of-columns",
            message="The lengths were taken along the wrong axis: over the sentences instead of over the "
            "numbers of each vector.",
            probe=_by(lambda v: (v / v.norm(dim=0)) @ (v / v.norm(dim=0)).T),
        ),
        Mistake(
            name="distance-for-cosine",
            message="The ranking is by the distance of the vectors. For unit vectors that is the same "
            "ranking; these have different lengths.",
            probe=_by(lambda v: (v[:, None] - v).square().sum(-1), largest=False),
        ),
        Mistake(
            name="least-alike-first",
            message="The order is upside down: the least alike come first.",
            probe=_by(_cosines, largest=False),
        ),
        Mistake(
            name="right-ones-in-another-order",
            message="The right sentences are found, but not in the order of their cosines.",
            probe=_same_sets,
        ),
        Mistake(
            name="sign-lost",
            message="Sentences that point the opposite way are found too: the sign of the cosine is lost.",
            probe=_by(lambda v: _cosines(v).abs()),
        ),
        Mistake(
            name="along-the-first-axis",
            message="The result has shape {got_shape}: the search ran down the columns. One row for each "
            "sentence, {expected_shape}, is asked for.",
            probe=_found_by(
                lambda v, k: _others(_cosines(v)).topk(k, dim=0).indices,
                lambda v, k: _cosines(v).topk(k, dim=0).indices,
            ),
        ),
        Mistake(
            name="counted-from-one",
            message="The numbers are each one too large. Sentences are counted from 0.",
            probe=_found_by(lambda v, k: 1 + _others(_cosines(v)).topk(k).indices),
        ),
    ),
)
