"""Exercises of chapter 2, self-attention: queries, keys and values, for one word and for the sentence.

The mistakes are kinds, not spellings: most are recognised by what the learner's attention does
(`attention_probes.py`).
"""

from __future__ import annotations

import math

import torch

from transformer_lib.exercises.attention_probes import (
    Probe,
    near,
    output_is,
    over_queries,
    pattern,
    scale_is,
    sums_to_one,
    transposed,
    unused,
)
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake

# ---------------------------------------------------------------- 2.1 predict


def predictions():
    return [True, False, False, True, True, True]


def _plain(given):
    """A list of plain numbers or truth values from any container; anything else stays as it came."""
    if hasattr(given, "tolist"):  # tensors and arrays
        given = given.tolist()
    if not isinstance(given, list | tuple):
        return given
    return [entry.item() if hasattr(entry, "item") else entry for entry in given]


def _answers(f):
    """The learner's answers as booleans, where they can be read as such."""
    given = _plain(f())
    if not isinstance(given, list) or any(entry not in (0, 1) for entry in given):
        return given
    return [bool(entry) for entry in given]


def _predicted(number: int, answer: bool):
    def probe(attempt: Attempt) -> bool:
        got = attempt.cases[0].got
        return len(got) == 6 and got[number - 1] is answer

    return probe


PREDICT = Exercise(
    id="2.1",
    title="What must be true?",
    kind="predict",
    difficulty="easy",
    minutes=5,
    statement=r"""
Five words with vectors $x_1, …, x_5$ go through self-attention without scale, mask or positions: $q_i = W^Q
x_i$, $k_i = W^K x_i$, $v_i = W^V x_i$, $\alpha_{ij} = \operatorname{softmax}_j(q_i^\top k_j)$, $o_i =
\sum_j \alpha_{ij} v_j$. Which statements hold for *every* sentence and *every* choice of the three
matrices?

1. The five weights with which a word reads, $\alpha_{i1}, …, \alpha_{i5}$, sum to 1.
2. The five weights with which a word is read, $\alpha_{1j}, …, \alpha_{5j}$, sum to 1.
3. Words read each other equally: $\alpha_{ij} = \alpha_{ji}$.
4. If words 1 and 4 have the same vector, their outputs $o_1$ and $o_4$ are the same.
5. If words 1 and 3 change places, the output of word 2 stays what it was.
6. Every number in an output lies between the smallest and the largest number at the same place of the five
   values.

Return your six answers as a list of `True` and `False`.
""",
    stub='''def predictions():
    """Six answers, True or False, in the order of the statements."""
    raise NotImplementedError
''',
    reference=predictions,
    cases=lambda generator: [()],
    run=_answers,
    hints=(
        "1 and 2: over which index does the sum in the denominator of the softmax run?",
        "4 and 5: does the place of a word appear anywhere in the formulas?",
        "6: the weights are positive and sum to 1. What can an average do, and what can it not?",
    ),
    mistakes=(
        Mistake(
            name="rows-need-not-sum-to-one",
            message="Look at statement 1 again: the softmax divides by a sum. Over which words does that "
            "sum run?",
            probe=_predicted(1, False),
        ),
        Mistake(
            name="columns-sum-to-one",
            message="Look at statement 2 again. Each word shares out its own reading; does anything limit "
            "how much a word is read by all the others together?",
            probe=_predicted(2, True),
        ),
        Mistake(
            name="symmetric-pattern",
            message="Look at statement 3 again. α_ij compares the query of word i with the key of word j. "
            "What does α_ji compare?",
            probe=_predicted(3, True),
        ),
        Mistake(
            name="equal-words-differ",
            message="Look at statement 4 again. Same vector: same query, same key, same value. What could "
            "still tell the two words apart?",
            probe=_predicted(4, False),
        ),
        Mistake(
            name="order-matters",
            message="Look at statement 5 again. The output of word 2 is a sum over the words. Does a sum "
            "change when two of its terms change places?",
            probe=_predicted(5, False),
        ),
        Mistake(
            name="outside-the-range",
            message="Look at statement 6 again. An output is an average of the values with positive "
            "weights that sum to 1. Can an average of 2 and 5 be 7?",
            probe=_predicted(6, False),
        ),
    ),
)

# ---------------------------------------------------------------- 2.2 work it out


def by_hand():
    weights = [1 / 7, 2 / 7, 4 / 7]  # exp(0), exp(ln 2), exp(2 ln 2) are 1, 2, 4
    values = [(7, 0), (0, 7), (7, 7)]
    return [sum(a * v[n] for a, v in zip(weights, values, strict=True)) for n in range(2)]


