"""The special cases of the Array API standard 2025.12 for elementwise functions, real and complex.

Where NumPy has other values than the standard, the standard wins.
"""

from __future__ import annotations

from math import e, inf, nan, pi, tau

import numpy as np
import pytest

import unifyarr as ua

from .oracle import COMPLEX, FLOATS, HALVES, as_numpy, assert_same, assert_values, in_pieces

REAL = [*FLOATS, *HALVES]
SAME = [(0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, -inf), (nan, nan)]
NONE_BELOW_ZERO = [(nan, nan), (-1.0, nan), (-inf, nan), (0.0, -inf), (-0.0, -inf), (1.0, 0.0), (inf, inf)]

ONE: dict[str, list[tuple[float, float]]] = {
    "abs": [(nan, nan), (-0.0, 0.0), (-inf, inf), (inf, inf)],
    "acos": [(nan, nan), (2.0, nan), (-2.0, nan), (inf, nan), (1.0, 0.0), (-1.0, pi)],
    "acosh": [(nan, nan), (0.5, nan), (-inf, nan), (1.0, 0.0), (inf, inf)],
    "asin": [(nan, nan), (2.0, nan), (-2.0, nan), (0.0, 0.0), (-0.0, -0.0)],
    "asinh": SAME,
    "atan": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, pi / 2), (-inf, -pi / 2)],
    "atanh": [(nan, nan), (-2.0, nan), (2.0, nan), (-1.0, -inf), (1.0, inf), (0.0, 0.0), (-0.0, -0.0)],
    "ceil": [*SAME, (3.0, 3.0), (-3.0, -3.0), (1.5, 2.0), (-1.5, -1.0)],
    "cos": [(nan, nan), (0.0, 1.0), (-0.0, 1.0), (inf, nan), (-inf, nan)],
    "cosh": [(nan, nan), (0.0, 1.0), (-0.0, 1.0), (inf, inf), (-inf, inf)],
    "exp": [(nan, nan), (0.0, 1.0), (-0.0, 1.0), (inf, inf), (-inf, 0.0)],
    "expm1": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, -1.0)],
    "floor": [*SAME, (3.0, 3.0), (-3.0, -3.0), (1.5, 1.0), (-1.5, -2.0)],
    "log": [*NONE_BELOW_ZERO, (e, 1.0)],
    "log10": [*NONE_BELOW_ZERO, (100.0, 2.0)],
    "log1p": [(nan, nan), (-2.0, nan), (-inf, nan), (-1.0, -inf), (-0.0, -0.0), (0.0, 0.0), (inf, inf)],
    "log2": [*NONE_BELOW_ZERO, (8.0, 3.0)],
    "reciprocal": [(nan, nan), (0.0, inf), (-0.0, -inf), (inf, 0.0), (-inf, -0.0)],
    "round": [*SAME, (0.5, 0.0), (1.5, 2.0), (2.5, 2.0), (-0.5, -0.0), (-1.5, -2.0), (-2.5, -2.0), (7.0, 7.0)],
    "sign": [(nan, nan), (-3.0, -1.0), (-inf, -1.0), (3.0, 1.0), (inf, 1.0), (0.0, 0.0)],
    "sin": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, nan), (-inf, nan)],
    "sinh": SAME,
    "sqrt": [(nan, nan), (-1.0, nan), (-inf, nan), (0.0, 0.0), (-0.0, -0.0), (inf, inf)],
    "square": [(nan, nan), (inf, inf), (-inf, inf), (-0.0, 0.0)],
    "tan": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, nan), (-inf, nan)],
    "tanh": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, 1.0), (-inf, -1.0)],
    "trunc": [*SAME, (3.0, 3.0), (1.5, 1.0), (-1.5, -1.0)],
}


def assert_case(backend: str, name: str, expected: np.ndarray, *values: np.ndarray) -> None:
    actual = in_pieces(backend, getattr(ua, name), *values)
    assert actual.dtype == expected.dtype
    assert_values(actual, expected, what=(name, "of", values))


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("name", ONE)
def test_real_functions(backend: str, name: str, dtype: str) -> None:
    kind = getattr(ua, dtype)
    x, expected = (np.array(each).astype(kind) for each in zip(*ONE[name], strict=True))
    assert_case(backend, name, expected, x)


