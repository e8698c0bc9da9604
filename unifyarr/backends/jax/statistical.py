"""Reductions on JAX."""

from __future__ import annotations

import builtins
import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..kernels import lowered_by, worked_around
from . import _ordering
from ._compiled import COMPLEX, Kernel, compiled, in_single, with_operands
from ._complex import differentiated_as
from .data_type import astype

Axis = tuple[int, ...]
_FLOAT = np.dtype(jax.dtypes.canonicalize_dtype(np.float64))


def _constant(value: float, dtype: Any) -> jax.Array:
    """Return a number that the compiler doesn't know: operations with it are not dropped."""
    part = jnp.finfo(dtype).dtype
    hidden, zero = (lax.optimization_barrier(np.array(number, part)) for number in (value, 0))
    return lax.complex(hidden, zero) if np.dtype(dtype) in COMPLEX else hidden


def _is_trivial(x: jax.Array, axis: Axis) -> bool:
    """Return whether nothing is reduced: there XLA leaves out the first step, from 0 or from 1, which NumPy takes."""
    return jnp.issubdtype(x.dtype, jnp.inexact) and builtins.all(x.shape[i] == 1 for i in axis)


def _without_sign(x: jax.Array) -> jax.Array:
    if x.dtype in COMPLEX:
        return lax.complex(_without_sign(lax.real(x)), _without_sign(lax.imag(x)))
    # Not a sum with 0.0, which XLA leaves out.
    return jnp.where(x == 0, np.zeros((), x.dtype), x)


_after_zero = differentiated_as(lambda x: x, _without_sign)


@in_single
def _sum(x: jax.Array, *, axis: Axis, keepdims: bool) -> jax.Array:
    result = jnp.sum(x, axis, dtype=x.dtype, keepdims=keepdims)
    # The sum of -0.0 is 0.0.
    return _after_zero(result) if _is_trivial(x, axis) else result


@compiled
def sum(x: jax.Array, /, *, axis: Axis, dtype: np.dtype[Any], keepdims: bool) -> jax.Array:
    return _sum(astype(x, dtype=dtype), axis=axis, keepdims=keepdims)


@in_single
def _prod(x: jax.Array, *, axis: Axis, keepdims: bool) -> jax.Array:
    result = jnp.prod(x, axis, dtype=x.dtype, keepdims=keepdims)
    return result * _constant(1, x.dtype) if _is_trivial(x, axis) else result


@compiled
def prod(x: jax.Array, /, *, axis: Axis, dtype: np.dtype[Any], keepdims: bool) -> jax.Array:
    return _prod(astype(x, dtype=dtype), axis=axis, keepdims=keepdims)


def _extreme(native: Kernel, argextreme: Kernel) -> Kernel:
    @worked_around("of complex numbers JAX gives another NaN than the first one")
    @compiled
    def extreme(x: jax.Array, /, *, axis: Axis, keepdims: bool) -> jax.Array:
        if x.dtype not in COMPLEX or not axis:
            return native(x, axis, keepdims=keepdims)
        kept = tuple(i for i in range(x.ndim) if i not in axis)
        # The length in full: -1 can't be worked out where there are no elements.
        length = math.prod(x.shape[i] for i in axis)
        rows = x.transpose(*kept, *axis).reshape(*(x.shape[i] for i in kept), length)
        result = jnp.take_along_axis(rows, argextreme(rows, -1), -1)
        return result.reshape([1 if i in axis else n for i, n in enumerate(x.shape) if keepdims or i in kept])

    return extreme


max = _extreme(jnp.max, _ordering.argmax_complex)
min = _extreme(jnp.min, _ordering.argmin_complex)


@in_single
def _mean(x: jax.Array, *, axis: Axis, keepdims: bool) -> jax.Array:
    return _sum(x, axis=axis, keepdims=keepdims) / _as_number(math.prod(x.shape[i] for i in axis), x.dtype)


def _as_number(count: Any, dtype: np.dtype[Any]) -> Any:
    # A function that is exported may have lengths that JAX computes.
    return np.array(count, dtype) if isinstance(count, int) else jnp.asarray(count).astype(dtype)


def _divisor_of_any(x: jax.Array, axis: Axis, correction: float) -> jax.Array:
    count = _as_number(math.prod(x.shape[i] for i in axis), _FLOAT)
    return jnp.maximum(count - correction, 0)


def _var_of_any(x: jax.Array, /, *, axis: Axis, correction: float, keepdims: bool) -> jax.Array:
    return _var_of(_divisor_of_any(x, axis, correction), x, axis=axis, keepdims=keepdims)


