"""One run of a function by a transformation of an engine: arrays in, natives for the engine, arrays out."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .. import functions
from .._core.convert import backend_of
from .._core.dtypes import SCALARS
from .._core.handle import Handle
from .._core.inplace import as_target, assign, check_target
from .._core.selection import available_backends, current, load, mismatch
from .._core.tracing import running
from .._core.transforming import Scope, inside_of, value_inside
from .._core.views import overlapping
from .._core.wrapper import is_array, read, wrap
from .._tree import as_item
from ..container import Container, flatten, unflatten
from ..errors import (
    BackendFeatureError,
    BackendMismatchError,
    BackendNotFoundError,
    InplaceUpdateError,
    TracedMutationError,
)

if TYPE_CHECKING:
    from ..array import Array

# Who transforms functions of NumPy's arrays, in the order in which they're asked: torch takes a fraction of JAX's time
# for small functions, as it compiles nothing.
ENGINES = ("torch", "jax")


Transformation = TypeVar("Transformation", bound=Callable[..., Any])


def recorded(transformation: Transformation, name: str | None = None) -> Transformation:
    """Let functions that a transformation returns be one operation each where a graph is traced."""

    @functools.wraps(transformation)
    def transform(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
        transformed = transformation(function, *args, **kwargs)

        @functools.wraps(transformed)
        def call(*arguments: Any, **named: Any) -> Any:
            trace = graph_trace()
            if trace is None:
                return transformed(*arguments, **named)

            def again(other: Callable[..., Any]) -> Callable[..., Any]:
                found: Callable[..., Any] = transformation(other, *args, **kwargs)
                return found

            return trace.recording(function)(name or transformation.__name__, again, arguments, named)

        return call

    return transform  # type: ignore[return-value]


def graph_trace() -> Any:
    """Return the trace of a graph, if that is what is running."""
    trace = running.get()
    return None if isinstance(trace, Scope) else trace


def from_values(values: np.ndarray, like: Array) -> Any:
    """Return a native with the values, and the dtype and the device of an array."""
    dtype = like.dtype.dtype
    native = like._native
    device = None if like._backend.is_traced(native) else like._backend.device_named(like.device)
    return like._backend.from_numpy(values.astype(dtype), device=device)


def is_data(x: Any) -> bool:
    """Say whether something that is no array of ours stands for one."""
    return type(x) in SCALARS or isinstance(x, (np.ndarray, np.generic)) or backend_of(x) is not None


class Run:
    """A function with its arguments, of which some are given by a transformation as natives.

    What it writes to its arguments, and to arrays from outside, is written to them by ``finish``. ``check`` raises
    where its results aren't what the transformation takes. ``keeps`` says that the arguments are read after ``finish``
    too, and ``batch`` that there's a result for each element of a batch.
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
        self._function, self._has_aux, self._check = function, has_aux, check
        self._keeps, self._batch = keeps, batch
        leaves, self._spec = flatten((tuple(args), kwargs))
        self.given, self._backend, self.handle = _backends(leaves, backend)
        # The places of the leaves of each argument.
        ends = [0, *accumulate(len(flatten(each)[0]) for each in args)]
        self.of_argument = [range(begin, end) for begin, end in pairwise(ends)]
        self.leaves: list[Any] = leaves
        for number in chosen:
            for place in self.of_argument[number]:
                if not is_array(leaves[place]) and is_data(leaves[place]):
                    leaves[place] = functions.asarray(leaves[place], backend=self.given.name)
        # What the transformation gives.
        self.places = [place for i in chosen for place in self.of_argument[i] if is_array(leaves[place])]
        self.targets: list[Array] = []
        self._met: list[Array] = []

    def arrays(self) -> list[Array]:
        """Return the arrays that the transformation gives."""
        return [self.leaves[place] for place in self.places]

    def native(self, x: Array) -> Any:
        """Return the value of an array as a native of the engine that transforms."""
        return value_inside(x, self._backend, self.handle, keeps=self._keeps)

    # -- inside the transformation ------------------------------------------------------------------------------------

    def __call__(self, *natives: Any) -> tuple[list[Any], list[Any]]:
        """Call the function; return its results, and what goes along: the rest of them, and what was written."""
        scope = Scope(self._backend, self.handle, keeps=self._keeps)
        with scope.running():
            given = dict(zip(self.places, natives, strict=True))
            inside = {
                place: wrap(given[place] if place in given else self.native(x), self.handle)
                for place, x in enumerate(self.leaves)
                if is_array(x)
            }
            before = {place: x._native for place, x in inside.items()}
            args, kwargs = unflatten(self._spec, [inside.get(place, x) for place, x in enumerate(self.leaves)])
            result, aux = self._parts(self._function(*args, **kwargs))
            results, others = self._read_result(result, scope), self._read_aux(aux, scope)
            written = {place: x._native for place, x in inside.items() if x._native is not before[place]}
            captured = scope.written()
        if self._batch and (captured or not written.keys() <= given.keys()):
            raise TracedMutationError(
                f"{'an array from outside' if captured else 'an argument that has no mapped axis'} is written inside "
                "vmap(), where each element of the batch has a value for it: map it, with in_axes, or return the values"
            )
        self.targets = [*(self.leaves[place] for place in written), *(x for x, _ in captured)]
        self._met = [x for x, _ in scope.captured]
        return results, [*others, *written.values(), *(native for _, native in captured)]

    def _parts(self, found: Any) -> tuple[Any, Any]:
        if not self._has_aux:
            return found, None
        if not (isinstance(found, tuple) and len(found) == 2):
            raise TypeError(
                f"with has_aux=True a function returns a pair, of a result and what else, not {found!r:.80}"
            )
        return found

    def _read_result(self, result: Any, scope: Scope) -> list[Any]:
        leaves, self.spec = flatten(result)
        for x in leaves:
            # A number is the same for each element of a batch.
            if not is_array(x) and backend_of(x) is None and not (self._batch and is_data(x)):
                raise TypeError(
                    f"the function returns arrays, or a nest of them, not {x!r:.80}: what else it returns goes beside "
                    "the result with has_aux=True"
                )
        if not leaves:
            raise TypeError("the function returns arrays, or a nest of them, but there's none in what it returned")
        arrays = [_entered(x, scope) for x in leaves]
        if self._check is not None:
            self._check(arrays)
        return [read(x) for x in arrays]

    def _read_aux(self, aux: Any, scope: Scope) -> list[Any]:
        leaves, self._aux_spec = flatten(aux)
        # What's no array is returned as it is.
        self._aux = [None if is_array(x) or backend_of(x) is not None else (x,) for x in leaves]
        return [read(_entered(x, scope)) for x, known in zip(leaves, self._aux, strict=True) if known is None]

    # -- outside again ------------------------------------------------------------------------------------------------

    def finish(self, others: Sequence[Any]) -> Any:
        """Write what the function wrote, all of it or nothing, and return what it returned beside its result."""
        count = len(others) - len(self.targets)
        aux = iter(self.outside(others[:count]))
        values = self.outside(others[count:])
        write(self.targets, [read(x) for x in values], [*filter(is_array, self.leaves), *self._met])
        return unflatten(self._aux_spec, [next(aux) if each is None else each[0] for each in self._aux])

    def outside(self, natives: Sequence[Any], *others: Array) -> list[Array]:
        """Return natives of the engine as new arrays of the caller's backend, which share no memory with anything."""
        given, handle = self.given, self.handle
        arrays = [wrap(_native_outside(native, given, handle), given) for native in natives]
        if given.mutable:
            # The engine may return what it was given, or one memory for several results.
            known = [*filter(is_array, self.leaves), *self._met, *others]
            for _, second in list(overlapping([*known, *arrays])):
                if second >= len(known):
                    arrays[second - len(known)] = arrays[second - len(known)].copy()
        return arrays

    def result(self, arrays: Sequence[Any]) -> Any:
        """Return arrays, or nests of them, in the structure of the function's result; in a container all are one."""
        in_container = self.spec.type is Container
        leaves = [x if is_array(x) or not in_container else as_item(x, "the result", Container) for x in arrays]
        return unflatten(self.spec, leaves)

    def like_argument(self, number: int, arrays: Sequence[Array]) -> Any:
        """Return arrays in the structure of an argument, in the place of what the transformation gave."""
        found = dict(zip(self.places, arrays, strict=True))
        argument = self._spec.child(0).child(number)
        return unflatten(argument, [found.get(place) for place in self.of_argument[number]])


