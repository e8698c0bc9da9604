"""Kernels that are elementwise: a task for each chunk."""

from __future__ import annotations

from typing import Any

import dask.array as da

from ..kernels import declines
from ._chunks import Chunk, Kernel, dtype_of, kernel_of, number_of
from ._dividing import aligned, applied


def elementwise(file: str, name: str) -> Kernel:
    """Return the kernel that computes each element of its result from those of its operands in the same place."""
    refuses = getattr(kernel_of(file, name), "declines", None)

    def kernel(*arrays: da.Array, **static: Any) -> Any:
        if refuses is not None and refuses(*arrays, **static):
            return NotImplemented
        chunk = Chunk(file, name, **static)
        dtype = dtype_of(chunk, *arrays)
        # A number is a part of each task and no task of its own, unless there is nothing else.
        numbers = [None if x.ndim else number_of(x) for x in arrays]
        if len(arrays) > 1:
            arrays = tuple(aligned(arrays))
        if all(each is not None for each in numbers):
            return da.core.elemwise(chunk, *arrays, dtype=dtype)
        return applied(chunk, dtype, [x if each is None else each for x, each in zip(arrays, numbers, strict=True)])

    kernel.__name__ = kernel.__qualname__ = name
    return kernel if refuses is None else declines(refuses)(kernel)