def _numbers(f):
    """The learner's numbers as floats, where they can be read as such."""
    given = _plain(f())
    if not isinstance(given, list) or any(not isinstance(entry, int | float) for entry in given):
        return given
    return [float(entry) for entry in given]


def _two(first: float, second: float):
    return lambda: [first, second]


_SCALED = torch.softmax(torch.tensor([0.0, math.log(2), math.log(4)]) / math.sqrt(2), 0).tolist()

WORK_OUT = Exercise(
    id="2.2",
    title="One word, by hand",
    kind="work out",
    difficulty="easy",
    minutes=8,
    statement=r"""
A word with the query $q = (2, 1)$ reads from three words. There is no scale.

| | key | value |
|---|---|---|
| word 1 | $(1, -2)$ | $(7, 0)$ |
| word 2 | $(0, \ln 2)$ | $(0, 7)$ |
| word 3 | $(\ln 2, 0)$ | $(7, 7)$ |

Work out the scores, the weights and the output $o$ on paper. Return the two numbers of $o$ as a list. (They
come out whole. If you prefer to let Python calculate, two decimals are enough.)
""",
    stub='''def by_hand():
    """The output, a list of two numbers."""
    raise NotImplementedError
''',
    reference=by_hand,
    cases=lambda generator: [()],
    run=_numbers,
    tolerance=0.01,
    hints=(
        "A score is a dot product: 2 · 1 + 1 · (−2) for word 1.",
        "exp(ln 2) = 2, and exp(2 ln 2) = exp(ln 4) = 4.",
        "The three exponentials are small whole numbers. Divide each by their sum, then average the values.",
    ),
    mistakes=(
        Mistake(
            name="no-division",
            message="The exponentials are right, but a weight is a *share*: the three must sum to 1. Your "
            "output is {ratio} times what it should be.",
            variant=_two(35, 42),
        ),
        Mistake(
            name="no-exponential",
            message="This is the average with the scores themselves as shares. The softmax takes the "
            "exponential of each score first; a score of 0 then still gets a share.",
            variant=_two(14 / 3, 7),
        ),
        Mistake(
            name="scores-as-weights",
            message="The values were multiplied by the bare scores. The scores must go through the "
            "softmax first.",
            variant=_two(14 * math.log(2), 21 * math.log(2)),
        ),
        Mistake(
            name="plain-average",
            message="This is the plain average of the three values: the query had no say.",
            variant=_two(14 / 3, 14 / 3),
        ),
        Mistake(
            name="best-match-only",
            message="This is the value of the best match alone. Attention reads a share of *every* word.",
            variant=_two(7, 7),
        ),
        Mistake(
            name="scaled",
            message="The scores were divided by √2. This exercise asks for the formula without scale.",
            variant=_two(7 * (_SCALED[0] + _SCALED[2]), 7 * (_SCALED[1] + _SCALED[2])),
        ),
        Mistake(
            name="keys-averaged",
            message="The weights are right, but they were used to average the *keys*. What is read are "
            "the values.",
            variant=_two((1 + 4 * math.log(2)) / 7, (-2 + 2 * math.log(2)) / 7),
        ),
        Mistake(
            name="weights-returned",
            message="These are the weights. The output is what is read with them: the average of the values.",
            variant=lambda: [1 / 7, 2 / 7, 4 / 7],
        ),
        Mistake(
            name="components-swapped",
            message="The two numbers are right but stand in the other order.",
            variant=_two(6, 5),
        ),
    ),
)

# ---------------------------------------------------------------- 2.3 one word


def read_one_word(q, keys, values):
    scores = keys @ q
    weights = torch.softmax(scores, dim=0)
    return weights @ values


def _one_word(generator: torch.Generator) -> list[tuple]:
    sizes = ((3, 2, 5), (7, 5, 2), (13, 3, 11))
    return [
        tuple(torch.randn(shape, generator=generator) for shape in ((K,), (S, K), (S, V)))
        for S, K, V in sizes
    ]


def _one_word_weights(attempt: Attempt) -> tuple[torch.Tensor, torch.Tensor]:
    """The weights that the learner's function uses on five words, and their scores."""
    generator = torch.Generator().manual_seed(5)
    q, keys = torch.randn(3, generator=generator), torch.randn(5, 3, generator=generator)
    return attempt.call(q, keys, torch.eye(5)), keys @ q


def _uses(weights_of_scores):
    """A probe: with values of a unit matrix, the output is this function of the scores."""

    def probe(attempt: Attempt) -> bool:
        weights, scores = _one_word_weights(attempt)
        return near(weights, weights_of_scores(scores))

    return probe


