"""Views: a native one where the engine's memory can be shared and written, a recipe elsewhere.

A recipe is a chain of steps from its owner. Each step can *get* (the base's value to the view's) and *put* (the base's
value and a new value of the view to the base's new value). Reading a recipe gets through all steps, writing puts
back through all of them; on a native that the engine can write, the first step's put writes it in place.

All of basic indexing, ``permute_dims``, ``flip``, ``expand_dims`` and ``squeeze`` is one kind of step, a ``Window``,
and two windows in a row are one: most chains have length one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ..typing import Shape
from .handle import Handle
from .selection import load
from .shapes import c_strides, shadow
from .wrapper import array_class, owner, view_class, wrap

if TYPE_CHECKING:
    from ..array import Array, View


class Step(Protocol):
    """One step of a recipe."""

    @property
    def writable(self) -> bool:
        """Whether the view may be written."""

    def shape(self, shape: Shape) -> Shape:
        """Return the shape of the view of a base of that shape."""

    def is_native(self, backend: Handle, native: Any) -> bool:
        """Say whether ``get`` shares the memory of a native array that the engine can write."""

    def get(self, backend: Handle, native: Any) -> Any:
        """Return the view's value for the base's."""

    def put(self, backend: Handle, native: Any, value: Any, owned: bool = False) -> Any:
        """Return the base with ``value`` in the view's place: the same native where the engine can write it.

        ``owned`` says that nobody else has the native, which a destructive kernel may use up.
        """


def writing_kernel(backend: Handle, name: str, owned: bool) -> Callable[..., Any]:
    """Return a kernel that writes; its destructive twin, where there is one, for a native that nobody else has."""
    kernel = backend.kernel(name)
    return getattr(kernel, "destructive", kernel) if owned else kernel


def store(backend: Handle, native: Any, value: Any) -> Any:
    """Return ``native`` overwritten by ``value`` where the engine can write it, else ``value``."""
    if backend.can_write(native):
        backend.assign(native, value)
        return native
    return value


class Window(NamedTuple):
    """A box cut out of the base with steps, its axes in any order, axes of length one added or dropped.

    ``axes`` has for each axis of the base the start, the step and the length; ``order`` has for each axis of the view
    the axis of the base it comes from, or ``None`` for a new one. An axis that ``order`` leaves out has length one.
    """

    axes: tuple[tuple[int, int, int], ...]
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
        return Window(tuple((0, 1, length) for length in shape), tuple(order))

    def is_identity(self, shape: Shape) -> bool:
        """Say whether the window is its whole base, of that shape, as it is."""
        return self.order == tuple(range(len(shape))) and self.axes == tuple((0, 1, length) for length in shape)

    def shape(self, shape: Shape) -> Shape:
        return tuple(1 if axis is None else self.axes[axis][2] for axis in self.order)

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

    def _kept(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        kept = tuple(axis for axis in self.order if axis is not None)
        return kept, tuple(axis for axis in range(len(self.axes)) if axis not in kept)

    def _is_whole(self, backend: Handle, native: Any) -> bool:
        return all(
            start == 0 and step == 1 and length == whole
            for (start, step, length), whole in zip(self.axes, backend.shape(native), strict=True)
        )

    def is_native(self, backend: Handle, native: Any) -> bool:
        check = getattr(backend.engine, "window_is_view", None)
        return check is None or bool(check(self.axes))

    def get(self, backend: Handle, native: Any) -> Any:
        if not self._is_whole(backend, native):
            native = backend.kernel("get_window")(native, window=self.axes)
        kept, dropped = self._kept()
        permutation = kept + dropped
        if permutation != tuple(range(len(permutation))):
            native = backend.kernel("permute_dims")(native, axes=permutation)
        if dropped or None in self.order:
            native = backend.kernel("reshape")(native, shape=self.shape(()))
        return native

    def put(self, backend: Handle, native: Any, value: Any, owned: bool = False) -> Any:
        kept, dropped = self._kept()
        permutation = kept + dropped
        whole = self._is_whole(backend, native)
        # A 0-d value needs no shape to go into one element.
        if (dropped or None in self.order) and (whole or self.order):
            value = backend.kernel("reshape")(value, shape=tuple(self.axes[axis][2] for axis in permutation))
        if permutation != tuple(range(len(permutation))):
            inverse = tuple(int(axis) for axis in np.argsort(permutation))
            value = backend.kernel("permute_dims")(value, axes=inverse)
        if whole:
            return store(backend, native, value)
        if any(not length for _, _, length in self.axes):
            return native
        return writing_kernel(backend, self.kernel, owned)(native, value, window=self.axes)


class Reshape(NamedTuple):
    """Another shape of the same elements in C order."""

    before: Shape
    after: Shape

    @property
    def writable(self) -> bool:
        return True

    def shape(self, shape: Shape) -> Shape:
        return self.after

    def is_native(self, backend: Handle, native: Any) -> bool:
        return True

    def get(self, backend: Handle, native: Any) -> Any:
        return backend.kernel("reshape")(native, shape=self.after)

    def put(self, backend: Handle, native: Any, value: Any, owned: bool = False) -> Any:
        return store(backend, native, backend.kernel("reshape")(value, shape=self.before))


class Part(NamedTuple):
    """The real or the imaginary part of a complex base."""

    name: str

    @property
    def writable(self) -> bool:
        return True

    def shape(self, shape: Shape) -> Shape:
        return shape

    def is_native(self, backend: Handle, native: Any) -> bool:
        return True

    def get(self, backend: Handle, native: Any) -> Any:
        return backend.kernel(self.name)(native)

    def put(self, backend: Handle, native: Any, value: Any, owned: bool = False) -> Any:
        return store(backend, native, backend.kernel(f"set_{self.name}")(backend.copy(backend.read(native)), value))


class Broadcast(NamedTuple):
    """The base repeated along axes; read-only, since several of its elements are one."""

    after: Shape

    @property
    def writable(self) -> bool:
        return False

    def shape(self, shape: Shape) -> Shape:
        return self.after

    def is_native(self, backend: Handle, native: Any) -> bool:
        # Only NumPy can mark a native array as read-only.
        return backend.name == "numpy"

    def get(self, backend: Handle, native: Any) -> Any:
        return backend.kernel("broadcast_to")(native, shape=self.after)

    def put(self, backend: Handle, native: Any, value: Any, owned: bool = False) -> Any:
        raise AssertionError("a read-only step is refused before it is written")


class Diagonal(NamedTuple):
    """The diagonals of the base's last two axes; read-only, as in NumPy."""

    offset: int
    after: Shape

    @property
    def writable(self) -> bool:
        return False

    def shape(self, shape: Shape) -> Shape:
        return self.after

    def is_native(self, backend: Handle, native: Any) -> bool:
        return backend.name == "numpy"

    def get(self, backend: Handle, native: Any) -> Any:
        return backend.kernel("diagonal")(native, offset=self.offset)

    def put(self, backend: Handle, native: Any, value: Any, owned: bool = False) -> Any:
        raise AssertionError("a read-only step is refused before it is written")


