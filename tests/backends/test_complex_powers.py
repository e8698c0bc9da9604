"""Powers of complex numbers to one number on NumPy and torch: by products, roots and inverses, with the same bits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import unifyarr as ua

from ..engines import default_device
from ..natives import skip_unless

PARTS = (0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 1e-30, 1e30)
VALUES = np.array([complex(*pair) for pair in itertools.product(PARTS, PARTS)])
EXPONENTS = (0, 1, 2, 3, 4, 7, -1, -2, 0.5, 1.5, 2.0, 2 + 0j, 1j, -0.5, 99, 100, -1.0)


def same_bits(found: ua.Array, expected: ua.Array) -> None:
    one, other = (x.to_numpy().view(x.to_numpy().real.dtype) for x in (found, expected))
    np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(np.signbit(one[~np.isnan(one)]), np.signbit(other[~np.isnan(other)]))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("exponent", EXPONENTS, ids=str)
@pytest.mark.parametrize("zeros", [True, False])
def test_every_way_has_the_same_bits(backend: str, exponent: complex, dtype: str, *, zeros: bool) -> None:
    skip_unless(backend, "numpy", "torch", why="compilers of other engines may round in another way")
    values = VALUES if zeros else VALUES[VALUES != 0]
    x = ua.asarray(values.astype(dtype))
    expected = x**exponent
    if default_device(backend).startswith("cpu"):
        # An exponent that an accelerator holds isn't read, and that power is C's.
        same_bits(ua.pow(x, ua.asarray(exponent, dtype=dtype)), expected)
    same_bits(ua.compile(lambda x: x**exponent)(x), expected)
    out = ua.empty_like(x)
    assert ua.pow(x, exponent, out=out) is out
    same_bits(out, expected)
    x **= exponent
    same_bits(x, expected)


@pytest.mark.parametrize("exponent", [1, 2, 3, 5, -1, -3, 0.5])
def test_values_are_numpys(backend: str, exponent: float) -> None:
    skip_unless(backend, "numpy", "torch", "jax", why="TensorFlow takes the logarithm")
    random = np.random.default_rng(7)
    values = random.normal(size=(50, 2)).view(np.complex128)[:, 0] * 10.0 ** random.integers(-20, 20, 50)
    found = ua.asarray(values) ** exponent
    np.testing.assert_allclose(found.to_numpy(), values**exponent, rtol=1e-14)


@pytest.mark.parametrize("exponent", [2, 3, -1, 0.5, 1.5, 2j])
def test_derivatives(backend: str, exponent: complex) -> None:
    x, direction = ua.asarray([1 + 2j, -0.5 + 0.25j]), ua.asarray([0.5j, 1.0 + 1j])
    _, tangent = ua.jvp(lambda x: x**exponent, (x,), (direction,))
    step = 1e-7
    expected = ((x + step * direction) ** exponent - (x - step * direction) ** exponent) / (2 * step)
    np.testing.assert_allclose(tangent.to_numpy(), expected.to_numpy(), rtol=1e-6)


def test_powers_of_zero(backend: str) -> None:
    zero = ua.zeros(2, dtype="complex128")
    assert (zero**3).tolist() == [0, 0]
    assert (zero**1.5).tolist() == [0, 0]
    assert (zero**0).tolist() == [1, 1]
    for exponent in (-1, -2, -0.5, 1j):
        assert ua.all(ua.isnan(zero**exponent)), exponent
