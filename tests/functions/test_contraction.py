"""Einstein's summation against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua

from ..gradients import assert_gradients
from ..oracle import (
    ALL,
    COMPLEX,
    FLOATS,
    HALVES,
    TOLERANCE,
    assert_raises,
    assert_same,
    assert_unchanged,
    few,
    in_layout,
    is_bfloat16,
    layouts,
    seeded,
)

Shapes = list[tuple[int, ...]]
TERMS: dict[str, Shapes] = {
    "ij,jk->ik": [(2, 3), (3, 4)],
    "ij,jk->ki": [(2, 3), (3, 4)],
    "ij,kj": [(2, 3), (4, 3)],
    "ba": [(2, 3)],
    "ii": [(3, 3)],
    "ii->i": [(3, 3)],
    "iji->j": [(3, 2, 3)],
    "iii->i": [(2, 2, 2)],
    "ij->": [(2, 3)],
    "ij->j": [(2, 3)],
    "ji->ij": [(2, 3)],
    "i,i": [(3,), (3,)],
    "i,i->i": [(3,), (3,)],
    "i,j": [(2,), (3,)],
    "i,j->ji": [(2,), (3,)],
    "i,->i": [(3,), ()],
    "": [()],
    ",": [(), ()],
    "i->": [(0,)],
    "ij,jk->ik  ": [(2, 0), (0, 3)],
    "bij,bjk->bik": [(2, 2, 3), (2, 3, 2)],
    "bij,bkj->kbi": [(2, 2, 3), (2, 4, 3)],
    "bhqd,bkhd->bhqk": [(2, 2, 3, 2), (2, 4, 2, 2)],
    "bi,bi->b": [(2, 3), (2, 3)],
    "ij,j->i": [(2, 3), (3,)],
    "j,ij->i": [(3,), (2, 3)],
    "ijk,ljm,kl->mi": [(2, 3, 2), (3, 3, 2), (2, 3)],
    "a,ab,bc,cd->d": [(2,), (2, 3), (3, 2), (2, 4)],
    "i,i,i->i": [(3,), (3,), (3,)],
    "i,j,k": [(2,), (3,), (2,)],
    "ij,jk,k": [(2, 3), (3, 1), (1,)],
    "ij,jk->ik ": [(2, 1), (3, 4)],
    "i j , j -> i": [(1, 3), (3,)],
    "ij,ij->": [(2, 3), (2, 1)],
    "ik,jk->ij": [(2, 3), (4, 3)],
    "abc,bad->dc": [(2, 3, 2), (3, 2, 4)],
    "...": [(2, 3)],
    "...ij,...jk->...ik": [(2, 2, 3), (3, 4)],
    "...i,...i": [(2, 1, 3), (2, 3)],
    "i...->...": [(2, 3, 2)],
    "b...a->ab...": [(2, 3, 2, 4)],
    "...a,...b": [(2, 3), (4, 2, 2)],
    "...,...": [(2, 1), (3,)],
    "i...i": [(2, 3, 2)],
    "aB,Bc": [(2, 3), (3, 2)],
    "ii,jj->ij": [(2, 2), (3, 3)],
}


def numpys(subscripts: str, *values: np.ndarray) -> np.ndarray:
    wide = [x.astype("f4") if is_bfloat16(x) else x for x in values]
    result = np.asarray(np.einsum(subscripts, *wide))
    return result.astype(ua.bfloat16) if any(map(is_bfloat16, values)) and result.dtype == np.float32 else result


def plain(dtype: str) -> dict[str, Any]:
    """Return a range of values whose products the halves still hold."""
    return {} if dtype not in HALVES + FLOATS + COMPLEX else {"special": False, "low": -4, "high": 4}


def rounding(*values: np.ndarray) -> float:
    """Return how far apart sums of products may be."""
    dtype = np.result_type(*values) if not any(map(is_bfloat16, values)) else values[0].dtype
    largest = [float(np.max(np.abs(x.astype("c16")), initial=1)) for x in values]
    return TOLERANCE.get(dtype.name, 0.0) * 16 * float(np.prod(largest))


@pytest.mark.parametrize("subscripts", TERMS)
def test_every_form(backend: str, subscripts: str) -> None:
    random = np.random.default_rng(0)
    values = [random.uniform(-1, 1, shape) for shape in TERMS[subscripts]]
    given = [ua.asarray(x) for x in values]
    expected = numpys(subscripts, *values)
    assert_same(ua.einsum(subscripts, *given), expected, atol=1e-13, signed_zeros=False)
    out = ua.full(expected.shape, 7.0)
    assert ua.einsum(subscripts, *given, out=out) is out
    assert_same(out, expected, atol=1e-13, signed_zeros=False)
    for x, each in zip(given, values, strict=True):
        assert_unchanged(x, each)


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_every_dtype(backend: str, dtype: str, data: st.DataObject) -> None:
    pool = ["ij,jk->ki", "ij->j", "iji->j", "i,i->i", "bij,bjk->bik", "ijk,ljm,kl->mi", "i,j"]
    subscripts = data.draw(st.sampled_from(pool))
    values = [data.draw(seeded(dtype, shape, **plain(dtype))) for shape in TERMS[subscripts]]
    inputs = [in_layout(each, data.draw(layouts(dtype))) for each in values]
    expected = numpys(subscripts, *values)
    assert_same(ua.einsum(subscripts, *inputs), expected, atol=rounding(*values), signed_zeros=False)


@pytest.mark.parametrize(
    "dtypes", [("int8", "uint8"), ("bool", "int16"), ("float32", "int32"), ("float32", "complex64"), ("bool", "uint64")]
)
def test_operands_of_two_dtypes(backend: str, dtypes: tuple[str, str]) -> None:
    x1, x2 = np.array([[1, 0, 3], [1, 2, 0]]).astype(dtypes[0]), np.array([1, 1, 2]).astype(dtypes[1])
    assert_same(ua.einsum("ij,j", ua.asarray(x1), ua.asarray(x2)), numpys("ij,j", x1, x2))
    assert_same(ua.einsum("ij,j->ij", ua.asarray(x1), ua.asarray(x2)), numpys("ij,j->ij", x1, x2))


def test_a_sum_stays_in_its_dtype(backend: str) -> None:
    values = np.full((2, 3), 100, "int8")
    assert_same(ua.einsum("ij->", ua.asarray(values)), np.asarray(88, "int8"))
    truth = np.array([[True, True], [False, False]])
    assert_same(ua.einsum("ij->i", ua.asarray(truth)), np.array([True, False]))


@pytest.mark.chunks(25_000)
def test_the_order_of_many_operands_keeps_what_is_between_small(backend: str) -> None:
    # From the left, the first product alone would have ten thousand million elements.
    vector, matrix = ua.ones((100_000,)), ua.ones((100_000, 2))
    assert_same(ua.einsum("i,j,jk,ik->k", vector, vector, matrix, matrix), np.array([1e10, 1e10]))


@pytest.mark.parametrize("subscripts", ["ij->ji", "ii->i", "ij"])
def test_the_result_is_an_array_of_its_own(backend: str, subscripts: str) -> None:
    x = ua.zeros((2, 2))
    result = ua.einsum(subscripts, x)
    result += 1
    assert_same(x, np.zeros((2, 2)))


def test_what_is_not_finite_stays_where_it_is(backend: str) -> None:
    values = np.array([[np.inf, 1.0], [2.0, np.nan]])
    vector = np.array([1.0, 2.0])
    for subscripts in ("ij,j->i", "ij,j->ij", "ij,i->j"):
        expected = numpys(subscripts, values, vector)
        assert_same(ua.einsum(subscripts, ua.asarray(values), ua.asarray(vector)), expected)


@pytest.mark.parametrize("subscripts", ["ij,jk->ki", "ij,ij->j", "ij,jj->i"])
def test_gradients(backend: str, subscripts: str) -> None:
    random = np.random.default_rng(1)
    x1, x2 = random.uniform(-1, 1, (3, 3)), random.uniform(-1, 1, (3, 3))
    assert_gradients(backend, lambda a, b: ua.einsum(subscripts, a, b), x1, x2)


ONES = np.ones((2, 3))
ERRORS: dict[str, tuple[str, list[np.ndarray], type[BaseException]]] = {
    "too few operands": ("ij,jk", [ONES], ValueError),
    "too many operands": ("ij", [ONES, ONES], ValueError),
    "no operands": ("", [], ValueError),
    "too few letters": ("i", [ONES], ua.errors.ShapeError),
    "too many letters": ("ijk", [ONES], ua.errors.ShapeError),
    "more letters than an ellipsis leaves": ("ijk...", [ONES], ua.errors.ShapeError),
    "lengths that differ": ("ij,ij", [ONES, ONES.T], ua.errors.ShapeError),
    "a diagonal of no square": ("ii", [ONES], ua.errors.ShapeError),
    "a diagonal of one row": ("ii->i", [np.ones((1, 3))], ua.errors.ShapeError),
    "a letter of no operand": ("ij->ik", [ONES], ValueError),
    "a letter twice in the output": ("ij->ii", [ONES], ValueError),
    "an ellipsis that the output lacks": ("...i->i", [ONES], ValueError),
    "a digit": ("i1", [ONES], ValueError),
    "two dots": ("i..", [ONES], ValueError),
    "two arrows": ("ij->i->j", [ONES], ValueError),
    "no string": (["i", "j"], [ONES], TypeError),  # type: ignore[dict-item]
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(backend: str, case: str) -> None:
    subscripts, values, error = ERRORS[case]
    assert_raises(error, ua.einsum, subscripts, *(ua.asarray(x) for x in values))
