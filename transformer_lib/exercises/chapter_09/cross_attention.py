"""Exercise 9.2: Read from another sentence."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from transformer_lib.exercises.attention_probes import (
    Probe,
    near,
    one_hot,
    other_scale,
    over_queries,
    sums_to_one,
    temperature,
)
from transformer_lib.exercises.exercise import Attempt, Exercise, Mistake


def cross_attention(x, memory, w_query, w_key, w_value, real):
    q = x @ w_query.T
    k = memory @ w_key.T
    v = memory @ w_value.T
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(~real[:, None, :], float("-inf"))
    return torch.softmax(scores, dim=-1) @ v


def _inputs(B, T, S, D, K, V, generator):
    x = torch.randn(B, T, D, generator=generator)
    memory = torch.randn(B, S, D, generator=generator)
    maps = [0.8 * torch.randn(rows, D, generator=generator) for rows in (K, K, V)]
    lengths = torch.tensor([S - b % 3 for b in range(B)])
    return (x, memory, *maps, torch.arange(S) < lengths[:, None])


def _sentences(generator: torch.Generator) -> list[tuple]:
    sizes = ((2, 2, 3, 5, 7, 11), (3, 7, 5, 11, 2, 13), (5, 3, 11, 7, 13, 2))  # B, T, S, D, K, V
    return [_inputs(*size, generator) for size in sizes]


def _square(real: bool = False):
    """Inputs with as many words in the target as in the source, so that mixed-up ones raise no error."""
    x, memory, *maps, mask = _inputs(3, 5, 5, 11, 7, 13, torch.Generator().manual_seed(5))
    return x, memory, *maps, mask if real else torch.ones(3, 5, dtype=torch.bool)


def _reads(q_of: str, k_of: str, v_of: str) -> Probe:
    """A probe: queries, keys and values are made from these two sequences ("x", "memory")."""

    def probe(attempt: Attempt) -> bool:
        x, memory, w_query, w_key, w_value, _ = args = _square()
        of = {"x": x, "memory": memory}
        q, k, v = of[q_of] @ w_query.T, of[k_of] @ w_key.T, of[v_of] @ w_value.T
        weights = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1)
        return near(attempt.call(*args), weights @ v)

    return probe


def _weights(attempt: Attempt, padded: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    """The learner's weights, read off with unit vectors as values, and the true scores, (2, 3, 5) each."""
    B, T, S, D, K, V = 2, 3, 5, 11, 7, 8
    generator = torch.Generator().manual_seed(7)
    x = torch.randn(B, T, D, generator=generator)
    memory = torch.cat([torch.eye(S).expand(B, S, S), torch.randn(B, S, D - S, generator=generator)], dim=-1)
    w_query, w_key = torch.randn(2, K, D, generator=generator) / math.sqrt(D)
    w_key = w_key * 1.5
    real = torch.arange(S) < torch.tensor([[5], [3 if padded else 5]])
    out = attempt.call(x, memory, w_query, w_key, torch.eye(V, D), real)
    if out.shape != (B, T, V):
        raise ValueError(f"the output has shape {tuple(out.shape)}")
    return out[..., :S].double(), ((x @ w_query.T) @ (memory @ w_key.T).mT).double()


def _pattern(holds: Callable[..., bool], padded: bool = False) -> Probe:
    return lambda attempt: bool(holds(*_weights(attempt, padded)))


def _scale_is(scale: float) -> Probe:
    return _pattern(lambda w, s: sums_to_one(w, -1) and abs(temperature(w, s) / scale - 1) < 0.02)


def _shape_of_source(attempt: Attempt) -> bool:
    return all(
        case.got is not None and case.got.shape == (*case.args[1].shape[:2], case.args[4].shape[0])
        for case in attempt.cases
    )


def _pads_read(w: torch.Tensor, s: torch.Tensor) -> bool:
    """With padding: the weights are those without a mask."""
    return sums_to_one(w, -1) and math.isfinite(temperature(w, s))


def _inverted(attempt: Attempt) -> bool:
    w, _ = _weights(attempt, padded=True)
    return bool(w[0].isnan().all() and (w[1, :, :3].abs() < 1e-6).all() and sums_to_one(w[1], -1)) or bool(
        near(w[0], torch.full_like(w[0], 0.2)) and (w[1, :, :3].abs() < 1e-6).all()
    )


def _mask_after(attempt: Attempt) -> bool:
    w, s = _weights(attempt, padded=True)
    whole = torch.softmax(s / math.sqrt(7), -1)
    return bool((w[1, :, 3:].abs() < 1e-6).all()) and near(w[1, :, :3], whole[1, :, :3])


