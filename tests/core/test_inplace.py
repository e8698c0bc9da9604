"""The one write path: ``x[...] = v``, ``x += y``, ``out=`` and ``inplace_*`` on arrays, views and native arrays."""

from __future__ import annotations

import operator
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua

from ..natives import IMMUTABLE, native, skip_unless, values_of, variable
from ..oracle import as_numpy, assert_same


def setitem(x: Any, value: Any) -> Any:
    x[...] = value
    return x


# Each writes to its first argument and returns it, and means the same to NumPy as its neighbour.
Write = Callable[[Any, Any], Any]
WRITES: dict[str, tuple[Write, Write]] = {
    "x[...] = v": (setitem, setitem),
    "x += v": (operator.iadd, operator.iadd),
    "x -= v": (operator.isub, operator.isub),
    "x *= v": (operator.imul, operator.imul),
    "add(out=x)": (lambda x, v: ua.add(x, v, out=x), lambda x, v: np.add(x, v, out=x)),
    "sum(out=x)": (
        lambda x, v: ua.sum(ua.stack([x, x]), axis=0, out=x),
        lambda x, v: np.sum(np.stack([x, x]), axis=0, out=x),
    ),
    "inplace_update": (ua.inplace_update, setitem),
    "inplace_increment": (ua.inplace_increment, operator.iadd),
    "inplace_decrement": (ua.inplace_decrement, operator.isub),
}
each_write = pytest.mark.parametrize(("write", "numpy_write"), WRITES.values(), ids=WRITES.keys())
TARGETS: dict[str, Callable[[Any], Any]] = {
    "array": lambda x: x,
    "x[1:]": lambda x: x[1:],
    "x[::-1]": lambda x: x[::-1],
    "x.T": lambda x: x.T,
    "x.T[::-1, 1:]": lambda x: x.T[::-1, 1:],
    "reshape": lambda x: x.reshape(3, 2),
}


def pair(shape: tuple[int, ...] = (2, 3), dtype: str = "float64") -> tuple[np.ndarray, ua.Array]:
    values = np.arange(10, 10 + np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    return values, ua.asarray(values, copy=True)


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS.keys())
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
each_bad = pytest.mark.parametrize(("value", "error"), BAD.values(), ids=BAD.keys())


@each_bad
@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS.keys())
@pytest.mark.parametrize("name", [name for name in WRITES if name != "sum(out=x)"])
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
        lambda: x.__setitem__(0, 1.5),
        lambda: x.__setitem__(slice(None), ua.asarray([1.0, 2.0, 3.0])),
        lambda: x.__iadd__(0.5),
        lambda: x.__itruediv__(2),
        lambda: ua.sin(x, out=x),
        lambda: ua.inplace_update(x, 0.5),
        lambda: ua.inplace_increment(x, 0.5),
        lambda: ua.inplace_decrement(x, ua.asarray(0.5)),
        lambda: x.fill(0.5),
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


# -- native targets --------------------------------------------------------------------------------------------------


@each_write
def test_native_arrays_that_can_be_written_are(backend: str, write: Write, numpy_write: Write) -> None:
    values, _ = pair()
    target = variable(backend, values)
    x = ua.asarray(target)
    view, reverse = x[1], x.T[::-1]
    assert write(x, 3) is x
    numpy_write(values, 3)
    assert x.native is target
    np.testing.assert_array_equal(values_of(target), values)
    write(reverse, 2)
    numpy_write(values.T[::-1], 2)
    np.testing.assert_array_equal(values_of(target), values)
    assert_same(view, values[1])


@pytest.mark.parametrize(
    ("write", "expected"),
    [
        (lambda x: ua.add(ua.zeros(3), 5, out=x), [5.0, 5, 5]),
        (lambda x: ua.sum(ua.ones((2, 3)), axis=0, out=x), [2.0, 2, 2]),
        (lambda x: ua.sort(ua.asarray([3.0, 1, 2]), out=x), [1.0, 2, 3]),
        (lambda x: ua.inplace_update(x, 7), [7.0, 7, 7]),
        (lambda x: ua.inplace_update(x, [1, 2, 3], ensure_in_backend=True), [1.0, 2, 3]),
        (lambda x: ua.inplace_increment(x, 1, ensure_in_backend=True), [2.0, 2, 2]),
        (lambda x: ua.inplace_decrement(x, ua.asarray(1)), [0.0, 0, 0]),
    ],
)
def test_a_bare_native_array_is_a_target(backend: str, write: Callable[[Any], Any], expected: list[float]) -> None:
    target = variable(backend, np.ones(3))
    assert write(target) is target
    np.testing.assert_array_equal(values_of(target), expected)


