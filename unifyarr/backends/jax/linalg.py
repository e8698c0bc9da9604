"""Linear algebra on JAX, of the main namespace and of the extension.

JAX answers NaN where NumPy raises ``LinAlgError``. Kernels that can fail so are compiled with a flag, which is looked
at where it is known: inside a trace the engine's own rule, NaN, holds.
"""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..kernels import bound_by, facts_of, known_by, worked_around
from ._compiled import INDEX, Kernel, compiled, is_concrete, with_operands
from ._memory import fetched
from ._operands import at_place, number, number_at
from ._private import ARRAYS, NO_TRACE, trace_cell
from .elementwise import abs as _absolute

RAISES = "JAX answers NaN where NumPy raises LinAlgError"


def _check_matrices(*matrices: Any, square: bool) -> None:
    for x in matrices:
        if x.ndim < 2:
            raise np.linalg.LinAlgError(f"{x.ndim}-dimensional array given. Array must be at least two-dimensional")
        if square and x.shape[-1] != x.shape[-2]:
            raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")


def _unread(result: Any) -> tuple[float]:
    raise BufferError


# Readers of the first real number of an array in host memory, by the operands' dtype: faster than a view or NumPy.
_READ = {char: struct.Struct(char.lower()).unpack_from for char in "fdFD"}

_first = jax.jit(lambda x: x.reshape(-1)[0])


def _always(*natives: Any, **arguments: Any) -> bool:
    return True


def _raises(
    message: str,
    *,
    square: bool = True,
    place: int | None = None,
    shows: bool = False,
    can_fail: Callable[..., bool] = _always,
) -> Callable[[Kernel], Kernel]:
    """Compile a kernel that returns its result and whether it failed, and raise where it did.

    A call computes only the result, filled with NaN if it failed; a second call then tells whether it did. A second
    result would add a third to the time of a small call. If there are several results, the one at ``place`` is filled.
    Nothing is filled where the engine's result for one matrix on the CPU already ``shows`` a failure by NaN.
    """

    def decorate(function: Kernel) -> Kernel:
        def variant(chosen: Callable[..., Any]) -> Callable[..., Kernel]:
            @compiled
            @functools.wraps(function)
            def inner(x: jax.Array, *arrays: Any, **arguments: Any) -> Any:
                _check_matrices(x, square=square)
                return chosen(x, *function(x, *arrays, **arguments))

            return getattr(inner, "bind", lambda: inner)

        def marked(x: jax.Array, result: Any, failed: jax.Array) -> Any:
            def filled(x: jax.Array) -> jax.Array:
                return jnp.where(jnp.any(failed), np.asarray(np.nan, x.dtype), x)

            def fill(x: jax.Array) -> jax.Array:
                return lax.platform_dependent(x, cpu=lambda x: x, default=filled) if shows and is_one else filled(x)

            is_one = x.ndim == 2
            if place is None:
                return fill(result)
            return tuple([fill(each) if number == place else each for number, each in enumerate(result)])

        marking = variant(marked)
        whole, flag = variant(lambda x, result, failed: result), variant(lambda x, result, failed: failed)

        def know(*natives: Any, **arguments: Any) -> Kernel:
            by_engine = whole(**arguments)
            if not can_fail(*natives, **arguments):
                return by_engine
            compute, has_failed = marking(**arguments), flag(**arguments)
            chars = {native.dtype.char for native in natives}
            read = _READ.get(chars.pop(), _unread) if len(chars) == 1 else _unread

            def kernel(*arrays: Any) -> Any:
                result = compute(*arrays)
                shown = result if place is None else result[place]
                try:
                    (number,) = read(shown)
                    is_good = number == number
                except (BufferError, TypeError, struct.error):
                    if type(shown) not in ARRAYS:
                        # Inside a trace the engine's own rule holds.
                        return by_engine(*arrays)
                    # On another device one number is read. There's none in an empty array.
                    is_good = bool(shown.size) and not np.isnan(fetched(_first(shown)))
                if is_good or not fetched(has_failed(*arrays)):
                    return result
                raise np.linalg.LinAlgError(message)

            return kernel

        @worked_around(RAISES)
        @known_by(know)
        @functools.wraps(function)
        def kernel(*arrays: Any, **arguments: Any) -> Any:
            if trace_cell.value is NO_TRACE:
                return know(*arrays, **arguments)(*arrays)
            return whole(**arguments)(*arrays)

        return kernel

    return decorate


