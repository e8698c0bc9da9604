"""A loop without what is the same at each step: that is computed before it, and captured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from ..._core.engines.handle import Handle
from ..core.basic import Apply, Op, Variable
from ..core.fgraph import FunctionGraph
from ..core.hoisting import hoist
from ..kernels.laidout import Strides
from .bodies import Body
from .invariants import as_it_lay, computed_outside, moved


class LoopOp(Protocol):
    """A loop. Its inputs are what is carried, arrays whose rows the steps read, and what the bodies captured.

    The last body is the step.
    """

    bodies: tuple[Body, ...]
    backend: Handle
    carried: int
    rows: int

    def certain(self) -> Sequence[bool]:
        """Return which of the bodies run at least once."""

    def remade(self, bodies: Sequence[Body], carried: int, rows: int) -> Op:
        """Return the same loop with other bodies."""


def hoisted(op: LoopOp, node: Apply, unused: Sequence[bool]) -> Sequence[Variable | None] | None:
    """Return variables for the outputs of a loop, ``None`` if no step does anything that can be left out."""
    carried, captured = op.carried, op.carried + op.rows
    graphs = [FunctionGraph(body.fgraph.inputs, body.fgraph.outputs) for body in op.bodies]
    changed = sum(hoist(graph) for graph in graphs)
    strides = op.bodies[-1].strides
    found = {place: each for place in range(captured) if (each := _standing(op, node, place)) is not None}
    same = {place: as_it_lay(op.backend, each, strides[place]) for place, each in found.items()}
    outside = {**same, **{place: node.inputs[place] for place in range(captured, len(node.inputs))}}
    left = [
        dict(moved(body, graph, outside, is_certain))
        for body, graph, is_certain in zip(op.bodies, graphs, op.certain(), strict=True)
    ]
    # The carry decides the next step, so it's used in any case.
    kept = [key for key in range(len(node.outputs)) if (key not in same if key < carried else not unused[key])]
    if not changed and not any(left) and len(kept) == len(node.outputs) and not same:
        return None
    results: list[Variable | None] = [same.get(key) if key < carried else None for key in range(len(node.outputs))]
    for key, variable in zip(kept, _remade(op, node, graphs, outside, left, kept), strict=True):
        results[key] = variable
    return results


def _standing(op: LoopOp, node: Apply, place: int) -> Variable | None:
    """Return the variable outside that an input of the step is at each step, ``None`` if there's none."""
    step, variable = op.bodies[-1].fgraph, node.inputs[place]
    if place < op.carried:
        return variable if step.outputs[place] is step.inputs[place] else None
    before = variable.owner
    return _row(before.op, before, variable.index) if before is not None and isinstance(before.op, type(op)) else None


def _row(op: LoopOp, node: Apply, key: int) -> Variable | None:
    """Return the variable outside that each row of a result is, ``None`` if they differ."""
    step = op.bodies[-1].fgraph
    captured, result = step.inputs[op.carried + op.rows :], step.outputs[key]
    if key < op.carried or result not in captured:
        return None
    return node.inputs[op.carried + op.rows + captured.index(result)]


def _remade(
    op: LoopOp,
    node: Apply,
    graphs: Sequence[FunctionGraph],
    outside: Mapping[int, Variable],
    left: Sequence[Mapping[Variable, Strides]],
    kept: Sequence[int],
) -> Sequence[Variable]:
    """Return the outputs of a loop that has the results ``kept`` only.

    ``outside`` maps the places of inputs that are the same at each step to variables, and ``left`` has for each graph
    the variables that are computed before the loop, with their strides.
    """
    if not kept:
        return []
    backend, strides, first = op.backend, op.bodies[-1].strides, op.carried + op.rows
    own = [place for place in range(first) if place not in outside]
    given, laid = [node.inputs[place] for place in own], [strides[place] for place in own]
    inputs = [[graph.inputs[place] for place in own] for graph in graphs]
    for place, variable in outside.items():
        given.append(variable)
        laid.append(strides[place])
        for graph, mine in zip(graphs, inputs, strict=True):
            mine.append(graph.inputs[place])
    for graph, variables in zip(graphs, left, strict=True):
        made = computed_outside(graph, list(variables), outside)
        for (variable, where), new in zip(variables.items(), made, strict=True):
            given.append(as_it_lay(backend, new, where))
            laid.append(where)
            for other, mine in zip(graphs, inputs, strict=True):
                mine.append(variable if other is graph else Variable(variable.type))
    last = len(graphs) - 1
    outputs = [
        [graph.outputs[key] for key in kept] if number == last else graph.outputs for number, graph in enumerate(graphs)
    ]
    cut = [FunctionGraph(*each) for each in zip(inputs, outputs, strict=True)]
    used = [
        place
        for place in range(len(given))
        if place < len(own) or any(graph.clients[graph.inputs[place]] for graph in cut)
    ]
    carried = sum(place < op.carried for place in own)
    bodies = [
        body.with_graph(
            [graph.inputs[place] for place in used],
            graph.outputs,
            carried if number == last else 0,
            sum(place < body.given for place in own),
            [laid[place] for place in used],
        )
        for number, (body, graph) in enumerate(zip(op.bodies, cut, strict=True))
    ]
    made_op = op.remade(bodies, carried, len(own) - carried)
    types = [node.outputs[key].type for key in kept]
    return Apply(made_op, [given[place] for place in used], types).outputs
