"""Shortcuts agree with bodies: the calls of the table repeatedly, on other values of the same shapes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import errors
from unifyarr._core.calling import shortcuts
from unifyarr._core.calling.programs import Builder
from unifyarr._core.calling.recording import Recording, frozen, integers
from unifyarr._core.calling.shortcuts import Shortcuts
from unifyarr._core.declaring.declare import DECLARATIONS
from unifyarr._core.engines.handle import declines
from unifyarr._core.engines.tracing import checked
from unifyarr.backends.kernels import Applied, Packed
from unifyarr.testing.cases import CASES, Case

from ..natives import has_one_device, skip_unless
from ..oracle import as_numpy, assert_values

# Results of these depend on a generator's state, or aren't defined.
UNKNOWN = {"nn.dropout", "empty", "empty_like"}


def table_of(name: str) -> Shortcuts:
    """Return the shortcuts of a function, which its dispatcher has."""
    function: Any = DECLARATIONS[name].public
    table: Shortcuts = function.dispatcher.shortcuts
    return table


def other(x: np.ndarray, round_: int) -> np.ndarray:
    """Return other values of the same shape and dtype, in whose places a function is defined where it was before."""
    if x.dtype.kind == "b":
        return x[::-1].copy() if round_ % 2 and x.ndim else x
    if x.dtype.kind in "iu":
        return np.flip(x).copy() if round_ % 2 and x.ndim else x
    return np.asarray(x * (1 + round_ / 8))


def outcome(case: Case, function: Any, values: list[np.ndarray], *, plainly: bool) -> Any:
    """Return the results of a call as NumPy's arrays, or the class of its error."""
    arrays = [ua.asarray(x, copy=True) for x in values]
    try:
        if plainly:
            result = case.call(function, arrays)
        else:
            with checked(False):
                result = case.call(function, arrays)
    except Exception as error:
        return type(error)
    several = result if isinstance(result, (tuple, list)) else (result,)
    found = [as_numpy(x) if isinstance(x, ua.Array) else x for x in several]
    shares = [isinstance(x, ua.Array) and x.base is not None for x in several]
    return type(result), found, shares


def assert_alike(actual: Any, expected: Any) -> None:
    if isinstance(expected, type):
        assert actual is expected
        return
    assert actual[0] is expected[0]
    assert actual[2] == expected[2]
    for one, wanted in zip(actual[1], expected[1], strict=True):
        if isinstance(wanted, np.ndarray):
            assert one.dtype == wanted.dtype
            assert_values(one, wanted)
        else:
            assert one == wanted


@pytest.mark.parametrize("name", [name for name in CASES if name in DECLARATIONS and name not in UNKNOWN])
def test_a_shortcut_gives_what_the_body_gives(backend: str, name: str) -> None:
    function = DECLARATIONS[name].public
    for case in CASES[name]:
        for round_ in range(4):
            values = [other(x, round_) for x in case.arrays]
            actual = outcome(case, function, values, plainly=True)
            assert_alike(actual, outcome(case, function, values, plainly=False))


def simple_calls(x: Any) -> Iterator[Any]:
    yield ua.where(x > 2, x, 0.0)
    yield ua.concat([x, x], axis=None)
    yield ua.sum(x, axis=(0,), dtype=ua.float64)
    yield ua.expand_dims(x, (0,))
    yield ua.nn.softmax(x)
    yield ua.linalg.svd(x[:, None]).S


def test_functions_have_shortcuts(backend: str) -> None:
    # A test that passes without any would say nothing.
    names = ["concat", "sum", "expand_dims", "linalg.svd"]
    # On TensorFlow an op answers these, whatever the shapes are.
    names += [] if backend == "tensorflow" else ["nn.softmax"]
    # A number beside an operand is on its device, which a key doesn't have.
    names += [] if backend == "tensorflow" or not has_one_device() else ["where"]
    for name in names:
        table_of(name).clear()
    for _ in range(3):
        list(simple_calls(ua.asarray([1.0, 2.0, 3.0, 4.0])))
    for name in names:
        own = [found for (handle, *_), found in table_of(name).items() if handle.name == backend]
        assert own, name
        assert declines not in own, name


