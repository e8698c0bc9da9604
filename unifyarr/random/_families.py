"""The other continuous distributions: of tests, of extremes, of directions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from .._core.arrays.array import Array
from ._arguments import NOT_NEGATIVE, POSITIVE, distribution
from ._base import Base

if TYPE_CHECKING:
    from ..typing import ArrayLike
    from ._arguments import DrawOptions, Size


class Families(Base):
    """Continuous distributions that only the host draws."""

    __slots__ = ()

    @distribution(df=POSITIVE)
    def chisquare(self, df: ArrayLike, size: Size = None, **options: Unpack[DrawOptions]) -> Array:
        """Draw from the chi-square distribution.

        Parameters
        ----------
        df
            The degrees of freedom, above zero.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).chisquare(3, size=3)
        array([1.91606283, 1.76163215, 0.42300448])

        Source: ``numpy.random.Generator.chisquare``.
        """
        return self._draw("chisquare", size, options, df=df)

    @distribution(df=POSITIVE, nonc=NOT_NEGATIVE)
    def noncentral_chisquare(
        self, df: ArrayLike, nonc: ArrayLike, size: Size = None, **options: Unpack[DrawOptions]
    ) -> Array:
        """Draw from the noncentral chi-square distribution.

        Parameters
        ----------
        df
            The degrees of freedom, above zero.
        nonc
            The non-centrality, not negative.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).noncentral_chisquare(3, 1.5, size=3)
        array([1.33994454, 1.99395627, 6.33233279])

        Source: ``numpy.random.Generator.noncentral_chisquare``.
        """
        return self._draw("noncentral_chisquare", size, options, df=df, nonc=nonc)

    @distribution(dfnum=POSITIVE, dfden=POSITIVE)
    def f(self, dfnum: ArrayLike, dfden: ArrayLike, size: Size = None, **options: Unpack[DrawOptions]) -> Array:
        """Draw from Fisher's F distribution.

        Parameters
        ----------
        dfnum
            The degrees of freedom of the numerator, above zero.
        dfden
            The degrees of freedom of the denominator, above zero.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).f(2, 5, size=3)
        array([0.08760938, 0.50404302, 1.63770124])

        Source: ``numpy.random.Generator.f``.
        """
        return self._draw("f", size, options, dfnum=dfnum, dfden=dfden)

    @distribution(dfnum=POSITIVE, dfden=POSITIVE, nonc=NOT_NEGATIVE)
    def noncentral_f(
        self, dfnum: ArrayLike, dfden: ArrayLike, nonc: ArrayLike, size: Size = None, **options: Unpack[DrawOptions]
    ) -> Array:
        """Draw from the noncentral F distribution.

        Parameters
        ----------
        dfnum
            The degrees of freedom of the numerator, above zero.
        dfden
            The degrees of freedom of the denominator, above zero.
        nonc
            The non-centrality, not negative.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).noncentral_f(2, 5, 1.0, size=3)
        array([0.80697969, 1.07906303, 2.09742508])

        Source: ``numpy.random.Generator.noncentral_f``.
        """
        return self._draw("noncentral_f", size, options, dfnum=dfnum, dfden=dfden, nonc=nonc)

    @distribution(df=POSITIVE)
    def standard_t(self, df: ArrayLike, size: Size = None, **options: Unpack[DrawOptions]) -> Array:
        """Draw from Student's t distribution.

        Parameters
        ----------
        df
            The degrees of freedom, above zero.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).standard_t(5, size=3)
        array([-0.2313006 , -2.42849899, -0.48554256])

        Source: ``numpy.random.Generator.standard_t``.
        """
        return self._draw("standard_t", size, options, df=df)

    @distribution()
    def standard_cauchy(self, size: Size = None, **options: Unpack[DrawOptions]) -> Array:
        """Draw from the Cauchy distribution of mode 0.

        Parameters
        ----------
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).standard_cauchy(3)
        array([  1.59861933,   0.22783239, -32.40060067])

        Source: ``numpy.random.Generator.standard_cauchy``.
        """
        return self._draw("standard_cauchy", size, options)

    @distribution(scale=NOT_NEGATIVE)
    def gumbel(
        self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Size = None, **options: Unpack[DrawOptions]
    ) -> Array:
        """Draw from the Gumbel distribution, that of the largest of many values.

        Parameters
        ----------
        loc
            The mode.
        scale
            The scale, not negative.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).gumbel(size=3)
        array([4.25684602, 1.21035177, 0.44967378])

        Source: ``numpy.random.Generator.gumbel``.
        """
        return self._draw("gumbel", size, options, loc=loc, scale=scale)

    @distribution(scale=NOT_NEGATIVE)
    def logistic(
        self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Size = None, **options: Unpack[DrawOptions]
    ) -> Array:
        """Draw from the logistic distribution.

        Parameters
        ----------
        loc
            The mean.
        scale
            The scale, not negative.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).logistic(size=3)
        array([-4.2497542 , -1.05760585, -0.11386133])

        Source: ``numpy.random.Generator.logistic``.
        """
        return self._draw("logistic", size, options, loc=loc, scale=scale)

    @distribution(a=POSITIVE)
    def pareto(self, a: ArrayLike, size: Size = None, **options: Unpack[DrawOptions]) -> Array:
        """Draw from the Pareto distribution of the second kind, which starts at 0.

        Parameters
        ----------
        a
            The shape, above zero.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).pareto(3.0, size=3)
        array([0.02342821, 0.14462769, 0.3936898 ])

        Source: ``numpy.random.Generator.pareto``.
        """
        return self._draw("pareto", size, options, a=a)

    @distribution(a=POSITIVE)
    def power(self, a: ArrayLike, size: Size = None, **options: Unpack[DrawOptions]) -> Array:
        """Draw from [0, 1] with a density that grows as a power.

        Parameters
        ----------
        a
            The exponent plus one, above zero.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).power(3.0, size=3)
        array([0.4063882 , 0.69325639, 0.85753212])

        Source: ``numpy.random.Generator.power``.
        """
        return self._draw("power", size, options, a=a)

    @distribution(scale=NOT_NEGATIVE)
    def rayleigh(self, scale: ArrayLike = 1.0, size: Size = None, **options: Unpack[DrawOptions]) -> Array:
        """Draw from the Rayleigh distribution, that of the length of a normally distributed vector.

        Parameters
        ----------
        scale
            The mode, not negative.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).rayleigh(size=3)
        array([0.37275717, 0.9002647 , 1.41128614])

        Source: ``numpy.random.Generator.rayleigh``.
        """
        return self._draw("rayleigh", size, options, scale=scale)

    @distribution()
    def triangular(
        self, left: ArrayLike, mode: ArrayLike, right: ArrayLike, size: Size = None, **options: Unpack[DrawOptions]
    ) -> Array:
        """Draw from the triangular distribution.

        Parameters
        ----------
        left
            The lower end.
        mode
            Where the peak is, from ``left`` to ``right``.
        right
            The upper end, above ``left``.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).triangular(0, 1, 4, size=3)
        array([0.23720907, 1.01557492, 1.481823  ])

        Source: ``numpy.random.Generator.triangular``.
        """
        return self._draw("triangular", size, options, left=left, mode=mode, right=right)

    @distribution(kappa=NOT_NEGATIVE)
    def vonmises(self, mu: ArrayLike, kappa: ArrayLike, size: Size = None, **options: Unpack[DrawOptions]) -> Array:
        """Draw angles from the von Mises distribution, the normal one on a circle.

        Parameters
        ----------
        mu
            The mode, an angle in radians.
        kappa
            The concentration, not negative.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).vonmises(0.0, 4.0, size=3)
        array([-0.01102847, -0.15326612,  0.10783511])

        Source: ``numpy.random.Generator.vonmises``.
        """
        return self._draw("vonmises", size, options, mu=mu, kappa=kappa)

    @distribution(mean=POSITIVE, scale=POSITIVE)
    def wald(self, mean: ArrayLike, scale: ArrayLike, size: Size = None, **options: Unpack[DrawOptions]) -> Array:
        """Draw from the Wald distribution, the inverse Gaussian one.

        Parameters
        ----------
        mean
            The mean, above zero.
        scale
            The scale, above zero.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).wald(1.0, 2.0, size=3)
        array([0.86457501, 0.81500945, 0.38385082])

        Source: ``numpy.random.Generator.wald``.
        """
        return self._draw("wald", size, options, mean=mean, scale=scale)

    @distribution(a=NOT_NEGATIVE)
    def weibull(self, a: ArrayLike, size: Size = None, **options: Unpack[DrawOptions]) -> Array:
        """Draw from the Weibull distribution of scale 1.

        Parameters
        ----------
        a
            The shape, not negative.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).weibull(2.0, size=3)
        array([0.26357912, 0.63658328, 0.99793   ])

        Source: ``numpy.random.Generator.weibull``.
        """
        return self._draw("weibull", size, options, a=a)
