"""Optional members of lazy engines, which compute values on demand and may keep arrays in chunks.

Elsewhere an array has one chunk, and its values are there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import accumulate, product
from typing import Any

import numpy as np

from ._native import Native
from .values import Values

# The lengths of the chunks along each axis.
Chunks = tuple[tuple[int, ...], ...]
Box = tuple[int, ...]

_wanted: ContextVar[Any] = ContextVar("unifyarr_chunks", default="auto")


def wanted_chunks() -> Any:
    """Return how new arrays are divided, as the caller has said it: ``"auto"`` if nothing was said."""
    return _wanted.get()


@contextmanager
def wanting_chunks(chunks: Any) -> Iterator[None]:
    """Divide the arrays that are made in this block, where the engine has chunks."""
    token = _wanted.set(chunks)
    try:
        yield
    finally:
        _wanted.reset(token)


class Deferring(Values[Native]):
    """Values that come later, and arrays in chunks."""

    # -- computing ----------------------------------------------------------------------------------------------------

    def compute(self, natives: Sequence[Native]) -> Sequence[Native]:
        """Return natives of the same values that are in the memory of this process, all computed at once."""
        return natives

    def persist(self, natives: Sequence[Native]) -> Sequence[Native]:
        """Return natives of the same values that are computed, and stay where that was done."""
        return natives

    def seen(self, native: Native, values: np.ndarray) -> Native | None:
        """Return a native of values that were computed for a look, so that the next look costs nothing.

        ``None`` where the native serves as well, or keeping the values would take more memory than a caller expects.
        """
        return None

    # -- chunks -------------------------------------------------------------------------------------------------------

    def chunks(self, native: Native) -> Chunks | None:
        """Return the lengths of the chunks along each axis, ``None`` for those that aren't known.

        By default nothing: the engine's arrays have no chunks.
        """
        return None

    def rechunk(self, native: Native, chunks: Any) -> Native:
        """Return a native of the same values in other chunks."""
        return native

    # -- values that are made when they're computed -------------------------------------------------------------------

    def deferred(
        self,
        make: Callable[..., np.ndarray],
        shape: Box,
        dtype: np.dtype[Any],
        *,
        device: Any = None,
        parts: Chunks | None = None,
        notes: Sequence[Any] | None = None,
    ) -> Native:
        """Return a native of what ``make(starts, lengths)`` gives for each box of it, in C order of the boxes.

        ``make`` can be pickled, and gives the same values for a place whatever the box. Where that isn't so, ``parts``
        are the only boxes that it is called for, and each gets one of the ``notes`` as well, if there are any. The
        frontend asks for this where ``has_values`` is false. By default the values are made at once.
        """
        values = np.empty(shape, dtype)
        for place, (starts, lengths) in enumerate(boxes(parts or tuple((length,) for length in shape))):
            box = tuple(slice(start, start + length) for start, length in zip(starts, lengths, strict=True))
            values[box] = make(starts, lengths) if notes is None else make(starts, lengths, notes[place])
        return self.from_numpy(values, device=device, copy=True)

    def from_source(self, source: Any, *, device: Any = None) -> Native | None:
        """Return a native that reads an object with ``shape``, ``dtype`` and slices when its values are computed.

        Such are datasets in files and memory maps. ``None`` where they are read now.
        """
        return None

    def store(self, natives: Sequence[Native], targets: Sequence[Any]) -> None:
        """Write values into objects that take slices, such as datasets in files: in one step, a chunk at a time."""
        for native, target in zip(natives, targets, strict=True):
            target[...] = self.to_numpy(native)

    # -- pickles ------------------------------------------------------------------------------------------------------

    def pickled(self, native: Native) -> bytes | None:
        """Return how a native's values come about, by which ``unpickled`` makes it; ``None`` if values are pickled."""
        return None

    def unpickled(self, data: bytes) -> Native:
        """Return the native of what ``pickled`` gave."""
        raise NotImplementedError


def boxes(chunks: Chunks) -> Iterator[tuple[Box, Box]]:
    """Yield where each chunk starts and how long it is along each axis, in C order."""
    starts = [[0, *accumulate(lengths)][:-1] for lengths in chunks]
    return zip(product(*starts), product(*chunks), strict=True)
