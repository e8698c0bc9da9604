"""Products of several matrices, norms as NumPy's, and systems of tensor equations, in the extension ``linalg``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from .._core.arrays.array import Array
from .._core.declaring.declare import compositional
from .._core.values.arguments import as_integers
from .._core.values.shapes import as_axes, broadcast
from ..errors import ShapeError
from .creation import zeros
from .elementwise import divide, isnan, multiply
from .linalg import matmul, narrowed, promoted, widened
from .linalg_extension import inv, matrix_norm, solve, svdvals, vector_norm
from .manipulation import expand_dims, moveaxis, reshape
from .searching import where
from .utility import any

if TYPE_CHECKING:
    from ..typing import Shape


@compositional(namespace="linalg")
def cond(x: Array, /, *, p: float | str | None = None, out: Array | None = None) -> Array:
    """Compute condition numbers: the norm of a matrix times that of its inverse.

    Parameters
    ----------
    x
        An array of shape (..., M, N); square matrices for norms other than 2 and -2.
    p
        The norm, as ``ord`` of ``matrix_norm``; 2 by default.
    out
        An array of shape (...) for the result.

    Returns
    -------
    Array
        A new real array of shape (...), or ``out``; infinite for singular matrices by the norms 2 and -2.

    Raises
    ------
    ShapeError
        If the shape doesn't fit, or there's no element.
    numpy.linalg.LinAlgError
        If a matrix is singular, for other norms than 2 and -2.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.cond(ua.asarray([[2.0, 0.0], [0.0, 4.0]]))
    array(2.)

    Source: NumPy, ``linalg.cond``.
    """
    if x.ndim < 2 or 0 in x.shape[-2:]:
        raise ShapeError(f"cond() takes matrices with elements, of shape (..., M, N), not an array of shape {x.shape}")
    dtype, (x,) = widened(x)
    if p is None or p in (2, -2):
        values = svdvals(x)
        first, last = (0, -1) if p != -2 else (-1, 0)
        found = divide(values[..., first], values[..., last])
    else:
        found = multiply(matrix_norm(x, ord=p), matrix_norm(inv(x), ord=p))
    # Zero divided by zero, of a matrix without NaN.
    otherwise = where(any(isnan(x), axis=(-2, -1)), found, math.inf)
    return narrowed(where(isnan(found), otherwise, found), dtype)


@compositional(namespace="linalg")
def norm(
    x: Array,
    /,
    *,
    ord: float | str | None = None,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    out: Array | None = None,
) -> Array:
    """Compute norms of vectors, or of matrices: of which of them, the axes say.

    Parameters
    ----------
    x
        An array.
    ord
        The order, as that of ``vector_norm`` or ``matrix_norm``. By default the square root of the sum of squares.
    axis
        The axis of vectors, or the two axes of matrices. By default ``x`` is one vector or one matrix; without an order
        it may have any number of dimensions.
    keepdims
        Whether the axes stay, with length one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new real array, or ``out``.

    Raises
    ------
    ShapeError
        If there are neither one nor two axes.
    ValueError
        If there's no such norm.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.norm(ua.asarray([[3.0, 0.0], [0.0, 4.0]])), ua.linalg.norm(ua.asarray([3.0, -4.0]), ord=1)
    (array(5.), array(7.))

    Source: NumPy, ``linalg.norm``.
    """
    if axis is None and (ord is None or (ord == 2 and x.ndim == 1)):
        return vector_norm(x, keepdims=keepdims)
    axes = as_axes(axis, x.ndim)
    if len(axes) == 1:
        if isinstance(ord, str):
            raise ValueError(f"the order of the norm of a vector is a number, not {ord!r}")
        return vector_norm(x, axis=axes, keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) != 2:
        raise ShapeError(f"norm() takes the axis of vectors or the two of matrices, not {axes} of shape {x.shape}")
    found = matrix_norm(moveaxis(x, axes, (-2, -1)), ord=ord)
    return expand_dims(found, axes) if keepdims else found


@compositional(namespace="linalg")
def block_diag(*arrays: Array, out: Array | None = None) -> Array:
    """Put matrices along the diagonal of a larger one, with zeros elsewhere.

    Parameters
    ----------
    *arrays
        Arrays of shapes (..., M, N), whose stacks broadcast; one of fewer than two axes is a row.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``, whose last two lengths are the sums of those of the matrices.

    Raises
    ------
    ShapeError
        If the stacks don't broadcast, or there is no array.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.block_diag(ua.asarray([[1, 2]]), ua.asarray([[3], [4]]))
    array([[1, 2, 0],
           [0, 0, 3],
           [0, 0, 4]])

    Source: SciPy, ``linalg.block_diag``.
    """
    if not arrays:
        raise ShapeError("block_diag() takes one array at least")
    x, *_ = arrays
    blocks = [reshape(each, (1, -1)) if each.ndim < 2 else each for each in promoted(*arrays)]
    stacks = broadcast(*(each.shape[:-2] for each in blocks), name="block_diag")
    ends = [list(accumulate(lengths)) for lengths in zip(*(each.shape[-2:] for each in blocks), strict=True)]
    result = zeros((*stacks, ends[0][-1], ends[1][-1]), dtype=blocks[0].dtype, device=x.device, backend=x._backend.name)
    for block, row, column in zip(blocks, *ends, strict=True):
        rows, columns = block.shape[-2:]
        result[..., row - rows : row, column - columns : column] = block
    return result


@compositional(namespace="linalg")
def multi_dot(arrays: Sequence[Array], /, *, out: Array | None = None) -> Array:
    """Multiply several matrices in the order that takes the fewest multiplications.

    Parameters
    ----------
    arrays
        Two or more arrays: 2-d ones, and the first and the last may be 1-d.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array, the product of all, or ``out``.

    Raises
    ------
    ShapeError
        If there are fewer than two, or the shapes don't fit.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.multi_dot([ua.ones((2, 3)), ua.ones((3, 1)), ua.ones((1, 2))])
    array([[3., 3.],
           [3., 3.]])

    Source: Cormen, Leiserson, Rivest, Stein, "Introduction to algorithms", matrix-chain multiplication; NumPy,
    ``linalg.multi_dot``.
    """
    count = len(arrays)
    if count < 2:
        raise ShapeError(f"multi_dot() takes two arrays or more, not {count}")
    inner = [x.ndim for x in arrays[1:-1]]
    if {*inner} - {2} or {arrays[0].ndim, arrays[-1].ndim} - {1, 2}:
        shapes = ", ".join(str(x.shape) for x in arrays)
        raise ShapeError(f"multi_dot() takes 2-d arrays, of which the first and last may be 1-d, not {shapes}")
    rows = [x.shape[0] if x.ndim == 2 else 1 for x in arrays]
    # A vector at the start is a row, and one at the end a column.
    lengths = [*rows[:1], *(x.shape[0] for x in arrays[1:]), arrays[-1].shape[-1] if arrays[-1].ndim == 2 else 1]
    splits = _cheapest_order(lengths)

    def product(first: int, last: int) -> Array:
        if first == last:
            return arrays[first]
        middle = splits[first, last]
        return matmul(product(first, middle), product(middle + 1, last))

    return product(0, count - 1)


def _cheapest_order(lengths: Sequence[int]) -> dict[tuple[int, int], int]:
    """Return after which factor to split each range of them, the k-th of shape ``(lengths[k], lengths[k + 1])``."""
    count = len(lengths) - 1
    cost = {(place, place): 0 for place in range(count)}
    splits = {}
    for width in range(1, count):
        for first in range(count - width):
            last = first + width
            cost[first, last], splits[first, last] = min(
                (
                    cost[first, middle]
                    + cost[middle + 1, last]
                    + lengths[first] * lengths[middle + 1] * lengths[last + 1],
                    middle,
                )
                for middle in range(first, last)
            )
    return splits


@compositional(namespace="linalg")
def tensorinv(x: Array, /, ind: int = 2, *, out: Array | None = None) -> Array:
    """Compute the inverse for ``tensordot``: ``tensordot(tensorinv(x), x, axes=ind)`` is the identity.

    Parameters
    ----------
    x
        An array whose first ``ind`` axes have as many elements as the others.
    ind
        How many of the axes come first; positive.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape ``x.shape[ind:] + x.shape[:ind]``, or ``out``.

    Raises
    ------
    ShapeError
        If the shape doesn't fit.
    ValueError
        If ``ind`` isn't positive.
    numpy.linalg.LinAlgError
        If the matrix that ``x`` stands for is singular.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.tensorinv(ua.reshape(ua.eye(4), (4, 2, 2)), ind=1).shape
    (2, 2, 4)

    Source: NumPy, ``linalg.tensorinv``.
    """
    if ind <= 0:
        raise ValueError(f"ind of tensorinv() is positive, unlike {ind}")
    before, after = x.shape[:ind], x.shape[ind:]
    _check_square(before, after, "tensorinv")
    return reshape(inv(reshape(x, (math.prod(before), math.prod(after)))), after + before)


@compositional(namespace="linalg")
def tensorsolve(a: Array, b: Array, /, *, axes: int | tuple[int, ...] | None = None, out: Array | None = None) -> Array:
    """Solve ``tensordot(a, x, axes=x.ndim) == b``.

    Parameters
    ----------
    a
        An array of shape ``b.shape + s``, where ``s`` has as many elements as ``b``.
    b
        An array of any shape.
    axes
        Axes of ``a`` to move to its end before.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape ``s``, or ``out``.

    Raises
    ------
    ShapeError
        If the shapes don't fit.
    numpy.linalg.LinAlgError
        If the matrix that ``a`` stands for is singular.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.tensorsolve(ua.reshape(ua.eye(4), (4, 2, 2)), ua.asarray([1.0, 2.0, 3.0, 4.0]))
    array([[1., 2.],
           [3., 4.]])

    Source: NumPy, ``linalg.tensorsolve``.
    """
    if axes is not None:
        moved = as_integers(axes, "axes")
        a = moveaxis(a, moved, tuple(range(-len(moved), 0)))
    before, after = a.shape[: b.ndim], a.shape[b.ndim :]
    _check_square(before, after, "tensorsolve")
    if math.prod(before) != b.size:
        raise ShapeError(f"tensorsolve() takes an a of shape b.shape + s, but a has {a.shape} and b {b.shape}")
    return reshape(solve(reshape(a, (b.size, b.size)), reshape(b, (-1,))), after)


def _check_square(before: Shape, after: Shape, name: str) -> None:
    if math.prod(before) != math.prod(after):
        raise ShapeError(f"{name}() takes axes of as many elements on both sides, not of shapes {before} and {after}")
