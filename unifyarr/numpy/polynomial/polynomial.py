"""Polynomials as arrays of coefficients, the lowest power first."""

from __future__ import annotations

from typing import Any

from numpy.polynomial import polynomial as theirs

from ... import functions as ua
from ..._core.arrays.array import Array
from ...functions._quantiles import known_values
from .. import _polynomials
from .._following import as_array, follows
from . import _series

__all__ = [
    "polyadd",
    "polyder",
    "polyfit",
    "polyfromroots",
    "polyint",
    "polymul",
    "polyroots",
    "polysub",
    "polyval",
    "polyvander",
]


@follows(theirs.polyval)
def polyval(x: Any, c: Any, tensor: bool = True) -> Array:
    """Return the values of a polynomial.

    >>> import unifyarr.numpy as np
    >>> np.polynomial.polynomial.polyval(2.0, [1, 0, 3])
    array(13.)
    """
    return _series.value(x, c, tensor, _series.powers)


@follows(theirs.polyvander)
def polyvander(x: Any, deg: Any) -> Array:
    """Return the powers up to a degree, along a new last axis."""
    return _series.vander(x, deg, _series.powers)


@follows(theirs.polyfit)
def polyfit(x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None) -> Any:
    """Fit a polynomial to points by least squares."""
    return _series.fit(x, y, deg, rcond, full, w, _series.powers)


def _floating(c: Any) -> Array:
    x = as_array(c)
    x = ua.reshape(x, (1,)) if x.ndim == 0 else x
    return x if ua.isdtype(x.dtype, ("real floating", "complex floating")) else x.astype("float64")


def _trimmed(c: Array) -> Array:
    """Return coefficients without the highest ones that are zero; inside a trace as they are."""
    values = known_values(c)
    length = c.shape[0] if values is None else max((k + 1 for k, each in enumerate(values) if each != 0), default=1)
    return c[:length]


@follows(theirs.polyadd)
def polyadd(c1: Any, c2: Any) -> Array:
    """Add two polynomials."""
    return _trimmed(ua.flip(_polynomials.polyadd(ua.flip(_floating(c1)), ua.flip(_floating(c2)))))


@follows(theirs.polysub)
def polysub(c1: Any, c2: Any) -> Array:
    """Subtract a polynomial from another."""
    return _trimmed(ua.flip(_polynomials.polysub(ua.flip(_floating(c1)), ua.flip(_floating(c2)))))


@follows(theirs.polymul)
def polymul(c1: Any, c2: Any) -> Array:
    """Multiply two polynomials."""
    return _trimmed(ua.convolve(_trimmed(_floating(c1)), _trimmed(_floating(c2))))


def _along_first(c: Any, axis: int) -> Array:
    return ua.moveaxis(_floating(c), axis, 0)


@follows(theirs.polyder)
def polyder(c: Any, m: int = 1, scl: Any = 1, axis: int = 0) -> Array:
    """Return the derivative of a polynomial, ``m`` times, each time multiplied by ``scl``."""
    if m < 0:
        raise ValueError(f"a derivative is taken zero times or more, not {m} times")
    x = _along_first(c, axis)
    for _ in range(int(m)):
        factors = [k * scl for k in range(1, x.shape[0])]
        rows = [x[k + 1] * factor for k, factor in enumerate(factors)]
        x = ua.stack(rows) if rows else ua.zeros_like(x[:1])
    return ua.moveaxis(x, 0, axis)


@follows(theirs.polyint)
def polyint(c: Any, m: int = 1, k: Any = [], lbnd: Any = 0, scl: Any = 1, axis: int = 0) -> Array:  # noqa: B006
    """Return the integral of a polynomial, ``m`` times, with the values ``k`` at ``lbnd``."""
    constants = list(k) if hasattr(k, "__len__") else [k]
    if m < 0:
        raise ValueError(f"an integral is taken zero times or more, not {m} times")
    if len(constants) > m:
        raise ValueError(f"k has {len(constants)} constants for {m} integrals")
    x = _along_first(c, axis)
    for constant in [*constants, *[0] * (int(m) - len(constants))]:
        rows = [ua.zeros_like(x[0]), *(x[place] * scl / (place + 1) for place in range(x.shape[0]))]
        begun = ua.stack(rows)
        rows[0] = constant - polyval(lbnd, begun)
        x = ua.stack([rows[0] + ua.zeros_like(rows[1]), *rows[1:]])
    return ua.moveaxis(x, 0, axis)


@follows(theirs.polyfromroots)
def polyfromroots(roots: Any) -> Array:
    """Return the polynomial with given roots, whose highest coefficient is one."""
    x = _floating(roots) if as_array(roots).size else None
    if x is None:
        return ua.ones_like(_floating([1.0]))
    result = ua.ones_like(x[:1])
    for place in range(x.shape[0]):
        zero = ua.zeros_like(result[:1])
        result = ua.concat([zero, result]) - x[place] * ua.concat([result, zero])
    return result


@follows(theirs.polyroots)
def polyroots(c: Any) -> Array:
    """Return the roots of a polynomial, in ascending order."""
    x = _trimmed(_floating(c))
    if x.shape[0] < 2:
        return x[:0]
    found = _polynomials.roots(ua.flip(x))
    order = ua.argsort(found.imag, stable=True) if ua.isdtype(found.dtype, "complex floating") else None
    found = found if order is None else ua.take(found, order)
    return ua.take(found, ua.argsort(found.real if order is not None else found, stable=True))


def __getattr__(name: str) -> Any:
    raise _series.missing("polynomial", theirs, name)
