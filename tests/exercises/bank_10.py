"""Right and wrong answers to the exercises of chapter 10, in many spellings. `test_bank.py` runs them."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import einsum

INF = math.inf


def says(*answer):
    """An answer on paper."""
    return lambda: list(answer)


def changed(right, number, wrong):
    """The right answers with this one (from 1) replaced."""
    return says(*(wrong if n == number else x for n, x in enumerate(right, 1)))


# ------------------------------------------------------------------ 10.1 predict

DOUBLED = (4, 4, 4, 2, 2, 2)


def factors_by_formula():
    def quadratic(n):
        return 4 * n * n * 64

    return torch.tensor([quadratic(16) / quadratic(8)] * 3 + [2.0] * 3)


# ------------------------------------------------------------------ 10.2 FLOPs


def flops_by_entries(batch, layers, heads, T, S, d_key, d_value):
    each_score, each_output = 2 * d_key, 2 * S
    return batch * layers * heads * (T * S * each_score + T * d_value * each_output)


def flops_in_a_loop(batch, layers, heads, T, S, d_key, d_value):
    total = 0
    for _ in range(batch):
        for _ in range(layers):
            total += heads * 2 * T * S * d_key
            total += heads * 2 * T * S * d_value
    return total


def flops_by_torch(batch, layers, heads, T, S, d_key, d_value):
    from torch.utils.flop_counter import FlopCounterMode

    q, k, v = (torch.empty(batch * heads, n, w) for n, w in ((T, d_key), (S, d_key), (S, d_value)))
    with FlopCounterMode(display=False) as counter:
        torch.bmm(torch.bmm(q, k.mT), v)
    return layers * counter.get_total_flops()


def each(count):
    return lambda B, L, H, T, S, K, V: B * L * H * count(T, S, K, V)


# ------------------------------------------------------------------ 10.3 one more block


def absorb_where(m, total, o, scores, v):
    m_new = torch.maximum(m, scores.max(-1).values)
    zero = torch.where(torch.isinf(m_new), 0.0, m_new)
    p = torch.exp(scores - zero.unsqueeze(-1))
    c = torch.exp(m - zero)
    return m_new, c * total + p.sum(-1), c.unsqueeze(-1) * o + einsum("ts,sd->td", p, v)


def absorb_nan_to_num(m, total, o, scores, v):
    m_new = torch.cat([m[:, None], scores], 1).max(1).values
    p = torch.nan_to_num((scores - m_new[:, None]).exp(), nan=0.0)
    c = torch.nan_to_num((m - m_new).exp(), nan=0.0)
    return [m_new, total * c + p.sum(1), o * c[:, None] + p @ v]


def absorb_loops(m, total, o, scores, v):
    ms, totals, outs = [], [], []
    for t in range(len(m)):
        top, s, out = m[t].item(), total[t].item(), o[t].clone()
        for j, score in enumerate(scores[t].tolist()):  # key by key
            new = max(top, score)
            if new == -INF:
                continue
            s = s * math.exp(top - new) + math.exp(score - new)
            out = out * math.exp(top - new) + math.exp(score - new) * v[j]
            top = new
        ms.append(top), totals.append(s), outs.append(out)
    return torch.tensor(ms), torch.tensor(totals), torch.stack(outs)


def absorb_double(m, total, o, scores, v):
    m, total, o, scores, v = (x.double() for x in (m, total, o, scores, v))
    m_new = m.clone()
    for column in scores.T:
        m_new = torch.where(column > m_new, column, m_new)
    p = (scores - m_new.clamp_min(-1e30)[:, None]).exp()
    c = (m - m_new.clamp_min(-1e30)).exp()
    return m_new, c * total + p.sum(-1), c[:, None] * o + p @ v


def absorb_logs(m, total, o, scores, v):
    """By logarithms of sums, turned back at the end."""
    m_new = torch.maximum(m, scores.amax(-1))
    safe = m_new.masked_fill(m_new.isinf(), 0)
    log_total = torch.logaddexp(m + total.log(), scores.logsumexp(-1))
    c = (m - safe).exp()[:, None]
    return m_new, (log_total - safe).exp(), o * c + (scores - safe[:, None]).exp() @ v


def absorb_in_place(m, total, o, scores, v):
    m_new = torch.maximum(m, scores.amax(-1))
    total *= (m - m_new).exp()
    o *= (m - m_new).exp()[:, None]
    p = (scores - m_new[:, None]).exp()
    return m_new, total + p.sum(-1), o + p @ v


def absorber(*, guard=True, top=None, p=None, c=None, c_o=None, end=None):
    """The step with pieces replaced; `c` is the factor of the sum, `c_o` that of the output."""

    def absorb(m, total, o, scores, v):
        m_new = torch.maximum(m, scores.amax(-1)) if top is None else top(m, scores)
        safe = torch.where(m_new == -INF, 0.0, m_new) if guard else m_new
        weights = (scores - safe[:, None]).exp() if p is None else p(m, safe, scores)
        plain = (m - safe).exp()
        a = plain if c is None else c(m, safe)
        b = a if c_o is None else c_o(m, safe)
        result = (m_new, total * a + weights.sum(-1), o * b[:, None] + weights @ v)
        return result if end is None else end(*result)

    return absorb


def ones(m, new):
    return torch.ones_like(m)


def plain(m, new):
    return (m - new).exp()


def absorb_skips_hidden(m, total, o, scores, v):
    """Leaves out every word of which a key is hidden."""
    new = absorber()(m, total, o, scores, v)
    hidden = (scores == -INF).any(-1)
    return (
        torch.where(hidden, m, new[0]),
        torch.where(hidden, total + 1, new[1]),
        torch.where(hidden[:, None], o, new[2]),
    )


def absorb_new_rescaled(m, total, o, scores, v):
    m_new = torch.maximum(m, scores.amax(-1))
    p = (scores - m_new[:, None]).exp() * (m - m_new).exp()[:, None]
    return m_new, total + p.sum(-1), o + p @ v


def absorb_keeps_m(m, total, o, scores, v):
    return m, total + (scores - m[:, None]).exp().sum(-1), o + (scores - m[:, None]).exp() @ v


def absorb_forgets(m, total, o, scores, v):
    m_new = scores.amax(-1)
    p = (scores - torch.where(m_new == -INF, 0.0, m_new)[:, None]).exp()
    return m_new, p.sum(-1), p @ v


# ------------------------------------------------------------------ 10.4 blocks


def blocks_split(q, k, v, block):
    m, total, o = torch.tensor(-INF), 0.0, 0.0
    for k_j, v_j in zip(k.split(block), v.split(block), strict=True):
        scores = q @ k_j.T * q.shape[1] ** -0.5
        m_new = torch.maximum(m, scores.amax(-1, keepdim=True))
        p = (scores - m_new).exp()
        total, o = total * (m - m_new).exp() + p.sum(-1, keepdim=True), o * (m - m_new).exp() + p @ v_j
        m = m_new
    return o / total


def blocks_whole(q, k, v, block):
    return F.scaled_dot_product_attention(q[None], k[None], v[None])[0]


def blocks_logsumexp(q, k, v, block):
    """Averages of blocks, mixed by their sums."""
    outs, logs = [], []
    for j in range(math.ceil(len(k) / block)):
        rows = slice(j * block, (j + 1) * block)
        scores = q.double() @ k[rows].double().T / math.sqrt(q.shape[-1])
        outs.append(scores.softmax(-1) @ v[rows].double())
        logs.append(scores.logsumexp(-1))
    share = torch.stack(logs).softmax(0)[..., None]
    return (share * torch.stack(outs)).sum(0)


def blocks(*, c=plain, c_o=plain, last=True, scale=True, each=False, divide=True, only_last=False):
    def attention_in_blocks(q, k, v, block):
        m, total, o = torch.full((len(q), 1), -INF), torch.zeros(len(q), 1), torch.zeros(len(q), v.shape[1])
        for j in range(0, len(k) if last else len(k) - block + 1, block):
            scores = q @ k[j : j + block].T / (math.sqrt(q.shape[1]) if scale else 1)
            m_new = torch.maximum(m, scores.amax(-1, keepdim=True))
            p = torch.exp(scores - m_new)
            total = total * c(m, m_new) + p.sum(-1, keepdim=True)
            o = o * c_o(m, m_new) + p @ v[j : j + block]
            if each:
                o = o / total
            m = m_new
        if only_last:
            total = p.sum(-1, keepdim=True)
        return o / total if divide and not each else o

    return attention_in_blocks


# ------------------------------------------------------------------ 10.5 window mask


def mask_tril_triu(T, S, window):
    ones = torch.ones(T, S, dtype=torch.bool)
    return ones.tril(S - T) & ones.triu(S - T - window + 1)


def mask_loops(T, S, window):
    mask = torch.zeros(T, S, dtype=torch.bool)
    for i in range(T):
        place = S - T + i
        mask[i, max(0, place - window + 1) : place + 1] = True
    return mask


def mask_last_rows(T, S, window):
    i, j = torch.meshgrid(torch.arange(S), torch.arange(S), indexing="ij")
    return ((i - j >= 0) & (i - j < window))[S - T :]


def mask_by_library(T, S, window):
    from transformer_lib.masks import sliding_window_mask

    return sliding_window_mask(T, window, S)[0, 0]


def mask_comparison(T, S, window):
    back = torch.arange(S - T, S).unsqueeze(1) - torch.arange(S)
    return back.clamp(0, window - 1) == back


def mask_of(rule):
    """rule(back): may a word so many words back be read?"""

    def window_mask(T, S, window):
        back = torch.arange(S - T, S)[:, None] - torch.arange(S)
        return rule(back, window)

    return window_mask


def right_window(back, w):
    return (back >= 0) & (back < w)


def mask_top_left(T, S, window):
    return right_window(torch.arange(T)[:, None] - torch.arange(S), window)


def mask_pieces(T, S, window):
    i, j = torch.arange(S - T, S)[:, None], torch.arange(S)
    return (i // window == j // window) & (j <= i)


def mask_additive(T, S, window):
    return torch.zeros(T, S).masked_fill(~mask_loops(T, S, window), -INF)


# ------------------------------------------------------------------ 10.6 cache

CACHE = (128, 1, 16, 4, 0.5)


def cache_in_python():
    word = 2 * 32 * 8 * 128 * 2
    text = 8192 * word
    return np.array(
        [word / 1024, text / 1024**3, 16 * text / 1024**3, 4 * text / 1024**3, text / 2 / 1024**3]
    )


# ------------------------------------------------------------------ 10.7 grouped queries


def grouped_loop(q, k, v):
    group = q.shape[1] // k.shape[1]
    heads = []
    for h in range(q.shape[1]):
        scores = q[:, h] @ k[:, h // group].transpose(1, 2) / math.sqrt(q.shape[-1])
        heads.append(scores.softmax(-1) @ v[:, h // group])
    return torch.stack(heads, dim=1)


def grouped_view(q, k, v):
    B, H, T, K = q.shape
    G = k.shape[1]
    scores = einsum("bghtk,bgsk->bghts", q.view(B, G, H // G, T, K), k) / K**0.5
    return einsum("bghts,bgsd->bghtd", scores.softmax(-1), v).reshape(B, H, T, -1)


def grouped_torch(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, enable_gqa=True)


def grouped_expand(q, k, v):
    B, G, S, _ = k.shape
    k, v = (x.double()[:, :, None].expand(B, G, q.shape[1] // G, S, -1).flatten(1, 2) for x in (k, v))
    A = torch.softmax(q.double() @ k.mT * q.shape[-1] ** -0.5, -1)
    return A @ v


def grouped_rows(q, k, v):
    """The queries of a group as more rows of one head."""
    B, H, T, K = q.shape
    rows = q.reshape(B, k.shape[1], -1, K)
    return ((rows @ k.mT / K**0.5).softmax(-1) @ v).reshape(B, H, T, -1)


def grouped_by(spread_k, spread_v=None, scale=lambda K, H: K**-0.5, axis=-1, after=lambda x, G: x):
    def grouped(q, k, v):
        G, H = k.shape[1], q.shape[1]
        k, v = spread_k(k, H // G), (spread_v or spread_k)(v, H // G)
        A = torch.softmax(einsum("bhtk,bhsk->bhts", q, k) * scale(q.shape[-1], H), axis)
        return after(A @ v, G)

    return grouped


def neighbours(x, group):
    return x.repeat_interleave(group, dim=1)


def in_turn(x, group):
    return torch.cat([x] * group, dim=1)


def the_first(x, group):
    return x[:, :1].repeat(1, x.shape[1] * group, 1, 1)


def the_mean(x, group):
    return x.mean(1, keepdim=True).repeat(1, x.shape[1] * group, 1, 1)


def grouped_mean_queries(q, k, v):
    G = k.shape[1]
    mean = q.unflatten(1, (G, -1)).mean(2)
    out = torch.softmax(mean @ k.mT / q.shape[-1] ** 0.5, -1) @ v
    return neighbours(out, q.shape[1] // G)


def grouped_plain(q, k, v):
    return torch.softmax(torch.matmul(q, k.transpose(2, 3)) / math.sqrt(q.shape[3]), dim=3) @ v


RIGHT = {
    "10.1": [says(*DOUBLED), factors_by_formula, DOUBLED, np.array(DOUBLED)],
    "10.2": [
        flops_by_entries,
        flops_in_a_loop,
        flops_by_torch,
        lambda batch, layers, heads, T, S, d_key, d_value: float(
            2 * batch * layers * heads * T * S * (d_key + d_value)
        ),
    ],
    "10.3": [absorb_where, absorb_nan_to_num, absorb_loops, absorb_double, absorber()],
    "10.4": [blocks(), blocks_split, blocks_whole, blocks_logsumexp],
    "10.5": [mask_tril_triu, mask_loops, mask_last_rows, mask_by_library, mask_comparison],
    "10.6": [says(*CACHE), cache_in_python, CACHE, torch.tensor(CACHE)],
    "10.7": [grouped_loop, grouped_view, grouped_torch, grouped_expand, grouped_rows],
}

WRONG = {
    "10.1": [
        (says(0.25, 0.25, 0.25, 0.5, 0.5, 0.5), "upside-down"),
        (says(2, 2, 2, 1, 1, 1), "exponents"),
        (says(*[4] * 6), "all-quadratic"),
        (says(*[2] * 6), "all-linear"),
        (changed(DOUBLED, 1, 2), "time-linear"),
        (changed(DOUBLED, 1, 8), "time-cubic"),
        (changed(DOUBLED, 2, 2), "memory-linear"),
        (changed(DOUBLED, 2, 8), "memory-cubic"),
        (changed(DOUBLED, 3, 2), "fused-fewer-flops"),
        (says(4, 4, 2, 1, 2, 2), "fused-fewer-flops"),
        (changed(DOUBLED, 3, 1), "fused-free"),
        (changed(DOUBLED, 4, 4), "fused-stores-weights"),
        (changed(DOUBLED, 4, 1), "fused-memory-constant"),
        (changed(DOUBLED, 5, 4), "network-quadratic"),
        (changed(DOUBLED, 5, 1), "network-constant"),
        (changed(DOUBLED, 6, 4), "cache-quadratic"),
        (changed(DOUBLED, 6, 1), "cache-constant"),
        (changed(DOUBLED, 6, 3), "wrong-values"),
        (says(4, 4, 2), "wrong-shape"),
    ],
    "10.2": [
        (each(lambda T, S, K, V: T * S * (K + V)), "multiply-add-as-one"),
        (each(lambda T, S, K, V: 2 * T * S * K), "scores-only"),
        (each(lambda T, S, K, V: 2 * T * S * V), "weighted-sum-only"),
        (each(lambda T, S, K, V: 4 * T * S * K), "one-width-for-both"),
        (lambda B, L, H, T, S, K, V: 2 * B * L * T * S * (K + V), "heads-forgotten"),
        (lambda B, L, H, T, S, K, V: 2 * L * H * T * S * (K + V), "batch-forgotten"),
        (lambda B, L, H, T, S, K, V: 2 * B * H * T * S * (K + V), "layers-forgotten"),
        (lambda B, L, H, T, S, K, V: 2 * H * T * S * (K + V), "several-forgotten"),
        (lambda B, L, H, T, S, K, V: 2 * T * S * (K + V), "several-forgotten"),
        (lambda B, L, H, T, S, K, V: 2 * B * L * H * T * S * (K * H + V * H), "heads-twice"),
        (each(lambda T, S, K, V: 2 * T**2 * (K + V)), "queries-for-keys"),
        (each(lambda T, S, K, V: 2 * S**2 * (K + V)), "keys-for-queries"),
        (each(lambda T, S, K, V: 2 * T * S * K * V), "products-multiplied"),
        (each(lambda T, S, K, V: T * S * (2 * K - 1) + T * V * (2 * S - 1)), "additions-one-less"),
        (each(lambda T, S, K, V: T * (T + 1) * (K + V)), "hidden-half-left-out"),
        (each(lambda T, S, K, V: T * S * (2 * K + 2 * V + 5)), "softmax-counted"),
        (each(lambda T, S, K, V: T * S * (2 * K + 2 * V + 1)), "softmax-counted"),
        (
            lambda B, L, H, T, S, K, V: (
                B * L * (2 * H * T * S * (K + V) + 2 * H * K * (T * H * K + S * H * K + S * H * V))
            ),
            "projections-counted",
        ),
        (lambda *sizes: sum(sizes), "wrong-values"),
    ],
    "10.3": [
        (absorber(end=lambda m, t, o: (m, t, o / t[:, None])), "divided-already"),
        (absorber(c=ones), "nothing-rescaled"),
        (absorber(c=ones, c_o=plain), "sum-not-rescaled"),
        (absorber(c=ones, c_o=plain, guard=False), "sum-not-rescaled"),
        (absorber(c_o=ones), "output-not-rescaled"),
        (absorber(c=lambda m, new: (new - m).exp()), "rescaled-upside-down"),
        (absorb_new_rescaled, "new-part-rescaled"),
        (absorber(top=lambda m, s: s.amax(-1)), "no-running-maximum"),
        (absorber(p=lambda m, new, s: (s - m[:, None]).exp()), "old-maximum"),
        (absorb_keeps_m, "old-maximum"),
        (absorber(p=lambda m, new, s: s.exp()), "no-maximum"),
        (absorber(p=lambda m, new, s: s.softmax(-1)), "softmax-in-the-block"),
        (absorber(top=lambda m, s: torch.maximum(m, s.max())), "one-maximum-for-all"),
        (absorb_forgets, "block-alone"),
        (absorber(guard=False), "nan-where-hidden"),
        (absorb_skips_hidden, "wrong-where-hidden"),
        (lambda m, total, o, scores, v: o, "wrong-shape"),
        (lambda m, total, o, scores, v: (m, total), "wrong-shape"),
    ],
    "10.4": [
        (blocks(c_o=ones, last=False), "both-bugs-left"),
        (blocks(last=False), "last-block-dropped"),
        (blocks(c_o=ones), "output-not-rescaled"),
        (blocks(c=ones), "sum-not-rescaled"),
        (blocks(c=ones, c_o=ones), "nothing-rescaled"),
        (blocks(each=True), "divided-in-the-loop"),
        (blocks(only_last=True), "divided-by-the-last-block"),
        (blocks(divide=False), "not-divided"),
        (blocks(scale=False), "no-scale"),
        (lambda q, k, v, block: q @ k.T @ v, "wrong-values"),
    ],
    "10.5": [
        (lambda T, S, window: mask_loops(T, S, window).float(), "numbers-not-booleans"),
        (lambda T, S, window: mask_loops(T, S, window).int(), "numbers-not-booleans"),
        (mask_additive, "numbers-not-booleans"),
        (lambda T, S, window: mask_loops(T, S, window)[None, None], "axes-in-front"),
        (lambda T, S, window: ~mask_loops(T, S, window), "inverted"),
        (mask_of(lambda back, w: (back >= 0) & (back <= w)), "one-too-many"),
        (mask_of(lambda back, w: (back >= -1) & (back < w)), "one-too-many"),
        (mask_of(lambda back, w: (back >= 0) & (back < w - 1)), "one-too-few"),
        (mask_of(lambda back, w: (back > 0) & (back < w)), "itself-hidden"),
        (mask_of(lambda back, w: (back > 0) & (back <= w)), "itself-hidden"),
        (mask_of(lambda back, w: back.abs() < w), "two-sided"),
        (mask_of(lambda back, w: back < w), "not-causal"),
        (mask_of(lambda back, w: back >= 0), "no-window"),
        (mask_of(lambda back, w: (back <= 0) & (-back < w)), "window-on-the-future"),
        (mask_of(lambda back, w: back >= w), "far-for-near"),
        (mask_top_left, "aligned-to-the-start"),
        (mask_pieces, "fixed-blocks"),
        (lambda T, S, window: mask_loops(S, S, window), "wrong-shape"),
    ],
    "10.6": [
        (changed(CACHE, 1, 64), "keys-or-values-only"),
        (says(64, 0.5, 8, 2, 0.25), "keys-or-values-only"),
        (says(512, 4, 64, 4, 2), "heads-of-queries"),
        (says(4, 1 / 32, 0.5, 1 / 8, 1 / 64), "one-layer-only"),
        (says(16, 1 / 8, 2, 0.5, 1 / 16), "one-head-only"),
        (says(256, 2, 32, 8, 1), "four-bytes"),
        (says(1024, 8, 128, 32, 4), "bits-for-bytes"),
        (says(32, 0.25, 4, 1, 0.125), "one-byte"),
        (says(1, 1 / 128, 1 / 8, 1 / 32, 1 / 256), "width-of-a-head-forgotten"),
        (changed(CACHE, 1, 192), "queries-kept-too"),
        (changed(CACHE, 1, 2**17), "bytes-for-kibibytes"),
        (changed(CACHE, 1, 131.072), "thousands"),
        (changed(CACHE, 2, 1 / 8192), "words-forgotten"),
        (changed(CACHE, 2, 1024), "mebibytes"),
        (changed(CACHE, 2, 8192), "pairs-kept"),
        (changed(CACHE, 3, 1), "batch-forgotten"),
        (changed(CACHE, 4, 0.25), "sharing-turned-round"),
        (changed(CACHE, 4, 1), "sharing-saves-nothing"),
        (changed(CACHE, 4, 32), "heads-not-ratio"),
        (changed(CACHE, 5, 1), "window-saves-nothing"),
        (changed(CACHE, 5, 2), "window-on-top"),
        (says(128, 1, 16, 4, 0.75), "wrong-values"),
    ],
    "10.7": [
        (grouped_by(neighbours, axis=-2), "softmax-over-queries"),
        (grouped_by(neighbours, scale=lambda K, H: 1), "no-scale"),
        (grouped_by(neighbours, scale=lambda K, H: (K * H) ** -0.5), "scale-by-something-else"),
        (grouped_by(neighbours, scale=lambda K, H: 1 / K), "scale-by-something-else"),
        (grouped_by(in_turn), "shared-in-turn"),
        (grouped_by(neighbours, in_turn), "keys-and-values-apart"),
        (grouped_by(in_turn, neighbours), "keys-and-values-apart"),
        (grouped_by(the_first), "one-head-for-all"),
        (grouped_by(the_mean), "keys-averaged"),
        (grouped_mean_queries, "queries-averaged"),
        (
            grouped_by(neighbours, after=lambda x, G: x.unflatten(1, (G, -1)).mean(2)),
            "outputs-averaged",
        ),
        (grouped_plain, "heads-do-not-fit"),
    ],
}
