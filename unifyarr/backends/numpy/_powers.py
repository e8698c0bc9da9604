"""Powers of arrays to numbers that NumPy has faster functions for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _direct as np

# From so many elements on, looking at all of them costs less than it saves.
MANY = 4096
_WIDE = frozenset("fd")
# NumPy's ``**`` calls these functions for complex numbers: they are faster than ``pow``, and round in another way.
COMPLEX_POWERS: dict[Any, Callable[..., Any]] = {2: np.square, -1: np.reciprocal, 0.5: np.sqrt}


def complex_power(x: np.ndarray, exponent: np.ndarray) -> Callable[..., Any] | None:
    """Return the function of ``x`` alone that gives its powers to one exponent of the same dtype, if there is one."""
    is_one = exponent.ndim == 0 and x.dtype == exponent.dtype
    return COMPLEX_POWERS.get(exponent.item()) if is_one else None


def is_root(x: np.ndarray, exponent: Any) -> bool:
    """Return whether square roots are faster and equal: those of -0.0, -inf and NaN may differ."""
    return x.size >= MANY and bool(exponent == 0.5) and x.dtype.char in _WIDE and bool(x.min() > 0)


def power(x: np.ndarray, exponent: float) -> Any:
    """Return ``x`` to the power of a Python number."""
    if exponent == 2:
        # An integer stays one beside an integer only.
        if x.dtype.kind == "f" or (type(exponent) is int and x.dtype.kind in "iu"):
            return np.square(x)
    elif exponent == -1:
        if x.dtype.kind == "f":
            return np.reciprocal(x)
    elif x.size >= MANY and is_root(x, exponent):
        return np.sqrt(x)
    return np.pow(x, exponent)
