"""One call of a user's operation: which kernel does it, in whose memory, and what comes back.

Kernels are looked up at each call, so that one registered later serves from then on. What they return shares memory
with no array that was passed: where a ``view_map`` says that it may, it's copied, or an immutable native.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import BackendFeatureError, DtypeError
from . import dtypes
from .call import _call, _Declined, _is_plain, check_result
from .handle import Handle
from .inplace import check_device
from .ownership import share
from .views import root_of
from .wrapper import is_array, owner, read, wrap

if TYPE_CHECKING:
    from ..array import Array
    from .concerns import Call, Handler
    from .declare import Declaration
    from .operations import Kernel, Operation

# How many kinds of arguments an operation remembers its result's type for.
_REMEMBERED = 1024


class Given(NamedTuple):
    """What was passed for an array and is none: ``None``, or a scalar."""

    value: Any


# The place of one array.
ONE = -1


class Application:
    """One call without its arrays: equal ones compute the same of the same arrays."""

    __slots__ = ("_identity", "layout", "operation", "places", "static")

    def __init__(
        self,
        operation: Operation,
        layout: Sequence[int | Given],
        places: Sequence[int],
        static: Mapping[str, Any],
        key: Sequence[Hashable],
    ) -> None:
        self.operation = operation
        # For each parameter of arrays: one array, how many arrays, or what was given instead.
        self.layout = layout
        # The positions of the arrays as maps count them: what was given instead takes one up too.
        self.places = places
        self.static = static
        # The key has what the layout and the static arguments have, as it's compared.
        self._identity = (operation, *places, None, *key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Application) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def perform(self, kernel: Kernel, backend: Handle, natives: Sequence[Any], **out: Any) -> Any:
        """Return the natives of the results, or ``NotImplemented`` if the kernel declines."""
        values = self._values(natives)
        if self.operation.parameters.variadic is not None:
            values += values.pop()
        result = kernel.function(*values, **self.static, **out)
        if result is NotImplemented:
            return result
        what = f"the {kernel.kind} of {self.operation.name}() for {backend.name!r}"
        check_count(what, self.operation, result)
        results = result if isinstance(result, tuple) else (result,)
        checked = [_as_native(what, each, backend) for each in results]
        for output, place in kernel.destroys:
            target = natives[self.places.index(place)]
            if checked[output] is not target and _type(backend, checked[output]) == _type(backend, target):
                raise TypeError(
                    f"{what} returned another {type(target).__name__} than its argument {place}, in which destroy_map "
                    f"keeps output {output}: write to that, and return it"
                )
        return tuple(checked)

    def compose(self, backend: Handle, natives: Sequence[Any]) -> tuple[Any, ...]:
        """Return the natives of the results that the body gives."""
        operation = self.operation
        operands = [wrap(native, backend) for native in natives]
        named = {**dict(zip(operation.arrays, self._values(operands), strict=True)), **self.static}
        positional = [named.pop(name) for name in operation.parameters.positional]
        positional += named.pop(operation.parameters.variadic or "", ())
        result = composed(operation, operation.body(*positional, **named), operands, backend)
        return tuple(read(x) for x in (result if isinstance(result, tuple) else (result,)))

    def _values(self, arrays: Sequence[Any]) -> list[Any]:
        # What goes to each parameter of arrays.
        rest = iter(arrays)
        return [
            part.value if isinstance(part, Given) else next(rest) if part == ONE else tuple(islice(rest, part))
            for part in self.layout
        ]


def application_of(operation: Operation, call: Call) -> tuple[Application, list[Array]]:
    """Return a call without its arrays, and these."""
    operands: list[Array] = []
    layout: list[int | Given] = []
    places: list[int] = []
    key: list[Hashable] = []
    count = 0
    for name in operation.arrays:
        value = call.arguments[name]
        if is_array(value):
            layout.append(ONE)
            key.append(ONE)
            places.append(count)
            operands.append(value)
            count += 1
        elif name in operation.parameters.sequences:
            layout.append(len(value))
            key.append(len(value))
            places += range(count, count + len(value))
            operands += value
            count += len(value)
        else:
            layout.append(Given(value))
            key.append(_key(operation, name, value))
            count += 1
    static = {name: call.arguments[name] for name in operation.static}
    key += [_key(operation, name, value) for name, value in static.items()]
    return Application(operation, layout, places, static, key), operands


def _key(operation: Operation, name: str, value: Any) -> Hashable:
    # Zeros' signs and the kinds of numbers count.
    if isinstance(value, tuple):
        return (type(value), *(_key(operation, name, each) for each in value))
    try:
        hash(value)
    except TypeError:
        raise TypeError(
            f"{name} of {operation.name}() is a {type(value).__name__}, which can't be hashed: pass a tuple or a "
            "number, or annotate the parameter as an Array"
        ) from None
    return (type(value), repr(value) if isinstance(value, (float, complex)) else value)


def handle_operation(declaration: Declaration, call_next: Handler) -> Handler:
    """Offer a user's operation to its kernel; its body is for where there is none, or it declines."""
    operation = declaration.operation
    if operation is None:
        return call_next

    def handler(call: Call) -> Any:
        application, operands = application_of(operation, call)
        if operands and operands[0]._backend.name in operation.kernels:
            result = _offer(application, operands, call.out)
            if result is not NotImplemented:
                return result
        return composed(operation, call_next(call), operands, call.backend, call.out)

    return handler


