"""Helpers of functions of matrices on TensorFlow, for triangular systems and factors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import exchanges, permutation
from ._engine import NUMPY_DTYPES, carries_derivative, is_traced, raw, select, tf
from ._products import matmul


def square_repeatedly(x: Any, counts: Any, /) -> Any:
    """Square each matrix as often as its count says."""

    def step(count: Any, x: Any) -> tuple[Any, Any]:
        return count + 1, select(raw.Greater(x=counts, y=count), matmul(x, x), x)

    most = tf.reduce_max(counts)
    return tf.while_loop(lambda count, _: count < most, step, (tf.zeros_like(most), x))[1]


def solve_triangular(x1: Any, x2: Any, /, *, lower: bool, unit_diagonal: bool) -> Any:
    if unit_diagonal:
        ones = tf.constant(np.ones(x1.shape[:-1], NUMPY_DTYPES[x1.dtype]))
        x1 = raw.MatrixSetDiag(input=x1, diagonal=ones)
    elif not is_traced(x1) and not np.asarray(x1).diagonal(0, -2, -1).all():
        # The engine answers infinities.
        raise np.linalg.LinAlgError("the triangle is singular: a number of its diagonal is zero")
    return raw.MatrixTriangularSolve(matrix=x1, rhs=x2, lower=lower, adjoint=False)


def lu(x: Any, /) -> Any:
    """Return the compact factors, and the order of the rows.

    The engine's have no derivative, and it raises for singular matrices and those that aren't square.
    """
    if x.shape[-1] != x.shape[-2] or is_traced(x) or carries_derivative(x):
        return NotImplemented
    try:
        compact, order = raw.Lu(input=x, output_idx_type=tf.int64)
    except tf.errors.InvalidArgumentError:
        return NotImplemented
    return compact, order


def lu_factor(x: Any, /) -> Any:
    """Return the compact factors, and the rows that each row was exchanged with, where ``lu`` does it."""
    found = lu(x)
    if found is NotImplemented:
        return found
    compact, order = found
    return compact, tf.constant(exchanges(order.numpy(), order.shape[-1]))


def lu_permutation(pivots: Any, /) -> Any:
    """Return the order of as many rows as there are pivots, where they are known."""
    if is_traced(pivots):
        return NotImplemented
    return tf.constant(permutation(pivots.numpy(), pivots.shape[-1]))
