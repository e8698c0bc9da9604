"""Products of vectors, matrices and more axes; sums of products."""

from __future__ import annotations

import string
from typing import Any

import numpy

from .. import functions as ua
from .. import linalg
from .._core.arrays.array import Array
from .._core.engines import dtypes
from .._core.values.shapes import as_axis
from ..errors import ShapeError
from ._creation import layout
from ._folding import cast
from ._following import as_array, deliver, follows, together

# The letters of axes that are given as numbers, in their order.
_LETTERS = string.ascii_uppercase + string.ascii_lowercase


@follows(numpy.dot)
def dot(a: Any, b: Any, out: Any = None) -> Array:
    """Multiply two arrays: vectors by their inner product, matrices as matrices, and by a number each element.

    >>> import unifyarr.numpy as np
    >>> np.dot([[1, 2], [3, 4]], [10, 1])
    array([12, 34])
    """
    if out is None and type(a) is Array and type(b) is Array and a.ndim and 0 < b.ndim < 3:
        return ua.matmul(a, b)
    a, b = together(a, b)
    if a.ndim == 0 or b.ndim == 0:
        result = ua.multiply(a, b)
    elif b.ndim <= 2:
        # If b has one axis, that is summed over; if it has two, the first one.
        result = ua.matmul(a, b)
    else:
        result = ua.tensordot(a, b, axes=((-1,), (-2,)))
    if out is None:
        return result
    if getattr(out, "dtype", None) != result.dtype or not layout(as_array(out)).c_contiguous:
        raise ValueError(f"out of dot() is a C-contiguous array of {result.dtype}, the dtype of the result")
    return deliver(result, out)


@follows(numpy.vdot)
def vdot(a: Any, b: Any, /) -> Array:
    """Add up the products of all elements, those of the first array conjugated."""
    a, b = together(a, b)
    return ua.matmul(ua.reshape(ua.conj(a), (-1,)), ua.reshape(b, (-1,)))


@follows(numpy.inner)
def inner(a: Any, b: Any, /) -> Array:
    """Add up the products along the last axis of both arrays."""
    a, b = together(a, b)
    if a.ndim == 0 or b.ndim == 0:
        return ua.multiply(a, b)
    return ua.tensordot(a, b, axes=((-1,), (-1,)))


@follows(numpy.outer)
def outer(a: Any, b: Any, out: Any = None) -> Array:
    """Multiply each element of one array by each of another, both flattened."""
    a, b = together(a, b)
    return deliver(ua.multiply(ua.reshape(a, (-1, 1)), ua.reshape(b, (1, -1))), out)


