"""What is known of a function that a user declared with ``op``: its kernels by backend, and their destructive twins.

Such a function is a declaration like the package's own. Its body is the composition for backends without a kernel.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar, cast

from ..errors import BackendNotFoundError
from .concerns import Parameters
from .declare import Declaration
from .dispatch import read_signature
from .handle import Handle
from .selection import entry_points

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result", covariant=True)
Function = TypeVar("Function", bound=Callable[..., Any])
# For an output the inputs, by position, and pairs of inputs.
Maps = Mapping[int, Iterable[int]]
Pairs = Iterable[tuple[int, int]]


class OpFunction(Protocol[Arguments, Result]):
    """A function that ``op`` declares: called as its body is, and told of kernels."""

    __name__: str
    __doc__: str | None

    def __call__(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        """Compute the operation."""

    def kernel(self, backend: str, /) -> Callable[[Function], Function]:
        """Register the kernel for a backend."""

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


class Kernel:
    """A function on native arrays, and what it overwrites: nothing if it's pure."""

    def __init__(
        self,
        function: Callable[..., Any],
        destroys: tuple[tuple[int, int], ...] = (),
        scratch: tuple[int, ...] = (),
        tolerate_same: frozenset[tuple[int, int]] = frozenset(),
        tolerate_aliased: frozenset[tuple[int, int]] = frozenset(),
    ) -> None:
        if not callable(function):
            raise TypeError(f"a kernel is a function of native arrays, not {type(function).__name__}")
        self.function = function
        # Which input each output is kept in.
        self.destroys = destroys
        self.scratch = scratch
        self.tolerate_same, self.tolerate_aliased = tolerate_same, tolerate_aliased
        try:
            self._has_out = "out" in inspect.signature(function).parameters
        except ValueError:
            self._has_out = False

    @property
    def overwrites(self) -> bool:
        """Whether it's a destructive twin."""
        return bool(self.destroys or self.scratch)

    @property
    def kind(self) -> str:
        """What to call it."""
        return "in-place kernel" if self.overwrites else "kernel"

    def tolerates(self, destroyed: int, other: int, same: bool) -> bool:
        """Say whether it may overwrite one input though another one shares memory with it, or is the same."""
        pair = (destroyed, other)
        return pair in self.tolerate_aliased or (same and pair in self.tolerate_same)

    def takes_out(self, backend: Handle) -> bool:
        """Say whether it writes its result to what it's given as ``out``."""
        return backend.mutable and (self._has_out or bool(backend.supports_out(self.function)))


