"""Types for annotations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Protocol, TypeAlias

import numpy as np


class SupportsArray(Protocol):
    """Objects that NumPy converts to arrays: an ``Array``, NumPy's arrays, and engines' own."""

    def __array__(self) -> np.ndarray:
        """Return the values as a NumPy array."""


class HasDType(Protocol):
    """Objects with a dtype: dtypes of ours, and those of ``jax.numpy``."""

    @property
    def dtype(self) -> Any:
        """The dtype."""


class TorchDType(Protocol):
    """A dtype of torch, which nothing is imported for."""

    @property
    def is_floating_point(self) -> bool:
        """Whether it's real and floating-point."""


class TensorFlowDType(Protocol):
    """A dtype of TensorFlow, which nothing is imported for."""

    @property
    def as_numpy_dtype(self) -> Any:
        """NumPy's class of scalars."""


# The names of dtypes, and those of the package's own backends. Others come from other packages.
DTypeName: TypeAlias = Literal[
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
    # Those that only store numbers.
    "float8_e3m4", "float8_e4m3", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
    "int4", "uint4",
]  # fmt: skip
BackendName: TypeAlias = Literal["numpy", "torch", "jax", "tensorflow"] | str
# Arguments that functions take for a dtype: one of ours, its name, NumPy's, Python's or an engine's own.
DTypeLike: TypeAlias = (
    HasDType
    | DTypeName
    | np.dtype[Any]
    | type[np.generic]
    | type[bool]
    | type[int]
    | type[float]
    | type[complex]
    | TorchDType
    | TensorFlowDType
)
Scalar: TypeAlias = bool | int | float | complex
Shape: TypeAlias = tuple[int, ...]
NestedSequence: TypeAlias = Sequence[Any]
# Arguments that functions take for an array: an ``Array``, native arrays of any engine, NumPy arrays and scalars,
# lists. The note makes it a type of its own, which a union with ``Scalar`` keeps apart.
ArrayLike: TypeAlias = Annotated[SupportsArray | np.generic | Scalar | NestedSequence, "array-like"]
