"""Ownership of natives: writes on immutable engines use up only unshared ones."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.arrays.ownership import RunOfWrites
from unifyarr.testing import has

from ..engines import default_device
from ..natives import on_host, skip_unless, skip_without_variables, values_of
from ..oracle import assert_same

# Enough bytes that a run of writes pays on TensorFlow.
SIZE = 1 << 17


@pytest.fixture
def owned(backend: str) -> tuple[np.ndarray, ua.Array]:
    """Return an array that owns its native, and its values."""
    if has(backend, "writes"):
        pytest.skip(f"writes of {backend} are in place anyway")
    if not has(backend, "values"):
        pytest.skip(f"lacks the ability values: a graph of {backend} has no memory that a write could use")
    values, x = np.arange(float(SIZE)), ua.arange(float(SIZE))
    write(values, x, 2.0)
    assert getattr(x, "_owned", False) or isinstance(x._native, RunOfWrites)
    return values, x


def write(values: np.ndarray, x: ua.Array, value: float) -> None:
    """Write to the same places of both."""
    x[10:20] = value
    values[10:20] = value


def jax_escapes() -> dict[str, Callable[[ua.Array], Any]]:
    import jax
    import jax.numpy as jnp

    return {
        "addressable data": lambda x: x.native.addressable_data(0),
        "device_put": lambda x: jax.device_put(x.native),
        "closure of vjp": lambda x: jax.vjp(lambda y: (y * y)[:3], x.native)[1],
        "constant of a jaxpr": lambda x, native=None: jax.make_jaxpr(lambda: x.native * 2)(),
        "captured by jit": lambda x: jax.jit(lambda y: (ua.asarray(y) + x).native).lower(jnp.zeros(SIZE)),
        "shards": lambda x: x.native.addressable_shards,
    }


ESCAPES: dict[str, Callable[[ua.Array], Any]] = {
    "native": lambda x: x.native,
    "native of a whole view": lambda x: x[...].native,
    "native of a transpose": lambda x: x.T.native,
    "numpy": np.asarray,
    "numpy of the native": lambda x: values_of(x.native),
    "dlpack": np.from_dlpack,
    "asarray": ua.asarray,
    "asarray of the native": lambda x: ua.asarray(x.native),
    "reshape": lambda x: ua.reshape(x, (SIZE,), copy=True),
    "astype": lambda x: x.astype(x.dtype, copy=True),
    "positive": ua.positive,
    "to_device": lambda x: x.to_device(x.device),
    "copy": copy.copy,
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "another backend": lambda x: x.to_backend("numpy"),
}


def kept_values(kept: Any) -> np.ndarray | None:
    return values_of(kept) if hasattr(kept, "__array__") else None


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=on_host("NumPy reads it") if name == "dlpack" else ()) for name in ESCAPES]
)
def test_what_escaped_stays_as_it_was(owned: tuple[np.ndarray, ua.Array], name: str) -> None:
    values, x = owned
    kept = ESCAPES[name](x)
    before = kept_values(kept)
    is_view = isinstance(kept, ua.Array) and (kept is x or kept.base is not None)
    for number in range(3):
        write(values, x, float(number))
        assert_same(x, values)
        write(values, x, number + 0.5)
        after = kept_values(kept)
        assert before is not None
        assert after is not None
        np.testing.assert_array_equal(after, values if is_view else before)


@pytest.mark.parametrize(
    "name", ["addressable data", "device_put", "closure of vjp", "constant of a jaxpr", "captured by jit", "shards"]
)
def test_what_jax_keeps_stays_as_it_was(backend: str, owned: tuple[np.ndarray, ua.Array], name: str) -> None:
    skip_unless(backend, "jax", why="how JAX keeps arrays")
    import jax
    import jax.numpy as jnp

    values, x = owned
    old = values.copy()
    kept = jax_escapes()[name](x)
    for number in range(3):
        write(values, x, float(number))
    assert_same(x, values)
    if name == "closure of vjp":
        found = np.asarray(kept(jnp.ones(3))[0])
        np.testing.assert_array_equal(found[:3], 2 * old[:3])
    elif name == "constant of a jaxpr":
        np.testing.assert_array_equal(np.asarray(jax.core.eval_jaxpr(kept.jaxpr, kept.consts)[0]), 2 * old)
    elif name == "captured by jit":
        np.testing.assert_array_equal(np.asarray(kept.compile()(jnp.zeros(SIZE))), old)
    elif name == "shards":
        np.testing.assert_array_equal(np.asarray(kept[0].data), old)
    else:
        np.testing.assert_array_equal(np.asarray(kept), old)


def test_writes_keep_the_buffer_of_an_array_that_nobody_else_has(
    backend: str, owned: tuple[np.ndarray, ua.Array]
) -> None:
    skip_unless(backend, "jax", why="donation")
    values, x = owned

    def place() -> int:
        return x._native.unsafe_buffer_pointer()  # type: ignore[no-any-return]

    start = None
    view = x[5:]
    for number in range(5):
        write(values, x, float(number))
        x[number] = 3.0
        values[number] = 3.0
        view[7 + number] = 1.0
        values[12 + number] = 1.0
        x[ua.asarray([3, -1])] = ua.asarray([number, 2.0])
        values[[3, -1]] = [number, 2.0]
        x[x > 1e5] = 0.0
        values[values > 1e5] = 0.0
        # The first write of a kind uses up a copy.
        start = place() if start is None else start
        assert place() == start
    assert_same(x, values)
    assert_same(view, values[5:])


def test_a_second_reference_forbids_to_destroy(backend: str, owned: tuple[np.ndarray, ua.Array]) -> None:
    skip_unless(backend, "jax", why="donation")
    values, x = owned
    # Not by a way that clears the flag: the count of references alone has to tell.
    kept, old = x._native, values.copy()
    write(values, x, 5.0)
    assert not kept.is_deleted()
    np.testing.assert_array_equal(np.asarray(kept), old)


def test_a_failed_write_gives_the_native_back(owned: tuple[np.ndarray, ua.Array]) -> None:
    values, x = owned
    write(values, x, 5.0)
    for wrong in (
        lambda: x.__setitem__(slice(0, 3), np.zeros(4)),
        lambda: x.__setitem__(np.array([SIZE]), 1.0),
        lambda: x.__setitem__(SIZE, 1.0),
        lambda: x.__setitem__(slice(0, 3), 1j),
        lambda: x.__setitem__(slice(0, 3), x),
    ):
        with pytest.raises((ValueError, IndexError, TypeError)):
            wrong()
        assert_same(x, values)
        write(values, x, 6.0)


def test_a_write_of_itself(owned: tuple[np.ndarray, ua.Array]) -> None:
    values, x = owned
    for key in (np.s_[1:], np.s_[:-1], np.s_[::-1], np.s_[...]):
        x[key] = x[key][::-1]
        values[key] = values[key][::-1].copy()
        write(values, x, 1.0)
    x[1:] = x[:-1]
    values[1:] = values[:-1].copy()
    assert_same(x, values)


def test_readers_beside_a_writer_see_whole_values(owned: tuple[np.ndarray, ua.Array]) -> None:
    _, x = owned
    x[...] = 0.0
    x[:SIZE] = 0.0
    view, done, failures = x[100:200], threading.Event(), []

    def reader() -> None:
        try:
            while not done.is_set():
                # Each write sets all of these at once.
                for seen in (np.asarray(view), np.asarray(x[100:200]), np.asarray(view + 0.0)):
                    if len(set(seen.tolist())) != 1:
                        failures.append(seen)
        except Exception as error:
            failures.append(error)

    readers = [threading.Thread(target=reader) for _ in range(3)]
    for each in readers:
        each.start()
    for number in range(200):
        x[100:200] = float(number)
    done.set()
    for each in readers:
        each.join()
    assert not failures
    assert_same(view, np.full(100, 199.0))


def test_a_run_of_writes_ends_with_a_read(backend: str, owned: tuple[np.ndarray, ua.Array]) -> None:
    skip_unless(backend, "tensorflow", why="runs of writes")
    values, x = owned
    view, tail = x[5:15], x[SIZE // 2 :].reshape(2, -1)
    write(values, x, 7.0)
    assert isinstance(x._native, RunOfWrites)
    # These ask for no values, and end nothing.
    assert (x.shape, x.dtype, x.device, view.shape) == ((SIZE,), ua.float64, default_device(backend), (10,))
    x[::-2] = 1.0
    values[::-2] = 1.0
    x[[1, 2]] = 4.0
    values[[1, 2]] = 4.0
    view[0] = -3.0
    values[5] = -3.0
    assert isinstance(x._native, RunOfWrites)
    assert_same(view, values[5:15])
    assert not isinstance(x._native, RunOfWrites)
    for look in (
        lambda: ua.sum(x),
        lambda: x + x,
        lambda: x.native,
        lambda: x[3],
        lambda: repr(x),
        lambda: tail[0, 0],
        lambda: ua.asarray(x, copy=True),
        lambda: pickle.dumps(x),
    ):
        write(values, x, 1.0)
        write(values, x, 2.0)
        write(values, x, 3.0)
        assert isinstance(x._native, RunOfWrites)
        look()
        assert not isinstance(x._native, RunOfWrites)
        assert_same(x, values)


def test_gradients_flow_through_writes_under_a_tape(backend: str, owned: tuple[np.ndarray, ua.Array]) -> None:
    skip_unless(backend, "tensorflow", why="tapes")
    import tensorflow as tf

    values, x = owned
    write(values, x, 7.0)
    with tf.GradientTape() as tape:
        start = x.native
        tape.watch(start)
        y = ua.asarray(start) * 1.0
        for number in range(4):
            y[number * 10 : number * 10 + 5] = float(number)
        total = ua.sum(y)
    gradient = tape.gradient(total.native, start).numpy()
    expected = np.ones(SIZE)
    for number in range(4):
        expected[number * 10 : number * 10 + 5] = 0.0
    np.testing.assert_array_equal(gradient, expected)


def test_an_array_with_a_run_is_captured_by_a_trace(backend: str, owned: tuple[np.ndarray, ua.Array]) -> None:
    values, x = owned
    write(values, x, 7.0)
    write(values, x, 8.0)

    def program(value: Any) -> Any:
        with pytest.raises(ua.errors.TracedMutationError):
            x[0] = 1.0
        return (ua.asarray(value) + x).native

    if backend == "jax":
        import jax

        result = jax.jit(program)(ua.zeros(SIZE).native)
    else:
        import tensorflow as tf

        result = tf.function(program)(ua.zeros(SIZE).native)
    np.testing.assert_array_equal(np.asarray(result), values)
    write(values, x, 9.0)
    assert_same(x, values)


def test_operators_in_place_use_the_memory_of_the_array(backend: str, owned: tuple[np.ndarray, ua.Array]) -> None:
    values, x = owned
    y = ua.arange(float(SIZE))
    for other in (ua.zeros(SIZE), x):
        # The first write of a kind uses up a copy, here of another array.
        for _ in range(2):
            other += y
            other *= 0.5
            ua.subtract(other, y, out=other)
    for _ in range(2):
        values += np.arange(float(SIZE))
        values *= 0.5
        values -= np.arange(float(SIZE))
    place = x._native.unsafe_buffer_pointer() if backend == "jax" else 0
    view = x[3:7]
    x *= 0.5
    values *= 0.5
    ua.subtract(x, y, out=x)
    values -= np.arange(float(SIZE))
    assert_same(view, values[3:7])
    if backend == "jax":
        assert x._native.unsafe_buffer_pointer() == place
    kept, old = x.native, values.copy()
    for operand, its_values in ((x, values), (x[::-1], values[::-1]), (x[...], values), (2.5, 2.5)):
        x += operand
        values += np.array(its_values)
        assert_same(x, values)
        np.testing.assert_array_equal(np.asarray(kept), old)
    for wrong in (lambda: x.__iadd__(1j), lambda: x.__iadd__(np.zeros(3)), lambda: x.__iand__(x)):
        with pytest.raises((TypeError, ValueError)):
            wrong()
        assert_same(x, values)


def test_an_operator_in_place_makes_an_array_own_its_native(backend: str) -> None:
    skip_unless(backend, "jax", why="donation")
    x, y = ua.zeros(SIZE), ua.ones(SIZE)
    for other in (ua.zeros(SIZE), x):
        # The first write of a kind uses up a copy, here of another array.
        other *= y
        other += y
        other *= y
    place = x._native.unsafe_buffer_pointer()
    x += y
    x *= y
    assert x._native.unsafe_buffer_pointer() == place
    assert_same(x, np.full(SIZE, 2.0))


def test_a_variable_stays_the_holder_under_operators(backend: str) -> None:
    skip_without_variables(backend)
    x = ua.variable(np.arange(float(SIZE)))
    native = x.native
    x += 1.0
    x += x
    values = 2 * (np.arange(float(SIZE)) + 1)
    assert x.native is native
    assert_same(x, values)
    # Large enough for a run of writes, which a variable needs none of.
    for number in range(3):
        write(values, x, float(number))
        x[[0, -1]] = 0.5
        values[[0, -1]] = 0.5
        assert x.native is native
        np.testing.assert_array_equal(values_of(native), values)