class Operation:
    """What is known of a user's operation beside its declaration."""

    def __init__(self, body: Callable[..., Any], view_map: Maps | None) -> None:
        self.body = body
        self.name: str = body.__name__
        self.parameters = read_signature(body)
        self.arrays, self.static = _sorted(body, self.parameters)
        # Whether it returns a tuple, and of how many, as far as the annotation says it.
        self.several, self.nout = _outputs(body)
        self.view_map = self._checked_map("view_map", view_map)
        self.kernels: dict[str, Kernel] = {}
        self.twins: dict[str, tuple[Kernel, ...]] = {}
        # Shape and dtype of the result for kinds of arguments, as a kernel gave them.
        self.types: dict[Hashable, tuple[Any, Any]] = {}
        self._lock = threading.Lock()

    def kernel(self, backend: str, /) -> Callable[[Function], Function]:
        """Register the kernel for a backend."""
        _check_backend(backend)

        def register(function: Function) -> Function:
            kernel = Kernel(function)
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
        destroys = self._destroys(destroy_map)
        clobbered = tuple(self._checked("scratch", place) for place in scratch)
        if not destroys and not clobbered:
            raise ValueError(
                f"an in-place kernel of {self.name}() overwrites something: say what, destroy_map={{0: (0,)}}"
            )
        same, aliased = self._pairs("tolerate_same", tolerate_same), self._pairs("tolerate_aliased", tolerate_aliased)

        def register(function: Function) -> Function:
            twin = Kernel(function, destroys, clobbered, same, aliased)
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

    def is_several(self, results: tuple[Any, ...]) -> bool:
        """Say whether results are returned as a tuple."""
        return len(results) != 1 if self.several is None else self.several

    def _destroys(self, destroy_map: Maps | None) -> tuple[tuple[int, int], ...]:
        checked = self._checked_map("destroy_map", destroy_map)
        for output, inputs in checked.items():
            if len(inputs) != 1:
                raise ValueError(
                    f"destroy_map of {self.name}() keeps output {output} in {len(inputs)} inputs: it's kept in one, "
                    "and what is overwritten beside it is named in scratch"
                )
        return tuple((output, inputs[0]) for output, inputs in sorted(checked.items()))

    def _checked_map(self, what: str, given: Maps | None) -> dict[int, tuple[int, ...]]:
        checked = {}
        for output, inputs in (given or {}).items():
            if type(output) is not int or output < 0 or (self.nout is not None and output >= self.nout):
                count = (
                    "some outputs" if self.nout is None else "one output" if self.nout == 1 else f"{self.nout} outputs"
                )
                raise ValueError(f"{what} of {self.name}() names output {output!r}, but it has {count}, counted from 0")
            if isinstance(inputs, (int, str)):
                raise TypeError(f"{what} of {self.name}() has for each output a tuple of inputs, as {{0: (1,)}}")
            checked[output] = tuple(self._checked(what, place) for place in inputs)
        return checked

    def _checked(self, what: str, place: int) -> int:
        # A sequence is as long as it comes.
        limited = not self.parameters.sequences and place not in range(len(self.arrays))
        if type(place) is not int or place < 0 or limited:
            raise ValueError(
                f"{what} of {self.name}() names input {place!r}, but its arrays are {', '.join(self.arrays)}, counted "
                "from 0"
            )
        return place

    def _pairs(self, what: str, pairs: Pairs) -> frozenset[tuple[int, int]]:
        return frozenset((self._checked(what, one), self._checked(what, other)) for one, other in pairs)


def _check_backend(name: str) -> None:
    if name not in entry_points():
        raise BackendNotFoundError(f"there is no backend {name!r}: the backends are {', '.join(entry_points())}")


def _sorted(body: Callable[..., Any], parameters: Parameters) -> tuple[tuple[str, ...], tuple[str, ...]]:
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
        if "Array" not in str(inspect.signature(body).parameters[parameters.variadic].annotation):
            raise TypeError(
                f"*{parameters.variadic} of {body.__name__}() is annotated as no Array: an op names the others"
            )
        arrays.append(parameters.variadic)
    if not arrays:
        raise TypeError(f"{body.__name__}() takes no arrays: annotate the parameters that are arrays, x: Array")
    return tuple(arrays), tuple(name for name in kinds if name not in arrays and name != "out")


def _outputs(body: Callable[..., Any]) -> tuple[bool | None, int | None]:
    annotation = str(inspect.signature(body).return_annotation)
    if "tuple[" in annotation.lower():
        return True, None if "..." in annotation else annotation.count("Array")
    return (False, 1) if "Array" in annotation else (None, None)


def _with_out(body: Callable[..., Any]) -> Callable[..., Any]:
    """Return the body with a parameter ``out``: as the caller writes there, it may do without."""
    signature = inspect.signature(body)
    if "out" in signature.parameters:
        return body

    @wraps(body)
    def declared(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        return body(*args, **kwargs)

    out = inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="Array | None")
    declared.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), out]
    )
    return declared


def declare(body: Callable[..., Any], view_map: Maps | None) -> Any:
    """Return the function that ``op`` makes of a body."""
    operation = Operation(body, view_map)
    declaration = Declaration(_with_out(body), "mixed", view_map=operation.view_map, operation=operation)
    function = cast(Any, declaration.function())
    declaration.public = function
    function.kernel, function.inplace = operation.kernel, operation.inplace
    return function
