"""What is known of arrays beside their values."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from .._core.values.native import Native
from ..typing import Shape


class Like(Native):
    """What stands for an array of a call of which only the shape and the dtype are kept.

    Where arrays of one type share one of these, ``constant`` stands for a constant of that type, and ``rank`` is that
    of the dtype.
    """

    __slots__ = ("constant", "device", "dtype", "native_dtype", "rank", "shape")

    def __init__(
        self, shape: Shape, dtype: np.dtype[np.generic], device: Hashable, native_dtype: object = None
    ) -> None:
        self.shape, self.dtype, self.device = shape, dtype, device
        # The engine's own, which is compared by identity.
        self.native_dtype = native_dtype
        self.constant, self.rank = object(), 0
