"""The one write path: ``x[...] = v``, ``x += y``, ``out=`` and ``inplace_*`` write all or nothing, and all see it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.testing import has, lacks

from ..gradients import ENGINES, gradient
from ..natives import native, skip_unless, values_of, variable
from ..oracle import as_numpy, assert_same
from .writes import TARGETS, WRITES, Write, each_target, each_write, pair


@each_target
@each_write
def test_every_write_returns_its_target_and_is_seen_by_all(
    backend: str, write: Write, numpy_write: Write, target: Callable[[Any], Any]
) -> None:
    values, x = pair()
    witnesses = {name: make(x) for name, make in TARGETS.items()}
    written = target(x)
    value = np.arange(target(values).size, dtype=float).reshape(target(values).shape)
    assert write(written, ua.asarray(value, copy=True)) is written
    numpy_write(target(values), value)
    for name, witness in witnesses.items():
        assert_same(witness, TARGETS[name](values), what=name)
    write(written, 3)
    numpy_write(target(values), 3)
    assert_same(x, values)


@each_write
@pytest.mark.parametrize("kind", ["Python scalar", "list", "NumPy array", "NumPy scalar", "native array"])
def test_values_may_be_data_or_native(backend: str, write: Write, numpy_write: Write, kind: str) -> None:
    values, x = pair()
    data = {
        "Python scalar": 2.5,
        "list": [1.0, 2.0, 3.0],
        "NumPy array": np.array([[1.0], [2.0]]),
        "NumPy scalar": np.float64(2.5),
        "native array": native(backend, [1.0, 2.0, 3.0]),
    }[kind]
    write(x, data)
    numpy_write(values, values_of(data) if kind == "native array" else data)
    assert_same(x, values)


BAD = {
    "shape": (np.zeros(4), ValueError),
    "too many axes": (np.zeros((2, 2, 3)), ValueError),
    "bigger": (np.zeros((2, 2, 3))[:, None], ValueError),
    "kind": (1j, TypeError),
    "kind of an array": (np.zeros((), complex), TypeError),
}
# An assignment takes any cast: see test_indexing.py.
BAD_WRITES = [
    pytest.param(name, *BAD[bad], id=f"{name}-{bad}")
    for name in WRITES
    for bad in BAD
    if name != "sum(out=x)" and not ("[...]" in name and bad.startswith("kind"))
]


@each_target
@pytest.mark.parametrize(("name", "value", "error"), BAD_WRITES)
def test_what_cant_be_written_raises_and_changes_nothing(
    backend: str, name: str, target: Callable[[Any], Any], value: Any, error: type[Exception]
) -> None:
    values, x = pair()
    written = target(x)
    with pytest.raises(error):
        WRITES[name][0](written, ua.asarray(value, copy=True))
    assert_same(x, values)
    assert_same(written, target(values))


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint8"])
def test_integer_targets_refuse_floats_and_keep_their_values(backend: str, dtype: str) -> None:
    values, x = pair((3,), dtype)
    for write in (
        lambda: x.__iadd__(0.5),
        lambda: x.__itruediv__(2),
        lambda: ua.sin(x, out=x),
        lambda: ua.inplace_update(x, 0.5),
        lambda: ua.inplace_increment(x, 0.5),
        lambda: ua.inplace_decrement(x, ua.asarray(0.5)),
        lambda: ua.mean(ua.zeros((2, 3)), axis=0, out=x),
    ):
        with pytest.raises(TypeError):
            write()
    assert_same(x, values)


OUT = {
    "add": (lambda out: ua.add(ua.ones(4), ua.ones(4), out=out), (4,), "float64"),
    "add, scalar": (lambda out: ua.add(ua.ones(4), 1, out=out), (4,), "float64"),
    "sin": (lambda out: ua.sin(ua.ones((2, 3)), out=out), (2, 3), "float64"),
    "less": (lambda out: ua.less(ua.zeros(4), ua.ones(4), out=out), (4,), "bool"),
    "sum": (lambda out: ua.sum(ua.ones((2, 3)), axis=0, out=out), (3,), "float64"),
    "sum, int": (lambda out: ua.sum(ua.ones((2, 3), dtype="int32"), axis=1, out=out), (2,), "int64"),
    "mean": (lambda out: ua.mean(ua.ones((2, 3)), axis=1, keepdims=True, out=out), (2, 1), "float64"),
    "argmax": (lambda out: ua.argmax(ua.ones((2, 3)), axis=1, out=out), (2,), "int64"),
    "cumulative_sum": (lambda out: ua.cumulative_sum(ua.ones(4), out=out), (4,), "float64"),
    "matmul": (lambda out: ua.matmul(ua.ones((2, 3)), ua.ones((3, 2)), out=out), (2, 2), "float64"),
    "concat": (lambda out: ua.concat([ua.ones(2), ua.ones(3)], out=out), (5,), "float64"),
    "stack": (lambda out: ua.stack([ua.ones(2), ua.ones(2)], out=out), (2, 2), "float64"),
    "where": (lambda out: ua.where(ua.ones(2, dtype="bool"), 1.0, ua.zeros(2), out=out), (2,), "float64"),
    "take": (lambda out: ua.take(ua.ones(4), ua.asarray([0, 1, 2]), out=out), (3,), "float64"),
    "sort": (lambda out: ua.sort(ua.ones(4), out=out), (4,), "float64"),
    "reshape": (lambda out: ua.reshape(ua.ones(6), (2, 3), out=out), (2, 3), "float64"),
    "permute_dims": (lambda out: ua.permute_dims(ua.ones((2, 3)), (1, 0), out=out), (3, 2), "float64"),
    "clip": (lambda out: ua.clip(ua.ones(4), 0.0, 0.5, out=out), (4,), "float64"),
    "diff": (lambda out: ua.diff(ua.ones(4), out=out), (3,), "float64"),
    "astype": (lambda out: ua.astype(ua.ones(4), "float32", out=out), (4,), "float32"),
    "zeros": (lambda out: ua.zeros(4, out=out), (4,), "float64"),
    "arange": (lambda out: ua.arange(4.0, out=out), (4,), "float64"),
    "asarray": (lambda out: ua.asarray([1.0, 2.0], out=out), (2,), "float64"),
}
each_out = pytest.mark.parametrize(("call", "shape", "dtype"), OUT.values(), ids=OUT.keys())


@each_out
def test_out_is_returned_and_holds_the_result(
    backend: str, call: Callable[[Any], Any], shape: tuple[int, ...], dtype: str
) -> None:
    expected = as_numpy(call(None))
    assert (expected.shape, expected.dtype) == (shape, dtype)
    whole = ua.full((2, *shape), 1, dtype=dtype)
    for out in (ua.full(shape, 1, dtype=dtype), whole[1, ...], ua.flip(whole[0, ...])):
        assert call(out) is out
        assert_same(out, expected)


@each_out
def test_a_wrong_out_raises_and_is_left_as_it_was(
    backend: str, call: Callable[[Any], Any], shape: tuple[int, ...], dtype: str
) -> None:
    wider = {"bool": None, "int64": "bool", "float32": "int64", "float64": "int64"}[dtype]
    bad: list[tuple[Any, type[Exception]]] = [
        (ua.full((*shape, 1), 1, dtype=dtype), ValueError),
        (ua.full((1, *shape), 1, dtype=dtype), ValueError),
        (ua.full((7,), 1, dtype=dtype), ValueError),
        (ua.full((2, *shape), 1, dtype=dtype)[::-1], ValueError),
        (ua.broadcast_to(ua.full((), 1, dtype=dtype), shape), ValueError),
        (ua.full((2, *shape), 1, dtype=dtype), ValueError),
    ]
    if wider is not None:
        bad.append((ua.full(shape, 1, dtype=wider), TypeError))
    for out, error in bad:
        before = as_numpy(out)
        with pytest.raises(error):
            call(out)
        assert_same(out, before)
    for out in ([0.0] * 4, 3.0, "x"):
        with pytest.raises(TypeError):
            call(out)


@each_out
def test_out_of_another_dtype_of_the_kind_is_cast_into(
    backend: str, call: Callable[[Any], Any], shape: tuple[int, ...], dtype: str
) -> None:
    other = {"bool": "int8", "int64": "int32", "float32": "float64", "float64": "complex64"}[dtype]
    out = ua.full(shape, 5, dtype=other)
    assert call(out) is out
    assert_same(out, as_numpy(call(None)).astype(other))


def test_out_of_another_backend_is_an_error(backend: str) -> None:
    other = "torch" if backend == "numpy" else "numpy"
    if other not in ua.available_backends():
        pytest.skip(f"{other} is not installed")
    out = ua.zeros(4, backend=other)
    for call in (OUT["add"][0], OUT["cumulative_sum"][0]):
        with pytest.raises(ua.errors.BackendMismatchError):
            call(out)
    assert_same(out, np.zeros(4))


# -- asking first ----------------------------------------------------------------------------------------------------


def test_what_the_engines_support(backend: str) -> None:
    mutable = has(backend, "writes")
    assert ua.inplace_arrays_supported() is mutable
    assert ua.inplace_arrays_supported(backend) is mutable
    with_variables = mutable or has(backend, "variables")
    assert ua.inplace_variables_supported() is with_variables
    assert ua.inplace_variables_supported(backend) is with_variables


def test_supports_inplace_updates_says_whether_ensure_in_backend_raises(backend: str) -> None:
    mutable = has(backend, "writes")
    array = ua.zeros((2, 3))
    for x, supported in (
        (array, mutable),
        (array[1:], mutable),
        (array[::-1], mutable),
        (array.T, mutable),
        (native(backend, np.zeros(3)), mutable),
        (variable(backend, np.zeros(3)), True),
        (ua.asarray(variable(backend, np.zeros(3))), True),
        (ua.asarray(variable(backend, np.zeros(3)))[::-1], True),
        (ua.broadcast_to(array, (2, 2, 3)), False),
    ):
        assert ua.supports_inplace_updates(x) is supported
        if supported:
            assert ua.assert_supports_inplace(x) is True
            assert ua.inplace_update(x, 1, ensure_in_backend=True) is x
            continue
        for refused in (
            lambda x: ua.assert_supports_inplace(x),
            lambda x: ua.inplace_update(x, 1, ensure_in_backend=True),
            lambda x: ua.inplace_increment(x, 1, ensure_in_backend=True),
            lambda x: ua.inplace_decrement(x, 1, ensure_in_backend=True),
        ):
            with pytest.raises((ua.errors.InplaceUpdateError, ua.errors.ReadOnlyError)):
                refused(x)


@lacks("writes", why="native arrays that can't be written")
def test_ensure_in_backend_leaves_what_it_refuses_as_it_was(backend: str) -> None:
    values, x = pair()
    before = x.native
    for target in (x, x[1], x.T):
        with pytest.raises(ua.errors.InplaceUpdateError, match="ensure_in_backend"):
            ua.inplace_update(target, 0, ensure_in_backend=True)
    assert x.native is before
    assert_same(x, values)
    ua.inplace_update(x[1], 0)
    assert_same(x, np.array([values[0], np.zeros(3)]))


# -- devices ---------------------------------------------------------------------------------------------------------

_TWO_DEVICES = {
    "jax": "import os; os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=2'",
    "tensorflow": """
