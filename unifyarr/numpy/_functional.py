"""Functions of functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.arrays.leaving import knows_values
from .._core.engines import dtypes
from .._core.engines.current import outside
from .._core.values.shapes import as_axis
from ..errors import ShapeError
from ._following import as_array, follows, together
from ._writing import cast_to


@follows(np.apply_along_axis)
def apply_along_axis(func1d: Callable[..., Any], axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Array:
    """Return the results of a function for each vector along an axis.

    >>> import unifyarr.numpy as np
    >>> np.apply_along_axis(lambda v: v[-1] - v[0], 0, [[1, 2], [4, 9]])
    array([3, 7])
    """
    x, func1d = as_array(arr), outside(func1d)
    axis = as_axis(axis, x.ndim)
    rows = ua.moveaxis(x, axis, -1)
    lead = rows.shape[:-1]
    if 0 in lead:
        raise ValueError("apply_along_axis() has no vector to call the function with")
    results = [as_array(func1d(rows[place], *args, **kwargs)) for place in np.ndindex(lead)]
    first = results[0]
    stacked = ua.stack([each.astype(first.dtype, copy=False) for each in results])
    made = ua.reshape(stacked, (*lead, *first.shape))
    # The axes of the function's result take the place of the axis.
    count = len(lead)
    order = (*range(axis), *range(count, count + first.ndim), *range(axis, count))
    return ua.permute_dims(made, order) if order != tuple(range(len(order))) else made


@follows(np.apply_over_axes)
def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Array:
    """Apply a function of an array and an axis to one axis after the other."""
    x, func = as_array(a), outside(func)
    for axis in np.atleast_1d(np.asarray(axes)).tolist():
        place = as_axis(axis, x.ndim)
        found = as_array(func(x, place))
        if found.ndim != x.ndim:
            found = ua.expand_dims(found, place)
            if found.ndim != x.ndim:
                raise ValueError("the function returns an array of as many axes, or of one less")
        x = found
    return x


@follows(np.piecewise)
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Array:
    """Return results of several functions, or numbers, each for the elements for which its condition holds.

    >>> import unifyarr.numpy as np
    >>> x = np.asarray([-1.0, 2.0])
    >>> np.piecewise(x, [x < 0, x >= 0], [lambda v: -v, lambda v: 10 * v])
    array([ 1., 20.])
    """
    values = as_array(x)
    functions = [outside(each) if callable(each) else each for each in funclist]
    if _is_one(condlist, values):
        condlist = [condlist]
    tests = [each.astype(dtypes.bool) for each in together(*condlist, values)[:-1]]
    if len(functions) == len(tests) + 1:
        # The one more is for where none holds.
        none = ua.logical_not(functools.reduce(ua.logical_or, tests)) if tests else ua.ones_like(values, dtype=bool)
        tests.append(none)
    elif len(functions) != len(tests):
        raise ValueError(
            f"{len(tests)} conditions take {len(tests)} or {len(tests) + 1} functions, not {len(functions)}"
        )
    result = ua.zeros_like(values)
    for test, function in zip(tests, functions, strict=True):
        if not callable(function):
            result[test] = cast_to(function, result)
            continue
        if not knows_values(test):
            # The selection isn't known in a trace, nor at once on a lazy engine: the function gets all elements.
            result[...] = ua.where(test, cast_to(function(values, *args, **kw), result), result)
            continue
        chosen = values[test]
        if chosen.size:
            result[test] = cast_to(function(chosen, *args, **kw), result)
    return result


def _is_one(condlist: Any, x: Array) -> bool:
    # Whether there is one condition, which needs no list around it.
    if isinstance(condlist, (bool, np.bool_)):
        return True
    if isinstance(condlist, Array) and condlist.ndim == 0:
        return True
    first = condlist[0] if len(condlist) else condlist
    return not isinstance(first, (list, tuple)) and not getattr(first, "ndim", 0) and x.ndim != 0


def _bits(axis: Any, a: Any, bitorder: str, name: str) -> tuple[Array, Array]:
    # The array with its bits' axis last, and what each place in a byte counts.
    if bitorder not in ("big", "little"):
        raise ValueError(f"bitorder is 'big' or 'little', not {bitorder!r}")
    x = as_array(a)
    x = ua.reshape(x, (-1,)) if axis is None else x
    if x.ndim == 0:
        raise ShapeError(f"{name}() takes an array of at least one dimension along an axis, not a 0-d one")
    order = np.arange(8, dtype=np.uint8)
    weights = np.left_shift(np.uint8(1), order[::-1] if bitorder == "big" else order)
    moved = ua.moveaxis(x, -1 if axis is None else as_axis(axis, x.ndim), -1)
    return moved, ua.asarray(weights, backend=x.backend, device=x.device, copy=True)


@follows(np.packbits)
def packbits(a: Any, /, axis: Any = None, bitorder: str = "big") -> Array:
    """Return bytes of eight bits each, which are elements along an axis; zeros fill the last one.

    >>> import unifyarr.numpy as np
    >>> np.packbits([1, 0, 0, 0, 0, 0, 1, 1])
    array([131], dtype=uint8)
    """
    x, weights = _bits(axis, a, bitorder, "packbits")
    if x.dtype.kind not in "biu":
        raise TypeError(f"bits are integers or bools, not {x.dtype}")
    length = x.shape[-1]
    bits = ua.pad((x != 0).astype(dtypes.uint8), [(0, 0)] * (x.ndim - 1) + [(0, -length % 8)])
    groups = ua.reshape(bits, (*x.shape[:-1], -(-length // 8), 8))
    packed = ua.sum(groups * weights, axis=-1, dtype=dtypes.uint8)
    return packed if axis is None else ua.moveaxis(packed, -1, axis)


@follows(np.unpackbits)
def unpackbits(a: Any, /, axis: Any = None, count: Any = None, bitorder: str = "big") -> Array:
    """Return the bits of bytes, as so many elements along an axis.

    >>> import unifyarr.numpy as np
    >>> np.unpackbits(np.asarray([131], np.uint8))
    array([1, 0, 0, 0, 0, 0, 1, 1], dtype=uint8)
    """
    x, weights = _bits(axis, a, bitorder, "unpackbits")
    if x.dtype is not dtypes.uint8:
        raise TypeError(f"bytes are of uint8, not of {x.dtype}")
    bits = (ua.bitwise_and(x[..., None], weights) != 0).astype(dtypes.uint8)
    unpacked = ua.reshape(bits, (*x.shape[:-1], 8 * x.shape[-1]))
    if count is not None:
        length = unpacked.shape[-1]
        wanted = count if count >= 0 else length + count
        if wanted < 0:
            raise ValueError(f"count {count} leaves out more than the {length} bits that there are")
        unpacked = unpacked[..., :wanted]
        if wanted > length:
            unpacked = ua.pad(unpacked, [(0, 0)] * (x.ndim - 1) + [(0, wanted - length)])
    return unpacked if axis is None else ua.moveaxis(unpacked, -1, axis)
