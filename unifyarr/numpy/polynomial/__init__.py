"""Polynomials and series: NumPy's polynomial, its values, fits and classes.

The classes keep their coefficients in arrays of NumPy's, on the host: an array that carries a derivative isn't taken.
Their values are traced and differentiated like the rest.
"""

from __future__ import annotations

from numpy.polynomial import set_default_printstyle

from . import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial
from ._classes import Chebyshev, Hermite, HermiteE, Laguerre, Legendre, Polynomial

__all__ = [
    "Chebyshev",
    "Hermite",
    "HermiteE",
    "Laguerre",
    "Legendre",
    "Polynomial",
    "chebyshev",
    "hermite",
    "hermite_e",
    "laguerre",
    "legendre",
    "polynomial",
    "set_default_printstyle",
]
