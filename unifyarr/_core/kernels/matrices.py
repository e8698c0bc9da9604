"""Kernels of linear algebra: matrices are the last two axes, and all others are batches already."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..values.shapes import broadcast
from .record import ALONG, MATRIX, Alias, Batch, Derivative, Fails, MemoryOrder, declare
from .types import INT64, ArrayType, Rule, Typed, Types, complex_of, places, real_of, same


def _number(x: Typed, **static: object) -> ArrayType:
    return ArrayType(x.shape[:-2], x.dtype)


def _rank(x: Typed, **static: object) -> ArrayType:
    return ArrayType(x.shape[:-2], INT64)


def _matrix_norm(x: Typed, *, keepdims: bool, ord: object) -> ArrayType:
    return ArrayType((*x.shape[:-2], 1, 1) if keepdims else x.shape[:-2], real_of(x.dtype))


def _turned(x: Typed, **static: object) -> ArrayType:
    return ArrayType((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)


def _diagonal(x: Typed, *, offset: int) -> ArrayType:
    *batch, rows, columns = x.shape
    length = min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns)
    return ArrayType((*batch, max(length, 0)), x.dtype)


declare(MATRIX, "cholesky expm inv", types=same)
declare(MATRIX, "matrix_power", types=same, adds=True)
declare(MATRIX, "matrix_norm", types=_matrix_norm, adds=True)
declare(MATRIX, "matrix_rank", types=_rank, derivative=Derivative.CONSTANT)
declare(MATRIX, "det", types=_number)
declare(MATRIX, "pinv", types=_turned)
declare(MATRIX, "square_repeatedly", types=same, fails=Fails.NEVER, batch=Batch.OWN)
declare(MATRIX, "tril triu", types=same, fails=Fails.NEVER, order=MemoryOrder.STAYS)
declare(
    MATRIX, "diagonal", alias=Alias.VIEW, types=_diagonal, fails=Fails.NEVER, moves=True, read_only=True, required=True
)

# -- decompositions ---------------------------------------------------------------------------------------------------


def _eigen(values: Callable[[Any], Any], vectors: Callable[[Any], Any] | None) -> Rule:
    def rule(x: Typed) -> Types:
        found = ArrayType(x.shape[:-1], values(x.dtype))
        return found if vectors is None else (found, ArrayType(x.shape, vectors(x.dtype)))

    return rule


def _qr(x: Typed, *, mode: str) -> Types:
    *batch, rows, columns = x.shape
    rank = rows if mode == "complete" else min(rows, columns)
    return ArrayType((*batch, rows, rank), x.dtype), ArrayType((*batch, rank, columns), x.dtype)


def _slogdet(x: Typed) -> Types:
    return _number(x), ArrayType(x.shape[:-2], real_of(x.dtype))


def _svd(x: Typed, *, full_matrices: bool) -> Types:
    *batch, rows, columns = x.shape
    rank = min(rows, columns)
    left, right = (rows, columns) if full_matrices else (rank, rank)
    return (
        ArrayType((*batch, rows, left), x.dtype),
        ArrayType((*batch, rank), real_of(x.dtype)),
        ArrayType((*batch, right, columns), x.dtype),
    )


def _svdvals(x: Typed) -> ArrayType:
    return ArrayType((*x.shape[:-2], min(x.shape[-2:])), real_of(x.dtype))


def _lu(x: Typed) -> Types:
    return same(x), ArrayType(x.shape[:-1], INT64)


def _lu_matrices(x: Typed) -> Types:
    *leading, rows, columns = x.shape
    count = min(rows, columns)
    order = ArrayType((*leading, rows, rows), real_of(x.dtype))
    return order, ArrayType((*leading, rows, count), x.dtype), ArrayType((*leading, count, columns), x.dtype)


def _lu_factor(x: Typed) -> Types:
    return same(x), ArrayType((*x.shape[:-2], min(x.shape[-2:])), INT64)


def _solved(x1: Typed, x2: Typed) -> ArrayType:
    if len(x2.shape) == 1:
        return ArrayType(x1.shape[:-1], x1.dtype)
    return ArrayType((*broadcast(x1.shape[:-2], x2.shape[:-2], name="solve"), *x2.shape[-2:]), x1.dtype)


def _solved_triangular(x1: Typed, x2: Typed, **static: object) -> ArrayType:
    leading = broadcast(x1.shape[:-2], x2.shape[:-2], name="solve_triangular")
    return ArrayType((*leading, *x2.shape[-2:]), x1.dtype)


declare(MATRIX, "eig", types=_eigen(complex_of, complex_of))
declare(MATRIX, "eigvals", types=_eigen(complex_of, None))
declare(MATRIX, "eigh", types=_eigen(real_of, lambda dtype: dtype))
declare(MATRIX, "eigvalsh", types=_eigen(real_of, None))
declare(MATRIX, "qr", types=_qr)
declare(MATRIX, "slogdet", types=_slogdet)
declare(MATRIX, "svd", types=_svd)
declare(MATRIX, "svdvals", types=_svdvals)
declare(MATRIX, "lu", types=_lu)
declare(MATRIX, "lu_factor", types=_lu_factor)
declare(MATRIX, "lu_matrices", types=_lu_matrices, derivative=Derivative.BODY, batch=Batch.BODY)
declare(ALONG, "lu_permutation", types=places, derivative=Derivative.CONSTANT, batch=Batch.OWN)
declare(MATRIX, "solve", types=_solved, batch=Batch.OWN)
declare(MATRIX, "solve_triangular", types=_solved_triangular, batch=Batch.OWN)
