"""Triangular systems and factors on NumPy: by LAPACK where SciPy is installed, since NumPy calls no such routines."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from ..kernels import declines, permutation
from . import _direct as np

_PREFIXES = {"f": "s", "d": "d", "F": "c", "D": "z"}


@functools.cache
def _lapack(name: str, char: str) -> Any:
    """Return a routine of LAPACK, ``None`` without SciPy, which is imported at the first call that needs it."""
    try:
        routines = importlib.import_module("scipy.linalg.lapack")
    except ImportError:
        return None
    return getattr(routines, _PREFIXES[char] + name)


def _lacks_a_routine(x1: Any, x2: Any, **_: Any) -> bool:
    return len(x1.shape) != 2 or len(x2.shape) != 2 or _lapack("trtrs", x1.dtype.char) is None


@declines(_lacks_a_routine)
def solve_triangular(x1: np.ndarray, x2: np.ndarray, /, *, lower: bool, unit_diagonal: bool) -> Any:
    """Solve for one matrix; a stack of them is solved by halves, in one call for all."""
    if _lacks_a_routine(x1, x2):
        return NotImplemented
    solve = _lapack("trtrs", x1.dtype.char)
    if x1.flags.c_contiguous:
        # LAPACK's columns are the rows here: the transposed matrix is the same memory.
        found, failed = solve(x1.T, x2, lower=not lower, trans=1, unitdiag=unit_diagonal)
    else:
        found, failed = solve(x1, x2, lower=lower, unitdiag=unit_diagonal)
    if failed:
        raise np.linalg.LinAlgError(f"the triangle is singular: number {failed - 1} of its diagonal is zero")
    return np.ascontiguousarray(found)


def lu_factor(x: np.ndarray, /) -> tuple[np.ndarray, np.ndarray]:
    """Return the compact factors, and the rows that each row was exchanged with."""
    factor = _lapack("getrf", x.dtype.char)
    *batch, rows, columns = x.shape
    if factor is None:
        compact, pivots = _eliminated(x.reshape(-1, rows, columns))
        return compact.reshape(x.shape), pivots.reshape(*batch, -1)
    compact, pivots = np.empty(x.shape, x.dtype), np.empty((*batch, min(rows, columns)), np.int64)
    for place in np.ndindex(*batch):
        # Zeros among the pivots are no error: the factors are there.
        compact[place], pivots[place], _ = factor(x[place])
    return compact, pivots


def _eliminated(stack: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Factor a stack of matrices column by column, as LAPACK does."""
    x, each = stack.copy(), np.arange(len(stack))
    pivots = np.empty((len(x), min(x.shape[1:])), np.int64)
    for place in range(pivots.shape[1]):
        column = x[:, place:, place]
        size = abs(column.real) + abs(column.imag) if x.dtype.kind == "c" else abs(column)
        other = pivots[:, place] = size.argmax(1) + place
        x[:, place], x[each, other] = x[each, other], x[:, place].copy()
        head = x[:, place, place, None]
        x[:, place + 1 :, place] /= np.where(head == 0, 1, head)
        x[:, place + 1 :, place + 1 :] -= x[:, place + 1 :, place, None] * x[:, place, None, place + 1 :]
    return x, pivots


def lu(x: np.ndarray, /) -> tuple[np.ndarray, np.ndarray]:
    """Return the compact factors, and the order of the rows."""
    compact, pivots = lu_factor(x)
    return compact, permutation(pivots, x.shape[-2])


def lu_permutation(pivots: np.ndarray, /) -> np.ndarray:
    """Return the order of as many rows as there are pivots."""
    return permutation(pivots, pivots.shape[-1])


def square_repeatedly(x: np.ndarray, counts: np.ndarray, /) -> np.ndarray:
    """Square each matrix as often as its count says, which has axes of length 1 in the places of the matrix's."""
    for count in range(int(counts.max(initial=0))):
        square = np.matmul(x, x)
        x = square if x.ndim == 2 else np.where(counts > count, square, x)
    return x
