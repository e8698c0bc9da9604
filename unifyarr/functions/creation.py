"""Functions that make arrays: on the backend they name, else on that of ``out``, else on the current one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.arrays import convert
from .._core.arrays.array import Array, wrap
from .._core.arrays.numbers import as_number
from .._core.arrays.ownership import read
from .._core.arrays.recipes import make_view
from .._core.arrays.views import Broadcast, Window
from .._core.arrays.weak import WeakFloat, known
from .._core.calling.invoke import invoke
from .._core.declaring.declare import compositional, creation, primary
from .._core.engines import dtypes
from .._core.engines.current import current
from .._core.engines.handle import Handle
from .._core.engines.natives import backend_of_native
from .._core.engines.registry import load
from .._core.engines.tracing import capture, recording, running, unrepeatable
from .._core.values.lengths import PartialShape
from .._core.values.shapes import as_offset, as_shape, check_memory
from .._core.writing.inplace import repeated_like
from ..backends.base.deferring import wanting_chunks
from ..errors import CopyError, DtypeError, ProtocolError, ShapeError
from ..typing import Shape
from ._boxes import CountedValues, EyeValues, is_made_later, made_later
from ._from_numbers import counted, filled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.engines.dtypes import DType
    from ..typing import ArrayLike, DTypeLike, Scalar


def default_dtype(kind: type, backend: Handle) -> DType:
    """Return the default dtype for Python numbers: of 32 bits if the backend has no 64-bit dtypes."""
    wide, narrow = {
        bool: (dtypes.bool, dtypes.bool),
        int: (dtypes.int64, dtypes.int32),
        float: (dtypes.float64, dtypes.float32),
        complex: (dtypes.complex128, dtypes.complex64),
    }[kind]
    return wide if convert.has_dtype(backend, wide) else narrow


def native_device(device: object, backend: Any) -> Any:
    """Return the backend's own device for a user's device."""
    return None if device is None else backend.as_device(device)


def _filled(kernel: str, shape: object, dtype: object, device: object, backend: Any, **static: Any) -> Array:
    native_device = None if device is None else backend.as_device(device)
    wanted = default_dtype(float, backend) if dtype is None else dtypes.as_dtype(dtype)
    convert.check_dtype(backend, wanted, native_device)
    lengths = as_shape(shape)
    check_memory(lengths, wanted)
    static |= {"shape": lengths, "dtype": wanted.dtype, "device": native_device}
    make = backend.kernel(kernel)
    made = wrap(make(**static), backend)
    notes = recording()
    if notes is not None:
        notes.call(make, (), static, made)
    return made


@creation()
def arange(
    start: float | Array,
    /,
    stop: float | Array | None = None,
    step: float | Array = 1,
    *,
    dtype: DTypeLike | None = None,
    device: object = None,
    backend: str | None = None,
    chunks: Any = None,
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
        The distance, not zero. All three are numbers or 0-d arrays, through which derivatives are taken.
    dtype
        The dtype; int64 where all three are integers, else float64.
    device, backend
        Where the array is made.
    chunks
        How the array is divided on an engine with chunks (dask), as ``using_chunks`` takes it; others ignore it.
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
    first, last = (0, start) if stop is None else (start, stop)
    numbers = as_number(first, "start"), as_number(last, "stop"), as_number(step, "step")
    begin, end, distance = (each.known for each in numbers)
    if distance == 0:
        raise ValueError("arange() takes a step that isn't zero")
    integral = all(dtypes.rank(each.kind) <= 1 for each in numbers)
    wanted = default_dtype(int if integral else float, backend) if dtype is None else dtypes.as_dtype(dtype)  # type: ignore[arg-type]
    # The length follows from the arguments as they were passed, before they are rounded to the dtype.
    count = max(-((begin - end) // distance) if integral else math.ceil((end - begin) / distance), 0)
    if numbers[0].stays or numbers[2].stays:
        there = native_device(device, backend)
        return counted((numbers[0], numbers[2]), count, wanted, there, backend)  # type: ignore[arg-type]
    exact = wanted.dtype if dtypes.rank(wanted) == 1 else None
    if exact is not None and not integral and count:
        # As NumPy counts: from the first value, by its distance to the second one, both truncated.
        second = math.trunc(begin + distance)
        begin = math.trunc(begin)
        distance = second - begin
    if is_made_later(backend, count, wanted):  # type: ignore[arg-type]
        return made_later(CountedValues(begin, distance, exact, wanted.dtype), (count,), wanted, device, backend)  # type: ignore[arg-type]
    if exact is not None and not integral:
        values = CountedValues(begin, distance, exact, wanted.dtype)((0,), (count,))
    else:
        values = np.arange(begin, end, distance, dtype=exact) if count else np.empty(0, wanted.dtype)
    return convert.from_host(values if values.size == count else values[:count], wanted, device, backend)


@creation(view_map={0: (0,)})
def array(
    obj: ArrayLike,
    /,
    *,
    dtype: DTypeLike | None = None,
    device: object = None,
    copy: bool | None = True,
    backend: str | None = None,
    chunks: Any = None,
    out: Array | None = None,
) -> Array:
    """Make an array of memory of its own, as NumPy's ``array`` does; ``asarray`` shares memory where it can.

    Parameters
    ----------
    obj
        The data, as ``asarray`` takes them.
    dtype
        The dtype; by default that of ``obj``.
    device
        The device; by default that of ``obj`` or of the backend.
    copy
        ``None`` and ``False`` mean the same as for ``asarray``.
    backend
        The backend, by name.
    chunks
        How the array is divided on an engine with chunks (dask), as ``using_chunks`` takes it; others ignore it.
    out
        An array of the same shape for the values.

    Returns
    -------
    Array
        A new array, or ``out``.

    Raises
    ------
    DtypeError
        If there's no dtype for the data.
    CopyError
        If ``copy=False`` and only a copy will do.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.zeros(2)
    >>> y = ua.array(x)
    >>> y += 1
    >>> x, ua.array([1, 2])
    (array([0., 0.]), array([1, 2]))

    Source: NumPy's ``array``; ``backend`` is our own.
    """
    name = backend.name if isinstance(backend, Handle) else backend
    return asarray(obj, dtype=dtype, device=device, copy=copy, backend=name)


@creation(view_map={0: (0,)}, fast=True)
def asarray(
    obj: ArrayLike,
    /,
    *,
    dtype: DTypeLike | None = None,
    device: object = None,
    copy: bool | None = None,
    backend: str | None = None,
    chunks: Any = None,
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
    chunks
        How the array is divided on an engine with chunks (dask), as ``using_chunks`` takes it; others ignore it.
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
    if isinstance(obj, Array):
        x = obj
    elif type(obj) not in _IN_MEMORY and (later := _read_later(obj, named, device, copy)) is not None:
        x, device = later, None
    elif (own := backend_of_native(obj)) is not None:
        x = convert.lift(obj, own)
    elif isinstance(obj, np.ndarray) and obj.dtype in dtypes.BY_NUMPY:
        # A backend whose natives are NumPy arrays takes subclasses too, such as np.memmap.
        chosen = load((named or current()).name)
        native: Any = np.asarray(obj)
        x = wrap(native, chosen) if isinstance(obj, chosen.native_types) else None
    elif convert.says_values(obj):
        # It says whether it has copied.
        obj, copy = convert.said_by(obj, copy)
        x = obj if isinstance(obj, Array) else None
    x = None if x is None else capture(x)
    if x is None:
        plain = convert.holds_numbers(obj)
        target = (named or current()) if plain else convert.common_backend([obj], named)
        if copy is False:
            raise CopyError(f"asarray() can't make an array of a {type(obj).__name__} without a copy")
        native_device = None if device is None else target.as_device(device)
        data = _weakdefault_dtype(obj, wanted, target)
        return wrap(convert.from_data(data, target, wanted, native_device, plain=plain), target)
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


# Data of these types isn't in a file.
_IN_MEMORY = frozenset({np.ndarray, list, tuple, float, int, bool, complex})


def _read_later(obj: object, named: Handle | None, device: object, copy: bool | None) -> Array | None:
    # The content of a file isn't shared memory: it's read when it's computed, unless the caller wants a copy now.
    return None if copy else convert.read_later(obj, named or current(), device)


def _weakdefault_dtype(obj: object, wanted: DType | None, backend: Handle) -> object:
    # Python numbers without a given dtype get the backend's defaults, if it has no 64-bit dtypes.
    if (
        wanted is None
        and not isinstance(obj, (np.ndarray, np.generic))
        and not convert.has_dtype(backend, dtypes.float64)
    ):
        data = convert.to_numpy(obj)
        narrow = {"i": int, "f": float, "c": complex}.get(data.dtype.kind)
        return data if narrow is None else data.astype(default_dtype(narrow, backend).dtype)
    return obj


@creation(kernels=("empty",))
def empty(
    shape: int | Shape,
    *,
    dtype: DTypeLike | None = None,
    device: object = None,
    backend: str | None = None,
    chunks: Any = None,
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
    chunks
        How the array is divided on an engine with chunks (dask), as ``using_chunks`` takes it; others ignore it.
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
    x: Array, /, *, dtype: DTypeLike | None = None, device: object = None, chunks: Any = None, out: Array | None = None
) -> Array:
    """Return an array of the shape of ``x`` whose values are not set.

    Parameters
    ----------
    x
        An array.
    dtype, device
        Those of ``x`` by default.
    chunks
        How the array is divided on an engine with chunks (dask), as ``using_chunks`` takes it; as ``x`` by default.
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
    return _like("empty", x, dtype, device, chunks)


