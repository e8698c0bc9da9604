"""NaN and infinities in compiled functions: more calls by ``python -m tests.graph.special_values``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua

from ..natives import has, skip_without_derivatives
from ..oracle import as_numpy, assert_same
from .special_values import DTYPES, OF_EXTREMES, differences


@pytest.mark.parametrize("name", OF_EXTREMES)
def test_functions_of_extremes(backend: str, name: str) -> None:
    assert not list(differences(backend, name, "float64", 4, 0))


@pytest.mark.parametrize("name", ["linalg.vector_norm", "linalg.matrix_norm", "linalg.norm", "interp"])
def test_where_backends_agree(backend: str, name: str) -> None:
    """All but documented cases: infinite numbers with a part that is NaN, and indices out of order."""
    assert not list(differences(backend, name, "complex128" if "norm" in name else "float64", 30, 0))


@pytest.mark.parametrize("dtype", DTYPES[1:])
@pytest.mark.parametrize("name", ["max", "minimum", "clip"])
def test_other_dtypes(backend: str, name: str, dtype: str) -> None:
    assert not list(differences(backend, name, dtype, 4, 0))


@pytest.mark.parametrize("name", ["max", "minimum", "nn.relu"])
def test_gradients(backend: str, name: str) -> None:
    skip_without_derivatives(backend)
    assert not list(differences(backend, name, "float64", 4, 0, slopes=True))


@pytest.mark.parametrize("place", range(4))
def test_a_nan_is_found_wherever_it_is(backend: str, place: int) -> None:
    # XLA chooses which of two operands it compares first.
    values, others = np.array([1.0, -2.0, 3.0, 0.5]), np.zeros(4)
    values[place] = np.nan

    def program(x: Any, y: Any) -> Any:
        largest = ua.max(ua.abs(x))
        return ua.isfinite(largest), ua.maximum(x, y), ua.maximum(y, x), ua.where(x == ua.max(x), x, y)

    found = ua.compile(program)(ua.asarray(values), ua.asarray(others))
    wanted = np.asarray(False), np.maximum(values, others), np.maximum(others, values), others
    for one, other in zip(found, wanted, strict=True):
        assert_same(one, other)


def test_a_loop_on_extremes_keeps_nan(backend: str) -> None:
    def program(x: Any) -> Any:
        def step(state: Any) -> Any:
            i, low, high = state
            return i + 1, ua.minimum(low, x[i]), ua.maximum(high, x[i])

        return ua.while_loop(lambda state: state[0] < 3, step, (ua.asarray(0), x[0], x[0]))[1:]

    for found in ua.compile(program)(ua.asarray([1.0, np.nan, 2.0])):
        assert np.isnan(as_numpy(found))


def test_a_function_that_tensorflow_compiles_keeps_nan() -> None:
    tf = pytest.importorskip("tensorflow")

    @tf.function(jit_compile=True)
    def largest(x: Any) -> Any:
        return ua.max(ua.asarray(x)).native

    assert np.isnan(largest(tf.constant([1.0, np.nan, 2.0])).numpy())


def test_another_engine_compiles_what_keeps_nan(backend: str) -> None:
    if not has(backend, "writes"):
        pytest.skip(f"{backend} computes with its own arrays")
    pytest.importorskip("tensorflow")
    assert np.isnan(as_numpy(ua.compile(ua.max, backend="tensorflow")(ua.asarray([1.0, np.nan, 2.0]))))
