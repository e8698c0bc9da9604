"""What is known of a function that a user declared with ``op``: its kernels by backend, and their destructive twins.

Such a function is a declaration like the package's own. Its body is the composition for backends without a kernel.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, TypeVar

from ...backends.forks import free_after_fork
from ...errors import BackendNotFoundError
from ..engines.handle import Handle
from ..engines.registry import entry_points
from ..kernels.record import ELEMENTWISE, ROWS, Alias, Batch, Derivative, Fails, Kernel, record_of
from ..values.maps import IOMap, as_map, as_pairs, as_places
from .signature import Parameters, read_outputs, read_signature

Function = TypeVar("Function", bound=Callable[..., Any])
# For an output the inputs, by position, and pairs of inputs.
Maps = Mapping[int, Iterable[int]]
Pairs = Iterable[tuple[int, int]]
# The kinds whose rules need to know nothing of static arguments.
_KINDS = {each.name: each for each in (ROWS, ELEMENTWISE)}
NOTHING = as_map("destroy_map", {})


class UserKernel:
    """A function on native arrays, and what it overwrites: nothing if it's pure."""

    def __init__(
        self,
        function: Callable[..., object],
        destroys: IOMap = NOTHING,
        scratch: tuple[int, ...] = (),
        tolerate_same: frozenset[tuple[int, int]] = frozenset(),
        tolerate_aliased: frozenset[tuple[int, int]] = frozenset(),
        natives: str | None = None,
    ) -> None:
        if not callable(function):
            raise TypeError(f"a kernel is a function of native arrays, not {type(function).__name__}")
        self.function = function
        # The backend whose natives it takes, if that's another one than it's registered for.
        self.natives = natives
        # Which inputs each output is kept in one of.
        self.destroys = destroys
        self.scratch = scratch
        self.tolerate_same, self.tolerate_aliased = tolerate_same, tolerate_aliased
        # What a call gives for arrays of some types, where only a run of the kernel told a trace.
        self.learned: dict[Hashable, Any] = {}
        try:
            self._has_out = "out" in inspect.signature(function).parameters
        except ValueError:
            self._has_out = False

    @property
    def victims(self) -> frozenset[int]:
        """What is overwritten."""
        return frozenset((*self.scratch, *(place for places in self.destroys.values() for place in places)))

    @property
    def overwrites(self) -> bool:
        """Whether it's a destructive twin."""
        return bool(self.destroys or self.scratch)

    @property
    def described(self) -> str:
        """What to call it."""
        return "in-place kernel" if self.overwrites else "kernel"

    def tolerates(self, destroyed: int, other: int, same: bool) -> bool:
        """Return whether it may overwrite one input though another one shares memory with it, or is the same."""
        pair = (destroyed, other)
        return pair in self.tolerate_aliased or (same and pair in self.tolerate_same)

    def takes_out(self, backend: Handle) -> bool:
        """Return whether it writes its result to what it's given as ``out``."""
        return backend.mutable and self.natives is None and (self._has_out or bool(backend.supports_out(self.function)))


