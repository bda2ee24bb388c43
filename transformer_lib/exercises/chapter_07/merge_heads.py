"""Exercise 7.3: And back again."""

from __future__ import annotations

import torch

from transformer_lib.exercises.attention_probes import Probe, near
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def merge_heads(heads):
    B, H, T, K = heads.shape
    return heads.transpose(1, 2).reshape(B, T, H * K)


def _outputs(generator: torch.Generator) -> list[tuple]:
    sizes = ((1, 2, 3, 2), (2, 3, 5, 7), (5, 7, 2, 3), (3, 5, 7, 11))  # B, H, T, K
    return [(torch.randn(size, generator=generator),) for size in sizes]


_B, _H, _T, _K = 2, 3, 5, 7


def _origins(attempt: Attempt) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Of which sentence, head, word and place each number of the result is, (B, T, H · K) each."""
    numbers = torch.arange(_B * _H * _T * _K, dtype=torch.float32)
    got = attempt.call(numbers.view(_B, _H, _T, _K))
    if not isinstance(got, torch.Tensor):
        raise TypeError("no tensor came, from which nothing can be told")
    got = got.round().long()
    if got.shape != (_B, _T, _H * _K) or len(got.unique()) != len(numbers):
        raise ValueError("numbers were lost, or the shape is another")
    return got // (_H * _T * _K), got // (_T * _K) % _H, got // _K % _T, got % _K


def _words(attempt: Attempt) -> bool:
    return bool((_origins(attempt)[2] == torch.arange(_T)[None, :, None]).all())


def _blocks(attempt: Attempt) -> bool:
    """Whether the K numbers of a head stand side by side, in their order."""
    _, head, _, place = _origins(attempt)
    head, place = head.unflatten(-1, (_H, _K)), place.unflatten(-1, (_H, _K))
    return bool((head == head[..., :1]).all() and (place == torch.arange(_K)).all())


def _shaped(arrange) -> Probe:
    return lambda attempt: all(near(c.got, arrange(c.args[0])) for c in attempt.cases)


MERGE = Exercise(
    id="7.3",
    title="And back again",
    kind="write",
    difficulty="easy",
    minutes=8,
    statement=r"""
After attention, every head has its own output: `heads` has shape `(B, H, T, K)`. Put the outputs of all
heads side by side, so that every word has one vector again: return shape `(B, T, H · K)`, with the `K`
numbers of head 0 first, then those of head 1, and so on.
""",
    stub='''import torch


def merge_heads(heads):
    """heads (B, H, T, K), returns (B, T, H * K)."""
    raise NotImplementedError
''',
    reference=merge_heads,
    cases=_outputs,
    hints=(
        "It is the splitting, backwards: which of the two steps has to be undone first?",
        "Before two axes can be joined, they must stand side by side: words first, then heads, then K.",
        "`view` refuses a transposed tensor, whose numbers do not lie in order in memory. `reshape` copies "
        "where it has to, and so does `.contiguous().view(…)`.",
    ),
    mistakes=(
        Mistake(
            name="merged-without-transposing",
            message="The shape is right, but the numbers were joined in the order in which they lie in "
            "memory: word 0 got the outputs that head 0 had for *several* words, and no head but head 0. "
            "Heads and words must change places before anything is joined.",
            variant=lambda heads: heads.reshape(heads.shape[0], heads.shape[2], -1),
        ),
        Mistake(
            name="sentences-mixed",
            message="Numbers of one sentence ended up in another. The first axis must stay the first.",
            probe=lambda attempt: bool((_origins(attempt)[0] != torch.arange(_B)[:, None, None]).any()),
        ),
        Mistake(
            name="words-mixed",
            message="The shape is right, but the vector of a word holds outputs of other words. Joining "
            "axes (`reshape`, `flatten`) keeps the numbers in their order; only `transpose` or `permute` "
            "moves an axis. Which axes must stand side by side before they are joined?",
            probe=lambda attempt: not _words(attempt),
        ),
        Mistake(
            name="heads-interleaved",
            message="Every word got its own numbers, but those of one head do not stand side by side: they "
            "alternate between the heads. Of the last two axes before joining, heads must be the first.",
            probe=lambda attempt: _words(attempt) and not _blocks(attempt),
        ),
        Mistake(
            name="heads-out-of-order",
            message="Every word got its own numbers, head by head, but the heads stand in another order: "
            "head 0 comes first.",
            probe=lambda attempt: _words(attempt) and _blocks(attempt),
        ),
        Mistake(
            name="view-after-transpose",
            message="{error} The axes are in the right order now, but after a transpose the numbers no "
            "longer lie in that order in memory, and `view` never copies. Its sister `reshape` does.",
            probe=lambda attempt: any(
                isinstance(c.error, RuntimeError) and "view size is not compatible" in str(c.error)
                for c in attempt.cases
            ),
        ),
        Mistake(
            name="not-joined",
            message="The shape is {got_shape}: the heads still have an axis of their own. Join it with the "
            "last one.",
            probe=_shaped(lambda heads: heads.transpose(1, 2)),
        ),
        Mistake(
            name="heads-averaged",
            message="The heads were added up or averaged. They are to stand side by side: each has "
            "something of its own to say, and what is made of it is decided by the next matrix.",
            probe=lambda attempt: any(
                _shaped(join)(attempt)
                for join in (lambda h: h.sum(1), lambda h: h.mean(1), lambda h: h.amax(1))
            ),
        ),
        Mistake(
            name="joined-along-the-words",
            message="The shape is {got_shape}: the heads were joined along the axis of the words, so that "
            "the sentence is H times as long. They belong side by side in each word's vector.",
            probe=_shaped(lambda heads: heads.flatten(1, 2)),
        ),
        Mistake(
            name="one-head-only",
            message="The shape is {got_shape}: the output of one head only. All of them go on.",
            probe=lambda attempt: any(_shaped(lambda heads, h=h: heads[:, h])(attempt) for h in (0, -1)),
        ),
    ),
)
