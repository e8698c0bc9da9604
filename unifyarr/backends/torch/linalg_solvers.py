"""Triangular systems and factors of matrices on torch."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, linalg

from ..kernels import check_pivots
from ._shared import has_address


def _has_zeros(x: Tensor) -> bool:
    """Return whether numbers are known, and one of them is zero: ``vmap`` hides them."""
    try:
        return not bool((x.detach() != 0).all())
    except RuntimeError:
        if has_address(x):
            raise
        return False


def solve_triangular(x1: Tensor, x2: Tensor, /, *, lower: bool, unit_diagonal: bool) -> Tensor:
    """Solve as LAPACK does, which the engine would give infinities for."""
    if not unit_diagonal and _has_zeros(x1.diagonal(0, -2, -1)):
        raise np.linalg.LinAlgError("the triangle is singular: a number of its diagonal is zero")
    return linalg.solve_triangular(x1, x2, upper=not lower, unitriangular=unit_diagonal)


def lu_factor(x: Tensor, /) -> tuple[Tensor, Tensor]:
    """Return the compact factors, and the rows that each row was exchanged with."""
    compact, pivots, _ = linalg.lu_factor_ex(x)
    return compact, pivots.to(torch.int64) - 1


def lu(x: Tensor, /) -> tuple[Tensor, Tensor]:
    """Return the compact factors, and the order of the rows."""
    compact, pivots, _ = linalg.lu_factor_ex(x)
    return compact, _order(compact, pivots)


def lu_matrices(x: Tensor, /) -> tuple[Tensor, Tensor, Tensor]:
    """Return the permutation as a matrix, and both factors."""
    compact, pivots, _ = linalg.lu_factor_ex(x)
    matrix, left, right = torch.lu_unpack(compact, pivots)
    return matrix.real if matrix.is_complex() else matrix, left, right


def lu_permutation(pivots: Tensor, /) -> Tensor:
    """Return the order of as many rows as there are pivots."""
    square = torch.empty((*pivots.shape, pivots.shape[-1]), device=pivots.device)
    try:
        return _order(square, (pivots + 1).to(torch.int32))
    except RuntimeError:
        if has_address(pivots):
            least, most = torch.aminmax(pivots)
            check_pivots(int(least), int(most), pivots.shape[-1])
        raise


def _order(compact: Tensor, pivots: Tensor) -> Tensor:
    # A column of the matrix has its one in the row that comes to this place.
    matrix, _, _ = torch.lu_unpack(compact.detach(), pivots, unpack_data=False)
    return matrix.real.argmax(-2)
