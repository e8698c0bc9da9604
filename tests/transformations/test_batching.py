"""Batches beside loops: mapped axes, and allowed writes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.errors import AxisError, BackendMismatchError, ShapeError, TracedMutationError, TraceError

from ..natives import skip_unless
from ..oracle import as_numpy, assert_same
from .through import engines, fresh

VALUES = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize("in_axis", [0, 1, 2, -1, -3])
@pytest.mark.parametrize("out_axis", [0, 1, -1])
def test_axes_in_and_out(backend: str, in_axis: int, out_axis: int) -> None:
    def function(x: ua.Array, y: ua.Array) -> ua.Array:
        x[..., ::2] += y
        return ua.cumulative_sum(x, axis=0)

    for engine in engines(backend):
        x, y = fresh(VALUES, 2.0)
        found = ua.vmap(function, in_axes=(in_axis, None), out_axes=out_axis, backend=engine)(x, y)
        parts = fresh(*np.moveaxis(VALUES, in_axis, 0))
        expected = np.stack([as_numpy(function(each, y)) for each in parts], out_axis)
        assert found.backend == backend
        np.testing.assert_allclose(as_numpy(found), expected)
        np.testing.assert_allclose(as_numpy(x), np.stack([as_numpy(each) for each in parts], in_axis))


def test_nests_of_axes(backend: str) -> None:
    def function(nest: Any, scale: float, *, shift: ua.Array) -> Any:
        nest["c"].a *= scale
        return {"a": nest["c"].a + shift, "b": (nest["b"], 3.0)}

    for engine in engines(backend):
        a, b, shift = fresh(VALUES[0], VALUES[1].T, [1, 2, 3, 4])
        nest = {"b": b, "c": ua.Container(a=a)}
        axes = ({"b": 1, "c": 0}, None)
        out_axes = {"a": 1, "b": (0, 0)}
        found = ua.vmap(function, axes, out_axes, backend=engine)(nest, 2.0, shift=shift)
        assert_same(found["a"], (VALUES[0] * 2 + [1, 2, 3, 4]).T)
        assert_same(found["b"][0], VALUES[1])
        assert_same(found["b"][1], np.full(3, 3.0))
        assert_same(a, VALUES[0] * 2)


def test_batches_of_batches(backend: str) -> None:
    def function(x: ua.Array, y: ua.Array) -> ua.Array:
        z = ua.zeros((2,))
        z[0] = x
        z[1] = y
        return z

    for engine in engines(backend):
        x, y = fresh([1, 2, 3], [4, 5])
        inner = ua.vmap(function, in_axes=(None, 0), backend=engine)
        found = ua.vmap(inner, in_axes=(0, None), backend=engine)(x, y)
        assert_same(found, np.stack(np.meshgrid([1.0, 2, 3], [4.0, 5], indexing="ij"), -1))


def test_no_batch_and_batches_of_one(backend: str) -> None:
    for engine in engines(backend):
        batched = ua.vmap(lambda x: (x * 2, ua.sum(x)), out_axes=(1, 0), backend=engine)
        for count in (0, 1):
            (x,) = fresh(np.ones((count, 3)))
            doubled, total = batched(x)
            assert_same(doubled, np.full((3, count), 2.0))
            assert_same(total, np.full(count, 3.0))


def test_gradients_of_batches_and_batches_of_gradients(backend: str) -> None:
    def loss(w: ua.Array, x: ua.Array) -> ua.Array:
        y = ua.tanh(x)
        y[1:] *= w[1:]
        y[y > 0.5] = 0.25
        return ua.sum(y * w)

    w, x = np.array([0.5, 1.5, -1.0]), np.sin(np.arange(6.0)).reshape(2, 3)
    expected = [as_numpy(ua.grad(loss)(*fresh(w, each))) for each in x]
    for engine in engines(backend):
        each = ua.vmap(ua.grad(loss, backend=engine), in_axes=(None, 0), backend=engine)(*fresh(w, x))
        np.testing.assert_allclose(as_numpy(each), expected)

        def total(w: ua.Array, x: ua.Array, engine: Any = engine) -> ua.Array:
            return ua.sum(ua.vmap(loss, in_axes=(None, 0), backend=engine)(w, x))

        np.testing.assert_allclose(as_numpy(ua.grad(total, backend=engine)(*fresh(w, x))), np.sum(expected, 0))
        hessians = ua.vmap(ua.hessian(loss, backend=engine), in_axes=(None, 0), backend=engine)(*fresh(w, x))
        assert hessians.shape == (2, 3, 3)


def test_indices_and_integers_are_mapped(backend: str) -> None:
    def function(x: ua.Array, index: ua.Array, value: ua.Array) -> ua.Array:
        x[index] = value
        return x[index[0]] + ua.take(x, index)

    x, index, value = np.zeros((2, 4)), np.array([[0, 2, 0], [3, 3, 1]]), np.arange(6.0).reshape(2, 3)
    for engine in engines(backend):
        target, places, values = fresh(x)[0], ua.asarray(index), fresh(value)[0]
        found = ua.vmap(function, backend=engine)(target, places, values)
        parts = fresh(*x)
        arguments = zip(parts, index, fresh(*value), strict=True)
        expected = [as_numpy(function(a, ua.asarray(b), c)) for a, b, c in arguments]
        assert_same(found, np.stack(expected))
        assert_same(target, np.stack([as_numpy(each) for each in parts]))


def test_what_is_not_mapped_is_not_written(backend: str) -> None:
    captured, made = fresh([1, 2], [3, 4])

    def writes_captured(x: ua.Array) -> ua.Array:
        captured[...] = x
        return x

    def writes_argument(x: ua.Array, y: ua.Array) -> ua.Array:
        y += x
        return y

    def writes_own(x: ua.Array) -> ua.Array:
        own = captured * 2
        own[0] = x[0]
        return own

    for engine in engines(backend):
        (x,) = fresh(VALUES[0, :, :2])
        with pytest.raises(TracedMutationError):
            ua.vmap(writes_captured, backend=engine)(x)
        with pytest.raises(TracedMutationError):
            ua.vmap(writes_argument, in_axes=(0, None), backend=engine)(x, made)
        assert_same(captured, np.array([1.0, 2.0]))
        assert_same(made, np.array([3.0, 4.0]))
        assert_same(ua.vmap(writes_own, backend=engine)(x)[:, 0], VALUES[0, :, 0])


@pytest.mark.parametrize(
    ("in_axes", "arguments", "error", "says"),
    [
        (0, ([1.0, 2.0], [1.0, 2.0, 3.0]), ShapeError, "one length"),
        ((0,), ([1.0], [2.0]), ValueError, "in_axes"),
        ((None, None), ([1.0], [2.0]), ValueError, "at least one"),
        (1, ([1.0], [2.0]), AxisError, "axis 1"),
        (([0], 0), ([1.0], [2.0]), ValueError, "in_axes"),
    ],
)
def test_axes_that_do_not_fit(backend: str, in_axes: Any, arguments: Any, error: Any, says: str) -> None:
    with pytest.raises(error, match=says):
        ua.vmap(ua.add, in_axes)(*map(ua.asarray, arguments))


def test_what_is_mapped_and_returned_are_arrays(backend: str) -> None:
    with pytest.raises(TypeError, match="in_axes is None"):
        ua.vmap(lambda x, y: x)(fresh([1])[0], "text")
    with pytest.raises(TypeError, match="must return arrays"):
        ua.vmap(lambda x: "text")(fresh([1])[0])
    for out_axes in (None, "0", 0.5):
        with pytest.raises(ValueError, match="out_axes"):
            ua.vmap(lambda x: x, out_axes=out_axes)(fresh([1])[0])
    with pytest.raises(AxisError):
        ua.vmap(lambda x: x, out_axes=1)(fresh([1])[0])


def test_values_are_not_known_in_a_batch(backend: str) -> None:
    for engine in engines(backend):
        with pytest.raises(TraceError, match="where"):
            ua.vmap(lambda x: x if x > 0 else -x, backend=engine)(fresh([1, 2])[0])


def test_a_write_changes_no_layout(backend: str) -> None:
    skip_unless(backend, "torch", why="an engine whose arrays have strides inside its transformations")

    def function(x: ua.Array) -> ua.Array:
        x[0] = 1.0
        # If the array isn't contiguous, it's a copy.
        flat = ua.reshape(x, (-1,))
        flat += 2
        return ua.sum(x**2)

    x, y = (ua.matrix_transpose(ua.asarray(np.arange(12.0).reshape(4, 3))) for _ in range(2))
    value, gradient = ua.value_and_grad(function)(x)
    assert_same(value, as_numpy(function(y)))
    assert_same(x, as_numpy(y))
    assert_same(gradient[1:], 2 * as_numpy(y)[1:])
    values = np.arange(24.0).reshape(4, 2, 3)
    batched, one_by_one = fresh(values, values)
    expected = [float(function(one_by_one[:, number])) for number in range(2)]
    assert_same(ua.vmap(function, in_axes=1)(batched), np.array(expected))
    assert_same(batched, as_numpy(one_by_one))


@pytest.mark.parametrize("groups", [1, 2])
def test_convolutions_with_weights_of_their_own(backend: str, groups: int) -> None:
    # They are one convolution of many groups, for which TensorFlow has no kernel.
    values = np.sin(np.arange(96.0)).reshape(2, 4, 4, 3)
    images, weights = fresh(values[:, :1], values[:, :, : 4 // groups, :2])

    def function(x: ua.Array, weight: ua.Array) -> ua.Array:
        return ua.nn.conv1d(x, weight, groups=groups)

    expected = ua.stack([function(x, weight) for x, weight in zip(images, weights, strict=True)])
    assert_same(ua.vmap(function)(images, weights), as_numpy(expected))


USES: dict[str, Any] = {
    "in no batch": lambda kept, x: kept["array"] + 1,
    "in a function": lambda kept, x: ua.sum(kept["array"]),
    "in a container": lambda kept, x: kept["container"] * 2,
    "with another one": lambda kept, x: x * kept["array"],
    "in a later batch": lambda kept, x: ua.vmap(lambda x: x * kept["array"])(x),
    "in a later function": lambda kept, x: ua.vmap(lambda x: ua.atan2(x, kept["array"]))(x),
    "as a view": lambda kept, x: ua.vmap(lambda x: x * kept["view"])(x),
    "of a known call": lambda kept, x: ua.vmap(lambda x: x * kept["call"])(x),
    "written": lambda kept, x: ua.vmap(lambda x: kept["array"].__setitem__(..., x))(x),
    "returned": lambda kept, x: ua.vmap(lambda x: kept["array"])(x),
    "passed": lambda kept, x: ua.vmap(lambda x, y: x * y, (0, None))(x, kept["array"]),
    "mapped": lambda kept, x: ua.vmap(lambda y: y * 2)(kept["view"]),
    "in a derivative": lambda kept, x: ua.grad(lambda x: ua.sum(x * kept["array"]))(x),
    "in a derivative in a batch": lambda kept, x: ua.vmap(ua.grad(lambda x: x * kept["array"]))(x),
    "in a compiled function": lambda kept, x: ua.compile(lambda x: x * kept["array"])(x),
    "in a compiled batch": lambda kept, x: ua.compile(ua.vmap(lambda x: x * kept["array"]))(x),
}


@pytest.mark.parametrize("use", USES)
def test_an_array_that_outlives_its_batch_says_so(backend: str, use: str) -> None:
    skip_unless(backend, "numpy", "torch", why="batches by rules")
    (x,) = fresh([1, 2])
    kept: dict[str, Any] = {}

    def function(x: ua.Array) -> ua.Array:
        y = x * x
        kept.update(array=y, container=ua.Container(y=y), view=ua.reshape(y, (1,)), call=ua.max(ua.stack([x, y])))
        return y

    for _ in range(3):
        # A call that is known takes another way.
        assert_same(ua.vmap(function)(x), [1.0, 4.0])
    with pytest.raises((TraceError, BackendMismatchError), match=r"outlived|made inside"):
        USES[use](kept, x)
    assert_same(ua.vmap(function)(x), [1.0, 4.0])