# Operands beside which a case holds for every number of a kind.
POSITIVE, NEGATIVE = (1.5, 3.0, 4.0), (-1.5, -3.0, -4.0)
FINITE = (*POSITIVE, *NEGATIVE, 0.0, -0.0)
ALL = (*FINITE, inf, -inf, nan)
NANS = [case for x in ALL for case in ((nan, x, nan), (x, nan, nan))]
QUOTIENTS = [
    *NANS,
    *((x, y, nan) for x in (inf, -inf) for y in (inf, -inf)),
    *((x, y, nan) for x in (0.0, -0.0) for y in (0.0, -0.0)),
    *(case for y in POSITIVE for case in ((0.0, y, 0.0), (-0.0, y, -0.0), (inf, y, inf), (-inf, y, -inf))),
    *(case for y in NEGATIVE for case in ((0.0, y, -0.0), (-0.0, y, 0.0), (inf, y, -inf), (-inf, y, inf))),
    *(case for x in POSITIVE for case in ((x, 0.0, inf), (x, -0.0, -inf), (x, inf, 0.0), (x, -inf, -0.0))),
    *(case for x in NEGATIVE for case in ((x, 0.0, -inf), (x, -0.0, inf), (x, inf, -0.0), (x, -inf, 0.0))),
]

TWO: dict[str, list[tuple[float, float, float]]] = {
    "add": [
        *NANS,
        (inf, -inf, nan),
        (-inf, inf, nan),
        (inf, inf, inf),
        (-inf, -inf, -inf),
        *((x, y, x) for x in (inf, -inf) for y in FINITE),
        *((x, y, y) for x in FINITE for y in (inf, -inf)),
        (-0.0, -0.0, -0.0),
        (-0.0, 0.0, 0.0),
        (0.0, -0.0, 0.0),
        (0.0, 0.0, 0.0),
        *((x, y, y) for x in (0.0, -0.0) for y in POSITIVE + NEGATIVE),
        *((x, y, x) for x in POSITIVE + NEGATIVE for y in (0.0, -0.0)),
        *((x, -x, 0.0) for x in POSITIVE + NEGATIVE),
    ],
    "subtract": [
        (inf, inf, nan),
        (-inf, -inf, nan),
        (inf, -inf, inf),
        (0.0, 0.0, 0.0),
        (-0.0, 0.0, -0.0),
        (1.5, 1.5, 0.0),
    ],
    "atan2": [
        *NANS,
        *((x, y, pi / 2) for x in POSITIVE for y in (0.0, -0.0)),
        *((x, y, -pi / 2) for x in NEGATIVE for y in (0.0, -0.0)),
        *(case for y in POSITIVE for case in ((0.0, y, 0.0), (-0.0, y, -0.0))),
        *(case for y in NEGATIVE for case in ((0.0, y, pi), (-0.0, y, -pi))),
        (0.0, 0.0, 0.0),
        (0.0, -0.0, pi),
        (-0.0, 0.0, -0.0),
        (-0.0, -0.0, -pi),
        *(case for x in POSITIVE for case in ((x, inf, 0.0), (x, -inf, pi))),
        *(case for x in NEGATIVE for case in ((x, inf, -0.0), (x, -inf, -pi))),
        *(case for y in FINITE for case in ((inf, y, pi / 2), (-inf, y, -pi / 2))),
        (inf, inf, pi / 4),
        (inf, -inf, 3 * pi / 4),
        (-inf, inf, -pi / 4),
        (-inf, -inf, -3 * pi / 4),
    ],
    "copysign": [
        *((x, y, abs(x)) for x in (*FINITE, inf, -inf) for y in (2.0, 0.0, inf)),
        *((x, y, -abs(x)) for x in (*FINITE, inf, -inf) for y in (-2.0, -0.0, -inf)),
        (nan, 1.0, nan),
    ],
    "divide": QUOTIENTS,
    # Floor division is floor(x1 / x2), where Python and NumPy have NaN for infinities and -1 for -1.5 // inf.
    "floor_divide": [*QUOTIENTS, (4.0, 3.0, 1.0), (-4.0, 3.0, -2.0), (4.0, -3.0, -2.0), (-4.0, -3.0, 1.0)],
    "hypot": [
        *(case for x in ALL for each in (inf, -inf) for case in ((each, x, inf), (x, each, inf))),
        *(case for x in (*FINITE, nan) for zero in (0.0, -0.0) for case in ((zero, x, abs(x)), (x, zero, abs(x)))),
        *(case for x in (*FINITE, nan) for case in ((nan, x, nan), (x, nan, nan))),
        *((x, y, 5.0) for x in (3.0, -3.0) for y in (4.0, -4.0)),
    ],
    "logaddexp": [
        *NANS,
        *(case for x in (*FINITE, inf, -inf) for case in ((inf, x, inf), (x, inf, inf))),
        (-inf, -inf, -inf),
        (-inf, 3.0, 3.0),
        (3.0, -inf, 3.0),
    ],
    "maximum": [*NANS, (inf, 3.0, inf), (-inf, 3.0, 3.0), (-inf, -inf, -inf)],
    "minimum": [*NANS, (inf, 3.0, 3.0), (-inf, 3.0, -inf), (inf, inf, inf)],
    "multiply": [
        *NANS,
        *((x, y, nan) for x in (inf, -inf) for y in (0.0, -0.0)),
        *((x, y, nan) for x in (0.0, -0.0) for y in (inf, -inf)),
        *((x, y, x * y) for x in (inf, -inf) for y in (*POSITIVE, *NEGATIVE, inf, -inf)),
        *((x, y, x * y) for x in POSITIVE + NEGATIVE for y in (inf, -inf, 0.0, -0.0)),
        *((x, y, x * y) for x in (0.0, -0.0) for y in (0.0, -0.0)),
    ],
    "nextafter": [*NANS, (-0.0, 0.0, 0.0), (0.0, -0.0, -0.0), (3.0, 3.0, 3.0), (inf, inf, inf)],
    "pow": [
        *((x, nan, nan) for x in ALL if x != 1),
        *((x, y, 1.0) for x in ALL for y in (0.0, -0.0)),
        *((nan, y, nan) for y in ALL if y != 0),
        *(case for x in (1.5, -3.0, inf, -inf) for case in ((x, inf, inf), (x, -inf, 0.0))),
        *((x, y, 1.0) for x in (1.0, -1.0) for y in (inf, -inf)),
        *((1.0, y, 1.0) for y in (*FINITE, inf, -inf)),
        *(case for x in (0.5, -0.5, 0.0, -0.0) for case in ((x, inf, 0.0), (x, -inf, inf))),
        *((inf, y, inf) for y in (*POSITIVE, inf)),
        *((inf, y, 0.0) for y in (*NEGATIVE, -inf)),
        (-inf, 3.0, -inf),
        (-inf, 4.0, inf),
        (-inf, 1.5, inf),
        (-inf, -3.0, -0.0),
        (-inf, -4.0, 0.0),
        (-inf, -1.5, 0.0),
        *((0.0, y, 0.0) for y in POSITIVE),
        *((0.0, y, inf) for y in NEGATIVE),
        (-0.0, 3.0, -0.0),
        (-0.0, 4.0, 0.0),
        (-0.0, 1.5, 0.0),
        (-0.0, -3.0, -inf),
        (-0.0, -4.0, inf),
        (-0.0, -1.5, inf),
        (-3.0, 1.5, nan),
        (-1.5, -1.5, nan),
    ],
    "remainder": [
        *NANS,
        *((x, y, nan) for x in (inf, -inf) for y in (*FINITE, inf, -inf)),
        *((x, y, nan) for x in FINITE for y in (0.0, -0.0)),
        *((x, y, 0.0) for x in (0.0, -0.0) for y in POSITIVE),
        *((x, y, -0.0) for x in (0.0, -0.0) for y in NEGATIVE),
        *(case for x in POSITIVE for case in ((x, inf, x), (x, -inf, -inf))),
        *(case for x in NEGATIVE for case in ((x, inf, inf), (x, -inf, x))),
        *((x, y, x % y) for x in POSITIVE + NEGATIVE for y in POSITIVE + NEGATIVE),
    ],
}


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("name", TWO)
def test_real_functions_of_two(backend: str, name: str, dtype: str) -> None:
    kind = getattr(ua, dtype)
    x1, x2, expected = (np.array(each).astype(kind) for each in zip(*TWO[name], strict=True))
    assert_case(backend, name, expected, x1, x2)


