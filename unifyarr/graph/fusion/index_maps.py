"""Views as index maps, and the order in memory that values have where a function runs by itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from ..._core.kernels.record import MemoryOrder
from ..._core.values.shapes import c_strides
from ..core.basic import Apply, Variable
from ..kernels.kernelop import COPY, KernelOp
from ..kernels.laidout import LaidOut
from .cores import core_of
from .region import Axis

# Whether the axes of a value are in C order: not known; yes, but elements may repeat; or there may be gaps; or neither.
UNKNOWN, SPREAD, ORDERED, DENSE = range(4)


class Seen(NamedTuple):
    """What a variable shows of its base, of which it's a view: the first index, and one ``Axis`` for each of its own.

    ``start`` has one number for each axis of the base.
    """

    base: Variable
    start: tuple[int, ...]
    axes: tuple[Axis, ...]


def seen(variable: Variable) -> Seen:
    """Return the base of a variable: what is left after going through views that are index maps."""
    shape = shape_of(variable)
    start, axes = [0] * len(shape), [Axis(axis) for axis in range(len(shape))]
    while (node := variable.owner) is not None and (step := _step(node)) is not None:
        start, axes = step(node, start, axes)
        variable = node.inputs[0]
    return Seen(variable, tuple(start), tuple(axes))


def is_index_map(node: Apply) -> bool:
    """Return whether a node is a view that ``seen`` goes through."""
    return _step(node) is not None


def shape_of(variable: Variable) -> tuple[int, ...]:
    """Return the shape of a variable whose type is known."""
    assert variable.type is not None
    return tuple(variable.type.shape)  # type: ignore[arg-type]


@lru_cache(maxsize=1024)
def long_axes(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the axes whose length isn't one."""
    return tuple(axis for axis, length in enumerate(shape) if length != 1)


_Step = Callable[[Apply, list[int], list[Axis]], tuple[list[int], list[Axis]]]


def _step(node: Apply) -> _Step | None:
    op = node.op
    if not isinstance(op, KernelOp) or op.name not in _VIEWS or None in (node.inputs[0].type, node.outputs[0].type):
        return None
    if op.name == "reshape":
        before, after = shape_of(node.inputs[0]), shape_of(node.outputs[0])
        same = [each for each in before if each != 1] == [each for each in after if each != 1]
        return _through_reshape if same else None
    return _STEPS.get(op.name)


def _through_window(node: Apply, start: list[int], axes: list[Axis]) -> tuple[list[int], list[Axis]]:
    window = _static(node)["window"]
    moved = [first + at * step for at, (first, step, _) in zip(start, window, strict=True)]
    return moved, [each if each.axis is None else Axis(each.axis, each.step * window[each.axis][1]) for each in axes]


def _through_reshape(node: Apply, start: list[int], axes: list[Axis]) -> tuple[list[int], list[Axis]]:
    before = shape_of(node.inputs[0])
    came = dict(zip(long_axes(shape_of(node.outputs[0])), long_axes(before), strict=True))
    moved = [0] * len(before)
    for axis, source in came.items():
        moved[source] = start[axis]
    return moved, [Axis(None) if each.axis not in came else Axis(came[each.axis], each.step) for each in axes]


def _through_broadcast(node: Apply, start: list[int], axes: list[Axis]) -> tuple[list[int], list[Axis]]:
    before, after = shape_of(node.inputs[0]), shape_of(node.outputs[0])
    new = len(after) - len(before)
    same = {axis + new: axis for axis, length in enumerate(before) if length == after[axis + new]}
    moved = [start[axis + new] if axis + new in same else 0 for axis in range(len(before))]
    return moved, [Axis(None) if each.axis not in same else Axis(same[each.axis], each.step) for each in axes]


_STEPS: dict[str, _Step] = {"get_window": _through_window, "broadcast_to": _through_broadcast}
_VIEWS = frozenset(("reshape", *_STEPS))


def _static(node: Apply) -> Mapping[str, Any]:
    assert isinstance(node.op, KernelOp)
    return node.op.static


# The order in memory


def orders(
    nodes: Sequence[Apply], strides: Mapping[Variable, Sequence[int]], dense: Collection[Variable] = ()
) -> dict[Variable, int]:
    """Return how surely the axes of each variable are in C order when the function runs by itself.

    ``strides`` has those of the graph's inputs and constants, and ``dense`` are in C order. Ufuncs give results in the
    order of their arguments, and sums add up in the order of memory.
    """
    found = {variable: _order(variable, given) for variable, given in strides.items()}
    for node in nodes:
        for variable in node.inputs:
            found.setdefault(variable, DENSE if _is_single(variable) else UNKNOWN)
        result = _order_after(node, [found[variable] for variable in node.inputs])
        for variable in node.outputs:
            known = variable.type is not None and None not in variable.type.shape
            plain = known and len(long_axes(shape_of(variable))) < 2
            found[variable] = DENSE if variable in dense else max(result, ORDERED) if plain else result
    return found


def _is_single(variable: Variable) -> bool:
    return variable.type is not None and all(length == 1 for length in variable.type.shape)


def _order(variable: Variable, strides: Sequence[int]) -> int:
    assert variable.type is not None
    shape = shape_of(variable)
    axes = long_axes(shape)
    # A stride of 0 fits everywhere. Of negative ones some of NumPy's loops give other bits.
    steps = [strides[axis] for axis in axes if strides[axis]]
    if min(steps, default=0) < 0 or any(one < other for one, other in pairwise(steps)):
        return UNKNOWN
    wanted = c_strides(shape, variable.type.dtype.itemsize)
    if all(strides[axis] == wanted[axis] for axis in axes):
        return DENSE
    return ORDERED if len(steps) == len(axes) else SPREAD


def _order_of_view(node: Apply, base: int) -> int:
    name = node.op.name
    if name == "get_window":
        return min(base, ORDERED)
    if name == "broadcast_to":
        return min(base, SPREAD)
    # It may be a copy, if axes are joined.
    return base if is_index_map(node) or base >= ORDERED else UNKNOWN


def _order_after(node: Apply, inputs: Sequence[int]) -> int:
    op = node.op
    if isinstance(op, LaidOut):
        return _order(node.outputs[0], op.strides)
    if not isinstance(op, KernelOp):
        return UNKNOWN
    order = op.record.order
    if order is MemoryOrder.DENSE or core_of(node) is not None:
        return DENSE
    if op.writes or op.name == COPY:
        return inputs[0]
    if op.name in _VIEWS:
        return _order_of_view(node, inputs[0])
    if op.name in ("astype", "roll"):
        # Its result is in the order of memory, in which an axis whose elements repeat comes last.
        return DENSE if inputs[0] >= ORDERED else UNKNOWN
    if order is MemoryOrder.STAYS:
        # Indices may have gaps.
        least = DENSE if op.record.indexed is None else ORDERED
        return DENSE if inputs[0] == DENSE and min(inputs) >= least else UNKNOWN
    return DENSE if order is MemoryOrder.KEEPS and all(inputs) else UNKNOWN
