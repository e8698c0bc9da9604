"""Series of Chebyshev polynomials."""

from __future__ import annotations

from typing import Any

from numpy.polynomial import chebyshev as theirs

from ..._core.arrays.array import Array
from .._following import follows
from . import _series

__all__ = ["chebfit", "chebval", "chebvander"]


def _recurrence(k: int) -> tuple[float, float, float]:
    return (1 if k == 0 else 2), 0, 1


@follows(theirs.chebval)
def chebval(x: Any, c: Any, tensor: bool = True) -> Array:
    """Return the values of a series of Chebyshev polynomials."""
    return _series.value(x, c, tensor, _recurrence)


@follows(theirs.chebvander)
def chebvander(x: Any, deg: Any) -> Array:
    """Return the values of Chebyshev polynomials up to a degree, along a new last axis."""
    return _series.vander(x, deg, _recurrence)


@follows(theirs.chebfit)
def chebfit(x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None) -> Any:
    """Fit a series of Chebyshev polynomials to points by least squares."""
    return _series.fit(x, y, deg, rcond, full, w, _recurrence)


def __getattr__(name: str) -> Any:
    raise _series.missing("chebyshev", theirs, name)
