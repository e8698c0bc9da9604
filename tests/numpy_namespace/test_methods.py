"""The methods and attributes of arrays beside those of NumPy's, and the attributes of dtypes."""

from __future__ import annotations

import inspect
import math
import sys
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.testing import has

from ..oracle import ALL, assert_same
from .calls import NEWER
from .tables import assert_agrees

PLAIN = np.array([[4.0, -1.5, 2.25], [0.5, 3.0, -1.5]])
WHOLE = np.array([[3, 1, 2], [0, 5, 1]])
DEEP = np.arange(24.0).reshape(2, 3, 4)
MASK = PLAIN > 1

# -- signatures -------------------------------------------------------------------------------------------------------

# Methods whose errors name a replacement.
ELSEWHERE = {"byteswap", "dump", "dumps", "getfield", "setfield", "tofile"}
ABSENT = np._NoValue
# Keyword arguments from NumPy's docstrings for the methods whose signatures end with ``**kwargs``. If they have no
# default value, ours is that of NumPy's functions.
KEYWORDS: dict[str, dict[str, Any]] = {
    **{name: {"keepdims": False, "initial": ABSENT, "where": True} for name in ("sum", "prod", "max", "min")},
    "mean": {"keepdims": False, "where": True},
    **{name: {"keepdims": False, "where": True, "mean": ABSENT} for name in ("std", "var")},
}
METHODS = [
    name
    for name in dir(np.ndarray)
    if not name.startswith("_") and callable(getattr(np.ndarray, name)) and name not in ELSEWHERE
]


@pytest.mark.parametrize("name", METHODS)
def test_a_method_has_numpys_parameters(name: str) -> None:
    theirs = list(inspect.signature(getattr(np.ndarray, name)).parameters.values())[1:]
    own = list(inspect.signature(getattr(ua.Array, name)).parameters.values())[1:]
    hidden = {each.name for each in theirs if each.kind is each.POSITIONAL_ONLY}
    wanted = {each.name: each.default for each in theirs if each.kind is not each.VAR_KEYWORD}
    wanted = {key: default for key, default in wanted.items() if key not in hidden}
    if name == "view":
        wanted = {"dtype": None, "type": None}
    if name in ("item", "transpose", "resize", "reshape"):
        wanted = {key: default for key, default in wanted.items() if key not in ("args", "axes", "shape", "new_shape")}
        assert own[0].kind is own[0].VAR_POSITIONAL
    if name == "choose":
        # NumPy's takes several arrays as well, whatever its signature says, and then ``out`` and ``mode`` by name.
        assert own[0].kind is own[0].VAR_POSITIONAL
        del wanted["choices"]
        theirs = []
    wanted |= KEYWORDS.get(name, {})
    wanted |= dict.fromkeys(NEWER.get(name, ()))
    given = {each.name: each.default for each in own}
    assert {key: given[key] for key in wanted} == wanted
    places = [each.name for each in theirs if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    for mine, place in zip(own, places, strict=False):
        assert mine.name == place or place in hidden
    assert all(each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD) for each in own[: len(places)])


# -- results ----------------------------------------------------------------------------------------------------------

