"""The backend: what the contract asks for, and nothing of what is optional."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from unifyarr.backends import Backend
from unifyarr.backends.memory import export
from unifyarr.errors import DeviceError, InplaceUpdateError

from . import kernels
from ._array import Box


@final
class BoxedBackend(Backend[Box]):
    """Boxes, as unifyarr sees them."""

    name = "boxed"
    native_types = (Box,)
    mutable = False
    differentiates = False
    modules = (kernels,)

    # -- values -----------------------------------------------------------------------------------------------------

    def shape(self, native: Box) -> tuple[int, ...]:
        """Return the shape."""
        return native.shape

    def dtype(self, native: Box) -> np.dtype[Any]:
        """Return the dtype."""
        return native.dtype

    def as_dtype(self, dtype: object) -> None:
        """Return ``None``: boxes have NumPy's dtypes."""
        return

    def read(self, native: Box) -> Box:
        """Return the box: there are no variables."""
        return native

    def from_numpy(self, array: np.ndarray, *, device: Any = None, copy: bool = True) -> Box:
        """Return a box with a copy of the values, which never change."""
        return Box(array.astype(array.dtype.newbyteorder("="), order="C", copy=True))

    def adopt(self, array: np.ndarray, *, device: Any = None) -> Box:
        """Return a box around an array that nobody else has."""
        return Box(array)

    def to_numpy(self, native: Box) -> np.ndarray:
        """Return the values, which are read-only."""
        return native.values

    def copy(self, native: Box) -> Box:
        """Return the box: nobody can change it."""
        return native

    def from_dlpack(self, x: Any, *, device: Any = None, copy: bool | None = None) -> Box:
        """Return a box with a copy of the values."""
        if copy is False:
            raise BufferError("a box never shares memory that somebody else may write: pass copy=None")
        return self.from_numpy(np.from_dlpack(x))

    def dlpack(self, native: Box, **options: Any) -> object:
        """Return a capsule of a copy, or of the memory marked as read-only."""
        return export(native.values, writable=False, **options)

    def dlpack_device(self, native: Box) -> tuple[int, int]:
        """Return DLPack's number of the CPU."""
        return native.values.__dlpack_device__()

    # -- devices ----------------------------------------------------------------------------------------------------

    def devices(self) -> list[str]:
        """Return the one device."""
        return ["cpu"]

    def device(self, native: Box) -> str:
        """Return the one device."""
        return "cpu"

    def as_device(self, device: object) -> str:
        """Return the one device for its name."""
        if not isinstance(device, str) or device != "cpu":
            raise DeviceError(f"{device!r} is not a device of boxes, which are ['cpu']")
        return device

    def supports_dtype(self, dtype: np.dtype[Any], device: Any = None) -> bool:
        """Return ``True``: boxes hold what NumPy does."""
        return True

    def to_device(self, native: Box, device: Any) -> Box:
        """Return the box."""
        return native

    # -- memory -----------------------------------------------------------------------------------------------------

    def can_write(self, native: Box) -> bool:
        """Return ``False``: a box never changes."""
        return False

    def check_writable(self, native: Box) -> None:
        """Raise: a box never changes."""
        raise InplaceUpdateError("a box can't be written in place: update a copy of it")

    def is_read_only(self, native: Box) -> bool:
        """Return ``False``: a box is immutable rather than read-only, writes make a new one."""
        return False

    def assign(self, native: Box, value: Box) -> None:
        """Raise: a box never changes."""
        self.check_writable(native)

    def may_share_memory(self, first: Box, second: Box) -> bool:
        """Say whether two are one: in no other case a write could show."""
        return first is second

    # -- traces -----------------------------------------------------------------------------------------------------

    def trace(self) -> None:
        """Return ``None``: there are no traces."""
        return

    def is_traced(self, native: Box) -> bool:
        """Return ``False``: values are always known."""
        return False

    def records_gradient(self, native: Box) -> bool:
        """Return ``False``: there are no gradients."""
        return False