def _of_square(function: Kernel) -> Kernel:
    @compiled
    @functools.wraps(function)
    def kernel(x: jax.Array) -> Any:
        _check_matrices(x, square=True)
        return function(x)

    return kernel


def _has_nan(x: jax.Array) -> jax.Array:
    return jnp.any(jnp.isnan(x))


# -- products ---------------------------------------------------------------------------------------------------------


@compiled
def matmul(x1: jax.Array, x2: jax.Array, /) -> jax.Array:
    if not x1.ndim or not x2.ndim or x1.shape[-1] != x2.shape[-2 if x2.ndim > 1 else 0]:
        raise ValueError(f"matmul: arrays of shapes {x1.shape} and {x2.shape} don't fit together")
    return jnp.matmul(x1, x2)


@compiled
def vecdot(x1: jax.Array, x2: jax.Array, /, *, axis: int) -> jax.Array:
    return jnp.vecdot(x1, x2, axis=axis - max(x1.ndim, x2.ndim))


@compiled
def cross(x1: jax.Array, x2: jax.Array, /, *, axis: int) -> jax.Array:
    return jnp.linalg.cross(x1, x2, axis=axis)


@compiled
def _matrix_power(x: jax.Array, /, *, n: int) -> jax.Array:
    return jnp.linalg.matrix_power(x, n)


def matrix_power(x: jax.Array, /, *, n: int) -> jax.Array:
    _check_matrices(x, square=True)
    return _matrix_power(inv(x) if n < 0 else x, n=abs(n))


# -- diagonals --------------------------------------------------------------------------------------------------------


@compiled
def _diagonal(offset: jax.Array, x: jax.Array, /, *, length: int) -> jax.Array:
    places = lax.iota(INDEX, length)
    rows, columns = places + jnp.maximum(-offset, 0), places + jnp.maximum(offset, 0)
    return x.at[..., rows, columns].get(mode="promise_in_bounds", unique_indices=True)


@with_operands(_diagonal)
def diagonal(x: jax.Array, /, *, offset: int) -> tuple[list[Any], dict[str, Any]]:
    rows, columns = x.shape[-2:]
    length = max(0, min(rows, columns, rows + offset, columns - offset))
    return [(offset if length else 0, INDEX)], {"length": length}


# -- decompositions ---------------------------------------------------------------------------------------------------


@_raises("Matrix is not positive definite", shows=True)
def cholesky(x: jax.Array, /, *, upper: bool) -> tuple[jax.Array, jax.Array]:
    # The transposed factor of the transposed matrix: with the conjugate ones, zeros would change their signs.
    x = jnp.matrix_transpose(x) if upper else x
    lower = lax.linalg.cholesky(x, symmetrize_input=False)
    # A matrix with NaN hides none of the others that fail.
    failed = jnp.any(jnp.isnan(jnp.linalg.diagonal(lower)), -1) & ~jnp.any(jnp.isnan(jnp.tril(x)), (-2, -1))
    return jnp.matrix_transpose(lower) if upper else lower, jnp.any(failed)


@compiled
def qr(x: jax.Array, /, *, mode: str) -> tuple[jax.Array, jax.Array]:
    return tuple(jnp.linalg.qr(x, mode))


def _of_finite(function: Kernel, x: jax.Array) -> tuple[Any, jax.Array]:
    """Return NaN for matrices that aren't finite, for which LAPACK may never return, and whether there are any."""
    finite = jnp.all(jnp.isfinite(x), (-2, -1))

    def fill(part: jax.Array) -> jax.Array:
        if not jnp.issubdtype(part.dtype, jnp.inexact):
            return part
        known = finite.reshape(*finite.shape, *(1,) * (part.ndim - finite.ndim))
        return jnp.where(known, part, np.asarray(np.nan, part.dtype))

    found = function(jnp.where(finite[..., None, None], x, np.zeros((), x.dtype)))
    return jax.tree.map(fill, found), ~jnp.all(finite)


