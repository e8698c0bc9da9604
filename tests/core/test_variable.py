"""``ua.variable``: arrays whose native the engine itself writes in place, on every backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.testing import has

from ..natives import skip_unless, values_of
from ..oracle import assert_same


@pytest.fixture(autouse=True)
def in_place(backend: str) -> None:
    if not has(backend, "writes") and not has(backend, "variables"):
        pytest.skip(f"lacks the abilities writes and variables: {backend}")


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint16", "float32", "float64", "complex64", "bfloat16"])
@pytest.mark.parametrize("shape", [(), (0, 3), (4,), (2, 3)])
def test_a_variable_holds_the_values_in_memory_of_its_own(backend: str, dtype: str, shape: tuple[int, ...]) -> None:
    x = ua.ones(shape, dtype=dtype)
    y = ua.variable(x)
    assert y.dtype == x.dtype
    assert y.shape == shape
    assert ua.supports_inplace_updates(y)
    holder = y.native
    assert ua.inplace_update(y, False, ensure_in_backend=True) is y
    assert y.native is holder
    assert not ua.any(y)
    assert ua.all(x)


def test_every_write_goes_into_the_native_memory(backend: str) -> None:
    values = np.arange(6.0).reshape(2, 3)
    x = ua.variable(values)
    native = x.native
    for write in (
        lambda y: y.__setitem__((0, 1), 7.0),
        lambda y: y.__setitem__((slice(None), slice(None, None, -1)), np.array([1.0, 2.0, 3.0])),
        lambda y: y.__setitem__((slice(None), slice(None, None, 2)), -1.0),
        lambda y: y.__setitem__(y > 2, 5.0),
        lambda y: y.__setitem__(([0, 1], [2, 0]), np.array([8.0, 9.0])),
        lambda y: y.__iadd__(np.array([[10.0], [20.0]])),
        lambda y: y.T.__setitem__(0, np.array([3.0, 4.0])),
        lambda y: y.__setitem__(..., 2.0),
    ):
        write(x)
        write(values)
        assert x.native is native
        np.testing.assert_array_equal(values_of(native), values)
        assert_same(x, values)
    ua.add(x, values, out=x)
    for view in (x[1:], x.T, x[..., ::-1], x.reshape(-1)):
        ua.inplace_increment(view, 1, ensure_in_backend=True)
    assert x.native is native
    np.testing.assert_array_equal(values_of(native)[0], 2 * values[0] + 3)
    np.testing.assert_array_equal(values_of(native)[1], 2 * values[1] + 4)


def test_a_view_of_a_variable_sees_what_the_engine_writes(backend: str) -> None:
    x = ua.variable([1.0, 2.0, 3.0])
    view = x[::-1]
    native: Any = x.native
    if backend == "tensorflow":
        native.assign([4.0, 5.0, 6.0])
    elif backend == "torch":
        native.copy_(native + 3)
    else:
        native[...] = np.array([4.0, 5.0, 6.0])
    assert_same(view, np.array([6.0, 5.0, 4.0]))


def test_a_captured_variable_is_written_inside_a_compiled_function(backend: str) -> None:
    skip_unless(backend, "jax", "tensorflow", why="the engine compiles")
    x = ua.variable([1.0, 2.0, 3.0])

    def program(value: Any) -> Any:
        x[1:] = ua.asarray(value)
        ua.inplace_increment(x, 1, ensure_in_backend=True)
        return value * 2

    if backend == "jax":
        import jax

        compiled, argument = jax.jit(program), ua.asarray([5.0, 6.0])
    else:
        import tensorflow as tf

        compiled, argument = tf.function(program), ua.asarray([5.0, 6.0])
    compiled(argument.native)
    assert_same(x, np.array([2.0, 6.0, 7.0]))
    compiled(argument.native)
    assert_same(x, np.array([3.0, 6.0, 7.0]))


def test_a_variable_is_made_where_it_is_asked_for(backend: str) -> None:
    x = ua.variable([1, 2], dtype="float32", device=ua.zeros(1).device, backend=backend)
    assert (x.backend, x.dtype, x.device) == (backend, ua.float32, ua.zeros(1).device)
    with pytest.raises((TypeError, ValueError)):
        ua.variable(["a"])
