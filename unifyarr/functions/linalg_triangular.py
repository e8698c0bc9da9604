"""Triangular systems, and the factors of matrices that such systems come from, in the extension ``linalg``."""

from __future__ import annotations

from collections.abc import Sequence

from .._core.arrays.array import Array
from .._core.calling.invoke import attempt, attempt_several
from .._core.declaring.declare import mixed
from .._core.engines import dtypes
from .._core.values.records import Record
from .._core.values.shapes import broadcast
from ..errors import DtypeError, ShapeError
from .creation import arange, eye, tril, triu, zeros
from .elementwise import abs, add, conj, divide, equal, multiply, subtract
from .indexing import take_along_axis
from .linalg import matmul, narrowed, widened
from .linalg_extension import solve
from .manipulation import broadcast_to, concat, expand_dims, stack
from .searching import argmax, where
from .sorting import argsort

# Systems of so few equations are solved at once where the engine solves no triangular ones.
FEW = 32

_TRANS = {0: 0, "N": 0, 1: 1, "T": 1, 2: 2, "C": 2}


class LUResult(Record):
    """The result of ``lu``."""

    P: Array
    L: Array
    U: Array


class LUFactorResult(Record):
    """The result of ``lu_factor``."""

    lu: Array
    piv: Array


def _as_trans(trans: int | str, name: str) -> int:
    if trans not in _TRANS:
        raise ValueError(f"trans of {name}() is 0 or 'N', 1 or 'T' (transposed), 2 or 'C' (adjoint), not {trans!r}")
    return _TRANS[trans]


@mixed(kernels=("solve_triangular",), namespace="linalg")
def solve_triangular(
    a: Array,
    b: Array,
    /,
    *,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    out: Array | None = None,
) -> Array:
    """Solve systems of linear equations whose matrices are triangles: the other elements aren't read.

    Parameters
    ----------
    a
        An array of shape (..., M, M).
    b
        An array of shape (M,), one vector for all systems, or (..., M, K).
    trans
        Which matrix counts: 0 or ``"N"``: ``a``; 1 or ``"T"``: its transpose; 2 or ``"C"``: its conjugate transpose.
    lower
        Whether the lower triangle of ``a`` counts, not the upper one.
    unit_diagonal
        Whether the diagonal counts as ones, and isn't read either.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape (..., M) for one vector, of (..., M, K) else; or ``out``.

    Raises
    ------
    ShapeError
        If the shapes don't fit.
    ValueError
        If there's no such ``trans``.
    numpy.linalg.LinAlgError
        If a number on a diagonal is zero.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.solve_triangular(ua.asarray([[2.0, 1.0], [0.0, 4.0]]), ua.asarray([4.0, 8.0]))
    array([1., 2.])

    Source: SciPy, ``linalg.solve_triangular``.
    """
    code = _as_trans(trans, "solve_triangular")
    _check_system("solve_triangular", a, b)
    dtype, (a, b) = widened(a, b)
    return narrowed(_solve_triangle(a, b, code, bool(lower), bool(unit_diagonal)), dtype)


def _check_system(name: str, a: Array, b: Array) -> None:
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ShapeError(f"{name}() takes square matrices, of shape (..., M, M), not an array of shape {a.shape}")
    if b.ndim == 0 or b.shape[-2 if b.ndim > 1 else 0] != a.shape[-1]:
        raise ShapeError(f"{name}() takes shapes (..., M, M) and (M,) or (..., M, K), not {a.shape} and {b.shape}")
    broadcast(a.shape[:-2], b.shape[:-2], name=name)


def _solve_triangle(a: Array, b: Array, code: int, lower: bool, unit_diagonal: bool) -> Array:
    if code:
        a, lower = (a.mT if code == 1 else conj(a.mT)), not lower
    right = b if b.ndim > 1 else expand_dims(b, axis=-1)
    shape = (*broadcast(a.shape[:-2], right.shape[:-2], name="solve_triangular"), *right.shape[-2:])
    if 0 in shape:
        found = zeros(shape, dtype=right.dtype, device=right.device, backend=right._backend.name)
    else:
        at_once = attempt("solve_triangular", a, right, lower=lower, unit_diagonal=unit_diagonal)
        found = _substituted(_triangle(a, lower, unit_diagonal), right, lower) if at_once is None else at_once
    return found if b.ndim > 1 else found[..., 0]


