"""Arrays repeated along axes, which a write takes as they were before: small."""

from __future__ import annotations

from typing import Any

import dask.array as da

from ._layout import within


def repeated(x: da.Array, shape: tuple[int, ...]) -> da.Array:
    """Return an array repeated along axes, which knows the one that it repeats."""
    # Axes that come from one element are divided as those of a new array: no task gives more than a chunk.
    kept = zip(x.shape, shape[len(shape) - x.ndim :], x.chunks, strict=True)
    own: list[Any] = ["auto"] * (len(shape) - x.ndim)
    own += ["auto" if before == 1 != after else lengths for before, after, lengths in kept]
    divided = within(tuple(own), shape, x.dtype) if "auto" in own else None
    result = da.broadcast_to(x, shape, chunks=divided)
    if result is not x:
        result.unifyarr_repeats = x
    return result


def repeated_by(x: da.Array) -> da.Array:
    """Return the array that an array repeats, or itself."""
    return getattr(x, "unifyarr_repeats", x)
