"""The extension ``linalg`` of the standard: linear algebra on stacks of matrices."""

from __future__ import annotations

from ._core.values.missing import missing_from
from .functions.linalg import diagonal, matmul, matrix_transpose, tensordot, vecdot
from .functions.linalg_extension import (
    cholesky,
    cross,
    det,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    inv,
    matrix_norm,
    matrix_power,
    matrix_rank,
    outer,
    pinv,
    qr,
    slogdet,
    solve,
    svd,
    svdvals,
    trace,
    vector_norm,
)
from .functions.linalg_products import cond, multi_dot, norm, tensorinv, tensorsolve
from .functions.linalg_solvers import expm, lstsq
from .functions.linalg_triangular import lu, lu_factor, lu_solve, solve_triangular

__all__ = [
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "expm",
    "inv",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_solve",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]

__getattr__ = missing_from(__name__)
