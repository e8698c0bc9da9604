"""Activation functions on torch."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch import sigmoid as sigmoid

from ..kernels import declines, known_by, support_native_out
from ._shared import BOOL, DTYPES, UNSIGNED

_WITHOUT = BOOL | UNSIGNED


@declines(lambda x: DTYPES[x.dtype] in _WITHOUT)
@known_by(lambda x: None if x.dtype in _WITHOUT else torch.relu)
@support_native_out
def relu(x: Tensor, /, *, out: Any = None) -> Any:
    if x.dtype in _WITHOUT:
        return NotImplemented
    # With ``out`` there's no gradient, whose value at zero is all that tells the two functions apart.
    return torch.relu(x) if out is None else torch.clamp_min(x, 0, out=out)
