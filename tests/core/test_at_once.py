"""Kernels that dispatchers call at once: not where a trace of the engine runs, nor on natives of another class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.engines.registry import load

from ..natives import skip_unless, variable
from ..oracle import as_numpy, assert_same, assert_values

CALLS: dict[str, Callable[[Any], Any]] = {
    "exp": ua.exp,
    "add": lambda x: x + x,
    "negative": lambda x: -x,
    "matmul": lambda x: x @ x,
    "sort": ua.sort,
    "det": ua.linalg.det,
    "sigmoid": ua.nn.sigmoid,
    "out": lambda x: ua.exp(x, out=ua.zeros(x.shape)),
}
VALUES = np.array([[2.0, 1.0], [0.5, 3.0]])


@pytest.fixture(autouse=True)
def _has_kernels_at_once(backend: str) -> None:
    skip_unless(backend, "jax", why="an engine that has a trace_cell")
    assert load(backend).trace_cell is not None


@pytest.mark.parametrize("name", CALLS)
def test_what_a_trace_makes_of_known_arrays_is_its_own(backend: str, name: str) -> None:
    import jax

    x = ua.asarray(VALUES)
    for _ in range(4):
        wanted = as_numpy(CALLS[name](x))

    def function(native: Any) -> Any:
        y = CALLS[name](x)
        assert_values(as_numpy(y), wanted)
        # An array from outside would refuse a value of the trace.
        y[...] = ua.asarray(native)
        return ua.sum(y).native

    for _ in range(2):
        assert float(jax.grad(function)(3.0)) == wanted.size


@pytest.mark.parametrize("name", CALLS)
def test_inside_jit_and_vmap(backend: str, name: str) -> None:
    import jax

    x = ua.asarray(VALUES)
    for _ in range(4):
        wanted = as_numpy(CALLS[name](x))
    assert_values(np.asarray(jax.jit(lambda t: (CALLS[name](x) + ua.asarray(t)).native)(1.0)), wanted + 1)
    native = np.stack([VALUES, VALUES])
    found = jax.vmap(lambda t: (CALLS[name](ua.asarray(t)) + CALLS[name](x)).native)(native)
    assert_values(np.asarray(found), np.stack([wanted * 2] * 2))


@pytest.mark.parametrize("name", CALLS)
def test_references_and_deleted_arrays(backend: str, name: str) -> None:
    x = ua.asarray(VALUES)
    for _ in range(4):
        wanted = as_numpy(CALLS[name](x))
    assert_values(as_numpy(CALLS[name](ua.asarray(variable(backend, VALUES)))), wanted)
    gone = ua.asarray(ua.asarray(VALUES, copy=True).native)
    gone.native.delete()
    with pytest.raises(ValueError, match="deleted"):
        CALLS[name](gone)


def test_products_of_all_dtypes(backend: str) -> None:
    kinds = [np.bool_, np.int8, np.uint64, np.int64, np.float16, np.float32, np.complex64]
    for one in kinds:
        for other in kinds:
            x, y = np.ones((2, 3), one), np.ones((3, 1), other)
            for _ in range(2):
                assert_same(ua.asarray(x) @ ua.asarray(y), x @ y)


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "less", "pow"])
def test_numpy_arrays_beside_arrays(backend: str, name: str) -> None:
    function, wanted = getattr(ua, name), getattr(np, {"pow": "power"}.get(name, name))
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    others = [
        np.ones(2),
        np.arange(4.0)[::-2],
        np.array(2.0),
        np.ones((2, 1), np.int8),
        np.ones(2, ">f8"),
        np.ones((0, 1, 2)),
    ]
    for other in others:
        for _ in range(2):
            assert_same(function(ua.asarray(x), other), wanted(x, other))
    other = np.ones(2)
    result = function(ua.asarray(x), other)
    other[:] = 7
    assert_same(result, wanted(x, np.ones(2)))


def test_data_of_numpy_become_arrays_of_jax_as_device_put_makes_them(backend: str) -> None:
    import jax

    from unifyarr.backends.jax._memory import entered

    values = np.arange(24.0).reshape(2, 3, 4)
    for each in (values, values.T, values[::-1, ::2], values[:0], values[0, 0, 0:1].reshape(()), values.astype(">i2")):
        each = each.astype(each.dtype.newbyteorder("="), copy=False)
        for _ in range(3):
            found, wanted = entered(each), jax.device_put(each)
            assert found.aval == wanted.aval
            assert found.sharding == wanted.sharding
            assert not found.committed
            np.testing.assert_array_equal(np.asarray(found), each)
    with jax.enable_x64(False):
        assert entered(values).dtype == np.float32
    assert entered(values).dtype == np.float64
    with jax.set_mesh(jax.make_mesh((1,), ("i",))):
        assert entered(values).sharding == wanted.sharding