MINUS_NAN = np.copysign(nan, -1.0)
TRUTHS: dict[str, list[tuple[float, bool]]] = {
    "isfinite": [(inf, False), (-inf, False), (nan, False), (0.0, True), (-2.5, True)],
    "isinf": [(inf, True), (-inf, True), (nan, False), (0.0, False), (-2.5, False)],
    "isnan": [(inf, False), (-inf, False), (nan, True), (0.0, False), (-2.5, False)],
    "signbit": [
        (0.0, False), (-0.0, True), (inf, False), (-inf, True), (2.5, False), (-2.5, True),
        (np.copysign(nan, 1.0), False), (MINUS_NAN, True),
    ],
}  # fmt: skip


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("name", TRUTHS)
def test_questions_about_real_numbers(backend: str, name: str, dtype: str) -> None:
    x, expected = (np.array(each) for each in zip(*TRUTHS[name], strict=True))
    assert_case(backend, name, expected, x.astype(getattr(ua, dtype)))


@pytest.mark.parametrize("dtype", REAL)
def test_a_sign_is_copied_from_and_to_nan(backend: str, dtype: str) -> None:
    kind = getattr(ua, dtype)
    x1, x2 = np.array([2.0, 2.0, nan, nan, nan, nan]), np.array([MINUS_NAN, abs(nan), -1.0, 0.0, MINUS_NAN, abs(nan)])
    result = as_numpy(ua.copysign(ua.asarray(x1.astype(kind)), ua.asarray(x2.astype(kind))))
    assert np.signbit(result.astype("f4")).tolist() == [True, False, True, False, True, False]
    assert np.isnan(result.astype("f4")).tolist() == [False, False, True, True, True, True]


