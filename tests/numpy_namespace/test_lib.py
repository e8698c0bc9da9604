"""Windows, strides and axes against NumPy's."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import unifyarr as ua
import unifyarr.numpy as unp
from unifyarr.errors import ReadOnlyError

from ..oracle import assert_same
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


# The shape of the base, a view of it, and the shape and the strides, in elements, from its first element on.
VIEWS: dict[str, tuple[tuple[int, ...], Any, tuple[int, ...], tuple[int, ...]]] = {
    "the whole": ((12,), ..., (3, 4), (4, 1)),
    "a transposed matrix": ((12,), ..., (4, 3), (1, 4)),
    "a step": ((12,), ..., (4,), (3,)),
    "a step back": ((12,), slice(None, None, -1), (4,), (-3,)),
    "a diagonal": ((3, 4), ..., (3,), (5,)),
    "an antidiagonal": ((4, 4), (0, slice(3, None)), (4,), (3,)),
    "a block": ((4, 6), (slice(1, None), slice(2, None)), (2, 3), (6, 1)),
    "a block with steps": ((4, 6), (0, slice(1, None)), (2, 3), (12, 2)),
    "the last block": ((4, 6), (slice(2, None), slice(4, None)), (2, 2), (6, 1)),
    "blocks of three axes": ((24,), slice(1, None), (2, 2, 2), (12, 4, 2)),
    "blocks in another order": ((24,), ..., (2, 3, 2), (2, 8, 1)),
    "rows behind a short one": ((11,), slice(1, None), (2, 3), (5, 1)),
    "rows at the end": ((11,), slice(3, None), (2, 3), (5, 1)),
    "more than the view": ((12,), slice(4, 6), (4,), (2,)),
    "before the view": ((12,), slice(9, 11), (3, 2), (-4, -1)),
    "rows within no rows of the base": ((12,), slice(2, None), (2, 3), (4, 1)),
    "a view of a view": ((4, 6), (slice(None, None, 2), slice(None, None, -2)), (2, 2), (6, -1)),
    "axes of length one": ((6,), ..., (1, 3, 1), (99, 2, 0)),
    "one element": ((6,), slice(4, None), (), ()),
    "nothing": ((6,), ..., (0, 3), (1, 1)),
}


def strided_both(
    shape: tuple[int, ...], key: Any, lengths: tuple[int, ...], steps: tuple[int, ...], dtype: str
) -> tuple[Any, numpy.ndarray, Any, numpy.ndarray]:
    """Return a base here and of NumPy, and the views of both."""
    values = numpy.arange(numpy.prod(shape)).reshape(shape).astype(dtype)
    base, strides = ua.asarray(values, copy=True), tuple(step * values.itemsize for step in steps)
    found = unp.lib.stride_tricks.as_strided(base[key], lengths, strides)
    return base, values, found, numpy.lib.stride_tricks.as_strided(values[key], lengths, strides)


@pytest.mark.parametrize("dtype", ["float64", "int8", "complex64"])
@pytest.mark.parametrize("case", VIEWS)
def test_as_strided_is_a_view(backend: str, case: str, dtype: str) -> None:
    base, values, found, expected = strided_both(*VIEWS[case], dtype)
    assert_same(found, expected)
    # Writes to either show in the other.
    found[...] = found * 2 + 1
    expected[...] = expected * 2 + 1
    assert_same(base, values)
    base[...] = base - 3
    values[...] = values - 3
    assert_same(found, expected)


@pytest.mark.parametrize("case", [case for case in VIEWS if case != "nothing"])
def test_as_strided_is_a_view_where_compiled(backend: str, case: str) -> None:
    shape, key, lengths, steps = VIEWS[case]

    def write(x: Any) -> Any:
        view = unp.lib.stride_tricks.as_strided(x[key], lengths, tuple(8 * step for step in steps))
        view[...] = view * 2 + 1
        return x

    values = numpy.arange(float(numpy.prod(shape))).reshape(shape)
    expected = numpy.lib.stride_tricks.as_strided(values[key], lengths, tuple(8 * step for step in steps))
    x = ua.asarray(values, copy=True)
    result = ua.compile(write)(x)
    expected[...] = expected * 2 + 1
    assert_same(result, values)
    assert_same(x, values)


# Elements that overlap, are repeated, or lie as no slices of a matrix do.
READ_ONLY: dict[str, tuple[tuple[int, ...], Any, tuple[int, ...], tuple[int, ...]]] = {
    "windows": ((12,), slice(2, 3), (3, 2), (1, 1)),
    "windows before the view": ((12,), slice(9, None), (3, 2), (-1, -1)),
    "repeated rows": ((12,), slice(4, 6), (3, 4), (0, 1)),
    "a repeated element": ((12,), slice(4, 6), (3,), (0,)),
    "strides of no matrix": ((12,), ..., (2, 2), (3, 2)),
}


@pytest.mark.parametrize("case", READ_ONLY)
def test_other_strides_are_read_only(backend: str, case: str) -> None:
    base, values, found, expected = strided_both(*READ_ONLY[case], "float64")
    assert_same(found, expected)
    with pytest.raises(ReadOnlyError):
        found[...] = 0
    assert_same(base, values)


def test_random_strides(backend: str) -> None:
    random = numpy.random.default_rng(0)
    for _ in range(60):
        values = numpy.arange(24.0)
        base = ua.asarray(values, copy=True)
        start, axes = int(random.integers(24)), int(random.integers(1, 4))
        lengths = tuple(map(int, random.integers(1, 4, axes)))
        steps = tuple(map(int, random.choice([-12, -6, -4, -2, -1, 1, 2, 3, 4, 6, 8, 12], axes)))
        ends = [step * (length - 1) for step, length in zip(steps, lengths, strict=True)]
        strides = tuple(8 * step for step in steps)
        if start + sum(min(end, 0) for end in ends) < 0 or start + sum(max(end, 0) for end in ends) >= 24:
            with pytest.raises(ValueError, match="isn't of the array"):
                unp.lib.stride_tricks.as_strided(base[start:], lengths, strides)
            continue
        found = unp.lib.stride_tricks.as_strided(base[start:], lengths, strides)
        expected = numpy.lib.stride_tricks.as_strided(values[start:], lengths, strides)
        assert_same(found, expected, what=(start, lengths, strides))
        if found.flags.writeable:
            assert numpy.unique(expected).size == expected.size
            found[...] = -found
            expected[...] = -expected
            assert_same(base, values, what=(start, lengths, strides))


def test_as_strided_of_what_may_not_be_written(backend: str) -> None:
    x = unp.arange(6.0)
    as_strided = unp.lib.stride_tricks.as_strided
    for view in (as_strided(x, (3,), (16,), writeable=False), as_strided(unp.broadcast_to(x, (6,)), (3,), (16,))):
        assert_same(view, numpy.arange(0, 6.0, 2))
        with pytest.raises(ReadOnlyError):
            view[0] = 1.0


def test_buffers_by_strides_are_views(backend: str) -> None:
    x = unp.arange(12.0)
    view = unp.ndarray((2, 3), float, buffer=x, offset=8, strides=(48, 16))
    view[...] = 0
    expected = numpy.arange(12.0)
    numpy.ndarray((2, 3), float, buffer=expected, offset=8, strides=(48, 16))[...] = 0
    assert_same(x, expected)


def test_gradients_go_through_strided_views(backend: str) -> None:
    def loss(x: Any) -> Any:
        return ua.sum(unp.lib.stride_tricks.as_strided(x[1:], (2, 2), (24, 8)) ** 2)

    if backend in ("torch", "jax", "tensorflow"):
        expected = numpy.array([0.0, 2.0, 4.0, 0.0, 8.0, 10.0])
        assert_same(ua.grad(loss)(ua.asarray(numpy.arange(6.0))), expected)
