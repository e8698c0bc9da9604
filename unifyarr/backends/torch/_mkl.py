"""The functions of MKL by which torch computes some kernels on the CPU.

Builds of torch with MKL export them. That torch calls them, and in which mode, is laid down nowhere: each one is
compared with torch's kernel before it's used.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..base.host import DenseFunction
from ..base.samples import samples
from ._private import library_of_kernels
from ._shared import is_transforming

DType = np.dtype[Any]
Native = Callable[[Tensor], Tensor]

# The most exact results, denormal numbers as they are, and no word about errors: VML_HA, VML_FTZDAZ_OFF and
# VML_ERRMODE_IGNORE.
MODE = 0x2 | 0x140000 | 0x100
PREFIXES = {"float32": "vms", "float64": "vmd"}
# How many values a function is compared on, and the lengths of the pieces that it gets them in.
SAMPLES = 1 << 15
LENGTHS = (1, 2, 3, 5, 8, 13, 31, 64, 100, 257, 512)


def find(native: Native, name: str, dtype: DType) -> DenseFunction | None:
    """Return MKL's function for a kernel of torch's; ``None`` if torch has none, or computes it otherwise."""
    # There kernels do more than compute values, and nothing can be compared.
    return None if is_transforming() else _find(native, name, dtype)


@cache
def _find(native: Native, name: str, dtype: DType) -> DenseFunction | None:
    prefix, library = PREFIXES.get(dtype.name), library_of_kernels()
    function = library and prefix and getattr(library, prefix + name, None)
    if not function:
        return None
    function.argtypes, function.restype = (ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64), None
    address = ctypes.cast(function, ctypes.c_void_p).value
    return DenseFunction(address, MODE) if address and agrees(native, function, dtype) else None


def agrees(native: Native, function: Callable[[int, int, int, int], None], dtype: DType) -> bool:
    """Return whether a function gives a kernel's bits, whatever pieces of values it gets, and in their own memory."""
    x = samples(dtype, SAMPLES).copy()
    with torch.no_grad():
        expected = native(torch.from_numpy(x)).numpy().tobytes()
        shifted = native(torch.from_numpy(x)[3:-2]).numpy().tobytes()
    lengths, begin = itertools.cycle(LENGTHS), 0
    into, within = np.empty_like(x), x.copy()
    while begin < len(x):
        count = min(next(lengths), len(x) - begin)
        at = begin * dtype.itemsize
        function(count, x.ctypes.data + at, into.ctypes.data + at, MODE)
        function(count, within.ctypes.data + at, within.ctypes.data + at, MODE)
        begin += count
    whole = into.tobytes() == within.tobytes() == expected
    return whole and shifted == expected[3 * dtype.itemsize : -2 * dtype.itemsize]


# For the names of our kernels: where these mend torch's, they don't for float32 and float64.
_NATIVE: dict[str, tuple[Native, str]] = {
    "acos": (torch.acos, "Acos"),
    "asin": (torch.asin, "Asin"),
    "atan": (torch.atan, "Atan"),
    "cos": (torch.cos, "Cos"),
    "erf": (torch.erf, "Erf"),
    "erfc": (torch.erfc, "Erfc"),
    "erfinv": (torch.erfinv, "ErfInv"),
    "exp": (torch.exp, "Exp"),
    "log": (torch.log, "Ln"),
    "log10": (torch.log10, "Log10"),
    "log2": (torch.log2, "Log2"),
    "sin": (torch.sin, "Sin"),
    "sqrt": (torch.sqrt, "Sqrt"),
    "tan": (torch.tan, "Tan"),
    "tanh": (torch.tanh, "Tanh"),
}
FUNCTIONS = {kernel: partial(find, native, name) for kernel, (native, name) in _NATIVE.items()}
