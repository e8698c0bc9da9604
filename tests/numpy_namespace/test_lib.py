"""Windows, strides and axes against NumPy's."""

from __future__ import annotations

import pytest

from .calls import check_call

CALLS = """
lib.stride_tricks.sliding_window_view(v, 2) | lib.stride_tricks.sliding_window_view(A, (2, 3))
lib.stride_tricks.sliding_window_view(A, 2, 0) | lib.stride_tricks.sliding_window_view(A, (2, 2), (1, 1))
lib.stride_tricks.sliding_window_view(A, 2) | lib.stride_tricks.sliding_window_view(v, 5)
lib.stride_tricks.sliding_window_view(v, -1) | lib.stride_tricks.sliding_window_view(A, 2, 3)
lib.stride_tricks.sliding_window_view(stack, (2, 1), axis=(-1, 0)) | lib.stride_tricks.sliding_window_view(v, 0)
lib.stride_tricks.as_strided(v, (3, 2), (8, 8)) | lib.stride_tricks.as_strided(A, (3,), (40,))
lib.stride_tricks.as_strided(v[::-1], (2, 2), (-8, -8)) | lib.stride_tricks.as_strided(v, (2, 4), (0, 8))
lib.stride_tricks.as_strided(A, (2, 2)) | lib.stride_tricks.as_strided(v, (0, 3), (8, 8))
lib.array_utils.normalize_axis_index(-1, 3) | lib.array_utils.normalize_axis_index(3, 3)
lib.array_utils.normalize_axis_tuple(1, 3) | lib.array_utils.normalize_axis_tuple((-1, 0), 3)
lib.array_utils.normalize_axis_tuple((0, 0), 3) | lib.array_utils.normalize_axis_tuple((0, 0), 3, None, True)
lib.array_utils.normalize_axis_tuple([0, 4], 3, "axes") | lib.array_utils.normalize_axis_index(5, 3, "of x")
"""


@pytest.mark.parametrize("line", CALLS.strip().splitlines(), ids=lambda line: line.split("(")[0])
def test_calls(backend: str, line: str) -> None:
    for call in line.split(" | "):
        check_call(call)


def test_strides_stay_within_the_array(backend: str) -> None:
    import unifyarr.numpy as np
    from unifyarr.numpy.lib.stride_tricks import as_strided, sliding_window_view

    with pytest.raises(ValueError, match="isn't of the array"):
        as_strided(np.arange(4), (5,), (8,))
    with pytest.raises(ValueError, match="isn't of the array"):
        as_strided(np.arange(4), (2,), (4,))
    with pytest.raises(ValueError, match="can't be written"):
        sliding_window_view(np.arange(4), 2, writeable=True)
