"""Kernels that a batch needs where its backend has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._core.engines.handle import Handle
from ..rule_kernels import kernels_of


def squaring(base: Handle) -> Callable[[Any, Any], Any]:
    """Return a kernel that squares each of several matrices as often as an array says."""

    def square_repeatedly(x: Any, counts: Any, **told: Any) -> Any:
        k = kernels_of(base)
        for count in range(int(base.to_numpy(counts).max(initial=0))):
            x = k.where(k.greater(counts, count), k.matmul(x, x), x)
        return x

    return square_repeatedly
