"""Steps of training inside the engines' own transformations, and for a whole ensemble at once."""

from __future__ import annotations

from typing import Any

import pytest

import unifyarr as ua

from ..natives import skip_unless, skip_without_derivatives

STEPS = 3


def made() -> ua.Container:
    return ua.Container(bias=ua.asarray(3.0), weight=ua.asarray([1.0, -2.0]))


def optimizer() -> ua.optim.Optimizer:
    return ua.optim.adam(ua.optim.cosine(0.1, 10))


def step(params: Any, state: Any) -> ua.Array:
    value, gradient = ua.value_and_grad(lambda p: ua.sum(p.weight**2) + p.bias**2)(params)
    optimizer().update(params, gradient, state)
    return value


@pytest.fixture
def wanted() -> ua.Container:
    with ua.use_backend("numpy"):
        params = made()
        state = optimizer().init(params)
        for _ in range(STEPS):
            step(params, state)
    return params


def test_jit_of_jax_takes_parameters_and_state(backend: str, wanted: ua.Container) -> None:
    skip_unless(backend, "jax", why="jax.jit")
    import jax

    params = made()
    state = optimizer().init(params)
    compiled = jax.jit(lambda params, state: (step(params, state), params, state)[1:], donate_argnums=(0, 1))
    for _ in range(STEPS):
        params, state = compiled(params, state)
    assert not wanted.diff(params.to_backend("numpy"), rtol=1e-13)


def test_function_of_tensorflow_updates_variables(backend: str, wanted: ua.Container) -> None:
    skip_unless(backend, "tensorflow", why="tf.function")
    import tensorflow as tf

    params = made().map(lambda x: tf.Variable(x.native))
    state = optimizer().init(params).map(lambda x: tf.Variable(x.native))
    compiled = tf.function(lambda: step(params, state).native)
    for _ in range(STEPS):
        compiled()
    assert not wanted.diff(params.to_backend("numpy"), rtol=1e-13)


def test_an_ensemble_is_trained_by_vmap(backend: str, wanted: ua.Container) -> None:
    skip_without_derivatives(backend)
    skip_unless(backend, "torch", "jax", why="a vmap of its own")
    params = ua.stack([made(), made() * 2])
    state = ua.stack([optimizer().init(made()) for _ in range(2)])
    for _ in range(STEPS):
        ua.vmap(step)(params, state)
    assert not wanted.diff(params.map(lambda x: x[0]).to_backend("numpy"), rtol=1e-13)
    assert state.steps.tolist() == [STEPS, STEPS]
