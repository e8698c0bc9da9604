"""The array object: its attributes, conversions, printing, copies and methods."""

from __future__ import annotations

import base64
import copy
import ctypes
import operator
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.testing import has, needs

from .arrays import each_view, pair
from .engines import default_device
from .natives import variable
from .oracle import ALL, assert_same

# -- attributes -----------------------------------------------------------------------------------------------------


@each_view
@pytest.mark.parametrize("dtype", ALL)
def test_attributes_are_numpys(backend: str, dtype: str, view: Callable[[Any], Any]) -> None:
    values, x = pair(dtype=dtype)
    expected, actual = view(values), view(x)
    for name in ("shape", "ndim", "size", "dtype", "itemsize", "nbytes"):
        assert getattr(actual, name) == getattr(expected, name), name
        if name != "dtype":
            assert name == "dtype" or type(getattr(actual, name)) is type(getattr(expected, name)), name
    assert actual.backend == backend
    assert actual.device == default_device(backend)
    assert actual.dtype is getattr(ua, dtype)
    assert len(actual) == len(expected)
    for name in ("T", "mT", "real"):
        assert_same(getattr(actual, name), getattr(expected, name))
    if dtype != "bfloat16":
        assert_same(actual.imag, expected.imag)


def test_attributes_of_0d_arrays(backend: str) -> None:
    x = ua.asarray(2.5)
    assert (x.shape, x.ndim, x.size, x.nbytes) == ((), 0, 1, 8)
    assert_same(x.T, np.asarray(2.5))
    with pytest.raises(TypeError):
        len(x)
    with pytest.raises(TypeError):
        iter(x)
    with warnings.catch_warnings():
        # torch warns of such a transpose once in a process.
        warnings.simplefilter("ignore")
        for _ in range(2):
            with pytest.raises(ValueError, match=r"dimension|axes"):
                _ = x.mT


def test_the_native_array_is_the_engines(backend: str) -> None:
    for x in (ua.zeros(3), ua.zeros((2, 3)).T, ua.zeros(3)[::-1], ua.asarray(1)):
        root = type(x.native).__module__.split(".")[0]
        assert root in {"jax": {"jaxlib", "jax"}}.get(backend, {backend})


def test_to_device(backend: str) -> None:
    x = ua.zeros(3)
    assert x.to_device(default_device(backend)) is x
    assert x.to_device(x.device) is x
    with pytest.raises(ua.errors.DeviceError):
        x.to_device("moon:3")
    with pytest.raises(ValueError, match="stream"):
        x.to_device("cpu", stream=1)


def test_the_namespace(backend: str) -> None:
    x, y = ua.zeros(3), ua.ones(2)[::-1]
    xp = x.__array_namespace__()
    assert xp is y.__array_namespace__()
    assert xp is x.__array_namespace__(api_version="2025.12")
    assert xp.__name__ == f"unifyarr.on.{backend}"
    assert {xp: 1}[xp] == 1
    assert xp.__array_api_version__ == "2025.12"
    assert xp.__array_namespace_info__().default_device() == default_device(backend)
    assert_same(xp.sum(xp.asarray([1.5, 2.0])), np.float64(3.5))
    assert set(ua.__all__) <= set(dir(xp))
    for name in ua.__all__:
        assert hasattr(xp, name), name
    assert pickle.loads(pickle.dumps(xp)) is xp
    with pytest.raises(ValueError, match="api_version"):
        x.__array_namespace__(api_version="1999.01")


def test_arrays_are_unhashable_and_have_no_other_attributes(backend: str) -> None:
    x = ua.zeros(3)
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)
    with pytest.raises(TypeError, match="unhashable"):
        {x}
    with pytest.raises(AttributeError):
        x.note = "a slot"  # type: ignore[attr-defined]
    for name in ("dtype", "native", "base", "backend", "T", "strides", "flags"):
        with pytest.raises(AttributeError):
            setattr(x, name, None)


# -- scalars, iteration ---------------------------------------------------------------------------------------------

SCALARS: dict[str, Callable[[Any], Any]] = {
    "bool": bool,
    "int": int,
    "float": float,
    "complex": complex,
    "index": operator.index,
    "item": lambda x: x.item(),
    "tolist": lambda x: x.tolist(),
    "range": lambda x: list(range(x)),
}