def test_an_operand_that_is_passed_twice(backend: str) -> None:
    x, y = ua.asarray([[1.0, 2.0], [3.0, 4.0]]), ua.asarray([[0.0, 1.0], [1.0, 0.0]])
    for _ in range(3):
        np.testing.assert_array_equal(as_numpy(ua.linalg.matmul(x[None], x[None]))[0], as_numpy(x) @ as_numpy(x))
    np.testing.assert_array_equal(as_numpy(ua.linalg.matmul(x[None], y[None]))[0], as_numpy(x) @ as_numpy(y))


def test_arguments_that_are_equal_and_differ(backend: str) -> None:
    x = ua.asarray([-1.0, 1.0])
    for _ in range(3):
        assert np.signbit(as_numpy(ua.clip(x, -0.0, None))[0])
        assert not np.signbit(as_numpy(ua.clip(x, 0.0, None))[0])
        for zero in (0.0, -0.0, 0, 0.0):
            for _ in range(3):
                assert np.signbit(as_numpy(ua.where(x > 0, x, zero))[0]) == np.signbit(zero)
        assert ua.where(x > 0, 1, 0).dtype is ua.int64
        assert ua.where(x > 0, 1.0, 0.0).dtype is ua.float64
        assert ua.where(x > 0, True, False).dtype is ua.bool
        assert ua.sum(ua.ones((2, 2)), axis=1).shape == (2,)
        with pytest.raises(TypeError):
            ua.sum(ua.ones((2, 2)), axis=1.0)  # type: ignore[arg-type]


def test_a_call_is_told_from_the_last_one(backend: str) -> None:
    values = np.asarray([[2.0, -0.0], [1.0, 3.0]])
    x, row, whole = ua.asarray(values), ua.asarray(values[0]), ua.asarray([[2, 0], [1, 3]])
    function = table_of("sort")
    function.clear()
    for _ in range(3):
        for _ in range(3):
            np.testing.assert_array_equal(as_numpy(ua.sort(x)), np.sort(values))
        np.testing.assert_array_equal(as_numpy(ua.sort(row)), np.sort(values[0]))
        np.testing.assert_array_equal(as_numpy(ua.sort(x)), np.sort(values))
        assert ua.sort(whole).dtype is ua.int64
        np.testing.assert_array_equal(as_numpy(ua.sort(x, axis=0)), np.sort(values, axis=0))
        np.testing.assert_array_equal(as_numpy(ua.sort(x, descending=True)), np.sort(values)[:, ::-1])
        np.testing.assert_array_equal(as_numpy(ua.sort(x, axis=0, descending=True)), np.sort(values, axis=0)[::-1])
    assert len([key for key in function if key[0].name == backend]) == 6
    function.clear()
    for _ in range(3):
        np.testing.assert_array_equal(as_numpy(ua.sort(x)), np.sort(values))
    # The compiled core's cache is cleared with the others.
    assert len(function) == 1


def test_an_order_is_that_of_the_first_call(backend: str) -> None:
    values = np.asarray([[2.0, np.nan, 1.0, 2.0], [1.0, 3.0, np.inf, -np.inf]])
    x = ua.asarray(values)
    for axis in (0, 1, -1):
        for _ in range(4):
            np.testing.assert_array_equal(as_numpy(ua.argsort(x, axis=axis)), np.argsort(values, axis, kind="stable"))
            np.testing.assert_array_equal(as_numpy(ua.sort(x, axis=axis)), np.sort(values, axis))
        firsts = [as_numpy(ua.argsort(x, axis=axis, descending=True)) for _ in range(4)]
        for each in firsts[1:]:
            np.testing.assert_array_equal(each, firsts[0])


