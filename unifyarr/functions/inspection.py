"""The inspection API of the standard."""

from __future__ import annotations

from typing import Any

from .._core.arrays.convert import has_dtype
from .._core.engines import dtypes
from .._core.engines.dtypes import DType
from .._core.engines.handle import Handle


class Info:
    """The capabilities, devices, dtypes and defaults of a backend.

    Source: Array API standard 2025.12, ``__array_namespace_info__``.
    """

    def __init__(self, backend: Handle) -> None:
        self._backend = backend

    def capabilities(self) -> dict[str, Any]:
        """Return whether masks and data-dependent shapes work, and the greatest number of dimensions."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """Return the name of the device of new arrays if none is named."""
        return self._backend.devices()[0]

    def devices(self) -> tuple[str, ...]:
        """Return the names of all devices."""
        return tuple(self._backend.devices())

    def default_dtypes(self, *, device: object = None) -> dict[str, DType]:
        """Return the dtypes that Python numbers and indices get."""
        wide = self._has(dtypes.float64, device)
        return {
            "real floating": dtypes.float64 if wide else dtypes.float32,
            "complex floating": dtypes.complex128 if wide else dtypes.complex64,
            "integral": dtypes.int64 if wide else dtypes.int32,
            "indexing": dtypes.int64 if wide else dtypes.int32,
        }

    def dtypes(self, *, device: object = None, kind: str | tuple[str, ...] | None = None) -> dict[str, DType]:
        """Return the dtypes of the standard by name, or only those of a kind."""
        standard = (each for each in dtypes.BY_NAME.values() if each not in (dtypes.float16, dtypes.bfloat16))
        return {
            each.name: each
            for each in standard
            if self._has(each, device) and (kind is None or dtypes.is_kind(each, kind))
        }

    def _has(self, dtype: DType, device: object) -> bool:
        there = None if device is None else self._backend.as_device(device)
        return has_dtype(self._backend, dtype, there)
