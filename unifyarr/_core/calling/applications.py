"""One call of a user's operation without its arrays: what its kernels, its body and its derivative make of natives."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from ...errors import BackendFeatureError, DtypeError, ShapeError, UnifyarrError
from ...typing import Shape
from ..arrays.array import Array, owner, wrap
from ..arrays.ownership import read, share
from ..arrays.recipes import root_of
from ..declaring.cuts import KernelCut, is_cut
from ..declaring.types import types_of
from ..engines import dtypes
from ..engines.handle import Handle
from ..engines.registry import load
from ..engines.tracing import capture
from ..kernels.record import ELEMENTWISE
from ..kernels.types import ArrayType, Typed
from ..values import above
from ..values.lengths import equal_as_known
from ..values.native import Native
from ..values.records import Record
from ..values.shapes import broadcast

if TYPE_CHECKING:
    from ..declaring.operands import Call
    from ..declaring.user_ops import OpFacts, UserKernel


class Given(Record):
    """A non-array argument, ``None`` or a scalar, in a parameter for arrays."""

    value: Any


# The place of one array.
ONE = -1


class _Declined(Exception):
    """A kernel on the host declines a call."""


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
        self.operation.check_count(what, result)
        results = result if isinstance(result, tuple) else (result,)
        checked = [as_native(what, each, backend) for each in results]
        if self.operation.record.kind is ELEMENTWISE:
            self._check_elementwise(what, backend, natives, checked)
        if carrying and is_cut(backend, checked):
            raise KernelCut
        for output, places in () if kernel.twin is None else kernel.twin.destroys.items():
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

    def shape_of(self, shapes: Sequence[Shape]) -> Shape:
        """Return the shape of the results of an elementwise operation."""
        return broadcast(*shapes, name=self.operation.name)

    def _check_elementwise(
        self, what: str, backend: Handle, natives: Sequence[Native], results: Sequence[Native]
    ) -> None:
        shapes = [tuple(backend.shape(x)) for x in natives]
        wanted = tuple(self.shape_of(shapes))
        for each in results:
            if tuple(backend.shape(each)) != wanted:
                raise ShapeError(
                    f"{what} gave shape {tuple(backend.shape(each))} for arrays of shapes "
                    f"{', '.join(map(str, shapes))}: the op is declared "
                    f"elementwise, which gives {wanted}; declare it without kind="
                )

    def types(self, arrays: Sequence[Typed]) -> Sequence[ArrayType] | None:
        """Return the types of the results that the record tells for arrays of types, ``None`` if it doesn't."""
        found: Any = types_of(self.operation.record, self._positional(arrays), self.static)
        return found  # type: ignore[no-any-return]

    def _call(self, kernel: UserKernel, natives: Sequence[Native], out: dict[str, object]) -> Any:
        return kernel.function(*self._positional(natives), **self.static, **out)

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
            self.operation.check_count(what, found)
            results = [as_native(what, each, host) for each in (found if isinstance(found, tuple) else (found,))]
            types = [ArrayType(x.shape, x.dtype) for x in results]
            if promised and types != promised:
                raise TypeError(f"{what} gave {types}, but gives {promised}, as it was traced: this depends on values")
            return [host.as_native(x) for x in results]

        def known() -> Sequence[ArrayType]:
            given = tuple([ArrayType(tuple(backend.shape(x)), backend.dtype(x)) for x in natives])
            promised[:] = self.types(given) or kernel.learned.get((self, given), ())
            if not promised:
                raise TypeError(
                    f"{what} computes on the host, and what the engine traces has to know the shapes and dtypes of its "
                    f"results before: declare @{self.operation.name}.infer, write a body, or call it inside ua.compile"
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
        run = backend.with_pullback(partial(computed, self, backend), partial(self.pulled, backend))
        return tuple(run(*natives))

    def pulled(
        self, backend: Handle, natives: Sequence[Native], results: Sequence[Native], cotangents: Sequence[Native]
    ) -> list[Native]:
        """Return the natives of what the declared derivative gives for each array, ``None`` for zeros."""
        operation = self.operation
        assert operation.pullback is not None
        given = [wrap(native, backend) for native in natives]
        values = self._positional(given)
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

    def _positional(self, arrays: Sequence[object]) -> list[Any]:
        # The arguments that kernels take by position.
        values = self._values(arrays)
        if self.operation.parameters.variadic is not None:
            values += values.pop()
        return values

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
    if not equal_as_known(array.shape, x.shape):
        raise ShapeError(f"{what} returned shape {array.shape} for an array of shape {x.shape}")
    dtypes.check_cast(array.dtype, x.dtype, what)
    return read(capture(above.functions.astype(array, x.dtype, copy=False)))


def computed(application: Application, backend: Handle, *natives: Native) -> list[Native]:
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
    operation.check_count(what, result)
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