def test_what_has_to_be_passed_by_name_is_refused_by_place(backend: str) -> None:
    x = ua.asarray([2.0, 1.0])
    for _ in range(3):
        ua.sort(x, descending=True)
        with pytest.raises(
            TypeError, match=r"sort\(\) takes 1 positional argument \(x\) but 2 were given: .*, as in axis=0"
        ):
            ua.sort(x, 0)  # type: ignore[misc]
        with pytest.raises(TypeError, match=r"but 3 were given: .*, as in axis=-1, descending=True"):
            ua.sort(x, -1, True)  # type: ignore[misc]
        with pytest.raises(TypeError):
            ua.sort(x, -1, True, True, None, None, None)  # type: ignore[misc]
        with pytest.raises(TypeError, match=r"exp\(\) takes 1 positional .* 2 were given: pass out by name, as in out"):
            ua.exp(x, x)  # type: ignore[misc]
        with pytest.raises(TypeError, match=r"add\(\) takes 2 positional arguments \(x1, x2\) but 3 were given"):
            ua.add(x, x, None)  # type: ignore[misc]


@pytest.mark.parametrize("one", [0, 1, True, 0.0, 1.0, "1", None, (1,), (1.0,), ((1,),), (1, None)])
@pytest.mark.parametrize("two", [-0.0, False, 2, (True,), ((1.0,),), (), "0"])
def test_frozen_tells_arguments_apart(one: Any, two: Any) -> None:
    assert frozen(one) != frozen(two)
    assert frozen(one) == frozen(one)


def test_frozen_refuses_what_may_change() -> None:
    for value in ([1], np.array(1), ua.zeros(1), np.float64(1.0), object()):
        with pytest.raises(TypeError):
            frozen(value)


@pytest.mark.parametrize("other", [np.float64, np.float32, np.int64, np.bool_, np.complex64, np.longdouble], ids=str)
def test_numpys_data_beside_an_array(backend: str, other: type) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for value in (other(2), other(3), np.full((2, 3), 4, other), np.full(3, 5, other), np.full(3, 6, other)[::-1]):
        for _ in range(3):
            try:
                expected = x + (value if not isinstance(value, np.generic) else np.asarray(value))
                if expected.dtype.char in "gG":
                    raise errors.DtypeError
                result = ua.asarray(x) + value
            except errors.DtypeError:
                with pytest.raises(errors.DtypeError):
                    ua.asarray(x) + value
                continue
            assert result.dtype.dtype == expected.dtype
            np.testing.assert_array_equal(as_numpy(result), expected)
    swapped = np.arange(3.0).astype(">f8")
    for _ in range(3):
        np.testing.assert_array_equal(as_numpy(ua.asarray(x) + swapped), x + swapped)


def test_errors_stay(backend: str) -> None:
    x, y = ua.ones((2, 3)), ua.ones((2, 3))
    for _ in range(3):
        ua.linalg.vecdot(x, y)
        with pytest.raises(errors.ShapeError):
            ua.linalg.vecdot(x, ua.ones((2, 4)))
        with pytest.raises(IndexError):
            ua.take(x, ua.asarray([5]), axis=0)


def test_results_are_their_own(backend: str) -> None:
    x = ua.asarray([1.0, 2.0, 3.0, 4.0])
    for _ in range(4):
        for result in (ua.where(x > 2, x, 0.0), ua.clip(x, 0, 9), ua.nn.softmax(x), ua.concat([x, x]), ua.roll(x, 1)):
            result[...] = -1.0
    np.testing.assert_array_equal(as_numpy(x), [1, 2, 3, 4])


def test_views_see_writes(backend: str) -> None:
    for _ in range(4):
        x = ua.asarray([[1.0, 2.0], [3.0, 4.0]])
        for view in (ua.reshape(x, (4,)), ua.permute_dims(x, (1, 0)), ua.expand_dims(x, axis=0), x.T[0]):
            assert view.base is x
        ua.reshape(x, (4,))[0] = 9.0
        assert ua.permute_dims(x, (1, 0))[0, 0] == 9.0
        # The same shape with other strides has to be copied.
        copied = ua.reshape(x.T, (4,))
        assert copied.base is None
        copied[0] = -1.0
        assert x[0, 0] == 9.0


