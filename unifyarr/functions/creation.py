"""Functions that make arrays: on the backend they name, else on that of ``out``, else on the current one."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import convert, dtypes
from .._core.call import invoke
from .._core.declare import compositional, creation, primary
from .._core.handle import Handle
from .._core.selection import backend_of_native, current, load
from .._core.shapes import as_shape
from .._core.tracing import capture
from .._core.views import Broadcast, Window, make_view
from .._core.wrapper import is_array, wrap
from ..errors import CopyError, DtypeError, ShapeError
from ..typing import Shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.dtypes import DType
    from ..array import Array
    from ..typing import DTypeLike, Scalar


def _default(kind: type, backend: Handle) -> DType:
    # The default dtype for Python numbers, of 32 bits where the backend has no 64.
    wide, narrow = {
        bool: (dtypes.bool, dtypes.bool),
        int: (dtypes.int64, dtypes.int32),
        float: (dtypes.float64, dtypes.float32),
        complex: (dtypes.complex128, dtypes.complex64),
    }[kind]
    return wide if convert.has_dtype(backend, wide) else narrow


def _filled(kernel: str, shape: object, dtype: object, device: object, backend: Any, **static: Any) -> Array:
    native_device = None if device is None else backend.as_device(device)
    wanted = _default(float, backend) if dtype is None else dtypes.as_dtype(dtype)
    convert.check_dtype(backend, wanted, native_device)
    native = backend.kernel(kernel)(shape=as_shape(shape), dtype=wanted.dtype, device=native_device, **static)
    return wrap(native, backend)


def from_host(array: np.ndarray, dtype: object, device: object, backend: Any) -> Array:
    """Return an array of values that NumPy computed, moved once: the same bits on every backend."""
    native_device = None if device is None else backend.as_device(device)
    wanted = dtypes.as_dtype(array.dtype if dtype is None else dtype)
    convert.check_dtype(backend, wanted, native_device)
    return wrap(backend.from_numpy(array.astype(wanted.dtype, copy=False), device=native_device, copy=True), backend)


@creation()
def arange(
    start: int | float,
    /,
    stop: int | float | None = None,
    step: int | float = 1,
    *,
    dtype: DTypeLike | None = None,
    device: object = None,
    backend: str | None = None,
    out: Array | None = None,
) -> Array:
    """Return evenly spaced values from ``start`` up to, not including, ``stop``.

    Parameters
    ----------
    start
        The first value; with it alone, the values go from 0 up to it.
    stop
        The end.
    step
        The distance, not zero.
    dtype
        The dtype; int64 where all three are integers, else float64.
    device, backend
        Where the array is made.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new 1-d array, or ``out``.

    Raises
    ------
    ValueError
        If ``step`` is zero.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.arange(3)
    array([0, 1, 2])

    Source: Array API standard 2025.12, ``arange``.
    """
    begin, end = (0, start) if stop is None else (start, stop)
    if step == 0:
        raise ValueError("arange() takes a step that isn't zero")
    integral = all(isinstance(each, (int, np.integer)) for each in (begin, end, step))
    wanted = _default(int if integral else float, backend) if dtype is None else dtypes.as_dtype(dtype)  # type: ignore[arg-type]
    # The length follows from the arguments, whatever the dtype makes of them.
    count = max(-((begin - end) // step) if integral else math.ceil((end - begin) / step), 0)
    exact = wanted.dtype if integral and dtypes.rank(wanted) == 1 else None
    values = np.arange(begin, end, step, dtype=exact) if count else np.empty(0, wanted.dtype)
    return from_host(values[:count], wanted, device, backend)


@creation(view_map={0: (0,)})
def asarray(
    obj: Any,
    /,
    *,
    dtype: DTypeLike | None = None,
    device: object = None,
    copy: bool | None = None,
    backend: str | None = None,
    out: Array | None = None,
) -> Array:
    """Make an array of an array, of an engine's own array, or of data: NumPy arrays, scalars, nests of sequences.

    An engine's own array keeps its engine; data goes to the current backend (of a bound namespace: its own). To move
    values to another backend, name it.

    Parameters
    ----------
    obj
        What to make an array of.
    dtype
        The dtype; by default that of ``obj``: bool, int64, float64 or complex128 for Python numbers.
    device
        The device; by default that of ``obj`` or of the backend.
    copy
        ``True`` never shares memory with ``obj``; ``False`` shares or raises; ``None`` shares where it can: the memory
        of the engine's own arrays, and of NumPy arrays on NumPy.
    backend
        The backend, by name.
    out
        An array of the same shape for the values.

    Returns
    -------
    Array
        ``obj`` itself if it's an ``Array`` and nothing has to change, an array that wraps it if it's an engine's own, a
        new one elsewhere, or ``out``.

    Raises
    ------
    DtypeError
        If there's no dtype for the data.
    CopyError
        If ``copy=False`` and only a copy will do.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.asarray([[1, 2], [3, 4]])
    array([[1, 2],
           [3, 4]])

    Source: Array API standard 2025.12, ``asarray``; ``backend`` is our own.
    """
    named: Handle | None = backend  # type: ignore[assignment]
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    x: Array | None = None
    if is_array(obj):
        x = obj
    elif (own := backend_of_native(obj)) is not None:
        x = wrap(obj, own)
    elif type(obj) is np.ndarray and obj.dtype in dtypes.BY_NUMPY and (named or current()).name == "numpy":
        x = wrap(obj, load("numpy"))
    capture(x)
    if x is None:
        target = convert.common_backend([obj], named)
        if copy is False:
            raise CopyError(f"asarray() can't make an array of a {type(obj).__name__} without a copy")
        native_device = None if device is None else target.as_device(device)
        data = _weak_default(obj, wanted, target)
        return wrap(convert.from_data(data, target, wanted, native_device), target)
    if named is not None and named is not x._backend:
        if copy is False:
            raise CopyError(f"asarray() can't move an array from {x.backend!r} to {named.name!r} without a copy")
        x, copy = x.to_backend(named.name), None
    if device is not None and x.device != (there := x.to_device(device)).device:
        if copy is False:
            raise CopyError("asarray() can't move an array to another device without a copy")
        x, copy = there, None
    if wanted is not None and x.dtype != wanted:
        if copy is False:
            raise CopyError(f"asarray() can't make {wanted} of {x.dtype} without a copy")
        x, copy = x.astype(wanted), None
    return x.copy() if copy else x


def _weak_default(obj: object, wanted: DType | None, backend: Handle) -> object:
    # Python numbers of no given dtype get the backend's defaults, where it has no 64-bit dtypes.
    if (
        wanted is None
        and not isinstance(obj, (np.ndarray, np.generic))
        and not convert.has_dtype(backend, dtypes.float64)
    ):
        data = convert.to_numpy(obj)
        narrow = {"i": int, "f": float, "c": complex}.get(data.dtype.kind)
        return data if narrow is None else data.astype(_default(narrow, backend).dtype)
    return obj


@creation(kernels=("empty",))
def empty(
    shape: int | Shape,
    *,
    dtype: DTypeLike | None = None,
    device: object = None,
    backend: str | None = None,
    out: Array | None = None,
) -> Array:
    """Return an array whose values are not set.

    Parameters
    ----------
    shape
        The shape.
    dtype
        The dtype; float64 by default.
    device, backend
        Where the array is made.
    out
        An array of that shape, which is returned.

    Returns
    -------
    Array
        A new array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.empty((2, 3)).shape
    (2, 3)

    Source: Array API standard 2025.12, ``empty``.
    """
    return _filled("empty", shape, dtype, device, backend)


@primary(kernels=("empty",))
def empty_like(
    x: Array, /, *, dtype: DTypeLike | None = None, device: object = None, out: Array | None = None
) -> Array:
    """Return an array of the shape of ``x`` whose values are not set.

    Parameters
    ----------
    x
        An array.
    dtype, device
        Those of ``x`` by default.
    out
        An array of that shape, which is returned.

    Returns
    -------
    Array
        A new array on the backend of ``x``, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.empty_like(ua.zeros((2, 3))).shape
    (2, 3)

    Source: Array API standard 2025.12, ``empty_like``.
    """
    return _like("empty", x, dtype, device)


def _like(kernel: str, x: Array, dtype: object, device: object, **static: Any) -> Array:
    wanted = x.dtype if dtype is None else dtype
    return _filled(kernel, x.shape, wanted, x.device if device is None else device, x._backend, **static)


def full_beside(x: Array, shape: Shape, value: Any, dtype: DType) -> Array:
    """Return an array that holds one value everywhere, on the backend and the device of ``x``."""
    return _filled("full", shape, dtype, x.device, x._backend, fill_value=value)


@creation()
def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: DTypeLike | None = None,
    device: object = None,
    backend: str | None = None,
    out: Array | None = None,
) -> Array:
    """Return a matrix with ones on a diagonal and zeros elsewhere.

    Parameters
    ----------
    n_rows, n_cols
        The numbers of rows and columns; as many columns as rows by default.
    k
        Which diagonal: above the main one if positive.
    dtype
        The dtype; float64 by default.
    device, backend
        Where the array is made.
    out
        An array of that shape for the result.

    Returns
    -------
    Array
        A new 2-d array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.eye(2)
    array([[1., 0.],
           [0., 1.]])

    Source: Array API standard 2025.12, ``eye``.
    """
    wanted = _default(float, backend) if dtype is None else dtypes.as_dtype(dtype)  # type: ignore[arg-type]
    return from_host(np.eye(n_rows, n_cols, operator.index(k), dtype=wanted.dtype), wanted, device, backend)


@creation(view_map={0: (0,)})
def from_dlpack(
    x: object,
    /,
    *,
    device: object = None,
    copy: bool | None = None,
    backend: str | None = None,
    out: Array | None = None,
) -> Array:
    """Make an array of any object that exports its memory through DLPack.

    Parameters
    ----------
    x
        An object with ``__dlpack__`` and ``__dlpack_device__``.
    device
        The device of the result.
    copy
        ``True`` never shares memory; ``False`` shares or raises; ``None`` shares where both sides may write.
    backend
        The backend; the current one by default.
    out
        An array of the same shape for the values.

    Returns
    -------
    Array
        A new array, or ``out``.

    Raises
    ------
    BufferError
        If ``copy=False`` and the memory can't be shared.

    Examples
    --------
    >>> import numpy as np
    >>> import unifyarr as ua
    >>> ua.from_dlpack(np.asarray([1, 2]))
    array([1, 2])

    Source: Array API standard 2025.12, ``from_dlpack``.
    """
    named: Any = backend
    if is_array(x):
        named = named or x._backend
        there = device is None or device == x.device
        if named is x._backend and there:
            # As NumPy: another array over the same memory.
            return x.copy() if copy else make_view(x, Window.of_order(x.shape, range(x.ndim)))
    target: Handle = named or backend_of_native(x) or current()
    native_device = None if device is None else target.as_device(device)
    return wrap(target.from_dlpack(x, device=native_device, copy=copy), target)


@creation(kernels=("full",))
def full(
    shape: int | Shape,
    fill_value: Scalar | Array,
    *,
    dtype: DTypeLike | None = None,
    device: object = None,
    backend: str | None = None,
    out: Array | None = None,
) -> Array:
    """Return an array that holds one value everywhere.

    Parameters
    ----------
    shape
        The shape.
    fill_value
        A scalar or a 0-d array.
    dtype
        The dtype; by default that of the value: bool, int64, float64 or complex128 for Python numbers.
    device, backend
        Where the array is made.
    out
        An array of that shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.full(2, 7)
    array([7, 7])

    Source: Array API standard 2025.12, ``full``.
    """
    value, wanted = _fill(fill_value, dtype, backend)  # type: ignore[arg-type]
    return _filled("full", shape, wanted, device, backend, fill_value=value)


def _fill(value: Any, dtype: object, backend: Handle) -> tuple[Scalar, DType]:
    # The Python scalar to fill with, range-checked, and the dtype.
    if type(value) in dtypes.SCALARS:
        wanted = _default(type(value), backend) if dtype is None else dtypes.as_dtype(dtype)
    else:
        data = np.asarray(value)
        if data.ndim:
            raise ShapeError(f"fill_value is a scalar or a 0-d array, not one of shape {data.shape}")
        wanted = dtypes.as_dtype(data.dtype if dtype is None else dtype)
        value = data.item()
    if dtypes.rank(type(value)) == 3 and dtypes.rank(wanted) < 3:
        raise DtypeError(f"fill_value is complex, which {wanted} can't hold")
    with np.errstate(over="ignore"):
        np.asarray(value).astype(wanted.dtype) if dtypes.rank(type(value)) > dtypes.rank(wanted) else np.asarray(
            value, wanted
        )
    return value, wanted


@primary(kernels=("full",))
def full_like(
    x: Array,
    /,
    fill_value: Scalar,
    *,
    dtype: DTypeLike | None = None,
    device: object = None,
    out: Array | None = None,
) -> Array:
    """Return an array of the shape of ``x`` that holds one value everywhere.

    Parameters
    ----------
    x
        An array.
    fill_value
        A scalar or a 0-d array.
    dtype, device
        Those of ``x`` by default.
    out
        An array of that shape for the result.

    Returns
    -------
    Array
        A new array on the backend of ``x``, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.full_like(ua.zeros(2), 7)
    array([7., 7.])

    Source: Array API standard 2025.12, ``full_like``.
    """
    value, wanted = _fill(fill_value, x.dtype if dtype is None else dtype, x._backend)
    return _like("full", x, wanted, device, fill_value=value)


@creation()
def linspace(
    start: complex,
    stop: complex,
    /,
    num: int,
    *,
    dtype: DTypeLike | None = None,
    device: object = None,
    endpoint: bool = True,
    backend: str | None = None,
    out: Array | None = None,
) -> Array:
    """Return ``num`` evenly spaced values from ``start`` to ``stop``.

    Parameters
    ----------
    start, stop
        The first and the last value.
    num
        How many values.
    dtype
        The dtype; float64, or complex128 for complex ends, by default.
    device, backend
        Where the array is made.
    endpoint
        Whether ``stop`` is the last value; without, the values stop one step before it.
    out
        An array of that shape for the result.

    Returns
    -------
    Array
        A new 1-d array, or ``out``.

    Raises
    ------
    ValueError
        If ``num`` is negative.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.linspace(0, 1, 3)
    array([0. , 0.5, 1. ])

    Source: Array API standard 2025.12, ``linspace``.
    """
    is_complex = any(isinstance(each, (complex, np.complexfloating)) for each in (start, stop))
    wanted = _default(complex if is_complex else float, backend) if dtype is None else dtypes.as_dtype(dtype)  # type: ignore[arg-type]
    with np.errstate(invalid="ignore", over="ignore"):
        values = np.linspace(start, stop, operator.index(num), endpoint=endpoint)
        return from_host(values, wanted, device, backend)


@compositional()
def meshgrid(*arrays: Array, indexing: str = "xy", out: tuple[Array, ...] | None = None) -> tuple[Array, ...]:
    """Return coordinate grids from coordinate vectors.

    Parameters
    ----------
    arrays
        1-d arrays of one dtype.
    indexing
        ``"ij"``: the axes are those of the arrays in order; ``"xy"``: the first two change places.
    out
        A tuple of arrays, of the results' shapes, to write the results to; it's returned then.

    Returns
    -------
    tuple of Array
        As many independent arrays of that many dimensions.

    Raises
    ------
    ValueError
        If an array isn't 1-d, or ``indexing`` is something else.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.meshgrid(ua.asarray([1, 2]), ua.asarray([3, 4]))[0]
    array([[1, 2],
           [1, 2]])

    Source: Array API standard 2025.12, ``meshgrid``.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing is 'xy' or 'ij', not {indexing!r}")
    if any(x.ndim > 1 for x in arrays):
        raise ShapeError(f"meshgrid() takes 1-d arrays, not shapes {', '.join(str(x.shape) for x in arrays)}")
    count = len(arrays)
    places = list(range(count))
    if indexing == "xy" and count > 1:
        places[:2] = [1, 0]
    shape = [1] * count
    for x, place in zip(arrays, places, strict=True):
        shape[place] = x.size
    grids = []
    for x, place in zip(arrays, places, strict=True):
        order: Sequence[int | None] = [0 if axis == place else None for axis in range(count)]
        line = make_view(x if x.ndim else x.reshape((1,)), Window.of_order((x.size,), order))
        grids.append(make_view(line, Broadcast(tuple(shape))).copy())
    return tuple(grids)


