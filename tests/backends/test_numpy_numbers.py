"""NumPy's arrays beside Python's integers, which plain calls pass on as floats where the array holds floats."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua

VALUES = np.asarray([1.5, -3.0, 0.0, -0.0, np.inf, -np.inf, np.nan, 2.0**53, 1e38])
NUMBERS = (0, 1, -1, 2, 3, 127, 2**24 + 1, 2**53 + 1, -(2**63), 2**64 - 1, 10**30, 10**300, 10**400)
NAMES = (
    *("add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "atan2", "hypot", "copysign", "pow"),
    *("nextafter", "logaddexp", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
)


def outcome(call: Callable[[], Any]) -> Any:
    """Return the dtype, the bits and the warnings of a result, or the type of the error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = np.asarray(call())
        except Exception as error:
            return type(error)
    return found.dtype, found.tobytes(), [str(each.message) for each in caught]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("name", NAMES)
def test_integers_give_the_bits_that_numpy_gives(name: str, dtype: str) -> None:
    own: Any = getattr(np, name)
    function = getattr(ua, name)
    with ua.use_backend("numpy"), np.errstate(all="ignore"):
        native = VALUES.astype(dtype) if dtype != "int64" else np.arange(-2, 7)
        x = ua.asarray(native)
        for number in NUMBERS:
            if name == "pow" and (dtype == "int64" or number in (-1, 2)):
                # Those have functions of their own.
                continue
            if dtype == "int64" and abs(number) > 127:
                # Such a number has a dtype of its own beside integers.
                continue
            for ours, theirs in (
                (lambda n=number: function(x, n), lambda n=number: own(native, n)),
                (lambda n=number: function(n, x), lambda n=number: own(n, native)),
            ):
                expected = outcome(theirs)
                if not isinstance(expected, type):
                    assert outcome(ours) == expected, (number, dtype)


@pytest.mark.filterwarnings("error::DeprecationWarning")
@pytest.mark.parametrize("name", NAMES)
def test_results_are_written_without_a_warning(name: str) -> None:
    function = getattr(ua, name)
    with ua.use_backend("numpy"):
        x, y = ua.asarray([1.5, 2.0, 3.0]), ua.asarray([2.0, 2.0, 0.5])
        for other in (y, 2, 2.0):
            expected = function(x, other)
            out = ua.zeros_like(expected)
            for _ in range(3):
                assert function(x, other, out=out) is out
                assert ua.all(out == expected)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("pair", [(0.0, np.inf), (1e200, 1e200), (-np.inf, 2.0), (np.nan, 1.0)])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_quotients_warn_of_nothing_but_quotients(dtype: str, pair: tuple[float, float], shape: tuple[int, ...]) -> None:
    """To look whether all numbers are finite isn't told of."""
    with np.errstate(over="ignore"):
        x, y = (ua.asarray(np.full(shape, each).astype(dtype), backend="numpy") for each in pair)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*encountered in (dot|vdot|multiply|isinf).*")
        for _ in range(3):
            ua.floor_divide(x, y)
