"""Updating arrays in place, and asking whether that is possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .. import functions
from .._core.arrays.array import Array, wrap
from .._core.arrays.leaving import knows_values
from .._core.arrays.nest import Nest
from .._core.arrays.ownership import read
from .._core.calling.mapping import check_leaves, update_nest
from .._core.engines.current import current
from .._core.engines.handle import Handle
from .._core.engines.refusals import explains
from .._core.engines.registry import load
from .._core.values.called import boundary
from .._core.values.shapes import as_axis
from .._core.writing.inplace import as_target, check_target, update
from ..errors import BackendFeatureError, InplaceUpdateError, ShapeError

if TYPE_CHECKING:
    from ..typing import ArrayLike, DTypeLike

Target = TypeVar("Target")


@boundary
@explains("inplace_update()")
def inplace_update(x: Target, val: ArrayLike, ensure_in_backend: bool = False) -> Target:
    """Overwrite all elements of an array.

    Parameters
    ----------
    x
        An ``Array``, a view, an engine's own array that can be written, or a ``Container``, whose leaves are all
        written, or none of them.
    val
        An array or a scalar that broadcasts to ``x`` and casts to its dtype under ``same_kind``; for a container, what
        does so for each leaf, or a container of the same structure.
    ensure_in_backend
        Whether the native array itself has to change; without, arrays of engines that can't do so get another native
        array, and every ``unifyarr`` view and base sees the update.

    Returns
    -------
    x
        The very object that was passed.

    Raises
    ------
    InplaceUpdateError
        If the native array can't change and ``ensure_in_backend`` insists on it, or ``x`` is a native array that can't.
    TracedMutationError
        If ``x`` was made outside the running trace.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.zeros(3)
    >>> y = x[1:]
    >>> ua.inplace_update(x, ua.asarray([1.0, 2.0, 3.0])) is x
    True
    >>> y
    array([2., 3.])
    """
    if isinstance(x, Nest):
        update_nest(x, val, ensure_in_backend)
    else:
        update(as_target(x, "x"), val, ensure_in_backend=ensure_in_backend)
    return x


@boundary
def variable(
    x: ArrayLike, /, *, dtype: DTypeLike | None = None, device: object = None, backend: str | None = None
) -> Array:
    """Make an array whose native the engine itself writes in place.

    That is a ``tf.Variable`` on TensorFlow, a mutable reference (``jax.Ref``) on JAX, and an ordinary array
    elsewhere. Writes to it pass ``ensure_in_backend=True`` on every backend, inside ``jax.jit`` and ``tf.function``
    too.
    Eager writes to a reference of JAX cost a copy of it, which writes to an ordinary array of ``unifyarr`` avoid.

    Parameters
    ----------
    x
        An array, or data, of any shape: its values are copied. In a container, every leaf becomes a variable.
    dtype
        The dtype; by default that of ``x``.
    device
        The device; by default that of ``x`` or of the backend.
    backend
        The backend, by name; by default that of ``x``, or the current one.

    Returns
    -------
    Array
        A new array over the holder, which is its ``native``.

    Raises
    ------
    BackendFeatureError
        If the engine has nothing that it writes in place.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.variable([1.0, 2.0, 3.0])
    >>> native = x.native
    >>> ua.inplace_update(x[1:], 0.0, ensure_in_backend=True)
    array([0., 0.])
    >>> x.native is native
    True
    """
    if isinstance(x, Nest):
        leaves = [variable(each, dtype=dtype, device=device, backend=backend) for each in x.leaves()]
        return x._with_leaves(leaves)
    if backend is not None:
        load(backend)
    array = functions.asarray(x, dtype=dtype, device=device, backend=backend, copy=True)
    if isinstance(array, Nest):
        raise TypeError("a container stands for x of variable() alone, not for its dtype or device")
    handle = array._backend
    if handle.has_variables:
        return wrap(handle.variable(read(array)), handle)
    if not handle.mutable:
        raise BackendFeatureError(f"backend {handle.name!r} has nothing that its engine writes in place")
    return array


@boundary
@explains("inplace_increment()")
def inplace_increment(x: Target, val: ArrayLike, ensure_in_backend: bool = False) -> Target:
    """Add to all elements of an array; see ``inplace_update``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.inplace_increment(ua.asarray([1, 2]), 10)
    array([11, 12])
    """
    return _combine(functions.add, x, val, ensure_in_backend)


@boundary
@explains("inplace_decrement()")
def inplace_decrement(x: Target, val: ArrayLike, ensure_in_backend: bool = False) -> Target:
    """Subtract from all elements of an array; see ``inplace_update``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.inplace_decrement(ua.asarray([11, 12]), 10)
    array([1, 2])
    """
    return _combine(functions.subtract, x, val, ensure_in_backend)


@boundary
@explains("put_along_axis()")
def put_along_axis(x: Target, indices: ArrayLike, values: ArrayLike, /, *, axis: int | None = -1) -> Target:
    """Write elements along an axis, at indices of their own for each place beside it: where ``take_along_axis`` reads.

    Parameters
    ----------
    x
        An ``Array``, a view, or an engine's own array that can be written.
    indices
        An array of integers of as many dimensions, which broadcasts with ``x`` but for ``axis``.
    values
        An array or a scalar that broadcasts to the shape of ``indices``. If an element gets several
        values, one of them stays.
    axis
        The axis; ``None`` takes indices into the flattened array.

    Returns
    -------
    x
        The very object that was passed.

    Raises
    ------
    IndexError
        If an index is out of bounds.
    ShapeError
        If ``indices`` has another number of dimensions, or the shapes don't broadcast.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.put_along_axis(ua.zeros((2, 2)), ua.asarray([[1], [0]]), 5.0)
    array([[0., 5.],
           [5., 0.]])

    Source: NumPy, ``put_along_axis``.
    """
    target = as_target(x, "x")
    places = functions.asarray(indices, backend=target._backend.name)
    if axis is None:
        if places.ndim != 1:
            raise ShapeError(f"put_along_axis() takes 1-d indices without an axis, not of shape {places.shape}")
        flat = functions.remainder(places, max(target.size, 1))
        # Indices modulo the size would be in bounds.
        within = functions.where(functions.less(places, 0), functions.add(places, target.size), places)
        outside = functions.any(functions.not_equal(flat, within))
        if knows_values(outside) and bool(outside):
            raise IndexError(f"an index of put_along_axis() is out of bounds for {target.size} elements")
        target[functions.unravel_index(flat, target.shape)] = values
        return x
    if places.ndim != target.ndim:
        raise ShapeError(f"put_along_axis() takes indices of {target.ndim} dimensions, as x has, not {places.ndim}")
    axis = as_axis(axis, target.ndim)
    key: list[Any] = [
        np.arange(length).reshape((-1,) + (1,) * (target.ndim - place - 1)) for place, length in enumerate(target.shape)
    ]
    key[axis] = places
    target[tuple(key)] = values
    return x


def _combine(function: Callable[..., Any], x: Target, val: Any, ensure_in_backend: bool) -> Target:
    if isinstance(x, Nest):
        check_leaves(x, ensure_in_backend)
        function(x, val, out=x)
    else:
        target = as_target(x, "x")
        check_target(target, ensure_in_backend)
        function(target, val, out=target)
    return x


def _named(backend: str | None) -> Handle:
    return current() if backend is None else load(backend)


@boundary
def inplace_arrays_supported(backend: str | None = None) -> bool:
    """Return whether the arrays of a backend, the current one by default, are written in place by their engine.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.inplace_arrays_supported("numpy")
    True
    """
    return bool(_named(backend).mutable)


@boundary
def inplace_variables_supported(backend: str | None = None) -> bool:
    """Return whether a backend, the current one by default, has natives that are written in place: arrays or variables.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.inplace_variables_supported("numpy")
    True
    """
    handle = _named(backend)
    return bool(handle.mutable or handle.engine.has_variables)


@boundary
def supports_inplace_updates(x: Any) -> bool:
    """Return whether a write to ``x`` changes the native memory: ``ensure_in_backend=True`` would not raise.

    Parameters
    ----------
    x
        An array, an engine's own, or a container, of which every leaf has to.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.supports_inplace_updates(ua.asarray([1, 2], backend="numpy"))
    True
    """
    try:
        return assert_supports_inplace(x)
    except (InplaceUpdateError, ValueError):
        return False


@boundary
def assert_supports_inplace(x: Any) -> bool:
    """Raise ``InplaceUpdateError`` unless a write to ``x`` changes the native memory; else return ``True``.

    Parameters
    ----------
    x
        An array, an engine's own, or a container, of which every leaf has to.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.assert_supports_inplace(ua.asarray([1, 2], backend="numpy"))
    True
    """
    if isinstance(x, Nest):
        check_leaves(x, ensure_in_backend=True)
    else:
        check_target(as_target(x, "x"), ensure_in_backend=True)
    return True
