"""One call of a function by an engine's transformation: arrays are unwrapped for the engine, and results wrapped."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, TypeVar

import numpy as np

from .. import functions
from .._core.arrays.array import Array, marked, wrap
from .._core.arrays.convert import backend_of
from .._core.arrays.overlap import overlapping
from .._core.arrays.ownership import read
from .._core.arrays.structures import advice
from .._core.engines.current import current
from .._core.engines.dtypes import SCALARS
from .._core.engines.handle import Handle
from .._core.engines.natives import mismatch
from .._core.engines.registry import load
from .._core.engines.tracing import Running, capture, goes_on, inside, mode, run_of, running
from .._core.values.arguments import check_callable, shown
from .._core.values.called import boundary
from .._core.writing.inplace import as_target, assign, check_target
from ..container.container import Container, flatten, unflatten
from ..container.tree import as_item
from ..errors import (
    BackendFeatureError,
    BackendMismatchError,
    InplaceUpdateError,
    TracedMutationError,
    TraceError,
    UnknownShapeError,
)
from ..modes.batch.handle import batch_of
from ..modes.eager import eager_in
from ..modes.mode import Level
from ..modes.scope import Scope, value_around
from ..modes.tape.entries import NotInline
from ..modes.tape.handle import tape_of
from .returned import Transformed

# The engines that transform functions of arrays whose backend can't, such as NumPy's, where they're named: torch takes
# a fraction of JAX's time for small functions, as it compiles nothing.
ENGINES = ("torch", "jax")


Transformation = TypeVar("Transformation", bound=Callable[..., Any])

_ARRAYS = frozenset({Array})
running_mode = mode.get


def recorded(transformation: Transformation, name: str | None = None, inline: bool = True) -> Transformation:
    """Return a transformation for users: each function that it returns is one operation in the trace of a graph."""

    @functools.wraps(transformation)
    def transform(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
        transformed = transformation(function, *args, **kwargs)

        def call(*arguments: Any, **named: Any) -> Any:
            if running_mode() is None or (trace := graph_trace()) is None:
                return transformed(*arguments, **named)
            if inline and kwargs.get("backend") is None:
                try:
                    return transformed(*arguments, **named)
                except (NotInline, UnknownShapeError):
                    # Nothing was written yet, and what was recorded nothing uses.
                    pass

            # What isn't part of the graph is the engine's own, which compiles it.
            engine = engine_for(trace.backend, kwargs.get("backend"))

            def again(other: Callable[..., Any]) -> Callable[..., Any]:
                found: Callable[..., Any] = transformation(other, *args, **{**kwargs, "backend": engine})
                return found

            return trace.recording(function)(name or transformation.__name__, again, arguments, named)

        return Transformed(call, function, public, args, kwargs)

    # The function that its module has under its name, as pickles need it.
    public = boundary(transform)
    return public  # type: ignore[return-value]


def engine_for(backend: Handle, name: str | None) -> str | None:
    """Return the name of the engine of a transformation that isn't part of a trace."""
    return backend.name if name is None and backend.can_transform else name


def graph_trace() -> Any:
    """Return the running trace if it's that of a graph, else ``None``."""
    found = mode.get()
    return None if found is None or isinstance(found.trace, Scope) else found.trace


def from_values(values: np.ndarray, like: Array) -> Any:
    """Return a native with these values, and with the dtype and the device of an array."""
    dtype = like.dtype.dtype
    native = like._native
    device = None if like._backend.is_traced(native) else like._backend.own_device(like.device)
    return like._backend.from_numpy(values.astype(dtype), device=device)


def is_data(x: Any) -> bool:
    """Return whether something that isn't our array can be converted to one."""
    return type(x) in SCALARS or isinstance(x, (np.ndarray, np.generic)) or backend_of(x) is not None


