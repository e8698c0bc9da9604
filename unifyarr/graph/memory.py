"""Which dead buffers can be used again, once it's settled in which order nodes run."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from .basic import Apply, Constant, Variable
from .fgraph import FunctionGraph


def buffers(nodes: Iterable[Apply]) -> dict[Variable, frozenset[Variable]]:
    """Return for each output of some nodes, given in order, the variables in whose memory it may be.

    A view is in the memory of what it's a view of, and so is what overwrites something; any other output is in its own.
    """
    found: dict[Variable, frozenset[Variable]] = {}
    for node in nodes:
        views, destroys = node.op.views(node), node.op.destroys(node)
        for key, output in enumerate(node.outputs):
            sources = [node.inputs[index] for index in (*views.get(key, ()), *destroys.get(key, ()))]
            held = [found.get(source, frozenset([source])) for source in sources]
            found[output] = frozenset().union(*held) if held else frozenset([output])
    return found


def memory_plan(
    fgraph: FunctionGraph,
    targets: Mapping[Variable, Variable] | None = None,
    *,
    order: Sequence[Apply] | None = None,
    writable: Callable[[Apply, int], bool] | None = None,
) -> dict[Variable, Variable]:
    """Return for outputs of nodes the dead variable whose buffer each can be written to.

    Parameters
    ----------
    fgraph
        The graph; after the plan was made its order has to stay.
    targets
        For an output of the graph the input to whose memory it's written in the end. No other input's memory is used.
    order
        The order in which the nodes run, if it's not the graph's own.
    writable
        Whether a node can write an output of its own to a given buffer, by default what its ``op.out`` says.

    A buffer is given only if it's an output's own (no view's, no input's but a target, no constant's), of the same
    dtype and shape, and if nothing that may share its memory is read by that node or later, or is an output of the
    graph. A buffer that was overwritten on the way is still named after the variable that it was made for.
    """
    nodes = fgraph.toposort() if order is None else list(order)
    held = buffers(nodes)
    last = _last_uses(fgraph, nodes, held)
    dying: dict[int, list[Variable]] = {}
    for buffer, place in last.items():
        dying.setdefault(place, []).append(buffer)
    plan: dict[Variable, Variable] = {}
    pools: dict[Hashable, list[Variable]] = {}
    free = set((targets or {}).values())
    for place, node in enumerate(nodes):
        for key, output in enumerate(node.outputs):
            if held[output] != {output} or not (key in node.op.out if writable is None else writable(node, key)):
                continue
            target, size = (targets or {}).get(output), _size(output)
            if size is None:
                continue
            if target in free and last.get(target, -1) < place and size == _size(target):
                plan[output] = target
                free.remove(target)
            elif pools.get(size):
                plan[output] = pools[size].pop()
        for buffer in dying.get(place, ()):
            size = _size(buffer)
            # The memory of an input, and what was written to it, is the caller's.
            if buffer.owner is not None and size is not None and plan.get(buffer, buffer).owner is not None:
                pools.setdefault(size, []).append(buffer)
    return plan


def _size(variable: Variable) -> Hashable:
    """Return what two variables have equal if one fits in the other's memory, ``None`` if that isn't known."""
    type = variable.type
    if type is None or any(length is None for length in type.shape) or isinstance(variable, Constant):
        return None
    return (tuple(type.shape), type.dtype)


def _last_uses(
    fgraph: FunctionGraph, nodes: Sequence[Apply], held: Mapping[Variable, frozenset[Variable]]
) -> dict[Variable, int]:
    """Return for each buffer the place of the last node that has to do with anything in it."""
    last: dict[Variable, int] = {}
    for place, node in enumerate(nodes):
        for variable in (*node.inputs, *node.outputs):
            for buffer in held.get(variable, (variable,)):
                last[buffer] = place
    for variable in fgraph.outputs:
        for buffer in held.get(variable, (variable,)):
            last[buffer] = len(nodes)
    return last
