"""Arrays from shapes, ranges, functions and data."""

from __future__ import annotations

import inspect
import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import functions as ua
from .._core.arrays import convert
from .._core.arrays.array import Array
from .._core.arrays.leaving import must_stay, to_host
from .._core.arrays.recipes import geometry
from .._core.engines import dtypes
from .._core.engines.tracing import current
from .._core.values.arguments import MOST_AXES
from .._core.writing.inplace import is_read_only
from ._following import as_array, follows, together

__all__ = [
    "arange", "array", "asanyarray", "asarray", "asarray_chkfinite", "ascontiguousarray", "asfortranarray", "copy",
    "diag", "diagflat", "empty", "empty_like", "eye", "from_dlpack", "frombuffer", "fromfunction", "fromiter", "full",
    "full_like", "geomspace", "identity", "linspace", "logspace", "meshgrid", "ones", "ones_like", "require", "tri",
    "tril", "triu", "vander", "zeros", "zeros_like",
]  # fmt: skip

_ORDERS = frozenset({None, "C", "F", "A", "K", "c", "f", "a", "k"})


def check_order(order: Any, allowed: frozenset[Any] = _ORDERS) -> None:
    """Raise unless a memory order is one that NumPy has."""
    if not isinstance(order, str) and order is not None:
        raise TypeError(f"order is one of 'C', 'F', 'A' and 'K', not {order!r}")
    if order not in allowed:
        raise ValueError(
            f"order is one of {sorted(each for each in allowed if each and each.isupper())}, not {order!r}"
        )


def _check(order: Any, like: Any) -> None:
    if order != "C":
        check_order(order)
    if like is not None:
        raise TypeError(
            "like= names another library's array, and these functions make arrays of one class: leave it out"
        )


def on_host(x: Any, what: str) -> np.ndarray:
    """Return what decides on shapes, such as indices at which to insert, as NumPy's array."""
    return to_host(x, what) if isinstance(x, Array) else convert.to_numpy(x)


def is_known(x: Array) -> bool:
    """Return whether the values of an array can be looked at: not in a trace, nor under a derivative."""
    return not must_stay(x)


def layout(x: Array) -> Any:
    """Return NumPy's flags of an array, as far as its engine or its recipe shows them."""
    return geometry(current(x)).flags


def _as_copy(copy: Any) -> bool | None:
    if isinstance(copy, str):
        raise ValueError(f"copy is True, False or None, not {copy!r}")
    return None if copy is None else bool(copy)


