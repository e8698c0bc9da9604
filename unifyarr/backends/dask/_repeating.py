"""Arrays repeated along axes, which a write takes as they were before: small."""

from __future__ import annotations

import dask.array as da


def repeated(x: da.Array, shape: tuple[int, ...]) -> da.Array:
    """Return an array repeated along axes, which knows the one that it repeats."""
    result = da.broadcast_to(x, shape)
    if result is not x:
        result.unifyarr_repeats = x
    return result


def repeated_by(x: da.Array) -> da.Array:
    """Return the array that an array repeats, or itself."""
    return getattr(x, "unifyarr_repeats", x)
