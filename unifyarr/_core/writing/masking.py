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
from ..arrays.ownership import LOCK, read, rebind
from ..arrays.views import Masked, Selected
from ..arrays.weak import kind_of
from ..engines import dtypes
from ..engines.handle import Handle, has_one_device
from ..engines.tracing import mode
from ..values.lengths import PartialShape, equal_as_known, leading
from ..values.shapes import broadcast
from .inplace import MANY, assign, check_target, fit, fit_dtype, repeated_like

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


def select(x: Array, key: Any) -> Array:
    """Return ``x[mask]``, of a length that isn't known before it's computed."""
    mask = _fitting(x, key)
    return wrap(x._backend.kernel("select")(read(x), read(mask)), x._backend)


def put_selected(x: Array, key: Any, value: Any) -> None:
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
        native, rest = fit(value, x, shape, exact=False, what=_WHAT, assigned=True), (1,) * len(shape)
        spread = x._backend.kernel("reshape")(read(mask), shape=(*tuple.__iter__(mask.shape), *rest))
        if type(x.shape) is PartialShape:
            spread = repeated_like(spread, x.astype(dtypes.bool))
        else:
            spread = x._backend.kernel("broadcast_to")(spread, shape=x.shape)
        assign(x, native, Masked(spread))
        return
    # As NumPy, leading axes of length one fall away.
    while len(given) > len(shape) + 1 and given[0] == 1:
        given = given[1:]
        native = x._backend.kernel("reshape")(native, shape=given)
    if len(given) > len(shape) + 1 or broadcast(given[1:], shape) != shape:
        raise ShapeError(f"{_WHAT} has one axis of elements and {shape} beside it, but the value has {given!r}")
    if given[1:] != shape:
        native = x._backend.kernel("broadcast_to")(native, shape=(given[0], *shape))
    assign(x, native, Selected(read(mask)))


def _fitting(x: Array, key: Any) -> Array:
    mask = convert.as_array(key, x._backend)
    lengths = leading(x.shape, mask.ndim)
    if not equal_as_known(mask.shape, lengths):
        raise IndexError(f"a mask of shape {mask.shape} can't index axes of lengths {lengths}")
    return mask


def put_mask(x: Array, key: Any, value: object) -> bool:
    """Write one value where a mask is true; return ``False`` for other keys and shapes, and for several values."""
    if type(x) is Array is type(key) and (type(value) is int or type(value) is float) and _put_number(x, key, value):
        return True
    if not is_mask(key, x):
        return False
    # A trace couldn't know how many positions there are.
    mask = convert.as_array(key, x._backend)
    one_value = kind_of(value) in dtypes.SCALARS or getattr(value, "ndim", None) == 0
    if not one_value or not equal_as_known(mask.shape, x.shape):
        return False
    check_target(x)
    native = fit(value, x, (), exact=True, what=_WHAT, assigned=True)
    assign(x, native, Masked(read(mask)))
    return True


def _put_number(x: Array, key: Array, value: Any) -> bool:
    """Write a number to a plain array of an immutable engine, if that is all there is to do."""
    backend, native, mask = x._backend, x._native, key._native
    plain = backend.native_type
    if backend.mutable or key._backend is not backend or not type(native) is type(mask) is plain:
        return False
    shape = backend.shape(native)
    if not shape or not equal_as_known(backend.shape(mask), shape) or backend.dtype(mask) != _BOOL:
        return False
    if backend.destroys and prod(shape) >= MANY:
        return False
    if mode.get() is not None or backend.trace_state() is not backend.no_trace or not has_one_device(backend):
        return False
    kind: Any = type(value)
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
def _number(backend: Handle, dtype: Any, kind: type, value: Any) -> Any:
    given = dtypes.BY_NUMPY[dtype]
    return convert.scalar(dtypes.as_assigned(kind(value), given, _WHAT), given, backend)
