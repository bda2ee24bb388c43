"""Right and wrong answers to the exercises of chapter 2, in many spellings. `test_bank.py` runs them."""

import math

import numpy as np
import torch
import torch.nn.functional as F

# ------------------------------------------------------------------ 2.1 predict
TRUTH = (True, False, False, True, True, True)


def flipped(*numbers):
    """The right answers with these statements answered the other way."""
    answers = [answer != (n + 1 in numbers) for n, answer in enumerate(TRUTH)]
    return lambda: answers


# ------------------------------------------------------------------ 2.2 work out


def by_hand_in_torch(scale=1.0, finish=lambda weights, keys, values: weights @ values):
    def by_hand():
        q = torch.tensor([2.0, 1.0, 1.0, 0.0])
        ln2 = math.log(2)
        keys = torch.tensor([[1.0, -2.0, 0.0, 5.0], [0.0, 0.0, ln2, 3.0], [ln2, 0.0, 0.0, 1.0]])
        values = torch.tensor([[7.0, 0.0], [0.0, 7.0], [7.0, 7.0]])
        return finish(torch.softmax(keys @ q * scale, 0), keys, values)

    return by_hand


def by_hand_softmax_by_parts():
    scores = [0.0, math.log(2), 2 * math.log(2)]
    exponentials = [math.exp(s) for s in scores]
    return [
        sum(e * v for e, v in zip(exponentials, column, strict=True)) / 7 for column in ((7, 0, 7), (0, 7, 7))
    ]


# ------------------------------------------------------------------ 2.3 one word


def one_word_loop(q, keys, values):
    exponentials = [torch.exp(sum(a * b for a, b in zip(q, k, strict=True))) for k in keys]
    total = sum(exponentials)
    output = torch.zeros(values.shape[1])
    for e, v in zip(exponentials, values, strict=True):
        output += e / total * v
    return output


def one_word_einsum(q, keys, values):
    return torch.einsum("s,sv->v", torch.einsum("k,sk->s", q, keys).softmax(0), values)


def one_word_as_a_row(q, keys, values):
    return (F.softmax(q[None] @ keys.T, dim=-1) @ values)[0]


def one_word_fused(q, keys, values):
    return F.scaled_dot_product_attention(q[None], keys, values, scale=1.0)[0]


def one_word_in_float64(q, keys, values):
    return (torch.softmax((keys * q).sum(1).double(), 0) @ values.double()).float()


def one_word_shifted(q, keys, values):
    scores = keys @ q
    scores -= scores.max()
    scores.exp_()
    return (scores[:, None] * values).sum(0) / scores.sum()


def one_word(weights_of, finish=lambda weights, keys, values: weights @ values):
    """A wrong answer: other weights of (scores, q), or another last step."""
    return lambda q, keys, values: finish(weights_of(keys @ q, q), keys, values)


def softmax(scores, q):
    return torch.softmax(scores, 0)


def one_word_all_in_a_loop_without_sum(q, keys, values):
    output = torch.zeros(values.shape[1])
    for k, v in zip(keys, values, strict=True):
        output = output + (q @ k).exp() * v
    return output


def one_word_softmax_inside_the_loop(q, keys, values):
    return sum(torch.softmax((q @ k)[None], 0) * v for k, v in zip(keys, values, strict=True))


def one_word_columns_of_one(q, keys, values):
    return (torch.softmax((keys @ q)[:, None], dim=1) * values).sum(0)


def one_word_argmax(q, keys, values):
    return values[torch.argmax(keys @ q)]


# ------------------------------------------------------------------ 2.4 and 2.5, the whole sentence


def parts(x, w_query, w_key, w_value):
    return x @ w_query.T, x @ w_key.T, x @ w_value.T


def head(
    scores=lambda q, k, x: q @ k.mT / q.shape[-1] ** 0.5, weights=lambda s, q: s.softmax(-1), finish=None
):
    """Self-attention with one of its steps replaced."""

    def self_attention(x, w_query, w_key, w_value):
        q, k, v = parts(x, w_query, w_key, w_value)
        a = weights(scores(q, k, x), q)
        return a @ v if finish is None else finish(a, x, q, k, v)

    return self_attention


def head_fused(x, w_query, w_key, w_value):
    return F.scaled_dot_product_attention(*parts(x, w_query, w_key, w_value))


def head_linear_einsum(x, w_query, w_key, w_value):
    q, k, v = (F.linear(x, w) for w in (w_query, w_key, w_value))
    scores = torch.einsum("...tk,...sk->...ts", q, k) * q.size(-1) ** -0.5
    return torch.einsum("...ts,...sv->...tv", F.softmax(scores, -1), v)


