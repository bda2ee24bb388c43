"""Exercise 6.6: Three bugs in two masks."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import torch
from torch import Tensor

from transformer_lib.exercises.attention_probes import Probe
from transformer_lib.exercises.chapter_06.shared import padded_ids, truth
from transformer_lib.exercises.exercise import Attempt, Case, Exercise, Mistake


def translator_masks(source, target, pad_id):
    T = target.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)
    self_mask = ~future & (target != pad_id)[:, None, None]
    cross_mask = (source != pad_id)[:, None, None]
    return self_mask, cross_mask


def _pairs(generator: torch.Generator) -> list[tuple]:
    """Sources and targets: in the first as many places, but other lengths."""

    def pair(B, S, T, pad_id, of_source, of_target, left=False):
        source = padded_ids(B, S, pad_id, of_source, generator, left)
        return source, padded_ids(B, T, pad_id, of_target, generator, left), pad_id

    return [
        pair(2, 5, 5, 0, [5, 3], [4, 5]),
        pair(3, 5, 7, 11, [2, 5, 4], [7, 5, 3]),
        pair(5, 11, 7, 3, [11, 7, 9, 5, 2], [2, 7, 5, 3, 6], left=True),
    ]


def _as_given(source, target, pad_id):
    T = target.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu()
    real = (source != pad_id)[:, None, None]
    return ~future | real, real


_CAUSAL: dict[str, Callable] = {
    "right": lambda ones: ones.tril(),
    "not-itself": lambda ones: ones.tril(-1),
    "next-word": lambda ones: ones.tril(1),
    "none": lambda ones: ones,
    "future": lambda ones: ones.triu(1),
    "future-and-itself": lambda ones: ones.triu(),
}
_PADDING: dict[str, Callable] = {
    "target": lambda source, target, pad_id: (target != pad_id)[:, None, None],
    "source": lambda source, target, pad_id: (source != pad_id)[:, None, None],
    "rows": lambda source, target, pad_id: (target != pad_id)[:, None, :, None],
    "both": lambda source, target, pad_id: (
        (target != pad_id)[:, None, None] & (target != pad_id)[:, None, :, None]
    ),
    "none": lambda source, target, pad_id: torch.tensor(True),
    "inverted": lambda source, target, pad_id: (target == pad_id)[:, None, None],
    "word 0": lambda source, target, pad_id: (target != 0)[:, None, None],
}
_JOIN: dict[str, Callable] = {"and": lambda a, b: a & b, "or": lambda a, b: a | b}


def _self_mask(case: Case, causal: str, padding: str, join: str) -> Tensor | None:
    """The mask of the target, made in one of several ways; None where the shapes do not fit."""
    T = case.args[1].shape[1]
    past = _CAUSAL[causal](torch.ones(T, T, dtype=torch.bool))
    try:
        mask = _JOIN[join](past, _PADDING[padding](*case.args))
        return mask.expand(case.expected[0].shape)
    except RuntimeError:
        return None


def _laid_over(mask: Tensor, shape: torch.Size) -> Tensor:
    return truth(mask).expand(shape)


def _self_mask_is(causal: str = "*", padding: str = "*", join: str = "*") -> Probe:
    """A probe: the target's mask was made in this way ("*": in any), and raises only where that does."""
    ways = [
        tuple(options if wanted == "*" else [wanted])
        for wanted, options in ((causal, _CAUSAL), (padding, _PADDING), (join, _JOIN))
    ]

    def made(case: Case, way: tuple) -> bool:
        expected = _self_mask(case, *way)
        if case.error is not None or expected is None:
            return case.error is not None and expected is None
        return torch.equal(_laid_over(case.got[0], expected.shape), expected)

    def probe(attempt: Attempt) -> bool:
        if all(case.error is not None for case in attempt.cases):
            return False
        return any(all(made(case, way) for case in attempt.cases) for way in itertools.product(*ways))

    return probe


def _cross_mask_is(mask: Callable) -> Probe:
    def probe(attempt: Attempt) -> bool:
        return all(
            case.error is None and torch.equal(truth(case.got[1]), mask(*case.args)) for case in attempt.cases
        )

    return probe


def _holds_numbers(case: Case) -> bool:
    """Whether a mask of the right shape holds whole numbers."""
    pairs = zip(case.got, case.expected, strict=True)
    numbers = [got for got, e in pairs if got.shape == e.shape and got.dtype != torch.bool]
    return bool(numbers) and all(bool((mask == mask.round()).all()) for mask in numbers)


def _opposite(part: int) -> Probe:
    return lambda attempt: all(torch.equal(c.got[part], ~c.expected[part]) for c in attempt.cases)