@pytest.mark.parametrize(
    "write",
    [
        lambda x: ua.add(ua.zeros(3), 5, out=x),
        lambda x: ua.sum(ua.ones((2, 3)), axis=0, out=x),
        lambda x: ua.inplace_update(x, 7),
        lambda x: ua.inplace_increment(x, 1),
        lambda x: ua.inplace_decrement(x, 1),
        lambda x: ua.assert_supports_inplace(x),
    ],
)
def test_an_immutable_native_array_is_no_target(backend: str, write: Callable[[Any], Any]) -> None:
    skip_unless(backend, *IMMUTABLE, why="native arrays that can't be written")
    target = native(backend, np.ones(3))
    with pytest.raises(ua.errors.InplaceUpdateError):
        write(target)
    np.testing.assert_array_equal(values_of(target), [1, 1, 1])


def test_a_native_numpy_array_is_a_target_under_any_current_backend(backend: str) -> None:
    target = np.zeros(2)
    ones = ua.ones(2, backend="numpy")
    assert ua.add(ones, ones, out=target) is target
    assert target.tolist() == [2, 2]
    ua.inplace_increment(target, 1)
    assert target.tolist() == [3, 3]


def test_views_of_a_variable_are_written_through_and_follow_it(backend: str) -> None:
    target = variable(backend, np.arange(6.0).reshape(2, 3))
    values = values_of(target)
    x = ua.asarray(target)
    views = {name: make(x) for name, make in TARGETS.items()}
    for name, view in views.items():
        view[0] = 50
        TARGETS[name](values)[0] = 50
        view += 1
        TARGETS[name](values)[...] += 1
        np.testing.assert_array_equal(values_of(target), values)
    # The engine's own writes are seen by every view.
    ua.inplace_update(target, 3)
    if backend == "tensorflow":
        target.assign_add(np.ones((2, 3)))
    elif backend == "torch":
        target.add_(1)
    else:
        target[...] = target[...] + 1
    for view in views.values():
        assert_same(view, np.full(view.shape, 4.0))


def test_masks_and_index_arrays_write_into_a_variable(backend: str) -> None:
    target = variable(backend, np.arange(6.0).reshape(2, 3))
    values = values_of(target)
    x = ua.asarray(target)
    for array in (values, x):
        array[array > 3] = -1
        array[[1, 0], [0, 2]] = [7, 8]
        array[:, [0]] *= 2
    np.testing.assert_array_equal(values_of(target), values)
    with pytest.raises(IndexError):
        x[[0, 2]] = 0
    with pytest.raises(TypeError):
        x[0] = 1j
    np.testing.assert_array_equal(values_of(target), values)


def test_the_value_of_a_variable_taken_before_a_write_doesnt_change(backend: str) -> None:
    x = ua.asarray(variable(backend, np.arange(3.0)))
    before = x + 0
    copy = x.copy()
    element = x[1]
    x += 10
    for each, expected in ((before, [0.0, 1, 2]), (copy, [0.0, 1, 2]), (element, 1.0)):
        assert_same(each, np.asarray(expected))


def test_a_read_only_numpy_array_is_no_target(backend: str) -> None:
    skip_unless(backend, "numpy", why="NumPy's arrays alone can be read-only")
    target = np.ones(3)
    target.flags.writeable = False
    x = ua.asarray(target)
    for array in (x, x[1:], x[::-1], target):
        for write in (
            lambda array: ua.add(ua.zeros(array.shape), 5, out=array),
            lambda array: ua.inplace_update(array, 0),
            lambda array: ua.asarray(array).__setitem__(0, 0),
            lambda array: ua.asarray(array).__setitem__([0], 0),
            lambda array: ua.asarray(array).__iadd__(1),
        ):
            with pytest.raises(ValueError, match="read-only"):
                write(array)
        assert not ua.supports_inplace_updates(array)
    assert target.tolist() == [1, 1, 1]


