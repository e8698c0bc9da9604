"""Steps of other engines' own functions in C: ufuncs are made of them, so that they run as NumPy's loops do."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._core.engines.handle import Handle
from . import machine
from .region import MADE


def name_of(backend: Handle, kernel: str, dtype: np.dtype[Any]) -> str | None:
    """Return the name of a step that gives a kernel's bits by the engine's own function; ``None`` if there's none."""
    loops = backend.host_loops()
    find = None if loops is None else loops.dense.get(kernel)
    function = None if find is None or machine.native is None else find(dtype)
    if function is None:
        return None
    name = f"{backend.name}.{kernel}.{dtype.name}"
    if name not in MADE:
        MADE[name] = machine.native.dense_ufunc(name, dtype, *function)
    return name
