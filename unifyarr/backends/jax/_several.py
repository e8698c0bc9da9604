"""Functions of several arrays in one call of a compiled function: each call of one costs more than small arrays do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from . import elementwise
from ._private import ARRAYS, NO_TRACE, find_trace

# At the call of that number arrays of the same types are computed together: to compile takes milliseconds.
_COMPILED_AT = 4
# How many combinations of types are counted.
_COUNTED = 256


def _several(name: str, kinds: str, count: int) -> Callable[..., Any]:
    """Return a function that computes each of several natives, or each paired with another one of its type.

    ``kinds`` are those of the dtypes that the function keeps, or that it answers; ``False`` leaves a call to others.
    """
    kernel = getattr(elementwise, name)
    calls: dict[tuple[int, ...], int] = {}

    together = jax.jit(lambda *columns: [kernel(*operands) for operands in zip(*columns, strict=True)])

    def fast(natives: Sequence[Any], *others: Sequence[Any]) -> Any:
        if len(natives) < 2 or len(others) != count - 1 or find_trace() is not NO_TRACE:
            return False
        types = []
        for x in natives:
            if type(x) is not ARRAYS[0] or x.dtype.kind not in kinds:
                return False
            types.append(x.aval)
        for column in others:
            for y, wanted in zip(column, types, strict=True):
                # The object is the same for all arrays of one dtype and shape, nearly always.
                if type(y) is not ARRAYS[0] or y.aval is not wanted:
                    return False
        key = tuple(map(id, types))
        seen = calls.get(key, 0)
        if seen < _COMPILED_AT:
            if len(calls) >= _COUNTED:
                calls.clear()
            calls[key] = seen + 1
            return False
        return together(natives, *others)

    return fast


_OF_TWO = ("add", "subtract", "multiply", "divide")
_OF_ONE = (
    *("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "exp", "expm1", "floor"),
    *("log", "log10", "log1p", "log2", "negative", "positive", "reciprocal", "round", "sign", "sin", "sinh", "sqrt"),
    *("square", "tan", "tanh", "trunc"),
)
TOGETHER = {name: _several(name, "fc", 2) for name in _OF_TWO} | {name: _several(name, "f", 1) for name in _OF_ONE}