# -- what torch forbids ----------------------------------------------------------------------------------------------


@each_write
@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS.keys())
def test_a_leaf_that_requires_gradients_raises_with_advice(
    backend: str, write: Write, numpy_write: Write, target: Callable[[Any], Any]
) -> None:
    skip_unless(backend, "torch", why="tensors that require gradients")
    import torch

    values, _ = pair()
    leaf = torch.tensor(values, requires_grad=True)
    x = ua.asarray(leaf)
    with pytest.raises(ua.errors.InplaceUpdateError, match=r"no_grad|detach"):
        write(target(x), 3)
    with pytest.raises(ua.errors.InplaceUpdateError, match=r"no_grad|detach"):
        target(x)[0] = 1
    with pytest.raises(ua.errors.InplaceUpdateError, match=r"no_grad|detach"):
        x[x > 0] = 1
    np.testing.assert_array_equal(values_of(leaf), values)
    with torch.no_grad():
        assert x.native is leaf
        write(target(x), 3)
    numpy_write(target(values), 3)
    np.testing.assert_array_equal(values_of(leaf), values)


def test_gradients_flow_through_writes_to_what_is_no_leaf(backend: str) -> None:
    skip_unless(backend, "torch", why="tensors that require gradients")
    import torch

    leaf = torch.arange(3.0, requires_grad=True)
    x = ua.asarray(leaf) * 2
    x[1] = 0
    x += 1
    ua.multiply(x, 3, out=x)
    ua.sum(x).native.backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [6, 0, 6]


# -- overlap ---------------------------------------------------------------------------------------------------------

WINDOWS = [np.s_[0:4], np.s_[1:5], np.s_[2:6], np.s_[3::-1], np.s_[5:1:-1], np.s_[4:0:-1], np.s_[::2], np.s_[::-2]]


@given(data=st.data())
def test_inputs_may_overlap_out(backend: str, data: st.DataObject) -> None:
    values, x = pair((6,))
    pool = st.sampled_from([window for window in WINDOWS if window.step not in (2, -2)])
    first, second, out = data.draw(pool), data.draw(pool), data.draw(pool)
    np.subtract(values[first], values[second], out=values[out])
    ua.subtract(x[first], x[second], out=x[out])
    assert_same(x, values, what=f"{first} - {second} into {out}")


@pytest.mark.parametrize("second", WINDOWS, ids=repr)
@pytest.mark.parametrize("first", WINDOWS, ids=repr)
def test_assignments_may_overlap(backend: str, first: slice, second: slice) -> None:
    values, x = pair((6,))
    if values[first].shape != values[second].shape:
        first = np.s_[:3] if first.step in (None, -1) else first
        second = np.s_[2:5] if second.step in (None, -1) else second
    for array in (values, x):
        array[first] = array[second]
        array[first] += array[second]
    assert_same(x, values)


