"""Peak memory of attention beyond its inputs: explicit, fused, by blocks and linear, for one sentence and 8
heads of 64; in MiB. What a kernel borrows while it runs is not counted, which favours the fused one."""

from __future__ import annotations

from functools import partial

import torch
from measuring import DEVICE, Result

from transformer_lib import attend_blocks, attend_fused, attend_linear, attention, fitted_exponent, measure

LENGTHS = (1024, 2048, 4096, 8192)
COMPARED = 4096
LONGEST_EXPLICIT = 4096
WAYS = {
    "explicit": attention,
    "fused": attend_fused,
    "blocks": attend_blocks,
    "blocks, causal": partial(attend_blocks, causal=True),
    "linear": attend_linear,
    "linear, causal": partial(attend_linear, causal=True),
}
OURS = [way for way in WAYS if way not in ("explicit", "fused")]


def peak(way: str, n: int, backward: bool) -> int:
    q, k, v = (torch.randn(1, 8, n, 64, device=DEVICE, requires_grad=backward) for _ in "qkv")

    def run():
        out = WAYS[way](q, k, v)
        if backward:
            torch.autograd.grad(out.sum(), (q, k, v))

    return measure(run, repeats=1).peak_bytes


def main(quick: bool = False) -> list[Result]:
    lengths = tuple(n // 16 for n in LENGTHS) if quick else LENGTHS
    compared, longest = (n // 16 if quick else n for n in (COMPARED, LONGEST_EXPLICIT))
    results = []
    for backward in (False, True):
        which = "forward + backward" if backward else "forward"
        print(f"{which:20}" + "".join(f"{n:>9}" for n in lengths))
        bytes_of = {}
        for way in WAYS:
            sizes = [n for n in lengths if way != "explicit" or n <= longest]
            bytes_of[way] = [peak(way, n, backward) for n in sizes]
            print(f"{way:20}" + "".join(f"{n / 2**20:>9.2f}" for n in bytes_of[way]), flush=True)
        at = lengths.index(compared)
        for way in OURS:
            if "blocks" in way:  # the same numbers as the fused kernel; linear attention has others
                ratio = bytes_of[way][at] / bytes_of["fused"][at]
                results.append(Result(f"memory at {compared} words / fused, {way}, {which}", ratio, 2.0))
            exponent = fitted_exponent(lengths, bytes_of[way])
            results.append(Result(f"exponent of memory in the words, {way}, {which}", exponent, 1.05))
    return results
