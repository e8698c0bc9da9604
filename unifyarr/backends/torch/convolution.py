"""Convolutions on torch."""

from __future__ import annotations

import itertools
from typing import Any

from torch import Tensor
from torch.nn import functional

from ..kernels import declines
from ._shared import DTYPES, FLOAT

_BY_AXES = {1: functional.conv1d, 2: functional.conv2d, 3: functional.conv3d}
_TRANSPOSED = {1: functional.conv_transpose1d, 2: functional.conv_transpose2d, 3: functional.conv_transpose3d}


@declines(lambda x, *_, **options: DTYPES[x.dtype] not in FLOAT)
def convolution(
    x: Tensor,
    weight: Tensor,
    /,
    *biases: Tensor,
    stride: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    dilation: tuple[int, ...],
    groups: int,
) -> Any:
    # The engine has few kernels for integers, and its complex one multiplies parts that aren't finite.
    if x.dtype not in FLOAT:
        return NotImplemented
    around = tuple(before for before, _ in padding)
    if any(before != behind for before, behind in padding):
        # The engine's own padding is as wide on both sides.
        x = functional.pad(x, tuple(itertools.chain(*reversed(padding))))
        around = (0,) * len(padding)
    bias = biases[0] if biases else None
    return _BY_AXES[len(stride)](x, weight, bias, stride, around, dilation, groups)


@declines(lambda x, *_, **options: DTYPES[x.dtype] not in FLOAT)
def transposed_convolution(
    x: Tensor,
    weight: Tensor,
    /,
    *biases: Tensor,
    stride: tuple[int, ...],
    more: tuple[int, ...],
    dilation: tuple[int, ...],
    groups: int,
) -> Any:
    """Return the whole result, with nothing cut off; ``more`` is how many elements are added behind each axis."""
    if x.dtype not in FLOAT:
        return NotImplemented
    bias = biases[0] if biases else None
    return _TRANSPOSED[len(stride)](x, weight, bias, stride, 0, more, groups, dilation)
