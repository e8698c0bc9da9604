"""Numbers with equal distances and ratios, and triangles of ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.arrays import convert
from .._core.arrays.array import Array
from .._core.arrays.numbers import as_number
from .._core.declaring.declare import creation
from .._core.engines import dtypes
from .._core.values.arguments import as_integer
from .._core.values.shapes import check_memory
from ._boxes import SpacedValues, floored, is_made_later, made_later
from ._spacing import between
from .creation import default_dtype, native_device, ones, tril
from .elementwise import divide, log10, multiply, pow, sign

if TYPE_CHECKING:
    from ..typing import DTypeLike


# Dtypes in which NumPy counts as far as there is memory.
_COUNTS = (np.float32, np.float64, np.complex64, np.complex128)


@creation()
def linspace(
    start: complex | Array,
    stop: complex | Array,
    /,
    num: int,
    *,
    dtype: DTypeLike | None = None,
    device: object = None,
    endpoint: bool = True,
    backend: str | None = None,
    chunks: Any = None,
    out: Array | None = None,
) -> Array:
    """Return ``num`` evenly spaced values from ``start`` to ``stop``.

    Parameters
    ----------
    start, stop
        The first and the last value: numbers, or 0-d arrays, through which derivatives are taken.
    num
        How many values.
    dtype
        The dtype; by default float64, or complex128 for complex ends, for Python numbers. Floating-point and complex
        0-d arrays, and scalars of NumPy, keep theirs. Integers are the floors of the values.
    device, backend
        Where the array is made.
    endpoint
        Whether ``stop`` is the last value; without, the values stop one step before it.
    chunks
        How the array is divided on an engine with chunks (dask), as ``using_chunks`` takes it; others ignore it.
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
    numbers = as_number(start, "start"), as_number(stop, "stop")
    kinds = [each.kind for each in numbers]
    # NumPy's promotion, except for the defaults of a backend without 64-bit dtypes.
    typed = any(not isinstance(each, type) and dtypes.rank(each) > 1 for each in kinds)
    default = complex if any(dtypes.rank(each) == 3 for each in kinds) else float
    wanted = dtypes.promote(*kinds, float) if typed else default_dtype(default, backend)  # type: ignore[arg-type]
    wanted = wanted if dtype is None else dtypes.as_dtype(dtype)
    count = as_integer(num, "num")
    if any(each.stays for each in numbers):
        there = native_device(device, backend)
        return between(numbers, count, endpoint, wanted, there, backend)  # type: ignore[arg-type]
    if is_made_later(backend, count, wanted):  # type: ignore[arg-type]
        ends = numbers[0].typed, numbers[1].typed
        if np.result_type(*ends, 1.0) in _COUNTS:
            return made_later(SpacedValues(*ends, count, endpoint, wanted.dtype), (count,), wanted, device, backend)  # type: ignore[arg-type]
    with np.errstate(invalid="ignore", over="ignore"):
        values = np.linspace(numbers[0].typed, numbers[1].typed, count, endpoint=endpoint)
        return convert.from_host(floored(values, wanted.dtype), wanted, device, backend)


@creation()
def geomspace(
    start: complex | Array,
    stop: complex | Array,
    /,
    num: int = 50,
    *,
    dtype: DTypeLike | None = None,
    device: object = None,
    endpoint: bool = True,
    backend: str | None = None,
    out: Array | None = None,
) -> Array:
    """Return ``num`` values from ``start`` to ``stop``, each the same multiple of the one before.

    Parameters
    ----------
    start, stop
        The first and the last value, not zero: numbers, or 0-d arrays, through which derivatives are taken.
    num
        How many values.
    dtype
        The dtype; by default as for ``linspace``.
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
        If ``num`` is negative, or one of the ends is zero.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.geomspace(1, 1000, 4)
    array([   1.,   10.,  100., 1000.])

    Source: NumPy, ``geomspace``.
    """
    handle: Any = backend
    count = as_integer(num, "num")
    where: dict[str, Any] = {"device": device, "backend": handle.name}
    numbers = as_number(start, "start"), as_number(stop, "stop")
    if any(not each.stays and not each.value for each in numbers):
        raise ValueError("geomspace() goes from and to numbers that aren't zero: their ratio is needed")
    # As the dtype and the place of the result have them.
    ends = linspace(start, stop, 2, **where)
    first, last = ends[0], ends[1]
    direction = sign(first)
    low, high = (log10(divide(each, direction)) for each in (first, last))
    values = multiply(pow(10.0, linspace(low, high, count, endpoint=endpoint, **where)), direction)
    if count:
        values[0] = first
    if count > 1 and endpoint:
        values[-1] = last
    return values if dtype is None else values.astype(dtype, copy=False)