class Elements(NamedTuple):
    """The elements that index arrays pick from the leading axes of the base; a target of writes, not a view."""

    indices: tuple[Any, ...]

    @property
    def kernel(self) -> str:
        """The kernel that writes."""
        return "scatter"

    def put(self, backend: Handle, native: Any, value: Any, owned: bool = False) -> Any:
        return writing_kernel(backend, self.kernel, owned)(native, value, *self.indices)


class Masked(NamedTuple):
    """The elements where a mask of the base's shape is true, all to be written by one value; not a view."""

    mask: Any

    @property
    def kernel(self) -> str:
        """The kernel that writes."""
        return "put_mask"

    def put(self, backend: Handle, native: Any, value: Any, owned: bool = False) -> Any:
        return writing_kernel(backend, self.kernel, owned)(native, value, self.mask)


def get_through(backend: Handle, native: Any, steps: Sequence[Step]) -> Any:
    """Return a recipe's value for its owner's."""
    for step in steps:
        native = step.get(backend, native)
    return native


def put_through(
    backend: Handle, native: Any, steps: Sequence[Step | Elements | Masked], value: Any, owned: bool = False
) -> Any:
    """Return the owner with ``value`` in the place of a recipe's view."""
    first, *rest = steps
    if rest:
        # What a step gets is its own, or the native itself, of which its put needs no value then.
        inner = first.get(backend, backend.read(native))  # type: ignore[union-attr]
        value = put_through(backend, inner, rest, value, owned)
    return first.put(backend, native, value, owned)


def has_native_views(array: Array) -> bool:
    """Say whether native views of this array's native are seen by, and see, writes to it."""
    return not is_recipe(array) and array._backend.mutable and array._backend.can_write(array._native)


def is_recipe(array: Array) -> bool:
    """Say whether an array is a view that holds a recipe."""
    return type(array) is not array_class()


