"""Series of Hermite polynomials of the probabilists."""

from __future__ import annotations

from typing import Any

from numpy.polynomial import hermite_e as theirs

from ..._core.arrays.array import Array
from .._following import follows
from . import _series

__all__ = ["hermefit", "hermeval", "hermevander"]


def _recurrence(k: int) -> tuple[float, float, float]:
    return 1, 0, k


@follows(theirs.hermeval)
def hermeval(x: Any, c: Any, tensor: bool = True) -> Array:
    """Return the values of a series of Hermite polynomials of the probabilists."""
    return _series.value(x, c, tensor, _recurrence)


@follows(theirs.hermevander)
def hermevander(x: Any, deg: Any) -> Array:
    """Return the values of Hermite polynomials of the probabilists up to a degree, along a new last axis."""
    return _series.vander(x, deg, _recurrence)


@follows(theirs.hermefit)
def hermefit(x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None) -> Any:
    """Fit a series of Hermite polynomials of the probabilists to points by least squares."""
    return _series.fit(x, y, deg, rcond, full, w, _recurrence)


def __getattr__(name: str) -> Any:
    raise _series.missing("hermite_e", theirs, name)
