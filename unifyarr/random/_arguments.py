"""Arguments of a generator's methods: parameters, sizes and targets, which are checked before anything is drawn."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict, TypeVar

import numpy as np

from .._core.arrays import convert
from .._core.arrays.array import Array, wrap
from .._core.arrays.leaving import to_host
from .._core.arrays.nest import Nest
from .._core.arrays.recipes import is_recipe
from .._core.calling.invoke import check_result, store_out, store_several
from .._core.calling.mapping import check_leaves
from .._core.engines import dtypes
from .._core.engines.current import current
from .._core.engines.dtypes import DType
from .._core.engines.handle import Handle, has_one_device
from .._core.engines.natives import backend_of_native
from .._core.engines.registry import load, when_loaded
from .._core.engines.tracing import inside, mode, unrepeatable
from .._core.values.shapes import as_shape, broadcast, check_memory
from .._core.writing.inplace import as_target, at, check_backend, check_target
from ..errors import DeviceError, DtypeError, ShapeError, TraceError
from ..typing import DTypeLike, Shape

Method = TypeVar("Method", bound=Callable[..., Any])
Size = int | Sequence[int] | None


class Constraint(NamedTuple):
    """The condition on the values of a parameter, in words and as a predicate."""

    wanted: str
    holds: Callable[[Any], Any]


NOT_NEGATIVE = Constraint("that is not negative", lambda x: ~(x < 0))
POSITIVE = Constraint("above zero", lambda x: x > 0)
PROBABILITY = Constraint("from 0 to 1", lambda x: (x >= 0) & (x <= 1))
POSITIVE_PROBABILITY = Constraint("above 0 and at most 1", lambda x: (x > 0) & (x <= 1))
BELOW_ONE = Constraint("from 0 to 1, without 1", lambda x: (x >= 0) & (x < 1))
ABOVE_ONE = Constraint("above one", lambda x: x > 1)

# By method, then by parameter.
CONSTRAINTS: dict[str, dict[str, Constraint]] = {}


class DrawOptions(TypedDict, total=False):
    """The arguments of each distribution that say where its result goes, beside the size; they're passed by name."""

    dtype: DTypeLike | None
    device: object
    backend: str | None
    out: Array | None


_OPTIONS = [
    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation.__forward_arg__)
    for name, annotation in DrawOptions.__annotations__.items()
]


def distribution(**constraints: Constraint) -> Callable[[Method], Method]:
    """Declare a distribution: register the constraints of its parameters, and show the options in its signature."""

    def decorate(method: Method) -> Method:
        CONSTRAINTS[method.__name__] = constraints
        whole = inspect.signature(method)
        *own, _ = whole.parameters.values()
        vars(method)["__signature__"] = whole.replace(parameters=[*own, *_OPTIONS])
        return method

    return decorate


def wanted(name: str, size: Size, options: DrawOptions) -> tuple[Any, ...]:
    """Return the size and the options of a call, in the order of ``Where``."""
    if not options:
        return size, None, None, None, None
    beyond = options.keys() - DrawOptions.__annotations__.keys()
    if beyond:
        raise TypeError(f"Generator.{name}() got an unexpected keyword argument {min(beyond)!r}")
    given = options.get
    return size, given("dtype"), given("device"), given("backend"), given("out")


class Where(NamedTuple):
    """The other arguments of a method, which say where its result goes."""

    size: Any = None
    dtype: Any = None
    device: Any = None
    backend: str | None = None
    out: Any = None

    def handle(self) -> Handle:
        """Return the backend of the result if there's no ``out``."""
        return inside(load(self.backend)) if self.backend is not None else current()


def beside(where: Where, *parameters: Any) -> Where:
    """Return where a result goes: if nothing says it, to the device of the first parameter that is an array there."""
    if where.device is not None or where.out is not None or has_one_device(backend := where.handle()):
        return where
    return where._replace(device=convert.device_of(parameters, backend))


# The backends that are loaded and may trace programs of their own, as mutable engines don't.
STAGING: list[Handle] = []


@when_loaded
def _note(backend: Handle) -> None:
    if not backend.mutable:
        STAGING.append(backend)


def refuse_inside_trace(name: str) -> None:
    """Raise inside a trace, where numbers from the host would be the same at each run of the compiled function."""
    found = mode.get()
    staged = False
    if found is not None:
        unrepeatable()
        staged = found.trace is not None
    for backend in STAGING:
        if backend.stages():
            staged = True
    if staged:
        raise TraceError(
            f"{name}() draws on the host, and inside a trace its numbers would become constants: draw before and pass "
            "the array, or pass a ua.random.Generator(seed, engine='native')"
        )


def as_host(value: Any) -> Any:
    """Return a parameter as a Python number or a NumPy array."""
    if type(value) in dtypes.SCALARS or isinstance(value, np.generic):
        return value
    if not isinstance(value, Array) and (own := backend_of_native(value)) is not None:
        value = convert.lift(value, own)
    if isinstance(value, Array):
        value = to_host(value, "what draws on the host")
    array = convert.to_numpy(value)
    return array.astype(np.float64) if array.dtype == dtypes.bfloat16.dtype else array


