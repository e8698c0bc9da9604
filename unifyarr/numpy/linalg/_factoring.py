"""Decompositions of matrices."""

from __future__ import annotations

from typing import Any

import numpy

from ... import functions as ua
from ... import linalg as own
from ..._core.arrays.array import Array
from ..._core.arrays.leaving import to_host
from ...functions.linalg_extension import EighResult, EigResult, SVDResult
from .._following import follows
from ._checking import matrices, triangle


@follows(numpy.linalg.cholesky)
def cholesky(a: Any, /, *, upper: bool = False) -> Array:
    """Factor positive definite matrices into a triangle and its conjugate transpose."""
    return own.cholesky(matrices(a, "cholesky", square=True), upper=upper)


@follows(numpy.linalg.qr)
def qr(a: Any, mode: str = "reduced") -> Any:
    """Factor matrices into one with orthonormal columns and a triangle.

    ``mode="r"`` returns the triangle alone. LAPACK's own ``(h, tau)`` of ``mode="raw"`` comes from NumPy on the host.
    """
    if mode in ("r", "raw"):
        a = matrices(a, "qr")
        if mode == "r":
            return own.qr(a, mode="reduced").R
        parts = numpy.linalg.qr(to_host(a, "qr() with mode='raw'"), mode="raw")
        return tuple(ua.asarray(part, backend=a.backend, device=a.device) for part in parts)
    return own.qr(matrices(a, "qr"), mode=mode)


@follows(numpy.linalg.svd)
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Compute singular value decompositions ``U``, ``S``, ``Vh``; without ``compute_uv`` the singular values alone."""
    a = matrices(a, "svd", square=hermitian)
    if not compute_uv:
        return -ua.sort(-ua.abs(own.eigvalsh(a))) if hermitian else own.svdvals(a)
    if not hermitian:
        return own.svd(a, full_matrices=bool(full_matrices))
    values, vectors = own.eigh(a)
    signs = ua.astype(ua.where(values < 0, -1, 1), values.dtype)
    order = ua.argsort(ua.abs(values), descending=True)
    columns = ua.broadcast_to(order[..., None, :], vectors.shape)
    vectors = ua.take_along_axis(vectors, columns, axis=-1)
    signs = ua.take_along_axis(signs, order, axis=-1)
    values = ua.take_along_axis(ua.abs(values), order, axis=-1)
    return SVDResult(vectors, values, ua.conj((vectors * signs[..., None, :]).mT))


@follows(numpy.linalg.svdvals)
def svdvals(x: Any, /) -> Array:
    """Compute singular values."""
    return own.svdvals(matrices(x, "svdvals"))


@follows(numpy.linalg.eig)
def eig(a: Any) -> EigResult:
    """Compute eigenvalues and eigenvectors, which are complex whatever their values, as with NumPy 2.5 and later."""
    return own.eig(matrices(a, "eig", square=True))


@follows(numpy.linalg.eigvals)
def eigvals(a: Any) -> Array:
    """Compute eigenvalues, which are complex whatever their values, as with NumPy 2.5 and later."""
    return own.eigvals(matrices(a, "eigvals", square=True))


@follows(numpy.linalg.eigh)
def eigh(a: Any, UPLO: str = "L") -> EighResult:  # noqa: N803
    """Compute the eigenvalues, ascending, and the eigenvectors of Hermitian matrices, of which one triangle is read."""
    return own.eigh(triangle(a, "eigh", UPLO))


@follows(numpy.linalg.eigvalsh)
def eigvalsh(a: Any, UPLO: str = "L") -> Array:  # noqa: N803
    """Compute the eigenvalues of Hermitian matrices, of which one triangle is read."""
    return own.eigvalsh(triangle(a, "eigvalsh", UPLO))