def _like(kernel: str, x: Array, dtype: object, device: object, chunks: Any) -> Array:
    wanted = x.dtype if dtype is None else dtype
    if type(x.shape) is PartialShape and chunks is None:
        return _repeated_like(_filled(kernel, (), wanted, x.device if device is None else device, x._backend), x)
    with _divided_like(x, chunks):
        return _filled(kernel, x.shape, wanted, place_like(x) if device is None else device, x._backend)


def _repeated_like(number: Array, x: Array) -> Array:
    # Nothing but ``x`` knows the lengths.
    return wrap(repeated_like(read(number), x.astype(number.dtype)), x._backend)


@contextmanager
def _divided_like(x: Array, chunks: Any) -> Iterator[None]:
    """Divide new arrays as an array is, unless the caller wants other chunks."""
    if chunks is not None or x._backend.has_values or running() is not None:
        yield
        return
    # Another array of the same shape may have other chunks.
    unrepeatable()
    with wanting_chunks(getattr(x, "chunks", "auto")):
        yield


def place_like(x: Array) -> Any:
    """Return where an array like another goes, ``None`` where the engine moves that one to those that it meets."""
    return None if convert.device_of([x], x._backend) is None else x.device


def full_beside(x: Array, shape: Shape, value: Any, dtype: DType) -> Array:
    """Return an array that holds one value everywhere, on the backend and the device of ``x``."""
    return _filled("full", shape, dtype, place_like(x), x._backend, fill_value=value)


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
    chunks: Any = None,
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
    chunks
        How the array is divided on an engine with chunks (dask), as ``using_chunks`` takes it; others ignore it.
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
    wanted = default_dtype(float, backend) if dtype is None else dtypes.as_dtype(dtype)  # type: ignore[arg-type]
    rows, columns = as_shape((n_rows, n_rows if n_cols is None else n_cols))
    check_memory((rows, columns), wanted)
    offset = as_offset(k, (rows, columns))
    if is_made_later(backend, rows * columns, wanted):  # type: ignore[arg-type]
        return made_later(EyeValues(offset, wanted.dtype), (rows, columns), wanted, device, backend)  # type: ignore[arg-type]
    return convert.from_host(np.eye(rows, columns, offset, dtype=wanted.dtype), wanted, device, backend)


