"""The array object: what it is, its operators and methods, and how it meets Python, NumPy and other libraries."""

from __future__ import annotations

import contextlib
import copy
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua

from .natives import IMMUTABLE, native, skip_unless, variable
from .oracle import ALL, COMPLEX, FLOATS, INTEGERS, STANDARD, as_numpy, assert_same

VIEWS: dict[str, Callable[[Any], Any]] = {
    "array": lambda x: x,
    "tail": lambda x: x[1:],
    "reversed": lambda x: x[::-1],
    "transposed": lambda x: x.T,
}
each_view = pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS.keys())


def pair(shape: tuple[int, ...] = (2, 3), dtype: str = "float64") -> tuple[np.ndarray, ua.Array]:
    """Return NumPy's array and ours, of equal values in separate memory."""
    values = np.arange(1, 1 + np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    return values, ua.asarray(values, copy=True)


# -- attributes -----------------------------------------------------------------------------------------------------


@each_view
@pytest.mark.parametrize("dtype", ALL)
def test_attributes_are_numpys(backend: str, dtype: str, view: Callable[[Any], Any]) -> None:
    values, x = pair(dtype=dtype)
    expected, actual = view(values), view(x)
    for name in ("shape", "ndim", "size", "dtype", "itemsize", "nbytes"):
        assert getattr(actual, name) == getattr(expected, name), name
        assert type(getattr(actual, name)) is type(getattr(expected, name)), name
    assert actual.backend == backend
    assert actual.device == "cpu"
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
    with pytest.raises(ValueError, match=r"dimension|axes"):
        _ = x.mT


def test_the_native_array_is_the_engines(backend: str) -> None:
    for x in (ua.zeros(3), ua.zeros((2, 3)).T, ua.zeros(3)[::-1], ua.asarray(1)):
        root = type(x.native).__module__.split(".")[0]
        assert root in {"numpy": {"numpy"}, "torch": {"torch"}, "jax": {"jaxlib", "jax"}}.get(backend, {"tensorflow"})


def test_to_device(backend: str) -> None:
    x = ua.zeros(3)
    assert x.to_device("cpu") is x
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
    assert xp.__name__ == f"unifyarr.{backend}"
    assert {xp: 1}[xp] == 1
    assert xp.__array_api_version__ == "2025.12"
    assert xp.__array_namespace_info__().default_device() == "cpu"
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
    for name in ("shape", "dtype", "native", "base", "backend", "T"):
        with pytest.raises(AttributeError):
            setattr(x, name, None)


# -- operators ------------------------------------------------------------------------------------------------------

ARITHMETIC = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"]
BITWISE = ["and_", "or_", "xor", "lshift", "rshift"]
COMPARISONS = ["lt", "le", "gt", "ge", "eq", "ne"]
UNARY = ["neg", "pos", "abs", "invert"]
OPERATORS = ARITHMETIC + BITWISE + COMPARISONS


def numpys(name: str, *operands: Any) -> Any:
    """Return what NumPy has for an operator, ``None`` where it has nothing."""
    # NumPy's ** takes a short cut for a scalar 2, whose dtype for bool isn't that of its function.
    function = np.pow if name == "pow" else getattr(operator, name)
    try:
        with np.errstate(all="ignore"):
            return function(*operands)
    except TypeError:
        return None


def assert_operator(name: str, expected: Any, *operands: Any) -> None:
    if expected is None:
        with pytest.raises(TypeError):
            getattr(operator, name)(*operands)
    else:
        assert_same(getattr(operator, name)(*operands), expected, what=f"{name}{operands}")


@pytest.mark.parametrize("dtype", STANDARD)
@pytest.mark.parametrize("name", OPERATORS)
def test_binary_operators(backend: str, name: str, dtype: str) -> None:
    one = np.array([[3, 1, 2], [1, 0, 1]]).astype(dtype)
    other = np.array([2, 1, 3]).astype(dtype)
    assert_operator(name, numpys(name, one, other), ua.asarray(one, copy=True), ua.asarray(other, copy=True))


@pytest.mark.parametrize("dtype", STANDARD)
@pytest.mark.parametrize("name", UNARY)
def test_unary_operators(backend: str, name: str, dtype: str) -> None:
    values, x = pair(dtype=dtype)
    assert_operator(name, numpys(name, values), x)


@pytest.mark.parametrize("scalar", [True, 2, 1.5, 1j], ids=repr)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "float32", "float64", "complex64"])
@pytest.mark.parametrize("name", OPERATORS)
def test_operators_with_python_scalars_on_either_side(backend: str, name: str, dtype: str, scalar: Any) -> None:
    values, x = pair((3,), dtype)
    assert_operator(name, numpys(name, values, scalar), x, scalar)
    assert_operator(name, numpys(name, scalar, values), scalar, x)