def root_of(array: Array) -> Array:
    """Return the array that a recipe starts from, of any other array itself."""
    return array._root if is_recipe(array) else array  # type: ignore[attr-defined]


def steps_with(array: Array, *last: Any) -> tuple[Any, ...]:
    """Return the steps from an array's root to what further steps make of the array; two windows in a row are one."""
    steps: tuple[Any, ...] = array._steps if is_recipe(array) else ()  # type: ignore[attr-defined]
    if steps and last and isinstance(steps[-1], Window) and isinstance(last[0], Window):
        merged = steps[-1].then(last[0])
        if merged is not None:
            return (*steps[:-1], merged, *last[1:])
    return (*steps, *last)


def make_view(array: Array, step: Step) -> Array:
    """Return the view of an array that one step makes."""
    backend = array._backend
    if has_native_views(array) and step.is_native(backend, array._native):
        return wrap(step.get(backend, array._native), backend, owner(array))
    return make_recipe(root_of(array), steps_with(array, step))


def is_view_at(value: object, array: Array, step: Step) -> bool:
    """Say whether ``value`` is the recipe of the very view of an array that a step makes."""
    if not isinstance(value, view_class()):
        return False
    return value._root is root_of(array) and value._steps == steps_with(array, step)


def make_recipe(root: Array, steps: tuple[Step, ...]) -> View:
    """Return the view of ``root`` that the steps make."""
    cls = view_class()
    view = cls.__new__(cls)
    view._backend = root._backend
    view._base = owner(root)
    view._root = root
    view._steps = steps
    if getattr(root, "_token", None) is None:
        root._token = object()
    return view


def rebind(root: Array, native: Any, *, owned: bool = False) -> None:
    """Give an owner another native array, so that every view of it is stale; ``owned`` if nobody else has it."""
    root._owned, root._run = owned, None
    root._native = native
    # After the native: a reader takes the token first, so that it never holds an old value for a new token.
    root._token = object()


def geometry(array: Array) -> np.ndarray:
    """Return a shadow of the array: its shape and strides, as far as the engine or its recipe shows them."""
    backend = array._backend
    if not is_recipe(array):
        shape, dtype = backend.shape(array._native), backend.dtype(array._native)
        strides = backend.strides(array._native)
        return shadow(shape, c_strides(shape, dtype.itemsize) if strides is None else strides, dtype)
    return _seen_in(geometry(array._root), array)  # type: ignore[attr-defined]


def _seen_in(memory: np.ndarray, array: Array) -> np.ndarray:
    # What an array shows of its root's memory.
    seen: np.ndarray = get_through(load("numpy"), memory, steps_with(array))
    return seen


def may_share_memory(first: Array, second: Array) -> bool:
    """Say whether two arrays have elements in common; ``True`` in doubt."""
    if first._backend is not second._backend:
        return False
    if not is_recipe(first) and not is_recipe(second):
        return first is second or bool(first._backend.may_share_memory(first._native, second._native))
    one, other = root_of(first), root_of(second)
    if one is other:
        memory = geometry(one)
        return bool(load("numpy").may_share_memory(_seen_in(memory, first), _seen_in(memory, second)))
    return owner(one) is owner(other) or bool(one._backend.may_share_memory(one._native, other._native))


def overlapping(arrays: Sequence[Array]) -> Iterator[tuple[int, int]]:
    """Yield the places of each two arrays that may share memory, the first one first."""
    if _in_blocks_of_their_own(arrays):
        return
    # In the order of their addresses, an array meets those only that haven't ended before it begins.
    met: list[tuple[int, int]] = []
    for start, end, place in sorted((*_extent(x), place) for place, x in enumerate(arrays)):
        met = [(other_end, other) for other_end, other in met if other_end > start]
        for _, other in met:
            if may_share_memory(arrays[place], arrays[other]):
                yield (other, place) if other < place else (place, other)
        met.append((end, place))


def _in_blocks_of_their_own(arrays: Sequence[Array]) -> bool:
    # Most are, and addresses cost several times as much to ask for.
    roots = map(root_of, arrays)
    blocks = {id(root._backend.block(root._native)) for root in roots}
    return len(blocks) == len(arrays) and id(None) not in blocks


def _extent(array: Array) -> tuple[int, int]:
    # The addresses between which an array lies. Without addresses, arrays share memory only if a native is the same.
    root = root_of(array)
    native = root._native
    return root._backend.extent(native) if root._backend.mutable else (id(native), id(native) + 1)
