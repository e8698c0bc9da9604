"""Several calls of a kernel in one launch, on accelerators: there each takes time.

They are those of the leaves of a container, and equal operations of a compiled function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from ..base.one_launch import OneLaunch
from ._private import foreach, foreach_in_place
from ._shared import NUMPY_DTYPES, WIDE, is_transforming


def _are_served(column: Sequence[Tensor], others: Sequence[Tensor]) -> bool:
    """Return whether tensors are of one dtype on one accelerator, others like them, and no derivative is taken."""
    first = column[0]
    if first.is_cpu or len(column) < 2 or first.dtype not in WIDE or is_transforming():
        return False
    dtype, device = first.dtype, first.device
    return all(
        type(x) is Tensor and x.dtype is dtype and x.device == device and not x.requires_grad
        for x in (*column, *others)
    )


def _adding(function: Callable[..., Any]) -> Callable[..., Any]:
    # Without the factor torch takes a 0-d tensor for a number, and waits for it.
    return lambda column, other: function(column, other, alpha=1) if type(other) is Tensor else function(column, other)


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


_NEW, _IN_PLACE = (
    {name: _adding(each) if name == "add" else each for name, each in found.items() if each is not None}
    for found in (foreach, foreach_in_place)
)
_OF_ONE = ("abs", "cos", "exp", "log", "negative", "sin", "sqrt")
_OF_TWO = {
    "add": {"commutes": True, "takes_arrays": True},
    "subtract": {"commutes": False, "takes_arrays": False},
    "multiply": {"commutes": True, "takes_arrays": True},
    "divide": {"commutes": False, "takes_arrays": True},
}
TOGETHER = {name: _of_one(_NEW[name]) for name in _OF_ONE if name in _NEW} | {
    name: _of_two(_NEW[name], **facts) for name, facts in _OF_TWO.items() if name in _NEW
}


_NAMES = frozenset(str(NUMPY_DTYPES[each]) for each in WIDE)
ONE_LAUNCH = {
    name: OneLaunch(
        new=_NEW[name],
        in_place=_IN_PLACE[name],
        operands=1 + (name in _OF_TWO),
        commutes=_OF_TWO.get(name, {}).get("commutes", False),
        takes_arrays=_OF_TWO.get(name, {}).get("takes_arrays", False),
        dtypes=_NAMES,
        is_served=_are_served,
    )
    for name in TOGETHER
    if name in _IN_PLACE
}
