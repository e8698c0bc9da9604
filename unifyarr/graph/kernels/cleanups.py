"""Rules that make a graph smaller, before anything in it is overwritten. Results stay the same, bit for bit.

As long as nothing is overwritten, a copy can be replaced by its original, and reading a window gives the value that was
written to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ..._core.engines.handle import Handle
from ..._core.kernels.record import Alias
from ..._core.values.native import Native
from ..._core.values.shapes import c_strides
from ..core.basic import Apply, Constant, Variable
from ..core.fgraph import FunctionGraph
from ..core.rewriting import Rule
from .hosting import is_users
from .kernelop import COPY, KernelOp, goes_backwards, has_alias, is_elementwise, is_kernel, kernel_op
from .laidout import LaidOut

# A folded constant has at most this many elements. A larger one is computed at each call, so that it holds no memory.
SMALL = 4096
# How many writes a read is followed through at most.
MOST_WRITES = 256


def no_copy(fgraph: FunctionGraph, node: Apply) -> Sequence[Variable] | None:
    """Replace a copy by its original."""
    return node.inputs if is_kernel(node, COPY) and not goes_backwards(node.inputs[0]) else None


def no_change(fgraph: FunctionGraph, node: Apply) -> Sequence[Variable] | None:
    """Drop a reshape, transposition, broadcast or cast that changes nothing."""
    if is_kernel(node, "permute_dims"):
        axes = tuple(_static(node)["axes"])
        return node.inputs if axes == tuple(range(len(axes))) else None
    same = is_kernel(node, "reshape", "broadcast_to", "astype") and node.inputs[0].type == node.outputs[0].type
    return node.inputs if same else None


def reshape_once(fgraph: FunctionGraph, node: Apply) -> Sequence[Variable] | None:
    """Merge two reshapes into one."""
    inner = _inner(node, "reshape", "reshape")
    return None if inner is None else _applied(node, inner.inputs)


def permute_once(fgraph: FunctionGraph, node: Apply) -> Sequence[Variable] | None:
    """Merge two permutations of axes into one."""
    inner = _inner(node, "permute_dims", "permute_dims")
    if inner is None:
        return None
    first = _static(inner)["axes"]
    return _applied(node, inner.inputs, axes=tuple(first[axis] for axis in _static(node)["axes"]))


def roll_once(fgraph: FunctionGraph, node: Apply) -> Sequence[Variable] | None:
    """Merge two cyclic shifts into one, along the axes of both."""
    inner = _inner(node, "roll", "roll")
    if inner is None:
        return None
    first, second = _static(inner), _static(node)
    return _applied(node, inner.inputs, **{name: (*first[name], *second[name]) for name in ("shift", "axis")})


def read_what_was_written(fgraph: FunctionGraph, node: Apply) -> Sequence[Variable] | None:
    """Replace the read of a window by the value that was written to it."""
    inner = _inner(node, "get_window", "set_window")
    if inner is None or _static(inner) != _static(node):
        return None
    if goes_backwards(node.outputs[0]):
        return None
    # A 0-d array may be written to a window of one element.
    return [inner.inputs[1]] if inner.inputs[1].type == node.outputs[0].type else None


def read_behind_writes(fgraph: FunctionGraph, node: Apply) -> Sequence[Variable] | None:
    """Replace the read of a window by the value that was written to it, before windows apart from it were written."""
    if not is_kernel(node, "get_window"):
        return None
    window, x = _static(node)["window"], node.inputs[0]
    for _ in range(MOST_WRITES):
        writer = x.owner
        if writer is None or not is_kernel(writer, "set_window"):
            return None
        written = _static(writer)["window"]
        if written == window and not goes_backwards(node.outputs[0]):
            return [writer.inputs[1]] if writer.inputs[1].type == node.outputs[0].type else None
        if not any(_are_apart(one, other) for one, other in zip(written, window, strict=True)):
            return None
        x = writer.inputs[0]
    return None


def _are_apart(one: tuple[int, int, int], other: tuple[int, int, int]) -> bool:
    """Return whether two windows of an axis lie behind one another; each has a start, a step and a length."""
    first, second = (sorted((start, start + step * (length - 1))) for start, step, length in (one, other))
    return first[1] < second[0] or second[1] < first[0]


def write_once(fgraph: FunctionGraph, node: Apply) -> Sequence[Variable] | None:
    """Drop a write to a window that the next write overwrites."""
    inner = _inner(node, "set_window", "set_window")
    same = inner is not None and _static(inner) == _static(node)
    return _applied(node, [inner.inputs[0], node.inputs[1]]) if inner is not None and same else None


# By the kind of the base, the function that NumPy's backend calls for powers to a number.
_POWERS: dict[str, dict[complex, str]] = {
    "c": {2: "square", -1: "reciprocal", 0.5: "sqrt"},
    "f": {2: "square", -1: "reciprocal"},
    "i": {2: "square"},
    "u": {2: "square"},
}


def no_power(fgraph: FunctionGraph, node: Apply) -> Sequence[Variable] | None:
    """Replace powers to 1, and squares, reciprocals and complex roots that are written as powers, as NumPy's does."""
    if not is_kernel(node, "pow") or _backend(node).name != "numpy":
        return None
    x, exponent = node.inputs
    if x.type != node.outputs[0].type or x.type is None or not isinstance(exponent, Constant) or exponent.data.ndim:
        return None
    kind, number = x.type.dtype.kind, exponent.data.item()
    if number == 1 and kind == "f" and not goes_backwards(x):
        return [x]
    name = _POWERS.get(kind, {}).get(number)
    if name is None:
        return None
    return Apply(kernel_op(_backend(node), name, {}), [x], [x.type]).outputs