class OpFacts:
    """What is known of a user's operation beside its declaration."""

    def __init__(
        self,
        body: Callable[..., object],
        view_map: Maps | None = None,
        arrays: Iterable[str] | None = None,
        kind: str = "rows",
    ) -> None:
        self.body = body
        self.name: str = body.__name__
        self.parameters = read_signature(body, arrays=arrays)
        self.arrays, self.static = _sorted(body, self.parameters)
        # Whether it returns a tuple, and of how many, as far as the annotation says it.
        self.several, self.nout = read_outputs(body) if arrays is None else (None, None)
        self.view_map = self._checked_map("view_map", view_map)
        # Modes read the same record of a user's kernels as of the package's own.
        self.record = self._recorded(kind)
        self.kernels: dict[str, UserKernel] = {}
        self.twins: dict[str, tuple[UserKernel, ...]] = {}
        # Its derivative, if one was declared.
        self.pullback: Callable[..., object] | None = None
        # A map: cache key of the arguments -> shape and dtype of the result that a kernel gave.
        self.types: dict[Hashable, tuple[Any, Any]] = {}
        self._lock = free_after_fork(threading.Lock())

    def kernel(self, backend: str, /, *, natives: str | None = None) -> Callable[[Function], Function]:
        """Register the kernel for a backend."""
        _check_backend(backend)
        if natives not in (None, "numpy"):
            raise ValueError(f"natives of a kernel of {self.name}() is 'numpy', or None for its own, not {natives!r}")
        if natives == backend:
            natives = None

        def register(function: Function) -> Function:
            kernel = UserKernel(function, natives=natives)
            with self._lock:
                if backend in self.kernels:
                    raise ValueError(f"{self.name}() has a kernel for backend {backend!r} already: it has one for each")
                self.kernels[backend] = kernel
            return function

        return register

    def inplace(
        self,
        backend: str,
        /,
        *,
        destroy_map: Maps | None = None,
        scratch: Iterable[int] = (),
        tolerate_same: Pairs = (),
        tolerate_aliased: Pairs = (),
    ) -> Callable[[Function], Function]:
        """Register a destructive twin of the kernel for a backend."""
        _check_backend(backend)
        destroys = self._checked_map("destroy_map", destroy_map)
        clobbered = as_places(self._of("scratch"), scratch)
        self._check_inputs("scratch", clobbered)
        if not destroys and not clobbered:
            raise ValueError(
                f"an in-place kernel of {self.name}() overwrites something: say what, destroy_map={{0: (0,)}}"
            )
        same, aliased = self._pairs("tolerate_same", tolerate_same), self._pairs("tolerate_aliased", tolerate_aliased)

        def register(function: Function) -> Function:
            twin = UserKernel(function, destroys, clobbered, same, aliased)
            with self._lock:
                if backend not in self.kernels:
                    raise ValueError(
                        f"{self.name}() has no kernel for backend {backend!r} for which an in-place one could stand: "
                        f"register it first, with @{self.name}.kernel({backend!r})"
                    )
                twins = self.twins.get(backend, ())
                if any((each.destroys, each.scratch) == (destroys, clobbered) for each in twins):
                    raise ValueError(f"{self.name}() has an in-place kernel like this for backend {backend!r} already")
                self.twins[backend] = (*twins, twin)
            return function

        return register

    def vjp(self, function: Function, /) -> Function:
        """Declare the derivative."""
        if not callable(function):
            raise TypeError(f"the vjp of {self.name}() is a function of arrays, not {type(function).__name__}")
        with self._lock:
            if self.pullback is not None:
                raise ValueError(f"{self.name}() has a vjp already: it has one")
            self.pullback, self.record = function, self.record._replace(derivative=Derivative.RULE)
        return function

    def is_several(self, results: tuple[object, ...]) -> bool:
        """Return whether results are returned as a tuple."""
        return len(results) != 1 if self.several is None else self.several

    def _recorded(self, kind: str) -> Kernel:
        if kind not in _KINDS:
            wanted = " or ".join(repr(each) for each in _KINDS)
            raise ValueError(f"{self._of('kind')} is {wanted}, not {kind!r}")
        # A user's code may raise, and without a declared derivative that of the body serves.
        alias = Alias.VIEW if self.view_map else Alias.FRESH
        facts = {"fails": Fails.VALUES, "derivative": Derivative.BODY, "batch": Batch.KIND, "alias": alias}
        return record_of(_KINDS[kind], self.name, **facts)

    def _of(self, what: str) -> str:
        return f"{what} of {self.name}()"

    def _checked_map(self, what: str, given: Maps | None) -> IOMap:
        checked = as_map(self._of(what), {} if given is None else given)
        for output in checked:
            if self.nout is not None and output >= self.nout:
                count = "one output" if self.nout == 1 else f"{self.nout} outputs"
                raise ValueError(f"{self._of(what)} names output {output}, but it has {count}, counted from 0")
        for places in checked.values():
            self._check_inputs(what, places)
        return checked

    def _check_inputs(self, what: str, places: Iterable[int]) -> None:
        for place in places:
            # A sequence is as long as it comes.
            if not self.parameters.sequences and place >= len(self.arrays):
                raise ValueError(
                    f"{self._of(what)} names input {place}, but its arrays are {', '.join(self.arrays)}, counted from 0"
                )

    def _pairs(self, what: str, given: Pairs) -> frozenset[tuple[int, int]]:
        pairs = as_pairs(self._of(what), given)
        for pair in pairs:
            self._check_inputs(what, pair)
        return pairs


def _check_backend(name: str) -> None:
    if name not in entry_points():
        raise BackendNotFoundError(f"there is no backend {name!r}: the backends are {', '.join(entry_points())}")


def _sorted(body: Callable[..., object], parameters: Parameters) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the parameters that are arrays, and of those that aren't."""
    annotated = parameters.arrays | parameters.weak | parameters.sequences
    kinds = {name: each.kind for name, each in inspect.signature(body).parameters.items()}
    for name, kind in kinds.items():
        if kind is inspect.Parameter.VAR_KEYWORD:
            raise TypeError(f"{body.__name__}() takes **{name}: an op names its parameters")
        if kind is inspect.Parameter.KEYWORD_ONLY and name in annotated:
            raise TypeError(
                f"{name} of {body.__name__}() is an array, but keyword-only: an op takes arrays by position"
            )
    arrays = [name for name in kinds if name in annotated and kinds[name] is not inspect.Parameter.VAR_POSITIONAL]
    if parameters.variadic is not None:
        if parameters.variadic not in parameters.sequences:
            raise TypeError(
                f"*{parameters.variadic} of {body.__name__}() is annotated as no Array: an op names the others"
            )
        arrays.append(parameters.variadic)
    if not arrays:
        raise TypeError(f"{body.__name__}() takes no arrays: annotate the parameters that are arrays, x: Array")
    return tuple(arrays), tuple(name for name in kinds if name not in arrays and name != "out")
