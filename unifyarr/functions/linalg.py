"""Linear algebra of the main namespace, and helpers of the ``linalg`` modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.arrays.array import Array
from .._core.arrays.recipes import make_view
from .._core.arrays.views import Diagonal, Window
from .._core.calling.invoke import invoke
from .._core.declaring.declare import compositional, primary, view
from .._core.engines import dtypes
from .._core.values.lengths import equal_as_known
from .._core.values.shapes import as_axes, as_axis, as_offset, broadcast, reduced, size
from ..errors import AxisError, ShapeError
from .manipulation import permute_dims, reshape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.engines.dtypes import DType


def promoted(*arrays: Array) -> tuple[Array, ...]:
    """Return arrays cast to the dtype that all of them promote to."""
    found = [x.dtype for x in arrays]
    if found.count(found[0]) == len(found):
        return arrays
    dtype = dtypes.promote(*found)
    return tuple([x.astype(dtype, copy=False) for x in arrays])


def widened(*arrays: Array) -> tuple[DType, tuple[Array, ...]]:
    """Return the dtype that arrays promote to, and the arrays in a precision that engines compute in."""
    dtype = dtypes.promote(*(x.dtype for x in arrays))
    working = dtypes.float64 if dtypes.rank(dtype) < 2 else dtypes.single_of(dtype)
    return dtype, tuple(x.astype(working, copy=False) for x in arrays)


def narrowed(result: Array, dtype: DType) -> Array:
    """Return a result, a floating-point one of what ``widened`` made of half precision in that again."""
    return result.astype(dtype) if dtype in dtypes.HALVES and result.dtype == dtypes.float32 else result


def check_matrix(name: str, x: Array, *, square: bool = False) -> None:
    """Raise a ``ShapeError`` unless an array holds matrices."""
    if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        kind = "square matrices, of shape (..., M, M)" if square else "matrices, of shape (..., M, N)"
        raise ShapeError(f"{name}() takes {kind}, not an array of shape {x.shape}")


@primary()
def matmul(x1: Array, x2: Array, /, *, out: Array | None = None) -> Array:
    """Multiply matrices.

    Parameters
    ----------
    x1
        An array of shape (..., M, K), or (K,): a row, whose axis the result doesn't have.
    x2
        An array of shape (..., K, N), or (K,): a column, whose axis the result doesn't have. Leading axes broadcast.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape (..., M, N), or ``out``.

    Raises
    ------
    ShapeError
        If an operand is 0-d, or the shapes don't fit.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.matmul(ua.asarray([[1, 2], [3, 4]]), ua.asarray([1, 1]))
    array([3, 7])

    Source: Array API standard 2025.12, ``matmul``.
    """
    first, second = x1.shape, x2.shape
    if not first or not second or not equal_as_known(first[-1:], second[-2:][:1]):
        raise ShapeError(f"matmul() takes shapes (..., M, K) and (..., K, N), not {first} and {second}")
    leading = broadcast(first[:-2], second[:-2], name="matmul")
    shape = leading + first[-2:-1] + (second[-1:] if len(second) > 1 else ())
    x1, x2 = promoted(x1, x2)
    return invoke("matmul", x1, x2, out=out, result=(shape, x1.dtype))


@view()
def matrix_transpose(x: Array, /, *, out: Array | None = None) -> Array:
    """Swap the last two axes.

    Parameters
    ----------
    x
        An array of shape (..., M, N).
    out
        An array of shape (..., N, M) for a copy.

    Returns
    -------
    Array
        A view of shape (..., N, M), or ``out``.

    Raises
    ------
    ShapeError
        If there are fewer than two dimensions.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.matrix_transpose(ua.zeros((2, 3))).shape
    (3, 2)

    Source: Array API standard 2025.12, ``matrix_transpose``.
    """
    if x.ndim < 2:
        raise ShapeError(
            f"matrix_transpose() takes matrices, of two dimensions or more, not an array of shape {x.shape}"
        )
    order = list(range(x.ndim))
    order[-2:] = order[-1], order[-2]
    return make_view(x, Window.of_order(x.shape, order))


@compositional()
def tensordot(
    x1: Array, x2: Array, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2, out: Array | None = None
) -> Array:
    """Multiply and sum over axes of two arrays.

    Parameters
    ----------
    x1, x2
        Arrays.
    axes
        How many of the last axes of ``x1`` go with the first of ``x2``; or two sequences that name them.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array with the other axes of ``x1``, then those of ``x2``; or ``out``.

    Raises
    ------
    ShapeError
        If the axes that go together differ in length.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.tensordot(ua.asarray([[1, 2], [3, 4]]), ua.asarray([1, 1]), axes=1)
    array([3, 7])

    Source: Array API standard 2025.12, ``tensordot``.
    """
    first, second = _contracted(axes, x1.ndim, x2.ndim)
    lengths = [x1.shape[axis] for axis in first]
    if lengths != [x2.shape[axis] for axis in second]:
        raise ShapeError(f"tensordot() of shapes {x1.shape} and {x2.shape} over axes {axes!r}: their lengths differ")
    free1 = [axis for axis in range(x1.ndim) if axis not in first]
    free2 = [axis for axis in range(x2.ndim) if axis not in second]
    shape = tuple(x1.shape[axis] for axis in free1) + tuple(x2.shape[axis] for axis in free2)
    rows, inner, columns = (
        size(tuple(x1.shape[axis] for axis in free1)),
        size(tuple(lengths)),
        size(shape[len(free1) :]),
    )
    left = _as_matrix(x1, (*free1, *first), (rows, inner))
    right = _as_matrix(x2, (*second, *free2), (inner, columns))
    product = matmul(left, right)
    return product if product.shape == shape else reshape(product, shape)


def _as_matrix(x: Array, axes: tuple[int, ...], shape: tuple[int, int]) -> Array:
    # Mostly the axes are in this order, and two: a view that shows the same would cost a call.
    ordered = x if axes == tuple(range(x.ndim)) else permute_dims(x, axes)
    return ordered if ordered.shape == shape else reshape(ordered, shape)


def _contracted(axes: Any, ndim1: int, ndim2: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if isinstance(axes, (int, np.integer)):
        if not 0 <= axes <= min(ndim1, ndim2):
            raise AxisError(f"tensordot() can't sum over {axes} axes of arrays of {ndim1} and {ndim2} dimensions")
        return tuple(range(ndim1 - int(axes), ndim1)), tuple(range(int(axes)))
    first, second = (as_axes(each, ndim) for each, ndim in zip(axes, (ndim1, ndim2), strict=True))
    if len(first) != len(second):
        raise AxisError(f"tensordot() sums over as many axes of both arrays, not {axes!r}")
    return first, second


@primary()
def vecdot(x1: Array, x2: Array, /, *, axis: int = -1, out: Array | None = None) -> Array:
    """Compute the dot product of vectors, the first one conjugated.

    Parameters
    ----------
    x1, x2
        Arrays of one length along ``axis``; their other axes broadcast.
    axis
        The axis of the vectors; a negative one counts from the end, as it should for arrays of different ranks.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array without the axis, or ``out``.

    Raises
    ------
    ShapeError
        If the vectors differ in length.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.vecdot(ua.asarray([1, 2]), ua.asarray([3, 4]))
    array(11)

    Source: Array API standard 2025.12, ``vecdot``.
    """
    if x1.ndim == 0 or x2.ndim == 0:
        raise ShapeError(f"vecdot() takes arrays of at least one dimension, not of shapes {x1.shape} and {x2.shape}")
    ndim = max(x1.ndim, x2.ndim)
    axis = as_axis(axis, min(x1.ndim, x2.ndim) if axis < 0 else ndim) - (min(x1.ndim, x2.ndim) if axis < 0 else ndim)
    if not equal_as_known(x1.shape[axis:][:1], x2.shape[axis:][:1]):
        raise ShapeError(
            f"vecdot() of shapes {x1.shape} and {x2.shape}: the vectors along axis {axis} differ in length"
        )
    shape = reduced(broadcast(x1.shape, x2.shape, name="vecdot"), (axis + ndim,), keepdims=False)
    x1, x2 = promoted(x1, x2)
    return invoke("vecdot", x1, x2, axis=axis + ndim, out=out, result=(shape, x1.dtype))


@view(namespace="linalg")
def diagonal(x: Array, /, *, offset: int = 0, out: Array | None = None) -> Array:
    """Return the diagonals of matrices.

    Parameters
    ----------
    x
        An array of shape (..., M, N).
    offset
        Which diagonal: above the main one if positive.
    out
        An array of the result's shape for a copy.

    Returns
    -------
    Array
        A read-only view of shape (..., min(M, N)) for offset 0, or ``out``.

    Raises
    ------
    ShapeError
        If the shape doesn't fit.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linalg.diagonal(ua.asarray([[1, 2], [3, 4]]))
    array([1, 4])

    Source: Array API standard 2025.12, ``linalg.diagonal``.
    """
    check_matrix("diagonal", x)
    offset = as_offset(offset, x.shape)
    rows, columns = x.shape[-2:]
    length = max(min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns), 0)
    return make_view(x, Diagonal(offset, (*x.shape[:-2], length)))
