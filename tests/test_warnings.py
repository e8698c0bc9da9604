"""Warnings of values, such as 1 / 0: NumPy's backend gives them as ``np.errstate`` says, the others never."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua

from .oracle import as_numpy

VALUES = np.array([0.0, -1.0, 2.0, 1e307, -np.inf, np.inf])
CALLS: dict[str, Callable[[Any], Any]] = {
    "1 / x": lambda x: 1 / x,
    "x / 0": lambda x: x / 0,
    "x - x": lambda x: x - x,
    "x * x": lambda x: x * x,
    "x ** -1": lambda x: x**-1.0,
    "x % 0": lambda x: x % 0.0,
    "log": lambda x: np.log(x) if isinstance(x, np.ndarray) else ua.log(x),
    "sqrt": lambda x: np.sqrt(x) if isinstance(x, np.ndarray) else ua.sqrt(x),
    "exp": lambda x: np.exp(x) if isinstance(x, np.ndarray) else ua.exp(x),
    "sin": lambda x: np.sin(x) if isinstance(x, np.ndarray) else ua.sin(x),
    "sum": lambda x: x[3:4].repeat(50).sum(),
    "var": lambda x: x.var(),
    "to float32": lambda x: x.astype("float32"),
    "in place": lambda x: operator.itruediv(x, 0),
    "a value": lambda x: operator.setitem(x.astype("float16"), 0, 1e300),
    "a matrix": lambda x: x.reshape((2, 3)) @ x.reshape((3, 2)),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_numpy_alone_warns_of_values(backend: str, call: Callable[[Any], Any]) -> None:
    with np.errstate(all="ignore"):
        expected = call(VALUES.copy())
        result = call(ua.asarray(VALUES, copy=True))
    if expected is not None:
        np.testing.assert_allclose(as_numpy(result), expected)
    if backend != "numpy":
        # Warnings are errors here too.
        for mode in ("warn", "raise"):
            with np.errstate(all=mode):  # type: ignore[call-overload]
                call(ua.asarray(VALUES, copy=True))
        return
    with np.errstate(all="warn"), pytest.warns(RuntimeWarning):
        call(ua.asarray(VALUES, copy=True))
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        call(ua.asarray(VALUES, copy=True))
