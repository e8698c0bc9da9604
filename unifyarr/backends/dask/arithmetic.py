"""Further arithmetic on dask."""

from __future__ import annotations

from ._elementwise import elementwise

_NAMES = "deg2rad exp2 fmax fmin gcd heaviside lcm logaddexp2 rad2deg"
globals().update({name: elementwise("arithmetic", name) for name in _NAMES.split()})
