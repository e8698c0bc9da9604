"""Which nodes may raise when they run: these run before any that overwrites an argument."""

from __future__ import annotations

from ..._core.kernels.record import Alias, Fails
from ..core.basic import Apply, Op, Variable
from .hosting import is_users
from .kernelop import COPY, KernelOp, is_elementwise, is_kernel, unknown_inputs
from .user_op_nodes import UserOp


def may_fail(node: Apply) -> bool:
    """Return whether a node may raise because of values, or because of a length that only values decide."""
    inner = node.op.nodes()
    if inner is not None:
        return any(map(may_fail, inner))
    return refuses_lengths(node) or any(_refuses_values(part, node) for part in node.op.parts())


def _refuses_values(part: Op, node: Apply) -> bool:
    if not isinstance(part, (KernelOp, UserOp)):
        return part.raises or is_users(part)
    fails = part.record.fails
    if fails is Fails.INTEGERS:
        return any(each.type is None or each.type.dtype.kind in "biu" for each in node.outputs)
    return fails is Fails.VALUES


def refuses_lengths(node: Apply) -> bool:
    """Return whether a kernel may raise because lengths are zero, or differ, that only values decide."""
    unknown = unknown_inputs(node)
    if not unknown or not isinstance(node.op, KernelOp) or node.op.record.alias is Alias.VIEW:
        return False
    return node.op.record.needs_elements or len({_measured(variable) for variable in unknown}) > 1


def _measured(variable: Variable) -> Variable:
    """Return the variable from which an unknown length comes: what has the same one has the same length."""
    while (node := variable.owner) is not None:
        if is_kernel(node, "take_places"):
            variable = node.inputs[1]
        elif is_elementwise(node) or is_kernel(node, COPY, "astype"):
            unknown = unknown_inputs(node)
            if len(unknown) != 1:
                break
            (variable,) = unknown
        else:
            break
    return node.outputs[0] if node is not None and is_kernel(node, "nonzero") else variable