@pytest.mark.parametrize("dtype", REAL)
def test_comparisons_of_nan_zeros_and_infinities(backend: str, dtype: str) -> None:
    kind = getattr(ua, dtype)
    x1 = ua.asarray(np.array([nan, nan, 0.0, -0.0, inf, -inf, inf, 1.5]).astype(kind))
    x2 = ua.asarray(np.array([nan, 0.0, -0.0, -0.0, inf, -inf, -inf, 1.5]).astype(kind))
    same = np.array([False, False, True, True, True, True, False, True])
    assert_same(ua.equal(x1, x2), same)
    assert_same(ua.not_equal(x1, x2), ~same)
    assert_same(ua.less_equal(x1, x2), same)
    assert_same(ua.greater_equal(x1, x2), same | np.array([0, 0, 0, 0, 0, 0, 1, 0], bool))
    assert_same(ua.less(x1, x2), np.zeros(8, bool))


@pytest.mark.parametrize("dtype", REAL)
def test_clip_carries_nan(backend: str, dtype: str) -> None:
    x, low, high = (
        ua.asarray(np.array(each).astype(getattr(ua, dtype)))
        for each in ([nan, 1.0, 1.0, 5.0, -5.0], [0.0, nan, 0.0, 0.0, 0.0], [2.0, 2.0, nan, 2.0, 2.0])
    )
    assert_same(ua.clip(x, low, high), np.array([nan, nan, nan, 2.0, 0.0]).astype(getattr(ua, dtype)))


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_next_number_is_the_next(backend: str, dtype: str) -> None:
    kind = np.dtype(dtype)
    x1 = np.array([1.0, -1.0, 1.0, np.finfo(kind).max, inf, -inf], kind)
    x2 = np.array([2.0, 0.0, 0.0, inf, 0.0, 0.0], kind)
    np.testing.assert_array_equal(as_numpy(ua.nextafter(ua.asarray(x1), ua.asarray(x2))), np.nextafter(x1, x2))


# -- complex ----------------------------------------------------------------------------------------------------------


class Either(float):
    """A component whose sign the standard leaves open."""


zero, infinite = Either(0.0), Either(inf)
Complex = tuple[float, float]
NAN = (nan, nan)

