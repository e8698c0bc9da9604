"""An operation with kernels on all backends, for tests of operations that users declare."""

from __future__ import annotations

from typing import Any

import numpy as np

import unifyarr as ua
from unifyarr import Array

BACKENDS = ("numpy", "torch", "jax", "tensorflow", "dask")


class Axpy:
    """``scale * a * x + y`` with kernels on all backends, and what was called of them."""

    def __init__(self, *, body: bool = True, **tolerance: Any) -> None:
        self.calls: list[str] = []
        # Where the twin has written.
        self.written: list[int] = []

        @ua.op
        def axpy(a: Array, x: Array, y: Array, /, scale: float = 1.0) -> Array:
            """Return a multiple of x, and y."""
            self.calls.append("body")
            return scale * a * x + y if body else ...  # type: ignore[return-value]

        def kernel(a: Any, x: Any, y: Any, *, scale: float) -> Any:
            self.calls.append("kernel")
            return scale * a * x + y

        def twin(a: Any, x: Any, y: Any, *, scale: float) -> Any:
            self.calls.append("twin")
            self.written.append(address(y))
            y += scale * a * x
            return y

        for backend in BACKENDS:
            axpy.kernel(backend)(kernel)
            axpy.inplace(backend, destroy_map={0: (2,)}, **tolerance)(twin)
        self.op = axpy

    def took(self) -> list[str]:
        calls, self.calls[:] = list(self.calls), []
        return calls


def address(x: Any) -> int:
    """Return where a native array that is written in place lies in memory."""
    return int(x.data_ptr() if hasattr(x, "data_ptr") else x.__array_interface__["data"][0])


def array(*values: float) -> Array:
    return ua.asarray(np.array(values, np.float64), copy=True)