# As an attribute of a class it binds nothing, as NumPy's own, which is no function of Python's.
@staticmethod
@follows(np.array)
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
    _check("C", like)
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

    Requirements of the order of memory change no value, and are met by whatever the engine has.
    """
    _check("C", like)
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
    if type(fill_value) in dtypes.SCALARS:
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
    _, lengths, options = _as(a, dtype, order, shape, device)
    result = ua.empty(lengths, **options)
    # Any value is cast, as in NumPy; a Python integer beyond the dtype raises.
    scalar = type(fill_value) in dtypes.SCALARS
    value = fill_value if scalar else convert.as_array(fill_value, result._backend)
    if scalar and dtypes.can_cast(type(fill_value), result.dtype):
        return ua.full(lengths, fill_value, **options)
    result[...] = as_array(value).astype(result.dtype) if scalar else value.astype(result.dtype)
    return result


@follows(np.eye)
def eye(
    N: Any,  # noqa: N803
    M: Any = None,  # noqa: N803
    k: Any = 0,
    dtype: Any = float,
    order: Any = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> Array:
    """Return a matrix with ones on a diagonal, the ``k``-th above the main one, and zeros elsewhere."""
    _check(order, like)
    return ua.eye(N, M, k=k, dtype=dtype, device=device)


@follows(np.identity)
def identity(n: Any, dtype: Any = None, *, like: Any = None) -> Array:
    """Return the identity matrix."""
    _check("C", like)
    return ua.eye(n, dtype=dtype)


# -- ranges ---------------------------------------------------------------------------------------------------------


@follows(np.arange)
def arange(*limits: Any, device: Any = None, like: Any = None, **named: Any) -> Array:
    """Return evenly spaced values: ``arange(stop)``, ``arange(start, stop, step, dtype)``.

    >>> import unifyarr.numpy as np
    >>> np.arange(0, 6, 2, np.float32)
    array([0., 2., 4.], dtype=float32)
    """
    if like is not None:
        _check("C", like)
    if not named and len(limits) == 1 and limits[0] is not None:
        return _range(0, *limits, 1, None, device)
    names = ("start", "stop", "step", "dtype")
    given = dict(zip(names, limits, strict=False))
    wrong = [each for each in named if each not in names or each in given]
    if wrong or len(limits) > len(names):
        raise TypeError(f"arange() takes start, stop, step and dtype once each, unlike {wrong or limits}")
    given |= named
    if given.get("stop") is None:
        if not limits:
            raise TypeError("arange() needs the end: pass stop")
        given["stop"], given["start"] = given["start"], 0
        if given["stop"] is None:
            raise TypeError("arange() needs the end, and not None")
    start, step = given.get("start"), given.get("step")
    return _range(0 if start is None else start, given["stop"], 1 if step is None else step, given.get("dtype"), device)


def _range(start: Any, stop: Any, step: Any, dtype: Any, device: Any) -> Array:
    if type(step) in dtypes.SCALARS and step == 0:
        raise ZeroDivisionError("arange() takes a step that isn't zero")
    try:
        values = ua.arange(start, stop, step, dtype=dtype, device=device)
    except OverflowError as error:
        raise ValueError(f"no memory holds the values from {start} to {stop} by {step}: {error}") from None
    if values.dtype is dtypes.bool and values.shape[0] > 2:
        raise TypeError("a range of bools has two values at most: compare a range of integers")
    return values


arange.__signature__ = inspect.signature(np.arange)  # type: ignore[attr-defined]


def _count(num: Any) -> int:
    count = operator.index(num)
    if count < 0:
        raise ValueError(f"num is a number of values, and none is negative, unlike {num}")
    return count


def _is_number(x: Any) -> bool:
    return type(x) in dtypes.SCALARS


@follows(np.linspace)
def linspace(
    start: Any, stop: Any, num: Any = 50, endpoint: Any = True, retstep: Any = False, dtype: Any = None, axis: Any = 0,
    *, device: Any = None,
) -> Any:  # fmt: skip
    """Return evenly spaced values from ``start`` to ``stop``, which may be arrays; with ``retstep`` their distance too.

    >>> import unifyarr.numpy as np
    >>> np.linspace(0, [1, 10], 3)
    array([[ 0. ,  0. ],
           [ 0.5,  5. ],
           [ 1. , 10. ]])
    """
    count = _count(num)
    if not retstep and _is_number(start) and _is_number(stop) and axis in (0, -1):
        return ua.linspace(start, stop, count, endpoint=bool(endpoint), dtype=dtype, device=device)
    first, last = _floating(start, stop)
    intervals = count - 1 if endpoint else count
    delta = last - first
    step = delta / intervals if intervals > 0 else delta * np.nan
    shape = np.broadcast_shapes(first.shape, last.shape)
    places = ua.reshape(_beside(delta, np.arange(count)), (-1,) + (1,) * len(shape)).astype(delta.dtype)
    if intervals > 0:
        # Where the step underflows to zero, the product with delta doesn't.
        values = ua.where(step == 0, places / intervals * delta, places * step) + first
    else:
        values = places * delta + first
    if endpoint and count > 1:
        values[-1] = ua.broadcast_to(last, shape)
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if wanted is not None:
        values = (ua.floor(values) if wanted.kind in "iu" and values.dtype.kind == "f" else values).astype(wanted)
    values = ua.moveaxis(values, 0, axis) if axis != 0 else values
    return (values, step) if retstep else values


def _beside(x: Array, values: np.ndarray) -> Array:
    return ua.asarray(values, backend=x.backend, device=x.device, copy=True)


def _floating(start: Any, stop: Any) -> list[Array]:
    # Of Python numbers and integers float64, as NumPy's ``asanyarray(x) * 1.0`` has it.
    first, last = (x * 1.0 if isinstance(x, Array) else as_array(x) * 1.0 for x in together(start, stop))
    kinds = (type(each) if _is_number(each) else x.dtype for each, x in ((start, first), (stop, last)))
    dtype = dtypes.promote(*kinds, float)
    return [first.astype(dtype), last.astype(dtype)]


@follows(np.logspace)
def logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: Any = True, base: Any = 10.0, dtype: Any = None, axis: Any = 0
) -> Array:
    """Return powers of ``base``, whose exponents are evenly spaced from ``start`` to ``stop``."""
    if not isinstance(base, (int, float, complex)) and (of := as_array(base)).ndim:
        # A base for each row, as NumPy broadcasts it with the ends.
        most = max(np.ndim(each) if not isinstance(each, Array) else each.ndim for each in (start, stop, of))
        start, stop, base = (_to_axes(each, most) for each in (start, stop, of))
        base = ua.moveaxis(ua.expand_dims(base, 0), 0, axis)
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    values = ua.pow(base, exponents)
    return values if dtype is None else values.astype(dtype)


def _to_axes(x: Any, count: int) -> Array:
    x = as_array(x)
    return ua.reshape(x, (1,) * (count - x.ndim) + x.shape)


@follows(np.geomspace)
def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: Any = True, dtype: Any = None, axis: Any = 0) -> Array:
    """Return values from ``start`` to ``stop``, each a constant multiple of the one before.

    >>> import unifyarr.numpy as np
    >>> np.geomspace(1, 1000, 4)
    array([   1.,   10.,  100., 1000.])
    """
    first, last = together(start, stop)
    for x in (first, last):
        if is_known(x) and bool(ua.any(x == 0)):
            raise ValueError("no multiples lead from zero or to zero: pass ends that aren't zero")
    count = _count(num)
    wanted = dtypes.as_dtype(dtype) if dtype is not None else None
    kind = dtypes.promote(first.dtype, last.dtype, float if wanted is None or wanted.kind in "biu" else wanted)
    first, last = ua.broadcast_arrays(first.astype(kind), last.astype(kind))
    sign = first / abs(first) if kind.kind == "c" else ua.sign(first)
    first, last = first / sign, last / sign
    values = logspace(ua.log10(first), ua.log10(last), count, endpoint, 10.0)
    if count > 0:
        values[0] = first
        if count > 1 and endpoint:
            values[-1] = last
    values = ua.moveaxis(values * sign, 0, axis) if axis != 0 else values * sign
    return values if wanted is None else values.astype(wanted)


# -- matrices -------------------------------------------------------------------------------------------------------


@follows(np.diag)
def diag(v: Any, k: Any = 0) -> Array:
    """Return a diagonal of a matrix, a read-only view, or a matrix with a vector on its diagonal.

    >>> import unifyarr.numpy as np
    >>> np.diag([1, 2])
    array([[1, 0],
           [0, 2]])
    """
    return ua.diag(v, k=k)


@follows(np.diagflat)
def diagflat(v: Any, k: Any = 0) -> Array:
    """Return a matrix whose diagonal holds all elements of an array."""
    return ua.diagflat(v, k=k)


@follows(np.tri)
def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = float, *, like: Any = None) -> Array:  # noqa: N803
    """Return a matrix with ones on and below a diagonal."""
    _check("C", like)
    return ua.tri(N, M, k=k, dtype=dtype)


def _matrix(m: Any) -> Array:
    x = as_array(m)
    # A vector stands for each row of a square.
    return ua.broadcast_to(x, x.shape * 2) if x.ndim == 1 else x


@follows(np.tril)
def tril(m: Any, k: Any = 0) -> Array:
    """Return a copy of matrices with zeros above a diagonal."""
    return ua.tril(_matrix(m), k=operator.index(k))


@follows(np.triu)
def triu(m: Any, k: Any = 0) -> Array:
    """Return a copy of matrices with zeros below a diagonal."""
    return ua.triu(_matrix(m), k=operator.index(k))


@follows(np.vander)
def vander(x: Any, N: Any = None, increasing: bool = False) -> Array:  # noqa: N803
    """Return the Vandermonde matrix of a vector: its powers in columns, the highest first."""
    return ua.vander(x, N, increasing=bool(increasing))


@follows(np.meshgrid)
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Array, ...]:
    """Return the coordinates of a grid: with ``sparse``, arrays that broadcast to it; without ``copy``, views."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing is 'xy' or 'ij', not {indexing!r}")
    axes = list(range(len(xi)))
    if indexing == "xy" and len(xi) > 1:
        axes[:2] = 1, 0
    grids = [
        ua.reshape(x, tuple(-1 if axis == place else 1 for place in range(len(xi))))
        for x, axis in zip(together(*xi), axes, strict=True)
    ]
    if not sparse and grids:
        grids = list(ua.broadcast_arrays(*grids))
    return tuple(x.copy() if copy else x for x in grids)


