"""Updates of several arrays in one call of a compiled function: each call of one costs more than small arrays do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from . import elementwise
from ._private import ARRAYS, NO_TRACE, find_top_trace

# At the call of that number arrays of the same types are computed together: to compile takes milliseconds.
_COMPILED_AT = 4
# How many combinations of types are counted.
_COUNTED = 256


def _several(name: str) -> Callable[..., Any]:
    """Return what computes each of several natives beside another one of its type; ``False`` leaves that to others."""
    kernel = getattr(elementwise, name)

    together = jax.jit(lambda natives, others: [kernel(x, y) for x, y in zip(natives, others, strict=True)])
    calls: dict[tuple[int, ...], int] = {}

    def fast(natives: Sequence[Any], others: Sequence[Any]) -> Any:
        if len(natives) < 2 or find_top_trace(()) is not NO_TRACE:
            return False
        types = []
        for x, y in zip(natives, others, strict=True):
            # The object is the same for all arrays of one dtype and shape, nearly always.
            if not type(x) is type(y) is ARRAYS[0] or x.aval is not y.aval or x.dtype.kind not in "fc":
                return False
            types.append(id(x.aval))
        key = tuple(types)
        count = calls.get(key, 0)
        if count < _COMPILED_AT:
            if len(calls) >= _COUNTED:
                calls.clear()
            calls[key] = count + 1
            return False
        return together(natives, others)

    return fast


PATHS = {f"several_{name}": _several(name) for name in ("add", "subtract", "multiply", "divide")}
