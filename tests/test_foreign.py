"""Subclasses of engines' arrays, and arrays of other libraries: accepted, or refused with advice."""

from __future__ import annotations

import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unifyarr as ua

from .natives import skip_unless
from .oracle import as_numpy, assert_same
from .test_operators import ARITHMETIC


class Plain(np.ndarray):
    """A subclass that adds what no operation reads."""

    note = "plain"

    def __array_finalize__(self, other: Any) -> None:
        self.info = getattr(other, "info", None)


class Getter(np.ndarray):
    def __getitem__(self, key: Any) -> Any:
        return 5


class Adder(np.ndarray):
    def __add__(self, other: Any) -> Any:
        return 5


class Units(np.ndarray):
    def __array_ufunc__(self, *_: Any, **__: Any) -> Any:
        return 5


class Functions(np.ndarray):
    def __array_function__(self, *_: Any, **__: Any) -> Any:
        return 5


def record() -> Any:
    return np.rec.fromarrays([np.ones(3), np.ones(3)], names="a,b")


OTHERS: dict[str, Callable[[], Any]] = {
    "matrix": lambda: np.ones((1, 3)).view(np.matrix),
    "masked array": lambda: np.ma.masked_array([1.0, 2.0, 3.0], [0, 1, 0]),
    "records": record,
    "recarray of floats": lambda: np.ones(3).view(np.recarray),
    "characters": lambda: np.char.asarray(["a", "b", "c"]),
    "an index of its own": lambda: np.ones(3).view(Getter),
    "an operator of its own": lambda: np.ones(3).view(Adder),
    "ufuncs of its own": lambda: np.ones(3).view(Units),
    "functions of its own": lambda: np.ones(3).view(Functions),
}


class Lazy:
    """An array of another library, such as dask's: reading its values would load them."""

    shape = (3,)
    dtype = np.dtype("float64")
    ndim = 1

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        raise AssertionError("loaded without a word")

    def __array_function__(self, *_: Any) -> Any:
        return NotImplemented

    __array_ufunc__: Any = lambda *_, **__: NotImplemented


class Standard(Lazy):
    """An array of the standard."""

    __array_function__ = None  # type: ignore[assignment]

    def __array_namespace__(self, **_: Any) -> Any:
        return np


class Bare:
    """An array of the standard, which NumPy doesn't ask."""

    shape, dtype, ndim = Lazy.shape, Lazy.dtype, Lazy.ndim
    __array__ = Lazy.__array__
    __array_namespace__ = Standard.__array_namespace__


