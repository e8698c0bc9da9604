"""Arrays from shapes, ranges, functions and data."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import functions as ua
from .._core.arrays import convert
from .._core.arrays.array import Array
from .._core.arrays.leaving import knows_values, to_host
from .._core.arrays.recipes import geometry, is_read_only
from .._core.arrays.weak import kind_of
from .._core.engines import dtypes
from .._core.engines.tracing import current
from .._core.values.arguments import MOST_AXES
from ._following import as_array, follows

_ORDERS = frozenset({None, "C", "F", "A", "K", "c", "f", "a", "k"})


def check_order(order: Any, allowed: frozenset[Any] = _ORDERS) -> None:
    """Raise unless a memory order is one that NumPy has."""
    if not isinstance(order, str) and order is not None:
        raise TypeError(f"order is one of 'C', 'F', 'A' and 'K', not {order!r}")
    if order not in allowed:
        raise ValueError(
            f"order is one of {sorted(each for each in allowed if each and each.isupper())}, not {order!r}"
        )


def check_like(like: Any) -> None:
    """Raise unless ``like=`` is left out."""
    if like is not None:
        raise TypeError(
            "like= names another library's array, and these functions make arrays of one class: leave it out"
        )


def _check(order: Any, like: Any) -> None:
    if order != "C":
        check_order(order)
    check_like(like)


def on_host(x: Any, what: str) -> np.ndarray:
    """Return arguments that decide on shapes, such as indices to insert at, as a NumPy array."""
    return to_host(x, what) if isinstance(x, Array) else convert.to_numpy(x)


def is_known(x: Array) -> bool:
    """Return whether the values of an array are known: not in a trace, nor on a lazy engine."""
    return knows_values(x)


def layout(x: Array) -> Any:
    """Return NumPy's flags of an array, as far as its engine or its recipe shows them."""
    return geometry(current(x)).flags


def _as_copy(copy: Any) -> bool | None:
    if isinstance(copy, str):
        raise ValueError(f"copy is True, False or None, not {copy!r}")
    # The last is NumPy's older word for ``None``.
    return None if copy is None or copy is np._CopyMode.IF_NEEDED else bool(copy)


@follows(np.array, binds=False)
def array(
    object: Any, dtype: Any = None, *, copy: Any = True, order: Any = "K", subok: bool = False, ndmin: int = 0,
    ndmax: int = 0, like: Any = None,
) -> Array:  # fmt: skip
    """Make an array of data, or copy one, on its own backend.

    >>> import unifyarr.numpy as np
    >>> np.array([[1, 2], [3, 4]], np.float32)
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    if order != "K" or like is not None:
        _check(order, like)
    if copy is True and ndmin == 0 and ndmax == 0:
        own = dtype is None and isinstance(object, Array)
        return object.copy() if own else ua.asarray(object, dtype=dtype, copy=True)
    made = ua.asarray(object, dtype=dtype, copy=_as_copy(copy))
    if ndmin == 0 and ndmax == 0:
        return made
    if not 0 <= ndmax <= MOST_AXES or ndmin > MOST_AXES:
        raise ValueError(f"ndmin and ndmax are from 0 to {MOST_AXES}, not {ndmin} and {ndmax}")
    if ndmax and made.ndim > ndmax:
        raise ValueError(f"the data has {made.ndim} dimensions, more than ndmax={ndmax}: arrays hold no objects")
    return made if made.ndim >= ndmin else ua.reshape(made, (1,) * (ndmin - made.ndim) + made.shape)


@follows(np.asarray)
def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None, like: Any = None
) -> Array:
    """Return an array of data: an array itself, if nothing has to change."""
    if order is not None or like is not None:
        _check(order, like)
    return ua.asarray(a, dtype=dtype, device=device, copy=copy)


@follows(np.asanyarray)
def asanyarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None, like: Any = None
) -> Array:
    """Return an array of data, as ``asarray`` does: there are no subclasses."""
    if order is not None or like is not None:
        _check(order, like)
    return ua.asarray(a, dtype=dtype, device=device, copy=copy)


def _of_one_axis(x: Array) -> Array:
    return x if x.shape else ua.reshape(x, (1,))


@follows(np.ascontiguousarray)
def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> Array:
    """Return an array of at least one dimension whose memory is C-contiguous: a copy of one that isn't."""
    check_like(like)
    x = _of_one_axis(ua.asarray(a, dtype=dtype))
    return x if layout(x).c_contiguous else x.copy()


