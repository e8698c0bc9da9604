"""Calls that one op of an engine answers, whatever the shapes of its operands, and small writes: against NumPy."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.testing import needs

from ..oracle import as_numpy, assert_same, assert_values

SQUARE = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.0], [0.5, 0.0, 2.0]])
STACK = np.stack([SQUARE, SQUARE + np.eye(3)])
VECTOR = np.array([1.5, -2.0, 0.0, 1.5, 3.25])


def softmax(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x - x.max(-1, keepdims=True))
    total: np.ndarray = powers / powers.sum(-1, keepdims=True)
    return total


FUNCTIONS: dict[str, tuple[Any, list[np.ndarray]]] = {
    "linalg.det": (np.linalg.det, [SQUARE, STACK, STACK[:0], np.ones((2, 0, 0))]),
    "linalg.inv": (np.linalg.inv, [SQUARE, STACK, STACK[:0], SQUARE * 1j + STACK]),
    "linalg.cholesky": (np.linalg.cholesky, [SQUARE, STACK, STACK[:0], SQUARE[:1, :1]]),
    "nn.softmax": (softmax, [VECTOR, STACK, SQUARE.astype(np.float32)]),
    "nn.relu": (lambda x: np.maximum(x, 0), [VECTOR, 1 - STACK, VECTOR.astype(np.int64), VECTOR[:0]]),
    "tril": (np.tril, [SQUARE, STACK, SQUARE > 1, STACK[:0], SQUARE[:2], SQUARE.astype(np.int8)]),
    "triu": (np.triu, [SQUARE, STACK, SQUARE > 1, STACK[:0], SQUARE[:2], SQUARE.astype(np.int8)]),
    "unique_values": (
        lambda x: np.unique(x, equal_nan=False),
        [VECTOR, STACK, VECTOR[:0], np.array([np.nan, 1.0, np.nan]), np.array([2, 1, 2]), VECTOR > 0, VECTOR + 1j],
    ),
}


def function_of(name: str) -> Any:
    found: Any = ua
    for part in name.split("."):
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_operands_of_all_shapes_and_dtypes(backend: str, name: str) -> None:
    wanted, operands = FUNCTIONS[name]
    for x in operands:
        for _ in range(2):
            found = as_numpy(function_of(name)(ua.asarray(x)))
            assert_values(found, wanted(x))
            assert found.dtype == wanted(x).dtype


@pytest.mark.parametrize("name", ["qr", "eigh", "svd", "slogdet"])
def test_each_of_several_results_is_a_whole_array(backend: str, name: str) -> None:
    x = ua.asarray(SQUARE)
    for _ in range(4):
        for each in getattr(ua.linalg, name)(x):
            assert_values(as_numpy(each + each), 2 * as_numpy(each))
            each *= 2.0
            assert_values(as_numpy(each[...]), as_numpy(each))


@needs("values", why="of a lazy engine the solvers refuse late")
def test_what_no_op_answers_is_refused_as_ever(backend: str) -> None:
    bad = ua.asarray([[1.0, 2.0], [2.0, 1.0]])
    for _ in range(3):
        with pytest.raises(np.linalg.LinAlgError):
            ua.linalg.cholesky(bad)
        with pytest.raises(np.linalg.LinAlgError):
            ua.linalg.inv(bad * 0)
        with pytest.raises(ua.errors.ShapeError):
            ua.linalg.det(bad[:1])
        with pytest.raises(TypeError):
            ua.nn.softmax(bad, axis=-1.0)  # type: ignore[arg-type]
        with pytest.raises(IndexError):
            bad[0, 2] = 1.0
        with pytest.raises(IndexError):
            bad[-3, 0]


def test_solving_vectors_and_matrices(backend: str) -> None:
    for left, right in [
        (SQUARE, VECTOR[:3]),
        (SQUARE, SQUARE),
        (STACK, STACK),
        (STACK, SQUARE),
        (SQUARE, VECTOR[:3] > 0),
    ]:
        for _ in range(2):
            found = ua.linalg.solve(ua.asarray(left), ua.asarray(right))
            np.testing.assert_allclose(as_numpy(found), np.linalg.solve(left, right), atol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8", "uint8", "bool", "complex128"])
def test_choices_between_arrays_and_numbers(backend: str, dtype: str) -> None:
    x = np.array([1, 0, 3], dtype)
    chosen = np.array([True, False, True])
    for one, other in [(x, 0), (2.5, x), (x, -0.0), (x, np.inf), (x, x), (x, VECTOR[:3]), (x, 100), (x, True)]:
        ours = [ua.asarray(each) if isinstance(each, np.ndarray) else each for each in (one, other)]
        for _ in range(2):
            assert_same(ua.where(ua.asarray(chosen), *ours), np.where(chosen, one, other))
    for _ in range(2):
        with pytest.raises(ua.errors.DtypeError):
            ua.where(ua.asarray([1, 0, 2]), ua.asarray(x), 0)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int8", "uint8", "bool", "complex128"])
def test_elements_and_masks_are_written(backend: str, dtype: str) -> None:
    values = np.arange(6).reshape(2, 3).astype(dtype)
    mask = np.array([[True, False, True], [False, False, True]])
    keys: list[Any] = [(0, 1), (-1, -3), (1, 2), 1, mask, (0,), (True, 0)]
    for key in keys:
        for value in (2, 2.75, -1, 300, np.nan, -0.0, True):
            wanted, x = values.copy(), ua.asarray(values, copy=True)
            view = x[0]
            with contextlib.suppress(ValueError, TypeError, OverflowError), np.errstate(all="ignore"):
                x[ua.asarray(key) if key is mask else key] = value
                wanted[key] = value
            np.testing.assert_array_equal(as_numpy(x), wanted, err_msg=f"{key}, {value}")
            np.testing.assert_array_equal(as_numpy(view), wanted[0])


@pytest.mark.parametrize("dtype", ["float64", "float16", "int64", "bool", "complex64"])
def test_small_windows_are_written(backend: str, dtype: str) -> None:
    values = np.arange(24).reshape(2, 3, 4).astype(dtype)
    keys: list[Any] = [
        *(slice(1, 2), (0, slice(None, None, 2)), (slice(None), -1), (1, slice(1, 9), slice(-3, -1)), slice(5, 9)),
        *((slice(None, None, -1), 0), (slice(None), slice(2, 0, -1), 1), (), (..., slice(1, 3)), (slice(2), 1, 3)),
    ]
    for key in keys:
        for other in (values[key][..., ::-1] + values[0, 0, 1], values[0, 0, 2], values[1, 0], values[0, :, :1]):
            wanted, x = values.copy(), ua.asarray(values, copy=True)
            view = x[0]
            try:
                wanted[key] = other
            except ValueError:
                with pytest.raises(ValueError, match=r"shape|broadcast"):
                    x[key] = ua.asarray(other)
            else:
                x[key] = ua.asarray(other)
            np.testing.assert_array_equal(as_numpy(x), wanted, err_msg=f"{key}")
            np.testing.assert_array_equal(as_numpy(view), wanted[0])


def test_slices_are_of_integers(backend: str) -> None:
    x, two = ua.arange(4.0), ua.asarray([5.0, 6.0])
    # As a cache key, 1.0 would equal 1.
    x[1:3] = two
    with pytest.raises(TypeError, match=r"indices|integer"):
        x[1.0:3] = two  # type: ignore[misc]
    x[True:3] = two  # type: ignore[misc]
    x[np.int64(2) :] = two
    assert x.tolist() == [0.0, 5.0, 5.0, 6.0]


def test_an_element_is_an_array_of_its_own(backend: str) -> None:
    x = ua.asarray([[1.0, 2.0], [3.0, 4.0]])
    found = x[0, 1]
    x[0, 1] = 5.0
    x[1, 1] = found
    x[1, 0] += found
    assert x.tolist() == [[1.0, 5.0], [5.0, 2.0]]
    assert float(found) == 2.0
    assert found.shape == ()


@pytest.mark.parametrize("dtype", ["float64", "int64", "float16", "complex64"])
def test_windows_are_updated(backend: str, dtype: str) -> None:
    keys: list[Any] = [slice(1, 3), (slice(None, None, -2), 1), (slice(1), slice(None, None, 2)), (..., None, 0), 2]
    for key in keys:
        wanted, x = np.arange(12).reshape(4, 3).astype(dtype), ua.asarray(np.arange(12).reshape(4, 3).astype(dtype))
        beside, view, column = np.full(wanted[key].shape, 3, dtype), x[key], x[:, 0]
        for other in (beside, 2, beside[..., :1]):
            view += ua.asarray(other) if isinstance(other, np.ndarray) else other
            wanted[key] += other
            view -= ua.asarray(beside)
            wanted[key] -= beside
            np.testing.assert_array_equal(as_numpy(x), wanted)
            np.testing.assert_array_equal(as_numpy(view), wanted[key])
            np.testing.assert_array_equal(as_numpy(column), wanted[:, 0])


def test_small_writes_have_derivatives() -> None:
    tf = pytest.importorskip("tensorflow")

    def written(x: Any) -> Any:
        y = x * 1.0
        y[0] = 5.0
        y[1] = x[2] * x[2]
        window = y[2:4]
        window += x[:2]
        y[1:3] = y[1:3] * x[0]
        y[y > 100.0] = 0.0
        return ua.sum(y * y)

    x = tf.constant([1.0, 2.0, 3.0, 4.0], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = written(ua.asarray(x)).native
    wanted = [2 * 4.0 + 2 * 81.0 + 2 * 16.0, 2 * 6.0, 4 * 9.0 * 3.0 + 2 * 4.0, 2 * 6.0]
    np.testing.assert_allclose(tape.gradient(total, x), wanted)
    np.testing.assert_allclose(as_numpy(ua.grad(written)(ua.asarray(x))), wanted)
    traced = tf.function(lambda x: written(ua.asarray(x)).native)
    np.testing.assert_allclose(traced(x), 25.0 + 81.0 + 16.0 + 36.0)


def test_floored_quotients_of_a_few_numbers(backend: str) -> None:
    numbers = [0.0, -0.0, 1.0, -7.5, 6.0, 0.1, 1e308, 5e-324, np.inf, -np.inf, np.nan, 1e-300, 3.0]
    for second in (0.1, -0.3, 3.0, 1e-308, -2.0):
        for first in numbers:
            one, other = np.array([first, 1.0]), np.array([second, 0.7])
            with np.errstate(all="ignore"):
                found = as_numpy(ua.asarray(one) // ua.asarray(other))
                wanted = one // other
            # Beside infinities, and where 5e-324 counts for 0, the standard and engines differ from NumPy.
            if np.isfinite(wanted).all() and abs(first) != 5e-324 and second != 1e-308:
                np.testing.assert_array_equal(found, wanted)
                np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))
