"""Sorting functions against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua

from ..oracle import ALL, arrays, assert_same

REAL = [dtype for dtype in ALL if not dtype.startswith("complex")]


@pytest.mark.parametrize("dtype", REAL)
@given(data=st.data())
def test_sort(backend: str, dtype: str, data: st.DataObject) -> None:
    values = data.draw(arrays(dtype).filter(lambda a: a.ndim > 0))
    axis = data.draw(st.integers(-values.ndim, values.ndim - 1))
    descending = data.draw(st.booleans())
    expected = np.sort(values, axis, stable=True)
    if descending:
        expected = np.flip(expected, axis)
    # Which of -0.0 and 0.0 comes first is the algorithm's business.
    assert_same(ua.sort(ua.asarray(values), axis=axis, descending=descending), expected, signed_zeros=False)
