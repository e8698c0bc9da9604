"""Kernels that are elementwise: a task for each chunk."""

from __future__ import annotations

from typing import Any

import dask.array as da

from ._chunks import Chunk, Kernel, as_numpy_has_it, dtype_of, filled, number_of
from ._dividing import aligned, applied


def elementwise(file: str, name: str) -> Kernel:
    """Return the kernel that computes each element of its result from those of its operands in the same place."""

    def kernel(*arrays: da.Array, **static: Any) -> Any:
        chunk = Chunk(file, name, **static)
        dtype = dtype_of(chunk, *arrays)
        # A number is part of each task and has no task of its own. A result of numbers alone is a number.
        numbers = [number_of(x) if x.size == 1 else None for x in arrays]
        if all(each is not None for each in numbers):
            found = chunk(*(each.reshape(x.shape) for each, x in zip(numbers, arrays, strict=True)))  # type: ignore[union-attr]
            return filled(found.reshape(()), ((1,),) * found.ndim)
        numbers = [None if x.ndim else each for each, x in zip(numbers, arrays, strict=True)]
        if len(arrays) > 1:
            arrays = tuple(aligned(arrays))
        return applied(chunk, dtype, [x if each is None else each for x, each in zip(arrays, numbers, strict=True)])

    return as_numpy_has_it(file, name, kernel)
