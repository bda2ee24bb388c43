r"""The learning rate from step to step: it rises, then falls (chapter 11).

The original paper's rises for `warmup` steps and then falls with the root of the step,

$$lr = D^{-1/2} \min\left(step^{-1/2},\; step \cdot warmup^{-3/2}\right).$$

The other falls in half a cosine from its peak to a floor,

$$lr = floor + \tfrac12 (peak - floor)
  \left(1 + \cos\left(\pi\,\frac{step - warmup}{steps - warmup}\right)\right).$$

Sources: Vaswani et al. 2017, arXiv 1706.03762, section 5.3, Eq. 3; Loshchilov & Hutter 2016, arXiv
1608.03983, Eq. 5.
"""

from __future__ import annotations

import math


def paper_schedule(step: int, d_model: int, warmup: int = 4000) -> float:
    """Learning rate of the original Transformer of width d_model at a step, counted from 1.

    Raises:
        ValueError: step or warmup below 1.

    >>> paper_schedule(4000, 512) == max(paper_schedule(step, 512) for step in range(1, 9000))
    True

    Source: Vaswani et al. 2017, Eq. 3.
    """
    if step < 1 or warmup < 1:
        raise ValueError(f"step and warmup must be at least 1; got {step} and {warmup}")
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def cosine_schedule(step: int, peak: float, warmup: int, steps: int, floor: float = 0.0) -> float:
    """Learning rate that rises to its peak in a straight line and falls to the floor in half a cosine.

    Args:
        step: of the update, from 1 to `steps`.
        peak: the highest rate, reached at step `warmup`.
        warmup: steps of the rise; 0 begins at the peak.
        steps: updates in all.
        floor: the rate of the last step.

    Raises:
        ValueError: step outside 1 to steps, or warmup outside 0 to steps − 1.

    >>> [round(cosine_schedule(step, 1.0, warmup=2, steps=6), 2) for step in range(1, 7)]
    [0.5, 1.0, 0.85, 0.5, 0.15, 0.0]

    Source: Loshchilov & Hutter 2016, Eq. 5.
    """
    if not 1 <= step <= steps or not 0 <= warmup < steps:
        raise ValueError(f"1 <= step <= steps and 0 <= warmup < steps; got {step=}, {warmup=}, {steps=}")
    if step <= warmup:
        return peak * step / warmup
    return floor + (peak - floor) * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup))) / 2
