"""Elementwise functions on NumPy that the standard lacks."""

from __future__ import annotations

import functools
from typing import Any

from ..kernels import declines
from . import _direct as np
from ._bfloat16 import BFLOAT16
from .elementwise import _ufunc

deg2rad = _ufunc(np.deg2rad)
exp2 = _ufunc(np.exp2)
fmax = _ufunc(np.fmax)
fmin = _ufunc(np.fmin)
gcd = _ufunc(np.gcd)
heaviside = _ufunc(np.heaviside)
lcm = _ufunc(np.lcm)
logaddexp2 = _ufunc(np.logaddexp2)
rad2deg = _ufunc(np.rad2deg)


def _parts(ufunc: np.ufunc) -> Any:
    @declines(lambda *types: types[0].dtype == BFLOAT16)
    @functools.wraps(ufunc)
    def kernel(*arrays: np.ndarray) -> Any:
        if arrays[0].dtype == BFLOAT16:
            return NotImplemented
        found = ufunc(*arrays, **({"out": ...} if ufunc.nout == 1 else {}))
        return found if ufunc.nout == 1 else tuple(map(np.asarray, found))

    return kernel


frexp = _parts(np.frexp)
ldexp = _parts(np.ldexp)
modf = _parts(np.modf)
spacing = _parts(np.spacing)