class Series:
    """Data, such as pandas': it has values, and is no array."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self.values, dtype)

    def __radd__(self, other: Any) -> Any:
        return Series(as_numpy(other) + self.values)


# By these NumPy and Python ask the other library.
ASKING: dict[str, Callable[[Any, Any], Any]] = {
    "an operator": lambda x, given: x + given,
    "a comparison": lambda x, given: x < given,
    "in place": lambda x, given: operator.iadd(x, given),
    "a ufunc": lambda x, given: np.hypot(x, given),
}
DOORS: dict[str, Callable[[Any, Any], Any]] = {
    "asarray": lambda x, given: ua.asarray(given),
    "asarray, copy": lambda x, given: ua.asarray(given, copy=True),
    "asarray of a list": lambda x, given: ua.asarray([given, given]),
    "asarray, named": lambda x, given: ua.asarray(given, backend=x.backend),
    "a function": lambda x, given: ua.sin(given),
    "an operand": lambda x, given: ua.add(x, given),
    "in a sequence": lambda x, given: ua.concat([x, given]),
    "a value": lambda x, given: operator.setitem(x, ..., given),
    "a masked value": lambda x, given: operator.setitem(x, as_numpy(x) > 1, given),
    "an update": lambda x, given: ua.inplace_update(x, given),
}
SUBCLASS_DOORS: dict[str, Callable[[Any, Any], Any]] = {
    **DOORS,
    "out": lambda x, given: ua.add(x, 1, out=given),
    "a target": lambda x, given: ua.inplace_update(given, 0),
    "an increment": lambda x, given: ua.inplace_increment(given, 1),
    "an index": lambda x, given: x[given],
    "an index of a write": lambda x, given: operator.setitem(x, given, 0),
    "an index beside others": lambda x, given: x[..., given],
    "a leaf": lambda x, given: ua.Container(a=given),
    "to_backend": lambda x, given: ua.to_backend({"a": given}, x.backend),
}


@pytest.mark.parametrize("door", [*SUBCLASS_DOORS.values(), None], ids=[*SUBCLASS_DOORS.keys(), "operators, ufuncs"])
@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS.keys())
def test_a_subclass_that_means_something_else_is_refused(
    backend: str, make: Callable[[], Any], door: Callable[[Any, Any], Any] | None
) -> None:
    x = ua.asarray([1.0, 2.0, 3.0])
    given = make()
    before = np.array(given.view(np.ndarray))
    doors = [door] if door is not None else [] if isinstance(given, Units) else list(ASKING.values())
    for each in doors:
        with pytest.raises(TypeError, match=r"means something else than ndarray does: pass its bare values, "):
            each(x, given)
    assert_same(x, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(given.view(np.ndarray), before)


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS.keys())
@pytest.mark.parametrize("kind", [Lazy, Standard, Bare])
def test_an_array_of_another_library_is_refused_and_not_loaded(
    backend: str, kind: type, door: Callable[[Any, Any], Any]
) -> None:
    x = ua.asarray([1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match=rf"{kind.__name__}.* is an array of another library"):
        door(x, kind())
    assert_same(x, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("name", ARITHMETIC)
def test_operators_name_the_other_library(backend: str, name: str) -> None:
    x = ua.asarray([1.0, 2.0, 3.0])
    for call in (lambda: getattr(operator, name)(x, Bare()), lambda: getattr(operator, name)(Bare(), x)):
        with pytest.raises(TypeError, match="Bare is an array of another library"):
            call()
    # Python asks it first, and then says which types it were.
    for call in (lambda: getattr(operator, name)(x, Lazy()), lambda: getattr(operator, name)(Lazy(), x)):
        with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for .*Lazy"):
            call()
    for other in (Lazy(), Bare()):
        for call in (lambda: x == other, lambda: x != other):
            with pytest.raises(TypeError, match="is an array of another library"):
                call()


@pytest.mark.parametrize("door", ASKING.values(), ids=ASKING.keys())
@pytest.mark.parametrize("kind", [Lazy, Standard, Bare])
def test_what_declines_is_an_error_and_not_loaded(backend: str, kind: type, door: Callable[[Any, Any], Any]) -> None:
    x = ua.asarray([1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match=kind.__name__):
        door(x, kind())
    assert_same(x, [1.0, 2.0, 3.0])


def test_data_that_knows_its_values_stays_data(backend: str) -> None:
    x = ua.asarray([1.0, 2.0, 3.0])
    assert_same(ua.asarray(Series([1.0, 2.0])), [1.0, 2.0])
    assert_same(ua.add(x, Series([1.0, 2.0, 3.0])), [2.0, 4.0, 6.0])
    assert isinstance(x + Series([1.0, 2.0, 3.0]), Series)
    x[...] = Series([5.0, 6.0, 7.0])
    assert_same(x, [5.0, 6.0, 7.0])


# -- plain subclasses -------------------------------------------------------------------------------------------------


def test_a_plain_subclass_shares_memory_where_an_ndarray_does(backend: str) -> None:
    values = np.arange(3.0).view(Plain)
    x = ua.asarray(values)
    x += 1
    shares = backend == "numpy"
    np.testing.assert_array_equal(values.view(np.ndarray), np.arange(3.0) + shares)
    assert type(ua.asarray(values, backend="numpy").native) is np.ndarray
    independent = ua.asarray(values, copy=True)
    independent += 1
    np.testing.assert_array_equal(values.view(np.ndarray), np.arange(3.0) + shares)
    if shares:
        assert np.shares_memory(ua.asarray(values, copy=False).native, values)
    else:
        with pytest.raises(ua.errors.CopyError):
            ua.asarray(values, copy=False)


def test_a_plain_subclass_is_operand_value_index_and_target(backend: str) -> None:
    values = np.arange(3).view(Plain)
    x = ua.asarray([1.0, 2.0, 3.0])
    assert_same(x + values, [1.0, 3.0, 5.0])
    assert_same(values + x, [1.0, 3.0, 5.0])
    assert_same(x[values], [1.0, 2.0, 3.0])
    x[values[:2]] = values[1:]
    assert_same(x, [1.0, 2.0, 3.0])
    target = np.zeros(3).view(Plain)
    plain = ua.ones(3, backend="numpy")
    assert ua.add(plain, plain, out=target) is target
    assert ua.inplace_increment(target, 1) is target
    assert target.tolist() == [3, 3, 3]


def test_writes_reach_the_file_of_a_memory_map(backend: str, tmp_path: Path) -> None:
    file = tmp_path / "values"
    np.arange(4.0).tofile(file)
    for copy in (None, False):
        mapped = np.memmap(file, dtype="float64", mode="r+")
        if backend != "numpy":
            # As any ndarray, it's copied to an engine that has memory of its own.
            assert_same(ua.asarray(mapped), np.fromfile(file))
            continue
        x = ua.asarray(mapped, copy=copy)
        before = np.fromfile(file)
        x += 1
        x[1:][::-1] *= 2
        mapped.flush()
        expected = before + 1
        expected[1:] *= 2
        np.testing.assert_array_equal(np.fromfile(file), expected)
        assert_same(x, expected)


def test_a_memory_map_may_be_read_only_or_copied_on_write(backend: str, tmp_path: Path) -> None:
    file = tmp_path / "values"
    np.arange(4.0).tofile(file)
    x = ua.asarray(np.memmap(file, dtype="float64", mode="r"), backend="numpy")
    with pytest.raises(ua.errors.ReadOnlyError):
        x += 1
    x = ua.asarray(np.memmap(file, dtype="float64", mode="c"), backend="numpy")
    x += 1
    assert_same(x, np.arange(4.0) + 1)
    np.testing.assert_array_equal(np.fromfile(file), np.arange(4.0))


def test_numpys_functions_keep_the_class_of_what_means_something_else(backend: str) -> None:
    masked = np.ma.masked_array([1.0, 2.0, 3.0], [0, 1, 0])
    assert type(np.concatenate([ua.zeros(1), masked])) is type(np.concatenate([np.zeros(1), masked]))


# -- torch's subclasses -----------------------------------------------------------------------------------------------


def test_subclasses_of_tensors_that_mean_something_else_are_refused(backend: str) -> None:
    skip_unless(backend, "torch", why="subclasses of tensors")
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    class Dispatching(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, *_: Any, **__: Any) -> Any:
            raise AssertionError("computed with")

    class Function(torch.Tensor):
        @classmethod
        def __torch_function__(cls, *arguments: Any, **named: Any) -> Any:
            return super().__torch_function__(*arguments, **named)

    with FakeTensorMode():
        fake = torch.ones(3)
    x = ua.ones(3)
    for given in (torch.ones(3).as_subclass(Function), torch.ones(3).as_subclass(Dispatching), fake):
        for name, door in {**SUBCLASS_DOORS, **ASKING}.items():
            if "ufunc" in name:
                continue
            with pytest.raises(TypeError, match=r"means something else than torch\.Tensor does"):
                door(x, given)
    assert_same(x, np.ones(3))


def test_plain_subclasses_of_tensors_are_tensors(backend: str) -> None:
    skip_unless(backend, "torch", why="subclasses of tensors")
    import torch

    class Named(torch.Tensor):
        pass

    for native in (torch.ones(3, dtype=torch.float64).as_subclass(Named), torch.nn.Parameter(torch.ones(3))):
        x = ua.asarray(native)
        assert x.native is native
        assert (x + x).native.tolist() == [2, 2, 2]