def write(targets: Sequence[Array], natives: Sequence[Any], arrays: Sequence[Array]) -> None:
    """Write what a function wrote, all of it or nothing, to some of the arrays that it was passed or met."""
    written = {id(x) for x in targets}
    for first, second in overlapping(arrays) if targets else ():
        if id(arrays[first]) in written or id(arrays[second]) in written:
            raise InplaceUpdateError(
                "the function writes to an array that shares memory with another one it was passed or met, which "
                "wouldn't see it in there: pass a copy of one of them, or make views of one inside the function"
            )
    targets = [as_target(x) for x in targets]
    for target in targets:
        check_target(target)
    for target, native in zip(targets, natives, strict=True):
        assign(target, native)


def _entered(x: Any, scope: Scope) -> Array:
    array: Array = x if is_array(x) else functions.asarray(x)
    scope.capture(array)
    return array


def _native_outside(native: Any, given: Handle, handle: Handle) -> Any:
    if given.name != handle.name:
        values = handle.to_numpy(native)
        return given.from_numpy(values, copy=not values.flags.writeable or handle.engine.is_read_only(native))
    return given.copy(native) if given.mutable and given.is_read_only(native) else native


def _backends(leaves: Sequence[Any], name: str | None) -> tuple[Handle, Handle, Handle]:
    """Return the backend that results have, the one that arrays outside have, and what stands for it inside."""
    scope = running.get()
    found = {backend.name: backend for x in leaves if (backend := backend_of(x)) is not None}
    if isinstance(scope, Scope) and found.keys() <= {scope.backend.name, scope.handle.name}:
        if name not in (None, scope.handle.name):
            raise BackendMismatchError(f"backend={name!r} inside a transformation by {scope.handle.name!r}")
        return scope.handle, scope.backend, scope.handle
    if len(found) > 1:
        raise mismatch(*found.values())
    given = next(iter(found.values()), None) or current()
    if given.name == "numpy":
        return given, given, inside_of(load(name or _engine()))
    if name not in (None, given.name):
        raise BackendMismatchError(
            f"backend={name!r} says which engine transforms functions of NumPy's arrays, but these are of backend "
            f"{given.name!r}: move them, with to_backend()"
        )
    if not hasattr(given.engine, "vjp"):
        raise BackendFeatureError(f"backend {given.name!r} has no transformations: move the arrays, with to_backend()")
    return given, given, inside_of(given)


def _engine() -> str:
    installed = available_backends()
    for name in ENGINES:
        if name in installed:
            return name
    raise BackendNotFoundError(
        f"NumPy has no derivatives, nor batches of functions: they run through {' or '.join(ENGINES)}, of which none "
        f"is installed: pip install 'unifyarr[{ENGINES[0]}]'"
    )
