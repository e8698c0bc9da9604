"""Creation functions on torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..kernels import fills_gaps
from ._shared import BFLOAT16, DTYPES, UNSIGNED, by_bits, takes_number


def empty(*, shape: tuple[int, ...], dtype: np.dtype[Any], device: Any) -> Tensor:
    return torch.empty(shape, dtype=DTYPES[dtype], device=device)


def zeros(*, shape: tuple[int, ...], dtype: np.dtype[Any], device: Any) -> Tensor:
    return torch.zeros(shape, dtype=DTYPES[dtype], device=device)


def ones(*, shape: tuple[int, ...], dtype: np.dtype[Any], device: Any) -> Tensor:
    return torch.ones(shape, dtype=DTYPES[dtype], device=device)


def full(*, shape: tuple[int, ...], fill_value: complex, dtype: np.dtype[Any], device: Any) -> Tensor:
    if takes_number(DTYPES[dtype], fill_value):  # type: ignore[arg-type]
        return torch.full(shape, fill_value, dtype=DTYPES[dtype], device=device)
    # NumPy casts the value: torch refuses infinite or large floats and wraps integers that NumPy refuses.
    if isinstance(fill_value, complex) and dtype.kind not in "cb":
        fill_value = fill_value.real
    value = np.full((), fill_value, dtype)
    number = float(value) if dtype == BFLOAT16 else value.item()
    return torch.full(shape, number, dtype=DTYPES[dtype], device=device)


tril, triu = (
    fills_gaps(native, UNSIGNED, "no kernel for uint16, uint32, uint64")(by_bits(native))
    for native in (lambda x, /, *, k: torch.tril(x, k), lambda x, /, *, k: torch.triu(x, k))
)
