"""Creation functions as compositions, for numbers that stay on their engine, so that derivatives go through them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.arrays.array import Array, wrap
from .._core.arrays.convert import as_array, device_of, from_host
from .._core.arrays.numbers import Number
from .._core.arrays.recipes import make_view
from .._core.arrays.views import Broadcast
from .._core.engines import dtypes
from ._boxes import CountedValues, is_made_later, made_later

if TYPE_CHECKING:
    from .._core.engines.dtypes import DType
    from .._core.engines.handle import Handle
    from ..typing import Shape


def entered(number: Number, backend: Handle, device: object, dtype: DType) -> Array:
    """Return a number as a 0-d array of a backend, on a device if one is given; an array of another one is an error."""
    if not number.stays:
        native = backend.from_numpy(np.asarray(number.value, dtype.dtype), device=device, copy=True)
        return wrap(native, backend)
    x = as_array(number.value, backend).astype(dtype, copy=False)
    return x if device is None else x.to_device(device)


def filled(number: Number, shape: Shape, dtype: DType, device: object, backend: Handle) -> Array:
    """Compute ``full``."""
    return make_view(entered(number, backend, device, dtype), Broadcast(shape)).copy()


def counted(numbers: tuple[Number, Number], count: int, dtype: DType, device: object, backend: Handle) -> Array:
    """Compute ``arange``, given its first value and the step."""
    start, step = beside(numbers, dtype, device, backend)
    if is_rounded(start, dtype):
        second = (start + step).astype(dtype)
        start = start.astype(dtype)
        step = second - start
    return (counting(count, start) * step + start).astype(dtype, copy=False)


def is_rounded(values: Array, dtype: DType) -> bool:
    """Return whether floating-point values become integers."""
    return dtypes.rank(dtype) == 1 and dtypes.rank(values.dtype) == 2


def beside(numbers: tuple[Number, Number], dtype: DType, device: Any, backend: Handle) -> list[Array]:
    """Return numbers as arrays of the dtype to compute in, all on the device of the first array."""
    working = dtypes.promote(dtype, *(each.kind for each in numbers), float)
    device = device_of((each.value for each in numbers), backend) if device is None else device
    return [entered(each, backend, device, working) for each in numbers]


def counting(count: int, like: Array) -> Array:
    """Return the numbers from zero to below a count, beside an array and in its dtype."""
    device = device_of([like], like._backend)
    if is_made_later(like._backend, count, like.dtype):
        return made_later(CountedValues(0, 1, None, like.dtype.dtype), (count,), like.dtype, device, like._backend)
    return from_host(np.arange(count), like.dtype, device, like._backend)
