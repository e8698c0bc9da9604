"""Items of arrays in the compiled core and in Python: keys of every kind, and errors while an engine works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua
from unifyarr._core.arrays.items import get_item, set_item
from unifyarr._core.engines.registry import load
from unifyarr.testing import needs

from ..kernels import replace_plain_call, skip_without_core
from ..oracle import as_numpy, assert_same, few

VALUES = np.arange(24.0).reshape(2, 3, 4)


class Mine(ValueError):
    """Raised by a handler of a signal or a callback of NumPy's; engines raise its base class themselves."""


@few
@given(data=st.data())
def test_basic_keys(backend: str, data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from([(5,), (2, 3), (2, 3, 4), ()]))
    values = np.arange(np.prod(shape), dtype="f8").reshape(shape)
    key = data.draw(hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    x = ua.asarray(values.copy())
    for get in (lambda x: x[key], lambda x: get_item(x, key)):
        found = get(x)
        assert_same(found, np.asarray(values[key]))
        if np.ndim(values[key]):
            assert found.base is x
    wanted = values.copy()
    wanted[key] = 7.0
    for write in (lambda x: x.__setitem__(key, 7.0), lambda x: set_item(x, key, 7.0)):
        x = ua.asarray(values.copy())
        write(x)
        assert_same(x, wanted)


# Keys of an array of five integers, and the values that are written there, which may be read meanwhile.
SELECTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "a mask": lambda make, x: make(np.array([True, False, True, False, True])),
    "integers": lambda make, x: make(np.array([4, 0, -2])),
    "integers of one place": lambda make, x: make(np.array([1, 1, 1])),
    "itself": lambda make, x: x,
    "a view of it": lambda make, x: x[1:4],
    "small integers": lambda make, x: make(np.array([3, 1, 0], np.int8)),
    "unsigned integers": lambda make, x: make(np.array([3, 1, 0], np.uint8)),
    "none": lambda make, x: make(np.array([], np.int64)),
    "a 0-d array": lambda make, x: make(np.array(2)),
    "a 0-d mask": lambda make, x: make(np.array(True)),
    "out of bounds": lambda make, x: make(np.array([0, 7, 1])),
    "a long mask": lambda make, x: make(np.ones(7, bool)),
    "floats": lambda make, x: make(np.array([0.0, 1.0])),
}
STORED: dict[str, Callable[[Any, Any], Any]] = {
    "an integer": lambda make, x: 9,
    "a bool": lambda make, x: True,
    "three": lambda make, x: make(np.array([7, 8, 9])),
    "one": lambda make, x: make(np.array([7])),
    "seven": lambda make, x: make(np.arange(7)),
    "a view of it": lambda make, x: x[2:],
    "itself": lambda make, x: x,
}


@pytest.mark.parametrize("stored", STORED)
@pytest.mark.parametrize("selection", SELECTIONS)
def test_writes_by_arrays_are_numpys(backend: str, selection: str, stored: str) -> None:
    def written(make: Callable[[np.ndarray], Any]) -> tuple[Any, bool]:
        x = make(np.array([2, 0, 3, 1, 4]))
        try:
            x[SELECTIONS[selection](make, x)] = STORED[stored](make, x)
        except (IndexError, ValueError, TypeError):
            return x, False
        return x, True

    # NumPy reads a value in memory of the target before it writes.
    (found, done), (wanted, may) = written(ua.asarray), written(np.array)
    assert done == may
    assert_same(found, wanted)


WRONG: dict[str, Any] = {
    "out of bounds": (0, 3),
    "too many": (0, 0, 0, 0),
    "two ellipses": (..., ...),
    "a float": 1.0,
    "a slice of text": slice("a", None),
    "a text": "a",
    "far beyond": 2**70,
    "a step of none": slice(None, None, 0),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_keys_change_nothing(backend: str, name: str) -> None:
    x = ua.asarray(VALUES.copy())
    with pytest.raises((IndexError, TypeError, ValueError)):
        x[WRONG[name]]
    with pytest.raises((IndexError, TypeError, ValueError)):
        x[WRONG[name]] = 1.0
    assert_same(x, VALUES)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "float32", "float64", "complex64", "bool"])
@pytest.mark.parametrize(
    "value", [True, 1, 300, -1, 2.0, 1e300, 1j, complex(np.inf, -0.0), np.float32(2), np.int64(3)], ids=repr
)
def test_numbers_that_go_into_an_array(backend: str, dtype: str, value: Any) -> None:
    # As NumPy takes them where nothing is lost; else it's an error that leaves the array as it was.
    values = np.ones((2, 3), dtype)
    mask = np.asarray([[True, False, True], [False, False, True]])
    for key in ((0, slice(1, None)), (1, 2), slice(None), mask, np.asarray([1, -1])):
        x, wanted = ua.asarray(values.copy()), values.copy()
        is_weak = dtype != "bool" and not isinstance(value, np.generic)
        given = np.min_scalar_type(value) if is_weak else np.asarray(value).dtype
        try:
            x[key] = value
        except (TypeError, ValueError, OverflowError):
            assert not np.can_cast(given, dtype, "safe")
        else:
            with np.errstate(all="ignore"):
                wanted[key] = value
        assert_same(x, wanted)


