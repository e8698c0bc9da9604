"""Products of all elements of two arrays: convolution, the Kronecker product, inner and outer products."""

from __future__ import annotations

from .._core.arrays.array import Array
from .._core.arrays.scratch import room
from .._core.calling.invoke import attempt
from .._core.declaring.declare import compositional, mixed
from .._core.engines import dtypes
from ..errors import ShapeError
from .creation import zeros_like
from .elementwise import multiply
from .linalg import narrowed, promoted, tensordot, widened
from .manipulation import concat, reshape
from .statistical import sum
from .utility import any

MODES = ("full", "same", "valid")
# The most products that are in memory at a time.
BLOCK = 2**22


def check_mode(mode: str) -> None:
    """Raise unless there's such a mode of a convolution."""
    if mode not in MODES:
        raise ValueError(f"mode is one of {', '.join(MODES)}, not {mode!r}")


@mixed()
def convolve(x1: Array, x2: Array, /, mode: str = "full", *, out: Array | None = None) -> Array:
    """Convolve two vectors: sum the products of elements whose positions have the same sum.

    Parameters
    ----------
    x1, x2
        1-d arrays of lengths M and N, of one element at least.
    mode
        Which sums: ``"full"``, all of them; ``"same"``, as many as the longer vector has, from the middle; ``"valid"``,
        those that take all elements of the shorter vector.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the dtype that the two promote to, of length M + N - 1, max(M, N) or max(M, N) - min(M, N) + 1;
        or ``out``.

    Raises
    ------
    ShapeError
        If they aren't 1-d, or one of them is empty.
    ValueError
        If there's no such mode.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.convolve(ua.asarray([1, 2, 3]), ua.asarray([0, 1, 10]))
    array([ 0,  1, 12, 23, 30])

    Source: values as NumPy's ``convolve``.
    """
    if x1.ndim != 1 or x2.ndim != 1 or not x1.size or not x2.size:
        raise ShapeError(f"convolve() takes two 1-d arrays with elements, not of shapes {x1.shape} and {x2.shape}")
    check_mode(mode)
    longer, shorter = promoted(*((x1, x2) if x1.size >= x2.size else (x2, x1)))
    rest = shorter.size - 1
    start, length = {
        "full": (0, longer.size + rest),
        "same": (rest // 2, longer.size),
        "valid": (rest, longer.size - rest),
    }[mode]
    static = {"start": start, "length": length}
    found = attempt("convolve", longer, shorter, out=out, result=((length,), longer.dtype), **static)
    return found if found is not None else _convolved(longer, shorter)[start : start + length].copy()


def _convolved(longer: Array, shorter: Array) -> Array:
    dtype = longer.dtype
    if dtypes.rank(dtype) > 1:
        _, (longer, shorter) = widened(longer, shorter)
    step = max(1, min(BLOCK // (longer.size + shorter.size), longer.size))
    if step >= shorter.size:
        return narrowed(_shifted(longer, shorter), dtype)
    total = zeros_like(concat([longer, shorter[1:]]))
    for start in range(0, shorter.size, step):
        part = _shifted(longer, shorter[start : start + step])
        if dtype == dtypes.bool:
            total[start : start + part.size] |= part
        else:
            total[start : start + part.size] += part
    return narrowed(total, dtype)


def _shifted(longer: Array, shorter: Array) -> Array:
    # A row of products for each element of the shorter vector, followed by as many zeros as there are rows. Read as
    # rows that are shorter by one, each row is shifted one place to the right of the one before.
    rows = shorter.size
    products = shorter[:, None] * longer
    spaced = reshape(concat([products, zeros_like(products[:, :rows])], axis=1), (-1,))
    shifted = reshape(spaced[:-rows], (rows, longer.size + rows - 1))
    return any(shifted, axis=0) if shifted.dtype == dtypes.bool else sum(shifted, axis=0, dtype=shifted.dtype)


@compositional(scratch=True)
def kron(x1: Array, x2: Array, /, *, out: Array | None = None) -> Array:
    """Compute the Kronecker product: put the second array, times each element of the first, in that element's place.

    Parameters
    ----------
    x1, x2
        Arrays; the one of fewer dimensions gets more of length one in front.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array whose lengths are the products of those of ``x1`` and ``x2``, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.kron(ua.asarray([[1, 0], [0, 2]]), ua.asarray([[1, 1]]))
    array([[1, 1, 0, 0],
           [0, 0, 2, 2]])

    Source: Van Loan, "The ubiquitous Kronecker product" (2000); values as NumPy's ``kron``.
    """
    ndim = max(x1.ndim, x2.ndim)
    first, second = ((1,) * (ndim - x.ndim) + x.shape for x in (x1, x2))
    shape = tuple(one * other for one, other in zip(first, second, strict=True))
    apart = tuple(length for pair in zip(first, second, strict=True) for length in pair)
    left = reshape(x1, tuple(length for one in first for length in (one, 1)))
    right = reshape(x2, tuple(length for other in second for length in (1, other)))
    target = room(out, shape, dtypes.promote(x1.dtype, x2.dtype), x1, x2)
    if target is None:
        return reshape(multiply(left, right), shape)
    # An axis split into two is a view in any layout.
    multiply(left, right, out=reshape(target, apart, copy=False))
    return target


@compositional()
def inner(x1: Array, x2: Array, /, *, out: Array | None = None) -> Array:
    """Sum the products along the last axes of two arrays, each vector of one with each of the other.

    Parameters
    ----------
    x1, x2
        Arrays with last axes of one length, or one of them 0-d: then the result is the product.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape ``x1.shape[:-1] + x2.shape[:-1]``, or ``out``; nothing is conjugated.

    Raises
    ------
    ShapeError
        If the last axes have different lengths.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.inner(ua.asarray([1, 2]), ua.asarray([[3, 4], [5, 6]]))
    array([11, 17])

    Source: NumPy, ``inner``.
    """
    if not x1.ndim or not x2.ndim:
        return multiply(x1, x2, out=out)
    if x1.shape[-1] != x2.shape[-1]:
        raise ShapeError(f"inner() takes last axes of one length, not those of shapes {x1.shape} and {x2.shape}")
    return tensordot(x1, x2, axes=((-1,), (-1,)), out=out)


@compositional()
def outer(x1: Array, x2: Array, /, *, out: Array | None = None) -> Array:
    """Multiply each element of one array by each of another; ``linalg.outer`` takes 1-d arrays only.

    Parameters
    ----------
    x1, x2
        Arrays of M and N elements, taken in C order.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape (M, N), or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.outer(ua.asarray([1, 2]), ua.asarray([[3], [4]]))
    array([[3, 4],
           [6, 8]])

    Source: NumPy, ``outer``.
    """
    return multiply(reshape(x1, (-1, 1)), reshape(x2, (1, -1)), out=out)
