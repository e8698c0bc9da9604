"""Reading by indices against NumPy's."""

from __future__ import annotations

import pytest

import unifyarr as ua
import unifyarr.numpy as unp

from ..oracle import assert_same
from .calls import DATA, check_call

CALLS = """
take(A, [0, 2]) | take(A, 1, 0) | take(A, k, axis=1) | take(v, [[0, 1], [2, 3]]) | take(A, 7) | take(A, 20)
take(v, [-1, 5], mode="wrap") | take(v, [-1, 5], mode="clip") | take(v, [1], mode="no")
take(v, [0, 1], 0, zeros(2)) | take(A, [], 1) | take(A, 0, 2) | take(v, True)
take([3, 4], [1, 0, 1]) | take_along_axis(A, np.argsort(A, 1), 1) | take_along_axis(A, I, 0)
take_along_axis(A, I[:, :1] % 3, 1) | take_along_axis(A, k, None) | take_along_axis(A, k, 0)
take_along_axis(A, A, 0) | take_along_axis(A, np.array([[0], [2], [1]]), 1) | nonzero(B) | nonzero(v)
nonzero(3) | nonzero([0, 2]) | flatnonzero(B) | flatnonzero(0) | argwhere(B) | argwhere([0, 3]) | argwhere(2)
argwhere(0) | where(B) | where(B, A, I) | where(A, 1, 0) | where(True, 1, 2.5)
where(B, 2**70, U) | where(B, U, 255) | where(B[0], -128, k.astype("int8")) | where(B, F, 1e300)
where(B, A) | where([True, False], [1, 2], k[:1]) | where(B[0], F, 2.5) | compress(B[0], A, 1)
compress([0, 1], A, axis=0) | compress([True, False, True], A) | compress(B, A)
compress([1, 0, 1], v, out=zeros(2)) | compress([0, 0, 0, 0, 1], v) | extract(B, A) | extract([1, 0, 2, 0], v)
extract(A > 1, A) | choose(k % 2, [v, w]) | choose([1, 0], [[1, 2], [10, 20]])
choose(k, [v, w]) | choose(k, [v, w], mode="clip") | choose(k - 3, (v, w), mode="wrap") | choose(-1, [v, w])
choose(I % 2, (A, 5)) | choose(k, [v, w], zeros(4), "wrap") | choose(v, [v, w])
choose([0], (1000, U[0][:1])) | choose([0], []) | select([A > 1, A < 0], [A, I], 7) | select([v > 1], [k])
select([], []) | select([v > 0], [v, w]) | select([k], [v]) | select([v > 1], [v], w)
select([B[0], B], [v, 2.5]) | select([True], [v]) | diagonal(A) | diagonal(A, 1)
diagonal(stack) | diagonal(stack, -1, 1, 2) | diagonal(stack, 0, -1, 0) | diagonal(v)
diagonal(A, 0, 1, 1) | diagonal(A, 9)
"""


@pytest.mark.parametrize("line", CALLS.strip().splitlines(), ids=lambda line: line.split("(")[0])
def test_calls(backend: str, line: str) -> None:
    for call in line.split(" | "):
        check_call(call)


@pytest.mark.parametrize("number", [300, -1, 2**70])
def test_where_takes_no_number_beyond_the_dtype(backend: str, number: int) -> None:
    # As with NumPy 2.5; earlier versions wrap.
    condition, x = ua.asarray([True, False]), ua.asarray([1, 2], dtype="uint8")
    for choices in ((x, number), (number, x), (ua.asarray(2, dtype="uint8"), number)):
        with pytest.raises(OverflowError):
            unp.where(condition, *choices)


def test_a_tuple_in_a_key_indexes_as_a_list(backend: str) -> None:
    values = DATA["stack"].copy()
    x = ua.asarray(values.copy())
    for key in [
        (slice(None), (0, 2)),
        ((0, 1), (1, 2)),
        (0, (1, 2)),
        ((0, 1), slice(None), (1, 2)),
        (..., ((0, 1), (1, 2))),
        ((True, False),),
        (slice(None), ()),
    ]:
        assert_same(x[key], values[key], what=key)
        x[key] = 7.0
        values[key] = 7.0
        assert_same(x, values, what=key)
