"""Products and linear algebra: matrices are the last two axes, and all others are batches already."""

from __future__ import annotations

from typing import Any

from ...._core.kernels.record import MATRIX
from ...._core.values.shapes import broadcast
from ..kernel_calls import BatchCall
from ..natives import Batched
from ..rule import kind_rule, rule


def _of_matrices(call: BatchCall, x: Batched, **static: Any) -> Any:
    return call(x.value, **static)


kind_rule(MATRIX, _of_matrices)
rule("lu_permutation", _of_matrices)
rule("square_repeatedly", lambda call, x, counts: call(call.front(x), call.front(counts)))
rule("cross", lambda call, x1, x2, *, axis: call(*call.aligned([x1, x2]), axis=axis))
rule("vecdot", lambda call, x1, x2, *, axis: call(*call.aligned([x1, x2]), axis=axis + 1))


def _matmul(call: BatchCall, x1: Batched, x2: Batched) -> Any:
    k, first, second = call.k, call.ndim(x1), call.ndim(x2)
    if x2.is_constant and second < 3:
        # One product of a matrix that holds all rows.
        return call(x1.value, x2.value)
    if x1.is_constant and first == 2 and second == 1:
        return call(x2.value, k.transpose(x1.value))
    leading = broadcast(call.shape(x1)[:-2], call.shape(x2)[:-2], name="matmul")
    result = (*leading, *call.shape(x1)[-2:-1], *(call.shape(x2)[-1:] if second > 1 else ()))
    left = _stacked(call, x1, len(leading), (1, *call.shape(x1)) if first == 1 else call.shape(x1))
    right = _stacked(call, x2, len(leading), (*call.shape(x2), 1) if second == 1 else call.shape(x2))
    rows, columns = k.shape(left)[-2], k.shape(right)[-1]
    return k.reshape(call(left, right, shape=(call.size, *leading, rows, columns)), (call.size, *result))


def _stacked(call: BatchCall, x: Batched, leading: int, shape: tuple[int, ...]) -> Any:
    """Return matrices of a shape with the batch in front, and axes of length one between."""
    if x.is_constant:
        return call.k.reshape(x.value, shape)
    return call.k.reshape(x.value, (call.size, *(1,) * (leading + 2 - len(shape)), *shape))


rule("matmul", _matmul)


def _solve(call: BatchCall, x1: Batched, x2: Batched, **static: Any) -> Any:
    k, shape = call.k, call.shape(x2)
    is_vector = len(shape) == 1
    leading = broadcast(call.shape(x1)[:-2], () if is_vector else shape[:-2], name="solve")
    left = _stacked(call, x1, len(leading), call.shape(x1))
    right = _stacked(call, x2, len(leading), (*shape, 1) if is_vector else shape)
    found = (call.size, *leading, call.shape(x1)[-1])
    solved = call(left, right, shape=(*found, 1 if is_vector else shape[-1]), **static)
    return k.reshape(solved, found) if is_vector else solved


rule("solve solve_triangular", _solve)
