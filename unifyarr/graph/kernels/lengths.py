"""How many elements an array has whose shape only values decide."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ..._core.engines.handle import Handle
from ..core.basic import Apply, Op


class CountOp(Op):
    """The number of elements of an array, as a 0-d array."""

    def __init__(self, backend: Handle) -> None:
        self.backend = backend
        super().__init__("size", parameters=(backend.name,))

    def perform(self, node: Apply | None, inputs: Sequence[Any], out: Any = None) -> Any:
        """Return the number as a native."""
        backend, (x,) = self.backend, inputs
        device = backend.own_device(backend.device(x))
        return backend.from_numpy(np.asarray(prod(backend.shape(x)), np.int64), device=device)

    def bound(self, node: Apply | None) -> Any:
        """Return a function of the array."""
        return lambda x: self.perform(node, (x,))
