"""The compact factors of matrices: L below the diagonal, with ones on it, and U."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..rule import joint_rule
from .matrices import column, corner, solve_triangular

if TYPE_CHECKING:
    from ..._core.values.native import Native
    from ...modes.rule_kernels import Kernels
    from ..rule import Cotangent


def _of_compact(k: Kernels, g: Native, compact: Native, order: Native) -> Native:
    """Return the cotangent of matrices whose rows in an order are ``L @ U``: plain transposes, since it's analytic."""
    ndim, (rows, columns) = k.ndim(compact), k.shape(compact)[-2:]
    count = min(rows, columns)
    head = (0, count)
    square, inner = corner(k, compact, head, head), corner(k, g, head, head)
    of_lower, of_upper = k.tril(inner, k=-1), k.triu(inner, k=0)
    right = below = None
    if columns > rows:
        place = head, (count, columns - count)
        right = _left_divided(k, square, corner(k, g, *place))
        of_lower = k.subtract(of_lower, k.matmul(right, k.transpose(corner(k, compact, *place))))
    if rows > columns:
        place = (count, rows - count), head
        below = _right_divided(k, square, corner(k, g, *place))
        of_upper = k.subtract(of_upper, k.matmul(k.transpose(corner(k, compact, *place)), below))
    by_lower = k.add(of_lower, k.matmul(k.transpose(k.tril(square, k=-1)), of_lower))
    by_upper = k.matmul(of_upper, k.transpose(k.triu(square, k=0)))
    inner = k.add(k.tril(by_lower, k=-1), k.triu(by_upper, k=0))
    found = _right_divided(k, square, _left_divided(k, square, inner))
    if right is not None:
        found = k.concat(found, right, axis=ndim - 1)
    if below is not None:
        found = k.concat(found, below, axis=ndim - 2)
    back = k.argsort(order, axis=ndim - 2, descending=False, stable=True)
    return k.take_along_axis(found, k.broadcast_to(column(k, back), k.shape(compact)), axis=ndim - 2)


def _left_divided(k: Kernels, square: Native, x: Native) -> Native:
    """Return ``inv(L).T @ x``."""
    return solve_triangular(k, k.transpose(square), x, lower=False, unit_diagonal=True)


def _right_divided(k: Kernels, square: Native, x: Native) -> Native:
    """Return ``x @ inv(U).T``."""
    return k.transpose(solve_triangular(k, square, k.transpose(x), lower=False))


@joint_rule("lu", uses=("out",))
def _lu(
    k: Kernels, needs: Sequence[bool], g: tuple[Native, None], out: Sequence[Native], x: Native
) -> Sequence[Cotangent | None]:
    return [_of_compact(k, g[0], *out)]


@joint_rule("lu_factor", uses=("out",))
def _lu_factor(
    k: Kernels, needs: Sequence[bool], g: tuple[Native, None], out: Sequence[Native], x: Native
) -> Sequence[Cotangent | None]:
    compact, pivots = out
    (*batch, rows, _), count = k.shape(compact), k.shape(pivots)[-1]
    if rows > count:
        # The rows below stay where they are.
        rest = k.array(np.arange(count, rows), pivots)
        pivots = k.concat(pivots, k.broadcast_to(rest, (*batch, rows - count)), axis=len(batch))
    return [_of_compact(k, g[0], compact, k.lu_permutation(pivots))]
