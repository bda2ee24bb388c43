"""Right and wrong answers to the exercises of chapter 6, in many spellings. `test_bank.py` runs them."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import einsum


def says(*answer):
    """An answer on paper."""
    return lambda: list(answer)


def predicts(*changed):
    """The right predictions, but for the statements of these numbers."""
    right = [True, False, False, False, True, True, False]
    return says(*(answer != (n in changed) for n, answer in enumerate(right, 1)))


# ------------------------------------------------------------------ 6.2 by hand


def row_in_torch(change=lambda scores: scores.masked_fill(torch.arange(4) > 2, -math.inf)):
    scores = torch.tensor([1.0, 2.0, 5.0, 8.0]).log()
    return lambda: change(scores).softmax(0)


def row_in_numpy():
    exponentials = np.exp(np.log([1, 2, 5, 8])) * np.array([1, 1, 1, 0])
    return exponentials / exponentials.sum()


# ------------------------------------------------------------------ 6.3 the future


def future_tril(T, S):
    return torch.ones(T, S).tril(S - T).bool()


def future_triu(T, S):
    return ~torch.triu(torch.ones(T, S, dtype=torch.bool), diagonal=S - T + 1)


def future_last_rows(T, S):
    return torch.tril(torch.ones(S, S, dtype=torch.bool))[-T:]


def future_loops(T, S):
    mask = torch.zeros(T, S, dtype=torch.bool)
    for i in range(T):
        for j in range(S):
            mask[i, j] = j <= S - T + i
    return mask


def future_joined(T, S):
    return torch.cat([torch.ones(T, S - T), torch.tril(torch.ones(T, T))], dim=1) == 1


def future_lists(T, S):
    return torch.tensor([[j - i <= S - T for j in range(S)] for i in range(T)])


def future_cumsum(T, S):
    return torch.eye(S)[S - T :].flip(1).cumsum(1).flip(1) > 0


def future_slices(T, S):
    mask = torch.zeros((T, S), dtype=torch.bool)
    for i in range(T):
        mask[i, : S - T + i + 1] = True
    return mask


def tril(offset=lambda T, S: S - T):
    return lambda T, S: torch.ones(T, S, dtype=torch.bool).tril(offset(T, S))


def triu(offset=lambda T, S: S - T):
    return lambda T, S: torch.ones(T, S, dtype=torch.bool).triu(offset(T, S))


def off_by_one_loop(T, S):
    mask = torch.zeros(T, S, dtype=torch.bool)
    for i in range(T):
        mask[i, : S - T + i + 2] = True
    return mask


def not_itself_loop(T, S):
    mask = torch.zeros(T, S, dtype=torch.bool)
    for i in range(T):
        mask[i, : S - T + i] = True
    return mask


def additive_future(low):
    return lambda T, S: torch.zeros(T, S).masked_fill(~future_tril(T, S), low)


# ------------------------------------------------------------------ 6.4 the padding


def padding_unsqueezed(ids, pad_id):
    return ids.ne(pad_id).unsqueeze(1).unsqueeze(2)


def padding_viewed(ids, pad_id):
    B, S = ids.shape
    return (ids != pad_id).view(B, 1, 1, S)


def padding_loops(ids, pad_id):
    mask = torch.ones(len(ids), 1, 1, ids.shape[1], dtype=torch.bool)
    for b, row in enumerate(ids.tolist()):
        for s, word in enumerate(row):
            if word == pad_id:
                mask[b, 0, 0, s] = False
    return mask


def padding_numpy(ids, pad_id):
    return torch.from_numpy(ids.numpy() != pad_id)[:, None, None]


def padding_where(ids, pad_id):
    return ~torch.where(ids == pad_id, True, False).reshape(ids.shape[0], 1, 1, -1)


def padded(f):
    """A mask from the truth values 'is a real word'."""
    return lambda ids, pad_id: f(ids != pad_id)


def by_lengths(ids, pad_id):
    lengths = (ids != pad_id).sum(1)
    return (torch.arange(ids.shape[1])[None] < lengths[:, None])[:, None, None]


# ------------------------------------------------------------------ 6.5 attention


def scores_of(q, k):
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])


def attention_nan_to_num(q, k, v, mask):
    scores = scores_of(q, k).masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, -1).nan_to_num(0.0) @ v


def attention_any(q, k, v, mask):
    scores = torch.where(mask, scores_of(q, k), -torch.inf)
    some = mask.any(-1, keepdim=True)
    return torch.where(some, scores.softmax(-1), 0.0).to(v.dtype) @ v


def attention_exponentials(q, k, v, mask):
    scores = einsum("bhtk,bhsk->bhts", q, k) * q.shape[-1] ** -0.5
    e = torch.exp(scores - scores.amax(-1, keepdim=True)) * mask
    return (e / e.sum(-1, keepdim=True).clamp_min(1e-4)) @ v


def attention_after_and_renormalised(q, k, v, mask):
    weights = scores_of(q, k).softmax(-1) * mask
    sums = weights.sum(-1, keepdim=True)
    return torch.where(sums > 0, weights / sums, torch.zeros_like(weights)) @ v


def attention_in_float64(q, k, v, mask):
    scores = scores_of(q.double(), k.double()).masked_fill(mask.logical_not(), -1e9)
    return ((scores.softmax(-1) * mask) @ v.double()).to(q.dtype)


def attention_minus_ten_thousand(q, k, v, mask):
    weights = scores_of(q, k).masked_fill(~mask, -1e4).softmax(-1)
    return (weights * mask) @ v


def attention_finfo_in_place(q, k, v, mask):
    scores = scores_of(q, k)
    scores.masked_fill_(~mask, torch.finfo(scores.dtype).min)
    weights = F.softmax(scores, dim=3)
    weights[(~mask).expand_as(weights)] = 0
    return torch.matmul(weights, v)


def attention_loops(q, k, v, mask):
    B, H, T, S = *q.shape[:3], k.shape[2]
    mask = mask.expand(B, H, T, S)
    out = torch.zeros(B, H, T, v.shape[-1], dtype=v.dtype)
    for b in range(B):
        for h in range(H):
            for t in range(T):
                seen = mask[b, h, t]
                if seen.any():
                    scores = (k[b, h, seen] * q[b, h, t]).sum(-1) / math.sqrt(q.shape[-1])
                    out[b, h, t] = scores.softmax(0) @ v[b, h, seen]
    return out


def attention_bias(q, k, v, mask):
    bias = torch.zeros(mask.shape, dtype=q.dtype).masked_fill(~mask, -math.inf)
    weights = torch.softmax(scores_of(q, k) + bias, dim=-1)
    return torch.nan_to_num(weights) @ v


def attention_by_library(q, k, v, mask):
    from transformer_lib import attention

    return attention(q, k, v, mask)


def attention_in_float32(q, k, v, mask):
    scores = scores_of(q.float(), k.float()) + (1 - mask.float()) * -1e9
    weights = scores.softmax(-1) * mask.any(-1, keepdim=True)
    return (weights @ v.float()).type_as(q)


def attends(scores=lambda s, m: s, weights=lambda p, m: p, softmax=lambda s: s.softmax(-1)):
    """Attention with the mask used on the scores, on the weights, or in both places."""

    def masked_attention(q, k, v, mask):
        changed = scores(scores_of(q, k), mask).to(q.dtype)
        return weights(softmax(changed), mask).to(q.dtype) @ v

    return masked_attention


def hide(number, opposite=True):
    """Fill the scores of hidden words with the number, if float32 knows it, or the lowest there is."""

    def fill(scores, mask):
        low = max(number, torch.finfo(scores.dtype).min) if number > -math.inf else number
        return scores.masked_fill(~mask if opposite else mask, low)

    return fill


def clear(weights, mask):
    return weights.nan_to_num(0.0) * mask


def forgotten_result(q, k, v, mask):
    scores = scores_of(q, k)
    scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1) @ v


def own_triangle(q, k, v, mask):
    T, S = q.shape[2], k.shape[2]
    past = torch.ones(T, S, dtype=torch.bool).tril(S - T)
    return attention_nan_to_num(q, k, v, past)


def top_left_triangle(q, k, v, mask):
    past = torch.ones(q.shape[2], k.shape[2]).tril() == 1
    return torch.softmax(scores_of(q, k).masked_fill(~past, -1e4), -1) @ v


def tril_as_well(q, k, v, mask):
    return attention_nan_to_num(q, k, v, torch.ones(q.shape[2], k.shape[2]).tril().bool() & mask)


def boolean_index(q, k, v, mask):
    scores = scores_of(q, k)
    scores[~mask] = -1e4
    weights = scores.softmax(-1)
    weights[~mask] = 0
    return weights @ v


def small_epsilon(q, k, v, mask):
    weights = scores_of(q, k).softmax(-1) * mask
    return weights / (weights.sum(-1, keepdim=True) + 1e-9) @ v


def inverted_any(q, k, v, mask):
    return attention_any(q, k, v, ~mask)


def turned(q, k, v, mask):
    B, H, T, S = *q.shape[:3], k.shape[2]
    return attention_any(q, k, v, mask.expand(B, H, T, S).transpose(-2, -1))


def minus_1e9(q, k, v, mask):
    scores = scores_of(q, k).masked_fill(mask == 0, -1e9)
    return scores.softmax(-1).masked_fill(mask == 0, 0) @ v


def minus_1e9_full(q, k, v, mask):
    low = torch.full((1,), -1e9, dtype=q.dtype)  # −∞ in half precision
    return torch.where(mask, torch.where(mask, scores_of(q, k), low).softmax(-1), 0) @ v


def float_bias(q, k, v, mask):
    scores = scores_of(q, k) + (~mask) * -1e9
    return (scores.softmax(-1) * mask) @ v


def mask_made_float(q, k, v, mask):
    weights = scores_of(q, k).masked_fill(~mask, -1e4).softmax(-1)
    return (weights * mask.float()) @ v


def inverting_its_mask(q, k, v, mask):
    mask.logical_not_()
    scores = scores_of(q, k).masked_fill(mask, -1e4)
    return scores.softmax(-1).masked_fill(mask, 0.0) @ v


def rescaled(factor):
    def masked_attention(q, k, v, mask):
        scores = q @ k.mT * factor(q.shape[-1])
        return clear(scores.masked_fill(~mask, -math.inf).softmax(-1), mask) @ v

    return masked_attention


# ------------------------------------------------------------------ 6.6 find the bug


def masks_by_library(source, target, pad_id):
    from transformer_lib import causal_mask, padding_mask_from_ids

    own = causal_mask(target.shape[1]) & padding_mask_from_ids(target, pad_id)
    return own, padding_mask_from_ids(source, pad_id)


def masks_tril(source, target, pad_id):
    past = torch.tril(torch.ones(target.shape[1], target.shape[1])) > 0
    own = torch.logical_and(past[None, None], target.ne(pad_id)[:, None, None, :])
    return own, source.ne(pad_id)[:, None, None, :]


def masks_multiplied(source, target, pad_id):
    T = target.size(1)
    past = torch.arange(T)[:, None] >= torch.arange(T)
    return past * (target != pad_id).view(-1, 1, 1, T), (source != pad_id).view(len(source), 1, 1, -1)


def masks_hidden(source, target, pad_id):
    future = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).triu(1)
    hidden = future | (target == pad_id)[:, None, None]
    return [~hidden, ~(source == pad_id)[:, None, None]]


def mended(
    diagonal=1,
    padding="target",
    join=torch.logical_and,
    cross="source",
    finish=lambda own, cross: (own, cross),
):
    """The function of the exercise with each of its parts as named."""

    def translator_masks(source, target, pad_id):
        T = target.shape[1]
        future = torch.ones(T, T, dtype=torch.bool).triu(diagonal)
        real = {"source": source != pad_id, "target": target != pad_id}
        keys = real[padding][:, None, None] if padding in real else None
        if padding == "rows":
            keys = real["target"][:, None, :, None]
        own = (~future).expand(len(target), 1, T, T) if keys is None else join(~future, keys)
        return finish(own, real[cross][:, None, None])

    return translator_masks


def only_padding(source, target, pad_id):
    T = target.shape[1]
    return (target != pad_id)[:, None, None].expand(-1, 1, T, T), (source != pad_id)[:, None, None]


# ------------------------------------------------------------------ 6.7 the loss


def loss_ignoring(logits, ids, pad_id):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), ignore_index=pad_id)


def loss_transposed(logits, ids, pad_id):
    return F.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:], ignore_index=pad_id)


def loss_gathered(logits, ids, pad_id):
    p = logits.log_softmax(-1)[:, :-1].gather(-1, ids[:, 1:, None])[..., 0]
    real = ids[:, 1:] != pad_id
    return -(p * real).sum() / real.sum()


def loss_loops(logits, ids, pad_id):
    losses = []
    for answers, text in zip(logits.double(), ids.tolist(), strict=True):
        for t in range(len(text) - 1):
            if text[t + 1] != pad_id:
                losses.append(answers[t].logsumexp(0) - answers[t][text[t + 1]])
    return torch.stack(losses).mean().item()


def loss_padded_targets(logits, ids, pad_id):
    targets = torch.cat([ids[:, 1:], torch.full((len(ids), 1), pad_id)], dim=1)
    return F.nll_loss(logits.log_softmax(-1).flatten(0, 1), targets.flatten(), ignore_index=pad_id)


def loss_rolled(logits, ids, pad_id):
    targets = ids.roll(-1, dims=1)
    targets[:, -1] = -100
    targets[targets == pad_id] = -100
    return F.cross_entropy(logits.permute(0, 2, 1), targets)


def loss_log_softmax_twice(logits, ids, pad_id):  # log-softmax of a log-softmax is the same
    return loss_ignoring(logits.log_softmax(-1), ids, pad_id)


def loss(
    answers=slice(-1),
    targets=slice(1, None),
    change=lambda z: z,
    finish=lambda losses, real: losses[real].mean(),
):
    def next_word_loss(logits, ids, pad_id):
        wanted = ids[:, targets]
        losses = F.cross_entropy(change(logits[:, answers]).mT, wanted, reduction="none")
        return finish(losses, wanted != pad_id)

    return next_word_loss


def rolled(every):
    def next_word_loss(logits, ids, pad_id):
        targets = torch.roll(ids, -1, 1).flatten()
        ignore = -100 if every else pad_id
        return F.cross_entropy(logits.flatten(0, 1), targets, ignore_index=ignore)

    return next_word_loss


def unshifted(logits, ids, pad_id):
    return F.cross_entropy(logits.flatten(0, 1), ids.flatten(), ignore_index=pad_id)


def ignoring_zero(logits, ids, pad_id):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0)


def real_inputs(logits, ids, pad_id):
    keep = ids[:, :-1] != pad_id
    return F.cross_entropy(logits[:, :-1][keep], ids[:, 1:][keep])


RIGHT = {
    "6.1": [
        predicts(),
        lambda: (True, False, False, False, True, True, False),
        lambda: torch.tensor([True, False, False, False, True, True, False]),
        lambda: [1, 0, 0, 0, 1, 1, 0],
    ],
    "6.2": [
        says(1 / 8, 1 / 4, 5 / 8, 0),
        says(0.13, 0.25, 0.63, 0),
        lambda: (0.125, 0.25, 0.625, 0.0),
        row_in_torch(),
        row_in_numpy,
    ],
    "6.3": [
        future_tril,
        future_triu,
        future_last_rows,
        future_loops,
        future_joined,
        future_lists,
        future_cumsum,
        future_slices,
    ],
    "6.4": [padding_unsqueezed, padding_viewed, padding_loops, padding_numpy, padding_where],
    "6.5": [
        attention_nan_to_num,
        attention_any,
        attention_exponentials,
        attention_after_and_renormalised,
        attention_in_float64,
        attention_minus_ten_thousand,
        attention_finfo_in_place,
        attention_loops,
        attention_bias,
        minus_1e9_full,
        F.scaled_dot_product_attention,
        attention_by_library,
        attention_in_float32,
    ],
    "6.6": [masks_by_library, masks_tril, masks_multiplied, masks_hidden, mended()],
    "6.7": [
        loss_ignoring,
        loss_transposed,
        loss_gathered,
        loss_loops,
        loss_padded_targets,
        loss_rolled,
        loss_log_softmax_twice,
        loss(),
    ],
}

WRONG = {
    "6.1": [
        (predicts(1), "no-gain-from-the-answer"),
        (predicts(2), "loss-is-all"),
        (predicts(3), "leak-by-detour"),
        (predicts(4), "one-hole-is-harmless"),
        (predicts(5), "rows-lose-weight"),
        (predicts(6), "one-pass-differs"),
        (predicts(7), "padding-is-nothing"),
        (lambda: torch.tensor([1, 1, 0, 0, 1, 1, 0]), "loss-is-all"),
        (predicts(4, 7), "one-hole-is-harmless"),
        (says(True, False, False), "wrong-shape"),
        (lambda: dict(enumerate([True, False, False, False, True, True, False], 1)), "wrong-type"),
    ],
    "6.2": [
        (says(1 / 16, 1 / 8, 5 / 16, 0), "mask-after-softmax"),
        (
            lambda: torch.tensor([1.0, 2, 5, 8]).log().softmax(0) * torch.tensor([1, 1, 1, 0]),
            "mask-after-softmax",
        ),
        (row_in_torch(lambda s: s), "mask-missing"),
        (says(0.06, 0.13, 0.31, 0.5), "mask-missing"),
        (row_in_torch(lambda s: s * torch.tensor([1, 1, 1, 0])), "score-zero-for-hidden"),
        (says(0.11, 0.22, 0.56, 0.11), "score-zero-for-hidden"),
        (row_in_torch(lambda s: s + torch.tensor([1, 1, 1, 0])), "boolean-added"),
        (says(1 / 3, 2 / 3, 0, 0), "cannot-see-itself"),
        (says(0, 0, 0, 1), "inverted-polarity"),
        (says(0, 0, 5 / 13, 8 / 13), "inverted-polarity"),
        (says(1 / 4, 1 / 3, 5 / 12, 0), "column-for-row"),
        (lambda: torch.tensor([3.0, 4, 5, 7]) / 19, "column-for-row"),
        (says(1, 2, 5, 0), "exponentials-returned"),
        (says(0, 0.301, 0.699, 0), "no-exponential"),
        (says(0.33, 0.33, 0.33, 0), "equal-shares"),
        (says(0.75, 0.25, 0, 0), "another-row"),
        (lambda: np.array([2, 3, 7, 1]) / 13, "another-row"),
        (says(0.1, 0.2, 0.5, 0), "sum-is-not-one"),
        (says(0.2, 0.3, 0.5, 0), "wrong-values"),
        (says(12.5, 25, 62.5, 0), "percentages"),
        (says(0, math.log(2), math.log(5), 0), "scores-returned"),
        (says(0, 2 / 7, 5 / 7, 0), "score-zero-left-out"),
        (says(0, 0.133, 0.333, 0.533), "score-zero-left-out"),
        (says(0.25, 0.25, 0.25, 0.25), "equal-shares"),
        (lambda: {1: 1 / 8, 2: 1 / 4, 3: 5 / 8, 4: 0}, "wrong-type"),
    ],
    "6.3": [
        (additive_future(-math.inf), "additive-mask"),
        (additive_future(-1e9), "additive-mask"),
        (lambda T, S: torch.full((T, S), -math.inf).triu(S - T + 1), "additive-mask"),
        (lambda T, S: future_tril(T, S).float(), "numbers-for-booleans"),
        (lambda T, S: torch.ones(T, S).tril(S - T), "numbers-for-booleans"),
        (lambda T, S: future_tril(T, S).int(), "numbers-for-booleans"),
        (lambda T, S: future_tril(T, S).T, "shape-swapped"),
        (lambda T, S: torch.ones(S, T, dtype=torch.bool).tril(), "shape-swapped"),
        (lambda T, S: torch.ones(T, T, dtype=torch.bool).tril(), "earlier-words-missing"),
        (lambda T, S: torch.ones(T, S, dtype=torch.bool), "nothing-hidden"),
        (triu(lambda T, S: S - T + 1), "inverted-polarity"),
        (lambda T, S: ~future_last_rows(T, S), "inverted-polarity"),
        (lambda T, S: torch.ones(T, S).triu(1).bool(), "inverted-polarity"),
        (triu(), "upper-triangle"),
        (lambda T, S: torch.arange(S) >= torch.arange(T)[:, None], "upper-triangle"),
        (tril(lambda T, S: S - T - 1), "cannot-see-itself"),
        (lambda T, S: ~torch.ones(T, S, dtype=torch.bool).triu(S - T), "cannot-see-itself"),
        (lambda T, S: ~torch.ones(T, S, dtype=torch.bool).triu(), "cannot-see-itself"),
        (not_itself_loop, "cannot-see-itself"),
        (tril(lambda T, S: S - T + 1), "next-word-visible"),
        (off_by_one_loop, "next-word-visible"),
        (tril(lambda T, S: 1), "next-word-visible"),
        (tril(lambda T, S: 0), "aligned-at-the-top"),
        (lambda T, S: torch.arange(S) <= torch.arange(T)[:, None], "aligned-at-the-top"),
        (lambda T, S: torch.ones(S, S, dtype=torch.bool).tril()[:T], "aligned-at-the-top"),
        (
            lambda T, S: torch.cat([torch.zeros(T, S - T), torch.ones(T, T).tril()], 1).bool(),
            "earlier-words-hidden",
        ),
        (tril(lambda T, S: T - S), "offset-backwards"),
        (
            lambda T, S: torch.cat([torch.ones(T, T).tril(), torch.ones(T, S - T)], 1) > 0,
            "earlier-words-last",
        ),
        (lambda T, S: torch.nn.Transformer.generate_square_subsequent_mask(T), "earlier-words-missing"),
        (
            lambda T, S: torch.cat([torch.ones(T, T).tril(), torch.zeros(T, S - T)], 1) > 0,
            "aligned-at-the-top",
        ),
        (lambda T, S: torch.eye(S, dtype=torch.bool)[-T:], "only-itself"),
        (lambda T, S: (torch.arange(S) < S - T).expand(T, S), "only-earlier-words"),
        (lambda T, S: future_tril(T, S)[None, None], "wrong-shape"),
        (lambda T, S: future_tril(T, S).flip(0), "wrong-values"),
        (lambda T, S: future_tril(T, S).tolist(), "wrong-type"),
        (lambda T, S: torch.ones(S, S, dtype=torch.bool).tril(), "rows-for-earlier-words"),
        (lambda T, S: torch.zeros(T, S, dtype=torch.bool), "nothing-visible"),
    ],
    "6.4": [
        (padded(lambda real: torch.where(real, 0.0, -math.inf)[:, None, None]), "additive-mask"),
        (padded(lambda real: (~real)[:, None, None] * -1e9), "additive-mask"),
        (padded(lambda real: real[:, None, None].float()), "numbers-for-booleans"),
        (padded(lambda real: real[:, None, None].long()), "numbers-for-booleans"),
        (padded(lambda real: real[:, None, :, None]), "query-rows-for-key-columns"),
        (padded(lambda real: real.unsqueeze(1).unsqueeze(-1)), "query-rows-for-key-columns"),
        (padded(lambda real: real[:, :, None]), "query-rows-for-key-columns"),
        (
            padded(lambda real: real[:, None, :, None].expand(-1, 1, -1, real.shape[1])),
            "query-rows-for-key-columns",
        ),
        (padded(lambda real: real[:, None, None] & real[:, None, :, None]), "rows-hidden-too"),
        (
            padded(lambda real: einsum("bi,bj->bij", real.float(), real.float())[:, None] > 0),
            "rows-hidden-too",
        ),
        (padded(lambda real: real), "axes-missing"),
        (padded(lambda real: real[:, None]), "axes-missing"),
        (padded(lambda real: real.unsqueeze(0)), "axes-missing"),
        (padded(lambda real: real[None, None]), "batch-on-another-axis"),
        (padded(lambda real: real[None, :, None]), "batch-on-another-axis"),
        (padded(lambda real: (~real)[:, None, None]), "inverted-polarity"),
        (lambda ids, pad_id: ids.eq(pad_id).view(len(ids), 1, 1, -1), "inverted-polarity"),
        (lambda ids, pad_id: (ids != 0)[:, None, None], "pad-id-not-used"),
        (lambda ids, pad_id: ids.bool()[:, None, None], "pad-id-not-used"),
        (lambda ids, pad_id: (ids > pad_id)[:, None, None], "other-words-hidden"),
        (lambda ids, pad_id: (ids >= pad_id)[:, None, None], "other-words-hidden"),
        (lambda ids, pad_id: ~(ids <= pad_id)[:, None, None], "other-words-hidden"),
        (by_lengths, "padding-on-the-left"),
        (lambda ids, pad_id: torch.ones(len(ids), 1, 1, ids.shape[1], dtype=torch.bool), "nothing-hidden"),
        (padded(lambda real: real[:, None, None].expand(-1, 1, real.shape[1], -1)), "stretched"),
        (padded(lambda real: real[:, None].expand(-1, real.shape[1], -1)), "stretched"),
        (padded(lambda real: real.all(0)[None, None, None]), "one-mask-for-all"),
        (padded(lambda real: real[0]), "one-mask-for-all"),
        (padded(lambda real: real.T[:, None, None]), "wrong-shape"),
    ],
    "6.5": [
        (forgotten_result, "mask-ignored"),
        (attends(), "mask-ignored"),
        (own_triangle, "own-mask"),
        (top_left_triangle, "own-mask"),
        (lambda q, k, v, mask: attention_any(q, k, v, mask & (mask | True).tril()), "future-hidden-as-well"),
        (tril_as_well, "future-hidden-as-well"),
        (boolean_index, "mask-not-stretched"),
        (small_epsilon, "nan-in-half-precision"),
        (inverted_any, "inverted-polarity"),
        (attends(hide(-math.inf, opposite=False)), "inverted-polarity"),
        (attends(hide(-1e9, opposite=False)), "inverted-polarity"),
        (attends(weights=lambda p, m: p * m), "mask-after-softmax"),
        (attends(weights=lambda p, m: p.masked_fill(~m, 0)), "mask-after-softmax"),
        (attends(lambda s, m: s * m), "score-zero-for-hidden"),
        (attends(lambda s, m: s.masked_fill(~m, 0)), "score-zero-for-hidden"),
        (attends(lambda s, m: s * m, clear), "score-zero-for-hidden"),
        (attends(lambda s, m: s + m), "boolean-added"),
        (attends(lambda s, m: s - (~m).to(s.dtype)), "boolean-added"),
        (
            lambda q, k, v, mask: torch.softmax((q @ k.mT + mask) / q.shape[-1] ** 0.5, -1) @ v,
            "boolean-added",
        ),
        (attends(lambda s, m: s + ~m), "boolean-added"),
        (attends(lambda s, m: s - 5 * ~m), "not-low-enough"),
        (attends(lambda s, m: s + (1 - m.float()) * -7), "not-low-enough"),
        (attends(hide(-10)), "not-low-enough"),
        (attends(hide(-10), clear), "not-low-enough"),
        (attends(hide(-1), clear), "not-low-enough"),
        (attends(lambda s, m: s + (~m).to(s.dtype) * -math.inf), "zero-times-infinity"),
        (
            lambda q, k, v, mask: attention_any(q, k, torch.eye(k.shape[2], dtype=k.dtype), mask),
            "weights-returned",
        ),
        (
            lambda q, k, v, mask: scores_of(q, k).masked_fill(~mask, -math.inf).softmax(-1).nan_to_num(),
            "weights-returned",
        ),
        (rescaled(lambda K: K**0.5), "scale-upside-down"),
        (rescaled(lambda K: K**-0.25), "other-scale"),
        (lambda q, k, v, mask: attention_any(q, k, v, mask) / q.shape[-1] ** 0.5, "scale-after-softmax"),
        (turned, "mask-on-the-query-axis"),
        (
            lambda q, k, v, mask: scores_of(q, k).masked_fill(~mask.mT, -1e4).softmax(-1) @ v,
            "mask-on-the-query-axis",
        ),
        (attends(hide(-1e4), softmax=lambda s: s.softmax(-2)), "softmax-over-queries"),
        (rescaled(lambda K: 1), "no-scale"),
        (rescaled(lambda K: 1 / K), "scale-without-root"),
        (attends(hide(-math.inf)), "empty-row-nan"),
        (attends(lambda s, m: torch.where(m, s, -torch.inf)), "empty-row-nan"),
        (attends(weights=lambda p, m: p * m / (p * m).sum(-1, keepdim=True)), "empty-row-nan"),
        (attends(hide(-math.inf), lambda p, m: p * m), "empty-row-nan"),
        (attends(hide(-1e9)), "empty-row-average"),
        (attends(hide(-1e4)), "empty-row-average"),
        (attends(hide(-1e9), lambda p, m: p.nan_to_num(0.0)), "empty-row-average"),
        (attends(lambda s, m: s - 1e4 * ~m), "empty-row-reads"),
        (minus_1e9, "overflow-in-half-precision"),
        (attends(lambda s, m: s.masked_fill(~m, -1e5), clear), "overflow-in-half-precision"),
        (float_bias, "two-dtypes"),
        (mask_made_float, "two-dtypes"),
        (inverting_its_mask, "argument-changed"),
        (lambda q, k, v, mask: attention_any(q, k, v, mask).float(), "wrong-dtype"),
        (lambda q, k, v, mask: attention_any(q, k, v, mask).transpose(1, 2), "wrong-shape"),
    ],
    "6.6": [
        (mended(0, "source", torch.logical_or), "all-three-bugs-left"),
        (mended(1, "source", torch.logical_or), "source-padding-for-the-target"),
        (mended(1, "source"), "source-padding-for-the-target"),
        (mended(0, "source"), "source-padding-for-the-target"),
        (mended(1, "target", torch.logical_or), "joined-by-or"),
        (mended(0, "target", torch.logical_or), "joined-by-or"),
        (mended(1, "target", lambda a, b: (a.int() + b.int()) > 0), "joined-by-or"),
        (mended(0, "target"), "cannot-see-itself"),
        (mended(0, "nobody"), "cannot-see-itself"),
        (mended(2, "target"), "next-word-visible"),
        (mended(2, "nobody"), "next-word-visible"),
        (only_padding, "future-visible"),
        (mended(1, "nobody"), "padding-forgotten"),
        (lambda s, t, p: (mended(1, "nobody")(s, t, p)[0][:1], mended()(s, t, p)[1]), "padding-forgotten"),
        (mended(1, "rows"), "padding-on-query-rows"),
        (mended(1, "rows", torch.logical_or), "padding-on-query-rows"),
        (
            lambda s, t, p: (masks_tril(s, t, p)[0] & (t != p)[:, None, :, None], masks_tril(s, t, p)[1]),
            "padding-rows-hidden-too",
        ),
        (
            mended(join=lambda past, real: ~past & real),
            "future-for-past",
        ),
        (mended(0, join=lambda past, real: ~past & real), "future-for-past"),
        (mended(join=lambda past, real: ~past | real), "future-for-past"),
        (mended(finish=lambda own, cross: (~own, cross)), "self-mask-inverted"),
        (mended(finish=lambda own, cross: (own, ~cross)), "cross-mask-inverted"),
        (mended(cross="target"), "target-padding-for-the-source"),
        (mended(finish=lambda own, cross: (cross, own)), "pair-swapped"),
        (mended(finish=lambda own, cross: own), "one-mask-only"),
        (mended(finish=lambda own, cross: (own.float(), cross)), "numbers-for-booleans"),
        (mended(finish=lambda own, cross: (own.int(), cross.int())), "numbers-for-booleans"),
        (mended(join=lambda past, real: past & ~real), "padding-inverted"),
        (lambda s, t, p: (masks_tril(s, t, 0)[0], masks_tril(s, t, p)[1]), "pad-id-not-used"),
        (
            lambda s, t, p: (masks_tril(s, t, p)[0], masks_tril(s, t, p)[1].expand(-1, 1, t.shape[1], -1)),
            "cross-mask-stretched",
        ),
        (mended(join=torch.logical_xor), "wrong-values"),
    ],
    "6.7": [
        (unshifted, "target-not-shifted"),
        (loss(slice(None), slice(None)), "target-not-shifted"),
        (loss(slice(-1), slice(-1)), "target-not-shifted"),
        (loss(slice(1, None), slice(1, None)), "target-not-shifted"),
        (loss(slice(None), slice(None), finish=lambda losses, real: losses.mean()), "target-not-shifted"),
        (loss(slice(1, None), slice(-1)), "shifted-backwards"),
        (rolled(True), "wrapped-around"),
        (rolled(False), "wrapped-around"),
        (
            lambda logits, ids, pad_id: F.cross_entropy(
                logits.flatten(0, 1)[:-1], ids.flatten()[1:], ignore_index=pad_id
            ),
            "shifted-after-flattening",
        ),
        (
            lambda logits, ids, pad_id: F.cross_entropy(
                logits[:-1].transpose(1, 2), ids[1:], ignore_index=pad_id
            ),
            "next-text",
        ),
        (loss(slice(-2), slice(2, None)), "shifted-twice"),
        (
            lambda logits, ids, pad_id: F.cross_entropy(logits[:, -1], ids[:, -1], ignore_index=pad_id),
            "last-place-only",
        ),
        (loss(slice(-2, -1), slice(-1, None)), "last-place-only"),
        (
            lambda logits, ids, pad_id: F.cross_entropy(
                logits[:, :-1].reshape(len(ids), logits.shape[2], -1), ids[:, 1:], ignore_index=pad_id
            ),
            "logits-reshaped",
        ),
        (loss(change=lambda z: z.softmax(-1)), "softmax-before-cross-entropy"),
        (
            lambda logits, ids, pad_id: loss_ignoring(logits.softmax(-1), ids, pad_id),
            "softmax-before-cross-entropy",
        ),
        (
            lambda logits, ids, pad_id: loss_ignoring(logits.softmax(-1), ids, -100),
            "softmax-before-cross-entropy",
        ),
        (
            lambda logits, ids, pad_id: F.nll_loss(
                logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), ignore_index=pad_id
            ),
            "softmax-missing",
        ),
        (lambda logits, ids, pad_id: F.nll_loss(logits[:, :-1].mT, ids[:, 1:]), "softmax-missing"),
        (lambda logits, ids, pad_id: F.cross_entropy(logits[:, :-1], ids[:, 1:]), "classes-on-another-axis"),
        (loss(finish=lambda losses, real: losses.mean()), "padding-counted"),
        (lambda logits, ids, pad_id: loss_ignoring(logits, ids, -100), "padding-counted"),
        (loss(finish=lambda losses, real: (losses * real).mean()), "padding-in-the-count"),
        (
            lambda logits, ids, pad_id: (
                loss(finish=lambda losses, real: losses[real].sum())(logits, ids, pad_id) / ids.numel()
            ),
            "padding-in-the-count",
        ),
        (real_inputs, "padding-of-the-wrong-word"),
        (ignoring_zero, "pad-id-not-used"),
        (loss(finish=lambda l, real: ((l * real).sum(1) / real.sum(1)).mean()), "mean-of-means"),
        (loss(finish=lambda losses, real: losses[real].sum()), "sum-for-mean"),
        (loss(finish=lambda losses, real: losses[real].sum() / len(losses)), "sum-for-mean"),
        (loss(finish=lambda losses, real: -losses[real].mean()), "sign-missing"),
        (
            lambda logits, ids, pad_id: (
                logits[:, :-1]
                .log_softmax(-1)
                .gather(-1, ids[:, 1:, None])[..., 0][ids[:, 1:] != pad_id]
                .mean()
            ),
            "sign-missing",
        ),
        (loss(finish=lambda losses, real: losses[real].mean().exp()), "exponential-of-the-loss"),
        (loss(finish=lambda losses, real: losses[real].mean() / math.log(2)), "in-bits"),
        (loss(finish=lambda losses, real: (-losses[real]).exp().mean()), "probabilities-averaged"),
        (loss(finish=lambda losses, real: -(-losses[real]).exp().mean().log()), "probabilities-averaged"),
        (loss(finish=lambda losses, real: losses), "wrong-shape"),
        (loss(finish=lambda losses, real: 2 * losses[real].mean()), "wrong-values"),
    ],
}
