"""JAX's own random numbers: the state is the key, which each draw splits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._compiled import INDEX, compiled
from ._devices import fitting
from ._operands import number


def random_state(seed: np.ndarray, device: Any) -> jax.Array:
    state = seed.astype(np.uint32)
    return jax.device_put(state, fitting(device, state.shape))


def _split(state: jax.Array) -> tuple[jax.Array, Any]:
    # The same generator whatever the user's setting says: a state would mean another one's otherwise.
    following, key = jax.random.split(jax.random.wrap_key_data(state, impl="threefry2x32"))
    return jax.random.key_data(following), key


def _on_device(kernel: Callable[..., Any]) -> Callable[..., Any]:
    # Numbers are drawn where the state is.
    run = compiled(kernel)

    def placed(*arrays: Any, device: Any, **static: Any) -> Any:
        return run(*arrays, **static)

    return placed


@_on_device
def draw_uniform(state: jax.Array, /, *, shape: Any, dtype: Any) -> Any:
    following, key = _split(state)
    return following, jax.random.uniform(key, shape, dtype)


@_on_device
def draw_normal(state: jax.Array, /, *, shape: Any, dtype: Any) -> Any:
    following, key = _split(state)
    return following, jax.random.normal(key, shape, dtype)


@_on_device
def _draw_integers(state: jax.Array, low: jax.Array, high: jax.Array, /, *, shape: Any, dtype: Any) -> Any:
    following, key = _split(state)
    return following, jax.random.randint(key, shape, low, high, dtype)


def draw_integers(state: jax.Array, /, *, low: int, high: int, shape: Any, dtype: Any, device: Any) -> Any:
    bounds = (number(int(bound), dtype, state) for bound in (low, high))
    return _draw_integers(state, *bounds, shape=shape, dtype=dtype, device=device)


@_on_device
def draw_permutation(state: jax.Array, /, *, length: int) -> Any:
    following, key = _split(state)
    return following, jax.random.permutation(key, jnp.arange(length, dtype=INDEX))


@_on_device
def draw_gamma(state: jax.Array, alpha: jax.Array, /) -> Any:
    following, key = _split(state)
    return following, jax.random.gamma(key, alpha, alpha.shape, alpha.dtype)


@_on_device
def draw_poisson(state: jax.Array, lam: jax.Array, /) -> Any:
    following, key = _split(state)
    return following, jax.random.poisson(key, lam, lam.shape, INDEX)


@_on_device
def draw_binomial(state: jax.Array, n: jax.Array, p: jax.Array, /) -> Any:
    following, key = _split(state)
    return following, jax.random.binomial(key, n, p, n.shape, n.dtype)
