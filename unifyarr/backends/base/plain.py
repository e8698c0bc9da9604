"""How an engine computes plain calls of a function: which kernel for which dtypes, and which numbers may stand beside.

The compiled core reads it. A kernel takes natives, in the order of the operands, and returns a native or a number that
``as_native`` takes; it may decline by ``NotImplemented``. By a dtype, the engine's own or what ``dtype_key`` gives, a
table has a kernel, or ``None`` where the call needs the general path.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

Kernel = Callable[..., Any]
Table = Mapping[Any, Any]
_NONE: Table = MappingProxyType({})
# Integers that floats of all widths hold.
EXACT = 1 << 24
# The numbers of the dtypes that are NumPy's own; C has two types of 64 bits, one of which engines don't know.
_NAMES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"
NUMPYS_OWN = frozenset(np.dtype(name).num for name in _NAMES.split())
# The classes of numbers in lists of which plain calls make arrays, up to so many of them: others go to memory that an
# engine chooses.
_PYTHONS = frozenset({bool, int, float, complex})
_MOST_PYTHONS = 64


def of_numbers(data: object) -> np.ndarray | None:
    """Return NumPy's array of a list of a few numbers, ``None`` of all else and of what no dtype holds."""
    if type(data) is not list or len(data) >= _MOST_PYTHONS or not _PYTHONS.issuperset(map(type, data)):
        return None
    made = np.array(data)
    return made if made.dtype.num in NUMPYS_OWN else None


class Beside(NamedTuple):
    """How a Python number stands beside natives of a dtype."""

    kernel: Kernel
    # Bounds of the integers that are allowed, by default all of 64 bits, and whether floats are allowed.
    least: int | None = None
    most: int | None = None
    floats: bool = True
    # Conversion of the number: the class ``float``, or a function that returns a native for it, or ``None`` to decline.
    passed_as: Callable[[Any], Any] | None = None
    # Whether the kernel takes the native first when the number is the left operand.
    turned: bool = False


class Plain(NamedTuple):
    """Where an engine computes plain calls of a function in other ways than those that are learnt.

    Missing facts are learnt from the function's kernel, at the first call for each dtype.
    """

    # Kernels by the dtype that all natives have, or by a pair of dtypes, and the kernel of all others.
    kernels: Table = _NONE
    kernel: Kernel | None = None
    # By the native's dtype, how a number stands on its right or left, or a function of both; and for all others.
    right: Table = _NONE
    rest_right: Beside | Kernel | None = None
    left: Table = _NONE
    rest_left: Beside | Kernel | None = None
    # Kernels that take ``out=`` and return it, by the dtype of the target and all operands. NumPy may have one kernel
    # for all other dtypes, which reads operands that overlap the target before it writes.
    into: Table = _NONE
    into_any: Kernel | None = None
    # Whether they take the target as a positional argument, after the operands.
    by_place: bool = False
    # By that dtype, kernels that compute in the place of the first of two operands, and return it. A pair of dtypes has
    # the same one, which casts operands of the second dtype as the standard does.
    in_place: Table = _NONE
    # Fallback for other targets. It takes two operands, the second of which may be ``None``, and the target, and
    # returns whether it has written the result.
    into_otherwise: Callable[..., bool] | None = None
    # By that dtype, kernels of a list of natives, and a list of others or a float, that compute in the place of the
    # first ones. An engine whose arrays are immutable gives a function of one list or two, which returns a list of new
    # natives, or ``False`` to decline.
    several: Table = _NONE
    together: Kernel | None = None
    # Kernel for natives of ``Backend.large`` bytes or more. Its last argument says which operands may be overwritten.
    large: Kernel | None = None


LEARNT = Plain()
