"""Linear algebra on torch, of the main namespace and of the extension, with NumPy's kinds of error."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, linalg

from ...errors import AxisError, DtypeError, ShapeError
from ..guards import guarded
from ..kernels import Applied, bound_by, known_by, support_native_out, worked_around
from ._shared import BOOL, COMPLEX, FLOAT, INTEGER, WIDE, Kernel, are_all_finite, as_dtype, as_signed, is_finite


def _numpy_errors(kernel: Kernel) -> Kernel:
    """Raise what NumPy raises: ``LinAlgError`` for matrices that can't be solved, ``ValueError`` for shapes."""

    @functools.wraps(kernel)
    def call(*arrays: Tensor, **arguments: Any) -> Any:
        try:
            return kernel(*arrays, **arguments)
        except Exception as error:
            raise _numpy_error(error) from None

    return call


_OF_SHAPES = re.compile("shape|size|dimension|square|broadcast|expand")


def _numpy_error(error: Exception) -> Exception:
    if isinstance(error, torch.linalg.LinAlgError):
        return np.linalg.LinAlgError(str(error))
    # Other errors of the engine have other causes: devices that mix, or a library that fails.
    is_of_shapes = type(error) is IndexError or (type(error) is RuntimeError and _OF_SHAPES.search(str(error)))
    return ShapeError(str(error)) if is_of_shapes else error


def _check_matrix(x: Tensor) -> None:
    if x.ndim < 2:
        raise np.linalg.LinAlgError(f"a matrix has at least two axes, and the array has {x.ndim}")


def _check_square(x: Tensor) -> None:
    shape = x.shape
    if len(shape) < 2:
        _check_matrix(x)
    if shape[-1] != shape[-2]:
        raise np.linalg.LinAlgError(f"a square matrix has two axes of one length, not {tuple(shape[-2:])}")


def _matrices(kernel: Kernel, *, square: bool = False) -> Kernel:
    """Check and convert matrices as NumPy does: integers compute in float64, half precision doesn't."""
    check = _check_square if square else _check_matrix

    def bind(**arguments: Any) -> Callable[..., Any]:
        def bound(x: Tensor, /, *arrays: Tensor) -> Any:
            if x.dtype in _READY:
                try:
                    return kernel(x, *arrays, **arguments)
                except Exception:
                    # The error is raised below.
                    pass
            return call(x, *arrays, **arguments)

        return bound

    def know(x: Tensor, *arrays: Tensor, **arguments: Any) -> Any:
        if x.dtype not in _READY:
            return None
        own = getattr(kernel, "known", None)
        found = None if own is None else own(x, *arrays, **arguments)
        return found or (functools.partial(kernel, **arguments) if arguments else kernel)

    @known_by(know)
    @bound_by(bind)
    @functools.wraps(kernel)
    def call(x: Tensor, /, *arrays: Tensor, **arguments: Any) -> Any:
        check(x)
        if x.dtype not in _READY:
            if x.itemsize == 2 and x.dtype not in _EXACT:
                raise DtypeError(f"linear algebra takes no {x.dtype}: cast to float32")
            x, arrays = x.to(torch.float64), tuple(array.to(torch.float64) for array in arrays)
        try:
            return kernel(x, *arrays, **arguments)
        except Exception as error:
            raise _numpy_error(error) from None

    return call


_EXACT = INTEGER | BOOL
_READY = WIDE | COMPLEX
_square = functools.partial(_matrices, square=True)

# -- products -------------------------------------------------------------------------------------------------------


def _know_matmul(x1: Tensor, x2: Tensor) -> Any:
    # The function takes ``out`` too, which the engine would resize for a vector.
    return None if x1.dtype not in WIDE else torch.matmul if x1.ndim > 1 < x2.ndim else Tensor.matmul


