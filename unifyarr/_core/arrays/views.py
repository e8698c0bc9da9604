"""Views: a native one where the engine's memory can be shared and written, a recipe elsewhere.

A recipe is a chain of steps from its owner. Each step can *get* (the base's value to the view's) and *put* (the base's
value and a new value of the view to the base's new value). Reading a recipe gets through all steps, writing puts
back through all of them; on a native that the engine can write, the first step's put writes it in place.

All of basic indexing, ``permute_dims``, ``flip``, ``expand_dims`` and ``squeeze`` is one kind of step, a ``Window``,
and two windows in a row are one: most chains have length one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import Any, Protocol

import numpy as np

from ...typing import Shape
from ..engines.handle import Handle
from ..values.lengths import shape_of
from ..values.native import Native
from ..values.records import Record
from ..values.shapes import ADDRESSES, MOST_BYTES, check_memory


class ViewStep(Protocol):
    """One step of a recipe."""

    @property
    def writable(self) -> bool:
        """Whether the view may be written."""

    def shape(self, shape: Shape) -> Shape:
        """Return the shape of the view of a base of that shape."""

    def is_native(self, backend: Handle, native: Native) -> bool:
        """Return whether ``get`` shares the memory of a native array that the engine can write."""

    def get(self, backend: Handle, native: Native) -> Native:
        """Return the view's value for the base's."""

    def put(self, backend: Handle, native: Native, value: Native, results: list[Native] | None = None) -> Native:
        """Return the base with ``value`` in the view's place: the same native where the engine can write it.

        With ``results`` nothing else refers to the native, and a destructive kernel may use it up: that adds its result
        there, which is the new base, in the same step.
        """


def writing_kernel(backend: Handle, name: str, results: list[Native] | None) -> Callable[..., Native]:
    """Return a kernel that writes; its destructive twin, if it has one, for a native that nothing else refers to."""
    kernel = backend.kernel(name)
    destructive = None if results is None else getattr(kernel, "destructive", None)
    return kernel if destructive is None else partial(destructive, results=results)


def store(backend: Handle, native: Native, value: Native) -> Native:
    """Return ``native`` overwritten by ``value`` where the engine can write it, else ``value``."""
    if backend.can_write(native):
        backend.assign(native, value)
        return native
    return value


class Window(Record):
    """A box cut out of the base with steps, its axes in any order, axes of length one added or dropped.

    ``axes`` has for each axis of the base the start, the step and the length; ``order`` has for each axis of the view
    the axis of the base it comes from, or ``None`` for a new one. An axis that ``order`` leaves out has length one.
    An axis of a length that isn't known is in the window as a whole, (0, 1, None).
    """

    axes: tuple[tuple[int, int, Any], ...]
    order: tuple[int | None, ...]

    @property
    def kernel(self) -> str:
        """The kernel that writes."""
        return "set_window"

    @property
    def writable(self) -> bool:
        return True

    @staticmethod
    def of_order(shape: Shape, order: Sequence[int | None]) -> Window:
        """Return the window of the whole base with its axes in another order."""
        return Window(tuple([(0, 1, length) for length in tuple.__iter__(shape)]), tuple(order))

    def is_identity(self, shape: Shape) -> bool:
        """Return whether the window is its whole base, of that shape, as it is."""
        return self.order == tuple(range(len(shape))) and self.axes == tuple(
            (0, 1, length) for length in tuple.__iter__(shape)
        )

    def shape(self, shape: Shape) -> Shape:
        lengths = self._lengths()
        return shape_of(lengths) if None in lengths else lengths

    def _lengths(self) -> Shape:
        return tuple([1 if axis is None else self.axes[axis][2] for axis in self.order])

    def then(self, following: Window) -> Window | None:
        """Return this window and a following one as one, ``None`` where they can't be."""
        axes = list(self.axes)
        for (start, step, length), source in zip(following.axes, self.order, strict=True):
            if source is None:
                if length != 1:
                    return None
            else:
                begin, stride, _ = axes[source]
                axes[source] = (begin + start * stride, stride * step, length)
        order = tuple(None if axis is None else self.order[axis] for axis in following.order)
        return Window(tuple(axes), order)

    def _is_whole(self, backend: Handle, native: Native) -> bool:
        return self.axes == tuple([(0, 1, length) for length in tuple.__iter__(backend.shape(native))])

    def is_native(self, backend: Handle, native: Native) -> bool:
        return backend.window_is_view(self.axes)

    def get(self, backend: Handle, native: Native) -> Native:
        if not self._is_whole(backend, native):
            native = backend.kernel("get_window")(native, window=self.axes)
        permutation, _, reshapes = _arrangement(len(self.axes), self.order)
        if permutation is not None:
            native = backend.kernel("permute_dims")(native, axes=permutation)
        return backend.kernel("reshape")(native, shape=self._lengths()) if reshapes else native

    def put(self, backend: Handle, native: Native, value: Native, results: list[Native] | None = None) -> Native:
        permutation, inverse, reshapes = _arrangement(len(self.axes), self.order)
        whole = self._is_whole(backend, native)
        # A 0-d value needs no shape to go into one element.
        if reshapes and (whole or self.order):
            axes = range(len(self.axes)) if permutation is None else permutation
            value = backend.kernel("reshape")(value, shape=tuple(self.axes[axis][2] for axis in axes))
        if inverse is not None:
            value = backend.kernel("permute_dims")(value, axes=inverse)
        if whole:
            return store(backend, native, value)
        if any(length == 0 for _, _, length in self.axes):
            return native
        return writing_kernel(backend, self.kernel, results)(native, value, window=self.axes)