import tensorflow as tf
two = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], two)
""",
}
_PROGRAM = """
import numpy as np
import unifyarr as ua
ua.set_backend({backend!r})
first, second = ua.__array_namespace_info__().devices()[:2]
x = ua.ones(3, device=first)
out = ua.zeros(3, device=second)
assert (x.device, out.device) == (first, second), (x.device, out.device)
for write in (
    lambda: ua.add(x, x, out=out),
    lambda: ua.cumulative_sum(x, out=out),
    lambda: ua.sum(ua.ones((2, 3), device=first), axis=0, out=out),
    lambda: out.__iadd__(x),
):
    try:
        write()
    except ua.errors.DeviceError:
        pass
    else:
        raise AssertionError("an out on another device was taken")
    assert out.device == second
    assert out.tolist() == [0, 0, 0]
out += 1
out[1:] = 5.0
out[0] = np.float64(3)
assert out.device == second
assert out.tolist() == [3, 5, 5]
"""


def test_an_out_on_another_device_raises_and_is_left_as_it_was(backend: str) -> None:
    skip_unless(backend, *_TWO_DEVICES, why="two devices on any machine")
    program = _TWO_DEVICES[backend] + _PROGRAM.format(backend=backend)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]


_AGAIN = """
import unifyarr as ua
ua.set_backend({backend!r})
second = ua.__array_namespace_info__().devices()[1]
x = ua.asarray([[4.0, 1.0], [2.0, 3.0]], device=second)
calls = [
    lambda: ua.linalg.det(x), lambda: x @ x, lambda: ua.clip(x, 1, 3), lambda: x // 2.0, lambda: x > 2.0, lambda: -x,
    lambda: ua.exp(x), lambda: ua.where(x > 2, x, x), lambda: ua.sum(x, axis=0), lambda: ua.tril(x), lambda: x[1] + 1,
    lambda: ua.sort(x), lambda: ua.linalg.svd(x).U, lambda: ua.roll(x, 1), lambda: ua.nn.softmax(x),
]
for number, call in enumerate(calls):
    # The third call is done by a shortcut.
    found = [call().device for _ in range(4)]
    assert found == [second] * 4, (number, found)
