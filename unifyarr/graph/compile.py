"""Compiling a function: traced once for each kind of arguments, rewritten to work in place, and run from then on."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .._core.convert import backend_of
from .._core.inplace import assign, check_target
from .._core.ownership import LOCK
from .._core.selection import Handle, current
from .._core.tracing import running
from .._core.views import is_recipe, overlapping
from .._core.wrapper import is_array, read, wrap
from ..container import trees
from ..errors import BackendMismatchError, InconsistencyError, TraceError
from .basic import Variable
from .destroyhandler import DestroyHandler
from .executors import Program, program, shared
from .fgraph import FunctionGraph
from .kernels import copied, stored
from .rewriting import dead_code, inplace, keep_in, merge
from .supervisor import Supervisor
from .trace import trace_call

if TYPE_CHECKING:
    from ..array import Array
    from .memory_report import MemoryReport
    from .profile_report import ProfileReport

Function = TypeVar("Function", bound=Callable[..., Any])
MODES = ("fast", "pure")


class Compiled:
    """A function of arrays that runs as the graph that it was traced to."""

    def __init__(self, function: Callable[..., Any], mode: str) -> None:
        if mode not in MODES:
            raise ValueError(f"mode is one of {', '.join(MODES)}, not {mode!r}")
        functools.update_wrapper(self, function)
        self._function, self._mode = function, mode
        self._programs: dict[Hashable, _Program] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function: traced if it wasn't with such arguments, and run."""
        if running.get() is not None:
            # Inside another trace it's a part of that.
            return self._function(*args, **kwargs)
        program, arrays = self._program(args, kwargs)
        return program(arrays, lambda: self._function(*args, **kwargs))

    def _program(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[_Program, list[Array]]:
        leaves, spec = trees().tree_flatten((args, kwargs), none_is_leaf=True, namespace="unifyarr")
        arrays = [leaf for leaf in leaves if is_array(leaf)]
        backend = _backend(arrays)
        key = (backend.name, spec, tuple(map(_kind, leaves)))
        with LOCK:
            found = self._programs.get(key)
            if found is None:
                found = self._programs[key] = _Program(self._function, leaves, spec, backend, self._mode)
        return found, arrays

    def graph(self, *args: Any, **kwargs: Any) -> FunctionGraph:
        """Return the graph that runs when the function is called so: to look at, since changes make its reports wrong.

        It can be printed, and drawn: notebooks show it as a picture. Nothing is run, but a function that wasn't called
        with such arguments is traced.
        """
        return self._program(args, kwargs)[0].fgraph

    def memory(self, *args: Any, **kwargs: Any) -> MemoryReport:
        """Return how much memory the function works in when it's called so; without arguments, for all calls yet.

        The report has for each kind of arguments the pieces of memory, what lies in each of them and from which step to
        which, and the most bytes that are held at one time: as the function was traced, and as it runs. It's printed as
        a table. Nothing is run, but a function that wasn't called with such arguments is traced.
        """
        from .memory_report import memory_report

        programs = [self._program(args, kwargs)[0]] if args or kwargs else self._programs.values()
        return memory_report(self._name, programs)

    def profile(self, *args: Any, **kwargs: Any) -> ProfileReport:
        """Call the function, and return how long each operation took, and what the call returned, as ``result``.

        It's a call like any other: what the function writes is written. On JAX and TensorFlow, which otherwise compile
        all operations as a whole, they run one by one, each of them waited for.
        """
        from .profile_report import profile_report

        if running.get() is not None:
            raise TraceError("a function can't be profiled inside another one that is compiled: call it outside")
        program, arrays = self._program(args, kwargs)
        return profile_report(
            self._name, program, lambda run: program(arrays, lambda: self._function(*args, **kwargs), run)
        )

    @property
    def _name(self) -> str:
        return getattr(self._function, "__name__", type(self._function).__name__)


def _backend(arrays: list[Array]) -> Handle:
    backends = {x._backend.name: x._backend for x in arrays}
    if len(backends) > 1:
        raise BackendMismatchError(
            f"arrays of backends {', '.join(sorted(backends))} meet: move some, with to_backend()"
        )
    return next(iter(backends.values()), None) or current()


def _kind(leaf: Any) -> Hashable:
    if is_array(leaf):
        strides = leaf._backend.strides(leaf._native) if leaf._backend.mutable and not is_recipe(leaf) else None
        return (leaf.shape, leaf.dtype, leaf.device, strides)
    if isinstance(leaf, np.ndarray) or backend_of(leaf) is not None:
        raise TypeError(f"a compiled function takes arrays of unifyarr: wrap the {type(leaf).__name__}, ua.asarray(x)")
    try:
        hash(leaf)
    except TypeError:
        raise TypeError(
            f"a compiled function takes arrays, and what can be hashed, for each of which it's traced, not "
            f"{type(leaf).__name__}"
        ) from None
    # 1, 1.0 and True are equal, and so are the zeros.
    return (type(leaf), leaf, repr(leaf) if isinstance(leaf, (float, complex)) else None)


class _Program:
    """What one kind of arguments is run by."""

    def __init__(self, function: Callable[..., Any], leaves: list[Any], spec: Any, backend: Handle, mode: str) -> None:
        self.backend = backend
        self.made = trace_call(function, leaves, spec, backend)
        self.recipes = [is_recipe(x) for x in (*filter(is_array, leaves), *self.made.captured)]
        # Which inputs are written.
        self.written = list(self.made.updates)
        self._build(self.made.inputs, list(self.made.updates.values()), self.made.computed, mode)

    def _build(self, inputs: list[Variable], updates: list[Variable], computed: list[Variable], mode: str) -> None:
        outputs = [*updates, *computed]
        if self.backend.mutable:
            outputs = self._independent(inputs, outputs)
            # A view that is a recipe is written when all is computed.
            outputs[: len(updates)] = [
                value if self.recipes[place] else stored(self.backend, inputs[place], value)
                for place, value in zip(self.written, outputs, strict=False)
            ]
        fgraph = FunctionGraph(inputs, outputs, [DestroyHandler()])
        dead_code(fgraph)
        merge(fgraph)
        if self.backend.mutable and mode == "fast":
            fgraph.attach(Supervisor(each for place, each in enumerate(fgraph.inputs) if place not in self.written))
            for number, place in enumerate(self.written):
                if not self.recipes[place]:
                    _store_nothing(fgraph, number, fgraph.inputs[place])
            inplace(fgraph)
        self.fgraph = fgraph
        self.run = program(fgraph, self.backend)

    def _independent(self, inputs: list[Variable], outputs: list[Variable]) -> list[Variable]:
        # What is returned or kept shares no memory with anything that somebody has, nor two results with each other.
        held = shared(FunctionGraph(inputs, outputs, clone=False))
        taken: set[Variable] = set()
        made = []
        for variable, memory in zip(outputs, held, strict=True):
            somebodys = any(each.owner is None for each in memory) or memory & taken
            made.append(copied(self.backend, variable) if somebodys else variable)
            taken |= memory
        return made

    def __call__(self, arrays: list[Array], eager: Callable[[], Any], run: Program | None = None) -> Any:
        targets = [*arrays, *self.made.captured]
        if self.written and self._alias(targets):
            # What overlaps is written in an order that only the function itself knows.
            return eager()
        for place in self.written:
            check_target(targets[place])
        natives = (run or self.run)(*(read(x) for x in targets))
        count = len(self.written)
        for place, native in zip(self.written, natives[:count], strict=True):
            if not self.backend.mutable or self.recipes[place]:
                assign(targets[place], native)
        return self.made.returned(targets, [wrap(native, self.backend) for native in natives[count:]])

    def _alias(self, targets: list[Array]) -> bool:
        return any(first in self.written or second in self.written for first, second in overlapping(targets))


def _store_nothing(fgraph: FunctionGraph, number: int, target: Variable) -> None:
    # A value that can be computed in the memory of its target needn't be stored there.
    store = fgraph.outputs[number]
    assert store.owner is not None
    value = store.owner.inputs[1]
    with contextlib.suppress(InconsistencyError), fgraph.transaction():
        fgraph.replace(store, value)
        if keep_in(fgraph, value, target) is None:
            raise InconsistencyError(f"{value} can't be computed in the memory of {target}")


def compile(function: Function | None = None, *, mode: str = "fast") -> Any:
    """Return a function that is traced once for each kind of arguments, and works in place where that is safe."""
    if function is None:
        return functools.partial(compile, mode=mode)
    return Compiled(function, mode)