def _one_word_weights_returned(attempt: Attempt) -> bool:
    return all(near(c.got, torch.softmax(c.args[1] @ c.args[0], 0)) for c in attempt.cases)


def _one_word_keys_averaged(attempt: Attempt) -> bool:
    return all(near(c.got, torch.softmax(c.args[1] @ c.args[0], 0) @ c.args[1]) for c in attempt.cases)


ONE_WORD = Exercise(
    id="2.3",
    title="What one word reads",
    kind="write",
    difficulty="easy",
    minutes=8,
    statement=r"""
Write attention for one word, without scale. The word has the query `q` of shape `(K,)`. It reads from `S`
words: `keys` of shape `(S, K)` and `values` of shape `(S, V)` hold one word per row. Return the output $o =
\sum_j \operatorname{softmax}_j(q^\top k_j)\, v_j$, a tensor of shape `(V,)`. `K`, `S` and `V` can be any
sizes.
""",
    stub='''import torch


def read_one_word(q, keys, values):
    """What one word reads: q (K,), keys (S, K), values (S, V); returns (V,)."""
    raise NotImplementedError
''',
    reference=read_one_word,
    cases=_one_word,
    hints=(
        "Three steps: scores, weights, output. What is the shape of each?",
        "`keys @ q` gives all scores at once, shape `(S,)`. A loop over the rows is as good.",
        "The weights are `torch.softmax` of the scores; the output is the sum of each weight times its "
        "value.",
    ),
    mistakes=(
        Mistake(
            name="weights-returned",
            message="These are the weights, one per word that is read; they have shape {got_shape}. The "
            "output, of shape {expected_shape}, is what is read with them.",
            probe=_one_word_weights_returned,
        ),
        Mistake(
            name="keys-averaged",
            message="The weights are right, but they average the *keys*. The key is the label on the "
            "spine; what is read are the contents.",
            probe=_one_word_keys_averaged,
        ),
        Mistake(
            name="not-normalised",
            message="The exponentials of the scores are used as they are. A weight is a share: divide by "
            "the sum over all words, so that the weights sum to 1.",
            probe=_uses(torch.exp),
        ),
        Mistake(
            name="no-exponential",
            message="The scores are divided by their sum, without the exponential. Shares made that way "
            "can be negative, or very large where the scores cancel.",
            probe=_uses(lambda scores: scores / scores.sum()),
        ),
        Mistake(
            name="no-softmax",
            message="The values are multiplied by the bare scores. Between the scores and the sum stands "
            "the softmax.",
            probe=_uses(lambda scores: scores),
        ),
        Mistake(
            name="softmax-of-single-numbers",
            message="Every word gets the weight 1. That happens when the softmax runs along an axis with "
            "a single entry: it must run over the words.",
            probe=_uses(torch.ones_like),
        ),
        Mistake(
            name="plain-average",
            message="Every word gets the same weight, whatever the query is. Where does `q` enter?",
            probe=_uses(lambda scores: torch.full_like(scores, 1 / len(scores))),
        ),
        Mistake(
            name="best-match-only",
            message="Only the best match is read. Attention reads a share of *every* word; the best match "
            "merely gets the largest.",
            probe=_uses(lambda scores: (scores == scores.max()).float()),
        ),
        Mistake(
            name="scaled",
            message="The scores are divided by √K. That is the library's default and chapter 3's subject; "
            "this exercise asks for the formula without scale.",
            probe=_uses(lambda scores: torch.softmax(scores / math.sqrt(3), 0)),
        ),
    ),
)

# ---------------------------------------------------------------- 2.4 and 2.5, the whole sentence


def one_head(x, w_query, w_key, w_value):
    q = x @ w_query.T
    k = x @ w_key.T
    v = x @ w_value.T
    scores = q @ k.T / q.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=1)
    return weights @ v


def _matrices(D: int, K: int, V: int, generator: torch.Generator) -> list[torch.Tensor]:
    return [0.6 * torch.randn(rows, D, generator=generator) for rows in (K, K, V)]


def _one_sentence(generator: torch.Generator) -> list[tuple]:
    sizes = ((3, 5, 2, 7), (7, 11, 3, 5), (13, 7, 5, 11))
    return [(torch.randn(T, D, generator=generator), *_matrices(D, K, V, generator)) for T, D, K, V in sizes]


def _fixed_one_head(wrong_matrix: bool, wrong_axis: bool):
    def variant(x, w_query, w_key, w_value):
        q, k = x @ w_query.T, x @ (w_query if wrong_matrix else w_key).T
        scores = q @ k.T / q.shape[-1] ** 0.5
        return torch.softmax(scores, dim=0 if wrong_axis else 1) @ (x @ w_value.T)

    return variant


