"""Reading and combining elements at points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._core.arrays.array import Array
from .._core.arrays.convert import as_index
from .._core.calling.invoke import invoke
from .._core.declaring.declare import primary
from .._core.engines import dtypes
from .._core.values.shapes import as_axes, broadcast
from ..errors import DtypeError, ShapeError
from .creation import full_beside
from .manipulation import broadcast_to, permute_dims, unstack

if TYPE_CHECKING:
    from .._core.engines.dtypes import DType
    from ..typing import Scalar, Shape

MODES = ("set", "add", "multiply", "max", "min")


def check_mode(mode: str, dtype: DType, name: str) -> None:
    """Raise unless elements of a dtype can be combined in that way."""
    if mode not in MODES:
        raise ValueError(f"mode of {name}() is one of {', '.join(MODES)}, not {mode!r}")
    if mode in ("max", "min") and dtypes.rank(dtype) == 3:
        raise DtypeError(f"{name}() takes no greatest or least of {dtype}: take its real part or its absolute value")


def working_dtype(dtype: DType, mode: str) -> DType:
    """Return the dtype to combine in: totals of half precision would lose digits at each step."""
    return dtypes.single_of(dtype) if mode in ("add", "multiply") else dtype


def identity(mode: str, dtype: DType) -> Scalar:
    """Return the identity element of a mode, which is the result for no elements."""
    if mode in ("add", "multiply"):
        return int(mode == "multiply")
    if dtype == dtypes.bool:
        return mode == "min"
    if dtypes.rank(dtype) == 1:
        limits = np.iinfo(dtype.dtype)
        return int(limits.min if mode == "max" else limits.max)
    return float("-inf") if mode == "max" else float("inf")


def _points(x: Array, indices: Array, axis: int | tuple[int, ...] | None, name: str) -> tuple[list[int], list[Array]]:
    # The axes of ``x``, the indexed ones first, and an index array for each of these.
    if dtypes.rank(indices.dtype) != 1:
        raise DtypeError(f"{name}() takes integer indices, not {indices.dtype}")
    if indices.ndim == 0 or indices.shape[-1] == 0:
        raise ShapeError(f"the last axis of indices holds the index for each axis, but its shape is {indices.shape}")
    count = indices.shape[-1]
    if axis is None and count > x.ndim:
        raise ShapeError(f"indices of shape {indices.shape} index {count} axes, but x has {x.ndim}")
    axes = as_axes(tuple(range(count)) if axis is None else axis, x.ndim)
    if len(axes) != count:
        raise ShapeError(f"indices of shape {indices.shape} index {count} axes, but axis {axis!r} names {len(axes)}")
    rest = [each for each in range(x.ndim) if each not in axes]
    return [*axes, *rest], list(unstack(as_index(indices), axis=-1))


@primary(kernels=("gather",))
def gather(
    x: Array, indices: Array, /, *, axis: int | tuple[int, ...] | None = None, out: Array | None = None
) -> Array:
    """Read the elements, or the parts, of an array at points given by their coordinates.

    Where ``take`` has one axis of indices and ``take_along_axis`` one index for each place, here each point has an
    index for every axis in ``axis``.

    Parameters
    ----------
    x
        An array of at least one dimension.
    indices
        An array of integers of shape ``(*points, k)``: its last axis holds the indices of a point, one for each axis
        in ``axis``; negative ones count from the end.
    axis
        The ``k`` axes that are indexed, in the order of the indices; the first ones by default.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape ``(*points, *rest)``, where ``rest`` are the lengths of the other axes, or ``out``.

    Raises
    ------
    IndexError
        If an index is out of bounds; inside a trace, where values aren't known, the engine's own rule holds.
    ShapeError
        If ``indices`` has another number of indices than there are axes.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([[10, 20], [30, 40]])
    >>> ua.gather(x, ua.asarray([[0, 1], [1, 0]]))
    array([20, 30])
    >>> ua.gather(x, ua.asarray([[1]]), axis=1)
    array([[20, 40]])

    Source: ONNX, ``GatherND``.
    """
    order, columns = _points(x, indices, axis, "gather")
    moved = x if order == sorted(order) else permute_dims(x, tuple(order))
    result = ((*indices.shape[:-1], *moved.shape[len(columns) :]), x.dtype)
    return invoke("gather", moved, *columns, out=out, result=result)


@primary(kernels=("scatter_reduce",))
def scatter(
    x: Array,
    indices: Array,
    updates: Array | Scalar,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    mode: str = "set",
    out: Array | None = None,
) -> Array:
    """Return an array with updates written or combined where ``gather`` would read with the same indices.

    Parameters
    ----------
    x
        An array of at least one dimension; it stays as it is, unless it is ``out`` too.
    indices
        An array of integers of shape ``(*points, k)``: its last axis holds the indices of a point, one for each axis
        in ``axis``; negative ones count from the end.
    updates
        An array whose shape broadcasts to ``(*points, *rest)``, that of ``gather(x, indices, axis=axis)``, or a scalar;
        of a dtype that casts to that of ``x`` under ``same_kind``.
    axis
        The ``k`` axes that are indexed, in the order of the indices; the first ones by default.
    mode
        ``"set"``: if a point has several updates, the last one stays; ``"add"``, ``"multiply"``, ``"max"``, ``"min"``:
        the element and all updates are combined. Sums and products of float16 and bfloat16 are computed in float32.
    out
        An array of the shape of ``x`` for the result.

    Returns
    -------
    Array
        A new array of the shape and dtype of ``x``, or ``out``.

    Raises
    ------
    IndexError
        If an index is out of bounds; inside a trace, where values aren't known, the engine's own rule holds.
    ShapeError
        If the indices don't fit the axes, or the updates don't broadcast.
    DtypeError
        If the greatest or the least of complex numbers is asked for.
    ValueError
        If ``mode`` is something else.

    Notes
    -----
    JAX records no gradient of ``"multiply"``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.scatter(ua.zeros(3), ua.asarray([[0], [2], [2]]), ua.asarray([1.0, 2.0, 3.0]), mode="add")
    array([1., 0., 5.])
    >>> ua.scatter(ua.zeros((2, 2)), ua.asarray([[0, 1], [1, 0]]), 7)
    array([[0., 7.],
           [7., 0.]])

    Source: ONNX, ``ScatterND``.
    """
    check_mode(mode, x.dtype, "scatter")
    order, columns = _points(x, indices, axis, "scatter")
    moved = x if order == sorted(order) else permute_dims(x, tuple(order))
    value = _fitting(updates, moved, (*indices.shape[:-1], *moved.shape[len(columns) :]))
    working = working_dtype(x.dtype, mode)
    operands = [each.astype(working, copy=False) for each in (moved, value)]
    if working == x.dtype and moved is x:
        return invoke("scatter_reduce", *operands, *columns, reduction=mode, out=out, result=(x.shape, x.dtype))
    combined = invoke("scatter_reduce", *operands, *columns, reduction=mode).astype(x.dtype, copy=False)
    back = tuple(int(each) for each in np.argsort(order))
    return combined if back == tuple(range(x.ndim)) else permute_dims(combined, back).copy()


def _fitting(updates: Array | Scalar, x: Array, shape: Shape) -> Array:
    # The updates, cast to the dtype of ``x`` and broadcast to that shape.
    dtypes.check_cast(updates.dtype if isinstance(updates, Array) else type(updates), x.dtype, "x")
    if not isinstance(updates, Array):
        return full_beside(x, shape, updates, x.dtype)
    if broadcast(updates.shape, shape, name="scatter") != shape:
        raise ShapeError(f"updates of shape {updates.shape} don't broadcast to {shape}, which the indices select")
    return broadcast_to(updates.astype(x.dtype, copy=False), shape)
