"""Convolution of matrices, and by Fourier transforms, against SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.errors import CastingError, ShapeError
from unifyarr.functions.plane_products import _fast

from ..gradients import assert_gradients
from ..oracle import COMPLEX, FLOATS, INTEGERS, assert_raises, assert_same

scipy = pytest.importorskip("scipy", reason="SciPy is not installed")

RANDOM = np.random.default_rng(0)
SHAPES = [((5, 6), (3, 2)), ((4, 4), (4, 4)), ((1, 5), (1, 3)), ((2, 3), (5, 4)), ((3, 3), (1, 1))]
MODES = ["full", "same", "valid"]


def drawn(dtype: str, *shape: int) -> np.ndarray:
    values = RANDOM.integers(0, 4, shape)
    return (values + 1j * RANDOM.integers(0, 4, shape) if dtype in COMPLEX else values).astype(dtype)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX, *INTEGERS])
def test_convolve2d(backend: str, dtype: str, mode: str) -> None:
    for shapes in SHAPES if dtype == "float64" else SHAPES[:1]:
        x1, x2 = (drawn(dtype, *shape) for shape in shapes)
        for boundary in ("fill", "wrap", "symm"):
            expected = scipy.signal.convolve2d(x1, x2, mode, boundary).astype(dtype)
            found = ua.signal.convolve2d(ua.asarray(x1), ua.asarray(x2), mode, boundary)
            assert_same(found, expected, rtol=1e-5, atol=1e-5, what=(shapes, boundary))
    expected = scipy.signal.convolve2d(x1, x2, mode, fillvalue=2).astype(dtype)
    assert_same(ua.signal.convolve2d(ua.asarray(x1), ua.asarray(x2), mode, fillvalue=2), expected, rtol=1e-5)


def test_what_is_not_finite_stays_where_it_is(backend: str) -> None:
    x = np.zeros((4, 4))
    x[1, 1] = np.inf
    kernel = np.ones((2, 2))
    assert_same(ua.signal.convolve2d(ua.asarray(x), ua.asarray(kernel)), scipy.signal.convolve2d(x, kernel))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX, "int64", "bool"])
def test_fftconvolve(backend: str, dtype: str, mode: str) -> None:
    shapes: list[Any] = [*SHAPES, ((7,), (3,)), ((2, 3, 4), (2, 2, 1)), ((), ())]
    for one, other in shapes if dtype == "float64" else shapes[:1]:
        x1, x2 = drawn(dtype, *one), drawn(dtype, *other)
        wide = dtype if dtype in COMPLEX else "float64"
        expected = scipy.signal.fftconvolve(x1.astype(wide), x2.astype(wide), mode)
        found = ua.signal.fftconvolve(ua.asarray(x1), ua.asarray(x2), mode)
        assert_same(found, expected.astype("float64" if dtype in ("int64", "bool") else dtype), rtol=1e-4, atol=1e-4)


def test_fftconvolve_along_axes(backend: str) -> None:
    x1, x2 = RANDOM.normal(size=(3, 1, 5)), RANDOM.normal(size=(1, 4, 3))
    for axes in (2, (-1,), [2]):
        expected = np.stack([[np.convolve(a[0], b) for b in x2[0]] for a in x1])
        assert_same(ua.signal.fftconvolve(ua.asarray(x1), ua.asarray(x2), axes=axes), expected, rtol=1e-9, atol=1e-12)
    assert_same(ua.signal.fftconvolve(ua.asarray(x1), ua.asarray(x1), axes=()), x1 * x1)


def test_gradients(backend: str) -> None:
    x1, x2 = RANDOM.normal(size=(3, 4)), RANDOM.normal(size=(2, 3))
    for mode in MODES:
        assert_gradients(backend, lambda a, b, mode=mode: ua.signal.fftconvolve(a, b, mode), x1, x2)
        assert_gradients(backend, lambda a, b, mode=mode: ua.signal.convolve2d(a, b, mode), x1, x2)


def test_numbers_of_points_are_scipys() -> None:
    for length in range(1, 2000):
        fast = _fast(length)
        # SciPy takes products of 7 and 11 too, for complex transforms.
        assert fast == scipy.fft.next_fast_len(length, real=True)


V, M = np.ones(3), np.ones((2, 3))
ERRORS: dict[str, tuple[str, tuple[Any, ...], type[BaseException]]] = {
    "a vector": ("convolve2d", (V, M), ShapeError),
    "nothing": ("convolve2d", (M, M[:0]), ShapeError),
    "an unknown mode": ("convolve2d", (M, M, "half"), ValueError),
    "an unknown boundary": ("convolve2d", (M, M, "full", "mirror"), ValueError),
    "a part of a number": ("convolve2d", (M.astype(int), M.astype(int), "full", "fill", 0.5), CastingError),
    "neither fits": ("convolve2d", (M, M.T.copy(), "valid"), ShapeError),
    "numbers of axes": ("fftconvolve", (V, M), ShapeError),
    "nothing to transform": ("fftconvolve", (V, V[:0]), ShapeError),
    "an unknown mode of transforms": ("fftconvolve", (V, V, "half"), ValueError),
    "neither fits into the other": ("fftconvolve", (M, M.T.copy(), "valid"), ShapeError),
    "other axes": ("fftconvolve", (M, np.ones((3, 3)), "full", 1), ShapeError),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(backend: str, case: str) -> None:
    name, arguments, error = ERRORS[case]
    given = [ua.asarray(each) if isinstance(each, np.ndarray) else each for each in arguments]
    assert_raises(error, getattr(ua.signal, name), *given)
