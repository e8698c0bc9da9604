"""Functions on dtypes against NumPy."""

from __future__ import annotations

import copy
import pickle
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua

from ..oracle import (
    ALL,
    BOOL,
    COMPLEX,
    FLOATS,
    HALVES,
    INTEGERS,
    LAYOUTS,
    LENGTH,
    SHAPES,
    SIGNED,
    STANDARD,
    UNSIGNED,
    assert_raises,
    assert_same,
    assert_unchanged,
    few,
    in_layout,
    seeded,
)


def of_numpy(dtype: str) -> np.dtype[Any]:
    return np.dtype(ua.bfloat16 if dtype == "bfloat16" else dtype)


def castable(source: str, target: str) -> dict[str, Any]:
    """Return the range of values that the target dtype holds: no rule defines casts of others."""
    if target in INTEGERS and source not in BOOL + INTEGERS:
        return {"special": False, "low": 0 if target in UNSIGNED else -100, "high": 100}
    return {}


@pytest.mark.parametrize("target", ALL)
@pytest.mark.parametrize("source", ALL)
@few
@given(data=st.data())
def test_astype(backend: str, source: str, target: str, data: st.DataObject) -> None:
    values = data.draw(seeded(source, (24,), **castable(source, target)))
    x = ua.asarray(values)
    if source in COMPLEX and target not in BOOL + COMPLEX:
        # Where NumPy warns that the imaginary part is lost.
        assert_raises(ua.errors.CastingError, ua.astype, x, target)
        x, values = ua.real(x), values.real
    with np.errstate(all="ignore"):
        expected = values.astype(of_numpy(target))
    assert_same(ua.astype(x, target), expected, what=values)
    assert_unchanged(x, values)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_astype_over_shapes_and_layouts(backend: str, shape: tuple[int, ...], layout: str) -> None:
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    assert_same(ua.astype(in_layout(values, layout), "float32"), values.astype("f4"))


def test_casting_to_an_integer_truncates_and_to_a_narrower_one_wraps(backend: str) -> None:
    x = ua.asarray([1.9, -1.9, 0.5, -0.5])
    assert_same(ua.astype(x, "int32"), np.array([1, -1, 0, 0], "i4"))
    assert_same(ua.astype(ua.asarray([300, -1, 128]), "int8"), np.array([44, -1, -128], "i1"))
    assert_same(ua.astype(ua.asarray([-1], dtype="int64"), "uint64"), np.array([2**64 - 1], "u8"))


@pytest.mark.parametrize("dtype", [*FLOATS, *HALVES, *COMPLEX])
def test_everything_but_zero_is_true(backend: str, dtype: str) -> None:
    values = np.array([0.0, -0.0, 1e-3, np.nan, np.inf, -2.0]).astype(of_numpy(dtype))
    assert_same(ua.astype(ua.asarray(values), ua.bool), np.array([False, False, True, True, True, True]))
    if dtype in COMPLEX:
        assert_same(ua.astype(ua.asarray([1j, 0j], dtype=dtype), ua.bool), np.array([True, False]))


COMPLEX_TO_REAL = {
    "astype": lambda x, dtype: ua.astype(x, dtype),
    "x.astype": lambda x, dtype: x.astype(dtype),
    "asarray": lambda x, dtype: ua.asarray(x, dtype=dtype),
    "asarray of data": lambda x, dtype: ua.asarray(np.asarray([1 + 2j]), dtype=dtype),
    "asarray of a list": lambda x, dtype: ua.asarray([1 + 2j], dtype=dtype),
    "asarray of a list of scalars": lambda x, dtype: ua.asarray([np.complex64(1 + 2j)], dtype=dtype),
    "full": lambda x, dtype: ua.full(2, 1j, dtype=dtype),
    "full_like": lambda x, dtype: ua.full_like(x, 1j, dtype=dtype),
    "sum": lambda x, dtype: ua.sum(x, dtype=dtype),
    "prod": lambda x, dtype: ua.prod(x, dtype=dtype),
    "nansum": lambda x, dtype: ua.nansum(x, dtype=dtype),
    "nanprod": lambda x, dtype: ua.nanprod(x, dtype=dtype),
    "cumulative_sum": lambda x, dtype: ua.cumulative_sum(x, dtype=dtype),
    "cumulative_prod": lambda x, dtype: ua.cumulative_prod(x, dtype=dtype),
    "trace": lambda x, dtype: ua.linalg.trace(x * ua.ones((2, 2)), dtype=dtype),
    "out": lambda x, dtype: ua.sum(x, out=ua.zeros((), dtype=dtype)),
    "inplace_update": lambda x, dtype: ua.inplace_update(ua.zeros(2, dtype=dtype), x),
}