COMPLEX_ONE: dict[str, list[tuple[Complex, Complex]]] = {
    "acos": [
        ((0.0, 0.0), (pi / 2, -0.0)),
        ((-0.0, 0.0), (pi / 2, -0.0)),
        ((0.0, nan), (pi / 2, nan)),
        ((-0.0, nan), (pi / 2, nan)),
        ((1.5, inf), (pi / 2, -inf)),
        ((-1.5, inf), (pi / 2, -inf)),
        ((1.5, nan), NAN),
        ((-inf, 1.5), (pi, -inf)),
        ((inf, 1.5), (0.0, -inf)),
        ((-inf, inf), (3 * pi / 4, -inf)),
        ((inf, inf), (pi / 4, -inf)),
        ((inf, nan), (nan, infinite)),
        ((-inf, nan), (nan, infinite)),
        ((nan, 1.5), NAN),
        ((nan, inf), (nan, -inf)),
        (NAN, NAN),
    ],
    "acosh": [
        ((0.0, 0.0), (0.0, pi / 2)),
        ((-0.0, 0.0), (0.0, pi / 2)),
        ((1.5, inf), (inf, pi / 2)),
        ((-1.5, inf), (inf, pi / 2)),
        ((1.5, nan), NAN),
        ((0.0, nan), (nan, Either(pi / 2))),
        ((-inf, 1.5), (inf, pi)),
        ((inf, 1.5), (inf, 0.0)),
        ((-inf, inf), (inf, 3 * pi / 4)),
        ((inf, inf), (inf, pi / 4)),
        ((inf, nan), (inf, nan)),
        ((-inf, nan), (inf, nan)),
        ((nan, 1.5), NAN),
        ((nan, inf), (inf, nan)),
        (NAN, NAN),
    ],
    "asinh": [
        ((0.0, 0.0), (0.0, 0.0)),
        ((1.5, inf), (inf, pi / 2)),
        ((1.5, nan), NAN),
        ((inf, 1.5), (inf, 0.0)),
        ((inf, inf), (inf, pi / 4)),
        ((nan, 0.0), (nan, 0.0)),
        ((nan, 1.5), NAN),
        ((nan, inf), (infinite, nan)),
        (NAN, NAN),
    ],
    "atanh": [
        ((0.0, 0.0), (0.0, 0.0)),
        ((0.0, nan), (0.0, nan)),
        ((1.0, 0.0), (inf, 0.0)),
        ((1.5, inf), (0.0, pi / 2)),
        ((1.5, nan), NAN),
        ((inf, 1.5), (0.0, pi / 2)),
        ((inf, inf), (0.0, pi / 2)),
        ((inf, nan), (0.0, nan)),
        ((nan, 1.5), NAN),
        ((nan, inf), (zero, pi / 2)),
        (NAN, NAN),
    ],
    "cosh": [
        ((0.0, 0.0), (1.0, 0.0)),
        ((0.0, inf), (nan, zero)),
        ((0.0, nan), (nan, zero)),
        ((1.5, inf), NAN),
        ((1.5, nan), NAN),
        ((inf, 0.0), (inf, 0.0)),
        ((inf, 1.5), (inf, inf)),
        ((inf, 2.0), (-inf, inf)),
        ((inf, inf), (infinite, nan)),
        ((inf, nan), (inf, nan)),
        ((nan, 0.0), (nan, zero)),
        ((nan, 1.5), NAN),
        (NAN, NAN),
    ],
    "exp": [
        ((0.0, 0.0), (1.0, 0.0)),
        ((-0.0, 0.0), (1.0, 0.0)),
        ((1.5, inf), NAN),
        ((1.5, nan), NAN),
        ((inf, 0.0), (inf, 0.0)),
        ((-inf, 1.5), (0.0, 0.0)),
        ((-inf, 2.0), (-0.0, 0.0)),
        ((inf, 1.5), (inf, inf)),
        ((inf, 2.0), (-inf, inf)),
        ((-inf, inf), (zero, zero)),
        ((inf, inf), (infinite, nan)),
        ((-inf, nan), (zero, zero)),
        ((inf, nan), (infinite, nan)),
        ((nan, 0.0), (nan, 0.0)),
        ((nan, 1.5), NAN),
        (NAN, NAN),
    ],
    # As exp(z) - 1; C's libraries, and NumPy with them, have other values.
    "expm1": [
        ((0.0, 0.0), (0.0, 0.0)),
        ((-0.0, 0.0), (0.0, 0.0)),
        ((1.5, inf), NAN),
        ((1.5, nan), NAN),
        ((inf, 0.0), (inf, 0.0)),
        ((-inf, 1.5), (-1.0, 0.0)),
        ((-inf, 4.0), (-1.0, -0.0)),
        ((inf, 1.5), (inf, inf)),
        ((inf, 2.0), (-inf, inf)),
        ((-inf, inf), (-1.0, zero)),
        ((inf, inf), (infinite, nan)),
        ((-inf, nan), (-1.0, zero)),
        ((inf, nan), (infinite, nan)),
        ((nan, 0.0), (nan, 0.0)),
        ((nan, 1.5), NAN),
        (NAN, NAN),
    ],
    "log": [
        ((-0.0, 0.0), (-inf, pi)),
        ((0.0, 0.0), (-inf, 0.0)),
        ((1.5, inf), (inf, pi / 2)),
        ((1.5, nan), NAN),
        ((-inf, 1.5), (inf, pi)),
        ((inf, 1.5), (inf, 0.0)),
        ((-inf, inf), (inf, 3 * pi / 4)),
        ((inf, inf), (inf, pi / 4)),
        ((inf, nan), (inf, nan)),
        ((-inf, nan), (inf, nan)),
        ((nan, 1.5), NAN),
        ((nan, inf), (inf, nan)),
        (NAN, NAN),
    ],
    "log1p": [
        ((-1.0, 0.0), (-inf, 0.0)),
        ((1.5, inf), (inf, pi / 2)),
        ((1.5, nan), NAN),
        ((-inf, 1.5), (inf, pi)),
        ((inf, 1.5), (inf, 0.0)),
        ((-inf, inf), (inf, 3 * pi / 4)),
        ((inf, inf), (inf, pi / 4)),
        ((inf, nan), (inf, nan)),
        ((-inf, nan), (inf, nan)),
        ((nan, 1.5), NAN),
        ((nan, inf), (inf, nan)),
        (NAN, NAN),
    ],
    "sign": [
        *(((x, y), (zero, zero)) for x in (0.0, -0.0) for y in (0.0, -0.0)),
        ((nan, 1.5), NAN),
        ((1.5, nan), NAN),
        (NAN, NAN),
        ((3.0, -4.0), (0.6, -0.8)),
        ((-2.0, 0.0), (-1.0, zero)),
    ],
    "sinh": [
        ((0.0, 0.0), (0.0, 0.0)),
        ((0.0, inf), (zero, nan)),
        ((0.0, nan), (zero, nan)),
        ((1.5, inf), NAN),
        ((1.5, nan), NAN),
        ((inf, 0.0), (inf, 0.0)),
        ((inf, 1.5), (inf, inf)),
        ((inf, 2.0), (-inf, inf)),
        ((inf, inf), (infinite, nan)),
        ((inf, nan), (infinite, nan)),
        ((nan, 0.0), (nan, 0.0)),
        ((nan, 1.5), NAN),
        (NAN, NAN),
    ],
    "sqrt": [
        ((0.0, 0.0), (0.0, 0.0)),
        ((-0.0, 0.0), (0.0, 0.0)),
        *(((x, inf), (inf, inf)) for x in (1.5, 0.0, -1.5, inf, -inf, nan)),
        ((1.5, nan), NAN),
        ((-inf, 1.5), (0.0, inf)),
        ((inf, 1.5), (inf, 0.0)),
        ((-inf, nan), (nan, infinite)),
        ((inf, nan), (inf, nan)),
        ((nan, 1.5), NAN),
        (NAN, NAN),
    ],
    "tanh": [
        ((0.0, 0.0), (0.0, 0.0)),
        ((1.5, inf), NAN),
        ((1.5, nan), NAN),
        ((inf, 1.5), (1.0, zero)),
        ((inf, inf), (1.0, zero)),
        ((inf, nan), (1.0, zero)),
        ((nan, 0.0), (nan, 0.0)),
        ((nan, 1.5), NAN),
        (NAN, NAN),
    ],
}


