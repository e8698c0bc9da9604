"""The extension ``linalg`` of the standard: linear algebra on stacks of matrices."""

from __future__ import annotations

from ._core.declaring.spaces import publish
from ._core.values.missing import missing_from
from .functions import linalg, linalg_extension, linalg_products, linalg_solvers, linalg_triangular
from .functions.linalg import matmul, matrix_transpose, tensordot, vecdot

__all__ = publish("linalg", globals())

__getattr__ = missing_from(__name__)