@known_by(_know_matmul)
@worked_around("no kernel for bool, uint16, uint32, uint64")
@support_native_out
@_numpy_errors
def matmul(x1: Tensor, x2: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    if out is None and x1.dtype in WIDE:
        return torch.matmul(x1, x2)
    if x1.dtype in FLOAT or x1.is_complex():
        if out is None or x1.ndim < 2 or x2.ndim < 2:
            # For a vector the engine resizes the out that it was given, and warns.
            return torch.matmul(x1.resolve_conj(), x2.resolve_conj())
        return torch.matmul(x1, x2, out=out)
    if x1.dtype is torch.bool:
        # Sums of ones are rounded, but never to zero.
        return torch.matmul(x1.to(torch.float32), x2.to(torch.float32)) != 0
    product = torch.matmul if x1.is_cpu else _matmul_of_integers
    return product(as_signed(x1), as_signed(x2)).view(x1.dtype)


# How many elements of products are added up at a time, unless the result has more itself.
_BLOCK = 1 << 24


def _matmul_of_integers(x1: Tensor, x2: Tensor) -> Tensor:
    """Return a product of integers, for which accelerators have no kernel, as sums of blocks of products."""
    row, column = x1.dim() == 1, x2.dim() == 1
    x1, x2 = x1[None] if row else x1, x2[:, None] if column else x2
    count = x1.shape[-1]
    leading = torch.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    step = max(_BLOCK // max(math.prod(leading) * x1.shape[-2] * x2.shape[-1], 1), 1)
    result = None
    for start in range(0, max(count, 1), step):
        part = slice(start, start + step)
        # Without ``dtype`` the engine adds up in 64 bits.
        found = (x1[..., part, None] * x2[..., None, part, :]).sum(-2, dtype=x1.dtype)
        result = found if result is None else result + found
    assert result is not None
    result = result[..., 0, :] if row else result
    return result[..., 0] if column else result


@worked_around("no kernel for integers and bool")
@_numpy_errors
def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int) -> Tensor:
    axis -= max(x1.ndim, x2.ndim)
    if -axis > min(x1.ndim, x2.ndim):
        raise AxisError(f"axis {axis} is out of bounds for shapes {tuple(x1.shape)} and {tuple(x2.shape)}")
    if x1.shape[axis] != x2.shape[axis]:
        raise ShapeError(f"axis {axis} has {x1.shape[axis]} and {x2.shape[axis]} elements")
    if x1.dtype not in _EXACT:
        return linalg.vecdot(x1, x2, dim=axis)
    if x1.dtype is torch.bool:
        return (x1 & x2).any(axis)
    product = as_signed(x1) * as_signed(x2)
    return product.sum(axis, dtype=product.dtype).view(x1.dtype)


@worked_around("no kernel for uint16, uint32, uint64; no broadcasting of different numbers of axes")
@_numpy_errors
def cross(x1: Tensor, x2: Tensor, /, *, axis: int) -> Tensor:
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ShapeError(f"a cross product takes 3 elements, not {x1.shape[axis]} and {x2.shape[axis]}")
    if x1.shape != x2.shape:
        x1, x2 = torch.broadcast_tensors(x1, x2)
    return as_dtype(linalg.cross(as_signed(x1), as_signed(x2), dim=axis), x1.dtype)


def diagonal(x: Tensor, /, *, offset: int) -> Tensor:
    return torch.diagonal(x, offset, -2, -1)


@worked_around("no kernel for bool, uint16, uint32, uint64, no inverse of integers")
@_numpy_errors
def matrix_power(x: Tensor, /, *, n: int) -> Tensor:
    _check_square(x)
    if x.dtype not in _EXACT:
        return linalg.matrix_power(x, n)
    if n < 0:
        return linalg.matrix_power(x.to(torch.float64), n)
    # Squares for the bits of n, and the product of those that are set.
    power = torch.eye(x.shape[-1], device=x.device).to(x.dtype).expand(x.shape)
    while n:
        power = matmul(power, x) if n & 1 else power
        x, n = matmul(x, x) if n > 1 else x, n >> 1
    return power.clone()


# -- decompositions and solutions -----------------------------------------------------------------------------------

det = _square(linalg.det)
inv = _square(linalg.inv)


@worked_around("the engine raises for NaN")
@_square
@known_by(
    lambda x, *, upper: None if upper else guarded(linalg.cholesky, functools.partial(_cholesky, upper=False), "finite")
)
def cholesky(x: Tensor, /, *, upper: bool) -> Tensor:
    return _cholesky(x, upper=upper)


def _cholesky(x: Tensor, /, *, upper: bool) -> Tensor:
    try:
        return linalg.cholesky(x, upper=upper)
    except torch.linalg.LinAlgError:
        unknown = torch.isnan(x.triu() if upper else x.tril()).any(-1).any(-1)
        factor, failed = linalg.cholesky_ex(x, upper=upper)
        if bool(((failed != 0) & ~unknown).any()):
            raise
        nan = torch.full_like(x, math.nan)
        found = torch.where(unknown[..., None, None], nan.triu() if upper else nan.tril(), factor)
        # It lies as other factors do, by columns.
        return torch.empty_like(factor).copy_(found)


def _check_finite(x: Tensor) -> None:
    if not are_all_finite(x, unknown=True):
        raise np.linalg.LinAlgError("the matrix must not contain infinite numbers or NaN")


# MKL returns for each matrix, without finite singular values where the matrix isn't finite; other LAPACKs may hang.
_RETURNS = torch.backends.mkl.is_available()


def _of_finite(function: Callable[..., Any], *after: Any, place: int | None = None) -> Callable[[Tensor], Any]:
    """Return a function of matrices, with arguments that come after them, which refuses those that aren't finite.

    Its result, or the one at ``place``, shows whether the matrix is finite: singular values, or a norm.
    """

    def decompose(x: Tensor, *after: Any) -> Any:
        if not _RETURNS or not x.is_cpu:
            _check_finite(x)
        found = function(x, *after)
        shown = found if place is None else found[place]
        # A few numbers of an accelerator are read, where nothing is launched for that.
        if not (is_finite(shown) if x.is_cpu or shown.dim() != 1 else math.isfinite(sum(shown.tolist()))):
            _check_finite(x)
        return found

    return Applied(guarded(function, decompose, "finite"), *after)


@worked_around("LAPACK ends the process for NaN")
@_square
def eig(x: Tensor, /) -> tuple[Tensor, Tensor]:
    _check_finite(x)
    values, vectors = linalg.eig(x)
    return values, vectors


@worked_around("LAPACK ends the process for NaN")
@_square
def eigvals(x: Tensor, /) -> Tensor:
    _check_finite(x)
    return linalg.eigvals(x)


def _check_triangle(x: Tensor) -> None:
    # The upper triangle isn't read.
    if not is_finite(x):
        _check_finite(x.tril())


def _of_triangle(function: Callable[[Tensor], Any]) -> Callable[[Tensor], Any]:
    """Return a function of symmetric matrices, which refuses those that aren't finite."""

    def decompose(x: Tensor) -> Any:
        _check_triangle(x)
        return function(x)

    return guarded(function, decompose, "finite")


@worked_around("the engine has finite values for some matrices with NaN")
@_square
@known_by(lambda x: _of_triangle(linalg.eigvalsh))
def eigvalsh(x: Tensor, /) -> Tensor:
    _check_triangle(x)
    return linalg.eigvalsh(x)


@worked_around("the engine has finite values for some matrices with NaN")
@_square
@known_by(lambda x: _of_triangle(linalg.eigh))
def eigh(x: Tensor, /) -> tuple[Tensor, Tensor]:
    _check_triangle(x)
    values, vectors = linalg.eigh(x)
    return values, vectors


@_square
@known_by(lambda x: linalg.slogdet)
def slogdet(x: Tensor, /) -> tuple[Tensor, Tensor]:
    sign, logarithm = linalg.slogdet(x)
    return sign, logarithm


@_square
@known_by(lambda x1, x2: linalg.solve if x2.ndim == x1.ndim or (x2.ndim == 1 and x1.ndim == 2) else None)
def solve(x1: Tensor, x2: Tensor, /) -> Tensor:
    if x2.ndim == x1.ndim or (x2.ndim == 1 and x1.ndim == 2):
        return linalg.solve(x1, x2)
    if x2.ndim == 1:
        return linalg.solve(x1, x2[:, None]).squeeze(-1)
    # With as many axes as the matrices, a stack of matrices can't be taken for one of vectors.
    return linalg.solve(x1, x2[(None,) * (x1.ndim - x2.ndim)])


@_matrices
@known_by(lambda x, *, mode: Applied(linalg.qr, mode))
def qr(x: Tensor, /, *, mode: str) -> tuple[Tensor, Tensor]:
    q, r = linalg.qr(x, mode)
    return q, r


@_matrices
@known_by(lambda x, *, full_matrices: _of_finite(linalg.svd, full_matrices, place=1))
def svd(x: Tensor, /, *, full_matrices: bool) -> tuple[Tensor, Tensor, Tensor]:
    _check_finite(x)
    u, s, vh = linalg.svd(x, full_matrices)
    return u, s, vh


@_matrices
@known_by(lambda x: _of_finite(linalg.svdvals))
def svdvals(x: Tensor, /) -> Tensor:
    _check_finite(x)
    return linalg.svdvals(x)


@_matrices
def pinv(x: Tensor, /, *, rtol: float | Tensor | None) -> Tensor:
    _check_finite(x)
    return linalg.pinv(x, rtol=rtol)


def matrix_rank(x: Tensor, /, *, rtol: float | Tensor | None) -> Tensor:
    if x.ndim < 2:
        return (x != 0).any().to(torch.int64)
    return _matrix_rank(x, rtol=rtol)


@_matrices
def _matrix_rank(x: Tensor, /, *, rtol: float | Tensor | None) -> Tensor:
    _check_finite(x)
    return linalg.matrix_rank(x, rtol=rtol)


@_square
def expm(x: Tensor, /) -> Tensor:
    return linalg.matrix_exp(x)


# -- norms ----------------------------------------------------------------------------------------------------------


_BY_SVD = ("nuc", 2, -2)


def _know_matrix_norm(x: Tensor, *, keepdims: bool, ord: float | str | None) -> Any:
    return _of_finite(linalg.matrix_norm, ord, (-2, -1), keepdims) if ord in _BY_SVD else None


@_matrices
@known_by(_know_matrix_norm)
def matrix_norm(x: Tensor, /, *, keepdims: bool, ord: float | str | None) -> Tensor:
    if ord in _BY_SVD:
        _check_finite(x)
    return linalg.matrix_norm(x, "fro" if ord is None else ord, keepdim=keepdims)


def _measuring(*, axis: tuple[int, ...], keepdims: bool, ord: float) -> Callable[[Tensor], Tensor]:
    def measuring(x: Tensor, /) -> Tensor:
        if axis and x.numel() and x.dtype in WIDE:
            return linalg.vector_norm(x, ord, axis, keepdims)
        return vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)

    return measuring


def _know_norm(x: Tensor, *, axis: tuple[int, ...], keepdims: bool, ord: float) -> Any:
    if not axis or not x.numel() or x.dtype not in WIDE:
        return None
    if ord == 2 and len(axis) == x.dim() and not keepdims:
        # The call without arguments that the engine supports.
        return linalg.vector_norm
    return Applied(linalg.vector_norm, ord, axis, keepdims)


@known_by(_know_norm)
@bound_by(_measuring)
@_numpy_errors
def vector_norm(x: Tensor, /, *, axis: tuple[int, ...], keepdims: bool, ord: float) -> Tensor:
    if not axis:
        return torch.abs(x) if ord != 0 else (x != 0).to(x.real.dtype)
    if ord != -math.inf and not x.numel() and any(x.shape[i] == 0 for i in axis):
        # The engine refuses reductions without an identity; NumPy starts with 0, whose negative power is infinite.
        return torch.abs(x).sum(axis, keepdims) + (math.inf if ord < 0 else 0.0)
    if ord == 0 and x.is_complex():
        # The engine warns about the imaginary parts.
        return (x != 0).sum(axis, keepdims, dtype=x.real.dtype)
    return linalg.vector_norm(x, ord, axis, keepdims)