CASES: list[tuple[str, Any, tuple[Any, ...], dict[str, Any]]] = [
    *[(name, PLAIN, (), {}) for name in ("sum", "prod", "mean", "std", "var", "max", "min", "all", "any")],
    *[(name, PLAIN, (0, None, None), {}) for name in ("sum", "prod", "mean", "std", "var")],
    *[(name, PLAIN, (1, None), {"keepdims": True}) for name in ("max", "min", "all", "any")],
    *[(name, PLAIN, ((0, 1),), {"keepdims": True}) for name in ("sum", "mean", "max", "any")],
    *[(name, PLAIN, (1,), {"where": MASK}) for name in ("sum", "prod", "mean", "all", "any")],
    *[(name, PLAIN, (0,), {"initial": 3.0}) for name in ("sum", "prod", "max", "min")],
    ("max", PLAIN, (), {"initial": -9.0, "where": MASK}),
    ("sum", WHOLE, (None, "float32"), {}),
    ("mean", WHOLE, (0, np.float32), {}),
    ("std", PLAIN, (1, None, None, 1, True), {}),
    ("var", PLAIN, (), {"ddof": 1, "where": PLAIN > 0}),
    ("var", WHOLE, (0, "float32"), {}),
    *[(name, PLAIN, (), {}) for name in ("argmax", "argmin", "cumsum", "cumprod", "argsort", "nonzero", "conj")],
    *[(name, PLAIN, (0,), {}) for name in ("argmax", "argmin", "cumsum", "cumprod", "argsort")],
    ("argmax", PLAIN, (1,), {"keepdims": True}),
    ("argmax", PLAIN, (2,), {}),
    ("cumsum", WHOLE, (1, "float64"), {}),
    ("argsort", WHOLE, (-1, "stable"), {}),
    ("argsort", WHOLE, (None,), {"stable": True}),
    ("clip", PLAIN, (0, 2), {}),
    ("clip", PLAIN, (None, 2.5), {}),
    ("round", PLAIN, (), {}),
    ("conjugate", PLAIN + 1j, (), {}),
    ("searchsorted", np.array([1.0, 3.0, 4.0]), ([0.0, 3.0, 9.0],), {}),
    ("searchsorted", np.array([1.0, 3.0, 4.0]), (3.0, "right"), {}),
    ("searchsorted", np.array([4.0, 1.0, 3.0]), (PLAIN, "left", np.array([1, 2, 0])), {}),
    ("take", PLAIN, (1, 0), {}),
    ("take", PLAIN, ([0, 5],), {}),
    ("take", PLAIN, ([0, 7, -9],), {"mode": "clip"}),
    ("take", PLAIN, ([0, 7, -9], 1), {"mode": "wrap"}),
    ("take", PLAIN, ([9],), {}),
    ("repeat", PLAIN, (2, 0), {}),
    ("repeat", PLAIN, (2,), {}),
    ("repeat", PLAIN, ([1, 0, 2], 1), {}),
    ("choose", np.array([0, 1, 1, 0]), ([np.arange(4.0), -np.arange(4.0)],), {}),
    ("choose", np.array([0, 3]), ([[1, 2], [3, 4]],), {"mode": "clip"}),
    ("choose", np.array([0, 3]), ([[1, 2], [3, 4]],), {}),
    ("compress", PLAIN, ([True, False, True], 1), {}),
    ("compress", PLAIN, ([0, 1, 0, 1],), {}),
    ("diagonal", DEEP, (), {}),
    ("diagonal", DEEP, (1, 2, 1), {}),
    ("trace", DEEP, (), {}),
    ("trace", WHOLE, (1,), {"dtype": "float32"}),
    ("dot", PLAIN, (WHOLE.T,), {}),
    ("dot", PLAIN, (2,), {}),
    ("dot", DEEP, (np.ones((4, 2)),), {}),
    ("swapaxes", DEEP, (0, 2), {}),
    ("swapaxes", DEEP, (0, 3), {}),
    ("transpose", DEEP, (1, 0, 2), {}),
    ("transpose", DEEP, ((2, 0, 1),), {}),
    ("transpose", DEEP, (None,), {}),
    *[("reshape", DEEP, (4, -1), {"order": order}) for order in ("C", "F", "A")],
    *[("reshape", np.arange(6), (2, 3), {"order": order}) for order in ("F", "A", "f")],
    ("reshape", DEEP, ((6, 4),), {}),
    ("reshape", DEEP, (5, -1), {"order": "F"}),
    ("reshape", DEEP, (6, 4), {"order": "K"}),
    *[(name, DEEP, (order,), {}) for name in ("ravel", "flatten") for order in ("C", "F", "A", "K")],
    ("ravel", DEEP, ("X",), {}),
    ("squeeze", DEEP[:, :1], (1,), {}),
    ("astype", PLAIN, (np.int32, "C", "unsafe", True, True), {}),
    ("astype", PLAIN, ("float32",), {"casting": "same_kind"}),
    ("astype", PLAIN, (int,), {"casting": "safe"}),
    ("astype", WHOLE, ("c16",), {"copy": False}),
    ("copy", PLAIN, ("F",), {}),
    ("item", PLAIN, (1, 2), {}),
    ("item", PLAIN, (4,), {}),
    ("tolist", WHOLE, (), {}),
    ("tobytes", PLAIN, (), {}),
    ("tobytes", PLAIN, ("F",), {}),
    ("view", PLAIN, (), {}),
    ("view", PLAIN, (np.float64,), {}),
    ("__divmod__", PLAIN, (0.75,), {}),
    ("__rdivmod__", WHOLE + 1, (7,), {}),
]