FIND_THE_BUG = Exercise(
    id="6.6",
    title="Three bugs in two masks",
    kind="find the bug",
    difficulty="medium",
    minutes=12,
    statement=r"""
A translator reads a sentence, the *source*, and writes another, the *target*. Its decoder needs two masks
(`True` = may read). `source` is `(B, S)` and `target` `(B, T)`, ids filled up with `pad_id` on the right or
on the left.

- `self_mask`, `(B, 1, T, T)`: a word of the target reads itself and the target's words before it, but no
  padding.
- `cross_mask`, `(B, 1, 1, S)`: a word of the target reads every word of the source, but no padding.

This function runs without an error as long as `S` and `T` are equal. Yet **three things are wrong** with
its `self_mask`. Find and mend them. (Delete the `raise` line first.)
""",
    stub='''import torch


def translator_masks(source, target, pad_id):
    """Masks of the decoder: target to target (B, 1, T, T), target to source (B, 1, 1, S)."""
    raise NotImplementedError  # delete this line, then find the three bugs
    T = target.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu()
    real = (source != pad_id)[:, None, None]
    self_mask = ~future | real
    cross_mask = real
    return self_mask, cross_mask
''',
    reference=translator_masks,
    cases=_pairs,
    hints=(
        "Print `self_mask[0, 0].int()` for a short target. Which words can word 0 read?",
        "`torch.ones(3, 3).triu()` includes the diagonal. Is a word its own future?",
        "A word may be read if it is in the past *and* it is real. And whose padding is it that the target "
        "must not read?",
    ),
    mistakes=(
        Mistake(
            name="pair-swapped",
            message="The two masks came in the other order: first the one for the target, then the one for "
            "the source.",
            variant=lambda source, target, pad_id: translator_masks(source, target, pad_id)[::-1],
        ),
        Mistake(
            name="one-mask-only",
            message="One mask came. Asked for are two: `return self_mask, cross_mask`.",
            probe=lambda attempt: all(isinstance(case.got, Tensor) for case in attempt.cases),
        ),
        Mistake(
            name="numbers-for-booleans",
            message="The masks hold numbers, not booleans. Join booleans by `&`; `+` and `*` with "
            "floats make numbers of them.",
            probe=lambda attempt: all(map(_holds_numbers, attempt.cases)),
        ),
        Mistake(
            name="all-three-bugs-left",
            message="All three are still there: look at which words word 0 reads, at what happens in a "
            "sentence with padding, and at `S` unequal to `T`.",
            variant=_as_given,
            probe=_self_mask_is("not-itself", "source", "or"),
        ),
        Mistake(
            name="source-padding-for-the-target",
            message="The target's words are hidden by the *source's* lengths. Where both are equally long, "
            "nobody notices; where they differ, padding is read or a real word is lost (and where "
            "`S` and `T` differ, it stops with an error).",
            probe=_self_mask_is(padding="source"),
        ),
        Mistake(
            name="joined-by-or",
            message="A word counts as readable if it is in the past *or* real. So every real word of the "
            "future can be read. Both conditions must hold at once.",
            probe=lambda attempt: any(
                _self_mask_is(causal, "target", "or")(attempt)
                for causal in ("right", "not-itself", "next-word")
            ),
        ),
        Mistake(
            name="cannot-see-itself",
            message="No word may read itself, and word 0 may read nothing at all. `triu` without a number "
            "starts at the diagonal.",
            probe=lambda attempt: (
                _self_mask_is("not-itself", "target", "and")(attempt)
                or _self_mask_is("not-itself", "none")(attempt)
            ),
        ),
        Mistake(
            name="next-word-visible",
            message="Off by one in the other direction now: each word also reads the next one, the very "
            "word that it is to predict.",
            probe=lambda attempt: (
                _self_mask_is("next-word", "target", "and")(attempt)
                or _self_mask_is("next-word", "none")(attempt)
            ),
        ),
        Mistake(
            name="future-visible",
            message="The padding is hidden, but the future is not.",
            probe=_self_mask_is("none", "target", "and"),
        ),
        Mistake(
            name="padding-forgotten",
            message="The future is hidden, but the target's padding can be read.",
            probe=_self_mask_is("right", "none", "and"),
        ),
        Mistake(
            name="future-for-past",
            message="Each word reads the words *after* it. `future` is True where a word must **not** be "
            "read.",
            probe=lambda attempt: (
                _self_mask_is("future", "target")(attempt)
                or _self_mask_is("future-and-itself", "target")(attempt)
                or _self_mask_is("future", "none", "and")(attempt)
                or _self_mask_is("future-and-itself", "none", "and")(attempt)
            ),
        ),
        Mistake(
            name="padding-on-query-rows",
            message="The padding is marked along the rows, the words that read. What must be hidden are "
            "the words that are *read*: the last axis.",
            probe=_self_mask_is(padding="rows"),
        ),
        Mistake(
            name="padding-rows-hidden-too",
            message="The padding's own rows are hidden as well. They have nothing left to read, and with "
            "−∞ they become NaN. Nobody reads them: hide the columns only.",
            probe=_self_mask_is(padding="both"),
        ),
        Mistake(
            name="padding-inverted",
            message="Of the target only the padding may be read, and no real word. Which of `==` and `!=` "
            "says that a word is real?",
            probe=_self_mask_is("*", "inverted", "and"),
        ),
        Mistake(
            name="pad-id-not-used",
            message="The word 0 is hidden, whatever `pad_id` is. With another padding that hides a real word "
            "and lets the padding through.",
            probe=_self_mask_is("*", "word 0", "and"),
        ),
        Mistake(
            name="self-mask-inverted",
            message="In `self_mask`, True and False have changed places. `True` means *may read*.",
            probe=_opposite(0),
        ),
        Mistake(
            name="cross-mask-inverted",
            message="In `cross_mask`, True and False have changed places. It was right before.",
            probe=_opposite(1),
        ),
        Mistake(
            name="cross-mask-stretched",
            message="`cross_mask` hides the right words, spelt out for every query. Asked for is the small "
            "one, `(B, 1, 1, S)`; axes of size 1 stretch by themselves.",
            probe=lambda attempt: all(
                torch.equal(c.got[0], c.expected[0])
                and c.got[1].dim() == 4
                and torch.equal(c.got[1], c.expected[1].expand(c.got[1].shape))
                for c in attempt.cases
            ),
        ),
        Mistake(
            name="target-padding-for-the-source",
            message="The `cross_mask` is now made from the *target's* padding. What is read there is the "
            "source.",
            probe=_cross_mask_is(lambda source, target, pad_id: (target != pad_id)[:, None, None]),
        ),
    ),
)
