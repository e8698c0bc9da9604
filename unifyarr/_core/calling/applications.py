"""One call of a user's operation: which kernel does it, in whose memory, and what comes back.

Kernels are looked up at each call, so that one registered later serves from then on. What they return shares memory
with no array that was passed: where a ``view_map`` says that it may, it's copied, or an immutable native.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from ...errors import BackendFeatureError, BadViewMap, DtypeError, ShapeError, UnifyarrError
from ..arrays.array import Array, owner, wrap
from ..arrays.ownership import read, share
from ..arrays.recipes import root_of
from ..declaring.cuts import KernelCut, is_cut
from ..engines import dtypes
from ..engines.handle import Handle
from ..engines.registry import load
from ..engines.tracing import capture, checking
from ..kernels.record import ELEMENTWISE, Derivative
from ..kernels.types import ArrayType
from ..values import above
from ..values.native import Native
from ..values.records import Record
from ..values.shapes import broadcast
from ..writing.inplace import check_device
from .invoke import _call, _Declined, _is_plain, check_result, declined

if TYPE_CHECKING:
    from ..declaring.declare import Declaration
    from ..declaring.operands import Call, Handler
    from ..declaring.user_ops import OpFacts, UserKernel

# The most cache keys for which an operation remembers its result's type.
_REMEMBERED = 1024


class Given(Record):
    """A non-array argument, ``None`` or a scalar, in a parameter for arrays."""

    value: Any


# The place of one array.
ONE = -1


class Application:
    """One call without its arrays: equal ones compute the same of the same arrays."""

    __slots__ = ("_identity", "layout", "operation", "places", "static")

    def __init__(
        self,
        operation: OpFacts,
        layout: Sequence[int | Given],
        places: Sequence[int],
        static: Mapping[str, object],
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

    def perform(self, kernel: UserKernel, backend: Handle, natives: Sequence[Native], **out: object) -> Any:
        """Return the natives of the results, or ``NotImplemented`` if the kernel declines."""
        carrying = any(map(backend.carries_derivative, natives))
        try:
            if kernel.natives is None:
                result = self._call(kernel, natives, out)
            else:
                result = self._call_on_host(kernel, backend, natives)
        except UnifyarrError:
            raise
        except Exception as error:
            # Where a derivative is taken, or nothing is known yet, engines refuse to give values to NumPy.
            if carrying or any(map(backend.is_traced, natives)):
                raise KernelCut(error) from error
            raise
        if result is NotImplemented:
            return result
        what = f"the {kernel.described} of {self.operation.name}() for {backend.name!r}"
        check_count(what, self.operation, result)
        results = result if isinstance(result, tuple) else (result,)
        checked = [as_native(what, each, backend) for each in results]
        if self.operation.record.kind is ELEMENTWISE:
            self._check_elementwise(what, backend, natives, checked)
        if carrying and is_cut(backend, checked):
            raise KernelCut
        for output, places in kernel.destroys.items():
            targets = [natives[self.places.index(place)] for place in places]
            if output >= len(checked):
                raise TypeError(f"{what} returned no output {output}, which destroy_map keeps in an argument")
            found = checked[output]
            types = [_type(backend, target) for target in targets]
            if not any(found is target for target in targets) and _type(backend, found) in types:
                raise TypeError(
                    f"{what} returned another {type(found).__name__} than its argument "
                    f"{' or '.join(map(str, places))}, in which destroy_map keeps output {output}: write to that, and "
                    "return it"
                )
        return tuple(checked)

    def _check_elementwise(
        self, what: str, backend: Handle, natives: Sequence[Native], results: Sequence[Native]
    ) -> None:
        shapes = [tuple(backend.shape(x)) for x in natives]
        wanted = broadcast(*shapes, name=self.operation.name)
        for each in results:
            if tuple(backend.shape(each)) != tuple(wanted):
                raise ShapeError(
                    f"{what} gave shape {tuple(backend.shape(each))} for arrays of shapes {', '.join(map(str, shapes))}"
                    f": the op is declared elementwise, which gives {tuple(wanted)}; declare it without kind="
                )

    def _call(self, kernel: UserKernel, natives: Sequence[Native], out: dict[str, object]) -> Any:
        values = self._values(natives)
        if self.operation.parameters.variadic is not None:
            values += values.pop()
        return kernel.function(*values, **self.static, **out)

    def _call_on_host(self, kernel: UserKernel, backend: Handle, natives: Sequence[Native]) -> Any:
        """Return what a kernel of NumPy's arrays gives, on the device of the first array."""
        host, what = load("numpy"), f"the kernel of {self.operation.name}() for {backend.name!r}"
        promised: list[ArrayType] = []

        def compute(*arrays: Any) -> list[Any]:
            found = self._call(kernel, arrays, {})
            if found is NotImplemented:
                if promised:
                    raise TypeError(f"{what} declines a call that it did when it was traced: this depends on values")
                raise _Declined
            check_count(what, self.operation, found)
            results = [as_native(what, each, host) for each in (found if isinstance(found, tuple) else (found,))]
            types = [ArrayType(x.shape, x.dtype) for x in results]
            if promised and types != promised:
                raise TypeError(f"{what} gave {types}, but gives {promised}, as it was traced: this depends on values")
            return [host.as_native(x) for x in results]

        def known() -> Sequence[ArrayType]:
            given = tuple([ArrayType(tuple(backend.shape(x)), backend.dtype(x)) for x in natives])
            promised[:] = kernel.learned.get((self, given), ())
            if not promised:
                raise TypeError(
                    f"{what} computes on the host, and what the engine traces has to know the shapes and dtypes of its "
                    "results before: write a body, or call it inside ua.compile"
                )
            return promised

        try:
            found = tuple(backend.on_host(compute, natives, known))
        except _Declined:
            return NotImplemented
        return found if self.operation.is_several(found) else found[0]

    def compose(self, backend: Handle, natives: Sequence[Native], cut: KernelCut | None = None) -> tuple[Any, ...]:
        """Return the natives of the results that the body gives, where the kernel was ``cut`` or declined."""
        operands = [wrap(native, backend) for native in natives]
        result = composed(self.operation, self.run_body(operands), operands, backend, cut=cut)
        return tuple(read(x) for x in (result if isinstance(result, tuple) else (result,)))

    def run_body(self, operands: Sequence[Array]) -> object:
        """Return what the body returns for arrays; it may be none."""
        operation = self.operation
        named = {**dict(zip(operation.arrays, self._values(operands), strict=True)), **self.static}
        positional = [named.pop(name) for name in operation.parameters.positional]
        positional += named.pop(operation.parameters.variadic or "", ())
        return operation.body(*positional, **named)

    def by_engine(self, backend: Handle, natives: Sequence[Native]) -> object:
        """Return the results by the declared derivative, ``NotImplemented`` where the engine takes none."""
        if not backend.can_transform or not any(
            backend.carries_derivative(native) or backend.hides_values(native) for native in natives
        ):
            return NotImplemented
        run = backend.with_pullback(partial(_computed, self, backend), partial(self.pulled, backend))
        return tuple(run(*natives))

    def pulled(
        self, backend: Handle, natives: Sequence[Native], results: Sequence[Native], cotangents: Sequence[Native]
    ) -> list[Native]:
        """Return the natives of what the declared derivative gives for each array, ``None`` for zeros."""
        operation = self.operation
        assert operation.pullback is not None
        given = [wrap(native, backend) for native in natives]
        values = self._values(given)
        if operation.parameters.variadic is not None:
            values += values.pop()
        several = operation.is_several(tuple(results))
        upstream, outputs = (
            tuple([wrap(x, backend) for x in each]) if several else wrap(each[0], backend)
            for each in (cotangents, results)
        )
        found = operation.pullback(upstream, outputs, *values, **self.static)
        what = f"the vjp of {operation.name}()"
        if not isinstance(found, (tuple, list)) or len(found) != len(values):
            came = f"{len(found)}" if isinstance(found, (tuple, list)) else type(found).__name__
            raise TypeError(f"{what} returns a tuple of {len(values)}, a cotangent for each array, not {came}")
        flat: list[Any] = []
        for value, cotangent in zip(values, found, strict=True):
            if isinstance(value, Array):
                flat.append(cotangent)
            elif isinstance(value, tuple):
                flat += [None] * len(value) if cotangent is None else cotangent
        if len(flat) != len(given):
            raise TypeError(f"{what} returned {len(flat)} cotangents for {len(given)} arrays: one for each is wanted")
        return [_cotangent(what, each, x) for each, x in zip(flat, given, strict=True)]

    def _values(self, arrays: Sequence[object]) -> list[Any]:
        # What goes to each parameter of arrays.
        rest = iter(arrays)
        return [
            part.value if isinstance(part, Given) else next(rest) if part == ONE else tuple(islice(rest, part))
            for part in self.layout
        ]


