"""Creation functions against NumPy."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua
from unifyarr._core.arrays.array import Array

from ..oracle import ALL, COMPLEX, FLOATS, HALVES, INTEGERS, SHAPES, assert_raises, assert_same, few, seeded


def of_numpy(dtype: str) -> np.dtype[Any]:
    return np.dtype(ua.bfloat16 if dtype == "bfloat16" else dtype)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["zeros", "ones"])
def test_zeros_and_ones(backend: str, name: str, dtype: str, shape: tuple[int, ...]) -> None:
    expected = getattr(np, name)(shape, of_numpy(dtype))
    x = getattr(ua, name)(shape, dtype=dtype)
    assert x.backend == backend
    assert_same(x, expected)
    assert_same(getattr(ua, f"{name}_like")(x), expected)


@pytest.mark.parametrize("dtype", ALL)
def test_what_isnt_set_has_shape_and_dtype(backend: str, dtype: str) -> None:
    x = ua.empty((2, 3), dtype=dtype)
    assert (x.shape, x.dtype, x.backend) == ((2, 3), of_numpy(dtype), backend)
    like = ua.empty_like(x)
    assert (like.shape, like.dtype) == ((2, 3), of_numpy(dtype))
    x[...] = True
    assert_same(x, np.ones((2, 3), of_numpy(dtype)))


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_full(backend: str, dtype: str, data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from(SHAPES))
    value = data.draw(seeded(dtype, ())).item()
    expected = np.full(shape, value, of_numpy(dtype))
    assert_same(ua.full(shape, value, dtype=dtype), expected)
    assert_same(ua.full_like(ua.zeros(shape, dtype=dtype), value), expected)
    assert_same(ua.full(shape, ua.asarray(value, dtype=dtype)), expected)


DEFAULTS = [
    (True, "bool"),
    (7, "int64"),
    (-(2**63), "int64"),
    (1.5, "float64"),
    (float("nan"), "float64"),
    (2j, "complex128"),
]


@pytest.mark.parametrize(("value", "dtype"), DEFAULTS)
def test_a_python_number_has_its_default_dtype(backend: str, value: Any, dtype: str) -> None:
    assert_same(ua.full((2,), value), np.full((2,), value, dtype))
    assert_same(ua.asarray(value), np.asarray(value, dtype))
    assert_same(ua.asarray([[value], [value]]), np.full((2, 1), value, dtype))


@pytest.mark.parametrize("name", ["zeros", "ones", "empty"])
def test_the_default_dtype_is_float64(backend: str, name: str) -> None:
    for shape in (3, (3,), [3], np.array([3]), (np.int64(3),)):
        x = getattr(ua, name)(shape)
        assert (x.shape, x.dtype) == ((3,), ua.float64)


@pytest.mark.parametrize("name", ["zeros", "ones", "empty", "full"])
def test_likes_take_another_dtype(backend: str, name: str) -> None:
    x = ua.zeros((2, 3), dtype="int8")
    arguments = (3,) if name == "full" else ()
    like = getattr(ua, f"{name}_like")(x, *arguments, dtype=ua.complex64)
    assert (like.shape, like.dtype) == ((2, 3), ua.complex64)


RANGES: list[tuple[Any, ...]] = [
    (5,),
    (0,),
    (-3,),
    (2, 7),
    (7, 2),
    (7, 2, -2),
    (0, 10, 3),
    (1, 2, 5),
    (2.5,),
    (0, 1, 0.25),
    (1.0, -1.0, -0.5),
    (0.0, 1.0, 0.1),
    (-2, 3.0),
    (5, 5),
    (0, -1, 0.5),
]


@pytest.mark.parametrize("arguments", RANGES)
def test_arange(backend: str, arguments: tuple[Any, ...]) -> None:
    assert_same(ua.arange(*arguments), np.arange(*arguments))


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, *HALVES])
def test_arange_of_a_dtype(backend: str, dtype: str) -> None:
    assert_same(ua.arange(1, 9, 2, dtype=dtype), np.array([1, 3, 5, 7]).astype(of_numpy(dtype)))


def test_the_length_of_a_range_is_exact_for_great_integers(backend: str) -> None:
    assert_same(ua.arange(2**62, 2**62 + 3), np.arange(2**62, 2**62 + 3))


LINES: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((0, 1, 5), {}),
    ((0, 1, 5), {"endpoint": False}),
    ((3, -2, 4), {}),
    ((1, 1, 3), {}),
    ((0, 1, 1), {}),
    ((0, 1, 1), {"endpoint": False}),
    ((0, 1, 0), {}),
    ((0.1, 0.7, 7), {}),
    ((1j, 2, 3), {}),
    ((0, 10, 4), {"dtype": "int64"}),
    ((0, 1, 3), {"dtype": "float32"}),
    ((0, 1, 3), {"dtype": "complex64"}),
]


@pytest.mark.parametrize(("arguments", "options"), LINES)
def test_linspace(backend: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    assert_same(ua.linspace(*arguments, **options), np.linspace(*arguments, **options))


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize(
    ("rows", "columns", "k"), [(3, None, 0), (2, 3, 1), (3, 2, -1), (2, 2, 5), (0, 3, 0), (1, 1, 0)]
)
def test_eye(backend: str, rows: int, columns: int | None, k: int, dtype: str) -> None:
    assert_same(ua.eye(rows, columns, k=k, dtype=dtype), np.eye(rows, columns, k=k).astype(of_numpy(dtype)))


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["tril", "triu"])
@few
@given(data=st.data())
def test_triangles(backend: str, name: str, dtype: str, data: st.DataObject) -> None:
    values = data.draw(
        st.sampled_from([(2, 3), (3, 1), (2, 1, 3), (2, 3, 3), (0, 3)]).flatmap(lambda s: seeded(dtype, s))
    )
    k = data.draw(st.integers(-3, 3))
    assert_same(getattr(ua, name)(ua.asarray(values), k=k), getattr(np, name)(values, k))


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_meshgrid(backend: str, count: int, indexing: str) -> None:
    vectors = [np.arange(2), np.array([1.5, 2.5, 3.5]), np.array([True])][:count]
    grids = ua.meshgrid(*map(ua.asarray, vectors), indexing=indexing)
    assert isinstance(grids, tuple)
    for actual, expected in zip(grids, np.meshgrid(*vectors, indexing=indexing), strict=True):
        assert_same(actual, expected)


def test_grids_are_independent(backend: str) -> None:
    x = ua.asarray([1, 2])
    first, second = ua.meshgrid(x, x)
    first[...] = 0
    assert_same(x, np.array([1, 2]))
    assert_same(second, np.array([[1, 1], [2, 2]]))


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_numpy_arrays_arrive_as_they_are(backend: str, dtype: str, data: st.DataObject) -> None:
    values = data.draw(st.sampled_from(SHAPES).flatmap(lambda shape: seeded(dtype, shape)))
    assert_same(ua.asarray(values), values)
    assert_same(ua.asarray(values.T), values.T)
    assert_same(ua.asarray(np.flip(values)), np.flip(values))
    assert_same(ua.asarray(values.tolist(), dtype=dtype).reshape(values.shape), values)


NESTS: list[Any] = [
    [],
    [[]],
    [1, 2.5],
    [True, 2],
    [[1, 2], [3, 4j]],
    (1, 2),
    [np.float32(1.5), np.float32(2)],
    [np.array([1, 2]), np.array([3, 4])],
    np.int8(3),
    range(3),
    [[[1]]],
    pytest.param(memoryview(np.array([1, 2], "i4")), id="memoryview"),
]


@pytest.mark.parametrize("data", NESTS, ids=repr)
def test_nests_become_arrays(backend: str, data: Any) -> None:
    assert_same(ua.asarray(data), np.asarray(data))


def test_nests_may_hold_arrays(backend: str) -> None:
    x = ua.asarray(1.5)
    assert_same(ua.asarray([x, 2]), np.array([1.5, 2.0]))
    rows = [ua.asarray([1, 2]), ua.asarray([3, 4])]
    assert_same(ua.asarray(rows), np.array([[1, 2], [3, 4]]))


@pytest.mark.parametrize("dtype", ALL)
def test_asarray_casts(backend: str, dtype: str) -> None:
    values = np.array([0.0, 1.0, 3.0])
    expected = values.astype(of_numpy(dtype))
    assert_same(ua.asarray([0, 1, 3], dtype=dtype), np.array([0, 1, 3]).astype(of_numpy(dtype)))
    assert_same(ua.asarray(values, dtype=dtype), expected)
    assert_same(ua.asarray(ua.asarray(values), dtype=dtype), expected)


def test_an_array_is_its_own_asarray_unless_copied(backend: str) -> None:
    x = ua.asarray([1, 2])
    assert ua.asarray(x) is x
    assert ua.asarray(x, copy=False) is x
    assert ua.asarray(x, dtype="int64", copy=False) is x
    y = ua.asarray(x, copy=True)
    y[0] = 9
    assert_same(x, np.array([1, 2]))


def test_a_copy_where_none_is_allowed_is_an_error(backend: str) -> None:
    assert_raises(ua.errors.CopyError, ua.asarray, [1, 2], copy=False)
    assert_raises(ValueError, ua.asarray, ua.asarray([1, 2]), dtype="float32", copy=False)


@pytest.mark.parametrize("dtype", [each for each in ALL if each not in ("bool", "bfloat16")])
def test_dlpack_brings_values(backend: str, dtype: str) -> None:
    values = np.array([[1, 2, 3], [4, 5, 6]], dtype)
    for source in (values, values.T, ua.asarray(values, copy=True)):
        x = ua.from_dlpack(source)
        assert x.backend == backend
        assert_same(x, np.asarray(source))
    copied = ua.from_dlpack(values, copy=True)
    copied[...] = 0
    assert values[0, 0] == 1


Case = tuple[str, list[Any], dict[str, Any], Any]
ERRORS: dict[str, Case] = {
    "a negative length": ("zeros", [(-1,)], {}, ua.errors.ShapeError),
    "a float for a shape": ("ones", [2.0], {}, TypeError),
    "an unknown dtype": ("zeros", [2], {"dtype": "decimal"}, ua.errors.DtypeError),
    "an unknown device": ("empty", [2], {"device": "abacus"}, ua.errors.DeviceError),
    "an unknown backend": ("zeros", [2], {"backend": "abacus"}, ua.errors.BackendNotFoundError),
    "a step of zero": ("arange", [0, 5, 0], {}, ValueError),
    "a negative count": ("linspace", [0, 1, -1], {}, ValueError),
    "an out-of-range fill value": ("full", [2, 300], {"dtype": "int8"}, OverflowError),
    "a complex fill value for a real dtype": ("full", [2, 1j], {"dtype": "float64"}, TypeError),
    "an array to fill with": ("full", [2, np.ones(2)], {}, ua.errors.ShapeError),
    "a ragged nest": ("asarray", [[[1, 2], [3]]], {}, ValueError),
    "text": ("asarray", ["one"], {}, TypeError),
    "objects": ("asarray", [[object()]], {}, ua.errors.DtypeError),
    "None": ("asarray", [None], {}, TypeError),
    "an out-of-range element": ("asarray", [[1, 300]], {"dtype": "uint8"}, OverflowError),
    "an integer beyond 64 bits": ("asarray", [2**70], {}, (OverflowError, TypeError)),
    "a masked array": ("asarray", [np.ma.array([1, 2], mask=[0, 1])], {}, TypeError),
    "a vector has no triangle": ("tril", [np.ones(3)], {}, ua.errors.ShapeError),
    "a 0-d array has no triangle": ("triu", [np.ones(())], {}, ua.errors.ShapeError),
    "a matrix in a grid": ("meshgrid", [np.ones((2, 2))], {}, ua.errors.ShapeError),
    "an unknown indexing": ("meshgrid", [np.ones(2)], {"indexing": "yx"}, ValueError),
    "an object without dlpack": ("from_dlpack", [object()], {}, AttributeError),
    "negative rows": ("eye", [-1], {}, ValueError),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(backend: str, case: str) -> None:
    name, arguments, options, error = ERRORS[case]
    lifted = name in ("tril", "triu", "meshgrid")
    arguments = [ua.asarray(each) if lifted and isinstance(each, np.ndarray) else each for each in arguments]
    assert_raises(error, getattr(ua, name), *arguments, **options)


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX])
def test_constants_fill(backend: str, dtype: str) -> None:
    values = [ua.e, ua.pi, ua.inf, ua.nan]
    assert_same(ua.asarray(values, dtype=dtype), np.array([np.e, np.pi, np.inf, np.nan], dtype))


def test_both_of_cs_types_of_64_bits_are_taken(backend: str) -> None:
    for name in ("longlong", "ulonglong", "long", "ulong"):
        values = np.arange(3).astype(name)
        assert_same(ua.asarray(values, copy=True), values)
    assert_same(ua.isin(ua.asarray([1], dtype="uint64"), 2**63), np.asarray([False]))


def test_asarray_takes_numpys_own_arrays_at_once() -> None:
    for name in (*ALL, "bfloat16"):
        values = np.ones((2, 3), of_numpy(name))
        for each in (values, values[:, ::-1], values.T, values[:0]):
            assert ua.asarray(each, backend="numpy").native is each
            with ua.use_backend("numpy"):
                x = ua.asarray(each)
            assert x.native is each
            assert x.base is None
    with ua.use_backend("numpy"):
        swapped = np.asarray([1.0, 2.0], np.dtype("f8").newbyteorder("S"))
        assert ua.asarray(swapped).native.dtype.isnative
        assert_same(ua.asarray(swapped), np.asarray([1.0, 2.0]))
        for code in ("l", "q"):
            assert ua.asarray(np.ones(2, code)).dtype is ua.int64
        for each in (np.ones(2, np.longdouble), np.asarray(["a"]), np.asarray([None]), np.zeros(2, "M8[s]")):
            with pytest.raises((ua.errors.DtypeError, TypeError)):
                ua.asarray(each)


@pytest.mark.parametrize(
    "data", [[], [1, 2], [True, 1.5], [1j, 2], [2**63], [-1, 2**63], [True], [0.0] * 63, [0.0] * 64, [1] * 200]
)
def test_asarray_of_numbers_is_numpys(backend: str, data: list[Any]) -> None:
    for _ in range(2):
        assert_same(ua.asarray(data), np.asarray(data))


def test_array_makes_memory_of_its_own(backend: str) -> None:
    x = ua.asarray([1.0, 2.0])
    y = ua.array(x)
    y += 1
    assert_same(x, [1.0, 2.0])
    assert y.backend == ua.array(x.native).backend == backend
    assert ua.array(x, copy=None) is x
    assert_same(ua.array([1, 2]), np.array([1, 2]))
    assert_same(ua.array([1, 2], dtype="float32"), np.array([1, 2], "float32"))
    assert x.__array_namespace__().array([1]).backend == backend


def test_the_module_of_the_class_has_another_place_than_the_function() -> None:

    assert Array is ua.Array
    assert callable(ua.array)
    assert pickle.loads(pickle.dumps(ua.ones(2, backend="numpy"))).tolist() == [1, 1]
