"""Activation functions on TensorFlow."""

from __future__ import annotations

from typing import Any

from ..kernels import known_by
from ._engine import BOOL, direct, unary

sigmoid = unary("Sigmoid")
_relu = unary("Relu")


@known_by(lambda x: None if x.dtype in BOOL else direct("Relu"))
def relu(x: Any, /) -> Any:
    return NotImplemented if x.dtype in BOOL else _relu(x)