def check(name: str, parameters: Mapping[str, Any]) -> None:
    """Raise unless the parameters of a method are real numbers in their ranges."""
    for parameter, value in parameters.items():
        values = np.asarray(value)
        # NumPy has no dtype for integers beyond 64 bits.
        if values.dtype.kind not in "biuf" and parameter != "loc" and type(value) is not int:
            raise DtypeError(f"{name}() takes a {parameter} of real numbers, not of {values.dtype}")
        constraint = CONSTRAINTS.get(name, {}).get(parameter)
        if constraint is not None:
            held = constraint.holds(values)
            if not np.all(held):
                wrong = values[~held].flat[0] if values.ndim else value
                raise ValueError(f"{name}() takes a {parameter} {constraint.wanted}, not {wrong}")

    # Values of an engine's arrays aren't checked.
    if name == "uniform" and {"low", "high"} <= parameters.keys():
        span = np.subtract(parameters["high"], parameters["low"], dtype=np.float64)
        if not np.all(span >= 0) or not np.all(np.isfinite(span)):
            raise ValueError("uniform() takes a low that is at most high, and both of them finite")


def fill(name: str, size: Any, *shapes: Shape) -> Shape:
    """Return the shape of the result: ``size``, to which the parameters must broadcast, or the shape that they have."""
    own = broadcast(*shapes, name=name)
    if size is None:
        return own
    wanted = as_shape(size)
    if len(own) > len(wanted) or broadcast(own, wanted, name=name) != wanted:
        raise ShapeError(f"{name}() of parameters of shape {own} can't have the size {wanted}: leave size out")
    return wanted


def result_dtype(name: str, dtype: Any, backend: Handle, device: Any, kind: type, kinds: str) -> DType:
    """Return the dtype of a result, one of NumPy's ``kinds``; by default that of a Python number of ``kind``."""
    from ..functions.creation import default_dtype

    wanted = default_dtype(kind, backend) if dtype is None else dtypes.as_dtype(dtype)
    if wanted.kind not in kinds:
        words = {"b": "bool", "i": "integer", "u": "unsigned integer", "f": "real floating", "c": "complex floating"}
        raise DtypeError(f"{name}() gives no {wanted}: its dtypes are {', '.join(words[each] for each in kinds)}")
    convert.check_dtype(backend, wanted, device)
    return wanted


class Destination(NamedTuple):
    """Where one result goes: its shape and dtype, and a backend with a device, or a target."""

    shape: Shape
    dtype: DType
    backend: Handle
    device: Any
    out: Array | None

    def made(self, values: np.ndarray) -> Array:
        """Return an array of values; their memory becomes the array's."""
        values = np.ascontiguousarray(values).reshape(values.shape)
        return wrap(self.backend.adopt(values, device=self.device), self.backend)

    def memory(self) -> np.ndarray | None:
        """Return the memory of the target, if it's contiguous and NumPy can write values of this dtype there."""
        if self.out is None or is_recipe(self.out) or self.out.dtype != self.dtype:
            return None
        memory = self.backend.host_memory(self.out._native)
        return memory if memory is not None and memory.flags.carray else None


def places(name: str, where: Where, kind: type, kinds: str, shapes: Sequence[Shape], event: Shape) -> list[Destination]:
    """Return where the results of one call go: one place, or one for each leaf of a container.

    The parameters have ``shapes``, and the result's last axes are ``event``.
    """
    nest = where.out if isinstance(where.out, Nest) else None
    if nest is not None:
        check_leaves(nest)
    elif where.out is None:
        backend = where.handle()
        device = None if where.device is None else backend.as_device(where.device)
        dtype = result_dtype(name, where.dtype, backend, device, kind, kinds)
        shape = (*fill(name, where.size, *shapes), *event)
        check_memory(shape, dtype)
        return [Destination(shape, dtype, backend, device, None)]
    found = []
    for place, leaf in enumerate(nest.leaves() if nest is not None else [where.out]):
        with at(nest, place):
            found.append(_target(name, where, as_target(leaf), kind, kinds, shapes, event))
    return found


def _target(
    name: str, where: Where, out: Array, kind: type, kinds: str, shapes: Sequence[Shape], event: Shape
) -> Destination:
    check_target(out)
    backend = out._backend
    if where.backend is not None:
        check_backend(out, where.handle())
    device = convert.device_of([out], backend)
    if where.device is not None and backend.as_device(where.device) != backend.own_device(out.device):
        raise DeviceError(f"out is on device {out.device!r}, not on {where.device!r}: leave device out, or move it")
    dtype = result_dtype(name, where.dtype, backend, device, kind, kinds)
    size = out.shape[: out.ndim - len(event)] if where.size is None else where.size
    shape = (*fill(name, size, *shapes), *event)
    check_result(name, out, shape, dtype)
    return Destination(shape, dtype, backend, device, out)


def store(name: str, where: Where, found: Sequence[Destination], results: Sequence[Array]) -> Array:
    """Write results to their targets, all or none, and return the caller's result."""
    if where.out is None:
        return results[0]
    if isinstance(where.out, Nest):
        store_several(name, [place.out for place in found], results, where.out)  # type: ignore[misc]
    elif results[0] is not found[0].out:
        store_out(name, found[0].out, results[0])  # type: ignore[arg-type]
    written: Array = where.out
    return written


def check_range(low: Any, high: Any, endpoint: bool, dtype: DType) -> None:
    """Raise unless ``integers`` can draw from a range in a dtype."""
    if dtype == dtypes.bool:
        least, most = 0, 1
    else:
        limits = np.iinfo(dtype.dtype)
        least, most = int(limits.min), int(limits.max)
    beyond = most if endpoint else most + 1
    if not (np.all(np.greater_equal(low, least)) and np.all(np.less_equal(high, beyond))):
        raise ValueError(
            f"integers() of {dtype} takes integers from {least} to {beyond}, not from {np.min(low)} to {np.max(high)}: "
            "give a wider dtype"
        )
    if not np.all(np.less_equal(low, high) if endpoint else np.less(low, high)):
        relation = "at most" if endpoint else "below"
        raise ValueError(f"integers() takes a low {relation} high, not {low} and {high}")
