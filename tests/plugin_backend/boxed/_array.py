"""The engine: an immutable array that can do nothing but show its values."""

from __future__ import annotations

from typing import Any

import numpy as np


class Box:
    """Values that never change, in C order."""

    __slots__ = ("__weakref__", "values")

    def __init__(self, values: np.ndarray) -> None:
        self.values = np.asarray(values, order="C").view()
        self.values.flags.writeable = False

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return self.values.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype."""
        return self.values.dtype

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.values.size

    @property
    def nbytes(self) -> int:
        """The size of the memory."""
        return self.values.nbytes

    def __repr__(self) -> str:
        return f"Box({self.values})"
