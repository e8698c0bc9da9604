"""Grids and indices against NumPy's."""

from __future__ import annotations

import pytest

from .calls import check_call

CALLS = """
mgrid[0:3] | mgrid[0:2, 0:3] | mgrid[0:1:3j] | mgrid[-1:1:0.5, 0:1:2j] | mgrid[0:k[0]] | ogrid[0:2, 0:3]
ogrid[0:1:3j, 0:2] | ogrid[1:3]
r_[1:4, 0, 5] | r_[v, 0, w] | r_[0:1:3j] | r_["0,2", v, w] | r_["1,2,0", v, w] | r_["-1", A, A] | r_[A, I]
r_["0,3,1", v, w] | r_[2.5, k] | r_[U[0], 1]
r_["no", v] | r_["1", v, A] | r_["-1", 0:3, 0:3] | r_["0,2,0", 0:3, 0:3] | c_[v, w] | c_[A, v[:3]] | c_[1:4, 4:7]
c_[v] | c_[1, 2]
indices((2, 3)) | indices((2, 3), float) | indices((2, 3), sparse=True) | indices(()) | indices((0, 2))
ix_([0, 1], [2, 0]) | ix_(B[0], k)
ix_(A) | ix_([], [1]) | mask_indices(3, np.triu) | mask_indices(4, np.tril, -1) | tril_indices(3)
tril_indices(3, 1, 4) | triu_indices(3, -1)
triu_indices(2, m=4) | tril_indices_from(A) | triu_indices_from(A, 1) | triu_indices_from(v)
tril_indices_from(A, k=-1) | diag_indices(3)
diag_indices(2, 3) | diag_indices_from(A[:, :3]) | diag_indices_from(A) | diag_indices_from(v)
unravel_index(5, (2, 3)) | unravel_index([1, 4], (2, 3), "F")
unravel_index(k, (4, 2)) | unravel_index([[5, 2]], (2, 3)) | unravel_index(6, (2, 3)) | unravel_index(-1, (2, 3))
unravel_index([], (2, 3)) | unravel_index(v, (4,))
unravel_index([0], ()) | ravel_multi_index((k, k), (4, 5)) | ravel_multi_index(([0, 1], [1, 2]), (2, 3), order="F")
ravel_multi_index((k, 7), (3, 4), "clip")
ravel_multi_index((k, -1), (4, 3), mode="wrap") | ravel_multi_index((k, k), (2, 2))
ravel_multi_index(([3], [5]), (3, 4), ("wrap", "clip"))
ravel_multi_index((1, 2), (2, 3)) | ravel_multi_index((1, 2, 3), (2, 3))
"""
@pytest.mark.parametrize("line", CALLS.strip().splitlines(), ids=lambda line: line.split("(")[0])
def test_calls(backend: str, line: str) -> None:
    for call in line.split(" | "):
        check_call(call)