OTHERS: dict[str, Callable[[str], Any]] = {
    "NumPy array": lambda backend: np.array([[2.0, 1.0, 3.0]]),
    "NumPy scalar": lambda backend: np.float64(2.5),
    "0-d NumPy array": lambda backend: np.array(2.0),
    "integer NumPy scalar": lambda backend: np.int32(2),
    "list": lambda backend: [2.0, 1.0, 3.0],
    "tuple": lambda backend: (2, 1, 3),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
@pytest.mark.parametrize("name", ARITHMETIC + COMPARISONS)
def test_operators_take_data_on_either_side(backend: str, name: str, other: Callable[[str], Any]) -> None:
    values, x = pair()
    data = other(backend)
    for operands in ((x, data), (data, x)):
        result = getattr(operator, name)(*operands)
        assert isinstance(result, ua.Array)
        assert result.backend == backend
        assert_same(result, getattr(operator, name)(*(values if each is x else np.asarray(each) for each in operands)))


def test_operators_take_the_engines_own_arrays(backend: str) -> None:
    values, x = pair()
    own = native(backend, values + 1)
    for name in ("add", "sub", "mul", "lt", "eq"):
        assert_same(getattr(operator, name)(x, own), getattr(operator, name)(values, values + 1))
    assert_same(x @ native(backend, values.T), values @ values.T)


def test_matmul_operators(backend: str) -> None:
    values, x = pair((2, 3))
    square, y = pair((2, 2))
    assert_same(x @ x.T, values @ values.T)
    assert_same(square @ x, square @ values)
    assert_same(x @ np.ones(3), values @ np.ones(3))
    kept = y
    y @= y
    assert y is kept
    assert_same(y, square @ square)
    with pytest.raises(ValueError, match="matmul"):
        x @ x
    with pytest.raises((TypeError, ValueError)):
        x @ 2


@pytest.mark.parametrize("dtype", ["bool", "int64", "uint8", "float32", "complex128"])
@pytest.mark.parametrize("name", [f"i{name}" for name in (*ARITHMETIC, "and", "or", "xor", "lshift", "rshift")])
@pytest.mark.parametrize("scalar", [True, 2, 1.5], ids=repr)
def test_in_place_operators_keep_the_object_and_the_dtype(backend: str, name: str, dtype: str, scalar: Any) -> None:
    values, x = pair((3,), dtype)
    kept, view = x, x[::-1]
    try:
        with np.errstate(all="ignore"):
            getattr(operator, name)(values, scalar)
    except TypeError:
        with pytest.raises(TypeError):
            getattr(operator, name)(x, scalar)
    else:
        assert getattr(operator, name)(x, scalar) is kept
    assert_same(x, values)
    assert_same(view, values[::-1])


def test_in_place_operators_broadcast_the_operand_not_the_target(backend: str) -> None:
    values, x = pair((2, 3))
    x += ua.asarray([1.0, 2.0, 3.0])
    values += [1.0, 2.0, 3.0]
    assert_same(x, values)
    row = x[0]
    with pytest.raises(ValueError, match="shape"):
        row += x
    assert_same(x, values)


class Stranger:
    """Knows what to do with an array, which an array doesn't know of it."""

    def __radd__(self, other: Any) -> str:
        return f"radd {type(other).__name__}"

    def __lt__(self, other: Any) -> str:
        return "lt"


def test_operators_leave_strangers_to_themselves(backend: str) -> None:
    x = ua.zeros(2)
    assert x + Stranger() == "radd Array"
    assert (x > Stranger()) == "lt"
    for stranger in ("text", None, object(), {1: 2}):
        for name in ("add", "mul", "lt", "iadd", "matmul", "and_"):
            with pytest.raises(TypeError):
                getattr(operator, name)(x, stranger)
            if name != "iadd":
                with pytest.raises(TypeError):
                    getattr(operator, name)(stranger, x)
        assert (x == stranger) is False
        assert (x != stranger) is True


def test_python_integers_beyond_the_dtype(backend: str) -> None:
    x = ua.asarray([1, 2], dtype="uint8")
    with pytest.raises(OverflowError):
        x + 256
    assert_same(x < 256, np.array([True, True]))
    assert_same(x == -1, np.array([False, False]))


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
        assert repr(x) == f"array([1, 2], backend={backend!r})"
        assert repr(x.astype("int8")) == f"array([1, 2], dtype=int8, backend={backend!r})"
        assert str(x) == "[1 2]"


@pytest.mark.parametrize(
    ("value", "specification"), [(2.5, ".3f"), (2.5, "e"), (7, "d"), (7, "04"), (7, "x"), (True, ""), (1 + 2j, ".1f")]
)
def test_0d_arrays_format_as_numbers(backend: str, value: Any, specification: str) -> None:
    assert format(ua.asarray(value), specification) == format(value, specification)
    assert f"{ua.sum(ua.asarray([value])):{specification}}" == format(np.sum(np.asarray([value])).item(), specification)


def test_numpys_print_options_hold(backend: str) -> None:
    with np.printoptions(precision=2, suppress=True):
        assert str(ua.asarray([1 / 3, 2.0])) == "[0.33 2.  ]"


# -- copies and pickles ---------------------------------------------------------------------------------------------

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


# -- NumPy ----------------------------------------------------------------------------------------------------------


@each_view
@pytest.mark.parametrize("dtype", ALL)
def test_numpy_takes_an_array(backend: str, dtype: str, view: Callable[[Any], Any]) -> None:
    values, x = pair(dtype=dtype)
    taken = np.asarray(view(x))
    assert type(taken) is np.ndarray
    assert taken.dtype == dtype
    np.testing.assert_array_equal(taken, view(values))


@each_view
def test_what_numpy_takes_can_be_written_and_changes_no_immutable_array(
    backend: str, view: Callable[[Any], Any]
) -> None:
    values, x = pair()
    before = x.native
    for take in (np.asarray, np.array, lambda x: x.__array__(), lambda x: np.asarray(x, dtype="float64")):
        taken = take(view(x))
        taken[...] = 5
        if backend in IMMUTABLE:
            assert_same(x, values)
            np.testing.assert_array_equal(np.asarray(before), values)
        x[...] = values


def test_the_copy_argument_of_dunder_array(backend: str) -> None:
    _, x = pair()
    independent = np.array(x, copy=True)
    independent[...] = 0
    assert (as_numpy(x) != 0).all()
    shared = x.__array__(copy=None)
    shared[...] = 0
    assert (as_numpy(x) == 0).all() == (backend not in IMMUTABLE)
    with pytest.raises(ValueError, match="copy"):
        np.asarray(x, dtype="float32", copy=False)
    if backend not in IMMUTABLE:
        assert np.shares_memory(np.asarray(x, copy=False), np.asarray(x))
    else:
        # Memory that can't be written is shared as read-only, or not at all.
        with contextlib.suppress(ValueError):
            assert not np.asarray(x, copy=False).flags.writeable


def test_ndarray_operators_give_arrays(backend: str) -> None:
    values, x = pair()
    for name in ARITHMETIC:
        result = getattr(operator, name)(values, x)
        assert isinstance(result, ua.Array), name
        assert result.backend == backend
        assert_same(result, getattr(operator, name)(values, values))
    assert_same(values < x, values < values)
    assert_same(np.float64(2) * x, 2 * values)
    assert_same(values @ x.T, values @ values.T)


NUMPY_CALLS: dict[str, Callable[[Any], Any]] = {
    "np.add": lambda x: np.add(np.ones((2, 3)), x),
    "np.sin": np.sin,
    "np.matmul": lambda x: np.matmul(x, x.T),
    "np.add.reduce": lambda x: np.add.reduce(x, axis=0),
    "np.sum": np.sum,
    "np.sum(axis)": lambda x: np.sum(x, axis=1),
    "np.mean": lambda x: np.mean(x, axis=0),
    "np.concatenate": lambda x: np.concatenate([x, x]),
    "np.concatenate, mixed": lambda x: np.concatenate([x, np.ones((1, 3))]),
    "np.where": lambda x: np.where(x > 2, x, 0),
    "np.linalg.norm": np.linalg.norm,
    "np.sort": lambda x: np.sort(x, axis=0),
    "np.percentile": lambda x: np.percentile(x, 50),
    "np.heaviside": lambda x: np.heaviside(x, 0.5),
    "np.stack": lambda x: np.stack([x, x]),
}


@pytest.mark.parametrize("call", NUMPY_CALLS.values(), ids=NUMPY_CALLS.keys())
def test_numpys_functions_give_arrays(backend: str, call: Callable[[Any], Any]) -> None:
    values, x = pair()
    result = call(x)
    assert isinstance(result, ua.Array)
    assert result.backend == backend
    assert_same(result, call(values))


def test_numpys_functions_write_into_arrays(backend: str) -> None:
    values, x = pair()
    view = x[::-1]
    assert np.add(values, x, out=x) is x
    assert_same(x, values * 2)
    assert_same(view, values[::-1] * 2)
    total = ua.zeros(3)
    np.add.reduce(x, axis=0, out=total)
    assert_same(total, (values * 2).sum(axis=0))
    assert np.heaviside(x, 0.5, out=x) is x
    assert_same(x, np.ones((2, 3)))
    with pytest.raises((TypeError, ValueError)):
        np.add(values, x, out=ua.zeros(7))
    with pytest.raises(TypeError):
        np.add.at(x, [0], 1)


def test_an_ndarray_takes_an_array_in_place(backend: str) -> None:
    values, x = pair()
    plain = values.copy()
    plain[0] = x[1]
    np.testing.assert_array_equal(plain[0], values[1])
    target = values.copy()
    target += x
    np.testing.assert_array_equal(np.asarray(target), values * 2)


# -- DLPack ---------------------------------------------------------------------------------------------------------


@each_view
@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, *COMPLEX, "bool", "float16"])
def test_dlpack_round_trips(backend: str, dtype: str, view: Callable[[Any], Any]) -> None:
    values, x = pair(dtype=dtype)
    exported = np.from_dlpack(view(x))
    np.testing.assert_array_equal(exported, view(values))
    assert exported.dtype == dtype
    for copy_ in (None, True):
        assert_same(ua.from_dlpack(values.copy(), copy=copy_), values)
        assert_same(ua.from_dlpack(view(x), copy=copy_), view(values))
    kind, number = view(x).__dlpack_device__()
    assert (int(kind), number) == (1, 0)