@pytest.mark.parametrize("dtype", ["float64", "float16", "int8", "uint64"])
@pytest.mark.parametrize("cast", COMPLEX_TO_REAL.values(), ids=COMPLEX_TO_REAL)
def test_no_cast_loses_the_imaginary_part(backend: str, cast: Any, dtype: str) -> None:
    x = ua.asarray([1 + 2j, 3])
    assert_raises(TypeError, cast, x, dtype)
    assert ua.real(x).astype(dtype).tolist() == [1, 3]
    with pytest.raises(ua.errors.CastingError, match="real"):
        x.astype(dtype)


def test_astype_copies_unless_told_not_to(backend: str) -> None:
    x = ua.asarray([1, 2])
    y = ua.astype(x, "int64")
    y[0] = 9
    assert_same(x, np.array([1, 2]))
    assert ua.astype(x, ua.int64, copy=False) is x
    z = ua.astype(x, ua.float32, copy=False)
    z[0] = 9
    assert_same(x, np.array([1, 2]))


@pytest.mark.parametrize("spelling", ["float32", np.float32, np.dtype("float32"), ua.float32, "f4", ">f4"])
def test_dtypes_have_many_spellings(backend: str, spelling: Any) -> None:
    assert ua.astype(ua.asarray([1]), spelling).dtype is ua.float32
    assert ua.zeros(2, dtype=spelling).dtype is ua.float32


@pytest.mark.parametrize(
    ("spelling", "dtype"), [(bool, "bool"), (int, "int64"), (float, "float64"), (complex, "complex128")]
)
def test_pythons_types_are_dtypes(backend: str, spelling: type, dtype: str) -> None:
    assert ua.zeros(2, dtype=spelling).dtype == dtype


@pytest.mark.parametrize("dtype", [None, "float", object, "S3", "M8[s]", 7])
def test_what_is_no_dtype_is_an_error(backend: str, dtype: Any) -> None:
    if dtype == "float":
        assert ua.astype(ua.asarray([1]), dtype).dtype == ua.float64
        return
    assert_raises(ua.errors.DtypeError, ua.astype, ua.asarray([1]), dtype)


@pytest.mark.parametrize("dtype", ALL)
def test_a_native_dtype_is_a_dtype(backend: str, dtype: str) -> None:
    native = ua.zeros(1, dtype=dtype).native.dtype
    assert ua.zeros(1, dtype=native).dtype is getattr(ua, dtype)


def stand_in(dtype: str, other: str) -> str:
    # bfloat16 promotes as float16 does; beside float16 both are float32.
    return dtype if dtype != "bfloat16" else "float32" if other == "float16" else "float16"


@pytest.mark.parametrize(("one", "other"), list(product(ALL, ALL)))
def test_result_type_is_numpys(one: str, other: str) -> None:
    pair = stand_in(one, other), stand_in(other, one)
    expected = np.result_type(*pair)
    if "bfloat16" in (one, other) and "float16" not in (one, other) and expected == np.float16:
        expected = np.dtype(ua.bfloat16)
    assert ua.result_type(one, other) == expected
    assert ua.result_type(getattr(ua, one), np.dtype(of_numpy(other))) == expected


@pytest.mark.parametrize("scalar", [True, 1, 1.0, 1j])
@pytest.mark.parametrize("dtype", STANDARD)
def test_scalars_are_weak_in_result_type(backend: str, dtype: str, scalar: complex) -> None:
    expected = np.result_type(np.dtype(dtype), scalar)
    assert ua.result_type(ua.zeros(1, dtype=dtype), scalar) == expected
    assert ua.result_type(scalar, dtype) == expected


def test_result_type_of_several(backend: str) -> None:
    assert ua.result_type(ua.zeros(1, dtype="int8"), "uint8", np.float32(1), 2j) == ua.complex64
    assert ua.result_type(1, 2.0) == ua.float64
    with pytest.raises(ValueError, match="at least one"):
        ua.result_type()


@pytest.mark.parametrize(("source", "target"), list(product(STANDARD, STANDARD)))
def test_can_cast_is_numpys(source: str, target: str) -> None:
    assert ua.can_cast(getattr(ua, source), target) == np.can_cast(source, target)