@creation()
def logspace(
    start: complex | Array,
    stop: complex | Array,
    /,
    num: int = 50,
    *,
    base: complex | Array = 10.0,
    dtype: DTypeLike | None = None,
    device: object = None,
    endpoint: bool = True,
    backend: str | None = None,
    out: Array | None = None,
) -> Array:
    """Return ``num`` powers of a base, whose exponents are evenly spaced from ``start`` to ``stop``.

    Parameters
    ----------
    start, stop
        The first and the last exponent: numbers, or 0-d arrays, through which derivatives are taken.
    num
        How many values.
    base
        The base: a number or a 0-d array.
    dtype
        The dtype; by default that of the powers.
    device, backend
        Where the array is made.
    endpoint
        Whether ``stop`` is the last exponent; without, the exponents stop one step before it.
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
    >>> ua.logspace(0, 3, 4, base=2)
    array([1., 2., 4., 8.])

    Source: NumPy, ``logspace``.
    """
    handle: Any = backend
    exponents = linspace(start, stop, num, device=device, endpoint=endpoint, backend=handle.name)
    powers = pow(base, exponents)
    return powers if dtype is None else powers.astype(dtype, copy=False)


@creation()
def tri(
    n: int,
    m: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: DTypeLike | None = None,
    device: object = None,
    backend: str | None = None,
    out: Array | None = None,
) -> Array:
    """Return a matrix of ones on and below a diagonal, and of zeros above it.

    Parameters
    ----------
    n, m
        How many rows and columns; as many columns as rows by default.
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
        A new array of shape (n, m), or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.tri(2, 3, dtype=int)
    array([[1, 0, 0],
           [1, 1, 0]])

    Source: NumPy, ``tri``.
    """
    handle: Any = backend
    return tril(ones((n, n if m is None else m), dtype=dtype, device=device, backend=handle.name), k=k)


def _grid(places: tuple[np.ndarray, ...], device: object, backend: Any) -> tuple[Array, ...]:
    return tuple(convert.from_host(each, dtypes.int64, device, backend) for each in places)


@creation()
def tril_indices(
    n: int,
    /,
    *,
    k: int = 0,
    m: int | None = None,
    device: object = None,
    backend: str | None = None,
    out: tuple[Array, ...] | None = None,
) -> tuple[Array, ...]:
    """Return the indices of the elements on and below a diagonal of a matrix.

    Parameters
    ----------
    n, m
        How many rows and columns; as many columns as rows by default.
    k
        Which diagonal: above the main one if positive.
    device, backend
        Where the arrays are made.
    out
        A tuple of two arrays, of the results' shapes, to write the results to; it's returned then.

    Returns
    -------
    tuple of Array
        The rows and the columns, 1-d int64 arrays.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.tril_indices(2)
    (array([0, 1, 1]), array([0, 0, 1]))

    Source: NumPy, ``tril_indices``.
    """
    return _grid(_triangle(np.tril_indices, n, k, m), device, backend)


@creation()
def triu_indices(
    n: int,
    /,
    *,
    k: int = 0,
    m: int | None = None,
    device: object = None,
    backend: str | None = None,
    out: tuple[Array, ...] | None = None,
) -> tuple[Array, ...]:
    """Return the indices of the elements on and above a diagonal of a matrix.

    Parameters
    ----------
    n, m
        How many rows and columns; as many columns as rows by default.
    k
        Which diagonal: above the main one if positive.
    device, backend
        Where the arrays are made.
    out
        A tuple of two arrays, of the results' shapes, to write the results to; it's returned then.

    Returns
    -------
    tuple of Array
        The rows and the columns, 1-d int64 arrays.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.triu_indices(2)
    (array([0, 0, 1]), array([0, 1, 1]))

    Source: NumPy, ``triu_indices``.
    """
    return _grid(_triangle(np.triu_indices, n, k, m), device, backend)


def _triangle(indices: Any, n: int, k: int, m: int | None) -> tuple[np.ndarray, ...]:
    n, k = as_integer(n, "the number of rows"), as_integer(k, "the offset of a diagonal")
    m = n if m is None else as_integer(m, "the number of columns")
    if n < 0 or m < 0:
        raise ValueError(f"a matrix has no negative number of rows or columns, as {n} and {m}")
    check_memory((n, m), dtypes.int64)
    return tuple(indices(n, max(-n, min(m, k)), m))


@creation()
def diag_indices(
    n: int,
    ndim: int = 2,
    /,
    *,
    device: object = None,
    backend: str | None = None,
    out: tuple[Array, ...] | None = None,
) -> tuple[Array, ...]:
    """Return the indices of the elements on the main diagonal of an array.

    Parameters
    ----------
    n
        The length of each axis.
    ndim
        How many axes there are.
    device, backend
        Where the arrays are made.
    out
        A tuple of arrays, of the results' shapes, to write the results to; it's returned then.

    Returns
    -------
    tuple of Array
        As many 1-d int64 arrays as there are axes.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.diag_indices(2)
    (array([0, 1]), array([0, 1]))

    Source: NumPy, ``diag_indices``.
    """
    n, ndim = as_integer(n, "the length of an axis"), as_integer(ndim, "the number of axes")
    check_memory((max(n, 0), max(ndim, 0)), dtypes.int64)
    return _grid((np.arange(n),) * ndim, device, backend)