def _triangle(a: Array, lower: bool, unit_diagonal: bool) -> Array:
    part = tril(a) if lower else triu(a)
    if not unit_diagonal:
        return part
    return where(eye(a.shape[-1], dtype="bool", device=a.device, backend=a._backend.name), 1, part)


def _substituted(a: Array, b: Array, lower: bool) -> Array:
    """Solve by halves: the solution of one half is subtracted from the right side of the other."""
    size = a.shape[-1]
    if size <= FEW:
        return solve(a, b)
    half = size // 2
    first, last = slice(None, half), slice(half, None)
    known, other = (first, last) if lower else (last, first)
    one = _substituted(a[..., known, known], b[..., known, :], lower)
    rest = subtract(b[..., other, :], matmul(a[..., other, known], one))
    two = _substituted(a[..., other, other], rest, lower)
    one = broadcast_to(one, (*two.shape[:-2], *one.shape[-2:]))
    return concat([one, two] if lower else [two, one], axis=-2)


@mixed(kernels=("lu", "lu_matrices"), namespace="linalg")
def lu(x: Array, /, *, p_indices: bool = False, out: tuple[Array, ...] | None = None) -> LUResult:
    """Factor matrices into a permutation, a lower and an upper triangle: ``x == P @ L @ U``.

    Parameters
    ----------
    x
        An array of shape (..., M, N).
    p_indices
        Whether ``P`` comes as indices, by which ``x == L[P] @ U``, not as a matrix.
    out
        A tuple of arrays, of the results' shapes, to write the results to; it's returned then.

    Returns
    -------
    LUResult
        With K = min(M, N): ``P`` of shape (..., M, M), real, or (..., M), of int64; ``L`` of shape (..., M, K), with
        ones on its diagonal; and ``U`` of shape (..., K, N). Each row is exchanged with one whose number is the
        greatest: which one, engines may decide otherwise where there are several, or numbers are complex.

    Raises
    ------
    ShapeError
        If the shape doesn't fit.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.lu(ua.asarray([[1.0, 2.0], [4.0, 6.0]])).U
    array([[4. , 6. ],
           [0. , 0.5]])

    Source: SciPy, ``linalg.lu``.
    """
    _check_matrix("lu", x)
    dtype, (x,) = widened(x)
    matrices = None if p_indices or not x.size else attempt_several("lu_matrices", x)
    if matrices is not None:
        return LUResult(*(narrowed(each, dtype) for each in matrices))
    found = attempt_several("lu", x) if x.size else None
    compact, permutation = _eliminated(x)[::2] if found is None else found
    rows, count = x.shape[-2], min(x.shape[-2:])
    unit = eye(rows, count, dtype=x.dtype, device=x.device, backend=x._backend.name)
    left, right = add(tril(compact[..., :count], k=-1), unit), triu(compact[..., :count, :])
    if p_indices:
        places = argsort(permutation, axis=-1)
    else:
        places = equal(_numbers(x)[:, None], permutation[..., None, :]).astype(dtypes.real_of(x.dtype))
    return LUResult(narrowed(places, dtype), narrowed(left, dtype), narrowed(right, dtype))


