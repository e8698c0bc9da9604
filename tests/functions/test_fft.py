"""Fourier transforms against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua

from ..oracle import ALL, COMPLEX, HALVES, LAYOUTS, SHAPES, assert_raises, assert_same, assert_unchanged, in_layout

TOLERANCE = {"complex64": 1e-5, "float32": 1e-5, "complex128": 1e-12, "float64": 1e-12}
NORMS = ("backward", "ortho", "forward")
REAL_INPUT = ("rfft", "ihfft", "rfftn")
ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
SEVERAL = ("fftn", "ifftn", "rfftn", "irfftn")


def values_of(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    random = np.random.default_rng(1)
    values = random.uniform(-3, 3, shape)
    if dtype in COMPLEX:
        values = values + 1j * random.uniform(-3, 3, shape)
    if dtype.startswith("u"):
        values = np.abs(values)
    return np.asarray(values).astype(ua.bfloat16 if dtype == "bfloat16" else dtype)


def expected_of(name: str, values: np.ndarray, **options: Any) -> np.ndarray:
    """Return NumPy's transform: of integers in double precision, of halves in single."""
    wide = values.astype("f4") if values.dtype.name in HALVES else values
    wide = wide.astype("f8") if wide.dtype.kind in "biu" else wide
    if name in ("hfft", "irfft", "irfftn"):
        # NumPy computes these from complex input, in its precision.
        wide = wide.astype(np.result_type(wide.dtype, np.complex64))
    return np.asarray(getattr(np.fft, name)(wide, **options))


def check(name: str, values: np.ndarray, layout: str = "plain", **options: Any) -> None:
    x = in_layout(values, layout)
    expected = expected_of(name, values, **options)
    # Each element is a sum over all.
    scale = float(np.sum(np.abs(values.astype("c16")))) + 1
    tolerance = TOLERANCE[expected.dtype.name]
    assert_same(getattr(ua.fft, name)(x, **options), expected, atol=tolerance * scale, signed_zeros=False, what=options)
    assert_unchanged(x, values)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", [*ONE, *SEVERAL])
def test_every_transform_over_every_dtype(backend: str, name: str, dtype: str) -> None:
    values = values_of(dtype, (2, 5))
    if name in REAL_INPUT and dtype in COMPLEX:
        assert_raises(ua.errors.DtypeError, getattr(ua.fft, name), ua.asarray(values))
        return
    check(name, values)


ONE_OPTIONS: list[dict[str, Any]] = [
    {"axis": 0},
    {"axis": -2, "n": 3},
    {"n": 4},
    {"n": 9},
    {"n": 1},
    {"axis": 1, "n": 6, "norm": "ortho"},
    {"norm": "forward"},
]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("options", ONE_OPTIONS, ids=str)
@pytest.mark.parametrize("name", ONE)
def test_transforms_along_an_axis(backend: str, name: str, options: dict[str, Any], layout: str) -> None:
    check(name, values_of("float64" if name in REAL_INPUT else "complex128", (4, 5)), layout, **options)


SEVERAL_OPTIONS: list[dict[str, Any]] = [
    {"axes": (0, 1)},
    {"axes": (2, 0)},
    {"axes": (-1,)},
    {"s": (3, 4), "axes": (0, 2)},
    {"s": (4, 2), "axes": (-2, -1), "norm": "ortho"},
    {"s": (6,), "axes": (1,), "norm": "forward"},
]


@pytest.mark.parametrize("options", SEVERAL_OPTIONS, ids=str)
@pytest.mark.parametrize("name", SEVERAL)
def test_transforms_along_several_axes(backend: str, name: str, options: dict[str, Any]) -> None:
    check(name, values_of("float64" if name in REAL_INPUT else "complex128", (2, 3, 4)), **options)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(
    ("there", "back"), [("fft", "ifft"), ("rfft", "irfft"), ("ihfft", "hfft"), ("fftn", "ifftn"), ("rfftn", "irfftn")]
)
def test_there_and_back(backend: str, there: str, back: str, norm: str) -> None:
    values = values_of("float64", (3, 4))
    result = getattr(ua.fft, back)(getattr(ua.fft, there)(ua.asarray(values), norm=norm), norm=norm)
    assert_same(ua.real(result), values, atol=1e-12)


def test_the_output_length_of_real_transforms_may_be_odd(backend: str) -> None:
    values = values_of("float64", (5,))
    assert_same(ua.fft.irfft(ua.fft.rfft(ua.asarray(values)), n=5), values, atol=1e-12)
    assert_same(ua.fft.irfftn(ua.fft.rfftn(ua.asarray(values)), s=(5,), axes=(0,)), values, atol=1e-12)


@pytest.mark.parametrize("dtype", [None, "float32", "float64"])
@pytest.mark.parametrize("d", [1.0, 0.1, 4])
@pytest.mark.parametrize("n", [1, 4, 7])
@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies(backend: str, name: str, n: int, d: float, dtype: str | None) -> None:
    result = getattr(ua.fft, name)(n, d=d, dtype=dtype)
    assert result.backend == backend
    assert_same(result, getattr(np.fft, name)(n, d).astype(dtype or "float64"))


@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape], ids=str)
def test_shifts(backend: str, name: str, shape: tuple[int, ...]) -> None:
    values = np.arange(np.prod(shape)).reshape(shape)
    for axes in (None, 0, -1, tuple(range(len(shape)))):
        assert_same(getattr(ua.fft, name)(ua.asarray(values), axes=axes), getattr(np.fft, name)(values, axes))


ERRORS: dict[str, tuple[str, dict[str, Any], type[BaseException]]] = {
    "an unknown norm": ("fft", {"norm": "half"}, ValueError),
    "an axis out of bounds": ("ifft", {"axis": 2}, ua.errors.AxisError),
    "no points": ("rfft", {"n": 0}, ValueError),
    "a negative number of points": ("hfft", {"n": -1}, ua.errors.ShapeError),
    "an axis twice": ("fftn", {"axes": (0, 0)}, ua.errors.AxisError),
    "more lengths than axes": ("ifftn", {"s": (2, 2), "axes": (0,)}, ua.errors.ShapeError),
    "no axes": ("rfftn", {"axes": ()}, ValueError),
    "a shift along a missing axis": ("fftshift", {"axes": 2}, ua.errors.AxisError),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(backend: str, case: str) -> None:
    name, options, error = ERRORS[case]
    assert_raises(error, getattr(ua.fft, name), ua.ones((2, 3)), **options)


@pytest.mark.parametrize("name", ["fft", "rfft", "fftn"])
def test_a_transform_of_a_0d_array_is_an_error(backend: str, name: str) -> None:
    assert_raises(ValueError, getattr(ua.fft, name), ua.asarray(1.0))
