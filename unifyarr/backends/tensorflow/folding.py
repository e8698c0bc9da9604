"""Windows as columns on TensorFlow, and columns added up."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

from ..kernels import for_derivatives, worked_around
from ._engine import integers, raw, reshape

_by_slices = worked_around("the engine's patches have channels last, and two axes or three")


@for_derivatives
@_by_slices
def unfold(x: Any, /, *, window: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]) -> Any:
    axes = len(window)
    leading, lengths = tuple(x.shape[:-axes]), tuple(x.shape[-axes:])
    each = zip(lengths, window, stride, dilation, strict=True)
    count = tuple((length - d * (size - 1) - 1) // s + 1 for length, size, s, d in each)
    parts = [raw.StridedSlice(input=x, **at) for at in _places(leading, window, count, stride, dilation)]
    return reshape(raw.Pack(values=parts, axis=len(leading)), shape=(*leading, *window, *count))


@for_derivatives
@_by_slices
def fold(x: Any, /, *, lengths: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]) -> Any:
    axes = len(lengths)
    leading, window, count = (
        tuple(each) for each in (x.shape[: -2 * axes], x.shape[-2 * axes : -axes], x.shape[-axes:])
    )
    number, shape = math.prod(window), integers(*leading, *lengths)
    columns = raw.Unpack(value=reshape(x, shape=(*leading, number, *count)), num=number, axis=len(leading))
    places = _places(leading, window, count, stride, dilation)
    parts = [raw.StridedSliceGrad(shape=shape, dy=dy, **at) for dy, at in zip(columns, places, strict=True)]
    return raw.AddN(inputs=parts)


def _places(
    leading: tuple[int, ...],
    window: tuple[int, ...],
    count: tuple[int, ...],
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
) -> Iterator[dict[str, Any]]:
    """Yield the bounds of each place in a window, over all windows."""
    for place in itertools.product(*map(range, window)):
        begin = [i * apart for i, apart in zip(place, dilation, strict=True)]
        end = [first + step * (n - 1) + 1 for first, n, step in zip(begin, count, stride, strict=True)]
        yield {
            "begin": integers(*(0,) * len(leading), *begin),
            "end": integers(*leading, *end),
            "strides": integers(*(1,) * len(leading), *stride),
        }
