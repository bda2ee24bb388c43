"""Right and wrong answers for chapter 7, as learners write them."""

import copy
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import einsum, nn

from transformer_lib import MultiHeadAttention, SelfAttention, attention


def says(*answers):
    return lambda: list(answers)


# ------------------------------------------------------------------ 7.2 split


def split_reshape_permute(x, n_heads):
    return x.reshape(*x.shape[:2], n_heads, -1).permute(0, 2, 1, 3)


def split_chunks(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)


def split_loops(x, n_heads):
    B, T, D = x.shape
    K = D // n_heads
    out = torch.zeros(B, n_heads, T, K, dtype=torch.double)
    for b in range(B):
        for h in range(n_heads):
            for t in range(T):
                out[b, h, t] = x[b, t, h * K : (h + 1) * K]
    return out


def split_from_the_transpose(x, n_heads):
    B, T, D = x.shape
    return x.transpose(1, 2).reshape(B, n_heads, D // n_heads, T).transpose(2, 3)


def split_einsum(x, n_heads):
    return einsum("bthk->bhtk", x.unflatten(2, (n_heads, x.shape[2] // n_heads)))


def split_unfold(x, n_heads):
    K = x.shape[-1] // n_heads
    return x.unfold(-1, K, K).swapaxes(1, 2).contiguous()


def split_by_float_width(x, n_heads):
    B, T, D = x.shape
    return x.view(B, T, n_heads, D / n_heads).transpose(1, 2)


# ------------------------------------------------------------------ 7.3 merge


def merge_contiguous(heads):
    B, _, T, _ = heads.shape
    return heads.transpose(1, 2).contiguous().view(B, T, -1)


def merge_cat(heads):
    return torch.cat([heads[:, h] for h in range(heads.shape[1])], dim=-1)


def merge_permute(heads):
    return heads.permute(0, 2, 1, 3).flatten(start_dim=2)


def merge_loops(heads):
    B, H, T, K = heads.shape
    out = torch.empty(B, T, H * K)
    for h in range(H):
        out[..., h * K : (h + 1) * K] = heads[:, h]
    return out.double()


def merge_einsum(heads):
    return einsum("bhtk->bthk", heads).reshape(heads.shape[0], heads.shape[2], -1)


# ------------------------------------------------------------------ 7.5 the whole of it


def whole_torch(x, w_query, w_key, w_value, w_output, n_heads, mask):
    D = x.shape[-1]
    hidden = (~mask).repeat_interleave(n_heads, dim=0)
    out, _ = F.multi_head_attention_forward(
        *[x.transpose(0, 1)] * 3,
        D,
        n_heads,
        torch.cat([w_query, w_key, w_value]),
        None,
        None,
        None,
        False,
        0.0,
        w_output,
        None,
        attn_mask=hidden,
    )
    return out.transpose(0, 1)


def whole_fused(x, w_query, w_key, w_value, w_output, n_heads, mask):
    q, k, v = (split_reshape_permute(x @ w.mT, n_heads) for w in (w_query, w_key, w_value))
    return merge_permute(F.scaled_dot_product_attention(q, k, v, mask.unsqueeze(1))) @ w_output.mT


def whole_einsum(x, w_query, w_key, w_value, w_output, n_heads, mask):
    q, k, v = (einsum("btd,hkd->bhtk", x, w.unflatten(0, (n_heads, -1))) for w in (w_query, w_key, w_value))
    scores = einsum("bhtk,bhsk->bhts", q, k) * q.shape[-1] ** -0.5
    scores = torch.where(mask[:, None], scores, torch.tensor(-1e9))
    o = einsum("bhts,bhsk->bhtk", scores.softmax(-1), v)
    return einsum("bhtk,dhk->btd", o, w_output.unflatten(1, (n_heads, -1)))


def whole_by_slices(x, w_query, w_key, w_value, w_output, n_heads, mask):
    """The sum over heads of their outputs times slices of the last matrix."""
    K, out = x.shape[-1] // n_heads, 0
    for h in range(n_heads):
        rows = slice(h * K, (h + 1) * K)
        q, k, v = (x @ w[rows].T for w in (w_query, w_key, w_value))
        out = out + attention(q, k, v, mask) @ w_output[:, rows].T
    return out


def whole_library(x, w_query, w_key, w_value, w_output, n_heads, mask):
    layer = MultiHeadAttention(x.shape[-1], n_heads, bias=False)
    layer.load_state_dict({"qkv.weight": torch.cat([w_query, w_key, w_value]), "output.weight": w_output})
    return layer(x, mask=mask[:, None])


def whole_loops(x, w_query, w_key, w_value, w_output, n_heads, mask):
    K = x.shape[-1] // n_heads
    x, w_query, w_key, w_value, w_output = (t.double() for t in (x, w_query, w_key, w_value, w_output))
    result = []
    for b in range(len(x)):
        heads = []
        for h in range(n_heads):
            q, k, v = ((x[b] @ w.T)[:, h * K : h * K + K] for w in (w_query, w_key, w_value))
            scores = q @ k.T / math.sqrt(K)
            scores[~mask[b]] = float("-inf")
            heads.append(scores.softmax(1) @ v)
        result.append(torch.cat(heads, 1) @ w_output.T)
    return torch.stack(result)


def whole_exponentials(x, w_query, w_key, w_value, w_output, n_heads, mask):
    """Masked exponentials, divided by their own sums: the same as −∞ before the softmax."""
    q, k, v = (split_chunks(x @ w.T, n_heads) for w in (w_query, w_key, w_value))
    e = (q @ k.mT / q.shape[-1] ** 0.5).exp() * mask[:, None]
    return merge_cat((e / e.sum(-1, keepdim=True)) @ v) @ w_output.T


def whole(
    maps=lambda w: w.T,
    order=lambda q, k, v: (q, k, v),
    split=split_reshape_permute,
    scale=lambda q, H: q.shape[-1] ** -0.5,
    hide=lambda s, m: s.masked_fill(~m[:, None], -math.inf),
    softmax=lambda s: s.softmax(-1),
    after=lambda w, m: w,
    merge=merge_permute,
    output=lambda o, w: o @ w.T,
):
    """Multi-head attention of which parts can be replaced."""

    def multi_head_attention(x, w_query, w_key, w_value, w_output, n_heads, mask):
        q, k, v = order(*(x @ maps(w) for w in (w_query, w_key, w_value)))
        q, k, v = (split(part, n_heads) for part in (q, k, v))
        weights = after(softmax(hide(q @ k.transpose(-2, -1) * scale(q, n_heads), mask)), mask)
        return output(merge(weights @ v), w_output)

    return multi_head_attention


def view_split(x, n_heads):
    return x.reshape(x.shape[0], n_heads, x.shape[1], -1)


def flat_merge(o):
    return o.reshape(o.shape[0], o.shape[2], -1)


def interleaved_split(x, n_heads):
    return x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)


def root_of_width(q, H):
    return (H * q.shape[-1]) ** -0.5


def whole_heads_read_heads(x, w_query, w_key, w_value, w_output, n_heads, mask):
    B, T, D = x.shape
    q, k, v = ((x @ w.T).view(B, T, n_heads, -1) for w in (w_query, w_key, w_value))
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    weights = scores.masked_fill(~mask[:, None], -math.inf).softmax(-1)
    return (weights @ v).reshape(B, T, D) @ w_output.T


def whole_view_of_the_result(x, w_query, w_key, w_value, w_output, n_heads, mask):
    o = whole_fused(x, w_query, w_key, w_value, torch.eye(x.shape[-1]), n_heads, mask)
    o = split_reshape_permute(o, n_heads)
    return o.contiguous().view(x.shape) @ w_output.T


def whole_fused_headless(x, w_query, w_key, w_value, w_output, n_heads, mask):
    q, k, v = (split_reshape_permute(x @ w.T, n_heads) for w in (w_query, w_key, w_value))
    return merge_permute(F.scaled_dot_product_attention(q, k, v, attn_mask=mask)) @ w_output.T


def whole_one_head(x, w_query, w_key, w_value, w_output, n_heads, mask):
    q, k, v = x @ w_query.T, x @ w_key.T, x @ w_value.T
    return attention(q, k, v, mask) @ w_output.T


def whole_of_heads(maps):
    """One head after the other; `maps` gives what head h reads and its three matrices."""

    def multi_head_attention(x, w_query, w_key, w_value, w_output, n_heads, mask):
        K, heads = x.shape[-1] // n_heads, []
        for h in range(n_heads):
            words, matrices = maps(x, (w_query, w_key, w_value), slice(h * K, (h + 1) * K))
            heads.append(attention(*(words @ w.T for w in matrices), mask))
        return torch.cat(heads, dim=-1) @ w_output.T

    return multi_head_attention


whole_of_cut_words = whole_of_heads(lambda x, ws, rows: (x[..., rows], [w[rows, rows] for w in ws]))
whole_first_head = whole_of_heads(lambda x, ws, rows: (x, [w[: rows.stop - rows.start] for w in ws]))


def whole_keys_reshaped(x, w_query, w_key, w_value, w_output, n_heads, mask):
    q, k, v = (split_chunks(x @ w.T, n_heads) for w in (w_query, w_key, w_value))
    scores = q @ k.reshape(*k.shape[:2], k.shape[3], k.shape[2]) / math.sqrt(k.shape[-1])
    weights = scores.masked_fill(~mask[:, None], -math.inf).softmax(-1)
    return merge_cat(weights @ v) @ w_output.T


# ------------------------------------------------------------------ 7.6 two bugs


def causal(**parts):
    """As `whole`, with a causal mask of its own."""
    inner = whole(**parts)

    def causal_multi_head(x, w_query, w_key, w_value, w_output, n_heads):
        mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril().expand(len(x), -1, -1)
        return inner(x, w_query, w_key, w_value, w_output, n_heads, mask)

    return causal_multi_head


def causal_fused(x, w_query, w_key, w_value, w_output, n_heads):
    q, k, v = (split_reshape_permute(x @ w.T, n_heads) for w in (w_query, w_key, w_value))
    return merge_permute(F.scaled_dot_product_attention(q, k, v, is_causal=True)) @ w_output.T


def causal_library(x, w_query, w_key, w_value, w_output, n_heads):
    layer = MultiHeadAttention(x.shape[-1], n_heads, bias=False)
    layer.load_state_dict({"qkv.weight": torch.cat([w_query, w_key, w_value]), "output.weight": w_output})
    return layer(x, causal=True)


def unmended(x, w_query, w_key, w_value, w_output, n_heads, scale=lambda D, K: D, merged=False):
    B, T, D = x.shape
    K = D // n_heads
    q, k, v = ((x @ w.T).view(B, T, n_heads, K).transpose(1, 2) for w in (w_query, w_key, w_value))
    scores = q @ k.transpose(-2, -1) / math.sqrt(scale(D, K))
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    heads = torch.softmax(scores.masked_fill(future, -math.inf), dim=-1) @ v
    if merged:
        heads = heads.transpose(1, 2)
    return heads.reshape(B, T, D) @ w_output.T


def merge_mended(*args):
    return unmended(*args, merged=True)


def scale_mended(*args):
    return unmended(*args, scale=lambda D, K: K)


# ------------------------------------------------------------------ 7.7 a class


class HeadsInModuleList(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.parts = nn.ModuleList()
        for _ in range(n_heads):
            self.parts.append(SelfAttention(d_model, d_model // n_heads))
        self.last = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x):
        out = []
        for part in self.parts:
            out.append(part(x))
        return self.last(torch.cat(out, -1))


class HeadsPacked(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.inner = MultiHeadAttention(d_model, n_heads, bias=False)

    def forward(self, x):
        return self.inner(x)


class HeadsByName(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        for h in range(n_heads):
            setattr(self, f"head_{h}", SelfAttention(d_model, d_model // n_heads))
        self.w_output = nn.Parameter(torch.randn(d_model, d_model) / d_model**0.5)

    def forward(self, x):
        heads = [getattr(self, f"head_{h}")(x) for h in range(self.n_heads)]
        return torch.cat(heads, dim=-1) @ self.w_output.T


class HeadsOfParameters(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.w = nn.Parameter(torch.randn(3, n_heads, d_model // n_heads, d_model) / d_model**0.5)
        self.output = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x):
        q, k, v = einsum("btd,nhkd->nbhtk", x, self.w)
        return self.output(merge_permute(attention(q, k, v)))


class HeadsOfTorch(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.inner = nn.MultiheadAttention(d_model, n_heads, bias=False, batch_first=True)

    def forward(self, x):
        return self.inner(x, x, x, need_weights=False)[0]


def heads(collect, forward=None, width=lambda D, H: D // H, output=lambda D, H: nn.Linear(D, D, bias=False)):
    """A class whose heads are kept and used in some other way."""

    class Heads(nn.Module):
        def __init__(self, d_model, n_heads):
            super().__init__()
            self.n_heads = n_heads
            self.heads = collect(lambda: SelfAttention(d_model, width(d_model, n_heads)), n_heads)
            self.output = output(d_model, n_heads)

        def forward(self, x):
            if forward is not None:
                return forward(self, x)
            return self.output(torch.cat([head(x) for head in self.heads], dim=-1))

    return Heads


class HeadsInDict(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.heads = {h: SelfAttention(d_model, d_model // n_heads) for h in range(n_heads)}
        self.output = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x):
        return self.output(torch.cat([self.heads[h](x) for h in sorted(self.heads)], dim=-1))


class HeadsOnePasses(nn.Module):
    """One head, called as often as there are heads."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.head = SelfAttention(d_model, d_model // n_heads)
        self.output = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x):
        return self.output(torch.cat([self.head(x) for _ in range(self.n_heads)], dim=-1))


class HeadsOfLinearMaps(nn.Module):
    """Queries, keys and values are there, but no attention."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.values = nn.Linear(d_model, 3 * d_model, bias=False)
        self.output = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x):
        q, k, v = self.values(x).chunk(3, dim=-1)
        return self.output(q + k + v)


def side_by_side(self, x):
    return torch.cat([head(x) for head in self.heads], dim=-1)


def copies(make, n_heads):
    first = make()
    return nn.ModuleList(copy.deepcopy(first) for _ in range(n_heads))


def module_list(make, n_heads):
    return nn.ModuleList(make() for _ in range(n_heads))


RIGHT = {
    "7.1": [
        says(False, False, True, False, True, False),
        lambda: (0, 0, 1, 0, 1, 0),
        lambda: np.array([False, False, True, False, True, False]),
        lambda: torch.tensor([False, False, True, False, True, False]),
        lambda: [np.bool_(answer) for answer in (0, 0, 1, 0, 1, 0)],
        lambda: torch.tensor([0.0, 0.0, 1.0, 0.0, 1.0, 0.0]),
    ],
    "7.2": [
        split_reshape_permute,
        split_chunks,
        split_loops,
        split_from_the_transpose,
        split_einsum,
        split_unfold,
        lambda x, n: torch.from_numpy(np.stack(np.split(x.numpy(), n, axis=2), axis=1)),
        lambda x, n: torch.stack(x.split(x.shape[-1] // n, -1)).movedim(0, 1),
    ],
    "7.3": [merge_contiguous, merge_cat, merge_permute, merge_loops, merge_einsum],
    "7.4": [
        says(40_000, 20_000, 400, 160_000),
        lambda: (4 * 100**2, 2 * 4 * 10 * 10 * 25, 4 * 10 * 10, 4 * 3 * 100 * 100 + 100 * 400),
        lambda: torch.tensor([40000.0, 20000.0, 400.0, 160000.0]),
        lambda: np.array([40000, 20000, 400, 160000]),
    ],
    "7.5": [
        whole_torch,
        whole_fused,
        whole_einsum,
        whole_by_slices,
        whole_library,
        whole_loops,
        whole_exponentials,
        whole(),
    ],
    "7.6": [
        causal_fused,
        causal_library,
        causal(),
        causal(split=split_chunks, merge=merge_cat),
        lambda *args: unmended(*args, scale=lambda D, K: K, merged=True).double(),
    ],
    "7.7": [
        HeadsInModuleList,
        HeadsPacked,
        HeadsByName,
        HeadsOfParameters,
        HeadsOfTorch,
        heads(lambda make, H: nn.Sequential(*(make() for _ in range(H)))),
        heads(lambda make, H: nn.ModuleList([make() for _ in range(H)])),
    ],
}

WRONG = {
    "7.1": [
        (says(True, False, True, False, True, False), "more-to-learn"),
        (says(False, True, True, False, True, False), "more-multiplications"),
        (says(False, False, False, False, True, False), "as-many-weights"),
        (says(False, False, True, True, True, False), "full-weight-twice"),
        (lambda: torch.tensor([0, 0, 1, 0, 0, 0]), "heads-share-a-softmax"),
        (says(False, False, True, False, True, True), "always-different"),
        (says(True, True, True, True, True, True), "more-to-learn"),
        (says(False, False, True, False, True), "wrong-shape"),
        (lambda: dict(enumerate([False, False, True, False, True, False], 1)), "wrong-type"),
        (lambda: ["False", "False", "True", "False", "True", "False"], "wrong-type"),
    ],
    "7.2": [
        (view_split, "split-by-view"),
        (lambda x, n: x.view(len(x), n, x.shape[1], x.shape[2] // n), "split-by-view"),
        (lambda x, n: x.flatten(1).unflatten(1, (n, x.shape[1], -1)), "split-by-view"),
        (lambda x, n: x.transpose(1, 2).reshape(len(x), n, x.shape[1], -1), "words-mixed"),
        (lambda x, n: x.reshape(len(x), n, -1, x.shape[1]).transpose(2, 3), "words-mixed"),
        (lambda x, n: split_chunks(x.flip(1), n), "words-mixed"),
        (lambda x, n: x.reshape(n, len(x), x.shape[1], -1).transpose(0, 1), "sentences-mixed"),
        (lambda x, n: split_chunks(x.flip(0), n), "sentences-mixed"),
        (interleaved_split, "heads-interleaved"),
        (lambda x, n: torch.stack([x[..., h::n] for h in range(n)], 1), "heads-interleaved"),
        (lambda x, n: split_chunks(x, n).flip(1), "heads-out-of-order"),
        (lambda x, n: x.view(*x.shape[:2], n, -1), "not-transposed"),
        (lambda x, n: torch.stack(x.chunk(n, -1), 2), "not-transposed"),
        (lambda x, n: torch.stack(x.chunk(n, -1)), "heads-in-front"),
        (lambda x, n: x.view(*x.shape[:2], n, -1).permute(0, 2, 3, 1), "words-last"),
        (lambda x, n: x.view(*x.shape[:2], -1, n).transpose(1, 2), "heads-and-width-swapped"),
        (lambda x, n: list(x.chunk(n, dim=-1)), "heads-in-a-list"),
        (lambda x, n: x.split(x.shape[-1] // n, dim=-1), "heads-in-a-list"),
        (split_by_float_width, "width-is-a-float"),
        (lambda x, n: split_chunks(x, n)[:, 0], "wrong-shape"),
        (lambda x, n: torch.cat(x.chunk(n, -1)), "heads-among-sentences"),
        (lambda x, n: split_chunks(x, n).flatten(0, 1), "heads-among-sentences"),
        (lambda x, n: split_chunks(x, n).numpy(), "wrong-type"),
        (lambda x, n: split_chunks(x, n).tolist(), "wrong-type"),
        (lambda x, n: split_chunks(x, n).mT, "words-last"),
    ],
    "7.3": [
        (flat_merge, "merged-without-transposing"),
        (lambda h: h.contiguous().view(h.shape[0], h.shape[2], -1), "merged-without-transposing"),
        (lambda h: h.flatten(1).unflatten(1, (h.shape[2], -1)), "merged-without-transposing"),
        (lambda h: h.transpose(2, 3).reshape(h.shape[0], h.shape[2], -1), "words-mixed"),
        (lambda h: merge_cat(h.flip(2)), "words-mixed"),
        (lambda h: h.transpose(0, 1).reshape(h.shape[0], h.shape[2], -1), "sentences-mixed"),
        (lambda h: h.permute(0, 2, 3, 1).flatten(2), "heads-interleaved"),
        (lambda h: torch.stack(h.unbind(1), -1).flatten(2), "heads-interleaved"),
        (lambda h: merge_cat(h.flip(1)), "heads-out-of-order"),
        (lambda h: h.transpose(1, 2).view(h.shape[0], h.shape[2], -1), "view-after-transpose"),
        (lambda h: h.transpose(1, 2), "not-joined"),
        (lambda h: h.permute(0, 2, 1, 3).contiguous(), "not-joined"),
        (lambda h: h.mean(1), "heads-averaged"),
        (lambda h: sum(h.unbind(1)), "heads-averaged"),
        (lambda h: torch.cat(h.unbind(1), dim=1), "joined-along-the-words"),
        (lambda h: h[:, 0], "one-head-only"),
        (lambda h: merge_cat(h)[..., :-1], "wrong-shape"),
        (lambda h: merge_cat(h).numpy(), "wrong-type"),
        (lambda h: list(h.unbind(1)), "wrong-type"),
        (lambda h: h.transpose(1, 3).reshape(h.shape[0], h.shape[2], -1), "words-mixed"),
    ],
    "7.4": [
        (says(30_000, 20_000, 400, 160_000), "output-map-forgotten"),
        (says(17_500, 20_000, 400, 160_000), "one-head-counted"),
        (says(10_000, 20_000, 400, 160_000), "one-head-counted"),
        (says(160_000, 20_000, 400, 160_000), "heads-not-narrowed"),
        (says(40_400, 20_000, 400, 160_000), "biases-counted"),
        (says(40_000, 10_000, 400, 160_000), "additions-forgotten"),
        (says(40_000, 5_000, 400, 160_000), "flops-of-one-head"),
        (says(40_000, 80_000, 400, 160_000), "flops-times-heads"),
        (says(40_000, 840_000, 400, 160_000), "maps-counted"),
        (says(40_000, 40_000, 400, 160_000), "flops-twice"),
        (says(40_000, 800, 400, 160_000), "flops-without-width"),
        (says(40_000, 19_600, 400, 160_000), "flops-one-addition-less"),
        (says(40_000, 20_000, 360, 160_000), "own-word-left-out"),
        (says(40_000, 20_000, 220, 160_000), "earlier-words-only"),
        (says(40_000, 20_000, 400, 280_000), "wide-output-map-square"),
        (says(32_500, 20_000, 400, 160_000), "output-map-of-one-head"),
        (lambda: [True] * 4, "wrong-type"),
        (says(40_000, 20_000, 100, 160_000), "weights-of-one-head"),
        (says(40_000, 20_000, 25, 160_000), "weights-divided"),
        (lambda: (40_000, 20_000, 10_000, 160_000), "weights-times-width"),
        (says(40_000, 20_000, 40, 160_000), "weights-of-words"),
        (says(40_000, 20_000, 400, 130_000), "wide-output-map-forgotten"),
        (says(40_000, 20_000, 400, 120_000), "wide-output-map-forgotten"),
        (lambda: torch.tensor([40_000, 20_000, 400, 40_000]), "wide-heads-counted-narrow"),
        (says(40_000, 20_000, 400, 150_000), "wrong-values"),
    ],
    "7.5": [
        (whole(split=view_split, merge=flat_merge), "split-and-merged-by-view"),
        (
            whole(
                split=lambda x, n: x.view(len(x), n, x.shape[1], -1),
                merge=lambda o: o.contiguous().view(o.shape[0], o.shape[2], -1),
            ),
            "split-and-merged-by-view",
        ),
        (whole(split=view_split), "split-by-view"),
        (whole(split=lambda x, n: x.mT.reshape(len(x), n, x.shape[1], -1)), "split-by-view"),
        (whole(split=view_split, scale=root_of_width), "split-by-view"),
        (whole(merge=flat_merge), "merged-without-transposing"),
        (whole_view_of_the_result, "merged-without-transposing"),
        (whole(merge=flat_merge, scale=lambda q, H: 1), "merged-without-transposing"),
        (whole_heads_read_heads, "heads-read-heads"),
        (whole_one_head, "one-head-only"),
        (whole(split=interleaved_split), "heads-interleaved"),
        (whole(merge=lambda o: o.permute(0, 2, 3, 1).flatten(2)), "heads-interleaved"),
        (
            whole(split=interleaved_split, merge=lambda o: torch.stack(o.unbind(1), -1).flatten(2)),
            "heads-interleaved",
        ),
        (whole(maps=lambda w: w), "matrices-not-transposed"),
        (whole(maps=lambda w: w, output=lambda o, w: o @ w), "matrices-not-transposed"),
        (whole(order=lambda q, k, v: (k, q, v)), "queries-keys-swapped"),
        (whole(order=lambda q, k, v: (q, q, v)), "wrong-matrix"),
        (whole(order=lambda q, k, v: (q, k, k)), "wrong-matrix"),
        (whole(softmax=lambda s: s, hide=lambda s, m: s.masked_fill(~m[:, None], 0)), "no-softmax"),
        (whole(softmax=lambda s: s.softmax(-2)), "softmax-over-queries"),
        (whole(softmax=lambda s: s.softmax(1), hide=lambda s, m: s), "softmax-over-heads"),
        (whole(softmax=lambda s: s.softmax(1)), "softmax-over-heads"),
        (whole(softmax=lambda s: s.softmax(0)), "softmax-over-the-batch"),
        (whole(order=lambda q, k, v: (q, v, k)), "matrices-exchanged"),
        (whole_of_cut_words, "words-cut-into-heads"),
        (whole_first_head, "first-head-repeated"),
        (whole_keys_reshaped, "keys-reshaped"),
        (
            whole(hide=lambda s, m: s.masked_fill(~m.repeat(s.shape[1], 1, 1).view(s.shape), -math.inf)),
            "mask-in-wrong-order",
        ),
        (whole(hide=lambda s, m: s * m[:, None]), "hidden-scores-zero"),
        (whole(hide=lambda s, m: s.masked_fill(~m[:, None], 0)), "hidden-scores-zero"),
        (
            whole(hide=lambda s, m: s.masked_fill(~m[:, None], torch.finfo(s.dtype).tiny)),
            "hidden-scores-zero",
        ),
        (whole(hide=lambda s, m: s.masked_fill(~m[:, None], -1)), "hidden-words-still-read"),
        (whole(hide=lambda s, m: s - 10 * (~m[:, None])), "hidden-words-still-read"),
        (whole(hide=lambda s, m: s.masked_fill(~torch.ones_like(m).tril()[:, None], -math.inf)), "own-mask"),
        (whole(hide=lambda s, m: s + (~m[:, None]).float() * -math.inf), "zero-times-infinity"),
        (whole(scale=lambda q, H: 1 / (q.shape[-1] * H)), "scale-by-something-else"),
        (lambda x, *args: x + whole()(x, *args), "input-added"),
        (whole(softmax=lambda s: s.softmax(0), hide=lambda s, m: s), "softmax-over-the-batch"),
        (whole(hide=lambda s, m: s.masked_fill(~m, -math.inf)), "mask-lacks-the-head-axis"),
        (whole(hide=lambda s, m: torch.where(m, s, -torch.inf)), "mask-lacks-the-head-axis"),
        (whole_fused_headless, "mask-lacks-the-head-axis"),
        (whole(hide=lambda s, m: s.masked_fill(~m[:, :, None], -math.inf)), "mask-axis-misplaced"),
        (whole(hide=lambda s, m: torch.where(m.unsqueeze(2), s, -1e9)), "mask-axis-misplaced"),
        (whole(hide=lambda s, m: s), "mask-not-used"),
        (whole(hide=lambda s, m: s.masked_fill(m[:, None], -math.inf)), "mask-upside-down"),
        (whole(hide=lambda s, m: s.masked_fill(m[:, None], -1e9)), "mask-upside-down"),
        (whole(hide=lambda s, m: s.masked_fill(~m.mT[:, None], -math.inf)), "mask-transposed"),
        (whole(hide=lambda s, m: s, after=lambda w, m: w * m[:, None]), "mask-after-softmax"),
        (whole(hide=lambda s, m: s + m[:, None]), "mask-added"),
        (whole(scale=root_of_width), "scale-by-d-model"),
        (whole(scale=lambda q, H: 1 / math.sqrt(q[0, :, 0].numel())), "scale-by-d-model"),
        (whole(scale=lambda q, H: 1), "no-scale"),
        (whole(scale=lambda q, H: 1 / q.shape[-1]), "scale-without-root"),
        (whole(scale=lambda q, H: q.shape[-1] ** 0.5), "scale-upside-down"),
        (whole(scale=lambda q, H: H**-0.5), "scale-by-something-else"),
        (whole(scale=lambda q, H: q.shape[-2] ** -0.5), "scale-by-something-else"),
        (
            whole(scale=lambda q, H: 1, after=lambda w, m: w / 7**0.5 if len(w) == 2 else w / w.shape[-1]),
            "wrong-values",
        ),
        (
            lambda x, q, k, v, o, H, mask: whole(
                scale=lambda q, H: 1, after=lambda w, m: w / math.sqrt(x.shape[-1] // H)
            )(x, q, k, v, o, H, mask),
            "scale-after-softmax",
        ),
        (whole(output=lambda o, w: o), "output-map-missing"),
        (whole(output=lambda o, w: o @ w), "output-map-not-transposed"),
        (whole(merge=lambda o: o.mean(1), output=lambda o, w: o), "wrong-shape"),
    ],
    "7.6": [
        (unmended, "both-bugs-left"),
        (causal(merge=flat_merge, scale=root_of_width), "both-bugs-left"),
        (merge_mended, "scale-by-d-model"),
        (causal(scale=root_of_width, split=split_chunks), "scale-by-d-model"),
        (scale_mended, "merged-without-transposing"),
        (
            causal(merge=lambda o: o.transpose(2, 3).reshape(o.shape[0], o.shape[2], -1)),
            "merged-without-transposing",
        ),
        (causal(split=view_split, merge=flat_merge), "split-and-merged-by-view"),
        (causal(split=view_split), "split-by-view"),
        (causal(split=view_split, merge=flat_merge, scale=root_of_width), "split-and-merged-by-view"),
        (causal(merge=lambda o: o.permute(0, 2, 3, 1).flatten(2)), "heads-interleaved"),
        (
            lambda x, q, k, v, o, H: whole_heads_read_heads(
                x, q, k, v, o, H, torch.ones(len(x), H, H, dtype=torch.bool).tril()
            ),
            "heads-read-heads",
        ),
        (causal(split=lambda x, n: x[:, None], merge=lambda o: o[:, 0]), "one-head-only"),
        (causal(hide=lambda s, m: s), "mask-not-used"),
        (causal(hide=lambda s, m: s.masked_fill(m[:, None], -math.inf)), "mask-upside-down"),
        (causal(hide=lambda s, m: s.masked_fill(~m.mT[:, None], -math.inf)), "mask-upside-down"),
        (
            causal(hide=lambda s, m: s.masked_fill(torch.ones(m.shape[1:]).triu().bool(), -math.inf)),
            "own-word-hidden",
        ),
        (
            causal(hide=lambda s, m: s.masked_fill(torch.ones(m.shape[1:]).triu(2).bool(), -math.inf)),
            "next-word-visible",
        ),
        (causal(scale=lambda q, H: 1), "no-scale"),
        (causal(scale=lambda q, H: 1 / q.shape[-1]), "scale-without-root"),
        (causal(scale=lambda q, H: H**-0.5), "scale-by-something-else"),
        (causal(output=lambda o, w: o), "output-map-missing"),
    ],
    "7.7": [
        (heads(lambda make, H: [make()] * H), "both-bugs-left"),
        (heads(lambda make, H: (make(),) * H), "both-bugs-left"),
        (heads(lambda make, H: [make() for _ in range(H)]), "heads-in-a-python-list"),
        (heads(lambda make, H: tuple(make() for _ in range(H))), "heads-in-a-python-list"),
        (HeadsInDict, "heads-in-a-python-list"),
        (heads(lambda make, H: nn.ModuleList([make()] * H)), "one-head-repeated"),
        (heads(lambda make, H: nn.Sequential(*[make()] * H)), "one-head-repeated"),
        (HeadsOnePasses, "one-head-repeated"),
        (heads(copies), "heads-start-alike"),
        (
            heads(module_list, lambda self, x: self.output(torch.cat([self.heads[0](x)] * self.n_heads, -1))),
            "one-head-used",
        ),
        (
            heads(
                module_list,
                width=lambda D, H: D,
                output=lambda D, H: nn.Linear(H * D, D, bias=False),
            ),
            "heads-not-narrowed",
        ),
        (
            heads(
                module_list,
                lambda self, x: torch.cat([h(x) for h in self.heads], -1),
                output=lambda D, H: None,
            ),
            "output-map-missing",
        ),
        (heads(module_list, output=lambda D, H: nn.Linear(D, D)), "biases-added"),
        (lambda D, H: MultiHeadAttention(D, H), "biases-added"),
        (lambda D, H: nn.Linear(D, 4 * D, bias=False), "wrong-values"),
        (heads(module_list, lambda self, x: None), "no-tensor-returned"),
        (heads(module_list, lambda self, x: [head(x) for head in self.heads]), "no-tensor-returned"),
        (heads(module_list, lambda self, x: self.output(side_by_side(self, x).detach())), "gradient-cut"),
        (
            heads(
                lambda make, H: nn.ModuleList(make() for _ in range(H)),
                lambda self, x: self.output(sum(head(x) for head in self.heads)),
                width=lambda D, H: D,
            ),
            "heads-not-narrowed",
        ),
        (
            heads(
                module_list,
                lambda self, x: self.output(side_by_side(self, x).mT.reshape(x.shape)),
            ),
            "words-mixed",
        ),
        (heads(module_list, lambda self, x: x + self.output(side_by_side(self, x))), "input-added"),
        (
            heads(module_list, lambda self, x: self.output(side_by_side(self, x).relu())),
            "something-added",
        ),
        (HeadsOfLinearMaps, "words-do-not-meet"),
    ],
}
