"""Checks of matrices."""

from __future__ import annotations

from typing import Any

from numpy.linalg import LinAlgError

from ... import functions as ua
from ..._core.arrays.array import Array
from ...errors import DtypeError
from .._following import as_array


def matrices(given: Any, name: str, *, square: bool = False, half: bool = False) -> Array:
    """Return an array of matrices; ``half`` says whether the function takes half precision."""
    x = as_array(given)
    if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        kind = "square matrices, of shape (..., M, M)" if square else "matrices, of shape (..., M, N)"
        raise LinAlgError(f"{name}() takes {kind}, not an array of shape {x.shape}")
    if not half and x.dtype.name in ("float16", "bfloat16"):
        raise DtypeError(
            f"{name}() of NumPy's takes no {x.dtype}: convert the array, x.astype('float32'), or call "
            f"unifyarr.linalg.{name}(), which computes in float32"
        )
    return x


def triangle(a: Any, name: str, half: str) -> Array:
    # A Hermitian matrix whose lower triangle is the one that counts.
    a = matrices(a, name, square=True)
    if half not in ("L", "U", "l", "u"):
        raise ValueError(f"UPLO is 'L' or 'U', not {half!r}")
    return a if half in "Ll" else ua.conj(a.mT)
