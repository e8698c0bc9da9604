"""The most used distributions: uniform, normal, exponential, gamma and those derived from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from .._core.arrays.array import Array
from ._arguments import NOT_NEGATIVE, POSITIVE, distribution
from ._base import Base

if TYPE_CHECKING:
    from ..typing import ArrayLike
    from ._arguments import DrawOptions, Size


class Continuous(Base):
    """Continuous distributions."""

    __slots__ = ()

    @distribution()
    def random(self, size: Size = None, **options: Unpack[DrawOptions]) -> Array:
        """Draw from [0, 1), uniformly.

        Parameters
        ----------
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).random(3)
        array([0.01406704, 0.25776725, 0.47156538])
        >>> ua.random.Generator(0).random(3, dtype="float32")
        array([0.13562292, 0.01406699, 0.9377324 ], dtype=float32)

        Source: ``numpy.random.Generator.random``.
        """
        return self._draw("random", size, options)

    @distribution()
    def uniform(
        self, low: ArrayLike = 0.0, high: ArrayLike = 1.0, size: Size = None, **options: Unpack[DrawOptions]
    ) -> Array:
        """Draw from [low, high), uniformly.

        Parameters
        ----------
        low
            The lower end.
        high
            The upper end, which a result may round to.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).uniform(-1, 1, size=3)
        array([-0.97186593, -0.48446551, -0.05686924])

        Source: ``numpy.random.Generator.uniform``.
        """
        return self._draw("uniform", size, options, low=low, high=high)

    @distribution()
    def standard_normal(self, size: Size = None, **options: Unpack[DrawOptions]) -> Array:
        """Draw from the normal distribution of mean 0 and variance 1.

        For a complex dtype, the real and the imaginary part have half the variance each.

        Parameters
        ----------
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).standard_normal(3)
        array([-0.20597403, -0.12884495, -0.28978988])

        Source: ``numpy.random.Generator.standard_normal``.
        """
        return self._draw("standard_normal", size, options, kinds="fc")

    @distribution(scale=NOT_NEGATIVE)
    def normal(
        self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Size = None, **options: Unpack[DrawOptions]
    ) -> Array:
        """Draw from the normal distribution.

        For a complex dtype, the real and the imaginary part have half the variance each.

        Parameters
        ----------
        loc
            The mean.
        scale
            The standard deviation, not negative.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).normal(10, [0.1, 1, 10])
        array([9.9794026 , 9.87115505, 7.10210125])

        Source: ``numpy.random.Generator.normal``.
        """
        return self._draw("normal", size, options, kinds="fc", loc=loc, scale=scale)

    @distribution(sigma=NOT_NEGATIVE)
    def lognormal(
        self, mean: ArrayLike = 0.0, sigma: ArrayLike = 1.0, size: Size = None, **options: Unpack[DrawOptions]
    ) -> Array:
        """Draw numbers whose logarithm is normally distributed.

        Parameters
        ----------
        mean
            The mean of the logarithm.
        sigma
            The standard deviation of the logarithm, not negative.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).lognormal(0, 0.5, size=3)
        array([0.90213869, 0.9376088 , 0.86511318])

        Source: ``numpy.random.Generator.lognormal``.
        """
        return self._draw("lognormal", size, options, mean=mean, sigma=sigma)

    @distribution()
    def standard_exponential(self, size: Size = None, **options: Unpack[DrawOptions]) -> Array:
        """Draw from the exponential distribution of mean 1.

        Parameters
        ----------
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).standard_exponential(3)
        array([0.06947395, 0.40523827, 0.99586429])

        Source: ``numpy.random.Generator.standard_exponential``.
        """
        return self._draw("standard_exponential", size, options)

    @distribution(scale=NOT_NEGATIVE)
    def exponential(self, scale: ArrayLike = 1.0, size: Size = None, **options: Unpack[DrawOptions]) -> Array:
        """Draw from the exponential distribution.

        Parameters
        ----------
        scale
            The mean, not negative.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).exponential(2.0, size=3)
        array([0.13894791, 0.81047654, 1.99172858])

        Source: ``numpy.random.Generator.exponential``.
        """
        return self._draw("exponential", size, options, scale=scale)

    @distribution(shape=NOT_NEGATIVE)
    def standard_gamma(self, shape: ArrayLike, size: Size = None, **options: Unpack[DrawOptions]) -> Array:
        """Draw from the gamma distribution of scale 1.

        Parameters
        ----------
        shape
            The shape of the distribution, not negative.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).standard_gamma([1.0, 2.0, 3.0])
        array([0.06947395, 1.50580086, 1.08220003])

        Source: ``numpy.random.Generator.standard_gamma``.
        """
        return self._draw("standard_gamma", size, options, shape=shape)

    @distribution(shape=NOT_NEGATIVE, scale=NOT_NEGATIVE)
    def gamma(
        self, shape: ArrayLike, scale: ArrayLike = 1.0, size: Size = None, **options: Unpack[DrawOptions]
    ) -> Array:
        """Draw from the gamma distribution.

        Parameters
        ----------
        shape
            The shape of the distribution, not negative.
        scale
            The scale, not negative.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).gamma(2.0, 3.0, size=3)
        array([4.24393923, 3.9595323 , 1.29152276])

        Source: ``numpy.random.Generator.gamma``.
        """
        return self._draw("gamma", size, options, shape=shape, scale=scale)

    @distribution(a=POSITIVE, b=POSITIVE)
    def beta(self, a: ArrayLike, b: ArrayLike, size: Size = None, **options: Unpack[DrawOptions]) -> Array:
        """Draw from the beta distribution, whose values lie between 0 and 1.

        Parameters
        ----------
        a
            The first shape, above zero.
        b
            The second shape, above zero.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).beta(2.0, 3.0, size=3)
        array([0.38911708, 0.18740881, 0.44224402])

        Source: ``numpy.random.Generator.beta``.
        """
        return self._draw("beta", size, options, a=a, b=b)

    @distribution(scale=NOT_NEGATIVE)
    def laplace(
        self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Size = None, **options: Unpack[DrawOptions]
    ) -> Array:
        """Draw from the Laplace distribution: an exponential one to both sides.

        Parameters
        ----------
        loc
            The mean.
        scale
            The decay, not negative.
        size, dtype, device, backend, out
            The shape of the result, and where it goes: see ``Generator``.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).laplace(size=3)
        array([-3.57077393, -0.66255107, -0.05855034])

        Source: ``numpy.random.Generator.laplace``.
        """
        return self._draw("laplace", size, options, loc=loc, scale=scale)
