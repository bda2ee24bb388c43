r"""Choosing the next word from its logits: the likeliest, or one drawn at random (lecture, section 9).

From the logits $z$ of the words, sampling draws from

$$p(w) = \frac{e^{z_w / \tau}}{\sum_v e^{z_v / \tau}},$$

with the temperature $\tau$; $\tau \to 0$ is the arg-max. Top-k draws from the k likeliest words only, top-p
from the fewest words that have together probability p.

Sources: Holtzman et al. 2020 (top-p), arXiv 1904.09751, Eq. 2 and 3; Fan et al. 2018 (top-k),
arXiv 1805.04833.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor


def filter_logits(
    logits: Float[Tensor, "B V"],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Float[Tensor, "B V"]:
    """Logits in float32, divided by the temperature; −∞ for the words outside top-k and, of those, top-p.

    >>> filter_logits(torch.tensor([[1.0, 3.0, 2.0]]), temperature=0.5, top_k=2)
    tensor([[-inf, 6., 4.]])

    Source: Holtzman et al. 2020, Eq. 2 and 3.
    """
    logits = logits.float() / temperature
    if top_k is not None and top_k < logits.shape[-1]:
        logits = logits.masked_fill(logits < logits.topk(top_k).values[:, -1:], float("-inf"))
    if top_p is not None and top_p < 1:
        p, order = logits.softmax(-1).sort(descending=True, stable=True)
        enough = p.cumsum(-1) - p >= top_p  # the likelier words have p already
        logits = logits.masked_fill(enough.scatter(-1, order, enough), float("-inf"))
    return logits


@dataclass(frozen=True, kw_only=True)
class Sampler:
    """How the next word is chosen from the logits: the likeliest, or one drawn at random.

    Args:
        temperature: 0 takes the likeliest word; above 1 the draw is more even, below 1 more peaked.
        top_k: draw from so many words; None means all.
        top_p: draw from the fewest words with together at least this probability; None means all.
        generator: of the random numbers, on the model's device; None means torch's own.

    Raises:
        ValueError: a number out of its range.

    >>> Sampler()(torch.tensor([[0.1, 2.0, 0.3]]))
    tensor([1])
    """

    temperature: float = 0.0
    top_k: int | None = None
    top_p: float | None = None
    generator: torch.Generator | None = None

    def __post_init__(self):
        if not 0 <= self.temperature < float("inf"):
            raise ValueError(f"temperature must be at least 0 and finite; got {self.temperature}")
        if self.top_k is not None and self.top_k < 1:
            raise ValueError(f"top_k must be at least 1; got {self.top_k}")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must be above 0 and at most 1; got {self.top_p}")

    def __call__(self, logits: Float[Tensor, "B V"]) -> Int[Tensor, " B"]:
        if self.temperature == 0:
            return logits.argmax(-1)
        p = filter_logits(logits, self.temperature, self.top_k, self.top_p).softmax(-1)
        return torch.multinomial(p, 1, generator=self.generator)[:, 0]
