"""Windows that follow from how many results of a pool are wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .._core.arrays.array import Array
from .._core.arrays.convert import as_floating, as_single, check_real, from_host, indices_from_host
from .._core.calling.invoke import check_result
from .._core.engines import dtypes
from .._core.values.arguments import as_integer, for_axes, shown
from .._core.values.shapes import check_memory
from ..errors import ShapeError
from ..typing import Shape
from .elementwise import divide
from .indexing import take
from .manipulation import reshape
from .searching import where
from .statistical import max, mean, sum

# The lengths of a result's last axes; None keeps one.
Sizes = int | None | Sequence[int | None]
# Reduces the axis along which the elements of a window lie; how many each window has, unless all are that long.
Reduce = Callable[[Array, int, np.ndarray | None], Array]


def _lengths(name: str, axes: int, x: Array, output_size: Sizes) -> Shape:
    if x.ndim < axes or 0 in x.shape[x.ndim - axes :]:
        raise ShapeError(f"{name}() takes an array with elements along its last {axes} axes, not one of {x.shape}")
    found = [None if each is None else as_integer(each, "output_size") for each in for_axes(output_size, axes)]
    if len(found) != axes or any(each is not None and each < 1 for each in found):
        raise ShapeError(
            f"output_size is an integer of at least 1 or None, or {axes} of them, not {shown(output_size)}"
        )
    leading, spatial = x.shape[: x.ndim - axes], x.shape[x.ndim - axes :]
    lengths = tuple(old if new is None else new for old, new in zip(spatial, found, strict=True))
    check_memory((*leading, *lengths), x.dtype)
    return lengths


def _places(length: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of the elements of all windows, first elements first, and how many elements each window has.

    Shorter windows repeat their last element.
    """
    number = np.arange(count)
    starts, ends = number * length // count, -(-(number + 1) * length // count)
    sizes = ends - starts
    return np.minimum(starts + np.arange(np.max(sizes))[:, None], ends - 1), sizes


def _pool(x: Array, lengths: Shape, reduce: Reduce) -> Array:
    # One axis after another: a window is the product of its sides.
    for axis, count in enumerate(lengths, x.ndim - len(lengths)):
        length = x.shape[axis]
        if count == length:
            continue
        if length % count == 0:
            windows = reshape(x, (*x.shape[:axis], count, length // count, *x.shape[axis + 1 :]))
            x = reduce(windows, axis + 1, None)
            continue
        places, sizes = _places(length, count)
        x = reduce(take(x, indices_from_host(places, x), axis=axis), axis, sizes)
    return x


def _greatest(windows: Array, axis: int, sizes: np.ndarray | None) -> Array:
    return max(windows, axis=axis)


def _mean(windows: Array, axis: int, sizes: np.ndarray | None) -> Array:
    if sizes is None or sizes.min() == sizes.max():
        return mean(windows, axis=axis)
    behind = (1,) * (windows.ndim - axis - 2)
    inside = np.arange(windows.shape[axis])[:, None] < sizes
    inside = inside.reshape(*inside.shape, *behind)
    windows = where(from_host(inside, None, windows.device, windows._backend), windows, 0)
    number = sizes.reshape(-1, *behind).astype(dtypes.real_of(windows.dtype).dtype)
    return divide(sum(windows, axis=axis), from_host(number, None, windows.device, windows._backend))


def max_of(name: str, axes: int, x: Array, output_size: Sizes, out: Array | None) -> Array:
    """Return the greatest element of each window."""
    check_real(x, name)
    lengths = _lengths(name, axes, x, output_size)
    if out is not None:
        check_result(name, out, (*x.shape[: x.ndim - axes], *lengths), x.dtype)
    result = _pool(x, lengths, _greatest)
    return x.copy() if result is x else result


def mean_of(name: str, axes: int, x: Array, output_size: Sizes, out: Array | None) -> Array:
    """Return the mean of each window."""
    lengths = _lengths(name, axes, x, output_size)
    floating = as_floating(x)
    if out is not None:
        check_result(name, out, (*x.shape[: x.ndim - axes], *lengths), floating.dtype)
    # float16 and bfloat16 have too few bits for a sum of many elements.
    result = _pool(as_single(floating), lengths, _mean)
    return result.astype(floating.dtype, copy=result is x)
