"""Cache keys: what two calls have equal if one program serves both."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ..._core.arrays.array import Array
from ..._core.arrays.convert import backend_of
from ..._core.arrays.elements import Element, become_array
from ..._core.arrays.ownership import settled
from ..._core.arrays.recipes import geometry


def cache_key(leaves: Sequence[Any], asked: frozenset[int]) -> tuple[Hashable, ...]:
    """Return the key of the flattened arguments of a call; ``asked`` has the places of floats whose values decide."""
    return tuple(
        [float if type(leaf) is float and place not in asked else leaf_key(leaf) for place, leaf in enumerate(leaves)]
    )


def leaf_key(leaf: Any) -> Hashable:
    """Return what an argument has equal with those that it can stand for: an array its type, a value itself."""
    if type(leaf) is Element:
        become_array(leaf)
    if type(leaf) is Array:
        native = settled(leaf._native)
        return (type(native), leaf._backend.cache_key(native))
    if isinstance(leaf, Array):
        # Strides decide which further views share memory.
        return (leaf.shape, leaf.dtype, leaf.device, geometry(leaf).strides, leaf._is_read_only())
    if isinstance(leaf, np.ndarray) or backend_of(leaf) is not None:
        raise TypeError(f"a compiled function takes arrays of unifyarr: wrap the {type(leaf).__name__}, ua.asarray(x)")
    try:
        hash(leaf)
    except TypeError:
        raise TypeError(
            f"a compiled function takes arrays and hashable values, not {type(leaf).__name__}: it's traced for each "
            "value that isn't an array"
        ) from None
    # 1, 1.0 and True are equal, and so are 0.0 and -0.0: they need different keys.
    return (type(leaf), leaf, repr(leaf) if isinstance(leaf, (float, complex)) else None)
