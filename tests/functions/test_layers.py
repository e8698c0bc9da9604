"""Layers against torch's own functions and NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua

from ..natives import skip_unless
from ..oracle import ALL, COMPLEX, FLOATS, HALVES, TOLERANCE, UNSIGNED, as_numpy, assert_raises, assert_same
from .test_native_out import gradient

X = np.array([[0.5, -1.0, 2.0], [3.0, 0.25, -0.5]])
WEIGHT = np.array([[1.0, 2.0, -1.0], [0.5, -3.0, 2.0], [0.0, 1.5, 1.0], [2.0, 1.0, -2.5]])
BIAS = np.array([0.5, -1.0, 2.0, 0.0])
TABLE = np.arange(12.0).reshape(4, 3)


# -- linear ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 1, 3), (0, 3)])
def test_linear(backend: str, shape: tuple[int, ...], dtype: str) -> None:
    kind = ua.bfloat16 if dtype == "bfloat16" else dtype
    x, weight, bias = ((4 * each).astype(kind) for each in (np.resize(X, shape), np.abs(WEIGHT), np.abs(BIAS)))
    if dtype in UNSIGNED:
        x = np.abs(4 * np.resize(X, shape)).astype(kind)
    wide = {"b": "?", "i": "i8", "u": "u8", "c": "c16"}.get(np.dtype(kind).kind, "f8")
    expected = (x.astype(wide) @ weight.astype(wide).T).astype(kind)
    given = [ua.asarray(each) for each in (x, weight, bias)]
    rounding: dict[str, Any] = {"atol": 100 * TOLERANCE.get(dtype, 0), "signed_zeros": False}
    assert_same(ua.nn.linear(*given[:2]), expected, **rounding)
    assert_same(ua.nn.linear(*given), (expected.astype(wide) + bias.astype(wide)).astype(kind), **rounding)


def test_linear_promotes(backend: str) -> None:
    x, weight, bias = ua.ones((2, 3), dtype="float32"), ua.ones((4, 3), dtype="int8"), ua.ones(4, dtype="float64")
    assert ua.nn.linear(x, weight).dtype == "float32"
    result = ua.nn.linear(x, weight, bias)
    assert_same(result, np.full((2, 4), 4.0))
    assert_same(ua.nn.linear([1.0, 1.0, 1.0], weight, [0, 1, 2, 3]), np.array([3.0, 4.0, 5.0, 6.0]))


@pytest.mark.parametrize(
    ("x", "weight", "bias"),
    [((2, 4), (4, 3), (4,)), ((), (4, 3), (4,)), ((2, 3), (3,), (4,)), ((2, 3), (4, 3), (3,)), ((2, 3), (4, 3), ())],
    ids=["features", "no axis", "a vector", "a bias of the features", "a bias of no axis"],
)
def test_linear_refuses_shapes_that_dont_fit(
    backend: str, x: tuple[int, ...], weight: tuple[int, ...], bias: tuple[int, ...]
) -> None:
    out = ua.ones((2, 4))
    assert_raises(ua.errors.ShapeError, ua.nn.linear, ua.ones(x), ua.ones(weight), ua.ones(bias), out=out)


# -- tables ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint64"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 2), (0, 2)])
def test_embedding_and_one_hot(backend: str, shape: tuple[int, ...], dtype: str) -> None:
    indices = np.resize([3, 0, 1], shape).astype(dtype)
    assert_same(ua.nn.embedding(ua.asarray(indices), ua.asarray(TABLE)), TABLE[indices])
    assert_same(ua.nn.one_hot(ua.asarray(indices), 4), np.eye(4, dtype="int64")[indices])


def test_negative_indices_count_from_the_end(backend: str) -> None:
    indices = ua.asarray([-1, -4])
    assert_same(ua.nn.embedding(indices, ua.asarray(TABLE)), TABLE[[3, 0]])
    assert_same(ua.nn.one_hot(indices, 4), np.eye(4, dtype="int64")[[3, 0]])


@pytest.mark.parametrize("index", [4, -5, 2**40])
def test_indices_out_of_bounds_are_refused(backend: str, index: int) -> None:
    indices = ua.asarray([0, index])
    assert_raises(IndexError, ua.nn.embedding, indices, ua.asarray(TABLE), out=ua.ones((2, 3)))
    assert_raises(IndexError, ua.nn.one_hot, indices, 4, out=ua.ones((2, 4), dtype="int64"))


@pytest.mark.parametrize("dtype", ["bool", "float64", "complex128"])
def test_indices_are_integers(backend: str, dtype: str) -> None:
    indices = ua.ones(2, dtype=dtype)
    assert_raises(ua.errors.DtypeError, ua.nn.embedding, indices, ua.asarray(TABLE))
    assert_raises(ua.errors.DtypeError, ua.nn.one_hot, indices, 4)


def test_a_table_has_two_axes_and_classes_are_counted(backend: str) -> None:
    indices = ua.asarray([0])
    assert_raises(ua.errors.ShapeError, ua.nn.embedding, indices, ua.ones(3))
    assert_raises(ua.errors.ShapeError, ua.nn.one_hot, indices, -1)
    assert_raises(TypeError, ua.nn.one_hot, indices, 2.0)
    assert_raises(ua.errors.DtypeError, ua.nn.one_hot, indices, 2, dtype="wide")
    assert ua.nn.one_hot(ua.zeros(0, dtype="int64"), 0).shape == (0, 0)


@pytest.mark.parametrize("dtype", ALL)
def test_one_hot_of_a_dtype(backend: str, dtype: str) -> None:
    expected = np.eye(3)[[2, 1]].astype(ua.bfloat16 if dtype == "bfloat16" else dtype)
    assert_same(ua.nn.one_hot(ua.asarray([2, 1]), 3, dtype=dtype), expected)
    out = ua.ones((2, 3), dtype=dtype)
    assert ua.nn.one_hot(ua.asarray([2, 1]), 3, dtype=dtype, out=out) is out
    assert_same(out, expected)


# -- dropout --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*HALVES, *FLOATS, *COMPLEX, "int64", "bool"])
@pytest.mark.parametrize("shape", [(), (0, 2), (20, 10)])
def test_dropout_drops_what_numpy_draws(backend: str, shape: tuple[int, ...], dtype: str) -> None:
    kind = ua.bfloat16 if dtype == "bfloat16" else dtype
    x = np.resize([1.0, 2.0, -3.0], shape).astype(kind)
    drawn = np.random.default_rng(3).random(shape)
    wide = x.astype("f8") if dtype in ("int64", "bool") else x
    expected = np.where(drawn < 0.25, 0, wide.astype("c16" if dtype in COMPLEX else "f8") / 0.75).astype(wide.dtype)
    result = ua.nn.dropout(ua.asarray(x), 0.25, generator=np.random.default_rng(3))
    assert_same(result, expected, signed_zeros=False)


def test_the_same_elements_are_dropped_on_every_backend(backend: str) -> None:
    result = as_numpy(ua.nn.dropout(ua.ones(1000), 0.3, generator=np.random.default_rng(7)))
    assert (
        np.flatnonzero(result == 0)[:5].tolist()
        == np.flatnonzero(np.random.default_rng(7).random(1000) < 0.3)[:5].tolist()
    )
    assert 250 < np.sum(result == 0) < 350


def test_dropout_at_the_ends(backend: str) -> None:
    x = np.array([1.0, np.nan, np.inf])
    generator = np.random.default_rng(0)
    assert_same(ua.nn.dropout(ua.asarray(x), 0, generator=generator), x)
    assert_same(ua.nn.dropout(ua.asarray(x), 1.0, generator=generator), np.zeros(3))
    before = generator.bit_generator.state
    assert_same(ua.nn.dropout(ua.asarray(x), 0.5, generator=generator, training=False), x)
    assert generator.bit_generator.state == before


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")])
def test_a_rate_is_a_probability(backend: str, rate: float) -> None:
    assert_raises(ValueError, ua.nn.dropout, ua.ones(3), rate, generator=np.random.default_rng(0), out=ua.ones(3))


def test_dropout_needs_a_generator_and_draws_nothing_in_vain(backend: str) -> None:
    generator = np.random.default_rng(0)
    before = generator.bit_generator.state
    assert_raises(TypeError, ua.nn.dropout, ua.ones(3), 0.5)
    assert_raises(TypeError, ua.nn.dropout, ua.ones(3), 0.5, generator=3)
    assert_raises(ua.errors.ShapeError, ua.nn.dropout, ua.ones(3), 0.5, generator=generator, out=ua.ones(4))
    assert generator.bit_generator.state == before


# -- gradients ------------------------------------------------------------------------------------------------------


def test_gradients(backend: str) -> None:
    skip_unless(backend, "torch", "jax", "tensorflow", why="an engine that records gradients")
    scale = np.array([[1.0, -2.0, 3.0, 0.5], [2.0, 1.0, -1.0, 4.0]])
    for place, expected in enumerate((scale @ WEIGHT, scale.T @ X, scale.sum(0))):

        def loss(x: ua.Array, place: int = place) -> ua.Array:
            given = [x if number == place else ua.asarray(each) for number, each in enumerate((X, WEIGHT, BIAS))]
            return ua.sum(ua.nn.linear(*given) * ua.asarray(scale))

        np.testing.assert_allclose(gradient(backend, loss, (X, WEIGHT, BIAS)[place]), expected)
    looked_up = gradient(backend, lambda x: ua.sum(ua.nn.embedding(ua.asarray([2, 0, 2]), x) ** 2), TABLE)
    np.testing.assert_allclose(looked_up, 2 * TABLE * np.array([[1], [0], [2], [0]]))
    kept = np.random.default_rng(0).random(X.shape) >= 0.5
    dropped = gradient(backend, lambda x: ua.sum(ua.nn.dropout(x, 0.5, generator=np.random.default_rng(0)) ** 2), X)
    np.testing.assert_allclose(dropped, 8 * X * kept)
