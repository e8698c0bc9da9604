"""The order of axes in memory, where it shows: NumPy adds up in the order of memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from ..core.basic import Apply, Op

Strides = tuple[int, ...]


class LaidOut(Op):
    """The array itself, or a copy whose axes are in memory as with these strides."""

    def __init__(self, strides: Strides) -> None:
        self.strides = strides
        super().__init__("laid_out", parameters=(strides,), view_map={0: (0,)})

    def perform(self, node: Apply, inputs: Sequence[Any], out: Any = None) -> Any:
        """Return the array, or the copy."""
        return self.bound(node)(*inputs)

    def bound(self, node: Apply) -> Callable[..., Any]:
        """Return the function of an array that does so."""
        strides = self.strides

        def laid_out(x: np.ndarray) -> np.ndarray:
            if x.strides == strides or is_alike(x.shape, x.itemsize, x.strides, strides):
                return x
            return _copied(x, strides)

        return laid_out


@lru_cache(maxsize=4096)
def is_alike(shape: tuple[int, ...], itemsize: int, one: Strides, other: Strides) -> bool:
    """Return whether loops go through memory in the same way."""
    return bool(_way(shape, itemsize, one) == _way(shape, itemsize, other))


def _way(shape: tuple[int, ...], itemsize: int, strides: Strides) -> Any:
    axes = sorted((axis for axis, length in enumerate(shape) if length != 1), key=lambda axis: -abs(strides[axis]))
    signs = [int(np.sign(strides[axis])) for axis in axes]
    joined = [strides[one] == strides[other] * shape[other] for one, other in pairwise(axes)]
    return axes, signs, joined, bool(axes) and abs(strides[axes[-1]]) == itemsize


def _copied(x: np.ndarray, strides: Strides) -> np.ndarray:
    reach = [(length - 1) * step for length, step in zip(x.shape, strides, strict=True)]
    first = -sum(each for each in reach if each < 0)
    memory = np.empty(first + sum(each for each in reach if each > 0) + x.itemsize, np.uint8)
    made = np.ndarray(x.shape, x.dtype, memory, first, strides)
    made[...] = x
    return made