# The same program for NumPy's functions and ours; where NumPy would read what it has written, it reads a copy.
OVERLAPS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "add(x[1:], x[:-1], out=x[1:])": (
        lambda x: ua.add(x[1:], x[:-1], out=x[1:]),
        lambda x: np.add(x[1:], x[:-1], out=x[1:]),
    ),
    "add(x[1:], x[:-1], out=x[:-1])": (
        lambda x: ua.add(x[1:], x[:-1], out=x[:-1]),
        lambda x: np.add(x[1:], x[:-1], out=x[:-1]),
    ),
    "add(x, x.T, out=x)": (lambda x: ua.add(x, x.T, out=x), lambda x: np.add(x, x.T, out=x)),
    "add(x, x.T, out=x.T)": (lambda x: ua.add(x, x.T, out=x.T), lambda x: np.add(x, x.T, out=x.T)),
    "x += x.T": (lambda x: operator.iadd(x, x.T), lambda x: operator.iadd(x, x.T)),
    "x += x[::-1]": (lambda x: operator.iadd(x, x[::-1]), lambda x: operator.iadd(x, x[::-1])),
    "x -= x[0]": (lambda x: operator.isub(x, x[0]), lambda x: operator.isub(x, x[0])),
    "x *= x[1, 1]": (lambda x: operator.imul(x, x[1, 1, ...]), lambda x: operator.imul(x, x[1, 1, ...])),
    "negative(x, out=x[::-1])": (lambda x: ua.negative(x, out=x[::-1]), lambda x: np.negative(x, out=x[::-1])),
    "negative(x.T, out=x)": (lambda x: ua.negative(x.T, out=x), lambda x: np.negative(x.T, out=x)),
    "x[...] = x.T": (lambda x: setitem(x, x.T), lambda x: setitem(x, x.T)),
    "x[...] = x[::-1]": (lambda x: setitem(x, x[::-1]), lambda x: setitem(x, x[::-1])),
    "x[1] = x": (lambda x: x.__setitem__(1, x[0]), lambda x: x.__setitem__(1, x[0])),
    "matmul(x, x, out=x)": (lambda x: ua.matmul(x, x, out=x), lambda x: np.matmul(x, x, out=x)),
    "matmul(x, x.T, out=x.T)": (lambda x: ua.matmul(x, x.T, out=x.T), lambda x: setitem(x.T, x @ x.T)),
    "sum(x, axis=0, out=x[1])": (lambda x: ua.sum(x, axis=0, out=x[1]), lambda x: setitem(x[1], x.sum(0))),
    "sum(x, axis=1, out=x[:, 0])": (lambda x: ua.sum(x, axis=1, out=x[:, 0]), lambda x: setitem(x[:, 0], x.sum(1))),
    "cumulative_sum(out=x)": (
        lambda x: ua.cumulative_sum(x, axis=0, out=x),
        lambda x: setitem(x, np.cumulative_sum(x, axis=0)),
    ),
    "cumulative_sum(out=x[::-1])": (
        lambda x: ua.cumulative_sum(x, axis=0, out=x[::-1]),
        lambda x: setitem(x[::-1], np.cumulative_sum(x, axis=0)),
    ),
    "sort(x, out=x[:, ::-1])": (
        lambda x: ua.sort(x, out=x[:, ::-1]),
        lambda x: setitem(x[:, ::-1], np.sort(x)),
    ),
    "roll(x, out=x)": (lambda x: ua.roll(x, 1, out=x), lambda x: setitem(x, np.roll(x, 1))),
    "flip(x, out=x)": (lambda x: ua.flip(x, out=x), lambda x: setitem(x, np.flip(x))),
    "permute_dims(x, out=x)": (
        lambda x: ua.permute_dims(x, (1, 0), out=x),
        lambda x: setitem(x, x.T),
    ),
    "take(x, out=x)": (
        lambda x: ua.take(x, ua.asarray([2, 0, 1]), axis=0, out=x),
        lambda x: setitem(x, x[[2, 0, 1]]),
    ),
    "where(out=x)": (
        lambda x: ua.where(x > 3, x[::-1], x.T, out=x),
        lambda x: setitem(x, np.where(x > 3, x[::-1], x.T)),
    ),
    "concat(out=x)": (
        lambda x: ua.concat([x[1:], x[:1]], out=x),
        lambda x: setitem(x, np.concat([x[1:], x[:1]])),
    ),
    "stack(out=x)": (
        lambda x: ua.stack([x[2], x[0], x[1]], out=x),
        lambda x: setitem(x, np.stack([x[2], x[0], x[1]])),
    ),
    "tril(x.T, out=x)": (lambda x: ua.tril(x.T, out=x), lambda x: setitem(x, np.tril(x.T))),
    "clip(x, min, out=x[::-1])": (
        lambda x: ua.clip(x, x.T, out=x[::-1]),
        lambda x: setitem(x[::-1], np.clip(x, x.T, None)),
    ),
    "diff(x, out=x[:, 1:])": (
        lambda x: ua.diff(x, out=x[:, 1:]),
        lambda x: setitem(x[:, 1:], np.diff(x)),
    ),
    "x[[2, 0]] = x[:2]": (
        lambda x: x.__setitem__([2, 0], x[:2]),
        lambda x: x.__setitem__([2, 0], x[:2].copy()),
    ),
    "inplace_increment(x, x.T)": (lambda x: ua.inplace_increment(x, x.T), lambda x: operator.iadd(x, x.T)),
    "broadcast_to(x[0], out=x)": (
        lambda x: ua.broadcast_to(x[0], (3, 3), out=x),
        lambda x: setitem(x, np.broadcast_to(x[0], (3, 3))),
    ),
}


