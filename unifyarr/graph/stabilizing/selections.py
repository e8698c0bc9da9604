"""Elements that are picked from an array, and values put at such places among zeros, as derivatives have them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from ... import functions
from ..building.arraytypes import values_of
from ..core.basic import Apply, Constant, Variable, same_type
from ..kernels.kernelop import is_kernel, kernel_of, kernel_op
from .identity import made, made_by
from .matching import node_of, number, seen, shape_of, static


class Step(NamedTuple):
    """A way to pick elements; ``key`` is equal for those that pick the same ones."""

    key: Hashable
    pick: Callable[[Variable], Variable]


class PickSteps(tuple[Step, ...]):
    """PickSteps in an array: its elements there are what is left after some steps."""

    __slots__ = ()

    def of(self, variable: Variable) -> Variable:
        """Return the elements of a variable at these places."""
        for key, pick in self:
            variable = made_by((key, variable), partial(pick, variable))
        return variable


class Picked(NamedTuple):
    """A variable that has the elements of ``source`` at some places."""

    source: Variable
    places: PickSteps


def picked(variable: Variable) -> Picked | None:
    """Return what a variable is picked from, ``None`` if it's computed otherwise."""
    node = node_of(variable, "get_window", "take", "gather", "take_along_axis", "permute_dims")
    if node is None:
        return None
    source, *indices = node.inputs
    if is_kernel(node, "permute_dims"):
        axes = tuple(static(node)["axes"])
        return Picked(seen(source), PickSteps([Step(("axes", axes), lambda other: _in_order(other, axes))]))

    def pick(other: Variable) -> Variable:
        if not same_type(other.type, source.type):
            raise TypeError(f"{other} has another type than {source}")
        return node.copy([other, *indices]).outputs[0]

    return Picked(seen(source), PickSteps([Step(_key(node, shape_of(source) or (), indices), pick)]))


def _key(node: Apply, shape: Sequence[int], indices: Sequence[Variable]) -> Hashable:
    if is_kernel(node, "get_window"):
        return "window", static(node)["window"]
    if is_kernel(node, "take") and len(shape_of(indices[0]) or ()) == 1:
        return "along", static(node)["axis"], _of_index(indices[0], shape)
    if is_kernel(node, "take_along_axis"):
        return _along(indices[0], static(node)["axis"], shape)
    if is_kernel(node, "gather"):
        return _at([_of_index(each, shape) for each in indices])
    return node


def _along(index: Variable, axis: int, shape: Sequence[int]) -> Hashable:
    return _at([_of_index(index, shape) if k == axis else ("range", k) for k in range(len(shape))])


def _at(indices: Sequence[Hashable]) -> Hashable:
    return ("along", 0, indices[0]) if len(indices) == 1 else ("at", *indices)


def _of_index(variable: Variable, shape: Sequence[int]) -> Hashable:
    """Return a key of an index: the variable, the values of a constant, or the axis along which these count."""
    variable, lengths = seen(variable), shape_of(variable)
    inner = variable
    while (node := node_of(inner, "reshape")) is not None:
        inner = seen(node.inputs[0])
    if not isinstance(inner, Constant) or lengths is None:
        return variable
    values = values_of(inner.data).reshape(lengths)
    axis = max(range(len(lengths)), key=lengths.__getitem__, default=0)
    if len(lengths) == len(shape) and np.array_equal(values.reshape(-1), np.arange(lengths[axis])):
        return "range", axis
    return str(values.dtype), lengths, values.tobytes()


class Put(NamedTuple):
    """An array of zeros that has ``values`` at some places; ``put`` returns one with others."""

    values: Variable
    places: PickSteps
    put: Callable[[Variable], Variable]


def put(variable: Variable) -> Put | None:
    """Return the values and places of an array of zeros that has some, ``None`` if a variable is another one."""
    node = node_of(variable, "set_window", "scatter_reduce", "permute_dims", "take_along_axis_backward")
    if node is None:
        return None
    if is_kernel(node, "permute_dims"):
        return _permuted(node)
    if is_kernel(node, "take_along_axis_backward"):
        values, index = node.inputs
        axis = static(node)["axis"]
        key = _along(index, axis, shape_of(variable) or ())
        back = Step(key, lambda other: made(functions.take_along_axis, other, index, axis=axis))
        return Put(_without_zero(values), PickSteps([back]), lambda new: node.copy([new, index]).outputs[0])
    zeros, values, *indices = node.inputs
    if number(zeros) != 0 or static(node).get("reduction", "add") != "add":
        return None
    shape = shape_of(zeros) or ()
    if is_kernel(node, "set_window"):
        step = Step(("window", static(node)["window"]), lambda other: _window(node, other))
    else:
        step = Step(_at([_of_index(each, shape) for each in indices]), lambda other: made(_gathered, other, *indices))
    return Put(_without_zero(values), PickSteps([step]), lambda new: node.copy([zeros, new, *indices]).outputs[0])


def _permuted(node: Apply) -> Put | None:
    """Read values among zeros whose axes are permuted."""
    axes, found = tuple(static(node)["axes"]), put(node.inputs[0])
    if found is None:
        return None
    back, inner = tuple(np.argsort(axes).tolist()), node_of(node.inputs[0], "scatter_reduce")
    if inner is not None and len(inner.inputs) == 3 and len(shape_of(inner.inputs[2]) or ()) == 1:
        # The derivative of ``take``, which puts rows along the first axis.
        index, axis = inner.inputs[2], axes.index(0)
        step = Step(
            ("along", axis, _of_index(index, axes)), lambda other: made(functions.take, other, index, axis=axis)
        )
        values = _in_order(found.values, axes)
        return Put(values, PickSteps([step]), lambda new: _in_order(found.put(_in_order(new, back)), axes))
    step = Step(("axes", back), lambda other: _in_order(other, back))
    return Put(found.values, PickSteps([step, *found.places]), lambda new: _in_order(found.put(new), axes))


def _in_order(variable: Variable, axes: tuple[int, ...]) -> Variable:
    """Return a variable with its axes in another order."""
    before = node_of(variable, "permute_dims")
    if before is not None and tuple(np.argsort(static(before)["axes"]).tolist()) == axes:
        return seen(before.inputs[0])
    return made(functions.permute_dims, variable, axes)


def _without_zero(variable: Variable) -> Variable:
    """Return a variable to which no zero is added, as the first value that is put somewhere is."""
    node = node_of(variable, "add")
    for one, other in () if node is None else (node.inputs, node.inputs[::-1]):
        if number(one) == 0 and shape_of(other) == shape_of(variable):
            return seen(other)
    return seen(variable)


def _gathered(x, *indices):  # type: ignore[no-untyped-def]
    return x[indices]


def _window(node: Apply, variable: Variable) -> Variable:
    """Return the window of a variable that a node writes to."""
    op = kernel_op(kernel_of(node).backend, "get_window", static(node))
    return Apply(op, [variable], [node.inputs[1].type]).outputs[0]
