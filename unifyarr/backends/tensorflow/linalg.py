"""Linear algebra on TensorFlow, of the main namespace and of the extension."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernels import fills_gaps, known_by, worked_around
from . import elementwise, statistical
from ._engine import (
    COMPLEX,
    FEW,
    NUMPY_DTYPES,
    EagerTensor,
    broadcast,
    cast,
    direct,
    integer,
    integers,
    is_traced,
    join,
    parts,
    raw,
    reshape,
    scalar,
    select,
    tf,
    truth,
)
from ._extremes import greatest
from ._private import values_of_eager as _values_of
from ._products import cross as cross
from ._products import matmul as matmul
from ._products import vecdot as vecdot
from ._stored import moves

Kernel = Callable[..., Any]


# -- diagonals --------------------------------------------------------------------------------------------------------


@moves()
@worked_around("the engine's raises for an offset beyond the matrix")
def diagonal(x: Any, /, *, offset: int) -> Any:
    *batch, rows, columns = x.shape
    places = np.diagonal(np.arange(rows * columns).reshape(rows, columns), offset)
    return raw.GatherV2(
        params=reshape(x, shape=(*batch, rows * columns)), indices=tf.constant(places), axis=integer(len(batch))
    )


def _adjoint(x: Any) -> Any:
    axes = list(range(x.ndim))
    axes[-2:] = axes[:-3:-1]
    turn = raw.ConjugateTranspose if x.dtype in COMPLEX else raw.Transpose
    return turn(x=x, perm=integers(*axes))


# -- decompositions and inverses --------------------------------------------------------------------------------------


def _checked(kernel: Kernel) -> Kernel:
    """Raise NumPy's error where the engine says that a matrix is singular or not square."""

    @functools.wraps(kernel)
    def raising(*arrays: Any, **arguments: Any) -> Any:
        try:
            return kernel(*arrays, **arguments)
        except tf.errors.InvalidArgumentError as error:
            raise np.linalg.LinAlgError(error.message) from error

    return raising


def _are_finite(x: Any) -> bool:
    values = np.asarray(_values_of(x) if type(x) is EagerTensor else x)
    # Python adds up a few numbers in less time than NumPy looks at them; a sum may overflow.
    if values.size <= FEW and values.dtype.kind == "f" and math.isfinite(sum(values.ravel().tolist())):
        return True
    # The host counts in less time than it reduces.
    return np.count_nonzero(np.isfinite(values)) == values.size


def _all_of_matrix(x: Any) -> Any:
    return raw.All(input=x, axis=integers(x.ndim - 2, x.ndim - 1), keep_dims=True)


def _answered(kernel: Kernel, known: Any, instead: Any, x: Any, *others: Any) -> Any:
    """Answer NaN for matrices that aren't ``known``, where the engine would raise."""
    found = kernel(select(known, x, instead), *others)

    def fill(part: Any) -> Any:
        nan = tf.constant(np.array(math.nan, NUMPY_DTYPES[part.dtype]))
        short = part.ndim < known.ndim
        return select(reshape(known, shape=tuple(known.shape[:-1])) if short else known, part, nan)

    return tuple(map(fill, found)) if isinstance(found, tuple) else fill(found)


def _finite_only(kernel: Kernel) -> Kernel:
    """Raise NumPy's error for NaN and infinities, of which the engine makes something; inside a trace answer NaN."""

    @functools.wraps(kernel)
    def raising(x: Any, /, **arguments: Any) -> Any:
        if is_traced(x):
            finite = _all_of_matrix(raw.IsFinite(x=elementwise.abs(x)))
            return _answered(functools.partial(kernel, **arguments), finite, raw.ZerosLike(x=x), x)
        if not _are_finite(x):
            raise np.linalg.LinAlgError("the decomposition did not converge: the array has NaN or infinity")
        return kernel(x, **arguments)

    return _checked(raising)


def _finite_below(kernel: Kernel) -> Kernel:
    """Do the same for the lower triangle, where the kernel reads no other number."""
    refusing = _finite_only(kernel)

    @functools.wraps(kernel)
    def raising(x: Any, /) -> Any:
        return refusing(raw.MatrixBandPart(input=x, num_lower=integer(-1), num_upper=integer(0)))

    return raising


