"""Polynomials as arrays of coefficients, the highest power first."""

from __future__ import annotations

from typing import Any

import numpy

from .. import functions as ua
from .. import linalg
from .._core.arrays.array import Array
from .._core.engines import dtypes
from ..functions._quantiles import known_values
from ._folding import cast
from ._following import as_array, follows, together


def _coefficients(p: Any) -> Array:
    x = as_array(p)
    return ua.reshape(x, (1,)) if x.ndim == 0 else x


def _pair(a1: Any, a2: Any) -> tuple[Array, Array]:
    first, second = together(_coefficients(a1), a2)
    return first, _coefficients(second)


def _as_given(result: Array, *given: Any) -> Any:
    """Return coefficients, as a ``poly1d`` where one was given."""
    return numpy.poly1d(result) if any(isinstance(each, numpy.poly1d) for each in given) else result


def _without_zeros(p: Array) -> Array:
    """Return coefficients from the first that isn't zero, which has to be known."""
    values = known_values(p) or []
    first = next((place for place, each in enumerate(values) if each != 0), len(values))
    return p[first:]


def real_where_real(x: Array) -> Array:
    """Return complex numbers as real ones if none has an imaginary part; inside a trace as they are."""
    if dtypes.rank(x.dtype) < 3:
        return x
    values = known_values(x)
    return x.real if values is not None and all(each.imag == 0 for each in values) else x


@follows(numpy.polyval)
def polyval(p: Any, x: Any) -> Any:
    """Return the values of a polynomial.

    >>> import unifyarr.numpy as np
    >>> np.polyval([3, 0, 1], 5)
    array(76)
    """
    if isinstance(x, numpy.poly1d):
        # A polynomial in the place of the number.
        composed = numpy.poly1d([0])
        for coefficient in as_array(p):
            composed = composed * x + coefficient
        return composed
    p, x = together(p, x)
    result = ua.zeros_like(x)
    for place in range(p.shape[0]):
        result = result * x + p[place]
    return result


@follows(numpy.polyadd)
def polyadd(a1: Any, a2: Any) -> Any:
    """Add two polynomials."""
    first, second = _aligned(a1, a2)
    return _as_given(first + second, a1, a2)


@follows(numpy.polysub)
def polysub(a1: Any, a2: Any) -> Any:
    """Subtract a polynomial from another."""
    first, second = _aligned(a1, a2)
    return _as_given(first - second, a1, a2)


def _aligned(a1: Any, a2: Any) -> tuple[Array, Array]:
    first, second = _pair(a1, a2)
    length = max(first.shape[0], second.shape[0])
    one, other = (ua.pad(x, ((length - x.shape[0], 0),)) if x.shape[0] < length else x for x in (first, second))
    return one, other


@follows(numpy.polymul)
def polymul(a1: Any, a2: Any) -> Any:
    """Multiply two polynomials."""
    first, second = (_without_zeros(x) if known_values(x) else x for x in _pair(a1, a2))
    wanted = ua.result_type(first, second)
    one, other = (x if x.shape[0] else ua.zeros_like(as_array([0.0]), dtype=wanted) for x in (first, second))
    one, other = together(one.astype(wanted), other.astype(wanted))
    return _as_given(ua.convolve(one, other), a1, a2)


