r"""The non-linearity: a network applied to every word by itself (lecture, section 5).

$$\operatorname{FFN}(x) = W_2\, f(W_1 x + b_1) + b_2, \qquad f = \operatorname{ReLU} \text{ or }
  \operatorname{GELU},$$

with a hidden layer about 4 times as wide as the word's vector. The gated variant of many models since
multiplies two maps of the same word, one of them through a non-linearity:

$$\operatorname{SwiGLU}(x) = W_2\,\bigl(\operatorname{SiLU}(W_1 x) \odot W_3 x\bigr).$$

Sources: Vaswani et al. 2017, arXiv 1706.03762, Eq. 2; Hendrycks & Gimpel 2016 (GELU), arXiv 1606.08415;
Shazeer 2020 (GLU variants), arXiv 2002.05202, Eq. 6.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from transformer_lib.checks import check_words

# "gelu-tanh" is the approximation in GPT-2's published weights; it differs from GELU by less than 0.001.
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu-tanh": partial(F.gelu, approximate="tanh"),
    "silu": F.silu,
}


class FeedForward(nn.Module):
    """Two linear maps with a non-linearity between, for each word alone: words never mix.

    Args:
        d_model: width of a word's vector (D).
        d_ff: width of the hidden layer (F); None means 4 · d_model.
        activation: a name in `ACTIVATIONS`.
        bias: whether the maps add a bias.

    Raises:
        ValueError: a width below 1, or an unknown activation.

    >>> import torch
    >>> FeedForward(6)(torch.randn(2, 5, 6)).shape
    torch.Size([2, 5, 6])

    Source: Vaswani et al. 2017, Eq. 2.
    """

    def __init__(self, d_model: int, d_ff: int | None = None, *, activation: str = "gelu", bias: bool = True):
        super().__init__()
        d_ff = _check(d_model, d_ff, activation)
        self.widen = nn.Linear(d_model, d_ff, bias=bias)
        self.narrow = nn.Linear(d_ff, d_model, bias=bias)
        self.activation = ACTIVATIONS[activation]

    def forward(self, x: Float[Tensor, "*batch T D"]) -> Float[Tensor, "*batch T D"]:
        check_words(x, self.widen.weight)
        return self.narrow(self.activation(self.widen(x)))


class GatedFeedForward(nn.Module):
    """SwiGLU: the hidden layer is the product of a gate and a second map of the same word.

    With three matrices instead of two, d_ff is usually 8/3 · d_model, for the same number of parameters;
    None means that, rounded up to a multiple of 8. Other arguments and errors as `FeedForward`.

    >>> import torch
    >>> GatedFeedForward(6)(torch.randn(2, 5, 6)).shape
    torch.Size([2, 5, 6])

    Source: Shazeer 2020, Eq. 6.
    """

    def __init__(
        self, d_model: int, d_ff: int | None = None, *, activation: str = "silu", bias: bool = False
    ):
        super().__init__()
        d_ff = _check(d_model, 8 * math.ceil(d_model / 3) if d_ff is None else d_ff, activation)
        self.gate = nn.Linear(d_model, d_ff, bias=bias)
        self.widen = nn.Linear(d_model, d_ff, bias=bias)
        self.narrow = nn.Linear(d_ff, d_model, bias=bias)
        self.activation = ACTIVATIONS[activation]

    def forward(self, x: Float[Tensor, "*batch T D"]) -> Float[Tensor, "*batch T D"]:
        check_words(x, self.widen.weight)
        return self.narrow(self.activation(self.gate(x)) * self.widen(x))


def _check(d_model: int, d_ff: int | None, activation: str) -> int:
    d_ff = 4 * d_model if d_ff is None else d_ff
    if d_model < 1 or d_ff < 1:
        raise ValueError(f"d_model and d_ff must be at least 1; got {d_model} and {d_ff}")
    if activation not in ACTIVATIONS:
        raise ValueError(f"activation must be one of {sorted(ACTIVATIONS)}; got {activation!r}")
    return d_ff
