"""NumPy's functions that write into an array of ours: through the one write path, or not at all."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua

from .natives import variable
from .oracle import as_numpy, assert_same

VALUES = np.arange(1.0, 10.0).reshape(3, 3)
VIEWS: dict[str, Callable[[Any], Any]] = {
    "array": lambda x: x,
    "slice": lambda x: x[1:, 1:],
    "reversed": lambda x: x[::-1],
    "transposed": lambda x: x.T,
    "transposed and reversed": lambda x: x.T[:, ::-1],
    "column": lambda x: x[:, ::2],
}
each_view = pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS.keys())

Call = Callable[[Any], Any]
WRITES: dict[str, Call] = {
    "copyto": lambda x: np.copyto(x, 5),
    "copyto, unsafe": lambda x: np.copyto(x, np.array("2.5"), casting="unsafe"),
    "copyto, where": lambda x: np.copyto(x, -x, where=np.asarray(x) > 4),
    "fill_diagonal": lambda x: np.fill_diagonal(x, [5, 6]),
    "put": lambda x: np.put(x, [0, 3], [70, 80]),
    "put, clip": lambda x: np.put(x, [0, 300], [70, 80], mode="clip"),
    "putmask": lambda x: np.putmask(x, np.asarray(x) > 4, [7, 8]),
    "place": lambda x: np.place(x, np.asarray(x) > 4, [7, 8]),
    "put_along_axis": lambda x: np.put_along_axis(x, np.array([[1], [0], [1]])[: len(x)], 99, 1),
    "nan_to_num": lambda x: np.nan_to_num(x, copy=False, nan=0.0),
    "add.at": lambda x: np.add.at(x, ([0, 0], [1, 1]), 10),
    "negative.at": lambda x: np.negative.at(x, [0]),
    "add, where": lambda x: np.add(x, 1, out=x, where=np.asarray(x) > 4),
    "cumsum": lambda x: np.cumsum(x, 1, None, x),
    "clip": lambda x: np.clip(x, 3, 6, x),
    "heaviside": lambda x: np.heaviside(x, 0.5, out=x),
}
each_write = pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())


@each_view
@each_write
def test_what_numpy_writes_arrives(backend: str, write: Call, view: Callable[[Any], Any]) -> None:
    values = VALUES.copy()
    values[0, 2] = np.nan
    x = ua.asarray(values, copy=True)
    with np.errstate(all="ignore"):
        expected = write(view(values))
        result = write(view(x))
    assert (result is None) == (expected is None)
    assert_same(x, values)


@each_write
def test_what_numpy_writes_arrives_in_a_variable(backend: str, write: Call) -> None:
    values = VALUES.copy()
    x = ua.asarray(variable(backend, values))
    native = x.native
    write(values)
    write(x)
    assert x.native is native
    assert_same(x, values)


@each_write
@pytest.mark.parametrize(
    "repeat", [lambda x: ua.broadcast_to(x[0], (3, 3)), ua.linalg.diagonal], ids=["row", "diagonal"]
)
def test_numpy_writes_into_nothing_that_is_read_only(backend: str, write: Call, repeat: Callable[[Any], Any]) -> None:
    x = ua.asarray(VALUES, copy=True)
    with pytest.raises(ValueError, match="read-only"):
        write(repeat(x))
    assert_same(x, VALUES)


FAILS: dict[str, Call] = {
    "copyto, shape": lambda x: np.copyto(x, np.ones(7)),
    "copyto, dtype": lambda x: np.copyto(x, 1j),
    "put, index": lambda x: np.put(x, [0, 100], 7),
    "fill_diagonal": lambda x: np.fill_diagonal(x[0], 7),
    "add.at": lambda x: np.add.at(x, [0, 100], 7),
    "put_along_axis": lambda x: np.put_along_axis(x, np.array([[0], [7], [0]]), 1, 1),
}


@pytest.mark.parametrize("write", FAILS.values(), ids=FAILS.keys())
def test_what_numpy_refuses_is_left_as_it_was(backend: str, write: Call) -> None:
    x = ua.asarray(VALUES, copy=True)
    with pytest.raises((TypeError, ValueError, IndexError)):
        write(x)
    assert_same(x, VALUES)


@pytest.mark.parametrize(
    "read",
    [
        lambda x: np.apply_along_axis(lambda row: row.fill(0), 0, x),
        lambda x: np.apply_over_axes(lambda part, axis: part.fill(0), x, [0]),
    ],
)
def test_no_other_function_of_numpys_writes_into_what_it_was_lent(backend: str, read: Call) -> None:
    x = ua.asarray(VALUES, copy=True)
    with pytest.raises(ValueError, match="read-only"):
        read(x)
    assert_same(x, VALUES)


@pytest.mark.parametrize(
    "read",
    [
        lambda x: np.median(x, overwrite_input=True),
        lambda x: np.percentile(x, 30, 0, None, True),
        lambda x: np.nanquantile(x, 0.3, overwrite_input=True),
    ],
)
def test_numpy_may_destroy_its_input_and_doesnt(backend: str, read: Call) -> None:
    x = ua.asarray(VALUES[::-1], copy=True)
    assert_same(read(x), read(VALUES[::-1].copy()))
    assert_same(x, VALUES[::-1])


OUTS: dict[str, Callable[..., Any]] = {
    "sum": lambda x, out: np.sum(x, 0, None, out),
    "cumulative_sum": lambda x, out: np.cumulative_sum(x[0], out=out),
    "median": lambda x, out: np.median(x, 0, out),
    "percentile": lambda x, out: np.percentile(x, 40, 0, out),
    "nanmean": lambda x, out: np.nanmean(x, 0, None, out),
    "take": lambda x, out: np.take(x, [0, 5, 2], None, out),
    "dot": lambda x, out: np.dot(x, x[0], out),
    "concatenate": lambda x, out: np.concatenate([x[0, :1], x[1, 1:]], 0, out),
    "einsum": lambda x, out: np.einsum("ij,j", x, x[0], out=out),
    "add.reduce": lambda x, out: np.add.reduce(x, 0, None, out),
    "hypot": lambda x, out: np.hypot(x[0], x[1], out),
    "ldexp": lambda x, out: np.ldexp(x[0], 2, out),
}


@pytest.mark.parametrize("call", OUTS.values(), ids=OUTS.keys())
def test_out_of_numpys_functions_by_place_and_by_name(backend: str, call: Callable[..., Any]) -> None:
    x, expected = ua.asarray(VALUES, copy=True), np.zeros(3)
    call(VALUES, expected)
    base = ua.zeros((3, 3))
    # NumPy's dot refuses arrays that aren't C-contiguous.
    strided = [] if call is OUTS["dot"] else [base[::-1, 0]]
    for out in (ua.zeros(3), base[1], *strided, ua.zeros(3, backend="numpy").native):
        assert call(x, out) is out
        assert_same(ua.asarray(out), expected)
    with pytest.raises(ValueError, match="read-only"):
        call(x, ua.broadcast_to(ua.zeros(1), (3,)))


def test_outs_that_numpys_dot_refuses(backend: str) -> None:
    for x, base in ((VALUES, np.zeros((3, 3))), (ua.asarray(VALUES), ua.zeros((3, 3)))):
        for out in (base[::-1, 0], base[0].astype("float32")):
            with pytest.raises(ValueError, match="C-"):
                np.dot(x, x[0], out)
            assert not np.asarray(out).any()


def test_several_outs(backend: str) -> None:
    x, values = ua.asarray(VALUES / 2, copy=True), VALUES / 2
    fraction, whole = ua.zeros((3, 3)), ua.zeros((3, 3))
    result = np.modf(x, out=(fraction, whole))
    assert result[0] is fraction
    assert result[1] is whole
    expected = np.modf(values)
    assert_same(fraction, expected[0])
    assert_same(whole, expected[1])
    made, given = np.modf(x, out=(None, whole))
    assert isinstance(made, ua.Array)
    assert given is whole
    both = ua.zeros((4, 3))
    with pytest.raises(ValueError, match="overlap"):
        np.modf(x, out=(both[:3], both[1:]))
    assert_same(both, np.zeros((4, 3)))


def test_numpy_writes_an_array_of_ours_into_its_own(backend: str) -> None:
    x, plain = ua.asarray(VALUES, copy=True), np.zeros((3, 3))
    np.copyto(plain, x[::-1])
    np.testing.assert_array_equal(plain, VALUES[::-1])
    np.putmask(plain, x > 4, -x)
    np.testing.assert_array_equal(plain, np.where(VALUES > 4, -VALUES, VALUES[::-1]))
    np.add.at(plain, ([0], [0]), x[0, 0])
    assert plain[0, 0] == VALUES[2, 0] + 1


def test_arrays_of_two_backends_dont_meet_in_numpys_functions() -> None:
    names = ua.available_backends()
    if len(names) < 2:
        pytest.skip("one backend is installed")
    x, y = (ua.zeros(3, backend=name) for name in names[:2])
    for call in (lambda: np.concatenate([x, y]), lambda: np.heaviside(x, y), lambda: np.copyto(x, y)):
        with pytest.raises(ua.errors.BackendMismatchError):
            call()


def test_every_function_that_takes_out_says_so_in_its_signature() -> None:
    # It tells where NumPy's ``out`` is among positional arguments.
    for function in (np.sum, np.cumsum, np.clip, np.dot, np.concatenate, np.take, np.einsum, np.choose, np.compress):
        assert "out" in inspect.signature(function).parameters


def test_numpys_shuffle_warns_of_views(backend: str) -> None:
    x = ua.asarray(VALUES, copy=True)
    with pytest.warns(UserWarning, match="view semantics"):
        np.random.default_rng(0).shuffle(x)
    # The cause of the warning doesn't concern elements, nor our own generator.
    flat = ua.arange(9)
    with pytest.warns(UserWarning, match="view semantics"):
        np.random.default_rng(0).shuffle(flat)
    assert sorted(flat.tolist()) == list(range(9))
    rows = as_numpy(ua.random.Generator(0).permutation(ua.asarray(VALUES, copy=True)))
    assert sorted(map(tuple, rows)) == sorted(map(tuple, VALUES))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.reshape(x, (9,)),
        np.ravel,
        np.transpose,
        lambda x: np.swapaxes(x, 0, 1),
        lambda x: np.broadcast_to(x, (2, 3, 3)),
        np.flip,
        lambda x: np.split(x, 3)[0],
        np.diagonal,
    ],
)
def test_numpys_functions_return_the_views_that_numpy_returns(backend: str, call: Call) -> None:
    x = ua.asarray(VALUES, copy=True)
    values = VALUES.copy()
    result, expected = call(x), call(values)
    assert_same(result, expected)
    assert ua.shares_memory(result, x)
    if expected.flags.writeable:
        result += 100
        expected += 100
        assert_same(x, values)
    else:
        with pytest.raises(ua.errors.ReadOnlyError):
            result += 100
