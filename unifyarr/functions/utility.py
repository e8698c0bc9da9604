"""Tests over whole arrays, and differences."""

from __future__ import annotations

from .._core.arrays.array import Array
from .._core.calling.invoke import attempt, invoke
from .._core.declaring.declare import mixed, primary
from .._core.engines import dtypes
from .._core.values.shapes import as_axes, as_axis, reduced, spliced
from .elementwise import not_equal, subtract
from .manipulation import concat

Axis = int | tuple[int, ...] | None


def _test(name: str, x: Array, axis: Axis, keepdims: bool, out: Array | None) -> Array:
    axes = as_axes(axis, x.ndim)
    result = (reduced(x.shape, axes, keepdims), dtypes.bool)
    return invoke(name, x, axis=axes, keepdims=bool(keepdims), out=out, result=result)


@primary()
def all(x: Array, /, *, axis: Axis = None, keepdims: bool = False, out: Array | None = None) -> Array:
    """Test whether all elements are true, that is not zero; of none, they are.

    Parameters
    ----------
    x
        An array.
    axis
        One or several axes; ``None`` means all.
    keepdims
        Whether the axes stay, with length one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new bool array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.all(ua.asarray([True, False]))
    array(False)

    Source: Array API standard 2025.12, ``all``.
    """
    return _test("all", x, axis, keepdims, out)


@primary()
def any(x: Array, /, *, axis: Axis = None, keepdims: bool = False, out: Array | None = None) -> Array:
    """Test whether any element is true, that is not zero; of none, none is.

    Parameters
    ----------
    x
        An array.
    axis
        One or several axes; ``None`` means all.
    keepdims
        Whether the axes stay, with length one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new bool array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.any(ua.asarray([True, False]))
    array(True)

    Source: Array API standard 2025.12, ``any``.
    """
    return _test("any", x, axis, keepdims, out)


@mixed(kernels=("diff",))
def diff(
    x: Array,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: Array | None = None,
    append: Array | None = None,
    out: Array | None = None,
) -> Array:
    """Compute differences of neighbours along an axis.

    Parameters
    ----------
    x
        An array of at least one dimension.
    axis
        The axis.
    n
        How many times.
    prepend, append
        Arrays to join to ``x`` before and after, along the axis.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array, shorter by ``n``, or ``out``; of bools, whether neighbours differ.

    Raises
    ------
    ValueError
        If ``n`` is negative.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.diff(ua.asarray([1, 4, 9]))
    array([3, 5])

    Source: Array API standard 2025.12, ``diff``.
    """
    if n < 0:
        raise ValueError(f"n is not negative, unlike {n}")
    axis = as_axis(axis, x.ndim)
    if prepend is not None or append is not None:
        x = concat([each for each in (prepend, x, append) if each is not None], axis=axis)
    if n == 1 and x.shape[axis]:
        shape = spliced(x.shape, axis, axis + 1, x.shape[axis] - 1)
        found = attempt("diff", x, axis=axis, out=out, result=(shape, x.dtype))
        if found is not None:
            return found
    before = (slice(None),) * axis
    difference = not_equal if x.dtype == dtypes.bool else subtract
    # Taking as many differences as there are elements leaves none.
    times = min(n, x.shape[axis])
    for left in range(times, 0, -1):
        target = out if left == 1 else None
        x = difference(x[(*before, slice(1, None))], x[(*before, slice(None, -1))], out=target)
    return x if times else concat([x], axis=axis, out=out)