def turned(cases: list[tuple[Complex, Complex]], *, back: bool) -> list[tuple[Complex, Complex]]:
    """Return the cases of f(z) = -i g(iz) for those of g; of g(iz) itself unless turned back."""
    result: list[tuple[Complex, Complex]] = []
    for (c, d), (a, b) in cases:
        minus = Either(a) if isinstance(a, Either) else -a
        result.append(((d, -c), (b, minus) if back else (a, b)))
    return result


def scaled(cases: list[tuple[Complex, Complex]], factor: float) -> list[tuple[Complex, Complex]]:
    return [(z, (a / factor, b / factor)) for z, (a, b) in cases]


COMPLEX_ONE["asin"] = turned(COMPLEX_ONE["asinh"], back=True)
COMPLEX_ONE["atan"] = turned(COMPLEX_ONE["atanh"], back=True)
COMPLEX_ONE["sin"] = turned(COMPLEX_ONE["sinh"], back=True)
COMPLEX_ONE["tan"] = turned(COMPLEX_ONE["tanh"], back=True)
COMPLEX_ONE["cos"] = turned(COMPLEX_ONE["cosh"], back=False)
COMPLEX_ONE["log2"] = scaled(COMPLEX_ONE["log"], np.log(2))
COMPLEX_ONE["log10"] = scaled(COMPLEX_ONE["log"], np.log(10))
# On both sides of the real axis these are conjugates of each other, as in C.
MIRRORED = [name for name in COMPLEX_ONE if name != "sign"]


