"""Running a graph on natives: step by step on reused buffers, or compiled as a whole by the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from .._core.selection import Handle
from .basic import Apply, Constant, Variable
from .fgraph import FunctionGraph
from .memory import buffers, memory_plan

# Takes the natives of the inputs, and returns those of the outputs.
Program = Callable[..., Sequence[Any]]


class Step(NamedTuple):
    """One node: where its inputs and outputs lie, which buffer it may write to, and what nobody needs afterwards."""

    node: Apply
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    out: int | None
    dead: tuple[int, ...]


class Schedule:
    """The steps of a graph in a fixed order, with places for what they pass on."""

    def __init__(self, fgraph: FunctionGraph, plan: Mapping[Variable, Variable]) -> None:
        nodes = fgraph.toposort()
        places: dict[Variable, int] = {}
        for variable in (
            *fgraph.inputs,
            *(v for node in nodes for v in (*node.inputs, *node.outputs)),
            *fgraph.outputs,
        ):
            places.setdefault(variable, len(places))
        self.inputs = [places[variable] for variable in fgraph.inputs]
        self.outputs = [places[variable] for variable in fgraph.outputs]
        self.start = [variable.data if isinstance(variable, Constant) else None for variable in places]
        keep = {places[v] for v in (*fgraph.inputs, *fgraph.outputs)}
        keep |= {places[v] for v in places if isinstance(v, Constant)}
        last: dict[int, int] = {}
        for number, node in enumerate(nodes):
            used = [*node.inputs, *node.outputs, *(plan[each] for each in node.outputs if each in plan)]
            last.update((places[variable], number) for variable in used)
        self.steps = [
            Step(
                node,
                tuple(places[v] for v in node.inputs),
                tuple(places[v] for v in node.outputs),
                places[plan[node.outputs[0]]] if node.outputs[0] in plan else None,
                tuple(place for place, at in last.items() if at == number and place not in keep),
            )
            for number, node in enumerate(nodes)
        ]

    def __call__(self, *natives: Any) -> list[Any]:
        """Return the natives of the outputs."""
        held = list(self.start)
        for place, native in zip(self.inputs, natives, strict=True):
            held[place] = native
        for node, inputs, outputs, out, dead in self.steps:
            result = node.op.perform(node, [held[place] for place in inputs], None if out is None else held[out])
            if len(outputs) == 1:
                held[outputs[0]] = result
            else:
                for place, native in zip(outputs, result, strict=True):
                    held[place] = native
            for place in dead:
                held[place] = None
        return [held[place] for place in self.outputs]


def program(fgraph: FunctionGraph, backend: Handle) -> Program:
    """Return what runs a graph on a backend."""
    compiled = getattr(backend.engine, "compiled", None)
    if compiled is not None:
        whole: Program = compiled(Schedule(fgraph, {}))
        return whole
    return Schedule(fgraph, memory_plan(fgraph))


def shared(fgraph: FunctionGraph) -> list[frozenset[Variable]]:
    """Return for each output of a graph the variables in whose memory it may be."""
    held = buffers(fgraph.toposort())
    return [held.get(variable, frozenset([variable])) for variable in fgraph.outputs]
