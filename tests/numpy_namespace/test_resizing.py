"""``x.resize(shape)``: another size in place, where nothing else refers to the array."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import unifyarr as ua
import unifyarr.numpy as np
from tests.oracle import assert_same
from unifyarr.testing import has

VALUES = numpy.arange(6).reshape(2, 3)


def made() -> Any:
    return np.array(VALUES)


@pytest.mark.parametrize("shape", [(3, 3), (2,), (3, 2), (), (0,), (0, 4), 7, (2, 3), (1, 2, 3)])
def test_an_array_is_resized(backend: str, shape: Any) -> None:
    x, values = made(), VALUES.copy()
    x.resize(shape)
    values.resize(shape, refcheck=False)
    assert_same(x, values)
    x += 1
    assert_same(x, values + 1)
    x[...] = 5
    assert (x.to_numpy() == 5).all()


def test_it_grows_and_shrinks_further(backend: str) -> None:
    x = made()
    for count in (8, 3, 3, 12, 0, 2):
        x.resize(count)
        assert x.shape == (count,)
        x[:1] = 7
    assert x.tolist() == [7, 0]
    x.resize(2, 2)
    x.resize((1, 4))
    assert x.tolist() == [[7, 0, 0, 0]]
    one = made()[1, 1]
    one.resize(2)
    assert one.tolist() == [4, 0]


@pytest.mark.parametrize("arguments", [(), (None,), (2, 3), ((2, 3),)])
def test_it_may_stay(backend: str, arguments: tuple[Any, ...]) -> None:
    x = made()
    y = x
    x.resize(*arguments)
    assert_same(y, VALUES)


def test_a_view_keeps_its_memory(backend: str) -> None:
    x = made()
    with pytest.raises(ValueError, match="view"):
        x[0].resize(5)
    with pytest.raises(ValueError, match="read-only"):
        np.broadcast_to(x, (2, 2, 3)).resize(5)
    nothing = np.zeros((3, 0))
    view = nothing[...]
    view.resize((0, 10))
    view.resize((0, 100))
    assert view.shape == (0, 100)
    assert nothing.shape == (3, 0)


def test_what_refers_to_an_array_keeps_its_size(backend: str) -> None:
    for other in (lambda x: x[0], lambda x: x.T, lambda x: x, lambda x: x.flat):
        x = made()
        kept = other(x)
        before = kept.tolist()
        with pytest.raises(ValueError, match="may refer to this array"):
            x.resize(7)
        assert_same(x, VALUES)
        assert kept.tolist() == before
        del kept
        x.resize(7)
        assert x.shape == (7,)


def test_another_name_may_be_told_to_be_harmless(backend: str) -> None:
    x = made()
    y = x
    y.resize(2, refcheck=False)
    assert x.tolist() == [0, 1]
    x = made()
    view = x[0]
    if not has(backend, "writes"):
        with pytest.raises(ValueError, match="view"):
            x.resize(2, refcheck=False)
        assert_same(x, VALUES)
    else:
        x.resize(2, refcheck=False)
        x[0] = 9
    assert view.tolist() == [0, 1, 2]


def test_shared_memory_keeps_its_size(backend: str) -> None:
    x = made()
    native = x.native
    if has(backend, "writes"):
        with pytest.raises(ValueError, match="may refer"):
            x.resize(7)
    del native
    x.resize(7)
    assert x.shape == (7,)


WRONG: list[tuple[Any, type[Exception]]] = [(-1, ValueError), ((2, -1), ValueError), ("a", TypeError), (1.5, TypeError)]


@pytest.mark.parametrize(("shape", "error"), WRONG)
def test_shapes_that_are_none(backend: str, shape: Any, error: type[Exception]) -> None:
    x = made()
    with pytest.raises(error):
        x.resize(shape)
    assert_same(x, VALUES)


def test_a_trace_is_told(backend: str) -> None:
    def f(x: Any) -> Any:
        y = x + 1
        y.resize(9)
        return y

    with pytest.raises(ua.errors.TracedMutationError, match="resize"):
        ua.compile(f)(made())