def conjugated(cases: list[tuple[Complex, Complex]]) -> list[tuple[Complex, Complex]]:
    return [((a, -b), (c, Either(d) if isinstance(d, Either) else -d)) for (a, b), (c, d) in cases]


def check(backend: str, name: str, dtype: str, cases: list[tuple[Complex, Complex]]) -> None:
    # Built from their parts: a + bj would turn an infinity into NaN.
    x = np.array([z for z, _ in cases]).view("c16")[:, 0].astype(dtype)
    actual = in_pieces(backend, getattr(ua, name), x)
    assert actual.dtype == dtype
    part = np.zeros(1, dtype).real.dtype
    wrong = []
    for place, (z, expected) in enumerate(cases):
        for mine, wanted in zip((actual[place].real, actual[place].imag), expected, strict=True):
            value = part.type(wanted)
            one, other = (abs(mine), abs(value)) if isinstance(wanted, Either) else (mine, value)
            same = np.isclose(one, other, rtol=1e-5, atol=0, equal_nan=True)
            if not same or (other == 0 and np.signbit(one) != np.signbit(other)):
                wrong.append(f"{name}{z} is {actual[place]}, not {expected}")
                break
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", COMPLEX_ONE)
def test_complex_functions(backend: str, name: str, dtype: str) -> None:
    check(backend, name, dtype, COMPLEX_ONE[name])


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", MIRRORED)
def test_complex_functions_of_conjugates(backend: str, name: str, dtype: str) -> None:
    check(backend, name, dtype, conjugated(COMPLEX_ONE[name]))


ODD = ["sinh", "tanh", "asinh", "atanh", "sin", "tan", "asin", "atan"]


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", [*ODD, "cosh"])
def test_complex_functions_of_negatives(backend: str, name: str, dtype: str) -> None:
    def negated(pair: Complex) -> Complex:
        return tuple(Either(x) if isinstance(x, Either) else -x for x in pair)  # type: ignore[return-value]

    cases = [(negated(z), value if name == "cosh" else negated(value)) for z, value in COMPLEX_ONE[name]]
    check(backend, name, dtype, cases)