def _both_bugs(attempt: Attempt) -> bool:
    return pattern(over_queries, batched=False)(attempt) and unused(2)(attempt)


FIND_THE_BUG = Exercise(
    id="2.4",
    title="Two bugs, no error",
    kind="find the bug",
    difficulty="medium",
    minutes=8,
    statement=r"""
This function should compute self-attention with one head for one sentence, with the scale: `x` is `(T, D)`,
`w_query` and `w_key` are `(K, D)`, `w_value` is `(V, D)`, and the result is `(T, V)`. It runs, and the
shape is right. But someone who looked at its weights noticed two things: **the scores are symmetric**, and
**the rows of the weights do not sum to 1**. Find the two bugs and mend them. (Delete the `raise` line
first.)
""",
    stub="""import torch


def one_head(x, w_query, w_key, w_value):
    raise NotImplementedError  # delete this line, then find the two bugs
    q = x @ w_query.T
    k = x @ w_query.T
    v = x @ w_value.T
    scores = q @ k.T / q.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=0)
    return weights @ v
""",
    reference=one_head,
    cases=_one_sentence,
    hints=(
        "When is Q Kᵀ symmetric? When Q and K are the same matrix.",
        "In `scores`, which axis counts the queries, and which the keys?",
        "One bug is a slip of copy and paste. The other is a single digit.",
    ),
    mistakes=(
        Mistake(
            name="both-bugs-left",
            message="Both symptoms are still there: the scores are symmetric, and the columns of the "
            "weights sum to 1 instead of the rows.",
            variant=_fixed_one_head(wrong_matrix=True, wrong_axis=True),
            probe=_both_bugs,
        ),
        Mistake(
            name="keys-from-the-queries-matrix",
            message="`w_key` can be changed at will without changing the result: it is never used. So a "
            "word's key still equals its query, and the scores are symmetric.",
            variant=_fixed_one_head(wrong_matrix=True, wrong_axis=False),
            probe=unused(2),
        ),
        Mistake(
            name="queries-from-the-keys-matrix",
            message="Now `w_query` is never used. The copy and paste was mended on the wrong line: the "
            "scores are still symmetric.",
            probe=unused(1),
        ),
        Mistake(
            name="softmax-over-queries",
            message="The columns of the weights sum to 1, the rows do not. The softmax must run over the "
            "keys: each word shares out its own reading.",
            variant=_fixed_one_head(wrong_matrix=False, wrong_axis=True),
            probe=pattern(over_queries, batched=False),
        ),
        Mistake(
            name="queries-keys-swapped",
            message="The pattern is transposed: word i reads what word j should read from it. Whose query "
            "stands in a row of the scores?",
            probe=pattern(transposed, batched=False),
        ),
        Mistake(
            name="no-scale",
            message="The scale by 1/√K got lost on the way. It was not one of the bugs.",
            probe=scale_is(1, batched=False),
        ),
    ),
)


def self_attention(x, w_query, w_key, w_value):
    q = x @ w_query.T
    k = x @ w_key.T
    v = x @ w_value.T
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    return weights @ v


def _sentences(generator: torch.Generator) -> list[tuple]:
    sizes = ((2, 3, 7, 5, 11), (3, 7, 11, 5, 2), (5, 13, 11, 3, 7))
    return [
        (torch.randn(B, T, D, generator=generator), *_matrices(D, K, V, generator)) for B, T, D, K, V in sizes
    ]


def _keys_reshaped(x, w_query, w_key, w_value):
    q, k, v = x @ w_query.T, x @ w_key.T, x @ w_value.T
    scores = q @ k.reshape(k.shape[0], k.shape[2], k.shape[1]) / math.sqrt(q.shape[-1])
    return torch.softmax(scores, dim=-1) @ v


