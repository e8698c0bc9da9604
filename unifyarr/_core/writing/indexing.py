"""``x[key]`` and ``x[key] = value``: a view of a window, or a gather and a scatter where arrays index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...modes.debug import check_get_item, check_write
from ..arrays.array import Array, wrap
from ..arrays.leaving import known_position
from ..arrays.ownership import read
from ..arrays.recipes import View, is_view_at, make_view
from ..arrays.views import Elements, Window
from ..engines.refusals import explains
from ..engines.tracing import checking, mode, running
from ..values.lengths import PartialShape
from .index_keys import resolve
from .inplace import assign, check_target, fit
from .masking import chooses, move, put_at_places, put_mask, put_selected, select


def _entered(item: object) -> Any:
    # What stands for an array, or for those in a key or a value, in the running trace.
    trace = running()
    if trace is None:
        return item
    return tuple(map(trace.take, item)) if type(item) is tuple else trace.take(item)


@explains("x[key]")
def get_item(x: Array, key: object, /) -> Array:
    """Return ``x[key]``: a view for basic indexing, a new array otherwise."""
    if mode.get() is not None:
        x, key = _entered(x), _entered(key)
        if checking():
            return check_get_item(get_item, x, key)
    backend = x._backend
    if not backend.has_shapes and chooses(key, x):
        return select(x, key)
    window, indices, place, is_element, mask, is_view = resolve(x, key)
    if is_element and not indices:
        return wrap(backend.copy(window.get(backend, read(x))), backend)
    if is_view and not is_element:
        return view_at(_seen(x, window), indices)
    view = make_view(x, window)
    if not indices:
        if type(view) is View and view._root is x:
            view._key = key
        return view
    if mask is None:
        return _gathered(view, indices, place)
    native = backend.kernel("take_places")(read(view), read(indices[0]), axes=mask.ndim)
    return wrap(move(backend, native, indices[0].ndim, place), backend)


def view_at(x: Array, indices: Sequence[Array]) -> Array:
    """Return the view of an array at places of its first axes, which 0-d arrays of integers name."""
    positions = tuple(map(known_position, indices))
    if None not in positions:
        return make_view(x, resolve(x, (*positions, ...)).window)
    return make_view(x, _places(indices))


def _places(indices: Sequence[Array]) -> Elements:
    # A view stays where it is, whatever is written to an index array afterwards.
    backend = indices[0]._backend
    return Elements(tuple([backend.copy(read(each)) if backend.mutable else read(each) for each in indices]))


def _seen(x: Array, window: Window) -> Array:
    return x if window.is_identity(x.shape) else make_view(x, window)


def _gathered(x: Array, indices: Sequence[Array], place: int) -> Array:
    """Return the elements that arrays index, whose axes stand at a place."""
    backend = x._backend
    native = backend.kernel("gather")(read(x), *map(read, indices))
    return wrap(move(backend, native, indices[0].ndim, place), backend)


@explains("x[key] = value")
def set_item(x: Array, key: object, value: object, /) -> None:
    """Write ``x[key] = value``."""
    if mode.get() is not None:
        x, key, value = _entered(x), _entered(key), _entered(value)
        if checking():
            check_write("x[key] = value", lambda: set_item(x, key, value), x, value, key)
            return
    if put_mask(x, key, value):
        return
    if chooses(key, x):
        put_selected(x, key, value)
        return
    check_target(x)
    window, indices, place, is_element, mask, is_view = resolve(x, key)
    shape = window.shape(x.shape)
    backend = x._backend
    # An element takes a 0-d value only, as in NumPy.
    what = "the element" if is_element else "the indexed part"
    if not indices:
        if is_view_at(value, x, window):
            # ``x[key] += v`` ends with this: the view that was updated is stored where it is.
            return
        target = make_view(x, window) if type(shape) is PartialShape else x
        native = fit(value, target, shape, exact=is_element, what=what, assigned=True)
        if backend.mutable:
            assign(make_view(x, window), native)
        else:
            assign(x, native, window)
        return
    target = _seen(x, window)
    if is_view and is_view_at(value, target, Elements(tuple(map(read, indices)))):
        return
    if mask is not None:
        put_at_places(target, mask, indices[0], place, value)
        return
    lead, rest = indices[0].shape, shape[len(indices) :]
    shape = rest[:place] + lead + rest[place:]
    # A shape that isn't known is that of what is there.
    there = _gathered(target, indices, place) if type(shape) is PartialShape else x
    native = fit(value, there, shape, exact=is_element, what=what, assigned=True)
    native = move(backend, native, len(lead), place, back=True)
    assign(target, native, Elements(tuple(map(read, indices))))
