"""What several exercises of chapter 7 use: multi-head attention with deviations, and their probes."""

from __future__ import annotations

import functools
import itertools
import math

import torch
from torch import Tensor

from transformer_lib.exercises.attention_probes import Probe
from transformer_lib.exercises.exercise import Attempt


def layer(B: int, T: int, H: int, K: int, generator: torch.Generator) -> list:
    """Words (B, T, H · K) and four matrices (H · K, H · K), with a spread that makes clear patterns."""
    D = H * K
    x = torch.randn(B, T, D, generator=generator)
    matrices = torch.randn(4, D, D, generator=generator) * (1.6 / math.sqrt(D))
    return [x, *matrices, H]


def random_mask(B: int, T: int, generator: torch.Generator) -> Tensor:
    """(B, T, T), True = may attend: no two alike, and each word may attend to itself."""
    return (torch.rand(B, T, T, generator=generator) < 0.5) | torch.eye(T, dtype=torch.bool)


def causal(B: int, T: int) -> Tensor:
    return torch.ones(T, T, dtype=torch.bool).tril().expand(B, T, T)


def _rows(w: Tensor, H: int) -> list[slice]:
    """The rows of each head."""
    K = len(w) // H
    return [slice(h * K, (h + 1) * K) for h in range(H)]


_SPLITS = {
    "view": lambda x, B, T, H, K: x.reshape(B, H, T, K),
    "turned": lambda x, B, T, H, K: x.transpose(1, 2).reshape(B, H, T, K),
    "turned twice": lambda x, B, T, H, K: x.reshape(B, H, K, T).transpose(2, 3),
    "interleaved": lambda x, B, T, H, K: x.reshape(B, T, K, H).permute(0, 3, 1, 2),
    "one": lambda x, B, T, H, K: x[:, None],
}
_MERGES = {
    "reshape": lambda o, B, T: o.reshape(B, T, -1),
    "interleaved": lambda o, B, T: o.permute(0, 2, 3, 1).reshape(B, T, -1),
    "turned": lambda o, B, T: o.transpose(2, 3).reshape(B, T, -1),
    "turned all": lambda o, B, T: o.permute(0, 3, 2, 1).reshape(B, T, -1),
}
_MAPS = {
    "as they are": lambda w, H: w,
    # each head reads its own part of the words only, or all have the first one's rows
    "blocks": lambda w, H: torch.block_diag(*(w[rows, rows] for rows in _rows(w, H))).T,
    "first head": lambda w, H: w[: len(w) // H].repeat(H, 1).T,
}
_SCALES = {
    "D": lambda B, T, H, K: (H * K) ** -0.5,
    "none": lambda B, T, H, K: 1.0,
    "no root": lambda B, T, H, K: 1 / K,
    "upside down": lambda B, T, H, K: K**0.5,
    "heads": lambda B, T, H, K: H**-0.5,
    "length": lambda B, T, H, K: T**-0.5,
    "D, no root": lambda B, T, H, K: 1 / (H * K),
    "D, upside down": lambda B, T, H, K: (H * K) ** 0.5,
}

# name of the mistake: the changes that make it, each (part of the computation, what is done there)
DEVIATIONS = {
    "split-by-view": (("split", "view"), ("split", "turned"), ("split", "turned twice")),
    "heads-interleaved": (("split", "interleaved"), ("merge", "interleaved")),
    "one-head-only": (("split", "one"),),
    "merged-without-transposing": (("merge", "reshape"), ("merge", "turned"), ("merge", "turned all")),
    "matrices-not-transposed": (("maps", "as they are"),),
    "words-cut-into-heads": (("maps", "blocks"),),
    "first-head-repeated": (("maps", "first head"),),
    "keys-reshaped": (("keys", "reshaped"),),
    "matrices-exchanged": (("roles", "qvk"), ("roles", "vkq"), ("roles", "kvq"), ("roles", "vqk")),
    "queries-keys-swapped": (("roles", "swapped"),),
    "wrong-matrix": (("roles", "qqv"), ("roles", "kkv"), ("roles", "qkk"), ("roles", "qkq")),
    "softmax-over-queries": (("softmax", -2),),
    "softmax-over-heads": (("softmax", 1),),
    "softmax-over-the-batch": (("softmax", 0),),
    "no-softmax": (("softmax", None),),
    "mask-lacks-the-head-axis": (("masking", "headless"),),
    "mask-not-used": (("masking", "none"),),
    "mask-upside-down": (("masking", "inverted"), ("masking", "inverted, finite")),
    "mask-transposed": (("masking", "transposed"),),
    "mask-after-softmax": (("masking", "after"),),
    "mask-added": (("masking", "added"),),
    "hidden-scores-zero": (("masking", "zeroed"),),
    "own-mask": (("masking", "causal"),),
    "own-word-hidden": (("masking", "strict"),),
    "next-word-visible": (("masking", "next"),),
    "scale-by-d-model": (("scale", "D"),),
    "no-scale": (("scale", "none"),),
    "scale-without-root": (("scale", "no root"),),
    "scale-upside-down": (("scale", "upside down"),),
    "scale-by-something-else": tuple(
        ("scale", what) for what in ("heads", "length", "D, no root", "D, upside down")
    ),
    "scale-after-softmax": (("scale", "after"),),
    "output-map-missing": (("output", "none"),),
    "output-map-not-transposed": (("output", "as it is"),),
    "input-added": (("output", "and the input"),),
}


def attend(x, w_query, w_key, w_value, w_output, n_heads, mask, **changes) -> Tensor:
    """Multi-head attention by the formula; `changes` name a part and what is done there instead."""
    (B, T, D), H = x.shape, n_heads
    turn = _MAPS.get(changes.get("maps"), lambda w, H: w.T)
    q, k, v = (x @ turn(w, H) for w in (w_query, w_key, w_value))
    roles = changes.get("roles", "qkv")
    q, k, v = (k, q, v) if roles == "swapped" else ({"q": q, "k": k, "v": v}[letter] for letter in roles)
    if "split" in changes:
        q, k, v = (_SPLITS[changes["split"]](part, B, T, H, D // H) for part in (q, k, v))
    else:
        q, k, v = (part.reshape(B, T, H, D // H).transpose(1, 2) for part in (q, k, v))
    keys = k.reshape(*k.shape[:2], -1, T) if "keys" in changes else k.transpose(-2, -1)
    scores, factor = q @ keys, q.shape[-1] ** -0.5
    if changes.get("scale", "after") != "after":
        factor = _SCALES[changes["scale"]](B, T, H, D // H)
    if changes.get("scale") != "after":
        scores = scores * factor
    weights = _shares(scores, mask, changes.get("masking"), changes.get("softmax", -1))
    if changes.get("scale") == "after":
        weights = weights * factor
    o = weights @ v
    if o.shape[1] == 1 < H:  # one head
        o = o[:, 0]
    elif "merge" in changes:
        o = _MERGES[changes["merge"]](o, B, T)
    else:
        o = o.transpose(1, 2).reshape(B, T, D)
    if "output" in changes:
        made = {"none": o, "as it is": o @ w_output, "and the input": x + o @ w_output.T}
        return made[changes["output"]]
    return o @ w_output.T


def _shares(scores: Tensor, mask: Tensor, treatment: str | None, axis: int | None) -> Tensor:
    T = mask.shape[-1]
    hidden, finite = ~mask[:, None], torch.finfo(scores.dtype).min
    if treatment in ("none", "after", "added", "zeroed"):
        hidden = torch.zeros_like(hidden)
    elif treatment in ("inverted", "inverted, finite"):
        hidden = ~hidden
    elif treatment == "causal":
        hidden = ~torch.ones(T, T, dtype=torch.bool).tril()
    elif treatment == "headless":
        hidden = ~mask[None]
    elif treatment == "transposed":
        hidden = hidden.transpose(-2, -1)
    elif treatment == "strict":
        hidden = hidden | torch.eye(T, dtype=torch.bool)
    elif treatment == "next":
        hidden = hidden & ~torch.ones(T, T, dtype=torch.bool).tril(1)
    if treatment == "added":
        scores = scores + mask[:, None].to(scores.dtype)
    if treatment == "zeroed":
        scores = scores * mask[:, None]
    bottom = finite if treatment == "inverted, finite" else -math.inf
    scores = scores.masked_fill(hidden, 0.0 if axis is None else bottom)
    weights = scores if axis is None else torch.softmax(scores, dim=axis)
    return weights * mask[:, None] if treatment == "after" else weights


_FIXED = (  # mending one bug of exercise 7.6 by making another
    {"split": "view", "merge": "reshape", "scale": "D"},
)


@functools.lru_cache
def _examples(given: str) -> tuple[list, list[frozenset], Tensor]:
    """Further inputs, with as many sentences as heads, and what one or two deviations make of them.

    `given` is "random" or "open" for a mask as argument, "causal" for a function that makes its own.
    """
    generator = torch.Generator().manual_seed(7)
    args = layer(3, 7, 3, 5, generator)
    mask = causal(3, 7) if given == "causal" else random_mask(3, 7, generator)
    if given == "open":
        mask = torch.ones_like(mask)
    # without a mask as argument there is no axis to lack; with a random one there is no next word to see
    left_out = {"own-word-hidden", "next-word-visible"}
    if given == "causal":
        left_out = {"mask-lacks-the-head-axis", "own-mask"}
    single = [
        (name, change) for name, changes in DEVIATIONS.items() if name not in left_out for change in changes
    ]
    right = attend(*args, mask)
    named, outs = [], []
    for chosen in [(one,) for one in single] + list(itertools.combinations(single, 2)):
        changes = dict(change for _, change in chosen)
        if len(changes) == len(chosen) and _possible(changes):
            named.append(frozenset(name for name, _ in chosen))
            outs.append(attend(*args, mask, **changes))
    for changes in _FIXED:
        named.append(frozenset(n for n, made in DEVIATIONS.items() if set(made) & set(changes.items())))
        outs.append(attend(*args, mask, **changes))
    differ = ~_alike(right, torch.stack(outs))
    return [*args, mask], [n for n, d in zip(named, differ, strict=True) if d], torch.stack(outs)[differ]


def _possible(changes: dict) -> bool:
    """Whether the changes can be made together: with one head there is nothing to merge."""
    one = changes.get("split") == "one"
    return not (one and ("merge" in changes or "headless" in changes.values()))


def _alike(a: Tensor, many: Tensor) -> Tensor:
    """For each of many outputs: whether it agrees with this one wherever both are numbers, at most places."""
    a, many = a.double(), many.double()
    known = a.isfinite() & many.isfinite()
    close = torch.isclose(a, many, rtol=1e-3, atol=1e-4) | ~known
    axes = tuple(range(1, many.dim()))
    return (known.double().mean(axes) > 0.4) & close.all(-1).all(-1).all(-1)


def same(a: Tensor, b: Tensor) -> bool:
    """Whether two outputs agree wherever both are numbers, which must be at most places."""
    return a.shape == b.shape and bool(_alike(a, b[None]))


def deviates(*names: str, given: str = "random") -> Probe:
    """A probe: the learner's attention makes all these mistakes and at most two in all.

    `given` is "random" or "open" for a mask as last argument, "causal" for a function that makes its own.
    """

    def probe(attempt: Attempt) -> bool:
        args, made, outs = _examples(given)
        got = attempt.call(*(args[:-1] if given == "causal" else args))
        if got.shape != outs.shape[1:]:
            return False
        # one mistake alone explains more than two together
        found = [made[n] for n in _alike(got, outs).nonzero().flatten().tolist()]
        fewest = min(map(len, found), default=0)
        return any(set(names) <= which for which in found if len(which) == fewest)

    return probe


def heads_read_heads(causal_only: bool = False) -> Probe:
    """A probe: the axis of the heads stands where the words should be, so that no word reads another."""

    def probe(attempt: Attempt) -> bool:
        B, T, H, K = 2, 3, 3, 5  # as many words as heads, so that a mask does not get in the way
        x, *matrices, _ = layer(B, T, H, K, torch.Generator().manual_seed(5))
        w_query, w_key, w_value, w_output = matrices
        q, k, v = ((x @ w.T).reshape(B, T, H, K) for w in (w_query, w_key, w_value))
        mask = torch.ones(B, T, T, dtype=torch.bool)
        got = attempt.call(x, *matrices, H, *(() if causal_only else (mask,)))
        scores = q @ k.transpose(-2, -1) / math.sqrt(K)
        hidden = ~torch.ones(T, T, dtype=torch.bool).tril() & causal_only
        o = scores.masked_fill(hidden, -math.inf).softmax(-1) @ v
        merged = (o.reshape(B, T, H * K), o.transpose(1, 2).reshape(B, T, H * K))
        return any(same(got, one @ w_output.T) for one in merged)

    return probe


def mask_over_heads(attempt: Attempt) -> bool:
    """Whether the mask got its new axis behind the words that read, so that its rows meet the heads."""
    B, T, H, K = 2, 3, 3, 5  # as many words as heads, or it would be an error
    generator = torch.Generator().manual_seed(6)
    x, *matrices, _ = layer(B, T, H, K, generator)
    mask = random_mask(B, T, generator)
    mask[:, 1, 2] = ~mask[:, 0, 2]  # two rows that differ
    q, k, v = ((x @ w.T).reshape(B, T, H, K).transpose(1, 2) for w in matrices[:3])
    scores = q @ k.transpose(-2, -1) / math.sqrt(K)
    o = scores.masked_fill(~mask[:, :, None], -math.inf).softmax(-1) @ v
    return same(attempt.call(x, *matrices, H, mask), o.transpose(1, 2).reshape(B, T, -1) @ matrices[3].T)


def mask_in_wrong_order(attempt: Attempt) -> bool:
    """Whether heads get the masks of other sentences although no size stands in the way."""
    no_error = all(case.error is None for case in attempt.cases)
    return no_error and deviates("mask-lacks-the-head-axis")(attempt)


def nan_with_nothing_hidden(attempt: Attempt) -> bool:
    args, _, _ = _examples("open")
    return bool(attempt.call(*args).isnan().all())


def reads_hidden(attempt: Attempt) -> bool:
    """Whether a word that is hidden from another changes the other's output."""
    args, _, _ = _examples("random")
    x, mask = args[0], args[-1]
    before = attempt.call(*args)
    for j in range(x.shape[1]):
        other = x.clone()
        other[:, j] = -other[:, j]
        moved = (attempt.call(other, *args[1:]) - before).abs().amax(-1)  # (B, T)
        if before.isfinite().all() and bool((moved[~mask[:, :, j]] > 1e-5).any()):
            return True
    return False
