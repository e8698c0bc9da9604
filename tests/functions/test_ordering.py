"""Parts of sorted arrays, orders by several keys, bins, sets and places against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua

from ..gradients import assert_gradients
from ..oracle import ALL, COMPLEX, as_numpy, assert_raises, assert_same, is_bfloat16, reference, seeded, twice

SHAPE = (2, 3)
REAL = ["bool", "int8", "uint64", "float16", "bfloat16", "float64"]


def ordinary(values: np.ndarray) -> np.ndarray:
    """Return values without -0.0 and with one NaN only: NumPy's sets see several as one."""
    values = np.where(np.isnan(values.astype("c16")), np.zeros((), values.dtype), values)
    return (np.asarray(values) + np.zeros((), values.dtype)).astype(values.dtype)


@pytest.mark.parametrize("dtype", ALL)
@twice
@given(data=st.data())
def test_partitions(backend: str, dtype: str, data: st.DataObject) -> None:
    values = data.draw(seeded(dtype, SHAPE, special=dtype not in COMPLEX, low=-3, high=3))
    x = ua.asarray(values)
    calls: list[tuple[Any, Any]] = [(-1, 1), (0, -1), (1, (0, 2)), (None, 4)]
    # Engines compile for each dtype and axis.
    for axis, kth in calls if dtype == "float64" else calls[:1]:
        expected = reference(np.sort, values, axis=axis)
        length = expected.shape[-1 if axis is None else axis]
        places = [place % length for place in np.atleast_1d(kth)]
        flat = values.reshape(-1) if axis is None else values
        found = as_numpy(ua.partition(x, kth, axis=axis))
        order = ua.argpartition(x, kth, axis=axis)
        assert order.dtype == ua.int64
        by_order = np.take_along_axis(flat, as_numpy(order), axis=0 if axis is None else axis)
        for result in (found, by_order):
            assert result.dtype == values.dtype
            lanes, sorted_lanes = (np.moveaxis(each, axis or 0, -1) for each in (result, expected))
            # The elements between two places are those of the sorted array, in any order.
            for start, stop in zip([0, *places], [*places, length], strict=True):
                part, wanted = (each[..., start:stop] for each in (lanes, sorted_lanes))
                assert_same(ua.sort(ua.asarray(part.copy())), wanted, signed_zeros=False)
            assert_same(ua.asarray(lanes[..., places]), sorted_lanes[..., places], signed_zeros=False)


@pytest.mark.parametrize("dtype", ALL)
@twice
@given(data=st.data())
def test_top_k(backend: str, dtype: str, data: st.DataObject) -> None:
    values = data.draw(seeded(dtype, SHAPE, special=dtype not in COMPLEX, low=-3, high=3))
    for axis, k in ((-1, 2), (0, 1), (0, 0), (1, 3)) if dtype == "float64" else ((-1, 2),):
        found = ua.top_k(ua.asarray(values), k, axis=axis)
        part = (slice(None),) * (axis % 2) + (slice(None, k),)
        whole = ua.argsort(ua.asarray(values), axis=axis, descending=True)
        assert_same(found.indices, as_numpy(whole)[part])
        assert_same(found.values, np.take_along_axis(values, as_numpy(found.indices), axis=axis))
        # The order of -0.0 and 0.0 isn't defined for sort.
        expected = as_numpy(ua.sort(ua.asarray(values), axis=axis, descending=True))[part]
        assert_same(found.values, expected, signed_zeros=False)


def test_debug_finds_no_fault_in_partitions(backend: str) -> None:
    x = ua.asarray(np.random.default_rng(0).normal(size=300))
    with ua.debug():
        assert_same(ua.partition(x, 10)[10], ua.sort(x)[10].to_numpy())
        assert_same(x[ua.argpartition(x, 10)][10], ua.sort(x)[10].to_numpy())


def test_top_k_of_nan(backend: str) -> None:
    found = ua.top_k(ua.asarray([1.0, np.nan, 3.0, 3.0, -np.inf]), 3)
    assert_same(found.values, np.array([np.nan, 3.0, 3.0]))
    assert_same(found.indices, np.array([1, 2, 3]))


@pytest.mark.parametrize("dtype", REAL)
@twice
@given(data=st.data())
def test_lexsort_and_digitize(backend: str, dtype: str, data: st.DataObject) -> None:
    keys = [data.draw(seeded(dtype, SHAPE, special=False, low=-1, high=2)) for _ in range(3)]
    wide = [key.astype("f4") if is_bfloat16(key) else key for key in keys]
    for axis in (-1, 0) if dtype == "float64" else (-1,):
        assert_same(ua.lexsort([ua.asarray(key) for key in keys], axis=axis), np.lexsort(wide, axis=axis))
    bins = np.array([0, 1, 1, 3]).astype(keys[0].dtype)
    bins.sort()
    for edges in (bins, bins[::-1].copy(), bins[:1], bins[:0]):
        for right in (False, True):
            expected = reference(np.digitize, keys[0], edges.astype("f4") if is_bfloat16(edges) else edges, right=right)
            assert_same(ua.digitize(ua.asarray(keys[0]), ua.asarray(edges), right=right), expected, what=(keys, edges))


def test_keys_of_different_dtypes(backend: str) -> None:
    keys = np.array([2, 1, 2, 1]), np.array([0.5, 0.5, -1.0, np.nan])
    assert_same(ua.lexsort([ua.asarray(key) for key in keys]), np.lexsort(keys))
    both = np.array([[2, 1, 2, 1], [0, 0, 1, 1]])
    assert_same(ua.lexsort(list(ua.asarray(both))), np.lexsort(both))


