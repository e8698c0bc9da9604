"""Nodes of a loop's bodies that compute the same at each step: they are moved out, and run once before the loop.

A node moves if all that it reads stays the same, and if it can neither raise nor warn, or would run at least once
anyway. What is carried on unchanged stays the same too, and so does a row of a result that is the same at each step of
an earlier loop. Views and arrays made of nothing cost nothing at a step, and stay.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import prod

from ..._core.engines.handle import Handle
from ..._core.values.shapes import c_strides
from ...modes.trace.traced import known_type
from ..core.basic import Apply, Constant, Variable
from ..core.fgraph import FunctionGraph
from ..kernels.failing import may_fail
from ..kernels.hosting import is_users
from ..kernels.kernelop import KernelOp
from ..kernels.laidout import Strides, lay_out
from ..run.ordering import Layouts
from .bodies import Body

# A value of more bytes leaves a loop only if it isn't larger than what it's computed from: fused, it needs no memory.
LARGE = 1 << 18


def moved(
    body: Body, graph: FunctionGraph, standing: Collection[int], is_certain: bool
) -> Iterator[tuple[Variable, Strides]]:
    """Yield the variables of a body's graph to compute outside, each with how it lies in memory.

    ``standing`` are the places of the inputs that stay the same, and ``is_certain`` says whether the body runs at least
    once.
    """
    nodes = graph.toposort()
    # A map: variables that stay the same -> the size of the largest array that they're computed from.
    same = {each: _size(each) for place in standing if (each := graph.inputs[place]).type is not None}
    movable = set()
    for node in nodes:
        same |= {each: _size(each) for each in node.inputs if isinstance(each, Constant)}
        if all(each in same for each in node.inputs) and _may_move(node, is_certain):
            size = max([same[each] for each in node.inputs], default=0)
            same |= dict.fromkeys(node.outputs, size)
            movable.add(node)
    if not movable:
        return
    strides = Layouts(graph, body.backend, body.strides, ()).strides if body.backend.has_strides else {}
    looked_at: set[Variable] = set()
    wanted = [each for node in nodes if node not in movable for each in node.inputs]
    wanted += graph.outputs
    while wanted:
        variable = wanted.pop()
        owner = variable.owner
        if owner is None or variable in looked_at or owner not in movable:
            continue
        looked_at.add(variable)
        lies = _known_strides(variable, strides.get(variable), body.backend)
        if lies is not None and not _costs_nothing(owner) and not _is_grown(variable, same):
            yield variable, lies
        else:
            wanted += owner.inputs


def _may_move(node: Apply, is_certain: bool) -> bool:
    if any(map(is_users, node.op.parts())) or any(
        each.type is None or None in each.type.shape for each in node.outputs
    ):
        return False
    return is_certain or not (may_fail(node) or _may_warn(node) or _may_go_on(node))


def _may_warn(node: Apply) -> bool:
    """Return whether a node may warn of values, as NumPy does."""
    inner = node.op.nodes()
    if inner is not None:
        return any(map(_may_warn, inner))
    for part in node.op.parts():
        if not isinstance(part, KernelOp):
            return True
        if part.backend.warns and not (part.record.moves and part.name != "astype"):
            return True
    return False


def _may_go_on(node: Apply) -> bool:
    """Return whether a loop may never end."""
    return not node.op.ends or any(map(_may_go_on, node.op.nodes() or ()))


def _costs_nothing(node: Apply) -> bool:
    return not node.inputs or any(node.op.views(node).values())


def _is_grown(variable: Variable, sources: Mapping[Variable, int]) -> bool:
    """Return whether a variable is large, and larger than the arrays that it's computed from."""
    return _size(variable) > max(LARGE, sources[variable])


def _size(variable: Variable) -> int:
    shape, dtype = known_type(variable)
    return int(prod(length or 0 for length in shape) * dtype.itemsize)


def _known_strides(variable: Variable, strides: Strides | None, backend: Handle) -> Strides | None:
    shape, dtype = known_type(variable)
    if strides is None and (not backend.has_strides or sum(length != 1 for length in shape) < 2):
        return c_strides(shape, dtype.itemsize)
    return strides


def computed_outside(
    graph: FunctionGraph, variables: Sequence[Variable], standing: Mapping[int, Variable]
) -> list[Variable]:
    """Return copies of variables of a graph that are computed outside of it."""
    copies = {graph.inputs[place]: variable for place, variable in standing.items()}
    needed = {variable.owner for variable in variables}
    nodes = graph.toposort()
    for node in reversed(nodes):
        if node in needed:
            needed.update(each.owner for each in node.inputs)
    for node in nodes:
        if node in needed:
            made = node.copy([each if isinstance(each, Constant) else copies[each] for each in node.inputs])
            copies.update(zip(node.outputs, made.outputs, strict=True))
    return [copies[variable] for variable in variables]


def as_it_lay(backend: Handle, variable: Variable, strides: Strides) -> Variable:
    """Return a variable whose axes lie in memory as the body of a loop had it."""
    type = known_type(variable)
    is_one = all(length == 1 for length in type.shape)
    return variable if is_one or not backend.has_strides else lay_out(backend, variable, type, strides)
