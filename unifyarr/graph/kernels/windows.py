"""Computing a result directly in the window of an array that it's written to.

``x[1:-1] = a + b`` is traced to an addition and a write to a window. Merged into one operation they need no memory but
that of ``x``, like ``add(a, b, out=x[1:-1])``. The same is done for ``x[1:-1] += b``, whose sum reads the window that
it's written to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..core.basic import Apply, Op, Variable
from ..core.fgraph import FunctionGraph
from .kernelop import KernelOp, is_filled, is_kernel, is_writable

# The chain of views that selects a window: kernels of a mutable engine, each with its static arguments.
Views = tuple[KernelOp, ...]


class WindowOp(Op):
    """An elementwise operation whose result is written to a window of its first input, which it returns.

    The pure operation works on a copy of that input, its destructive twin on the input itself.
    """

    def __init__(self, element: KernelOp, path: Views, *, destructive: bool = False) -> None:
        self.element, self.path, self.destructive = element, path, destructive
        super().__init__(
            f"set_window[{element.name}]",
            destroy_map={0: (0,)} if destructive else {},
            parameters=(element, path, destructive),
            inplace=() if destructive else (WindowOp(element, path, destructive=True),),
        )

    def parts(self) -> Iterator[Op]:
        """Yield the elementwise operation."""
        yield self.element

    def twins(self, node: Apply) -> list[Op]:
        """Return the destructive twin, if the array may be written."""
        return super().twins(node) if is_writable(node.inputs[0]) else []

    def tolerates(self, node: Apply, destroyed: int, other: int) -> bool:
        """Return whether the other input is the window itself: each element is read before it's written."""
        return is_seen(node.inputs[other], node.inputs[destroyed], self.path)

    def perform(self, node: Apply, inputs: Sequence[object], out: object = None) -> object:
        """Return the first input, or a copy of it, with the result in its window."""
        return self.bound(node)(*inputs)

    def bound(self, node: Apply) -> Callable[..., object]:
        """Return a function of natives that does what ``perform`` does."""
        copy, kernel = self.element.backend.copy, self.element.bound(node)
        views = [view.bound(node) for view in self.path]

        def compute(x: Any, *others: object) -> object:
            x = window = x if self.destructive else copy(x)
            for view in views:
                window = view(window)
            kernel(*others, out=window)
            return x

        return compute


def compute_in_window(fgraph: FunctionGraph, node: Apply) -> Sequence[Variable] | None:
    """Merge a write to a window with the operation that computes its value, if nothing else needs that value."""
    write = node.op
    if not isinstance(write, KernelOp) or write.name != "set_window" or not write.backend.mutable:
        return None
    x, value = node.inputs
    # A 0-d value may be written to a window of one element, but a kernel needs an ``out`` of its result's shape.
    if value.type is None or None in value.type.shape:
        return None
    if tuple(value.type.shape) != tuple(length for _, _, length in write.static["window"]):
        return None
    # Not every engine has views with negative steps.
    if any(step < 1 for _, step, _ in write.static["window"]):
        return None
    views = [KernelOp(write.backend, "get_window", write.static, 1)]
    while len(fgraph.clients[value]) == 1 and (view := _inverse(value)) is not None:
        views.append(view)
        assert value.owner is not None
        value = value.owner.inputs[0]
    inner = value.owner
    if inner is None or len(fgraph.clients[value]) > 1 or not isinstance(inner.op, KernelOp):
        return None
    # An operation with destructive twins that takes ``out`` is elementwise.
    if not inner.op.inplace or not inner.op.out or len(inner.outputs) > 1:
        return None
    # If another part of the array is read, computing the value apart is cheaper than copying the whole array.
    if any(roots(other) & roots(x) and not is_seen(other, x, tuple(views)) for other in inner.inputs):
        return None
    return Apply(WindowOp(inner.op, tuple(views)), [x, *inner.inputs], [node.outputs[0].type]).outputs


def write_to_own(fgraph: FunctionGraph, node: Apply) -> Sequence[Variable] | None:
    """Make another array to write to, where it's made of nothing and needed by others: a copy would take longer."""
    if not isinstance(node.op, WindowOp) and not is_kernel(node, "set_window"):
        return None
    x, *others = node.inputs
    if not is_filled(x) or len(fgraph.clients[x]) < 2:
        return None
    assert x.owner is not None
    own = x.owner.copy(()).outputs[0]
    return Apply(node.op, [own, *others], [each.type for each in node.outputs]).outputs


def is_seen(variable: Variable, x: Variable, views: Views) -> bool:
    """Return whether a variable is another one seen through exactly these views."""
    for view in reversed(views):
        node = variable.owner
        if node is None or node.op != view:
            return False
        variable = node.inputs[0]
    return variable is x


def _inverse(variable: Variable) -> KernelOp | None:
    """Return the inverse of the view that a variable is, if every engine has that inverse as a view."""
    node = variable.owner
    if node is None or not isinstance(node.op, KernelOp):
        return None
    op = node.op
    if op.name == "permute_dims":
        axes = op.static["axes"]
        return KernelOp(op.backend, op.name, {"axes": tuple(sorted(range(len(axes)), key=axes.__getitem__))}, 1)
    if op.name == "reshape":
        before = node.inputs[0].type
        assert before is not None
        # The reshape only adds or removes axes of length one.
        if [length for length in before.shape if length != 1] == [each for each in op.static["shape"] if each != 1]:
            return KernelOp(op.backend, op.name, {"shape": tuple(before.shape)}, 1)
    return None


def roots(variable: Variable) -> set[Variable]:
    """Return the variables that a variable is, directly or indirectly, a view of."""
    found, waiting = set(), [variable]
    while waiting:
        each = waiting.pop()
        node = each.owner
        sources = () if node is None else node.op.views(node).get(each.index, ())
        waiting += [node.inputs[index] for index in sources] if node is not None else []
        if not sources:
            found.add(each)
    return found