@pytest.mark.parametrize("name", ["union1d", "intersect1d", "setdiff1d", "setxor1d"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "bfloat16", "float64", "complex64"])
@twice
@given(data=st.data())
def test_sets(backend: str, name: str, dtype: str, data: st.DataObject) -> None:
    pair = [ordinary(data.draw(seeded(dtype, SHAPE, special=dtype not in COMPLEX, low=-3, high=3))) for _ in range(2)]
    ours = getattr(ua, name)
    expected = reference(getattr(np, name), *pair)
    assert_same(ours(*map(ua.asarray, pair)), expected, what=pair)
    distinct = [np.unique(each.astype("f4") if is_bfloat16(each) else each).astype(each.dtype) for each in pair]
    if name != "union1d":
        assert_same(ours(*map(ua.asarray, distinct), assume_unique=True), expected, what=pair)
    empty = pair[0].reshape(-1)[:0]
    assert_same(ours(ua.asarray(pair[0]), ua.asarray(empty)), reference(getattr(np, name), pair[0], empty))


def test_sets_of_two_dtypes_and_of_nan(backend: str) -> None:
    x1, x2 = np.array([1, 2, 3], "int8"), np.array([2.0, 0.5], "float32")
    for name in ("union1d", "intersect1d", "setdiff1d", "setxor1d"):
        assert_same(getattr(ua, name)(ua.asarray(x1), ua.asarray(x2)), getattr(np, name)(x1, x2))
    nan = ua.asarray([np.nan, 1.0])
    assert_same(ua.union1d(nan, nan), np.array([1.0, np.nan, np.nan]))
    assert_same(ua.intersect1d(nan, nan), np.array([1.0]))
    assert_same(ua.setxor1d(nan, nan), np.array([np.nan, np.nan]))


@pytest.mark.parametrize("shape", [(2, 3), (), (0, 3), (4,)])
def test_places_that_are_not_zero(backend: str, shape: tuple[int, ...]) -> None:
    for values in (np.ones(shape), np.zeros(shape), np.resize([0.0, np.nan, 3.0], shape)):
        assert_same(ua.argwhere(ua.asarray(values)), np.argwhere(values))
        assert_same(ua.flatnonzero(ua.asarray(values)), np.flatnonzero(values))


SHAPES: list[Any] = [(2, 3, 4), (24,), 24, (4, 1, 6)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_indices_of_flattened_arrays(backend: str, shape: Any, order: Any) -> None:
    flat = np.array([[23, 0, 7], [11, 5, 5]], "int32")
    found, expected = ua.unravel_index(ua.asarray(flat), shape, order=order), np.unravel_index(flat, shape, order)
    for one, other in zip(found, expected, strict=True):
        assert_same(one, other.astype("int64"))
    assert_same(ua.ravel_multi_index(found, shape, order=order), flat.astype("int64"))


def test_indices_out_of_bounds(backend: str) -> None:
    place = np.array([-1, 5, 2]), np.array([3, -4, 0])
    x = [ua.asarray(each) for each in place]
    for mode in ("wrap", "clip", ("clip", "wrap")):
        assert_same(ua.ravel_multi_index(x, (3, 2), mode=mode), np.ravel_multi_index(place, (3, 2), mode=mode))  # type: ignore[call-overload]
    assert_raises(ValueError, ua.ravel_multi_index, x, (3, 2))
    assert_raises(ValueError, ua.unravel_index, ua.asarray([6]), (2, 3))
    assert_raises(ValueError, ua.unravel_index, ua.asarray([-1]), (2, 3))
    # The second call of one kind takes a short way.
    for index in (5, 5, 6):
        if index < 6:
            ua.unravel_index(ua.asarray([index]), (2, 3))
        else:
            assert_raises(ValueError, ua.unravel_index, ua.asarray([index]), (2, 3))


def test_gradients(backend: str) -> None:
    x = np.array([0.5, -1.5, 0.25])
    assert_gradients(backend, lambda x: ua.top_k(x, 2)[0], x)
    assert_gradients(backend, lambda x: ua.partition(x, (0, 1)), x)


X = np.ones((2, 3))
ERRORS: dict[str, tuple[str, tuple[Any, ...], type[BaseException]]] = {
    "no such place": ("partition", (X, 3), ValueError),
    "no such place for indices": ("argpartition", (X, -4), ValueError),
    "a place that is no integer": ("partition", (X, 0.5), TypeError),
    "too many": ("top_k", (X, 4), ValueError),
    "fewer than none": ("top_k", (X, -1), ValueError),
    "no keys": ("lexsort", ([],), (ValueError, TypeError)),  # type: ignore[dict-item]
    "keys of two shapes": ("lexsort", ([X, X[:1]],), ua.errors.ShapeError),
    "two-dimensional bins": ("digitize", (X, X), ua.errors.ShapeError),
    "bins up and down": ("digitize", (X, np.array([1, 3, 2])), ValueError),
    "complex bins": ("digitize", (X, np.array([1j])), ua.errors.DtypeError),
    "places that are no integers": ("unravel_index", (X, (2, 3)), ua.errors.DtypeError),
    "a place too few": ("ravel_multi_index", ([np.array([1])], (2, 3)), ua.errors.ShapeError),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(backend: str, case: str) -> None:
    name, arguments, error = ERRORS[case]

    def lifted(each: Any) -> Any:
        if isinstance(each, list):
            return [lifted(one) for one in each]
        return ua.asarray(each) if isinstance(each, np.ndarray) else each

    assert_raises(error, getattr(ua, name), *map(lifted, arguments))