WHOLE_SENTENCE = Exercise(
    id="2.5",
    title="Every word at once",
    kind="write",
    difficulty="medium",
    minutes=15,
    statement=r"""
Write self-attention in matrix form, for a batch of sentences and with the scale:
$\operatorname{softmax}\left(QK^\top/\sqrt{K}\right)V$. `x` has shape `(B, T, D)`: `B` sentences of `T`
words, one word per row. The matrices are the lecture's $W^Q$, $W^K$ of shape `(K, D)` and $W^V$ of shape
`(V, D)`, without biases. Return a tensor of shape `(B, T, V)`. Sentences must not read from each other. All
sizes can differ.
""",
    stub='''import torch


def self_attention(x, w_query, w_key, w_value):
    """x (B, T, D), w_query and w_key (K, D), w_value (V, D); returns (B, T, V)."""
    raise NotImplementedError
''',
    reference=self_attention,
    cases=_sentences,
    hints=(
        "The lecture's q = W x has x as a column. Here words are rows. What does the product become?",
        "Only the last two axes of the keys change places: `k.transpose(-2, -1)`. The batch stays in front.",
        "Scores have shape `(B, T, T)`: queries along axis -2, keys along axis -1. The softmax runs over "
        "the keys.",
    ),
    mistakes=(
        Mistake(
            name="weights-returned",
            message="These are the weights, shape {got_shape}: every word against every word. The output, "
            "{expected_shape}, is what is read with them.",
            probe=output_is(lambda weights, x, k: weights),
        ),
        Mistake(
            name="words-averaged",
            message="The weights are right, but they average the word vectors `x` themselves. What a word "
            "hands over is the value made from it.",
            probe=output_is(lambda weights, x, k: weights @ x),
        ),
        Mistake(
            name="keys-averaged",
            message="The weights are right, but they average the *keys*. What is read are the values.",
            probe=output_is(lambda weights, x, k: weights @ k),
        ),
        Mistake(
            name="softmax-over-queries",
            message="The columns of the weights sum to 1, the rows do not. Each word must share out its "
            "own reading: the softmax runs over the keys.",
            probe=pattern(over_queries),
        ),
        Mistake(
            name="softmax-over-batch",
            message="The weights sum to 1 over the *sentences* of the batch. Counted from the front, the "
            "axes of the scores are batch, query, key.",
            probe=pattern(lambda weights, scores: sums_to_one(weights, 0) and not sums_to_one(weights, -1)),
        ),
        Mistake(
            name="no-softmax",
            message="The weights are the scores, up to a factor. There is no softmax: they are negative "
            "in places and do not sum to 1.",
            probe=pattern(
                lambda weights, scores: (weights - scores * (weights / scores).median()).abs().max() < 1e-3
            ),
        ),
        Mistake(
            name="keys-reshaped",
            message="The keys were brought into the shape `(B, K, T)` by `reshape` or `view`. That keeps "
            "the numbers in their order and mixes up the words; swapping two axes is another operation.",
            variant=_keys_reshaped,
        ),
        Mistake(
            name="scale-after-softmax",
            message="Each row of the weights sums to 1/√K. The scale belongs to the scores, before the "
            "softmax: after it, it only makes the output smaller.",
            probe=pattern(lambda weights, scores: sums_to_one(weights * math.sqrt(7), -1)),
        ),
        Mistake(
            name="queries-keys-swapped",
            message="The pattern is transposed: in row i stands how well the *others'* queries fit word "
            "i's key. Row i belongs to word i's query.",
            probe=pattern(transposed),
        ),
        Mistake(
            name="keys-from-the-queries-matrix",
            message="`w_key` can be changed without changing the result: it is never used.",
            probe=unused(2),
        ),
        Mistake(
            name="queries-from-the-keys-matrix",
            message="`w_query` can be changed without changing the result: it is never used.",
            probe=unused(1),
        ),
        Mistake(
            name="no-scale",
            message="The scores are not scaled: the weights are too sharp. By what does the formula divide?",
            probe=scale_is(1),
        ),
        Mistake(
            name="scale-by-d-model",
            message="The scores are divided by √D, the width of the word vectors. The scale counts the "
            "numbers that a dot product adds up: those of a query.",
            probe=scale_is(1 / math.sqrt(11)),
        ),
        Mistake(
            name="scale-without-root",
            message="The scores are divided by K itself, so that the weights are too flat. Something is "
            "missing around it.",
            probe=scale_is(1 / 7),
        ),
        Mistake(
            name="scale-by-length",
            message="The scores are divided by the root of the number of words. The scale counts the "
            "numbers that a dot product adds up: those of a query.",
            probe=scale_is(1 / math.sqrt(5)),
        ),
        Mistake(
            name="scale-upside-down",
            message="The scores are *multiplied* by √K instead of divided: the weights are far too sharp.",
            probe=scale_is(math.sqrt(7)),
        ),
    ),
)

# ---------------------------------------------------------------- 2.6 build a head


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
    if not isinstance(given, tuple | list) or len(given) != 2:
        return given
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
        return (there == rows.amax(-1)).all() and (rows.amax(-1) - rows.amin(-1) > 1e-3).all()

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

EXERCISES = (PREDICT, WORK_OUT, ONE_WORD, FIND_THE_BUG, WHOLE_SENTENCE, BUILD_A_HEAD)
