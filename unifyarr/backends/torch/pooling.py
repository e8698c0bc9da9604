"""Windows on torch: its own pools for arrays of accelerators."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.nn import functional

from ._offered import off_host

_Pairs = tuple[tuple[int, int], ...]


def _is_other(x: Any, *, window: tuple[int, ...], padding: _Pairs, **static: Any) -> bool:
    # The engine's own padding is as wide on both sides, and at most half a window.
    each = zip(padding, window, strict=True)
    return 0 in x.shape or any(before != behind or 2 * before > length for (before, behind), length in each)


def _along_last(function: Callable[[Tensor], Tensor], x: Tensor, axes: int) -> Tensor:
    """Apply a function of images of channels to any number of axes before those of the windows."""
    leading = x.shape[: x.dim() - axes]
    found = function(x.reshape(-1, *x.shape[x.dim() - axes :]))
    return found.reshape(*leading, *found.shape[1:])


def _pool(functions: dict[int, Callable[..., Tensor]]) -> Callable[..., Any]:
    """Return the kernel of pools over one, two and three axes, whose other options the engine calls as we do."""

    @functools.partial(off_host, unless=_is_other)
    def kernel(x: Tensor, /, *, window: tuple[int, ...], padding: _Pairs, **options: Any) -> Tensor:
        around = tuple(before for before, _ in padding)
        pool = functools.partial(functions[len(window)], kernel_size=window, padding=around, **options)
        return _along_last(pool, x, len(window))

    return kernel


max_pool = _pool({1: functional.max_pool1d, 2: functional.max_pool2d, 3: functional.max_pool3d})
avg_pool = _pool({1: functional.avg_pool1d, 2: functional.avg_pool2d, 3: functional.avg_pool3d})
