"""Elementwise functions: shapes are aligned from the end, so that a batch needs axes between its own and the others."""

from __future__ import annotations

from typing import Any

from ...._core.kernels.record import ELEMENTWISE
from ..kernel_calls import BatchCall
from ..natives import Batched
from ..rule import kind_rule, rule


def _elementwise(call: BatchCall, *operands: Batched, **static: Any) -> Any:
    return call(*call.aligned(operands), **static)


kind_rule(ELEMENTWISE, _elementwise)


def _put_mask(call: BatchCall, x: Batched, value: Batched, mask: Batched) -> Any:
    return call(call.front(x), *call.aligned([value], call.ndim(x)), call.front(mask))


# What is written keeps its shape.
rule("put_mask", _put_mask)
rule("set_real set_imag", lambda call, x, value: call(call.front(x), call.front(value)))