class TransformedCall:
    """A function with its arguments; a transformation calls it with natives for some of them.

    ``finish`` makes the function's writes to its arguments and to arrays from outside. ``check`` raises for results
    that the transformation doesn't take. ``keeps`` says that the arguments are still read after ``finish``, and
    ``batch`` that there's a result for each element of a batch.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
        chosen: Iterable[int],
        *,
        backend: str | None = None,
        has_aux: bool = False,
        keeps: bool = False,
        batch: bool = False,
        check: Callable[[list[Array]], None] | None = None,
    ) -> None:
        check_callable(function, "a transformation")
        self._function, self._has_aux, self._check = function, has_aux, check
        self._keeps, self._batch = keeps, batch
        # Arrays alone need no tree.
        self._is_flat = not kwargs and _ARRAYS.issuperset(map(type, args))
        leaves, self._spec = (list(args), _flat(len(args))) if self._is_flat else flatten((tuple(args), kwargs))
        scope = running()
        if scope is not None:
            leaves = [capture(x) if isinstance(x, Array) else x for x in leaves]
        self.given, self._backend, self.handle = _backends(leaves, scope, backend, batch)
        # What the values are natives of, if not of an engine.
        self._home = run_of(self.handle.around) if keeps else None
        # The places of the leaves of each argument, and the structure of each.
        self.of_argument, self._arguments = arguments_of(self._spec)
        self.leaves: list[Any] = leaves
        # The arrays for which the transformation passes natives.
        self.places: list[int] = []
        for number in chosen:
            for place in self.of_argument[number]:
                x = leaves[place]
                if not isinstance(x, Array):
                    if not is_data(x):
                        continue
                    leaves[place] = functions.asarray(x, backend=self.given.name)
                self.places.append(place)
        self.targets: list[Array] = []
        self._met: list[Array] = []

    def arrays(self) -> list[Array]:
        """Return the arrays for which the transformation passes natives."""
        return [self.leaves[place] for place in self.places]

    def natives(self) -> list[Any]:
        """Return the natives that the transformation takes."""
        leaves, handle, keeps = self.leaves, self.handle, self._keeps
        return [value_around(leaves[place], handle, keeps=keeps) for place in self.places]

    def native(self, x: Array) -> Any:
        """Return the value of an array as a native that the transformation takes."""
        return value_around(x, self.handle, keeps=self._keeps)

    def _entered(self, x: Array) -> Any:
        native = self.native(x)
        return native if x._backend is self.handle else self.handle.enter(native)

    # -- inside the transformation ------------------------------------------------------------------------------------

    def __call__(self, *natives: Any) -> tuple[list[Any], list[Any]]:
        """Call the function; return its results and its other outputs: auxiliary ones, and the written values."""
        scope = Scope(self._backend, self.handle, keeps=self._keeps)
        with scope:
            given, handle, mark = dict(zip(self.places, natives, strict=True)), self.handle, scope.mark
            values = list(self.leaves)
            inside: list[tuple[int, Array, Any]] = []
            for place, x in enumerate(values):
                if isinstance(x, Array):
                    native = given[place] if place in given else self._entered(x)
                    values[place] = array = marked(native, handle, mark)
                    inside.append((place, array, native))
            args, kwargs = (values, {}) if self._is_flat else unflatten(self._spec, values)
            return self.ended(self._function(*args, **kwargs), scope, inside)

    def ended(self, found: Any, scope: Scope, inside: Sequence[tuple[int, Array, Any]]) -> tuple[list[Any], list[Any]]:
        """Return the same of what the function has returned, while the transformation runs.

        ``inside`` has the arrays that it was passed, with their places and what they held.
        """
        result, aux = self._parts(found)
        results, others = self._read_result(result, scope), self._read_aux(aux, scope)
        given = {*self.places}
        written = {place: array._native for place, array, before in inside if array._native is not before}
        captured: list[tuple[Array, Any]] = []
        if scope.captured:
            captured = scope.written()
            self._met = [each.array for each in scope.captured]
        if self._batch and (captured or not written.keys() <= given):
            raise TracedMutationError(
                f"{'an array from outside' if captured else 'an argument that has no mapped axis'} is written inside "
                "vmap(), where each element of the batch has a value for it: map it, with in_axes, or return the values"
            )
        if not (written or captured):
            return results, others
        self.targets = [*(self.leaves[place] for place in written), *(x for x, _ in captured)]
        return results, [*others, *written.values(), *(native for _, native in captured)]

    def _parts(self, found: Any) -> tuple[Any, Any]:
        if not self._has_aux:
            return found, None
        if not (isinstance(found, tuple) and len(found) == 2):
            raise TypeError(f"with has_aux=True a function returns a pair (result, other values), not {found!r:.80}")
        return found

    def _read_result(self, result: Any, scope: Scope) -> list[Any]:
        leaves, self.spec = flatten(result)
        if type(result) is Array and result._backend is scope.handle and scope.is_inside(result):
            if self._check is not None:
                self._check(leaves)
            return [result._native]
        for x in leaves:
            # In a batch a number is allowed: it's the same for each element.
            if not isinstance(x, Array) and backend_of(x) is None and not (self._batch and is_data(x)):
                raise TypeError(
                    f"the function must return arrays, or a nest of them, not {x!r:.80}: return other values beside "
                    f"the result, with has_aux=True; {advice(x)}"
                )
        if not leaves:
            raise TypeError("the function must return arrays, or a nest of them, but its result contains none")
        arrays = [_entered(x, scope) for x in leaves]
        if self._check is not None:
            self._check(arrays)
        return [read(x) for x in arrays]

    def _read_aux(self, aux: Any, scope: Scope) -> list[Any]:
        if aux is None:
            self._aux, self._aux_spec = [], None
            return []
        leaves, self._aux_spec = flatten(aux)
        # Values that aren't arrays are returned as they are.
        self._aux = [None if isinstance(x, Array) or backend_of(x) is not None else (x,) for x in leaves]
        return [read(_entered(x, scope)) for x, known in zip(leaves, self._aux, strict=True) if known is None]

    def _known(self) -> list[Array]:
        return [*[x for x in self.leaves if isinstance(x, Array)], *self._met]

    def one(self, result: Any) -> Any:
        """Return the cotangent of a 0-d result by which the gradient is taken: ``None`` to a record."""
        around = self.handle.around
        return from_values(np.ones(()), wrap(result, around)) if around is self.handle else None

    # -- after the transformation -------------------------------------------------------------------------------------

    def finish(self, others: Sequence[Any]) -> Any:
        """Make the function's writes, all or none, and return its auxiliary values."""
        aux: Iterator[Array] = iter(())
        if others:
            count = len(others) - len(self.targets)
            aux = iter(self.outside(others[:count]))
            values = self.outside(others[count:])
            write(self.targets, [read(x) for x in values], self._known())
        spec = self._aux_spec
        return None if spec is None else unflatten(spec, [next(aux) if x is None else x[0] for x in self._aux])

    def outside(self, natives: Sequence[Any], *others: Array) -> list[Array]:
        """Return natives of the engine as new arrays of the caller's backend, which share no memory with anything."""
        return arrays_outside(natives, self.given, self.handle, [*self._known(), *others])

    def pulled(
        self, pullback: Callable[[Sequence[Any]], Sequence[Any]], cotangents: Sequence[Array], name: str = "pullback"
    ) -> list[Array]:
        """Return what a pullback gives, which may be called in a trace or a transformation that has begun since.

        What it holds may have ended: the compiled function or the derivative in which it was made.
        """
        around = self.handle.around
        if around is self.handle:
            return self.outside(pullback([self.native(x) for x in cotangents]), *cotangents)
        if self._home is not None and not goes_on(self._home):
            where = "compiled function" if around.records else "derivative"
            raise TraceError(
                f"the {name} of a {where} outlived its trace: call it inside the function in which it was made"
            )
        cotangents = [capture(x) for x in cotangents]
        natives, now = pullback([read(x) for x in cotangents]), inside(around)
        if now is around:
            return self.outside(natives, *cotangents)
        return [wrap(native, now) for native in natives]

    def result(self, arrays: Sequence[Any]) -> Any:
        """Return arrays in the structure of the function's result; nests inside a container become containers."""
        in_container = self.spec.type is Container
        leaves = [
            x if isinstance(x, Array) or not in_container else as_item(x, "the result", Container) for x in arrays
        ]
        return unflatten(self.spec, leaves)

    def like_argument(self, number: int, arrays: Sequence[Array]) -> Any:
        """Return arrays in the structure of an argument, in place of the arrays that the transformation passed."""
        found, places = dict(zip(self.places, arrays, strict=True)), self.of_argument[number]
        argument = self._arguments[number]
        return found.get(places.start) if argument is None else unflatten(argument, [found.get(x) for x in places])


