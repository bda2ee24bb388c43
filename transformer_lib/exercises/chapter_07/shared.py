"""What several exercises of chapter 7 use: answers on paper, and multi-head attention with deviations."""

from __future__ import annotations

import functools
import itertools
import math

import torch
from torch import Tensor

from transformer_lib.exercises.attention_probes import Probe
from transformer_lib.exercises.exercise import Attempt


def plain(given):
    """A list of plain numbers or truth values from any container; anything else stays as it came."""
    if hasattr(given, "tolist"):  # tensors and arrays
        given = given.tolist()
    if not isinstance(given, list | tuple):
        return given
    return [entry.item() if hasattr(entry, "item") else entry for entry in given]


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
_SCALES = {
    "D": lambda B, T, H, K: (H * K) ** -0.5,
    "none": lambda B, T, H, K: 1.0,
    "no root": lambda B, T, H, K: 1 / K,
    "upside down": lambda B, T, H, K: K**0.5,
    "heads": lambda B, T, H, K: H**-0.5,
    "length": lambda B, T, H, K: T**-0.5,
}

# name of the mistake: the changes that make it, each (part of the computation, what is done there)
DEVIATIONS = {
    "split-by-view": (("split", "view"), ("split", "turned"), ("split", "turned twice")),
    "heads-interleaved": (("split", "interleaved"), ("merge", "interleaved")),
    "one-head-only": (("split", "one"),),
    "merged-without-transposing": (("merge", "reshape"), ("merge", "turned"), ("merge", "turned all")),
    "matrices-not-transposed": (("maps", "as they are"),),
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
    "own-word-hidden": (("masking", "strict"),),
    "next-word-visible": (("masking", "next"),),
    "scale-by-d-model": (("scale", "D"),),
    "no-scale": (("scale", "none"),),
    "scale-without-root": (("scale", "no root"),),
    "scale-upside-down": (("scale", "upside down"),),
    "scale-by-something-else": (("scale", "heads"), ("scale", "length")),
    "scale-after-softmax": (("scale", "after"),),
    "output-map-missing": (("output", "none"),),
    "output-map-not-transposed": (("output", "as it is"),),
}


def attend(x, w_query, w_key, w_value, w_output, n_heads, mask, **changes) -> Tensor:
    """Multi-head attention by the formula; `changes` name a part and what is done there instead."""
    (B, T, D), H = x.shape, n_heads
    turn = (lambda w: w) if "maps" in changes else (lambda w: w.T)
    q, k, v = (x @ turn(w) for w in (w_query, w_key, w_value))
    roles = changes.get("roles", "qkv")
    q, k, v = (k, q, v) if roles == "swapped" else ({"q": q, "k": k, "v": v}[letter] for letter in roles)
    if "split" in changes:
        q, k, v = (_SPLITS[changes["split"]](part, B, T, H, D // H) for part in (q, k, v))
    else:
        q, k, v = (part.reshape(B, T, H, D // H).transpose(1, 2) for part in (q, k, v))
    scores, factor = q @ k.transpose(-2, -1), q.shape[-1] ** -0.5
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
        return o if changes["output"] == "none" else o @ w_output
    return o @ w_output.T


def _shares(scores: Tensor, mask: Tensor, treatment: str | None, axis: int | None) -> Tensor:
    T = mask.shape[-1]
    hidden, finite = ~mask[:, None], torch.finfo(scores.dtype).min
    if treatment in ("none", "after", "added"):
        hidden = torch.zeros_like(hidden)
    elif treatment in ("inverted", "inverted, finite"):
        hidden = ~hidden
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
    bottom = finite if treatment == "inverted, finite" else -math.inf
    scores = scores.masked_fill(hidden, 0.0 if axis is None else bottom)
    weights = scores if axis is None else torch.softmax(scores, dim=axis)
    return weights * mask[:, None] if treatment == "after" else weights


@functools.lru_cache
def _examples(causal_only: bool) -> tuple[list, tuple[tuple[frozenset, Tensor], ...]]:
    """Further inputs, with as many sentences as heads, and what one or two deviations make of them."""
    generator = torch.Generator().manual_seed(7)
    args = layer(3, 7, 3, 5, generator)
    mask = causal(3, 7) if causal_only else random_mask(3, 7, generator)
    # without a mask as argument there is no axis to lack; with a random one there is no next word to see
    left_out = {"mask-lacks-the-head-axis"} if causal_only else {"own-word-hidden", "next-word-visible"}
    single = [
        (name, change) for name, changes in DEVIATIONS.items() if name not in left_out for change in changes
    ]
    right = attend(*args, mask)
    made = []
    for chosen in [(one,) for one in single] + list(itertools.combinations(single, 2)):
        changes = dict(change for _, change in chosen)
        needs_heads = "merge" in changes or "headless" in changes.values()
        if len(changes) < len(chosen) or ("one" in changes.values() and needs_heads):
            continue
        out = attend(*args, mask, **changes)
        if not same(out, right):
            made.append((frozenset(name for name, _ in chosen), out))
    return [*args, mask], tuple(made)


def same(a: Tensor, b: Tensor) -> bool:
    """Whether two outputs agree wherever both are numbers, which must be at most places."""
    if a.shape != b.shape:
        return False
    a, b = a.double(), b.double()
    known = a.isfinite() & b.isfinite()
    return bool(known.float().mean() > 0.4) and torch.allclose(a[known], b[known], rtol=1e-3, atol=1e-4)


def deviates(*names: str, causal_only: bool = False) -> Probe:
    """A probe: the learner's attention makes all these mistakes and at most two in all.

    With causal_only the function makes its own causal mask; otherwise the mask is its last argument.
    """

    def probe(attempt: Attempt) -> bool:
        args, made = _examples(causal_only)
        got = attempt.call(*(args[:-1] if causal_only else args))
        # one mistake alone explains more than two together
        found = [which for which, out in made if same(got, out)]
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
