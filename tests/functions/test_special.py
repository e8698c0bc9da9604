"""The error functions against SciPy, and against their power series in many digits."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

import unifyarr as ua

from ..oracle import (
    COMPLEX,
    FLOATS,
    HALVES,
    as_numpy,
    assert_raises,
    assert_same,
    few,
    in_layout,
    layouts,
    seeded,
    shapes,
)

NAMES = ["erf", "erfc"]
# All other integers become float64 likewise.
REAL = ["bool", "int8", "uint64", *HALVES, *FLOATS]


def floating(values: np.ndarray) -> np.ndarray:
    """Return the values as the package takes them, where SciPy takes some integers as float32."""
    return values.astype("f8") if values.dtype.kind in "biu" else values


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("name", NAMES)
@few
@given(data=st.data())
def test_error_functions(backend: str, name: str, dtype: str, data: st.DataObject) -> None:
    values = floating(data.draw(seeded(dtype, data.draw(shapes(dtype)))))
    expected = getattr(special, name)(values.astype("f8")).astype(values.dtype)
    x = in_layout(values, data.draw(layouts(dtype)))
    assert_same(getattr(ua, name)(x), expected, rtol={"float64": 1e-13}.get(values.dtype.name), what=values)


def complement(x: float) -> float:
    """Return erfc(x), correctly rounded: the power series of erf, with digits enough for its cancellation."""
    with localcontext(prec=600):
        square, term, total, number = Decimal(x) ** 2, Decimal(x), Decimal(x), 0
        while abs(term) > Decimal(10) ** -590:
            number += 1
            term *= 2 * square / (2 * number + 1)
            total += term
        return float(1 - 2 * (-square).exp() * total / _root_of_pi())


def _root_of_pi() -> Decimal:
    def inverse_tangent(of: int) -> Decimal:
        terms = ((-1) ** k * Decimal(1) / ((2 * k + 1) * Decimal(of) ** (2 * k + 1)) for k in range(450))
        return sum(terms, Decimal(0))

    return (16 * inverse_tangent(5) - 4 * inverse_tangent(239)).sqrt()


def test_the_complement_has_digits_where_it_is_small(backend: str) -> None:
    values = np.array([-3.3, -0.7, -0.1, 0.3, 0.49, 0.51, 0.9, 1.7, 4.2, 5.9, 9.1, 15.7, 21.3, 26.1])
    expected = np.array([complement(float(x)) for x in values])
    # SciPy, torch and TensorFlow lose digits to the rounding of the square.
    assert_same(ua.erfc(ua.asarray(values)), expected, rtol=1e-15 if backend == "numpy" else 1e-13)


def test_numpys_error_function_is_precise_everywhere() -> None:
    grid = np.concatenate([np.linspace(-6.5, 6.5, 20_001), np.geomspace(1e-300, 1, 500)])
    with ua.use_backend("numpy"):
        assert_same(ua.erf(ua.asarray(grid)), special.erf(grid), rtol=1e-15)
        grid = np.linspace(-6, 4, 20_001)
        assert_same(ua.erfc(ua.asarray(grid)), special.erfc(grid), rtol=4e-15)


def test_far_out_they_are_constant(backend: str) -> None:
    x = ua.asarray([-np.inf, -1e300, -40.0, 40.0, 1e300, np.inf, np.nan])
    assert_same(ua.erf(x), np.array([-1.0, -1, -1, 1, 1, 1, np.nan]))
    assert_same(ua.erfc(x), np.array([2.0, 2, 2, 0, 0, 0, np.nan]))
    assert np.signbit(as_numpy(ua.erf(ua.asarray([-0.0])))).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_long_array_and_one_that_is_written_over(backend: str, name: str) -> None:
    values = np.linspace(-3, 3, 20_000).reshape(100, 200)
    x = ua.asarray(values, copy=True)
    assert getattr(ua, name)(x.T, out=x.T) is not x
    assert_same(x, getattr(special, name)(values), rtol=1e-13)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_numbers_are_refused(backend: str, name: str, dtype: str) -> None:
    assert_raises(ua.errors.DtypeError, getattr(ua, name), ua.asarray([1j], dtype=dtype))


def test_without_scipy_the_values_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from unifyarr.backends.numpy import special as kernels

    grid = np.concatenate([np.linspace(-6.5, 6.5, 20_001), [-np.inf, -0.0, 0.0, np.inf, np.nan]])
    for dtype in ("float32", "float64"):
        values = grid.astype(dtype)
        with ua.use_backend("numpy"):
            by_scipy, out = ua.erf(ua.asarray(values)), ua.zeros(values.shape, dtype=dtype)
            monkeypatch.setattr(kernels, "_scipy", lambda: None)
            assert_same(ua.erf(ua.asarray(values)), as_numpy(by_scipy), rtol=1e-15 if dtype == "float64" else 2e-7)
            assert_same(ua.erf(ua.asarray(values), out=out), as_numpy(by_scipy), rtol=2e-7)
            monkeypatch.undo()


def test_scipy_is_imported_by_the_first_call_that_needs_it() -> None:
    run = "import sys, unifyarr as ua; ua.set_backend('numpy'); x = ua.ones(3); "
    run += "before = 'scipy' in sys.modules; ua.erf(x); print(before, 'scipy.special' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_a_missing_scipy_is_no_error() -> None:
    run = "import sys; sys.modules['scipy'] = None; import unifyarr as ua; ua.set_backend('numpy'); "
    run += "print(float(ua.erf(ua.asarray(0.5))))"
    done = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=True)
    assert abs(float(done.stdout) - special.erf(0.5)) < 1e-15
