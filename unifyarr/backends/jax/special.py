"""Special functions on JAX."""

from __future__ import annotations

from jax.scipy import special

from ._compiled import compiled, in_single

erf = compiled(in_single(special.erf))
erfc = compiled(in_single(special.erfc))
