"""Special functions on dask."""

from __future__ import annotations

from ._elementwise import elementwise

_NAMES = "betainc digamma erf erfc erfinv gammainc gammaincc gammaln i0 i0e i1 i1e ndtri zeta"
globals().update({name: elementwise("special", name) for name in _NAMES.split()})
