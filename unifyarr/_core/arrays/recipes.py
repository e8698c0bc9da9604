"""Views of arrays, and the recipes that stand for them where the engine can't write its arrays."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import Any, TypeGuard

import numpy as np

from ...typing import Shape
from ..engines import dtypes
from ..engines.dtypes import DType
from ..engines.handle import Handle
from ..engines.registry import load
from ..engines.tracing import recording, watch_layout
from ..values import above
from ..values.called import make_boundaries
from ..values.native import Native
from ..values.shapes import c_strides, shadow
from .array import Array, blank, owner, register, wrap
from .ownership import Held, read, settled, share
from .views import Bits, Broadcast, Elements, Part, Protection, ViewStep, Window, get_through


class View(Array):
    """A view that is a recipe: a read computes its value from its root's, and a write puts it back."""

    __slots__ = ("_root", "_seen", "_steps", "_value")

    _root: Array
    _steps: tuple[ViewStep, ...]
    # The value got last, and the token that the root had then.
    _value: Any
    _seen: object

    def __getitem__(self, key: object) -> Array:
        return above.indexing.get_item(self, key)

    def __setitem__(self, key: object, value: Any) -> None:
        above.indexing.set_item(self, key, value)

    @property
    def _native(self) -> Any:
        root, backend = self._root, self._backend
        # The token before the native: see ``rebind``.
        token = root._token
        native = settled(root._native)
        if backend.can_write(native):
            # The root can change under us, and no engine counts every write: nothing is kept.
            return get_through(backend, read(root), self._steps)
        if getattr(self, "_seen", None) is token:
            return self._value
        if getattr(root, "_owned", False) and backend.trace() is not None:
            share(root)
        value = get_through(backend, native, self._steps)
        # What is the root's own native needs no keeping, and kept it would outlive the root's next rebind; what a
        # trace computed from a root outside it is dead after the trace.
        if value is not native and (backend.is_traced(native) or not backend.is_traced(value)):
            self._value, self._seen = value, token
        return value

    def _keep(self, native: Native, instead_of: object, /) -> None:
        # The token before the value: together they may be old, which costs another reading, but never wrong.
        seen = getattr(self, "_seen", None)
        if getattr(self, "_value", None) is instead_of:
            self._value, self._seen = native, seen
        elif self._root._native is instead_of:
            # A view of all of its root, whose native it doesn't keep.
            self._root._keep(native, instead_of)

    # These follow from the recipe: a write needs them, and needn't get the value for them.

    @property
    def shape(self) -> Shape:
        """The lengths of the axes."""
        shape = self._backend.shape(self._root._native)
        for step in self._steps:
            shape = step.shape(shape)
        return shape

    @shape.setter
    def shape(self, shape: object) -> None:
        above.reshaping.set_shape(self, shape)

    @property
    def dtype(self) -> DType:
        """The dtype."""
        dtype = self._root.dtype
        for step in self._steps:
            if isinstance(step, Part):
                dtype = dtypes.real_of(dtype)
            elif isinstance(step, Bits):
                dtype = dtypes.BY_NUMPY[step.after]
        return dtype

    @property
    def device(self) -> Any:
        """The name of the device, such as ``"cpu"`` or ``"gpu:0"``; JAX's own sharding where devices are several."""
        device = self._root.device
        # A view of what is spread over devices may be spread in another way, which only its value tells.
        return device if isinstance(device, str) else self._backend.device(self._native)


register(View)
make_boundaries(View, getters=False)
blank_view = blank(View)


class Protected(Array):
    """A plain array that isn't to be written. Fast paths serve ``Array`` alone, so that each write is checked."""

    __slots__ = ()

    def __getitem__(self, key: object) -> Array:
        return above.indexing.get_item(self, key)

    def __setitem__(self, key: object, value: Any) -> None:
        above.indexing.set_item(self, key, value)


register(Protected)


def like(x: Array, stand_in: Array) -> Array:
    """Return a plain stand-in for an array, protected if that is."""
    if type(x) is Protected:
        stand_in.__class__ = Protected
    return stand_in


# The classes of recipes.
RECIPES: set[type] = {View}


def has_native_views(array: Array) -> bool:
    """Return whether native views of this array's native are seen by, and see, writes to it."""
    return not is_recipe(array) and array._backend.mutable and array._backend.can_write(array._native)


def is_recipe(array: Array) -> TypeGuard[View]:
    """Return whether an array is a view that holds a recipe."""
    return type(array) in RECIPES


def root_of(array: Array) -> Array:
    """Return the array that a recipe starts from, of any other array itself."""
    return array._root if type(array) in RECIPES else array


