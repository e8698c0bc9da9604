"""Classes: that of arrays, and iterators."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.engines import dtypes
from .._core.values.shapes import as_shape
from ._creation import frombuffer
from ._following import as_array, together

__all__ = [
    "broadcast",
    "ndarray",
    "ndenumerate",
]


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


class Elements:
    """An iterator over the elements of an array that is broadcast."""

    def __init__(self, base: Array, shape: tuple[int, ...]) -> None:
        self.base = base
        self._spread = ua.broadcast_to(base, shape)
        self._places = iter(np.ndindex(shape))

    def __iter__(self) -> Elements:
        return self

    def __next__(self) -> Array:
        return self._spread[next(self._places)]


class broadcast:
    """What arrays broadcast to: its shape, and an iterator over their elements together.

    >>> import unifyarr.numpy as np
    >>> np.broadcast(np.zeros((2, 1)), np.zeros(3)).shape
    (2, 3)

    Source: NumPy's ``numpy.broadcast``.
    """

    def __init__(self, *arrays: Any, **options: Any) -> None:
        if options:
            raise ValueError(f"broadcast() takes arrays by position, and nothing by name: {', '.join(options)}")
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
    def iters(self) -> tuple[Elements, ...]:
        """The iterators over the elements of each array, as broadcast; their ``base`` is the array."""
        return tuple(Elements(x, self.shape) for x in self._arrays)

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


class _OfArrays(type):
    # Asks of the class are answered by that of arrays.

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Array)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return subclass is cls or issubclass(subclass, Array)

    def __getattr__(cls, name: str) -> Any:
        return getattr(Array, name)

    def __eq__(cls, other: object) -> bool:
        # A view of an immutable engine's array is of a class of its own.
        return cls is other or (isinstance(other, type) and issubclass(other, Array))

    def __hash__(cls) -> int:
        return hash(Array)


def _seen(buffer: Array, shape: tuple[int, ...], dtype: dtypes.DType, offset: int, order: Any) -> Array:
    # A view of elements of another array, which are written through it.
    start, rest = divmod(offset, dtype.itemsize)
    if dtype is not buffer.dtype or rest:
        raise TypeError(f"the buffer holds {buffer.dtype}, and is seen as that, from the begin of an element on")
    count = int(np.prod(shape, dtype=object))
    if start + count > buffer.size:
        raise TypeError(f"the buffer is too small for an array of shape {shape}")
    part = ua.reshape(buffer, (-1,), copy=False)[start : start + count]
    return ua.reshape(part, shape[::-1]).T if order == "F" else ua.reshape(part, shape)


class ndarray(metaclass=_OfArrays):
    """The class of arrays: for ``isinstance`` and annotations, and to make one of a shape.

    >>> import unifyarr.numpy as np
    >>> isinstance(np.zeros(2), np.ndarray), np.ndarray((2, 3), np.float32).shape
    (True, (2, 3))

    Source: NumPy's ``numpy.ndarray``.
    """

    def __new__(  # type: ignore[misc]
        cls, shape: Any, dtype: Any = float, buffer: Any = None, offset: int = 0, strides: Any = None, order: Any = None
    ) -> Array:
        """Return an array of a shape whose values are not set, or which holds a copy of those in a buffer."""
        if strides is not None:
            raise TypeError("strides= is a fact of NumPy's memory: index, or use lib.stride_tricks.as_strided")
        lengths = as_shape(shape)
        if buffer is None:
            return ua.empty(lengths, dtype=dtype)
        if order not in (None, "C", "F"):
            raise ValueError(f"order is 'C' or 'F', not {order!r}")
        if isinstance(buffer, Array):
            return _seen(buffer, lengths, dtypes.as_dtype(dtype), offset, order)
        try:
            flat = frombuffer(buffer, dtype, int(np.prod(lengths, dtype=object)), offset)
        except ValueError as error:
            raise TypeError(f"the buffer is too small for an array of shape {lengths}: {error}") from None
        return ua.reshape(flat, lengths[::-1]).T if order == "F" else ua.reshape(flat, lengths)

    def __class_getitem__(cls, item: Any) -> Any:
        return np.ndarray[item]
