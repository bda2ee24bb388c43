"""Exercise 2.6: Build a head that reads the previous word."""

from __future__ import annotations

import torch

from transformer_lib.exercises.attention_probes import (
    Probe,
)
from transformer_lib.exercises.exercise import Exercise, Mistake


def previous_word_head(n):
    w_query = 10.0 * torch.eye(n).roll(-1, 0)  # place i asks for i − 1 …
    w_key = torch.eye(n)  # … and place j offers j
    return w_query, w_key


class MisshapenError(ValueError):
    """The learner's matrices do not fit the sentence or each other."""


def _weights_of_head(f, n):
    """The weights of the learner's head on n one-hot positions, from the second word on, (n − 1, n).

    Rows that are good enough are made one-hot, so that all good heads give the same result.
    """
    given = f(n)
    if isinstance(given, torch.Tensor) and given.dim() == 3:
        given = given.unbind()
    if isinstance(given, torch.Tensor):
        raise MisshapenError("two matrices are asked for, w_query and w_key; one came")
    if not isinstance(given, tuple | list):
        return given
    if len(given) != 2:
        raise MisshapenError(f"two matrices are asked for, w_query and w_key; {len(given)} came")
    w_query, w_key = (torch.as_tensor(w).float() for w in given)
    for name, w in (("W_Q", w_query), ("W_K", w_key)):
        if w.dim() != 2 or w.shape[1] != n:
            raise MisshapenError(
                f"{name} must have shape (K, {n}) for {n} positions; it has {tuple(w.shape)}"
            )
    if len(w_query) != len(w_key):
        raise MisshapenError(
            f"queries have {len(w_query)} numbers and keys {len(w_key)}: they must have as many"
        )
    x = torch.eye(n)
    weights = torch.softmax((x @ w_query.T) @ (x @ w_key.T).T, dim=-1)[1:]
    good = weights.diagonal() >= 0.99
    return torch.where(good[:, None], torch.eye(n)[:-1], weights)


def _all_cases(holds) -> Probe:
    """A probe on the weights of rows 1 … n − 1, for every case."""
    return lambda attempt: all(bool(holds(case.got)) for case in attempt.cases)


def _reads(offset: int) -> Probe:
    """A probe: whoever has a word at this offset gives it the largest weight. (Row 0 was cut off.)"""

    def holds(weights):
        there = weights.diagonal(1 + offset)
        rows = weights[: len(there)]
        alone = (rows >= rows.amax(-1, keepdim=True) - 1e-3).sum(-1) == 1  # no other word reads as much
        return ((there == rows.amax(-1)) & alone).all()

    return _all_cases(holds)


BUILD_A_HEAD = Exercise(
    id="2.6",
    title="Build a head that reads the previous word",
    kind="write",
    difficulty="hard",
    minutes=20,
    statement=r"""
Training gave head 2 of the published model matrices with which each word reads the word before. Make such
matrices yourself. The word vectors here are pure positions: word $i$ of $n$ (counting from 0) has a 1 at
place $i$ and 0 elsewhere, so that `x` is the unit matrix of size $n$. Return `w_query` and `w_key`, two
tensors of shape `(K, n)` with a `K` of your choice, so that in $\operatorname{softmax}(QK^\top)$ (no scale)
every word puts a weight of at least 0.99 on the word before it. Word 0 has none before it and may read
anything. `n` is between 2 and 13.
""",
    stub='''import torch


def previous_word_head(n):
    """Two tensors of shape (K, n): w_query and w_key."""
    raise NotImplementedError
''',
    reference=previous_word_head,
    cases=lambda generator: [(2,), (5,), (13,)],
    run=_weights_of_head,
    hints=(
        "With one-hot words, column i of `w_query` *is* the query of word i. You can write each query and "
        "key down directly.",
        "Let key j be the unit vector number j. Which query then gets a score above 0 from word i − 1 alone?",
        "A score of 1 against 0 gives a soft pattern. What makes a softmax sharper?",
    ),
    mistakes=(
        Mistake(
            name="misshapen-matrices",
            message="{error}.",
            probe=lambda attempt: any(isinstance(case.error, MisshapenError) for case in attempt.cases),
        ),
        Mistake(
            name="reads-the-next-word",
            message="Every word reads the word *after* it. Queries and keys may have changed roles, or "
            "the shift goes the wrong way: column i of `w_query` belongs to word i.",
            probe=_reads(1),
        ),
        Mistake(
            name="reads-itself",
            message="Every word reads itself: query i fits key i. It should fit key i − 1.",
            probe=_reads(0),
        ),
        Mistake(
            name="all-words-alike",
            message="Every word reads all words alike: no key fits any query better than another.",
            probe=_all_cases(lambda w: (w.amax(-1) - w.amin(-1)).max() < 1e-3),
        ),
        Mistake(
            name="too-soft",
            message="The right word gets the largest weight, but less than 0.99: the pattern is too soft. "
            "What makes a softmax sharper?",
            probe=_reads(-1),
        ),
        Mistake(
            name="some-words-miss",
            message="Some words read the word before them, others do not. Look at the heat map for the "
            "rows that go astray: often the first or the last ones, or those for which K is too small.",
            probe=lambda attempt: any(0 < (c.got.diagonal() == 1).float().mean() < 1 for c in attempt.cases),
        ),
    ),
)