@functools.cache
def _flat(count: int) -> Any:
    """Return the structure of a number of arguments that are arrays."""
    return flatten(((0,) * count, {}))[1]


@functools.cache
def _is_engine(backend: Handle) -> bool:
    # An array of another backend has outlived a derivative, a batch or a trace.
    return backend.around is backend


# Structures of arguments come from functions that are called again and again.
@functools.lru_cache(maxsize=256)
def arguments_of(spec: Any) -> tuple[list[range], list[Any]]:
    """Return of arguments and named ones the places of the leaves, and the structures: ``None`` for a leaf."""
    arguments = spec.child(0).children()
    ends = [0, *accumulate([each.num_leaves for each in arguments])]
    structures = [None if each.is_leaf(strict=True) else each for each in arguments]
    return [range(begin, end) for begin, end in pairwise(ends)], structures


def write(targets: Sequence[Array], natives: Sequence[Any], arrays: Sequence[Array]) -> None:
    """Make a function's writes, all or none; ``arrays`` are its arguments and the arrays that it captured."""
    written = {id(x) for x in targets}
    for first, second in overlapping(arrays) if targets else ():
        if id(arrays[first]) in written or id(arrays[second]) in written:
            raise InplaceUpdateError(
                "the function writes to an array that shares memory with another argument or captured array, which "
                "wouldn't see the write: pass a copy of one of them, or make views of one inside the function"
            )
    targets = [as_target(x) for x in targets]
    for target in targets:
        check_target(target)
    for target, native in zip(targets, natives, strict=True):
        assign(target, native)


