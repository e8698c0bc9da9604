"""Triangular systems and factors by LAPACK on NumPy, where SciPy is installed: NumPy itself calls no such routines."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np

from ..kernels import permutation

_PREFIXES = {"f": "s", "d": "d", "F": "c", "D": "z"}


@functools.cache
def _lapack(name: str, char: str) -> Any:
    """Return a routine of LAPACK, ``None`` without SciPy, which is imported at the first call that needs it."""
    try:
        routines = importlib.import_module("scipy.linalg.lapack")
    except ImportError:
        return None
    return getattr(routines, _PREFIXES[char] + name)


def solve_triangular(x1: np.ndarray, x2: np.ndarray, /, *, lower: bool, unit_diagonal: bool) -> Any:
    """Solve for one matrix; a stack of them is solved by halves, in one call for all."""
    solve = _lapack("trtrs", x1.dtype.char) if x1.ndim == x2.ndim == 2 else None
    if solve is None:
        return NotImplemented
    if x1.flags.c_contiguous:
        # LAPACK's columns are the rows here: the transposed matrix is the same memory.
        found, failed = solve(x1.T, x2, lower=not lower, trans=1, unitdiag=unit_diagonal)
    else:
        found, failed = solve(x1, x2, lower=lower, unitdiag=unit_diagonal)
    if failed:
        raise np.linalg.LinAlgError(f"the triangle is singular: number {failed - 1} of its diagonal is zero")
    return np.ascontiguousarray(found)


def lu_factor(x: np.ndarray, /) -> Any:
    """Return the compact factors, and the rows that each row was exchanged with."""
    factor = _lapack("getrf", x.dtype.char)
    if factor is None:
        return NotImplemented
    *batch, rows, columns = x.shape
    compact, pivots = np.empty(x.shape, x.dtype), np.empty((*batch, min(rows, columns)), np.int64)
    for place in np.ndindex(*batch):
        # Zeros among the pivots are no error: the factors are there.
        compact[place], pivots[place], _ = factor(x[place])
    return compact, pivots


def lu(x: np.ndarray, /) -> Any:
    """Return the compact factors, and the order of the rows."""
    found = lu_factor(x)
    if found is NotImplemented:
        return found
    compact, pivots = found
    return compact, permutation(pivots, x.shape[-2])


def lu_permutation(pivots: np.ndarray, /) -> np.ndarray:
    """Return the order of as many rows as there are pivots."""
    return permutation(pivots, pivots.shape[-1])
