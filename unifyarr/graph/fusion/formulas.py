"""Kernels that are formulas of NumPy's elementwise functions: called with values that note what is done to them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from .region import WHERE
from .step_writer import Noted, StepWriter


class Value:
    """Stands for an array in a formula: each operation is noted as a step."""

    def __init__(self, steps: StepWriter, operand: Noted) -> None:
        self.steps, self.operand = steps, operand

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the array."""
        return self.steps.dtypes[self.operand]

    def astype(self, dtype: Any) -> Value:
        """Return the value in another dtype."""
        return Value(self.steps, self.steps.cast(self.operand, np.dtype(dtype)))

    def __neg__(self) -> Value:
        return _called(np.negative, self)

    def __add__(self, other: Value | float) -> Value:
        return _called(np.add, self, other)

    def __radd__(self, other: Value | float) -> Value:
        return _called(np.add, other, self)

    def __sub__(self, other: Value | float) -> Value:
        return _called(np.subtract, self, other)

    def __rsub__(self, other: Value | float) -> Value:
        return _called(np.subtract, other, self)

    def __mul__(self, other: Value | float) -> Value:
        return _called(np.multiply, self, other)

    def __rmul__(self, other: Value | float) -> Value:
        return _called(np.multiply, other, self)

    def __truediv__(self, other: Value | float) -> Value:
        return _called(np.divide, self, other)

    def __lt__(self, other: Value | float) -> Value:
        return _called(np.less, self, other)


def _called(ufunc: np.ufunc, *operands: Value | float) -> Value:
    like = next(each for each in operands if isinstance(each, Value))
    # Numbers take the dtype of the arrays beside them.
    given = [each if isinstance(each, Value) else _full_like(like, each) for each in operands]
    return Value(like.steps, like.steps.ufunc(ufunc, *(each.operand for each in given)))


def _full_like(x: Value, value: float) -> Value:
    return Value(x.steps, x.steps.constant(value, x.dtype))


def _where(mask: Value, first: Value, second: Value) -> Value:
    dtypes = [each.dtype for each in (mask, first, second, second)]
    return Value(mask.steps, mask.steps.add(WHERE, [mask.operand, first.operand, second.operand], dtypes))


# NumPy's functions that formulas are made of.
FUNCTIONS = SimpleNamespace(
    abs=lambda x: _called(np.absolute, x),
    copysign=lambda x, y: _called(np.copysign, x, y),
    exp=lambda x: _called(np.exp, x),
    full_like=_full_like,
    minimum=lambda x, y: _called(np.minimum, x, y),
    where=_where,
)