def _offer(application: Application, operands: list[Array], out: Array | None) -> Any:
    operation, backend = application.operation, operands[0]._backend
    natives = [read(x) for x in operands]
    kernel, into = operation.kernels[backend.name], None
    kind: Hashable = None
    if out is not None or backend.name in operation.twins:
        kind = (application, backend.name, tuple((x.shape, x.dtype) for x in operands))
    if out is not None:
        check_device(out, operands[0], f"out of {operation.name}()")
        if kind in operation.types:
            shape, dtype = operation.types[kind]
            check_result(operation.name, out, shape, dtype)
            if out.dtype == dtype:
                kernel, into = _for_target(application, natives, out, kernel)
    results = _run(application, kernel, operands, natives, into)
    if results is NotImplemented and kernel.overwrites:
        results = _run(application, operation.kernels[backend.name], operands, natives, None)
    if results is NotImplemented:
        return results
    if out is not None and results[0] is out._native:
        return out
    arrays = tuple(_separate(application, backend, operands, natives, results))
    if kind is not None and len(arrays) == 1:
        if len(operation.types) >= _REMEMBERED:
            operation.types.clear()
        operation.types[kind] = (arrays[0].shape, arrays[0].dtype)
    return arrays if operation.is_several(arrays) else arrays[0]


def _run(application: Application, kernel: Kernel, operands: list[Array], natives: list[Any], out: Any) -> Any:
    backend = operands[0]._backend

    def perform(*natives: Any, **out: Any) -> Any:
        return backend.apply(application, kernel, natives, **out)

    try:
        return _call(perform, tuple(operands), natives, {} if out is None else {"out": out})
    except _Declined:
        return NotImplemented


def _for_target(application: Application, natives: list[Any], out: Array, kernel: Kernel) -> tuple[Kernel, Any]:
    """Return the kernel that writes a result of the type of ``out``, and what it's given for ``out``."""
    backend, target = out._backend, out._native
    plain = backend.mutable and _is_plain(out)
    if not plain or any(map(backend.records_gradient, (target, *natives))):
        return kernel, None
    at = dict(zip(application.places, natives, strict=True))
    for twin in application.operation.twins.get(backend.name, ()):
        victims = [place for _, place in twin.destroys]
        if twin.scratch or len(victims) != 1 or at.get(victims[0]) is not target:
            continue
        others = [(place, native) for place, native in at.items() if place != victims[0]]
        if not any(
            backend.may_share_memory(native, target) and not twin.tolerates(victims[0], place, native is target)
            for place, native in others
        ):
            return twin, None
    shares = any(backend.may_share_memory(native, target) for native in natives)
    return kernel, None if shares or not kernel.takes_out(backend) else target


def _separate(
    application: Application, backend: Handle, operands: list[Array], natives: list[Any], results: Sequence[Any]
) -> list[Array]:
    # What may share memory with an array gets memory of its own.
    arrays = []
    for output, native in enumerate(results):
        for place in application.operation.view_map.get(output, ()):
            if place in application.places:
                at = application.places.index(place)
                share(root_of(operands[at]))
                if backend.mutable and backend.may_share_memory(native, natives[at]):
                    native = backend.copy(native)
        arrays.append(wrap(native, backend))
    return arrays


def composed(
    operation: Operation, result: Any, operands: Sequence[Array], backend: Handle | None, out: Array | None = None
) -> Any:
    """Return what the body returned, as arrays of their own."""
    if result is None or result is NotImplemented:
        name = "this one" if backend is None else repr(backend.name)
        have = ", ".join(map(repr, sorted(operation.kernels))) or "none"
        raise BackendFeatureError(
            f"{operation.name}() has no kernel that does this call on backend {name} (there are kernels for: {have}), "
            f"and no body: register one with @{operation.name}.kernel(...), or write a body of functions of unifyarr"
        )
    what = f"the body of {operation.name}()"
    check_count(what, operation, result)
    results = result if isinstance(result, tuple) else (result,)
    for each in results:
        if not is_array(each):
            raise TypeError(f"{what} returned {type(each).__name__} for an array")
    owners = {id(owner(x)) for x in operands}
    own = [_copied(x) if x is not out and id(owner(x)) in owners else x for x in results]
    if not isinstance(result, tuple):
        return own[0]
    return type(result)(*own) if hasattr(result, "_fields") else tuple(own)


def _copied(x: Array) -> Array:
    if x._backend.mutable or x._backend.can_write(root_of(x)._native):
        return x.copy()
    share(root_of(x))
    return wrap(read(x), x._backend)


def check_count(what: str, operation: Operation, result: Any) -> None:
    """Raise unless as many results came as the annotation of the body says."""
    several, nout = isinstance(result, tuple), operation.nout
    if operation.several is None:
        return
    if several != operation.several or (several and nout is not None and nout != len(result)):
        wanted = f"a tuple of {'any number of' if nout is None else nout} arrays" if operation.several else "one array"
        came = f"a tuple of {len(result)}" if several else f"one {type(result).__name__}"
        raise TypeError(f"{what} returned {came}, but the op is declared to return {wanted}")


def _as_native(what: str, native: Any, backend: Handle) -> Any:
    if not isinstance(native, backend.native_types) and hasattr(native, "dtype") and not is_array(native):
        # NumPy's functions return scalars of NumPy's for 0-d arrays.
        native = backend.as_native(native)
    if not isinstance(native, backend.native_types):
        raise TypeError(
            f"{what} returned {type(native).__name__}: let it return a native {backend.native_type.__name__}, a tuple "
            "of such, or NotImplemented where it declines"
        )
    if backend.dtype(native) not in dtypes.BY_NUMPY:
        raise DtypeError(f"{what} returned dtype {native.dtype}: arrays hold {', '.join(dtypes.BY_NAME)}")
    return native


def _type(backend: Handle, native: Any) -> tuple[Any, Any]:
    return backend.shape(native), backend.dtype(native)
