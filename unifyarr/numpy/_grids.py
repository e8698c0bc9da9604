"""Grids made by indexing, and from shapes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.arrays.convert import device_of
from .._core.engines import dtypes
from .._core.engines.current import call_beside
from .._core.values.shapes import as_shape
from ._creation import on_host
from ._following import as_array, follows, together
from ._indexing import promoted


def _made(values: np.ndarray) -> Array:
    # NumPy computed the values from a shape.
    return ua.asarray(values, copy=True)


def _all_made(several: Any) -> tuple[Array, ...]:
    return tuple(map(_made, several))


# -- made by indexing -----------------------------------------------------------------------------------------------


def _number(x: Any) -> Any:
    return on_host(x, "a grid").item() if isinstance(x, Array) else x


def _plain(part: Any) -> Any:
    if isinstance(part, slice):
        return slice(*map(_number, (part.start, part.stop, part.step)))
    return part


class Grid:
    """A grid that is made by indexing: ``mgrid[0:2, 0:1:5j]`` with all coordinates, ``ogrid`` with broadcastable ones.

    >>> import unifyarr.numpy as np
    >>> np.mgrid[0:2, 0:2]
    array([[[0, 0],
            [1, 1]],
    <BLANKLINE>
           [[0, 1],
            [0, 1]]])
    """

    def __init__(self, original: Any) -> None:
        self._original = original

    def __getitem__(self, key: Any) -> Any:
        # Slices hold numbers, of which NumPy makes the grid.
        made = self._original[tuple(map(_plain, key)) if isinstance(key, tuple) else _plain(key)]
        return _all_made(made) if isinstance(made, tuple) else _made(made)


mgrid = Grid(np.mgrid)
ogrid = Grid(np.ogrid)


class Joiner:
    """Joins arrays by indexing: ``r_[1:4, 0, x]`` along the first axis, ``c_[x, y]`` as columns.

    A string first says more: ``r_["axis,ndmin,place"]``, where ``place`` is where the axes of those with fewer stand.

    >>> import unifyarr.numpy as np
    >>> np.r_[1:4, 0, [5, 6]]
    array([1, 2, 3, 0, 5, 6])
    >>> np.c_[np.asarray([1, 2]), np.asarray([3, 4])]
    array([[1, 3],
           [2, 4]])
    """

    def __init__(self, axis: int, ndmin: int, place: int) -> None:
        self._options = axis, ndmin, place

    def __len__(self) -> int:
        return 0

    def __getitem__(self, key: Any) -> Array:
        parts = list(key) if isinstance(key, tuple) else [key]
        axis, ndmin, place = self._options
        if isinstance(parts[0], str):
            axis, ndmin, place = _directive(parts.pop(0), axis, ndmin, place)
        items: list[Any] = []
        for part in parts:
            if isinstance(part, str):
                raise ValueError(f"a string says how to join before what is joined, and not behind: {part!r}")
            items.append(_range(_plain(part)) if isinstance(part, slice) else part)
        arrays = together(*items)
        dtype = promoted(parts, arrays)
        grown = [
            _grown(x.astype(dtype, copy=False), ndmin, place, is_slice=isinstance(part, slice))
            for x, part in zip(arrays, parts, strict=True)
        ]
        return ua.concat(grown, axis=axis)


def _directive(text: str, axis: int, ndmin: int, place: int) -> tuple[int, int, int]:
    if text in ("r", "c"):
        raise ValueError(f"r_[{text!r}] makes a matrix, and there are none: use '0,2' or '1,2'")
    try:
        axis, ndmin, place = (*map(int, text.split(",")), *(axis, ndmin, place)[text.count(",") + 1 :])
    except ValueError:
        raise ValueError(f"{text!r} isn't 'axis', 'axis,ndmin' or 'axis,ndmin,place'") from None
    return axis, ndmin, place


def _range(part: Any) -> np.ndarray:
    start, stop, step = part.start or 0, part.stop, 1 if part.step is None else part.step
    if isinstance(step, (complex, np.complexfloating)):
        return np.linspace(start, stop, int(abs(complex(step))))
    return np.arange(start, stop, step)


def _grown(x: Array, ndmin: int, place: int, is_slice: bool) -> Array:
    ndim = x.ndim
    if ndim == 0 and ndmin == 0:
        # Numbers are joined as vectors of one.
        return ua.reshape(x, (1,))
    if ndim >= ndmin:
        return x
    wide = ua.reshape(x, (1,) * (ndmin - ndim) + x.shape)
    if place == -1 or ndim == 0:
        return wide
    if is_slice:
        return ua.swapaxes(wide, -1, place)
    # The array's own axes stand from ``place`` on, as NumPy counts it.
    first = place if place >= 0 else place + ndmin - ndim + 1
    free = [axis for axis in range(ndmin) if not first <= axis < first + ndim]
    order: list[int] = [0] * ndmin
    for number, axis in enumerate(free):
        order[axis] = number
    for number in range(ndim):
        order[first + number] = ndmin - ndim + number
    return ua.permute_dims(wide, tuple(order))


r_ = Joiner(0, 1, -1)
c_ = Joiner(-1, 2, 0)


# -- indices --------------------------------------------------------------------------------------------------------


@follows(np.indices)
def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """Return the coordinates of a grid: one array for each axis, which broadcast to the grid with ``sparse``."""
    wanted = dtypes.as_dtype(int if dtype is None else dtype)
    made: Any = np.indices(as_shape(dimensions), sparse=sparse)  # type: ignore[call-overload]
    if sparse:
        return tuple(x.astype(wanted) for x in _all_made(made))
    return _made(np.asarray(made)).astype(wanted, copy=False)


@follows(np.ix_)
def ix_(*args: Any) -> tuple[Array, ...]:
    """Return vectors in the shapes in which they index a part of a grid.

    >>> import unifyarr.numpy as np
    >>> np.arange(6).reshape(2, 3)[np.ix_([0, 1], [2, 0])]
    array([[2, 0],
           [5, 3]])
    """
    made = []
    for place, x in enumerate(together(*args)):
        if x.ndim != 1:
            raise ValueError(f"ix_() takes vectors, not an array of shape {x.shape}")
        if x.size == 0 and not isinstance(args[place], (Array, np.ndarray)):
            x = x.astype(dtypes.int64)
        if x.dtype is dtypes.bool:
            (x,) = ua.nonzero(x)
        made.append(ua.reshape(x, tuple(-1 if other == place else 1 for other in range(len(args)))))
    return tuple(made)


@follows(np.mask_indices)
def mask_indices(n: Any, mask_func: Any, k: Any = 0) -> tuple[Array, ...]:
    """Return the positions of a square matrix that a function such as ``triu`` leaves."""
    left = as_array(mask_func(ua.ones((n, n), dtype=int), k))
    places: tuple[Array, ...] = ua.nonzero(left != 0)
    return places


@follows(np.tril_indices)
def tril_indices(n: Any, k: Any = 0, m: Any = None) -> tuple[Array, ...]:
    """Return the positions on and below a diagonal of a matrix."""
    return _all_made(np.tril_indices(operator.index(n), k, m))


@follows(np.triu_indices)
def triu_indices(n: Any, k: Any = 0, m: Any = None) -> tuple[Array, ...]:
    """Return the positions on and above a diagonal of a matrix."""
    return _all_made(np.triu_indices(operator.index(n), k, m))


def _places_in(arr: Any, places: Callable[..., tuple[Array, ...]], k: Any) -> tuple[Array, ...]:
    """Return positions in a matrix, where it is."""
    x = as_array(arr)
    if x.ndim != 2:
        raise ValueError(f"the positions are those of a matrix, not of an array of shape {x.shape}")
    rows, columns = x.shape
    made: Any = call_beside(x._backend, device_of([x], x._backend), places, (rows, k, columns), {})
    return tuple(made)


@follows(np.tril_indices_from)
def tril_indices_from(arr: Any, k: Any = 0) -> tuple[Array, ...]:
    """Return the positions on and below a diagonal of a matrix that is passed."""
    return _places_in(arr, tril_indices, k)


@follows(np.triu_indices_from)
def triu_indices_from(arr: Any, k: Any = 0) -> tuple[Array, ...]:
    """Return the positions on and above a diagonal of a matrix that is passed."""
    return _places_in(arr, triu_indices, k)


@follows(np.diag_indices)
def diag_indices(n: Any, ndim: Any = 2) -> tuple[Array, ...]:
    """Return the positions of the main diagonal of an array of equally long axes."""
    along: Array = ua.arange(n)
    return (along,) * operator.index(ndim)


@follows(np.diag_indices_from)
def diag_indices_from(arr: Any) -> tuple[Array, ...]:
    """Return the positions of the main diagonal of an array that is passed."""
    x = as_array(arr)
    if x.ndim < 2 or len(set(x.shape)) > 1:
        raise ValueError(f"the array has two equally long axes or more, unlike one of shape {x.shape}")
    along: Array = ua.arange(x.shape[0], backend=x.backend, device=x.device)
    return (along,) * x.ndim


@follows(np.unravel_index)
def unravel_index(indices: Any, shape: Any, order: Any = "C") -> tuple[Array, ...]:
    """Return the positions along each axis for positions in an array as a vector.

    >>> import unifyarr.numpy as np
    >>> np.unravel_index([1, 5], (2, 3))
    (array([0, 1]), array([1, 2]))
    """
    lengths = as_shape(shape)
    if not lengths and as_array(indices).ndim:
        raise ValueError("an array of shape () has one position, 0: several can't be asked for")
    return ua.unravel_index(indices, lengths, order=order)


@follows(np.ravel_multi_index)
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C") -> Array:
    """Return the positions in an array as a vector for positions along each axis.

    >>> import unifyarr.numpy as np
    >>> np.ravel_multi_index(([0, 1], [1, 2]), (2, 3))
    array([1, 5])
    """
    parts, lengths = together(*multi_index), as_shape(dims)
    if 0 in lengths and any(x.size for x in parts):
        raise ValueError(f"no index is within all axes of shape {lengths}")
    return ua.ravel_multi_index(parts, lengths, mode=mode, order=order)
