"""Distributions of counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from .._core.arrays.array import Array
from ._arguments import (
    ABOVE_ONE,
    BELOW_ONE,
    NOT_NEGATIVE,
    POSITIVE,
    POSITIVE_PROBABILITY,
    PROBABILITY,
    distribution,
)
from ._base import Base

if TYPE_CHECKING:
    from ..typing import ArrayLike
    from ._arguments import DrawOptions, Size


class Discrete(Base):
    """Discrete distributions."""

    __slots__ = ()

    @distribution(p=PROBABILITY)
    def bernoulli(self, p: ArrayLike = 0.5, size: Size = None, **options: Unpack[DrawOptions]) -> Array:
        """Draw true with a probability, else false.

        It's whether ``random()`` of float64 is less than ``p``. The dtype is bool by default, or another one for real
        numbers.

        Parameters
        ----------
        p
            The probability of true, from 0 to 1.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).bernoulli([0.1, 0.5, 0.9])
        array([ True,  True,  True])

        Source: ``Generator.random() < p``, as NumPy has no such method.
        """
        return self._draw("bernoulli", size, options, kinds="biuf", p=p)

    @distribution(n=NOT_NEGATIVE, p=PROBABILITY)
    def binomial(self, n: ArrayLike, p: ArrayLike, size: Size = None, **options: Unpack[DrawOptions]) -> Array:
        """Draw how many of some trials succeed.

        Parameters
        ----------
        n
            How many trials, an integer that is not negative.
        p
            The probability of a success.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).binomial(10, 0.5, size=3)
        array([2, 4, 5])

        Source: ``numpy.random.Generator.binomial``.
        """
        return self._draw("binomial", size, options, kinds="iuf", n=n, p=p)

    @distribution(n=POSITIVE, p=POSITIVE_PROBABILITY)
    def negative_binomial(self, n: ArrayLike, p: ArrayLike, size: Size = None, **options: Unpack[DrawOptions]) -> Array:
        """Draw how many trials fail before a number of them succeeds.

        Parameters
        ----------
        n
            How many successes, above zero.
        p
            The probability of a success, above 0.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).negative_binomial(3, 0.5, size=3)
        array([1, 1, 5])

        Source: ``numpy.random.Generator.negative_binomial``.
        """
        return self._draw("negative_binomial", size, options, kinds="iuf", n=n, p=p)

    @distribution(p=POSITIVE_PROBABILITY)
    def geometric(self, p: ArrayLike, size: Size = None, **options: Unpack[DrawOptions]) -> Array:
        """Draw how many trials it takes until one succeeds.

        Parameters
        ----------
        p
            The probability of a success, above 0.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).geometric(0.2, size=3)
        array([1, 2, 5])

        Source: ``numpy.random.Generator.geometric``.
        """
        return self._draw("geometric", size, options, kinds="iuf", p=p)

    @distribution(ngood=NOT_NEGATIVE, nbad=NOT_NEGATIVE, nsample=NOT_NEGATIVE)
    def hypergeometric(
        self, ngood: ArrayLike, nbad: ArrayLike, nsample: ArrayLike, size: Size = None, **options: Unpack[DrawOptions]
    ) -> Array:
        """Draw how many good ones are among some that are drawn from good and bad ones.

        Parameters
        ----------
        ngood
            How many good ones there are, an integer.
        nbad
            How many bad ones there are, an integer.
        nsample
            How many are drawn, at most as many as there are.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).hypergeometric(10, 5, 6, size=3)
        array([6, 4, 3])

        Source: ``numpy.random.Generator.hypergeometric``.
        """
        return self._draw(
            "hypergeometric",
            size,
            options,
            kinds="iuf",
            ngood=ngood,
            nbad=nbad,
            nsample=nsample,
        )

    @distribution(lam=NOT_NEGATIVE)
    def poisson(self, lam: ArrayLike = 1.0, size: Size = None, **options: Unpack[DrawOptions]) -> Array:
        """Draw how many independent events happen.

        Parameters
        ----------
        lam
            The mean, not negative.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).poisson([1.0, 10.0, 100.0])
        array([ 0,  7, 90])

        Source: ``numpy.random.Generator.poisson``.
        """
        return self._draw("poisson", size, options, kinds="iuf", lam=lam)

    @distribution(p=BELOW_ONE)
    def logseries(self, p: ArrayLike, size: Size = None, **options: Unpack[DrawOptions]) -> Array:
        """Draw from the logarithmic series distribution.

        Parameters
        ----------
        p
            The parameter of the series, from 0 to below 1.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).logseries(0.9, size=3)
        array([6, 1, 1])

        Source: ``numpy.random.Generator.logseries``.
        """
        return self._draw("logseries", size, options, kinds="iuf", p=p)

    @distribution(a=ABOVE_ONE)
    def zipf(self, a: ArrayLike, size: Size = None, **options: Unpack[DrawOptions]) -> Array:
        """Draw ranks whose probability falls as a power of them.

        Parameters
        ----------
        a
            The exponent, above one.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).zipf(2.0, size=3)
        array([ 1,  1, 47])

        Source: ``numpy.random.Generator.zipf``.
        """
        return self._draw("zipf", size, options, kinds="iuf", a=a)
