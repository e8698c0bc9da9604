"""``x.view(dtype)``: the memory read as another dtype, which is written through on every engine."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import unifyarr as ua
import unifyarr.numpy as np
from tests.oracle import assert_same

# Each dtype one once as a source and as a target of another size and of the same.
PAIRS = [
    *(("int8", "uint8"), ("uint8", "bool"), ("bool", "int8"), ("float16", "uint16"), ("int16", "float16")),
    *(("float32", "int32"), ("uint32", "float32"), ("float64", "uint64"), ("int64", "float64")),
    *(("complex64", "float64"), ("complex64", "uint64"), ("int64", "complex64"), ("complex64", "float32")),
    *(("float32", "complex64"), ("complex128", "float64"), ("float64", "complex128"), ("complex128", "uint8")),
    *(("uint8", "complex128"), ("float64", "int8"), ("int8", "float64"), ("int16", "uint64"), ("uint64", "int16")),
    *(("complex128", "complex64"), ("complex64", "complex128"), ("float32", "bool"), ("float64", "float16")),
]


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_bits_are_read_and_written(backend: str, before: str, after: str) -> None:
    values = (numpy.arange(32).reshape(2, 16) % (2 if "bool" in (before, after) else 100)).astype(before)
    x = np.array(values)
    seen, shown = x.view(after), values.view(after)
    assert seen.dtype.name == after
    assert seen.shape == shown.shape
    numbers = seen.to_numpy()
    if after != "bool":
        assert numbers.tobytes() == shown.tobytes()
    else:
        assert (numbers == (shown.view("u1") != 0)).all()
    if before != "bool" != after:
        seen[1, 0] = shown[1, 0] = 1
        assert x.to_numpy().tobytes() == values.tobytes()
    x[0] = values[0] = 1
    assert seen.to_numpy().view("u1").astype(bool).tobytes() == shown.view("u1").astype(bool).tobytes()
    assert seen.base is x


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0,)])
def test_nothing_is_read(backend: str, shape: tuple[int, ...]) -> None:
    for after in ("int8", "complex128"):
        assert_same(np.zeros(shape).view(after), numpy.zeros(shape).view(after))


def test_a_number_alone(backend: str) -> None:
    x = np.array(3.5)
    x.view(np.int64)[()] = 4607182418800017408
    assert float(x) == 1
    with pytest.raises(ValueError, match="0d"):
        x.view("f4")


def test_layouts(backend: str) -> None:
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    x.T.view("u8")[0, 1] ^= 2**63
    x[:, ::-1].view("u8")[0] ^= 2**63
    assert x.tolist() == [[-1.0, -2.0], [-3.0, 4.0]]
    assert x[:, 1].view("u8").shape == (2,)
    assert x.view("f4")[:, 1::2].view("u4").shape == (2, 2)


@pytest.mark.parametrize(
    ("make", "dtype"),
    [
        (lambda: np.ones((2, 2)).T, "f4"),
        (lambda: np.ones((2, 4))[:, ::2], "c16"),
        (lambda: np.ones(3, "i1"), "i2"),
        (lambda: np.ones((2, 2))[:, 0], "u1"),
    ],
)
def test_elements_that_lie_apart(backend: str, make: Any, dtype: str) -> None:
    with pytest.raises(ValueError, match="dtype"):
        make().view(dtype)


def test_classes_and_no_dtype(backend: str) -> None:
    x = np.arange(3)
    for view in (x.view(), x.view(np.ndarray), x.view(numpy.ndarray), x.view("i8")):
        view += 1
        assert view.dtype == "int64"
    assert x.tolist() == [4, 5, 6]
    with pytest.raises(TypeError, match="dtype"):
        x.view("no dtype")


def test_it_is_compiled(backend: str) -> None:
    def sign_bits(x: Any) -> Any:
        y = x * 1.0
        y.view("u8")[1:] |= 2**63
        return y.view("i8") < 0, y

    x = np.array([1.0, 2.0, -3.0])
    for found, wanted in zip(ua.compile(sign_bits)(x), sign_bits(x), strict=True):
        assert_same(found, wanted.to_numpy())
    assert sign_bits(x)[1].tolist() == [1.0, -2.0, -3.0]


def test_plain_bytes_are_numpys(backend: str) -> None:
    values = numpy.array([[0.0, -0.0, 1.5], [numpy.nan, numpy.inf, -2.0]])
    x = ua.asarray(values)
    for dtype in ("V8", "|V4", numpy.dtype("V8")):
        found: Any = x.view(dtype)
        assert type(found) is numpy.ndarray
        assert found.tobytes() == values.tobytes()
        assert not found.flags.writeable
    with pytest.raises(ValueError, match="divisor"):
        x.view("V3")