@creation(kernels=("ones",))
def ones(
    shape: int | Shape,
    *,
    dtype: DTypeLike | None = None,
    device: object = None,
    backend: str | None = None,
    out: Array | None = None,
) -> Array:
    """Return an array of ones.

    Parameters
    ----------
    shape
        The shape.
    dtype
        The dtype; float64 by default.
    device, backend
        Where the array is made.
    out
        An array of that shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.ones(2)
    array([1., 1.])

    Source: Array API standard 2025.12, ``ones``.
    """
    return _filled("ones", shape, dtype, device, backend)


@primary(kernels=("ones",))
def ones_like(x: Array, /, *, dtype: DTypeLike | None = None, device: object = None, out: Array | None = None) -> Array:
    """Return an array of ones of the shape of ``x``.

    Parameters
    ----------
    x
        An array.
    dtype, device
        Those of ``x`` by default.
    out
        An array of that shape for the result.

    Returns
    -------
    Array
        A new array on the backend of ``x``, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.ones_like(ua.asarray([2, 3]))
    array([1, 1])

    Source: Array API standard 2025.12, ``ones_like``.
    """
    return _like("ones", x, dtype, device)


@primary()
def tril(x: Array, /, *, k: int = 0, out: Array | None = None) -> Array:
    """Return the lower triangle of matrices, with zeros above it.

    Parameters
    ----------
    x
        An array of at least two dimensions, whose last two are the matrices.
    k
        The last diagonal that stays: above the main one if positive.
    out
        An array of the same shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``.

    Raises
    ------
    ShapeError
        If ``x`` has fewer than two dimensions.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.tril(ua.asarray([[1, 2], [3, 4]]))
    array([[1, 0],
           [3, 4]])

    Source: Array API standard 2025.12, ``tril``.
    """
    return _triangle("tril", x, k, out)


