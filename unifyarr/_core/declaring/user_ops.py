"""What is known of a function that a user declared with ``op``: its kernels by backend, and their destructive twins.

Such a function is a declaration like the package's own. Its body is the composition for backends without a kernel.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import partial
from typing import Any, TypeVar

from ...backends.forks import free_after_fork
from ...errors import BackendNotFoundError
from ..engines.dtypes import as_dtype
from ..engines.handle import Handle
from ..engines.registry import entry_points
from ..kernels.record import ELEMENTWISE, ROWS, Alias, Batch, Derivative, Fails, Kernel, Twin, record_of
from ..kernels.types import ArrayType
from ..values.lengths import shape_of
from ..values.maps import IOMap, as_map, as_pairs, as_places
from .signature import AnnotationScope, Parameters, outputs_of, parameters_of

Function = TypeVar("Function", bound=Callable[..., Any])
# For an output the inputs, by position, and pairs of inputs.
Maps = Mapping[int, Iterable[int]]
Pairs = Iterable[tuple[int, int]]
# The kinds whose rules need to know nothing of static arguments.
_KINDS = {each.name: each for each in (ROWS, ELEMENTWISE)}


class UserKernel:
    """A function on native arrays, and the twin that it is in the record of its operation: none if it's pure."""

    def __init__(self, function: Callable[..., object], twin: Twin | None = None, natives: str | None = None) -> None:
        if not callable(function):
            raise TypeError(f"a kernel is a function of native arrays, not {type(function).__name__}")
        self.function, self.twin = function, twin
        # The backend whose natives it takes, if that's another one than it's registered for.
        self.natives = natives
        # What a call gives for arrays of some types, where only a run of the kernel told a trace.
        self.learned: dict[Hashable, Any] = {}
        try:
            self._has_out = "out" in inspect.signature(function).parameters
        except ValueError:
            self._has_out = False

    @property
    def described(self) -> str:
        """What to call it."""
        return "kernel" if self.twin is None else "in-place kernel"

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
        harmless: float = 1,
    ) -> None:
        self.body = body
        self.name: str = body.__name__
        scope = AnnotationScope(body)
        self.parameters = parameters_of(scope, arrays)
        self.arrays, self.static = _sorted(body, self.parameters)
        # Whether it returns a tuple, and of how many, as far as the annotation says it.
        self.several, self.nout = outputs_of(scope) if arrays is None else (None, None)
        # Modes read the same record of a user's kernels as of the package's own.
        self.record = self._recorded(kind, self._checked_map("view_map", view_map), harmless)
        # By backend, and of the twins in the record those that a backend has.
        self.kernels: dict[str, UserKernel] = {}
        self.twins: dict[str, dict[Twin, UserKernel]] = {}
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
        twin = Twin(
            self._checked_map("destroy_map", destroy_map),
            as_places(self._of("scratch"), scratch),
            self._pairs("tolerate_same", tolerate_same),
            self._pairs("tolerate_aliased", tolerate_aliased),
        )
        self._check_inputs("scratch", twin.scratch)
        if not twin.victims:
            raise ValueError(
                f"an in-place kernel of {self.name}() overwrites something: say what, destroy_map={{0: (0,)}}"
            )

        def register(function: Function) -> Function:
            kernel = UserKernel(function, twin)
            with self._lock:
                if backend not in self.kernels:
                    raise ValueError(
                        f"{self.name}() has no kernel for backend {backend!r} for which an in-place one could stand: "
                        f"register it first, with @{self.name}.kernel({backend!r})"
                    )
                twins = self.twins.get(backend, {})
                if any(each[:2] == twin[:2] for each in twins):
                    raise ValueError(f"{self.name}() has an in-place kernel like this for backend {backend!r} already")
                self.twins[backend] = {**twins, twin: kernel}
                if twin not in self.record.twins:
                    self.record = self.record._replace(twins=(*self.record.twins, twin))
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

    def infer(self, function: Function, /) -> Function:
        """Declare the types of the results."""
        if not callable(function):
            raise TypeError(f"infer of {self.name}() is a function of types, not {type(function).__name__}")
        with self._lock:
            if self.record.types is not None:
                raise ValueError(f"{self.name}() has an infer already: it has one")
            self.record = self.record._replace(types=partial(self._types_by, function))
        return function

    def is_several(self, results: tuple[object, ...]) -> bool:
        """Return whether results are returned as a tuple."""
        return len(results) != 1 if self.several is None else self.several

    def check_count(self, what: str, result: object) -> None:
        """Raise unless as many results came as the annotation of the body says."""
        nout = self.nout
        # A type is a tuple itself.
        results = result if isinstance(result, tuple) and not isinstance(result, ArrayType) else None
        if self.several is None:
            return
        if (results is not None) != self.several or (results is not None and nout not in (None, len(results))):
            wanted = f"a tuple of {'any number of' if nout is None else nout} arrays" if self.several else "one array"
            came = f"one {type(result).__name__}" if results is None else f"a tuple of {len(results)}"
            raise TypeError(f"{what} returned {came}, but the op is declared to return {wanted}")

    def _types_by(self, function: Callable[..., object], *types: object, **static: object) -> tuple[ArrayType, ...]:
        """Return the types that a declared function of types gives for the results."""
        found, what = function(*types, **static), self._of("infer")
        self.check_count(what, found)
        return tuple([_as_type(what, each) for each in (found if type(found) is tuple else (found,))])

    def _recorded(self, kind: str, view_map: IOMap, harmless: float) -> Kernel:
        if kind not in _KINDS:
            wanted = " or ".join(repr(each) for each in _KINDS)
            raise ValueError(f"{self._of('kind')} is {wanted}, not {kind!r}")
        if type(harmless) is bool or not isinstance(harmless, (int, float)):
            raise TypeError(f"{self._of('harmless')} is a number, not {harmless!r}")
        if harmless != 1 and kind != ELEMENTWISE.name:
            raise ValueError(f'{self._of("harmless")} isn\'t read: declare it with kind="elementwise"')
        # A user's code may raise, and without a declared derivative that of the body serves.
        facts = {"fails": Fails.VALUES, "derivative": Derivative.BODY, "batch": Batch.KIND, "view_map": view_map}
        alias = Alias.VIEW if view_map else Alias.FRESH
        return record_of(_KINDS[kind], self.name, alias=alias, harmless=harmless, **facts)

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


def _as_type(what: str, given: Any) -> ArrayType:
    if not (hasattr(given, "shape") and hasattr(given, "dtype")):
        raise TypeError(f"{what} returns types, each with a shape and a dtype, such as x, not {given!r}")
    return ArrayType(shape_of(given.shape), as_dtype(given.dtype).dtype)
