"""Shapes and axes, normalised and checked as NumPy does."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, SupportsIndex

import numpy as np

from ...backends.base.abilities import is_numpys
from ...errors import AxisError, ShapeError, TooLargeError
from ...typing import Shape
from .arguments import MOST_AXES, as_integer, as_integers
from .lengths import PartialShape, broadcast_as_known, equal_as_known, shape_of


def _most_bytes() -> int:
    # The limit for any array: four times the machine's memory, since a system may promise more than it has.
    try:
        return 4 * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 2**47


MOST_BYTES = _most_bytes()


# One more byte than any engine can address.
ADDRESSES = 2**63


def check_memory(shape: Shape, dtype: Any, most: int = MOST_BYTES) -> None:
    """Raise ``MemoryError`` for an array that no memory can hold: some engines end the process over it.

    As in NumPy, lengths of zero don't make the others smaller: engines count the elements along each axis.
    """
    if type(shape) is PartialShape:
        return
    nbytes = math.prod(shape) * dtype.itemsize
    # A length of an engine's own stands for any, in a function that is exported.
    if not isinstance(nbytes, int) or 0 < nbytes < most:
        return
    nbytes = math.prod(length for length in shape if length) * dtype.itemsize
    if nbytes >= ADDRESSES or (nbytes > most and 0 not in shape):
        error = TooLargeError if nbytes >= ADDRESSES else MemoryError
        raise error(f"there is no memory for an array of shape {shape} and dtype {dtype}, {nbytes:,} bytes")


def as_shape(shape: object) -> Shape:
    """Return a shape, given as an integer or a sequence (list, array) of integers, as a tuple."""
    lengths = as_integers(shape, "a shape")
    if any(length < 0 for length in lengths):
        raise ShapeError(f"a shape has no negative lengths, but {lengths} has")
    return lengths


def size(shape: Shape) -> int:
    """Return the number of elements."""
    return math.prod(shape)


def as_offset(offset: SupportsIndex, shape: Shape) -> int:
    """Return which diagonal of matrices is meant; one outside of them as one of those next to their corners."""
    rows, columns = shape[-2:]
    return max(-rows, min(columns, as_integer(offset, "the offset of a diagonal")))


def broadcast(*shapes: Shape, name: str = "") -> Shape:
    """Return the shape that shapes broadcast to together."""
    first = shapes[0] if shapes else ()
    if PartialShape in map(type, shapes):
        return broadcast_as_known(shapes)
    if shapes.count(first) == len(shapes):
        return first
    result = [1] * max(map(len, shapes))
    for shape in shapes:
        for axis, length in enumerate(reversed(shape), 1):
            if result[-axis] == 1:
                result[-axis] = length
            elif length not in (1, result[-axis]):
                given = " and ".join(map(str, shapes))
                raise ShapeError(f"{name + '(): ' if name else ''}shapes {given} don't broadcast together")
    return tuple(result)


def as_axis(axis: SupportsIndex, ndim: int) -> int:
    """Return an axis as a non-negative ``int``."""
    normalized = axis if type(axis) is int else as_integer(axis, "an axis")
    if not -ndim <= normalized < ndim:
        raise AxisError(f"axis {normalized} is out of bounds for an array of {ndim} dimensions")
    return normalized % ndim


def as_axes(axis: SupportsIndex | Iterable[SupportsIndex] | None, ndim: int) -> tuple[int, ...]:
    """Return one or several axes as a tuple of distinct non-negative ``int``; ``None`` means all."""
    if axis is None:
        return tuple(range(ndim))
    if type(axis) is int and -ndim <= axis < ndim:
        return (axis % ndim,)
    # More axes than arrays have name one twice.
    several = islice(axis, MOST_AXES + 1) if isinstance(axis, Iterable) else (axis,)
    axes = tuple([as_axis(each, ndim) for each in several])
    if len(set(axes)) < len(axes):
        raise AxisError(f"axis {axis!r} names an axis twice")
    return axes


def reduced(shape: Shape, axes: tuple[int, ...], keepdims: bool) -> Shape:
    """Return the shape after a reduction over ``axes``."""
    lengths = enumerate(tuple.__iter__(shape))
    if keepdims:
        left = [1 if axis in axes else length for axis, length in lengths]
    else:
        left = [length for axis, length in lengths if axis not in axes]
    return shape_of(left)


def spliced(shape: Shape, start: int, stop: int, *lengths: int) -> Shape:
    """Return a shape, of which no length need be known, with others in the place of those from ``start`` on."""
    found = list(tuple.__iter__(shape))
    found[start:stop] = lengths
    return shape_of(found)


def check_choice(name: str, shape: Shape, axes: Iterable[int], axis: object) -> None:
    """Raise unless there are elements along axes, of which a function chooses one."""
    if 0 in shape and any(tuple.__getitem__(shape, each) == 0 for each in axes):
        raise ShapeError(f"{name}() of an array of shape {shape} has no elements along axis {axis} to choose from")


def check_stacked(shapes: Sequence[Shape]) -> None:
    """Raise unless shapes are equal, as far as lengths are known."""
    if not all(equal_as_known(shape, shapes[0]) for shape in shapes):
        raise ShapeError(f"stack() joins arrays of one shape, unlike {', '.join(map(str, shapes))}")


def joined(shapes: Sequence[Shape], axis: int) -> Shape:
    """Return the shape of arrays in a row along an axis, of which no length may be known."""
    lengths = [tuple.__getitem__(shape, axis) for shape in shapes]
    shape: list[Any] = list(tuple.__iter__(shapes[0]))
    shape[axis] = None if None in lengths else sum(lengths)
    return shape_of(shape)


def resolve_unknown(shape: object, count: int) -> Shape:
    """Return the shape for a reshape of ``count`` elements, with the one length that may be -1 worked out."""
    lengths = as_integers(shape, "a shape")
    if math.prod(lengths) == count and min(lengths, default=0) >= 0:
        return lengths
    unknown = [axis for axis, length in enumerate(lengths) if length == -1]
    known = math.prod(length for length in lengths if length != -1)
    if len(unknown) > 1 or any(length < -1 for length in lengths):
        raise ShapeError(f"a new shape may hold -1 once and no other negative length, unlike {lengths}")
    if unknown and known and count % known == 0:
        lengths = (*lengths[: unknown[0]], count // known, *lengths[unknown[0] + 1 :])
    elif unknown or known != count:
        raise ShapeError(f"an array of {count} elements can't be reshaped to {lengths}")
    return lengths


def c_strides(shape: Shape, itemsize: int) -> tuple[int, ...]:
    """Return the strides in bytes of a C-contiguous array."""
    strides = []
    step = itemsize
    for length in reversed(shape):
        strides.append(step)
        step *= length or 1
    return tuple(strides[::-1])


def shadow(shape: Shape, strides: Sequence[int], dtype: np.dtype[np.generic]) -> np.ndarray:
    """Return an array of that geometry without memory, whose data is never read: NumPy answers questions about it."""
    if not is_numpys(dtype):
        # NumPy can't name other packages' dtypes there.
        dtype = np.dtype(f"u{dtype.itemsize}")
    return np.lib.stride_tricks.as_strided(np.empty(1, dtype), shape, strides)