def no_factor(fgraph: FunctionGraph, node: Apply) -> Sequence[Variable] | None:
    """Drop a factor of one, as derivatives begin with; compilers do so themselves."""
    if not is_kernel(node, "multiply") or not _backend(node).mutable:
        return None
    for factor, x in (node.inputs, reversed(node.inputs)):
        while is_kernel(factor.owner, "broadcast_to"):
            factor = factor.owner.inputs[0]  # type: ignore[union-attr]
        if not isinstance(factor, Constant) or x.type is None or x.type != node.outputs[0].type:
            continue
        # A complex one has an imaginary part of zero, which infinities make a NaN of.
        is_real = x.type.dtype.kind in "fiu" and not goes_backwards(x)
        if is_real and prod(_shape(factor)) <= SMALL and np.all(_backend(node).to_numpy(factor.data) == 1):
            return [x]
    return None


def no_sign(fgraph: FunctionGraph, node: Apply) -> Sequence[Variable] | None:
    """Drop two signs, and the second of two absolute values."""
    twice = _inner(node, "negative", "negative")
    if twice is not None:
        return None if goes_backwards(twice.inputs[0]) else twice.inputs
    again = _inner(node, "abs", "abs")
    return None if again is None else again.outputs


# The greatest of negated numbers, and the least.
_OPPOSITE = {"max": "min", "min": "max"}


def least_of_all(fgraph: FunctionGraph, node: Apply) -> Sequence[Variable] | None:
    """Compute ``-max(-x)`` as ``min(x)``, of floating-point numbers: ``-x`` isn't the opposite of the least integer."""
    inner = node.inputs[0].owner if is_kernel(node, "negative") else None
    if inner is None or not is_kernel(inner, *_OPPOSITE) or not is_on_mutable(node):
        return None
    opposite = inner.inputs[0].owner
    if opposite is None or not is_kernel(opposite, "negative") or inner.inputs[0].type is None:
        return None
    if inner.inputs[0].type.dtype.kind != "f":
        return None
    op = kernel_op(_backend(node), _OPPOSITE[inner.op.name], _static(inner))
    return Apply(op, opposite.inputs, [node.outputs[0].type]).outputs


def no_broadcast(fgraph: FunctionGraph, node: Apply) -> Sequence[Variable] | None:
    """Drop the broadcast of an operand where the others have the shape of the result: elementwise kernels do it too."""
    if not any(is_kernel(x.owner, "broadcast_to") for x in node.inputs) or not is_elementwise(node):
        return None
    inputs = list(node.inputs)
    for place, x in enumerate(inputs):
        if x.owner is None or not is_kernel(x.owner, "broadcast_to"):
            continue
        given = [*inputs[:place], x.owner.inputs[0], *inputs[place + 1 :]]
        shapes = [None if each.type is None else each.type.shape for each in (*given, *node.outputs)]
        # Of one element engines may compute otherwise.
        if any(shape is None or None in shape for shape in shapes) or prod(_shape(given[place])) == 1:
            continue
        if np.broadcast_shapes(*shapes[:-1]) == shapes[-1]:  # type: ignore[arg-type]
            inputs = given
    return None if inputs == list(node.inputs) else _applied(node, inputs)