@pytest.mark.parametrize("on", ["array", "variable"])
@pytest.mark.parametrize(("program", "expected"), OVERLAPS.values(), ids=OVERLAPS.keys())
def test_overlapping_writes_are_as_if_inputs_were_copied_first(
    backend: str, program: Callable[[Any], Any], expected: Callable[[Any], Any], on: str
) -> None:
    values = np.arange(9.0).reshape(3, 3) ** 2 % 7
    x = ua.asarray(values, copy=True) if on == "array" else ua.asarray(variable(backend, values))
    program(x)
    expected(values)
    assert_same(x, values)


# -- asking first ----------------------------------------------------------------------------------------------------


def test_what_the_engines_support(backend: str) -> None:
    mutable = backend not in IMMUTABLE
    assert ua.inplace_arrays_supported() is mutable
    assert ua.inplace_arrays_supported(backend) is mutable
    assert ua.inplace_variables_supported() is True
    assert ua.inplace_variables_supported(backend) is True


def test_supports_inplace_updates_says_whether_ensure_in_backend_raises(backend: str) -> None:
    mutable = backend not in IMMUTABLE
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


def test_ensure_in_backend_leaves_what_it_refuses_as_it_was(backend: str) -> None:
    skip_unless(backend, *IMMUTABLE, why="native arrays that can't be written")
    values, x = pair()
    before = x.native
    for target in (x, x[1], x.T):
        with pytest.raises(ua.errors.InplaceUpdateError, match="ensure_in_backend"):
            ua.inplace_update(target, 0, ensure_in_backend=True)
    assert x.native is before
    assert_same(x, values)
    ua.inplace_update(x[1], 0)
    assert_same(x, np.array([values[0], np.zeros(3)]))


# -- tracing ---------------------------------------------------------------------------------------------------------


def traced(backend: str) -> dict[str, Callable[[Callable[[Any], Any]], Any]]:
    """Return the engine's transformations: each runs a function of a native array of three numbers while it traces."""
    if backend == "jax":
        import jax
        import jax.numpy as jnp

        ones = jnp.ones(3)
        return {
            "jit": lambda f: jax.jit(f)(ones),
            "grad": lambda f: jax.grad(lambda x: f(x).sum())(ones),
            "vmap": lambda f: jax.vmap(f)(jnp.ones((2, 3))),
            "jit of grad": lambda f: jax.jit(jax.grad(lambda x: f(x).sum()))(ones),
            "linearize": lambda f: jax.linearize(f, ones)[0],
        }
    import tensorflow as tf

    return {
        "function": lambda f: tf.function(f)(tf.ones(3, tf.float64)),
        "function in function": lambda f: tf.function(lambda x: tf.function(f)(x) + 0)(tf.ones(3, tf.float64)),
    }


TRANSFORMATIONS = [
    ("jax", "jit"),
    ("jax", "grad"),
    ("jax", "vmap"),
    ("jax", "jit of grad"),
    ("jax", "linearize"),
    ("tensorflow", "function"),
    ("tensorflow", "function in function"),
]
each_transformation = pytest.mark.parametrize(
    ("engine", "transformation"), TRANSFORMATIONS, ids=[f"{engine}-{name}" for engine, name in TRANSFORMATIONS]
)


