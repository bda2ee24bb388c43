"""Exercise 6.3: Hide the future."""

from __future__ import annotations

from collections.abc import Callable

import torch

from transformer_lib.exercises.attention_probes import Probe
from transformer_lib.exercises.chapter_06.shared import additive, numbers_for_booleans, on_every_case, truth
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def hide_future(T, S):
    i = torch.arange(T)[:, None] + S - T  # places of the queries, among all S words
    j = torch.arange(S)[None, :]
    return j <= i


def _sizes(generator: torch.Generator) -> list[tuple]:
    return [(3, 3), (2, 5), (1, 7), (5, 5), (7, 11)]


def _mask_is(*formulas: Callable) -> Probe:
    """A probe: on every case the mask is one and the same of these functions of i, j, T and S."""

    def is_it(formula, case) -> bool:
        T, S = case.args
        i, j = torch.arange(T)[:, None], torch.arange(S)[None, :]
        return torch.equal(truth(case.got), formula(i, j, T, S).expand(T, S))

    def probe(attempt: Attempt) -> bool:
        cases = attempt.cases
        return any(all(is_it(formula, case) for case in cases) for formula in formulas)

    return probe


def _shape_is(shape: Callable[[int, int], tuple]) -> Probe:
    def probe(attempt: Attempt) -> bool:
        return all(tuple(case.got.shape) == shape(*case.args) for case in attempt.cases)

    return probe


def _float_of(attempt: Attempt) -> bool:
    """Numbers that are added to the scores, of whatever kind: 0 for the past."""
    return on_every_case(additive)(attempt)


FUTURE = Exercise(
    id="6.3",
    title="Hide the future",
    kind="write",
    difficulty="medium",
    minutes=10,
    statement=r"""
Write the causal mask. `S` words are there in all, and the **last** `T` of them ask: the `S − T` words
before them were read earlier (their keys and values were kept), so $1 \le T \le S$. Return a tensor of
booleans of shape `(T, S)`. Row `i` belongs to query `i`, column `j` to word `j`, both counted from 0. An
entry is `True` where the query may read the word: a query may read its own word and all words before it,
those read earlier too. For `T = S` this is the usual square mask; for `T = 1`, the newest word alone,
everything is `True`.
""",
    stub='''import torch


def hide_future(T, S):
    """True where the last T of S words may read: booleans of shape (T, S)."""
    raise NotImplementedError
''',
    reference=hide_future,
    cases=_sizes,
    hints=(
        "Query number 0 is not word number 0. Which of the S words is it?",
        "`torch.arange(T)[:, None]` is a column, `torch.arange(S)` a row; comparing them makes a (T, S) "
        "table.",
        "`torch.tril` keeps what is on and below a diagonal, and its argument `diagonal` says which. For T "
        "= S it is 0.",
    ),
    mistakes=(
        Mistake(
            name="additive-mask",
            message="These are numbers to *add* to the scores, very low ones where a word is hidden. Asked "
            "for are booleans: `True` where a word may be read.",
            probe=_float_of,
        ),
        Mistake(
            name="numbers-for-booleans",
            message="The right places, but the mask holds {got_dtype} numbers, not booleans. Programs that "
            "add a mask of numbers to the scores would take these 1 and 0 as such, and hide "
            "nothing.",
            probe=on_every_case(numbers_for_booleans),
        ),
        Mistake(
            name="shape-swapped",
            message="The mask is turned: it has a column per query and a row per word that is read. "
            "Asked for is a row per query, `(T, S)`.",
            probe=_shape_is(lambda T, S: (S, T)),
        ),
        Mistake(
            name="earlier-words-missing",
            message="The mask has shape {got_shape}: the words that were read earlier have no column. It "
            "should be {expected_shape}.",
            probe=_shape_is(lambda T, S: (T, T)),
        ),
        Mistake(
            name="rows-for-earlier-words",
            message="The mask has shape {got_shape}: the words that were read earlier have a row each, but "
            "they no longer ask. It should be {expected_shape}; which of the rows belong to the new words?",
            probe=_shape_is(lambda T, S: (S, S)),
        ),
        Mistake(
            name="nothing-visible",
            message="Everything is hidden: every entry is False, so no query may read anything.",
            variant=lambda T, S: torch.zeros(T, S, dtype=torch.bool),
        ),
        Mistake(
            name="nothing-hidden",
            message="Nothing is hidden: every entry is True, so every query may read its future.",
            variant=lambda T, S: torch.ones(T, S, dtype=torch.bool),
        ),
        Mistake(
            name="inverted-polarity",
            message="True and False have changed places: the future may be read, and the past may not. "
            "Here `True` means *may read*. (In `torch.nn.MultiheadAttention` it means the "
            "opposite.)",
            probe=_mask_is(lambda i, j, T, S: j > i + S - T, lambda i, j, T, S: j > i),
        ),
        Mistake(
            name="upper-triangle",
            message="The mask keeps the upper triangle: each word reads itself and the words *after* it. "
            "Rows are the words that read; which triangle is the past?",
            probe=_mask_is(lambda i, j, T, S: j >= i + S - T, lambda i, j, T, S: j >= i),
        ),
        Mistake(
            name="cannot-see-itself",
            message="No word may read itself here, so the first word has nothing to read when T = S: its "
            "softmax would be NaN. The diagonal belongs to what may be read. (`triu` with diagonal "
            "0 marks the diagonal as future.)",
            probe=_mask_is(lambda i, j, T, S: j < i + S - T, lambda i, j, T, S: j < i),
        ),
        Mistake(
            name="next-word-visible",
            message="Off by one: each word may also read the *next* word, which is exactly the answer that "
            "it is asked for.",
            probe=_mask_is(lambda i, j, T, S: j <= i + S - T + 1, lambda i, j, T, S: j <= i + 1),
        ),
        Mistake(
            name="aligned-at-the-top",
            message="Right for T = S. But with words read earlier, query 0 is not word 0: here it sees "
            "only the first word of the text, and not even itself. Which word is query i?",
            probe=_mask_is(lambda i, j, T, S: j <= i),
        ),
        Mistake(
            name="earlier-words-hidden",
            message="Right for T = S. But the words that were read earlier are hidden from all queries: "
            "the model would forget everything before them.",
            probe=_mask_is(lambda i, j, T, S: (j <= i + S - T) & (j >= S - T)),
        ),
        Mistake(
            name="offset-backwards",
            message="Right for T = S. But the words that were read earlier shift the diagonal the wrong "
            "way: with more of them the queries should see more, not less.",
            probe=_mask_is(lambda i, j, T, S: j <= i + T - S),
        ),
        Mistake(
            name="earlier-words-last",
            message="Right for T = S. But the columns are in the order of the text: the words that were "
            "read earlier come first, the new ones last.",
            probe=_mask_is(lambda i, j, T, S: (j >= T) | (j <= i)),
        ),
        Mistake(
            name="only-itself",
            message="Each word may read itself and nothing else.",
            probe=_mask_is(lambda i, j, T, S: j == i + S - T, lambda i, j, T, S: j == i),
        ),
        Mistake(
            name="only-earlier-words",
            message="All queries may read the words that were read earlier, and none of the new ones.",
            probe=_mask_is(lambda i, j, T, S: j < S - T),
        ),
    ),
)
