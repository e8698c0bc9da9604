"""What the rules of linear algebra share: transposes, triangles, units and blocks of stacks of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..._core.values.native import Native
    from ...modes.rule_kernels import Kernels


def adjoint(k: Kernels, x: Native) -> Native:
    """Return the conjugate transposes."""
    return k.transpose(k.conjugate(x))


def unit(k: Kernels, like: Native, rows: int) -> Native:
    """Return the unit matrix."""
    return k.array(np.eye(rows, dtype=k.dtype(like)), like)


def diagonal(k: Kernels, x: Native) -> Native:
    """Return the diagonals."""
    return k.diagonal(x, offset=0)


def on_diagonal(k: Kernels, values: Native, like: Native) -> Native:
    """Return matrices, of a dtype, that are zero but for their diagonals."""
    return k.multiply(row(k, values), unit(k, like, k.shape(values)[-1]))


def row(k: Kernels, values: Native) -> Native:
    """Return vectors as matrices of one row: by it columns are multiplied."""
    return k.reshape(values, (*k.shape(values)[:-1], 1, k.shape(values)[-1]))


def column(k: Kernels, values: Native) -> Native:
    """Return vectors as matrices of one column: by it rows are multiplied."""
    return k.reshape(values, (*k.shape(values), 1))


def corner(k: Kernels, x: Native, rows: tuple[int, int], columns: tuple[int, int]) -> Native:
    """Return the block of some rows and columns: the first of them, and how many."""
    whole = [(0, 1, length) for length in k.shape(x)[:-2]]
    return k.get_window(x, [*whole, (rows[0], 1, rows[1]), (columns[0], 1, columns[1])])


def of_hermitian(k: Kernels, x: Native) -> Native:
    """Return the half of matrices and their adjoints: of a Hermitian matrix both triangles count."""
    return k.multiply(k.add(x, adjoint(k, x)), 0.5)


def halved_triangle(k: Kernels, x: Native) -> Native:
    """Return the lower triangles with half of their diagonals."""
    return k.subtract(k.tril(x, k=0), k.multiply(on_diagonal(k, diagonal(k, x), x), 0.5))


def solve_triangular(k: Kernels, x: Native, y: Native, *, lower: bool, unit_diagonal: bool = False) -> Native:
    """Solve for matrices of which one triangle counts, by the engine's routine if it has one for them."""
    if k.has("solve_triangular"):
        offered = {"offered": True} if k.handle.records else {}
        found = k.solve_triangular(x, y, lower=lower, unit_diagonal=unit_diagonal, **offered)
        if found is not NotImplemented:
            return found
    side = "tril" if lower else "triu"
    if unit_diagonal:
        inner = getattr(k, side)(x, k=-1 if lower else 1)
        return k.solve(k.add(inner, unit(k, x, k.shape(x)[-1])), y)
    return k.solve(getattr(k, side)(x, k=0), y)


def derivative_in_blocks(k: Kernels, x: Native, g: Native, function: Callable[[Native], Native]) -> Native:
    """Return the cotangent of what a power series of a matrix was computed of.

    Of ``[[x, g], [0, x]]`` a power series has its derivative by ``x`` in the direction ``g`` in the upper right block.
    The transposed derivative is that of the transposed matrix.
    """
    count, x = k.shape(x)[-1], k.transpose(x)
    upper, lower = k.concat(x, g, axis=k.ndim(x) - 1), k.concat(k.full(0, x), x, axis=k.ndim(x) - 1)
    return corner(k, function(k.concat(upper, lower, axis=k.ndim(x) - 2)), (0, count), (count, count))
