"""Whether a write to one array is seen in another, for arrays, engines' own arrays and containers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...modes.debug import array_in
from ..arrays.array import Array
from ..arrays.nest import Nest
from ..arrays.overlap import overlap
from ..engines.tracing import current


def share_memory(first: object, second: object, ask: Callable[[np.ndarray, np.ndarray], bool]) -> bool:
    """Return whether two arrays, or any leaves of containers, share memory, as ``ask`` says of NumPy's arrays."""
    return any(overlap(one, other, ask) for one in _arrays(first) for other in _arrays(second))


def _arrays(x: object) -> list[Array]:
    if isinstance(x, Nest):
        return list(map(current, x.leaves()))
    found = array_in(x)
    return [] if found is None else [current(found)]
