"""Matrices with values on diagonals, of powers, and coordinates."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import functions as ua
from .._core.arrays.array import Array
from ._creation import check_like, check_order
from ._following import as_array, follows, together


@follows(np.eye)
def eye(
    N: Any,  # noqa: N803
    M: Any = None,  # noqa: N803
    k: Any = 0,
    dtype: Any = float,
    order: Any = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> Array:
    """Return a matrix with ones on a diagonal, the ``k``-th above the main one, and zeros elsewhere."""
    check_order(order)
    check_like(like)
    return ua.eye(N, M, k=k, dtype=dtype, device=device)


@follows(np.identity)
def identity(n: Any, dtype: Any = None, *, like: Any = None) -> Array:
    """Return the identity matrix."""
    check_like(like)
    return ua.eye(n, dtype=dtype)


@follows(np.diag)
def diag(v: Any, k: Any = 0) -> Array:
    """Return a diagonal of a matrix, a read-only view, or a matrix with a vector on its diagonal.

    >>> import unifyarr.numpy as np
    >>> np.diag([1, 2])
    array([[1, 0],
           [0, 2]])
    """
    return ua.diag(v, k=k)


@follows(np.diagflat)
def diagflat(v: Any, k: Any = 0) -> Array:
    """Return a matrix whose diagonal holds all elements of an array."""
    return ua.diagflat(v, k=k)


@follows(np.tri)
def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = float, *, like: Any = None) -> Array:  # noqa: N803
    """Return a matrix with ones on and below a diagonal."""
    check_like(like)
    return ua.tri(N, M, k=k, dtype=dtype)


def _matrix(m: Any) -> Array:
    x = as_array(m)
    # A vector stands for each row of a square.
    return ua.broadcast_to(x, x.shape * 2) if x.ndim == 1 else x


@follows(np.tril)
def tril(m: Any, k: Any = 0) -> Array:
    """Return a copy of matrices with zeros above a diagonal."""
    return ua.tril(_matrix(m), k=operator.index(k))


@follows(np.triu)
def triu(m: Any, k: Any = 0) -> Array:
    """Return a copy of matrices with zeros below a diagonal."""
    return ua.triu(_matrix(m), k=operator.index(k))


@follows(np.vander)
def vander(x: Any, N: Any = None, increasing: bool = False) -> Array:  # noqa: N803
    """Return the Vandermonde matrix of a vector: its powers in columns, the highest first."""
    return ua.vander(x, N, increasing=bool(increasing))


@follows(np.meshgrid)
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Array, ...]:
    """Return the coordinates of a grid: with ``sparse``, arrays that broadcast to it; without ``copy``, views."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing is 'xy' or 'ij', not {indexing!r}")
    axes = list(range(len(xi)))
    if indexing == "xy" and len(xi) > 1:
        axes[:2] = 1, 0
    grids = [
        ua.reshape(x, tuple(-1 if axis == place else 1 for place in range(len(xi))))
        for x, axis in zip(together(*xi), axes, strict=True)
    ]
    if not sparse and grids:
        grids = list(ua.broadcast_arrays(*grids))
    return tuple(x.copy() if copy else x for x in grids)
