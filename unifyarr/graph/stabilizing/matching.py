"""Reading a graph: the numbers and functions that a variable is computed by."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._core.engines import dtypes
from ..._core.kernels.record import REARRANGE
from ..building.arraytypes import known_values
from ..core.basic import Apply, Variable
from ..kernels.kernelop import COPY, is_kernel, kernel_of, record_of
from ..kernels.laidout import LaidOut


def seen(variable: Variable) -> Variable:
    """Return the variable that has these values before they were copied or laid out otherwise in memory."""
    while variable.owner is not None and (isinstance(variable.owner.op, LaidOut) or is_kernel(variable.owner, COPY)):
        variable = variable.owner.inputs[0]
    return variable


def node_of(variable: Variable, *kernels: str) -> Apply | None:
    """Return the node that computes a variable, if it's one of these kernels."""
    node = seen(variable).owner
    return node if is_kernel(node, *kernels) else None


def argument(variable: Variable, kernel: str) -> Variable | None:
    """Return ``u`` if a variable is ``kernel(u)``."""
    node = node_of(variable, kernel)
    return None if node is None or len(node.inputs) != 1 else seen(node.inputs[0])


def static(node: Apply) -> dict[str, Any]:
    """Return the static arguments of a kernel's node."""
    return kernel_of(node).static


def _rearranges(node: Apply) -> bool:
    """Return whether results have elements of the first operand only, as they are."""
    record = record_of(node)
    return record is not None and record.kind is REARRANGE and not is_kernel(node, "bitcast", "set_window")


def number(variable: Variable) -> float | None:
    """Return the real number that all elements of a variable are known to be."""
    while (values := known_values(variable := seen(variable))) is None:
        node = variable.owner
        if is_kernel(node, "ones", "zeros"):
            return float(is_kernel(node, "ones"))
        if node is None or not _rearranges(node):
            return None
        variable = node.inputs[0]
    if values.size == 0 or not dtypes.is_kind(dtypes.as_dtype(values.dtype), ("integral", "real floating")):
        return None
    first = values.flat[0]
    return float(first) if values.size == 1 or bool(np.all(values == first)) else None


class Shifted(NamedTuple):
    """A variable that is ``number + sign * rest``."""

    number: float
    sign: int
    rest: Variable


def shifted(variable: Variable) -> Shifted | None:
    """Return the parts of the sum of a number and a variable, or of their difference."""
    node = node_of(variable, "add", "subtract")
    if node is None:
        return None
    minus = -1 if is_kernel(node, "subtract") else 1
    first, second = node.inputs
    for value, sign, factor, rest in ((number(first), minus, 1, second), (number(second), 1, minus, first)):
        if value is not None:
            sign, rest = signed(rest, sign)
            return Shifted(factor * value, sign, rest)
    return None


def signed(variable: Variable, sign: int = 1) -> tuple[int, Variable]:
    """Return a sign and the variable without the negations before it."""
    while (opposite := argument(variable, "negative")) is not None:
        sign, variable = -sign, opposite
    return sign, seen(variable)


def power_of(variable: Variable) -> tuple[Variable, float] | None:
    """Return ``x`` and the number ``k`` if a variable is ``x ** k``, ``square(x)`` or ``x * x``."""
    node = node_of(variable, "square", "pow", "multiply")
    if node is None:
        return None
    x = seen(node.inputs[0])
    if is_kernel(node, "pow"):
        exponent = number(node.inputs[1])
        return None if exponent is None else (x, exponent)
    return (x, 2.0) if seen(node.inputs[-1]) is x else None


def one_plus_exp(variable: Variable) -> Variable | None:
    """Return ``u`` if a variable is ``1 + exp(u)``."""
    parts = shifted(variable)
    return None if parts is None or parts[:2] != (1, 1) else argument(parts.rest, "exp")


class ExpSum(NamedTuple):
    """A variable that is ``sum(exp(u), axis)``, ``kept`` with the axes in its shape."""

    exponent: Variable
    axis: tuple[int, ...]
    kept: tuple[int, ...]


def exp_sum(variable: Variable) -> ExpSum | None:
    """Return the parts of a sum of exponentials."""
    node = node_of(variable, "sum")
    exponent = None if node is None else argument(node.inputs[0], "exp")
    if node is None or exponent is None:
        return None
    shape = shape_of(exponent)
    if shape is None:
        return None
    axis = tuple(static(node)["axis"])
    return ExpSum(exponent, axis, tuple(1 if place in axis else length for place, length in enumerate(shape)))


def is_bounded(variable: Variable) -> bool:
    """Return whether an argument was made harmless: a maximum is taken off, or it's chosen from a range.

    That is how functions of this package are composed which are stable already.
    """
    node = node_of(variable, "subtract", "multiply", "negative", "minimum", "maximum", "where")
    if node is None:
        return False
    if is_kernel(node, "subtract"):
        return _is_maximum(node.inputs[1])
    return not is_kernel(node, "multiply", "negative") or any(map(is_bounded, node.inputs))


def _is_maximum(variable: Variable) -> bool:
    node = node_of(variable, "max", "where", "broadcast_to", "reshape", "stop_gradient", "detach")
    if node is None:
        return False
    return is_kernel(node, "max") or any(_is_maximum(each) for each in node.inputs)


def shape_of(variable: Variable) -> tuple[int, ...] | None:
    """Return the shape of a variable, ``None`` if a length isn't known."""
    found = None if variable.type is None else tuple(variable.type.shape)
    return None if found is None or None in found else found  # type: ignore[return-value]
