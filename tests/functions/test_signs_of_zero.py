"""The sign that zeros have where NumPy's doesn't depend on the processor, eager and compiled."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.declaring.declare import DECLARATIONS
from unifyarr.errors import DtypeError
from unifyarr.testing.calling import find

from ..engines import default_device
from ..natives import skip_without_derivatives
from ..oracle import COMPLEX, FLOATS, as_numpy, assert_same

DTYPES = [*FLOATS, *COMPLEX]
ZEROS = [[-0.0, -0.0, -0.0], [-0.0, 0.0, 1.0], [0.0, -0.0, -0.0], [-0.0, 1.0, -1.0], [-0.0, -0.0, math.nan]]
# Enough that engines compute some of them by vectors and the others one by one.
NUMBERS = [-0.0, 0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 0.25, -4.0, -0.0, 0.0, 2.0, -0.0]


def by_both(function: Any, *values: np.ndarray) -> list[ua.Array]:
    """Return the result of an eager and of a compiled call."""
    return [each(*map(ua.asarray, values)) for each in (function, ua.compile(function))]


def numbers(values: Any, dtype: str) -> np.ndarray:
    """Return an array; of a complex one each part has the values."""
    found = np.asarray(values, ua.dtype(dtype).dtype if dtype == "bfloat16" else dtype)
    return found if found.dtype.kind != "c" else (found.real + 1j * found.real[::-1]).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_from_the_first_element_on(backend: str, dtype: str) -> None:
    x = numbers(ZEROS, dtype)
    found = ua.cumulative_sum(ua.asarray(x), axis=1, include_initial=True)
    assert_same(found, np.cumulative_sum(x, axis=1, include_initial=True))
    for found in by_both(lambda x: ua.cumulative_sum(x, axis=1), x):
        assert_same(found, np.cumulative_sum(x, axis=1))
    for row in x:
        assert_same(ua.cumulative_sum(ua.asarray(row)), np.cumulative_sum(row))
    assert_same(ua.cumulative_sum(ua.asarray(x), axis=0), np.cumulative_sum(x, axis=0))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["sum", "mean", "nansum"])
def test_a_total_of_negative_zeros_is_positive(backend: str, dtype: str, name: str) -> None:
    of_numpy, ours = getattr(np, name), getattr(ua, name)
    for values in ([-0.0], [-0.0, -0.0]):
        x = numbers(values, dtype)
        for found in by_both(ours, x):
            assert_same(found, of_numpy(x))
        column = x[:, None]
        for found in by_both(lambda x: ours(x, axis=1), column):
            assert_same(found, of_numpy(column, axis=1))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("limits", [(0.0, 1.0), (0, 1), (-0.0, 1.0), (-1.0, -0.0)])
def test_clip_by_numbers_keeps_zeros(backend: str, dtype: str, limits: tuple[float, float]) -> None:
    x = numbers(NUMBERS, dtype)
    for found in by_both(lambda x: ua.clip(x, *limits), x):
        assert_same(found, np.clip(x, *limits))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("exponent", [0.5, -0.5, 1.0, 2, 3, -1, 1.5])
def test_powers_by_a_number(backend: str, dtype: str, exponent: float) -> None:
    x = numbers(NUMBERS, dtype)
    with np.errstate(all="ignore"):
        expected = np.power(x, exponent)
        for found in by_both(lambda x: x**exponent, x):
            assert_same(found, expected, rtol=1e-6)
        assert_same(ua.pow(ua.asarray(x), exponent), expected, rtol=1e-6)
        # An exponent on an accelerator isn't read: roots are powers there, of -0.0 and -inf too.
        if exponent != 0.5 or default_device(backend).startswith("cpu"):
            assert_same(ua.asarray(x) ** ua.asarray(np.asarray(exponent, dtype)), expected, rtol=1e-6)


def test_roots_have_the_derivative_of_powers(backend: str) -> None:
    skip_without_derivatives(backend)
    x = np.array([0.0, 0.25, 4.0])
    found = ua.grad(lambda x: ua.sum(x**0.5))(ua.asarray(x))
    np.testing.assert_allclose(as_numpy(found), [math.inf, 1.0, 0.25])
    for of in (ua.sum, ua.mean, ua.cumulative_sum):
        found = ua.grad(lambda x, of=of: ua.sum(of(x)))(ua.asarray([0.0]))
        np.testing.assert_allclose(as_numpy(found), [1.0])


# NumPy doesn't define which of two zeros these return.
EITHER = {"maximum", "minimum", "fmax", "fmin"}
UFUNCS = {name: each.ufunc for name, each in DECLARATIONS.items() if each.ufunc is not None}


@pytest.mark.parametrize("name", sorted(name for name, each in UFUNCS.items() if each.nin < 3 and name not in EITHER))
def test_a_single_zero_has_the_sign_of_one_in_an_array(backend: str, name: str) -> None:
    """Whichever zero came before: an engine may keep numbers that compare equal."""
    function, count = find(name), UFUNCS[name].nin
    for dtype in ("float64", "float32"):
        for values in (*product((0.0, -0.0, 1.0, -1.0), repeat=count), *product((-0.0, 0.0, 1.0), repeat=count)):
            try:
                with np.errstate(all="ignore"):
                    rows = function(*[ua.asarray([x], dtype=dtype) for x in values])
                    found = function(*[ua.asarray(x, dtype=dtype) for x in values])
            except DtypeError:
                return
            for one, row in zip(found, rows, strict=True) if isinstance(found, tuple) else [(found, rows)]:
                assert_same(one, as_numpy(row)[0], what=values)
