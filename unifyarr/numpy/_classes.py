"""Classes: that of arrays, and iterators."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.engines import dtypes
from .._core.values.arguments import as_integers
from .._core.values.called import make_boundaries
from .._core.values.shapes import as_shape
from .._core.writing.flat import FlatIterator
from ._creation import frombuffer
from ._following import as_array, together
from ._strides import strided


@make_boundaries
class ndenumerate:
    """An iterator over the indices and the elements of an array.

    >>> import unifyarr.numpy as np
    >>> [(place, int(x)) for place, x in np.ndenumerate([[1, 2]])]
    [((0, 0), 1), ((0, 1), 2)]

    Source: NumPy's ``numpy.ndenumerate``.
    """

    def __init__(self, arr: Any) -> None:
        self._array = as_array(arr)
        self._places = iter(np.ndindex(self._array.shape))

    def __iter__(self) -> ndenumerate:
        return self

    def __next__(self) -> tuple[tuple[int, ...], Array]:
        place = next(self._places)
        return place, self._array[place]


class BroadcastElements:
    """An iterator over the elements of an array that is broadcast."""

    def __init__(self, base: Array, shape: tuple[int, ...]) -> None:
        self.base = base
        self._spread = ua.broadcast_to(base, shape)
        self._places = iter(np.ndindex(shape))

    def __iter__(self) -> BroadcastElements:
        return self

    def __next__(self) -> Array:
        return self._spread[next(self._places)]


@make_boundaries
class broadcast:
    """The broadcast of arrays: its shape, and an iterator over their elements together.

    >>> import unifyarr.numpy as np
    >>> np.broadcast(np.zeros((2, 1)), np.zeros(3)).shape
    (2, 3)

    Source: NumPy's ``numpy.broadcast``.
    """

    def __init__(self, *arrays: Any, **options: Any) -> None:
        if options:
            raise ValueError(f"broadcast() takes arrays by position alone, not {', '.join(options)}")
        given: list[Any] = []
        for each in arrays:
            given.extend(each._arrays if isinstance(each, broadcast) else (each,))
        if len(given) > 64:
            raise ValueError(f"broadcast() takes 64 arrays at most, not {len(given)}")
        self._arrays: list[Array] = together(*given)
        self.shape: tuple[int, ...] = ua.broadcast_shapes(*(x.shape for x in self._arrays))
        self.nd = self.ndim = len(self.shape)
        self.size = int(np.prod(self.shape, dtype=object))
        self.numiter = len(self._arrays)
        self.reset()

    @property
    def iters(self) -> tuple[BroadcastElements, ...]:
        """The iterators over the elements of each array, as broadcast; their ``base`` is the array."""
        return tuple(BroadcastElements(x, self.shape) for x in self._arrays)

    def reset(self) -> None:
        """Begin again."""
        self.index = 0
        self._elements = self.iters

    def __iter__(self) -> broadcast:
        return self

    def __next__(self) -> tuple[Array, ...]:
        if self.index >= self.size:
            raise StopIteration
        self.index += 1
        return tuple(map(next, self._elements))


ndarray = Array
flatiter = FlatIterator


def empty_array(
    shape: Any, dtype: Any = float, buffer: Any = None, offset: int = 0, strides: Any = None, order: Any = None
) -> Array:
    """Construct as ``ndarray(...)``: an array whose values are not set, or an array of a buffer's elements.

    Those of another array are seen and written there, those of any other buffer copied.
    """
    lengths, wanted = as_shape(shape), dtypes.as_dtype(dtype)
    steps = None if strides is None else as_integers(strides, "strides")
    if steps is not None and len(steps) != len(lengths):
        raise ValueError(f"strides {steps} are as many as the axes of shape {lengths}")
    if order not in (None, "C", "F"):
        raise ValueError(f"order is 'C' or 'F', not {order!r}")
    if buffer is None:
        return ua.empty(lengths, dtype=wanted)
    flat, start = _elements(buffer, wanted, offset)
    if steps is not None:
        return strided(flat, start, lengths, steps, "the buffer")
    count = math.prod(lengths)
    if start + count > flat.size:
        raise TypeError(f"the buffer is too small for an array of shape {lengths}: it has {flat.size} elements")
    part = flat[start : start + count]
    return ua.reshape(part, lengths[::-1]).T if order == "F" else ua.reshape(part, lengths)


def _elements(buffer: Any, dtype: dtypes.DType, offset: int) -> tuple[Array, int]:
    # All elements of a buffer, and which one is the first.
    start, rest = divmod(offset, dtype.itemsize)
    if not isinstance(buffer, Array):
        count = (memoryview(buffer).nbytes - rest) // dtype.itemsize
        if start < 0 or count < max(start, 1):
            raise TypeError(f"the buffer of {count} elements is too small for an offset of {offset} bytes")
        return frombuffer(buffer, dtype, count, rest), start
    if dtype is not buffer.dtype or rest:
        raise TypeError(f"the buffer holds {buffer.dtype}, and is seen as that, from the begin of an element on")
    return ua.reshape(buffer, (-1,), copy=False), start
