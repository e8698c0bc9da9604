"""Each node of a compiled function as it runs: for a function of the user's, and for ``NanGuard``.

The graph runs as it was traced, node by node, on buffers of its own: what a node was given is still there after it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any

import numpy as np

from ..._core.engines.comparing import restore
from ..._core.engines.handle import Handle
from ..._core.values.called import make_boundaries
from ..._core.values.caller import line_of
from ..._core.values.lazily import cached_property
from ..._core.values.native import Native
from ...errors import NotFiniteError
from ..core.basic import Apply, Constant
from ..core.fgraph import FunctionGraph
from ..core.names import name_of
from ..kernels.executors import Executor, Schedule
from ..kernels.hosting import run_of

Monitor = Callable[["NodeValues"], object]


class NodeValues:
    """A node of a compiled function that has just run, as ``compile(monitor=)`` passes it to a function.

    Attributes
    ----------
    name
        The name of the operation.
    node
        The node of the graph: its ``op``, and variables as ``inputs`` and ``outputs``.
    path
        Where it ran, the outermost first: ``("step 3 of scan", "branch 1 of switch")``, empty outside of loops and
        branches.
    line
        The file and the line of the code that called the function, empty where a rewrite made the node. A derivative
        has the line of what is derived.
    inputs, outputs
        The values, as NumPy arrays. They're converted when they're asked for, while the function runs.
    """

    def __init__(
        self, backend: Handle, node: Apply, path: tuple[str, ...], natives: Sequence[Native], results: Sequence[Native]
    ) -> None:
        self._backend, self._natives, self._results = backend, natives, results
        self.node, self.path, self.name = node, path, node.op.name

    @property
    def line(self) -> str:
        """The file and the line of the user's code."""
        return "" if self.node.place is None else line_of(*self.node.place)

    @cached_property
    def inputs(self) -> tuple[np.ndarray, ...]:
        """The values that the node was given."""
        return tuple(map(self._values, self._natives))

    @cached_property
    def outputs(self) -> tuple[np.ndarray, ...]:
        """The values that it gave."""
        return tuple(map(self._values, self._results))

    def _values(self, native: Native) -> np.ndarray:
        return self._backend.to_numpy(self._backend.held_fixed(native))

    def __repr__(self) -> str:
        places = [*self.path, self.line]
        return f"<{self.node}{''.join(f', {each}' for each in places if each)}>"


class NanGuard:
    """A function for ``compile(monitor=)`` that stops at the node that made the first NaN or infinity.

    A node makes a NaN if it gives one and was given none, and an infinity if it gives one and was given neither. So
    values that arguments and constants have are no errors.

    Parameters
    ----------
    nan, inf
        Whether it looks for NaN, and for infinities.

    Raises
    ------
    NotFiniteError
        At the call of the compiled function. It has the operation, its line, the loops and branches around, and the
        values. Arguments are as they were before the call.

    Examples
    --------
    >>> import unifyarr as ua
    >>> @ua.compile(monitor=ua.graph.NanGuard())
    ... def entropy(p):
    ...     return -ua.sum(p * ua.log(p))
    >>> entropy(ua.asarray([0.5, 0.0]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    unifyarr.errors.NotFiniteError: log(p) made an infinity at ..., line 3: ...

    Source: ``pytensor.compile.nanguardmode.NanGuardMode``.
    """

    def __init__(self, *, nan: bool = True, inf: bool = True) -> None:
        self.nan, self.inf = bool(nan), bool(inf)

    def __call__(self, values: NodeValues) -> None:
        """Raise if the node made a NaN or an infinity."""
        if values.name == "empty" or not any(map(_is_inexact, values.node.outputs)):
            return
        outputs = [x for x in values.outputs if _is_float(x)]
        if all(np.isfinite(x).all() for x in outputs):
            return
        inputs = [x for x in values.inputs if _is_float(x)]
        had_nan = any(np.isnan(x).any() for x in inputs)
        if self.nan and not had_nan and any(np.isnan(x).any() for x in outputs):
            raise NotFiniteError(self._told(values, "a NaN"))
        had_any = had_nan or any(np.isinf(x).any() for x in inputs)
        if self.inf and not had_any and any(np.isinf(x).any() for x in outputs):
            raise NotFiniteError(self._told(values, "an infinity"))

    def _told(self, values: NodeValues, what: str) -> str:
        line = f" at {values.line}" if values.line else ""
        path = f", in {', in '.join(reversed(values.path))}" if values.path else ""
        pairs = zip(values.node.inputs, values.inputs, strict=True)
        given = "; ".join(f"{name_of(each)} is {_shown(x)}" for each, x in pairs if not isinstance(each, Constant))
        gives = ", ".join(map(_shown, values.outputs))
        return f"{values.node} made {what}{line}{path}: {given}; it gives {gives}"

    def __repr__(self) -> str:
        return f"NanGuard(nan={self.nan}, inf={self.inf})"