@follows(numpy.polydiv)
def polydiv(u: Any, v: Any) -> tuple[Any, Any]:
    """Divide a polynomial by another: return the quotient and the remainder.

    >>> import unifyarr.numpy as np
    >>> np.polydiv([3.0, 5.0, 2.0], [2.0, 1.0])
    (array([1.5 , 1.75]), array([0.25]))
    """
    if isinstance(u, numpy.poly1d) or isinstance(v, numpy.poly1d):
        quotient, rest = polydiv(_coefficients(u), _coefficients(v))
        return numpy.poly1d(quotient), numpy.poly1d(rest)
    rest, divisor = _pair(u, v)
    wanted = ua.result_type(rest, divisor, "float64" if dtypes.rank(ua.result_type(rest, divisor)) < 2 else "float16")
    rest, divisor = rest.astype(wanted), divisor.astype(wanted)
    steps = rest.shape[0] - divisor.shape[0] + 1
    if steps < 1:
        return ua.zeros_like(rest[:1]), rest
    parts = []
    for _ in range(steps):
        factor = rest[0] / divisor[0]
        parts.append(factor)
        length = divisor.shape[0]
        rest = ua.concat([rest[1:length] - factor * divisor[1:], rest[length:]])
    quotient = ua.stack(parts)
    if not rest.shape[0]:
        return quotient, ua.zeros_like(quotient[:1])
    values = known_values(rest)
    if values is None:
        return quotient, rest
    # Leading coefficients of the remainder that are zero up to rounding are dropped, but for the last one.
    first = next((place for place, each in enumerate(values) if abs(each) > 1e-8), len(values) - 1)
    return quotient, rest[first:]


@follows(numpy.polyder)
def polyder(p: Any, m: int = 1) -> Any:
    """Return the derivative of a polynomial, ``m`` times."""
    if m < 0:
        raise ValueError(f"a derivative is taken zero times or more, not {m} times: see polyint()")
    x = _coefficients(p)
    for _ in range(int(m)):
        powers = together(x, numpy.arange(x.shape[0] - 1, 0, -1))[1] if x.shape[0] > 1 else None
        x = x[:0] if powers is None else x[:-1] * powers
    return _as_given(x, p)


@follows(numpy.polyint)
def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """Return the integral of a polynomial, ``m`` times, with the constants ``k``."""
    if m < 0:
        raise ValueError(f"an integral is taken zero times or more, not {m} times: see polyder()")
    x = _coefficients(p)
    constants = ua.reshape(together(x, 0.0 if k is None else k)[1], (-1,))
    if constants.shape[0] == 1:
        constants = ua.broadcast_to(constants, (max(int(m), 1),))
    if constants.shape[0] < m:
        raise ValueError(f"k has {constants.shape[0]} constants for {m} integrals: pass one, or one for each")
    for place in range(int(m)):
        powers = together(x, numpy.arange(x.shape[0], 0, -1))[1]
        x = ua.concat([x / powers, constants[place : place + 1]])
    return _as_given(x, p)


@follows(numpy.poly)
def poly(seq_of_zeros: Any) -> Array:
    """Return the polynomial with given roots, or the characteristic one of a matrix."""
    zeros = as_array(seq_of_zeros)
    if zeros.ndim == 2 and zeros.shape[0] == zeros.shape[1] and zeros.shape[0]:
        zeros = real_where_real(linalg.eigvals(zeros))
    elif zeros.ndim != 1:
        raise ValueError(f"poly() takes roots, or a square matrix, not an array of shape {zeros.shape}")
    if dtypes.rank(zeros.dtype) < 2:
        zeros = zeros.astype("float64")
    if zeros.shape[0] == 0:
        return together(zeros, 1.0)[1]
    result = ua.ones_like(zeros[:1])
    for place in range(zeros.shape[0]):
        result = ua.concat([result, ua.zeros_like(result[:1])]) - zeros[place] * ua.concat(
            [ua.zeros_like(result[:1]), result]
        )
    if dtypes.rank(result.dtype) == 3:
        values = known_values(zeros) or [1j]
        pairs = sorted(values, key=lambda z: (z.real, z.imag)) == sorted(
            (each.conjugate() for each in values), key=lambda z: (z.real, z.imag)
        )
        return result.real.copy() if pairs else result
    return result