def _nan_passes(kernel: Kernel) -> Kernel:
    """Answer NaN for a matrix that isn't finite, where the engine raises."""

    def unit(x: Any) -> Any:
        return raw.MatrixSetDiag(input=raw.ZerosLike(x=x), diagonal=raw.OnesLike(x=raw.MatrixDiagPart(input=x)))

    @functools.wraps(kernel)
    def passing(x: Any, /, *others: Any) -> Any:
        if is_traced(x):
            size = elementwise.abs(x)
            return _answered(kernel, _all_of_matrix(raw.Equal(x=size, y=size)), unit(x), x, *others)
        try:
            return kernel(x, *others)
        except tf.errors.InvalidArgumentError:
            finite = _all_of_matrix(raw.IsFinite(x=elementwise.abs(x)))
            return _answered(kernel, finite, unit(x), x, *others)

    return _checked(passing)


def _lower(x: Any) -> Any:
    # The engine reads the lower triangle, and says by a diagonal that isn't positive that the matrix isn't.
    result = raw.Cholesky(x)
    if is_traced(result):
        return result
    diagonal = np.asarray(result).diagonal(0, -2, -1).real
    # Python compares a few numbers in less time than NumPy.
    if all(each > 0 for each in diagonal.ravel().tolist()):
        return result
    if not ((diagonal > 0).all(-1) | np.isnan(np.tril(np.asarray(x))).any((-2, -1))).all():
        raise np.linalg.LinAlgError("the matrix is not positive definite")
    return result


@known_by(lambda x, *, upper: None if upper else _lower)
@_checked
def cholesky(x: Any, /, *, upper: bool) -> Any:
    return _adjoint(_lower(_adjoint(x))) if upper else _lower(x)


@tf.custom_gradient  # type: ignore[untyped-decorator]
def _complex_det(x: Any) -> Any:
    result = raw.MatrixDeterminant(input=x)

    def gradient(upstream: Any) -> Any:
        factor = raw.Mul(x=upstream, y=raw.Conj(input=result))
        return elementwise.multiply(reshape(factor, shape=(*factor.shape, 1, 1)), _adjoint(inv(x)))

    return result, gradient


@known_by(lambda x: direct("MatrixDeterminant"))
@_checked
def _real_det(x: Any, /) -> Any:
    return raw.MatrixDeterminant(x)


# Attributes that derivatives read are passed.
_invert, _solve = direct("MatrixInverse"), direct("MatrixSolve")


def _inverse(x: Any) -> Any:
    return _invert(x, "adjoint", False)


def _solution(x1: Any, x2: Any) -> Any:
    return _solve(x1, x2, "adjoint", False)


@fills_gaps(_real_det, COMPLEX, "the engine's complex gradient is wrong")
@_checked
def det(x: Any, /) -> Any:
    return _complex_det(x)


@_checked
def slogdet(x: Any, /) -> tuple[Any, Any]:
    sign, logarithm = raw.LogMatrixDeterminant(input=x)
    return sign, _real(logarithm)


@known_by(lambda x: _inverse)
@_nan_passes
def inv(x: Any, /) -> Any:
    return raw.MatrixInverse(input=x)


@known_by(lambda x1, x2: _solution if x1.ndim == x2.ndim == 2 else None)
@_nan_passes
def solve(x1: Any, x2: Any, /) -> Any:
    """Solve ``x1 @ x = x2``; only a 1-d ``x2`` is a vector, all others are stacks of matrices."""
    right = reshape(x2, shape=(*x2.shape, 1)) if x2.ndim == 1 else x2
    left = x1
    if not left.ndim == right.ndim == 2:
        batch = np.broadcast_shapes(tuple(x1.shape[:-2]), tuple(right.shape[:-2]))
        left, right = (broadcast(x, shape=(*batch, *x.shape[-2:])) for x in (x1, right))
    result = raw.MatrixSolve(matrix=left, rhs=right)
    return reshape(result, shape=tuple(result.shape[:-1])) if x2.ndim == 1 else result


def _real(x: Any) -> Any:
    return parts(x)[0] if x.dtype in COMPLEX else x


_COMPLEX_OF = {tf.float32: tf.complex64, tf.float64: tf.complex128}


@_finite_only
def eig(x: Any, /) -> tuple[Any, Any]:
    values, vectors = raw.Eig(input=x, compute_v=True, Tout=_COMPLEX_OF.get(x.dtype, x.dtype))
    return values, vectors


@_finite_only
def eigvals(x: Any, /) -> Any:
    return raw.Eig(input=x, compute_v=False, Tout=_COMPLEX_OF.get(x.dtype, x.dtype))[0]


_eigen = direct("SelfAdjointEigV2")


def _eigh_of_real(x: Any) -> Any:
    if not _are_finite(x):
        raise np.linalg.LinAlgError
    return _eigen(x, "compute_v", True)