@each_view
def test_numpy_never_gets_immutable_memory_to_write(backend: str, view: Callable[[Any], Any]) -> None:
    values, x = pair()
    before = x.native
    taken = np.from_dlpack(view(x))
    if backend in IMMUTABLE:
        if taken.flags.writeable:
            taken[...] = 0
        assert_same(x, values)
        np.testing.assert_array_equal(np.asarray(before), values)
    elif view(x).base is None or backend == "numpy":
        taken[...] = 0
        assert_same(view(x), np.zeros(view(values).shape))


@each_view
def test_torch_never_gets_immutable_memory_to_write(backend: str, view: Callable[[Any], Any]) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    values, x = pair()
    before = x.native
    if backend == "numpy" and view(values).strides[0] < 0:
        pytest.skip("torch has no negative strides")
    tensor = torch.from_dlpack(view(x))
    tensor.add_(100)
    if backend in IMMUTABLE:
        assert_same(x, values)
        np.testing.assert_array_equal(np.asarray(before), values)
    else:
        np.testing.assert_array_equal(tensor.numpy(), view(values) + 100)
    copied = torch.from_dlpack(view(ua.asarray(values, copy=True)), copy=True)
    copied.add_(1)


@pytest.mark.parametrize("source", ["numpy", "torch", "jax", "tensorflow"])
def test_from_dlpack_never_lets_a_writer_into_immutable_memory(
    backend: str, source: str, request: pytest.FixtureRequest
) -> None:
    named = request.config.getoption("--backends")
    if source not in (named.split(",") if named else ua.available_backends()):
        pytest.skip(f"{source} is not under test")
    values = np.arange(6.0)
    given = native(source, values)
    x = ua.from_dlpack(given, backend=backend)
    assert x.backend == backend
    assert_same(x, values)
    x += 1
    assert_same(x, values + 1)
    immutable = IMMUTABLE if source == backend else (source,)
    if source in IMMUTABLE and source in immutable:
        np.testing.assert_array_equal(np.asarray(given), values)
    if source in ("numpy", "torch") and backend in IMMUTABLE:
        given[...] = 7
        assert_same(x, values + 1)


