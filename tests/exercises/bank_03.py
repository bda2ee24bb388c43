"""Right and wrong answers to the exercises of chapter 3, in many spellings. `test_bank.py` runs them."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import einsum


def says(*answer):
    """An answer on paper."""
    return lambda: list(answer)


# ------------------------------------------------------------------ 3.1 predict


def factors_by_experiment():
    generator = torch.Generator().manual_seed(0)
    scores = {d: (torch.randn(2, 300_000, d, generator=generator)).prod(0).sum(-1) for d in (16, 64)}
    small, large = scores[16], scores[64]
    return [
        round((large.std() / small.std()).item(), 1),
        round((large.var() / small.var()).item(), 1),
        round(((large / 8).std() / (small / 4).std()).item(), 1),
        round(((large / 64).std() / (small / 16).std()).item(), 1),
    ]


# ------------------------------------------------------------------ 3.2 work out

KEYS = [[1, 5, -1, -1], [math.log(2), 0, 0, 0], [math.log(2), 1, math.log(2), math.log(2)]]


def top(scale, after=1.0):
    scores = torch.tensor(KEYS) @ torch.tensor([2.0, 0.0, 1.0, 1.0])
    return torch.softmax(scores * scale, 0).max() * after


def largest_weights_in_numpy():
    scores = np.array(KEYS) @ np.array([2, 0, 1, 1])
    plain, scaled = np.exp(scores), np.exp(scores / np.sqrt(4))
    return np.array([(scaled / scaled.sum()).max(), (plain / plain.sum()).max()])


# ------------------------------------------------------------------ 3.3 entropy


def entropy_entr(weights):
    return torch.special.entr(weights).sum(dim=-1)


def entropy_xlogy(weights):
    return -torch.xlogy(weights, weights).sum(-1)


def entropy_clamped(weights):
    return -(weights * torch.log(weights.clamp(min=1e-12))).sum(-1)


def entropy_epsilon(weights):
    return -(weights * torch.log(weights + 1e-9)).sum(-1)


def entropy_nan_to_num(weights):
    return torch.nan_to_num(-weights * weights.log(), nan=0.0).sum(-1)


def entropy_loops(weights):
    rows = [
        sum((-p * math.log(p) for p in row if p > 0), 0.0)
        for row in weights.reshape(-1, weights.shape[-1]).tolist()
    ]
    return torch.tensor(rows).reshape(weights.shape[:-1])


def entropy_categorical(weights):
    return torch.distributions.Categorical(probs=weights).entropy()


def entropy_in_place(weights):
    logs = weights.clone()
    logs[logs == 0] = 1
    logs.log_()
    return einsum("...s,...s->...", weights, -logs)


def entropy_overwriting(weights):
    weights[weights == 0] = 1
    return -(weights * weights.log()).sum(-1)


def entropy_with(terms=torch.special.entr, finish=lambda terms, w: terms.sum(-1)):
    return lambda weights: finish(terms(weights), weights)


def entropy_loop_bits(weights):
    return torch.where(weights > 0, -weights * torch.log2(weights), 0).sum(-1)


# ------------------------------------------------------------------ 3.5 the Jacobian


def jacobian_loop(scores):
    return torch.stack([torch.diag(p) - torch.outer(p, p) for p in scores.softmax(1)])


def jacobian_einsum(scores):
    p = F.softmax(scores, dim=-1)
    return einsum("bi,ij->bij", p, torch.eye(p.shape[1])) - einsum("bi,bj->bij", p, p)


def jacobian_factored(scores):
    p = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return p.unsqueeze(-1) * (torch.eye(p.shape[-1]) - p.unsqueeze(-2))


def jacobian_autograd(scores):
    rows = [torch.autograd.functional.jacobian(lambda s: s.softmax(-1), row) for row in scores]
    return torch.stack(rows)


def jacobian_vmap(scores):
    return torch.func.vmap(torch.func.jacrev(lambda s: torch.softmax(s, -1)))(scores)


def jacobian_entries(scores):
    p = torch.softmax(scores.double(), dim=-1)
    J = torch.zeros(*p.shape, p.shape[-1], dtype=torch.double)
    for b in range(len(p)):
        for i in range(p.shape[1]):
            for j in range(p.shape[1]):
                J[b, i, j] = p[b, i] * (float(i == j) - p[b, j])
    return J


def jacobian_bmm(scores):
    p = scores.softmax(-1)[:, :, None]
    return torch.diag_embed(p[..., 0]) - p @ p.mT


def jacobian_with(combine, weights=lambda s: s.softmax(-1)):
    def softmax_jacobian(scores):
        p = weights(scores)
        return combine(torch.diag_embed(p), torch.einsum("bi,bj->bij", p, p), p)

    return softmax_jacobian


# ------------------------------------------------------------------ 3.6 find the bug


def heads_einsum(q, k):
    return torch.softmax(einsum("bhtk,bhsk->bhts", q, k) * q.size(-1) ** -0.5, -1)


def heads_scaled_queries(q, k):
    return F.softmax((q / q.shape[-1] ** 0.5).matmul(k.mT), dim=3)


def heads_scaled_both(q, k):
    fourth = q.shape[-1] ** 0.25
    return torch.softmax((q / fourth) @ (k / fourth).transpose(2, 3), -1)


def heads_by_values(q, k):
    unit = torch.eye(k.shape[2]).expand(*k.shape[:2], -1, -1)
    return F.scaled_dot_product_attention(q, k, unit)


def heads_loop(q, k):
    rows = [
        [[torch.stack([x @ y for y in kk]).div(math.sqrt(len(x))).softmax(0) for x in qq] for qq, kk in two]
        for two in (zip(a, b, strict=True) for a, b in zip(q, k, strict=True))
    ]
    return torch.stack([torch.stack([torch.stack(head) for head in heads]) for heads in rows])


def heads_by_hand(q, k):
    scores = (q.double() @ k.double().mT) / math.sqrt(k.shape[-1])
    scores -= scores.amax(-1, keepdim=True)
    e = scores.exp_()
    return (e / e.sum(-1, keepdim=True)).float()


def heads(scale=lambda q, k: q.shape[-1] ** -0.5, softmax=lambda s: s.softmax(-1), after=lambda q, k: 1.0):
    return lambda q, k: softmax(q @ k.mT * scale(q, k)) * after(q, k)


def unmended(q, k):
    n_heads, width = q.shape[1], q.shape[-1]
    d_model = n_heads * width
    scores = q @ k.transpose(-2, -1)
    weights = torch.softmax(scores, dim=-1)
    return weights / math.sqrt(d_model)


def d_model_before(q, k):
    n_heads, width = q.shape[1], q.shape[-1]
    return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(n_heads * width), dim=-1)


def one_hot(q, k):
    scores = q @ k.mT
    return F.one_hot(scores.argmax(-1), scores.shape[-1]).float()


# ------------------------------------------------------------------ 3.7 fold the scale


def fold_in_place_on_copies(w_query, b_query):
    w, b = w_query.clone(), b_query.clone()
    w /= w.shape[0] ** 0.5
    b *= len(b) ** -0.5
    return [w, b]


def fold_by_a_matrix(w_query, b_query):
    shrink = torch.eye(len(b_query)) / math.sqrt(len(b_query))
    return shrink @ w_query, shrink @ b_query


def fold_joined(w_query, b_query):
    joined = torch.cat([w_query, b_query[:, None]], dim=1).double() / np.sqrt(w_query.shape[0])
    return joined[:, :-1], joined[:, -1]


def fold_by_rows(w_query, b_query):
    root = torch.tensor(float(w_query.size(0))).sqrt()
    return torch.stack([row / root for row in w_query]), torch.stack([b / root for b in b_query])


def fold(weight, bias=None):
    def fold_scale(w, b):
        return w * weight(*w.shape), b * (bias or weight)(*w.shape)

    return fold_scale


def fold_by_columns(w_query, b_query):
    return w_query / w_query.shape[1] ** 0.5, b_query / w_query.shape[1] ** 0.5


def fold_changing_its_arguments(w_query, b_query):
    w_query /= math.sqrt(len(w_query))
    b_query /= math.sqrt(len(b_query))
    return w_query, b_query


def root(K, D):
    return K**-0.5


RIGHT = {
    "3.1": [
        says(2, 4, 1, 1 / 2),
        lambda: (2.0, 4, 1, 0.5),
        lambda: torch.tensor([2, 4, 1, 0.5]),
        lambda: np.array([math.sqrt(64 / 16), 64 / 16, 1, math.sqrt(4) / 4]),
        factors_by_experiment,
    ],
    "3.2": [
        says(0.571, 0.762),
        says(0.57, 0.76),
        lambda: (4 / 7, 16 / 21),
        lambda: torch.stack([top(0.5), top(1.0)]),
        lambda: [top(0.5), top(1.0)],
        largest_weights_in_numpy,
    ],
    "3.3": [
        entropy_entr,
        entropy_xlogy,
        entropy_clamped,
        entropy_epsilon,
        entropy_nan_to_num,
        entropy_loops,
        entropy_categorical,
        entropy_in_place,
        lambda weights: entropy_entr(weights.double()),
    ],
    "3.4": [
        lambda: [0.25, -0.13, -0.13, -0.06],
        says(0.25, -0.125, -0.125, -0.0625),
        lambda: (1 / 4, -1 / 8, -1 / 8, -1 / 16),
        lambda: np.array([0.5 * 0.5, -0.25 * 0.5, -0.25 * 0.5, -0.25 * 0.25]),
        lambda: jacobian_loop(torch.tensor([[2.0, 1.0, 1.0]]).log())[0][[0, 1, 2, 1], [0, 0, 0, 2]],
    ],
    "3.5": [
        jacobian_loop,
        jacobian_einsum,
        jacobian_factored,
        jacobian_autograd,
        jacobian_vmap,
        jacobian_entries,
        jacobian_bmm,
    ],
    "3.6": [
        heads_einsum,
        heads_scaled_queries,
        heads_scaled_both,
        heads_by_values,
        heads_loop,
        heads_by_hand,
    ],
    "3.7": [fold_in_place_on_copies, fold_by_a_matrix, fold_joined, fold_by_rows, fold(root)],
}

WRONG = {
    "3.1": [
        (says(0.5, 0.25, 1, 2), "upside-down"),
        (lambda: (1 / 2, 1 / 4, 1.0, 2), "upside-down"),
        (says(4, 2, 1, 0.5), "spread-and-variance-swapped"),
        (says(4, 16, 2, 1), "spread-grows-like-width"),
        (lambda: torch.tensor([4.0, 4.0, 1.0, 0.5]), "spread-grows-like-width"),
        (says(1, 4, 1, 0.5), "spread-stays"),
        (says(1, 1, 0.5, 0.25), "spread-stays"),
        (says(2, 2, 1, 0.5), "variance-like-spread"),
        (says(2, 16, 1, 0.5), "variance-squared-twice"),
        (says(2, 1, 1, 0.5), "variance-stays"),
        (says(2, 4, 2, 0.5), "root-too-weak"),
        (says(2, 4, 0.5, 0.25), "root-too-strong"),
        (says(2, 4, 1, 1), "width-cancels"),
        (lambda: np.array([2, 4, 1, 1]), "width-cancels"),
        (says(2, 4, 1, 0.25), "width-alone"),
        (says(2, 4, 1, 3), "wrong-values"),
        (says(2, 4, 1), "wrong-shape"),
    ],
    "3.2": [
        (says(16 / 21, 4 / 7), "order-swapped"),
        (lambda: [top(1.0), top(0.5)], "order-swapped"),
        (says(4, 16), "exponentials-returned"),
        (says(2 / 3, 2 / 3), "no-exponential"),
        (lambda: (0.667, 0.667), "no-exponential"),
        (lambda: [top(1 / 4), top(1)], "scale-without-root"),
        (says(0.453, 0.762), "scale-without-root"),
        (lambda: [top(3**-0.5), top(1)], "scale-by-length"),
        (lambda: [top(2), top(1)], "scale-upside-down"),
        (says(0.94, 0.76), "scale-upside-down"),
        (lambda: [top(1, after=0.5), top(1)], "scale-after-softmax"),
        (says(0.381, 0.762), "scale-after-softmax"),
        (says(16 / 21, 16 / 21), "scale-forgotten"),
        (says(4 / 7, 4 / 7), "scale-in-both"),
        (says(1 / 7, 1 / 21), "smallest-weights"),
        (says(0.5, 0.9), "wrong-values"),
        (lambda: 4 / 7, "wrong-type"),
    ],
    "3.3": [
        (entropy_overwriting, "argument-changed"),
        (lambda weights: entropy_entr(weights.softmax(-1)), "softmax-again"),
        (lambda weights: -(weights.softmax(-1) * weights.log_softmax(-1)).sum(-1), "softmax-again"),
        (entropy_with(finish=lambda t, w: t.sum(0)), "wrong-axis"),
        (entropy_with(finish=lambda t, w: t.sum(1)), "wrong-axis"),
        (entropy_with(finish=lambda t, w: t.sum()), "one-number-for-all"),
        (entropy_with(finish=lambda t, w: t.sum(-1).mean()), "one-number-for-all"),
        (lambda weights: (weights * weights.clamp_min(1e-12).log()).sum(-1), "sign-missing"),
        (lambda weights: torch.xlogy(weights, weights).sum(-1), "sign-missing"),
        (entropy_loop_bits, "in-bits"),
        (lambda weights: -(weights * (weights + 1e-9).log2()).sum(-1), "in-bits"),
        (lambda weights: entropy_entr(weights) / math.log(2), "in-bits"),
        (lambda weights: -(weights * (weights + 1e-12).log10()).sum(-1), "base-ten"),
        (entropy_with(finish=lambda t, w: t.mean(-1)), "mean-for-sum"),
        (entropy_with(finish=lambda t, w: t.sum(-1) / math.log(w.shape[-1])), "share-of-the-largest"),
        (lambda weights: entropy_entr(weights).exp(), "number-of-words"),
        (lambda weights: -(weights + 1e-9).log().sum(-1), "logarithms-not-weighted"),
        (lambda weights: -weights.clamp_min(1e-9).log().mean(-1), "logarithms-not-weighted"),
        (lambda weights: 1 - (weights**2).sum(-1), "squares-for-logarithms"),
        (lambda weights: -(weights**2).sum(-1).log(), "squares-for-logarithms"),
        (lambda weights: -(weights * weights.log()).sum(-1), "zero-times-log-zero"),
        (lambda weights: -einsum("...s,...s->...", weights, torch.log(weights)), "zero-times-log-zero"),
        (lambda weights: F.softmin(weights, -1).sum(-1), "wrong-values"),
        (lambda weights: -(weights * (weights + 0.01).log()).sum(-1), "epsilon-too-large"),
        (lambda weights: -(weights.clamp(0.005) * weights.clamp(0.005).log()).sum(-1), "epsilon-too-large"),
    ],
    "3.4": [
        (says(1 / 2, 0, 0, 0), "only-the-diagonal"),
        (says(1 / 4, 0, 0, 0), "others-do-not-move"),
        (says(1 / 4, 0, 0, -1 / 16), "others-do-not-move"),
        (says(-1 / 4, -1 / 8, -1 / 8, -1 / 16), "product-alone"),
        (lambda: torch.tensor([-0.25, -0.125, -0.125, -0.0625]), "product-alone"),
        (says(3 / 4, 1 / 8, 1 / 8, 1 / 16), "sign-of-the-product"),
        (says(1 / 4, 1 / 8, 1 / 8, 1 / 16), "sign-of-the-product"),
        (says(1 / 4, 3 / 16, 3 / 16, 3 / 16), "all-on-the-diagonal"),
        (says(-1 / 4, 1 / 8, 1 / 8, 1 / 16), "signs-turned"),
        (says(1 / 4, -1 / 8, -1 / 8, -1 / 8), "wrong-pair"),
        (says(1 / 4, -1 / 8, -1 / 8, 3 / 16), "wrong-pair"),
        (says(1 / 4, -1 / 4, -1 / 4, -1 / 16), "out-of-balance"),
        (says(0.3, -0.15, -0.15, -0.0625), "wrong-values"),
    ],
    "3.5": [
        (jacobian_with(lambda d, o, p: d - o, weights=lambda s: s), "softmax-missing"),
        (jacobian_with(lambda d, o, p: d - o, weights=lambda s: s.softmax(0)), "softmax-over-the-batch"),
        (lambda scores: jacobian_loop(scores.T.softmax(-1).T.log() * 1.0)[:, :2], "wrong-shape"),
        (jacobian_with(lambda d, o, p: d), "only-the-diagonal"),
        (lambda scores: torch.stack([torch.diag(p) for p in scores.softmax(-1)]), "only-the-diagonal"),
        (jacobian_with(lambda d, o, p: torch.diag_embed(p * (1 - p))), "own-slopes-only"),
        (jacobian_with(lambda d, o, p: (d - o) * torch.eye(p.shape[-1])), "own-slopes-only"),
        (jacobian_with(lambda d, o, p: -o), "product-alone"),
        (jacobian_with(lambda d, o, p: o), "product-alone"),
        (jacobian_with(lambda d, o, p: o - d), "signs-turned"),
        (lambda scores: -jacobian_einsum(scores), "signs-turned"),
        (jacobian_with(lambda d, o, p: d + o), "sign-of-the-product"),
        (jacobian_with(lambda d, o, p: torch.eye(p.shape[-1]) - o), "unit-matrix-for-diagonal"),
        (jacobian_with(lambda d, o, p: torch.eye(p.shape[-1]) - p[:, None]), "slopes-of-the-logarithm"),
        (
            lambda scores: torch.func.vmap(torch.func.jacrev(lambda s: s.log_softmax(-1)))(scores),
            "slopes-of-the-logarithm",
        ),
        (jacobian_with(lambda d, o, p: d - o.sum(0)), "rows-added-up"),
        (lambda scores: scores.softmax(-1) * (1 - scores.softmax(-1)), "diagonal-only-returned"),
        (lambda scores: jacobian_bmm(scores / scores.shape[-1] ** 0.5), "scaled"),
        (lambda scores: 2 * jacobian_bmm(scores), "wrong-values"),
    ],
    "3.6": [
        (unmended, "both-bugs-left"),
        (heads(lambda q, k: 1, after=lambda q, k: (q.shape[1] * q.shape[3]) ** -0.5), "both-bugs-left"),
        (heads(lambda q, k: 1, after=lambda q, k: q.shape[-1] ** -0.5), "scale-after-softmax"),
        (lambda q, k: torch.softmax(q @ k.mT, -1) / math.sqrt(k.shape[-1]), "scale-after-softmax"),
        (heads(lambda q, k: 1, after=lambda q, k: q.shape[-1] ** 0.5), "scale-after-softmax"),
        (d_model_before, "scale-by-d-model"),
        (heads(lambda q, k: q[0, :, 0].numel() ** -0.5), "scale-by-d-model"),
        (lambda q, k: torch.softmax((q / (q.shape[1] * q.shape[3]) ** 0.5) @ k.mT, -1), "scale-by-d-model"),
        (heads(lambda q, k: 1), "no-scale"),
        (lambda q, k: einsum("bhtk,bhsk->bhts", q, k).softmax(-1), "no-scale"),
        (heads(lambda q, k: 1 / q.shape[-1]), "scale-without-root"),
        (
            lambda q, k: ((q / q.shape[3] ** 0.5) @ (k / k.shape[3] ** 0.5).mT).softmax(-1),
            "scale-without-root",
        ),
        (heads(lambda q, k: q.shape[-1] ** 0.5), "scale-upside-down"),
        (heads(lambda q, k: q.shape[1] ** -0.5), "scale-by-heads"),
        (heads(lambda q, k: q.shape[2] ** -0.5), "scale-by-length"),
        (heads(lambda q, k: k.shape[2] ** -0.5), "scale-by-length"),
        (heads(lambda q, k: q.shape[-1] ** -0.25), "half-the-scale"),
        (heads(softmax=lambda s: s.softmax(-2)), "softmax-over-queries"),
        (heads(lambda q, k: 1, softmax=lambda s: s.exp() / s.exp().sum(2, True)), "softmax-over-queries"),
        (heads(softmax=lambda s: s.softmax(1)), "softmax-over-heads"),
        (heads(softmax=lambda s: s.softmax(0)), "softmax-over-the-batch"),
        (one_hot, "best-match-only"),
        (heads(lambda q, k: 1e6), "best-match-only"),
        (heads(softmax=lambda s: s), "no-softmax"),
        (lambda q, k: heads_einsum(k, q), "wrong-shape"),
        (
            lambda q, k: (q @ k.reshape(*q.shape[:2], -1, k.shape[2]) / k.shape[3] ** 0.5).softmax(-1),
            "keys-reshaped",
        ),
        (lambda q, k: (q @ k.reshape(*q.shape[:2], q.shape[3], -1)).softmax(-1), "keys-reshaped"),
        (heads(lambda q, k: 3 * q.shape[-1] ** -0.5), "other-scale"),
        (heads(softmax=lambda s: torch.nn.functional.dropout(s, 0.3).softmax(-1)), "random-result"),
    ],
    "3.7": [
        (lambda w, b: (w, b), "nothing-changed"),
        (fold(root, lambda K, D: 1.0), "bias-left-out"),
        (lambda w_query, b_query: (w_query / math.sqrt(w_query.shape[0]), b_query), "bias-left-out"),
        (fold(lambda K, D: 1.0, root), "matrix-left-out"),
        (fold(lambda K, D: D**-0.5), "scale-by-d-model"),
        (fold_by_columns, "scale-by-d-model"),
        (fold(lambda K, D: D**-0.5, lambda K, D: K**-0.5), "scale-by-d-model"),
        (fold(lambda K, D: 1 / K), "scale-without-root"),
        (fold(lambda K, D: 1 / K, lambda K, D: 1.0), "scale-without-root"),
        (fold(lambda K, D: K**0.5), "scale-upside-down"),
        (fold(lambda K, D: K**-0.25), "half-the-scale"),
        (lambda w, b: fold_by_a_matrix(w, b)[::-1], "pair-swapped"),
        (lambda w, b: w / math.sqrt(len(w)), "matrix-only"),
        (fold_changing_its_arguments, "argument-changed"),
        (lambda w, b: (w.T / len(w) ** 0.5, b / len(b) ** 0.5), "wrong-shape"),
    ],
}
