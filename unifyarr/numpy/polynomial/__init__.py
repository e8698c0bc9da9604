"""Polynomials and series: NumPy's polynomial, its values and fits.

The classes, such as ``Polynomial``, aren't here: they keep NumPy's own arrays of coefficients.
"""

from __future__ import annotations

from typing import Any

import numpy.polynomial as theirs

from . import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

__all__ = ["chebyshev", "hermite", "hermite_e", "laguerre", "legendre", "polynomial"]


def __getattr__(name: str) -> Any:
    if hasattr(theirs, name):
        raise AttributeError(
            f"module 'unifyarr.numpy.polynomial' has no {name!r}: classes of polynomials keep NumPy's own arrays, call "
            "the functions of unifyarr.numpy.polynomial.polynomial"
        )
    raise AttributeError(f"module 'unifyarr.numpy.polynomial' has no attribute {name!r}, as NumPy's has none")