def steps_with(array: Array, *last: object) -> tuple[Any, ...]:
    """Return the steps from an array's root to what further steps make of the array; two windows in a row are one."""
    return joined(array._backend, last, array._steps if is_recipe(array) else ())


def joined(backend: Handle, steps: Iterable[object], first: tuple[object, ...] = ()) -> tuple[Any, ...]:
    """Return steps that follow ``first``, with two windows in a row as one."""
    for step in steps:
        merged = None
        if first and type(first[-1]) is Window is type(step) and not _is_copied_apart(backend, first, step):
            merged = first[-1].then(step)
        first = (*first, step) if merged is None else (*first[:-1], merged)
    return first


def _is_copied_apart(backend: Handle, first: tuple[object, ...], step: Window) -> bool:
    """Return whether a window is a copy that lies in another way than one of the array before the last window.

    An engine lays repeated axes out by their places, which the last window may have changed. A compiled function that
    is passed the array sees these places alone.
    """
    repeats = any(type(each) is Broadcast for each in first)
    return repeats and backend.has_strides and not backend.window_is_view(step.axes)


def make_view(array: Array, step: ViewStep, /) -> Array:
    """Return the view of an array that one step makes."""
    backend = array._backend
    is_protected = type(array) is Protected
    if backend.mutable and type(array) not in RECIPES:
        native = array._native
        if backend.can_write(native) and step.is_native(backend, native):
            view = wrap(step.get(backend, native), backend, owner(array))
            if is_protected or type(step) is Protection:
                view.__class__ = Protected
            return _noted(array, step, view)
    steps = steps_with(array, step)
    return _noted(array, step, make_recipe(root_of(array), (*steps, Protection()) if is_protected else steps))


def _noted(array: Array, step: ViewStep, view: Array) -> Array:
    notes = recording()
    if notes is not None:
        notes.view(array, step, view)
    return view


def is_view_at(value: object, array: Array, step: ViewStep) -> bool:
    """Return whether ``value`` is the recipe of the very view of an array that a step makes."""
    if not isinstance(value, View):
        return False
    return value._root is root_of(array) and value._steps == steps_with(array, step)


def make_recipe(root: Array, steps: tuple[ViewStep, ...]) -> View:
    """Return the view of ``root`` that the steps make."""
    view = blank_view()
    fill_recipe(view, root, steps)
    return view


def fill_recipe(view: View, root: Array, steps: tuple[ViewStep, ...]) -> None:
    """Set the slots of a view of ``root`` that the steps make."""
    view._backend = root._backend
    view._base = owner(root)
    view._root = root
    view._steps = steps
    if getattr(root, "_token", None) is None:
        root._token = object()


def geometry(array: Array) -> np.ndarray:
    """Return a shadow of the array: its shape and strides, as far as the engine or its recipe shows them."""
    backend = array._backend
    watch_layout()
    if not is_recipe(array):
        shape, dtype = backend.shape(array._native), backend.dtype(array._native)
        strides = backend.strides(array._native)
        return shadow(shape, c_strides(shape, dtype.itemsize) if strides is None else strides, dtype)
    memory: Any = geometry(array._root)
    for step in array._steps:
        if type(step) is Elements:
            # All places look alike.
            axes = len(step.indices)
            memory = shadow(memory.shape[axes:], memory.strides[axes:], memory.dtype)
        else:
            memory = step.get(load("numpy"), memory)
    found: np.ndarray = memory
    return found


def is_read_only(x: Array) -> bool:
    """Return whether an array may not be written: protected, a repeated or diagonal view, or over read-only memory."""
    root = root_of(x)
    if type(x) is Protected or (is_recipe(x) and not all(step.writable for step in x._steps)):
        return True
    native = root._native
    return not isinstance(native, Held) and bool(root._backend.is_read_only(native))


def is_contiguous(array: Array) -> bool:
    """Return whether an array is no recipe and known to be C-contiguous: any shape of its elements is a view."""
    if is_recipe(array):
        return False
    watch_layout()
    backend, native = array._backend, array._native
    strides = backend.strides(native)
    return strides is None or strides == c_strides(backend.shape(native), backend.dtype(native).itemsize)


def seen_in(memory: Any, array: Array) -> Any:
    """Return where an array lies in an array of NumPy's that stands for its root, and is never read.

    A view whose place isn't known lies in what is returned.
    """
    if not is_recipe(array):
        return memory
    known = takewhile(lambda step: type(step) is not Elements, array._steps)
    return get_through(load("numpy"), memory, tuple(known))
