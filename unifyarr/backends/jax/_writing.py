"""Kernels that write on JAX: into a mutable reference, or into the memory of an array that nothing else refers to."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..kernels import state
from ._compiled import is_reference


def writes(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Write the result of a kernel into its first argument, where that is a mutable reference."""

    @functools.wraps(kernel)
    def write(x: Any, *arrays: Any, **arguments: Any) -> Any:
        if not is_reference(x):
            return kernel(x, *arrays, **arguments)
        x[...] = kernel(x[...], *arrays, **arguments)
        return x

    return write


def with_twin(pure: Callable[..., Any], destructive: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel that writes, with a destructive twin for arrays that nothing else refers to: ``Donating``."""
    kernel = writes(pure)
    state(kernel, destructive=destructive)
    return kernel