@follows(numpy.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Array:
    """Add up the products along pairs of axes, given by their number or as two lists."""
    if not hasattr(axes, "__iter__"):
        return ua.tensordot(a, b, axes=axes)
    first, second = ([int(each) for each in numpy.atleast_1d(side)] for side in axes)
    return ua.tensordot(a, b, axes=(first, second))


@follows(numpy.kron)
def kron(a: Any, b: Any) -> Array:
    """Return the Kronecker product: the second array in the place of each element of the first, times that."""
    a, b = together(a, b)
    count = max(a.ndim, b.ndim)
    a, b = (ua.reshape(x, (1,) * (count - x.ndim) + x.shape) for x in (a, b))
    return ua.kron(a, b)


@follows(numpy.cross)
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Array:
    """Return the vectors perpendicular to pairs of vectors of three components, or of two in the plane."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = together(a, b)
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("cross() takes arrays of one axis or more")
    a = ua.moveaxis(a, as_axis(axisa, a.ndim), -1)
    b = ua.moveaxis(b, as_axis(axisb, b.ndim), -1)
    if not {a.shape[-1], b.shape[-1]} <= {2, 3}:
        raise ValueError(f"vectors have three components, or two: shapes {a.shape} and {b.shape} have others")
    x, y = (each[..., 0] for each in (a, b)), (each[..., 1] for each in (a, b))
    (a0, b0), (a1, b1) = x, y
    last: Array = a0 * b1 - a1 * b0
    if a.shape[-1] == b.shape[-1] == 2:
        return last
    a2, b2 = (each[..., 2] if each.shape[-1] == 3 else ua.zeros_like(each[..., 0]) for each in (a, b))
    result = ua.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, last], axis=-1)
    return ua.moveaxis(result, -1, as_axis(axisc, result.ndim))


@follows(numpy.trace)
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Array:
    """Add up the elements of a diagonal."""
    x = as_array(a)
    if x.ndim < 2:
        raise ValueError(f"a diagonal needs two axes, and an array of shape {x.shape} has {x.ndim}")
    first, second = as_axis(axis1, x.ndim), as_axis(axis2, x.ndim)
    if first == second:
        raise ValueError(f"axis1 and axis2 are two axes, not {axis1} and {axis2}")
    return deliver(linalg.trace(ua.moveaxis(x, (first, second), (-2, -1)), offset=offset, dtype=dtype), out)


@follows(numpy.convolve)
def convolve(a: Any, v: Any, mode: str = "full") -> Array:
    """Convolve two sequences."""
    a, v = _sequences(a, v)
    return ua.convolve(a, v, _mode(mode))


def _mode(mode: Any) -> str:
    if isinstance(mode, int) and 0 <= mode <= 2:
        return ("valid", "same", "full")[mode]
    if mode is None:
        raise TypeError("mode is 'full', 'same' or 'valid', not None")
    return mode


@follows(numpy.correlate)
def correlate(a: Any, v: Any, mode: str = "valid") -> Array:
    """Return the products of one sequence with another, conjugated, at each shift against it.

    >>> import unifyarr.numpy as np
    >>> np.correlate([1, 2, 3], [0, 1, 0.5])
    array([3.5])
    """
    a, v = _sequences(a, v)
    if a.shape[0] < v.shape[0]:
        return ua.flip(ua.conj(correlate(v, a, mode)))
    return ua.convolve(a, ua.flip(ua.conj(v)), _mode(mode))


def _sequences(a: Any, v: Any) -> tuple[Array, Array]:
    a, v = together(a, v)
    a, v = (ua.reshape(x, (1,)) if x.ndim == 0 else x for x in (a, v))
    for each in (a, v):
        if each.ndim != 1 or each.size == 0:
            raise ShapeError(f"sequences have one axis and an element or more, not shape {each.shape}")
    wanted = ua.result_type(a, v)
    return a.astype(wanted, copy=False), v.astype(wanted, copy=False)


def _parsed(operands: tuple[Any, ...]) -> tuple[str, list[Array]]:
    """Return subscripts as text and the arrays, where the axes may also have been given as lists of numbers."""
    if not operands:
        raise ValueError("einsum() takes subscripts and arrays, or arrays with a list of axes after each")
    if isinstance(operands[0], str):
        return operands[0], together(*operands[1:])
    count = len(operands) // 2
    inputs = [_lettered(each) for each in operands[1 : 2 * count : 2]]
    subscripts = ",".join(inputs)
    if len(operands) % 2:
        subscripts += "->" + _lettered(operands[-1])
    return subscripts, together(*operands[0 : 2 * count : 2])


def _lettered(axes: Any) -> str:
    if not isinstance(axes, (list, tuple, range)):
        raise TypeError(f"the axes of an array are a list of numbers, not {axes!r}")
    parts = []
    for each in axes:
        if each is Ellipsis:
            parts.append("...")
        elif isinstance(each, str) or not 0 <= each < len(_LETTERS):
            raise ValueError(f"the number of an axis is from 0 to {len(_LETTERS) - 1}, not {each!r}")
        else:
            parts.append(_LETTERS[each])
    return "".join(parts)


@follows(numpy.einsum)
def einsum(*operands: Any, out: Any = None, optimize: Any = False, **kwargs: Any) -> Array:
    """Add up products of elements, whose axes are named by letters.

    The order of the contractions is our own: ``optimize`` is taken, and changes nothing.

    >>> import unifyarr.numpy as np
    >>> np.einsum("ij,j->i", [[1, 2], [3, 4]], [10, 1])
    array([12, 34])
    """
    if (
        out is None
        and not kwargs
        and operands
        and isinstance(operands[0], str)
        and not isinstance(optimize, (list, tuple))
    ):
        return ua.einsum(*operands)
    if unknown := set(kwargs) - {"dtype", "casting", "order"}:
        raise TypeError(f"einsum() takes out, optimize, dtype, casting and order, not {min(unknown)}")
    subscripts, arrays = _parsed(operands)
    if isinstance(optimize, (list, tuple)):
        # A path that doesn't fit is NumPy's error.
        einsum_path(*operands, optimize=optimize)
    # As NumPy, which contracts two arrays after the other by functions that cast as assignments do.
    casting = kwargs.get("casting", "unsafe" if optimize else "safe")
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        raise ValueError(f"casting is 'no', 'equiv', 'safe', 'same_kind' or 'unsafe', not {casting!r}")
    if kwargs.get("dtype") is not None:
        wanted = dtypes.as_dtype(kwargs["dtype"])
        for x in arrays:
            if not numpy.can_cast(x.dtype.dtype, wanted.dtype, casting):
                raise TypeError(f"{x.dtype} can't be cast to {wanted} under {casting!r}: pass casting")
        arrays = [cast(x, wanted) for x in arrays]
    return deliver(ua.einsum(subscripts, *arrays), out, casting=casting)


@follows(numpy.einsum_path)
def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: bool = False) -> Any:
    """Return the order of contractions that NumPy finds for arrays of these shapes, and a text that describes it."""
    subscripts, arrays = _parsed(operands)
    # The values don't matter.
    shapes = [numpy.broadcast_to(numpy.zeros((), x.dtype.dtype), x.shape) for x in arrays]
    return numpy.einsum_path(subscripts, *shapes, optimize=optimize, einsum_call=einsum_call)  # type: ignore[arg-type]
