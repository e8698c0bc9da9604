"""Numbers of equal ratios, triangles, diagonals and powers against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua
import unifyarr.numpy as unp

from ..gradients import assert_gradients
from ..natives import skip_without_derivatives
from ..oracle import ALL, as_numpy, assert_raises, assert_same

ENDS: list[tuple[Any, Any]] = [(1, 1000), (-2.0, -0.25), (5.0, 5.0), (1j, 16j), (1 + 1j, -3.0)]


@pytest.mark.parametrize("ends", ENDS)
def test_geomspace(backend: str, ends: tuple[Any, Any]) -> None:
    for count, options in ((4, {}), (3, {"endpoint": False}), (1, {}), (0, {})):
        found = ua.geomspace(*ends, count, **options)
        assert_same(found, np.geomspace(*ends, count, **options), atol=1e-14, signed_zeros=False)


def test_logspace(backend: str) -> None:
    assert_same(ua.logspace(0, 2), np.logspace(0, 2))
    for options in ({"base": 2}, {"endpoint": False}, {"dtype": "float32"}):
        assert_same(ua.logspace(-1.5, 2, 4, **options), np.logspace(-1.5, 2, 4, **options))
    assert_same(ua.logspace(0, 3, 4, base=2.0, dtype="int64"), np.array([1, 2, 4, 8]))
    assert_same(ua.geomspace(1, 4, 3, dtype="float32"), np.geomspace(1, 4, 3, dtype="float32"))


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8", "uint64", "float32"])
def test_integers_are_floors_of_spaced_numbers(backend: str, dtype: str) -> None:
    for start, stop, num in [
        (-2.5, 2.5, 6),
        (2.5, -2.5, 6),
        (-0.5, -3.7, 4),
        (0.5, 9.5, 7),
        (-1.5, 1.5, 1),
        (-1.5, 1.5, 0),
    ]:
        if np.dtype(dtype).kind == "u" and min(start, stop) < 0:
            start, stop = start + 4, stop + 4
        for endpoint in (True, False):
            options: dict[str, Any] = {"dtype": dtype, "endpoint": endpoint}
            expected = np.linspace(start, stop, num, **options)
            for ends in ((start, stop), (ua.asarray(start), ua.asarray(stop))):
                assert_same(ua.linspace(*ends, num, **options), expected)
                assert_same(unp.linspace(*ends, num, **options), expected)
            compiled = ua.compile(lambda x, y, num=num, options=options: ua.linspace(x, y, num, **options))
            assert_same(compiled(ua.asarray(start), ua.asarray(stop)), expected)
            for module in (ua, unp):
                assert_same(
                    module.logspace(start / 3, stop / 3, num, **options),
                    np.logspace(start / 3, stop / 3, num, **options),
                )


def test_one_step_of_zero_decides_how_all_values_are_rounded(backend: str) -> None:
    # XLA divides by one number as it multiplies by its reciprocal.
    rtol = 1e-15 if backend == "jax" else 0.0
    first, last = np.array([0.0, 0.0, 3.0]), np.array([0.0, 2.0**62 + 2.0**20, 1.0])
    for choice in ([0, 1, 2], [1, 2]):
        for endpoint in (True, False):
            expected = np.linspace(first[choice], last[choice], 10, endpoint=endpoint)
            found = unp.linspace(ua.asarray(first[choice]), ua.asarray(last[choice]), 10, endpoint=endpoint)
            np.testing.assert_allclose(as_numpy(found), expected, rtol=rtol)


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8"])
def test_ranges_of_integers_count_from_truncated_numbers(backend: str, dtype: str) -> None:
    for start, stop, step in [
        (-2.5, 2.5, 0.5),
        (-2.5, 2.5, 1.5),
        (2.5, -2.5, -1.5),
        (-2.5, 2.5, 2),
        (0.0, 6.5, 1),
        (0.5, 0.5, 0.1),
    ]:
        if dtype == "uint8" and min(start, stop) < 0:
            start, stop = start + 4, stop + 4
        expected = np.arange(start, stop, step, dtype=dtype)
        for module in (ua, unp):
            assert_same(module.arange(start, stop, step, dtype=dtype), expected)
        assert_same(ua.arange(ua.asarray(start), stop, ua.asarray(step), dtype=dtype), expected)
    assert_raises(OverflowError, ua.arange, 300.0, 310.0, dtype="int8")


def test_derivatives_by_the_ends(backend: str) -> None:
    skip_without_derivatives(backend)
    found = ua.grad(lambda x: ua.sum(ua.geomspace(x, 8.0, 4)))(ua.asarray(1.0))
    np.testing.assert_allclose(as_numpy(found), 1 + 2 * 2 / 3 + 4 / 3)
    found = ua.grad(lambda x: ua.sum(ua.logspace(0.0, x, 3, base=ua.asarray(3.0))))(ua.asarray(2.0))
    np.testing.assert_allclose(as_numpy(found), np.log(3) * (3 / 2 + 9))


@pytest.mark.parametrize("k", [-9, -1, 0, 1, 9])
def test_triangles_and_their_indices(backend: str, k: int) -> None:
    assert_same(ua.tri(3, k=k), np.tri(3, k=k))
    assert_same(ua.tri(2, 4, k=k, dtype="int8"), np.tri(2, 4, k, "int8"))
    for name in ("tril_indices", "triu_indices"):
        for n, m in ((3, None), (2, 4), (0, 2)):
            pairs = zip(getattr(ua, name)(n, k=k, m=m), getattr(np, name)(n, k, m), strict=True)
            for found, expected in pairs:
                assert_same(found, expected)


def test_indices_of_diagonals(backend: str) -> None:
    for n, ndim in ((3, 2), (0, 2), (2, 3), (2, 0)):
        found = ua.diag_indices(n, ndim)
        assert len(found) == ndim
        for each in found:
            assert_same(each, np.arange(n))


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("k", [-2, 0, 1])
def test_diag(backend: str, dtype: str, k: int) -> None:
    vector = np.array([1, 0, 1]).astype(dtype) if dtype != "float64" else np.array([np.inf, -0.0, np.nan])
    matrix = np.arange(6).reshape(2, 3).astype(dtype)
    assert_same(ua.diag(ua.asarray(vector), k=k), np.diag(vector, k))
    assert_same(ua.diag(ua.asarray(matrix), k=k), np.diag(matrix, k))
    assert_same(ua.diagflat(ua.asarray(matrix), k=k), np.diagflat(matrix, k))


def test_a_diagonal_is_a_view(backend: str) -> None:
    x = ua.zeros((2, 2))
    y = ua.diag(x)
    x[1, 1] = 5.0
    assert_same(y, np.array([0.0, 5.0]))
    z = ua.diag(ua.ones(2))
    z[0, 1] = 3.0
    assert_same(z, np.array([[1.0, 3.0], [0.0, 1.0]]))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "uint64", "float16", "float64", "complex128"])
def test_vander(backend: str, dtype: str) -> None:
    values = np.array([1, 0, 3, 2]).astype(dtype)
    x = ua.asarray(values)
    for count in (None, 0, 1, 2, 3, 6):
        for increasing in (False, True):
            assert_same(ua.vander(x, count, increasing=increasing), np.vander(values, count, increasing))


def test_gradients(backend: str) -> None:
    x = np.array([0.5, -1.5, 0.0])
    assert_gradients(backend, lambda x: ua.vander(x, 4), x)
    assert_gradients(backend, lambda x: ua.diag(x, k=1), x)


def test_errors(backend: str) -> None:
    assert_raises(ValueError, ua.geomspace, 0, 1, 3)
    assert_raises(ValueError, ua.geomspace, 1.0, 0.0, 3)
    assert_raises(ValueError, ua.logspace, 0, 1, -1)
    assert_raises(ua.errors.ShapeError, ua.diag, ua.asarray(1.0))
    assert_raises(ua.errors.ShapeError, ua.vander, ua.ones((2, 2)))
    assert_raises(ValueError, ua.vander, ua.ones(2), -1)
    assert_raises(ValueError, ua.tril_indices, -1)
    assert_raises(TypeError, ua.triu_indices, 2.5)
    assert_raises(MemoryError, ua.diag_indices, 2**50)
