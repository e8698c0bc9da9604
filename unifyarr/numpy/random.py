"""Random numbers: NumPy's own generators, on the host, so that a seed gives NumPy's numbers on every backend.

Arrays among the arguments are read, ``out`` and what ``shuffle`` shuffles are written. The results are arrays of the
backend of those, or of the current one; a number that NumPy returns is that number. Inside a trace these numbers would
become constants: ``unifyarr.random`` has generators that draw there.

>>> import unifyarr.numpy as np
>>> np.random.default_rng(0).integers(10, size=3)
array([8, 6, 5])
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy
from numpy.random import MT19937, PCG64, PCG64DXSM, SFC64, BitGenerator, Philox, SeedSequence

from .._core.arrays.array import Array, wrap
from .._core.arrays.convert import common_backend, device_of
from .._core.engines import dtypes
from .._core.engines.current import current
from .._core.engines.natives import backend_of_native
from .._core.values.called import boundary, make_boundaries
from .._core.writing.inplace import as_target, check_target, update
from ..random._arguments import as_host, refuse_inside_trace
from ._following import arrays_in

Class = TypeVar("Class", bound=type)

# What a method writes, beside ``out``.
_WRITES = {"shuffle": "x"}


def _on_host(x: Any) -> Any:
    # What stands for an argument on the host.
    if isinstance(x, (list, tuple)):
        return type(x)(map(_on_host, x)) if any(isinstance(each, (Array, list, tuple)) for each in x) else x
    if isinstance(x, (Generator, RandomState)):
        return x._host
    if isinstance(x, Array) or (not isinstance(x, numpy.ndarray) and backend_of_native(x) is not None):
        return as_host(x)
    return x.dtype if isinstance(x, dtypes.DType) else x


def _drawn(draw: Callable[..., Any], signature: inspect.Signature, args: tuple[Any, ...], kwargs: Any) -> Any:
    """Call a method of NumPy's on the values of its arguments, and return its result in our arrays."""
    name = draw.__name__
    refuse_inside_trace(name)
    given = signature.bind(*args, **kwargs)
    arguments = given.arguments
    arrays = list(arrays_in(arguments.values()))
    backend = common_backend(arrays, current())
    written = [(key, x) for key in (_WRITES.get(name, "out"), "out") if isinstance(x := arguments.get(key), Array)]
    opened = []
    for parameter, value in arguments.items():
        arguments[parameter] = _on_host(value)
    for key, x in dict(written).items():
        target = as_target(x)
        check_target(target)
        arguments[key] = numpy.array(arguments[key])
        opened.append((target, arguments[key]))
    result = draw(*given.args, **given.kwargs)
    for target, values in opened:
        update(target, values, exact=True)
    if result is arguments.get("out") and result is not None:
        return dict(written).get("out", result)
    if isinstance(result, numpy.ndarray) and result.dtype in dtypes.BY_NUMPY:
        device = device_of(arrays, backend)
        return wrap(backend.from_numpy(numpy.asarray(result), device=device, copy=True), backend)
    if isinstance(result, list):
        return [Generator(each.bit_generator) for each in result]
    return result


def _delegate(original: type) -> Callable[[Class], Class]:
    """Give a class the methods of NumPy's, with their signatures."""

    def decorate(cls: Class) -> Class:
        for name in dir(original):
            method = getattr(original, name)
            if not name.startswith("_") and callable(method) and name not in vars(cls):
                setattr(cls, name, _method(cls, name, method))
        return cls

    return decorate


def _method(cls: type, name: str, original: Any) -> Callable[..., Any]:
    whole = inspect.signature(original)
    signature = whole.replace(parameters=list(whole.parameters.values())[1:])

    def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        return _drawn(getattr(self._host, name), signature, args, kwargs)

    method.__name__ = name
    method.__qualname__ = f"{cls.__qualname__}.{name}"
    method.__doc__ = f"Return what NumPy's ``{cls.__name__}.{name}`` returns, which says what, in arrays of ours."
    vars(method)["__signature__"] = whole
    return method


