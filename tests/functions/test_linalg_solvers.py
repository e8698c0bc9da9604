"""Least squares against NumPy, and the exponential function of matrices against SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import unifyarr as ua
from unifyarr.testing import needs

from ..gradients import assert_gradients
from ..natives import skip_unless
from ..oracle import ALL, COMPLEX, FLOATS, HALVES, as_numpy, assert_raises, assert_same, is_bfloat16

linalg = ua.linalg
LOOSE = {"float32": 2e-4, "complex64": 2e-4, "float64": 1e-11, "complex128": 1e-11, "float16": 1e-2, "bfloat16": 6e-2}


def drawn(dtype: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    if dtype not in LOOSE:
        return random.integers(0, 3, shape).astype(dtype)
    values = random.uniform(-1, 1, shape)
    if dtype in COMPLEX:
        values = values + 1j * random.uniform(-1, 1, shape)
    return values.astype(ua.bfloat16 if dtype == "bfloat16" else dtype)


def wide(x: np.ndarray) -> np.ndarray:
    return x.astype("f4") if x.dtype == np.float16 or is_bfloat16(x) else x


# -- lstsq ------------------------------------------------------------------------------------------------------------


def check_lstsq(a: np.ndarray, b: np.ndarray, **options: Any) -> None:
    result = linalg.lstsq(ua.asarray(a), ua.asarray(b), **options)
    assert result._fields == ("solution", "residuals", "rank", "singular_values")
    expected = np.linalg.lstsq(wide(a), wide(b), **options)
    for name, mine, each in zip(result._fields, result, expected, strict=True):
        values = np.asarray(each, "int64") if name == "rank" else each
        if a.dtype.name in HALVES and name != "rank":
            values = values.astype(a.dtype)
        tolerance = LOOSE.get(values.dtype.name, 0.0)
        assert_same(mine, values, rtol=tolerance, atol=tolerance * 4, signed_zeros=False, what=name)


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX, *HALVES, "int32", "bool"])
@pytest.mark.parametrize("shape", [(4, 2), (3, 3), (2, 3)], ids=str)
def test_lstsq(backend: str, shape: tuple[int, int], dtype: str) -> None:
    a = drawn(dtype, shape)
    if dtype in ("int32", "bool"):
        a = np.eye(*shape, dtype=dtype)
    check_lstsq(a, drawn(dtype, shape[:1], 1))
    check_lstsq(a, drawn(dtype, (shape[0], 2), 2))


@pytest.mark.parametrize("shape", [(0, 2), (2, 0), (0, 0), (3, 2)], ids=str)
def test_systems_without_equations_or_unknowns(backend: str, shape: tuple[int, int]) -> None:
    for right in (np.ones(shape[0]), np.ones((shape[0], 2)), np.ones((shape[0], 0))):
        check_lstsq(drawn("float64", shape), right)


@needs("values", why="residuals that are there at full rank only")
def test_systems_of_less_than_full_rank(backend: str) -> None:
    a = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    check_lstsq(a, np.array([1.0, 0.0, 2.0]))
    check_lstsq(a * 0, np.array([1.0, 0.0, 2.0]))
    # The cutoff of singular values.
    a[0, 0] = 1.1
    for rcond in (0.5, 1e-3, -1, 0.0):
        check_lstsq(a, np.array([1.0, 0.0, 2.0]), rcond=rcond)


def test_a_system_and_a_side_of_two_dtypes(backend: str) -> None:
    a, b = drawn("float32", (3, 2)), drawn("float64", (3,), 1)
    check_lstsq(a, b)
    check_lstsq(a.astype(float), b * 1j)


def test_residuals_inside_a_trace(backend: str) -> None:
    skip_unless(backend, "jax", "tensorflow", why="an engine that traces without values")
    a, b = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]), np.array([1.0, 0.0, 2.0])

    def residuals(a: Any, b: Any) -> Any:
        return linalg.lstsq(ua.asarray(a), ua.asarray(b)).residuals.native

    if backend == "jax":
        import jax

        function = jax.jit(residuals)
    else:
        import tensorflow as tf

        function = tf.function(residuals)
    full = a.copy()
    full[0, 0] = 7
    for each, expected in ((a, np.array([np.nan])), (full, np.linalg.lstsq(full, b)[1])):
        found = function(ua.asarray(each).native, ua.asarray(b).native)
        assert_same(ua.asarray(found), expected, rtol=1e-9)


def test_lstsq_of_what_is_not_finite(backend: str) -> None:
    assert_raises(np.linalg.LinAlgError, linalg.lstsq, ua.asarray([[np.nan, 1.0], [1.0, 2.0]]), ua.ones(2))


def test_gradients_of_lstsq(backend: str) -> None:
    a, b = drawn("float64", (4, 2)), drawn("float64", (4,), 1)
    assert_gradients(backend, lambda a, b: linalg.lstsq(a, b).solution, a, b)


# -- expm -------------------------------------------------------------------------------------------------------------


def check_expm(x: np.ndarray, **tolerances: float) -> None:
    dtype = x.dtype if x.dtype.name in LOOSE else np.dtype("float64")
    expected = scipy.linalg.expm(x.astype("c16" if x.dtype.kind == "c" else "f8"))
    scale = float(np.max(np.abs(expected), initial=1))
    tolerance = LOOSE[dtype.name]
    options = {"rtol": tolerance, "atol": tolerance * scale} | tolerances
    assert_same(linalg.expm(ua.asarray(x)), expected.astype(dtype), **options, signed_zeros=False)


@pytest.mark.parametrize("dtype", ALL)
def test_expm_of_every_dtype(backend: str, dtype: str) -> None:
    check_expm(drawn(dtype, (2, 2, 2)))


@pytest.mark.parametrize("shape", [(0, 0), (0, 2, 2), (2, 0, 0), (1, 1), (2, 1, 1)], ids=str)
def test_expm_of_few_elements(backend: str, shape: tuple[int, ...]) -> None:
    check_expm(drawn("float64", shape))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_expm_of_small_and_great_matrices(backend: str, dtype: str) -> None:
    # Each matrix of a stack is halved as often as it needs.
    scales = np.array([1e-300, 1e-10, 1e-3, 1.0, 5.0, 20.0])[:, None, None]
    x = drawn(dtype, (6, 2, 2)) * scales
    result = as_numpy(linalg.expm(ua.asarray(x)))
    for mine, each in zip(result, scipy.linalg.expm(x), strict=True):
        np.testing.assert_allclose(mine, each, rtol=0, atol=1e-11 * np.max(np.abs(each)))
    turn = np.array([[0, 1e3], [-1e3, 0]])
    check_expm(turn, atol=1e-10)
    check_expm(np.array([[0.0, 1e15], [0.0, 0.0]]))
    check_expm(np.array([[-1e7, 1e7], [0.0, -1e7]]))
    check_expm(np.diag([1.0, 2.0, 709.0]), rtol=1e-9)


def test_expm_of_what_is_not_finite(backend: str) -> None:
    x = np.stack([np.eye(2), [[np.nan, 1], [0, 1]], [[1, 0], [np.inf, 1]], np.zeros((2, 2))])
    expected = scipy.linalg.expm(np.stack([x[0], x[3], x[3], x[3]]))
    expected[1:3] = np.nan
    assert_same(linalg.expm(ua.asarray(x)), expected, rtol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 20.0])
def test_gradients_of_expm(backend: str, scale: float) -> None:
    values = drawn("float64", (2, 2, 2)) * np.array([1.0, scale])[:, None, None]
    assert_gradients(backend, lambda x: linalg.expm(x) / float(np.exp(scale / 2)), values)


M = np.ones((3, 2))
ERRORS: dict[str, tuple[str, tuple[np.ndarray, ...]]] = {
    "too few sides": ("lstsq", (M, np.ones(2))),
    "a number for a side": ("lstsq", (M, np.asarray(1.0))),
    "a stack of systems": ("lstsq", (np.ones((2, 3, 2)), np.ones(2))),
    "a stack of sides": ("lstsq", (M, np.ones((3, 1, 1)))),
    "not square": ("expm", (M,)),
    "a vector": ("expm", (np.ones(3),)),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(backend: str, case: str) -> None:
    name, values = ERRORS[case]
    assert_raises(ua.errors.ShapeError, getattr(linalg, name), *map(ua.asarray, values))
