"""Rechunking arrays to match others: windows are taken again from their source, in the chunks that are wanted.

To cut and join the chunks of a result would hold those beside each, and copy them. dask's arrays don't know how they
were made, so that it's noted where they're made of windows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import dask.array as da
import numpy as np

from ._chunks import naming_unknown_lengths
from ._parts import Parts, parts

Chunks = tuple[tuple[int, ...], ...]
# At most this many elementwise steps are repeated. It bounds the work, and the history that is kept.
_DEEP = 8


class Windowed:
    """A window of an array in several chunks."""

    depth: int = 0

    def __init__(self, x: da.Array, window: Sequence[tuple[int, int, int]]) -> None:
        self.x, self.window = _bare(x), tuple(window)


class WindowedElementwise:
    """An elementwise function of arrays, at least one of which was made of windows, by ``depth`` steps."""

    def __init__(self, chunk: Any, dtype: np.dtype[Any], operands: Sequence[Any]) -> None:
        self.chunk, self.dtype = chunk, dtype
        # For each operand, the array or number and how it was made.
        self.operands = [(_bare(x), how(x)) for x in operands]
        self.depth: int = 1 + max(made.depth for _, made in self.operands if made is not None)

    def in_chunks(self, chunks: Chunks) -> Iterator[tuple[Any, Any, Any]]:
        """Return for each operand the array, how it was made, and its new chunks; ``None`` keeps its own."""
        wanted = dict(enumerate(chunks, -len(chunks)))
        for x, made in self.operands:
            lengths = _lengths(x, wanted) if isinstance(x, da.Array) else ()
            yield x, made, None if not lengths or lengths == x.chunks else lengths


Made = Windowed | WindowedElementwise


class Again:
    """Makes an array in other chunks. It plans first: windows of an array share the chunks that are joined for them."""

    def __init__(self) -> None:
        self.can: dict[Any, bool] = {}
        self.parts: dict[Any, Parts] = {}
        self.wide: dict[Any, Parts] = {}
        self.found: dict[Any, da.Array] = {}

    def plan(self, made: Made | None, chunks: Chunks) -> bool:
        """Return whether an array can be made in chunks."""
        key = id(made), chunks
        if key not in self.can:
            self.can[key] = self._plan(made, chunks)
        return self.can[key]

    def _plan(self, made: Made | None, chunks: Chunks) -> bool:
        if isinstance(made, WindowedElementwise):
            return all(own is None or self.plan(each, own) for _, each, own in made.in_chunks(chunks))
        found = None if made is None else parts(made.x, made.window, chunks)
        if found is None:
            return False
        self.parts[id(made), chunks] = found
        self.wide.setdefault(found.key, found).widen(found)
        return True

    def make(self, made: Made, chunks: Chunks) -> da.Array:
        """Return the array, as it was planned."""
        key = id(made), chunks
        if key not in self.found:
            if isinstance(made, WindowedElementwise):
                operands = [x if own is None else self.make(each, own) for x, each, own in made.in_chunks(chunks)]
                self.found[key] = applied(made.chunk, made.dtype, operands)
            else:
                found = self.parts[key]
                self.found[key] = noted(found.made(self.wide[found.key]), made)
        return self.found[key]


def applied(chunk: Any, dtype: np.dtype[Any], operands: Sequence[Any]) -> da.Array:
    """Return an elementwise function of arrays that are divided alike, and of numbers."""
    with naming_unknown_lengths(operands):
        result = da.core.elemwise(chunk, *operands, dtype=dtype)
    # Other operands are repeated along the first axis.
    along = [x for x in operands if isinstance(x, da.Array) and x.ndim == result.ndim and x.shape[:1] != (1,)]
    masks = {selected_by(x) for x in along}
    if len(masks) == 1:
        selected_with(result, masks.pop())
    depths = [made.depth for made in map(how, operands) if made is not None]
    return noted(result, WindowedElementwise(chunk, dtype, operands)) if depths and max(depths) < _DEEP else result


def noted(x: da.Array, made: Made) -> da.Array:
    """Return an array that knows how it was made."""
    x.unifyarr_made = made
    return x


def how(x: Any) -> Made | None:
    """Return how an array was made, if that is known."""
    return getattr(x, "unifyarr_made", None)


def selected_with(x: da.Array, mask: str | None) -> da.Array:
    """Return an array that knows the name of the mask that selected it, chunk by chunk of the mask."""
    if mask is not None:
        x.unifyarr_selected = mask
    return x


def selected_by(x: Any) -> str | None:
    """Return the name of the mask that selected an array, if that is known."""
    return getattr(x, "unifyarr_selected", None)


def _bare(x: Any) -> Any:
    # Without how it was made: that would hold the graphs of a whole history.
    return x if how(x) is None else da.Array(x.dask, x.name, x.chunks, dtype=x.dtype, meta=x._meta)


def aligned(arrays: Sequence[da.Array]) -> Sequence[da.Array]:
    """Return arrays that broadcast, divided alike: along each axis as the first of those with the most chunks.

    dask itself divides at all places where any of them is divided. The windows of a stencil would be in small pieces
    then, and in smaller ones after each step.
    """
    wanted: dict[int, tuple[int, ...]] = {}
    differ = False
    for x in arrays:
        for axis, own in enumerate(x.chunks, -x.ndim):
            if x.shape[axis] == 1:
                differ |= len(own) > 1
                continue
            most = wanted.setdefault(axis, own)
            differ |= most is not own and most != own
            if len(own) > len(most):
                wanted[axis] = own
    return [divided_as(x, wanted) for x in arrays] if differ else arrays


def divided_as(x: da.Array, wanted: Mapping[int, tuple[int, ...]]) -> da.Array:
    """Return an array in the chunks that are wanted along axes counted from the end, but for those of one element.

    Where a length isn't known the chunks stay: dask checks them against the others.
    """
    lengths = _lengths(x, wanted)
    is_known = all(each == each for axis in (*x.chunks, *lengths) for each in axis)
    return divided(x, lengths) if is_known else x


def divided(x: da.Array, chunks: Chunks) -> da.Array:
    """Return an array in certain chunks."""
    made = how(x)
    if made is not None and x.chunks != chunks:
        again = Again()
        if again.plan(made, chunks):
            return again.make(made, chunks)
    return x.rechunk(chunks)


def _lengths(x: da.Array, wanted: Mapping[int, tuple[int, ...]]) -> Chunks:
    places = enumerate(x.chunks, -x.ndim)
    return tuple((1,) if x.shape[axis] == 1 else wanted.get(axis, own) for axis, own in places)
