"""What a backend file says about its kernels: native, worked around, by the host, or missing.

A kernel is any callable on native arrays. An engine's own function needs no decoration: it is native. The decorators
here attach what the dispatcher and the completeness table read: ``support_native_out``, ``native``, ``gaps``,
``reason`` and ``origin``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from ..errors import BackendFeatureError

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

# How long NumPy looks for an element that two arrays have in common, before it says that there may be one.
EFFORT = 10_000


def support_native_out(kernel: Kernel) -> Kernel:
    """Say that ``kernel(..., out=native)`` writes into ``native`` and returns it."""
    kernel.support_native_out = True  # type: ignore[attr-defined]
    return kernel


def bound_by(bind: Callable[..., Callable[..., Any]]) -> Callable[[Kernel], Kernel]:
    """Say what returns a kernel for known static arguments, which is quicker than one that gets them each time."""

    def decorate(kernel: Kernel) -> Kernel:
        kernel.bind = bind  # type: ignore[attr-defined]
        return kernel

    return decorate


def not_implemented(reason: str) -> Callable[..., Any]:
    """Return a kernel that says why the engine has none."""

    def kernel(*arrays: Any, **arguments: Any) -> Any:
        raise BackendFeatureError(reason)

    kernel.origin = "not implemented"  # type: ignore[attr-defined]
    kernel.reason = reason  # type: ignore[attr-defined]
    return kernel


def worked_around(reason: str, *, origin: str = "worked around") -> Callable[[Kernel], Kernel]:
    """Say that a kernel stands in for one that the engine lacks or gets wrong, and why."""

    def decorate(kernel: Kernel) -> Kernel:
        kernel.origin = origin  # type: ignore[attr-defined]
        kernel.reason = reason  # type: ignore[attr-defined]
        return kernel

    return decorate


def by_host(reason: str) -> Callable[[Kernel], Kernel]:
    """Say that a kernel computes with NumPy on the host, and why."""
    return worked_around(reason, origin="host")


def fills_gaps(native: Callable[..., Any], gaps: Iterable[Any], reason: str) -> Callable[[Kernel], Kernel]:
    """Use ``native``, except where the first array's dtype is one of ``gaps``: there the decorated kernel.

    ``gaps`` are native dtypes. ``out=`` reaches ``native`` alone: the workaround never sees it.
    """
    gaps = frozenset(gaps)

    def decorate(workaround: Kernel) -> Kernel:
        @functools.wraps(workaround)
        def kernel(x: Any, /, *arrays: Any, out: Any = None, **arguments: Any) -> Any:
            if x.dtype in gaps:
                return workaround(x, *arrays, **arguments)
            if out is None:
                return native(x, *arrays, **arguments)
            return native(x, *arrays, out=out, **arguments)

        kernel.native = native  # type: ignore[attr-defined]
        kernel.gaps = gaps  # type: ignore[attr-defined]
        return worked_around(reason)(kernel)  # type: ignore[return-value]

    return decorate
