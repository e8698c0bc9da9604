"""Matrices with NaN and infinities: each engine gives one answer, and returns."""

from __future__ import annotations

import faulthandler
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import unifyarr as ua

from ..oracle import as_numpy
from .matrices_not_finite import check

# LAPACK may never return for these: a signal couldn't end it.
SECONDS = 240
GOOD = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]])
DTYPES = ["float32", "float64", "complex64", "complex128"]
BY_SINGULAR_VALUES: dict[str, Callable[[Any], Any]] = {
    "svd": ua.linalg.svd,
    "svdvals": ua.linalg.svdvals,
    "pinv": ua.linalg.pinv,
    "matrix_rank": ua.linalg.matrix_rank,
    "nuclear norm": lambda x: ua.linalg.matrix_norm(x, ord="nuc"),
    "cond": ua.linalg.cond,
}
BY_EIGENVALUES = {name: getattr(ua.linalg, name) for name in ("eig", "eigh", "eigvals", "eigvalsh")}
BY_EQUATIONS: dict[str, Callable[[Any], Any]] = {
    "inv": ua.linalg.inv,
    "solve": lambda x: ua.linalg.solve(x, ua.ones((*x.shape[:-1], 1), dtype=x.dtype)),
    "inverse square": lambda x: ua.linalg.matrix_power(x, -2),
}


@pytest.fixture(autouse=True)
def limited() -> Iterator[None]:
    """End the process where a call hangs."""
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def with_number(number: float, row: int, column: int, dtype: str) -> np.ndarray:
    """Return a symmetric matrix with a number in it."""
    found = GOOD.copy()
    found[row, column] = found[column, row] = number
    return found.astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", sorted(BY_SINGULAR_VALUES))
def test_singular_values_of_what_is_not_finite(backend: str, name: str, dtype: str) -> None:
    def call(x: np.ndarray) -> None:
        found = BY_SINGULAR_VALUES[name](ua.asarray(x))
        as_numpy(found[1] if isinstance(found, tuple) else found)

    for number in (np.nan, np.inf, -np.inf):
        for row, column in ((0, 0), (0, 2), (2, 2)):
            bad = with_number(number, row, column, dtype)
            for x in (bad, np.stack([GOOD.astype(dtype), bad])):
                with pytest.raises(np.linalg.LinAlgError):
                    call(x)
    call(GOOD.astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_nan_passes_where_equations_are_solved(backend: str, dtype: str) -> None:
    good, bad = GOOD.astype(dtype), with_number(np.nan, 0, 2, dtype)
    both, right = np.stack([good, bad]), np.ones((2, 3, 1), dtype)
    for upper in (False, True):
        found = as_numpy(ua.linalg.cholesky(ua.asarray(both), upper=upper))
        np.testing.assert_allclose(found[0], np.linalg.cholesky(good, upper=upper), rtol=1e-5)
        assert np.isnan(found[1]).any()
        assert np.isnan(as_numpy(ua.linalg.cholesky(ua.asarray(bad), upper=upper))).any()
    for function in (
        ua.linalg.inv,
        lambda x: ua.linalg.solve(x, ua.asarray(right[: len(x)] if x.ndim == 3 else right[0])),
    ):
        found = as_numpy(function(ua.asarray(both)))
        np.testing.assert_allclose(found[0], as_numpy(function(ua.asarray(good))), rtol=1e-5)
        assert np.isnan(found[1]).all()
        assert np.isnan(as_numpy(function(ua.asarray(bad)))).all()
    with pytest.raises(np.linalg.LinAlgError):
        as_numpy(ua.linalg.cholesky(ua.asarray(np.stack([-good, bad]))))
    with pytest.raises(np.linalg.LinAlgError):
        as_numpy(ua.linalg.solve(ua.asarray(np.stack([good * 0, bad])), ua.asarray(right)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", sorted(BY_EIGENVALUES))
def test_eigenvalues_of_what_is_not_finite(backend: str, name: str, dtype: str) -> None:
    def call(x: np.ndarray) -> None:
        found = BY_EIGENVALUES[name](ua.asarray(x))
        as_numpy(found[0] if isinstance(found, tuple) else found)

    for size in (1, 2, 3):
        for number in (np.nan, np.inf):
            for row, column in ((0, 0), (size - 1, 0)):
                bad = with_number(number, row, column, dtype)[:size, :size]
                for x in (bad, np.stack([GOOD[:size, :size].astype(dtype), bad])):
                    # Once by the general path, and by shortcuts.
                    for _ in range(3):
                        with pytest.raises(np.linalg.LinAlgError):
                            call(x)


@pytest.mark.parametrize("name", ["eigh", "eigvalsh", "cholesky"])
def test_numbers_above_the_diagonal_are_not_read(backend: str, name: str) -> None:
    bad = np.stack([GOOD, GOOD, GOOD])
    bad[0, 0, 2], bad[1, 1, 2] = np.nan, np.inf
    if name == "cholesky":
        # Another matrix of the batch fills it with NaN.
        bad[2, 2, 0] = np.nan
    function, wanted = getattr(ua.linalg, name), getattr(np.linalg, name)(GOOD)
    for _ in range(3):
        found = function(ua.asarray(bad))
        found, first = (found[0], wanted[0]) if isinstance(found, tuple) else (found, wanted)
        for part in as_numpy(found)[:2]:
            np.testing.assert_allclose(part, first, rtol=1e-10)


def test_compiled_functions_of_what_is_not_finite(backend: str) -> None:
    if backend not in ("jax", "tensorflow"):
        pytest.skip("only these can't raise inside compiled functions")
    functions = {**BY_EIGENVALUES, **BY_EQUATIONS, "svd": ua.linalg.svd, "svdvals": ua.linalg.svdvals}
    for name, function in functions.items():
        compiled = ua.compile(function)
        for dtype in ("float64", "complex128"):
            for number in (np.nan,) if name in BY_EQUATIONS else (np.nan, np.inf):
                bad = with_number(number, 0, 0, dtype)
                for x in (bad, np.stack([GOOD.astype(dtype), bad])):
                    found = compiled(ua.asarray(x))
                    for part in found if isinstance(found, tuple) else (found,):
                        values = as_numpy(part)
                        assert np.isnan(values if x.ndim == 2 else values[1]).any()
                        assert x.ndim == 2 or np.isfinite(values[0]).all()


@pytest.mark.parametrize("seed", range(3))
def test_random_matrices_that_are_not_finite(backend: str, seed: int) -> None:
    with np.errstate(all="ignore"):
        check(np.random.default_rng(seed))
