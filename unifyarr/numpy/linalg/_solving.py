"""Systems of linear equations, inverses and least squares."""

from __future__ import annotations

from typing import Any

import numpy
from numpy.linalg import LinAlgError

from ... import functions as ua
from ... import linalg as own
from ..._core.arrays.array import Array
from ..._core.arrays.numbers import as_real
from .._following import NO_VALUE, as_array, follows, together
from ._checking import matrices
from ._factoring import svd


@follows(numpy.linalg.solve)
def solve(a: Any, b: Any) -> Array:
    """Solve systems of linear equations: a 1-d ``b`` is one vector for all."""
    return own.solve(a, b)


@follows(numpy.linalg.tensorsolve)
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Array:
    """Solve ``tensordot(a, x, x.ndim) == b`` for ``x``; ``axes`` of ``a`` are moved to its end before."""
    return own.tensorsolve(a, b, axes=axes)


@follows(numpy.linalg.tensorinv)
def tensorinv(a: Any, ind: int = 2) -> Array:
    """Invert a tensor: its first ``ind`` axes belong to the result of ``tensordot(a, x, ind)``."""
    return own.tensorinv(a, ind=ind)


@follows(numpy.linalg.inv)
def inv(a: Any) -> Array:
    """Invert matrices."""
    return own.inv(matrices(a, "inv", square=True))


@follows(numpy.linalg.pinv)
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = NO_VALUE) -> Array:
    """Compute the pseudo-inverses of matrices: singular values up to ``rcond`` times the greatest count as zero."""
    a = as_array(a)
    if rcond is None:
        rcond = 1e-15 if rtol is NO_VALUE else rtol
    elif rtol is not NO_VALUE:
        raise ValueError("rcond and rtol mean the same: pass one of them")
    if not hermitian or not a.size:
        return own.pinv(a, rtol=rcond)
    u, s, vh = svd(a, full_matrices=False, hermitian=True)
    if rcond is None:
        rcond = max(a.shape[-2:]) * ua.finfo(s.dtype).eps
    cutoff = ua.expand_dims(rcond if isinstance(rcond, Array) else ua.asarray(rcond, backend=a.backend), axis=-1)
    large = s > ua.astype(cutoff, s.dtype) * ua.max(s, axis=-1, keepdims=True)
    inverse = ua.where(large, 1 / ua.where(large, s, 1), 0)
    return own.matmul(ua.conj(vh.mT), inverse[..., None] * ua.conj(u.mT))


@follows(numpy.linalg.lstsq)
def lstsq(a: Any, b: Any, rcond: Any = None) -> tuple[Array, Array, Array, Array]:
    """Solve by the least squares: the solution, the sums of squared residuals, the rank and the singular values."""
    a, b = together(a, b)
    if a.ndim != 2 or b.ndim not in (1, 2) or a.shape[0] != b.shape[0]:
        raise LinAlgError(f"lstsq() takes shapes (M, N) and (M,) or (M, K), not {a.shape} and {b.shape}")
    solution, residuals, rank, values = own.lstsq(a, b, rcond=None if rcond is None else as_real(rcond, "rcond"))
    return solution, residuals, ua.astype(rank, "int32"), values
