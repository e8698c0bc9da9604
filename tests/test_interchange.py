"""How arrays meet NumPy, other libraries and data: ``__array__``, NumPy's functions, DLPack, ``asarray``."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.testing import has, lacks

from .arrays import each_view, pair
from .natives import native, on_host, skip_unless, values_of, variable
from .oracle import ALL, COMPLEX, FLOATS, INTEGERS, as_numpy, assert_same
from .test_operators import ARITHMETIC

# -- NumPy ----------------------------------------------------------------------------------------------------------


@each_view
@pytest.mark.parametrize("dtype", ALL)
def test_numpy_takes_an_array(backend: str, dtype: str, view: Callable[[Any], Any]) -> None:
    values, x = pair(dtype=dtype)
    taken = np.asarray(view(x))
    assert type(taken) is np.ndarray
    assert taken.dtype == dtype
    np.testing.assert_array_equal(taken, view(values))


@each_view
def test_what_numpy_takes_can_be_written_and_changes_no_immutable_array(
    backend: str, view: Callable[[Any], Any]
) -> None:
    values, x = pair()
    before = x.native
    for take in (np.asarray, np.array, lambda x: x.__array__(), lambda x: np.asarray(x, dtype="float64")):
        taken = take(view(x))
        taken[...] = 5
        if not has(backend, "writes"):
            assert_same(x, values)
            np.testing.assert_array_equal(np.asarray(before), values)
        x[...] = values


@on_host("NumPy shares it")
def test_the_copy_argument_of_dunder_array(backend: str) -> None:
    _, x = pair()
    independent = np.array(x, copy=True)
    independent[...] = 0
    assert (as_numpy(x) != 0).all()
    shared = x.__array__(copy=None)
    shared[...] = 0
    assert (as_numpy(x) == 0).all() == (has(backend, "writes"))
    with pytest.raises(ValueError, match="copy"):
        np.asarray(x, dtype="float32", copy=False)
    if has(backend, "writes"):
        assert np.shares_memory(np.asarray(x, copy=False), np.asarray(x))
    else:
        # Memory that can't be written is shared as read-only, or not at all.
        with contextlib.suppress(ValueError):
            assert not np.asarray(x, copy=False).flags.writeable


def test_ndarray_operators_give_arrays(backend: str) -> None:
    values, x = pair()
    for name in ARITHMETIC:
        result = getattr(operator, name)(values, x)
        assert isinstance(result, ua.Array), name
        assert result.backend == backend
        assert_same(result, getattr(operator, name)(values, values))
    assert_same(values < x, values < values)
    assert_same(np.float64(2) * x, 2 * values)
    assert_same(values @ x.T, values @ values.T)


NUMPY_CALLS: dict[str, Callable[[Any], Any]] = {
    "np.add": lambda x: np.add(np.ones((2, 3)), x),
    "np.sin": np.sin,
    "np.matmul": lambda x: np.matmul(x, x.T),
    "np.add.reduce": lambda x: np.add.reduce(x, axis=0),
    "np.sum": np.sum,
    "np.sum(axis)": lambda x: np.sum(x, axis=1),
    "np.mean": lambda x: np.mean(x, axis=0),
    "np.concatenate": lambda x: np.concatenate([x, x]),
    "np.concatenate, mixed": lambda x: np.concatenate([x, np.ones((1, 3))]),
    "np.where": lambda x: np.where(x > 2, x, 0),
    "np.linalg.norm": np.linalg.norm,
    "np.sort": lambda x: np.sort(x, axis=0),
    "np.percentile": lambda x: np.percentile(x, 50),
    "np.heaviside": lambda x: np.heaviside(x, 0.5),
    "np.stack": lambda x: np.stack([x, x]),
}


@pytest.mark.parametrize("call", NUMPY_CALLS.values(), ids=NUMPY_CALLS.keys())
def test_numpys_functions_give_arrays(backend: str, call: Callable[[Any], Any]) -> None:
    values, x = pair()
    result = call(x)
    assert isinstance(result, ua.Array)
    assert result.backend == backend
    assert_same(result, call(values))


def test_numpys_functions_write_into_arrays(backend: str) -> None:
    values, x = pair()
    view = x[::-1]
    assert np.add(values, x, out=x) is x
    assert_same(x, values * 2)
    assert_same(view, values[::-1] * 2)
    total = ua.zeros(3)
    np.add.reduce(x, axis=0, out=total)
    assert_same(total, (values * 2).sum(axis=0))
    assert np.heaviside(x, 0.5, out=x) is x
    assert_same(x, np.ones((2, 3)))
    with pytest.raises((TypeError, ValueError)):
        np.add(values, x, out=ua.zeros(7))


def test_an_ndarray_takes_an_array_in_place(backend: str) -> None:
    values, x = pair()
    plain = values.copy()
    plain[0] = x[1]
    np.testing.assert_array_equal(plain[0], values[1])
    target = values.copy()
    target += x
    np.testing.assert_array_equal(np.asarray(target), values * 2)


# -- DLPack ---------------------------------------------------------------------------------------------------------


@each_view
@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, *COMPLEX, "bool", "float16"])
def test_dlpack_round_trips(backend: str, dtype: str, view: Callable[[Any], Any]) -> None:
    values, x = pair(dtype=dtype)
    exported = ua.from_dlpack(view(x), backend="numpy", device="cpu")
    np.testing.assert_array_equal(exported, view(values))
    assert exported.dtype == dtype
    for copy_ in (None, True):
        assert_same(ua.from_dlpack(values.copy(), copy=copy_), values)
        assert_same(ua.from_dlpack(view(x), copy=copy_), view(values))


@on_host("NumPy takes no other memory")
@each_view
@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, *COMPLEX, "bool", "float16"])
def test_numpy_takes_dlpack(backend: str, dtype: str, view: Callable[[Any], Any]) -> None:
    values, x = pair(dtype=dtype)
    exported = np.from_dlpack(view(x))
    np.testing.assert_array_equal(exported, view(values))
    assert exported.dtype == dtype
    kind, number = view(x).__dlpack_device__()
    assert (int(kind), number) == (1, 0)


@on_host("NumPy takes no other memory")
@each_view
def test_numpy_never_gets_immutable_memory_to_write(backend: str, view: Callable[[Any], Any]) -> None:
    values, x = pair()
    before = x.native
    taken = np.from_dlpack(view(x))
    if not has(backend, "writes"):
        if taken.flags.writeable:
            taken[...] = 0
        assert_same(x, values)
        np.testing.assert_array_equal(np.asarray(before), values)
    else:
        # Consumers such as torch know no negative strides.
        taken[...] = 0
        backwards = view(values).strides[0] < 0
        assert_same(view(x), view(values) if backwards else np.zeros(view(values).shape))


@each_view
def test_torch_never_gets_immutable_memory_to_write(backend: str, view: Callable[[Any], Any]) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    values, x = pair()
    before = x.native
    tensor = torch.from_dlpack(view(x))
    tensor.add_(100)
    if not has(backend, "writes") or view(values).strides[0] < 0:
        assert_same(x, values)
        np.testing.assert_array_equal(values_of(before), values)
    else:
        np.testing.assert_array_equal(values_of(tensor), view(values) + 100)
    copied = torch.from_dlpack(view(ua.asarray(values, copy=True)), copy=True)
    copied.add_(1)


@pytest.mark.parametrize("source", ["numpy", "torch", "jax", "tensorflow"])
def test_from_dlpack_never_lets_a_writer_into_immutable_memory(
    backend: str, source: str, request: pytest.FixtureRequest
) -> None:
    named = request.config.getoption("--backends")
    if source not in (named.split(",") if named else ua.available_backends()):
        pytest.skip(f"{source} is not under test")
    values = np.arange(6.0)
    given = native(source, values)
    x = ua.from_dlpack(given, backend=backend)
    assert x.backend == backend
    assert_same(x, values)
    x += 1
    assert_same(x, values + 1)
    if not has(source, "writes"):
        np.testing.assert_array_equal(np.asarray(given), values)
    if has(source, "writes") and not has(backend, "writes"):
        given[...] = 7
        assert_same(x, values + 1)


def test_from_dlpack_without_a_copy_shares_or_raises(backend: str) -> None:
    values = np.arange(6.0)
    if not has(backend, "writes"):
        with pytest.raises((BufferError, ValueError)):
            ua.from_dlpack(values, copy=False)
        return
    x = ua.from_dlpack(values, copy=False)
    x[0] = 9
    assert values[0] == 9
    independent = ua.from_dlpack(values, copy=True)
    independent[0] = 5
    assert values[0] == 9


def test_a_read_only_export_is_not_opened_to_a_writer(backend: str) -> None:
    values = np.arange(6.0)
    values.flags.writeable = False
    x = ua.from_dlpack(values)
    try:
        x[0] = 9
    except ua.errors.ReadOnlyError:
        assert backend == "numpy"
    assert values[0] == 0


@lacks("writes", why="variables beside arrays")
def test_exports_of_a_variable_are_values(backend: str) -> None:
    x = ua.asarray(variable(backend, np.arange(3.0)))
    taken = np.from_dlpack(x)
    x += 1
    np.testing.assert_array_equal(taken, np.arange(3.0))


# -- what asarray takes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [True, 3, 2.5, 1j, [1, 2], [[1.5], [2.5]], (1, 2), [], [[]], [True, 2], [1, 2.5], np.float32(2), np.int8(3)],
    ids=repr,
)
def test_asarray_takes_data(backend: str, data: Any) -> None:
    assert_same(ua.asarray(data), np.asarray(data))


def test_asarray_takes_nests_of_arrays(backend: str) -> None:
    x = ua.asarray([1.0, 2.0])
    assert_same(ua.asarray([x, x]), np.array([[1.0, 2.0], [1.0, 2.0]]))
    assert_same(ua.asarray([[x[0], x[1]], [3.0, 4.0]]), np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert ua.asarray([x[0], 2.0]).backend == backend


def test_asarray_copies_when_told_to(backend: str) -> None:
    values, x = pair()
    assert ua.asarray(x) is x
    assert ua.asarray(x, copy=False) is x
    assert ua.asarray(x, dtype="float64") is x
    other = ua.asarray(x, copy=True)
    other[...] = 0
    assert_same(x, values)
    with pytest.raises(ValueError, match="copy"):
        ua.asarray(x, dtype="float32", copy=False)
    with pytest.raises(ValueError, match="copy"):
        ua.asarray([1, 2], copy=False)
    own = native(backend, values)
    assert ua.asarray(own, backend=backend).native is own


def test_asarray_of_ndarrays_shares_on_numpy_alone(backend: str) -> None:
    values = np.arange(4.0)
    x = ua.asarray(values)
    x[0] = 9
    assert (values[0] == 9) == (backend == "numpy")
    values[1] = 7
    assert (x[1].item() == 7) == (backend == "numpy")


@pytest.mark.parametrize(
    "data", ["text", pytest.param(object(), id="object"), {1: 2}, [[1, 2], [3]], np.array(["a"]), None, b"x"], ids=repr
)
def test_asarray_refuses_what_is_no_array(backend: str, data: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        ua.asarray(data)


@pytest.mark.parametrize("spelling", ["float32", np.float32, np.dtype("float32"), ua.float32, "f4"])
def test_dtypes_in_every_spelling(backend: str, spelling: Any) -> None:
    x = ua.zeros(2, dtype=spelling)
    assert x.dtype is ua.float32
    assert x.dtype == "float32"
    own = native(backend, np.zeros(1, "float32")).dtype
    assert ua.zeros(2, dtype=own).dtype is ua.float32
    assert x.astype(own).dtype is ua.float32


# -- engines' own arrays beside ours ----------------------------------------------------------------------------------


def test_an_engines_array_takes_one_of_ours(backend: str) -> None:
    values, x = pair()
    for own in (native(backend, values), variable(backend, values)):
        for name in ARITHMETIC:
            expected = getattr(operator, name)(values, values)
            first, second = getattr(operator, name)(x, own), getattr(operator, name)(own, x)
            assert isinstance(first, ua.Array), name
            assert_same(first, expected)
            # TensorFlow's operators convert the other operand, and don't ask it.
            assert isinstance(second, ua.Array) == (backend != "tensorflow"), name
            np.testing.assert_array_equal(np.asarray(second), expected)


def test_tensorflows_functions_compute_with_the_tensor_of_an_array(backend: str) -> None:
    skip_unless(backend, "tensorflow", why="tapes")
    import tensorflow as tf

    t, w = tf.constant([1.0, 2.0]), tf.Variable([3.0, 4.0])
    for call, expected in (
        (lambda x: t * x, [2.0, 4.0]),
        (lambda x: tf.multiply(t, x), [2.0, 4.0]),
        (tf.reduce_sum, [2.0, 2.0]),
        (lambda x: tf.reduce_sum(x[::-1]), [2.0, 2.0]),
        (lambda x: t - x, [-2.0, -2.0]),
    ):
        with tf.GradientTape() as tape:
            result = call(ua.asarray(w) * 2)
        np.testing.assert_array_equal(tape.gradient(result, w), expected)
    traced = tf.function(lambda t: t + ua.asarray(t) * 2)
    np.testing.assert_array_equal(traced(t), [3.0, 6.0])
    np.testing.assert_array_equal(tf.reduce_sum(ua.ones(3, backend="numpy")), 3.0)


def test_a_device_that_isnt_there_gets_no_memory(backend: str) -> None:
    x = ua.asarray([1.0, 2.0])
    with pytest.raises(BufferError):
        # The eighth GPU of CUDA.
        x.__dlpack__(dl_device=(2, 7))
    assert_same(x, [1.0, 2.0])
