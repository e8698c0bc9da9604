"""The array: one mutable class over every backend."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import EllipsisType, GenericAlias
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from ..._native import core
from ...errors import DeviceError
from ...typing import ArrayLike, Scalar
from ..engines import dtypes
from ..engines.handle import Handle
from ..engines.natives import backend_of_native
from ..engines.refusals import explains
from ..engines.registry import Node, load, register_node, when_loaded
from ..engines.tracing import capture, current, mode, original, recording
from ..values import above
from ..values.called import boundary, make_boundaries
from ..values.elsewhere import point_elsewhere
from ..values.mixins import present_as
from ..values.native import Native
from .conversions import Conversions
from .deferred import Deferred
from .layout import MemoryMethods
from .methods import Methods
from .operators import Operators
from .ownership import LOCK, hand_out, read, rebind
from .protocols import Protocols
from .slots import Slots
from .views import Window

running_mode = mode.get
A = TypeVar("A")
Index: TypeAlias = int | slice | EllipsisType | ArrayLike | None


class ArrayMeta(type):
    """The class of ``Array``: a call makes an array of a shape, as one of NumPy's ``ndarray`` does."""

    def __call__(cls, *arguments: object, **options: object) -> Any:
        if cls is Array:
            return above.numpy._classes.empty_array(*arguments, **options)
        raise TypeError(f"{cls.__name__} isn't made by a call: pass what it holds to asarray()")


ArrayMeta.__call__ = boundary(ArrayMeta.__call__, "Array")  # type: ignore[method-assign]


def blank(cls: type[A]) -> Callable[[], A]:
    """Return what makes an array of a class whose slots aren't set, as fast as a call without a constructor."""
    return type.__call__.__get__(cls)  # type: ignore[no-any-return]


class Array(Operators, Methods, MemoryMethods, Conversions, Protocols, Slots, metaclass=ArrayMeta):
    """A mutable array over a native array of any backend.

    Arrays come from functions such as ``asarray`` and ``zeros``. Reading, writing, views and printing are NumPy's, on
    every backend: a view sees what is written to its base, and the reverse, also where the engine's arrays can't.

    It is ``unifyarr.numpy.ndarray`` too, whose constructor ``Array(shape, dtype=float, buffer=None, offset=0,
    strides=None, order=None)`` returns an array whose values are not set, or one that shows those of a buffer.
    """

    __module__ = __name__.partition("._core")[0]
    __slots__ = ()
    # An array compares element by element, so that it can't be a key.
    __hash__ = None  # type: ignore[assignment]
    __array_priority__ = 1000
    # As in ``np.ndarray[Any, np.dtype[np.float64]]``.
    __class_getitem__: Any = classmethod(GenericAlias)

    _base: Array | None

    # -- what it is -------------------------------------------------------------------------------------------------

    @property
    def native(self) -> Any:
        """The engine's own array: the same memory where the engine can share it, the present value elsewhere."""
        backend = self._backend
        if running_mode() is None and backend.mutable:
            # Nothing uses up its memory.
            return backend.handed_out(self._native)
        x = current(self)
        return x._backend.handed_out(hand_out(x))

    @property
    def base(self) -> Array | None:
        """The array whose memory this is a view of, ``None`` if it's no view."""
        base = current(self)._base
        return None if base is None else original(base)

    @property
    def T(self) -> Array:
        """A view with all axes reversed."""
        # The compiled core serves plain arrays at once.
        if len(self.shape) == 2:
            return above.functions.matrix_transpose(self)  # type: ignore[no-any-return]
        return above.recipes.make_view(capture(self), Window.of_order(self.shape, range(self.ndim)[::-1]))  # type: ignore[no-any-return]

    @property
    def mT(self) -> Array:
        """A view with the last two axes swapped."""
        return above.functions.matrix_transpose(self)  # type: ignore[no-any-return]

    @property
    def real(self) -> Array:
        """A view of the real part."""
        return above.functions.real(self)  # type: ignore[no-any-return]

    @real.setter
    def real(self, value: ArrayLike) -> None:
        above.inplace.update(above.functions.real(self), value, what="the real part", assigned=True)

    @property
    def imag(self) -> Array:
        """A view of the imaginary part, or zeros."""
        return above.functions.imag(self)  # type: ignore[no-any-return]

    @imag.setter
    def imag(self, value: ArrayLike) -> None:
        if dtypes.rank(self.dtype) < 3:
            raise TypeError(f"an array of dtype {self.dtype} has no imaginary part to write: cast it to complex first")
        above.inplace.update(above.functions.imag(self), value, what="the imaginary part", assigned=True)

    @property
    def flat(self) -> Array:
        """An iterator over all elements in C order, NumPy's ``flatiter``, which reads and writes them by keys too."""
        return above.flat.flat(self)

    @flat.setter
    def flat(self, value: ArrayLike) -> None:
        above.flat.set_flat(self, value)

    # -- indexing ---------------------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Array]:
        if not self.shape:
            raise TypeError("a 0-d array can't be iterated over")
        return (self[place] for place in range(self.shape[0]))

    def __contains__(self, value: object) -> bool:
        return bool(above.functions.any(above.functions.equal(self, value)))

    if TYPE_CHECKING or core is None:
        # Where the core is compiled, these are methods of ``core.Slots``.

        def __getitem__(self, key: Index | tuple[Index, ...]) -> Array:
            return above.items.get_item(self, key)

        def __setitem__(self, key: Index | tuple[Index, ...], value: ArrayLike) -> None:
            above.items.set_item(self, key, value)

        def __delitem__(self, key: object) -> None:
            above.items.delete_item(self, key)

    # -- copies and views -------------------------------------------------------------------------------------------

    @explains("copy()")
    def copy(self, order: str = "C") -> Array:
        """Return an independent array of equal values, in memory of its own, whose layout is the engine's."""
        x = capture(self)
        backend = x._backend
        copied = wrap(backend.copy(read(x)), backend)
        notes = recording()
        if notes is not None:
            notes.call(backend.copy, (x,), {}, copied)
        return copied

    def to_device(self, device: object, /, *, stream: object = None) -> Array:
        """Return the array on a device: itself if it's there, else a copy."""
        if stream is not None:
            raise DeviceError("to_device() takes no stream: the engines order their work themselves")
        x = current(self)
        backend = x._backend
        there = backend.as_device(device)
        hand_out(x)
        native = read(x)
        moved = backend.to_device(native, there)
        return self if moved is native else wrap(moved, backend)

    def transpose(self, *axes: object) -> Array:
        """Return a view with the axes in another order, reversed if none is given."""
        if not axes or axes == (None,):
            return self.T
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return above.functions.permute_dims(self, order)  # type: ignore[no-any-return]

    def fill(self, value: Scalar) -> None:
        """Write one value everywhere."""
        above.inplace.update(self, value, what="the array", assigned=True)

    def __copy__(self) -> Array:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, object]) -> Array:
        return self.copy()

    def _keep(self, native: Native, instead_of: object, /) -> None:
        with LOCK:
            rebind(self, native, instead_of=instead_of)

    def __reduce__(self) -> tuple[object, ...]:
        x = current(self)
        data = None if mode.get() is not None else x._backend.pickled(read(x))
        if data is not None:
            return Array._unpickled, (x.backend, data)
        values = np.array(self._values())
        # The machine that reads the pickle may have other devices: what is spread over several comes back whole.
        device = self.device if isinstance(self.device, str) else None
        return Array._rebuild, (values, self.backend, device)

    @staticmethod
    def _unpickled(backend: str, data: bytes) -> Array:
        handle = load(backend)
        return wrap(handle.unpickled(data), handle)

    @staticmethod
    def _rebuild(values: np.ndarray, backend: str, device: str | None) -> Array:
        handle = load(backend)
        try:
            there = None if device is None else handle.as_device(device)
        except DeviceError:
            # The machine that reads the pickle lacks the device: the default one serves.
            there = None
        return wrap(handle.from_numpy(values, device=there, copy=True), handle)


