"""Kernels of windows that slide over the last axes: convolutions, windows as columns, and their transposes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...typing import Shape
from .record import ALONG, CONTRACTION, Batch, declare
from .types import ArrayType, Typed, same

Pairs = tuple[tuple[int, int], ...]


def _counts(lengths: Shape, window: Shape, stride: Shape, padding: Pairs, dilation: Shape) -> Shape:
    """Return how many windows there are along each axis."""
    each = zip(lengths, window, stride, padding, dilation, strict=True)
    return tuple([(length + sum(pair) - d * (size - 1) - 1) // s + 1 for length, size, s, pair, d in each])


def _convolved(
    x: Typed, weight: Typed, *biases: Typed, stride: Shape, padding: Pairs, dilation: Shape, groups: int
) -> ArrayType:
    counts = _counts(x.shape[2:], weight.shape[2:], stride, padding, dilation)
    return ArrayType((x.shape[0], weight.shape[0], *counts), x.dtype)


def _transposed(y: Typed, weight: Typed, *biases: Typed, lengths: Shape, groups: int, **static: object) -> ArrayType:
    return ArrayType((y.shape[0], weight.shape[1] * groups, *lengths), y.dtype)


def _small_image(
    shapes: Sequence[tuple[Shape, Shape]], *, stride: Shape, dilation: Shape, **static: object
) -> dict[str, object]:
    """Return images of just the lengths that the windows reach."""
    counts, window = (small[2:] for _, small in shapes[:2])
    each = zip(counts, window, stride, dilation, strict=True)
    lengths = tuple([(count - 1) * step + d * (size - 1) + 1 for count, size, step, d in each])
    return {"lengths": lengths, "padding": ((0, 0),) * len(lengths)}


def _weight(x: Typed, y: Typed, *, kernel: Shape, groups: int, **static: object) -> ArrayType:
    return ArrayType((y.shape[1], x.shape[1] // groups, *kernel), x.dtype)


# Three of one form that is linear in the input, the weight and the output. Each is the derivative of the others: the
# second gives an input, of these lengths, and the third a weight, with a kernel of this shape.
declare(CONTRACTION, "convolution", types=_convolved, adds=True)
declare(CONTRACTION, "convolution_transpose", types=_transposed, adds=True, small=_small_image)
declare(CONTRACTION, "convolution_weight", types=_weight, adds=True)


def _unfolded(x: Typed, *, window: Shape, stride: Shape, dilation: Shape) -> ArrayType:
    axes = len(window)
    counts = _counts(x.shape[-axes:], window, stride, ((0, 0),) * axes, dilation)
    return ArrayType((*x.shape[:-axes], *window, *counts), x.dtype)


def _folded(x: Typed, *, lengths: Shape, **static: object) -> ArrayType:
    return ArrayType((*x.shape[: -2 * len(lengths)], *lengths), x.dtype)


# Windows as columns, and columns added up: each is the transpose of the other.
declare(ALONG, "unfold", types=_unfolded, batch=Batch.OWN)
declare(ALONG, "fold", types=_folded, adds=True, batch=Batch.OWN)


def _reduced(x: Typed, *, window: Shape, stride: Shape, dilation: Shape) -> ArrayType:
    counts = _counts(x.shape[-len(window) :], window, stride, ((0, 0),) * len(window), dilation)
    return ArrayType((*x.shape[: -len(window)], *counts), x.dtype)


# The greatest element of each window, for engines whose derivative of it is sooner than that of columns.
declare(ALONG, "window_max", types=_reduced, batch=Batch.OWN)
declare(ALONG, "window_max_backward", types=lambda g, x, out, **static: same(x), batch=Batch.OWN)


def _resampled(x: Typed, *, samplings: Sequence[Any]) -> ArrayType:
    leading = x.shape[: len(x.shape) - len(samplings)]
    each = zip(samplings, x.shape[len(leading) :], strict=True)
    return ArrayType((*leading, *(length if one is None else one.made for one, length in each)), x.dtype)


def _small_sampling(shapes: Sequence[tuple[Shape, Shape]], *, samplings: Sequence[Any]) -> dict[str, Any]:
    ((_, few),) = shapes
    each = zip(samplings, few[len(few) - len(samplings) :], strict=True)
    # All formulas lay results out alike.
    plain = {"mode": "nearest", "step": (1.0, 1.0), "align_corners": False, "antialias": False}
    return {
        "samplings": tuple([one and one._replace(elements=length, results=length, **plain) for one, length in each])
    }


# Sums of elements with weights along the last axes, each of which has a ``Sampling`` or none: linear, so that its
# derivative is itself, with the transposed ones.
declare(ALONG, "resample", types=_resampled, adds=True, batch=Batch.OWN, small=_small_sampling)
