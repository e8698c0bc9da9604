"""Arrays over several devices on backends that have none of them; ``tests/backends/test_sharding.py`` has JAX's."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import unifyarr as ua

from ..natives import skip_unless


def test_each_array_lies_on_the_device_that_device_takes(backend: str) -> None:
    x = ua.asarray([1.0, 2.0])
    assert x.to_device(x.device) is x
    assert ua.zeros_like(x, device=x.device).device == x.device
    assert pickle.loads(pickle.dumps(x)).device == x.device


def test_sharding_is_of_jax_alone(backend: str) -> None:
    x = ua.ones((2, 3))
    if backend == "jax":
        assert x.sharding == x.native.sharding
        assert x.T.sharding == x.sharding
        return
    assert x.sharding is None
    with pytest.raises(ua.errors.BackendFeatureError, match="one device"):
        ua.shard(x, object())


def test_a_mesh_of_one_device(backend: str) -> None:
    skip_unless(backend, "jax", why="arrays over several devices")
    import jax
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh = Mesh(np.array(jax.devices()[:1]), ("a",))
    x = ua.shard(np.arange(6.0).reshape(3, 2), mesh, "a")
    assert x.device == "cpu"
    assert x.sharding == NamedSharding(mesh, PartitionSpec("a"))
    x[1:] = ua.ones((2, 2))
    x += 1
    np.testing.assert_array_equal(np.asarray(x), [[1, 2], [2, 2], [2, 2]])
    assert x.sharding == NamedSharding(mesh, PartitionSpec("a"))
    assert (x + ua.ones(2)).sharding.device_set == {jax.devices()[0]}
    with pytest.raises(TypeError, match=r"jax\.sharding\.Sharding"):
        ua.shard(x, "cpu")
