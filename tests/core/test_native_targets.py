"""Writes to the engines' own arrays: where they can change, they do, and where they can't, that is an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.testing import lacks

from ..natives import native, skip_unless, values_of, variable
from ..oracle import assert_same
from .writes import TARGETS, Write, each_target, each_write, pair


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


@lacks("writes", why="native arrays that can't be written")
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
@each_target
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
