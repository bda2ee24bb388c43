"""Right and wrong answers to the exercises of chapter 12, in many spellings. `test_bank.py` runs them."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import einsum, nn

from transformer_lib.configs import EncoderConfig, LMConfig
from transformer_lib.cost import kv_cache_bytes, parameters
from transformer_lib.masks import padding_mask
from transformer_lib.pretrained import mean_pool as pool_of_the_library


def says(*answer):
    """An answer on paper."""
    return lambda: list(answer)


# ------------------------------------------------------------------ 12.5 pooling


def pool_loop(x, real):
    return torch.stack([sentence[words].mean(0) for sentence, words in zip(x, real, strict=True)])


def pool_einsum(x, real):
    return einsum("btd,bt->bd", x, real.float()) / real.sum(1, keepdim=True)


def pool_masked_fill(x, real):
    return x.masked_fill(~real.unsqueeze(-1), 0).sum(1) / real.sum(1).unsqueeze(1)


def pool_where(x, real):
    nothing = torch.tensor(float("nan"), dtype=torch.double)
    return torch.where(real[..., None], x.double(), nothing).nanmean(dim=1)


def pool_of_lengths(x, real):
    return pool_of_the_library(x, padding_mask(real.sum(1), x.shape[1]))


def pool_bmm(x, real):
    weights = real / real.sum(-1, keepdim=True)
    return (weights[:, None] @ x)[:, 0]


def pool_numbers(x, real):
    out = torch.zeros(x.shape[0], x.shape[2])
    for b in range(len(x)):
        for t in range(x.shape[1]):
            if real[b, t]:
                out[b] += x[b, t]
        out[b] /= int(real[b].sum())
    return out


def pool_in_place(x, real):
    x = x.clone()
    x *= real[:, :, None]
    return x.sum(1).div_(real.sum(1)[:, None].clamp(min=1e-9))


def pool_changing_x(x, real):
    x[~real] = 0
    return x.sum(1) / real.sum(1)[:, None]


def summed(x, real):
    return (x * real[..., None]).sum(1)


# ------------------------------------------------------------------ 12.6 nearest


def cosines(v):
    return F.normalize(v, dim=-1) @ F.normalize(v, dim=-1).T


def nearest_topk(vectors, k):
    n = len(vectors)
    return cosines(vectors).masked_fill(torch.eye(n, dtype=torch.bool), -2).topk(k)[1]


def nearest_argsort(vectors, k):
    s = cosines(vectors.double()) - 5 * torch.eye(len(vectors))
    return s.argsort(dim=-1, descending=True)[:, :k]


def nearest_drop_first(vectors, k):
    return cosines(vectors).topk(k + 1).indices[:, 1:]


def nearest_loop(vectors, k):
    rows = []
    for i, a in enumerate(vectors):
        likeness = {j: F.cosine_similarity(a, b, dim=0).item() for j, b in enumerate(vectors) if j != i}
        rows.append(sorted(likeness, key=likeness.get, reverse=True)[:k])
    return torch.tensor(rows)


def nearest_unit_distance(vectors, k):
    unit = F.normalize(vectors)
    distance = torch.cdist(unit, unit)
    distance.fill_diagonal_(9.0)
    return distance.topk(k, largest=False).indices


def nearest_pairwise(vectors, k):
    s = F.cosine_similarity(vectors[:, None], vectors[None], dim=-1)
    s[range(len(s)), range(len(s))] = -1e9
    return s.sort(descending=True).indices[:, :k].int()


def nearest_one_norm(vectors, k):  # the length of the one who asks changes nothing in its ranking
    s = vectors @ vectors.T / vectors.norm(dim=1)
    return s.fill_diagonal_(-torch.inf).topk(k).indices


def ranked(likeness, own=-torch.inf, finish=lambda s, k: s.topk(k).indices):
    def nearest(vectors, k):
        s = likeness(vectors).clone()
        return finish(s if own is None else s.fill_diagonal_(own), k)

    return nearest


def products(v):
    return v @ v.T


# ------------------------------------------------------------------ 12.3 stacking

PARTS = ("query", "key", "value")


def name(layer, part, kind):
    return f"encoder.layer.{layer}.attention.self.{part}.{kind}"


def read(tensors, layer, kind, parts=PARTS):
    return [tensors[name(layer, part, kind)] for part in parts]


def stack_vstack(tensors, layer):
    return torch.vstack(read(tensors, layer, "weight")), torch.hstack(read(tensors, layer, "bias"))


def stack_flatten(tensors, layer):
    weight, bias = (torch.stack(read(tensors, layer, kind)) for kind in ("weight", "bias"))
    return [weight.flatten(0, 1), bias.flatten()]


def stack_by_search(tensors, layer):
    found = {}
    for key, tensor in tensors.items():
        words = key.split(".")
        if int(words[2]) == layer:
            found[words[-2], words[-1]] = tensor
    return tuple(torch.cat([found[part, kind] for part in PARTS]) for kind in ("weight", "bias"))


def stack_into(tensors, layer):
    D = len(tensors[name(layer, "key", "bias")])
    linear = nn.Linear(D, 3 * D).requires_grad_(False)
    for i, part in enumerate(PARTS):
        linear.weight[i * D : (i + 1) * D] = tensors[name(layer, part, "weight")]
        linear.bias[i * D : (i + 1) * D] = tensors[name(layer, part, "bias")]
    return linear.weight, linear.bias


def stacked(join=torch.cat, join_bias=torch.cat, parts=PARTS, bias_parts=None, step=0):
    def stack_qkv(tensors, layer):
        layer = (layer + step) % (len(tensors) // 6)
        bias = read(tensors, layer, "bias", bias_parts or parts)
        return join(read(tensors, layer, "weight", parts)), join_bias(bias)

    return stack_qkv


def stack_by_beginning(tensors, layer):
    def first(part, kind):
        keys = [k for k in tensors if k.startswith(f"encoder.layer.{layer}") and k.endswith(f"{part}.{kind}")]
        return tensors[keys[0]]

    return tuple(torch.cat([first(part, kind) for part in PARTS]) for kind in ("weight", "bias"))


# ------------------------------------------------------------------ 12.4 packed


def split_view(weight, n_heads):
    D = len(weight)
    return tuple(weight.T.contiguous().view(3, n_heads, D // n_heads, D))


def split_columns(weight, n_heads):
    D = weight.size(0)
    K = D // n_heads
    out = []
    for part in weight.split(D, dim=1):
        out.append(torch.stack([part[:, h * K : (h + 1) * K].T for h in range(n_heads)]))
    return out


def split_reshape_then_permute(weight, n_heads):
    D = weight.shape[0]
    packed = weight.reshape(D, 3, n_heads, D // n_heads).permute(1, 2, 3, 0)
    return packed[0], packed[1], packed[2]


def split_chunk(weight, n_heads):
    return tuple(part.unflatten(0, (n_heads, -1)).double() for part in weight.mT.chunk(3))


def mended(rows="t", order="qkv", heads="blocks"):
    """The statement's function with some of its bugs mended."""

    def split_packed(weight, n_heads):
        D = weight.shape[0]
        made = {"t": weight.T, "reshape": weight.reshape(3 * D, D), "cat": torch.cat(weight.split(D, 1))}[
            rows
        ]
        parts = dict(zip(order, made.split(D), strict=True))
        parts = [parts[letter] for letter in "qkv"]
        if heads == "interleaved":
            return tuple(p.reshape(D // n_heads, n_heads, D).transpose(0, 1) for p in parts)
        if heads == "columns":
            return tuple(p.T.reshape(n_heads, -1, D) for p in parts)
        return tuple(p.reshape(n_heads, -1, D) for p in parts)

    return split_packed


def split_by_head(weight, n_heads):
    D = len(weight)
    return weight.T.reshape(n_heads, 3, D // n_heads, D).unbind(1)


def split_straight(weight, n_heads):  # no turning, no shape error
    D = len(weight)
    return tuple(weight.reshape(3, n_heads, D // n_heads, D))


# ------------------------------------------------------------------ 12.2, 12.7 on paper

MINILM = EncoderConfig(
    vocab_size=30522, d_model=384, n_layers=6, n_heads=12, d_ff=1536, max_length=512, n_segments=2
)
D, V, TABLES, BLOCK, TOTAL = 384, 30522, 11917824, 1774464, 22565376


def counted_by_the_library():
    terms = parameters(MINILM)
    block = (terms["projections"] + terms["feed-forward"] + terms["norms"]) // 6
    tables = terms["embeddings"] + terms["positions"]
    return tables, block, sum(terms.values()) + 2 * 384


def counted_in_torch():
    layer = nn.TransformerEncoderLayer(384, 12, 1536, device="meta")
    block = sum(p.numel() for p in layer.parameters())
    tables = sum(nn.Embedding(n, 384, device="meta").weight.numel() for n in (30522, 512, 2))
    return [tables, block, tables + 768 + 6 * block]


def cache_by_the_library():
    shape = {"vocab_size": 9, "d_model": 4096, "n_layers": 32, "n_heads": 32}
    few, all_heads = LMConfig(**shape, n_kv_heads=8), LMConfig(**shape)
    return [
        kv_cache_bytes(few, 1, dtype=torch.bfloat16),
        kv_cache_bytes(few, 8192, dtype=torch.bfloat16) / 2**30,
        kv_cache_bytes(all_heads, 8192, dtype=torch.bfloat16) / 2**30,
    ]


RIGHT = {
    "12.1": [
        says(False, True, False, True, True, False),
        lambda: (0, 1, 0, 1, 1, 0),
        lambda: torch.tensor([False, True, False, True, True, False]),
        lambda: np.array([False, True, False, True, True, False]),
    ],
    "12.5": [
        pool_loop,
        pool_einsum,
        pool_masked_fill,
        pool_where,
        pool_of_lengths,
        pool_bmm,
        pool_numbers,
        pool_in_place,
    ],
    "12.6": [
        nearest_topk,
        nearest_argsort,
        nearest_drop_first,
        nearest_loop,
        nearest_unit_distance,
        nearest_pairwise,
        nearest_one_norm,
    ],
    "12.3": [stack_vstack, stack_flatten, stack_by_search, stack_into, stacked()],
    "12.4": [split_view, split_columns, split_reshape_then_permute, split_chunk, mended()],
    "12.2": [
        says(TABLES, BLOCK, TOTAL),
        counted_by_the_library,
        counted_in_torch,
        lambda: torch.tensor([TABLES, BLOCK, TOTAL]),
        lambda: np.array([TABLES, BLOCK, TOTAL], dtype=float),
    ],
    "12.7": [
        says(131072, 1, 4),
        lambda: (2**17, 1.0, 4.0),
        cache_by_the_library,
        lambda: torch.tensor([131072.0, 1.0, 4.0]),
    ],
}


def forecast(number, answer):
    right = [False, True, False, True, True, False]
    right[number - 1] = answer
    return lambda: right


WRONG = {
    "12.1": [
        (forecast(1, True), "another-scale"),
        (forecast(2, False), "rotary-sees-the-place"),
        (forecast(3, True), "learned-table-sees-offsets-only"),
        (forecast(4, False), "search-needs-shared-words"),
        (forecast(5, False), "order-weighs-much"),
        (lambda: (0, 1, 0, 1, 1, 1), "denial-weighs-much"),
        (lambda: torch.tensor([0, 1, 1, 1, 1, 0]), "learned-table-sees-offsets-only"),
        (says(False, True, False), "wrong-shape"),
    ],
    "12.5": [
        (lambda x, real: x.mean(dim=1), "padding-counted"),
        (lambda x, real: x.sum(1) / x.size(1), "padding-counted"),
        (lambda x, real: (x * real[:, :, None]).mean(1), "divided-by-all-places"),
        (lambda x, real: x.masked_fill(~real[..., None], 0.0).mean(1), "divided-by-all-places"),
        (lambda x, real: x.sum(1) / real.sum(1)[:, None], "padding-in-the-sum"),
        (summed, "sum-for-mean"),
        (lambda x, real: einsum("btd,bt->bd", x, real.float()), "sum-for-mean"),
        (lambda x, real: x.sum(1), "sum-over-everything"),
        (lambda x, real: summed(x, real) / real.sum(), "one-count-for-all"),
        (lambda x, real: summed(x, real) / real.sum(1).max(), "one-count-for-all"),
        (lambda x, real: summed(x, real) / real.sum(1).float().mean(), "one-count-for-all"),
        (lambda x, real: x[real].mean(0), "sentences-mixed"),
        (lambda x, real: x[:, 0], "first-word-only"),
        (lambda x, real: x[:, 0, :] * real[:, :1], "first-word-only"),
        (lambda x, real: x[:, -1], "last-word-only"),
        (lambda x, real: x[torch.arange(len(x)), real.sum(1) - 1], "last-word-only"),
        (
            lambda x, real: summed(x[:, 1:], real[:, 1:]) / real[:, 1:].sum(1)[:, None].clamp(min=1),
            "first-word-left-out",
        ),
        (lambda x, real: pool_einsum(x, ~real), "mask-upside-down"),
        (lambda x, real: summed(x, ~real) / (~real).sum(1)[:, None].clamp(min=1), "mask-upside-down"),
        (lambda x, real: F.normalize(pool_loop(x, real), dim=-1), "brought-to-length-one"),
        (
            lambda x, real: summed(x, real) / summed(x, real).norm(dim=-1, keepdim=True),
            "brought-to-length-one",
        ),
        (lambda x, real: x.masked_fill(~real[..., None], -1e9).amax(1), "largest-for-mean"),
        (lambda x, real: x.max(dim=1).values, "largest-for-mean"),
        (lambda x, real: x.mean(-1), "mean-over-the-numbers"),
        (lambda x, real: (x * real[..., None]).mean(-1), "mean-over-the-numbers"),
        (lambda x, real: x.mean(0), "mean-over-the-batch"),
        (lambda x, real: (x * real[:, None, :]).sum(1) / real.sum(1)[:, None], "mask-on-another-axis"),
        (lambda x, real: (x * real).sum(1) / real.sum(1)[:, None], "mask-on-another-axis"),
        (lambda x, real: (x * real).sum(1), "mask-on-another-axis"),
        (lambda x, real: (x * real[:, None, :]).mean(1), "mask-on-another-axis"),
        (lambda x, real: 2 * pool_loop(x, real), "wrong-values"),
        (pool_changing_x, "argument-changed"),
    ],
    "12.6": [
        (lambda vectors, k: cosines(vectors).fill_diagonal_(-9).topk(k), "pair-returned"),
        (lambda vectors, k: cosines(vectors).fill_diagonal_(-9).topk(k).values, "cosines-returned"),
        (ranked(cosines, None), "finds-itself"),
        (lambda vectors, k: cosines(vectors).argsort(1, descending=True)[:, :k], "finds-itself"),
        (ranked(cosines, 0.0), "itself-set-to-zero"),
        (lambda v, k: (cosines(v) * (1 - torch.eye(len(v)))).topk(k).indices, "itself-set-to-zero"),
        (lambda v, k: 1 + cosines(v)[:, 1:].topk(k).indices, "first-sentence-dropped"),
        (ranked(products), "norms-missing"),
        (ranked(products, None), "norms-missing"),
        (lambda v, k: (v @ v.T).topk(k + 1).indices[:, 1:], "norms-missing"),
        (ranked(lambda v: v @ v.T / v.norm()), "norms-missing"),
        (ranked(lambda v: v @ v.T / v.norm(dim=1, keepdim=True)), "norms-missing"),
        (ranked(lambda v: v @ v.T / v.norm(dim=1).square()[None] / (v**2).sum(1)[:, None]), "norms-squared"),
        (ranked(lambda v: F.normalize(v, dim=0) @ F.normalize(v, dim=0).T), "norms-of-columns"),
        (ranked(lambda v: -torch.cdist(v, v)), "distance-for-cosine"),
        (lambda v, k: torch.cdist(v, v).topk(k, largest=False).indices, "distance-for-cosine"),
        (lambda v, k: cosines(v).topk(k, largest=False).indices, "least-alike-first"),
        (lambda v, k: cosines(v).argsort()[:, :k], "least-alike-first"),
        (lambda v, k: cosines(v).fill_diagonal_(9.0).topk(k, largest=False).indices, "least-alike-first"),
        (lambda v, k: nearest_topk(v, k).flip(1), "right-ones-in-another-order"),
        (lambda v, k: nearest_topk(v, k).sort(1).values, "right-ones-in-another-order"),
        (ranked(lambda v: cosines(v).abs()), "sign-lost"),
        (ranked(lambda v: cosines(v).square()), "sign-lost"),
        (ranked(cosines, finish=lambda s, k: s.topk(k, dim=0).indices), "along-the-first-axis"),
        (lambda v, k: nearest_topk(v, k) + 1, "counted-from-one"),
        (lambda v, k: nearest_topk(v, k).float(), "wrong-dtype"),
        (lambda v, k: nearest_topk(v, k).T, "along-the-first-axis"),
        (lambda v, k: nearest_topk(v, len(v) - 1), "wrong-shape"),
    ],
    "12.3": [
        (lambda tensors, layer: stack_vstack(tensors, layer)[0], "matrix-only"),
        (lambda tensors, layer: stack_vstack(tensors, layer)[::-1], "pair-swapped"),
        (stack_by_beginning, "another-layer"),
        (stacked(step=1), "another-layer"),
        (stacked(step=-1), "another-layer"),
        (stacked(join=torch.stack, join_bias=torch.stack), "stacked-not-joined"),
        (stacked(join=torch.stack), "stacked-not-joined"),
        (stacked(join=lambda parts: torch.cat(parts, dim=1)), "side-by-side"),
        (stacked(join=torch.hstack), "side-by-side"),
        (stacked(join=lambda parts: torch.cat([p.mT for p in parts])), "transposed"),
        (stacked(join=lambda parts: torch.cat(parts, 1).T), "transposed"),
        (stacked(join=lambda parts: torch.stack(parts, 1).flatten(0, 1)), "rows-interleaved"),
        (stacked(parts=("key", "query", "value")), "another-order"),
        (stacked(parts=("value", "key", "query")), "another-order"),
        (stacked(parts=sorted(PARTS)), "another-order"),
        (stacked(bias_parts=("key", "query", "value")), "biases-in-another-order"),
        (stacked(join_bias=torch.stack), "biases-not-joined"),
        (stacked(join_bias=sum), "biases-not-joined"),
        (stacked(join=lambda parts: 2 * torch.cat(parts)), "wrong-values"),
    ],
    "12.4": [
        (mended("reshape", "kqv", "interleaved"), "nothing-mended"),
        (mended("reshape"), "reshaped-not-transposed"),
        (mended("reshape", "kqv"), "reshaped-not-transposed"),
        (mended("reshape", "qkv", "interleaved"), "reshaped-not-transposed"),
        (split_straight, "reshaped-not-transposed"),
        (mended("t", "kqv"), "another-order"),
        (mended("t", "vkq"), "another-order"),
        (mended("t", "kqv", "interleaved"), "another-order"),
        (lambda weight, n_heads: split_view(weight, n_heads)[::-1], "another-order"),
        (mended(heads="interleaved"), "heads-interleaved"),
        (split_by_head, "packed-by-head"),
        (mended("cat"), "not-transposed"),
        (mended("cat", heads="interleaved"), "not-transposed"),
        (mended(heads="columns"), "not-transposed"),
        (lambda weight, n_heads: tuple(2 * part for part in split_view(weight, n_heads)), "wrong-values"),
        (lambda weight, n_heads: [p.mT for p in split_view(weight, n_heads)], "wrong-shape"),
    ],
    "12.2": [
        (says(TABLES, 4 * D * D + 2 * D * 1536, TABLES), "no-biases"),
        (says(TABLES, BLOCK - 4 * D - 1536 - D, TOTAL), "no-biases"),
        (says(TABLES, BLOCK - 4 * D, TOTAL), "norms-left-out"),
        (says(TABLES, BLOCK - 2 * D, TOTAL), "norms-left-out"),
        (says(TABLES, BLOCK - D * D - D, TOTAL), "output-map-left-out"),
        (says(TABLES, BLOCK - D * 1536 - D, TOTAL), "network-with-one-map"),
        (says(TABLES, BLOCK + 11 * 4 * (D * D + D), TOTAL), "every-head-as-wide-as-the-model"),
        (says(TABLES, BLOCK - 3 * (D * D + D) + 3 * (D * 32 + 32), TOTAL), "one-head-only"),
        (says(TABLES, BLOCK - 1536 + D, TOTAL), "bias-as-long-as-the-input"),
        (says(V * D, BLOCK, TOTAL), "tables-incomplete"),
        (says((V + 512) * D, BLOCK, TOTAL), "tables-incomplete"),
        (says(TABLES + 768, BLOCK, TOTAL), "norm-in-the-tables"),
        (says(TABLES, BLOCK, TOTAL - 768), "embedding-norm-left-out"),
        (says(TABLES, BLOCK, TABLES + 768 + BLOCK), "one-block-for-six"),
        (says(TABLES, BLOCK, TOTAL + D * D + D), "pooler-counted"),
        (says(TABLES, BLOCK, TOTAL + 12), "parts-do-not-add-up"),
        (says(TABLES + 12, BLOCK, TOTAL + 12), "wrong-values"),
        (says(TABLES, BLOCK), "wrong-shape"),
    ],
    "12.7": [
        (says(65536, 0.5, 2), "a-factor-of-two-missing"),
        (says(4096, 1 / 32, 1 / 8), "one-layer-only"),
        (says(524288, 4, 4), "a-head-for-every-query"),
        (says(4194304, 32, 128), "width-of-the-model-for-a-head"),
        (says(1024, 1 / 128, 1 / 32), "width-of-a-head-forgotten"),
        (says(262144, 2, 8), "four-bytes"),
        (says(131072, 1.073741824, 4.294967296), "thousands-for-1024"),
        (says(131072, 1024, 4096), "in-mib"),
        (says(131072, 1, 0.25), "groups-upside-down"),
        (says(131072, 1, 1), "groups-without-effect"),
        (says(131072, 1, 8), "group-size-misread"),
        (says(131072, 3, 4), "wrong-values"),
    ],
}