def _as_numbers(attempt: Attempt) -> bool:
    w, s = _weights(attempt, padded=True)
    s = s / math.sqrt(7)
    bias = torch.tensor([1.0, 1, 1, 0, 0], dtype=torch.double)
    return any(
        near(w[1], torch.softmax(scores, -1)) for scores in (s[1] + bias, s[1] * bias, s[1] + bias - 1)
    )


def _on_queries(attempt: Attempt) -> bool:
    args = _square(real=True)
    x, memory, w_query, w_key, w_value, real = args
    weights = torch.softmax((x @ w_query.T) @ (memory @ w_key.T).mT / math.sqrt(7), -1)
    free = weights @ (memory @ w_value.T)
    got = attempt.call(*args)
    return near(got[real], free[real]) and not near(got.nan_to_num(), free)


def _causal(w: torch.Tensor, s: torch.Tensor) -> bool:
    return sums_to_one(w, -1) and bool((w.triu(1).abs() < 1e-6).all() or (w.triu(3).abs() < 1e-6).all())


def _swapped_maps(attempt: Attempt) -> bool:
    x, memory, w_query, w_key, w_value, _ = args = _square()
    weights = torch.softmax((x @ w_key.T) @ (memory @ w_query.T).mT / math.sqrt(7), -1)
    return near(attempt.call(*args), weights @ (memory @ w_value.T))


def _unused(position: int) -> Probe:
    def probe(attempt: Attempt) -> bool:
        args = list(_square())
        got = attempt.call(*args)
        other_words = attempt.call(args[0].flip(-1), *args[1:])
        args[position] = args[position].flip(0) * 0.7 + 0.1
        return near(attempt.call(*args), got) and not near(other_words, got)

    return probe


def _instead_of_values(compute: Callable[..., torch.Tensor]) -> Probe:
    def probe(attempt: Attempt) -> bool:
        for case in attempt.cases:
            x, memory, w_query, w_key, _, real = case.args
            q, k = x @ w_query.T, memory @ w_key.T
            scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~real[:, None], float("-inf"))
            if not near(case.got, compute(torch.softmax(scores, -1), memory, k)):
                return False
        return True

    return probe


