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
from .._core.views import is_recipe, make_view, overlapping, root_of
from .._core.wrapper import is_array, read, wrap
from ..container import _trees
from ..errors import BackendMismatchError, InconsistencyError
from .basic import Variable
from .destroyhandler import DestroyHandler
from .executors import program, shared
from .fgraph import FunctionGraph
from .kernels import copied, stored
from .rewriting import dead_code, inplace, keep_in, merge
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
        self.recipes = [is_recipe(x) for x in (*(leaf for leaf in leaves if is_array(leaf)), *self.captured)]
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

    def __call__(self, arrays: list[Array], eager: Callable[[], Any]) -> Any:
        targets = [*arrays, *self.captured]
        if self.written and self._alias(targets):
            # What overlaps is written in an order that only the function itself knows.
            return eager()
        for place in self.written:
            check_target(targets[place])
        natives = self.run(*(read(x) for x in targets))
        count = len(self.written)
        for place, native in zip(self.written, natives[:count], strict=True):
            if not self.backend.mutable or self.recipes[place]:
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
    """Return a function that is traced once for each kind of arguments, and works in place where that's proved right."""
    if function is None:
        return functools.partial(compile, mode=mode)
    return Compiled(function, mode)
