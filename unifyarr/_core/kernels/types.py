"""What kernels give: the shape and dtype of each result, by the types of the arrays and the static arguments.

Most bodies know what their kernel gives and pass it on, ``invoke(..., result=(shape, dtype))``. The rules in the
records are for the other kernels. A trace goes by both and runs no kernel; ``debug()`` and mode ``"debug"`` compare
them with what the kernels give. A kernel without either is asked for its types by the engine (``Backend.of_types``), or
run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ...typing import Shape
from ..values.records import Record


class Typed(Protocol):
    """An array, a native or a type: what has a shape and a dtype of NumPy's."""

    @property
    def shape(self) -> Shape: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...


class ArrayType(Record):
    """The shape and dtype of an array, known before it's computed."""

    shape: Shape
    dtype: Any


# One result, or several.
Types = ArrayType | tuple[ArrayType, ...]
# ``None`` where values decide.
Rule = Callable[..., Types | None]
INT64 = np.dtype(np.int64)


def real_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of the parts of complex numbers, that of others itself."""
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


def complex_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of complex numbers with such parts."""
    return np.result_type(dtype, np.complex64)


def same(x: Typed, *others: Typed, **static: Any) -> ArrayType:
    """Return the type of the first array."""
    return ArrayType(x.shape, x.dtype)


def twice(x: Typed) -> Types:
    """Return the type of the array for each of two results."""
    return same(x), same(x)


def places(x: Typed, **static: object) -> ArrayType:
    """Return the type of places, one for each element."""
    return ArrayType(x.shape, INT64)