def _entered(x: Any, scope: Scope) -> Array:
    array: Array = x if isinstance(x, Array) else functions.asarray(x)
    return scope.capture(array)


def arrays_outside(natives: Sequence[Any], given: Handle, handle: Handle, known: Sequence[Array]) -> list[Array]:
    """Return natives of an engine as new arrays of a backend, which share no memory with those known nor each other."""
    arrays = [wrap(_native_outside(native, given, handle), given) for native in natives]
    if given.mutable:
        # The engine may return its arguments, or several results in the same memory.
        for _, second in list(overlapping([*known, *arrays])):
            if second >= len(known):
                arrays[second - len(known)] = arrays[second - len(known)].copy()
    return arrays


def _native_outside(native: Any, given: Handle, handle: Handle) -> Any:
    if given.name != handle.name:
        values = handle.to_numpy(native)
        return given.from_numpy(values, copy=not values.flags.writeable or handle.engine.is_read_only(native))
    return given.copy(native) if given.mutable and given.is_read_only(native) else native


def _backends(
    leaves: Sequence[Any], scope: Running | None, name: str | None, batch: bool
) -> tuple[Handle, Handle, Level]:
    """Return the backend of the results, the backend of the arrays outside, and its stand-in inside."""
    if name is not None and not isinstance(name, str):
        raise TypeError(f"backend is the name of a backend, not {shown(name)}")
    found: dict[str, Handle] = {}
    last = None
    for x in leaves:
        backend = x._backend if type(x) is Array else backend_of(x)
        if backend is not None and backend is not last:
            found[backend.name] = last = backend
    if scope is None and name is None and len(found) == 1 and last is not None and _is_engine(last):
        return last, last, (batch_of if batch else tape_of)(last)
    if isinstance(scope, Scope) and scope.handle.around is not scope.handle:
        if name is not None:
            raise BackendMismatchError(
                f"backend={name!r} inside a derivative or a batch by the rules of the package: leave it out, or name "
                "the engine for the outer one too"
            )
        return scope.handle, scope.handle, (batch_of if batch else tape_of)(scope.handle)
    if isinstance(scope, Scope) and found.keys() <= {scope.backend.name, scope.handle.name}:
        if name not in (None, scope.handle.name):
            raise BackendMismatchError(
                f"backend={name!r} inside a transformation by {scope.handle.name!r}: leave it out"
            )
        return scope.handle, scope.backend, scope.handle
    if len(found) > 1:
        raise mismatch(*found.values())
    if scope is None:
        for each in found.values():
            if each.around is not each:
                raise mismatch(each, each)
    given = next(iter(found.values()), None) or current()
    if name is None:
        return given, given, (batch_of if batch else tape_of)(given)
    if not given.can_transform:
        return given, given, eager_in(_transforming(given, name))
    if name != given.name:
        raise BackendMismatchError(
            f"backend={name!r} names an engine for arrays whose backend has no transformations, such as NumPy's, but "
            f"these are of backend {given.name!r}: move them, with to_backend()"
        )
    return given, given, eager_in(given)


def _transforming(given: Handle, name: str) -> Handle:
    """Return the backend of that name, which transforms functions of another one's arrays."""
    found = load(name)
    if not found.can_transform:
        raise BackendFeatureError(
            f"neither backend {given.name!r} nor {name!r} has transformations: pass backend={ENGINES[0]!r}, for example"
        )
    return found
