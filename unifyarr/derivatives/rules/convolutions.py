"""Convolutions, three kernels of one form of which each is the derivative of the others, windows and their maxima."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..rule import joint_rule, rule
from .backward import backward, kernel_or
from .reductions import of_extremum

if TYPE_CHECKING:
    from ..._core.values.native import Native
    from ...modes.rule_kernels import Kernels
    from ...typing import Shape
    from ..rule import Cotangent

Pairs = tuple[tuple[int, int], ...]


@joint_rule("convolution", uses=(0, 1))
def _convolution(
    k: Kernels,
    needs: Sequence[bool],
    g: Native,
    out: Native,
    x: Native,
    weight: Native,
    *biases: Native,
    **static: object,
) -> Sequence[Cotangent | None]:
    return (
        _transpose(k, g, weight, lengths=k.shape(x)[2:], **static) if needs[0] else None,
        _weight(k, x, g, kernel=k.shape(weight)[2:], **static) if needs[1] else None,
        *_of_biases(k, needs[2:], g),
    )


@joint_rule("convolution_transpose", uses=(0, 1))
def _convolution_transpose(
    k: Kernels,
    needs: Sequence[bool],
    g: Native,
    out: Native,
    y: Native,
    weight: Native,
    *biases: Native,
    lengths: Shape,
    **static: object,
) -> Sequence[Cotangent | None]:
    return (
        k.convolution(g, weight, **static) if needs[0] else None,
        _weight(k, g, y, kernel=k.shape(weight)[2:], **static) if needs[1] else None,
        *_of_biases(k, needs[2:], g),
    )


@joint_rule("convolution_weight", uses=(0, 1))
def _convolution_weight(
    k: Kernels, needs: Sequence[bool], g: Native, out: Native, x: Native, y: Native, *, kernel: Shape, **static: object
) -> Sequence[Cotangent | None]:
    return (
        _transpose(k, y, g, lengths=k.shape(x)[2:], **static) if needs[0] else None,
        k.convolution(x, g, **static) if needs[1] else None,
    )


def _of_biases(k: Kernels, needs: Sequence[bool], g: Native) -> list[Native | None]:
    over = (0, *range(2, k.ndim(g)))
    return [k.sum(g, axis=over, keepdims=False) if needed else None for needed in needs]


# -- on an engine that has convolutions alone -------------------------------------------------------------------------


def _spread(
    k: Kernels,
    y: Native,
    weight: Native,
    *,
    lengths: Shape,
    stride: Shape,
    padding: Pairs,
    dilation: Shape,
    groups: int,
) -> Native:
    """Convolve the elements of ``y``, as far apart as a stride moves windows, with the reversed kernels."""
    images, outputs, *counts = k.shape(y)
    inputs, *kernel = k.shape(weight)[1:]
    reach = [d * (size - 1) for d, size in zip(dilation, kernel, strict=True)]
    wide = [length + more for length, more in zip(lengths, reach, strict=True)]
    taken, put = [], []
    for count, step, (before, _), more, whole in zip(counts, stride, padding, reach, wide, strict=True):
        # Windows that lie in the padding before or behind are left out.
        first = max(0, -((more - before) // step))
        number = max(0, min(count, (whole - 1 - more + before) // step + 1) - first)
        taken.append((first, 1, number))
        put.append((first * step + more - before if number else 0, step, number))
    leading = (0, 1, images), (0, 1, outputs)
    nothing = k.full(0, y, (images, outputs, *wide))
    spread = k.set_window(nothing, k.get_window(y, (*leading, *taken)), window=(*leading, *put))
    exchanged = k.permute_dims(
        k.reshape(weight, (groups, outputs // groups, inputs, *kernel)), (0, 2, 1, *range(3, len(kernel) + 3))
    )
    matrices = k.reshape(exchanged, (groups * inputs, outputs // groups, *kernel))
    reversed_ = [(size - 1, -1, size) for size in kernel]
    flipped = k.get_window(matrices, ((0, 1, groups * inputs), (0, 1, outputs // groups), *reversed_))
    ones, none = (1,) * len(kernel), ((0, 0),) * len(kernel)
    return k.convolution(spread, flipped, stride=ones, padding=none, dilation=dilation, groups=groups)


def _exchanged(
    k: Kernels,
    x: Native,
    y: Native,
    *,
    kernel: Shape,
    stride: Shape,
    padding: Pairs,
    dilation: Shape,
    groups: int,
) -> Native:
    """Convolve ``x`` with ``y`` for kernels, over images in the place of channels."""
    (images, channels, *lengths), outputs = k.shape(x), k.shape(y)[1]
    inputs, rest = channels // groups, range(3, len(lengths) + 3)
    moved = k.permute_dims(k.reshape(x, (images, groups, inputs, *lengths)), (2, 1, 0, *rest))
    found = k.convolution(
        k.reshape(moved, (inputs, groups * images, *lengths)),
        k.permute_dims(y, (1, 0, *range(2, len(lengths) + 2))),
        stride=dilation,
        padding=padding,
        dilation=stride,
        groups=groups,
    )
    # Behind the last window there may be room for further places of a kernel.
    window = (0, 1, inputs), (0, 1, outputs), *[(0, 1, length) for length in kernel]
    return k.permute_dims(k.get_window(found, window), (1, 0, *range(2, len(lengths) + 2)))


_transpose = kernel_or("convolution_transpose", _spread)
_weight = kernel_or("convolution_weight", _exchanged)

# -- windows as columns, and columns added up -------------------------------------------------------------------------

rule(
    "unfold",
    lambda k, g, out, x, *, window, **moves: k.fold(g, lengths=k.shape(x)[-len(window) :], **moves),
    uses=(),
)
rule(
    "fold",
    lambda k, g, out, x, *, lengths, **moves: k.unfold(
        g, window=k.shape(x)[-2 * len(lengths) : -len(lengths)], **moves
    ),
    uses=(),
)

rule(
    "resample",
    lambda k, g, out, x, *, samplings: k.resample(
        g, samplings=tuple([each and each.exchanged() for each in samplings])
    ),
    uses=(),
)

# -- the greatest element of each window ------------------------------------------------------------------------------


def _shared(k: Kernels, g: Native, x: Native, out: Native, *, window: Shape, **moves: Shape) -> Native:
    """Return the cotangent of elements of windows, given that of the greatest: equal ones share it."""
    axes, last = len(window), k.ndim(x)
    columns = k.unfold(x, window=window, **moves)
    inside = tuple(range(last - axes, last))
    found = of_extremum(k, g, out, columns, axis=inside, keepdims=False)
    return k.fold(found, lengths=k.shape(x)[last - axes :], **moves)


_of_greatest = backward("window_max_backward", _shared)
rule("window_max", lambda k, g, out, x, **static: _of_greatest(k, g, x, out, **static))
