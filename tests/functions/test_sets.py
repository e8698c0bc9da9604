"""Set functions against NumPy: ascending values, each NaN a value of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua
from unifyarr.testing import needs

from ..oracle import ALL, COMPLEX, as_numpy, assert_same, assert_unchanged, few, is_bfloat16, seeded, shapes


def unique(values: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return NumPy's ``unique``, of bfloat16 by way of float32."""
    found = np.unique(
        values.astype("f4") if is_bfloat16(values) else values,
        return_index=True,
        return_inverse=True,
        return_counts=True,
        equal_nan=False,
    )
    return (found[0].astype(values.dtype), found[1], found[2].reshape(values.shape), found[3])


def draw_values(data: st.DataObject, dtype: str) -> np.ndarray:
    shape = data.draw(st.one_of(st.just((24,)), shapes(dtype)))
    return data.draw(seeded(dtype, shape, special=dtype not in COMPLEX, low=-3, high=3))


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_unique(backend: str, dtype: str, data: st.DataObject) -> None:
    values = draw_values(data, dtype)
    x = ua.asarray(values)
    expected = dict(zip(("values", "indices", "inverse_indices", "counts"), unique(values), strict=True))
    results: dict[str, Any] = {name: getattr(ua, name)(x) for name in ("unique_all", "unique_counts", "unique_inverse")}
    fields = {
        "unique_all": ("values", "indices", "inverse_indices", "counts"),
        "unique_counts": ("values", "counts"),
        "unique_inverse": ("values", "inverse_indices"),
    }
    for name, result in results.items():
        assert result._fields == fields[name]
        for field in fields[name]:
            # The zero that represents -0.0 and 0.0 is the engine's choice.
            assert_same(getattr(result, field), expected[field], signed_zeros=False, what=(field, "of", values))
    assert_same(ua.unique_values(x), expected["values"], signed_zeros=False)
    assert_unchanged(x, values)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_every_nan_is_a_value_of_its_own_and_zeros_are_one(backend: str, dtype: str) -> None:
    values = np.array([np.nan, 0.0, 1.0, -0.0, np.nan]).astype(ua.bfloat16 if dtype == "bfloat16" else dtype)
    result = ua.unique_all(ua.asarray(values))
    sorted_once = np.array([0.0, 1.0, np.nan, np.nan]).astype(values.dtype)
    assert_same(result.values, sorted_once, signed_zeros=False)
    assert_same(ua.unique_values(ua.asarray(values)), sorted_once, signed_zeros=False)
    assert as_numpy(result.counts).tolist() == [2, 1, 1, 1]
    assert as_numpy(result.indices).tolist() == [1, 2, 0, 4]
    assert as_numpy(result.inverse_indices).tolist() == [2, 0, 1, 0, 3]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_nans_keep_their_order(backend: str, dtype: str) -> None:
    # Engines sort them in another order from some length on, or on some processors.
    values = np.tile([np.nan, 0.5, -1.0, np.nan, 2.0, np.nan], 50).astype(ua.bfloat16 if dtype == "bfloat16" else dtype)
    result = ua.unique_inverse(ua.asarray(values))
    assert_same(result.values, unique(values)[0])
    assert_same(result.inverse_indices, unique(values)[2])


@needs("writes", why="an engine that knows lengths once values are computed")
def test_compiled_sets_meet_their_first_nan_late(backend: str) -> None:
    function = ua.compile(lambda x: tuple(ua.unique_inverse(x)))
    for values in ([1.0, 2.0, 1.0], [1.0, np.nan, 1.0], [np.nan, 0.5, np.nan]):
        found, inverse = function(ua.asarray(values))
        assert_same(found, unique(np.array(values))[0])
        assert_same(inverse, unique(np.array(values))[2])


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_values_rebuild_the_array(backend: str, dtype: str, data: st.DataObject) -> None:
    values = draw_values(data, dtype)
    result = ua.unique_inverse(ua.asarray(values))
    if values.size:
        rebuilt = ua.take(result.values, result.inverse_indices, axis=0)
        assert_same(rebuilt, values, signed_zeros=False)


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_isin(backend: str, dtype: str, data: st.DataObject) -> None:
    x1, x2 = draw_values(data, dtype), draw_values(data, dtype)
    invert = data.draw(st.booleans())
    wide = [x.astype("f4") if is_bfloat16(x) else x for x in (x1, x2)]
    expected = np.isin(*wide, invert=invert)
    assert_same(ua.isin(ua.asarray(x1), ua.asarray(x2), invert=invert), expected, what=(x1, "in", x2))


def test_isin_promotes_and_takes_scalars(backend: str) -> None:
    x = ua.asarray([1, 2, 3], dtype="int8")
    assert_same(ua.isin(x, ua.asarray([2.0, 3.5])), np.array([False, True, False]))
    assert_same(ua.isin(x, 3), np.array([False, False, True]))
    assert_same(ua.isin(2, x), np.asarray(True))
    assert_same(ua.isin(x, ua.asarray([-1, 2], dtype="int64")), np.array([False, True, False]))


def test_nan_is_in_nothing(backend: str) -> None:
    x = ua.asarray([np.nan, 1.0])
    assert_same(ua.isin(x, x), np.array([False, True]))
    assert_same(ua.isin(x, x, invert=True), np.array([True, False]))
