"""Windows that follow from how many results of a pool are wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .._core.arrays.array import Array
from .._core.arrays.convert import as_floating, as_single, check_real, indices_from_host, table_beside
from .._core.calling.invoke import check_result, serves_derivative
from .._core.engines import dtypes
from .._core.values.arguments import as_integer, for_axes, shown
from .._core.values.shapes import check_memory
from ..errors import ShapeError
from ..typing import Shape
from ._sampling import Sampling, offered, places_of, resampled, windows_of
from .elementwise import divide
from .indexing import take
from .manipulation import reshape
from .searching import where
from .statistical import max, mean, sum
from .windows import Windows

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


def _pool(
    x: Array, lengths: Shape, reduce: Reduce, by_kernel: Callable[[Array, int, int], Array | None] | None = None
) -> Array:
    # One axis after another: a window is the product of its sides.
    for axis, count in enumerate(lengths, x.ndim - len(lengths)):
        length = x.shape[axis]
        if count == length:
            continue
        found = None if by_kernel is None else by_kernel(x, axis, count)
        if found is not None:
            x = found
            continue
        if length % count == 0:
            windows = reshape(x, (*x.shape[:axis], count, length // count, *x.shape[axis + 1 :]))
            x = reduce(windows, axis + 1, None)
            continue
        places, sizes = places_of(length, count)
        x = reduce(take(x, indices_from_host(places, x), axis=axis), axis, sizes)
    return x


def _greatest(windows: Array, axis: int, sizes: np.ndarray | None) -> Array:
    return max(windows, axis=axis)


def _greatest_by_kernel(x: Array, axis: int, count: int) -> Array | None:
    """Return the greatest element of windows along an axis for a derivative, ``None`` if none is taken."""
    if not serves_derivative("window_max", x):
        return None
    length = x.shape[axis]
    starts, sizes = windows_of(length, count)
    size, steps = int(sizes.max()), np.diff(starts)
    step = int(steps[0]) if count > 1 else 1
    # Those behind the axis have one element.
    behind = (1,) * (x.ndim - axis - 1)
    if sizes.min() != size or (steps != step).any():
        step = size
        apart = Sampling("windows", length, size * count, (length, count))
        x = resampled(x, [apart, *[None] * len(behind)])
    windows = Windows((size, *behind), (step, *behind), (1, *behind), ((0, 0),) * (len(behind) + 1))
    return windows.greatest(x, (count, *x.shape[axis + 1 :]))


def _mean(windows: Array, axis: int, sizes: np.ndarray | None) -> Array:
    if sizes is None or sizes.min() == sizes.max():
        return mean(windows, axis=axis)
    behind = (1,) * (windows.ndim - axis - 2)
    inside = np.arange(windows.shape[axis])[:, None] < sizes
    inside = inside.reshape(*inside.shape, *behind)
    windows = where(table_beside(inside, windows), windows, 0)
    number = sizes.reshape(-1, *behind).astype(dtypes.real_of(windows.dtype).dtype)
    return divide(sum(windows, axis=axis), table_beside(number, windows))


def max_of(name: str, axes: int, x: Array, output_size: Sizes, out: Array | None) -> Array:
    """Return the greatest element of each window."""
    check_real(x, name)
    lengths = _lengths(name, axes, x, output_size)
    if out is not None:
        check_result(name, out, (*x.shape[: x.ndim - axes], *lengths), x.dtype)
    result = _pool(x, lengths, _greatest, _greatest_by_kernel)
    return x.copy() if result is x else result


def mean_of(name: str, axes: int, x: Array, output_size: Sizes, out: Array | None) -> Array:
    """Return the mean of each window."""
    lengths = _lengths(name, axes, x, output_size)
    floating = as_floating(x)
    if out is not None:
        check_result(name, out, (*x.shape[: x.ndim - axes], *lengths), floating.dtype)
    # float16 and bfloat16 have too few bits for a sum of many elements.
    single, spatial = as_single(floating), x.shape[x.ndim - axes :]
    result = None
    if any(length % count for length, count in zip(spatial, lengths, strict=True)):
        each = zip(spatial, lengths, strict=True)
        result = offered(
            single, [None if count == length else Sampling("mean", length, count) for length, count in each]
        )
    if result is None:
        result = _pool(single, lengths, _mean)
    return result.astype(floating.dtype, copy=result is x)
