"""Windows on torch: its own pools for arrays of accelerators."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.nn import functional

from ._offered import off_host

_Pairs = tuple[tuple[int, int], ...]
_GREATEST = {1: functional.max_pool1d, 2: functional.max_pool2d, 3: functional.max_pool3d}
_MEAN = {1: functional.avg_pool1d, 2: functional.avg_pool2d, 3: functional.avg_pool3d}


def _is_other(x: Any, *, window: tuple[int, ...], padding: _Pairs, **static: Any) -> bool:
    # The engine's own padding is as wide on both sides, and at most half a window.
    each = zip(padding, window, strict=True)
    return 0 in x.shape or any(before != behind or 2 * before > length for (before, behind), length in each)


def _before(padding: _Pairs) -> tuple[int, ...]:
    return tuple(before for before, _ in padding)


def _along_last(function: Callable[[Tensor], Tensor], x: Tensor, axes: int) -> Tensor:
    """Apply a function of images of channels to any number of axes before those of the windows."""
    leading = x.shape[: x.dim() - axes]
    found = function(x.reshape(-1, *x.shape[x.dim() - axes :]))
    return found.reshape(*leading, *found.shape[1:])


@functools.partial(off_host, unless=_is_other)
def max_pool(
    x: Tensor,
    /,
    *,
    window: tuple[int, ...],
    stride: tuple[int, ...],
    padding: _Pairs,
    dilation: tuple[int, ...],
    ceil_mode: bool,
) -> Tensor:
    pool = functools.partial(
        _GREATEST[len(window)],
        kernel_size=window,
        stride=stride,
        padding=_before(padding),
        dilation=dilation,
        ceil_mode=ceil_mode,
    )
    return _along_last(pool, x, len(window))


@functools.partial(off_host, unless=_is_other)
def avg_pool(
    x: Tensor,
    /,
    *,
    window: tuple[int, ...],
    stride: tuple[int, ...],
    padding: _Pairs,
    ceil_mode: bool,
    count_include_pad: bool,
) -> Tensor:
    pool = functools.partial(
        _MEAN[len(window)],
        kernel_size=window,
        stride=stride,
        padding=_before(padding),
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
    )
    return _along_last(pool, x, len(window))