def test_a_kernel_that_declines_after_it_was_recorded() -> None:
    # Otherwise NumPy would make an array of objects of the first kernel's result.
    with ua.use_backend("numpy"):
        x, between, result = ua.ones(2), ua.ones(2), ua.ones(2)
    notes = Recording([x])
    notes.call(lambda native: NotImplemented if native[0] < 0 else native * 2, (x,), {}, between)
    notes.call(lambda native: np.where(True, native, 0), (between,), {}, result)
    program, slot = Builder([x], x._backend), notes.slot_of(result)
    assert slot is not None
    notes.compute(program, [slot])
    shortcut = program.returning(slot)
    np.testing.assert_array_equal(shortcut(np.array([1.0, 2.0])), [2.0, 4.0])
    assert shortcut(np.array([-1.0, 2.0])) is NotImplemented


def test_a_kernel_with_arguments_after_the_arrays() -> None:
    with ua.use_backend("numpy"):
        x, y, cut, result = ua.ones(2), ua.ones(2), ua.ones(2), ua.ones(2)
    notes = Recording([x, y])
    notes.call(Applied(lambda first, second, at, to: first[at:to] + second[at:to], 1, 3), (x, y), {}, cut)
    notes.call(Packed(lambda arrays, axis: np.stack(arrays, axis), 1), (cut, cut), {}, result)
    program, slot = Builder([x, y], x._backend), notes.slot_of(result)
    assert slot is not None
    notes.compute(program, [slot])
    shortcut = program.returning(slot)
    np.testing.assert_array_equal(shortcut(np.arange(4), np.arange(4) * 10), [[11, 11], [22, 22]])
    assert Applied(np.add, 1)(2) == 3
    np.testing.assert_array_equal(Packed(np.concatenate, 0)([1], [2]), [1, 2])


def test_jax_in_32_bits_gives_what_bodies_give(backend: str) -> None:
    skip_unless(backend, "jax", why="an engine whose dtypes are a setting")
    import jax

    x = ua.asarray([3, 1, 2], dtype=ua.int32)
    for _ in range(3):
        assert ua.sum(x, axis=(0,)).dtype is ua.int64
        ua.astype(x, ua.float64)
    with jax.enable_x64(False):
        assert ua.sum(x, axis=(0,)).dtype is ua.int32
        with pytest.raises(errors.DtypeError):
            ua.astype(x, ua.float64)


@pytest.mark.parametrize("call", [lambda x: ua.tile(x, (2, 1)), lambda x: ua.repeat(x, 2), lambda x: ua.roll(x, 1)])
def test_functions_that_look_at_strides(backend: str, call: Any) -> None:
    values = np.arange(16.0).reshape(4, 4)
    views = (lambda x: x, lambda x: x.T, lambda x: x[::-1], lambda x: x[:, ::-1].T)
    for _ in range(4):
        for view in views:
            found = as_numpy(call(view(ua.asarray(values, copy=True))))
            with checked(False):
                np.testing.assert_array_equal(found, as_numpy(call(ua.asarray(view(values).copy()))))


def test_a_function_keeps_so_many(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shortcuts, "MOST", 8)
    kept = table_of("stack")
    kept.clear()
    kept._seen.clear()
    for length in range(20):
        x = ua.zeros(length)
        for _ in range(3):
            assert ua.stack([x, x], axis=0).shape == (2, length)
        assert len(kept) <= 8
        assert len(kept._seen) <= 8


def test_integers_are_those_of_int_alone() -> None:
    assert integers(1, 0) == integers(1, 0) != integers(1, 1)
    assert integers(True, 0) is integers(1.0, 0) is integers((1,), 0) is integers(None) is None
    with pytest.raises(TypeError):
        integers([1])


def test_a_function_of_several_results_may_have_none(backend: str) -> None:
    for _ in range(4):
        assert ua.unstack(ua.zeros((0, 3))) == ()
