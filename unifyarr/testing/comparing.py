"""What it means that a result is NumPy's: dtypes, shapes, values to rounding, special values exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import unifyarr as ua

from .._core.engines.registry import load
from .._core.values.lengths import PartialShape

BOOL = ["bool"]
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
INTEGERS = SIGNED + UNSIGNED
FLOATS = ["float32", "float64"]
HALVES = ["float16", "bfloat16"]
COMPLEX = ["complex64", "complex128"]
STANDARD = BOOL + INTEGERS + FLOATS + COMPLEX
ALL = BOOL + INTEGERS + HALVES + FLOATS + COMPLEX

# Relative to the largest magnitude at stake; sums and transcendental functions round differently on each engine.
TOLERANCE = {
    "float16": 4e-3,
    "bfloat16": 3e-2,
    "float32": 2e-5,
    "complex64": 2e-5,
    "float64": 1e-11,
    "complex128": 1e-11,
}


def as_numpy(x: Any) -> np.ndarray:
    """Return an array's values as an independent NumPy array."""
    return np.array(x.__array__() if isinstance(x, ua.Array) else x)


def assert_same(
    actual: ua.Array,
    expected: Any,
    *,
    rtol: float | None = None,
    atol: float = 0.0,
    signed_zeros: bool = True,
    what: Any = "",
) -> None:
    """Assert that an array has NumPy's dtype, shape and values: to rounding, special ones and zeros' signs exactly.

    ``what``, a value or a tuple of values, is shown where that fails.
    """
    expected = np.asarray(expected)
    assert isinstance(actual, ua.Array), f"{_shown(what)}: {type(actual)}"
    assert actual.dtype == expected.dtype, f"{_shown(what)}: dtype {actual.dtype}, NumPy has {expected.dtype}"
    values = as_numpy(actual)
    # A length that only values decide: they are computed here.
    shape = values.shape if type(actual.shape) is PartialShape else actual.shape
    assert shape == expected.shape, f"{_shown(what)}: shape {shape}, NumPy has {expected.shape}"
    assert_values(values, expected, rtol=rtol, atol=atol, signed_zeros=signed_zeros, what=what)


def _shown(what: Any) -> str:
    return " ".join(map(str, what)) if isinstance(what, tuple) else str(what)


def assert_values(
    actual: np.ndarray,
    expected: np.ndarray,
    *,
    rtol: float | None = None,
    atol: float = 0.0,
    signed_zeros: bool = True,
    what: Any = "",
) -> None:
    """Assert equal values: exactly for integers and bools, to rounding for floats, special values exactly."""
    dtype = expected.dtype
    if actual.dtype == dtype and actual.shape == expected.shape and actual.tobytes() == expected.tobytes():
        return

    def assert_equal(one: np.ndarray, other: np.ndarray, of: str) -> None:
        # Text of arrays takes longer than all that is compared.
        if not np.array_equal(one, other):
            np.testing.assert_array_equal(one, other, err_msg=f"{_shown(what)}: {of}\n{actual}\n{expected}")

    if dtype.name not in TOLERANCE:
        assert_equal(actual, expected, "values")
        return
    wide = np.complex128 if dtype.kind == "c" else np.float64
    a, e = actual.astype(wide), expected.astype(wide)
    scale = np.abs(e)
    parts = [(a.real, e.real), (a.imag, e.imag)] if wide is np.complex128 else [(a, e)]
    bound = (TOLERANCE[dtype.name] if rtol is None else rtol) * np.where(np.isfinite(scale), scale, 0) + atol
    # An engine may flush subnormal numbers to zero.
    bound = bound + ua.finfo(dtype).smallest_normal
    for one, other in parts:
        assert_equal(np.isnan(one), np.isnan(other), "NaN")
        infinite = np.isinf(other) | np.isinf(one)
        assert_equal(one[infinite], other[infinite], "infinities")
        finite = np.isfinite(other)
        near = np.all(np.abs(one[finite] - other[finite]) <= bound[finite])
        assert near, f"{_shown(what)}:\n{actual}\nNumPy has\n{expected}"
        if signed_zeros:
            zero = finite & (other == 0) & (one == 0)
            assert_equal(np.signbit(one[zero]), np.signbit(other[zero]), "sign of zero")


def look(result: Any) -> None:
    """Compute what a call has given: on an engine that computes later, errors of values come then."""
    for each in result if isinstance(result, (tuple, list)) else [result]:
        as_numpy(each)


def assert_raises(error: type[BaseException], function: Callable[..., Any], *arguments: Any, **options: Any) -> None:
    """Assert that a call raises an error of a class, and leaves every array that it was given as it was.

    On an engine that computes values later, the error may come with them.
    """
    # Imported here: the self-test compares values where pytest isn't installed.
    import pytest

    given: list[ua.Array] = []
    for each in (*arguments, *options.values()):
        given.extend(x for x in (each if isinstance(each, (list, tuple)) else [each]) if isinstance(x, ua.Array))
    before = [(x.dtype, x.shape, as_numpy(x)) for x in given]
    late = False

    def computed() -> None:
        nonlocal late
        result = function(*arguments, **options)
        made = result if isinstance(result, (tuple, list)) else [result]
        late = any(not load(x.backend).has_values for x in (*given, *made) if isinstance(x, ua.Array))
        if late:
            look(result)

    with pytest.raises(error):
        computed()
    for x, (dtype, shape, values) in zip(given, before, strict=True):
        assert (x.dtype, x.shape) == (dtype, shape)
        # What a late error has been written to has no values any more.
        assert late or as_numpy(x).tobytes() == values.tobytes()