def fill_whole(fgraph: FunctionGraph, node: Apply) -> Sequence[Variable] | None:
    """Fill an array in place of copying a number that is broadcast, as ``x[...] = 0`` does."""
    if not isinstance(node.op, LaidOut) or not is_kernel(node.inputs[0].owner, "broadcast_to"):
        return None
    type, number = node.outputs[0].type, node.inputs[0].owner.inputs[0]  # type: ignore[union-attr]
    if not isinstance(number, Constant) or prod(_shape(number)) != 1 or type is None or None in type.shape:
        return None
    shape = _shape(node.outputs[0])
    backend = node.op.backend
    array = np.reshape(backend.to_numpy(number.data), ())
    value = array.item()
    # A NaN has bits that a number of Python's may not keep.
    if value != value or node.op.strides != c_strides(shape, type.dtype.itemsize):
        return None
    static = {"shape": shape, "dtype": type.dtype, "device": backend.device(number.data)}
    # Fresh memory of the system is zero.
    made = ("full", {"fill_value": value, **static}) if any(array.tobytes()) else ("zeros", static)
    return Apply(kernel_op(backend, *made), [], [type]).outputs


def write_apart(fgraph: FunctionGraph, node: Apply) -> Sequence[Variable] | None:
    """Write a window of a reshaped array apart from the memory of the array, which the value may still read."""
    if not is_kernel(node, "set_window") or _static(node).get("apart"):
        return None
    if not hasattr(_backend(node).kernel("set_window"), "writes_apart"):
        return None
    x = node.inputs[0]
    while has_alias(x.owner, Alias.VIEW):
        if is_kernel(x.owner, "reshape"):
            return _applied(node, node.inputs, apart=True)
        x = x.owner.inputs[0]  # type: ignore[union-attr]
    return None


RULES: tuple[Rule, ...] = (
    *(no_copy, no_change, reshape_once, permute_once, roll_once, read_what_was_written, write_once),
    *(no_power, no_factor, no_sign, least_of_all, no_broadcast, fill_whole, write_apart),
)


def is_on_mutable(node: Apply) -> bool:
    """Return whether a node is a kernel of an engine that writes in place."""
    return isinstance(node.op, KernelOp) and node.op.backend.mutable


def folded(node: Apply) -> Sequence[Native] | None:
    """Return the values of a node whose inputs are constants, or ``None`` if they are large or undefined."""
    # An operation that people made may not always compute the same, and an effect belongs to each run.
    if (
        is_kernel(node, "empty")
        or is_users(node.op)
        or node.op.raises
        or any(variable.type is None or prod(_shape(variable)) > SMALL for variable in node.outputs)
    ):
        return None
    constants = [variable.data for variable in node.inputs if isinstance(variable, Constant)]
    result = node.op.perform(node, constants)
    return result if len(node.outputs) > 1 else [result]


def _inner(node: Apply, outer: str, inner: str) -> Apply | None:
    """Return the node that computes the first input, if both nodes are the given kernels."""
    found = node.inputs[0].owner if is_kernel(node, outer) else None
    return found if is_kernel(found, inner) else None


def _backend(node: Apply) -> Handle:
    assert isinstance(node.op, KernelOp)
    return node.op.backend


def _static(node: Apply) -> dict[str, Any]:
    return node.op.static if isinstance(node.op, KernelOp) else {}


def _shape(variable: Variable) -> tuple[int, ...]:
    assert variable.type is not None
    return tuple(length or 0 for length in variable.type.shape)


def _applied(node: Apply, inputs: Sequence[Variable], **static: object) -> Sequence[Variable]:
    op = node.op
    assert isinstance(op, KernelOp)
    op = KernelOp(op.backend, op.name, {**op.static, **static}, op.nout) if static else op
    return Apply(op, inputs, [output.type for output in node.outputs]).outputs
