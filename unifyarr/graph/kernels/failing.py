"""Which nodes may raise when they run: these run before any that overwrites an argument."""

from __future__ import annotations

from ..core.basic import Apply, Op, Variable
from .hosting import is_users
from .kernelop import COPY, FILLS, STORE, VIEWS, KernelOp, has_loop, is_elementwise, is_kernel, unknown_inputs
from .lengths import CHOOSING
from .operations import UserOp

# Kernels that raise for no values, beside elementwise ones. Any other may: for an index, or a singular matrix.
CERTAIN = (
    VIEWS
    | FILLS
    | {"set_window", "set_real", "set_imag", "put_mask", "put_selected", "select", "take_places", "copy", "astype"}
    | {"all", "any", "argmax", "argmin", "argsort", "clip", "concat", "count_between", "count_nonzero", "cross"}
    | {"cumulative_prod", "cumulative_sum", "diff", "einsum", "interp", "isin", "matmul", "max", "mean", "min"}
    | {"nonzero", "pad", "partition", "prod", "roll", "root_mean_square", "sort", "stack", "std", "stop_gradient"}
    | {"sum", "tril", "triu", "unique_all", "unique_counts", "unique_inverse", "unique_values", "var", "vecdot"}
    | {"vector_norm", "where", "square_repeatedly", "lu_permutation", "convolve", "convolution", "linear"}
    | {"attention", "attention_backward", "attention_with_sums", "gelu_with_slope", "layer_norm_backward"}
    | {"layer_norm_with_moments", "log_softmax", "log_softmax_backward", "relu", "sigmoid", "softmax"}
    | {"softmax_backward", "betainc", "digamma", "erf", "erfc", "erfinv", "gammainc", "gammaincc", "gammaln"}
    | {"i0", "i0e", "i1", "i1e", "ndtri", "zeta", "frexp", "ldexp", "modf", "spacing", "remainder", "round"}
    | {"fft", "fftn", "hfft", "ifft", "ifftn", "ihfft", "irfft", "irfftn", "rfft", "rfftn"}
)
# Elementwise kernels that engines refuse for some integers.
REFUSING = frozenset({"pow", "bitwise_left_shift", "bitwise_right_shift"})


def may_fail(node: Apply) -> bool:
    """Return whether a node may raise because of values, or because of a length that only values decide."""
    inner = node.op.nodes()
    if inner is not None:
        return any(map(may_fail, inner))
    return refuses_lengths(node) or any(_refuses_values(part, node) for part in node.op.parts())


def _refuses_values(part: Op, node: Apply) -> bool:
    if not isinstance(part, KernelOp):
        # The code of a user's operation.
        return isinstance(part, UserOp) or is_users(part)
    if part.name in REFUSING:
        return any(each.type is None or each.type.dtype.kind in "biu" for each in node.outputs)
    return not (part.name in CERTAIN or part.name == STORE or has_loop(part.name))


def refuses_lengths(node: Apply) -> bool:
    """Return whether a kernel may raise because lengths are zero, or differ, that only values decide."""
    unknown = unknown_inputs(node)
    if not unknown or not isinstance(node.op, KernelOp) or node.op.name in VIEWS:
        return False
    return node.op.name in CHOOSING or len({_measured(variable) for variable in unknown}) > 1


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