@lru_cache(maxsize=1024)
def _arrangement(
    count: int, order: tuple[int | None, ...]
) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None, bool]:
    """Return how the axes of a base of ``count`` axes move, how they move back, and whether axes come or go then.

    The axes that the view lacks move to the end; ``None`` stands for no move.
    """
    kept = tuple([axis for axis in order if axis is not None])
    dropped = tuple([axis for axis in range(count) if axis not in kept])
    permutation, reshapes = kept + dropped, bool(dropped) or None in order
    if permutation == tuple(range(count)):
        return None, None, reshapes
    return permutation, tuple([permutation.index(axis) for axis in range(count)]), reshapes


class Reshape(Record):
    """Another shape of the same elements in C order."""

    before: Shape
    after: Shape

    @property
    def writable(self) -> bool:
        return True

    def shape(self, shape: Shape) -> Shape:
        return self.after

    def is_native(self, backend: Handle, native: Native) -> bool:
        return True

    def get(self, backend: Handle, native: Native) -> Native:
        return backend.kernel("reshape")(native, shape=self.after)

    def put(self, backend: Handle, native: Native, value: Native, results: list[Native] | None = None) -> Native:
        return store(backend, native, backend.kernel("reshape")(value, shape=self.before))


class Part(Record):
    """The real or the imaginary part of a complex base."""

    name: str

    @property
    def writable(self) -> bool:
        return True

    def shape(self, shape: Shape) -> Shape:
        return shape

    def is_native(self, backend: Handle, native: Native) -> bool:
        return True

    def get(self, backend: Handle, native: Native) -> Native:
        return backend.kernel(self.name)(native)

    def put(self, backend: Handle, native: Native, value: Native, results: list[Native] | None = None) -> Native:
        return store(backend, native, backend.kernel(f"set_{self.name}")(backend.copy(backend.read(native)), value))


