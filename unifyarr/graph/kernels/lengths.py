"""Arrays whose shape only values decide: how many elements they have, and whether a kernel takes their lengths."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from ..._core.engines.handle import Handle
from ..._core.kernels.record import ELEMENTWISE, Kernel
from ..._core.values.native import Native
from ..._core.values.shapes import broadcast, check_choice, check_stacked
from ..core.basic import Apply, Op


class CountOp(Op):
    """The number of elements of an array, as a 0-d array."""

    def __init__(self, backend: Handle) -> None:
        self.backend = backend
        super().__init__("size", parameters=(backend.name,))

    def perform(self, node: Apply | None, inputs: Sequence[Any], out: object = None) -> Any:
        """Return the number as a native."""
        backend, (x,) = self.backend, inputs
        return backend.from_numpy(np.asarray(prod(backend.shape(x)), np.int64), device=backend.own_place(x))

    def bound(self, node: Apply | None) -> Any:
        """Return a function of the array."""
        return lambda x: self.perform(node, (x,))


def checked(
    backend: Handle, record: Kernel, static: Mapping[str, Any], kernel: Callable[..., object]
) -> Callable[..., object]:
    """Return a kernel that raises what an eager call does where lengths are refused that a trace didn't know."""

    def check(shapes: Sequence[tuple[int, ...]]) -> None:
        if record.needs_elements:
            (shape,), axis = shapes, static["axis"]
            axes = range(len(shape)) if axis is None else np.atleast_1d(axis).tolist()
            check_choice(record.name, shape, axes, axis)
        elif record.name == "stack":
            check_stacked(shapes)
        elif record.kind is ELEMENTWISE:
            broadcast(*shapes, name=record.name)

    def run(*natives: Native, **out: object) -> object:
        check(list(map(backend.shape, natives)))
        return kernel(*natives, **out)

    return run
