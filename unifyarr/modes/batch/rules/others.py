"""Tables and counts, and random numbers."""

from __future__ import annotations

import math
from typing import Any

from ...._core.kernels.record import RANDOM, ROWS
from ..kernel_calls import BatchCall
from ..natives import Batched
from ..rule import kind_rule, rule


def _by_rows(call: BatchCall, *operands: Batched, **static: Any) -> Any:
    return call.by_rows(operands, **static)


kind_rule(ROWS, _by_rows)
# Behind the state that follows.
kind_rule(RANDOM, _by_rows)

# -- tables and counts ------------------------------------------------------------------------------------------------


def _interp(call: BatchCall, x: Batched, xp: Batched, fp: Batched, **static: Any) -> Any:
    if xp.is_constant and fp.is_constant:
        return call(x.value, xp.value, fp.value, **static)
    return call.by_rows([x, xp, fp], **static)


rule("interp", _interp)


def _bincount(call: BatchCall, x: Batched, *weights: Batched, length: int) -> Any:
    """Count the integers of all elements at once, those of each behind those of the one before."""
    k = call.k
    count = math.prod(call.shape(x))
    shifted = k.add(call.front(x), k.multiply(call.numbers((count,), x), k.number(length, x.value)))
    values = [k.reshape(call.front(each), (call.size * count,)) for each in weights]
    total = call.size * length
    found = call(k.reshape(shifted, (call.size * count,)), *values, shape=(total,), length=total)
    return k.reshape(found, (call.size, length))


rule("bincount", _bincount)