def _cotangent(what: str, cotangent: object, x: Array) -> Any:
    if cotangent is None or dtypes.rank(x.dtype) < 2:
        return None
    array = cotangent if isinstance(cotangent, Array) else above.functions.asarray(cotangent, backend=x._backend.name)
    if array.shape != x.shape:
        raise ShapeError(f"{what} returned shape {array.shape} for an array of shape {x.shape}")
    dtypes.check_cast(array.dtype, x.dtype, what)
    return read(capture(above.functions.astype(array, x.dtype, copy=False)))


def _by_declaration(application: Application, operands: Sequence[Array]) -> object:
    """Return the result where a derivative is taken and one was declared, else ``NotImplemented``."""
    backend, natives = operands[0]._backend, [read(x) for x in operands]
    found = backend.declared(application, natives)
    if found is NotImplemented:
        return found
    results = tuple([wrap(native, backend) for native in found])
    return results if application.operation.is_several(results) else results[0]


def _computed(application: Application, backend: Handle, *natives: Native) -> list[Native]:
    """Return the natives of the results, by the kernel or by the body."""
    kernel = application.operation.kernels.get(backend.name)
    found = NotImplemented if kernel is None else application.perform(kernel, backend, natives)
    results = application.compose(backend, natives) if found is NotImplemented else found
    # An engine may take a result that is one of the arguments for something else.
    return [backend.copy(x) if any(x is each for each in natives) else x for x in results]


