"""Published tensors put into a model, by a table of names (lecture, throughout).

A file of weights is a dictionary from names to tensors. The names differ from family to family, and with
them small habits: three matrices where we have one, a matrix stored the other way round, a tensor stored
twice. A `Family` says all of that, and `fill` keeps the books: every tensor is used exactly once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import torch
from torch import Tensor, nn


@dataclass(frozen=True, kw_only=True)
class Family:
    """How one family of published models is read.

    Args:
        build: the model that the settings of a `config.json` describe.
        names: our module (or parameter) to theirs, with `*` for the number of the layer; several of
            theirs, separated by spaces, stand below one another in ours.
        prefix: what some files put before every name.
        transposed: last names of the modules whose matrices are stored the other way round.
        copies: tensors that some files hold twice, and the name under which they are read.
        ignored: patterns of tensors that the model does not need.
    """

    build: Callable[[Mapping], nn.Module]
    names: Mapping[str, str]
    prefix: str
    transposed: tuple[str, ...] = ()
    copies: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()

    def published_names(self, parameter: str) -> list[str]:
        """The tensors of a file that make up one of our parameters.

        >>> family = Family(build=nn.Identity, names={"blocks.*.qkv": "h.*.q h.*.k h.*.v"}, prefix="model.")
        >>> family.published_names("blocks.3.qkv.weight")
        ['h.3.q.weight', 'h.3.k.weight', 'h.3.v.weight']
        """
        layer = re.search(r"\d+", parameter)
        general = re.sub(r"\d+", "*", parameter, count=1)
        module, _, last = general.rpartition(".")
        if general in self.names:
            names = [self.names[general]]
        else:
            last = {"scale": "weight", "shift": "bias"}.get(last, last)
            names = [f"{name}.{last}" for name in self.names[module].split()]
        return [name.replace("*", layer[0]) if layer else name for name in names]


def fill(
    model: nn.Module, family: Family, tensors: Mapping[str, Tensor], *, dtype: torch.dtype = torch.float32
) -> None:
    """Put published tensors in the place of the model's parameters, which may be on the meta device.

    Each tensor is used exactly once, or is a copy or unneeded as the family says. Tied parameters stay tied.

    Raises:
        ValueError: tensors are missing, left over, of the wrong shape, or no copy where one should be; the
            message names them, and the model is left as it was.

    >>> family = Family(build=nn.Identity, names={"weight": "w"}, prefix="")
    >>> layer = nn.Linear(3, 2, bias=False)
    >>> fill(layer, family, {"w": torch.zeros(2, 4), "x": torch.zeros(1)})
    Traceback (most recent call last):
    ValueError: the weights do not fit the settings: w (2, 4) should make (2, 3) for weight; left over x (1,)
    """
    given = {name.removeprefix(family.prefix): tensor for name, tensor in tensors.items()}
    parameters = list(model.named_parameters(remove_duplicate=False))
    used, problems, made = set(), [], {}
    for parameter, old in parameters:
        if id(old) in made:  # tied: read under its first name
            continue
        made[id(old)] = None
        names = family.published_names(parameter)
        used.update(names)
        missing = [name for name in names if name not in given]
        if missing:
            problems.append(f"missing {', '.join(missing)}")
            continue
        parts = [_turned(given[name], name, old, family) for name in names]
        rows = sum(len(part) for part in parts)
        if any((rows, *part.shape[1:]) != old.shape for part in parts):
            came = ", ".join(f"{name} {tuple(given[name].shape)}" for name in names)
            problems.append(f"{came} should make {tuple(old.shape)} for {parameter}")
            continue
        made[id(old)] = nn.Parameter(torch.cat(parts).to(dtype), requires_grad=old.requires_grad)
    for name in sorted(given.keys() - used):
        if name in family.copies:
            if not torch.equal(given[name], given.get(family.copies[name], torch.empty(0))):
                problems.append(f"{name} should be a copy of {family.copies[name]}, but is not")
        elif not any(fnmatchcase(name, pattern) for pattern in family.ignored):
            problems.append(f"left over {name} {tuple(given[name].shape)}")
    if problems:
        more = f"; and {len(problems) - 8} more" if len(problems) > 8 else ""
        raise ValueError(f"the weights do not fit the settings: {'; '.join(problems[:8])}{more}")
    for parameter, old in parameters:
        module, _, name = parameter.rpartition(".")
        setattr(model.get_submodule(module), name, made[id(old)])


def _turned(tensor: Tensor, name: str, old: Tensor, family: Family) -> Tensor:
    """A published tensor the way round that ours is."""
    if tensor.dim() == 2 and set(name.split(".")) & set(family.transposed):
        return tensor.t()
    if tensor.dim() == 2 and old.dim() == 1 and len(tensor) == 1:  # a row instead of a vector
        return tensor[0]
    return tensor if tensor.dim() else tensor[None]
