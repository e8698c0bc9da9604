"""An array whose values may come later, and its chunks."""

from __future__ import annotations

import sys
from typing import Self

from ..engines.tracing import current
from ..values import above
from ..values.native import Native
from .protocols import Protocols


class Deferred(Protocols):
    """What a program says of when values are computed, which changes none of them."""

    __slots__ = ()

    @property
    def chunks(self) -> tuple[tuple[int, ...], ...]:
        """The lengths of the chunks along each axis; ``AttributeError`` on engines without chunks.

        Other libraries take an array for a chunked one if it has this attribute.
        """
        x = current(self)
        found = x._backend.chunks(x._native)
        if found is None:
            # From Python 3.12 on a class with a property has it for ``isinstance(x, protocol)``, whatever it raises: by
            # that the ``chunks`` of xarray takes each array for a chunked one. Of all others it gives ``None``.
            caller = sys._getframe(1)
            if caller.f_code.co_name == "chunks" and caller.f_globals.get("__name__") == "xarray.namedarray.core":
                return None  # type: ignore[return-value]
            raise AttributeError(f"an array of {x.backend} is whole, and has no chunks", name="chunks", obj=self)
        return found

    def rechunk(self, chunks: object, /) -> Self:
        """Divide the array into other chunks, and return it; on engines without chunks it's returned as it is."""
        return above.deferring.rechunk(self, chunks)  # type: ignore[no-any-return]

    def compute(self) -> Self:
        """Compute the values into the memory of this process, where the array has them then, and return it."""
        return above.deferring.compute(self)  # type: ignore[no-any-return]

    def persist(self) -> Self:
        """Compute the values and keep them where that is done, such as on a cluster, and return the array."""
        return above.deferring.persist(self)  # type: ignore[no-any-return]

    def to_zarr(self, store: object, /, *, path: str | None = None, overwrite: bool = False) -> None:
        """Write the values to an array of Zarr, a chunk at a time: see ``from_zarr``."""
        above.deferring.to_zarr(self, store, path=path, overwrite=overwrite)

    def _keep(self, native: Native, instead_of: object, /) -> None:
        """Have a native of the same values in place of another one, unless a write has changed that meanwhile."""
        raise NotImplementedError
