"""How torch computes plain calls: which kernels take which dtypes together, and which numbers beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..base.plain import EXACT, LEARNT, NUMPYS_OWN, Beside, Plain, of_numbers
from ..guards import guarded
from . import _together
from ._complex import pow_number
from ._division import floor_divide_floats
from ._items import get_copy, get_item, get_transpose, set_item
from ._private import count_modes, foreach_in_place
from ._shared import COMPLEX, NUMPY_DTYPES, ODD_POWERS, SIGNED_INTEGER, WIDE, as_method, is_plain, takes_number
from ._targets import into

_CPU = torch.device("cpu")
_FLOATING = (torch.float32, torch.float64)
# How many numbers are kept: programs may go through ever new ones.
_MOST_NUMBERS = 1024


class _Numbers(dict[float, Tensor]):
    """Tensors of numbers that stand beside floats of a dtype: the engine makes one of a number at each call.

    ``one_zero`` says that the sign of a zero makes no difference.
    """

    def __init__(self, dtype: torch.dtype, *, one_zero: bool = False) -> None:
        self._dtype, self._one_zero = dtype, one_zero

    def __missing__(self, value: float) -> Tensor:
        # On the CPU it meets tensors of all devices, as an argument of the kernel.
        made = torch.scalar_tensor(value, dtype=self._dtype, device=_CPU)
        if len(self) >= _MOST_NUMBERS:
            self.clear()
        # Zeros of both signs have one key. Inference tensors couldn't serve derivatives later.
        if (value or self._one_zero) and not (count_modes() or torch.is_inference_mode_enabled()):
            self[value] = made
        return made


_NUMBERS = {dtype: _Numbers(dtype) for dtype in _FLOATING}
_COMPARED = {dtype: _Numbers(dtype, one_zero=True) for dtype in _FLOATING}


def _beside_floats(
    native: Callable[..., Tensor], numbers: dict[torch.dtype, _Numbers] = _NUMBERS, *, turned: bool = False
) -> dict[torch.dtype, Beside]:
    return {
        dtype: Beside(native, -EXACT, EXACT, passed_as=known.__getitem__, turned=turned)
        for dtype, known in numbers.items()
    }


def _beside(
    native: Callable[..., Tensor], numbers: dict[torch.dtype, _Numbers] = _NUMBERS, *, turned: bool = False
) -> dict[torch.dtype, Beside]:
    floats = _beside_floats(native, numbers, turned=turned)
    return floats | dict.fromkeys(SIGNED_INTEGER, Beside(native, -128, 127, floats=False, turned=turned))


# Pairs that the engine promotes as the standard does, except for 0-d arrays, which torch treats as weak.
_PAIRS = [(torch.float64, each) for each in (torch.float32, torch.int64, torch.int32)]


def _promoted(native: Callable[..., Tensor], *beside_masks: torch.dtype) -> dict[Any, Callable[..., Any]]:
    """Return a kernel for pairs of dtypes, and for some dtypes beside masks."""

    def promoting(x1: Tensor, x2: Tensor) -> Any:
        return native(x1, x2) if x1.dim() and x2.dim() else NotImplemented

    pairs = [*_PAIRS, *((each, torch.bool) for each in beside_masks)]
    return dict.fromkeys([*pairs, *(pair[::-1] for pair in pairs)], promoting)


def _power(x1: Tensor, x2: Tensor) -> Any:
    # By one number the kernel may take a root.
    return x1.pow(x2) if x2.dim() else NotImplemented


def _power_to(x: Tensor, value: float) -> Any:
    return x.pow(value) if value not in ODD_POWERS else NotImplemented


def _divided(value: float, x: Tensor) -> Any:
    # The engine's own operator multiplies the reciprocal, which rounds twice.
    if value == 1:
        return x.reciprocal()
    return torch.div(_NUMBERS[x.dtype][value], x)


def _as_floats(x: Tensor, value: float) -> Tensor:
    return torch.div(x.double(), value)


def _limited(native: Callable[..., Tensor]) -> Callable[..., Any]:
    def limit(x: Tensor, value: float) -> Any:
        dtype = x.dtype
        fits = -128 <= value <= 127 if dtype in _FLOATING else takes_number(dtype, value)
        # Where both are equal, the engine's derivative is another one than that of the maximum of arrays.
        return native(x, value) if fits and is_plain(x) else NotImplemented

    return limit


def asarray(obj: Any, dtype: Any, device: Any, copy: Any) -> Any:
    """Return a native of data that needs no more than that; decline all others."""
    if dtype is not None or device is not None or copy is not None:
        return NotImplemented
    kind = type(obj)
    if kind is Tensor:
        is_known = obj.layout is torch.strided and not obj.is_nested and obj.dtype in NUMPY_DTYPES
        return obj if is_known else NotImplemented
    if count_modes():
        # The default device may be another one.
        return NotImplemented
    if kind is np.ndarray:
        # Another order of bytes the engine refuses.
        return torch.from_numpy(obj.copy()) if obj.dtype.num in NUMPYS_OWN else NotImplemented
    made = of_numbers(obj)
    return NotImplemented if made is None else torch.from_numpy(made)


def _declines(*_: object) -> Any:
    return NotImplemented


def _compared(native: Callable[..., Tensor]) -> Plain:
    return Plain(right=_beside(native, _COMPARED))


def _clamped(native: Callable[..., Tensor]) -> Plain:
    limit = _limited(native)
    return Plain(rest_right=limit, rest_left=lambda value, x: limit(x, value))


_MASKED = (*_FLOATING, torch.int64)
# One that isn't positive has errors of its own, and the remainder has the sign of the divisor here and there.
_POSITIVE = {
    name: dict.fromkeys(SIGNED_INTEGER, Beside(native, 1, 127, floats=False))
    for name, native in (("floor_divide", Tensor.floor_divide), ("remainder", Tensor.remainder))
}
PLAIN: dict[str, Plain] = {
    "add": Plain(
        kernels=_promoted(as_method(torch.add), *_MASKED),
        right=_beside(torch.add),
        left=_beside(torch.add, turned=True),
        **into("add", torch.int64),
    ),
    # The engine subtracts no masks.
    "subtract": Plain(
        kernels=_promoted(as_method(torch.sub)),
        right=_beside(torch.sub),
        left=_beside_floats(torch.sub),
        **into("sub", torch.int64),
    ),
    "multiply": Plain(
        kernels=_promoted(as_method(torch.mul), *_MASKED),
        right=_beside(torch.mul),
        left=_beside(torch.mul, turned=True),
        **into("mul", torch.int64, *COMPLEX),
    ),
    # Integers and masks it divides as float32.
    "divide": Plain(
        kernels=_promoted(as_method(torch.div), *_FLOATING),
        right=_beside(torch.div)
        | dict.fromkeys(SIGNED_INTEGER, Beside(_as_floats, -128, 127, floats=False, passed_as=float)),
        left=dict.fromkeys(WIDE, Beside(_divided, -128, 127)),
        **into("div"),
    ),
    "equal": _compared(Tensor.eq),
    "not_equal": _compared(Tensor.ne),
    "less": _compared(Tensor.lt),
    "less_equal": _compared(Tensor.le),
    "greater": _compared(Tensor.gt),
    "greater_equal": _compared(Tensor.ge),
    "maximum": _clamped(torch.clamp_min),
    "minimum": _clamped(torch.clamp_max),
    "floor_divide": Plain(
        kernels=dict.fromkeys(_FLOATING, guarded(torch.floor_divide, floor_divide_floats, "unwatched", "finite")),
        kernel=_declines,
        right=_POSITIVE["floor_divide"],
    ),
    "remainder": Plain(right=_POSITIVE["remainder"]),
    "pow": Plain(
        kernels=dict.fromkeys(_FLOATING, _power),
        kernel=_declines,
        right={
            torch.int64: Beside(Tensor.pow, 0, (1 << 31) - 1, floats=False),
            **dict.fromkeys(COMPLEX, Beside(pow_number)),
            **dict.fromkeys(WIDE, Beside(_power_to)),
        },
    ),
    "matmul": Plain(kernels=dict.fromkeys(_FLOATING, torch.matmul)),
    "asarray": Plain(kernel=asarray),
}
ITEMS: dict[str, Callable[..., Any]] = {
    "get_item": get_item,
    "get_copy": get_copy,
    "get_transpose": get_transpose,
    "set_item": set_item,
}


def plain_way(name: str) -> Plain:
    """Return how plain calls of a function are computed where that isn't learnt."""
    update = foreach_in_place.get(name)
    several = dict.fromkeys(WIDE, update) if update else {}
    return PLAIN.get(name, LEARNT)._replace(several=several, together=_together.TOGETHER.get(name))
