"""``x[mask] = s``: one value where a mask of the whole shape is true, which needs no positions."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ...errors import ShapeError
from ...typing import Shape
from ..arrays import convert
from ..arrays.array import Array, wrap
from ..arrays.ownership import LOCK, MANY, read, rebind
from ..arrays.slots import Slots
from ..arrays.views import Masked, MaskedByValue, Places
from ..arrays.weak import kind_of
from ..engines import dtypes
from ..engines.handle import Handle, has_one_device
from ..engines.tracing import mode
from ..values.lengths import PartialShape, equal_as_known, leading, shape_of
from ..values.native import Native
from ..values.shapes import broadcast
from .inplace import assign, check_target, fit, fit_dtype, repeated_like

_WHAT = "the masked part"
_BOOL = np.dtype(bool)


def is_mask(key: object, x: Array) -> bool:
    """Return whether a key is an array of as many truth values as an array has elements, as far as its rank says."""
    return isinstance(key, (Array, np.ndarray)) and key.dtype == dtypes.bool and key.ndim == x.ndim > 0


def chooses(key: object, x: Array) -> bool:
    """Return whether a key is a mask of leading axes, on an engine that knows no number of positions beforehand."""
    if x._backend.has_shapes or not isinstance(key, (Array, np.ndarray)) or key.dtype != dtypes.bool:
        return False
    return key.ndim <= x.ndim and 0 not in key.shape


def select(x: Array, key: object) -> Array:
    """Return ``x[mask]``, of a length that isn't known before it's computed."""
    mask = _fitting(x, key)
    return wrap(x._backend.kernel("select")(read(x), read(mask)), x._backend)


def put_selected(x: Array, key: object, value: Any) -> None:
    """Write ``x[mask] = value``: one value, or as many as the mask selects, which shows when they are computed."""
    mask = _fitting(x, key)
    check_target(x)
    shape = x.shape[mask.ndim :]
    native: Any = None
    given: Shape = ()
    if kind_of(value) not in dtypes.SCALARS:
        native, given = fit_dtype(value, x, what=_WHAT, assigned=True)
        value = wrap(native, x._backend)
    if len(given) <= len(shape):
        native = fit(value, x, shape, exact=False, what=_WHAT, assigned=True)
        assign(x, native, Masked(_spread(mask, x)))
        return
    # As NumPy, leading axes of length one fall away.
    while len(given) > len(shape) + 1 and given[0] == 1:
        given = given[1:]
        native = x._backend.kernel("reshape")(native, shape=given)
    if len(given) > len(shape) + 1 or broadcast(given[1:], shape) != shape:
        raise ShapeError(f"{_WHAT} has one axis of elements and {shape} beside it, but the value has {given!r}")
    if given[1:] != shape:
        native = x._backend.kernel("broadcast_to")(native, shape=(given[0], *shape))
    assign(x, native, MaskedByValue(read(mask)))


def count(x: Slots, /) -> object:
    """Return the number of elements of an array of unknown lengths as a 0-d array."""
    array: Any = x
    return wrap(array._backend.count(read(array)), array._backend)


def _fitting(x: Array, key: object) -> Array:
    mask = convert.as_array(key, x._backend)
    lengths = leading(x.shape, mask.ndim)
    if not equal_as_known(mask.shape, lengths):
        raise IndexError(f"a mask of shape {mask.shape} can't index axes of lengths {lengths}")
    return mask


def put_at_places(x: Array, mask: Array, places: Array, place: int, value: Any) -> None:
    """Write where a mask of leading axes is true, in a trace: ``places`` has where, and ``place`` is the axis for them.

    One value for all places is chosen by the mask, which needs no places.
    """
    backend, rest = x._backend, x.shape[mask.ndim :]
    shape = rest[:place] + places.shape + rest[place:]
    native: Any = None
    given: tuple[Any, ...] = ()
    if kind_of(value) not in dtypes.SCALARS:
        native, given = fit_dtype(value, x, what=_WHAT, assigned=True)
        # As NumPy, leading axes of length one fall away.
        while len(given) > len(shape) and tuple.__getitem__(given, 0) == 1:
            given = given[1:]
            native = backend.kernel("reshape")(native, shape=given)
    # The axis of the value that goes through the places, if it has one, and the lengths of the others.
    axis = len(given) - len(shape) + place
    others = given if axis < 0 else given[:axis] + given[axis + 1 :]
    if len(given) > len(shape) or broadcast(others, rest) != rest:
        raise ShapeError(f"{_WHAT} has shape {shape}, but the value has {given}")
    number = 1 if axis < 0 else tuple.__getitem__(given, axis)
    if number == 1:
        if native is not None:
            value = wrap(native if axis < 0 else backend.kernel("reshape")(native, shape=others), backend)
        native = fit(value, x, rest, exact=False, what=_WHAT, assigned=True)
        if not _is_empty(mask.shape, x.shape):
            assign(x, native, Masked(_spread(mask, x)))
        return
    if others != rest:
        whole = (*rest[:place], number, *rest[place:])
        true = convert.scalar(True, dtypes.bool, backend, convert.device_of([x], backend))
        true = backend.kernel("broadcast_to")(true, shape=(*rest[:place], 1, *rest[place:]))
        native = backend.kernel("where")(true, native, native, result=(shape_of(whole), x.dtype.dtype))
    assign(x, move(backend, native, 1, place, back=True), Places(read(places), mask.ndim))


def _spread(mask: Array, x: Array) -> Any:
    # A mask of leading axes as one of the whole shape.
    backend = x._backend
    shape = (*tuple.__iter__(mask.shape), *[1] * (x.ndim - mask.ndim))
    spread = backend.kernel("reshape")(read(mask), shape=shape) if x.ndim > mask.ndim else read(mask)
    if type(x.shape) is PartialShape:
        return repeated_like(spread, x.astype(dtypes.bool))
    return backend.kernel("broadcast_to")(spread, shape=x.shape)


def move(backend: Handle, native: Native, count: int, place: int, back: bool = False) -> Native:
    """Move the leading axes to their positions in the result of an index, or back from there."""
    if not place or not count:
        return native
    ndim = len(backend.shape(native))
    order = [*range(count, count + place), *range(count), *range(count + place, ndim)]
    if back:
        order = [int(axis) for axis in np.argsort(order)]
    return backend.kernel("permute_dims")(native, axes=tuple(order))


def put_mask(x: Array, key: object, value: object) -> bool:
    """Write one value where a mask is true; return ``False`` for other keys and shapes, and for several values."""
    if type(x) is Array is type(key) and (type(value) is int or type(value) is float) and _put_number(x, key, value):
        return True
    if not is_mask(key, x):
        return False
    # A trace couldn't know how many positions there are.
    mask = convert.as_array(key, x._backend)
    one_value = kind_of(value) in dtypes.SCALARS or getattr(value, "ndim", None) == 0
    is_empty = _is_empty(mask.shape, x.shape)
    if not one_value or not (is_empty or equal_as_known(mask.shape, x.shape)):
        return False
    check_target(x)
    native = fit(value, x, (), exact=True, what=_WHAT, assigned=True)
    if not is_empty:
        assign(x, native, Masked(read(mask)))
    return True


def _is_empty(mask: Shape, shape: Shape) -> bool:
    """Return whether a mask has no elements, along axes of any length as in NumPy, and so selects nothing."""
    if type(mask) is not tuple or 0 not in mask or len(mask) > len(shape):
        return False
    return all(length in (0, given) for length, given in zip(mask, tuple.__iter__(shape), strict=False))


def _put_number(x: Array, key: Array, value: object) -> bool:
    """Write a number to a plain array of an immutable engine, if that is all there is to do."""
    backend, native, mask = x._backend, x._native, key._native
    plain = backend.native_type
    if backend.mutable or key._backend is not backend or not type(native) is type(mask) is plain:
        return False
    shape = backend.shape(native)
    if not shape or backend.dtype(mask) != _BOOL or not equal_as_known(backend.shape(mask), shape):
        return False
    if backend.destroys and prod(shape) >= MANY:
        return False
    if mode.get() is not None or backend.trace_state() is not backend.no_trace or not has_one_device(backend):
        return False
    kind: object = type(value)
    # A text tells the zeros apart.
    number = _number(backend, backend.dtype(native), kind, value or repr(value))
    kernel = backend.kernel("put_mask")
    # There's one device: nothing is wrapped to find that of the arrays.
    new = getattr(kernel, "unplaced", kernel)(native, number, mask)
    if type(new) is not plain:
        return False
    with LOCK:
        return rebind(x, new, owned=backend.destroys, instead_of=native)


@lru_cache(maxsize=1024)
def _number(backend: Handle, dtype: np.dtype[np.generic], kind: type, value: object) -> object:
    given = dtypes.BY_NUMPY[dtype]
    return convert.scalar(dtypes.as_assigned(kind(value), given, _WHAT), given, backend)
