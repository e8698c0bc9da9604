"""Functions as StableHLO, by JAX's own exporter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax import export

# The least of any length: as small as JAX can do with.
LEAST = (1, 2, 4, 8)


def exported(to: str, function: Callable[..., Sequence[Any]], types: Sequence[Any], names: Sequence[str]) -> Any:
    """Return a function as ``jax.export`` has it, for arrays of types whose first length may be ``None``."""
    for least in LEAST:
        length: tuple[Any, ...] = export.symbolic_shape("n", constraints=[f"n >= {least}"])
        shapes = [(*length, *each.shape[1:]) if each.shape[:1] == (None,) else each.shape for each in types]
        given = [jax.ShapeDtypeStruct(shape, each.dtype) for shape, each in zip(shapes, types, strict=True)]
        try:
            return export.export(jax.jit(lambda *natives: list(function(*natives))))(*given)
        except Exception as error:
            # A part of an array is empty for small lengths, and JAX asks whether it is.
            cause = error.__cause__ or error
            if least == LEAST[-1] or type(cause).__name__ != "InconclusiveDimensionOperation":
                raise
    return None


def from_length(length: Any, dtype: np.dtype[Any]) -> jax.Array:
    """Return a 0-d array of a length."""
    return jax.numpy.asarray(length).astype(dtype)
