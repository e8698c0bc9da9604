"""Joining, splitting and inserting against NumPy's."""

from __future__ import annotations

import subprocess
import sys

import pytest

from .calls import check_call

CALLS = """
concatenate((A, I)) | concatenate([A, A], 1) | concatenate((v, [1, 2]), axis=None) | concatenate([A, v])
concatenate([]) | concatenate((F, F), dtype="float64")
concatenate((v, w), out=zeros(8)) | concatenate((v, w), out=zeros(8, "float32"))
concatenate((v, w), out=zeros(8, int)) | concatenate((v, w), 0, None, dtype=int, casting="unsafe")
concatenate((v, k), dtype=int) | concatenate((v, w), out=zeros(8), dtype=float) | concatenate((v, w), casting="any")
concatenate(A) | concat((k, U[0])) | concatenate((1, 2))
concatenate((A, A), 2) | stack((v, w)) | stack([v, k], axis=1) | stack([v, w], -1) | stack((v, A)) | stack([])
stack((v, w), 0, zeros((2, 4))) | stack((v, w), dtype="float32")
stack((v, w), 3) | hstack((v, k)) | hstack([A, I]) | hstack((1, 2)) | hstack([[1, 2], [3]], dtype=float)
vstack((v, w)) | vstack([A, v]) | vstack((v, w), dtype="float32")
vstack((1, 2.5)) | vstack([]) | dstack((v, w)) | dstack([A, A]) | dstack((stack, stack)) | column_stack((v, w))
column_stack([A, A[:, 0]]) | column_stack((1, 2))
block([[A, A], [I, I]]) | block([v, 1, w]) | block([[1, 2], [v[:2]]]) | block(A) | block(3) | block([])
block([v, [w]]) | block((v, w)) | block([[A[:, :2], A[:, 2:]], [v]]) | block([[[1]], [[2]]])
split(A, 2, 1) | split(v, [1, 3]) | split(v, 3) | split(A, 4) | split(v, 2) | split(v, [1, 9])
split(A, [1], axis=-1) | split(A, 2, 5) | array_split(v, 3)
array_split(A, [1, 2], 1) | array_split(v, 0) | array_split(v, 7) | split(v, 0) | hsplit(A, 2)
hsplit(v, [2]) | hsplit(3, 1) | vsplit(A, 3) | vsplit(v, 2) | dsplit(stack, 2)
dsplit(A, 2) | unstack(A) | unstack(stack, axis=2) | tile(v, 2) | tile(A, (2, 1))
tile([1, 2], (2, 1, 2)) | tile(A, 0) | tile(3, 2) | repeat(v, 2) | repeat(A, 2, 1)
repeat(A, [1, 0, 2], axis=0) | repeat(v, k) | repeat(A, [2], 0) | repeat(v, [1, 2]) | repeat(3, 4)
repeat(A[:0], [], 0) | repeat(v, [])
repeat(v, -1) | resize(v, (2, 3)) | resize(k, 2) | resize([], 3)
resize(A, (5, 5)) | resize(v, -1) | insert(v, 1, 9) | insert(v, [0, 2], [8, 9]) | insert(A, 1, v, 0)
insert(A, [1, 3], v[:3, None], axis=1) | insert(A, 1, 5, axis=1) | insert(k, 2, 2.7)
insert(v, slice(0, 3), 7) | insert(v, -1, [1, 2]) | insert(v, 9, 1) | insert(A, 2, 0) | insert(v, B[0], 5)
insert(v, [], []) | insert(A, [1, 1], 0, axis=1) | insert(A, 0, v[:3], axis=1)
insert(v, [0, 1], [1, 2, 3]) | append(v, w) | append(A, [[1, 2, 3, 4]], 0) | append(A, v, 0) | append(v, 3)
append(A, A, axis=1) | delete(v, 1) | delete(v, [0, -1]) | delete(A, 1, 0)
delete(A, slice(None, None, 2), axis=1) | delete(A, B[0], 1) | delete(v, 4) | delete(A, 3) | delete(v, [])
delete(v, B[0][:2]) | delete(v, [0.5]) | trim_zeros([0, 0, 1, 0, 2, 0])
trim_zeros([0, 1, 0], "f") | trim_zeros([0, 1, 0], "B") | trim_zeros([0, 0]) | trim_zeros([1], "q")
trim_zeros(np.eye(3)[:, 1:] * 0)
trim_zeros(np.diag([0, 1, 0])) | trim_zeros(np.diag([0, 1, 0]), axis=0)
"""


@pytest.mark.parametrize("line", CALLS.strip().splitlines(), ids=lambda line: line.split("(")[0])
def test_calls(backend: str, line: str) -> None:
    for call in line.split(" | "):
        check_call(call)


@pytest.mark.parametrize("trim", [3, None, "q", ["f"]])
def test_trim_zeros_says_what_it_takes(backend: str, trim: object) -> None:
    import unifyarr.numpy as xp

    for each in (trim, xp.asarray([1.0])):
        with pytest.raises(ValueError, match="'f' for the front and 'b' for the back"):
            xp.trim_zeros([0, 1, 0], each)


def test_numpy_2_5_has_no_row_stack() -> None:
    # It dropped the name, which programs written for older ones may use here.
    program = (
        "import numpy; vars(numpy).pop('row_stack', None)\n"
        "import unifyarr.numpy as np; print(np.row_stack([[1, 2], [3, 4]]).tolist())"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[[1, 2], [3, 4]]"
