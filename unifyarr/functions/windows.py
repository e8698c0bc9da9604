"""Windows that slide over the last axes of an array, for convolutions and pools."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from .._core.arrays.array import Array
from .._core.arrays.scratch import room
from .._core.calling.invoke import attempt
from .._core.values.arguments import as_integer, as_integers
from .._core.values.shapes import size
from ..errors import ShapeError
from ..typing import Scalar, Shape
from .creation import full

Lengths = int | Sequence[int]
Padding = str | int | Sequence[int | tuple[int, int]]
Pairs = tuple[tuple[int, int], ...]


def as_lengths(what: str, given: Lengths, axes: int, *, least: int = 1) -> Shape:
    """Return a number for each of the axes: one number is meant for all of them."""
    lengths = as_integers(given, what)
    lengths = lengths if isinstance(given, Iterable) else lengths * axes
    if len(lengths) != axes or any(length < least for length in lengths):
        raise ShapeError(f"{what} is an integer, or {axes} of them, of at least {least}, not {given!r}")
    return lengths


def as_padding(given: Padding, window: Shape, stride: Shape, dilation: Shape) -> Pairs:
    """Return how many elements to put before and behind each axis."""
    if given == "valid":
        given = 0
    if given == "same":
        if any(step != 1 for step in stride):
            raise ValueError(f"padding 'same' keeps the lengths, which a stride of {stride} doesn't: give integers")
        total = [step * (length - 1) for length, step in zip(window, dilation, strict=True)]
        return tuple((each // 2, each - each // 2) for each in total)
    if isinstance(given, str):
        raise ValueError(f"padding is 'same', 'valid', integers or pairs of them, not {given!r}")
    each = tuple(given) if isinstance(given, Iterable) else (given,) * len(window)
    if len(each) != len(window):
        raise ShapeError(f"padding is an integer, or {len(window)} of them or of pairs of them, not {given!r}")
    return tuple(_as_pair(one, given) for one in each)


def _as_pair(one: int | tuple[int, int], given: object) -> tuple[int, int]:
    pair = as_integers(one, "padding") if isinstance(one, Iterable) else (as_integer(one, "padding"),) * 2
    if len(pair) != 2 or min(pair) < 0:
        raise ShapeError(f"padding is how many elements to put before and behind an axis, not {given!r}")
    return pair[0], pair[1]


def zeros_for(out: Array | None, shape: Shape, x: Array, *read_later: Array) -> Array:
    """Return zeros of a shape and the dtype of ``x``, to which products are added: in ``out`` if that has room."""
    total = room(out, shape, x.dtype, x, *read_later)
    if total is None:
        return full(shape, 0, dtype=x.dtype, device=x.device, backend=x.backend)
    total[...] = 0
    return total


class Windows:
    """Windows over the last axes: their shape, how they move, how far apart their elements lie, and the padding."""

    def __init__(self, window: Shape, stride: Shape, dilation: Shape, padding: Pairs) -> None:
        self.window, self.stride, self.dilation, self.padding = window, stride, dilation, padding

    def extents(self) -> Shape:
        """Return how many elements there are from the first of a window to its last."""
        return tuple(step * (length - 1) + 1 for length, step in zip(self.window, self.dilation, strict=True))

    def count(self, name: str, spatial: Shape, *, ceil_mode: bool = False) -> Shape:
        """Return how many windows there are along each axis.

        With ``ceil_mode`` the last one may reach beyond the end, if it begins within the elements or before them.
        """
        wide = tuple(length + sum(pair) for length, pair in zip(spatial, self.padding, strict=True))
        each = list(zip(wide, self.extents(), self.stride, strict=True))
        # How far the last window may reach beyond the end.
        beyond = tuple(step - 1 if ceil_mode else 0 for step in self.stride)
        if any(extent > length + more for (length, extent, _), more in zip(each, beyond, strict=True)):
            raise ShapeError(
                f"{name}(): windows over {self.extents()} elements don't fit into {spatial} with padding {self.padding}"
            )
        counts = tuple(
            (length + more - extent) // step + 1 for (length, extent, step), more in zip(each, beyond, strict=True)
        )
        if not ceil_mode:
            return counts
        starts = zip(counts, spatial, self.padding, self.stride, strict=True)
        return tuple(min(number, (before + length - 1) // step + 1) for number, length, (before, _), step in starts)

    def reaching(self, count: Shape, spatial: Shape) -> Windows:
        """Return windows with enough padding behind for so many of them."""
        each = zip(self.reach(count), spatial, self.padding, strict=True)
        padding = tuple((before, max(behind, end - length - before)) for end, length, (before, behind) in each)
        return Windows(self.window, self.stride, self.dilation, padding)

    def reach(self, count: Shape) -> Shape:
        """Return how many elements there are from the first of so many windows along each axis to the last."""
        each = zip(count, self.stride, self.extents(), strict=True)
        return tuple((number - 1) * step + extent for number, step, extent in each)

    def pad(self, x: Array, value: Scalar) -> Array:
        """Return an array with its last axes padded: itself where there's nothing to add."""
        if not any(itertools.chain(*self.padding)):
            return x
        leading = x.ndim - len(self.padding)
        spatial = x.shape[leading:]
        wide = tuple(length + sum(pair) for length, pair in zip(spatial, self.padding, strict=True))
        padded = full((*x.shape[:leading], *wide), value, dtype=x.dtype, device=x.device, backend=x.backend)
        inner = zip(spatial, self.padding, strict=True)
        padded[(..., *(slice(before, before + length) for length, (before, _) in inner))] = x
        return padded

    def crop(self, x: Array) -> Array:
        """Return the view of an array without the padding of its last axes: itself where there's none."""
        if not any(itertools.chain(*self.padding)):
            return x
        spatial = zip(x.shape[x.ndim - len(self.padding) :], self.padding, strict=True)
        return x[(..., *(slice(before, length - behind) for length, (before, behind) in spatial))]

    def columns(self, padded: Array, count: Shape) -> Array | None:
        """Return the elements of each window, of shape (..., places in a window, windows), for a derivative.

        ``None`` where none is taken, or the engine has no kernel: the places are gone through one by one then.
        """
        return self._offered("unfold", padded, count, self.window)

    def greatest(self, padded: Array, count: Shape) -> Array | None:
        """Return the greatest element of each window for a derivative, ``None`` as for columns."""
        return self._offered("window_max", padded, count, ())

    def _offered(self, name: str, padded: Array, count: Shape, inside: Shape) -> Array | None:
        axes = len(count)
        if type(padded.shape) is not tuple or not (padded.size and size(count)):
            return None
        each = zip(padded.shape[-axes:], self.extents(), self.stride, strict=True)
        if count != tuple((length - extent) // step + 1 for length, extent, step in each):
            # There's room for more windows than are wanted.
            padded = padded[(..., *map(slice, self.reach(count)))]
        static = {"window": self.window, "stride": self.stride, "dilation": self.dilation}
        shape = (*padded.shape[:-axes], *inside, *count)
        return attempt(name, padded, **static, result=(shape, padded.dtype))

    def taps(self, count: Shape) -> Iterator[tuple[Shape, tuple[slice, ...]]]:
        """Yield each place in a window, and the slices of a padded array that hold that place of all windows."""
        for place in itertools.product(*map(range, self.window)):
            each = zip(place, count, self.stride, self.dilation, strict=True)
            yield place, tuple(slice(i * d, i * d + s * (n - 1) + 1, s) for i, n, s, d in each)
