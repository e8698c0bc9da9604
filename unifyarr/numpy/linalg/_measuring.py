"""Numbers that belong to matrices: determinants, ranks, condition numbers and norms."""

from __future__ import annotations

import math
from typing import Any

import numpy
from numpy.linalg import LinAlgError

from ... import functions as ua
from ... import linalg as own
from ..._core.arrays.array import Array
from ..._core.values.shapes import as_axis
from ...errors import AxisError
from ...functions.linalg_extension import SlogdetResult
from .._following import as_array, follows
from ._checking import matrices
from ._factoring import svd


@follows(numpy.linalg.det)
def det(a: Any) -> Array:
    """Compute determinants."""
    return own.det(matrices(a, "det", square=True))


@follows(numpy.linalg.slogdet)
def slogdet(a: Any) -> SlogdetResult:
    """Compute signs and logarithms of determinants."""
    return own.slogdet(matrices(a, "slogdet", square=True))


@follows(numpy.linalg.matrix_rank)
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Array:  # noqa: N803
    """Count the singular values above ``tol``, or above ``rtol`` times the greatest."""
    if rtol is not None and tol is not None:
        raise ValueError("tol and rtol say the same: pass one of them")
    x = as_array(A)
    if x.ndim < 2:
        return ua.astype(ua.any(x != 0), "int64")
    values = svd(x, compute_uv=False, hermitian=hermitian)
    if not values.shape[-1]:
        return ua.count_nonzero(values, axis=-1)
    if tol is not None:
        limit = _each(tol, x)
    else:
        rtol = max(x.shape[-2:]) * ua.finfo(values.dtype).eps if rtol is None else _each(rtol, x)
        limit = ua.max(values, axis=-1, keepdims=True) * rtol
    return ua.count_nonzero(values > limit, axis=-1)


def _each(number: Any, x: Array) -> Array:
    # A number for each matrix, beside its singular values.
    number = number if isinstance(number, Array) else ua.asarray(number, backend=x.backend)
    return ua.expand_dims(number, axis=-1)


@follows(numpy.linalg.cond)
def cond(x: Any, p: Any = None) -> Array:
    """Compute condition numbers: the norm of matrices times that of their inverses, infinite for singular ones."""
    x = as_array(x)
    if not x.size:
        raise LinAlgError(f"an empty matrix has no condition number: the shape is {x.shape}")
    if p is None or p in (2, -2):
        values = own.svdvals(matrices(x, "cond"))
        above, below = (values[..., -1], values[..., 0]) if p == -2 else (values[..., 0], values[..., -1])
        singular = below == 0
        found = above / ua.where(singular, 1, below)
    else:
        x = matrices(x, "cond", square=True)
        # The last pivots of singular matrices are zero: no engine inverts those, and some raise.
        singular = own.slogdet(x).sign == 0
        there = ua.where(singular[..., None, None], ua.eye(x.shape[-1], dtype=x.dtype, backend=x.backend), x)
        found = norm(there, p, (-2, -1)) * norm(own.inv(there), p, (-2, -1))
    found = ua.where(singular | ua.isnan(found), math.inf, found)
    return ua.where(ua.any(ua.isnan(x), axis=(-2, -1)), math.nan, found)


@follows(numpy.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    """Compute a norm of vectors or of matrices, which ``axis`` names by one number or two.

    Without ``axis`` a 1-d array is a vector and a 2-d one a matrix; without ``ord`` as well, any array is a vector.
    """
    x = as_array(x)
    if axis is None:
        if ord is None:
            return own.vector_norm(x, keepdims=keepdims)
        axes = tuple(range(x.ndim))
    else:
        axes = tuple(as_axis(each, x.ndim) for each in (axis if isinstance(axis, (tuple, list)) else (axis,)))
    if len(axes) == 1:
        if isinstance(ord, str):
            raise ValueError(f"{ord!r} is a norm of matrices: a vector's are numbers, inf and -inf")
        return vector_norm(x, axis=axes[0], ord=2 if ord is None else ord, keepdims=keepdims)
    if len(axes) != 2:
        raise ValueError(f"a norm is that of vectors or matrices, along one axis or two, not along {len(axes)}")
    if axes[0] == axes[1]:
        raise AxisError(f"axis {axis!r} names an axis twice")
    found = matrix_norm(ua.moveaxis(x, axes, (-2, -1)), ord=ord, keepdims=keepdims)
    return ua.moveaxis(found, (-2, -1), axes) if keepdims else found


@follows(numpy.linalg.matrix_norm)
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """Compute norms of matrices, those of the last two axes."""
    x = as_array(x)
    if 0 in x.shape[-2:] and ord in (1, 2, math.inf, -1 if x.shape[-1] else 1, -math.inf if x.shape[-2] else 1):
        # Zero, as the norm that adds.
        ord = "fro"
    return own.matrix_norm(x, keepdims=keepdims, ord=ord)


@follows(numpy.linalg.vector_norm)
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """Compute norms of vectors: of all elements without ``axis``."""
    x = as_array(x)
    if ord == math.inf and not x.size:
        # Zero, as the norm that adds.
        ord = 1
    return own.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)