make_boundaries(NanGuard)


def _is_float(x: np.ndarray) -> bool:
    # NumPy knows bfloat16 as a dtype of bytes.
    return x.dtype.kind in "fc" or (x.dtype.kind == "V" and x.dtype.fields is None)


def _is_inexact(variable: Any) -> bool:
    return variable.type is None or np.dtype(variable.type.dtype).kind in "fcV"


def _shown(x: np.ndarray) -> str:
    text = " ".join(np.array2string(x, threshold=8, edgeitems=3).split())
    return text if x.ndim == 0 else f"{x.dtype} {x.shape} {text}"


class MonitoredProgram:
    """An executor that calls a function with each node of a graph, after the node has run.

    ``destroyed`` has the places of the inputs that the graph writes to. An error leaves them as they were.
    """

    def __init__(self, fgraph: FunctionGraph, backend: Handle, monitor: Monitor, destroyed: frozenset[int]) -> None:
        self._backend, self._destroyed = backend, sorted(destroyed) if backend.mutable else []
        self._run = _schedule(fgraph, backend, monitor)
        # The guard's error says more than NumPy's warning, which would come first.
        self._warnings: dict[str, Any] = {"all": "ignore"} if isinstance(monitor, NanGuard) else {}

    def __call__(self, *natives: Any) -> Sequence[Native]:
        """Return the natives of the outputs."""
        written = [natives[place] for place in self._destroyed]
        before = list(map(self._backend.copy, written))
        try:
            with np.errstate(**self._warnings):
                return self._run(*natives)
        except BaseException:
            restore(self._backend, written, before)
            raise


# The loops and branches that are running, the outermost first.
_path: ContextVar[tuple[str, ...]] = ContextVar("unifyarr_monitored_path", default=())


def _schedule(fgraph: FunctionGraph, backend: Handle, monitor: Monitor) -> Executor:
    return Schedule(fgraph, {}, bound=lambda node: _monitored(node, backend, monitor)).run


def _monitored(node: Apply, backend: Handle, monitor: Monitor) -> Callable[..., Any]:
    """Return a function of natives that runs a node, and passes its values on."""
    watched, run = getattr(node.op, "watched", None), run_of(backend, node)
    if node.op.raises or node.op.victims(node):
        # A print, or the end, where results are stored.
        return run
    if watched is not None:
        run = partial(watched, _MonitoredSteps(node, monitor))

    def call(*natives: Native, out: object = None) -> Any:
        found = run(*natives)
        results = found if len(node.outputs) > 1 else (found,)
        monitor(NodeValues(backend, node, _path.get(), natives, results))
        return found

    return call


class _MonitoredSteps:
    """Runs the bodies of a loop or branch node by node."""

    def __init__(self, node: Apply, monitor: Monitor) -> None:
        self._name, self._monitor = node.op.name, monitor
        self._runs: dict[Any, Executor] = {}

    def steps(self, body: Any, plain: Executor, *, last: int | None = None, what: str = "") -> Executor:
        """Return what runs a body once for each step."""
        numbers = itertools.count()
        return lambda *natives: self._run(body, plain, f"{what}step {next(numbers)} of {self._name}", natives)

    def branch(self, body: Any, number: int) -> Executor:
        """Return what runs a branch."""
        return lambda *natives: self._run(body, body.pure, f"branch {number} of {self._name}", natives)

    def _run(self, body: Any, plain: Executor, where: str, natives: Sequence[Any]) -> Sequence[Any]:
        backend: Handle = body.backend
        if body not in self._runs:
            self._runs[body] = _schedule(body.plain, backend, self._monitor)
        token = _path.set((*_path.get(), where))
        try:
            results = list(self._runs[body](*natives))
        finally:
            _path.reset(token)
        if plain is body.pure:
            return results
        # It's to write what is carried to its first arguments.
        carried = list(map(backend.copy, results[: body.carried]))
        for native, value in zip(natives, carried, strict=False):
            backend.assign(native, value)
        return [*natives[: len(carried)], *results[len(carried) :]]
