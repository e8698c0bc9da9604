"""Compiling a function: traced once for each kind of arguments, rewritten to work in place, and run from then on."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, TypeVar

from .._core.convert import backend_of
from .._core.inplace import assign, check_target
from .._core.ownership import LOCK
from .._core.selection import Handle, current
from .._core.tracing import running
from .._core.views import is_recipe, make_view, overlapping, root_of
from .._core.wrapper import is_array, read, wrap
from ..container import _trees
from ..errors import BackendMismatchError
from .basic import Variable
from .destroyhandler import DestroyHandler
from .executors import program, shared
from .fgraph import FunctionGraph
from .kernels import COPY, KernelOp
from .rewriting import dead_code, inplace, merge
from .supervisor import Supervisor
from .tracing import Trace, Traced

if TYPE_CHECKING:
    from ..array import Array

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
        trees = _trees()
        leaves, spec = trees.tree_flatten((args, kwargs), none_is_leaf=True, namespace="unifyarr")
        arrays = [leaf for leaf in leaves if is_array(leaf)]
        backend = _backend(arrays)
        key = (backend.name, spec, tuple(map(_kind, leaves)))
        with LOCK:
            found = self._programs.get(key)
            if found is None:
                found = self._programs[key] = _Program(self._function, leaves, spec, backend, self._mode)
        return found(arrays, lambda: self._function(*args, **kwargs))


def _backend(arrays: list[Array]) -> Handle:
    backends = {x._backend.name: x._backend for x in arrays}
    if len(backends) > 1:
        raise BackendMismatchError(f"arrays of backends {', '.join(sorted(backends))} meet: move some, with to_backend()")
    return next(iter(backends.values()), None) or current()


def _kind(leaf: Any) -> Hashable:
    if is_array(leaf):
        strides = leaf._backend.strides(leaf._native) if leaf._backend.mutable and not is_recipe(leaf) else None
        return (leaf.shape, leaf.dtype, leaf.device, strides)
    if backend_of(leaf) is not None:
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
        trace = Trace(backend)
        inside, given = [], []
        with trace.running():
            for leaf in leaves:
                if not is_array(leaf):
                    inside.append(leaf)
                    continue
                traced = trace.input(read(leaf))
                given.append((wrap(traced, trace.handle), traced))
                inside.append(given[-1][0])
            args, kwargs = _trees().tree_unflatten(spec, inside)
            result = function(*args, **kwargs)
            found, self.spec = _trees().tree_flatten(result, none_is_leaf=True, namespace="unifyarr")
            captured = trace.variables()
            stands = {id(x): place for place, (x, _) in enumerate([*given, *((x, t) for x, t, _ in captured)])}
            self.returned = [self._returned(leaf, stands) for leaf in found]
            computed = [read(leaf).variable for leaf, how in zip(found, self.returned, strict=True) if how is None]
        self.captured = [x for x, _, _ in captured]
        inputs = [traced for _, traced in given] + [traced for _, traced, _ in captured]
        final = [x._native for x, _ in given] + [after for _, _, after in captured]
        self.written = [place for place, (old, new) in enumerate(zip(inputs, final, strict=True)) if new is not old]
        updates = [final[place].variable for place in self.written]
        self._build([each.variable for each in inputs], updates, computed, mode)

    def _returned(self, leaf: Any, stands: dict[int, int]) -> Any:
        # How what the function returned is made again: ``None`` for what the graph computes.
        if not is_array(leaf):
            return ("value", leaf)
        root = root_of(leaf)
        if id(root) in stands:
            steps = leaf._steps if is_recipe(leaf) else ()
            return ("view", stands[id(root)], steps)
        if not isinstance(leaf._native, Traced):
            return ("value", leaf)
        return None

    def _build(self, inputs: list[Variable], updates: list[Variable], computed: list[Variable], mode: str) -> None:
        outputs = [*updates, *computed]
        if self.backend.mutable:
            outputs = self._independent(inputs, outputs, len(updates))
        fgraph = FunctionGraph(inputs, outputs, [DestroyHandler()])
        dead_code(fgraph)
        merge(fgraph)
        targets: dict[Variable, Variable] = {}
        if self.backend.mutable and mode == "fast":
            kept = [variable for place, variable in enumerate(fgraph.inputs) if place not in self.written]
            fgraph.attach(Supervisor(kept))
            targets = {
                fgraph.outputs[number]: fgraph.inputs[place] for number, place in enumerate(self.written)
            }
            inplace(fgraph, targets)
        self.fgraph = fgraph
        held = shared(fgraph)
        # An update that is in its target's memory already needs no write.
        self.done = [
            mode == "fast" and self.backend.mutable and held[number] == {fgraph.inputs[place]} and _destroyed(fgraph, number)
            for number, place in enumerate(self.written)
        ]
        self.run = program(fgraph, self.backend, targets)

    def _independent(self, inputs: list[Variable], outputs: list[Variable], updates: int) -> list[Variable]:
        # What is returned or kept shares no memory with anything that somebody has, nor two results with each other.
        graph = FunctionGraph(inputs, outputs, clone=False)
        held, taken = shared(graph), set()
        made = []
        for number, (variable, memory) in enumerate(zip(outputs, held, strict=True)):
            known = {each for each in memory if each.owner is None}
            if known or memory & taken:
                variable = KernelOp(self.backend, COPY, {}, 1).copied(variable)
            taken |= memory
            made.append(variable)
        return made

    def __call__(self, arrays: list[Array], eager: Callable[[], Any]) -> Any:
        targets = [*arrays, *self.captured]
        if self.written and self._alias(targets):
            # What overlaps is written in an order that only the function itself knows.
            return eager()
        for place in self.written:
            check_target(targets[place])
        natives = self.run(*(read(x) for x in targets))
        count = len(self.written)
        for place, done, native in zip(self.written, self.done, natives[:count], strict=True):
            if not done:
                assign(targets[place], native)
        computed = iter(natives[count:])
        leaves = []
        for how in self.returned:
            if how is None:
                leaves.append(wrap(next(computed), self.backend))
            elif how[0] == "value":
                leaves.append(how[1])
            else:
                view = targets[how[1]]
                for step in how[2]:
                    view = make_view(view, step)
                leaves.append(view)
        return _trees().tree_unflatten(self.spec, leaves)

    def _alias(self, targets: list[Array]) -> bool:
        return any(first in self.written or second in self.written for first, second in overlapping(targets))


def _destroyed(fgraph: FunctionGraph, number: int) -> bool:
    return fgraph.outputs[number].owner is not None


def compile(function: Function | None = None, *, mode: str = "fast") -> Any:
    """Return a function that is traced once for each kind of arguments, and runs in place where that is proved right."""
    if function is None:
        return functools.partial(compile, mode=mode)
    return Compiled(function, mode)