@creation(view_map={0: (0,)})
def from_dlpack(
    x: ArrayLike,
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
    if isinstance(x, Array):
        named = named or x._backend
        there = device is None or device == x.device
        if named is x._backend and there:
            # As in NumPy, the result is another array over the same memory.
            return x.copy() if copy else make_view(x, Window.of_order(x.shape, range(x.ndim)))
    if not (hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__")):
        raise ProtocolError(
            f"from_dlpack() takes an object with __dlpack__ and __dlpack_device__, not {type(x).__name__}: "
            "use asarray()"
        )
    own = backend_of_native(x)
    if own is not None:
        # TensorFlow aborts the process for elements of a dtype that it doesn't know.
        convert.lift(x, own)
    target: Handle = named or own or current()
    native_device = None if device is None else target.as_device(device)
    return wrap(target.from_dlpack(x, device=native_device, copy=copy), target)


@creation(kernels=("full",), takes_numbers=True)
def full(
    shape: int | Shape,
    fill_value: Scalar | Array,
    *,
    dtype: DTypeLike | None = None,
    device: object = None,
    backend: str | None = None,
    chunks: Any = None,
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
    chunks
        How the array is divided on an engine with chunks (dask), as ``using_chunks`` takes it; others ignore it.
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
    return _full(fill_value, shape, dtype, device, backend)  # type: ignore[arg-type]


def _full(given: Any, shape: object, dtype: object, device: object, backend: Handle) -> Array:
    number = as_number(given, "fill_value")
    value, kind = number.value, number.kind
    default = default_dtype(kind, backend) if isinstance(kind, type) else kind
    wanted = default if dtype is None else dtypes.as_dtype(dtype)
    if dtypes.rank(kind) == 3 and dtypes.rank(wanted) < 3:
        raise DtypeError(f"fill_value is complex, which {wanted} can't hold")
    if number.stays:
        there = native_device(device, backend)
        convert.check_dtype(backend, wanted, there)
        return filled(number, as_shape(shape), wanted, there, backend)
    if type(value) is WeakFloat and dtypes.rank(wanted) > 1:
        there = native_device(device, backend)
        convert.check_dtype(backend, wanted, there)
        return make_view(convert.scalar_array(value, wanted, backend, there), Broadcast(as_shape(shape))).copy()
    value = known(value)
    # Raises for values beyond the range of the dtype.
    with np.errstate(over="ignore"):
        np.asarray(value).astype(wanted.dtype) if dtypes.rank(type(value)) > dtypes.rank(wanted) else np.asarray(
            value, wanted
        )
    return _filled("full", shape, wanted, device, backend, fill_value=value)


@primary(kernels=("full",), takes_numbers=True)
def full_like(
    x: Array,
    /,
    fill_value: Scalar | Array,
    *,
    dtype: DTypeLike | None = None,
    device: object = None,
    chunks: Any = None,
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
    chunks
        How the array is divided on an engine with chunks (dask), as ``using_chunks`` takes it; as ``x`` by default.
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
    there = place_like(x) if device is None else device
    if type(x.shape) is PartialShape and chunks is None:
        return _repeated_like(_full(fill_value, (), x.dtype if dtype is None else dtype, there, x._backend), x)
    with _divided_like(x, chunks):
        return _full(fill_value, x.shape, x.dtype if dtype is None else dtype, there, x._backend)


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
    chunks: Any = None,
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
    chunks
        How the array is divided on an engine with chunks (dask), as ``using_chunks`` takes it; others ignore it.
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
def ones_like(
    x: Array, /, *, dtype: DTypeLike | None = None, device: object = None, chunks: Any = None, out: Array | None = None
) -> Array:
    """Return an array of ones of the shape of ``x``.

    Parameters
    ----------
    x
        An array.
    dtype, device
        Those of ``x`` by default.
    chunks
        How the array is divided on an engine with chunks (dask), as ``using_chunks`` takes it; as ``x`` by default.
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
    return _like("ones", x, dtype, device, chunks)


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
    return invoke(kernel, x, k=as_offset(k, x.shape), out=out, result=(x.shape, x.dtype))


@creation(kernels=("zeros",))
def zeros(
    shape: int | Shape,
    *,
    dtype: DTypeLike | None = None,
    device: object = None,
    backend: str | None = None,
    chunks: Any = None,
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
    chunks
        How the array is divided on an engine with chunks (dask), as ``using_chunks`` takes it; others ignore it.
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
    x: Array, /, *, dtype: DTypeLike | None = None, device: object = None, chunks: Any = None, out: Array | None = None
) -> Array:
    """Return an array of zeros of the shape of ``x``.

    Parameters
    ----------
    x
        An array.
    dtype, device
        Those of ``x`` by default.
    chunks
        How the array is divided on an engine with chunks (dask), as ``using_chunks`` takes it; as ``x`` by default.
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
    return _like("zeros", x, dtype, device, chunks)