@pytest.mark.parametrize("dtype", ALL)
def test_bfloat16_casts_as_promotion_has_it(dtype: str) -> None:
    assert ua.can_cast(ua.bfloat16, dtype) == (dtype in ["bfloat16", *FLOATS, *COMPLEX])
    assert ua.can_cast(dtype, "bfloat16") == (dtype in ["bool", "int8", "uint8", "bfloat16"])


def test_can_cast_takes_arrays(backend: str) -> None:
    assert ua.can_cast(ua.zeros(2, dtype="int8"), "int16")
    assert not ua.can_cast(ua.zeros(2), "float32")


@pytest.mark.parametrize("dtype", [*HALVES, *FLOATS, *COMPLEX])
def test_finfo(backend: str, dtype: str) -> None:
    expected = ml_dtypes.finfo(of_numpy(dtype))
    for source in (dtype, getattr(ua, dtype), ua.zeros(1, dtype=dtype)):
        info = ua.finfo(source)
        for name in ("bits", "eps", "max", "min", "smallest_normal"):
            value = getattr(info, name)
            assert type(value) is (int if name == "bits" else float)
            assert value == float(getattr(expected, name)), name
        assert info.dtype == {"complex64": "float32", "complex128": "float64"}.get(dtype, getattr(ua, dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_iinfo(backend: str, dtype: str) -> None:
    expected = np.iinfo(dtype)
    for source in (dtype, getattr(ua, dtype), ua.zeros(1, dtype=dtype)):
        info = ua.iinfo(source)
        assert (info.bits, info.max, info.min, info.dtype) == (expected.bits, expected.max, expected.min, dtype)
        assert type(info.max) is int


def test_limits_of_the_other_kind_are_errors() -> None:
    for dtype in ("int8", "bool"):
        with pytest.raises(ua.errors.DtypeError):
            ua.finfo(dtype)
    for dtype in ("float32", "complex64", "bool"):
        with pytest.raises(ua.errors.DtypeError):
            ua.iinfo(dtype)


KINDS = {
    "bool": BOOL,
    "signed integer": SIGNED,
    "unsigned integer": UNSIGNED,
    "integral": INTEGERS,
    "real floating": FLOATS + HALVES,
    "complex floating": COMPLEX,
    "numeric": INTEGERS + FLOATS + HALVES + COMPLEX,
}


@pytest.mark.parametrize("dtype", ALL)
def test_isdtype(dtype: str) -> None:
    own = getattr(ua, dtype)
    for kind, members in KINDS.items():
        assert ua.isdtype(own, kind) is (dtype in members), kind
        assert ua.isdtype(own, (kind, "bool")) is (dtype in members or dtype == "bool")
    for other in ALL:
        assert ua.isdtype(own, getattr(ua, other)) is (dtype == other)
    assert ua.isdtype(own, ()) is False


def test_an_unknown_kind_is_an_error() -> None:
    with pytest.raises(TypeError):
        ua.isdtype(ua.float32, "rational")


def test_dtypes_are_singletons_that_compare_and_pickle(backend: str) -> None:
    for dtype in ALL:
        own = getattr(ua, dtype)
        assert ua.zeros(LENGTH, dtype=dtype).dtype is own
        assert own.name == dtype
        assert pickle.loads(pickle.dumps(own)) == own


@pytest.mark.parametrize(
    "other", [None, 1, {}, {"a": 1}, [1], (), object, "text", "a:b (c, d)", "", "T", "O", float("nan")], ids=str
)
def test_a_dtype_equals_nothing_but_dtypes(other: object) -> None:
    assert not any(dtype == other for dtype in (ua.bool, ua.int64, ua.float64, ua.bfloat16))


def test_dtypes_are_singletons_that_numpy_takes() -> None:
    for name in ALL:
        dtype = getattr(ua, name)
        assert pickle.loads(pickle.dumps(dtype)) is dtype
        assert copy.deepcopy(dtype) is dtype
        assert dtype == name == dtype.name
        assert dtype == dtype.dtype
        assert hash(dtype) == hash(dtype.dtype)
        assert np.zeros(2, dtype).dtype == dtype
        assert ua.zeros(2, dtype=dtype, backend="numpy").dtype is dtype


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float16", "float32", "complex128"])
def test_numpy_and_others_take_a_dtype_for_one_of_numpys(dtype: str) -> None:
    own = getattr(ua, dtype)
    assert isinstance(own, np.dtype)
    assert type(own) is type(ua.bfloat16)
    for kind in ("bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating"):
        assert np.isdtype(own, kind) is np.isdtype(np.dtype(dtype), kind)
    assert copy.deepcopy(own) is pickle.loads(pickle.dumps(own)) is own
