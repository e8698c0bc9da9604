"""Creation functions on torch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..kernels import bound_by, fills_gaps
from ._indices import note_bounds
from ._shared import BFLOAT16, DTYPES, UNSIGNED, Kernel, by_bits, has_accelerator, takes_number


def _on(device: Any) -> dict[str, Any]:
    # To the engine nothing means ``None``, which takes longer to pass.
    return {} if device is None else {"device": device}


def _noting(make: Callable[[], Tensor], dtype: np.dtype[Any], number: Any) -> Callable[[], Tensor]:
    """Return a function that notes on accelerators which number all elements are, as indices that need no check."""
    if dtype.kind not in "iu" or not has_accelerator():
        return make

    def noted() -> Tensor:
        found = make()
        note_bounds(found, number, number)
        return found

    return noted


def _making(native: Callable[..., Tensor], number: int | None = None) -> Kernel:
    def making(*, shape: tuple[int, ...], dtype: np.dtype[Any], device: Any) -> Callable[[], Tensor]:
        # Lengths one by one are taken sooner than a tuple of them.
        make = partial(native, *(shape or [shape]), dtype=DTYPES[dtype], **_on(device))
        return make if number is None else _noting(make, dtype, number)

    @bound_by(making)
    def kernel(*, shape: tuple[int, ...], dtype: np.dtype[Any], device: Any) -> Tensor:
        return making(shape=shape, dtype=dtype, device=device)()

    return kernel


empty, ones, zeros = _making(torch.empty), _making(torch.ones, 1), _making(torch.zeros, 0)


def _filling(*, shape: tuple[int, ...], fill_value: Any, dtype: np.dtype[Any], device: Any) -> Callable[[], Tensor]:
    if takes_number(DTYPES[dtype], fill_value):
        make = partial(torch.full, shape, fill_value, dtype=DTYPES[dtype], **_on(device))
        return _noting(make, dtype, fill_value) if type(fill_value) is int else make
    # NumPy casts the value: torch refuses infinite or large floats and wraps integers that NumPy refuses.
    if isinstance(fill_value, complex) and dtype.kind not in "cb":
        fill_value = fill_value.real
    value = np.full((), fill_value, dtype)
    number = float(value) if dtype == BFLOAT16 else value.item()
    return partial(torch.full, shape, number, dtype=DTYPES[dtype], **_on(device))


@bound_by(_filling)
def full(*, shape: tuple[int, ...], fill_value: complex, dtype: np.dtype[Any], device: Any) -> Tensor:
    return _filling(shape=shape, fill_value=fill_value, dtype=dtype, device=device)()


def _triangle(native: Callable[..., Tensor]) -> Kernel:
    def kernel(x: Tensor, /, *, k: int) -> Tensor:
        return native(x, k)

    by_signed = by_bits(kernel)
    # The engine takes the main diagonal by itself.
    bound = bound_by(lambda *, k: partial(native, diagonal=k) if k else native)(kernel)
    return fills_gaps(bound, UNSIGNED, "no kernel for uint16, uint32, uint64")(by_signed)


tril, triu = map(_triangle, (torch.tril, torch.triu))
