"""Least squares and the exponential function of matrices, in the extension ``linalg``."""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np

from .._core.arrays.array import Array
from .._core.arrays.leaving import knows_values
from .._core.calling.invoke import attempt
from .._core.declaring.declare import compositional, mixed
from .._core.engines import dtypes
from .._core.engines.tracing import running
from .._core.values import above
from .._core.values.records import Record
from ..errors import ShapeError
from .creation import eye, zeros
from .elementwise import (
    abs,
    add,
    ceil,
    conj,
    divide,
    equal,
    greater,
    isfinite,
    less,
    log2,
    maximum,
    multiply,
    pow,
    square,
    subtract,
)
from .linalg import matmul, narrowed, widened
from .linalg_extension import solve, svd
from .manipulation import broadcast_to
from .searching import where
from .statistical import max, sum


class LstsqResult(Record):
    """The result of ``lstsq``."""

    solution: Array
    residuals: Array
    rank: Array
    singular_values: Array


@compositional(namespace="linalg")
def lstsq(a: Array, b: Array, /, *, rcond: float | None = None, out: tuple[Array, ...] | None = None) -> LstsqResult:
    """Solve a system of linear equations as well as it can be: by the least sum of squared differences.

    If there are several such solutions, it's the one of least norm.

    Parameters
    ----------
    a
        An array of shape (M, N).
    b
        An array of shape (M,), or (M, K) for K systems.
    rcond
        Which singular values count: those greater than the greatest times this. By default max(M, N) times the
        precision; a negative number means the precision.
    out
        A tuple of arrays, of the results' shapes, to write the results to; it's returned then.

    Returns
    -------
    LstsqResult
        ``solution`` of shape (N,) or (N, K); ``residuals``, the least sums, of shape (1,) or (K,), or (0,) if M <= N or
        the rank is less than N; ``rank``, 0-d, of int64; and ``singular_values`` of shape (min(M, N),), descending.
        Inside a trace of the engine, where the rank is unknown, the residuals are NaN if it's less than N. On a
        lazy engine (dask) their length isn't known before they are computed.

    Raises
    ------
    ShapeError
        If the shapes don't fit.
    numpy.linalg.LinAlgError
        If ``a`` has NaN or an infinity, or the computation fails. Inside a trace of an engine that can't raise (JAX,
        TensorFlow) the results are NaN.

    Examples
    --------
    >>> import unifyarr as ua
    >>> result = ua.linalg.lstsq(ua.asarray([[1.0], [1.0]]), ua.asarray([1.0, 3.0]))
    >>> ua.round(result.solution), ua.round(result.residuals), result.rank
    (array([2.]), array([2.]), array(1))

    Source: Golub, Kahan, "Calculating the singular values and pseudo-inverse of a matrix" (1965); results as NumPy's
    ``linalg.lstsq``.
    """
    if a.ndim != 2 or b.ndim not in (1, 2) or a.shape[0] != b.shape[0]:
        raise ShapeError(f"lstsq() takes shapes (M, N) and (M,) or (M, K), not {a.shape} and {b.shape}")
    dtype, (a, b) = widened(a, b)
    right = b if b.ndim == 2 else b[:, None]
    left, values, adjoint = svd(a, full_matrices=False)
    precision = float(np.finfo(values.dtype.dtype).eps)
    cutoff = precision * np.max(a.shape) if rcond is None else precision if rcond < 0 else rcond
    counting = greater(values, values[:1] * float(cutoff))
    inverse = divide(counting, where(counting, values, 1))
    coordinates = inverse[:, None] * matmul(conj(left.mT), right)
    solution = matmul(conj(adjoint.mT), coordinates)
    rank = sum(counting)
    residuals = _residuals(a, solution, right, rank)
    solution = solution if b.ndim == 2 else solution[:, 0]
    return LstsqResult(narrowed(solution, dtype), narrowed(residuals, dtype), rank, narrowed(values, dtype))


