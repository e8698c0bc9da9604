"""Dtypes and text against NumPy's."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

import unifyarr as ua
import unifyarr.numpy as np

from ..oracle import assert_same
from .calls import DATA, check_call

CALLS = """
can_cast("i4", "f8") | can_cast(float, int) | can_cast(A.dtype, "float32", "same_kind")
can_cast(np.float64, "i8", "unsafe") | can_cast(np.int8(3), "u1") | can_cast(3, "f8") | can_cast(v, "float64")
can_cast("i4", "nothing")
array2string(A, precision=1) | array2string(k, separator=", ", prefix="  ")
array2string(v, formatter={"float": lambda x: "%.1f" % x}) | array_repr(A) | array_repr(F, precision=1)
array_str(I) | array_str(A, 20, 2) | array2string(A, threshold=2, edgeitems=1)
result_type(A, I).name | result_type(U, 3).name | result_type("i4", np.float32).name | result_type(F, 2.5).name
result_type(3, 4.5).name | result_type(U, F, 1j).name | result_type() | result_type(v, "nothing")
result_type(np.int8(1), U).name
min_scalar_type(10).name | min_scalar_type(-300).name | min_scalar_type(2.5).name | min_scalar_type(I).name
min_scalar_type(True).name | common_type(A, F) is np.float64 | common_type(F) is np.float32
common_type(I) is np.float64 | common_type(C, F) is np.complex128 | common_type(B)
finfo(A.dtype).bits | finfo("float32").bits | finfo(F.dtype).nmant
finfo(int) | iinfo(I.dtype).max | iinfo("int8").min | iinfo(U.dtype).bits | iinfo(float) | isfortran(A)
isfortran(A.T)
shares_memory(A, A[1:]) | shares_memory(A[::2], A[1::2]) | shares_memory(A, I)
may_share_memory(A[:, ::2], A[:, 1::2]) | may_share_memory(v[:2], v[2:]) | shares_memory(A, A.copy(), max_work=0)
"""


@pytest.mark.parametrize("line", CALLS.strip().splitlines(), ids=lambda line: line.split("(")[0])
def test_calls(backend: str, line: str) -> None:
    for call in line.split(" | "):
        check_call(call)


def test_files(backend: str, tmp_path: Path) -> None:
    x, y = np.asarray(DATA["A"]), np.asarray(DATA["I"])
    np.save(tmp_path / "x.npy", x)
    assert_same(np.load(tmp_path / "x.npy"), DATA["A"])
    assert np.load(tmp_path / "x.npy").backend == backend
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "both.npz", x, second=y)
        with np.load(tmp_path / "both.npz") as found:
            assert sorted(found) == sorted(found.files) == ["arr_0", "second"]
            assert len(found) == 2
            assert_same(found["arr_0"], DATA["A"])
            assert_same(found["second"], DATA["I"])
            with pytest.raises(KeyError):
                found["third"]
    np.save(tmp_path / "list.npy", [1, 2])
    assert_same(np.load(tmp_path / "list.npy"), numpy.array([1, 2]))


def test_limits(backend: str) -> None:
    assert np.finfo(np.float32).eps == numpy.finfo(numpy.float32).eps
    assert np.finfo(np.zeros(1)).max == numpy.finfo(float).max
    assert float(np.finfo(ua.bfloat16).eps) == 2**-7
    assert np.iinfo(np.zeros(1, "int16")).max == 2**15 - 1
    assert np.result_type(np.zeros(1, "int8"), ua.bfloat16) is ua.bfloat16