@pytest.mark.parametrize("turned", [False, True], ids=["plain", "transposed"])
@pytest.mark.parametrize(("name", "x", "args", "kwargs"), CASES, ids=[f"{c[0]}-{i}" for i, c in enumerate(CASES)])
def test_a_method_gives_numpys_result(backend: str, name: str, x: Any, args: Any, kwargs: Any, turned: bool) -> None:
    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(x.T if turned else x, name)(*args, **kwargs)

    assert_agrees(call, call, np.ascontiguousarray(x.T) if turned else x, *args, **kwargs)


WRITES: list[tuple[str, Any, tuple[Any, ...], dict[str, Any]]] = [
    ("sort", PLAIN, (), {}),
    ("sort", PLAIN, (0,), {"kind": "stable"}),
    ("sort", PLAIN, (5,), {}),
    ("sort", PLAIN, (0, None, "field"), {}),
    ("put", WHOLE, ([0, -1], [70, 80]), {}),
    ("put", WHOLE, ([0, 9], 7, "wrap"), {}),
    ("put", WHOLE, ([99], 7), {}),
    ("fill", WHOLE, (2,), {}),
]


@pytest.mark.parametrize("view", [lambda x: x, lambda x: x[:, ::-1], lambda x: x.T.copy().T], ids=["all", "flip", "F"])
@pytest.mark.parametrize(("name", "x", "args", "kwargs"), WRITES, ids=[f"{w[0]}-{i}" for i, w in enumerate(WRITES)])
def test_a_method_that_writes(backend: str, name: str, x: Any, args: Any, kwargs: Any, view: Any) -> None:
    def call(x: Any) -> Any:
        x = x.copy()
        assert getattr(view(x), name)(*args, **kwargs) is None
        return x

    assert_agrees(call, call, x)


@pytest.mark.parametrize("axis", [0, -1])
def test_partitions(backend: str, axis: int) -> None:
    x = ua.asarray(PLAIN, copy=True)
    places = x.argpartition(1, axis)
    for found in (ua.take_along_axis(x, places, axis=axis), x.copy()):
        if found.tolist() == PLAIN.tolist():
            found.partition(1, axis)
        middle = np.partition(PLAIN, 1, axis).take(1, axis)
        assert_same(found.take(1, axis), middle)
        assert_same(ua.sort(found, axis=axis), np.sort(PLAIN, axis))
    with pytest.raises(ValueError, match="partition"):
        x.partition(7)


def test_out_of_another_dtype(backend: str) -> None:
    x, out = ua.asarray(PLAIN), ua.zeros(3, dtype="float32")
    assert x.sum(0, None, out) is out
    assert_same(out, PLAIN.sum(0).astype("float32"))
    assert x.max(0, out) is out
    with pytest.raises(TypeError):
        x.sum(0, out=ua.zeros(3, dtype="int32"))


def test_views_of_methods_see_writes(backend: str) -> None:
    for view in (lambda x: x.view(), lambda x: x.swapaxes(0, 1), lambda x: x.ravel("F").reshape(2, 3, order="F")):
        values = np.array(PLAIN, order="F" if view(PLAIN).shape == (2, 3) else "C")
        x = ua.asarray(PLAIN, copy=True)
        shown = view(x)
        if not ua.shares_memory(shown, x):
            continue
        shown[0, 0] = 99
        values[0, 0] = 99
        assert_same(x, values)
    with pytest.raises(ValueError, match="read-only"):
        ua.asarray(DEEP).diagonal()[0, 0] = 1


