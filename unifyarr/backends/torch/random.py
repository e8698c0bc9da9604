"""torch's own generators, as functions of their states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from ._private import standard_gamma
from ._shared import DTYPES

Device: TypeAlias = Any


def random_state(seed: np.ndarray, device: Device) -> Tensor:
    # A state lives on the CPU, whatever the device. The CPU's generator takes 32 bits of a seed.
    state: Tensor = torch.Generator(device or torch.get_default_device()).manual_seed(int(seed[0])).get_state()
    return state


def _drawn(state: Tensor, device: Device, draw: Callable[[torch.Generator], Any]) -> tuple[Tensor, Any]:
    # Restoring and reading a state take less than a microsecond.
    generator = torch.Generator(device or torch.get_default_device())
    generator.set_state(state)
    values = draw(generator)
    return generator.get_state(), values


def draw_uniform(state: Tensor, *, shape: Any, dtype: np.dtype[Any], device: Device) -> tuple[Tensor, Tensor]:
    return _drawn(state, device, lambda g: torch.rand(shape, dtype=DTYPES[dtype], device=device, generator=g))


def draw_normal(state: Tensor, *, shape: Any, dtype: np.dtype[Any], device: Device) -> tuple[Tensor, Tensor]:
    return _drawn(state, device, lambda g: torch.randn(shape, dtype=DTYPES[dtype], device=device, generator=g))


def draw_integers(
    state: Tensor, *, low: int, high: int, shape: Any, dtype: np.dtype[Any], device: Device
) -> tuple[Tensor, Tensor]:
    return _drawn(
        state, device, lambda g: torch.randint(low, high, shape, dtype=DTYPES[dtype], device=device, generator=g)
    )


def draw_permutation(state: Tensor, *, length: int, device: Device) -> tuple[Tensor, Tensor]:
    return _drawn(state, device, lambda g: torch.randperm(length, device=device, generator=g))


def draw_gamma(state: Tensor, alpha: Tensor, *, device: Device) -> tuple[Tensor, Tensor]:
    return _drawn(state, device, lambda g: standard_gamma(alpha, g))


def draw_poisson(state: Tensor, lam: Tensor, *, device: Device) -> tuple[Tensor, Tensor]:
    return _drawn(state, device, lambda g: torch.poisson(lam, generator=g))


def draw_binomial(state: Tensor, n: Tensor, p: Tensor, *, device: Device) -> tuple[Tensor, Tensor]:
    return _drawn(state, device, lambda g: torch.binomial(n, p, generator=g))