@known_by(lambda x: None if x.dtype in COMPLEX else _eigh_of_real)
@_finite_below
def eigh(x: Any, /) -> tuple[Any, Any]:
    values, vectors = raw.SelfAdjointEigV2(input=x, compute_v=True)
    return _real(values), vectors


@_finite_below
def eigvalsh(x: Any, /) -> Any:
    return _real(raw.SelfAdjointEigV2(input=x, compute_v=False)[0])


_factors = direct("Qr")


_greatest = np.maximum.reduce


@functools.cache
def _least_and_most(dtype: Any) -> tuple[float, float]:
    # Squares of numbers between these neither overflow nor underflow, nor do sums of a million of them.
    limits = np.finfo(NUMPY_DTYPES[dtype])
    return math.sqrt(limits.tiny) * 2**10, math.sqrt(limits.max) / 2**10


def _is_moderate(x: Any) -> bool:
    values = np.asarray(_values_of(x) if type(x) is EagerTensor else x)
    least, most = _least_and_most(x.dtype)
    if not values.size:
        return True
    sizes = _greatest(np.abs(values if values.dtype.kind == "f" else values.view(values.real.dtype)), (-2, -1))
    return bool(least < sizes < most if sizes.ndim == 0 else least < sizes.min() and sizes.max() < most)


def _by_part(operation: Any, x: Any, number: Any) -> Any:
    return join(*(operation(x=each, y=number) for each in parts(x))) if x.dtype in COMPLEX else operation(x=x, y=number)


def _scale(x: Any) -> Any:
    """Return the greatest part of an element of each matrix that isn't moderate, and 1 for all others."""
    size = raw.Maximum(*map(raw.Abs, parts(x))) if x.dtype in COMPLEX else raw.Abs(x)
    greatest_of = raw.Max(input=size, axis=integers(x.ndim - 2, x.ndim - 1), keep_dims=True)
    least, most = (scalar(each, greatest_of) for each in _least_and_most(x.dtype))
    one = raw.OnesLike(x=greatest_of)
    outside = raw.LogicalOr(x=raw.Less(x=greatest_of, y=least), y=raw.Greater(x=greatest_of, y=most))
    usable = raw.LogicalAnd(x=raw.IsFinite(x=greatest_of), y=truth(greatest_of))
    return raw.StopGradient(input=select(raw.LogicalAnd(x=outside, y=usable), greatest_of, one))


def _factors_of(whole: bool, x: Any) -> tuple[Any, Any]:
    if not is_traced(x) and _is_moderate(x):
        # The engine returns a list.
        q, r = _factors(x, "full_matrices", whole)
        return q, r
    scale = _scale(x)
    q, r = raw.Qr(input=_by_part(raw.RealDiv, x, scale), full_matrices=whole)
    return q, _by_part(raw.Mul, r, scale)


@known_by(lambda x, *, mode: functools.partial(_factors_of, mode == "complete"))
@worked_around("squares of numbers overflow and underflow in the engine's")
@_checked
def qr(x: Any, /, *, mode: str) -> tuple[Any, Any]:
    return _factors_of(mode == "complete", x)


@_finite_only
def _svd(x: Any, /, *, full_matrices: bool) -> tuple[Any, Any, Any]:
    return tuple(raw.Svd(input=x, compute_uv=True, full_matrices=full_matrices))