def _std_of_any(x: jax.Array, /, *, axis: Axis, correction: float, keepdims: bool) -> jax.Array:
    return _std(_divisor_of_any(x, axis, correction), x, axis=axis, keepdims=keepdims)


def _divisor(x: jax.Array, axis: Axis, correction: float) -> tuple[float, np.dtype[Any]]:
    return float(builtins.max(math.prod(x.shape[i] for i in axis) - correction, 0)), _FLOAT


@in_single
def _var_of(divisor: jax.Array, x: jax.Array, *, axis: Axis, keepdims: bool) -> jax.Array:
    deviation = x - _mean(x, axis=axis, keepdims=True)
    if x.dtype in COMPLEX:
        deviation = jnp.stack([lax.real(deviation), lax.imag(deviation)])
        squares = jnp.sum(deviation**2, 0)
    else:
        squares = deviation**2
    return _sum(squares, axis=axis, keepdims=keepdims) / divisor.astype(squares.dtype)


@compiled
def mean(x: jax.Array, /, *, axis: Axis, keepdims: bool) -> jax.Array:
    return _mean(x, axis=axis, keepdims=keepdims)


@compiled
def _var(divisor: jax.Array, x: jax.Array, /, *, axis: Axis, keepdims: bool) -> jax.Array:
    return _var_of(divisor, x, axis=axis, keepdims=keepdims)


@compiled
@in_single
def _std(divisor: jax.Array, x: jax.Array, /, *, axis: Axis, keepdims: bool) -> jax.Array:
    return jnp.sqrt(_var_of(divisor, x, axis=axis, keepdims=keepdims))


# The divisor is an operand, so that another correction doesn't recompile.
@lowered_by(_var_of_any)
@with_operands(_var)
def var(x: jax.Array, /, *, axis: Axis, correction: float, keepdims: bool) -> Any:
    return [_divisor(x, axis, correction)], {"axis": axis, "keepdims": keepdims}


@lowered_by(_std_of_any)
@with_operands(_std)
def std(x: jax.Array, /, *, axis: Axis, correction: float, keepdims: bool) -> Any:
    return [_divisor(x, axis, correction)], {"axis": axis, "keepdims": keepdims}


def _cumulative(scan: Kernel, start: int, x: jax.Array, axis: int, include_initial: bool) -> jax.Array:
    result = in_single(scan)(x, axis=axis)
    if include_initial:
        shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
        result = lax.concatenate([jnp.full(shape, start, x.dtype), result], axis)
    return result


def _sums(x: jax.Array, axis: int) -> jax.Array:
    result = lax.cumsum(x, axis=axis)
    if not jnp.issubdtype(x.dtype, jnp.inexact):
        return result
    if x.dtype in COMPLEX:
        return lax.complex(_signed(lax.real(x), lax.real(result), axis), _signed(lax.imag(x), lax.imag(result), axis))
    return _signed(x, result, axis)


def _signed(x: jax.Array, sums: jax.Array, axis: int) -> jax.Array:
    # JAX starts with 0.0, NumPy with the first element: after nothing but -0.0 the sum is -0.0.
    places = lax.broadcasted_iota(np.int32, x.shape, axis)
    length = x.shape[axis]
    others = jnp.where(jnp.signbit(x) & (x == 0), length, places)
    first = jnp.min(others, axis, keepdims=True, initial=length)
    return jnp.where(places < first, np.array(-0.0, x.dtype), sums)


@compiled
def cumulative_sum(x: jax.Array, /, *, axis: int, dtype: np.dtype[Any], include_initial: bool) -> jax.Array:
    sums = differentiated_as(partial(lax.cumsum, axis=axis), partial(_sums, axis=axis))
    return _cumulative(lambda x, axis: sums(x), 0, astype(x, dtype=dtype), axis, include_initial)


@compiled
def cumulative_prod(x: jax.Array, /, *, axis: int, dtype: np.dtype[Any], include_initial: bool) -> jax.Array:
    # A complex product with one, from which JAX's own scan starts, is NaN beside infinities.
    scan = lax.cumprod if dtype not in COMPLEX else lambda x, axis: lax.associative_scan(lax.mul, x, axis=axis)
    return _cumulative(scan, 1, astype(x, dtype=dtype), axis, include_initial)


def _running(native: Kernel) -> Kernel:
    @compiled
    def kernel(x: jax.Array, /, *, axis: int) -> jax.Array:
        # JAX's own takes numbers.
        return native(x.astype(np.uint8), axis).astype(bool) if x.dtype == bool else native(x, axis)

    return kernel


cumulative_max = _running(lax.cummax)
cumulative_min = _running(lax.cummin)
