"""New arrays of all leaves of a container in one call, on accelerators: there each launch takes time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from ._private import foreach
from ._shared import WIDE, is_transforming


def _are_served(column: list[Tensor], others: list[Tensor]) -> bool:
    """Return whether tensors are of one dtype on one accelerator, others like them, and no derivative is taken."""
    first = column[0]
    if first.is_cpu or len(column) < 2 or first.dtype not in WIDE or is_transforming():
        return False
    dtype, device = first.dtype, first.device
    return all(
        type(x) is Tensor and x.dtype is dtype and x.device == device and not x.requires_grad
        for x in (*column, *others)
    )


def _of_one(function: Callable[..., Any]) -> Callable[..., Any]:
    def together(column: list[Tensor]) -> Any:
        return list(function(column)) if _are_served(column, []) else False

    return together


def _of_two(function: Callable[..., Any], *, commutes: bool, takes_arrays: bool) -> Callable[..., Any]:
    def together(x1: Any, x2: Any) -> Any:
        column, other = (x1, x2) if type(x1) is list else (x2, x1)
        if type(other) is list:
            served = _are_served(column, other) and all(x.shape == y.shape for x, y in zip(column, other, strict=True))
        elif column is x2 and not commutes:
            return False
        elif type(other) is Tensor:
            served = takes_arrays and not other.dim() and _are_served(column, [other])
        else:
            # Beside floats a small integer is one, and other numbers may be out of range.
            served = (type(other) is float or (type(other) is int and -128 <= other <= 127)) and _are_served(column, [])
        return list(function(column, other)) if served else False

    return together


_OF_ONE = ("abs", "cos", "exp", "log", "negative", "sin", "sqrt")
_OF_TWO = {
    "add": {"commutes": True, "takes_arrays": True},
    "subtract": {"commutes": False, "takes_arrays": False},
    "multiply": {"commutes": True, "takes_arrays": True},
    "divide": {"commutes": False, "takes_arrays": True},
}
TOGETHER = {name: _of_one(foreach[name]) for name in _OF_ONE if foreach.get(name)} | {
    name: _of_two(foreach[name], **facts) for name, facts in _OF_TWO.items() if foreach.get(name)
}
