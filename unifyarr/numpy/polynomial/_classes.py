"""The classes of polynomials: NumPy's own, which keep coefficients on the host, with values on every backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import numpy.polynomial as theirs

from ... import functions as ua
from ..._core.arrays.array import Array
from ..._core.values.called import make_boundaries
from .._following import as_array
from . import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

# The base of NumPy's classes, which has no public name.
_Base: Any = theirs.Polynomial.__base__

__all__ = ["Chebyshev", "Hermite", "HermiteE", "Laguerre", "Legendre", "Polynomial"]


@make_boundaries
class _OnArrays:
    """Results of NumPy's classes beside coefficients: arrays of the backend of their argument, or the current one."""

    _values: ClassVar[Any]
    # As NumPy's classes have them.
    coef: np.ndarray
    domain: np.ndarray
    mapparms: Callable[[], tuple[complex, complex]]

    def __call__(self, arg: Any) -> Any:
        if isinstance(arg, _Base):
            return super().__call__(arg)  # type: ignore[misc]
        offset, scale = self.mapparms()
        return self._values(ua.add(ua.multiply(as_array(arg), scale), offset), self.coef)

    def roots(self) -> Array:
        return as_array(super().roots())  # type: ignore[misc]

    def linspace(self, n: int = 100, domain: Any = None) -> tuple[Array, Array]:
        first, last = self.domain if domain is None else domain
        x = ua.linspace(first, last, n)
        return x, self(x)


class Polynomial(_OnArrays, theirs.Polynomial):  # type: ignore[misc]
    """A polynomial of powers: NumPy's class, whose values are arrays of any backend.

    >>> import unifyarr.numpy as np
    >>> p = np.polynomial.Polynomial([1, 0, 3])
    >>> p(np.arange(3.0)), p.deriv()
    (array([ 1.,  4., 13.]), Polynomial([0., 6.], domain=[-1.,  1.], window=[-1.,  1.], symbol='x'))

    Source: NumPy's ``numpy.polynomial.Polynomial``, which says the rest.
    """

    _values = staticmethod(polynomial.polyval)


class Chebyshev(_OnArrays, theirs.Chebyshev):  # type: ignore[misc]
    """A series of Chebyshev polynomials: NumPy's class, whose values are arrays of any backend."""

    _values = staticmethod(chebyshev.chebval)


class Hermite(_OnArrays, theirs.Hermite):  # type: ignore[misc]
    """A series of Hermite polynomials: NumPy's class, whose values are arrays of any backend."""

    _values = staticmethod(hermite.hermval)


class HermiteE(_OnArrays, theirs.HermiteE):  # type: ignore[misc]
    """A series of the probabilists' Hermite polynomials: NumPy's class, whose values are arrays of any backend."""

    _values = staticmethod(hermite_e.hermeval)


class Laguerre(_OnArrays, theirs.Laguerre):  # type: ignore[misc]
    """A series of Laguerre polynomials: NumPy's class, whose values are arrays of any backend."""

    _values = staticmethod(laguerre.lagval)


class Legendre(_OnArrays, theirs.Legendre):  # type: ignore[misc]
    """A series of Legendre polynomials: NumPy's class, whose values are arrays of any backend."""

    _values = staticmethod(legendre.legval)
