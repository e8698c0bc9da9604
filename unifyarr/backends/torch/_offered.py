"""The engine's own functions in place of a composition, where they give the same."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torch import Tensor

from ..kernels import composed_on_host, declines, state
from ._shared import DTYPES, WIDE, Kernel, is_plain


def _never(*types: Any, **static: Any) -> bool:
    return False


def plainly(function: Kernel, unless: Callable[..., bool] = _never) -> Kernel:
    """Offer a function of float32 and float64, unless a derivative is taken: that of the composition serves.

    ``unless`` says for which other types and static arguments it isn't offered.
    """

    @declines(
        lambda *types, **static: any(DTYPES[x.dtype] not in WIDE for x in types) or unless(*types, **static),
        transformed=True,
    )
    @functools.wraps(function)
    def kernel(*arrays: Tensor, **static: Any) -> Any:
        if not all(x.dtype in WIDE and is_plain(x) for x in arrays) or unless(*arrays, **static):
            return NotImplemented
        return function(*arrays, **static)

    return kernel


def off_host(function: Kernel, unless: Callable[..., bool] = _never) -> Kernel:
    """Offer a function likewise, and for arrays of accelerators only: each launch takes time there."""
    offered = plainly(function, unless)

    @composed_on_host
    @functools.wraps(offered)
    def kernel(*arrays: Tensor, **static: Any) -> Any:
        return NotImplemented if arrays[0].is_cpu else offered(*arrays, **static)

    return state(kernel, off_host=offered)