@_raises("SVD did not converge", square=False, place=1, shows=True)
def svd(x: jax.Array, /, *, full_matrices: bool) -> Any:
    return _of_finite(lambda x: tuple(jnp.linalg.svd(x, full_matrices)), x)


@_raises("SVD did not converge", square=False, shows=True)
def svdvals(x: jax.Array, /) -> tuple[jax.Array, jax.Array]:
    return _of_finite(jnp.linalg.svdvals, x)


@_raises("Eigenvalues did not converge", place=0)
def eigh(x: jax.Array, /) -> Any:
    return _of_finite(lambda x: tuple(jnp.linalg.eigh(x, UPLO="L", symmetrize_input=False)), jnp.tril(x))


@_raises("Eigenvalues did not converge")
def eigvalsh(x: jax.Array, /) -> Any:
    return _of_finite(lambda x: jnp.linalg.eigh(x, UPLO="L", symmetrize_input=False)[0], jnp.tril(x))


@_raises("Array must not contain infs or NaNs", place=0)
def eig(x: jax.Array, /) -> Any:
    return _of_finite(lambda x: tuple(jnp.linalg.eig(x)), x)


@_raises("Array must not contain infs or NaNs")
def eigvals(x: jax.Array, /) -> tuple[jax.Array, jax.Array]:
    return _of_finite(jnp.linalg.eigvals, x)


# -- determinants and equations ---------------------------------------------------------------------------------------


def _is_singular(x: jax.Array) -> jax.Array:
    """Return whether a pivot is exactly zero; the compiler joins this decomposition with the one that solves."""
    return jnp.any(jnp.linalg.diagonal(lax.linalg.lu(lax.stop_gradient(x))[0]) == 0)


@_of_square
def det(x: jax.Array, /) -> jax.Array:
    return jnp.linalg.det(x)


@_of_square
def slogdet(x: jax.Array, /) -> tuple[jax.Array, jax.Array]:
    return tuple(jnp.linalg.slogdet(x))


@_raises("Singular matrix")
def inv(x: jax.Array, /) -> tuple[jax.Array, jax.Array]:
    return jnp.linalg.inv(x), _is_singular(x)


@_raises("Singular matrix")
def solve(x1: jax.Array, x2: jax.Array, /) -> tuple[jax.Array, jax.Array]:
    return jnp.linalg.solve(x1, x2), _is_singular(x1)


def _divides(*natives: jax.Array, unit_diagonal: bool, **others: Any) -> bool:
    return not unit_diagonal


@_raises("Singular triangle: a number of its diagonal is zero", can_fail=_divides)
def solve_triangular(x1: jax.Array, x2: jax.Array, /, *, lower: bool, unit_diagonal: bool) -> Any:
    batch = np.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    left, right = (jnp.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (x1, x2))
    found = lax.linalg.triangular_solve(left, right, left_side=True, lower=lower, unit_diagonal=unit_diagonal)
    return found, jnp.any(jnp.linalg.diagonal(lax.stop_gradient(x1)) == 0)


@compiled
def lu_factor(x: jax.Array, /) -> tuple[jax.Array, jax.Array]:
    """Return the compact factors, and the rows that each row was exchanged with."""
    compact, pivots, _ = lax.linalg.lu(x)
    return compact, pivots.astype(INDEX)


@compiled
def lu(x: jax.Array, /) -> tuple[jax.Array, jax.Array]:
    """Return the compact factors, and the order of the rows."""
    compact, _, order = lax.linalg.lu(x)
    return compact, order.astype(INDEX)


@compiled
def lu_permutation(pivots: jax.Array, /) -> jax.Array:
    """Return the order of as many rows as there are pivots."""
    order = lax.linalg.lu_pivots_to_permutation(pivots.astype(np.int32), pivots.shape[-1])
    return order.astype(INDEX)


# -- norms and ranks --------------------------------------------------------------------------------------------------


@_raises("SVD did not converge", square=False, place=0)
def _largest_and_rank(x: jax.Array, rtol: jax.Array, /) -> Any:
    values, failed = _of_finite(jnp.linalg.svdvals, x)
    largest = jnp.max(values, -1, keepdims=True, initial=0)
    cutoff = largest * jnp.expand_dims(rtol, -1)
    return (largest, jnp.sum(values > cutoff, -1, dtype=INDEX)), failed


