"""Where native arrays live."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from ._native import Native
from .values import Values


class Devices(Values[Native]):
    """Devices, by names that are the same for users of every engine: ``"cpu"``, ``"gpu:0"``."""

    @abstractmethod
    def devices(self) -> list[str]:
        """Return the names of all devices, the default one first."""

    @abstractmethod
    def device(self, native: Native) -> str:
        """Return the name of the device that an array lives on."""

    @abstractmethod
    def as_device(self, device: object) -> Any:
        """Return the engine's own device for a name or for an own one; ``DeviceError`` for anything else."""

    @abstractmethod
    def supports_dtype(self, dtype: np.dtype[Any], device: Any = None) -> bool:
        """Return whether arrays of ``dtype`` exist on ``device``, one of the engine's, or ``None`` for the default."""

    @abstractmethod
    def to_device(self, native: Native, device: Any) -> Native:
        """Return the array on the engine's own ``device``: itself where it is there already."""