def head_scaled_queries(x, w_query, w_key, w_value):
    q, k, v = parts(x, w_query, w_key, w_value)
    return torch.softmax((q / math.sqrt(q.shape[-1])) @ k.mT, -1) @ v


def head_exp_and_sum(x, w_query, w_key, w_value):
    q, k, v = parts(x, w_query, w_key, w_value)
    e = torch.exp(q @ k.mT / len(w_query) ** 0.5)
    return (e @ v) / e.sum(-1, keepdim=True)


def head_keys_first(x, w_query, w_key, w_value):
    """Scores kept transposed, (keys, queries), and so is the softmax: another valid order."""
    q, k, v = parts(x, w_query, w_key, w_value)
    return (k @ q.mT / q.shape[-1] ** 0.5).softmax(-2).mT @ v


def head_by_loops(x, w_query, w_key, w_value):
    def one(sentence):
        q, k, v = parts(sentence, w_query, w_key, w_value)
        return torch.stack([torch.softmax(k @ q_i / q_i.numel() ** 0.5, 0) @ v for q_i in q])

    return one(x) if x.dim() == 2 else torch.stack([one(sentence) for sentence in x])


def head_values_last(x, w_query, w_key, w_value):
    q, k, _ = parts(x, w_query, w_key, w_value)
    return ((q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ x) @ w_value.T


def unmended(x, w_query, w_key, w_value):
    q = k = F.linear(x, w_query)
    return F.softmax(q @ k.T / q.shape[-1] ** 0.5, 0) @ F.linear(x, w_value)


def with_one_matrix(x, w, w_value, axis=-1):
    q = x @ w.T
    return torch.softmax(q @ q.mT / q.shape[-1] ** 0.5, axis) @ (x @ w_value.T)


def swapped(q, k, x):
    return k @ q.mT / q.shape[-1] ** 0.5


def scaled_by(factor):
    return head(scores=lambda q, k, x: q @ k.mT * factor(q, x))


def causal_softmax(s, q):
    return s.masked_fill(torch.ones_like(s, dtype=torch.bool).triu(1), -torch.inf).softmax(-1)


def as_one_long_text(x, w_query, w_key, w_value):
    return head_fused(x.flatten(0, 1), w_query, w_key, w_value).reshape(*x.shape[:2], len(w_value))


def across_sentences(x, w_query, w_key, w_value):
    return head()(x.transpose(0, 1), w_query, w_key, w_value).transpose(0, 1)


def weights_sum_over_queries_by_hand(s, q):
    e = s.exp()
    return e / e.sum(-2, keepdim=True)


# ------------------------------------------------------------------ 2.6 build a head


def shifted(places, strength=10.0):
    """W_Q with which word i asks for word i + places, at a strength; keys are unit vectors."""

    def previous_word_head(n):
        w_query = torch.zeros(n, n)
        for i in range(n):
            if 0 <= i + places < n:
                w_query[i + places, i] = strength
        return w_query, torch.eye(n)

    return previous_word_head


def on_a_circle(strength):
    """Two numbers per query and key: angles that turn with the position, as in sinusoidal encodings."""

    def previous_word_head(n):
        angle = 2 * math.pi * torch.arange(n) / max(n, 3)
        turned = angle - angle[1]
        circle = lambda a: torch.stack([a.cos(), a.sin()])  # noqa: E731
        return strength * circle(turned), circle(angle)

    return previous_word_head


def keys_shifted(n):
    w_key = torch.zeros(n, n)
    w_key[torch.arange(1, n), torch.arange(n - 1)] = 1  # key j is the unit vector j + 1
    return 30 * torch.eye(n), w_key


def with_integers(n):
    return 9 * torch.diag(torch.ones(n - 1), 1).int(), torch.eye(n).int()


def as_a_list(n):
    return [torch.eye(n, dtype=torch.float64), 20 * torch.eye(n, dtype=torch.float64).roll(1, 0)]


RIGHT = {
    "2.1": [
        lambda: list(TRUTH),
        lambda: TRUTH,
        lambda: [1, 0, 0, 1, 1, 1],
        lambda: torch.tensor(TRUTH),
        lambda: np.array(TRUTH),
    ],
    "2.2": [
        lambda: [5, 6],
        lambda: (5.0, 6.0),
        by_hand_in_torch(),
        lambda: by_hand_in_torch()().numpy(),
        lambda: list(by_hand_in_torch()()),
        lambda: [4.998, 6.003],
        by_hand_softmax_by_parts,
    ],
    "2.3": [
        one_word_loop,
        one_word_einsum,
        one_word_as_a_row,
        one_word_fused,
        one_word_in_float64,
        one_word_shifted,
    ],
    "2.4": [
        head(),
        head_fused,
        head_linear_einsum,
        head_scaled_queries,
        head_exp_and_sum,
        head_keys_first,
        head_by_loops,
        head_values_last,
    ],
    "2.5": [
        head(),
        head_fused,
        head_linear_einsum,
        head_scaled_queries,
        head_exp_and_sum,
        head_keys_first,
        head_by_loops,
        head_values_last,
    ],
    "2.6": [
        lambda n: torch.stack(shifted(-1)(n)),
        shifted(-1),
        on_a_circle(100.0),
        keys_shifted,
        with_integers,
        as_a_list,
    ],
}

WRONG = {
    "2.1": [
        (flipped(1), "rows-need-not-sum-to-one"),
        (flipped(2), "columns-sum-to-one"),
        (lambda: [True] * 6, "columns-sum-to-one"),
        (flipped(3), "symmetric-pattern"),
        (lambda: (1, 0, 1, 1, 1, 1), "symmetric-pattern"),
        (flipped(4), "equal-words-differ"),
        (flipped(5), "order-matters"),
        (flipped(6), "outside-the-range"),
        (flipped(4, 5), "equal-words-differ"),
        (lambda: [False] * 6, "rows-need-not-sum-to-one"),
        (lambda: torch.tensor(flipped(6)()), "outside-the-range"),
        (lambda: [True, False, False], "wrong-shape"),
    ],
    "2.2": [
        (lambda: (35.0, 42.0), "no-division"),
        (lambda: [4.67, 7], "no-exponential"),
        (lambda: torch.tensor([9.704, 14.556]), "scores-as-weights"),
        (lambda: [4.667, 4.667], "plain-average"),
        (lambda: [7, 7], "best-match-only"),
        (by_hand_in_torch(scale=4**-0.5), "scaled"),
        (by_hand_in_torch(scale=math.log(2)), "base-two"),
        (lambda: [4.84, 5.66], "base-two"),
        (by_hand_in_torch(finish=lambda weights, keys, values: weights @ keys), "keys-averaged"),
        (by_hand_in_torch(finish=lambda weights, keys, values: weights), "weights-returned"),
        (lambda: (0.14, 0.29, 0.57), "weights-returned"),
        (lambda: [6, 5], "components-swapped"),
        (lambda: [5, 5], "wrong-values"),
    ],
    "2.3": [
        (one_word(softmax, lambda weights, keys, values: weights), "weights-returned"),
        (lambda q, keys, values: F.softmax(q @ keys.T, -1), "weights-returned"),
        (one_word(softmax, lambda weights, keys, values: weights @ keys), "keys-averaged"),
        (
            lambda q, keys, values: F.scaled_dot_product_attention(q[None], keys, keys, scale=1)[0],
            "keys-averaged",
        ),
        (one_word(lambda s, q: s.exp()), "not-normalised"),
        (one_word_all_in_a_loop_without_sum, "not-normalised"),
        (one_word(lambda s, q: s / s.sum()), "no-exponential"),
        (one_word(lambda s, q: s), "no-softmax"),
        (lambda q, keys, values: values.T @ keys @ q, "no-softmax"),
        (one_word_softmax_inside_the_loop, "softmax-of-single-numbers"),
        (one_word_columns_of_one, "softmax-of-single-numbers"),
        (lambda q, keys, values: values.mean(0), "plain-average"),
        (one_word(lambda s, q: torch.softmax(0 * s, 0)), "plain-average"),
        (one_word_argmax, "best-match-only"),
        (one_word(lambda s, q: torch.softmax(1e4 * s, 0)), "best-match-only"),
        (one_word(lambda s, q: torch.softmax(s / len(q) ** 0.5, 0)), "scaled"),
        (one_word(lambda s, q: torch.softmax(s / len(q), 0)), "scaled"),
        (one_word(lambda s, q: torch.softmax(s * len(q) ** 0.5, 0)), "scaled"),
        (one_word(lambda s, q: torch.softmax(s, 0) / len(q) ** 0.5), "scale-after-softmax"),
        (one_word(lambda s, q: 2**s / (2**s).sum()), "base-two"),
        (one_word(lambda s, q: torch.softmax(F.dropout(s, 0.5), 0)), "random-result"),
        (one_word(lambda s, q: F.dropout(torch.softmax(s, 0), 0.5)), "random-result"),
        (lambda q, keys, values: F.scaled_dot_product_attention(q[None], keys, values)[0], "scaled"),
    ],
    "2.4": [
        (unmended, "both-bugs-left"),
        (lambda x, w_query, w_key, w_value: with_one_matrix(x, w_query, w_value, 0), "both-bugs-left"),
        (
            lambda x, w_query, w_key, w_value: with_one_matrix(x, w_query, w_value),
            "keys-from-the-queries-matrix",
        ),
        (
            lambda x, w_query, w_key, w_value: head_fused(x, w_query, w_query, w_value),
            "keys-from-the-queries-matrix",
        ),
        (
            lambda x, w_query, w_key, w_value: with_one_matrix(x, w_key, w_value),
            "queries-from-the-keys-matrix",
        ),
        (
            lambda x, w_query, w_key, w_value: head_fused(x, w_key, w_key, w_value),
            "queries-from-the-keys-matrix",
        ),
        (head(weights=lambda s, q: s.softmax(0)), "softmax-over-queries"),
        (head(weights=weights_sum_over_queries_by_hand), "softmax-over-queries"),
        (head(scores=swapped), "queries-keys-swapped"),
        (
            lambda x, w_query, w_key, w_value: head_fused(x, w_key, w_query, w_value),
            "queries-keys-swapped",
        ),
        (scaled_by(lambda q, x: 1), "no-scale"),
        (
            lambda x, w_query, w_key, w_value: F.scaled_dot_product_attention(
                *parts(x, w_query, w_key, w_value), scale=1.0
            ),
            "no-scale",
        ),
        (head(finish=lambda a, x, q, k, v: a), "weights-returned"),
        (scaled_by(lambda q, x: x.shape[-1] ** -0.5), "scale-by-d-model"),
        (scaled_by(lambda q, x: 1 / q.shape[-1]), "scale-without-root"),
        (scaled_by(lambda q, x: q.shape[-1] ** 0.5), "scale-upside-down"),
        (scaled_by(lambda q, x: q.shape[0] ** -0.5), "scale-by-length"),
        (scaled_by(lambda q, x: 2 * q.shape[-1] ** -0.5), "other-scale"),
        (
            head(scores=lambda q, k, x: q @ k.mT, weights=lambda s, q: s.softmax(-1) / q.shape[-1] ** 0.5),
            "scale-after-softmax",
        ),
        (
            lambda x, w_query, w_key, w_value: F.scaled_dot_product_attention(
                *parts(x, w_query, w_key, w_value), scale=len(w_value) ** -0.5
            ),
            "scale-by-value-width",
        ),
        (head(weights=lambda s, q: (1e4 * s).softmax(-1)), "best-match-only"),
        (head(weights=lambda s, q: F.one_hot(s.argmax(-1), s.shape[-1]).float()), "best-match-only"),
        (head(weights=causal_softmax), "causal-mask"),
        (head(weights=lambda s, q: F.dropout(s, 0.3).softmax(-1)), "random-result"),
    ],
    "2.5": [
        (head(finish=lambda a, x, q, k, v: a), "weights-returned"),
        (lambda x, w_query, w_key, w_value: head_fused(x, w_query, w_key, w_value) @ w_value, "wrong-shape"),
        (head(finish=lambda a, x, q, k, v: a @ x), "words-averaged"),
        (
            lambda x, w_query, w_key, w_value: F.scaled_dot_product_attention(x @ w_query.T, x @ w_key.T, x),
            "words-averaged",
        ),
        (head(finish=lambda a, x, q, k, v: a @ k), "keys-averaged"),
        (head(weights=lambda s, q: s.softmax(1)), "softmax-over-queries"),
        (head(weights=weights_sum_over_queries_by_hand), "softmax-over-queries"),
        (head(scores=lambda q, k, x: q @ k.mT, weights=lambda s, q: s.softmax(-2)), "softmax-over-queries"),
        (head(weights=lambda s, q: s.softmax(0)), "softmax-over-batch"),
        (head(weights=lambda s, q: s), "no-softmax"),
        (head(scores=lambda q, k, x: q @ k.mT, weights=lambda s, q: s), "no-softmax"),
        (
            head(scores=lambda q, k, x: q @ k.reshape(len(k), -1, k.shape[1]) / q.shape[-1] ** 0.5),
            "keys-reshaped",
        ),
        (
            head(
                scores=lambda q, k, x: q @ k.contiguous().view(len(k), -1, k.shape[1]) * q.shape[-1] ** -0.5
            ),
            "keys-reshaped",
        ),
        (
            head(scores=lambda q, k, x: q @ k.mT, weights=lambda s, q: s.softmax(-1) / q.shape[-1] ** 0.5),
            "scale-after-softmax",
        ),
        (
            head(
                scores=lambda q, k, x: q @ k.mT,
                finish=lambda a, x, q, k, v: (a @ v) * q.shape[-1] ** -0.5,
            ),
            "scale-after-softmax",
        ),
        (head(scores=swapped), "queries-keys-swapped"),
        (lambda x, w_query, w_key, w_value: head_fused(x, w_key, w_query, w_value), "queries-keys-swapped"),
        (head(scores=lambda q, k, x: k @ q.mT), "queries-keys-swapped"),
        (
            lambda x, w_query, w_key, w_value: with_one_matrix(x, w_query, w_value),
            "keys-from-the-queries-matrix",
        ),
        (
            lambda x, w_query, w_key, w_value: with_one_matrix(x, w_key, w_value),
            "queries-from-the-keys-matrix",
        ),
        (scaled_by(lambda q, x: 1), "no-scale"),
        (
            lambda x, w_query, w_key, w_value: F.scaled_dot_product_attention(
                *parts(x, w_query, w_key, w_value), scale=1.0
            ),
            "no-scale",
        ),
        (scaled_by(lambda q, x: x.shape[-1] ** -0.5), "scale-by-d-model"),
        (scaled_by(lambda q, x: 1 / math.sqrt(x.shape[-1])), "scale-by-d-model"),
        (scaled_by(lambda q, x: 1 / q.shape[-1]), "scale-without-root"),
        (scaled_by(lambda q, x: q.shape[1] ** -0.5), "scale-by-length"),
        (scaled_by(lambda q, x: q.shape[-1] ** -0.25), "other-scale"),
        (head(weights=lambda s, q: 2**s / (2**s).sum(-1, keepdim=True)), "other-scale"),
        (
            lambda x, w_query, w_key, w_value: F.scaled_dot_product_attention(
                *parts(x, w_query, w_key, w_value), scale=len(w_value) ** -0.5
            ),
            "scale-by-value-width",
        ),
        (head(weights=lambda s, q: (s == s.amax(-1, keepdim=True)).float()), "best-match-only"),
        (head(weights=lambda s, q: (1e4 * s).softmax(-1)), "best-match-only"),
        (head(weights=causal_softmax), "causal-mask"),
        (
            lambda x, w_query, w_key, w_value: F.scaled_dot_product_attention(
                *parts(x, w_query, w_key, w_value), is_causal=True
            ),
            "causal-mask",
        ),
        (as_one_long_text, "sentences-mixed"),
        (across_sentences, "sentences-mixed"),
        (head(weights=lambda s, q: F.dropout(s, 0.3).softmax(-1)), "random-result"),
        (head(weights=lambda s, q: F.dropout(s.softmax(-1), 0.3)), "random-result"),
        (scaled_by(lambda q, x: q.shape[-1] ** 0.5), "scale-upside-down"),
    ],
    "2.6": [
        (lambda n: (torch.eye(n), torch.eye(n + 1)), "misshapen-matrices"),
        (lambda n: (torch.ones(n, 2), torch.ones(n, 2)), "misshapen-matrices"),  # fits for n = 2
        (lambda n: 20 * torch.eye(n).roll(1, 1), "misshapen-matrices"),  # one matrix
        (lambda n: (torch.eye(n), torch.eye(n), torch.eye(n)), "misshapen-matrices"),
        (lambda n: (10 * torch.eye(n), torch.eye(n)[:1]), "misshapen-matrices"),
        (shifted(1), "reads-the-next-word"),
        (lambda n: tuple(reversed(shifted(-1)(n))), "reads-the-next-word"),
        (shifted(1, strength=1.5), "reads-the-next-word"),
        (shifted(0), "reads-itself"),
        (shifted(0, strength=1.5), "reads-itself"),
        (lambda n: (torch.zeros(n, n), torch.eye(n)), "all-words-alike"),
        (lambda n: (10 * torch.eye(n), torch.ones(n, n)), "all-words-alike"),
        (shifted(-1, strength=1.0), "too-soft"),
        (on_a_circle(10.0), "too-soft"),
        (lambda n: (shifted(-1)(n)[0][:3], torch.eye(n)[:3]), "some-words-miss"),
        (lambda n: (shifted(-1)(n)[0], torch.eye(n).flip(0)), "some-words-miss"),
    ],
}
