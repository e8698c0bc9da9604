"""Random numbers: the same bits on every backend, from a generator that is passed around.

Nothing here is global. A ``Generator`` has NumPy's methods, under their names and with their parameters.

>>> import unifyarr as ua
>>> generator = ua.random.Generator(42)
>>> generator.normal(size=(2, 3))
array([[-1.10439952,  0.18912811,  0.04600093],
       [-2.10767453, -0.51831291,  0.05103483]])
"""

from __future__ import annotations

from .._core.values.called import make_boundaries
from .._core.values.missing import missing_from
from .._core.values.mixins import present_as
from ._base import register
from ._continuous import Continuous
from ._discrete import Discrete
from ._families import Families
from ._integers import Integers
from ._multivariate import Multivariate
from ._order import Ordering

__all__ = ["Generator"]


class Generator(Continuous, Integers, Discrete, Multivariate, Ordering, Families):
    """A stream of random numbers, determined by its seed.

    With ``engine="host"`` NumPy's Philox draws, and the numbers are moved to where they are wanted: the same seed gives
    the same bits on every backend and every device, those of ``numpy.random.Generator(numpy.random.Philox(seed))``.
    With ``engine="native"`` the engine of one backend draws, on the device: other numbers on each engine, reproducible
    on it. On NumPy both are the same.

    The methods are those of ``numpy.random.Generator``. The shape of a result is named ``size``, as there, since
    ``shape`` is a parameter of the gamma distribution. Where results go, ``dtype``, ``device``, ``backend`` and ``out``
    say, as for functions that create arrays. A call that fails leaves the state, and ``out``, as they were. Several
    threads may draw from one generator; the order of their calls then decides which numbers each of them gets. Give
    each thread its own generator, from ``spawn``, to avoid that.

    Parameters
    ----------
    seed
        An integer that is not negative, a sequence of such, or a ``numpy.random.SeedSequence``; ``None`` takes a seed
        from the operating system.
    engine
        ``"host"`` or ``"native"``.
    backend, device
        With ``engine="native"``, where it draws: by default on the current backend and on its default device.

    Raises
    ------
    BackendFeatureError
        From methods that the engine lacks, with ``engine="native"``.
    TraceError
        From methods that draw on the host, inside ``jax.jit``, ``tf.function`` or ``ua.compile``, where the numbers
        would become constants.

    Notes
    -----
    What the methods share:

    - parameters are numbers or arrays: NumPy's, those of any backend, or nested lists. They broadcast. With
      ``engine="native"`` arrays are of its backend, their values aren't checked, and gradients flow to them;
    - ``size`` is the shape of the result, an integer or a tuple; by default that of ``out``, or the broadcast
      shape of the parameters. Where an element is a vector, the result has one more axis;
    - ``dtype`` is float64 by default and may be another real floating-point one; counts are int64 by default, and of
      any integer or real floating-point dtype that holds them. float32 has a stream of its own, NumPy's, for the
      uniform, normal, exponential and gamma distributions; float16 and bfloat16 are rounded from it. All else is
      drawn as NumPy draws it, and cast;
    - ``device`` and ``backend`` say where the result is made: on the current backend by default;
    - ``out`` is an array, a view or a container for the result, of its very shape, and of a dtype that it casts to
      under ``same_kind``. The leaves of a container are drawn one after the other, and are written all or none;
    - a parameter that is out of its range is a ``ValueError``, a size or an ``out`` that doesn't fit a ``ShapeError``,
      an unsupported dtype a ``TypeError``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> generator = ua.random.Generator(42)
    >>> generator.random(3)
    array([0.08607763, 0.14155732, 0.27009304])
    >>> x = ua.zeros((2, 2))
    >>> generator.normal(out=x) is x
    True

    Source: ``numpy.random.Generator``; Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3"
    (2011), for Philox.
    """

    __slots__ = ()


present_as(Generator, *Generator.__mro__[1:-1])
for _each in Generator.__mro__[:-1]:
    make_boundaries(_each)
register(Generator)

__getattr__ = missing_from(__name__)
