"""Exercise 11.7: As few words as it takes."""

from __future__ import annotations

import torch

from transformer_lib.exercises.chapter_11.shared import result_is
from transformer_lib.exercises.exercise import Exercise, Mistake


def top_p(p, share):
    sorted_p, order = p.sort(dim=-1, descending=True)
    before = sorted_p.cumsum(-1) - sorted_p  # what the likelier words have together
    kept = torch.zeros_like(p).scatter(-1, order, torch.where(before < share, sorted_p, 0.0))
    return kept / kept.sum(-1, keepdim=True)


def _cases(generator: torch.Generator) -> list[tuple]:
    def draw(B, V, share):
        return torch.softmax(1.5 * torch.randn(B, V, generator=generator), -1), share

    shown = torch.tensor([[0.15, 0.5, 0.05, 0.3], [0.1, 0.04, 0.62, 0.24]])
    return [(shown, 0.7), draw(3, 7, 0.9), draw(2, 11, 0.2), draw(5, 13, 0.6)]


def _sorted(p):
    values, order = p.sort(-1, descending=True)
    return values, order, values.cumsum(-1)


def _back(p, order, kept):
    """The probabilities of what is kept, given in sorted order, at their own places."""
    return p * torch.zeros_like(p, dtype=torch.bool).scatter(-1, order, kept)


def _shares(x):
    return x / x.sum(-1, keepdim=True)


def _keep(rule, finish=_shares):
    """What the rule of (sorted probabilities, their running sum, share) keeps."""

    def compute(p, share):
        values, order, total = _sorted(p)
        return finish(_back(p, order, rule(values, total, share)))

    return compute


def _right(values, total, share):
    return total - values < share


def _without_the_last(values, total, share):
    return total <= share


def _first_at_least(values, total, share):
    kept = total <= share
    return torch.cat([torch.ones_like(kept[:, :1]), kept[:, 1:]], -1)


def _one_more(values, total, share):
    kept = _right(values, total, share)
    return torch.cat([torch.ones_like(kept[:, :1]), kept[:, :-1]], -1)


def _wrong_way(p, share):
    values, order = p.sort(-1)
    return _shares(_back(p, order, values.cumsum(-1) - values < share))


def _sorted_order(p, share):
    values, _, total = _sorted(p)
    return _shares(values * _right(values, total, share))


def _unsorted(p, share):
    return _shares(p * (p.cumsum(-1) - p < share))


def _softmaxed(kept):
    return kept.masked_fill(kept == 0, float("-inf")).softmax(-1)


TOP_P = Exercise(
    id="11.7",
    title="As few words as it takes",
    kind="write",
    difficulty="hard",
    minutes=18,
    statement=r"""
`p` of shape `(B, V)` holds the probabilities of the next word of `B` texts; each row sums to 1. Keep, for
each text, the **fewest** words that have together at least the probability `share`, beginning with the
likeliest. The word that takes the sum across `share` is kept too. Return `(B, V)`: the words that are kept,
each at its own place, divided by their sum so that each row sums to 1 again, and 0 for all others. No two
words of a row have the same probability, and `share` lies between 0 and 1.

Example: of $(0.15, 0.5, 0.05, 0.3)$ with `share` 0.7 the words with 0.5 and 0.3 are kept, since 0.5 alone is
not enough: the result is $(0, 0.625, 0, 0.375)$.
""",
    stub='''import torch


def top_p(p, share):
    """The fewest words with together `share` of the probability, as shares again: (B, V)."""
    raise NotImplementedError
''',
    reference=top_p,
    cases=_cases,
    hints=(
        "Sort each row from the likeliest down (`descending=True`), and look at the running sum (`cumsum`).",
        "A word is kept if the words *before* it do not have `share` yet: running sum minus its own.",
        "`sort` also gives the places the words came from; `scatter` puts a mask back to them. Divide last.",
    ),
    mistakes=(
        Mistake(
            name="crossing-word-left-out",
            message="The word that takes the sum across `share` is missing: what is kept has less than "
            "`share`.",
            probe=result_is(
                _keep(_without_the_last),
                _keep(_first_at_least),
                lambda p, share: _keep(_without_the_last)(p, share).nan_to_num(),
                _keep(_without_the_last, lambda kept: kept),
            ),
        ),
        Mistake(
            name="one-word-too-many",
            message="One word more than necessary is kept: it should stop with the word that takes the sum "
            "across `share`.",
            probe=result_is(_keep(_one_more)),
        ),
        Mistake(
            name="complement-kept",
            message="The likely words were thrown away and the others kept.",
            probe=result_is(
                _keep(lambda v, t, share: ~_right(v, t, share)),
                _keep(lambda v, t, share: t >= share),
                _keep(lambda v, t, share: t > share, lambda kept: kept),
            ),
        ),
        Mistake(
            name="least-likely-first",
            message="The sum began with the least likely words. Sort the other way round.",
            probe=result_is(_wrong_way),
        ),
        Mistake(
            name="not-renormalised",
            message="The rows sum to {row_sums}. What is kept must be divided by its sum.",
            probe=result_is(_keep(_right, lambda kept: kept)),
        ),
        Mistake(
            name="divided-by-share",
            message="What is kept was divided by `share`. Its sum is a little more than that: the rows sum "
            "to {row_sums}.",
            probe=result_is(lambda p, share: _keep(_right, lambda kept: kept / share)(p, share)),
        ),
        Mistake(
            name="softmax-again",
            message="The probabilities went through a softmax. They are shares already: divide them by "
            "their sum.",
            probe=result_is(
                _keep(_right, _softmaxed),
                _keep(_right, lambda kept: kept.softmax(-1)),
                lambda p, share: _keep(_right)(p.softmax(-1), share),
            ),
        ),
        Mistake(
            name="left-in-sorted-order",
            message="The right words are kept, but they stand in the order of the sort. Each belongs to its "
            "own place.",
            probe=result_is(_sorted_order, lambda p, s: _sorted_order(p, s) * _sorted(p)[0].gt(-1)),
        ),
        Mistake(
            name="mask-not-put-back",
            message="The mask belongs to the sorted row, but was laid on the unsorted one: other words were "
            "kept than meant.",
            probe=result_is(
                lambda p, share: _shares(p * _right(*_sorted(p)[::2], share)),
                lambda p, share: _shares(
                    p.gather(-1, _sorted(p)[1].argsort(-1).argsort(-1)) * 0
                    + p * _right(*_sorted(p)[::2], share).gather(-1, _sorted(p)[1])
                ),
            ),
        ),
        Mistake(
            name="not-sorted",
            message="The running sum goes through the words as they stand. It must begin with the likeliest.",
            probe=result_is(_unsorted, lambda p, s: _shares(p * (p.cumsum(-1) <= s))),
        ),
        Mistake(
            name="share-as-a-bar",
            message="Each word was compared with `share` by itself. It is the running *sum* that counts.",
            probe=result_is(
                lambda p, s: _shares(p * (p >= s)),
                lambda p, s: _shares(p * (p >= s)).nan_to_num(),
                lambda p, s: _shares(p * (p >= 1 - s)),
                lambda p, s: _shares(p * (p >= 1 - s)).nan_to_num(),
            ),
        ),
        Mistake(
            name="nothing-forgotten",
            message="All words are kept.",
            probe=result_is(lambda p, share: p),
        ),
    ),
)