@mixed(kernels=("lu_factor",), namespace="linalg")
def lu_factor(x: Array, /, *, out: tuple[Array, ...] | None = None) -> LUFactorResult:
    """Factor matrices as ``lu`` does, into the compact form that ``lu_solve`` takes.

    Parameters
    ----------
    x
        An array of shape (..., M, N).
    out
        A tuple of arrays, of the results' shapes, to write the results to; it's returned then.

    Returns
    -------
    LUFactorResult
        ``lu`` of shape (..., M, N): the upper triangle, and below it the lower one without its ones; and ``piv`` of
        shape (..., min(M, N)), of int64: row ``i`` was exchanged with row ``piv[i]``, one after the other.

    Raises
    ------
    ShapeError
        If the shape doesn't fit.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.lu_factor(ua.asarray([[1.0, 2.0], [4.0, 6.0]]))
    LUFactorResult(lu=array([[4.  , 6.  ],
           [0.25, 0.5 ]]), piv=array([1, 1]))

    Source: SciPy, ``linalg.lu_factor``.
    """
    _check_matrix("lu_factor", x)
    dtype, (x,) = widened(x)
    found = attempt_several("lu_factor", x) if x.size else None
    compact, pivots = _eliminated(x)[:2] if found is None else found
    return LUFactorResult(narrowed(compact, dtype), pivots)


@mixed(kernels=("lu_permutation", "solve_triangular"), namespace="linalg")
def lu_solve(lu_and_piv: Sequence[Array], b: Array, /, *, trans: int | str = 0, out: Array | None = None) -> Array:
    """Solve systems of linear equations whose matrices ``lu_factor`` has factored.

    Parameters
    ----------
    lu_and_piv
        What ``lu_factor`` returned for square matrices.
    b
        An array of shape (M,), one vector for all systems, or (..., M, K).
    trans
        Which matrix counts: 0 or ``"N"``: the one that was factored; 1 or ``"T"``: its transpose; 2 or ``"C"``: its
        conjugate transpose.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape (..., M) for one vector, of (..., M, K) else; or ``out``.

    Raises
    ------
    ShapeError
        If the shapes don't fit.
    DtypeError
        If the second of the pair isn't of integers.
    ValueError
        If there's no such ``trans``.
    IndexError
        If a pivot is no row, where the engine looks at values.
    numpy.linalg.LinAlgError
        If a matrix is singular.

    Examples
    --------
    >>> import unifyarr as ua
    >>> factors = ua.linalg.lu_factor(ua.asarray([[1.0, 2.0], [4.0, 6.0]]))
    >>> ua.linalg.lu_solve(factors, ua.asarray([3.0, 10.0]))
    array([1., 1.])

    Source: SciPy, ``linalg.lu_solve``.
    """
    code = _as_trans(trans, "lu_solve")
    compact, pivots = lu_and_piv
    _check_system("lu_solve", compact, b)
    if pivots.shape != compact.shape[:-1]:
        raise ShapeError(
            f"lu_solve() takes pivots of shape {compact.shape[:-1]} beside those factors, not {pivots.shape}"
        )
    if not dtypes.is_kind(pivots.dtype, "integral"):
        raise DtypeError(f"lu_solve() takes pivots of integers, as lu_factor() returns them, not of {pivots.dtype}")
    dtype, (compact, right) = widened(compact, b if b.ndim > 1 else expand_dims(b, axis=-1))
    batch = broadcast(compact.shape[:-2], right.shape[:-2], name="lu_solve")
    right = broadcast_to(right, (*batch, *right.shape[-2:]))
    order = _permutation(pivots)
    if code:
        right = _solve_triangle(compact, right, code, False, False)
        found = _rows(_solve_triangle(compact, right, code, True, True), argsort(order, axis=-1))
    else:
        right = _solve_triangle(compact, _rows(right, order), 0, True, True)
        found = _solve_triangle(compact, right, 0, False, False)
    return narrowed(found if b.ndim > 1 else found[..., 0], dtype)


