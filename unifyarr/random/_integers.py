"""Integers from a range."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.arrays.array import Array
from ..errors import BackendFeatureError, DtypeError
from ._arguments import Where, as_host, beside, check_range, places, refuse_inside_trace
from ._base import Base
from ._later import Sampler
from ._native import is_native

if TYPE_CHECKING:
    from ..typing import ArrayLike, DTypeLike, Shape
    from ._arguments import Destination, Size


class Integers(Base):
    """Integers from a range."""

    __slots__ = ()

    def integers(
        self,
        low: ArrayLike,
        high: ArrayLike | None = None,
        size: Size = None,
        *,
        dtype: DTypeLike | None = None,
        endpoint: bool = False,
        device: object = None,
        backend: str | None = None,
        out: Array | None = None,
    ) -> Array:
        """Draw integers from a range, all with the same probability.

        The dtype is int64 by default, any other one of integers, or bool. Another dtype draws other numbers: a narrow
        one takes fewer bits of the stream.

        Parameters
        ----------
        low
            The least integer; without ``high`` that is the end, and the least one is 0.
        high
            The end of the range, which itself isn't drawn.
        endpoint
            Whether ``high`` is drawn too.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).integers(10, size=5)
        array([1, 0, 9, 2, 3])
        >>> ua.random.Generator(0).integers([0, 10, 100], 200)
        array([ 27,  12, 193])
        >>> ua.random.Generator(0).integers(1, 6, size=4, endpoint=True, dtype="uint8")
        array([4, 2, 5, 1], dtype=uint8)

        Source: ``numpy.random.Generator.integers``.
        """
        where = Where(size, dtype, device, backend, out)
        if self._native is not None:
            with self._lock:
                return self._native.draw("integers", where, int, "iub", _static(low, high, endpoint))
        refuse_inside_trace("integers")
        start, stop = _span(as_host(low), None if high is None else as_host(high))
        found = places("integers", beside(where, low, high), int, "iub", [np.shape(start), np.shape(stop)], ())
        for place in found:
            check_range(start, stop, endpoint, place.dtype)

        def draw(host: np.random.Generator, place: Destination) -> np.ndarray:
            values = host.integers(start, stop, size=place.shape, dtype=place.dtype.dtype, endpoint=endpoint)
            return np.asarray(values)

        def later(place: Destination) -> Sampler | None:
            # NumPy takes several narrow integers from a word, and begins each call with a new one.
            plain = place.dtype.itemsize >= 4 and not np.ndim(start) and not np.ndim(stop)
            return partial(_drawn, int(start), int(stop), place.dtype.dtype, endpoint) if plain else None

        return self._deliver("integers", where, found, draw, later)


def _drawn(
    start: int, stop: int, dtype: np.dtype[Any], endpoint: bool, host: np.random.Generator, shape: Shape
) -> np.ndarray:
    return np.asarray(host.integers(start, stop, size=shape, dtype=dtype, endpoint=endpoint))


def _span(low: Any, high: Any) -> tuple[Any, Any]:
    for name, value in (("low", low), ("high", high)):
        if value is not None and np.asarray(value).dtype.kind not in "biuO":
            raise DtypeError(f"integers() takes a {name} of integers, not of {np.asarray(value).dtype}: cast it first")
    return (0, low) if high is None else (low, high)


def _static(low: Any, high: Any, endpoint: bool) -> dict[str, Any]:
    # Engines draw from one range that is known beforehand.
    if any(is_native(value) or np.ndim(value) for value in (low, high) if value is not None):
        raise BackendFeatureError("integers() of several ranges isn't there for engine='native': draw it on the host")
    start, stop = _span(low, high)
    end = int(stop) + bool(endpoint)
    if start >= end:
        raise ValueError(f"integers() takes a low below high, not {low} and {high}")
    return {"low": int(start), "high": end}