ABS = [
    *(((x, y), inf) for x in (inf, -inf) for y in (1.5, inf, nan)),
    *(((x, y), inf) for x in (1.5, nan) for y in (inf, -inf)),
    *(((x, y), abs(y)) for x in (0.0, -0.0) for y in (1.5, -1.5, 0.0)),
    *(((x, y), abs(x)) for x in (1.5, -1.5) for y in (0.0, -0.0)),
    ((nan, 1.5), nan),
    ((1.5, nan), nan),
    (NAN, nan),
    ((3.0, -4.0), 5.0),
]


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_magnitudes(backend: str, dtype: str) -> None:
    x = np.array([z for z, _ in ABS]).view("c16")[:, 0].astype(dtype)
    expected = np.array([value for _, value in ABS]).astype(np.zeros(1, dtype).real.dtype)
    assert_same(ua.abs(ua.asarray(x)), expected, what=x)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_questions_about_complex_numbers(backend: str, dtype: str) -> None:
    parts = [1.5, inf, -inf, nan]
    pairs = np.array([(a, b) for a in parts for b in parts])
    x = ua.asarray(pairs.view("c16")[:, 0].astype(dtype))
    assert_same(ua.isfinite(x), np.isfinite(pairs).all(1))
    assert_same(ua.isinf(x), np.isinf(pairs).any(1))
    assert_same(ua.isnan(x), np.isnan(pairs).any(1))
    nans = np.isnan(pairs).any(1)
    assert_same(ua.equal(x, x), ~nans)
    assert_same(ua.not_equal(x, x), nans)
    assert_same(ua.equal(x, ua.conj(x)), np.zeros(len(pairs), bool))


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_sums_are_those_of_their_parts(backend: str, dtype: str) -> None:
    parts = [0.0, -0.0, 1.5, -1.5, inf, -inf, nan]
    pairs = np.array([(a, b) for a in parts for b in parts])
    x1 = np.repeat(pairs, len(pairs), 0)
    x2 = np.tile(pairs, (len(pairs), 1))
    for function, expected in ((ua.add, x1 + x2), (ua.subtract, x1 - x2)):
        result = function(*(ua.asarray(x.view("c16")[:, 0].astype(dtype)) for x in (x1, x2)))
        assert_same(ua.real(result), expected[:, 0].astype(np.zeros(1, dtype).real.dtype))
        assert_same(ua.imag(result), expected[:, 1].astype(np.zeros(1, dtype).real.dtype))


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", ["multiply", "divide"])
def test_complex_nan_stays_nan(backend: str, name: str, dtype: str) -> None:
    x = ua.asarray(np.array([complex(nan, nan)], dtype))
    result = as_numpy(getattr(ua, name)(x, x))
    assert np.isnan(result.real).all()
    assert np.isnan(result.imag).all()


@pytest.mark.parametrize("dtype", COMPLEX)
def test_parts_round_by_themselves(backend: str, dtype: str) -> None:
    parts = [(0.5, 1.5), (-0.5, 2.5), (nan, 1.2), (1.2, nan), (inf, -0.0), (-inf, tau)]
    x = ua.asarray(np.array(parts).view("c16")[:, 0].astype(dtype))
    part = np.zeros(1, dtype).real.dtype
    result = ua.round(x)
    assert_same(ua.real(result), np.round(np.array(parts, part)[:, 0]))
    assert_same(ua.imag(result), np.round(np.array(parts, part)[:, 1]))


@pytest.mark.parametrize("dtype", [*REAL, *COMPLEX])
@pytest.mark.parametrize("other", ["bool", "int8", "float16"])
def test_zero_times_infinity_is_nan_in_operands_of_two_dtypes(backend: str, other: str, dtype: str) -> None:
    # A compiler that sees the cast may select instead of multiplying.
    x, zero = ua.asarray(np.array([inf, -inf]), dtype=getattr(ua, dtype)), ua.zeros(2, dtype=getattr(ua, other))
    assert bool(ua.all(ua.isnan(zero * x)))
    assert bool(ua.all(ua.isnan(x * zero)))
    assert bool(ua.all(ua.isnan(zero / ua.zeros_like(x))))
    # TensorFlow has nothing that keeps XLA from it, in a compiled function.
    if backend != "tensorflow":
        assert bool(ua.all(ua.isnan(ua.compile(ua.multiply)(zero, x))))


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_nan_and_infinity_reach_all_of_a_softmax(backend: str, name: str, dtype: str) -> None:
    x = ua.asarray(np.array([[nan, 1.0], [1.0, inf], [0.0, 1.0]]), dtype=getattr(ua, dtype))
    for _ in range(3):
        found = ua.isnan(getattr(ua.nn, name)(x, axis=1))
        assert as_numpy(found).tolist() == [[True, True], [True, True], [False, False]]
