"""The order of axes in memory, where it shows: NumPy and torch add up in the order of memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from ..._core.arrays.array import Array
from ..._core.engines.handle import Handle
from ..._core.kernels.types import ArrayType
from ..core.basic import Apply, Op, Variable

Strides = tuple[int, ...]


class LaidOut(Op):
    """The array itself, or a copy whose axes are in memory as with these strides."""

    def __init__(self, backend: Handle, strides: Strides) -> None:
        self.backend, self.strides = backend, strides
        super().__init__("laid_out", parameters=(backend.name, strides), view_map={0: (0,)})

    def called(self, arrays: Sequence[Array]) -> Sequence[Array]:
        """Return the array itself, whose values are the same."""
        return arrays

    def perform(self, node: Apply, inputs: Sequence[object], out: object = None) -> Any:
        """Return the array, or the copy."""
        return self.bound(node)(*inputs)

    def bound(self, node: Apply) -> Callable[..., object]:
        """Return the function of an array that does so."""
        strides, backend = self.strides, self.backend

        def laid_out(x: Any) -> object:
            found = backend.strides(x)
            if found == strides or is_alike(backend.shape(x), x.itemsize, found, strides):
                return x
            return backend.with_strides(x, strides)

        return laid_out


def lay_out(backend: Handle, variable: Variable, type: ArrayType, strides: Strides) -> Variable:
    """Return the variable as it is with these strides, or as the engine has it that copies what goes backwards."""
    if not backend.has_negative_steps and any(step < 0 for step in strides):
        strides = dense_strides(type.shape, type.dtype.itemsize, order_of(strides))
    return Apply(LaidOut(backend, strides), [variable], [type]).outputs[0]


def order_of(strides: Strides) -> tuple[int, ...]:
    """Return the axes from the one with the greatest stride on."""
    return tuple(sorted(range(len(strides)), key=lambda axis: -abs(strides[axis])))


def dense_strides(shape: Sequence[int], itemsize: int, order: Sequence[int]) -> Strides:
    """Return the strides of an array without gaps, whose axes are in this order."""
    strides = [0] * len(shape)
    for axis in reversed(order):
        strides[axis] = itemsize
        itemsize *= max(shape[axis], 1)
    return tuple(strides)


@lru_cache(maxsize=4096)
def is_alike(shape: tuple[int, ...], itemsize: int, one: Strides, other: Strides) -> bool:
    """Return whether loops go through memory in the same way."""
    return bool(_way(shape, itemsize, one) == _way(shape, itemsize, other))


def _way(shape: tuple[int, ...], itemsize: int, strides: Strides) -> object:
    axes = sorted((axis for axis, length in enumerate(shape) if length != 1), key=lambda axis: -abs(strides[axis]))
    signs = [int(np.sign(strides[axis])) for axis in axes]
    joined = [strides[one] == strides[other] * shape[other] for one, other in pairwise(axes)]
    return axes, signs, joined, bool(axes) and abs(strides[axes[-1]]) == itemsize