@pytest.mark.parametrize("convert", SCALARS.values(), ids=SCALARS.keys())
@pytest.mark.parametrize("value", [True, 0, 3, -2, 2.5, float("inf"), 1 + 2j], ids=repr)
def test_0d_arrays_convert_as_numpys(backend: str, convert: Callable[[Any], Any], value: Any) -> None:
    values = np.asarray(value)
    try:
        expected = convert(values)
    except (TypeError, OverflowError):
        with pytest.raises((TypeError, OverflowError)):
            convert(ua.asarray(value))
        return
    actual = convert(ua.asarray(value))
    assert actual == expected
    assert type(actual) is type(expected)


def test_arrays_of_an_axis_dont_convert(backend: str) -> None:
    for x in (ua.zeros(2), ua.zeros((1, 2)), ua.zeros(0)):
        for convert in (bool, int, float, complex, operator.index):
            with pytest.raises((TypeError, ValueError)):
                convert(x)
        with pytest.raises(ValueError):  # noqa: PT011
            x.item()
    assert bool(ua.ones((1, 1))) is True
    # NumPy deprecates it for numbers.
    with pytest.raises(TypeError, match="0-d"):
        float(ua.ones(1))


@pytest.mark.parametrize("dtype", ALL)
@each_view
def test_tolist_and_item_give_pythons_scalars(backend: str, dtype: str, view: Callable[[Any], Any]) -> None:
    values, x = pair(dtype=dtype)
    assert view(x).tolist() == view(values).tolist()
    assert view(x).item(1, 0) == view(values).item(1, 0) if view(values).shape[0] > 1 else True
    assert view(x)[0, 0].item() == view(values)[0, 0].item()
    assert type(view(x)[0, 0].item()) is type(view(values)[0, 0].item())


@each_view
def test_iteration_gives_views_of_rows(backend: str, view: Callable[[Any], Any]) -> None:
    values, x = pair()
    for row, expected in zip(view(x), view(values), strict=True):
        assert row.base is x
        assert_same(row, expected)
        row[0] = -1
        expected[0] = -1
    assert_same(x, values)
    assert [float(each) for each in x[0]] == values[0].tolist()
    first, second = ua.asarray([1, 2])
    assert (first.item(), second.item()) == (1, 2)
    with pytest.raises(TypeError):
        list(ua.asarray(1))


def test_in(backend: str) -> None:
    x = ua.asarray([[1, 2], [3, 4]])
    assert 3 in x
    assert 5 not in x
    assert np.int64(2) in x


# -- printing -------------------------------------------------------------------------------------------------------

PRINTED = [
    np.array([1.5, 2.0, -0.25]),
    np.arange(6).reshape(2, 3),
    np.array([1, 2], "int8"),
    np.array([True, False]),
    np.array([1 + 2j]),
    np.array(2.5),
    np.array(3),
    np.zeros((0, 3)),
    np.array([1.5], "float32"),
    np.array([np.nan, np.inf, -0.0]),
    np.arange(2000.0),
    np.array([1, 2], "uint64"),
]


@pytest.mark.parametrize("values", PRINTED, ids=lambda values: f"{values.dtype}{values.shape}")
def test_arrays_print_as_numpys(backend: str, values: np.ndarray) -> None:
    x = ua.asarray(values, copy=True)
    assert repr(x) == repr(values)
    assert str(x) == str(values)
    assert f"{x}" == f"{values}"
    if values.ndim:
        assert repr(x[::-1]) == repr(values[::-1])
        assert str(x.T) == str(values.T)


def test_repr_names_the_backend_where_it_isnt_the_current_one(backend: str) -> None:
    x = ua.asarray([1, 2])
    other = "numpy" if backend != "numpy" else next((name for name in ua.available_backends() if name != "numpy"), "")
    if not other:
        pytest.skip("one backend alone is installed")
    with ua.use_backend(other):
        if not has(backend, "values"):
            assert repr(x.astype("int8")) == f"array(<int8 of shape (2,), not computed>, backend={backend!r})"
            ua.compute(x)
        assert repr(x) == f"array([1, 2], backend={backend!r})"
        assert repr(ua.compute(x.astype("int8"))) == f"array([1, 2], dtype=int8, backend={backend!r})"
        assert str(x) == "[1 2]"


