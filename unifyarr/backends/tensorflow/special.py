"""Special functions on TensorFlow."""

from __future__ import annotations

from typing import Any

from ..kernels import worked_around
from ._engine import raw, scalar, select, unary

_erf = unary("Erf")
erfc = unary("Erfc")


@worked_around("NaN in float64 where the square overflows")
def erf(x: Any, /) -> Any:
    # It is 1 from 6 on, in float64.
    beyond = raw.GreaterEqual(x=raw.Abs(x=x), y=scalar(6, x))
    return _erf(select(beyond, raw.Mul(x=raw.Sign(x=x), y=scalar(6, x)), x))
