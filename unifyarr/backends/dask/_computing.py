"""Evaluation of lazy arrays, and the cache of their values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any

import cloudpickle  # type: ignore[import-untyped]
import dask
import dask.array as da
import numpy as np
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer

from .. import base
from ..base.deferring import Box, Chunks, boxes
from . import _storing
from ._chunks import is_here
from ._fusing import fused
from ._layout import chunks, lengths

# Values of so many bytes are kept after a look: they are mostly numbers.
_SMALL = 1 << 20
# Arrays from the host of so many bytes are shown.
_SHOWN = 1 << 26
# And of so many chunks at most, each of which is looked at.
_FEW = 64
# Histories of more layers are joined before they are computed.
_LONG = 64


class Computing(base.Backend[da.Array]):
    """The members of the backend about evaluation."""

    def knows_values(self, native: da.Array) -> bool:
        """Return whether the chunks are in this process as they are, and aren't large or many."""
        if not native.nbytes <= _SHOWN:
            return False
        return is_here(native) or (native.npartitions <= _FEW and is_held(native))

    def compute(self, natives: Sequence[da.Array]) -> Sequence[da.Array]:
        """Return arrays whose chunks are in the memory of this process."""
        later = [native for native in natives if not is_here(native)]
        made = iter([_kept(native, values) for native, values in zip(later, dask.compute(*joined(later)), strict=True)])
        return [native if is_here(native) else next(made) for native in natives]

    def persist(self, natives: Sequence[da.Array]) -> Sequence[da.Array]:
        """Return arrays whose chunks are computed: in this process, or where the cluster has them."""
        later = [native for native in natives if not is_here(native)]
        made = iter(dask.persist(*joined(later)))
        return [native if is_here(native) else _measured(next(made)) for native in natives]

    def seen(self, native: da.Array, values: np.ndarray) -> da.Array | None:
        """Return an array of values that were computed, if it's small."""
        return None if values.nbytes > _SMALL or is_here(native) else _kept(native, values)

    def chunks(self, native: da.Array) -> Chunks:
        """Return the lengths of the chunks."""
        return lengths(native)

    def rechunk(self, native: da.Array, chunks: Any) -> da.Array:
        """Return the array in other chunks."""
        return native.rechunk(chunks)

    def deferred(
        self,
        make: Callable[..., np.ndarray],
        shape: Box,
        dtype: np.dtype[Any],
        *,
        device: Any = None,
        parts: Chunks | None = None,
        notes: Sequence[Any] | None = None,
    ) -> da.Array:
        """Return an array each chunk of which is made where it's needed."""
        wanted = chunks(shape, dtype)
        own = wanted if parts is None else parts
        name = f"{getattr(make, '__name__', 'made')}-{dask.base.tokenize(make, shape, dtype, own, notes)}"
        keys = product([name], *(range(len(axis)) for axis in own))
        graph = {}
        for place, (key, box) in enumerate(zip(keys, boxes(own), strict=True)):
            # All in one callable: dask would look for tasks among arguments.
            graph[key] = (partial(make, *box, *([] if notes is None else [notes[place]])),)
        made = da.Array(HighLevelGraph.from_collections(name, graph), name, own, dtype=dtype)
        return made if own == wanted else made.rechunk(wanted)

    def from_source(self, source: Any, *, device: Any = None) -> da.Array:
        """Return an array that reads a file when it's computed."""
        return _storing.opened(source)

    def store(self, natives: Sequence[da.Array], targets: Sequence[Any]) -> None:
        """Compute arrays and write them, a chunk at a time."""
        _storing.store(natives, targets)

    def pickled(self, native: da.Array) -> bytes:
        """Return the graph: a few names for each chunk, and the values of host data."""
        # Some of dask's own tasks are functions that the ordinary pickle doesn't take.
        return cloudpickle.dumps(native)

    def unpickled(self, data: bytes) -> da.Array:
        """Return the array of a graph."""
        return cloudpickle.loads(data)


def joined(natives: Sequence[da.Array]) -> Sequence[da.Array]:
    """Return arrays of the same values, with long histories in one layer where they can be.

    dask joins layers that several others read one by one: that takes the square of their number, and nests a task in
    each, until the interpreter's stack ends after some hundreds.
    """
    return fused(natives, ()) if any(len(native.dask.layers) > _LONG for native in natives) else natives


def is_held(native: da.Array) -> bool:
    """Return whether an array's chunks are arrays of this process, as after ``persist`` without a cluster."""
    layers = native.dask.layers
    if len(layers) > 1:
        return False
    (layer,) = layers.values()
    return isinstance(layer, MaterializedLayer) and all(isinstance(chunk, np.ndarray) for chunk in layer.values())


def _kept(native: da.Array, values: Any) -> da.Array:
    values = np.asarray(values)
    # Keep the chunks it had, since the arrays that it is combined with have them too.
    own = native.chunks if native.shape == values.shape else chunks(values.shape, values.dtype)
    return da.from_array(values, chunks=own, asarray=True)


def _measured(native: da.Array) -> da.Array:
    if any(length != length for length in native.shape):
        # The chunks are computed: only their lengths are asked for.
        native.compute_chunk_sizes()
    return native