# -- of functions and bytes -----------------------------------------------------------------------------------------


@follows(np.fromfunction)
def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: Any = float, like: Any = None, **kwargs: Any
) -> Any:
    """Return what a function gives for the coordinates of a grid.

    >>> import unifyarr.numpy as np
    >>> np.fromfunction(lambda i, j: i + 10 * j, (2, 2))
    array([[ 0., 10.],
           [ 1., 11.]])
    """
    _check("C", like)
    wanted = dtypes.as_dtype(dtype)
    return function(*(ua.asarray(each, dtype=wanted, copy=True) for each in np.indices(shape)), **kwargs)


@follows(np.fromiter)
def fromiter(iter: Any, dtype: Any, count: int = -1, *, like: Any = None) -> Array:
    """Return a vector of the values of an iterable, of the first ``count`` if that isn't negative."""
    _check("C", like)
    wanted = dtypes.as_dtype(dtype)
    values = list(iter if count < 0 else itertools.islice(iter, count))
    if len(values) < count:
        raise ValueError(f"the iterable has {len(values)} values, and {count} were asked for")
    return ua.asarray(values, dtype=wanted) if values else ua.empty(0, dtype=wanted)


@follows(np.frombuffer)
def frombuffer(buffer: Any, dtype: Any = None, count: int = -1, offset: int = 0, *, like: Any = None) -> Array:
    """Return a vector of the numbers in a buffer: a copy, since most engines can't share its memory."""
    _check("C", like)
    wanted = dtypes.as_dtype(float if dtype is None else dtype)
    given = dtype if isinstance(dtype, np.dtype) else wanted.dtype
    return ua.asarray(np.frombuffer(buffer, given, count, offset), dtype=wanted, copy=True)


@follows(np.from_dlpack)
def from_dlpack(x: Any, /, *, device: Any = None, copy: Any = None) -> Array:
    """Return an array of an object that exports its memory through DLPack."""
    return ua.from_dlpack(x, device=device, copy=copy)
