"""Linear algebra: NumPy's linalg, on every backend.

>>> import unifyarr.numpy as np
>>> np.linalg.norm(np.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [6.0, 16.0]))
array(5.)
"""

from __future__ import annotations

import math
from typing import Any

import numpy
from numpy.linalg import LinAlgError

from .. import functions as ua
from .. import linalg as own
from .._core.arrays.array import Array
from .._core.arrays.leaving import must_stay, to_host
from .._core.values.shapes import as_axis
from ..errors import AxisError
from ..functions.linalg_extension import EighResult, EigResult, SlogdetResult, SVDResult
from ._following import NO_VALUE, as_array, deliver, follows, together

__all__ = [
    "LinAlgError",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]


def _matrices(given: Any, name: str, *, square: bool = False) -> Array:
    x = as_array(given)
    if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        kind = "square matrices, of shape (..., M, M)" if square else "matrices, of shape (..., M, N)"
        raise LinAlgError(f"{name}() takes {kind}, not an array of shape {x.shape}")
    return x


def _triangle(a: Any, name: str, half: str) -> Array:
    # A Hermitian matrix whose lower triangle is the one that counts.
    a = _matrices(a, name, square=True)
    if half not in ("L", "U", "l", "u"):
        raise ValueError(f"UPLO is 'L' or 'U', not {half!r}")
    return a if half in "Ll" else ua.conj(a.mT)


# -- solvers and inverses ---------------------------------------------------------------------------------------------


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
    return own.inv(_matrices(a, "inv", square=True))


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
    solution, residuals, rank, values = own.lstsq(a, b, rcond=None if rcond is None else float(rcond))
    return solution, residuals, ua.astype(rank, "int32"), values


# -- decompositions ---------------------------------------------------------------------------------------------------


@follows(numpy.linalg.cholesky)
def cholesky(a: Any, /, *, upper: bool = False) -> Array:
    """Factor positive definite matrices into a triangle and its conjugate transpose."""
    return own.cholesky(_matrices(a, "cholesky", square=True), upper=upper)


@follows(numpy.linalg.qr)
def qr(a: Any, mode: str = "reduced") -> Any:
    """Factor matrices into one with orthonormal columns and a triangle.

    ``mode="r"`` returns the triangle alone. LAPACK's own ``(h, tau)`` of ``mode="raw"`` comes from NumPy on the host.
    """
    if mode in ("r", "raw"):
        a = _matrices(a, "qr")
        if mode == "r":
            return own.qr(a, mode="reduced").R
        parts = numpy.linalg.qr(to_host(a, "qr() with mode='raw'"), mode="raw")
        return tuple(ua.asarray(part, backend=a.backend, device=a.device) for part in parts)
    return own.qr(_matrices(a, "qr"), mode=mode)


@follows(numpy.linalg.svd)
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Compute singular value decompositions ``U``, ``S``, ``Vh``; without ``compute_uv`` the singular values alone."""
    a = _matrices(a, "svd", square=hermitian)
    if not compute_uv:
        return -ua.sort(-ua.abs(own.eigvalsh(a))) if hermitian else own.svdvals(a)
    if not hermitian:
        return own.svd(a, full_matrices=bool(full_matrices))
    values, vectors = own.eigh(a)
    signs = ua.astype(ua.where(values < 0, -1, 1), values.dtype)
    order = ua.argsort(ua.abs(values), descending=True)
    columns = ua.broadcast_to(order[..., None, :], vectors.shape)
    vectors = ua.take_along_axis(vectors, columns, axis=-1)
    signs = ua.take_along_axis(signs, order, axis=-1)
    values = ua.take_along_axis(ua.abs(values), order, axis=-1)
    return SVDResult(vectors, values, ua.conj((vectors * signs[..., None, :]).mT))


@follows(numpy.linalg.svdvals)
def svdvals(x: Any, /) -> Array:
    """Compute singular values."""
    return own.svdvals(_matrices(x, "svdvals"))


@follows(numpy.linalg.eig)
def eig(a: Any) -> EigResult:
    """Compute eigenvalues and eigenvectors: real ones where all eigenvalues of real matrices are.

    Inside a trace of the engine, where the values aren't known, they stay complex.
    """
    a = _matrices(a, "eig", square=True)
    values, vectors = own.eig(a)
    if _are_real(a, values):
        return EigResult(ua.real(values).copy(), ua.real(vectors).copy())
    return EigResult(values, vectors)


@follows(numpy.linalg.eigvals)
def eigvals(a: Any) -> Array:
    """Compute eigenvalues: real ones as ``eig`` does."""
    a = _matrices(a, "eigvals", square=True)
    values = own.eigvals(a)
    return ua.real(values).copy() if _are_real(a, values) else values


def _are_real(a: Array, values: Array) -> bool:
    # It depends on values, of which an engine's trace knows nothing.
    if ua.isdtype(a.dtype, "complex floating") or must_stay(values):
        return False
    return bool(ua.all(ua.imag(values) == 0))


@follows(numpy.linalg.eigh)
def eigh(a: Any, UPLO: str = "L") -> EighResult:  # noqa: N803
    """Compute the eigenvalues, ascending, and the eigenvectors of Hermitian matrices, of which one triangle is read."""
    return own.eigh(_triangle(a, "eigh", UPLO))


@follows(numpy.linalg.eigvalsh)
def eigvalsh(a: Any, UPLO: str = "L") -> Array:  # noqa: N803
    """Compute the eigenvalues of Hermitian matrices, of which one triangle is read."""
    return own.eigvalsh(_triangle(a, "eigvalsh", UPLO))


# -- numbers that belong to matrices ----------------------------------------------------------------------------------


@follows(numpy.linalg.det)
def det(a: Any) -> Array:
    """Compute determinants."""
    return own.det(_matrices(a, "det", square=True))


@follows(numpy.linalg.slogdet)
def slogdet(a: Any) -> SlogdetResult:
    """Compute signs and logarithms of determinants."""
    return own.slogdet(_matrices(a, "slogdet", square=True))


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
        values = own.svdvals(_matrices(x, "cond"))
        above, below = (values[..., -1], values[..., 0]) if p == -2 else (values[..., 0], values[..., -1])
        singular = below == 0
        found = above / ua.where(singular, 1, below)
    else:
        x = _matrices(x, "cond", square=True)
        # Whose last pivots are zero: no engine inverts those, and some raise.
        singular = own.slogdet(x).sign == 0
        there = ua.where(singular[..., None, None], ua.eye(x.shape[-1], dtype=x.dtype, backend=x.backend), x)
        found = norm(there, p, (-2, -1)) * norm(own.inv(there), p, (-2, -1))
    found = ua.where(singular | ua.isnan(found), math.inf, found)
    return ua.where(ua.any(ua.isnan(x), axis=(-2, -1)), math.nan, found)


# -- norms ------------------------------------------------------------------------------------------------------------


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


# -- products ---------------------------------------------------------------------------------------------------------


@follows(numpy.linalg.matrix_power)
def matrix_power(a: Any, n: int) -> Array:
    """Raise square matrices to an integer power."""
    a = _matrices(a, "matrix_power", square=True)
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
