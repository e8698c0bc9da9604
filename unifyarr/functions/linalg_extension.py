"""The extension ``linalg``: decompositions, solvers and norms of stacks of matrices.

Integers are computed as float64, half precision in float32 and cast back. None of these writes into ``out`` before it
has succeeded, since they can fail on values.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .._core.arrays.array import Array
from .._core.arrays.ownership import read
from .._core.calling.invoke import invoke, invoke_several
from .._core.declaring.declare import compositional, primary
from .._core.engines import dtypes
from .._core.values.arguments import as_integer
from .._core.values.records import Record
from .._core.values.shapes import as_axes, broadcast
from ..errors import ShapeError
from .elementwise import multiply
from .linalg import check_matrix, diagonal, narrowed, promoted, widened
from .statistical import sum

if TYPE_CHECKING:
    from ..typing import DTypeLike


class EigResult(Record):
    """The result of ``eig``."""

    eigenvalues: Array
    eigenvectors: Array


class EighResult(Record):
    """The result of ``eigh``."""

    eigenvalues: Array
    eigenvectors: Array


class QRResult(Record):
    """The result of ``qr``."""

    Q: Array
    R: Array


class SlogdetResult(Record):
    """The result of ``slogdet``."""

    sign: Array
    logabsdet: Array


class SVDResult(Record):
    """The result of ``svd``."""

    U: Array
    S: Array
    Vh: Array


def _compute(kernel: str, *arrays: Array, **static: Any) -> Array:
    dtype, working = widened(*arrays)
    return narrowed(invoke(kernel, *working, **static), dtype)


def _compute_several(kernel: str, *arrays: Array, **static: Any) -> tuple[Array, ...]:
    dtype, working = widened(*arrays)
    return tuple(narrowed(each, dtype) for each in invoke_several(kernel, *working, **static))


@primary(namespace="linalg")
def cholesky(x: Array, /, *, upper: bool = False, out: Array | None = None) -> Array:
    """Factor positive definite matrices into a triangular matrix and its conjugate transpose.

    Parameters
    ----------
    x
        An array of shape (..., M, M).
    upper
        Whether the factor is the upper triangle, not the lower one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape (..., M, M), or ``out``.

    Raises
    ------
    ShapeError
        If the shape doesn't fit.
    numpy.linalg.LinAlgError
        If a matrix isn't positive definite.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.cholesky(ua.asarray([[4.0, 2.0], [2.0, 2.0]]))
    array([[2., 0.],
           [1., 1.]])

    Source: Array API standard 2025.12, ``linalg.cholesky``.
    """
    check_matrix("cholesky", x, square=True)
    return _compute("cholesky", x, upper=bool(upper))


@primary(namespace="linalg")
def cross(x1: Array, x2: Array, /, *, axis: int = -1, out: Array | None = None) -> Array:
    """Compute the cross product of vectors of three elements.

    Parameters
    ----------
    x1, x2
        Arrays with three elements along ``axis``; their other axes broadcast.
    axis
        The axis of the vectors, counted from the end: negative.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the broadcast shape, or ``out``.

    Raises
    ------
    ShapeError
        If there aren't three elements along the axis.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.cross(ua.asarray([1, 0, 0]), ua.asarray([0, 1, 0]))
    array([0, 0, 1])

    Source: Array API standard 2025.12, ``linalg.cross``.
    """
    ndim = min(x1.ndim, x2.ndim)
    axis = as_integer(axis, "an axis")
    if axis >= 0 and x1.ndim == x2.ndim:
        # As in NumPy, a non-negative axis is allowed where it's unambiguous.
        axis -= ndim
    if not -ndim <= axis < 0 or x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ShapeError(f"cross() takes three elements along axis {axis}, unlike shapes {x1.shape} and {x2.shape}")
    broadcast(x1.shape, x2.shape, name="cross")
    return invoke("cross", *promoted(x1, x2), axis=axis)


@primary(namespace="linalg")
def det(x: Array, /, *, out: Array | None = None) -> Array:
    """Compute determinants.

    Parameters
    ----------
    x
        An array of shape (..., M, M).
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape (...), or ``out``.

    Raises
    ------
    ShapeError
        If the shape doesn't fit.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.det(ua.asarray([[2.0, 0.0], [0.0, 3.0]]))
    array(6.)

    Source: Array API standard 2025.12, ``linalg.det``.
    """
    check_matrix("det", x, square=True)
    return _compute("det", x)


@primary(namespace="linalg")
def eig(x: Array, /, *, out: tuple[Array, ...] | None = None) -> EigResult:
    """Compute eigenvalues and eigenvectors.

    Parameters
    ----------
    x
        An array of shape (..., M, M).
    out
        A tuple of arrays, of the results' shapes, to write the results to; it's returned then.

    Returns
    -------
    EigResult
        ``eigenvalues`` of shape (..., M) and ``eigenvectors`` of shape (..., M, M), one in each column; both complex.

    Raises
    ------
    ShapeError
        If the shape doesn't fit.
    numpy.linalg.LinAlgError
        If a matrix has NaN or an infinity, or the computation fails. Inside a trace of an engine that can't raise (JAX,
        TensorFlow) the results of such a matrix are NaN.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.eig(ua.asarray([[2.0, 0.0], [0.0, 2.0]])).eigenvalues
    array([2.+0.j, 2.+0.j])

    Source: Array API standard 2025.12, ``linalg.eig``.
    """
    check_matrix("eig", x, square=True)
    return EigResult(*_compute_several("eig", x))


@primary(namespace="linalg")
def eigh(x: Array, /, *, out: tuple[Array, ...] | None = None) -> EighResult:
    """Compute eigenvalues and eigenvectors of symmetric or Hermitian matrices.

    Parameters
    ----------
    x
        An array of shape (..., M, M), of which the lower triangles count.
    out
        A tuple of arrays, of the results' shapes, to write the results to; it's returned then.

    Returns
    -------
    EighResult
        ``eigenvalues`` of shape (..., M), real, ascending, and ``eigenvectors`` of shape (..., M, M), one in each
        column.

    Raises
    ------
    ShapeError
        If the shape doesn't fit.
    numpy.linalg.LinAlgError
        If the lower triangle, which alone is read, has NaN or an infinity, or the computation fails. Inside a trace of
        an engine that can't raise (JAX, TensorFlow) the results of such a matrix are NaN.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.eigh(ua.asarray([[3.0, 0.0], [0.0, 2.0]])).eigenvalues
    array([2., 3.])

    Source: Array API standard 2025.12, ``linalg.eigh``.
    """
    check_matrix("eigh", x, square=True)
    return EighResult(*_compute_several("eigh", x))


@primary(namespace="linalg")
def eigvals(x: Array, /, *, out: Array | None = None) -> Array:
    """Compute eigenvalues.

    Parameters
    ----------
    x
        An array of shape (..., M, M).
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new complex array of shape (..., M), or ``out``.

    Raises
    ------
    ShapeError
        If the shape doesn't fit.
    numpy.linalg.LinAlgError
        If a matrix has NaN or an infinity, or the computation fails. Inside a trace of an engine that can't raise (JAX,
        TensorFlow) the results of such a matrix are NaN.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.eigvals(ua.asarray([[2.0, 0.0], [0.0, 2.0]]))
    array([2.+0.j, 2.+0.j])

    Source: Array API standard 2025.12, ``linalg.eigvals``.
    """
    check_matrix("eigvals", x, square=True)
    return _compute("eigvals", x)


@primary(namespace="linalg")
def eigvalsh(x: Array, /, *, out: Array | None = None) -> Array:
    """Compute eigenvalues of symmetric or Hermitian matrices.

    Parameters
    ----------
    x
        An array of shape (..., M, M), of which the lower triangles count.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new real array of shape (..., M), ascending, or ``out``.

    Raises
    ------
    ShapeError
        If the shape doesn't fit.
    numpy.linalg.LinAlgError
        If the lower triangle, which alone is read, has NaN or an infinity, or the computation fails. Inside a trace of
        an engine that can't raise (JAX, TensorFlow) the results of such a matrix are NaN.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.eigvalsh(ua.asarray([[3.0, 0.0], [0.0, 2.0]]))
    array([2., 3.])

    Source: Array API standard 2025.12, ``linalg.eigvalsh``.
    """
    check_matrix("eigvalsh", x, square=True)
    return _compute("eigvalsh", x)


@primary(namespace="linalg")
def inv(x: Array, /, *, out: Array | None = None) -> Array:
    """Invert matrices.

    Parameters
    ----------
    x
        An array of shape (..., M, M).
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape (..., M, M), or ``out``.

    Raises
    ------
    ShapeError
        If the shape doesn't fit.
    numpy.linalg.LinAlgError
        If a matrix is singular.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.inv(ua.asarray([[2.0, 0.0], [0.0, 4.0]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])

    Source: Array API standard 2025.12, ``linalg.inv``.
    """
    check_matrix("inv", x, square=True)
    return _compute("inv", x)


@primary(namespace="linalg")
def matrix_norm(
    x: Array, /, *, keepdims: bool = False, ord: float | str | None = "fro", out: Array | None = None
) -> Array:
    """Compute norms of matrices.

    Parameters
    ----------
    x
        An array of shape (..., M, N).
    keepdims
        Whether the last two axes stay, with length one.
    ord
        ``"fro"`` (or ``None``): of all elements; ``"nuc"``: of the singular values; 2 or -2: their greatest or least;
        1 or -1, ``inf`` or ``-inf``: the greatest or least sum of magnitudes of a column, of a row.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new real array of shape (...), or ``out``.
        An infinite number one of whose parts is NaN counts as infinite or as NaN, which depends on the backend.

    Raises
    ------
    ShapeError
        If the shape doesn't fit.
    ValueError
        If there's no such norm.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.matrix_norm(ua.asarray([[3.0, 0.0], [0.0, 4.0]]))
    array(5.)

    Source: Array API standard 2025.12, ``linalg.matrix_norm``.
    """
    check_matrix("matrix_norm", x)
    if ord not in (None, "fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf):
        raise ValueError(f"ord is 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, not {ord!r}")
    if 0 in x.shape[-2:] and ord not in (None, "fro", "nuc"):
        raise ShapeError(f"matrix_norm() of order {ord} has no elements to choose from in shape {x.shape}")
    return _compute("matrix_norm", x, keepdims=bool(keepdims), ord=ord)


@primary(namespace="linalg")
def matrix_power(x: Array, n: int, /, *, out: Array | None = None) -> Array:
    """Raise matrices to an integer power.

    Parameters
    ----------
    x
        An array of shape (..., M, M).
    n
        The power; a negative one raises the inverse.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape (..., M, M), or ``out``.

    Raises
    ------
    ShapeError
        If the shape doesn't fit.
    numpy.linalg.LinAlgError
        If the power is negative and a matrix is singular.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.matrix_power(ua.asarray([[1, 1], [0, 1]]), 3)
    array([[1, 3],
           [0, 1]])

    Source: Array API standard 2025.12, ``linalg.matrix_power``.
    """
    check_matrix("matrix_power", x, square=True)
    n = as_integer(n, "n")
    if abs(n) >= 2**63:
        # Beyond this NumPy has no result for some arguments, and torch doesn't terminate.
        raise OverflowError(f"matrix_power() takes powers below 2**63, not {n}")
    if n == 1:
        # NumPy would return its input itself.
        return x.copy()
    if n < 0 and dtypes.rank(x.dtype) < 2:
        x = x.astype(dtypes.float64)
    if x.dtype in dtypes.HALVES:
        return _compute("matrix_power", x, n=n)
    return invoke("matrix_power", x, n=n)


@primary(namespace="linalg")
def matrix_rank(x: Array, /, *, rtol: float | Array | None = None, out: Array | None = None) -> Array:
    """Compute ranks: the number of singular values that count.

    Parameters
    ----------
    x
        An array of shape (..., M, N).
    rtol
        Which singular values count: those greater than the greatest times this. By default max(M, N) times the
        precision.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new int64 array of shape (...), or ``out``.

    Raises
    ------
    ShapeError
        If the shape doesn't fit.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.matrix_rank(ua.asarray([[1.0, 1.0], [1.0, 1.0]]))
    array(1)

    Source: Array API standard 2025.12, ``linalg.matrix_rank``.
    """
    check_matrix("matrix_rank", x)
    return invoke("matrix_rank", widened(x)[1][0], rtol=_native(rtol))


@compositional(namespace="linalg")
def outer(x1: Array, x2: Array, /, *, out: Array | None = None) -> Array:
    """Multiply each element of one vector by each of another.

    Parameters
    ----------
    x1, x2
        1-d arrays of lengths M and N.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape (M, N), or ``out``.

    Raises
    ------
    ShapeError
        If the shape doesn't fit.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.outer(ua.asarray([1, 2]), ua.asarray([3, 4]))
    array([[3, 4],
           [6, 8]])

    Source: Array API standard 2025.12, ``linalg.outer``.
    """
    if x1.ndim != 1 or x2.ndim != 1:
        raise ShapeError(f"outer() takes 1-d arrays, not shapes {x1.shape} and {x2.shape}")
    return multiply(x1[:, None], x2[None, :], out=out)


@primary(namespace="linalg")
def pinv(x: Array, /, *, rtol: float | Array | None = None, out: Array | None = None) -> Array:
    """Compute Moore-Penrose pseudoinverses.

    Parameters
    ----------
    x
        An array of shape (..., M, N).
    rtol
        Which singular values count: those greater than the greatest times this. By default max(M, N) times the
        precision.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape (..., N, M), or ``out``.

    Raises
    ------
    ShapeError
        If the shape doesn't fit.
    numpy.linalg.LinAlgError
        If a matrix has NaN or an infinity, or the computation fails. Inside a trace of an engine that can't raise (JAX,
        TensorFlow) the results of such a matrix are NaN.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.round(ua.linalg.pinv(ua.asarray([[2.0], [0.0]])))
    array([[0., 0.]])

    Source: Array API standard 2025.12, ``linalg.pinv``.
    """
    check_matrix("pinv", x)
    return _compute("pinv", x, rtol=_native(rtol))


@primary(namespace="linalg")
def qr(x: Array, /, *, mode: str = "reduced", out: tuple[Array, ...] | None = None) -> QRResult:
    """Factor matrices into one with orthonormal columns and an upper triangle.

    Parameters
    ----------
    x
        An array of shape (..., M, N).
    mode
        ``"reduced"``: Q has K = min(M, N) columns; ``"complete"``: M.
    out
        A tuple of arrays, of the results' shapes, to write the results to; it's returned then.

    Returns
    -------
    QRResult
        ``Q`` of shape (..., M, K) and ``R`` of shape (..., K, N).

    Raises
    ------
    ShapeError
        If the shape doesn't fit.
    ValueError
        If there's no such mode.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.qr(ua.eye(2)).R.shape
    (2, 2)

    Source: Array API standard 2025.12, ``linalg.qr``.
    """
    check_matrix("qr", x)
    if mode not in ("reduced", "complete"):
        raise ValueError(f"mode is 'reduced' or 'complete', not {mode!r}")
    return QRResult(*_compute_several("qr", x, mode=mode))


@primary(namespace="linalg")
def slogdet(x: Array, /, *, out: tuple[Array, ...] | None = None) -> SlogdetResult:
    """Compute signs and logarithms of determinants, which may be too great or small themselves.

    Parameters
    ----------
    x
        An array of shape (..., M, M).
    out
        A tuple of arrays, of the results' shapes, to write the results to; it's returned then.

    Returns
    -------
    SlogdetResult
        ``sign`` and ``logabsdet``, of shape (...): the determinant is ``sign * exp(logabsdet)``.

    Raises
    ------
    ShapeError
        If the shape doesn't fit.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.slogdet(ua.eye(2)).sign
    array(1.)

    Source: Array API standard 2025.12, ``linalg.slogdet``.
    """
    check_matrix("slogdet", x, square=True)
    return SlogdetResult(*_compute_several("slogdet", x))


@primary(namespace="linalg")
def solve(x1: Array, x2: Array, /, *, out: Array | None = None) -> Array:
    """Solve systems of linear equations.

    Parameters
    ----------
    x1
        An array of shape (..., M, M).
    x2
        An array of shape (M,), one vector for all systems, or (..., M, K).
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape (..., M) for one vector, of (..., M, K) else; or ``out``.

    Raises
    ------
    ShapeError
        If the shape doesn't fit.
    numpy.linalg.LinAlgError
        If a matrix is singular.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.solve(ua.asarray([[2.0, 0.0], [0.0, 4.0]]), ua.asarray([2.0, 2.0]))
    array([1. , 0.5])

    Source: Array API standard 2025.12, ``linalg.solve``.
    """
    check_matrix("solve", x1, square=True)
    if x2.ndim == 0 or x2.shape[-2 if x2.ndim > 1 else 0] != x1.shape[-1]:
        raise ShapeError(f"solve() takes shapes (..., M, M) and (M,) or (..., M, K), not {x1.shape} and {x2.shape}")
    broadcast(x1.shape[:-2], x2.shape[:-2], name="solve")
    return _compute("solve", x1, x2)


@primary(namespace="linalg")
def svd(x: Array, /, *, full_matrices: bool = True, out: tuple[Array, ...] | None = None) -> SVDResult:
    """Compute singular value decompositions.

    Parameters
    ----------
    x
        An array of shape (..., M, N).
    full_matrices
        Whether ``U`` and ``Vh`` are square; else they have K = min(M, N) columns and rows.
    out
        A tuple of arrays, of the results' shapes, to write the results to; it's returned then.

    Returns
    -------
    SVDResult
        ``U`` of shape (..., M, M or K), ``S`` of shape (..., K), real, descending, ``Vh`` of shape (..., N or K, N).

    Raises
    ------
    ShapeError
        If the shape doesn't fit.
    numpy.linalg.LinAlgError
        If a matrix has NaN or an infinity, or the computation fails. Inside a trace of an engine that can't raise (JAX,
        TensorFlow) the results of such a matrix are NaN.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.svd(ua.asarray([[3.0, 0.0], [0.0, 4.0]])).S
    array([4., 3.])

    Source: Array API standard 2025.12, ``linalg.svd``.
    """
    check_matrix("svd", x)
    return SVDResult(*_compute_several("svd", x, full_matrices=bool(full_matrices)))


@primary(namespace="linalg")
def svdvals(x: Array, /, *, out: Array | None = None) -> Array:
    """Compute singular values.

    Parameters
    ----------
    x
        An array of shape (..., M, N).
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new real array of shape (..., min(M, N)), descending, or ``out``.

    Raises
    ------
    ShapeError
        If the shape doesn't fit.
    numpy.linalg.LinAlgError
        If a matrix has NaN or an infinity, or the computation fails. Inside a trace of an engine that can't raise (JAX,
        TensorFlow) the results of such a matrix are NaN.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.svdvals(ua.asarray([[3.0, 0.0], [0.0, 4.0]]))
    array([4., 3.])

    Source: Array API standard 2025.12, ``linalg.svdvals``.
    """
    check_matrix("svdvals", x)
    return _compute("svdvals", x)


@compositional(namespace="linalg")
def trace(x: Array, /, *, offset: int = 0, dtype: DTypeLike | None = None, out: Array | None = None) -> Array:
    """Sum the diagonals of matrices.

    Parameters
    ----------
    x
        An array of shape (..., M, N).
    offset
        Which diagonal: above the main one if positive.
    dtype
        The dtype to sum in; int64 or uint64 for small integers by default.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape (...), or ``out``.

    Raises
    ------
    ShapeError
        If the shape doesn't fit.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.trace(ua.asarray([[1, 2], [3, 4]]))
    array(5)

    Source: Array API standard 2025.12, ``linalg.trace``.
    """
    return sum(diagonal(x, offset=offset), axis=-1, dtype=dtype, out=out)


@primary(namespace="linalg")
def vector_norm(
    x: Array,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    ord: float = 2,
    out: Array | None = None,
) -> Array:
    """Compute norms of vectors.

    Parameters
    ----------
    x
        An array.
    axis
        The axis of the vectors; several count as one flattened axis, ``None`` means all.
    keepdims
        Whether the axes stay, with length one.
    ord
        The order p of ``sum(abs(x)**p)**(1/p)``; ``inf`` or ``-inf``: the greatest or least magnitude; 0: how many are
        not zero.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new real array, or ``out``.
        An infinite number one of whose parts is NaN counts as infinite or as NaN, which depends on the backend.

    Raises
    ------
    ShapeError
        If there are no elements to choose from.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.vector_norm(ua.asarray([3.0, 4.0]))
    array(5.)

    Source: Array API standard 2025.12, ``linalg.vector_norm``.
    """
    axes = as_axes(axis, x.ndim)
    if ord in (math.inf, -math.inf) and any(x.shape[each] == 0 for each in axes):
        raise ShapeError(f"vector_norm() of order {ord} has no elements to choose from in shape {x.shape}")
    return _compute("vector_norm", x, axis=axes, keepdims=bool(keepdims), ord=ord)


def _native(rtol: Any) -> Any:
    # An array of tolerances, one for each matrix, is passed as a native array.
    if not isinstance(rtol, Array):
        return rtol
    # The rank is piecewise constant in the tolerance, so that no gradient goes through it.
    return rtol._backend.handed_out(read(invoke("stop_gradient", rtol)))
