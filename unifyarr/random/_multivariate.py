"""Distributions whose elements are vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np

from .._core.arrays.array import Array
from .._core.values.arguments import as_integer
from ..errors import DtypeError, ShapeError
from ._arguments import NOT_NEGATIVE, POSITIVE, Where, as_host, beside, check, distribution, places, wanted
from ._base import Base
from ._host import cast

if TYPE_CHECKING:
    from ..typing import ArrayLike, Shape
    from ._arguments import Destination, DrawOptions, Size


class Multivariate(Base):
    """Distributions whose elements are vectors: the last axis of the result."""

    __slots__ = ()

    @distribution(n=NOT_NEGATIVE, pvals=NOT_NEGATIVE)
    def multinomial(self, n: ArrayLike, pvals: ArrayLike, size: Size = None, **options: Unpack[DrawOptions]) -> Array:
        """Draw how often each of several things happens in some trials.

        The result has one more axis than ``size``: of the things.

        Parameters
        ----------
        n
            How many trials.
        pvals
            The probabilities of the things along the last axis, whose sum is 1.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).multinomial(10, [0.2, 0.3, 0.5], size=2)
        array([[0, 3, 7],
               [2, 1, 7]])

        Source: ``numpy.random.Generator.multinomial``.
        """
        self._only_host("multinomial")
        count, p = as_host(n), np.asarray(as_host(pvals))
        check("multinomial", {"n": count, "pvals": p})
        last = _last_axis("multinomial", "pvals", p)
        sums = np.sum(p, axis=-1, dtype=np.float64)
        if not np.all(np.abs(sums - 1) < 1e-6):
            raise ValueError(f"multinomial() takes pvals whose sum is 1, not {np.max(sums)}: divide them by their sum")
        where = Where(*wanted("multinomial", size, options))
        return self._vectors(
            "multinomial", beside(where, n, pvals), "iuf", (np.shape(count), p.shape[:-1]), last, n=count, pvals=p
        )

    @distribution(colors=NOT_NEGATIVE, nsample=NOT_NEGATIVE)
    def multivariate_hypergeometric(
        self,
        colors: ArrayLike,
        nsample: int,
        size: Size = None,
        *,
        method: Literal["marginals", "count"] = "marginals",
        **options: Unpack[DrawOptions],
    ) -> Array:
        """Draw how many of each colour are among some that are drawn from an urn.

        The result has one more axis than ``size``: of the colours.

        Parameters
        ----------
        colors
            How many of each colour there are, 1-d.
        nsample
            How many are drawn, at most as many as there are.
        method
            How: ``"marginals"`` draws one colour after the other, ``"count"`` permutes all that there are.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).multivariate_hypergeometric([10, 5, 1], 6, size=2)
        array([[6, 0, 0],
               [4, 1, 1]])

        Source: ``numpy.random.Generator.multivariate_hypergeometric``.
        """
        self._only_host("multivariate_hypergeometric")
        nsample = as_integer(nsample, "nsample")
        urn = np.asarray(as_host(colors))
        check("multivariate_hypergeometric", {"colors": urn, "nsample": nsample})
        last = _last_axis("multivariate_hypergeometric", "colors", urn, ndim=1)
        if nsample > urn.sum():
            raise ValueError(f"multivariate_hypergeometric() draws {nsample} of {urn.sum()}: there are no more")
        where = Where(*wanted("multivariate_hypergeometric", size, options))
        given = {"colors": urn, "nsample": nsample, "method": method}
        return self._vectors("multivariate_hypergeometric", beside(where, colors), "iuf", (), last, **given)

    @distribution(alpha=POSITIVE)
    def dirichlet(self, alpha: ArrayLike, size: Size = None, **options: Unpack[DrawOptions]) -> Array:
        """Draw probabilities of several things, whose sum is 1.

        The result has one more axis than ``size``: of the things.

        Parameters
        ----------
        alpha
            The concentration at each thing, 1-d, above zero.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).dirichlet([1.0, 2.0, 3.0])
        array([0.02614285, 0.56662845, 0.4072287 ])

        Source: ``numpy.random.Generator.dirichlet``.
        """
        self._only_host("dirichlet")
        concentration = np.asarray(as_host(alpha))
        check("dirichlet", {"alpha": concentration})
        last = _last_axis("dirichlet", "alpha", concentration, ndim=1)
        where = Where(*wanted("dirichlet", size, options))
        return self._vectors("dirichlet", beside(where, alpha), "f", (), last, alpha=concentration)

    @distribution()
    def multivariate_normal(
        self,
        mean: ArrayLike,
        cov: ArrayLike,
        size: Size = None,
        *,
        check_valid: Literal["warn", "raise", "ignore"] = "raise",
        tol: float = 1e-8,
        method: Literal["svd", "eigh", "cholesky"] = "svd",
        **options: Unpack[DrawOptions],
    ) -> Array:
        """Draw vectors from a normal distribution.

        The result has one more axis than ``size``: of the vector's components.

        Parameters
        ----------
        mean
            The mean, 1-d.
        cov
            The covariance, a symmetric and positive-semidefinite matrix.
        check_valid
            What happens where it's not that: ``"raise"``, ``"warn"`` or ``"ignore"``. NumPy's own default is to warn.
        tol
            How far from that it may be.
        method
            What it's decomposed by: ``"svd"``, ``"eigh"`` or ``"cholesky"``.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> x = ua.random.Generator(0).multivariate_normal([0.0, 10.0], [[2.0, 1.0], [1.0, 2.0]], size=1000)
        >>> x.shape
        (1000, 2)

        Source: ``numpy.random.Generator.multivariate_normal``.
        """
        self._only_host("multivariate_normal")
        center, covariance = np.asarray(as_host(mean)), np.asarray(as_host(cov))
        last = _last_axis("multivariate_normal", "mean", center, ndim=1)
        if covariance.shape != (*last, *last):
            raise ShapeError(
                f"multivariate_normal() of a mean of shape {last} takes a cov of shape {(*last, *last)}, not "
                f"{covariance.shape}"
            )
        if not isinstance(method, str):
            raise TypeError(f"method of multivariate_normal() is a string, not {type(method).__name__}")
        given = {"mean": center, "cov": covariance, "check_valid": check_valid, "tol": tol, "method": method}
        where = Where(*wanted("multivariate_normal", size, options))
        return self._vectors("multivariate_normal", beside(where, mean, cov), "f", (), last, **given)

    def _vectors(
        self, name: str, where: Where, kinds: str, shapes: Sequence[Shape], event: Shape, **given: Any
    ) -> Array:
        found = places(name, where, float if kinds == "f" else int, kinds, shapes, event)

        def draw(host: np.random.Generator, place: Destination) -> np.ndarray:
            size = place.shape[: len(place.shape) - len(event)]
            return cast(name, np.asarray(getattr(host, name)(**given, size=size)), place.dtype)

        return self._deliver(name, where, found, draw)


def _last_axis(name: str, parameter: str, values: np.ndarray, ndim: int | None = None) -> Shape:
    if values.dtype.kind not in "biuf":
        raise DtypeError(f"{name}() takes a {parameter} of real numbers, not of {values.dtype}")
    if values.ndim == 0 or ndim not in (None, values.ndim):
        wanted = "at least one axis" if ndim is None else "one axis"
        raise ShapeError(f"{name}() takes a {parameter} with {wanted}, not of shape {values.shape}")
    return values.shape[-1:]
