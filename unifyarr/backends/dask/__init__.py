"""The dask backend: arrays in chunks that are computed when values are asked for, here or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, final

import dask
import dask.array as da
import numpy as np

from ...errors import DeviceError, InplaceUpdateError
from ..kernels import described, kernel_modules
from ..memory import export, reads_marks
from ._computing import Computing, joined
from ._fusing import fused
from ._kinds import kernel_of_kind
from ._layout import chunks


@final
class Backend(Computing):
    """dask, as the frontend sees an engine."""

    name = "dask"
    native_types = (da.Array,)
    mutable = False
    # Values are computed when they are asked for, and the length of a selection is a value.
    has_values = False
    has_shapes = False
    differentiates = False
    modules = kernel_modules(__package__)

    kernel_of_kind = staticmethod(kernel_of_kind)

    # -- values -----------------------------------------------------------------------------------------------------

    def shape(self, native: da.Array) -> tuple[int, ...]:
        """Return the shape, with ``None`` for a length that isn't known."""
        # dask has NaN for them, which alone isn't itself.
        return tuple([None if length != length else length for length in native.shape])  # type: ignore[misc]

    def dtype(self, native: da.Array) -> np.dtype[Any]:
        """Return the dtype."""
        return native.dtype

    def as_dtype(self, dtype: object) -> None:
        """Return ``None``: dask has NumPy's dtypes."""
        return

    def read(self, native: da.Array) -> da.Array:
        """Return the array: there are no variables."""
        return native

    def from_numpy(self, array: np.ndarray, *, device: Any = None, copy: bool = True) -> da.Array:
        """Return an array of a copy of the values, which never change."""
        return self.adopt(array.astype(array.dtype.newbyteorder("="), order="C", copy=True))

    def adopt(self, array: np.ndarray, *, device: Any = None) -> da.Array:
        """Return an array of one that nothing else refers to."""
        return da.from_array(array, chunks=chunks(array.shape, array.dtype), asarray=True)

    def to_numpy(self, native: da.Array) -> np.ndarray:
        """Compute the values."""
        (short,) = joined([native])
        return np.asarray(short.compute())

    def copy(self, native: da.Array) -> da.Array:
        """Return the array: nothing can change it."""
        return native

    def from_dlpack(self, x: Any, *, device: Any = None, copy: bool | None = None) -> da.Array:
        """Return an array of a copy of the values."""
        if copy is False:
            raise BufferError("an array of dask never shares memory that something else may write: pass copy=None")
        return self.from_numpy(np.from_dlpack(x))

    def dlpack(self, native: da.Array, **options: Any) -> object:
        """Return a capsule of the computed values; with ``copy=False`` marked as read-only, if marks are read."""
        values = self.to_numpy(native)
        if options.get("copy") is not False:
            return export(values, writable=False, **options)
        # An array has no memory before its values are computed, and cached chunks are read-only.
        marked = reads_marks(options.get("max_version"))
        return export(np.array(values), **(options | {"writable": not marked, "read_only": False}))

    def dlpack_device(self, native: da.Array) -> tuple[int, int]:
        """Return DLPack's number of the CPU."""
        return (1, 0)

    # -- devices ----------------------------------------------------------------------------------------------------

    def devices(self) -> list[str]:
        """Return the one device: where chunks are computed is the scheduler's business."""
        return ["cpu"]

    def device(self, native: da.Array) -> str:
        """Return the one device."""
        return "cpu"

    def as_device(self, device: object) -> str:
        """Return the one device for its name."""
        if not isinstance(device, str) or device != "cpu":
            raise DeviceError(f"device {described(device)} is not one of dask's, which are ['cpu']")
        return device

    def supports_dtype(self, dtype: np.dtype[Any], device: Any = None) -> bool:
        """Return ``True``: chunks are NumPy's."""
        return True

    def to_device(self, native: da.Array, device: Any) -> da.Array:
        """Return the array."""
        return native

    # -- memory -----------------------------------------------------------------------------------------------------

    def can_write(self, native: da.Array) -> bool:
        """Return ``False``: an array of dask never changes."""
        return False

    def check_writable(self, native: da.Array) -> None:
        """Raise: an array of dask never changes."""
        raise InplaceUpdateError("an array of dask can't be written in place: update a copy of it")

    def is_read_only(self, native: da.Array) -> bool:
        """Return ``False``: it is immutable rather than read-only, writes make a new one."""
        return False

    def assign(self, native: da.Array, value: da.Array) -> None:
        """Raise: an array of dask never changes."""
        self.check_writable(native)

    def may_share_memory(self, first: da.Array, second: da.Array) -> bool:
        """Return whether two are one: in no other case a write could show."""
        return first is second

    # -- traces -----------------------------------------------------------------------------------------------------

    computes_later = True
    can_compile = True

    def compiled(
        self, function: Callable[..., Any], *, donate: Mapping[int, int] | None = None, exact: bool = False
    ) -> Callable[..., Any]:
        """Return a function that adds one graph, in which a chunk's steps are one task where one chunk is enough."""

        def run(*natives: da.Array) -> list[da.Array]:
            return fused(function(*natives), natives)

        return run

    def wait(self, natives: Any) -> None:
        """Compute the arrays, and drop the results."""
        dask.compute(natives)

    def trace(self) -> None:
        """Return ``None``: there are no traces."""
        return

    def is_traced(self, native: da.Array) -> bool:
        """Return ``False``: values can be computed at any time."""
        return False

    def records_gradient(self, native: da.Array) -> bool:
        """Return ``False``: there are no gradients."""
        return False