@each_transformation
@pytest.mark.parametrize("of", ["array", "view"])
@each_write
def test_a_captured_array_is_not_written_inside_a_trace(
    backend: str, write: Write, numpy_write: Write, of: str, engine: str, transformation: str
) -> None:
    skip_unless(backend, engine, why=f"{transformation} is {engine}'s")
    values, x = pair((3,))
    target = x if of == "array" else x[::-1]

    def program(argument: Any) -> Any:
        with pytest.raises(ua.errors.TracedMutationError, match="trac"):
            write(target, ua.asarray(argument))
        with pytest.raises(ua.errors.TracedMutationError):
            target[0] = 1.0
        with pytest.raises(ua.errors.TracedMutationError):
            target[target > 0] = 1.0
        with pytest.raises(ua.errors.TracedMutationError):
            target[[0, 1]] = 1.0
        return argument * 2

    traced(backend)[transformation](program)
    # No dead tracer is left behind.
    assert_same(x, values)
    write(target, 2)
    numpy_write(values if of == "array" else values[::-1], 2)
    assert_same(x, values)


@each_transformation
def test_an_array_made_inside_a_trace_can_be_written_there(backend: str, engine: str, transformation: str) -> None:
    skip_unless(backend, engine, why=f"{transformation} is {engine}'s")
    captured = ua.asarray([1.0, 2, 3])

    def program(argument: Any) -> Any:
        x = ua.asarray(argument) * 1.0
        y = ua.zeros(3)
        wrapped = ua.asarray(argument)
        x[0] = 5.0
        x += captured
        x[::-1][0] = 7.0
        y[1:] = x[1:]
        ua.add(y, x, out=y)
        wrapped *= 3.0
        ua.inplace_increment(y, wrapped)
        y[y > 100] = 0.0
        return y.native

    # x = [6, 3, 7], y = [6, 6, 14] + 3
    result = np.asarray(traced(backend)[transformation](program))
    if "grad" in transformation:
        # Of each element of the argument: x kept two of three, y adds x[1] twice.
        np.testing.assert_allclose(result, [3.0, 5.0, 3.0])
    else:
        np.testing.assert_allclose(result, np.broadcast_to([9.0, 9.0, 17.0], result.shape))
    assert_same(captured, np.array([1.0, 2, 3]))


@each_transformation
def test_a_view_first_read_inside_a_trace_can_be_read_after_it(backend: str, engine: str, transformation: str) -> None:
    skip_unless(backend, engine, why=f"{transformation} is {engine}'s")
    values, x = pair((3,))
    views = {"reversed": x[::-1], "tail": x[1:], "whole": x[...], "reshape": x.reshape(3, 1)}

    def program(argument: Any) -> Any:
        total = ua.asarray(argument)
        for view in views.values():
            total = total + ua.sum(view)
        return total.native

    traced(backend)[transformation](program)
    assert_same(views["reversed"], values[::-1])
    assert_same(views["tail"], values[1:])
    assert_same(views["whole"], values)
    assert_same(views["reshape"], values.reshape(3, 1))
    x += 1
    assert_same(views["tail"], values[1:] + 1)


def test_an_array_of_an_outer_trace_is_not_written_in_an_inner_one(backend: str) -> None:
    skip_unless(backend, "jax", why="nested traces")
    import jax
    import jax.numpy as jnp

    def outer(argument: Any) -> Any:
        x = ua.asarray(argument) + 1

        def inner(value: Any) -> Any:
            with pytest.raises(ua.errors.TracedMutationError):
                x[0] = ua.asarray(value)[0]
            return value

        jax.jit(inner)(argument)
        x[1] = 0.0
        return x.native

    np.testing.assert_array_equal(np.asarray(jax.jit(outer)(jnp.ones(3))), [2, 0, 2])


def test_a_variable_is_written_inside_a_function(backend: str) -> None:
    skip_unless(backend, "tensorflow", why="variables")
    import tensorflow as tf

    target = tf.Variable(np.arange(3.0))
    x = ua.asarray(target)

    @tf.function
    def program(value: Any) -> Any:
        x[1:] = ua.asarray(value)
        ua.inplace_increment(x, 1)
        return tf.constant(0)

    program(tf.constant([5.0, 6.0], tf.float64))
    program(tf.constant([7.0, 8.0], tf.float64))
    np.testing.assert_array_equal(values_of(target), [2, 8, 9])


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