def test_a_shape_is_assigned(backend: str) -> None:
    x = ua.asarray(np.arange(12), copy=True)
    x.shape = 3, -1
    assert_same(x, np.arange(12).reshape(3, -1))
    x.shape = 2, 6
    values = np.arange(12).reshape(2, 6)
    view, shown = x[1], values[1].reshape(3, 2)
    view.shape = 3, 2
    view[0, 1] = 99
    shown[0, 1] = 99
    assert_same(view, shown)
    assert_same(x, values)
    x[0] = 7
    assert_same(view, shown)
    one = ua.asarray([5, 6])[1]
    one.shape = (1, 1)
    assert_same(one + 1, np.array([[7]]))
    with pytest.raises(ValueError, match=r"\(5,\)"):
        x.shape = 5
    with pytest.raises(AttributeError, match="reshape"):
        x.T.shape = 12
    assert x.shape == (2, 6)


def test_a_shape_is_not_assigned_where_views_follow_it(backend: str) -> None:
    x = ua.asarray(PLAIN, copy=True)
    view = x[0]
    if not has(backend, "writes"):
        with pytest.raises(AttributeError, match=r"x = x\.reshape"):
            x.shape = 6
        assert x.shape == (2, 3)
    else:
        x.shape = 6
        x[1] = 50
    assert_same(view, x.ravel()[:3].to_numpy())

    def assigned(y: ua.Array) -> ua.Array:
        y = y + 1
        y.shape = 6
        return y

    with pytest.raises(ua.errors.TracedMutationError, match="reshape"):
        ua.compile(assigned)(ua.asarray(PLAIN))


# -- memory, numbers and dtypes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "view", [lambda x: x, lambda x: x.T, lambda x: x[:, ::2], lambda x: x[1], lambda x: x[:, 1, 1]]
)
def test_strides_and_flags(backend: str, view: Any) -> None:
    values, x = view(np.array(DEEP)), view(ua.asarray(DEEP, copy=True))
    assert (x.nbytes, x.itemsize, x.size, x.ndim) == (values.nbytes, values.itemsize, values.size, values.ndim)
    assert x.strides == values.strides
    for name in ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE", "ALIGNED", "C", "F", "W", "CA", "FNC", "FORC"):
        assert x.flags[name] == values.flags[name], name
    assert x.flags.writeable is True
    assert x.flags.carray is values.flags.carray
    assert repr(x.flags) == str(values.flags).rstrip()
    assert x.flags == x.flags
    with pytest.raises(ValueError, match="can't be set"):
        x.flags.owndata = False
    with pytest.raises(KeyError):
        x.flags["nothing"]


def test_flags_of_what_is_read_only(backend: str) -> None:
    x = ua.broadcast_to(ua.zeros(1), (3,))
    assert not x.flags.writeable
    assert not x.flags.owndata


def test_python_rounds_numbers(backend: str) -> None:
    x = ua.asarray(2.567)
    assert round(x) == 3
    assert type(round(x)) is int
    assert math.floor(x) == 2
    assert math.ceil(x) == 3
    with pytest.raises(TypeError, match=r"\(2,\)"):
        round(ua.zeros(2), 1)  # type: ignore[call-overload]


@pytest.mark.parametrize("name", ALL)
def test_dtypes_have_the_attributes_of_numpys(name: str) -> None:
    dtype = getattr(ua, name)
    plain = dtype.dtype
    for each in ("alignment", "byteorder", "char", "isnative", "itemsize", "num", "str", "type", "names", "shape"):
        assert getattr(dtype, each) == getattr(plain, each)
    assert dtype.newbyteorder("=") == plain
    assert isinstance(dtype.type(1), np.generic)
    with pytest.raises(AttributeError):
        dtype.nothing


def test_memory_is_counted_where_it_is_owned(backend: str) -> None:
    x = ua.zeros(1000)
    assert sys.getsizeof(x) > x.nbytes
    assert sys.getsizeof(x[1:]) < x.nbytes
