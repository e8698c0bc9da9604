"""Linear algebra on NumPy, of the main namespace and of the extension."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..base.single import Core
from ..guards import guarded
from ..kernels import Applied, known_by, state, support_native_out
from ..private import private
from . import _direct as np
from ._bfloat16 import BFLOAT16

# By name, what NumPy's functions of one matrix call after their checks: in double precision, whatever they're given.
_CORES: dict[str, Any] = {
    name: private(f"numpy.linalg._umath_linalg.{name}")
    for name in ("cholesky_lo", "cholesky_up", "det", "inv", "solve", "solve1")
}


def _core(name: str, *types: Any, refuses: bool = True) -> Core | None:
    is_double = {each.dtype.char for each in types} in ({"d"}, {"D"})
    return Core(_CORES[name], refuses) if is_double and _CORES[name] is not None else None


@support_native_out
def matmul(x1: np.ndarray, x2: np.ndarray, /, *, out: Any = ...) -> np.ndarray:
    if x1.dtype == BFLOAT16:
        # ml_dtypes multiplies in float32 and leaves it there.
        return np.matmul(x1, x2, out=...).astype(BFLOAT16)
    return np.matmul(x1, x2, out=out)


_product: Any = partial(np.matmul, out=...)
_product.with_axes = np.matmul
state(matmul, gaps=frozenset({BFLOAT16}), outside_gaps=_product, core=lambda x1, x2: Core(np.matmul))


@support_native_out
def vecdot(x1: np.ndarray, x2: np.ndarray, /, *, axis: int, out: Any = ...) -> np.ndarray:
    """Sum ``conj(x1) * x2`` over ``axis``, which counts in the broadcast shape of both."""
    ndim = max(x1.ndim, x2.ndim)
    if x1.dtype == BFLOAT16:
        return np.vecdot(x1, x2, axis=axis - ndim, out=...).astype(BFLOAT16)  # type: ignore[call-overload]
    return np.vecdot(x1, x2, axis=axis - ndim, out=out)  # type: ignore[call-overload]


state(vecdot, core=lambda x1, x2, *, axis: Core(np.vecdot) if len(x1.shape) == 1 == len(x2.shape) else None)


@known_by(lambda x, *, upper: None if upper else np.linalg.cholesky)
def cholesky(x: np.ndarray, /, *, upper: bool) -> np.ndarray:
    return np.linalg.cholesky(x, upper=upper)


state(cholesky, core=lambda x, *, upper: _core("cholesky_up" if upper else "cholesky_lo", x))


def cross(x1: np.ndarray, x2: np.ndarray, /, *, axis: int) -> np.ndarray:
    """Return the cross product along ``axis`` (negative: it counts from the end), where both have 3 elements."""
    return np.linalg.cross(x1, x2, axis=axis)


_det = np.linalg.det


def det(x: np.ndarray, /) -> np.ndarray:
    # For one matrix it's a scalar, whose own method is the fastest way to an array.
    return _det(x).__array__()


state(det, core=lambda x: _core("det", x, refuses=False))


def diagonal(x: np.ndarray, /, *, offset: int) -> np.ndarray:
    return np.linalg.diagonal(x, offset=offset)


def _check_finite(x: np.ndarray) -> None:
    # For some infinite matrices LAPACK never returns. Counting takes less time than a reduction.
    if np.count_nonzero(np.isfinite(x)) != x.size:
        raise np.linalg.LinAlgError("the decomposition did not converge: the array has NaN or infinity")


def _of_finite(function: Callable[..., Any], *after: Any) -> Callable[[np.ndarray], Any]:
    """Return a function of matrices, with arguments that come after them, which refuses those that aren't finite."""
    count, isfinite = np.count_nonzero, np.isfinite

    def decompose(x: np.ndarray, *after: Any) -> Any:
        if count(isfinite(x)) != x.size:
            raise np.linalg.LinAlgError
        return function(x, *after)

    return Applied(guarded(function, decompose, "finite"), *after)


def _check_triangle(x: np.ndarray) -> None:
    # The upper triangle isn't read.
    if np.count_nonzero(np.isfinite(x)) != x.size:
        _check_finite(np.tril(x))


def eig(x: np.ndarray, /) -> tuple[np.ndarray, np.ndarray]:
    values, vectors = np.linalg.eig(x)
    dtype = np.result_type(x.dtype, np.complex64)
    return values.astype(dtype, copy=False), vectors.astype(dtype, copy=False)


@known_by(lambda x: _of_finite(np.linalg.eigh))
def eigh(x: np.ndarray, /) -> tuple[np.ndarray, np.ndarray]:
    _check_triangle(x)
    return tuple(np.linalg.eigh(x))  # type: ignore[return-value]


