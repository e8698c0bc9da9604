"""Kernels on dask: unknown lengths, tasks for each chunk, and errors that are raised at once."""

from __future__ import annotations

from typing import Any

import dask
import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.engines.registry import load
from unifyarr._core.kernels.record import ALONG, ELEMENTWISE, KERNELS, MATRIX, Batch, Derivative, Kind
from unifyarr.backends.dask._chunks import number_of
from unifyarr.testing.comparing import assert_same

from .tasks import computed, later

VALUES = np.arange(24.0).reshape(6, 4) - 3


def picked(bound: float = 7.0) -> tuple[np.ndarray, ua.Array]:
    """Return elements of a flat array: in chunks of which the first ones have none."""
    values, x = VALUES.reshape(-1), later(VALUES.reshape(-1), 5)
    return values[values > bound], x[x > bound]


@pytest.mark.parametrize("kind", [ELEMENTWISE, ALONG, MATRIX], ids=lambda kind: kind.name)
def test_every_kernel_that_follows_its_kind_is_called_for_each_chunk(kind: Kind) -> None:
    records = [KERNELS[name] for name in load("numpy").kernels if KERNELS[name].kind is kind]
    wanted = {each.name for each in records if each.batch is Batch.KIND and each.derivative is not Derivative.BODY}
    assert {"sin", "sort", "lu"} & wanted
    assert wanted <= load("dask").kernels.keys()


def test_stacks_of_matrices_stay_in_chunks() -> None:
    values = np.random.default_rng(0).standard_normal((6, 3, 4))
    x = later(values, (2, 3, 2))
    for name in ("lu_factor", "svd", "qr"):
        function = getattr(ua.linalg, name)
        for found, wanted in zip(function(x), function(ua.asarray(values, backend="numpy")), strict=True):
            assert len(found.chunks[0]) > 1
            assert_same(found, wanted.to_numpy(), what=name)
    assert_same(ua.linalg.pinv(x, rtol=ua.asarray([0.5] * 6)), np.linalg.pinv(values, rtol=0.5))


def test_what_goes_on_with_lengths_that_arent_known() -> None:
    values, x = picked()
    flat, whole = VALUES.reshape(-1), later(VALUES.reshape(-1), 5)
    for name in ("sum", "prod", "mean", "var", "std", "max", "min"):
        assert_same(getattr(ua, name)(x), getattr(np, name)(values), what=name)
    assert_same(x + 2 * whole[whole > 7.0], values * 3)
    assert_same(x[x < 12.0], values[values < 12.0])
    assert_same(ua.where(x > 9.0, x, 0.0), np.where(values > 9.0, values, 0.0))
    assert_same(ua.concat([x, x + 1]), np.concatenate([values, values + 1]))
    assert_same(ua.sort(-x), np.sort(-values))
    assert_same(whole[ua.nonzero(whole > 7.0)[0]], values)
    kept = ua.unique_inverse(whole)
    assert_same(ua.take(kept[0], kept[1]), flat)


def test_rows_that_are_selected() -> None:
    mask, x = VALUES[:, 0] > 4, later(VALUES, 2)
    rows, chosen = VALUES[mask], x[x[:, 0] > 4]
    for axis in (0, 1):
        assert_same(ua.mean(chosen, axis=axis), rows.mean(axis))
        assert_same(ua.var(chosen, axis=axis, correction=1), rows.var(axis, ddof=1))
    assert_same(ua.argmax(chosen, axis=1), rows.argmax(1))
    assert_same(chosen + ua.arange(4.0), rows + np.arange(4.0))


def test_products_and_columns_of_rows_that_are_selected() -> None:
    mask, x = VALUES[:, 0] > 4, later(VALUES, 2)
    rows, chosen = VALUES[mask], x[x[:, 0] > 4]
    product = chosen @ x[:4]
    assert repr(product.shape) == "(?, 4)"
    assert_same(product, rows @ VALUES[:4])
    assert_same(chosen @ x[0], rows @ VALUES[0])
    assert_same(ua.take(chosen, ua.asarray([0, 2]), axis=1), rows[:, [0, 2]])
    # Where dask itself can't, the error says which function to call.
    assert_same(ua.cumulative_sum(chosen, axis=0), np.cumsum(rows, 0))
    for refused in (lambda: chosen[0], lambda: x.T @ chosen):
        with pytest.raises(ua.errors.UnknownShapeError, match="persist"):
            refused()
    with pytest.raises(ua.errors.ShapeError, match=r"not \(\?, 4\)"):
        chosen @ x


def test_writes_to_lengths_that_arent_known() -> None:
    values, x = picked()
    x += 1
    x[x > 10.0] = -1
    values = values + 1
    values[values > 10.0] = -1
    assert_same(x, values)


def test_a_selection_without_elements() -> None:
    _, x = picked(100.0)
    assert_same(ua.sum(x), np.asarray(0.0))
    assert_same(ua.mean(x), np.asarray(np.nan))
    with pytest.raises(ValueError, match="zero-size"):
        ua.max(x).to_numpy()


def test_masks_and_indices_of_the_host_are_known() -> None:
    x = later(VALUES, 2)
    mask = VALUES > 4
    with computed() as names:
        for key in (mask, ua.asarray(mask), mask.tolist()):
            assert x[key].shape == (mask.sum(),)
        assert ua.unique_values(ua.asarray([3, 1, 3])).shape == (2,)
        for index in ([0, 9], np.array([0, 9]), ua.asarray([0, 9], dtype="int8")):
            with pytest.raises(IndexError):
                x[index] = 0
        with pytest.raises(ua.errors.ShapeError, match="selects"):
            x[mask] = np.ones(3)
    assert names == []
    assert_same(x, VALUES)


