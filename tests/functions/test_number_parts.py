"""Parts of floating-point numbers, and exact powers, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.calling.invoke import declined
from unifyarr.testing.calling import find

from ..gradients import assert_gradients
from ..oracle import FLOATS, as_numpy, assert_raises, assert_same, reference

KERNELS = frozenset({"frexp", "ldexp", "modf", "spacing"})
DTYPES = [*FLOATS, "float16"]


@pytest.fixture(params=[False, True], ids=["kernel", "composed"])
def composed(request: pytest.FixtureRequest) -> Any:
    token = declined.set(KERNELS if request.param else frozenset())
    yield
    declined.reset(token)


def numbers(dtype: str) -> np.ndarray:
    # Engines take numbers below the least normal one for zeros.
    info = np.finfo(dtype)
    ends = [info.max, info.smallest_normal, info.eps, 1 - info.epsneg, 1 + info.eps, 2 - 2 * info.eps]
    values = [0.0, 1.0, 1.5, 0.5, 3.0, 4.0, 7.25, 1000.0, np.inf, *ends]
    return np.array([*values, *(-each for each in values), np.nan], dtype)


@pytest.mark.usefixtures("composed")
@pytest.mark.parametrize("dtype", DTYPES)
def test_frexp(backend: str, dtype: str) -> None:
    result = ua.frexp(ua.asarray(numbers(dtype)))
    assert result._fields == ("mantissa", "exponent")
    for mine, expected in zip(result, np.frexp(numbers(dtype)), strict=True):
        assert_same(mine, expected)


@pytest.mark.usefixtures("composed")
@pytest.mark.parametrize("dtype", DTYPES)
def test_modf(backend: str, dtype: str) -> None:
    result = ua.modf(ua.asarray(numbers(dtype)))
    assert result._fields == ("fractional", "integral")
    for mine, expected in zip(result, np.modf(numbers(dtype)), strict=True):
        assert_same(mine, expected)


@pytest.mark.usefixtures("composed")
@pytest.mark.parametrize("dtype", DTYPES)
def test_ldexp(backend: str, dtype: str) -> None:
    x = numbers(dtype)[:, None]
    digits, least = np.finfo(dtype).nmant, -np.finfo(dtype).minexp
    for exponents in ([0, 1, -1, 5, -5, 13], [least, -least + digits, 3 * least, -(2**31) + 1, 2**31 - 1]):
        exponent = np.array(exponents, "int32")
        expected = reference(np.ldexp, x, exponent)
        # Results below the least normal number are left out: see numbers().
        kept = ~((np.abs(expected) < np.finfo(dtype).smallest_normal) & (expected != 0))
        found = ua.ldexp(ua.asarray(x), ua.asarray(exponent))
        assert_same(ua.where(ua.asarray(kept), found, 0), np.where(kept, expected, np.zeros_like(expected)))


@pytest.mark.usefixtures("composed")
@pytest.mark.parametrize("dtype", DTYPES)
def test_spacing(backend: str, dtype: str) -> None:
    x = numbers(dtype)
    info = np.finfo(dtype)
    x = x[~(np.abs(x) < info.smallest_normal / info.eps)]
    assert_same(ua.spacing(ua.asarray(x)), reference(np.spacing, x))


@pytest.mark.parametrize("dtype", [*DTYPES, "int32", "bool", "complex64"])
def test_float_power(backend: str, dtype: str) -> None:
    x, y = np.array([1, 2, 3, 0]).astype(dtype), np.array([2, 3, 1, 1]).astype(dtype)
    assert_same(ua.float_power(ua.asarray(x), ua.asarray(y)), np.float_power(x, y), rtol=1e-14, atol=1e-14)
    assert_same(ua.float_power(ua.asarray(x), 2), np.float_power(x, 2), rtol=1e-14, atol=1e-14)


def test_integers_and_scalars(backend: str) -> None:
    x = np.array([1, -2, 3], "int16")
    for name in ("frexp", "modf"):
        for mine, expected in zip(getattr(ua, name)(ua.asarray(x)), getattr(np, name)(x), strict=True):
            assert_same(mine, expected)
    assert_same(ua.ldexp(ua.asarray(x), 3), np.ldexp(x, 3))
    assert_same(ua.ldexp(ua.asarray([1.0, 2.0], dtype="float32"), 3), np.ldexp(np.array([1, 2], "f4"), 3))
    assert_same(ua.ldexp(1.5, ua.asarray([1, 2])), np.ldexp(1.5, np.array([1, 2])))
    assert_same(ua.spacing(ua.asarray(x)), np.spacing(x))
    assert float(ua.frexp(6.0).mantissa) == 0.75
    assert int(ua.frexp(6.0).exponent) == 3
    assert ua.frexp(ua.ones(2, dtype="bfloat16")).mantissa.dtype == ua.bfloat16
    assert ua.modf(ua.zeros((0, 3))).integral.shape == (0, 3)


@pytest.mark.parametrize("name", ["frexp", "modf", "ldexp", "spacing"])
def test_compiled_parts_of_bfloat16(backend: str, name: str) -> None:
    x = ua.asarray([1.5, -6.0, 0.0], dtype="bfloat16")
    given = (x, ua.asarray([1, -2, 3], dtype="int32")) if name == "ldexp" else (x,)
    found, expected = ua.compile(find(name))(*given), find(name)(*given)
    for one, other in zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]:
        assert_same(one, as_numpy(other))


def test_complex_numbers_have_no_parts(backend: str) -> None:
    for name in ("frexp", "modf", "spacing"):
        assert_raises(ua.errors.DtypeError, getattr(ua, name), ua.asarray([1j]))
    assert_raises(ua.errors.DtypeError, ua.ldexp, ua.asarray([1j]), 2)
    assert_raises(ua.errors.DtypeError, ua.ldexp, ua.ones(2), ua.ones(2))


def test_gradients(backend: str) -> None:
    x = np.array([0.7, -3.3, 5.2])
    assert_gradients(backend, lambda x: ua.frexp(x).mantissa, x)
    assert_gradients(backend, lambda x: ua.modf(x).fractional, x)
    assert_gradients(backend, lambda x: ua.ldexp(x, 3), x)
    assert_gradients(backend, lambda x, y: ua.float_power(x, y), np.abs(x), x)