def application_of(operation: OpFacts, call: Call) -> tuple[Application, list[Array]]:
    """Return a call without its arrays, and these."""
    operands: list[Array] = []
    layout: list[int | Given] = []
    places: list[int] = []
    key: list[Hashable] = []
    count = 0
    for name in operation.arrays:
        value = call.arguments[name]
        if isinstance(value, Array):
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


def _key(operation: OpFacts, name: str, value: object) -> Hashable:
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

    def handler(call: Call) -> object:
        application, operands = application_of(operation, call)
        cut = None
        if operation.record.derivative is Derivative.RULE and operands:
            result = _by_declaration(application, operands)
            if result is not NotImplemented:
                return result
        if operands and operands[0]._backend.name in operation.kernels and declaration not in declined.get():
            try:
                result = _offer(application, operands, call.out)
                if result is not NotImplemented:
                    return result
            except KernelCut as found:
                cut = found
        return composed(operation, call_next(call), operands, call.backend, call.out, cut)

    return handler


def _offer(application: Application, operands: list[Array], out: Array | None) -> object:
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
    results = distinct(operation, backend, _separate(application, backend, operands, natives, results))
    arrays = tuple(wrap(native, backend) for native in results)
    if kind is not None and len(arrays) == 1:
        if len(operation.types) >= _REMEMBERED:
            operation.types.clear()
        operation.types[kind] = (arrays[0].shape, arrays[0].dtype)
    return arrays if operation.is_several(arrays) else arrays[0]


def _run(
    application: Application, kernel: UserKernel, operands: list[Array], natives: list[Native], out: object
) -> Any:
    backend = operands[0]._backend

    def perform(*natives: Native, **out: object) -> Any:
        return backend.apply(application, kernel, natives, **out)

    try:
        return _call(perform, tuple(operands), natives, {} if out is None else {"out": out})
    except _Declined:
        return NotImplemented


def _for_target(
    application: Application, natives: list[Native], out: Array, kernel: UserKernel
) -> tuple[UserKernel, object]:
    """Return the kernel that writes a result of the type of ``out``, and what it's given for ``out``."""
    backend, target = out._backend, out._native
    plain = backend.mutable and _is_plain(out)
    if not plain or any(map(backend.records_gradient, (target, *natives))):
        return kernel, None
    at = dict(zip(application.places, natives, strict=True))
    for twin in application.operation.twins.get(backend.name, ()):
        # What else it overwrites the caller still has.
        if len(twin.victims) != 1 or twin.scratch:
            continue
        (victim,) = twin.victims
        if victim not in at or at[victim] is not target:
            continue
        others = [(place, native) for place, native in at.items() if place != victim]
        if not any(
            backend.may_share_memory(native, target) and not twin.tolerates(victim, place, native is target)
            for place, native in others
        ):
            return twin, None
    shares = any(backend.may_share_memory(native, target) for native in natives)
    return kernel, None if shares or not kernel.takes_out(backend) else target


