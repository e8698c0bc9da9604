"""Facts that compiled functions need to run NumPy's loops on an engine's arrays, in place on the host."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np


class DenseFunction(NamedTuple):
    """A function in C on dense memory: ``void (int64_t count, const T *from, T *to, int64_t mode)``.

    Its results may overwrite its inputs, and no result depends on where in memory it lies.

    Attributes
    ----------
    address
        Where the function is, for as long as the process runs.
    mode
        What it's called with.
    """

    address: int
    mode: int


class HostLoops(NamedTuple):
    """How operations on an engine's arrays in the host's memory are computed together, with the engine's own bits.

    Attributes
    ----------
    same_bits
        For each kernel, the names of the dtypes for which it gives NumPy's results, to the last bit, on any processor,
        whatever the values and the layout of its arrays. All arrays have that dtype, but the mask of ``where``; of a
        cast both dtypes are named.
    products
        The exponents, as numbers, of which the kernel ``pow`` computes the power as a product of 64-bit and 32-bit
        floats: 2.0 as ``x * x``, 3.0 as ``(x * x) * x``.
    dense
        For each kernel that the engine computes by a C function, with other bits than NumPy's, a look-up of that
        function by the dtype of array and result. It returns ``None`` if there's none, or if the bits differ.
    exchange
        The class attribute ``__dlpack_c_exchange_api__`` of the engine's arrays, ``None`` where they lack it.
    to_numpy
        A function that returns an array in the memory of a native, or raises any ``Exception``.
    room
        A function of shape and dtype. It returns a function that makes a C-contiguous native, with any values.
    is_plain
        A function that returns whether kernels do nothing but compute values of natives: no derivative is taken, say.
    note_write
        A function to call with a native, perhaps a caller's, that was written without the engine.
    num_threads
        A function that returns how many threads the engine computes with.
    """

    same_bits: Mapping[str, Set[str]]
    products: Collection[float]
    dense: Mapping[str, Callable[[np.dtype[Any]], DenseFunction | None]]
    exchange: Any
    to_numpy: Callable[[Any], np.ndarray]
    room: Callable[[Sequence[int], np.dtype[Any]], Callable[[], Any]]
    is_plain: Callable[[Sequence[Any]], bool]
    note_write: Callable[[Any], None]
    num_threads: Callable[[], int]
