"""Generators and states of NumPy's random numbers, whose arguments and results are arrays of any backend."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy
from numpy.random import BitGenerator

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

# The arguments that a method writes, beside ``out``.
_WRITES = {"shuffle": "x"}


def _on_host(x: Any) -> Any:
    # Convert an argument for the host.
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

    __module__ = f"{__package__}.random"

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

    __module__ = f"{__package__}.random"

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


def shared() -> RandomState:
    """Return the state that ``numpy.random.seed`` seeds, whose methods are functions of the module."""
    state = RandomState.__new__(RandomState)
    get_state: Any = numpy.random.get_state
    state._host = get_state.__self__
    return state