@follows(np.asfortranarray)
def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> Array:
    """Return an array of at least one dimension. The engines choose the order of memory, which changes no value."""
    _check("F", like)
    return _of_one_axis(ua.asarray(a, dtype=dtype))


@follows(np.asarray_chkfinite)
def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Array:
    """Return an array of data that holds neither NaN nor infinities: else raise ``ValueError``."""
    x = asarray(a, dtype, order)
    if x.dtype.kind in "fc" and not bool(ua.all(ua.isfinite(x))):
        raise ValueError("the array holds NaN or infinities, and must not")
    return x


_REQUIREMENTS = frozenset(
    ("C", "C_CONTIGUOUS", "CONTIGUOUS", "F", "F_CONTIGUOUS", "FORTRAN", "A", "ALIGNED", "W", "WRITEABLE", "O",
     "OWNDATA", "E", "ENSUREARRAY"),
)  # fmt: skip


@follows(np.require)
def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Array:
    """Return an array of a dtype that can be written and owns its memory, where ``requirements`` say so.

    Requirements of the order of memory change no value, so that any order will do.
    """
    check_like(like)
    wanted = {each.upper() for each in requirements or ()}
    unknown = wanted - _REQUIREMENTS
    if unknown:
        raise KeyError(f"requirements are of {', '.join(sorted(_REQUIREMENTS))}, not {', '.join(sorted(unknown))}")
    if wanted & {"C", "C_CONTIGUOUS", "CONTIGUOUS"} and wanted & {"F", "F_CONTIGUOUS", "FORTRAN"}:
        raise ValueError("an array can't be asked to be of C and of Fortran order")
    x = ua.asarray(a, dtype=dtype)
    owns = wanted & {"O", "OWNDATA"} and x.base is not None
    return x.copy() if owns or (wanted & {"W", "WRITEABLE"} and is_read_only(current(x))) else x


@follows(np.copy)
def copy(a: Any, order: Any = "K", subok: bool = False) -> Array:
    """Return a copy, in memory of its own."""
    if order != "K":
        check_order(order)
    return a.copy() if isinstance(a, Array) else ua.asarray(a, copy=True)


# -- of a shape -----------------------------------------------------------------------------------------------------


@follows(np.empty)
def empty(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None) -> Array:
    """Return an array whose values are not set."""
    if order != "C" or like is not None:
        _check(order, like)
    return ua.empty(shape, dtype=dtype, device=device)


@follows(np.zeros)
def zeros(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None) -> Array:
    """Return an array of zeros."""
    if order != "C" or like is not None:
        _check(order, like)
    return ua.zeros(shape, dtype=dtype, device=device)


@follows(np.ones)
def ones(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None) -> Array:
    """Return an array of ones."""
    if order != "C" or like is not None:
        _check(order, like)
    return ua.ones(shape, dtype=dtype, device=device)


@follows(np.full)
def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None
) -> Array:
    """Return an array that holds a value everywhere, or an array that is broadcast.

    >>> import unifyarr.numpy as np
    >>> np.full((2, 3), [1, 2, 3])
    array([[1, 2, 3],
           [1, 2, 3]])
    """
    if order != "C" or like is not None:
        _check(order, like)
    if kind_of(fill_value) in dtypes.SCALARS:
        return ua.full(shape, fill_value, dtype=dtype, device=device)
    value = ua.asarray(fill_value, dtype=dtype, device=device)
    return ua.broadcast_to(value, shape).copy()


def _as(prototype: Any, dtype: Any, order: Any, shape: Any, device: Any) -> tuple[Array, Any, dict[str, Any]]:
    check_order(order)
    x = as_array(prototype)
    options = {"dtype": x.dtype if dtype is None else dtype, "device": x.device if device is None else device}
    return x, x.shape if shape is None else shape, {**options, "backend": x.backend}


