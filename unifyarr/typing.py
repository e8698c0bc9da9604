"""Types for annotations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np

if TYPE_CHECKING:
    from .array import Array

# What functions take for a dtype: one of ours, its name, NumPy's, Python's or an engine's own.
DTypeLike: TypeAlias = Any
Scalar: TypeAlias = bool | int | float | complex
Shape: TypeAlias = tuple[int, ...]
NestedSequence: TypeAlias = Sequence[Any]
# What functions take for an array beside ``Array``: native arrays of any engine, NumPy arrays and scalars, lists.
ArrayLike: TypeAlias = Union["Array", np.ndarray, np.generic, Scalar, NestedSequence, Any]
