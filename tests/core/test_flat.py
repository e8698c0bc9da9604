"""``x.flat``: NumPy's iterator over all elements, which reads copies and writes through, whatever the layout is."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from tests.natives import skip_without_derivatives
from tests.oracle import as_numpy

LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "plain": lambda x: x,
    "transposed": lambda x: x.T,
    "backward": lambda x: x[::-1].T,
    "spread": lambda x: x[:, ::2],
}
KEYS = [
    slice(None), slice(1, 3), slice(9, 3), slice(None, None, -2), ..., (slice(1, 3),), (), [1, 2], [-1, -2], [],
    np.asarray([[1, 2], [3, 0]]), [True, 1], np.asarray([True, False, True, False]), 3, -1, (1,), np.int64(2),
]  # fmt: skip
VALUES = [7, 2.5, [1, 2], [[9], [8], [7]], np.arange(12.0).reshape(3, 4), [], np.float32(1.5)]


def both(backend: str) -> tuple[np.ndarray, ua.Array]:
    values = np.arange(8).reshape(2, 4)
    return values, ua.asarray(values, backend=backend, copy=True)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_reading_by_keys_gives_copies(backend: str, layout: str) -> None:
    theirs, ours = map(LAYOUTS[layout], both(backend))
    count = theirs.size
    for key in KEYS:
        if isinstance(key, np.ndarray) and key.dtype.kind == "b":
            key = np.resize(key, count)
        found = ours.flat[key]
        np.testing.assert_array_equal(as_numpy(found), theirs.flat[key])
        found += 1
    np.testing.assert_array_equal(as_numpy(ours), theirs)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_writing_by_keys_repeats_values(backend: str, layout: str) -> None:
    values, x = both(backend)
    for key in KEYS:
        if isinstance(key, np.ndarray) and key.dtype.kind == "b":
            key = np.resize(key, LAYOUTS[layout](values).size)
        for value in VALUES:
            values[...] = np.arange(8).reshape(2, 4)
            x[...] = np.arange(8).reshape(2, 4)
            try:
                LAYOUTS[layout](values).flat[key] = value
            except (ValueError, IndexError) as error:
                with pytest.raises(type(error)):
                    LAYOUTS[layout](x).flat[key] = value
            else:
                LAYOUTS[layout](x).flat[key] = value
            np.testing.assert_array_equal(as_numpy(x), values, err_msg=f"{key} {value}")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("value", [3, [1, 2], np.arange(20), [], [[1.5], [2.5]]])
def test_assigning_to_flat(backend: str, layout: str, value: Any) -> None:
    values, x = both(backend)
    LAYOUTS[layout](values).flat = value
    LAYOUTS[layout](x).flat = value
    np.testing.assert_array_equal(as_numpy(x), values)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_going_through_it(backend: str, layout: str) -> None:
    theirs, ours = map(LAYOUTS[layout], both(backend))
    one, two = theirs.flat, ours.flat
    for _ in range(3):
        assert (two.index, two.coords) == (one.index, one.coords)
        assert int(next(two)) == next(one)
    assert [int(each) for each in two] == list(one)
    assert two.index == one.index == len(two)
    assert list(two) == []
    assert two.base is ours
    copied = two.copy()
    copied += 1
    np.testing.assert_array_equal(as_numpy(two), theirs.reshape(-1))


def test_what_was_written_is_read(backend: str) -> None:
    x = ua.asarray([[1, 2], [3, 4]], backend=backend)
    iterator = x.T.flat
    next(iterator)
    x[1, 0] = 9
    assert int(next(iterator)) == 9
    iterator[3] += 1
    assert x.tolist() == [[1, 2], [9, 5]]
    # A key begins again.
    assert iterator.index == 0


@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (1, 1, 1)])
def test_few_elements(backend: str, shape: tuple[int, ...]) -> None:
    x = ua.zeros(shape, backend=backend)
    x.flat[:] = [5]
    x.flat = [6]
    assert [float(each) for each in x.flat] == [6.0] * x.size
    assert x.shape == shape


WRONG: dict[str, tuple[type[Exception], Callable[[Any], Any]]] = {
    "no key": (IndexError, lambda x: operator.setitem(x.flat, (), 1)),
    "two indices": (IndexError, lambda x: x.flat[1, 2]),
    "None": (IndexError, lambda x: x.flat[None]),
    "bools in a list": (IndexError, lambda x: x.flat[[True, True]]),
    "a float": (IndexError, lambda x: x.flat[[1.5]]),
    "a float alone": (IndexError, lambda x: x.flat[1.5]),
    "text": (IndexError, lambda x: x.flat["a"]),
    "outside": (IndexError, lambda x: x.flat[8]),
    "outside, written": (IndexError, lambda x: operator.setitem(x.flat, -9, 1)),
    "a mask of another length": (IndexError, lambda x: x.flat[np.asarray([True])]),
    "a sequence for an element": (ValueError, lambda x: operator.setitem(x.flat, 1, [4, 5])),
    "deleting": (TypeError, lambda x: operator.delitem(x.flat, 1)),
    "deleting from the array": (ValueError, lambda x: operator.delitem(x, 1)),
    "the index": (AttributeError, lambda x: setattr(x.flat, "index", 3)),
    "a complex number": (TypeError, lambda x: operator.setitem(x.flat, [1, 2], 1j)),
    "another one": (TypeError, lambda x: type(x.flat)()),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_it_refuses(backend: str, name: str) -> None:
    values, x = both(backend)
    error, call = WRONG[name]
    with pytest.raises(error):
        call(x)
    np.testing.assert_array_equal(as_numpy(x), values)


def test_a_read_only_array_is_not_written(backend: str) -> None:
    x = ua.broadcast_to(ua.zeros(2, backend=backend), (3, 2))
    with pytest.raises(ValueError, match="read-only"):
        x.flat[0:2] = 1


def test_functions_take_it_as_an_array(backend: str) -> None:
    x = ua.asarray([[1.0, 2.0], [3.0, 4.0]], backend=backend)
    assert float(ua.sum(x.T.flat)) == 10
    assert (x.T.flat * 2).tolist() == [2.0, 6.0, 4.0, 8.0]
    assert ua.concat([x.flat, x.T.flat]).tolist() == [1.0, 2.0, 3.0, 4.0, 1.0, 3.0, 2.0, 4.0]


def test_it_is_traced_and_differentiated(backend: str) -> None:
    skip_without_derivatives(backend)

    def f(x: Any) -> Any:
        y = x * 1.0
        y.T.flat[1:3] = [10.0]
        return ua.sum(y.T.flat[:2] * y)

    x = ua.asarray([[1.0, 2.0], [3.0, 4.0]], backend=backend)
    assert float(ua.compile(f)(x)) == float(f(x))
    # y is [[1, 10], [10, 4]], of which the two numbers of the diagonal come from x.
    assert ua.grad(f)(x).tolist() == [[12.0, 0.0], [0.0, 10.0]]
