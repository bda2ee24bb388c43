"""Attention, one head, forward: word by word, in matrix form, fused, and torch's own; best times in ms."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from measuring import DEVICE, Result, best_seconds

from transformer_lib import attend_fused, attend_one, attention

LENGTHS = (64, 256, 1024, 4096)  # words
D_HEAD = 64
LONGEST_LOOP = 256  # words; word by word takes too long beyond


def word_by_word(q, k, v):
    return torch.stack([attend_one(query, k[0], v[0]) for query in q[0]])[None]


WAYS: dict[str, Callable] = {
    "word by word (attend_one)": word_by_word,
    "matrix form (attention)": attention,
    "fused (attend_fused)": attend_fused,
    "torch's scaled_dot_product_attention": F.scaled_dot_product_attention,
}


@torch.inference_mode()
def main(quick: bool = False) -> list[Result]:
    print(f"{'words':>8}  " + "  ".join(WAYS))
    for length in LENGTHS[: 2 if quick else None]:
        qkv = [torch.randn(1, length, D_HEAD, device=DEVICE) for _ in "qkv"]
        ways = {way: f for way, f in WAYS.items() if f is not word_by_word or length <= LONGEST_LOOP}
        times = best_seconds(*(partial(f, *qkv) for f in ways.values()), seconds=0.1 if quick else 3)
        ms = dict(zip(ways, times, strict=True))
        cells = (f"{1000 * ms[way]:.3f}" if way in ms else "–" for way in WAYS)
        print(f"{length:>8}  " + "  ".join(f"{c:>{len(way)}}" for c, way in zip(cells, WAYS, strict=True)))
    return []
