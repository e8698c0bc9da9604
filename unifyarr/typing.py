"""Types for annotations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Protocol, TypeAlias

import numpy as np


class SupportsArray(Protocol):
    """What NumPy makes an array of: an ``Array``, NumPy's arrays, and engines' own."""

    def __array__(self) -> np.ndarray:
        """Return the values as a NumPy array."""


# What functions take for a dtype: one of ours, its name, NumPy's, Python's or an engine's own.
DTypeLike: TypeAlias = Any
Scalar: TypeAlias = bool | int | float | complex
Shape: TypeAlias = tuple[int, ...]
NestedSequence: TypeAlias = Sequence[Any]
# What functions take for an array: an ``Array``, native arrays of any engine, NumPy arrays and scalars, lists. The note
# makes it a type of its own, that a union with ``Scalar`` keeps apart.
ArrayLike: TypeAlias = Annotated[SupportsArray | np.generic | Scalar | NestedSequence | Any, "array-like"]
