"""Shapes and orders against NumPy's."""

from __future__ import annotations

import pytest

from .calls import check_call

CALLS = """
reshape(A, (4, 3)) | reshape(A, -1) | reshape(A, (2, -1), "F") | reshape(A.T, (2, 6), order="A")
reshape(A, (5, 2)) | reshape([1, 2], (2, 1)) | reshape(A, (3, 2, 2), order="F")
reshape(A, 12, copy=True) | reshape(A, (2, 6), order="K") | ravel(A) | ravel(A, "F") | ravel(A.T, "K")
ravel(A.T, "A") | ravel(stack[:, ::-1]) | ravel([[1], [2]]) | ravel(3)
transpose(A) | transpose(stack, (1, 2, 0)) | transpose(stack, axes=[0, -1, 1]) | transpose(A, (0, 0))
permute_dims(A) | permute_dims(stack, (2, 0, 1)) | matrix_transpose(stack)
swapaxes(stack, 0, -1) | swapaxes(A, 0, 2) | moveaxis(stack, 0, -1) | moveaxis(stack, [0, 1], [-1, 0])
moveaxis(stack, [0, 1], 0) | rollaxis(stack, 2)
rollaxis(stack, 0, 3) | rollaxis(stack, 1, -1) | rollaxis(stack, 3) | rollaxis(stack, 0, 5) | expand_dims(A, 0)
expand_dims(v, (0, 2)) | expand_dims([1, 2], -1) | expand_dims(v, 3)
squeeze(A[:1]) | squeeze(A[:1], 0) | squeeze(A, axis=0) | squeeze([[[1]]]) | broadcast_to(v, (2, 4))
broadcast_to(3, (2, 2)) | broadcast_to(v, (2, 3)) | broadcast_to([1], 3)
broadcast_arrays(v, A) | broadcast_arrays([[1], [2]], k) | broadcast_arrays(v, A[:, :2]) | atleast_1d(3)
atleast_1d(v, 2) | atleast_2d(v) | atleast_2d(1, A, stack) | atleast_3d(v)
atleast_3d(A) | atleast_3d(5, stack) | flip(A) | flip(A, 1) | flip(stack, (0, 2)) | flip(A, 2) | fliplr(A)
fliplr(v) | flipud(I) | flipud(3)
rot90(A) | rot90(A, 2) | rot90(stack, -1, (1, 2)) | rot90(A, axes=(0, 0)) | rot90(A, 1, (0, 1, 2)) | rot90(v)
roll(v, 1) | roll(A, 1) | roll(A, -1, 0) | roll(A, (1, 2), (0, 1))
roll(A, 1, axis=(0, 1)) | roll(A, (1, 1), axis=0) | roll(A, 2, 5) | roll([], 1) | roll(A, 10, 1) | shape(A)
shape([[1, 2]]) | shape(3) | ndim(stack) | ndim([1]) | ndim(2.5)
size(A) | size(A, 1) | size([[1, 2]], (0, 1)) | size(A, 2) | astype(A, int) | astype(I, "float32", copy=False)
astype([1], int)
"""


@pytest.mark.parametrize("line", CALLS.strip().splitlines(), ids=lambda line: line.split("(")[0])
def test_calls(backend: str, line: str) -> None:
    for call in line.split(" | "):
        check_call(call)
