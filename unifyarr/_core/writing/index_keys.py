"""Parsing of keys by NumPy's rules, into a window and, for advanced indices, arrays whose axes come first.

Integers, slices, ``None`` and ``...`` make a ``Window``. Arrays of integers and masks index what the window leaves: the
axes they stand at are brought to the front, and their result's axes go back to where NumPy puts them.

A 0-d array of integers is the integer that it holds at the call, which is read. Where it isn't known yet, as in a
trace, the array indexes what the window leaves, and without other arrays gives a view as an integer does.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import DtypeError, UnknownShapeError
from ...typing import Shape
from ..arrays import convert
from ..arrays.array import Array, wrap
from ..arrays.leaving import known_position
from ..arrays.ownership import read
from ..arrays.views import Window
from ..engines import dtypes
from ..engines.natives import backend_of_native
from ..engines.tracing import running
from ..values.arguments import MOST_AXES
from ..values.caller import where
from ..values.lengths import PartialShape, equal_as_known
from ..values.native import Native
from ..values.records import Record
from ..values.shapes import broadcast
from .inplace import repeated_like


class Key(Record):
    """A key, resolved: the window to start from, and what indexes its leading axes."""

    window: Window
    # Index arrays for the leading axes of the window; none for basic indexing.
    indices: tuple[Array, ...]
    # Where the result's axes from the index arrays stand.
    place: int
    # Whether integers take away every axis: the result is an independent 0-d array then.
    is_element: bool
    # The mask of values of each call, in a trace: its axes count as one, which the only index goes through.
    mask: Array | None = None
    # Whether all that indexes are integers that aren't known yet: the result is a view.
    is_view: bool = False


_BASIC = frozenset({slice, int, type(None), type(Ellipsis)})


def _is_array(item: object) -> bool:
    return isinstance(item, (Array, np.ndarray, np.bool_, list, tuple, bool)) or backend_of_native(item) is not None


def resolve(x: Array, key: object) -> Key:
    """Resolve a key on an array."""
    items = list(key) if isinstance(key, tuple) else [key]
    shape = x.shape
    ndim = len(shape)
    # How many axes the items take, and where the ellipsis is.
    taken, at, has_arrays = 0, -1, False
    for place, item in enumerate(items):
        if item is Ellipsis:
            if at >= 0:
                raise IndexError("an index holds one ellipsis ('...') at most")
            at = place
        elif item is not None:
            count = 1
            if type(item) not in _BASIC and _is_array(item):
                items[place] = index = _as_index(item, x)
                if isinstance(index, Array):
                    has_arrays = True
                    count = index.ndim if index.dtype is dtypes.bool else 1
            elif type(item) is not slice:
                _check_integer(item)
            taken += count
    if taken > ndim:
        raise IndexError(f"too many indices: {taken} for an array of shape {shape}")
    if len(items) >= MOST_AXES:
        _check_axes(items, ndim - taken)
    had_ellipsis = at >= 0
    rest: list[object] = [slice(None)] * (ndim - taken)
    if had_ellipsis:
        # One that stands for no axis still parts the arrays on its sides.
        items[at : at + 1] = rest or [...]
    else:
        items += rest
    if has_arrays:
        return _advanced(x, items, had_ellipsis)
    boxes: list[tuple[int, int, int]] = []
    order: list[int | None] = []
    for item in items:
        if item is None:
            order.append(None)
            continue
        if item is Ellipsis:
            continue
        axis = len(boxes)
        if isinstance(item, slice):
            boxes.append(_box(item, shape, axis))
            order.append(axis)
        else:
            boxes.append((_as_position(item, shape[axis], axis), 1, 1))
    return Key(Window(tuple(boxes), tuple(order)), (), 0, not order and not had_ellipsis)


def _as_index(item: object, x: Array) -> Array | int:
    # An index array of x's backend: bool, or int64; the integer of a 0-d one, if that's known.
    if isinstance(item, (list, tuple)) and not item:
        item = np.empty(0, np.int64)
    if backend_of_native(item) is None and not isinstance(item, Array):
        try:
            item = np.asarray(convert.to_numpy(item))
        except DtypeError as error:
            raise IndexError(f"arrays that index are of integers or bool: {error}") from None
        if not item.ndim and item.dtype.kind in "iu":
            return int(item)
    array = convert.as_array_beside(item, x)
    if array.dtype == dtypes.bool:
        return array
    if dtypes.rank(array.dtype) != 1:
        raise IndexError(f"arrays that index are of integers or bool, not {array.dtype}: cast them, with astype()")
    if not array.ndim and (position := known_position(array)) is not None:
        return position
    return array if array.dtype == dtypes.int64 else array.astype(dtypes.int64)


def _check_integer(item: object) -> None:
    # Before slices, whose bounds raise errors of their own.
    if not hasattr(item, "__index__"):
        raise IndexError(
            f"an index holds integers, slices, '...', None and arrays of integers or bool, not {type(item).__name__}"
        )


def _check_axes(items: list[object], left: int) -> None:
    arrays = sum(isinstance(item, Array) for item in items)
    axes = left + sum(item is None or type(item) is slice for item in items)
    if arrays >= MOST_AXES or axes > MOST_AXES:
        raise IndexError(
            f"an index holds fewer than {MOST_AXES} arrays and gives {MOST_AXES} axes at most, not {arrays} arrays and "
            f"{axes} axes beside theirs"
        )


def _as_position(item: Any, length: int, axis: int) -> int:
    if type(item) is int and -length <= item < length:
        return item % length
    position = operator.index(item)
    if not -length <= position < length:
        raise IndexError(f"index {position} is out of bounds for axis {axis} of length {length}")
    return position % length


def _box(item: slice, shape: Shape, axis: int) -> tuple[int, int, Any]:
    if item.start is item.stop is item.step is None:
        return 0, 1, tuple.__getitem__(shape, axis)
    length = shape[axis]
    start, stop, step = item.indices(length)
    count = len(range(start, stop, step))
    # A step that is never taken may be of any size, which engines don't all take.
    return start, step if count > 1 else 1 if step > 0 else -1, count


def _advanced(x: Array, items: list[Any], had_ellipsis: bool) -> Key:
    # The window keeps the axes that arrays and integers index whole, in front; slices and None make the rest.
    boxes: list[tuple[int, int, int]] = []
    front: list[int | None] = []
    rest: list[int | None] = []
    indices: list[Any] = []
    # For each index, how many axes of slices and None stand before it.
    standing: list[int] = []
    runs: list[int] = []
    alone = _only_mask(x, items)
    arrays = [item for item in items if isinstance(item, Array)]
    is_view = all(item.ndim == 0 and item.dtype != dtypes.bool for item in arrays)
    for number, item in enumerate(items):
        axis = len(boxes)
        if item is None:
            rest.append(None)
            continue
        if item is Ellipsis:
            continue
        if isinstance(item, slice):
            rest.append(axis)
            boxes.append(_box(item, x.shape, axis))
            continue
        standing.append(len(rest))
        runs.append(number)
        if isinstance(item, Array) and item.dtype == dtypes.bool:
            mask: Array = item
            lengths = x.shape[axis : axis + mask.ndim]
            # As in NumPy, a mask without elements along an axis selects nothing from one of any length.
            if not equal_as_known(mask.shape, lengths) and any(
                given not in (0, length) for given, length in zip(mask.shape, lengths, strict=True)
            ):
                raise IndexError(f"a mask of shape {mask.shape} can't index axes of lengths {lengths}")
            if mask.ndim == 0:
                # It indexes an axis of length one that wasn't there.
                front.append(None)
                indices.append(_nonzero(mask.reshape((1,)))[0])
                continue
            indices.extend(_nonzero(mask) if alone is None else alone[1:])
            front.extend(range(axis, axis + mask.ndim))
            boxes.extend((0, 1, length) for length in tuple.__iter__(lengths))
        elif isinstance(item, Array):
            indices.append(item)
            front.append(axis)
            boxes.append((0, 1, x.shape[axis]))
        else:
            position = _as_position(item, x.shape[axis], axis)
            if alone is not None:
                boxes.append((position, 1, 1))
                continue
            indices.append(convert.scalar_array(position, dtypes.int64, x._backend, convert.device_of([x], x._backend)))
            front.append(axis)
            boxes.append((0, 1, x.shape[axis]))
    window = Window(tuple(boxes), (*front, *rest))
    try:
        shape = broadcast(*(each.shape for each in indices))
    except ValueError as error:
        raise IndexError(f"arrays that index don't broadcast: {error}") from None
    is_known = type(shape) is not PartialShape
    like = next((each for each in indices if is_known or (len(each.shape) == len(shape) and None in each.shape)), x)
    spread = tuple(
        each if type(each.shape) is type(shape) and equal_as_known(each.shape, shape) else _spread(each, shape, like)
        for each in indices
    )
    together = runs == list(range(runs[0], runs[0] + len(runs)))
    # A 0-d array of an integer is an integer.
    is_element = not shape and not rest and not had_ellipsis
    place = standing[0] if together else 0
    return Key(window, spread, place, is_element, None if alone is None else alone[0], is_view)


def _only_mask(x: Array, items: list[object]) -> tuple[Array, Array] | None:
    """Return the mask that is the only array of a key in a trace, and its places, if these are values of each call."""
    arrays, backend = [item for item in items if isinstance(item, Array)], x._backend
    if not backend.hides_lengths or "take_places" not in backend.kernels:
        return None
    if len(arrays) != 1 or arrays[0].dtype != dtypes.bool or arrays[0].ndim == 0:
        return None
    (mask,) = arrays
    (places,) = _nonzero(mask if mask.ndim == 1 else mask.reshape((-1,)))
    return (mask, places) if type(places.shape) is PartialShape else None


def _nonzero(mask: Array) -> tuple[Array, ...]:
    backend, native = mask._backend, read(mask)
    if running() is not None and not (backend.hides_lengths or backend.engine.mutable) and backend.hides_values(native):
        raise UnknownShapeError(
            f"{where()}: x[mask] has another length for each element of an engine's own batch: leave out backend= of "
            "ua.vmap(), choose with ua.where(mask, value, x), or sum x * mask"
        )
    nonzero: Callable[..., tuple[Native, ...]] = backend.kernels["nonzero"]
    return tuple(wrap(each, backend) for each in nonzero(native))


def _spread(index: Array, shape: Shape, like: Array) -> Array:
    backend = index._backend
    if type(shape) is PartialShape:
        return wrap(repeated_like(read(index), like), backend)
    return wrap(backend.kernel("broadcast_to")(read(index), shape=shape), backend)