def _separate(
    application: Application, backend: Handle, operands: list[Array], natives: list[Native], results: Sequence[Native]
) -> list[Native]:
    # What may share memory with an array gets memory of its own.
    separate = []
    for output, native in enumerate(results):
        for place in application.operation.view_map.get(output, ()):
            if place in application.places:
                at = application.places.index(place)
                share(root_of(operands[at]))
                if backend.mutable and backend.may_share_memory(native, natives[at]):
                    native = backend.copy(native)
        separate.append(native)
    return separate


def distinct(
    operation: OpFacts,
    backend: Handle,
    results: Sequence[Any],
    may_share: Callable[[int, int], bool] = lambda first, second: False,
) -> tuple[Any, ...]:
    """Return the natives of results, each in memory of its own but for those that may share it.

    Inside ``debug()`` that has to be so already.
    """
    separate = list(results)
    for second, native in enumerate(results) if backend.mutable and len(results) > 1 else ():
        for first in range(second):
            if not may_share(first, second) and backend.may_share_memory(separate[first], native):
                if checking():
                    raise BadViewMap(
                        f"{operation.name}() on backend {backend.name!r} returned outputs {first} and {second} in the "
                        "same memory: return a copy"
                    )
                separate[second] = backend.copy(native)
    return tuple(separate)


def composed(
    operation: OpFacts,
    result: object,
    operands: Sequence[Array],
    backend: Handle | None,
    out: Array | None = None,
    cut: KernelCut | None = None,
) -> object:
    """Return what the body returned, as arrays of their own; ``cut`` says that the kernel lost a derivative."""
    if result is None or result is NotImplemented or result is Ellipsis:
        if cut is not None and backend is not None:
            raise cut.without_body(operation, backend, operands) from cut.error
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
        if not isinstance(each, Array):
            raise TypeError(f"{what} returned {type(each).__name__} for an array")
    own: list[Array] = []
    for x in results:
        shares = x is not out and any(_share(x, each) for each in (*operands, *own))
        own.append(_copied(x) if shares else x)
    if not isinstance(result, tuple):
        return own[0]
    return type(result)(*own) if hasattr(result, "_fields") else tuple(own)


def _share(first: Array, second: Array) -> bool:
    # One of them may be made of the memory of the other's native.
    backend = first._backend
    return owner(first) is owner(second) or (
        backend is second._backend and backend.mutable and backend.may_share_memory(read(first), read(second))
    )


def _copied(x: Array) -> Array:
    if x._backend.mutable or x._backend.can_write(root_of(x)._native):
        return x.copy()
    share(root_of(x))
    return wrap(read(x), x._backend)


def check_count(what: str, operation: OpFacts, result: Any) -> None:
    """Raise unless as many results came as the annotation of the body says."""
    several, nout = isinstance(result, tuple), operation.nout
    if operation.several is None:
        return
    if several != operation.several or (several and nout is not None and nout != len(result)):
        wanted = f"a tuple of {'any number of' if nout is None else nout} arrays" if operation.several else "one array"
        came = f"a tuple of {len(result)}" if several else f"one {type(result).__name__}"
        raise TypeError(f"{what} returned {came}, but the op is declared to return {wanted}")


def as_native(what: str, native: object, backend: Handle) -> Any:
    """Return what a user's code returned as a native; raise if it's something else."""
    if not isinstance(native, backend.native_types) and hasattr(native, "dtype") and not isinstance(native, Array):
        # NumPy's functions return scalars of NumPy's for 0-d arrays.
        native = backend.as_native(native)
    if not isinstance(native, backend.native_types):
        raise TypeError(
            f"{what} returned {type(native).__name__}: let it return a native {backend.native_type.__name__}, a tuple "
            "of such, or NotImplemented where it declines"
        )
    if backend.dtype(native) not in dtypes.BY_NUMPY:
        raise DtypeError(f"{what} returned dtype {backend.dtype(native)}: arrays hold {', '.join(dtypes.BY_NAME)}")
    return native


def _type(backend: Handle, native: Native) -> tuple[object, object]:
    return backend.shape(native), backend.dtype(native)
