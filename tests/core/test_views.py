"""Views: a write to one is seen by all that share its memory, on every backend."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import unifyarr as ua
from unifyarr._core.engines.registry import load
from unifyarr.testing import lacks, needs

from ..natives import values_of
from ..oracle import as_numpy, assert_same

# Each makes the same view of an array of the shape (2, 1, 3), by NumPy or by us.
View = Callable[[ModuleType, Any], Any]
INDEXED: dict[str, View] = {
    "x[0]": lambda xp, x: x[0],
    "x[-1, 0]": lambda xp, x: x[-1, 0],
    "x[0, ...]": lambda xp, x: x[0, ...],
    "x[int64(1)]": lambda xp, x: x[np.int64(1)],
    "x[int64(1), :]": lambda xp, x: x[np.int64(1), :],
    "x[..., 0]": lambda xp, x: x[..., 0],
    "x[1, 0, 2, ...]": lambda xp, x: x[1, 0, 2, ...],
    "x[1:]": lambda xp, x: x[1:],
    "x[:, :, ::2]": lambda xp, x: x[:, :, ::2],
    "x[::-1]": lambda xp, x: x[::-1],
    "x[..., ::-2]": lambda xp, x: x[..., ::-2],
    "x[:0]": lambda xp, x: x[:0],
    "x[None]": lambda xp, x: x[None],
    "x[1, None, ..., 1:]": lambda xp, x: x[1, None, ..., 1:],
    "x[...]": lambda xp, x: x[...],
    "x[:]": lambda xp, x: x[:],
}
FUNCTIONS: dict[str, View] = {
    "T": lambda xp, x: x.T,
    "mT": lambda xp, x: x.mT,
    "ravel()": lambda xp, x: x.ravel(),
    "transpose(1, 0, 2)": lambda xp, x: x.transpose(1, 0, 2),
    "matrix_transpose": lambda xp, x: xp.matrix_transpose(x),
    "permute_dims": lambda xp, x: xp.permute_dims(x, (2, 0, 1)),
    "moveaxis": lambda xp, x: xp.moveaxis(x, 0, -1),
    "reshape": lambda xp, x: xp.reshape(x, (3, 2)),
    "reshape(copy=False)": lambda xp, x: xp.reshape(x, (6,), copy=False),
    "x.reshape": lambda xp, x: x.reshape(2, -1),
    "expand_dims": lambda xp, x: xp.expand_dims(x, axis=1),
    "squeeze": lambda xp, x: xp.squeeze(x, axis=1),
    "flip": lambda xp, x: xp.flip(x),
    "flip(axis=2)": lambda xp, x: xp.flip(x, axis=2),
    "unstack": lambda xp, x: xp.unstack(x, axis=2)[1],
    "split": lambda xp, x: xp.split(x, [2], axis=2)[1],
    "swapaxes": lambda xp, x: xp.swapaxes(x, 0, -1),
    "rot90": lambda xp, x: xp.rot90(x),
    "rot90 of other axes": lambda xp, x: xp.rot90(x, 2, axes=(2, 0)),
    "real": lambda xp, x: xp.real(x),
}
PARTS: dict[str, View] = {
    "real": lambda xp, x: xp.real(x),
    "imag": lambda xp, x: xp.imag(x),
    "x.real[::-1]": lambda xp, x: x.real[::-1],
    "x.T.imag": lambda xp, x: x.T.imag,
}
VIEWS = INDEXED | FUNCTIONS
SHAPE = (2, 1, 3)


def pair(shape: tuple[int, ...] = SHAPE, dtype: str = "float64") -> tuple[np.ndarray, ua.Array]:
    """Return NumPy's array and ours, of equal values in separate memory."""
    values = np.arange(10, 10 + np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    if dtype.startswith("complex"):
        values += 1j * values[::-1] * 100
    return values, ua.asarray(values, copy=True)


CASES = {name: (make, "float64") for name, make in VIEWS.items()}
CASES |= {f"{name} of complex": (make, "complex128") for name, make in PARTS.items()}
each_view = pytest.mark.parametrize(("make", "dtype"), CASES.values(), ids=CASES.keys())


def some(*names: str) -> pytest.MarkDecorator:
    """Parametrise over some views, by name."""
    return pytest.mark.parametrize("make", [VIEWS[name] for name in names], ids=names)


@each_view
def test_a_view_has_numpys_values(backend: str, make: View, dtype: str) -> None:
    values, x = pair(dtype=dtype)
    assert_same(make(ua, x), make(np, values))


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
@pytest.mark.parametrize("make", VIEWS.values(), ids=VIEWS.keys())
def test_ravel_is_a_view_of_contiguous_arrays_only(backend: str, make: View, dtype: str) -> None:
    values, x = pair(dtype=dtype)
    flat, expected = make(ua, x).ravel(), make(np, values).ravel()
    flat[...] = 7
    expected[...] = 7
    assert_same(flat, expected)
    assert_same(x, values)


@each_view
def test_a_write_to_a_view_is_seen_by_the_base(backend: str, make: View, dtype: str) -> None:
    values, x = pair(dtype=dtype)
    view, expected = make(ua, x), make(np, values)
    for written in (7, 8):
        view[...] = written
        expected[...] = written
        assert_same(x, values)
        assert_same(view, expected)
    if view.ndim and view.size:
        view[0] = view[0] * 3
        expected[0] = expected[0] * 3
        view += 1
        expected += 1
        assert_same(x, values)


@each_view
def test_a_write_to_the_base_is_seen_by_a_view(backend: str, make: View, dtype: str) -> None:
    values, x = pair(dtype=dtype)
    view, expected = make(ua, x), make(np, values)
    # Looked at before, looked at after, and between two writes.
    assert_same(view, expected)
    for written in (7, 8):
        x[1, :, 1:] = written
        values[1, :, 1:] = written
        assert_same(view, expected)
    x *= 2
    values *= 2
    assert_same(view, expected)
    ua.negative(x, out=x)
    np.negative(values, out=values)
    assert_same(view, expected)


@each_view
def test_siblings_see_each_other(backend: str, make: View, dtype: str) -> None:
    values, x = pair(dtype=dtype)
    one, other = make(ua, x), x[..., ::-1]
    assert_same(other, values[..., ::-1])
    one[...] = 5
    make(np, values)[...] = 5
    assert_same(other, values[..., ::-1])
    other[0] = 6
    values[..., ::-1][0] = 6
    assert_same(one, make(np, values))


@each_view
def test_the_base_of_a_view_is_the_owner(backend: str, make: View, dtype: str) -> None:
    _, x = pair(dtype=dtype)
    assert x.base is None
    view = make(ua, x)
    assert view.base is x
    assert view[...].base is x
    if view.ndim:
        assert view[::-1].base is x
        assert view.T[..., 1:].base is x


@each_view
def test_copies_of_a_view_are_independent(backend: str, make: View, dtype: str) -> None:
    values, x = pair(dtype=dtype)
    view = make(ua, x)
    copy = view.copy()
    assert copy.base is None
    copy[...] = 0
    assert_same(x, values)
    x[...] = 1
    assert_same(copy, np.zeros_like(make(np, values)))


# Views of any array with at least one axis, so that they can be chained.
LINKS: dict[str, View] = {
    "T": lambda xp, x: x.T,
    "[1:]": lambda xp, x: x[1:],
    "[..., :-1]": lambda xp, x: x[..., :-1],
    "[::-1]": lambda xp, x: x[::-1],
    "[..., ::2]": lambda xp, x: x[..., ::2],
    "[..., ::-1]": lambda xp, x: x[..., ::-1],
    "[None]": lambda xp, x: x[None],
    "[..., None]": lambda xp, x: x[..., None],
    "[0]": lambda xp, x: x[0, ...],
    "flip": lambda xp, x: xp.flip(x),
    "moveaxis": lambda xp, x: xp.moveaxis(x, 0, -1),
    "real": lambda xp, x: xp.real(x),
    "imag": lambda xp, x: xp.imag(x) if x.dtype.kind == "c" else x,
    "ravel": lambda xp, x: xp.reshape(x, (-1,)),
}


@given(names=st.lists(st.sampled_from(list(LINKS)), min_size=2, max_size=4), complex_=st.booleans())
def test_chains_of_views_write_through(backend: str, names: list[str], complex_: bool) -> None:
    values, x = pair((2, 3, 4), "complex128" if complex_ else "float64")
    chain = [(values, x)]
    for name in names:
        before, view = chain[-1]
        assume(before.ndim > 0 and before.size > 0)
        after = LINKS[name](np, before)
        # Where NumPy has to copy, layout decides, which engines may differ in.
        assume(np.shares_memory(after, values))
        chain.append((after, LINKS[name](ua, view)))
    for number, (expected, view) in enumerate(chain[::-1]):
        assert_same(view, expected, what=names)
        expected[...] = -number
        view[...] = -number
        expected[..., :1] += 100
        view[..., :1] += 100
        for other, same in chain:
            assert_same(same, other, what=names)


@some("x[1:]", "x[::-1]", "reshape", "T")
def test_in_place_operators_are_seen_by_views_and_names(backend: str, make: View) -> None:
    values, x = pair()
    view, name = make(ua, x), x
    x += 1
    values += 1
    assert name is x
    assert_same(name, values)
    assert_same(view, make(np, values))
    view -= 5
    expected = make(np, values)
    expected -= 5
    assert_same(name, values)


@pytest.mark.parametrize("length", [(2,), (2, 3)], ids=repr)
def test_elements_swap_through_a_temporary(backend: str, length: tuple[int, ...]) -> None:
    # In NumPy an element is a scalar, independent of the array; a row is a view.
    values, x = pair(length)
    for array in (values, x):
        t = array[0]
        array[0] = array[1]
        array[1] = t
    assert_same(x, values)
    assert len(length) > 1 or as_numpy(x).tolist() == [11, 10]


def test_rows_swap_in_one_statement_of_copies(backend: str) -> None:
    values, x = pair((2, 3))
    x[0], x[1] = x[1].copy(), x[0].copy()
    assert_same(x, values[::-1])
    x[[0, 1]] = x[[1, 0]]
    assert_same(x, values)


def test_an_elements_copy_doesnt_follow_the_array(backend: str) -> None:
    values, x = pair((4,))
    element, view = x[1], x[1, ...]
    x[1] = 0
    assert element.base is None
    assert view.base is x
    assert_same(element, values[1])
    assert_same(view, np.float64(0))


READ_ONLY: dict[str, View] = {
    "broadcast_to": lambda xp, x: xp.broadcast_to(x, (4, 2, 1, 3)),
    "broadcast_to, same shape": lambda xp, x: xp.broadcast_to(x, SHAPE),
    "a view of it": lambda xp, x: xp.broadcast_to(x, (4, 2, 1, 3))[1, ::-1],
    "of a view": lambda xp, x: xp.broadcast_to(x[..., ::-1], (4, 2, 1, 3)),
    "reshaped": lambda xp, x: xp.broadcast_to(x, (1, 2, 1, 3)).T,
}


@pytest.mark.parametrize("make", READ_ONLY.values(), ids=READ_ONLY.keys())
def test_read_only_views_refuse_every_write(backend: str, make: View) -> None:
    values, x = pair()
    view = make(ua, x)
    assert_same(view, make(np, values))
    for write in (
        lambda: view.__setitem__(..., 0),
        lambda: view.__setitem__(0, view[0]),
        lambda: view.__setitem__([0], 0),
        lambda: view.__setitem__(view == view, 0),
        lambda: view.__iadd__(1),
        lambda: ua.negative(view, out=view),
        lambda: ua.inplace_update(view, 0),
        lambda: ua.inplace_increment(view, 0),
        lambda: view.fill(0),
        lambda: view[..., 0].__setitem__(..., 0),
    ):
        with pytest.raises(ValueError, match="read-only"):
            write()
    assert_same(x, values)
    # Its elements change all the same.
    x[1] = 0
    values[1] = 0
    assert_same(view, make(np, values))


def test_a_copy_of_a_read_only_view_can_be_written(backend: str) -> None:
    _, x = pair((3,))
    copy = ua.broadcast_to(x, (2, 3)).copy()
    copy[0] = 0
    assert_same(copy, np.array([[0.0, 0, 0], [10, 11, 12]]))


def test_a_reshape_that_cant_be_a_view_copies_or_raises(backend: str) -> None:
    values, x = pair((2, 3))
    copy = ua.reshape(x.T, (6,))
    assert_same(copy, values.T.reshape(6))
    assert copy.base is None
    copy[...] = 0
    assert_same(x, values)
    with pytest.raises(ValueError, match="copy"):
        ua.reshape(x.T, (6,), copy=False)
    independent = ua.reshape(x, (6,), copy=True)
    independent[...] = 0
    assert_same(x, values)


def test_assigning_to_parts_and_flat_writes_through(backend: str) -> None:
    values, x = pair((2, 3), "complex128")
    for array in (values, x):
        array.real = 1
        array.imag = array.real[::-1] * 2
        array.flat = array.ravel()[::-1].copy()
        array.T.real[0] = 9
    assert_same(x, values)
    x.flat = 0
    assert_same(x, np.zeros((2, 3), "complex128"))


def test_flat_of_an_array_that_has_no_flat_view_writes_through(backend: str) -> None:
    values, x = pair((2, 3))
    x.T.flat = np.arange(6.0)
    values.T.flat = np.arange(6.0)
    assert_same(x, values)


def test_a_view_keeps_its_base_alive(backend: str) -> None:
    values, x = pair((4,))
    view, reverse = x[1:], x[::-1]
    del x
    view[0] = 0
    values[1] = 0
    assert_same(reverse, values[::-1])


def living() -> int:
    """Return how many arrays there are."""
    # By type(): isinstance() would ask lazy modules for their ``__class__``, which some answer by a warning.
    return sum(issubclass(type(each), ua.Array) for each in gc.get_objects())


@pytest.mark.chunks(8)
@some("x[1:]", "x[::-1]", "reshape")
def test_2000_dropped_views_leave_nothing_behind(backend: str, make: View) -> None:
    _, x = pair()
    make(ua, x)[...] = 0
    gc.collect()
    before = living()
    gc.disable()
    try:
        gone = []
        for number in range(2_000):
            if number % 50 == 0:
                # Else a lazy engine adds each step to a copy of all before it.
                ua.persist(x)
            view = make(ua, x)
            view[0] = 1
            # Read, so that a recipe has kept its value.
            assert view.native is not None
            gone.append(weakref.ref(view))
        del view
        # Freed with the last reference: there is no cycle to collect.
        assert not any(ref() is not None for ref in gone)
        assert living() == before
    finally:
        gc.enable()


@needs("values", why="what is computed later keeps what it's computed from")
@lacks("writes", why="a write makes a new native array on immutable engines only")
@pytest.mark.parametrize("make", VIEWS.values(), ids=VIEWS.keys())
def test_a_stale_view_keeps_no_old_native_alive(backend: str, make: View) -> None:
    _, x = pair()
    view = make(ua, x)
    assert view.native is not None
    old = weakref.ref(x.native)
    x[...] = 0
    gc.collect()
    assert old() is None
    assert_same(view, np.zeros(view.shape))


@lacks("writes", why="natives change with the array on mutable engines")
def test_a_write_rebinds_and_leaves_natives_alone_that_were_taken_before(backend: str) -> None:
    values, x = pair((4,))
    taken, of_view = x.native, x[1:].native
    x[::-1][0] = 0
    x += 1
    to_numpy = load(backend).to_numpy
    np.testing.assert_array_equal(to_numpy(taken), values)
    np.testing.assert_array_equal(to_numpy(of_view), values[1:])


@needs("writes", why="natives can't be written")
def test_native_views_share_the_memory_of_mutable_engines(backend: str) -> None:
    values, x = pair((2, 3))
    x.native[0, 1] = 0
    values[0, 1] = 0
    view = x.T[1:]
    assert_same(x, values)
    view.native[0] = 5
    values.T[1:][0] = 5
    assert_same(x, values)
    x[::-1][...] = 6
    assert (values_of(x.native) == 6).all()
