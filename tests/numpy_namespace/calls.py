"""Calls of NumPy's names as text: each is made with NumPy and with ours, and has to give the same."""

from __future__ import annotations

import warnings
from typing import Any

import numpy
import pytest

import unifyarr as ua
import unifyarr.numpy
from unifyarr.testing import has
from unifyarr.testing.abilities import LACKING

from ..oracle import assert_same

# Arrays that a call may name: float64, int64, bool, float32, complex128 and uint8, with NaN, of one axis and of three.
DATA: dict[str, numpy.ndarray] = {
    "A": numpy.array([[1.5, -2.0, 0.25, 3.0], [0.5, 4.0, -1.0, 2.0], [-3.5, 0.75, 1.0, -0.5]]),
    "I": numpy.array([[3, -1, 4, 1], [5, -9, 2, 6], [5, 3, 5, 8]]),
    "B": numpy.array([[True, False, True, True], [False, False, True, True], [True, True, True, False]]),
    "F": numpy.array([[1.5, -2.0, 0.25, 3.0], [0.5, 4.0, -1.0, 2.0], [-3.5, 0.75, 1.0, -0.5]], "float32"),
    "C": numpy.array([[1 + 2j, -2j, 0.5, 3 - 1j], [2, 1j, -1 + 1j, 4], [0.5j, 1, -3, 2 + 2j]]),
    "U": numpy.array([[3, 1, 200, 1], [5, 9, 2, 6], [5, 3, 255, 8]], "uint8"),
    "N": numpy.array([[1.5, numpy.nan, 0.25, 3.0], [0.5, 4.0, numpy.nan, 2.0], [-3.5, 0.75, 1.0, -0.5]]),
    "v": numpy.array([0.5, 2.0, -1.0, 3.5]),
    "w": numpy.array([1.0, 2.0, 0.5, 0.25]),
    "k": numpy.array([2, 0, 3, 1]),
    "stack": numpy.arange(24.0).reshape(2, 4, 3).swapaxes(1, 2).copy() / 4 - 2,
}

# Keyword parameters of NumPy 2.5, which are here with earlier versions as well.
NEWER = {"sort": ("descending",), "argsort": ("descending",)}


def result_of(namespace: Any, call: str) -> Any:
    """Return the result of a call in a namespace, with its own arrays for the data; ``zeros`` makes one to write."""
    ours = namespace is unifyarr.numpy
    data = {name: ua.asarray(values.copy()) if ours else values.copy() for name, values in DATA.items()}

    def zeros(shape: Any, dtype: Any = float) -> Any:
        return ua.zeros(shape, dtype=dtype) if ours else numpy.zeros(shape, dtype)

    with numpy.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(f"np.{call}", {"np": namespace, "zeros": zeros, **data})


def check_call(call: str, *, rtol: float | None = None) -> None:
    """Assert that a call agrees with NumPy's: the values, the dtype and the shape, or the error."""
    try:
        wanted = result_of(numpy, call)
    except Exception as error:
        kinds = tuple(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
        try:
            found = result_of(unifyarr.numpy, call)
        except kinds[0]:
            return
        skip_without_values(call)
        raise AssertionError(f"{call}: NumPy raises {error!r}, but here it gives {found!r}") from error
    _compare(result_of(unifyarr.numpy, call), wanted, call, rtol)


def skip_without_values(call: str) -> None:
    """Skip a call whose error is one that values decide, on an engine that doesn't look at them."""
    if not has(ua.current_backend(), "values"):
        pytest.skip(f"{LACKING} values: {call} raises for its values")


def _compare(found: Any, wanted: Any, call: str, rtol: float | None) -> None:
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted), call
        for one, other in zip(found, wanted, strict=True):
            _compare(one, other, call, rtol)
    elif isinstance(wanted, (bool, str, int)) or wanted is None:
        assert found == wanted, call
    else:
        # Sums and products may cancel: errors are relative to the largest element.
        finite = numpy.abs(wanted)[numpy.isfinite(wanted)] if numpy.size(wanted) else numpy.zeros(0)
        kind = numpy.asarray(wanted).dtype
        if kind.kind == "f" and found.dtype.kind == "c" and not has(ua.current_backend(), "values"):
            # Whether all imaginary parts are zero depends on values.
            wanted = numpy.asarray(wanted, found.dtype.name)
        atol = (1e-5 if kind.itemsize < 8 or kind == "complex64" else 1e-12) * float(max(finite, default=0))
        assert_same(found, wanted, rtol=rtol, atol=atol if kind.kind in "fc" else 0.0, signed_zeros=False, what=call)