@primary()
def triu(x: Array, /, *, k: int = 0, out: Array | None = None) -> Array:
    """Return the upper triangle of matrices, with zeros below it.

    Parameters
    ----------
    x
        An array of at least two dimensions, whose last two are the matrices.
    k
        The first diagonal that stays: above the main one if positive.
    out
        An array of the same shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``.

    Raises
    ------
    ShapeError
        If ``x`` has fewer than two dimensions.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.triu(ua.asarray([[1, 2], [3, 4]]))
    array([[1, 2],
           [0, 4]])

    Source: Array API standard 2025.12, ``triu``.
    """
    return _triangle("triu", x, k, out)


def _triangle(kernel: str, x: Array, k: int, out: Array | None) -> Array:
    if x.ndim < 2:
        raise ShapeError(f"{kernel}() takes matrices, of two dimensions or more, not an array of shape {x.shape}")
    return invoke(kernel, x, k=operator.index(k), out=out, result=(x.shape, x.dtype))


@creation(kernels=("zeros",))
def zeros(
    shape: int | Shape,
    *,
    dtype: DTypeLike | None = None,
    device: object = None,
    backend: str | None = None,
    out: Array | None = None,
) -> Array:
    """Return an array of zeros.

    Parameters
    ----------
    shape
        The shape.
    dtype
        The dtype; float64 by default.
    device, backend
        Where the array is made.
    out
        An array of that shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.zeros(2)
    array([0., 0.])

    Source: Array API standard 2025.12, ``zeros``.
    """
    return _filled("zeros", shape, dtype, device, backend)


@primary(kernels=("zeros",))
def zeros_like(
    x: Array, /, *, dtype: DTypeLike | None = None, device: object = None, out: Array | None = None
) -> Array:
    """Return an array of zeros of the shape of ``x``.

    Parameters
    ----------
    x
        An array.
    dtype, device
        Those of ``x`` by default.
    out
        An array of that shape for the result.

    Returns
    -------
    Array
        A new array on the backend of ``x``, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.zeros_like(ua.asarray([2, 3]))
    array([0, 0])

    Source: Array API standard 2025.12, ``zeros_like``.
    """
    return _like("zeros", x, dtype, device)