def _residuals(a: Array, solution: Array, right: Array, rank: Array) -> Array:
    backend, (rows, columns) = rank._backend, a.shape
    known = knows_values(rank)
    dtype = dtypes.real_of(right.dtype)
    if rows <= columns or (known and int(rank) != columns):
        return zeros(0, dtype=dtype, device=right.device, backend=backend.name)
    found = sum(square(abs(subtract(right, matmul(a, solution)))), axis=0)
    if known:
        return found
    if not backend.has_shapes and running() is None:
        # All of them or none: of a length that the rank decides.
        return found[broadcast_to(equal(rank, columns), found.shape)]
    return where(equal(rank, columns), found, float("nan"))


# The coefficients of the numerator of the [13/13] Padé approximant of the exponential function: those of the
# denominator have alternating signs. It's exact to double precision for matrices of a norm up to REACH.
PADE = tuple(factorial(26 - n) / (factorial(n) * factorial(13 - n)) * factorial(13) / factorial(26) for n in range(14))
REACH = 5.371920351148152


@mixed(kernels=("expm", "square_repeatedly"), namespace="linalg")
def expm(x: Array, /, *, out: Array | None = None) -> Array:
    """Compute the exponential function of matrices: the sum of their powers divided by factorials.

    Parameters
    ----------
    x
        An array of shape (..., M, M); bools and integers are taken as float64.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the shape and dtype of ``x``, or ``out``. All of a matrix is NaN that isn't finite.

    Raises
    ------
    ShapeError
        If the matrices aren't square.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.expm(ua.asarray([[0.0, 2.0], [0.0, 0.0]]))
    array([[1., 2.],
           [0., 1.]])

    Source: Higham, "The scaling and squaring method for the matrix exponential revisited" (2005).
    """
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ShapeError(f"expm() takes square matrices, of shape (..., M, M), not an array of shape {x.shape}")
    dtype, (x,) = widened(x)
    if x.size == 0:
        return x.copy()
    found = attempt("expm", x)
    return narrowed(_expm(x) if found is None else found, dtype)


def _expm(x: Array) -> Array:
    norm = max(sum(abs(x), axis=-2, keepdims=True), axis=-1, keepdims=True)
    finite = isfinite(norm)
    # The number of times that the matrix is halved to be within REACH, and the result squared.
    counts = ceil(log2(maximum(where(finite, norm, 0), REACH) / REACH))
    result = _approximant(multiply(where(finite, x, 0), pow(2.0, -counts)))
    found = attempt("square_repeatedly", result, counts)
    return where(finite, _squared(result, counts) if found is None else found, float("nan"))


def _squared(x: Array, counts: Array) -> Array:
    most = max(counts)
    if running() is None:
        for count in range(int(most)):
            x = _squared_again(x, counts, count)
        return x

    def step(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        count, x = carry
        return count + 1, _squared_again(x, counts, count)

    done: tuple[Array, Array] = above.package.while_loop(
        lambda carry: less(carry[0], most), step, (multiply(most, 0), x)
    )
    return done[1]


def _squared_again(x: Array, counts: Array, count: Any) -> Array:
    square = matmul(x, x)
    return square if x.ndim == 2 else where(greater(counts, count), square, x)


def _approximant(x: Array) -> Array:
    unit = eye(x.shape[-1], dtype=x.dtype, device=x.device, backend=x._backend.name)
    second = matmul(x, x)
    fourth = matmul(second, second)
    sixth = matmul(fourth, second)

    def part(first: int) -> Array:
        # The terms of every other power.
        low, *more = PADE[first::2]
        inner = add(add(sixth * more[5], fourth * more[4]), second * more[3])
        return add(add(add(matmul(sixth, inner), sixth * more[2]), fourth * more[1]), add(second * more[0], unit * low))

    odd, even = matmul(x, part(1)), part(0)
    return solve(subtract(even, odd), add(even, odd))
