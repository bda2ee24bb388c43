"""Multi-head attention against nn.MultiheadAttention, and against the bare sum of its parts: two matrix
products and the fused kernel, on inputs made ready; best times in ms."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from measuring import DEVICE, Result, best_seconds
from torch import Tensor, nn

from transformer_lib import MultiHeadAttention

SIZES = [(32, 64, 128, 4), (8, 256, 256, 8), (2, 1024, 512, 8), (1, 4096, 512, 8)]  # B, T, D, H


def pair(D: int, H: int) -> tuple[MultiHeadAttention, nn.MultiheadAttention]:
    """Ours and torch's, with the same weights."""
    ours = MultiHeadAttention(D, H).to(DEVICE)
    torchs = nn.MultiheadAttention(D, H, batch_first=True, device=DEVICE)
    torchs.in_proj_weight, torchs.in_proj_bias = ours.qkv.weight, ours.qkv.bias
    torchs.out_proj.weight, torchs.out_proj.bias = ours.output.weight, ours.output.bias
    return ours, torchs


def parts(ours: MultiHeadAttention, x: Tensor, causal: bool) -> Callable[[], list[Tensor]]:
    """The two products and the kernel, each by itself."""
    with torch.no_grad():
        qkv = ours.qkv(x)
        q, k, v = qkv.unflatten(-1, (3, ours.n_heads, -1)).transpose(1, 3).unbind(2)
        q, k, v = (heads.requires_grad_(x.requires_grad) for heads in (q, k, v))
        merged = torch.randn_like(x).requires_grad_(x.requires_grad)
    return lambda: [
        ours.qkv(x),
        F.scaled_dot_product_attention(q, k, v, is_causal=causal),
        ours.output(merged),
    ]


def compared(size: tuple[int, int, int, int], causal: bool, backward: bool, seconds: float) -> list[float]:
    """Seconds of ours, of torch's, and of the parts."""
    B, T, D, H = size
    ours, torchs = pair(D, H)
    x = torch.randn(B, T, D, device=DEVICE, requires_grad=backward)
    future = nn.Transformer.generate_square_subsequent_mask(T, device=DEVICE) if causal else None
    bare = parts(ours, x, causal)
    runs = [
        lambda: [ours(x, causal=causal)],
        lambda: [torchs(x, x, x, attn_mask=future, is_causal=causal, need_weights=False)[0]],
        bare,
    ]
    with torch.no_grad():
        torch.testing.assert_close(runs[0](), runs[1](), rtol=1e-4, atol=1e-5)
    if backward:
        gradients = [[torch.randn_like(out) for out in run()] for run in runs]
        back = [
            lambda run=run, given=given: torch.autograd.backward(run(), given)
            for run, given in zip(runs, gradients, strict=True)
        ]
        return best_seconds(*back, seconds=seconds)
    torchs.eval()
    with torch.inference_mode():
        return best_seconds(*runs, seconds=seconds)


def main(quick: bool = False) -> list[Result]:
    print(f"{'B, T, D, H':16}{'':26}{'here':>9}{'torch':>9}{'parts':>9}")
    results = []
    for size in SIZES[: 1 if quick else None]:
        for causal in (False, True):
            for backward in (False, True):
                what = f"{', causal' * causal}, {'forward + backward' if backward else 'forward'}"
                ours, torchs, bare = compared(size, causal, backward, 0.2 if quick else 6)
                name = ", ".join(map(str, size))
                ms = "".join(f"{1000 * seconds:>9.3f}" for seconds in (ours, torchs, bare))
                print(f"{name:16}{what.removeprefix(', '):26}{ms}", flush=True)
                results.append(Result(f"time / nn.MultiheadAttention, {name}{what}", ours / torchs, 1.0))
                results.append(Result(f"time / bare parts, {name}{what}", ours / bare, 1.1))
    return results
