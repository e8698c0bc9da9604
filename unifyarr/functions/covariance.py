"""Covariances and correlations of variables."""

from __future__ import annotations

from .._core.arrays.array import Array
from .._core.arrays.convert import as_floating, as_single
from .._core.arrays.scratch import reuse
from .._core.declaring.declare import compositional
from .._core.engines import dtypes
from ..errors import DtypeError, ShapeError
from ._quantiles import known_values
from .elementwise import abs, clip, conj, divide, maximum, multiply, sqrt, subtract
from .linalg import matmul
from .manipulation import concat, reshape
from .nan_reductions import per_number, squared_magnitude
from .statistical import max, mean, min, sum


def _variables(x: Array, y: Array | None, rowvar: bool, name: str) -> Array:
    """Return the variables as rows, in float32 if they have half precision."""
    rows = []
    for each in (x, y):
        if each is None:
            continue
        if each.ndim > 2:
            raise ShapeError(f"{name}() takes variables in arrays of two dimensions at most, not of shape {each.shape}")
        row = each.T if each.ndim == 2 and not rowvar else each
        rows.append(row if row.ndim == 2 else reshape(row, (1, -1) if row.size else (1, 0)))
    if len({row.shape[1] for row in rows}) > 1:
        counts = " and y ".join(str(row.shape[1]) for row in rows)
        raise ShapeError(f"{name}() takes as many observations of each variable, but x has {counts}")
    return as_single(as_floating(rows[0] if len(rows) == 1 else concat(rows)))


def _weights(given: Array | None, count: int, kinds: tuple[int, ...], name: str) -> Array | None:
    if given is None:
        return None
    if dtypes.rank(given.dtype) not in kinds:
        wanted = "integers" if kinds == (1,) else "real numbers"
        raise DtypeError(f"{name} of cov() are {wanted}, not {given.dtype}")
    if given.shape != (count,):
        raise ShapeError(f"{name} of cov() have shape {(count,)}, one for each observation, not {given.shape}")
    least = known_values(min(given)) if count else None
    if least is not None and least[0] < 0:
        raise ValueError(f"{name} of cov() aren't negative, unlike {least[0]}")
    return given


def _result(matrix: Array, x: Array, y: Array | None) -> Array:
    # For one variable the result is its variance, a 0-d array.
    given = x.dtype if y is None else dtypes.promote(x.dtype, y.dtype)
    dtype = given if dtypes.rank(given) > 1 else matrix.dtype
    return (reshape(matrix, ()) if matrix.shape == (1, 1) else matrix).astype(dtype, copy=False)


@compositional()
def corrcoef(x: Array, y: Array | None = None, /, *, rowvar: bool = True, out: Array | None = None) -> Array:
    """Return the correlation coefficients of variables.

    Nothing overflows on the way: each variable is scaled first.

    Parameters
    ----------
    x
        An array of at most two dimensions, whose rows are variables and whose columns are observations.
    y
        Further variables, in the same manner.
    rowvar
        Whether the variables are rows; otherwise they are columns. An array of one dimension is one variable.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new floating-point array of shape ``(n, n)`` for ``n`` variables, 0-d for one, or ``out``; NaN where a
        variable is constant. Bools and integers are taken as float64, other dtypes keep theirs.

    Raises
    ------
    ShapeError
        If there are more than two dimensions, or other numbers of observations.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.corrcoef(ua.asarray([[0.0, 1.0, 2.0], [5.0, 3.0, 1.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])

    Source: Pearson, "Note on regression and inheritance in the case of two parents" (1895).
    """
    rows = _variables(x, y, rowvar, "corrcoef")
    if rows.shape[1]:
        rows = per_number(rows.copy(), max(abs(rows), axis=1, keepdims=True))
    deviation = subtract(rows, mean(rows, axis=1, keepdims=True))
    unit = per_number(deviation, sqrt(sum(squared_magnitude(deviation), axis=1, keepdims=True)))
    result = _limited(matmul(unit, _conjugate(unit)))
    return _result(result, x, y)


def _conjugate(x: Array) -> Array:
    # The product of a real matrix and its own transpose takes half of the time.
    return conj(x).T if dtypes.rank(x.dtype) == 3 else x.T


def _limited(x: Array) -> Array:
    # Rounding may leave [-1, 1] by a bit.
    if dtypes.rank(x.dtype) < 3:
        return clip(x, -1.0, 1.0)
    size = abs(x)
    return divide(x, maximum(size, 1.0).astype(x.dtype))


@compositional()
def cov(
    x: Array,
    y: Array | None = None,
    /,
    *,
    rowvar: bool = True,
    correction: float = 1,
    fweights: Array | None = None,
    aweights: Array | None = None,
    out: Array | None = None,
) -> Array:
    """Estimate the covariances of variables.

    Parameters
    ----------
    x
        An array of at most two dimensions, whose rows are variables and whose columns are observations.
    y
        Further variables, in the same manner.
    rowvar
        Whether the variables are rows; otherwise they are columns. An array of one dimension is one variable.
    correction
        What is taken off the number of observations in the divisor: 1 for an unbiased estimate, 0 for the average.
    fweights
        A 1-d array of integers: how often each observation occurred.
    aweights
        A 1-d array of real numbers: how much each observation weighs.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new floating-point array of shape ``(n, n)`` for ``n`` variables, 0-d for one, or ``out``. Bools and integers
        are taken as float64, other dtypes keep theirs, and halves are computed in float32.

    Raises
    ------
    ShapeError
        If there are more than two dimensions, or other numbers of observations or weights.
    DtypeError
        If ``fweights`` aren't integers, or ``aweights`` are complex.
    ValueError
        If a weight is negative.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.cov(ua.asarray([[0.0, 1.0, 2.0], [5.0, 3.0, 1.0]]))
    array([[ 1., -2.],
           [-2.,  4.]])

    Source: NumPy, ``cov``.
    """
    rows = _variables(x, y, rowvar, "cov")
    count = rows.shape[1]
    often = _weights(fweights, count, (1,), "fweights")
    heavy = _weights(aweights, count, (0, 1, 2), "aweights")
    real_dtype = dtypes.real_of(rows.dtype)
    parts = [each.astype(real_dtype) for each in (often, heavy) if each is not None]
    if not parts:
        deviation = weighted = subtract(rows, mean(rows, axis=1, keepdims=True))
        product = matmul(weighted, _conjugate(deviation))
        divisor: Array | float = count - correction if count > correction else 0.0
    else:
        weights = parts[0] if len(parts) == 1 else multiply(*parts)
        total = sum(weights)
        center = divide(sum(multiply(rows, weights), axis=1, keepdims=True), total)
        deviation = subtract(rows, center)
        product = matmul(multiply(deviation, weights), _conjugate(deviation))
        # For weights that aren't counts the correction is multiplied by the average weight.
        share = 1.0 if heavy is None else divide(sum(multiply(weights, parts[-1])), total)
        divisor = maximum(subtract(total, multiply(share, correction)), 0.0)
    result = divide(product, divisor, out=reuse(product))
    return _result(result, x, y)
