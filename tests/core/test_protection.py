"""Arrays that are protected from writes by ``flags.writeable``: NumPy's rules on every backend.

Random programs with flags, beside NumPy's, run in ``test_stateful.py``.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.errors import ReadOnlyError, TracedMutationError

from ..oracle import as_numpy, assert_same
from .writes import TARGETS, Write, each_target, each_write, pair

VIEWS: dict[str, Callable[[Any], Any]] = {**TARGETS, "x[None]": lambda x: x[None], "x[1, ...]": lambda x: x[1, ...]}
OTHER_WRITES: dict[str, Callable[[ua.Array], Any]] = {
    "fill": lambda x: x.fill(0),
    "sort": lambda x: x.sort(),
    "partition": lambda x: x.partition(0),
    "flat": lambda x: x.flat.__setitem__(0, 1),
    "real": lambda x: setattr(x, "real", 1),
    "a mask": lambda x: x.__setitem__(x == x, 0),
    "integers": lambda x: x.__setitem__([0], 0),
    "x[:1] += 1": lambda x: x[:1].__iadd__(1),
    "put": lambda x: x.put([0], 1),
    "numpy.copyto": lambda x: np.copyto(x, 1),
    "numpy.putmask": lambda x: np.putmask(x, as_numpy(x) == as_numpy(x), 1),
    "numpy.add(out=)": lambda x: np.add(x, 1, out=x),
    "numpy.add.at": lambda x: np.add.at(x, 0, 1),
    "shuffle": lambda x: ua.random.Generator(0).shuffle(x),
    "a container": lambda x: ua.inplace_update(ua.Container(a=x), ua.Container(a=x + 1)),
}


def protected(x: Any) -> Any:
    x.flags.writeable = False
    return x


@each_write
@each_target
def test_no_write_passes(backend: str, write: Write, numpy_write: Write, target: Callable[[Any], Any]) -> None:
    values, x = pair()
    view = protected(target(x))
    with pytest.raises(ReadOnlyError, match="read-only"):
        write(view, ua.ones_like(view))
    assert_same(x, values)


@pytest.mark.parametrize("write", OTHER_WRITES.values(), ids=OTHER_WRITES.keys())
def test_no_other_write_passes(backend: str, write: Callable[[Any], Any]) -> None:
    values, x = pair()
    protected(x)
    with pytest.raises(ValueError, match="read-only"):
        write(x)
    assert_same(x, values)


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS.keys())
def test_views_that_exist_keep_their_flag_and_later_ones_inherit_it(backend: str, view: Callable[[Any], Any]) -> None:
    values, x = pair()
    before, expected = view(x), view(values)
    protected(x), protected(values)
    after = view(x)
    assert before.flags.writeable == expected.flags.writeable == (before is not x)
    assert not after.flags.writeable
    assert not after.flags["W"]
    if before is not x:
        before += 1
        expected += 1
    assert_same(x, values)
    assert_same(after, view(values))
    assert_same(ua.sum(x * 2), np.sum(values * 2))


def test_a_view_can_be_written_again_if_its_base_can(backend: str) -> None:
    values, x = pair()
    view, twin = protected(x)[1:], protected(values)[1:]
    for each in (view, twin):
        with pytest.raises(ValueError, match=r"WRITEABLE|base of this view"):
            each.flags.writeable = True
    for base, each in ((x, view), (values, twin)):
        base.setflags(write=True)
        assert not each.flags.writeable
        each.flags["WRITEABLE"] = True
        each += 1
        base[0] = 0
    assert_same(x, values)
    assert type(x) is ua.Array


@pytest.mark.parametrize("make", [lambda x: ua.broadcast_to(x, (2, *x.shape)), ua.linalg.diagonal])
def test_views_that_are_read_only_by_their_kind_stay_so(backend: str, make: Callable[[Any], Any]) -> None:
    view = make(ua.zeros((2, 2)))
    view.flags.writeable = False
    with pytest.raises(ReadOnlyError, match="can't be made writeable"):
        view.flags.writeable = True
    assert not view.flags.writeable


def test_the_users_own_array_is_left_alone(backend: str) -> None:
    values = np.zeros(3)
    x = protected(ua.asarray(values, backend="numpy"))
    assert values.flags.writeable
    values[0] = 1
    assert x[0] == 1
    values.flags.writeable = False
    y = ua.asarray(values, backend="numpy")
    with pytest.raises(ReadOnlyError, match="native array is read-only"):
        y.flags.writeable = True
    assert not values.flags.writeable


def test_copies_can_be_written(backend: str) -> None:
    x = protected(ua.asarray([1.0, 2.0]))
    for made in (x.copy(), copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), +x, ua.asarray(x, copy=True)):
        assert made.flags.writeable
        made += 1
    assert_same(x, np.asarray([1.0, 2.0]))
    assert ua.asarray(x) is x


def test_an_element_can_be_protected(backend: str) -> None:
    element = protected(ua.asarray([1.0, 2.0])[1])
    with pytest.raises(ReadOnlyError):
        element += 1
    assert float(element) == 2


def test_others_get_read_only_memory(backend: str) -> None:
    x = protected(ua.asarray([1.0, 2.0]))
    assert not np.asarray(x).flags.writeable
    assert np.array(x).flags.writeable


def test_a_compiled_function_refuses_to_write_a_protected_array(backend: str) -> None:
    x, captured = ua.zeros(3), ua.zeros(3)

    @ua.compile
    def step(x: ua.Array) -> ua.Array:
        x += 1
        return x[1:]

    @ua.compile
    def step_captured(x: ua.Array) -> None:
        nonlocal captured
        captured += x

    for _ in range(3):
        step(x)
        step_captured(x)
    kept = as_numpy(captured)
    protected(x), protected(captured)
    for _ in range(3):
        for function in (step, step_captured):
            with pytest.raises(ReadOnlyError):
                function(x)
    assert_same(x, np.full(3, 3.0))
    assert_same(captured, kept)
    view = ua.compile(lambda x: x[1:])(x)
    assert view.base is x
    assert not view.flags.writeable
    assert ua.compile(lambda x: x.flags.writeable)(x) is False
    x.flags.writeable = True
    assert step(x).flags.writeable
    assert ua.compile(lambda x: x.flags.writeable)(x) is True


def test_a_transformation_refuses_to_write_a_protected_array(backend: str) -> None:
    x = protected(ua.asarray([1.0, 2.0]))
    with pytest.raises(ReadOnlyError):
        ua.grad(lambda x: ua.sum(x.__imul__(2)))(x)
    assert_same(ua.grad(lambda x: ua.sum(x * x))(x), np.asarray([2.0, 4.0]))
    assert_same(x, np.asarray([1.0, 2.0]))


def test_a_trace_doesnt_follow_a_change_of_the_flag(backend: str) -> None:
    x = ua.zeros(3)
    with pytest.raises(TracedMutationError, match=r"flags\.writeable"):
        ua.grad(lambda y: ua.sum(protected(y)))(x)
    assert x.flags.writeable


def test_flags_that_are_facts_cant_be_set(backend: str) -> None:
    x = ua.zeros(3)
    x.setflags(write=None, align=True, uic=False)
    for change in (
        lambda: x.setflags(align=False),
        lambda: x.setflags(uic=True),
        lambda: setattr(x.flags, "aligned", False),
        lambda: x.flags.__setitem__("C", False),
    ):
        with pytest.raises(ValueError, match=r"aligned|written back|fact"):
            change()
    with pytest.raises(KeyError, match="a flag is one of"):
        x.flags["nothing"] = True
    assert x.flags.writeable


def test_a_view_of_a_protected_base_is_not_made_writeable_whatever_it_was(backend: str) -> None:
    values, x = pair()
    for base, view in ((values, values.T), (x, x.T)):
        base.flags.writeable = False
        with pytest.raises(ValueError, match=r"WRITEABLE|base of this view"):
            view.flags.writeable = True
        assert view.flags.writeable