@make_boundaries
@_delegate(numpy.random.Generator)
class Generator:
    """NumPy's ``Generator``, whose arrays are ours."""

    def __init__(self, bit_generator: Any) -> None:
        self._host = numpy.random.Generator(bit_generator)

    @property
    def bit_generator(self) -> BitGenerator:
        """NumPy's bit generator."""
        return self._host.bit_generator

    def __repr__(self) -> str:
        return f"Generator({type(self.bit_generator).__name__})"

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


@make_boundaries
@_delegate(numpy.random.RandomState)
class RandomState:
    """NumPy's ``RandomState``, whose arrays are ours."""

    def __init__(self, seed: Any = None) -> None:
        self._host = numpy.random.RandomState(_on_host(seed))

    def __repr__(self) -> str:
        return f"RandomState({self._host.get_state()[0]})"  # type: ignore[index]

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


@boundary
def default_rng(seed: Any = None) -> Generator:
    """Return a generator of NumPy's default kind, for a seed; a generator is returned as it is."""
    if isinstance(seed, Generator):
        return seed
    return Generator(numpy.random.default_rng(_on_host(seed)).bit_generator)


def _shared() -> RandomState:
    # The state that ``numpy.random.seed`` seeds.
    state = RandomState.__new__(RandomState)
    get_state: Any = numpy.random.get_state
    state._host = get_state.__self__
    return state


_global = _shared()
beta = _global.beta
binomial = _global.binomial
bytes = _global.bytes
chisquare = _global.chisquare
choice = _global.choice
dirichlet = _global.dirichlet
exponential = _global.exponential
f = _global.f
gamma = _global.gamma
geometric = _global.geometric
get_state = _global.get_state
gumbel = _global.gumbel
hypergeometric = _global.hypergeometric
laplace = _global.laplace
logistic = _global.logistic
lognormal = _global.lognormal
logseries = _global.logseries
multinomial = _global.multinomial
multivariate_normal = _global.multivariate_normal
negative_binomial = _global.negative_binomial
noncentral_chisquare = _global.noncentral_chisquare
noncentral_f = _global.noncentral_f
normal = _global.normal
pareto = _global.pareto
permutation = _global.permutation
poisson = _global.poisson
power = _global.power
rand = _global.rand
randint = _global.randint
randn = _global.randn
random = _global.random
random_integers = _global.random_integers
random_sample = _global.random_sample
ranf = _global.random_sample
rayleigh = _global.rayleigh
sample = _global.random_sample
seed = _global.seed
set_state = _global.set_state
shuffle = _global.shuffle
standard_cauchy = _global.standard_cauchy
standard_exponential = _global.standard_exponential
standard_gamma = _global.standard_gamma
standard_normal = _global.standard_normal
standard_t = _global.standard_t
triangular = _global.triangular
uniform = _global.uniform
vonmises = _global.vonmises
wald = _global.wald
weibull = _global.weibull
zipf = _global.zipf

__all__ = [
    "MT19937",
    "PCG64",
    "PCG64DXSM",
    "SFC64",
    "BitGenerator",
    "Generator",
    "Philox",
    "RandomState",
    "SeedSequence",
    "beta",
    "binomial",
    "bytes",
    "chisquare",
    "choice",
    "default_rng",
    "dirichlet",
    "exponential",
    "f",
    "gamma",
    "geometric",
    "get_state",
    "gumbel",
    "hypergeometric",
    "laplace",
    "logistic",
    "lognormal",
    "logseries",
    "multinomial",
    "multivariate_normal",
    "negative_binomial",
    "noncentral_chisquare",
    "noncentral_f",
    "normal",
    "pareto",
    "permutation",
    "poisson",
    "power",
    "rand",
    "randint",
    "randn",
    "random",
    "random_integers",
    "random_sample",
    "ranf",
    "rayleigh",
    "sample",
    "seed",
    "set_state",
    "shuffle",
    "standard_cauchy",
    "standard_exponential",
    "standard_gamma",
    "standard_normal",
    "standard_t",
    "triangular",
    "uniform",
    "vonmises",
    "wald",
    "weibull",
    "zipf",
]
