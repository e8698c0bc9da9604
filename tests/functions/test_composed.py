"""Composed functions inside the engines' own traces, and as functions of gradients: every one of ``nn``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua

from ..natives import skip_unless, values_of
from ..oracle import as_numpy, assert_same
from .calls import CALLS, find, lift

NAMES = [name for name in CALLS if name.startswith(("nn.", "special.")) and name != "special.polygamma"]


def computed(name: str, first: Any) -> ua.Array:
    """Return the result of a function for a native first argument and its others."""
    (_, *others), options = CALLS[name]
    result: ua.Array = find(name)(ua.asarray(first), *(lift(name, each) for each in others), **options)
    return result


@pytest.mark.parametrize("name", NAMES)
def test_inside_a_trace(backend: str, name: str) -> None:
    skip_unless(backend, "jax", "tensorflow", why="an engine that traces")
    values = CALLS[name][0][0]
    expected = as_numpy(computed(name, values))
    if backend == "jax":
        import jax

        found = jax.jit(lambda x: computed(name, x).native)(values)
    else:
        import tensorflow as tf

        found = tf.function(lambda x: computed(name, x).native)(tf.constant(values))
    assert_same(ua.asarray(found), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", ["nn.cross_entropy", "nn.gelu", "nn.layer_norm", "nn.softmax", "special.betainc"])
def test_inside_vmap(name: str) -> None:
    jax = pytest.importorskip("jax")
    values = CALLS[name][0][0]
    with ua.use_backend("jax"):
        found = jax.vmap(lambda x: computed(name, x).native)(np.stack([values, values * 0.5]))
        for one, x in zip(found, (values, values * 0.5), strict=True):
            assert_same(ua.asarray(one), as_numpy(computed(name, x)), rtol=1e-12, atol=1e-15)


# These have no derivative by their first argument.
CONSTANT = {"special.betainc", "special.gammainc", "special.gammaincc", "special.zeta"}


@pytest.mark.parametrize(
    "name", [name for name in NAMES if CALLS[name][0][0].dtype.kind == "f" and name not in CONSTANT]
)
def test_torchs_transformations(name: str) -> None:
    torch = pytest.importorskip("torch")
    values = torch.tensor(CALLS[name][0][0])
    with ua.use_backend("torch"):

        def total(x: Any) -> Any:
            return ua.sum(computed(name, x)).native

        recorded = values.clone().requires_grad_(True)
        total(recorded).backward()
        np.testing.assert_allclose(
            values_of(torch.func.grad(total)(values)), values_of(recorded.grad), rtol=1e-9, atol=1e-12
        )
