"""Matrices as they come (tensor of any device, array, nested list), made ready to be shown."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def to_array(values: Any, name: str = "matrix") -> np.ndarray:
    """The values as a numpy array of booleans, integers or float64.

    Raises:
        TypeError: they are not real numbers.
        ValueError: the rows of a nested list differ in length.
    """
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = values.double() if values.is_floating_point() else values
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must have rows of one length") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers; got {array.dtype} from {type(values).__name__}")
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def attention_array(weights: Any, n_queries: int | None = None, n_keys: int | None = None) -> np.ndarray:
    """Attention weights of one head as a float64 array (T, S), checked.

    Raises:
        ValueError: not of rank 2, not one row per query and one column per key, negative, above 1, or NaN.
    """
    array = to_array(weights, "weights").astype(np.float64)
    if array.ndim > 2:
        raise ValueError(
            f"weights must be those of one head, (T, S); got shape {array.shape}. "
            "Choose one sentence and one head, such as weights[0, 2]"
        )
    if array.ndim < 2 or 0 in array.shape:
        raise ValueError(f"weights must have shape (T, S), a row for each query; got {array.shape}")
    expected = (n_queries or array.shape[0], n_keys or array.shape[1])
    if array.shape != expected:
        raise ValueError(
            f"{expected[0]} queries and {expected[1]} keys need weights of shape {expected}; got {array.shape}"
        )
    if not np.isfinite(array).all():
        bad = int((~np.isfinite(array)).sum())
        raise ValueError(f"weights must be finite; {bad} of {array.size} are NaN or infinite")
    if array.min() < 0 or array.max() > 1 + 1e-3:
        raise ValueError(
            f"attention weights lie between 0 and 1; these go from {array.min():.3g} to {array.max():.3g}. "
            "Scores before the softmax are shown by heat_map"
        )
    return array


def short_number(value: Any) -> str:
    """A number in about five characters: 0.25, −3, 1.2e5, ∞, NaN, True."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    if size == 0 or (float(value).is_integer() and size < 1e5):
        text = f"{value:.0f}"
    elif size < 0.005 or size >= 1e5:
        mantissa, exponent = f"{value:.0e}".split("e")
        text = f"{mantissa}e{int(exponent)}"
    else:
        text = f"{value:.2f}" if size < 100 else f"{value:.0f}"
    return "0" if text == "-0" else text.replace("-", "−")
