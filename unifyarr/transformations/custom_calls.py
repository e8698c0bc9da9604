"""One call of a function with a derivative of its own: on a record, or inside an engine's own derivative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import functions as ua
from .._core.arrays.array import Array, wrap
from .._core.arrays.convert import backend_of
from .._core.arrays.ownership import read
from .._core.declaring.op import op
from .._core.engines import dtypes
from .._core.engines.current import current_name
from .._core.engines.handle import Handle
from .._core.engines.registry import load
from .._core.engines.tracing import capture, running, tracing
from ..container.container import flatten
from ..errors import LostDerivativeError, ShapeError, StructureError, TracedMutationError
from ..modes.batch.handle import BatchHandle
from ..modes.batch.natives import Batched
from ..modes.rule_kernels import Kernels
from ..modes.scope import Scope
from ..modes.tape.entries import Taped, is_floating
from ..modes.tape.function_calls import Apart, FlatNest, constant, natives_of, where_natives_are, wrapped
from ..modes.tape.handle import TapeHandle
from .custom_batches import OfBatch


def deriving_engine(arrays: Sequence[Array]) -> Handle | None:
    """Return the backend of arrays if the engine itself takes derivatives or traces there, else ``None``."""
    scope = running()
    if scope is not None:
        return scope.handle if isinstance(scope, Scope) else None
    for x in arrays:
        backend, native = x._backend, read(x)
        if backend.can_transform and (backend.carries_derivative(native) or backend.hides_values(native)):
            return backend
    return None


def level_of() -> TapeHandle | BatchHandle | None:
    """Return the handle of the record or the batch that is running, ``None`` if what runs innermost is neither."""
    scope = running()
    found = scope.handle if isinstance(scope, Scope) else None
    return found if isinstance(found, (TapeHandle, BatchHandle)) else None


def has_derivative(handle: Handle, native: Any) -> bool:
    """Return whether a derivative is taken by a native, on its level or on one around, or by the engine."""
    if isinstance(handle, TapeHandle):
        return native.entry is not None or has_derivative(handle.base, native.value)
    if isinstance(handle, BatchHandle):
        return has_derivative(handle.base, native.value)
    return bool(handle.can_transform and (handle.carries_derivative(native) or handle.hides_values(native)))


def is_in_body(trace: Any) -> bool:
    """Return whether a graph is traced of which a derivative may be taken later: that is one of its operations."""
    while isinstance(trace, Scope) and isinstance(trace.handle, (BatchHandle, TapeHandle)):
        trace = trace.around
    while trace is not None:
        around = trace.around
        is_batch = getattr(trace, "is_batched", False) and not getattr(around, "is_batched", False)
        if isinstance(trace, Scope) or (getattr(trace, "is_transformed", False) and not is_batch):
            return True
        trace = around
    return False


class CustomCall:
    """One call, and what comes of it: the result, and what is kept for the derivative."""

    def __init__(self, custom: Any, arguments: Sequence[Any], beside: Sequence[Any]) -> None:
        self.custom, self._given, self.beside = custom, FlatNest(list(arguments)), list(beside)
        self._result = self._kept = FlatNest(None)
        self._generation = 1

    def recorded(self, tape: TapeHandle) -> Any:
        """Run the function apart from a record, make it one entry there, and return the result."""
        self._generation = tape.generation + 1
        natives = [read(capture(x)) for x in self._given.arrays]
        scope = Apart(tape)
        with scope.running():
            arrays = wrapped([constant(Taped(native)) for native in natives], scope.handle)
            results, kept = self._forward(scope, arrays)
        values, beside = ([x.value.value for x in each] for each in (results, kept))
        uses = self.custom._reads(len(natives), len(beside))
        made = tape.recorded(self._rule, natives, values, beside, uses, self.custom._pushed_of(self))
        return self._result.like([wrap(native, tape) for native in made])

    def natives(self) -> list[Any]:
        """Return the natives of the arrays that the function has derivatives by."""
        return natives_of(self._given.arrays)

    def around(self, level: TapeHandle | BatchHandle) -> Any:
        """Call the function on the level around, where a derivative is taken by its arguments."""
        trace: Any = running()
        natives = self.natives()
        axes = [None if isinstance(x, Taped) or x.is_constant else 0 for x in natives]
        is_batch = any(axis is not None for axis in axes)
        with tracing(trace.around):
            arrays = wrapped([x.value for x in natives], level.around)
            if is_batch:
                found = FlatNest(self.custom._of_batch(OfBatch(self, axes))(*arrays)).captured()
            else:
                found = self._result = FlatNest(self.custom(*self.arguments(arrays))).captured()
            values = natives_of(found.arrays)
        if isinstance(level, TapeHandle):
            return self._result.like(wrapped(list(map(Taped, values)), level))
        return self._result.like(wrapped([Batched(x, not is_batch) for x in values], level))

    def by_engine(self, backend: Handle) -> Any:
        """Run the function as one that the engine differentiates by what was declared."""

        def forward(*natives: Any) -> list[Any]:
            results, _ = self._forward(None, wrapped(natives, backend))
            # An engine may take a result that is one of the arguments for something else.
            return [backend.copy(x) if any(x is each for each in natives) else x for x in results]

        def pullback(natives: Sequence[Any], results: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
            pulled: list[Any] = self.custom._pulled_by(self, backend, natives, cotangents)
            return pulled

        natives = [read(capture(x)) for x in self._given.arrays]
        found = backend.with_pullback(forward, pullback)(*natives)
        return self._result.like(wrapped(found, backend))

    def as_operation(self) -> Any:
        """Return the result as an operation of the running graph, with the declared derivative."""

        def body(*arrays: Any) -> Any:
            return tuple(self.results(arrays))

        def vjp(g: Any, results: Any, *arrays: Array) -> list[Any]:
            # What is kept isn't part of the operation, and is computed once more.
            natives = [read(x) for x in arrays]
            backend = arrays[0]._backend
            found = self.custom._pulled_by(self, backend, natives, natives_of(g if isinstance(g, tuple) else (g,)))
            return [None if x is None else wrap(x, backend) for x in found]

        def kernel(*natives: Any) -> tuple[Any, ...]:
            # The engine's own, whatever runs around.
            with tracing(None):
                return tuple(natives_of(body(*wrapped(natives, load(name)))))

        arrays = [capture(x) for x in self._given.arrays]
        # The operation outlives the trace.
        self._given.forget()
        name = arrays[0]._backend.name if arrays else current_name()
        body.__name__ = body.__qualname__ = self.custom._name
        operation: Any = op(arrays=["arrays"])(body)
        operation.kernel(name)(kernel)
        operation.vjp(vjp)
        found = operation(*arrays)
        return self._result.like(found if isinstance(found, tuple) else (found,))

    # -- forwards -----------------------------------------------------------------------------------------------------

    def results(self, arrays: Sequence[Array]) -> list[Array]:
        """Return the arrays of the result, and note what they're part of."""
        self._result = self._as_result(self.custom._function(*self.arguments(arrays)))
        found = self._result.arrays
        self._result.forget()
        return found

    def results_and_kept(self, arrays: Sequence[Array]) -> tuple[list[Array], list[Array]]:
        """Return the arrays of the result and of what is kept, and note what they're part of."""
        found, kept = self.custom._forward(self.arguments(arrays))
        self._result, self._kept = self._as_result(found), FlatNest(kept).captured()
        made = self._result.arrays, self._kept.arrays
        self._result.forget(), self._kept.forget()
        return made

    def _forward(self, scope: Apart | None, arrays: Sequence[Array]) -> tuple[list[Any], list[Any]]:
        """Run the function; return the natives of the result and of what is kept, and note what they're part of."""
        before = [x._native for x in arrays]
        results, kept = self.results_and_kept(arrays)
        self.check_apart(scope, wrote=any(x._native is not each for x, each in zip(arrays, before, strict=True)))
        natives = natives_of(results), natives_of(kept)
        self._given.forget()
        return natives

    def arguments(self, arrays: Sequence[Any]) -> list[Any]:
        """Return all arguments of the function, with arrays in the places of those that it has derivatives by."""
        found: list[Any] = self.custom._by_place(self._given.like(arrays), self.beside)
        return found

    def nest(self, arrays: Sequence[Any]) -> list[Any]:
        """Return the arguments that it has derivatives by, with other arrays."""
        found: list[Any] = self._given.like(arrays)
        return found

    def _as_result(self, found: Any) -> FlatNest:
        for x in flatten(found)[0]:
            if not isinstance(x, Array) and backend_of(x) is None:
                raise TypeError(f"{self.custom._name}() returns arrays, or a nest of them, not {x!r:.80}")
        return FlatNest(found).captured()

    def check_apart(self, scope: Apart | None, *, wrote: bool) -> None:
        """Raise if a function wrote to what isn't its own, or reads from outside what has a derivative."""
        name = self.custom._name
        if wrote or (scope is not None and scope.changed()):
            raise TracedMutationError(
                f"{name}() has a derivative of its own, which knows nothing of writes, and writes to an argument or to "
                "an array from outside: write to a copy, and return that"
            )
        if scope is not None and any(native.entry is not None for native in scope.natives):
            raise LostDerivativeError(
                f"{name}() has a derivative of its own by its arguments, but reads an array from outside that has a "
                "derivative too: pass it as an argument"
            )

    # -- the derivative -----------------------------------------------------------------------------------------------

    def _rule(self, k: Any, needs: Sequence[bool], g: Any, out: Any, *operands: Any) -> list[Any]:
        with where_natives_are(k.handle) as handle:
            found = self.custom._pulled(self, handle, operands, k.whole(g, out))
        return [*found, *[None] * (len(operands) - len(found))]

    def apart(self, handle: Handle) -> Apart:
        """Return a scope of its own on a level, in which what people declared runs."""
        return Apart(handle, self._generation)

    def result_like(self, arrays: Sequence[Array]) -> Any:
        """Return what is like the result."""
        return self._result.like(arrays)

    def kept_like(self, arrays: Sequence[Array]) -> Any:
        """Return what was kept."""
        return self._kept.like(arrays)

    @property
    def count(self) -> int:
        """How many arrays there are among the arguments."""
        return len(self._given.places)

    def tangents(self, arrays: Sequence[Any]) -> list[Any]:
        """Return what is like the arguments, with zeros for numbers, and ``None`` for what is neither."""
        leaves = [0.0 if type(x) in (int, float, complex) else None for x in self._given.leaves]
        return self._given.like(arrays, leaves)  # type: ignore[no-any-return]

    def pulled_back(self, kept: Sequence[Array], cotangents: Sequence[Array], k: Kernels, like: Sequence[Any]) -> Any:
        """Return natives of what a declared pullback gives for arrays that were kept, and for cotangents."""
        found = self.custom._backward(self, self.kept_like(kept), self.result_like(cotangents))
        return self.read_cotangents(found, k, like)

    def read_cotangents(self, found: Any, k: Kernels, like: Sequence[Any]) -> list[Any]:
        """Return natives of the cotangents that a function gave for each argument; ``like`` has these arguments."""
        what = f"the backward function of {self.custom._name}()"
        places = self._given.like([_Place(place) for place in range(len(like))])
        if not isinstance(found, (tuple, list)) or len(found) != len(places):
            came = f"{len(found)}" if isinstance(found, (tuple, list)) else type(found).__name__
            raise TypeError(f"{what} returns a tuple of {len(places)}, one for each argument, not {came}")
        natives: list[Any] = [None] * len(like)
        for argument, cotangent in zip(places, found, strict=True):
            (leaves, spec), (given, its_spec) = flatten(argument), flatten(cotangent)
            if cotangent is None:
                continue
            if spec != its_spec:
                raise StructureError(f"{what} returns what is like each argument, {spec}, or None, not {its_spec}")
            for place, x in zip(leaves, given, strict=True):
                if type(place) is _Place and x is not None and is_floating(k.dtype(like[place])):
                    natives[place] = _fitting(x, k, like[place], what)
        return natives

    def read_result(self, found: Any, what: str) -> list[Array]:
        """Return the arrays of what is like the result."""
        leaves, spec = flatten(found)
        if spec != self._result.spec:
            raise StructureError(f"{what} is like the result, {self._result.spec}, not {spec}")
        return [capture(x if isinstance(x, Array) else ua.asarray(x)) for x in leaves if x is not None]


class _Place(int):
    """The place of an array among those of a call."""


def _fitting(x: Any, k: Kernels, like: Any, what: str) -> Any:
    """Return the native of a cotangent, which has the shape of an argument, in its dtype."""
    array = capture(x if isinstance(x, Array) else ua.asarray(x))
    if array.shape != k.shape(like):
        raise ShapeError(f"{what} returned shape {array.shape} for an argument of shape {k.shape(like)}")
    dtype = dtypes.BY_NUMPY[k.dtype(like)]
    dtypes.check_cast(array.dtype, dtype, what)
    return read(capture(ua.astype(array, dtype, copy=False)))