@mixed(kernels=("solve_triangular",), namespace="linalg")
def cho_solve(c: Array, b: Array, /, *, upper: bool = False, out: Array | None = None) -> Array:
    """Solve systems of linear equations whose matrices ``cholesky`` has factored.

    Parameters
    ----------
    c
        An array of shape (..., M, M), as ``cholesky`` returns it. Only the triangle that is the factor is read.
    b
        An array of shape (M,), one vector for all systems, or (..., M, K).
    upper
        Whether the factor is the upper triangle, as of ``cholesky(upper=True)``.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape (..., M) for one vector, of (..., M, K) else; or ``out``.

    Raises
    ------
    ShapeError
        If the shapes don't fit.
    numpy.linalg.LinAlgError
        If a number on a diagonal is zero.

    Examples
    --------
    >>> import unifyarr as ua
    >>> factor = ua.linalg.cholesky(ua.asarray([[4.0, 2.0], [2.0, 5.0]]))
    >>> ua.linalg.cho_solve(factor, ua.asarray([8.0, 8.0]))
    array([1.5, 1. ])

    Source: SciPy, ``linalg.cho_solve``.
    """
    _check_system("cho_solve", c, b)
    dtype, (factor, right) = widened(c, b if b.ndim > 1 else expand_dims(b, axis=-1))
    lower = not upper
    # The lower triangle is the first of the two, and else the adjoint of the upper one.
    first, second = (0, 2) if lower else (2, 0)
    half = _solve_triangle(factor, right, first, lower, False)
    found = _solve_triangle(factor, half, second, lower, False)
    return narrowed(found if b.ndim > 1 else found[..., 0], dtype)


def _check_matrix(name: str, x: Array) -> None:
    if x.ndim < 2:
        raise ShapeError(f"{name}() takes matrices, of shape (..., M, N), not an array of shape {x.shape}")


def _numbers(x: Array) -> Array:
    return arange(x.shape[-2], dtype="int64", device=x.device, backend=x._backend.name)


def _rows(x: Array, order: Array) -> Array:
    places = broadcast_to(expand_dims(order, axis=-1), x.shape)
    return take_along_axis(x, places, axis=-2)


def _exchanged(numbers: Array, place: int, pivot: Array) -> Array:
    """Return the order of rows in which one at a place and one at a pivot change places."""
    pivot = expand_dims(pivot, axis=-1)
    return where(equal(numbers, place), pivot, where(equal(numbers, pivot), place, numbers))


def _permutation(pivots: Array) -> Array:
    """Return which row comes first, second... after the exchanges of ``lu_factor``."""
    pivots = pivots.astype("int64", copy=False)
    found = attempt("lu_permutation", pivots) if pivots.size else None
    if found is not None:
        return found
    numbers = arange(pivots.shape[-1], dtype="int64", device=pivots.device, backend=pivots._backend.name)
    order = broadcast_to(numbers, pivots.shape)
    for place in range(pivots.shape[-1]):
        order = take_along_axis(order, _exchanged(numbers, place, pivots[..., place]), axis=-1)
    return order


def _eliminated(x: Array) -> tuple[Array, Array, Array]:
    """Eliminate column by column: return the compact factors, the pivots and the order of the rows."""
    numbers = _numbers(x)
    order = broadcast_to(numbers, x.shape[:-1])
    pivots = []
    for place in range(min(x.shape[-2:])):
        # The greatest number as LAPACK takes it: the root of a complex number's squares isn't needed.
        pivot = add(argmax(_size(x[..., place:, place]), axis=-1), place)
        exchange = _exchanged(numbers, place, pivot)
        x, order = _rows(x, exchange), take_along_axis(order, exchange, axis=-1)
        pivots.append(pivot)
        done, after = slice(None, place + 1), slice(place + 1, None)
        head = x[..., place : place + 1, place : place + 1]
        factors = divide(x[..., after, place : place + 1], where(equal(head, 0), 1, head))
        rest = subtract(x[..., after, after], multiply(factors, x[..., place : place + 1, after]))
        below = concat([x[..., after, :place], factors, rest], axis=-1)
        x = concat([x[..., done, :], below], axis=-2)
    if not pivots:
        return x.copy(), zeros((*x.shape[:-2], 0), dtype="int64", device=x.device, backend=x._backend.name), order
    return x, stack(pivots, axis=-1), order


def _size(x: Array) -> Array:
    return add(abs(x.real), abs(x.imag)) if dtypes.rank(x.dtype) == 3 else abs(x)
