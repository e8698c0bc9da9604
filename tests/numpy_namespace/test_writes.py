"""Writes in place, and views, as in NumPy."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import unifyarr as ua
import unifyarr.numpy
from unifyarr.errors import ReadOnlyError, UnknownShapeError
from unifyarr.testing import has

from ..oracle import assert_same
from .calls import DATA

# Each writes to x, which holds the data of its name, directly or through a view.
STATEMENTS = """
A: np.put(x, [0, 5, -1], [1, 2]) | np.put(x, 3, 2.5) | np.put(x, [], 1) | np.put(x, [20, -30], 7, "wrap")
A: np.put(x, [20, -30], [7, 8], mode="clip") | np.put(x, [12], 1) | np.put(x.T, [1, 2], [8, 9])
v: np.put(x, [-1, 1], x) | np.put(x, [0, 0, 1], [1, 2, 3]) | np.put([1, 2], 0, 1)
I: np.put(x, [1, 2], 2.7) | np.put(x, [0, 1], [True, False])
A: np.put_along_axis(x, np.array([[0], [1], [2]]), 9, 1)
A: np.put_along_axis(x, np.argsort(x, 0), [[1], [2], [3]], 0)
A: np.put_along_axis(x, np.array([0, 5]), 3, None) | np.put_along_axis(x, np.array([0]), 3, 0)
A: np.place(x, x > 1, [5, 6]) | np.place(x, x > 9, []) | np.place(x, x > 1, []) | np.place(x, x[0] > 1, 1)
A: np.place(x.T, x.T > 0, [1, 2, 3]) | np.place(3, True, 1)
I: np.place(x, x > 4, 2.7) | np.place(x, x, [7, 8, 9])
A: np.putmask(x, x > 1, 5) | np.putmask(x, x > 1, [5, 6]) | np.putmask(x, x > 1, x * 10) | np.putmask(x, x > 1, [])
A: np.putmask(x, [True], 1) | np.putmask(x[::2], x[::2] > 0, -1)
A: np.copyto(x, 3) | np.copyto(x, [1, 2, 3, 4]) | np.copyto(x, x.T[:, :3]) | np.copyto(x, 0, where=x > 1)
A: np.copyto(x[1], [1, 2, 3, 4], where=[True, False, True, False]) | np.copyto(x, 1j)
I: np.copyto(x, 2.5) | np.copyto(x, 2.5, casting="unsafe") | np.copyto(x, 1, "no")
I: np.copyto(x, x.astype("int32"), "safe")
I: np.copyto(x, x.astype("int32"), "equiv") | np.copyto(x, 1, casting="nothing")
I: np.copyto(x, 1, where=[1, 0, 1, 0])
U: np.copyto(x, 7) | np.copyto(x, -1) | np.copyto(x, np.int64(5)) | np.copyto(x, [[1]], "safe")
A: np.fill_diagonal(x, 9) | np.fill_diagonal(x, [1, 2]) | np.fill_diagonal(x.T, 9, wrap=True)
A: np.fill_diagonal(x[0], 1)
I: np.fill_diagonal(x, 2.5) | np.fill_diagonal(x, x)
stack: np.fill_diagonal(x, 1) | np.fill_diagonal(x[:, :2, :2], 5)
A: np.reshape(x, (2, 6))[0] = 1 | np.transpose(x)[0] = 1 | np.ravel(x)[2] = 9 | np.ravel(x.T)[2] = 9
A: np.flip(x)[0, 0] = 7
A: np.swapaxes(x, 0, 1)[1] = 5 | np.moveaxis(x, 0, 1)[1] = 5 | np.rollaxis(x, 1)[2] = 5
A: np.expand_dims(x, 0)[0, 1] = 5
A: np.squeeze(x[:1])[2] = 5 | np.atleast_3d(x)[..., 0] = 1 | np.atleast_2d(x[0])[0, 1] = 8 | np.rot90(x)[0] = 3
A: np.split(x, 2, 1)[1][:] = 4 | np.array_split(x, 2)[0][:] = 4 | np.hsplit(x, 2)[0][:] = 4
A: np.unstack(x)[1][:] = 4
A: np.asarray(x)[0] = 1 | np.array(x)[0] = 1 | np.copy(x)[0] = 1 | np.ascontiguousarray(x)[0] = 1
A: np.array(x, copy=None)[0] = 2
A: np.require(x, None, "W")[0] = 1 | np.array(x, ndmin=3, copy=False)[0, 0] = 1
A: np.astype(x, float, copy=False)[0] = 3
A: np.tril(x)[0] = 5 | np.take(x, [0], 0)[0] = 1 | np.roll(x, 1)[0] = 1 | np.diagonal(x)[0] = 1
A: np.broadcast_to(x, (1, 3, 4))[0] = 1
A: np.reshape(x, (4, 3), "F")[0] = 1 | np.broadcast_arrays(x, 1)[0].shape
A: np.meshgrid(x[0], x[1], copy=False)[0].shape
A: np.ndarray((2, 3), float, x, 8)[0] = 5 | np.ndarray((2, 3), float, x, order="F")[0] = 5
A: np.ndarray((9, 9), float, x)
A: np.trim_zeros(x[0])[0] = 5 | np.resize(x, (2, 2))[0] = 5 | np.take(x, [0, 1], out=x[0, :2])
A: np.compress([1, 1], x[1], out=x[0, :2])
A: np.concatenate([x[0, :2], x[1, :2]], out=x[2]) | np.stack([x[0, :2], x[1, :2]], out=x[1:, 2:])
A: np.choose([0, 1], [x[0, :2], x[1, :2]], out=x[2, :2])
"""


def run(namespace: Any, values: numpy.ndarray, statement: str) -> Any:
    """Return the value of x after a statement, or its error."""
    x = ua.asarray(values.copy()) if namespace is unifyarr.numpy else values.copy()
    try:
        exec(statement, {"np": namespace, "x": x})
    except Exception as error:
        return x, error
    return x, None


@pytest.mark.parametrize("line", STATEMENTS.strip().splitlines(), ids=lambda line: line.split("(")[0])
@pytest.mark.filterwarnings("ignore")
def test_writes(backend: str, line: str) -> None:
    name, statements = line.split(": ", 1)
    for statement in statements.split(" | "):
        wanted, error = run(numpy, DATA[name], statement)
        found, own = run(unifyarr.numpy, DATA[name], statement)
        if isinstance(own, UnknownShapeError):
            # A part whose length values decide.
            assert not has(backend, "shapes")
            continue
        assert (error is None) == (own is None), f"{statement}: NumPy {error!r}, here {own!r}"
        if error is not None:
            kinds = [kind for kind in type(error).__mro__ if kind.__module__ == "builtins"]
            assert isinstance(own, kinds[0]), f"{statement}: NumPy {error!r}, here {own!r}"
        assert_same(found, wanted, what=statement)


def test_what_repeats_elements_is_read_only(backend: str) -> None:
    np = unifyarr.numpy
    x = np.arange(6.0)
    for view in (
        np.broadcast_to(x, (2, 6)),
        np.diagonal(x.reshape(2, 3)),
        np.lib.stride_tricks.sliding_window_view(x, 3),
        np.lib.stride_tricks.as_strided(x, (3, 2), (8, 8)),
    ):
        with pytest.raises(ReadOnlyError):
            view[0] = 1.0
    assert_same(x, numpy.arange(6.0))


def test_what_is_no_array_is_not_written(backend: str) -> None:
    np = unifyarr.numpy
    for call in (np.put, np.place, np.putmask):
        with pytest.raises(TypeError):
            call([1, 2], [0, 1], [3])
    with pytest.raises(TypeError):
        np.copyto([1, 2], 3)


def test_numpys_arrays_are_written(backend: str) -> None:
    if backend != "numpy":
        return
    x = numpy.zeros(3)
    unifyarr.numpy.put(x, [1], [5])
    unifyarr.numpy.copyto(x[2:], 7)
    assert x.tolist() == [0, 5, 7]
