"""What exercise 8.3 looks at in a learner's layer norm."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_lib.exercises.attention_probes import Probe, near
from transformer_lib.exercises.exercise import Attempt


def words() -> Tensor:
    return 0.9 + 1.4 * torch.randn(3, 7, 5, generator=torch.Generator().manual_seed(5)).double()


def made_of_words(attempt: Attempt, eps: float) -> Tensor:
    """What the learner's function makes of x with scale 1 and shift 0, (3, 7, 5)."""
    return attempt.call(words().float(), torch.ones(5), torch.zeros(5), eps).double()


def normalised(axes=(-1,), correction: int = 0, centre: bool = True, eps: float = 0.0) -> Tensor:
    """x normalised over these axes; without the mean taken away where `centre` is not set."""
    x = words()
    mean = x.mean(axes, keepdim=True)
    spread = (
        x.var(axes, keepdim=True, correction=correction) if centre else x.square().mean(axes, keepdim=True)
    )
    return ((x - mean) if centre else x) / torch.sqrt(spread + eps)


def core_is(*formulas: Callable[[], Tensor]) -> Probe:
    """A probe: with scale 1, shift 0 and next to no eps the result is one of these (NaN equals NaN)."""

    def probe(attempt: Attempt) -> bool:
        core = made_of_words(attempt, 1e-6).nan_to_num(99)
        return any(near(core, formula().nan_to_num(99)) for formula in formulas)

    return probe


def over(*axes: tuple[int, ...]) -> Probe:
    """A probe: normalised over one of these sets of axes, with whichever kind of spread."""
    kinds = list(itertools.product(axes, (0, 1), (True, False)))
    return core_is(*(lambda a=a, n=n, centre=centre: normalised(a, n, centre) for a, n, centre in kinds))


def size_of_eps(formula: Callable[[Tensor, float], Tensor]) -> Probe:
    """A probe: with eps 0.7 the divisor is this function of the variance and eps."""

    def probe(attempt: Attempt) -> bool:
        x, eps = words(), 0.7
        centred = x - x.mean(-1, keepdim=True)
        variance = centred.square().mean(-1, keepdim=True)
        return near(made_of_words(attempt, eps), centred / formula(variance, eps)) and core_is(normalised)(
            attempt
        )

    return probe


def eps_unused(attempt: Attempt) -> bool:
    """Whether eps makes no difference, and the words are centred and brought to one size."""
    core, other = made_of_words(attempt, 0.7), made_of_words(attempt, 0.2)
    return near(core, other) and torch.cosine_similarity(core, centred(words()), dim=-1).min().item() > 0.9999


def eps_elsewhere(attempt: Attempt) -> bool:
    """Whether the words are normalised where eps is next to nothing, and not as the formula says at 0.7."""
    return near(made_of_words(attempt, 1e-10), normalised()) and not near(
        made_of_words(attempt, 0.7), normalised(eps=0.7)
    )


def nothing_holds_the_divisor(attempt: Attempt) -> bool:
    """Whether eps makes no difference, and a word of equal numbers gives NaN."""
    same = attempt.call(torch.full((1, 2, 5), 2.0), torch.ones(5), torch.zeros(5), 0.5)
    return bool(same.isnan().any()) and size_of_eps(lambda variance, eps: variance.sqrt())(attempt)


def moved_by_another_word(attempt: Attempt) -> bool:
    """Whether what is made of the first word changes when the others do."""
    x = words().float()
    other = x.clone()
    other[1:] *= 2
    other[0, 1:] += torch.arange(5)
    first, again, moved = (
        attempt.call(given, torch.ones(5), torch.zeros(5), 1e-5)[0, 0] for given in (x, x, other)
    )
    return near(first, again) and not near(first, moved)


def before_the_norm(change: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    """x changed by the scale and the shift, and normalised then."""

    def changed(n: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
        return F.layer_norm(change(words(), scale, shift), (5,), eps=1e-5)

    return changed


def learned(combine: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Probe:
    """A probe: of the normalised words n, the scale and the shift the learner makes this."""

    def probe(attempt: Attempt) -> bool:
        scale, shift = torch.tensor([0.5, 1.3, -0.7, 2.0, 1.6]), torch.tensor([0.4, -1.1, 0.9, 2.5, -0.6])
        right = normalised(eps=1e-5)
        return near(attempt.call(words().float(), scale, shift, 1e-5), combine(right, scale, shift))

    return probe


def centred(x: Tensor) -> Tensor:
    return x - x.mean(-1, keepdim=True)


def less_the_sum() -> Tensor:
    return words() - words().sum(-1, keepdim=True)


EARLY = (
    before_the_norm(lambda x, scale, shift: x * scale + shift),
    lambda n, scale, shift: before_the_norm(lambda x, g, b: x * g)(n, scale, shift) + shift,
    lambda n, scale, shift: before_the_norm(lambda x, g, b: x + b)(n, scale, shift) * scale,
)
