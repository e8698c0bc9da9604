"""Values of new arrays by boxes: made where they're wanted, the same bits as NumPy makes for the whole array."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.arrays.array import Array, wrap
from .._core.arrays.convert import check_dtype
from .._core.engines.dtypes import DType
from .._core.engines.handle import Handle
from .._core.engines.tracing import running, unrepeatable
from .._core.values.records import Record

Box = tuple[int, ...]
# From how many bytes on an array is made by boxes: below, its values are known at once.
LARGE = 1 << 20


def is_made_later(backend: Handle, count: int, dtype: DType) -> bool:
    """Return whether an array is made by boxes, when it's computed."""
    return not backend.has_values and running() is None and count * dtype.itemsize >= LARGE


def made_later(make: Any, shape: Box, dtype: DType, device: Any, backend: Handle) -> Array:
    """Return an array of what ``make(starts, lengths)`` gives for boxes of it, when they're computed."""
    there = None if device is None else backend.as_device(device)
    check_dtype(backend, dtype, there)
    # Chunks are decided now.
    unrepeatable()
    return wrap(backend.deferred(make, shape, dtype.dtype, device=there), backend)


class CountedValues(Record):
    """``arange``: where it starts, its step, whether both are integers, and the dtype to count in and to cast to."""

    start: Any
    step: Any
    exact: Any
    dtype: Any

    def __call__(self, starts: Box, lengths: Box) -> np.ndarray:
        """Return the values of a box."""
        (first,), (count,) = starts, lengths
        start, step = self.start, self.step
        if isinstance(start, int) and isinstance(step, int):
            begin = start + first * step
            if step:
                values = np.arange(begin, begin + count * step, step, dtype=self.exact)
            else:
                values = np.full(count, begin, dtype=self.exact)
        else:
            # NumPy counts by the distance of the first two values, as they are rounded.
            second = np.float64(start) + step
            values = np.arange(first, first + count) * (second - start) + start
            if first <= 1 < first + count:
                values[1 - first] = second
        return values.astype(self.dtype, copy=False)


class SpacedValues(Record):
    """``linspace``: its ends, the number of values, whether the last one is the end, and the dtype to cast to."""

    start: Any
    stop: Any
    number: int
    endpoint: bool
    dtype: Any

    def __call__(self, starts: Box, lengths: Box) -> np.ndarray:
        """Return the values of a box."""
        (first,), (count,) = starts, lengths
        parts = max(self.number - 1 if self.endpoint else self.number, 1)
        with np.errstate(all="ignore"):
            start, stop = np.asarray(self.start) * 1.0, np.asarray(self.stop) * 1.0
            computed = np.result_type(start, stop, float(self.number))
            distance = np.subtract(stop, start, dtype=computed)
            step = distance / parts
            values = np.arange(first, first + count).astype(computed)
            values = values / parts * distance if step == 0 else values * step
            values += start
            if self.endpoint and self.number > 1 and first + count == self.number and count:
                values[-1] = stop
            return floored(values, self.dtype).astype(self.dtype, copy=False)


def floored(values: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Return values that a cast to a dtype leaves as NumPy's ``linspace`` has them: floors, where it has integers."""
    return np.floor(values) if dtype.kind in "iu" and values.dtype.kind == "f" else values


class FrequencyValues(Record):
    """``fftfreq``: the number of points, their distance, the dtype to cast to, and whether none is negative."""

    number: int
    distance: float
    dtype: Any
    is_real: bool

    def __call__(self, starts: Box, lengths: Box) -> np.ndarray:
        """Return the values of a box."""
        places = np.arange(starts[0], starts[0] + lengths[0])
        if not self.is_real:
            places -= self.number * (places > (self.number - 1) // 2)
        values: np.ndarray = places * (1.0 / (self.number * self.distance))
        return values.astype(self.dtype, copy=False)


class EyeValues(Record):
    """``eye``: which diagonal has the ones, and the dtype."""

    offset: int
    dtype: Any

    def __call__(self, starts: Box, lengths: Box) -> np.ndarray:
        """Return the values of a box."""
        (rows, columns), offset = lengths, self.offset + starts[0] - starts[1]
        values: np.ndarray = np.eye(rows, columns, offset, dtype=self.dtype)
        return values
