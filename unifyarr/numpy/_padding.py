"""Padding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import functions as ua
from .._core.arrays import convert
from .._core.arrays.array import Array
from ..functions.padding import MODES, Pairs, as_widths
from ._creation import on_host
from ._following import as_array, follows


@follows(np.pad)
def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Array:
    """Return an array with more elements before and after those along each axis.

    >>> import unifyarr.numpy as np
    >>> np.pad([1, 2, 3], (2, 1), "linear_ramp", end_values=(5, 0))
    array([5, 3, 1, 2, 3, 0])
    """
    x = as_array(array)
    widths = _on_host(pad_width)
    if callable(mode):
        return _by_function(x, as_widths(widths, x.ndim), mode, kwargs)
    if mode not in MODES:
        raise ValueError(f"mode is one of {', '.join(MODES)}, or a function, not {mode!r}")
    unknown = [name for name in kwargs if name not in MODES[mode]]
    if unknown:
        raise ValueError(f"mode {mode!r} takes no {', '.join(unknown)}")
    for name, value in kwargs.items():
        if name == "stat_length":
            kwargs[name] = _on_host(value)
        elif name != "reflect_type":
            kwargs[name] = _as_elements(value, x)
    return ua.pad(x, widths, mode, **kwargs)


def _on_host(given: Any) -> Any:
    if isinstance(given, dict):
        return {axis: _on_host(each) for axis, each in given.items()}
    return on_host(given, "pad()").tolist() if isinstance(given, Array) else given


def _as_elements(given: Any, x: Array) -> Any:
    # Each is cast to the dtype of the array, whatever it is, as by an assignment.
    values = convert.as_array(given, x._backend).astype(x.dtype)
    return values if values.ndim == 0 else _nested(values)


def _nested(values: Array) -> Any:
    return [_nested(each) for each in values] if values.ndim else values


def _by_function(x: Array, widths: Pairs, function: Callable[..., Any], options: dict[str, Any]) -> Array:
    padded = ua.pad(x, widths) if x.ndim else x.copy()
    for axis in range(padded.ndim):
        rows = ua.moveaxis(padded, axis, -1)
        for place in np.ndindex(rows.shape[:-1]):
            function(rows[place], widths[axis], axis, options)
    return padded
