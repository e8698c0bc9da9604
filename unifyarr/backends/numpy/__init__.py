"""The NumPy backend: the reference that every other backend is held against."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from operator import attrgetter
from typing import Any, final

from ...errors import DeviceError, ReadOnlyError
from .. import base
from ..base.plain import LEARNT, Plain
from ..kernels import EFFORT, described, kernel_modules
from ..memory import aligned_copy, export
from . import _direct as np
from . import _items, plain
from ._pool import COUNTS, LARGE, POOL


@final
class Backend(base.Backend[np.ndarray]):
    """NumPy, as the frontend sees an engine."""

    name = "numpy"
    # Only arrays: scalars such as ``numpy.float64(1)`` are data, like Python's.
    native_types: tuple[type, ...] = (np.ndarray,)
    mutable = has_strides = has_read_only_views = True
    differentiates = False
    # It warns of 1 / 0 and the like, or raises, as ``np.errstate`` says.
    warns = True
    # In vectors, half precision is computed by other functions than one by one.
    by_layout: Mapping[str, str] = {
        **dict.fromkeys(("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh"), "e"),
        **dict.fromkeys(("exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "pow", "sin", "sinh"), "e"),
        **dict.fromkeys(("tan", "tanh"), "e"),
    }
    large = LARGE if COUNTS else 0
    items = plain.ITEMS
    plain_keys = "basic"
    plain_values = _items.TAKES
    plain_selections = _items.SELECTING
    modules = kernel_modules(__package__, "plain")

    # -- what an array is -------------------------------------------------------------------------------------------

    # Each call asks for these, which costs least without a function of Python.
    dtype = staticmethod(attrgetter("dtype"))  # type: ignore[assignment]
    shape = staticmethod(attrgetter("shape"))  # type: ignore[assignment]

    def as_dtype(self, dtype: object) -> np.dtype[Any] | None:
        """Return the ``numpy.dtype`` of an engine's own dtype object, ``None`` for anything else."""
        return None

    def strides(self, native: np.ndarray) -> tuple[int, ...] | None:
        """Return the strides in bytes, ``None`` where the engine hides them (arrays are C-contiguous there)."""
        return native.strides

    def with_strides(self, native: np.ndarray, strides: tuple[int, ...]) -> np.ndarray:
        """Return a copy with these strides, which is only read: elements may lie in the same place."""
        reach = [(length - 1) * step for length, step in zip(native.shape, strides, strict=True)]
        first = -sum(each for each in reach if each < 0)
        memory = np.empty(first + sum(each for each in reach if each > 0) + native.itemsize, np.uint8)
        made: np.ndarray = np.ndarray(native.shape, native.dtype, memory, first, strides)
        made[...] = native
        return made

    layout_key = staticmethod(attrgetter("strides"))  # type: ignore[assignment]

    def read(self, native: np.ndarray) -> np.ndarray:
        """Return the array that kernels compute with: the native itself."""
        return native

    def as_native(self, value: object) -> np.ndarray:
        """Return the scalar that a ufunc gives for 0-d arrays as an array."""
        return np.asarray(value)

    def plain_way(self, name: str, kernel: Callable[..., Any] | None) -> Plain:
        """Return how ufuncs compute: they promote and check overlaps by themselves, and take Python scalars."""
        return plain.OTHERS.get(name, LEARNT) if kernel is None or name in plain.OTHERS else plain.plain(name, kernel)

    def _large_buffer(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
        """Return an array whose values aren't set, in memory of the pool of large results."""
        return POOL.take(shape, dtype)

    # -- devices and dtypes -----------------------------------------------------------------------------------------

    def devices(self) -> list[str]:
        """Return the names of all devices, the default one first."""
        return ["cpu"]

    def device(self, native: np.ndarray) -> str:
        """Return the name of the device that an array lives on."""
        return "cpu"

    def as_device(self, device: object) -> str:
        """Return the engine's own device for a name or for the engine's own object."""
        if not isinstance(device, str) or device != "cpu":
            raise DeviceError(f"device {described(device)} is not one of NumPy's, which are ['cpu']")
        return "cpu"

    def supports_dtype(self, dtype: np.dtype[Any], device: object = None) -> bool:
        """Return whether arrays of ``dtype`` exist on ``device``."""
        return True

    # -- values in and out ------------------------------------------------------------------------------------------

    def from_numpy(self, array: np.ndarray, *, device: object = None, copy: bool = True) -> np.ndarray:
        """Return a native array of the values of ``array``; ``copy=False`` shares memory if the engine can write it."""
        return aligned_copy(array) if copy else array

    def adopt(self, array: np.ndarray, *, device: object = None) -> np.ndarray:
        """Return a native array of a C-contiguous ``array`` that nothing else refers to, in its memory if possible."""
        return array

    def host_memory(self, native: np.ndarray) -> np.ndarray | None:
        """Return the memory of a native array that is about to be written, ``None`` where NumPy can't write it."""
        return native

    def to_numpy(self, native: np.ndarray) -> np.ndarray:
        """Return the values as a NumPy array, which may share memory and must not be written."""
        return native

    def release_to_numpy(self, native: np.ndarray) -> np.ndarray:
        """Return the values as a writable NumPy array; nothing else refers, or will refer, to the native."""
        return native

    def copy(self, native: np.ndarray) -> np.ndarray:
        """Return an independent native array of equal values."""
        return aligned_copy(native)

    def to_device(self, native: np.ndarray, device: object) -> np.ndarray:
        """Return the array on ``device``: itself where it is there already."""
        return native

    def from_dlpack(self, x: object, *, device: object = None, copy: bool | None = None) -> np.ndarray:
        """Return a native array from an object with ``__dlpack__``: a copy where only reading is allowed."""
        try:
            native = np.from_dlpack(x, copy=copy)  # type: ignore[arg-type]
        except RuntimeError as error:
            # NumPy says no more than that it doesn't read the device's memory.
            if device is None:
                message = f"{str(error).rstrip('.')}: pass device='cpu' for a copy in the memory of the host"
                raise BufferError(message) from error
            native = np.from_dlpack(x, device="cpu", copy=copy)  # type: ignore[arg-type]
        # Without a word about copies an array that can be written is worth more than shared memory.
        return native if native.flags.writeable or copy is False else native.copy()

    def dlpack(self, native: np.ndarray, **request: Any) -> object:
        """Return a DLPack capsule of the array: of its memory, unless it is read-only or has negative strides."""
        return export(native, writable=True, **request)

    def dlpack_device(self, native: np.ndarray) -> tuple[int, int]:
        """Return the DLPack device type and number."""
        return native.__dlpack_device__()

    # -- memory -----------------------------------------------------------------------------------------------------

    def can_write(self, native: np.ndarray) -> bool:
        """Return whether the engine can write this native array in place at all."""
        return True

    def check_writable(self, native: np.ndarray) -> None:
        """Raise where a write to this native array, which the engine could write, is forbidden."""
        if not native.flags.writeable:
            raise ReadOnlyError("the native NumPy array is read-only: update a copy of it, x.copy()")

    check_small = check_writable

    def is_read_only(self, native: np.ndarray) -> bool:
        """Return whether the engine marks this native array as read-only."""
        return not native.flags.writeable

    def may_share_memory(self, first: np.ndarray, second: np.ndarray) -> bool:
        """Return whether two natives overlap: ``True`` in doubt, ``False`` only when sure."""
        return np.may_share_memory(first, second, EFFORT)  # type: ignore[arg-type]

    cache_reads: Mapping[str, str] = {"dtype": "is", "shape": "==", "strides": "=="}

    def cache_key(self, native: np.ndarray) -> Hashable:
        """Return a cache key: the dtype, shape and strides."""
        return (native.dtype, native.shape, native.strides)

    def block(self, native: np.ndarray) -> np.ndarray | None:
        """Return the array whose block of memory a native array is in, ``None`` if that is somebody else's."""
        base = native.base
        if base is None:
            return native
        return base if type(base) is np.ndarray and base.base is None else None

    def layout(self, native: np.ndarray) -> np.ndarray:
        """Return an array of NumPy's that lies where a native array does; it's never read."""
        return native

    def extent(self, native: np.ndarray) -> tuple[int, int]:
        """Return the first address of a native array that is written in place, and the one after its last."""
        return np.lib.array_utils.byte_bounds(native)

    def assign(self, native: np.ndarray, value: np.ndarray) -> None:
        """Overwrite a native array in place by a value of its shape and dtype that it may overlap."""
        native[...] = value

    def assign_all(self, natives: Sequence[np.ndarray], values: Sequence[np.ndarray]) -> None:
        """Overwrite several native arrays in place, which have no memory in common, as ``assign`` does."""
        for place, native in enumerate(natives):
            native[...] = values[place]

    # -- tracing and gradients --------------------------------------------------------------------------------------

    def trace(self) -> object | None:
        """Return a token of the trace that is running in this thread, ``None`` if none is."""
        return None

    def is_traced(self, native: np.ndarray) -> bool:
        """Return whether a native array stands for values that are not known yet."""
        return False

    def records_gradient(self, native: np.ndarray) -> bool:
        """Return whether the engine records gradients through this native array."""
        return False

    def known_number(self, native: np.ndarray) -> float:
        """Return the number of a 0-d array."""
        return float(native)

    # -- kernels ----------------------------------------------------------------------------------------------------

    def supports_out(self, kernel: Callable[..., Any]) -> bool:
        """Return whether ``kernel(..., out=native)`` writes into ``native``."""
        return isinstance(kernel, np.ufunc) or getattr(kernel, "support_native_out", False)
