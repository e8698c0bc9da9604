"""Host data beside arrays of a device: numbers, lists, keys, parameters of random numbers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
import unifyarr.numpy as unp
from unifyarr._core.engines.registry import load
from unifyarr.container.container import flatten

from .. import engines
from ..natives import has
from ..oracle import as_numpy, assert_values
from .test_cases import THERE, assert_there, numpys, there

X = np.arange(1.0, 7.0).reshape(2, 3)


def _write_number(x: ua.Array) -> Any:
    x[1] = 2.0
    x[0, 1] = 3
    return x


def _write_list(x: ua.Array) -> Any:
    x[0, :] = [1.0, 2.0, 3.0]
    x[:, 0] = np.ones(2)
    return x


def _write_by_list(x: ua.Array) -> Any:
    x[[0, 1], [1, 2]] = 5.0
    x[np.array([1]), 0] = [4.0]
    return x


def _write_by_mask(x: ua.Array) -> Any:
    x[x > 4] = 0.0
    x[[True, False]] = 7.0
    return x


def _update(x: ua.Array) -> Any:
    x += 1.0
    x *= 2
    x[0] += 3.0
    x[:, 1] -= [1.0, 2.0]
    return x


def _update_often(x: ua.Array) -> Any:
    for place in (*range(3), *range(3)):
        x[:, place] += 1.5
        x[place % 2, ::-2] *= 2.0
    return x


def _write_view(x: ua.Array) -> Any:
    row = x[0]
    x[0, 1] = 9.0
    row[2] = 8.0
    return row, x, x[..., ::-1]


def _read(x: ua.Array) -> Any:
    return x[0], x[:, 1], x[1, 2], x[[0, 1]], x[np.array([1, 0]), 1], x[0:2, ::2]


def _read_by_mask(x: ua.Array) -> Any:
    return x[x > 3], x[(x > 4)[:, 0]], ua.nonzero(x - 1), x[[True, False]]


def _numbers(x: ua.Array) -> Any:
    limited = ua.maximum(x, 0), ua.clip(x, 0.0, 2.0), ua.where(x > 1, x, 0.0), ua.where(x > 1, 1.0, 0.0)
    return x + 1, 1 / x, x**2, 2.0**x, x > 1, x % 2, x // 2, *limited, ua.full_like(x, 3.0), ua.tril(x, k=-1)


def _host_arrays(x: ua.Array) -> Any:
    return (
        x + np.ones(3),
        np.ones(3) * x,
        ua.multiply(x, [1.0, 2.0, 3.0]),
        ua.add([1.0, 2.0, 3.0], x),
        ua.isin(x, [1.0, 2.0]),
    )


def _bias(x: ua.Array) -> Any:
    return ua.nn.linear(x, x, [1.0, 2.0]), ua.nn.scaled_dot_product_attention(
        x, x, x, mask=[[True, False], [True, True]]
    )


def _array_of_arrays(x: ua.Array) -> Any:
    return ua.asarray([x[0, 0], x[0, 1]]), ua.asarray([x[0], x[1]]), ua.asarray([x[0, 0], 2.0])


def _of_numpys_namespace(x: ua.Array) -> Any:
    return unp.percentile(x, 30), unp.insert(x, 1, [2.0, 3.0]), unp.append(x, 1.0), unp.full_like(x, [1.0, 2.0, 3.0])


def _containers(x: ua.Array) -> Any:
    nest = ua.Container(a=x, b=x * 2)
    for _ in range(6):
        nest = nest * 2.0
        nest += 1
    return nest, ua.sin(nest)


def _random(x: ua.Array) -> Any:
    draw = ua.random.Generator(0)
    several = draw.normal(x, 1.0), draw.uniform(x, x + 1), draw.normal(0.0, x, (2, 3)), draw.gamma(x), draw.poisson(x)
    return *several, draw.integers(ua.astype(x, ua.int64), 10), draw.dirichlet(x[0]), draw.permutation(x)


def _gradient(x: ua.Array) -> Any:
    def total(x: ua.Array) -> ua.Array:
        y = ua.zeros_like(x)
        y[0] = x[1] * 2.0
        y[1, 1] = 3.0
        y += x
        return ua.sum(y * y)

    return ua.grad(total)(x), ua.vmap(ua.grad(lambda row: ua.sum(row**3) + row[0]))(x)


def default_device(name: str) -> AbstractContextManager[Any]:
    """Make a device the default one inside of a block, by the engine's own means."""
    if ua.current_backend() == "torch":
        import torch

        return torch.device(name)
    if ua.current_backend() == "tensorflow":
        import tensorflow as tf

        return tf.device(name)  # type: ignore[no-any-return]
    import jax

    return jax.default_device(load("jax").as_device(name))