@needs("writes", why="an engine whose items are written in place")
def test_writes_of_what_overlaps(backend: str) -> None:
    for key, part in [(slice(1, None), slice(None, -1)), (slice(None, -1), slice(1, None))]:
        values = np.arange(6.0)
        x = ua.asarray(values.copy())
        x[key] = x[part]
        values[key] = values[part].copy()
        assert_same(x, values)


def test_deleting(backend: str) -> None:
    x = ua.ones(3)
    with pytest.raises(ValueError, match="can't be deleted"):
        del x[0]


@pytest.fixture
def failing(backend: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[int]]:
    """Make the backend's fast path for items raise an error that isn't the engine's."""

    def fail(path: str) -> list[int]:
        calls: list[int] = []

        def fails(*operands: Any) -> Any:
            calls.append(len(operands))
            raise Mine("mine")

        monkeypatch.setitem(load(backend).items, path, fails)
        return calls

    return fail


def test_what_comes_while_an_item_is_read_comes_once(backend: str, failing: Callable[[str], list[int]]) -> None:
    x, calls = ua.ones(3), failing("get_item")
    # No engine takes this key at once, so that its own way is asked.
    with pytest.raises(Mine):
        x[np.int64(1)]
    assert calls == [2]


def test_what_comes_while_an_item_is_written_comes_once(backend: str, failing: Callable[[str], list[int]]) -> None:
    x, calls = ua.ones(3), failing("set_item")
    with pytest.raises(Mine):
        x[np.int64(1)] = 2.0
    assert calls == [3]


def test_elements_and_containers(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without_core()
    c = ua.Container(x=ua.ones(3), y=ua.ones(2))
    calls = []

    def fails(x: Any) -> Any:
        calls.append(x)
        raise Mine("mine")

    replace_plain_call(monkeypatch, load(backend), "exp", fails)
    with pytest.raises(Mine):
        ua.exp(c)
    assert len(calls) == 1


def test_what_numpy_calls_of_a_trap_comes_once() -> None:
    calls = []

    def trapped(kind: str, flag: int) -> None:
        calls.append(kind)
        raise Mine(kind)

    with ua.use_backend("numpy"):
        x = ua.asarray([1.0, 0.0])
        element, zero = x[0], x[1]
        for compute in (lambda: x / zero, lambda: element / zero, lambda: ua.divide(x, [0.0, 0.0])):
            calls.clear()
            with np.errstate(all="call", call=trapped), pytest.raises(Mine):
                compute()
            assert calls == ["divide by zero"]


@pytest.mark.parametrize("number", [2.5, -0.0, np.inf, np.nan, 1e300], ids=repr)
@pytest.mark.parametrize(
    "other", [2, 0, -3.5, True, 2**70, 0.0, np.float64(3), 1j, "element", "array", "row"], ids=repr
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_operators_of_elements(backend: str, number: float, other: Any) -> None:
    x = ua.asarray([number, 1.5, 0.0])
    beside = {"element": lambda x: x[1], "array": lambda x: np.asarray(1.5), "row": lambda x: as_numpy(x)}
    operations: dict[str, Callable[[Any, Any], Any]] = {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": lambda a, b: a / b,
        "**": lambda a, b: a**b,
        "<": lambda a, b: a < b,
        "==": lambda a, b: a == b,
    }
    one = x[0]
    two = beside[other](x) if isinstance(other, str) else other
    value = np.asarray(number)
    given = as_numpy(two) if isinstance(two, ua.Array) else two
    for operation in operations.values():
        for mine, theirs in [((one, two), (value, given)), ((two, one), (given, value))]:
            try:
                wanted = np.asarray(operation(*theirs))
            except (OverflowError, TypeError):
                with pytest.raises((OverflowError, TypeError)):
                    operation(*mine)
                continue
            assert_same(operation(*mine), wanted)


def test_an_element_in_place(backend: str) -> None:
    x = ua.asarray([2.0, 3.0])
    e = x[0]
    same = e
    e += 1.5
    e *= x[1]
    assert e is same
    assert_same(e, np.asarray(10.5))
    # On an engine with mutable arrays it's a number of its own, elsewhere a view.
    assert_same(x[1], np.asarray(3.0))


def test_conversions_of_elements(backend: str) -> None:
    x = ua.asarray([2.5, 0.0])
    assert float(x[0]) == 2.5
    assert [bool(each) for each in x] == [True, False]
    assert bool(x[0] > x[1])
    i = ua.asarray([3, 4])
    assert [*range(i[0])] == [0, 1, 2]
    assert int(i[1]) == 4
    with pytest.raises(TypeError):
        range(x[0])  # type: ignore[arg-type]
