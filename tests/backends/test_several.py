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


ONE = (
    *(
        "abs",
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atanh",
        "ceil",
        "cos",
        "cosh",
        "exp",
        "expm1",
        "floor",
        "isnan",
    ),
    *("log", "log10", "log1p", "log2", "negative", "positive", "reciprocal", "round", "sign", "sin", "sinh", "sqrt"),
    *("square", "tan", "tanh", "trunc"),
)
LEAVES: dict[str, Any] = {
    "a": np.random.default_rng(0).normal(size=37),
    "b": np.float32([[0.5, -0.0, 1e-40], [np.inf, np.nan, 1e30]]),
    "c": {"d": np.float64(0.75), "e": np.float16([0.1, -3.0, 6e4])},
}


def same(found: Any, wanted: Any) -> None:
    for x, y in zip(found.leaves(), wanted.leaves(), strict=True):
        assert x.dtype == y.dtype
        assert np.asarray(x).tobytes() == np.asarray(y).tobytes()


@pytest.mark.parametrize("name", ONE)
def test_repeated_functions_have_the_bits_of_each_leaf(backend: str, name: str) -> None:
    function = getattr(ua, name)
    c = ua.Container(LEAVES)
    with np.errstate(all="ignore"):
        wanted = c.map(lambda x: function(x))
        for _ in range(TIMES):
            found = function(c)
            same(found, wanted)
            same(c.map(function), wanted)
        # The results are the caller's own.
        found.a[:] = 0
        same(function(c), wanted)
        out = wanted.map(ua.zeros_like)
        assert function(c, out=out) is out
        same(out, wanted)


@pytest.mark.parametrize("update", [operator.add, operator.sub, operator.mul, operator.truediv])
def test_repeated_sums_of_containers_are_numpys(backend: str, update: Any) -> None:
    c, d = made(VALUES), made(VALUES)
    with np.errstate(all="ignore"):
        for _ in range(TIMES):
            found = update(c, d)
            for name, value in VALUES.items():
                np.testing.assert_array_equal(np.asarray(found[name]), update(value, value))


@pytest.mark.parametrize("update", [operator.add, operator.sub, operator.mul, operator.truediv])
def test_operands_stay_as_they_were(backend: str, update: Any) -> None:
    # An engine that writes its arrays has a function that does so; another one's gives new arrays.
    if "jax" in ua.available_backends():
        ua.asarray(0.0, backend="jax")
    c, d = (ua.Container(a=ua.asarray([2.0, 4.0]), b=ua.asarray([8.0])) for _ in range(2))
    for _ in range(TIMES):
        found = update(c, d)
        assert c.a.tolist() == [2.0, 4.0]
        assert c.b.tolist() == [8.0]
        assert found.b.tolist() == [update(8.0, 8.0)]
        assert not ua.may_share_memory(found.a, c.a)


def test_views_and_lists_among_the_leaves(backend: str) -> None:
    x = ua.asarray([[1.0, 4.0], [9.0, 16.0]])
    c = ua.Container(a=x[:, 0], b=[x[0], ua.asarray([25.0, 36.0])], c=ua.asarray([49, 64]))
    for number in range(TIMES):
        x[0, 0] = float(number * number)
        root = ua.sqrt(c)
        assert root.to_dict()["b"][0].tolist() == [float(number), 2.0]
        assert root.a.tolist() == [float(number), 3.0]
        assert c.map(ua.sqrt).c.tolist() == [7.0, 8.0]


def test_functions_of_containers_in_traces(backend: str) -> None:
    c = ua.Container(a=ua.asarray([0.5, 1.0]), b=ua.asarray([2.0]))
    for _ in range(TIMES):
        ua.sin(c)
    slope = ua.grad(lambda x: ua.sum(ua.sin(x * c).a))(ua.asarray(1.0))
    np.testing.assert_allclose(float(slope), 0.5 * np.cos(0.5) + np.cos(1.0))
    np.testing.assert_allclose(np.asarray(ua.compile(lambda x: ua.sin(x).b)(c)), np.sin([2.0]))


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
