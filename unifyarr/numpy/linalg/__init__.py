"""Linear algebra: NumPy's linalg, on every backend.

>>> import unifyarr.numpy as np
>>> np.linalg.norm(np.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [6.0, 16.0]))
array(5.)
"""

from __future__ import annotations

from numpy.linalg import LinAlgError

from ._factoring import cholesky, eig, eigh, eigvals, eigvalsh, qr, svd, svdvals
from ._measuring import cond, det, matrix_norm, matrix_rank, norm, slogdet, vector_norm
from ._products import (
    cross,
    diagonal,
    matmul,
    matrix_power,
    matrix_transpose,
    multi_dot,
    outer,
    tensordot,
    trace,
    vecdot,
)
from ._solving import inv, lstsq, pinv, solve, tensorinv, tensorsolve

__all__ = [
    "LinAlgError",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
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
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]
