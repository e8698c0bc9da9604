"""Casting on torch."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor

from ._shared import DTYPES, cast


def astype(x: Tensor, /, *, dtype: np.dtype[Any]) -> Tensor:
    return cast(x, DTYPES[dtype], copy=True)
