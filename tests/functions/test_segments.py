"""Reductions over segments against NumPy's reductions of each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua
from unifyarr.testing import needs

from ..gradients import TRACING, gradient, traced
from ..natives import skip_unless
from ..oracle import (
    ALL,
    COMPLEX,
    HALVES,
    TOLERANCE,
    assert_raises,
    assert_same,
    few,
    in_layout,
    layouts,
    reference,
    seeded,
    twice,
)

REDUCTIONS = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min, "mean": np.mean}


def lowest(name: str, dtype: np.dtype[Any]) -> Any:
    """Return the maximum of no elements, or the minimum."""
    if dtype.kind == "b":
        return name == "min"
    if dtype.kind in "iu":
        return getattr(np.iinfo(dtype), name.translate(str.maketrans({"a": "i", "i": "a", "x": "n", "n": "x"})))
    return np.inf if name == "min" else -np.inf


def reduced(name: str, values: np.ndarray, ids: np.ndarray, count: int) -> np.ndarray:
    """Return NumPy's reduction of each segment, halves computed in float32."""
    wide = values.astype("float32") if values.dtype.name in HALVES else values
    if name in ("max", "min"):
        empty = lowest(name, values.dtype)
        rows = [REDUCTIONS[name](wide[ids == k], axis=0, initial=empty) for k in range(count)]
    else:
        rows = [reference(REDUCTIONS[name], wide[ids == k], axis=0) for k in range(count)]
    result = np.stack([np.asarray(row) for row in rows])
    return result.astype(values.dtype) if values.dtype.name in HALVES or name in ("max", "min") else result


def check(name: str, dtype: str, data: st.DataObject) -> None:
    if name in ("max", "min") and dtype in COMPLEX:
        x = ua.zeros(2, dtype=dtype)
        assert_raises(ua.errors.DtypeError, getattr(ua, f"segment_{name}"), x, ua.asarray([0, 1]))
        return
    shape = data.draw(st.sampled_from([(6,), (6, 2), (0, 2), (6, 0)] if dtype == "float64" else [(6, 2)]))
    options: dict[str, Any] = {"low": -4, "high": 4, "special": dtype not in (*HALVES, *COMPLEX)}
    values = data.draw(seeded(dtype, shape, **options))
    ids = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1))).integers(0, 4, shape[0])
    if name == "mean" and values.dtype.kind in "iu":
        # Sums of the greatest integers depend on the order.
        values = values >> (8 * values.itemsize - 8)
    actual = getattr(ua, f"segment_{name}")(
        in_layout(values, data.draw(layouts(dtype))), ua.asarray(ids.astype("int32")), num_segments=5
    )
    expected = reduced(name, values, ids, 5)
    atol = 100 * TOLERANCE.get(expected.dtype.name, 0) if name in ("sum", "mean") else 0.0
    rtol = 10 * TOLERANCE.get(expected.dtype.name, 0)
    assert_same(actual, expected, rtol=rtol, atol=atol, signed_zeros=False, what=(values, ids))


@pytest.mark.parametrize("name", REDUCTIONS)
@few
@given(data=st.data())
def test_segments_are_reduced_as_numpy_reduces(backend: str, name: str, data: st.DataObject) -> None:
    check(name, "float64", data)


@pytest.mark.parametrize("dtype", [dtype for dtype in ALL if dtype != "float64"])
@pytest.mark.parametrize("name", REDUCTIONS)
@twice
@given(data=st.data())
def test_segments_of_every_dtype(backend: str, name: str, dtype: str, data: st.DataObject) -> None:
    check(name, dtype, data)


@needs("values", why="a length that values decide")
@pytest.mark.parametrize("name", REDUCTIONS)
def test_the_number_of_segments_follows_from_the_greatest_id(backend: str, name: str) -> None:
    function = getattr(ua, f"segment_{name}")
    assert function(ua.ones(3), ua.asarray([0, 4, 1])).shape == (5,)
    assert function(ua.ones((0, 2)), ua.asarray([], dtype="int64")).shape == (0, 2)
    assert function(ua.ones((0, 2)), ua.asarray([], dtype="int64"), num_segments=3).shape == (3, 2)


@needs("values", why="values that are checked at once")
@pytest.mark.parametrize("name", REDUCTIONS)
def test_errors(backend: str, name: str) -> None:
    function, x = getattr(ua, f"segment_{name}"), ua.ones(3)
    for ids, options, error in [
        ([0, 3, 1], {"num_segments": 3}, IndexError),
        ([0, -1, 1], {"num_segments": 3}, IndexError),
        ([0, -1, 1], {}, IndexError),
        ([0, 1], {}, ua.errors.ShapeError),
        ([[0, 1, 2]], {}, ua.errors.ShapeError),
        ([0.0, 1.0, 2.0], {}, ua.errors.DtypeError),
        ([0, 1, 2], {"num_segments": -1}, ValueError),
        ([0, 1, 2], {"num_segments": 2.5}, TypeError),
    ]:
        assert_raises(error, function, x, ua.asarray(ids), **options)
        out = ua.full((3,), 7.0)
        assert_raises(error, function, x, ua.asarray(ids), out=out, **options)
    assert_raises(ua.errors.ShapeError, function, ua.ones(()), ua.asarray([0]))


def test_halves_add_up_beyond_their_digits(backend: str) -> None:
    x = ua.ones(4000, dtype="float16")
    ids = ua.zeros(4000, dtype="int64")
    assert_same(ua.segment_sum(x, ids), np.asarray([4000], "float16"))
    assert_same(ua.segment_mean(x, ids), np.asarray([1], "float16"))


GRADIENTS = {
    "sum": [[1, 2], [3, 4], [1, 2]],
    "mean": [[0.5, 1], [3, 4], [0.5, 1]],
    "max": [[1, 0], [3, 4], [0, 2]],
    "min": [[0, 2], [3, 4], [1, 0]],
    "prod": [[3, 8], [3, 4], [5, -2]],
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(backend: str, name: str) -> None:
    skip_unless(backend, "torch", "jax", "tensorflow", why="an engine that records gradients")
    if name == "prod":
        skip_unless(backend, "torch", "tensorflow", why="JAX has no gradient of products at equal indices")
    values, weights = np.array([[5.0, -1.0], [2.0, 7.0], [3.0, 4.0]]), ua.asarray([[1.0, 2.0], [3.0, 4.0]])

    def loss(x: ua.Array) -> ua.Array:
        return ua.sum(weights * getattr(ua, f"segment_{name}")(x, ua.asarray([0, 1, 0]), num_segments=2))

    np.testing.assert_allclose(gradient(backend, loss, values), GRADIENTS[name])


@pytest.mark.parametrize("name", REDUCTIONS)
def test_inside_a_trace(backend: str, name: str) -> None:
    skip_unless(backend, *TRACING, why="an engine that traces")
    values, ids = np.array([3.0, np.nan, 2.0, 5.0]), np.array([0, 2, 0, 3])

    def program(x: ua.Array, ids: ua.Array) -> ua.Array:
        return getattr(ua, f"segment_{name}")(x, ids, num_segments=4)  # type: ignore[no-any-return]

    assert_same(traced(backend, program, values, ids), program(ua.asarray(values), ua.asarray(ids)).__array__())
    with pytest.raises(ua.errors.ShapeError, match="num_segments"):
        traced(backend, getattr(ua, f"segment_{name}"), values, ids)
