"""Calls of every function, in one table: a line for each function, or for several that take the same arguments.

The tests of ``out=``, of shared memory, of calls that fail, of ``debug()`` and others run on these lines. The first
case of a line is *the* call of the function: every kind of ``out`` is tried on it, and its values are compared. The
others are what tempts an engine to hand back its input: an axis of length one, nothing to do, a dtype that is there
already. Where the shape isn't the point the arrays are those of ``table.py``, of shape (2, 3): JAX compiles for each
shape and dtype.

An elementwise function needs a line only if these arrays are outside of its domain.
"""

from __future__ import annotations

import numpy as np

from unifyarr.testing.declarations import DECLARATIONS

from . import arrays, images, linear_algebra, networks, numbers, sequences, special
from .table import CASES, RETURNING_SEVERAL, A, B, Case, J, K, case, line

__all__ = [
    "CASES",
    "RETURNING_SEVERAL",
    "Case",
    "arrays",
    "case",
    "has_loop",
    "images",
    "linear_algebra",
    "networks",
    "numbers",
    "sequences",
    "special",
]


def has_loop(ufunc: np.ufunc, *operands: object) -> bool:
    """Return whether a ufunc takes operands of these dtypes."""
    try:
        with np.errstate(all="ignore"):
            ufunc(*operands)
    except TypeError:
        return False
    return True


for _name, _declaration in DECLARATIONS.items():
    if _declaration.ufunc is not None and _name not in CASES:
        _count = _declaration.ufunc.nin
        line(_name, case(*((A, B) if has_loop(_declaration.ufunc, *(A, B)[:_count]) else (K, J))[:_count]))
