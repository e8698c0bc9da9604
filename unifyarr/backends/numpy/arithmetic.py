"""Elementwise functions on NumPy that the standard lacks."""

from __future__ import annotations

import numpy as np

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
