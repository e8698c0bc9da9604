"""Series of Laguerre polynomials."""

from __future__ import annotations

from typing import Any

from numpy.polynomial import laguerre as theirs

from ..._core.arrays.array import Array
from .._following import follows
from . import _series

__all__ = ["lagfit", "lagval", "lagvander"]


def _recurrence(k: int) -> tuple[float, float, float]:
    return -1 / (k + 1), (2 * k + 1) / (k + 1), k / (k + 1)


@follows(theirs.lagval)
def lagval(x: Any, c: Any, tensor: bool = True) -> Array:
    """Return the values of a series of Laguerre polynomials."""
    return _series.value(x, c, tensor, _recurrence)


@follows(theirs.lagvander)
def lagvander(x: Any, deg: Any) -> Array:
    """Return the values of Laguerre polynomials up to a degree, along a new last axis."""
    return _series.vander(x, deg, _recurrence)


@follows(theirs.lagfit)
def lagfit(x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None) -> Any:
    """Fit a series of Laguerre polynomials to points by least squares."""
    return _series.fit(x, y, deg, rcond, full, w, _recurrence)


def __getattr__(name: str) -> Any:
    raise _series.missing("laguerre", theirs, name)