@pytest.mark.parametrize(
    ("value", "specification"), [(2.5, ".3f"), (2.5, "e"), (7, "d"), (7, "04"), (7, "x"), (True, ""), (1 + 2j, ".1f")]
)
def test_0d_arrays_format_as_numbers(backend: str, value: Any, specification: str) -> None:
    assert format(ua.asarray(value), specification) == format(value, specification)
    assert f"{ua.sum(ua.asarray([value])):{specification}}" == format(np.sum(np.asarray([value])).item(), specification)


@needs("transformations", why="NumPy has no transformations")
def test_an_array_of_unknown_values_prints_what_is_known(backend: str) -> None:
    printed: list[str] = []

    def program(native: Any) -> Any:
        x = ua.asarray(native)
        printed.extend([repr(x), str(x).replace(repr(x), repr(x))])
        return native

    native = ua.asarray([1.0, 2.0]).native
    if backend == "torch":
        import torch

        torch.func.vmap(program)(torch.stack([native, native]))
    elif backend == "jax":
        import jax

        jax.jit(program)(native)
    else:
        import tensorflow as tf

        tf.function(program, autograph=False)(native)
    assert printed == ["array(<float64 of shape (2,), traced>)"] * 2


def test_numpys_print_options_hold(backend: str) -> None:
    with np.printoptions(precision=2, suppress=True):
        assert str(ua.asarray([1 / 3, 2.0])) == "[0.33 2.  ]"


# -- copies and pickles ---------------------------------------------------------------------------------------------

# Pickles of version 0.1 of ``asarray([1.5, 2.0])``, and of a container of ``asarray([1.5])``.
PICKLED = (
    "gASVwwAAAAAAAACMDnVuaWZ5YXJyLmFycmF5lIwIX3JlYnVpbGSUk5SMFm51bXB5Ll9jb3JlLm11bHRpYXJyYXmUjAxfcmVjb25zdHJ1Y3SU"
    "k5SMBW51bXB5lIwHbmRhcnJheZSTlEsAhZRDAWKUh5RSlChLAUsChZRoBowFZHR5cGWUk5SMAmY4lImIh5RSlChLA4wBPJROTk5K/////0r/"
    "////SwB0lGKJQxAAAAAAAAD4PwAAAAAAAABAlHSUYmgGjANjcHWUh5RSlC4="
)
PICKLED_CONTAINER = (
    "gASVFwEAAAAAAACMDnVuaWZ5YXJyLl90cmVllIwEbWFkZZSTlIwSdW5pZnlhcnIuY29udGFpbmVylIwJQ29udGFpbmVylJOUfZSMAWGUjA51"
    "bmlmeWFyci5hcnJheZSMCF9yZWJ1aWxklJOUjBZudW1weS5fY29yZS5tdWx0aWFycmF5lIwMX3JlY29uc3RydWN0lJOUjAVudW1weZSMB25k"
    "YXJyYXmUk5RLAIWUQwFilIeUUpQoSwFLAYWUaA6MBWR0eXBllJOUjAJmOJSJiIeUUpQoSwOMATyUTk5OSv////9K/////0sAdJRiiUMIAAAA"
    "AAAA+D+UdJRiaA6MA2NwdZSHlFKUc4wIYnVpbHRpbnOUjARkaWN0lJOUh5RSlC4="
)


def test_pickles_of_version_0_1_are_read() -> None:
    x = pickle.loads(base64.b64decode(PICKLED))
    assert type(x) is ua.Array
    assert x.tolist() == [1.5, 2.0]
    assert pickle.loads(base64.b64decode(PICKLED_CONTAINER)).a.tolist() == [1.5]


def test_pickles_name_no_private_module() -> None:
    assert b"_core" not in pickle.dumps(ua.asarray([1.5, 2.0])).replace(b"numpy._core", b"")
    assert ua.Array.__module__ == "unifyarr"


COPIES: dict[str, Callable[[Any], Any]] = {
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
    "x.copy()": lambda x: x.copy(),
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "asarray(copy=True)": lambda x: ua.asarray(x, copy=True),
    "astype": lambda x: x.astype(x.dtype),
    "flatten": lambda x: x.flatten().reshape(x.shape),
    "+0": lambda x: +x,
}


