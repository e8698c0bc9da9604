"""Searching on JAX."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from ..kernels import by_host, has_subnormals, worked_around
from . import _ordering
from ._compiled import COMPLEX, INDEX, Kernel, compiled, engine, is_concrete
from ._memory import beside, fetched

where = engine(jnp.where)


def _index_of(native: Kernel, of_complex: Kernel) -> Kernel:
    @worked_around("JAX has no order of complex numbers here")
    @compiled
    def index_of(x: jax.Array, /, *, axis: int | None, keepdims: bool) -> jax.Array:
        if x.dtype not in COMPLEX:
            return native(x, axis, keepdims=keepdims).astype(INDEX)
        shape = jax.eval_shape(lambda x: jnp.sum(x, axis, keepdims=keepdims), x).shape
        return of_complex(*((x.reshape(-1), 0) if axis is None else (x, axis))).reshape(shape)

    return index_of


argmax = _index_of(jnp.argmax, _ordering.argmax_complex)
argmin = _index_of(jnp.argmin, _ordering.argmin_complex)


@by_host("how many there are depends on values: JAX compiles for each number")
def nonzero(x: jax.Array, /) -> tuple[jax.Array, ...]:
    if not is_concrete(x) or has_subnormals(fetched(x)):
        return jnp.nonzero(x)
    return beside(x, *np.nonzero(fetched(x)))


@compiled
def count_nonzero(x: jax.Array, /, *, axis: tuple[int, ...], keepdims: bool) -> jax.Array:
    return jnp.sum(x != 0, axis, dtype=INDEX, keepdims=keepdims)


@worked_around("JAX misplaces complex numbers with NaN, and answers in 32 bits")
@compiled
def searchsorted(x1: jax.Array, x2: jax.Array, /, *sorter: jax.Array, side: str) -> jax.Array:
    if sorter:
        x1 = x1[sorter[0]]
    if x1.dtype in COMPLEX:
        ranks = _ordering.ranks(jnp.concatenate([x1, x2.reshape(-1)]))
        x1, x2 = ranks[: x1.size], ranks[x1.size :].reshape(x2.shape)
    return jnp.searchsorted(x1, x2, side).astype(INDEX)
