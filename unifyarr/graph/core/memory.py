"""Dead buffers that can be reused, for a fixed order of the nodes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from ..._core.values.called import boundary
from .basic import Apply, Constant, Variable
from .checks import check_graph, check_known
from .fgraph import FunctionGraph


def buffers(nodes: Iterable[Apply]) -> dict[Variable, frozenset[Variable]]:
    """Return a map: output of a node -> variables in whose memory it may be. The nodes are in order.

    A view is in the memory of its base, and a destroyer's output in the memory that it overwrites. Any other output has
    memory of its own.
    """
    found: dict[Variable, frozenset[Variable]] = {}
    for node in nodes:
        views, destroys = node.op.views(node), node.op.destroys(node)
        for key, output in enumerate(node.outputs):
            sources = [node.inputs[index] for index in (*views.get(key, ()), *destroys.get(key, ()))]
            held = [found.get(source, frozenset([source])) for source in sources]
            found[output] = frozenset().union(*held) if held else frozenset([output])
    return found


@boundary
def memory_plan(
    fgraph: FunctionGraph,
    targets: Mapping[Variable, Variable] | None = None,
    *,
    order: Sequence[Apply] | None = None,
    writable: Callable[[Apply, int], bool] | None = None,
) -> dict[Variable, Variable]:
    """Return a map: node output -> dead variable whose buffer it can reuse.

    A buffer is reused only if it was made for the output of a node (or is a target), has the same dtype and shape,
    and if nothing that may share its memory is read by that node or later, or is an output of the graph. A buffer keeps
    the name of the variable that it was made for, even after other nodes have overwritten it.

    Parameters
    ----------
    fgraph
        The graph. Its order must not change after the plan was made.
    targets
        A map: output of the graph -> input whose memory it's written to in the end. Other inputs' memory isn't used.
    order
        The order in which the nodes run, by default the graph's own.
    writable
        Whether a node can write an output to a given buffer, by default what its ``op.out`` says.
    """
    check_graph(fgraph)
    given = dict(targets or {})
    check_known(fgraph, "targets and their outputs", (*given, *given.values()))
    nodes = fgraph.toposort() if order is None else list(order)
    held = buffers(nodes)
    last = _last_uses(fgraph, nodes, held)
    dying: dict[int, list[Variable]] = {}
    for buffer, place in last.items():
        dying.setdefault(place, []).append(buffer)
    plan: dict[Variable, Variable] = {}
    pools: dict[Hashable, list[Variable]] = {}
    free = set(given.values())
    for place, node in enumerate(nodes):
        for key, output in enumerate(node.outputs):
            if held[output] != {output} or not (key in node.op.out if writable is None else writable(node, key)):
                continue
            target, size = given.get(output), _size(output)
            if size is None:
                continue
            if target in free and last.get(target, -1) < place and size == _size(target):
                plan[output] = target
                free.remove(target)
            elif pools.get(size) and node.op.may_reuse(output, pools[size][-1]):
                plan[output] = pools[size].pop()
        for buffer in dying.get(place, ()):
            size = _size(buffer)
            # An input's memory belongs to the caller, and so does the value that was written there.
            if buffer.owner is not None and size is not None and plan.get(buffer, buffer).owner is not None:
                pools.setdefault(size, []).append(buffer)
    return plan


def _size(variable: Variable) -> Hashable:
    """Return a key that two variables share if one fits into the other's memory; ``None`` if that isn't known."""
    type = variable.type
    if type is None or any(length is None for length in type.shape) or isinstance(variable, Constant):
        return None
    return (tuple(type.shape), type.dtype)


def _last_uses(
    fgraph: FunctionGraph, nodes: Sequence[Apply], held: Mapping[Variable, frozenset[Variable]]
) -> dict[Variable, int]:
    """Return for each buffer the position of the last node that reads or writes anything in it."""
    last: dict[Variable, int] = {}
    for place, node in enumerate(nodes):
        for variable in (*node.inputs, *node.outputs):
            for buffer in held.get(variable, (variable,)):
                last[buffer] = place
    for variable in fgraph.outputs:
        for buffer in held.get(variable, (variable,)):
            last[buffer] = len(nodes)
    return last