@follows(numpy.roots)
def roots(p: Any) -> Array:
    """Return the roots of a polynomial, as eigenvalues of its companion matrix.

    >>> import unifyarr.numpy as np
    >>> np.roots([1.0, -3.0, 2.0])
    array([2., 1.])
    """
    x = _coefficients(p)
    if x.ndim != 1:
        raise ValueError(f"the coefficients of a polynomial have one axis, not shape {x.shape}")
    x = _without_zeros(x) if known_values(x) is not None else x
    zeros = 0
    for each in reversed(known_values(x) or []):
        if each != 0:
            break
        zeros += 1
    x = x[: x.shape[0] - zeros]
    x = x if dtypes.rank(x.dtype) > 1 else x.astype("float64")
    degree = x.shape[0] - 1
    nothing = together(x, numpy.zeros(zeros))[1]
    if degree < 1:
        return nothing
    below = together(x, numpy.eye(degree, k=-1)[1:])[1].astype(x.dtype)
    companion = ua.concat([ua.reshape(-x[1:] / x[0], (1, -1)), below])
    found = real_where_real(linalg.eigvals(companion))
    return ua.concat([found, nothing.astype(found.dtype)]) if zeros else found


@follows(numpy.polyfit)
def polyfit(x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False) -> Any:
    """Fit a polynomial to points by least squares.

    >>> import unifyarr.numpy as np
    >>> np.polyfit([0.0, 1.0, 2.0], [1.0, 3.0, 5.0], 1).round()
    array([2., 1.])
    """
    order = int(deg) + 1
    x, y = together(x, y)
    x, y = (each if dtypes.rank(each.dtype) > 1 else each.astype("float64") for each in (x, y))
    check_points(x, y, order)
    rows = ua.vander(x, order)
    result, residuals, rank, values, rcond, scale = fitted(rows, y, w, x, rcond)
    if full:
        return result, residuals, rank, values, rcond
    if not cov:
        return result
    rows = rows if w is None else rows * ua.expand_dims(together(x, w)[1], -1)
    scaled = rows / scale
    base = linalg.inv(ua.matmul(scaled.T, scaled)) / (ua.expand_dims(scale, -1) * scale)
    if cov == "unscaled":
        factor: Any = 1.0
    elif x.shape[0] <= order:
        raise ValueError(f"the covariance of {order} coefficients takes more than {x.shape[0]} points: pass more")
    else:
        factor = residuals / (x.shape[0] - order)
    return result, base * factor if y.ndim == 1 else ua.expand_dims(base, -1) * factor


def check_points(x: Array, y: Array, order: int) -> None:
    """Raise unless points are those of a fit of so many coefficients."""
    if order < 1:
        raise ValueError(f"the degree of a polynomial is zero or more, not {order - 1}")
    if x.ndim != 1 or x.size == 0:
        raise TypeError(f"the places of points have one axis and an element or more, not shape {x.shape}")
    if y.ndim not in (1, 2) or y.shape[0] != x.shape[0]:
        raise TypeError(f"y has a value, or a row, for each of {x.shape[0]} places, not shape {y.shape}")


def fitted(rows: Array, y: Array, w: Any, x: Array, rcond: Any) -> tuple[Any, ...]:
    """Return coefficients of least squares, residuals, rank, singular values, ``rcond`` and the scale of columns."""
    if w is not None:
        weights = cast(together(x, w)[1], dtypes.real_of(x.dtype))
        if weights.ndim != 1 or weights.shape[0] != y.shape[0]:
            raise TypeError(f"w has a weight for each of {y.shape[0]} points, not shape {weights.shape}")
        rows = rows * ua.expand_dims(weights, -1)
        y = y * (ua.expand_dims(weights, -1) if y.ndim == 2 else weights)
    if rcond is None:
        rcond = x.shape[0] * float(numpy.finfo(x.dtype.dtype).eps)
    scale = ua.sqrt(ua.sum(ua.abs(rows) ** 2, axis=0))
    scale = ua.where(scale == 0, 1, scale)
    wanted = ua.result_type(rows, y)
    solved = linalg.lstsq((rows / scale).astype(wanted), y.astype(wanted), rcond=rcond)
    result = (solved[0].T / scale).T
    return result, solved[1], solved[2], solved[3], rcond, scale
