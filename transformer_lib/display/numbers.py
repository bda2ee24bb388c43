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
    try:
        array = np.asarray(_plain(values))
    except ValueError:
        raise ValueError(f"{name} must have rows of one length") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers; got {array.dtype} from {type(values).__name__}")
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def _plain(values: Any) -> Any:
    """Tensors as arrays, also those in a list; half precision as float64, which numpy knows."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        return (values.double() if values.is_floating_point() else values).numpy()
    return [_plain(value) for value in values] if isinstance(values, list | tuple) else values


def attention_array(weights: Any, n_queries: int, n_keys: int, most: int) -> np.ndarray:
    """Attention weights of one head as a float64 array (T, S), checked.

    Raises:
        TypeError: they are not numbers.
        ValueError: not of rank 2, not one row per query and one column per key, more than the most words
            on a side, negative, above 1, or NaN.
    """
    array = to_array(weights, "weights").astype(np.float64)
    if array.ndim > 2:
        raise ValueError(
            f"weights must be those of one head, (T, S); got shape {array.shape}. "
            "Choose one sentence and one head, such as weights[0, 2]"
        )
    if array.shape != (n_queries, n_keys):
        raise ValueError(
            f"{n_queries} words reading from {n_keys} need weights of shape {(n_queries, n_keys)}; "
            f"got {array.shape}"
        )
    if max(array.shape) > most:
        raise ValueError(f"up to {most} words can be shown; got weights of shape {array.shape}")
    if bad := int((~np.isfinite(array)).sum()):
        raise ValueError(f"weights must be finite; {bad} of {array.size} are NaN or infinite")
    if array.min() < 0 or array.max() > 1 + 1e-3:
        raise ValueError(
            f"attention weights lie between 0 and 1; these go from {array.min():.3g} to {array.max():.3g}. "
            "heat_map shows scores before the softmax"
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