def test_from_dlpack_without_a_copy_shares_or_raises(backend: str) -> None:
    values = np.arange(6.0)
    if backend in IMMUTABLE:
        with pytest.raises((BufferError, ValueError)):
            ua.from_dlpack(values, copy=False)
        return
    x = ua.from_dlpack(values, copy=False)
    x[0] = 9
    assert values[0] == 9
    independent = ua.from_dlpack(values, copy=True)
    independent[0] = 5
    assert values[0] == 9


def test_a_read_only_export_is_not_opened_to_a_writer(backend: str) -> None:
    values = np.arange(6.0)
    values.flags.writeable = False
    x = ua.from_dlpack(values)
    try:
        x[0] = 9
    except ua.errors.ReadOnlyError:
        assert backend == "numpy"
    assert values[0] == 0


def test_exports_of_a_variable_are_values(backend: str) -> None:
    skip_unless(backend, *IMMUTABLE, why="variables beside arrays")
    x = ua.asarray(variable(backend, np.arange(3.0)))
    taken = np.from_dlpack(x)
    x += 1
    np.testing.assert_array_equal(taken, np.arange(3.0))


# -- what asarray takes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [True, 3, 2.5, 1j, [1, 2], [[1.5], [2.5]], (1, 2), [], [[]], [True, 2], [1, 2.5], np.float32(2), np.int8(3)],
    ids=repr,
)
def test_asarray_takes_data(backend: str, data: Any) -> None:
    assert_same(ua.asarray(data), np.asarray(data))


