"""Elementwise functions: shapes are aligned from the end, so that a batch needs axes between its own and the others."""

from __future__ import annotations

from typing import Any

from ..._core.declaring.declare import DECLARATIONS
from ..._core.engines.kernels import known_kernels
from ..calls import Call
from ..natives import Batched
from ..rule import rule


def _elementwise(call: Call, *operands: Batched, **static: Any) -> Any:
    return call(*call.aligned(operands), **static)


def _is_elementwise(name: str) -> bool:
    return name in DECLARATIONS and DECLARATIONS[name].ufunc is not None


rule(" ".join(sorted(filter(_is_elementwise, known_kernels()))), _elementwise)
rule("remainder round clip frexp ldexp modf spacing where relu sigmoid erf erfc erfinv ndtri", _elementwise)
rule("digamma gammaln gammainc gammaincc betainc zeta i0 i0e i1 i1e", _elementwise)
rule("astype real imag detach stop_gradient", _elementwise)
