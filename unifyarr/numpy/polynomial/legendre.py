"""Series of Legendre polynomials."""

from __future__ import annotations

from typing import Any

from numpy.polynomial import legendre as theirs

from ..._core.arrays.array import Array
from .._following import follows
from . import _series

__all__ = ["legfit", "legval", "legvander"]


def _recurrence(k: int) -> tuple[float, float, float]:
    return (2 * k + 1) / (k + 1), 0, k / (k + 1)


@follows(theirs.legval)
def legval(x: Any, c: Any, tensor: bool = True) -> Array:
    """Return the values of a series of Legendre polynomials."""
    return _series.value(x, c, tensor, _recurrence)


@follows(theirs.legvander)
def legvander(x: Any, deg: Any) -> Array:
    """Return the values of Legendre polynomials up to a degree, along a new last axis."""
    return _series.vander(x, deg, _recurrence)


@follows(theirs.legfit)
def legfit(x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None) -> Any:
    """Fit a series of Legendre polynomials to points by least squares."""
    return _series.fit(x, y, deg, rcond, full, w, _recurrence)


def __getattr__(name: str) -> Any:
    raise _series.missing("legendre", theirs, name)