@follows(np.empty_like)
def empty_like(
    prototype: Any, /, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Array:
    """Return an array of the shape and the dtype of another, whose values are not set."""
    if shape is None and order == "K":
        return ua.empty_like(prototype, dtype=dtype, device=device)
    _, lengths, options = _as(prototype, dtype, order, shape, device)
    return ua.empty(lengths, **options)


@follows(np.zeros_like)
def zeros_like(
    a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Array:
    """Return zeros, of the shape and the dtype of another array."""
    if shape is None and order == "K":
        return ua.zeros_like(a, dtype=dtype, device=device)
    _, lengths, options = _as(a, dtype, order, shape, device)
    return ua.zeros(lengths, **options)


@follows(np.ones_like)
def ones_like(
    a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Array:
    """Return ones, of the shape and the dtype of another array."""
    if shape is None and order == "K":
        return ua.ones_like(a, dtype=dtype, device=device)
    _, lengths, options = _as(a, dtype, order, shape, device)
    return ua.ones(lengths, **options)


@follows(np.full_like)
def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *,
    device: Any = None,
) -> Array:  # fmt: skip
    """Return an array of the shape and the dtype of another that holds a value everywhere."""
    plain = dtype is None and shape is None and order == "K"
    if plain and kind_of(fill_value) is float and isinstance(a, Array) and a.dtype.kind in "fc":
        return ua.full_like(a, fill_value, device=device)
    _, lengths, options = _as(a, dtype, order, shape, device)
    result = ua.empty(lengths, **options)
    # Any value is cast, as in NumPy; a Python integer beyond the dtype raises.
    scalar = kind_of(fill_value) in dtypes.SCALARS
    value = fill_value if scalar else convert.as_array_beside(fill_value, result)
    if scalar and dtypes.can_cast(kind_of(fill_value), result.dtype):
        return ua.full(lengths, fill_value, **options)
    result[...] = as_array(value).astype(result.dtype) if scalar else value.astype(result.dtype)
    return result


@follows(np.fromfunction)
def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: Any = float, like: Any = None, **kwargs: Any
) -> Any:
    """Return the result of a function for the coordinates of a grid.

    >>> import unifyarr.numpy as np
    >>> np.fromfunction(lambda i, j: i + 10 * j, (2, 2))
    array([[ 0., 10.],
           [ 1., 11.]])
    """
    check_like(like)
    wanted = dtypes.as_dtype(dtype)
    return function(*(ua.asarray(each, dtype=wanted, copy=True) for each in np.indices(shape)), **kwargs)


@follows(np.fromiter)
def fromiter(iter: Any, dtype: Any, count: int = -1, *, like: Any = None) -> Array:
    """Return a vector of the values of an iterable, of the first ``count`` if that isn't negative."""
    check_like(like)
    wanted = dtypes.as_dtype(dtype)
    values = list(iter if count < 0 else itertools.islice(iter, count))
    if len(values) < count:
        raise ValueError(f"the iterable has {len(values)} values, and {count} were asked for")
    return ua.asarray(values, dtype=wanted) if values else ua.empty(0, dtype=wanted)


@follows(np.frombuffer)
def frombuffer(buffer: Any, dtype: Any = None, count: int = -1, offset: int = 0, *, like: Any = None) -> Array:
    """Return a vector of the numbers in a buffer: a copy, since most engines can't share its memory."""
    check_like(like)
    wanted = dtypes.as_dtype(float if dtype is None else dtype)
    given = dtype if isinstance(dtype, np.dtype) else wanted.dtype
    return ua.asarray(np.frombuffer(buffer, given, count, offset), dtype=wanted, copy=True)


@follows(np.from_dlpack)
def from_dlpack(x: Any, /, *, device: Any = None, copy: Any = None) -> Array:
    """Return an array of an object that exports its memory through DLPack."""
    return ua.from_dlpack(x, device=device, copy=copy)
