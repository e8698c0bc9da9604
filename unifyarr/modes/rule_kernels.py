"""The kernels of a backend as rules call them: on natives, with Python numbers beside them, and types for traces."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.declaring.declare import DECLARATIONS
from .._core.engines import dtypes
from .._core.engines.handle import Handle, casts_itself, declines, has_one_device
from .._core.engines.kernels import Kernel, known_kernels
from .._core.engines.refusals import is_refusal
from .._core.kernels.record import kernel_named
from .._core.values.lengths import PartialShape, equal_as_known, shape_of
from .._core.values.shapes import broadcast
from ..typing import Shape
from .like import Like

if TYPE_CHECKING:
    import numpy.typing as npt

    from .._core.values.native import Native

# How many Python numbers are remembered as natives: programs may go through ever new ones.
MOST_NUMBERS = 1024
_NUMBERS = frozenset({int, float, complex})


class Kernels:
    """The kernels of a backend by their names: ``k.multiply(g, k.cos(x))``, ``k.sum(g, axis=(0,), keepdims=False)``.

    Operands are natives of the backend, or Python numbers beside one in elementwise kernels; static arguments are the
    kernel's own. ``writes`` says whether kernels that write may do so in their first operand; otherwise they give a new
    array. Nothing else is ever written.
    """

    def __init__(self, handle: Handle, *, writes: bool = False) -> None:
        self.handle, self._writes = handle, writes
        self._shape, self._dtype = handle.shape, handle.dtype
        # Python numbers as natives. They are made anew where natives end with a trace.
        self._numbers: dict[Hashable, Native] = {}
        self._keeps = not handle.records and handle.around is handle
        # The class of an engine's arrays, which have a shape, a dtype and a device that are compared at once.
        self.own = handle.native_type if self._keeps and handle.has_shapes else None
        self._likes: dict[Hashable, Like] = {}
        self._broadcasting: Callable[..., Native] = handle.kernels.get("broadcast_to") or self._lacking("broadcast_to")
        self._fill()

    def _fill(self) -> None:
        # All at once: attributes of a class with ``__getattr__`` take Python several times as long.
        for name in known_kernels() | self.handle.kernels.keys():
            if not hasattr(Kernels, name):
                setattr(self, name, self._found(name))

    def _found(self, name: str) -> Kernel:
        return self._made(name) if name in self.handle.kernels else self._lacking(name)

    if TYPE_CHECKING:
        # The kernels of several results; each other one gives one native.
        svd: Callable[..., tuple[Native, Native, Native]]
        eigh: Callable[..., tuple[Native, Native]]
        eig: Callable[..., tuple[Native, Native]]
        unique_all: Callable[..., tuple[Native, Native, Native, Native]]

        def __getattr__(self, name: str) -> Callable[..., Native]: ...

    def _made(self, name: str) -> Kernel:
        declaration = DECLARATIONS.get(name)
        ufunc = None if declaration is None else declaration.ufunc
        return self._elementwise(name, ufunc) if ufunc is not None else self._plain(name)

    def _lacking(self, name: str) -> Kernel:
        # Calls say what the backend lacks.
        return lambda *operands, **static: self.handle.kernel(name)(*operands, **static)

    def _plain(self, name: str) -> Kernel:
        kernel = self.handle.kernel(name)
        if kernel_named(name).may_write and self.handle.mutable and not self._writes:
            return on_copy(self.handle, kernel)
        if name == "sum":
            # Sums are taken in the dtype of what is summed.
            return lambda x, *, axis, keepdims=False: kernel(x, axis=axis, keepdims=keepdims, dtype=self.dtype(x))
        return kernel

    def has(self, name: str) -> bool:
        """Return whether the backend has a kernel of a name."""
        return name in self.handle.kernels

    def _elementwise(self, name: str, ufunc: np.ufunc) -> Kernel:
        general, handle = self._casting(name, ufunc), self.handle
        # Traces and records have no plain calls. Where values are known those are asked first, as dispatchers do.
        if handle.records or handle.tape is not None or handle.plain[name] is declines:
            return general
        own, as_native, plain = handle.native_type, handle.as_native, handle.plain

        def call(*operands: Native | complex) -> Any:
            try:
                found = plain[name](*operands)
            except Exception as error:
                if not is_refusal(error, handle):
                    raise
                # The general path says what is wrong.
                return general(*operands)
            if type(found) is own:
                return found
            return general(*operands) if found is NotImplemented else as_native(found)

        return call

    def _casting(self, name: str, ufunc: np.ufunc) -> Callable[..., Native]:
        kernel, handle = self.handle.kernel(name), self.handle
        casts, records = casts_itself(kernel), handle.records

        def call(*operands: Any) -> Native:
            if not _NUMBERS.isdisjoint(map(type, operands)):
                like = next(x for x in operands if type(x) not in _NUMBERS)
                operands = tuple([self.number(x, like) if type(x) in _NUMBERS else x for x in operands])
            if casts and not records:
                return kernel(*operands)
            given = [dtypes.BY_NUMPY[handle.dtype(x)] for x in operands]
            *inputs, output = dtypes.loop(ufunc, *given)
            if given != inputs:
                operands = tuple([self.astype(x, wanted.dtype) for x, wanted in zip(operands, inputs, strict=True)])
            if records:
                shape = broadcast(*[handle.shape(x) for x in operands], name=name)
                return kernel(*operands, result=(shape, output.dtype))
            return kernel(*operands)

        return call

    # -- what an array is ---------------------------------------------------------------------------------------------

    def shape(self, x: Native) -> Shape:
        """Return the shape of a native, or of what stands for one."""
        return x.shape if type(x) is Like else self._shape(x)

    def ndim(self, x: Native) -> int:
        """Return the number of axes."""
        return len(x.shape if type(x) is Like else self._shape(x))

    def size(self, x: Native) -> int:
        """Return the number of elements."""
        return math.prod(self.shape(x))

    def dtype(self, x: Native) -> np.dtype[Any]:
        """Return the dtype as NumPy has it."""
        found: np.dtype[Any] = x.dtype if type(x) is Like else self._dtype(x)
        return found

    def is_complex(self, x: Native) -> bool:
        """Return whether an array is of complex numbers."""
        return self.dtype(x).kind == "c"

    def kind(self, x: Any) -> Like | None:
        """Return the one that stands for all natives of a type, ``None`` if there's none."""
        if type(x) is not self.own:
            return None
        key = x.shape, x.dtype, x.device
        found = self._likes.get(key)
        if found is None:
            if len(self._likes) >= MOST_NUMBERS:
                self._likes.clear()
            found = self._likes[key] = Like(self._shape(x), self._dtype(x), self.handle.place_beside(x), x.dtype)
            found.rank = dtypes.rank(found.dtype)
        return found

    def like(self, x: Any) -> Any:
        """Return what stands for a native of which only the shape and the dtype are needed."""
        if type(x) is self.own:
            # Nothing writes it, so that all of one type share one.
            return self.kind(x)
        if type(x) is Like:
            return x
        shape = self._shape(x)
        if type(shape) is PartialShape:
            # Lengths that only values decide are known by an array alone.
            return x
        return Like(shape, self._dtype(x), self.handle.place_beside(x))

    # -- choices ------------------------------------------------------------------------------------------------------

    def where(self, condition: Native, x: Any, y: Any) -> Native:
        """Return elements of one array or of another one; one of the two may be a number."""
        if type(x) in _NUMBERS:
            x = self.number(x, y)
        elif type(y) in _NUMBERS:
            y = self.number(y, x)
        return self.handle.kernel("where")(condition, x, y)

    def safe(self, x: Native) -> Native:
        """Return what may be divided by: an array with ones in the place of zeros."""
        return self.where(self.equal(x, 0), 1, x)

    def conjugate(self, x: Native) -> Native:
        """Return the conjugate of complex numbers, and real ones as they are."""
        return self.conj(x) if self.is_complex(x) else x

    # -- arrays from nothing ------------------------------------------------------------------------------------------

    def number(self, value: complex, like: Any) -> Native:
        """Return a 0-d native of a number, of an array's dtype where that holds it, and on its device."""
        if type(like) is self.own or type(like) is Like:
            dtype, device = like.dtype, like.device
        else:
            dtype, device = self._dtype(like), self.handle.place_beside(like)
        # The two zeros are equal.
        key = value if value and type(value) is not complex else repr(value), type(value), dtype, device
        found = self._numbers.get(key)
        if found is None:
            dtype = _computing(self.dtype(like))
            wider = type(value) is complex and dtype.kind != "c"
            values = np.asarray(value, np.result_type(dtype, np.complex64) if wider else dtype)
            found = self.handle.constant(values, device=self._place(like))
            # Where an array may be on any of several devices, so is its number.
            if self._keeps and (device is not None or has_one_device(self.handle)):
                if len(self._numbers) >= MOST_NUMBERS:
                    self._numbers.clear()
                self._numbers[key] = found
        return found

    def array(self, values: np.ndarray, like: Native) -> Native:
        """Return a native of values that is only read, on the device of an array."""
        return self.handle.table(values, device=self._place(like))

    def _place(self, like: Native) -> object:
        if type(like) is not Like:
            return self.handle.own_place(like)
        return None if like.device is None else self.handle.own_device(like.device)

    def full(self, value: complex, like: Native, shape: Shape | None = None) -> Native:
        """Return a native of one number everywhere, like an array but for the shape, if one is given."""
        number = self.number(value, like)
        return self.spread(number, like) if shape is None else self.broadcast_to(number, shape)

    def zeros(self, like: Native) -> Native:
        """Return zeros like an array, in memory that may be written."""
        found = self.full(0, like)
        return self.handle.copy(found) if self.handle.mutable else found

    # -- views, with positional arguments -----------------------------------------------------------------------------

    def reshape(self, x: Native, shape: Sequence[int]) -> Native:
        """Return an array of another shape."""
        if type(shape) is PartialShape:
            return x if equal_as_known(self.shape(x), shape) else self.handle.kernel("reshape")(x, shape=shape)
        return x if self.shape(x) == tuple(shape) else self.handle.kernel("reshape")(x, shape=tuple(shape))

    def permute_dims(self, x: Native, axes: Sequence[int]) -> Native:
        """Return an array with its axes in another order."""
        return self.handle.kernel("permute_dims")(x, axes=tuple(axes))

    def transpose(self, x: Native) -> Native:
        """Return matrices with their rows as columns."""
        ndim = len(self._shape(x))
        axes = (1, 0) if ndim == 2 else (*range(ndim - 2), ndim - 1, ndim - 2)
        return self.handle.kernel("permute_dims")(x, axes=axes)

    def broadcast_to(self, x: Native, shape: Shape) -> Native:
        """Return an array of a shape that another one broadcasts to."""
        return x if self.shape(x) == tuple(shape) else self.handle.kernel("broadcast_to")(x, shape=tuple(shape))

    def spread(self, x: Native, like: Native) -> Native:
        """Return an array in the shape of another one, which it broadcasts to."""
        shape = self.shape(like)
        return self.where(self.equal(like, like), x, x) if type(shape) is PartialShape else self.broadcast_to(x, shape)

    def get_window(self, x: Native, window: Iterable[tuple[int, int, int]]) -> Native:
        """Return a box of an array: ``(start, step, length)`` for each axis."""
        return self.handle.kernel("get_window")(x, window=tuple(window))

    def row(self, x: Native, place: int) -> Native:
        """Return the element at a place of the first axis."""
        shape = self.shape(x)
        window = ((place, 1, 1), *((0, 1, length) for length in shape[1:]))
        return self.reshape(self.get_window(x, window), shape[1:])

    def astype(self, x: Native, dtype: npt.DTypeLike) -> Native:
        """Return an array of another dtype, of real numbers the real part of complex ones."""
        dtype = np.dtype(dtype)
        if self.dtype(x) == dtype:
            return x
        if self.is_complex(x) and dtype.kind != "c":
            x = self.handle.kernel("real")(x)
        return self.handle.kernel("astype")(x, dtype=dtype)

    def add_into(self, total: Native, x: Native) -> Native:
        """Return the sum of two arrays of one type, in the memory of the first one where the engine writes there."""
        handle = self.handle
        kernel = handle.kernel("add")
        if self._writes and handle.mutable and handle.supports_out(kernel) and not handle.is_watched(total, x):
            return kernel(total, x, out=total)
        return self.add(total, x)

    # -- cotangents ---------------------------------------------------------------------------------------------------

    def whole(self, g: Sequence[Native | None], out: Sequence[Native]) -> list[Native]:
        """Return the cotangents of several results, with zeros of those that nothing depends on."""
        return [self.full(0, x) if each is None else each for each, x in zip(g, out, strict=True)]

    def expanded(self, g: Native, axis: Sequence[int], keepdims: bool, like: Native) -> Native:
        """Return the cotangent of a reduction, or its result, broadcast to the shape of what was reduced."""
        shape = self._shape(g)
        if not keepdims and shape:
            lengths = enumerate(tuple.__iter__(self.shape(like)))
            g = self.reshape(g, shape_of([1 if place in axis else length for place, length in lengths]))
        elif type(like) is Like and shape != like.shape:
            return self._broadcasting(g, shape=like.shape)
        return self.spread(g, like)

    def fitted(self, g: Any, like: Any) -> Native:
        """Return a cotangent in the shape and dtype of an operand, which was broadcast and cast."""
        is_type = type(like) is Like
        if type(g) is self.own and g.dtype is (like.native_dtype if is_type else like.dtype) and g.shape == like.shape:
            same: Native = g
            return same
        wanted, dtype = (like.shape, like.dtype) if is_type else (self._shape(like), self._dtype(like))
        shape = self._shape(g)
        if not equal_as_known(shape, wanted):
            extra = len(shape) - len(wanted)
            axes = [
                place
                for place, length in enumerate(tuple.__iter__(shape))
                if place < extra or (tuple.__getitem__(wanted, place - extra) == 1 and length != 1)
            ]
            if axes:
                g = self.sum(g, axis=tuple(axes), keepdims=False)
            g = self.reshape(g, wanted)
        dtype = _computing(dtype)
        return g if self._dtype(g) == dtype else self.astype(g, dtype)


def _computing(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    # What only stores numbers has cotangents that can be added up, and aren't rounded to a few bits.
    return dtypes.float32.dtype if dtype in dtypes.USED else dtype


def on_copy(handle: Handle, kernel: Kernel) -> Kernel:
    """Return a kernel that writes to a copy of its first operand."""
    copy = handle.copy
    return lambda x, *others, **static: kernel(copy(x), *others, **static)


@cache
def kernels_of(handle: Handle) -> Kernels:
    """Return the kernels of a backend, which write nothing."""
    return Kernels(handle)