@compiled
def _rank_of_vector(x: jax.Array, /) -> jax.Array:
    return jnp.any(x != 0).astype(INDEX)


def matrix_rank(x: jax.Array, /, *, rtol: Any) -> jax.Array:
    if x.ndim < 2:
        return _rank_of_vector(x)
    rtol = rtol if isinstance(rtol, jax.Array) else number(_rtol(x, rtol), np.float64, x)
    return _largest_and_rank(x, rtol)[1]


@_raises("SVD did not converge", square=False)
def _pinv(x: jax.Array, *rtols: jax.Array, rtol: float) -> tuple[jax.Array, jax.Array]:
    if not rtols:
        return _of_finite(lambda x: jnp.linalg.pinv(x, rtol), x)
    return _of_finite(lambda x: _inverted(x, rtols[0]), x)


def _inverted(x: jax.Array, rtol: jax.Array) -> jax.Array:
    # JAX takes no array of tolerances inside of a trace.
    u, values, vh = jnp.linalg.svd(x, full_matrices=False)
    least = jnp.max(values, -1, keepdims=True, initial=0) * jnp.expand_dims(rtol, -1).astype(values.dtype)
    kept = values > least
    inverse = jnp.where(kept, 1 / jnp.where(kept, values, 1), 0).astype(x.dtype)
    left, right = (jnp.conj(jnp.matrix_transpose(part)) for part in (vh, u))
    return left @ (inverse[..., None] * right)


def pinv(x: jax.Array, /, *, rtol: Any) -> jax.Array:
    if isinstance(rtol, jax.Array):
        return _pinv(x, rtol, rtol=0.0)
    if rtol is not None and is_concrete(x):
        return _pinv(x, number(float(rtol), np.float64, x), rtol=0.0)
    return _pinv(x, rtol=float(_rtol(x, rtol)))


def _rtol(x: jax.Array, rtol: Any) -> Any:
    return max(x.shape[-2:], default=0) * float(jnp.finfo(x.dtype).eps) if rtol is None else rtol


def _by_svd(*natives: jax.Array, ord: Any, **others: Any) -> bool:
    return ord in ("nuc", 2, -2)


@_raises("SVD did not converge", square=False, can_fail=_by_svd)
def matrix_norm(x: jax.Array, /, *, keepdims: bool, ord: Any) -> tuple[jax.Array, jax.Array]:
    if _by_svd(ord=ord):
        return _of_finite(lambda x: jnp.linalg.matrix_norm(x, keepdims=keepdims, ord=ord), x)
    result = jnp.linalg.matrix_norm(_absolute(x), keepdims=keepdims, ord="fro" if ord is None else ord)
    return result, _has_nan(x)


# These have a reduction of their own; of others the order is an operand.
_OWN_NORMS = frozenset({0, 1, 2, math.inf, -math.inf, None})


@compiled
def _general_norm(ord: jax.Array, x: jax.Array, /, *, axis: tuple[int, ...], keepdims: bool) -> jax.Array:
    size = _absolute(x)
    ord = ord.astype(size.dtype)
    return jnp.sum(size**ord, axis, keepdims=keepdims) ** (1 / ord)


def _norm(*, axis: tuple[int, ...], keepdims: bool, ord: Any) -> Kernel:
    if not axis or ord in _OWN_NORMS:
        return facts_of(_vector_norm)["bind"](axis=axis, keepdims=keepdims, ord=ord)
    kernel = facts_of(_general_norm)["bind"](axis=axis, keepdims=keepdims)
    return at_place(lambda place: functools.partial(kernel, number_at(ord, np.float64, place)))


@bound_by(_norm)
def vector_norm(x: jax.Array, /, **static: Any) -> jax.Array:
    return _norm(**static)(x)


@compiled
def _vector_norm(x: jax.Array, /, *, axis: tuple[int, ...], keepdims: bool, ord: Any) -> jax.Array:
    if not axis:
        return _absolute(x) if ord != 0 else (x != 0).astype(_absolute(x).dtype)
    return jnp.linalg.vector_norm(_absolute(x), axis=axis, keepdims=keepdims, ord=ord)
