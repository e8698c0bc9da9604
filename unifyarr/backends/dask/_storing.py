"""Arrays in files on dask: read and written a chunk at a time."""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from typing import Any, Literal

import dask.array as da
import numpy as np

from ._chunks import ChunkTask
from ._layout import chunks


class Mapped(ChunkTask):
    """A memory map that is pickled by the name of its file, and opened where it's read."""

    def __init__(self, source: np.memmap) -> None:
        self.filename, self.offset = os.path.abspath(str(source.filename)), source.offset
        self.shape, self.dtype = source.shape, source.dtype
        self.order: Literal["C", "F"] = "C" if source.flags.c_contiguous else "F"
        found = os.stat(self.filename)
        # A file that has changed isn't the same array.
        self.version = found.st_mtime_ns, found.st_size

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def __getitem__(self, key: Any) -> np.ndarray:
        source = np.memmap(self.filename, self.dtype, "r", self.offset, self.shape, self.order)
        return np.array(source[key])


def opened(source: Any) -> da.Array:
    """Return an array that reads an object with ``shape``, ``dtype`` and slices, in chunks that suit those it has."""
    if (
        isinstance(source, np.memmap)
        and isinstance(source.base, mmap.mmap)
        and isinstance(source.filename, str | os.PathLike)
    ):
        source = Mapped(source)
    shape, dtype = tuple(source.shape), np.dtype(source.dtype)
    own = getattr(source, "chunks", None)
    whole = own if isinstance(own, tuple) and len(own) == len(shape) else None
    divided = chunks(shape, dtype, da.core.normalize_chunks(whole, shape) if whole else None)
    # Zarr's arrays and our own may be read by several threads at once, whatever else there is perhaps not.
    lock = not (isinstance(source, Mapped) or type(source).__module__.partition(".")[0] == "zarr")
    native = da.from_array(source, chunks=divided, asarray=True, lock=lock)
    return native if dtype.isnative else native.astype(dtype.newbyteorder("="))


def store(natives: Sequence[da.Array], targets: Sequence[Any]) -> None:
    """Write arrays into objects that take slices."""
    aligned = [_aligned(native, target) for native, target in zip(natives, targets, strict=True)]
    apart = all(type(target).__module__.partition(".")[0] == "zarr" for target in targets)
    da.store(aligned, list(targets), lock=not apart)


def _aligned(native: da.Array, target: Any) -> da.Array:
    # No two tasks may write into one chunk of a file: each writes whole ones.
    own = getattr(target, "shards", None) or getattr(target, "chunks", None)
    if not isinstance(own, tuple) or len(own) != native.ndim:
        return native
    wanted = []
    for length, axis, step in zip(native.shape, native.chunks, own, strict=True):
        if all(each % step == 0 for each in axis[:-1]):
            wanted.append(axis)
            continue
        several = max(1, max(axis) // step) * step
        wanted.append(da.core.normalize_chunks((several,), (length,))[0])
    return native.rechunk(tuple(wanted))
