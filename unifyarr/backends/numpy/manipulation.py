"""Changing shapes and joining arrays on NumPy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter, methodcaller
from typing import Any

from ..kernels import bound_by, known_by, support_native_out
from . import _direct as np
from ._pool import empty_like


def _know_broadcast(x: np.ndarray, *, shape: tuple[int, ...]) -> Callable[[np.ndarray], np.ndarray] | None:
    # The constructor returns the same array in a third of the time. It raises for arrays that aren't contiguous.
    if x.dtype.kind not in "biufc" or not x.size:
        return None
    dtype, strides = x.dtype, np.broadcast_to(np.empty(x.shape, x.dtype), shape).strides

    def known(x: np.ndarray) -> np.ndarray:
        if not x.flags.c_contiguous:
            return np.broadcast_to(x, shape)
        made = np.ndarray(shape, dtype, x, 0, strides)
        made.flags.writeable = False
        return made

    return known


@known_by(_know_broadcast)
def broadcast_to(x: np.ndarray, /, *, shape: tuple[int, ...]) -> np.ndarray:
    if x.ndim or x.dtype.kind not in "biufc":
        return np.broadcast_to(x, shape)
    # The same by the constructor, in a tenth of the time.
    made = np.ndarray(shape, x.dtype, x, 0, (0,) * len(shape))
    made.flags.writeable = False
    return made


@bound_by(lambda *, axes: attrgetter("T") if axes == (1, 0) else methodcaller("transpose", axes))
def permute_dims(x: np.ndarray, /, *, axes: tuple[int, ...]) -> np.ndarray:
    return x.transpose(axes)


@bound_by(lambda *, shape: methodcaller("reshape", shape))
def reshape(x: np.ndarray, /, *, shape: tuple[int, ...]) -> np.ndarray:
    """Return ``x`` in another shape, in C order: a view where one is possible, a copy elsewhere."""
    return x.reshape(shape)


def real(x: np.ndarray, /) -> np.ndarray:
    """Return the real part of a complex array: a view where the engine has it."""
    return x.real


def imag(x: np.ndarray, /) -> np.ndarray:
    """Return the imaginary part of a complex array: a view where the engine has it."""
    return x.imag


def set_real(x: np.ndarray, value: np.ndarray, /) -> np.ndarray:
    """Write the real part of a complex array, and return it; immutable engines return a new array."""
    x.real = value
    return x


def set_imag(x: np.ndarray, value: np.ndarray, /) -> np.ndarray:
    """Write the imaginary part of a complex array, and return it; immutable engines return a new array."""
    x.imag = value
    return x


def bitcast(x: np.ndarray, /, *, dtype: np.dtype[Any]) -> np.ndarray:
    """Return the memory of an array read as another dtype; numbers of another size scale the last axis."""
    return x.view(dtype)


def _concatenating(*, axis: int) -> Callable[..., np.ndarray]:
    concatenate = np.concatenate
    # An argument costs as much as a tenth of the call.
    return (lambda *arrays: concatenate(arrays)) if axis == 0 else (lambda *arrays: concatenate(arrays, axis))


@bound_by(_concatenating)
@support_native_out
def concat(*arrays: np.ndarray, axis: int, out: np.ndarray | None = None) -> np.ndarray:
    return np.concatenate(arrays, axis, out=out)


def _stacking(*, axis: int) -> Callable[..., np.ndarray]:
    # As NumPy's own does it, without its checks.
    key = (*[slice(None)] * axis, None)
    return lambda *arrays: np.concatenate([x[key] for x in arrays], axis)


@bound_by(_stacking)
@support_native_out
def stack(*arrays: np.ndarray, axis: int, out: np.ndarray | None = None) -> np.ndarray:
    """Join arrays of one shape along a new axis, the ``axis``-th of the result."""
    return np.stack(arrays, axis, out=out)


def _repeating(*, count: int | None, axis: int | None) -> Callable[..., np.ndarray]:
    if count is None:
        return partial(repeat, count=count, axis=axis)
    return methodcaller("repeat", count, axis)


@bound_by(_repeating)
def repeat(x: np.ndarray, /, *repeats: np.ndarray, count: int | None, axis: int | None) -> np.ndarray:
    """Repeat each element ``count`` times; where that is ``None``, as often as the int64 array after ``x`` says."""
    return np.repeat(x, repeats[0] if count is None else count, axis)


@support_native_out
def roll(
    x: np.ndarray, /, *, shift: tuple[int, ...], axis: tuple[int, ...], out: np.ndarray | None = None
) -> np.ndarray:
    """Shift cyclically along each axis: the two tuples have one length, an axis may stand there twice."""
    if len(axis) != 1:
        # NumPy fails where there's no axis.
        return np.roll(x, shift, axis) if axis else x.copy()
    result = empty_like(x) if out is None else out
    length = x.shape[axis[0]]
    split = shift[0] % length if length else 0
    before = (slice(None),) * axis[0]
    result[(*before, slice(split, None))] = x[(*before, slice(length - split))]
    result[(*before, slice(split))] = x[(*before, slice(length - split, None))]
    return result
