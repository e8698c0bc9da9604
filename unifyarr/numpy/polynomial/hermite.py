"""Series of Hermite polynomials of the physicists."""

from __future__ import annotations

from typing import Any

from numpy.polynomial import hermite as theirs

from ..._core.arrays.array import Array
from .._following import follows
from . import _series

__all__ = ["hermfit", "hermval", "hermvander"]


def _recurrence(k: int) -> tuple[float, float, float]:
    return 2, 0, 2 * k


@follows(theirs.hermval)
def hermval(x: Any, c: Any, tensor: bool = True) -> Array:
    """Return the values of a series of Hermite polynomials of the physicists."""
    return _series.value(x, c, tensor, _recurrence)


@follows(theirs.hermvander)
def hermvander(x: Any, deg: Any) -> Array:
    """Return the values of Hermite polynomials of the physicists up to a degree, along a new last axis."""
    return _series.vander(x, deg, _recurrence)


@follows(theirs.hermfit)
def hermfit(x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None) -> Any:
    """Fit a series of Hermite polynomials of the physicists to points by least squares."""
    return _series.fit(x, y, deg, rcond, full, w, _recurrence)


def __getattr__(name: str) -> Any:
    raise _series.missing("hermite", theirs, name)
