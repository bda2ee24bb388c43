r"""Which words may be read: masks for the future and for padding (lecture, section 6).

A mask is a boolean tensor, **True = may attend**, of shape (B, H, T, S) with 1 where it is the same for
all. Masks are combined with `&`. Where a mask is False, the score becomes −∞ before the softmax, so that
the weight becomes exactly 0:

$$s_{ij} = -\infty \text{ where } i \text{ may not read } j \quad\Rightarrow\quad \alpha_{ij} = 0.$$

torch is of two minds: `F.scaled_dot_product_attention` reads a boolean mask as here, while in
`nn.MultiheadAttention` and `nn.Transformer` True means "may *not* attend".

Source: Vaswani et al. 2017, arXiv 1706.03762, section 3.2.3.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Int
from torch import Tensor

_WHOLE = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def causal_mask(
    T: int, S: int | None = None, *, device: torch.device | str | None = None
) -> Bool[Tensor, "1 1 T S"]:
    r"""Word i may read itself and the words before it, never a later one.

    The T queries are the *last* T of the S words (aligned bottom-right: $j \le i + S - T$), so that
    reading a prompt and writing one more word after a cache are the same call.

    Args:
        T: number of queries (words).
        S: number of keys (words), at least T; None means T.
        device: where the mask is made.

    Raises:
        ValueError: T below 1, or S below T.

    >>> causal_mask(3)[0, 0].int()
    tensor([[1, 0, 0],
            [1, 1, 0],
            [1, 1, 1]], dtype=torch.int32)
    >>> causal_mask(1, 3)[0, 0].int()  # the newest word sees all
    tensor([[1, 1, 1]], dtype=torch.int32)

    Source: Vaswani et al. 2017, section 3.2.3 (masked decoder self-attention).
    """
    S = T if S is None else S
    if not all(type(size) is int for size in (T, S)) or T < 1 or S < T:
        raise ValueError(
            "a causal mask needs whole numbers 1 <= T <= S (queries are the last T of S words); "
            f"got T={T!r}, S={S!r}"
        )
    i = torch.arange(T, device=device)[:, None]
    j = torch.arange(S, device=device)
    return (j <= i + S - T)[None, None]


def padding_mask(lengths: Int[Tensor, " B"], S: int | None = None) -> Bool[Tensor, "B 1 1 S"]:
    """Every word may read the first `lengths[b]` words of sentence b, and none of the padding after them.

    It hides *keys* (columns). The rows of padding words still hold numbers, which nobody reads.

    Args:
        lengths: number of real words of each sentence, from 0 to S.
        S: number of words with padding; None means the longest length.

    Raises:
        TypeError: lengths are not integers.
        ValueError: lengths are not of rank 1, are negative, or exceed S.

    >>> import torch
    >>> padding_mask(torch.tensor([1, 3])).int()[:, 0, 0]
    tensor([[1, 0, 0],
            [1, 1, 1]], dtype=torch.int32)
    """
    if not isinstance(lengths, Tensor) or lengths.dtype not in _WHOLE:
        kind = lengths.dtype if isinstance(lengths, Tensor) else type(lengths).__name__
        raise TypeError(f"lengths must be a tensor of integers, one number of words per sentence; got {kind}")
    lengths = lengths.long()
    if lengths.dim() != 1 or lengths.numel() == 0:
        raise ValueError(f"lengths must have shape (B,), one number per sentence; got {tuple(lengths.shape)}")
    S = int(lengths.max()) if S is None else S
    if lengths.min() < 0 or lengths.max() > S:
        raise ValueError(f"lengths must lie between 0 and S={S}; got {lengths.tolist()}")
    return (torch.arange(S, device=lengths.device) < lengths[:, None])[:, None, None]
