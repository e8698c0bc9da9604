"""What ``x[key]`` means: NumPy's rules, brought to a window and, where arrays index, a gather or a scatter.

Integers, slices, ``None`` and ``...`` make a ``Window``. Arrays of integers and masks index what the window leaves: the
axes they stand at are brought to the front, and their result's axes go back to where NumPy puts them.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import DtypeError
from ..typing import Shape
from . import convert, dtypes
from .debugging import check_get_item, check_write, checking
from .inplace import assign, check_target, fit
from .selection import backend_of_native
from .shapes import broadcast
from .tracing import capture, running
from .views import Elements, Masked, Window, is_recipe, is_view_at, make_view
from .wrapper import Wrapper, is_array, read, wrap

if TYPE_CHECKING:
    from ..array import Array


class Key(NamedTuple):
    """A key, resolved: the window to start from, and what indexes its leading axes."""

    window: Window
    # Index arrays for the leading axes of the window; none for basic indexing.
    indices: tuple[Array, ...]
    # Where the result's axes from the index arrays stand.
    place: int
    # Whether integers take away every axis: the result is an independent 0-d array then.
    is_element: bool


_BASIC = frozenset({slice, int, type(None), type(Ellipsis)})


def _is_array(item: object) -> bool:
    if type(item) in _BASIC:
        return False
    return isinstance(item, (Wrapper, np.ndarray, np.bool_, list, bool)) or backend_of_native(item) is not None


def resolve(x: Array, key: object) -> Key:
    """Resolve a key on an array."""
    items = list(key) if isinstance(key, tuple) else [key]
    shape = x.shape
    ndim = len(shape)
    if sum(item is Ellipsis for item in items) > 1:
        raise IndexError("an index holds one ellipsis ('...') at most")
    items = [_as_index(item, x) if _is_array(item) else item for item in items]
    taken = sum(_axes_of(item) for item in items)
    if taken > ndim:
        raise IndexError(f"too many indices: {taken} for an array of shape {shape}")
    had_ellipsis = any(item is Ellipsis for item in items)
    if not had_ellipsis:
        items.append(Ellipsis)
    at = next(place for place, item in enumerate(items) if item is Ellipsis)
    items[at : at + 1] = [slice(None)] * (ndim - taken)
    if any(is_array(item) for item in items):
        return _advanced(x, items, had_ellipsis)
    boxes: list[tuple[int, int, int]] = []
    order: list[int | None] = []
    for item in items:
        if item is None:
            order.append(None)
            continue
        axis = len(boxes)
        length = shape[axis]
        if isinstance(item, slice):
            boxes.append(_box(item, length))
            order.append(axis)
        else:
            boxes.append((_as_position(item, length, axis), 1, 1))
    return Key(Window(tuple(boxes), tuple(order)), (), 0, not order and not had_ellipsis)


def _as_index(item: Any, x: Array) -> Array:
    # An index array of x's backend: bool, or int64.
    if isinstance(item, list) and not item:
        item = np.empty(0, np.int64)
    if backend_of_native(item) is None and not is_array(item):
        item = np.asarray(convert.to_numpy(item))
    array = convert.as_array(item, x._backend)
    if array.dtype == dtypes.bool or array.dtype == dtypes.int64:
        return array
    if dtypes.rank(array.dtype) != 1:
        raise DtypeError(f"arrays that index are of integers or bool, not {array.dtype}")
    return array.astype(dtypes.int64)


def _axes_of(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    if is_array(item) and item.dtype == dtypes.bool:
        return int(item.ndim)
    return 1


def _as_position(item: Any, length: int, axis: int) -> int:
    try:
        position = operator.index(item)
    except TypeError:
        raise IndexError(
            f"an index holds integers, slices, '...', None and arrays of integers or bool, not {type(item).__name__}"
        ) from None
    if not -length <= position < length:
        raise IndexError(f"index {position} is out of bounds for axis {axis} of length {length}")
    return position % length


def _box(item: slice, length: int) -> tuple[int, int, int]:
    start, stop, step = item.indices(length)
    return start, step, len(range(start, stop, step))


def _advanced(x: Array, items: list[Any], had_ellipsis: bool) -> Key:
    # The window keeps the axes that arrays and integers index whole, in front; slices and None make the rest.
    boxes: list[tuple[int, int, int]] = []
    front: list[int | None] = []
    rest: list[int | None] = []
    indices: list[Any] = []
    # For each index, how many axes of slices and None stand before it.
    standing: list[int] = []
    runs: list[int] = []
    for number, item in enumerate(items):
        axis = len(boxes)
        if item is None:
            rest.append(None)
            continue
        if isinstance(item, slice):
            rest.append(axis)
            boxes.append(_box(item, x.shape[axis]))
            continue
        standing.append(len(rest))
        runs.append(number)
        if is_array(item) and item.dtype == dtypes.bool:
            mask: Array = item
            lengths = x.shape[axis : axis + mask.ndim]
            # As in NumPy, a mask without elements along an axis selects nothing from one of any length.
            if any(given not in (0, length) for given, length in zip(mask.shape, lengths, strict=True)):
                raise IndexError(f"a mask of shape {mask.shape} can't index axes of lengths {lengths}")
            if mask.ndim == 0:
                # It indexes an axis of length one that wasn't there.
                front.append(None)
                indices.append(_nonzero(mask.reshape((1,)))[0])
                continue
            indices.extend(_nonzero(mask))
            front.extend(range(axis, axis + mask.ndim))
            boxes.extend((0, 1, length) for length in lengths)
        elif is_array(item):
            indices.append(item)
            front.append(axis)
            boxes.append((0, 1, x.shape[axis]))
        else:
            position = _as_position(item, x.shape[axis], axis)
            indices.append(
                wrap(convert.scalar(position, dtypes.int64, x._backend, convert.device_of([x], x._backend)), x._backend)
            )
            front.append(axis)
            boxes.append((0, 1, x.shape[axis]))
    window = Window(tuple(boxes), (*front, *rest))
    try:
        shape = broadcast(*(each.shape for each in indices))
    except ValueError as error:
        raise IndexError(f"arrays that index don't broadcast: {error}") from None
    spread = tuple(each if each.shape == shape else _spread(each, shape) for each in indices)
    together = runs == list(range(runs[0], runs[0] + len(runs)))
    # A 0-d array of an integer is an integer.
    is_element = not shape and not rest and not had_ellipsis
    return Key(window, spread, standing[0] if together else 0, is_element)


def _nonzero(mask: Array) -> tuple[Array, ...]:
    backend = mask._backend
    return tuple(wrap(each, backend) for each in backend.kernel("nonzero")(read(mask)))


def _spread(index: Array, shape: Shape) -> Array:
    backend = index._backend
    return wrap(backend.kernel("broadcast_to")(read(index), shape=shape), backend)


def _enter(*met: object) -> None:
    # What was made outside of the running trace is taken over by it.
    if running.get() is not None:
        for each in met:
            for item in each if type(each) is tuple else (each,):
                if is_array(item):
                    capture(item)


def get_item(x: Array, key: object) -> Array:
    """Return ``x[key]``: a view for basic indexing, a new array otherwise."""
    _enter(x, key)
    if checking.get():
        return check_get_item(get_item, x, key)
    copy = x._backend.fast_get_copy(x._native, _lowered(key, x))
    if copy is not NotImplemented:
        return wrap(copy, x._backend)
    window, indices, place, is_element = resolve(x, key)
    view = make_view(x, window)
    if not indices:
        return view.copy() if is_element else view
    backend = x._backend
    native = backend.kernel("gather")(read(view), *map(read, indices))
    return wrap(_move(backend, native, indices[0].ndim, place), backend)


def _lowered(key: Any, x: Array) -> Any:
    # The key with native arrays of x's backend in place of arrays.
    if is_array(key):
        return read(convert.as_array(key, x._backend))
    if type(key) is tuple and any(map(is_array, key)):
        return tuple(_lowered(item, x) for item in key)
    return key


def _move(backend: Any, native: Any, count: int, place: int, back: bool = False) -> Any:
    # Bring the leading axes to where they stand in the result, or from there back.
    if not place or not count:
        return native
    ndim = len(backend.shape(native))
    order = [*range(count, count + place), *range(count), *range(count + place, ndim)]
    if back:
        order = [int(axis) for axis in np.argsort(order)]
    return backend.kernel("permute_dims")(native, axes=tuple(order))


def set_item(x: Array, key: object, value: object) -> None:
    """Write ``x[key] = value``."""
    _enter(x, key, value)
    if checking.get():
        check_write("x[key] = value", lambda: set_item(x, key, value), x, value, key)
        return
    if _set_at_once(x, key, value):
        return
    if _is_mask(key, x) and _put_mask(x, key, value):
        return
    check_target(x)
    window, indices, place, is_element = resolve(x, key)
    shape = window.shape(x.shape)
    backend = x._backend
    # An element takes a 0-d value only, as in NumPy.
    what = "the element" if is_element else "the indexed part"
    if not indices:
        if is_view_at(value, x, window):
            # ``x[key] += v`` ends with this: the view that was updated is stored where it is.
            return
        native = fit(value, x, shape, exact=is_element, what=what)
        if backend.mutable:
            assign(make_view(x, window), native)
        else:
            assign(x, native, window)
        return
    lead, rest = indices[0].shape, shape[len(indices) :]
    shape = (*rest[:place], *lead, *rest[place:])
    native = _move(backend, fit(value, x, shape, exact=is_element, what=what), len(lead), place, back=True)
    target = x if window.is_identity(x.shape) else make_view(x, window)
    assign(target, native, Elements(tuple(map(read, indices))))


def _set_at_once(x: Array, key: object, value: object) -> bool:
    # A key with arrays, as the fast paths of ``__setitem__`` take keys: with native ones.
    backend = x._backend
    lowered = _lowered(key, x) if backend.mutable and not is_recipe(x) else key
    if lowered is key:
        return False
    if type(value) in (int, float):
        return bool(backend.fast_set_scalar(x._native, lowered, value))
    if not is_array(value) or value._backend is not backend:
        return False
    return bool(backend.fast_set_item(x._native, lowered, read(value)))


def _is_mask(key: object, x: Array) -> bool:
    return (
        isinstance(key, (Wrapper, np.ndarray))
        and key.dtype == dtypes.bool  # type: ignore[union-attr]
        and key.ndim == x.ndim > 0  # type: ignore[union-attr]
    )


def _put_mask(x: Array, key: Any, value: object) -> bool:
    # A mask of the whole shape with one value needs no positions, which a trace couldn't know; others do.
    mask = convert.as_array(key, x._backend)
    one_value = type(value) in dtypes.SCALARS or getattr(value, "ndim", None) == 0
    if mask.shape != x.shape or not one_value:
        return False
    check_target(x)
    native = fit(value, x, (), exact=True, what="the masked part")
    assign(x, native, Masked(read(mask)))
    return True