CROSS_ATTENTION = Exercise(
    id="9.2",
    title="Read from another sentence",
    kind="write",
    difficulty="medium",
    minutes=12,
    statement=r"""
Write cross-attention with one head: $\operatorname{softmax}\left(QK^\top/\sqrt{K}\right)V$ with
$Q = XW^{Q\top}$ from the decoder, and $K = MW^{K\top}$, $V = MW^{V\top}$ from the encoder.

- `x` of shape `(B, T, D)`: the target's words, `T` of them in each of `B` sentences.
- `memory` of shape `(B, S, D)`: the encoder's output for the `S` words of the source.
- `w_query` and `w_key` of shape `(K, D)`, `w_value` of shape `(V, D)`; no biases.
- `real` of shape `(B, S)`, boolean: `True` for a word of the source, `False` for padding. Padding must get
  the weight 0, and the weights of the real words must sum to 1. Every source has at least one real word.

Return a tensor of shape `(B, T, V)`. All sizes can differ.
""",
    stub='''import math

import torch


def cross_attention(x, memory, w_query, w_key, w_value, real):
    """x (B, T, D) reads from memory (B, S, D), where real (B, S) is True; returns (B, T, V)."""
    raise NotImplementedError
''',
    reference=cross_attention,
    cases=_sentences,
    hints=(
        "Take your self-attention of chapter 2. In how many places does `x` stand there, and which of them "
        "become `memory`?",
        "The scores have shape `(B, T, S)`: a row for each word that is being written.",
        "`real` needs an axis for the queries: `real[:, None, :]` has shape `(B, 1, S)`. Before the softmax, "
        "scores of padding become −∞ (`masked_fill`).",
    ),
    mistakes=(
        Mistake(
            name="source-reads-itself",
            message="`x` can be changed without changing the result: the source reads itself, and nothing "
            "of the target is asked. The queries come from the decoder.",
            probe=_reads("memory", "memory", "memory"),
        ),
        Mistake(
            name="queries-from-the-encoder",
            message="The roles are exchanged: the *source* asks. So there is one output for every word of "
            "the "
            "source; there should be one for every word that is being written.",
            probe=lambda attempt: _reads("memory", "x", "x")(attempt) or _shape_of_source(attempt),
        ),
        Mistake(
            name="target-reads-itself",
            message="`memory` can be changed without changing the result: the target reads itself. That is "
            "self-attention. Keys and values come from the encoder.",
            probe=_reads("x", "x", "x"),
        ),
        Mistake(
            name="values-from-the-decoder",
            message="The target finds the right words of the source, but what it takes over is made from "
            "`x`. "
            "Both, keys and values, come from the memory.",
            probe=_reads("x", "memory", "x"),
        ),
        Mistake(
            name="keys-from-the-decoder",
            message="The target compares its queries with keys made from `x`. Both, keys and values, come "
            "from the memory.",
            probe=_reads("x", "x", "memory"),
        ),
        Mistake(
            name="weights-returned",
            message="These are the weights, shape {got_shape}. The output, {expected_shape}, is what is "
            "read.",
            probe=_instead_of_values(lambda weights, memory, k: weights),
        ),
        Mistake(
            name="memory-averaged",
            message="The weights are right, but they average the memory itself. What is handed over are the "
            "*values* made from it.",
            probe=_instead_of_values(lambda weights, memory, k: weights @ memory),
        ),
        Mistake(
            name="keys-averaged",
            message="The weights are right, but they average the *keys*. What is read are the values.",
            probe=_instead_of_values(lambda weights, memory, k: weights @ k),
        ),
        Mistake(
            name="softmax-over-queries",
            message="The weights of one source word sum to 1 over the *target*. Each word that is being "
            "written shares out its own reading: the softmax runs over the source.",
            probe=_pattern(over_queries),
        ),
        Mistake(
            name="mask-upside-down",
            message="Padding is read and the words are hidden: `real` is True where there *is* a word. Where "
            "a source has no padding nothing is left to read.",
            probe=_inverted,
        ),
        Mistake(
            name="mask-after-softmax",
            message="Padding gets 0, but the weights of the real words do not sum to 1 any more: the "
            "share of "
            "the padding is lost. Hide it *before* the softmax.",
            probe=_mask_after,
        ),
        Mistake(
            name="mask-as-numbers",
            message="The mask was added to the scores, or multiplied into them, as 0 and 1. That moves a "
            "score "
            "a little; padding keeps a good part of the reading. A hidden score is −∞.",
            probe=_as_numbers,
        ),
        Mistake(
            name="mask-on-queries",
            message="The mask hides *rows*: the words that ask. Padding of the source stands in the columns, "
            "and it is still read. With as many words in the target as in the source this raises no error.",
            probe=_on_queries,
        ),
        Mistake(
            name="causal-mask",
            message="Early words of the target cannot read late words of the source, as if there were a "
            "causal "
            "mask. The source is known from its first to its last word: nothing of it is future.",
            probe=_pattern(_causal),
        ),
        Mistake(
            name="matrices-swapped",
            message="`w_query` and `w_key` have changed places: queries are made with `w_query`, from `x`.",
            probe=_swapped_maps,
        ),
        Mistake(
            name="keys-matrix-unused",
            message="`w_key` can be changed without changing the result: it is never used.",
            probe=_unused(3),
        ),
        Mistake(
            name="queries-matrix-unused",
            message="`w_query` can be changed without changing the result: it is never used.",
            probe=_unused(2),
        ),
        Mistake(
            name="scale-after-softmax",
            message="The weights of a word sum to 1/√K. The scale belongs to the scores, before the softmax.",
            probe=_pattern(lambda w, s: sums_to_one(w * math.sqrt(7), -1)),
        ),
        Mistake(
            name="no-scale",
            message="The scores are not scaled: the weights are too sharp.",
            probe=_scale_is(1),
        ),
        Mistake(
            name="scale-by-d-model",
            message="The scores are divided by √D. The scale counts the numbers of a query, K.",
            probe=_scale_is(1 / math.sqrt(11)),
        ),
        Mistake(
            name="scale-without-root",
            message="The scores are divided by K itself: the weights are too flat.",
            probe=_scale_is(1 / 7),
        ),
        Mistake(
            name="padding-read",
            message="Padding of the source is read: `real` has no effect. The same source would be "
            "translated "
            "otherwise in the company of a longer one.",
            probe=_pattern(_pads_read, padded=True),
        ),
        Mistake(
            name="best-match-only",
            message="Only the best match is read. A softmax gives every real word a share.",
            probe=_pattern(one_hot),
        ),
        Mistake(
            name="other-scale",
            message="The rows are a softmax of the scores, but multiplied by another factor than the "
            "formula's.",
            probe=_pattern(other_scale),
        ),
    ),
)
