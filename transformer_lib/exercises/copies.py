"""Copies of arguments and results, so that nothing a learner's code does later reaches them."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

DEEPEST = 20  # levels of lists in lists; a list that contains itself has more


def fresh(value: Any, memo: dict[int, Any] | None = None) -> Any:
    """A copy to hand to the learner's function: a leaf where the original is one, with its requires_grad.

    What occurs twice (the same tensor as queries and as keys) occurs twice in the copy too.
    """
    memo = {} if memo is None else memo
    if id(value) in memo:
        return memo[id(value)]
    if type(value) in (Tensor, nn.Parameter):
        made = value.detach().clone().requires_grad_(value.requires_grad)
        made = nn.Parameter(made, value.requires_grad) if isinstance(value, nn.Parameter) else made
    elif isinstance(value, torch.Generator):
        made = torch.Generator(value.device)
        made.set_state(value.get_state())
    elif type(value) in (list, tuple):
        made = type(value)(fresh(part, memo) for part in value)
    elif type(value) is dict:
        made = {key: fresh(part, memo) for key, part in value.items()}
    else:
        try:
            made = copy.deepcopy(value)
        except Exception:  # a function of C, a lock: handed over as it is
            made = value
    memo[id(value)] = made
    return made


def snapshot(value: Any, depth: int = 0) -> Any:
    """A plain copy of a result: tensors detached, without subclass; lists, tuples and dicts copied."""
    if isinstance(value, Tensor):
        return plain_tensor(value)
    if isinstance(value, np.ndarray):
        return np.array(value)
    if depth >= DEEPEST:
        return value
    if isinstance(value, list | tuple):
        parts = [snapshot(part, depth + 1) for part in value]
        return parts if isinstance(value, list) else tuple(parts)
    if isinstance(value, dict):
        return {key: snapshot(part, depth + 1) for key, part in value.items()}
    return value


def plain_tensor(value: Tensor) -> Tensor:
    """The tensor detached and copied, as a plain Tensor where that is possible."""
    with torch._C.DisableTorchFunctionSubclass():
        try:
            return value.detach().as_subclass(Tensor).clone()
        except Exception:  # a tensor that is no ordinary memory, such as a nested one
            return value


def unchanged(before: Any, after: Any) -> bool:
    """Whether an argument still holds exactly what it held (NaN equals NaN)."""
    if isinstance(before, Tensor):
        if not isinstance(after, Tensor) or before.shape != after.shape or before.dtype != after.dtype:
            return False
        return before.is_meta or bool(torch.equal(_bits(before), _bits(after)))
    if isinstance(before, nn.Module):
        old, new = before.state_dict(), after.state_dict()
        return old.keys() == new.keys() and all(unchanged(old[name], new[name]) for name in old)
    if isinstance(before, np.ndarray):
        return np.array_equal(before, after, equal_nan=before.dtype.kind in "fc")
    if isinstance(before, list | tuple):
        return len(before) == len(after) and all(map(unchanged, before, after))
    if isinstance(before, dict):
        return before.keys() == after.keys() and all(unchanged(before[key], after[key]) for key in before)
    if isinstance(before, bool | int | float | str):
        return before == after or before != before
    return True  # a random generator moves on, and that is no harm


def _bits(value: Tensor) -> Tensor:
    """The tensor with NaN made comparable."""
    value = value.detach()
    if value.layout != torch.strided:
        value = value.to_dense()
    return torch.nan_to_num(value, nan=1.2345e30) if value.is_floating_point() else value