def eigvals(x: np.ndarray, /) -> np.ndarray:
    return np.linalg.eigvals(x).astype(np.result_type(x.dtype, np.complex64), copy=False)


@known_by(lambda x: _of_finite(np.linalg.eigvalsh))
def eigvalsh(x: np.ndarray, /) -> np.ndarray:
    _check_triangle(x)
    return np.linalg.eigvalsh(x)


@known_by(lambda x: np.linalg.inv)
def inv(x: np.ndarray, /) -> np.ndarray:
    return np.linalg.inv(x)


state(inv, core=lambda x: _core("inv", x))

_FROBENIUS = (None, "fro")


def _root_of_squares(x: np.ndarray, axis: tuple[int, ...], keepdims: bool) -> np.ndarray:
    if len(axis) == x.ndim and not keepdims:
        flat = x.ravel("K")
        return np.sqrt(flat.dot(flat), out=...)
    total = np.add.reduce(np.multiply(x, x), axis, None, out=..., keepdims=keepdims)
    return np.sqrt(total, out=total)


def matrix_norm(x: np.ndarray, /, *, keepdims: bool, ord: float | str | None) -> np.ndarray:
    if ord in ("nuc", 2, -2):
        _check_finite(x)
    if ord in _FROBENIUS and x.dtype.char in "fd" and x.ndim > 1:
        return _root_of_squares(x, (-2, -1), keepdims)
    return np.asarray(np.linalg.matrix_norm(x, keepdims=keepdims, ord=ord))  # type: ignore[arg-type]


def matrix_power(x: np.ndarray, /, *, n: int) -> np.ndarray:
    return np.linalg.matrix_power(x, n)


def matrix_rank(x: np.ndarray, /, *, rtol: float | np.ndarray | None) -> np.ndarray:
    if x.ndim > 1:
        _check_finite(x)
    return np.asarray(np.linalg.matrix_rank(x, rtol=rtol))


@known_by(lambda x, *, rtol: _of_finite(np.linalg.pinv) if rtol is None else None)
def pinv(x: np.ndarray, /, *, rtol: float | np.ndarray | None) -> np.ndarray:
    _check_finite(x)
    return np.linalg.pinv(x, rtol=rtol)  # type: ignore[arg-type]


@known_by(lambda x, *, mode: Applied(np.linalg.qr, mode))
def qr(x: np.ndarray, /, *, mode: str) -> tuple[np.ndarray, np.ndarray]:
    return tuple(np.linalg.qr(x, mode=mode))  # type: ignore[call-overload]


def slogdet(x: np.ndarray, /) -> tuple[np.ndarray, np.ndarray]:
    sign, logabsdet = np.linalg.slogdet(x)
    return np.asarray(sign), np.asarray(logabsdet)


@known_by(lambda x1, x2: np.linalg.solve)
def solve(x1: np.ndarray, x2: np.ndarray, /) -> np.ndarray:
    """Solve ``x1 @ x = x2``; only a 1-d ``x2`` is a vector, all others are stacks of matrices."""
    return np.linalg.solve(x1, x2)


state(solve, core=lambda x1, x2: _core("solve1" if len(x2.shape) == 1 else "solve", x1, x2))


@known_by(lambda x, *, full_matrices: _of_finite(np.linalg.svd, full_matrices))
def svd(x: np.ndarray, /, *, full_matrices: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    _check_finite(x)
    return tuple(np.linalg.svd(x, full_matrices=full_matrices))  # type: ignore[return-value]


@known_by(lambda x: _of_finite(np.linalg.svdvals))
def svdvals(x: np.ndarray, /) -> np.ndarray:
    _check_finite(x)
    return np.linalg.svdvals(x)


def _know_norm(x: np.ndarray, *, axis: tuple[int, ...], keepdims: bool, ord: float) -> Any:
    if ord != 2 or x.dtype.char not in "fd" or keepdims or x.ndim != 1 or axis != (0,):
        return None

    def measure(x: np.ndarray, /) -> np.ndarray:
        flat = x.ravel("K")
        return np.sqrt(flat.dot(flat), out=...)

    return measure


@known_by(_know_norm)
def vector_norm(x: np.ndarray, /, *, axis: tuple[int, ...], keepdims: bool, ord: float) -> np.ndarray:
    """Return the norm over ``axis``, several of which count as one flattened axis."""
    if not axis:
        return np.abs(x, out=...) if ord != 0 else np.asarray(x != 0).astype(np.abs(x).dtype)
    if ord == 2 and x.dtype.char in "fd":
        return _root_of_squares(x, axis, keepdims)
    return np.asarray(np.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord))