def _known_svd(x: Any, /, *, full_matrices: bool) -> Kernel | None:
    if x.dtype in COMPLEX:
        return None
    order = integers(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
    return lambda x: _real_svd(x, order, full_matrices)


def _real_svd(x: Any, order: Any, full_matrices: bool) -> tuple[Any, Any, Any]:
    if not _are_finite(x):
        raise np.linalg.LinAlgError
    values, u, v = _decomposed(x, "compute_uv", True, "full_matrices", full_matrices)
    return u, values, _transposed(v, order)


_decomposed, _transposed = direct("Svd"), direct("Transpose")


@known_by(_known_svd)
def svd(x: Any, /, *, full_matrices: bool) -> tuple[Any, Any, Any]:
    values, u, v = _svd(x, full_matrices=full_matrices)
    return u, _real(values), _adjoint(v)


@_finite_only
def svdvals(x: Any, /) -> Any:
    return _real(raw.Svd(input=x, compute_uv=False, full_matrices=False)[0])


def _cutoff(x: Any, values: Any, rtol: Any) -> Any:
    """Return the singular value below which one counts as 0."""
    largest = _largest(values, (values.ndim - 1,), True)
    if rtol is None:
        rtol = max(x.shape[-2:]) * float(np.finfo(NUMPY_DTYPES[x.dtype]).eps)
    if not isinstance(rtol, tf.Tensor):
        return raw.Mul(x=largest, y=scalar(float(rtol), largest))
    rtol = cast(rtol, largest.dtype)
    return elementwise.multiply(largest, reshape(rtol, shape=(*rtol.shape, 1)))


def matrix_rank(x: Any, /, *, rtol: Any) -> Any:
    values = svdvals(x)
    above = elementwise.greater(values, _cutoff(x, values, rtol))
    return statistical.sum(above, axis=(above.ndim - 1,), dtype=np.dtype(np.int64), keepdims=False)


@worked_around("the engine's has no complex")
def pinv(x: Any, /, *, rtol: Any) -> Any:
    if 0 in x.shape:
        return reshape(x, shape=(*x.shape[:-2], x.shape[-1], x.shape[-2]))
    u, values, vh = svd(x, full_matrices=False)
    kept = elementwise.greater(values, _cutoff(x, values, rtol))
    one = raw.OnesLike(x=values)
    inverse = select(kept, raw.Reciprocal(x=select(kept, values, one)), raw.ZerosLike(x=values))
    inverse = cast(inverse, x.dtype) if x.dtype in COMPLEX else inverse
    scaled = elementwise._multiply(_adjoint(vh), reshape(inverse, shape=(*inverse.shape[:-1], 1, inverse.shape[-1])))
    return matmul(scaled, _adjoint(u))


def matrix_power(x: Any, /, *, n: int) -> Any:
    if n < 0:
        x, n = inv(x), -n
    if n == 0:
        unit = tf.constant(np.eye(x.shape[-1], dtype=NUMPY_DTYPES[x.dtype]))
        return broadcast(unit, shape=tuple(x.shape))
    result = None
    while True:
        if n & 1:
            result = x if result is None else matmul(result, x)
        n >>= 1
        if not n:
            return result
        x = matmul(x, x)


# -- norms ------------------------------------------------------------------------------------------------------------


def _sum(x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    return raw.Sum(input=x, axis=integers(*axis), keep_dims=keepdims)


def _squares(x: Any) -> Any:
    if x.dtype not in COMPLEX:
        return raw.Square(x=x)
    real, imag = parts(x)
    return raw.AddV2(x=raw.Square(x=real), y=raw.Square(x=imag))


def matrix_norm(x: Any, /, *, keepdims: bool, ord: float | str | None) -> Any:
    rows, columns = x.ndim - 2, x.ndim - 1
    if ord in (None, "fro"):
        return vector_norm(x, axis=(rows, columns), keepdims=keepdims, ord=2)
    if ord in ("nuc", 2, -2):
        values = svdvals(x)
        reduce = {"nuc": _sum, 2: _largest, -2: _smallest}[ord]
        result = reduce(values, (rows,), False)
    elif ord in (1, -1, math.inf, -math.inf):
        inner, outer = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = _sum(elementwise.abs(x), (inner,), True)
        result = (_largest if ord > 0 else _smallest)(sums, (outer,), True)
    else:
        raise ValueError(f"{ord!r} is no order of a matrix norm")
    shape = tuple(x.shape[:-2])
    return reshape(result, shape=(*shape, 1, 1) if keepdims else shape)


def _largest(x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    """Return the maximum of numbers that aren't negative, 0 where there are none."""
    if 0 in (x.shape[i] for i in axis):
        return _sum(x, axis, keepdims)
    return greatest(x, axis, keepdims)


def _smallest(x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    return statistical.min(x, axis=axis, keepdims=keepdims)


def vector_norm(x: Any, /, *, axis: tuple[int, ...], keepdims: bool, ord: float) -> Any:
    """Return the norm over ``axis``, several of which count as one flattened axis."""
    if ord == 0:
        size = elementwise.abs(x)
        return _sum(cast(truth(x), size.dtype), axis, keepdims)
    if not axis:
        return elementwise.abs(x)
    if ord == 2:
        return raw.Sqrt(x=_sum(_squares(x), axis, keepdims))
    size = elementwise.abs(x)
    if ord in (math.inf, -math.inf):
        return (_largest if ord > 0 else _smallest)(size, axis, keepdims)
    if ord == 1:
        return _sum(size, axis, keepdims)
    total = _sum(raw.Pow(x=size, y=scalar(float(ord), size)), axis, keepdims)
    return raw.Pow(x=total, y=scalar(1 / ord, size))
