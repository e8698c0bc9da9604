"""Updates of containers that an engine does in one call, when it has seen arrays of their types some times."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import unifyarr as ua

VALUES = {
    "a": np.arange(1.0, 5.0),
    "b": np.float32([[1.5, -0.0], [np.inf, np.nan]]),
    "c": np.float64(3),
    "d": 1j * np.ones(2),
}
UPDATES = {"+=": operator.iadd, "-=": operator.isub, "*=": operator.imul, "/=": operator.itruediv}
# More than any engine waits for.
TIMES = 8


def made(values: dict[str, Any]) -> ua.Container:
    return ua.Container({name: ua.asarray(value, copy=True) for name, value in values.items()})


@pytest.mark.parametrize("update", UPDATES)
def test_repeated_updates_are_numpys(backend: str, update: str) -> None:
    c, d, expected = made(VALUES), made(VALUES), {name: np.array(value) for name, value in VALUES.items()}
    view, leaves = c.a[1:3], c.leaves()
    with np.errstate(all="ignore"):
        for _ in range(TIMES):
            c = UPDATES[update](c, d)
            for name, value in VALUES.items():
                expected[name] = UPDATES[update](expected[name], value)
                np.testing.assert_array_equal(np.asarray(c[name]), expected[name])
    assert all(x is y for x, y in zip(c.leaves(), leaves, strict=True))
    assert view.tolist() == expected["a"][1:3].tolist()


def test_what_cant_be_written_changes_nothing(backend: str) -> None:
    c, d = made(VALUES), made(VALUES)
    wide = made(VALUES | {"c": np.ones(2)})
    for _ in range(TIMES):
        c += d
    before = {name: np.array(c[name]) for name in VALUES}
    for _ in range(TIMES):
        with pytest.raises(ValueError, match="shape"):
            c += wide
        for name, value in before.items():
            np.testing.assert_array_equal(np.asarray(c[name]), value)


def test_one_array_in_two_places_is_refused_each_time(backend: str) -> None:
    x = ua.ones(3)
    c, d = ua.Container(a=x, b=x), ua.Container(a=ua.ones(3), b=ua.ones(3))
    for _ in range(TIMES):
        with pytest.raises(ValueError, match="overlap"):
            c += d
        assert x.tolist() == [1.0] * 3