def test_asarray_takes_nests_of_arrays(backend: str) -> None:
    x = ua.asarray([1.0, 2.0])
    assert_same(ua.asarray([x, x]), np.array([[1.0, 2.0], [1.0, 2.0]]))
    assert_same(ua.asarray([[x[0], x[1]], [3.0, 4.0]]), np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert ua.asarray([x[0], 2.0]).backend == backend


def test_asarray_copies_when_told_to(backend: str) -> None:
    values, x = pair()
    assert ua.asarray(x) is x
    assert ua.asarray(x, copy=False) is x
    assert ua.asarray(x, dtype="float64") is x
    other = ua.asarray(x, copy=True)
    other[...] = 0
    assert_same(x, values)
    with pytest.raises(ValueError, match="copy"):
        ua.asarray(x, dtype="float32", copy=False)
    with pytest.raises(ValueError, match="copy"):
        ua.asarray([1, 2], copy=False)
    own = native(backend, values)
    assert ua.asarray(own, backend=backend).native is own


def test_asarray_of_ndarrays_shares_on_numpy_alone(backend: str) -> None:
    values = np.arange(4.0)
    x = ua.asarray(values)
    x[0] = 9
    assert (values[0] == 9) == (backend == "numpy")
    values[1] = 7
    assert (x[1].item() == 7) == (backend == "numpy")


@pytest.mark.parametrize("data", ["text", object(), {1: 2}, [[1, 2], [3]], np.array(["a"]), None, b"x"], ids=repr)
def test_asarray_refuses_what_is_no_array(backend: str, data: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        ua.asarray(data)


@pytest.mark.parametrize("spelling", ["float32", np.float32, np.dtype("float32"), ua.float32, "f4"])
def test_dtypes_in_every_spelling(backend: str, spelling: Any) -> None:
    x = ua.zeros(2, dtype=spelling)
    assert x.dtype is ua.float32
    assert x.dtype == "float32"
    own = native(backend, np.zeros(1, "float32")).dtype
    assert ua.zeros(2, dtype=own).dtype is ua.float32
    assert x.astype(own).dtype is ua.float32
