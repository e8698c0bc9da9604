"""Products of matrices and vectors, and diagonals."""

from __future__ import annotations

from typing import Any

import numpy

from ... import linalg as own
from ..._core.arrays.array import Array
from .._following import as_array, deliver, follows, together
from ._checking import matrices


@follows(numpy.linalg.matrix_power)
def matrix_power(a: Any, n: int) -> Array:
    """Raise square matrices to an integer power."""
    a = matrices(a, "matrix_power", square=True, half=n >= 0)
    if n < 2**63:
        return own.matrix_power(a, n)
    # More than the main function counts to.
    root = matrix_power(a, n // 2)
    square = own.matmul(root, root)
    return own.matmul(square, a) if n % 2 else square


@follows(numpy.linalg.multi_dot)
def multi_dot(arrays: Any, *, out: Any = None) -> Array:
    """Multiply several matrices in the order that takes the fewest multiplications.

    The first and the last may be vectors: a row and a column.
    """
    return deliver(own.multi_dot(together(*arrays)), out)


@follows(numpy.linalg.cross)
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Array:
    """Compute cross products of vectors of three elements."""
    x1, x2 = together(x1, x2)
    return own.cross(x1, x2, axis=axis)


@follows(numpy.linalg.outer)
def outer(x1: Any, x2: Any, /) -> Array:
    """Compute the outer product of two vectors."""
    return own.outer(x1, x2)


@follows(numpy.linalg.tensordot)
def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Array:
    """Sum products over axes of two arrays."""
    return own.tensordot(x1, x2, axes=axes)


@follows(numpy.linalg.matmul)
def matmul(x1: Any, x2: Any, /) -> Array:
    """Multiply matrices."""
    return own.matmul(x1, x2)


@follows(numpy.linalg.vecdot)
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Array:
    """Compute dot products of vectors along an axis."""
    return own.vecdot(x1, x2, axis=axis)


@follows(numpy.linalg.matrix_transpose)
def matrix_transpose(x: Any, /) -> Array:
    """Return a view with the last two axes swapped."""
    return own.matrix_transpose(as_array(x))


@follows(numpy.linalg.diagonal)
def diagonal(x: Any, /, *, offset: int = 0) -> Array:
    """Return the diagonals of matrices, as a read-only view."""
    return own.diagonal(as_array(x), offset=offset)


@follows(numpy.linalg.trace)
def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """Sum the diagonals of matrices."""
    return own.trace(as_array(x), offset=offset, dtype=dtype)