CASES: dict[str, Callable[[ua.Array], Any]] = {
    name: each
    for name, each in globals().items()
    if name.startswith("_") and getattr(each, "__module__", "") == __name__
}


@pytest.mark.parametrize("name", CASES)
def test_what_meets_an_array_goes_to_its_device(backend: str, name: str) -> None:
    expected = flatten(numpys(CASES[name], X))[0]
    found = flatten(CASES[name](there(X)))[0]
    assert_there(found)
    for mine, right in zip(found, expected, strict=True):
        assert_values(as_numpy(mine), as_numpy(right), rtol=1e-12, what=name)


@pytest.mark.parametrize("name", CASES)
def test_so_it_does_in_compiled_functions(backend: str, name: str) -> None:
    def function(x: ua.Array) -> Any:
        return CASES[name](x.copy())

    if name == "_read_by_mask" and not has(backend, "writes"):
        pytest.skip("what engines compile as a whole has no arrays of a length that values decide")
    expected = numpys(ua.compile(function), X)
    # Inductor has no simulated device.
    compiled = ua.compile(function, fuse=False)
    if isinstance(expected, Exception):
        with pytest.raises(type(expected)):
            compiled(there(X))
        return
    for _ in range(2):
        found = flatten(compiled(there(X)))[0]
        assert_there(found)
        for mine, right in zip(found, flatten(expected)[0], strict=True):
            assert_values(as_numpy(mine), as_numpy(right), rtol=1e-12, what=name)


def test_arrays_of_two_devices_dont_meet(backend: str) -> None:
    x, y = there(X), ua.asarray(X, device=engines.default_device(backend))
    for call in (lambda: x + y, lambda: ua.concat([x, y]), lambda: ua.matmul(x, y.T), lambda: ua.where(x > 1, x, y)):
        with pytest.raises(ua.errors.DeviceError, match=r"x\.to_device\(\)|devices"):
            call()
    before = x.copy()
    with pytest.raises(ua.errors.DeviceError):
        x[:] = y
    with pytest.raises(ua.errors.DeviceError):
        x += y
    assert_values(as_numpy(x), as_numpy(before))


def test_a_number_is_made_anew_where_the_default_device_is_another_one(backend: str) -> None:
    def made() -> ua.Array:
        return ua.where(ua.asarray(True), 3.5, 4.5)

    first = made().device
    with default_device(THERE[backend]):
        assert made().device == ua.zeros(()).device == ua.arange(3).device == THERE[backend]
        assert (ua.asarray([1.0]) + 3.5).device == THERE[backend]
    assert made().device == first


def test_results_stay_though_the_default_device_is_another_one(backend: str) -> None:
    here = ua.__array_namespace_info__().default_device()
    x = ua.asarray(X, device=here)
    with default_device(THERE[backend]):
        assert ua.__array_namespace_info__().default_device() == THERE[backend]
        for made in (x + 1, ua.sum(x), x[:, 0], ua.sort(x), ua.zeros_like(x), ua.compile(ua.sin)(x)):
            assert made.device == here