class Bits(Record):
    """The memory of the base, of one dtype of NumPy's, read as another one."""

    before: np.dtype[np.generic]
    after: np.dtype[np.generic]

    @property
    def writable(self) -> bool:
        return True

    def shape(self, shape: Shape) -> Shape:
        if self.before.itemsize == self.after.itemsize:
            return shape
        return (*shape[:-1], shape[-1] * self.before.itemsize // self.after.itemsize)

    def is_native(self, backend: Handle, native: Native) -> bool:
        return True

    def get(self, backend: Handle, native: Native) -> Native:
        return backend.kernel("bitcast")(native, dtype=self.after)

    def put(self, backend: Handle, native: Native, value: Native, results: list[Native] | None = None) -> Native:
        return store(backend, native, backend.kernel("bitcast")(value, dtype=self.before))


class Broadcast(Record):
    """The base repeated along axes; read-only, since several of its elements are one."""

    after: Shape

    @property
    def writable(self) -> bool:
        return False

    def shape(self, shape: Shape) -> Shape:
        return self.after

    def is_native(self, backend: Handle, native: Native) -> bool:
        return backend.has_read_only_views

    def get(self, backend: Handle, native: Native) -> Native:
        # Where nothing is copied, elements still have to be counted.
        check_memory(self.after, backend.dtype(native), ADDRESSES if backend.mutable else MOST_BYTES)
        return backend.kernel("broadcast_to")(native, shape=self.after)

    def put(self, backend: Handle, native: Native, value: Native, results: list[Native] | None = None) -> Native:
        raise AssertionError("a read-only step is refused before it is written")


class Diagonal(Record):
    """The diagonals of the base's last two axes; read-only, as in NumPy."""

    offset: int
    after: Shape

    @property
    def writable(self) -> bool:
        return False

    def shape(self, shape: Shape) -> Shape:
        return self.after

    def is_native(self, backend: Handle, native: Native) -> bool:
        return backend.has_read_only_views

    def get(self, backend: Handle, native: Native) -> Native:
        return backend.kernel("diagonal")(native, offset=self.offset)

    def put(self, backend: Handle, native: Native, value: Native, results: list[Native] | None = None) -> Native:
        raise AssertionError("a read-only step is refused before it is written")


class Protection(Record):
    """The base as it is, which isn't to be written: the last step of a recipe that was protected."""

    @property
    def writable(self) -> bool:
        return False

    def shape(self, shape: Shape) -> Shape:
        return shape

    def is_native(self, backend: Handle, native: Native) -> bool:
        return True

    def get(self, backend: Handle, native: Native) -> Native:
        return native

    def put(self, backend: Handle, native: Native, value: Native, results: list[Native] | None = None) -> Native:
        raise AssertionError("a read-only step is refused before it is written")


class Elements(Record):
    """The elements that index arrays pick from the leading axes of the base.

    A view if the index arrays are 0-d, where their values aren't known; else a target of writes.
    """

    indices: tuple[Native, ...]

    @property
    def kernel(self) -> str:
        """The kernel that writes."""
        return "scatter"

    @property
    def writable(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        # An engine would compare values.
        if not isinstance(other, Elements) or len(self.indices) != len(other.indices):
            return False
        return all(one is another for one, another in zip(self.indices, other.indices, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(map(id, self.indices)))

    def shape(self, shape: Shape) -> Shape:
        return shape[len(self.indices) :]

    def is_native(self, backend: Handle, native: Native) -> bool:
        return False

    def get(self, backend: Handle, native: Native) -> Native:
        return backend.kernel("gather")(native, *self.indices)

    def put(self, backend: Handle, native: Native, value: Native, results: list[Native] | None = None) -> Native:
        return writing_kernel(backend, self.kernel, results)(native, value, *self.indices)


class Places(Record):
    """The elements at some places of the base's first axes, which count as one, in C order; not a view."""

    places: Native
    axes: int

    @property
    def kernel(self) -> str:
        """The kernel that writes."""
        return "put_places"

    def put(self, backend: Handle, native: Native, value: Native, results: list[Native] | None = None) -> Native:
        return writing_kernel(backend, self.kernel, results)(native, value, self.places, axes=self.axes)


class MaskedByValue(Record):
    """The elements where a mask of the base's leading axes is true, as many as the value has; not a view.

    For engines that know no length before they have computed it.
    """

    mask: Native

    @property
    def kernel(self) -> str:
        """The kernel that writes."""
        return "put_selected"

    def put(self, backend: Handle, native: Native, value: Native, results: list[Native] | None = None) -> Native:
        return writing_kernel(backend, self.kernel, results)(native, value, self.mask)


class Masked(Record):
    """The elements where a mask of the base's shape is true, all to be written by one value; not a view."""

    mask: Native

    @property
    def kernel(self) -> str:
        """The kernel that writes."""
        return "put_mask"

    def put(self, backend: Handle, native: Native, value: Native, results: list[Native] | None = None) -> Native:
        return writing_kernel(backend, self.kernel, results)(native, value, self.mask)


def indices_of(steps: Iterable[ViewStep]) -> list[Native]:
    """Return the index arrays of a view whose place isn't known."""
    return [index for step in steps if type(step) is Elements for index in step.indices]


def steps_at(steps: Iterable[ViewStep], place: Callable[[Any], Any]) -> tuple[ViewStep, ...]:
    """Return steps with other index arrays, each of which follows from one of theirs."""
    return tuple([Elements(tuple(map(place, step.indices))) if type(step) is Elements else step for step in steps])


def get_through(backend: Handle, native: Native, steps: Sequence[ViewStep]) -> Native:
    """Return a recipe's value for its owner's."""
    for step in steps:
        native = step.get(backend, native)
    return native


def put_through(
    backend: Handle,
    native: Native,
    steps: Sequence[ViewStep | Elements | Masked | Places | MaskedByValue],
    value: Native,
    results: list[Native] | None = None,
) -> Native:
    """Return the owner with ``value`` in the place of a recipe's view; ``results`` as in ``ViewStep.put``."""
    first, *rest = steps
    if rest:
        inner = first.get(backend, backend.read(native))  # type: ignore[union-attr]
        # What a step gets is its own, or the native itself, which only the put that ends the write may use up.
        value = put_through(backend, inner, rest, value, None if results is None or inner is native else [])
    return first.put(backend, native, value, results)
