"""The array: one mutable class over every backend."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import functions
from ._core import convert, dtypes, indexing
from ._core.dtypes import DType
from ._core.handle import Handle
from ._core.inplace import update
from ._core.ownership import hand_out, settled, share
from ._core.selection import Node, backend_of_native, current_name, load, register_node
from ._core.tracing import capture, inside
from ._core.views import Part, Step, Window, geometry, get_through, is_recipe, make_view
from ._core.wrapper import Wrapper, read, register_classes, wrap
from ._operators import Operators
from .errors import CopyError, DeviceError
from .typing import Scalar, Shape

if TYPE_CHECKING:
    from types import EllipsisType, ModuleType

    from .typing import ArrayLike

    Index = int | slice | EllipsisType | None | ArrayLike


class Array(Operators, Wrapper):
    """A mutable array over a native array of any backend.

    Arrays come from functions such as ``asarray`` and ``zeros``. Reading, writing, views and printing are NumPy's, on
    every backend: a view sees what is written to its base, and the reverse, also where the engine's arrays can't.
    """

    __slots__ = ()
    # An array compares element by element, so that it can't be a key.
    __hash__ = None  # type: ignore[assignment]
    __array_priority__ = 1000

    # -- what it is -------------------------------------------------------------------------------------------------

    @property
    def native(self) -> Any:
        """The engine's own array: the same memory where the engine can share it, the present value elsewhere."""
        return hand_out(self)

    @property
    def backend(self) -> str:
        """The name of the backend."""
        return self._backend.name

    @property
    def base(self) -> Array | None:
        """The array whose memory this is a view of, ``None`` if it's no view."""
        return self._base

    @property
    def dtype(self) -> DType:
        """The dtype."""
        return dtypes.BY_NUMPY[self._backend.dtype(self._native)]

    @property
    def device(self) -> str:
        """The name of the device, such as ``"cpu"`` or ``"gpu:0"``."""
        return self._backend.device(self._native)  # type: ignore[no-any-return]

    @property
    def shape(self) -> Shape:
        """The lengths of the axes."""
        return self._backend.shape(self._native)  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """The bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.size * self.dtype.itemsize

    @property
    def T(self) -> Array:
        """A view with all axes reversed."""
        return make_view(self, Window.of_order(self.shape, range(self.ndim)[::-1]))

    @property
    def mT(self) -> Array:
        """A view with the last two axes swapped."""
        return functions.matrix_transpose(self)

    @property
    def real(self) -> Array:
        """A view of the real part."""
        return functions.real(self)

    @real.setter
    def real(self, value: ArrayLike) -> None:
        update(functions.real(self), value, what="the real part")

    @property
    def imag(self) -> Array:
        """A view of the imaginary part, or zeros."""
        return functions.imag(self)

    @imag.setter
    def imag(self, value: ArrayLike) -> None:
        if dtypes.rank(self.dtype) < 3:
            raise TypeError(f"an array of dtype {self.dtype} has no imaginary part to write: cast it to complex first")
        update(functions.imag(self), value, what="the imaginary part")

    @property
    def flat(self) -> Array:
        """All elements as a 1-d array: a view where one is possible."""
        return functions.reshape(self, (-1,))

    @flat.setter
    def flat(self, value: ArrayLike) -> None:
        flat = functions.reshape(self, (-1,))
        update(flat, value, what="the array")
        if flat.base is None:
            update(self, functions.reshape(flat, self.shape), what="the array")

    # -- the standard's protocols -----------------------------------------------------------------------------------

    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType:
        """Return the namespace of the functions, bound to this array's backend: what it makes lands there."""
        from ._namespace import namespace

        if api_version is not None and api_version not in SUPPORTED_VERSIONS:
            raise ValueError(f"api_version is one of {', '.join(SUPPORTED_VERSIONS)}, not {api_version!r}")
        return namespace(self._backend)

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """Export the memory through DLPack; an immutable engine's is copied or marked read-only."""
        hand_out(self)
        return self._backend.dlpack(read(self), stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's numbers for the device."""
        return self._backend.dlpack_device(read(self))  # type: ignore[no-any-return]

    def to_device(self, device: object, /, *, stream: object = None) -> Array:
        """Return the array on a device: itself if it's there, else a copy."""
        if stream is not None:
            raise DeviceError("to_device() takes no stream: the engines order their work themselves")
        backend = self._backend
        there = backend.as_device(device)
        hand_out(self)
        native = read(self)
        moved = backend.to_device(native, there)
        return self if moved is native else wrap(moved, backend)

    def to_backend(self, backend: str, *, device: object = None) -> Array:
        """Return the values on another backend, in memory of its own; the array itself if it's there.

        Parameters
        ----------
        backend
            The name of the backend.
        device
            The device there; its default one if not given.
        """
        capture(self)
        target = inside(load(backend))
        if target is self._backend:
            return self if device is None else self.to_device(device)
        there = None if device is None else target.as_device(device)
        convert.check_dtype(target, self.dtype, there)
        return wrap(target.from_numpy(self._backend.to_numpy(read(self)), device=there, copy=True), target)

    # -- NumPy's protocols ------------------------------------------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """Return the values as a NumPy array that may be written: sharing memory if the engine can write it too."""
        native = hand_out(self)
        values: np.ndarray = self._backend.to_numpy(read(self))
        shares = not is_recipe(self) and self._backend.mutable and self._backend.can_write(native)
        if dtype is not None and np.dtype(dtype) != values.dtype:
            if copy is False:
                raise CopyError(f"a NumPy array of {dtype} of this one takes a copy, which copy=False forbids")
            return values.astype(dtype)
        if copy or (copy is None and not shares):
            return np.array(values)
        return values

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Serve NumPy's ufuncs: by the function of the same meaning, else by NumPy on the host."""
        from ._core import numpy_protocols

        return numpy_protocols.ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        """Serve NumPy's functions, by NumPy on the host; what they return comes back to this backend."""
        from ._core import numpy_protocols

        return numpy_protocols.function(function, args, kwargs)

    # -- one element ------------------------------------------------------------------------------------------------

    def item(self, *index: int) -> Scalar:
        """Return an element, the only one without an index, as a Python scalar."""
        return self._backend.to_numpy(read(self)).item(*index)  # type: ignore[no-any-return]

    def tolist(self) -> Any:
        """Return nested lists of Python scalars, of a 0-d array a scalar."""
        return self._backend.to_numpy(read(self)).tolist()

    def _scalar(self, kind: str) -> Any:
        if self.shape:
            raise TypeError(f"only a 0-d array converts to {kind}, not one of shape {self.shape}: use item()")
        return self.item()

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(f"the truth of an array of {self.size} elements is ambiguous: use ua.any() or ua.all()")
        return bool(self.item())

    def __int__(self) -> int:
        return int(self._scalar("int"))

    def __float__(self) -> float:
        return float(self._scalar("float"))

    def __complex__(self) -> complex:
        return complex(self._scalar("complex"))

    def __index__(self) -> int:
        if dtypes.rank(self.dtype) != 1:
            raise TypeError(f"only an integer array is an index, not one of dtype {self.dtype}")
        return operator.index(self._scalar("an index"))

    # -- as a sequence ----------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a 0-d array has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Array]:
        if not self.shape:
            raise TypeError("a 0-d array can't be iterated over")
        return (self[place] for place in range(self.shape[0]))

    def __contains__(self, value: object) -> bool:
        return bool(functions.any(functions.equal(self, value)))

    def __getitem__(self, key: Index | tuple[Index, ...]) -> Array:
        if type(self) is Array:
            backend = self._backend
            native = backend.fast_get_item(self._native, key)
            if native is not NotImplemented:
                array = _new(Array)
                array._native = native
                array._backend = backend
                base = self._base
                array._base = self if base is None else base
                return array
        return indexing.get_item(self, key)

    def __setitem__(self, key: Index | tuple[Index, ...], value: ArrayLike) -> None:
        if type(self) is Array:
            kind = type(value)
            if kind is Array:
                array: Any = value
                if array._backend is self._backend and self._backend.fast_set_item(self._native, key, array._native):
                    return
            elif (kind is int or kind is float) and self._backend.fast_set_scalar(self._native, key, value):
                return
        indexing.set_item(self, key, value)

    # -- methods of functions ---------------------------------------------------------------------------------------

    def copy(self) -> Array:
        """Return an independent array of equal values, in memory of its own."""
        capture(self)
        return wrap(self._backend.copy(read(self)), self._backend)

    def reshape(self, *shape: Any, copy: bool | None = None) -> Array:
        """Return the array in another shape, given as one tuple or as several lengths; see ``reshape``."""
        return functions.reshape(self, shape[0] if len(shape) == 1 else shape, copy=copy)

    def transpose(self, *axes: Any) -> Array:
        """Return a view with the axes in another order, reversed if none is given."""
        if not axes or axes == (None,):
            return self.T
        return functions.permute_dims(self, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes)

    def ravel(self) -> Array:
        """Return the elements as a contiguous 1-d array: a view of a C-contiguous array, a copy of any other."""
        return functions.reshape(self, (-1,), copy=None if geometry(self).flags.c_contiguous else True)

    def flatten(self) -> Array:
        """Return the elements as a new 1-d array."""
        return functions.reshape(self, (-1,), copy=True)

    def fill(self, value: Scalar) -> None:
        """Write one value everywhere."""
        update(self, value)

    # -- copying, pickling, printing --------------------------------------------------------------------------------

    def __copy__(self) -> Array:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Array:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        values = np.array(self._backend.to_numpy(read(self)))
        return _rebuild, (values, self._backend.name, self.device)

    def __str__(self) -> str:
        return str(self._printable())

    def __format__(self, specification: str) -> str:
        return format(self.item(), specification) if self.ndim == 0 else format(str(self), specification)

    def __repr__(self) -> str:
        printable = self._printable()
        body = printable if isinstance(printable, str) else repr(printable)
        extras = []
        if self.backend != current_name():
            extras.append(f"backend={self.backend!r}")
        if self.device != "cpu":
            extras.append(f"device={self.device!r}")
        return f"{body[:-1]}, {', '.join(extras)})" if extras else body

    def _printable(self) -> Any:
        if self._backend.is_traced(self._native):
            return f"array(<{self.dtype} of shape {self.shape}, traced>)"
        return self._backend.to_numpy(read(self))

    # The function of the same name says what each of these does.

    def sum(self, axis: Any = None, dtype: Any = None, keepdims: bool = False, out: Any = None) -> Array:
        """See the function ``sum``."""
        return functions.sum(self, axis=axis, dtype=dtype, keepdims=keepdims, out=out)

    def prod(self, axis: Any = None, dtype: Any = None, keepdims: bool = False, out: Any = None) -> Array:
        """See the function ``prod``."""
        return functions.prod(self, axis=axis, dtype=dtype, keepdims=keepdims, out=out)

    def mean(self, axis: Any = None, keepdims: bool = False, out: Any = None) -> Array:
        """See the function ``mean``."""
        return functions.mean(self, axis=axis, keepdims=keepdims, out=out)

    def max(self, axis: Any = None, keepdims: bool = False, out: Any = None) -> Array:
        """See the function ``max``."""
        return functions.max(self, axis=axis, keepdims=keepdims, out=out)

    def min(self, axis: Any = None, keepdims: bool = False, out: Any = None) -> Array:
        """See the function ``min``."""
        return functions.min(self, axis=axis, keepdims=keepdims, out=out)

    def all(self, axis: Any = None, keepdims: bool = False, out: Any = None) -> Array:
        """See the function ``all``."""
        return functions.all(self, axis=axis, keepdims=keepdims, out=out)

    def any(self, axis: Any = None, keepdims: bool = False, out: Any = None) -> Array:
        """See the function ``any``."""
        return functions.any(self, axis=axis, keepdims=keepdims, out=out)

    def std(self, axis: Any = None, correction: float = 0.0, keepdims: bool = False, out: Any = None) -> Array:
        """See the function ``std``."""
        return functions.std(self, axis=axis, correction=correction, keepdims=keepdims, out=out)

    def var(self, axis: Any = None, correction: float = 0.0, keepdims: bool = False, out: Any = None) -> Array:
        """See the function ``var``."""
        return functions.var(self, axis=axis, correction=correction, keepdims=keepdims, out=out)

    def argmax(self, axis: int | None = None, keepdims: bool = False, out: Any = None) -> Array:
        """See the function ``argmax``."""
        return functions.argmax(self, axis=axis, keepdims=keepdims, out=out)

    def argmin(self, axis: int | None = None, keepdims: bool = False, out: Any = None) -> Array:
        """See the function ``argmin``."""
        return functions.argmin(self, axis=axis, keepdims=keepdims, out=out)

    def squeeze(self, axis: Any = None) -> Array:
        """See the function ``squeeze``."""
        return functions.squeeze(self, axis)

    def astype(self, dtype: Any, *, copy: bool = True) -> Array:
        """See the function ``astype``."""
        return functions.astype(self, dtype, copy=copy)

    def clip(self, min: Any = None, max: Any = None, *, out: Any = None) -> Array:
        """See the function ``clip``."""
        return functions.clip(self, min, max, out=out)

    def round(self, *, out: Any = None) -> Array:
        """See the function ``round``."""
        return functions.round(self, out=out)

    def conj(self, *, out: Any = None) -> Array:
        """See the function ``conj``."""
        return functions.conj(self, out=out)

    def take(self, indices: Any, *, axis: int | None = None, out: Any = None) -> Array:
        """See the function ``take``."""
        return functions.take(self, indices, axis=axis, out=out)

    def repeat(self, repeats: Any, *, axis: int | None = None) -> Array:
        """See the function ``repeat``."""
        return functions.repeat(self, repeats, axis=axis)

    def nonzero(self) -> tuple[Array, ...]:
        """See the function ``nonzero``."""
        return functions.nonzero(self)


class View(Array):
    """A view that is a recipe: its value is got from its root's when somebody looks, and put back when it's written."""

    __slots__ = ("_root", "_seen", "_steps", "_value")

    _root: Array
    _steps: tuple[Step, ...]
    # The value got last, and the token that the root had then.
    _value: Any
    _seen: object

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

    # These follow from the recipe: a write needs them, and needn't get the value for them.

    @property
    def shape(self) -> Shape:
        """The lengths of the axes."""
        shape = self._backend.shape(self._root._native)
        for step in self._steps:
            shape = step.shape(shape)
        return shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> DType:
        """The dtype."""
        dtype = self._root.dtype
        return dtypes.real_of(dtype) if any(isinstance(step, Part) for step in self._steps) else dtype

    @property
    def device(self) -> str:
        """The name of the device, such as ``"cpu"`` or ``"gpu:0"``."""
        return self._root.device


def _rebuild(values: np.ndarray, backend: str, device: str) -> Array:
    handle = load(backend)
    try:
        there = handle.as_device(device)
    except DeviceError:
        # The machine that reads the pickle lacks the device: the default one serves.
        there = None
    return wrap(handle.from_numpy(values, device=there, copy=True), handle)


_new = object.__new__
SUPPORTED_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
register_classes(Array, View)


def _of_child(backend: Handle, _: None, children: Sequence[Any]) -> Array:
    # An engine's pytrees put tracers and placeholders in the place of what they took out, which are of that engine.
    (native,) = children
    own = load("numpy") if isinstance(native, np.ndarray) else backend_of_native(native)
    return wrap(native, own or backend)


for _cls in (Array, View):
    register_node(Node(_cls, lambda x: ([x.native], None), _of_child, lambda x: ("native",)))