def test_values_of_masks_broadcast() -> None:
    for key, value in ((VALUES > 4, np.arange(16.0)[None]), (VALUES[:, 0] > 4, np.arange(4.0)[:, None])):
        expected, x = VALUES.copy(), later(VALUES, 2)
        expected[np.nonzero(key)] = value
        x[later(key)] = value
        assert_same(x, expected)


@pytest.mark.parametrize("lazy", [False, True])
def test_a_mask_without_axes(lazy: bool) -> None:
    for truth in (True, False):
        mask = later(truth) if lazy else ua.asarray(truth)
        assert_same(later(VALUES, 2)[mask], VALUES[np.asarray(truth)])
        for value in (7.0, VALUES * 2, VALUES[None] * 3):
            expected, x = VALUES.copy(), later(VALUES, 2)
            expected[np.asarray(truth)] = value
            x[mask] = value
            assert_same(x, expected)


def test_a_write_is_a_task_a_chunk() -> None:
    for value in (1.0, ua.asarray(2.0) + 1, ua.arange(98.0)):
        x = ua.zeros((100, 100), chunks=10)
        x[1:-1, 1:-1] = value
        # And one for each chunk of the zeros and of the value, which stays small if it's broadcast.
        assert len(x.native.__dask_graph__()) <= 300
        expected = np.zeros((100, 100))
        expected[1:-1, 1:-1] = value.to_numpy() if isinstance(value, ua.Array) else value
        assert_same(x, expected)


def test_bounds_that_a_dtype_lacks() -> None:
    whole = np.arange(-3, 4, dtype=np.int8)
    for bounds in ((-0.5, 0.5), (-1, 300)):
        assert_same(ua.clip(later(whole, 3), *bounds), ua.clip(ua.asarray(whole, backend="numpy"), *bounds).to_numpy())


def test_what_meets_is_divided_as_one_of_them() -> None:
    values = np.arange(20.0)
    x = later(values, 5)
    around = x[:-2] + x[2:]
    # dask itself would divide at all ends of both.
    assert around.chunks == x[:-2].chunks == ((5, 5, 5, 3),)
    assert_same(around, values[:-2] + values[2:])
    x[x[::-1] > 4] = 0.0
    assert x.chunks == ((5, 5, 5, 5),)
    assert_same(x, np.where(values[::-1] > 4, 0.0, values))
    # The array with more chunks says how, and an axis of one element is repeated, however it's divided.
    rows, one = later(VALUES, (4, 1)), later(VALUES[:1], 1)[ua.asarray([True]) > ua.asarray([False])].persist()
    assert (later(VALUES, (2, 4)) + rows).chunks == ((2, 2, 2), (1, 1, 1, 1))
    assert_same(rows + one, VALUES + VALUES[:1])


def test_a_mask_writes_a_number_in_one_task_a_chunk() -> None:
    x = later(np.arange(20.0), 5)
    x[x > 3] = 0.0
    assert len({layer for layer in x.native.dask.layers if "full" in layer or "array" in layer}) == 1


def test_what_is_made_of_numbers_alone_is_known() -> None:
    with computed() as names:
        number = ua.full((), 3.0) * 2.0 + 1.0
        row = ua.reshape(number, (1,)) - 0.5
        chosen = ua.take(later(VALUES, 2), ua.astype(ua.floor(row), "int64") - 4, axis=0)
    assert names == []
    assert number_of(number.native) == 7.0
    assert number_of(row.native) == 6.5
    assert_same(row, np.array([6.5]))
    assert_same(chosen, VALUES[[2]])
    # An index that is known is checked at once, as ever.
    with pytest.raises(IndexError):
        ua.take(later(VALUES, 2), ua.astype(ua.full((), 3.0) * 2.0, "int64"), axis=0)


@pytest.mark.parametrize("run", [lambda f: f, ua.compile], ids=["eager", "compiled"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "int16"])
def test_quantiles_sort_and_gather_nothing(dtype: str, run: Any) -> None:
    values = np.random.default_rng(0).permutation(60).reshape(6, 10) - 20.0
    if "float" in dtype:
        values[1, 3], values[2, 4], values[3, 5] = np.nan, np.inf, -np.inf
    for method in ("linear", "lower", "hazen", "midpoint"):
        wanted = run(lambda x, method=method: ua.quantile(x, 0.7, axis=1, method=method))
        x = later(ua.asarray(values, dtype=dtype, backend="numpy").to_numpy(), (2, -1))
        found = wanted(x)
        assert_same(found, wanted(ua.asarray(x.to_numpy(), backend="numpy")).to_numpy(), what=method)
        names = " ".join(map(str, dask.optimize(found.native)[0].__dask_graph__()))
        assert "take" not in names
        # NaN has no place in the order of halves but where they are sorted.
        assert "sort" not in names or dtype in ("bfloat16", "float16")
    for axis, chunks in ((0, (2, 3)), (None, (2, 3)), (1, (2, 3))):
        assert_same(ua.median(later(values, chunks), axis=axis), np.median(values, axis=axis), what=axis)
