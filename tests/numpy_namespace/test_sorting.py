"""Sorting and searching against NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua
import unifyarr.numpy as unp
from unifyarr.errors import AxisError

from ..oracle import assert_same
from .calls import DATA, NEWER, check_call

CALLS = """
sort(A) | sort(A, 0) | sort(A, None) | sort(I, axis=1, kind="stable") | sort(N) | sort(U, kind="heapsort") | sort(C)
sort(3) | sort(A, 2) | sort(A, kind="no") | sort(A, order="x")
sort(A, kind="stable", stable=True) | sort(v, stable=True) | sort([3, 1, 2]) | sort([]) | argsort(I, kind="stable")
argsort(A, 0) | argsort(A, None) | argsort(v) | argsort(3) | argsort(N, 1)
argsort(A, kind=1) | argsort([]) | lexsort((v, k)) | lexsort(([3, 1, 2], [0, 1, 0])) | lexsort((A, I))
lexsort((A, B), 0) | lexsort((v, A)) | lexsort(()) | lexsort(B) | lexsort((v, k), axis=3)
partition(v, 2)[2] | partition(A, 1, 0)[1] | partition(A, [1, 3], axis=None)[[1, 3]] | partition(v, 9)
partition(v, 1.5) | partition(v, 1, kind="no") | partition(3, 0) | partition([], 0)
argpartition(v, 2)[2] | argpartition(A, -1)[:, -1] | argpartition(v, 4) | argpartition(3, 0) | argpartition([], 0)
searchsorted([1, 2, 3], 2) | searchsorted(np.sort(v), A) | searchsorted(np.sort(v), v, "right")
searchsorted(v, [0, 1], sorter=np.argsort(v)) | searchsorted(A, 1) | searchsorted(v, 1, "up")
searchsorted(v, 1, sorter=[0.5, 1, 2, 3]) | searchsorted([], 1) | searchsorted(np.sort(k), 1.5)
searchsorted([0, 1, np.nan], [np.nan, 0]) | sort_complex(C[0]) | sort_complex(v) | sort_complex(U[0])
sort_complex(F) | sort_complex([2, 1 - 1j, 1 + 1j])
"""


@pytest.mark.parametrize("line", CALLS.strip().splitlines(), ids=lambda line: line.split("(")[0])
def test_calls(backend: str, line: str) -> None:
    for call in line.split(" | "):
        check_call(call)


MANY = {
    **{name: DATA[name] for name in "AIBFCUN"},
    "zeros": np.array([0.0, -0.0, np.inf, np.nan, -0.0, 1.0, -np.inf, 0.0, np.nan]),
    "complex": np.array([1 + 1j, complex(np.nan, 1), complex(1, np.nan), 2, 1 + 2j, complex(np.nan, np.nan), 2]),
    "lowest": np.array([-128, 127, 0, -128], "int8"),
    "none": np.zeros((0, 3)),
}


def descending(x: np.ndarray, axis: int | None) -> np.ndarray:
    """Return the stable descending order, with NaN behind, which NumPy 2.5 calls ``argsort(x, descending=True)``."""
    # Integers turned over, of which none has an opposite that it can't hold.
    return np.argsort(-x if x.dtype.kind in "fc" else ~x.astype(x.dtype), axis, kind="stable")


@pytest.mark.parametrize("name", MANY)
def test_descending_orders(backend: str, name: str) -> None:
    values = MANY[name]
    x = ua.asarray(values)
    for axis in (None, *range(-1, values.ndim)):
        order = descending(values, axis)
        flat = values.reshape(-1) if axis is None else values
        wanted = np.take_along_axis(flat, order, -1 if axis is None else axis)
        if np.lib.NumpyVersion(np.__version__) >= "2.5.0":
            options: dict[str, Any] = {"stable": True, "descending": True}
            np.testing.assert_array_equal(np.argsort(values, axis, **options), order)
        assert_same(unp.argsort(x, axis, stable=True, descending=True), order)
        assert_same(unp.sort(x, axis, descending=True), wanted, signed_zeros=False)
        assert_same(unp.sort(x, axis, descending=False), np.sort(values, axis), signed_zeros=False)
    y = ua.asarray(values, copy=True)
    y.sort(descending=True)
    assert_same(y, unp.sort(x, descending=True))
    assert_same(x.argsort(stable=True, descending=True), unp.argsort(x, stable=True, descending=True))


def test_an_order_is_given_once(backend: str) -> None:
    x = ua.asarray([2.0, 1.0])
    for name in NEWER:
        with pytest.raises(ValueError, match="kind, or stable and descending"):
            getattr(unp, name)(x, kind="stable", descending=False)
        with pytest.raises(ValueError, match="kind, or stable and descending"):
            getattr(x, name)(kind="stable", descending=True)
        with pytest.raises(AxisError):
            unp.sort(ua.asarray(2.0), descending=True)
    assert x.tolist() == [2.0, 1.0]