@each_view
@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES.keys())
def test_copies_are_independent(backend: str, duplicate: Callable[[Any], Any], view: Callable[[Any], Any]) -> None:
    values, x = pair()
    original = view(x)
    other = duplicate(original)
    assert other.backend == backend
    assert_same(other, view(values))
    other[...] = 0
    assert_same(x, values)
    original += 1
    assert_same(other, np.zeros_like(view(values)))


@pytest.mark.parametrize("dtype", ALL)
def test_every_dtype_pickles(backend: str, dtype: str) -> None:
    values, x = pair(dtype=dtype)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        back = pickle.loads(pickle.dumps(x, protocol))
        assert back.backend == backend
        assert_same(back, values)


def test_a_deep_copy_of_a_nest_keeps_one_array_one(backend: str) -> None:
    x = ua.zeros(3)
    first, second = copy.deepcopy([x, x])
    first[0] = 1
    assert second[0].item() == 1
    assert x[0].item() == 0


def test_a_copy_of_a_variable_is_no_variable(backend: str) -> None:
    x = ua.asarray(variable(backend, [1.0, 2.0]), backend=backend)
    for duplicate in (copy.copy, copy.deepcopy, lambda x: x.copy(), lambda x: pickle.loads(pickle.dumps(x))):
        other = duplicate(x)
        x[0] = 9
        assert other.tolist() == [1, 2]
        x[0] = 1


# -- methods --------------------------------------------------------------------------------------------------------

METHODS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    *[(name, (), {}) for name in ("sum", "prod", "mean", "max", "min", "all", "any", "std", "var", "argmax", "argmin")],
    *[(name, (), {"axis": 0}) for name in ("sum", "prod", "mean", "max", "min", "all", "any", "std", "var", "argmin")],
    *[(name, (1,), {"keepdims": True}) for name in ("sum", "mean", "max", "any")],
    ("sum", (), {"dtype": "float32"}),
    ("std", (), {"axis": 1}),
    ("reshape", (3, 2), {}),
    ("reshape", ((3, 2),), {}),
    ("reshape", (-1,), {}),
    ("transpose", (), {}),
    ("transpose", (1, 0), {}),
    ("transpose", ((1, 0),), {}),
    ("ravel", (), {}),
    ("flatten", (), {}),
    ("squeeze", (), {}),
    ("astype", ("float32",), {}),
    ("astype", (np.int8,), {}),
    ("clip", (2, 4), {}),
    ("clip", (), {"max": 3.5}),
    ("round", (), {}),
    ("conj", (), {}),
    ("take", ([1, 0],), {"axis": 1}),
    ("repeat", (2,), {"axis": 0}),
    ("copy", (), {}),
]


@each_view
@pytest.mark.parametrize(("name", "args", "kwargs"), METHODS, ids=[f"{m[0]}{m[1]}{m[2]}" for m in METHODS])
def test_methods_are_numpys(
    backend: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], view: Callable[[Any], Any]
) -> None:
    values, x = pair()
    if view(values).shape[0] == 1 and name == "reshape" and args != (-1,):
        args = ((1, 3, 1),)
    assert_same(getattr(view(x), name)(*args, **kwargs), getattr(view(values), name)(*args, **kwargs))


def test_methods_that_write(backend: str) -> None:
    values, x = pair()
    x.fill(7)
    values.fill(7)
    assert_same(x, values)
    out = ua.zeros(3)
    assert x.sum(axis=0, out=out) is out
    assert_same(out, values.sum(axis=0))
    assert x.clip(0, 3, out=x) is x
    assert_same(x, values.clip(0, 3))


def test_nonzero_and_correction(backend: str) -> None:
    values, x = pair()
    for actual, expected in zip((x > 2).nonzero(), (values > 2).nonzero(), strict=True):
        assert_same(actual, expected)
    assert_same(x.std(correction=1), values.std(ddof=1))
    assert_same(x.var(axis=1, correction=1, keepdims=True), values.var(axis=1, ddof=1, keepdims=True))


def test_arrays_are_sequences_to_c(backend: str) -> None:
    """pandas and torch ask ``PySequence_Check`` before they look at an object as an array."""
    is_sequence = ctypes.pythonapi.PySequence_Check
    is_sequence.argtypes = [ctypes.py_object]
    assert all(map(is_sequence, (ua.zeros(3), ua.zeros((2, 3))[0], ua.zeros(()))))