for _each in (Methods, MemoryMethods, Conversions, Deferred, Protocols):
    present_as(Array, _each)
    make_boundaries(_each)
make_boundaries(Array)
# The getters here can't fail, and have to cost little.
make_boundaries(Slots, getters=False)
blank_array: Callable[[], Array] = blank(Array)


def wrap(native: Native, backend: Handle, base: Array | None = None) -> Array:
    """Return an array that holds ``native``; ``base`` is the owner of the memory where it's a view."""
    array = blank_array()
    array._native = native
    array._backend = backend
    array._base = base
    # A mutable engine's natives are written whatever runs.
    if not backend.mutable:
        trace = backend.trace()
        if trace is not None:
            array._born = trace
    return array


def marked(native: Native, backend: Handle, trace: object) -> Array:
    """Return an array that holds ``native``, of a trace that is known: ``None`` if none runs."""
    array = blank_array()
    array._native, array._backend, array._base = native, backend, None
    if trace is not None:
        array._born = trace
    return array


def owner(array: Array) -> Array:
    """Return the array whose memory ``array`` is a view of: itself if it's none."""
    return array if array._base is None else array._base


def _of_child(backend: Handle, _: None, children: Sequence[Native]) -> Array:
    # An engine's pytrees put tracers and placeholders in the place of what they took out, which are of that engine.
    (native,) = children
    own = load("numpy") if isinstance(native, np.ndarray) else backend_of_native(native)
    return wrap(native, own or backend)


def register(cls: type) -> None:
    """Make a class of arrays a node of the engines' pytrees."""
    register_node(Node(cls, lambda x: ([x.native], None), _of_child, lambda x: ("native",)))


register(Array)


@when_loaded
def _serve(handle: Handle) -> None:
    """Give arrays the methods by which an engine's functions ask other objects for a native array."""
    for name, convert in handle.protocols.items():

        def method(x: Any, *arguments: Any, _convert: Callable[..., Any] = convert, **options: Any) -> object:
            x = current(x)
            return _convert(x.native if x._backend is handle else x.to_numpy(), *arguments, **options)

        method.__name__ = name
        setattr(Array, name, method)


point_elsewhere(Array)
# Pickles name it ``unifyarr.Array._rebuild``, those of version 0.1 ``unifyarr.array._rebuild``.
_rebuild = Array._rebuild
Array._unpickled.__module__ = _rebuild.__module__ = Array.__module__
