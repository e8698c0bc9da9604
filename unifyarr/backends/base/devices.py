"""Where native arrays live."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from ._native import Native
from .values import Values


class Devices(Values[Native]):
    """Devices, by names that are the same for users of every engine: ``"cpu"``, ``"gpu:0"``.

    An array on several devices has an object of the engine's in place of a device name. The package compares devices by
    equality only, and treats them as opaque.
    """

    @abstractmethod
    def devices(self) -> list[str]:
        """Return the names of all devices, the default one first."""

    @abstractmethod
    def device(self, native: Native) -> Hashable:
        """Return the name of the device that an array lives on: what ``as_device`` takes."""

    @abstractmethod
    def as_device(self, device: object) -> Any:
        """Return the engine's own device for a name or for an own one; ``DeviceError`` for anything else."""

    def place_beside(self, native: Native) -> Any:
        """Return the device for data combined with an array, as for ``as_device``; ``None`` is the default one.

        By default it's the array's own device.
        """
        return self.device(native)

    def may_meet(self, first: Native, second: Native) -> bool:
        """Return whether one array may be computed with, and written into, the other: by default on one device."""
        return self.device(first) == self.device(second)

    def meeting(self, devices: Iterable[Any]) -> Any:
        """Return the device of a result computed from arrays on several devices, or ``None`` if they can't be mixed."""
        found = set(devices)
        return found.pop() if len(found) == 1 else None

    def sharding(self, native: Native) -> Any:
        """Return how the engine spreads an array over devices: by default ``None``, since it doesn't."""
        return None

    @abstractmethod
    def supports_dtype(self, dtype: np.dtype[Any], device: Any = None) -> bool:
        """Return whether arrays of ``dtype`` exist on ``device``, one of the engine's, or ``None`` for the default."""

    @abstractmethod
    def to_device(self, native: Native, device: Any) -> Native:
        """Return the array on the engine's own ``device``: itself where it is there already."""

    def on_host(
        self, function: Callable[..., list[np.ndarray]], natives: Sequence[Native], types: Callable[[], Sequence[Any]]
    ) -> list[Native]:
        """Return the results of a function of NumPy's arrays for native arrays, on the device of the first of these.

        ``types`` returns the shape and dtype of each result, for an engine that traces: the function runs later there.
        """
        device = self.as_device(self.device(natives[0])) if natives else None
        return [self.from_numpy(x, device=device) for x in function(*map(self.to_numpy, natives))]
