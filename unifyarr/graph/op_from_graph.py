"""A graph as one operation of other graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._core.arrays.array import Array, wrap
from .._core.arrays.convert import backend_of
from .._core.arrays.ownership import read
from .._core.engines import dtypes
from .._core.engines.handle import Handle
from .._core.engines.registry import load
from .._core.engines.tracing import running
from .._core.values.native import Native
from ..transformations.gradients import vjp
from . import compiling
from .building.arraytypes import values_of
from .building.running import as_constant, run_graph
from .building.variables import backend_of_variables
from .core.basic import Apply, Constant, Op, Type, Variable
from .core.feature import Client
from .core.fgraph import FunctionGraph

Gradient = Callable[..., Sequence[Array | None]]


class OpFromGraph(Op):
    """A graph as one operation: a node that runs it, on variables and on arrays.

    Parameters
    ----------
    fgraph
        The graph, which is copied. It writes to none of its inputs.
    inline
        Whether compiled functions have its operations in the place of the node, so that they are rewritten and fused
        with others. By default the node stays one, whose graph is compiled by itself, once for all nodes.
    grad
        A function ``grad(inputs, outputs, cotangents)`` of lists of arrays, which takes the place of the derivative of
        the graph. It returns for each input the product of the cotangents with the derivative of the outputs, or
        ``None`` for zero.
    name
        What the operation is called in graphs.

    Calls take a variable or an array for each input, and return the output, or a sequence of all. Two of these
    operations are equal if their graphs are, and ``inline`` and ``grad``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> from unifyarr.graph import FunctionGraph, OpFromGraph, Variable, array_type
    >>> x, y = Variable(array_type(2, "float64"), "x"), Variable(array_type(2, "float64"), "y")
    >>> distance = OpFromGraph(FunctionGraph([x, y], [ua.sqrt(ua.sum((x - y) ** 2))]), name="distance")
    >>> outer = FunctionGraph([x, y], [distance(x, y) + distance(2 * x, y)])
    >>> [node.op.name for node in outer.toposort()]
    ['distance', 'multiply', 'distance', 'add']
    >>> float(outer(ua.asarray([3.0, 4.0]), ua.zeros(2)))
    15.0
    >>> ua.grad(distance)(ua.asarray([3.0, 4.0]), ua.zeros(2))
    array([0.6, 0.8])

    Source: ``OpFromGraph`` of PyTensor.
    """

    is_hosted = True

    def __init__(
        self, fgraph: FunctionGraph, *, inline: bool = False, grad: Gradient | None = None, name: str = "graph"
    ) -> None:
        if not isinstance(fgraph, FunctionGraph):
            raise TypeError(f"OpFromGraph takes a FunctionGraph, not {type(fgraph).__name__}")
        if fgraph.update_mapping:
            raise TypeError(
                "OpFromGraph takes a graph that writes to none of its inputs: return the new values, "
                "FunctionGraph(fgraph.inputs, fgraph.outputs)"
            )
        if not isinstance(inline, bool):
            raise TypeError(f"inline is True or False, not {inline!r}")
        # NumPy's arrays can be read inside of every engine's transformations.
        self._graph, self.is_inline = _with_constants(fgraph, np.asarray), inline
        self._compiled: Callable[..., Any] | None = None
        super().__init__(name, parameters=(self._graph, inline, grad), nout=len(fgraph.outputs))
        if grad is not None:
            # It takes the place of the method.
            setattr(self, "grad", grad)  # noqa: B010

    def __getstate__(self) -> dict[str, object]:
        # It's compiled anew where it's loaded.
        return {**super().__getstate__(), "_compiled": None}

    @property
    def fgraph(self) -> FunctionGraph:
        """The graph that it runs."""
        return self._graph

    def output_types(self, inputs: Sequence[Variable]) -> Sequence[Type | None]:
        """Return the types of the graph's outputs."""
        return [each.type for each in self._graph.outputs]

    def __call__(self, *inputs: Any) -> Any:
        """Return variables for variables, and arrays for arrays."""
        if any(isinstance(each, Variable) for each in inputs):
            backend = backend_of_variables(list(inputs))
            given = [each if isinstance(each, Variable) else as_constant(each, backend) for each in inputs]
            # It raises for what doesn't fit the graph.
            self._graph(*given)
            return super().__call__(*given)
        given = [each.copy() for each in self._graph.inputs]
        return FunctionGraph(given, self.make_node(*given).outputs, clone=False)(*inputs)

    def bound_on(self, backend: Handle, node: Apply) -> Callable[..., object]:
        """Return a function of natives of a backend that returns that of the output, or the tuple of them."""

        def compute(*natives: Native, out: object = None) -> object:
            found = self._results(backend, natives)
            return tuple(found) if self.nout > 1 else found[0]

        return compute

    def perform(self, node: Apply, inputs: Sequence[object], out: object = None) -> object:
        """Return the native of the output, or the tuple of them."""
        found = next((found for x in inputs if (found := backend_of(x)) is not None), None)
        return self.bound_on(load("numpy") if found is None else found, node)(*inputs)

    def _results(self, backend: Handle, natives: Sequence[Native]) -> Sequence[Native]:
        # Inside a transformation, or what an engine compiles, the operations are parts of that.
        is_inside = running() is not None or backend.trace() is not None or not backend.mutable
        if is_inside or not all(_is_in_memory(backend, x) for x in natives):
            return run_graph(self._graph, backend, natives)
        run = self._compiled = self._compiled or compiling.compile(self._graph)
        found = run(*[wrap(x, backend) for x in natives])
        return [read(x) for x in (found if self.nout > 1 else (found,))]

    def inlined(self, node: Apply) -> Sequence[Variable] | None:
        """Return the outputs of copies of the graph's nodes, if they take the place of a node."""
        if not self.is_inline:
            return None
        found = _with_constants(self._graph, backend_of_variables(node.inputs).from_numpy)(*node.inputs)
        return found if self.nout > 1 else [found]

    def grad(self, inputs: Sequence[Array], outputs: Sequence[Array], cotangents: Sequence[Array]) -> Any:
        """Return the products of cotangents with the derivative of the graph."""
        places = [place for place, x in enumerate(inputs) if _is_differentiable(x)]

        def function(*arrays: Array) -> tuple[Array, ...]:
            given = list(inputs)
            for place, x in zip(places, arrays, strict=True):
                given[place] = x
            found = self._graph(*given)
            results = found if self.nout > 1 else (found,)
            return tuple([x for x in results if _is_differentiable(x)])

        _, pullback = vjp(function, *[inputs[place] for place in places])
        upstream = tuple([g for g, x in zip(cotangents, outputs, strict=True) if _is_differentiable(x)])
        found = dict(zip(places, pullback(upstream), strict=True))
        return [found.get(place) for place in range(len(inputs))]


def _with_constants(fgraph: FunctionGraph, native: Callable[[np.ndarray], object]) -> FunctionGraph:
    """Return a copy of a graph whose constants are what a function returns for their values."""
    made = fgraph.copy()
    for node in list(made.apply_nodes):
        for place, each in enumerate(node.inputs):
            if isinstance(each, Constant):
                made.change_input(Client(node, place), Constant(native(values_of(each.data)), each.type, each.name))
    return made


def _is_in_memory(backend: Handle, native: Native) -> bool:
    """Return whether a native has values in memory, which no derivative or batch follows."""
    is_followed = backend.records_gradient(native) or backend.hides_values(native)
    return not is_followed and backend.layout(native) is not None


def _is_differentiable(x: Array) -> bool:
    return dtypes.is_kind(x.dtype, ("real floating", "complex floating"))
