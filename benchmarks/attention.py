"""Time attention, one head, forward: word by word, in matrix form, fused, and torch's own (`make bench`).

Each time is the best of several runs, in milliseconds, on the device that is named.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F

from transformer_lib import attend_fused, attend_one, attention

LENGTHS = (64, 256, 1024, 4096)  # words
D_HEAD = 64
LONGEST_LOOP = 256  # words; word by word takes too long beyond
SECONDS = 1.0  # for each time


def word_by_word(q, k, v):
    return torch.stack([attend_one(query, k[0], v[0]) for query in q[0]])[None]


WAYS: dict[str, Callable] = {
    "word by word (attend_one)": word_by_word,
    "matrix form (attention)": attention,
    "fused (attend_fused)": attend_fused,
    "torch's scaled_dot_product_attention": F.scaled_dot_product_attention,
}


def milliseconds(run: Callable, device: torch.device) -> float:
    """The best time of one call."""
    finish = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    best, end = float("inf"), time.perf_counter() + SECONDS
    run()
    while True:
        finish()
        start = time.perf_counter()
        run()
        finish()
        best = min(best, time.perf_counter() - start)
        if time.perf_counter() > end:
            return 1000 * best


def main() -> None:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    name = (
        torch.cuda.get_device_name() if device.type == "cuda" else f"CPU, {torch.get_num_threads()} threads"
    )
    print(f"Attention, one head, d_k = {D_HEAD}, float32, forward, on {name}; best time in ms\n")
    print(f"{'words':38}" + "".join(f"{length:>10}" for length in LENGTHS))
    generator = torch.Generator(device).manual_seed(0)
    inputs = {
        length: [torch.randn(1, length, D_HEAD, device=device, generator=generator) for _ in "qkv"]
        for length in LENGTHS
    }
    with torch.inference_mode():
        for way, function in WAYS.items():
            times = []
            for length, qkv in inputs.items():
                left_out = function is word_by_word and length > LONGEST_LOOP
                times.append("–" if left_out else f"{milliseconds(partial(function, *qkv), device):.2f}")
            print(f"{way:38}" + "".join(f"{value:>10}" for value in times), flush=True)


if __name__ == "__main__":
    main()
