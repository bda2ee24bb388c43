"""What several exercises of chapter 2 use."""

from __future__ import annotations

import torch


def plain(given):
    """A list of plain numbers or truth values from any container; anything else stays as it came."""
    if hasattr(given, "tolist"):  # tensors and arrays
        given = given.tolist()
    if not isinstance(given, list | tuple):
        return given
    return [entry.item() if hasattr(entry, "item") else entry for entry in given]


def matrices(D: int, K: int, V: int, generator: torch.Generator) -> list[torch.Tensor]:
    return [0.6 * torch.randn(rows, D, generator=generator) for rows in (K, K, V)]