"""


def test_a_call_that_comes_again_stays_on_the_device_of_its_arrays(backend: str) -> None:
    skip_unless(backend, *_TWO_DEVICES, why="two devices on any machine")
    program = _TWO_DEVICES[backend] + _AGAIN.format(backend=backend)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]


def test_one_device_under_two_names_is_one(backend: str) -> None:
    skip_unless(backend, "tensorflow", why="an engine with several names for a device")
    import tensorflow as tf

    @tf.function
    def function(native: Any) -> Any:
        with tf.device("cpu"):
            x = ua.asarray(tf.identity(native))
        with tf.device("/job:localhost/replica:0/task:0/device:CPU:0"):
            y = ua.asarray(tf.identity(native))
        assert x.native.device != y.native.device
        x += y
        return (x * y).native

    np.testing.assert_array_equal(function(tf.constant([1.0, 3.0])), [2.0, 18.0])


def test_what_another_value_overwrites_gets_no_gradient(backend: str) -> None:
    skip_unless(backend, *ENGINES, why="an engine that records gradients")
    factors = ua.asarray([1.0, 10.0, 100.0])

    def total(values: ua.Array) -> ua.Array:
        x = ua.zeros(3)
        x[ua.asarray([0, 0, 1])] = values
        return ua.sum(x * factors)

    for inside in (False, True):
        assert gradient(backend, total, np.ones(3), inside=inside).tolist() == [0.0, 1.0, 10.0]
