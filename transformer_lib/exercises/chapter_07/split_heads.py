"""Exercise 7.2: Split into heads."""

from __future__ import annotations

import torch

from transformer_lib.exercises.attention_probes import Probe, near
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def split_heads(x, n_heads):
    B, T, D = x.shape
    return x.view(B, T, n_heads, D // n_heads).transpose(1, 2)


def _vectors(generator: torch.Generator) -> list[tuple]:
    sizes = ((1, 3, 2, 2), (2, 5, 3, 7), (5, 2, 7, 3), (3, 7, 5, 11))  # B, T, H, K
    return [(torch.randn(B, T, H * K, generator=generator), H) for B, T, H, K in sizes]


_B, _T, _H, _K = 2, 5, 3, 7


def _origins(attempt: Attempt) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Of which sentence, word and place of the vector each number of the result is, (B, H, T, K) each."""
    numbers = torch.arange(_B * _T * _H * _K, dtype=torch.float32)
    got = attempt.call(numbers.view(_B, _T, _H * _K), _H)
    if not isinstance(got, torch.Tensor):
        raise TypeError("no tensor came, from which nothing can be told")
    got = got.round().long()
    if got.shape != (_B, _H, _T, _K) or len(got.unique()) != len(numbers):
        raise ValueError("numbers were lost, or the shape is another")
    return got // (_T * _H * _K), got // (_H * _K) % _T, got % (_H * _K)


def _words(attempt: Attempt) -> bool:
    """Whether row t of every head holds numbers of word t."""
    _, word, _ = _origins(attempt)
    return bool((word == torch.arange(_T)[None, None, :, None]).all())


def _sentences(attempt: Attempt) -> bool:
    sentence, _, _ = _origins(attempt)
    return bool((sentence == torch.arange(_B)[:, None, None, None]).all())


def _neighbours(attempt: Attempt) -> bool:
    """Whether each head holds K neighbouring places in their order."""
    _, _, place = _origins(attempt)
    return bool((place.diff(dim=-1) == 1).all() and (place[..., 0] % _K == 0).all())


def _shaped(arrange) -> Probe:
    """A probe: on every case the result is this arrangement of x, H and K."""

    def probe(attempt: Attempt) -> bool:
        return all(near(c.got, arrange(c.args[0], c.args[1], c.expected.shape[-1])) for c in attempt.cases)

    return probe


def _list_of_heads(attempt: Attempt) -> bool:
    return all(
        isinstance(c.got, list | tuple) and len(c.got) == c.args[1] and c.got[0].dim() == 3
        for c in attempt.cases
    )


SPLIT = Exercise(
    id="7.2",
    title="Split into heads",
    kind="write",
    difficulty="easy",
    minutes=8,
    statement=r"""
The queries of all heads come out of one matrix product, side by side: `x` has shape `(B, T, D)`, and of the
`D = H · K` numbers of a word the first `K` belong to head 0, the next `K` to head 1, and so on. Bring them
into the shape `(B, H, T, K)`: entry `[b, h, t]` holds the `K` numbers of word `t` of sentence `b` for head
`h`. `n_heads` is `H`; `D` is always a multiple of it.
""",
    stub='''import torch


def split_heads(x, n_heads):
    """x (B, T, H * K), returns (B, H, T, K)."""
    raise NotImplementedError
''',
    reference=split_heads,
    cases=_vectors,
    hints=(
        "Two steps. First cut the last axis in two, without touching the others. Then move an axis.",
        "`x.view(B, T, n_heads, K)` cuts every word's numbers into heads. Which two axes are now in the "
        "wrong order?",
        "`.transpose(1, 2)` brings the heads before the words.",
    ),
    mistakes=(
        Mistake(
            name="split-by-view",
            message="The shape is right, but `view` (or `reshape`) alone only cuts the long row of numbers "
            "into other pieces, in the order in which they lie in memory. Head 0 now holds all numbers of "
            "the *first* words, and none of the last: a row mixes or moves words. An axis has to change "
            "places.",
            variant=lambda x, n_heads: x.reshape(x.shape[0], n_heads, x.shape[1], -1),
        ),
        Mistake(
            name="sentences-mixed",
            message="Numbers of one sentence ended up in another. The first axis must stay the first.",
            probe=lambda attempt: not _sentences(attempt),
        ),
        Mistake(
            name="words-mixed",
            message="The shape is right, but row t of a head does not hold the numbers of word t: words "
            "were mixed. Cutting an axis in two (`view`) keeps the numbers in their order; only `transpose` "
            "or `permute` moves an axis. First cut the last axis, then move.",
            probe=lambda attempt: not _words(attempt),
        ),
        Mistake(
            name="heads-interleaved",
            message="Every head got the right words, but not K *neighbouring* numbers: head 0 has numbers "
            "0, H, 2H, … of a word. In the cut of the last axis, which of the two new sizes comes first?",
            probe=lambda attempt: _words(attempt) and not _neighbours(attempt),
        ),
        Mistake(
            name="heads-out-of-order",
            message="Each head has K neighbouring numbers of the right words, but the heads stand in "
            "another order: head 0 must have the first K numbers.",
            probe=lambda attempt: _words(attempt) and _neighbours(attempt),
        ),
        Mistake(
            name="not-transposed",
            message="The shape is {got_shape}: words before heads. The last axis is cut rightly; now the "
            "heads must come before the words, so that each head is a sentence of its own.",
            probe=_shaped(lambda x, H, K: x.unflatten(-1, (H, K))),
        ),
        Mistake(
            name="heads-in-front",
            message="The shape is {got_shape}: the heads stand before the sentences. The batch stays in "
            "front.",
            probe=_shaped(lambda x, H, K: x.unflatten(-1, (H, K)).permute(2, 0, 1, 3)),
        ),
        Mistake(
            name="heads-among-sentences",
            message="The shape is {got_shape}: sentences and heads share one axis. They were to keep an axis "
            "each, `(B, H, T, K)`.",
            probe=lambda attempt: all(
                c.got.shape == (c.expected.shape[0] * c.expected.shape[1], *c.expected.shape[2:])
                for c in attempt.cases
            ),
        ),
        Mistake(
            name="words-last",
            message="The shape is {got_shape}: words and the numbers of a head have changed places. "
            "`transpose(1, 2)` exchanges two axes and leaves the last one alone.",
            probe=_shaped(lambda x, H, K: x.unflatten(-1, (H, K)).permute(0, 2, 3, 1)),
        ),
        Mistake(
            name="heads-and-width-swapped",
            message="The shape is {got_shape}, with K heads of H numbers. `n_heads` is the number of heads; "
            "their width is D divided by it.",
            probe=lambda attempt: all(
                c.got.shape == (c.args[0].shape[0], c.expected.shape[3], c.expected.shape[2], c.args[1])
                for c in attempt.cases
            ),
        ),
        Mistake(
            name="heads-in-a-list",
            message="The heads came as a list of {got_shape}, not as one tensor. `torch.stack` joins them: "
            "along which axis do the heads stand?",
            probe=_list_of_heads,
        ),
        Mistake(
            name="width-is-a-float",
            message="A size came out as a float: {error}. In Python `/` always gives a float; `//` divides "
            "whole numbers.",
            probe=lambda attempt: any(
                isinstance(c.error, TypeError) and "float" in str(c.error) for c in attempt.cases
            ),
        ),
    ),
)
