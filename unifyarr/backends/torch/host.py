"""Kernels that compiled functions may compute on the CPU: by NumPy's loops, and by functions that torch calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..base.host import HostLoops
from . import _mkl
from ._shared import DTYPES, is_transforming

_BOOL = frozenset({"bool"})
_INTEGER = frozenset({f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)})
# NumPy computes half precision element by element, slower than torch does.
_FLOAT = frozenset({"float32", "float64"})
_ALL = _BOOL | _INTEGER | _FLOAT

# Kernels that IEEE 754, or arithmetic modulo 2**n, defines to the last bit. Not here: exp and others, even sqrt, for
# which MKL has functions with other last bits (they are in ``_mkl``); maximum and minimum of floats, where the sign of
# zero depends on the layout; complex numbers, whose products differ, and which may be conjugated lazily; division of
# integers, where torch is faster.
SAME_BITS = {
    **dict.fromkeys(("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"), _ALL),
    **dict.fromkeys(("abs", "add", "multiply", "where", "astype", "roll"), _ALL),
    **dict.fromkeys(("negative", "sign", "square", "subtract"), _INTEGER | _FLOAT),
    **dict.fromkeys(("divide", "reciprocal", "round", "ceil", "floor", "trunc", "copysign"), _FLOAT),
    **dict.fromkeys(("isfinite", "isinf", "isnan", "signbit"), _FLOAT),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor", "logical_not"), _BOOL | _INTEGER),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_invert"), _BOOL | _INTEGER),
    **dict.fromkeys(("bitwise_left_shift", "bitwise_right_shift"), _INTEGER),
    **dict.fromkeys(("maximum", "minimum", "fmax", "fmin"), _INTEGER),
}


def _room(shape: Sequence[int], dtype: np.dtype[Any]) -> Callable[[], Tensor]:
    size, native, cpu = tuple(shape), DTYPES[dtype], torch.device("cpu")
    # Given its strides, too, an array is made in two thirds of the time.
    strides, make = torch.empty(size, dtype=native, device="meta").stride(), torch.empty_strided
    return lambda: make(size, strides, dtype=native, device=cpu)


def _is_plain(natives: Sequence[Tensor]) -> bool:
    for x in natives:
        if x.requires_grad:
            return not torch.is_grad_enabled() and not is_transforming()
    return not is_transforming()


def _to_numpy(native: Tensor) -> np.ndarray:
    array: np.ndarray = (native.detach() if native.requires_grad else native).numpy()
    return array


LOOPS = HostLoops(
    same_bits=SAME_BITS,
    products=frozenset({2.0, 3.0}),
    dense=_mkl.FUNCTIONS,
    exchange=getattr(Tensor, "__dlpack_c_exchange_api__", None),
    to_numpy=_to_numpy,
    room=_room,
    is_plain=_is_plain,
    # Gradients that need the old values have to see it.
    note_write=torch.autograd.graph.increment_version,
    num_threads=torch.get_num_threads,
)
