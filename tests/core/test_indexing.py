"""``x[key]`` and ``x[key] = value`` against NumPy."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import unifyarr as ua
import unifyarr.numpy as unp
from unifyarr.testing import has

from ..oracle import ALL, as_numpy, assert_same
from .random_keys import FORMS, HOWS, SHAPES, Case, cases, in_form, is_view, keys, numbered, outcome, to_numpy


def pair(shape: tuple[int, ...], dtype: str = "int64") -> tuple[np.ndarray, ua.Array]:
    """Return NumPy's array and ours, of equal values in separate memory."""
    values = numbered(shape, dtype)
    return values, ua.asarray(values, copy=True)


@st.composite
def basic_keys(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    return draw(npst.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True, max_dims=5))


@pytest.mark.parametrize("shape", SHAPES)
@given(data=st.data())
def test_basic_keys_select_numpys_elements(backend: str, shape: tuple[int, ...], data: st.DataObject) -> None:
    values, x = pair(shape)
    key = data.draw(basic_keys(shape))
    assert_same(x[key], values[key], what=key)


@pytest.mark.parametrize("shape", SHAPES)
@given(data=st.data())
def test_basic_keys_write_numpys_elements(backend: str, shape: tuple[int, ...], data: st.DataObject) -> None:
    values, x = pair(shape)
    key = data.draw(basic_keys(shape))
    selected = values[key]
    value = -numbered(data.draw(st.sampled_from([selected.shape, selected.shape[1:], ()])))
    form = data.draw(st.sampled_from(["array", "NumPy array", "list"]))
    values[key] = value
    x[key] = FORMS[form](value)
    assert_same(x, values, what=key)


@pytest.mark.parametrize("shape", SHAPES)
@given(data=st.data())
def test_keys_of_all_kinds_select_numpys_elements(backend: str, shape: tuple[int, ...], data: st.DataObject) -> None:
    values, x = pair(shape)
    key, form = data.draw(keys(shape)), data.draw(st.sampled_from(list(FORMS)))
    expected = outcome(values, in_form(key, "list") if form == "list" else key)
    if expected is None:
        with pytest.raises(IndexError):
            x[in_form(key, form)]
        return
    selected = x[in_form(key, form)]
    assert_same(selected, expected, what=key)
    if is_view(key, values[to_numpy(key)]):
        assert selected.base is x
        values[to_numpy(key)] = 0
    else:
        assert selected.base is None
    selected[...] = 0
    assert_same(x, values, what="a view is seen in the array, and a copy isn't")


@pytest.mark.parametrize("shape", SHAPES)
@given(data=st.data())
def test_keys_of_all_kinds_write_numpys_elements(backend: str, shape: tuple[int, ...], data: st.DataObject) -> None:
    values, x = pair(shape)
    key = data.draw(keys(shape))
    form = data.draw(st.sampled_from(["array", "NumPy array", "native"]))
    selected = outcome(values, key)
    if selected is None:
        with pytest.raises(IndexError):
            x[in_form(key, form)] = 0
    else:
        value = -numbered(data.draw(st.sampled_from([selected.shape, selected.shape[1:], ()])))
        values[to_numpy(key)] = value
        x[in_form(key, form)] = ua.asarray(value, copy=True)
    assert_same(x, values, what=key)


@pytest.mark.parametrize("how", HOWS)
def test_keys_mean_the_same_in_every_mode(backend: str, how: str) -> None:
    @settings(max_examples=25 if has(backend, "writes") else 6)
    @given(case=cases())
    def all_are_numpys(case: Case) -> None:
        HOWS[how](case)

    all_are_numpys()


ONE = np.array([1, 0])
PARTED = [
    np.s_[:, ONE, ..., ONE],
    np.s_[ONE, ..., ONE, :],
    np.s_[ONE, ..., 0, :],
    np.s_[0, ..., ONE, 1:],
    np.s_[:, np.array([True, False]), ..., ONE],
    np.s_[np.ones((2, 2), bool), ..., [0]],
    np.s_[True, ..., ONE],
    np.s_[ONE, None, ONE],
    np.s_[..., ONE, ONE],
    np.s_[:, ONE, ONE, ...],
]


@pytest.mark.parametrize("key", PARTED, ids=repr)
def test_an_ellipsis_that_covers_no_axis_parts_the_arrays_on_its_sides(backend: str, key: Any) -> None:
    shape = (2, 2, 2)
    case = Case(shape, key, -numbered(numbered(shape)[key].shape, "float64"))
    for compare in HOWS.values():
        compare(case)
    values, x = pair(shape)
    unp.add.at(x, key, case.value.astype(int))
    np.add.at(values, key, case.value.astype(int))
    assert_same(x, values)


@pytest.mark.parametrize("dtype", ALL)
def test_every_dtype_is_read_and_written(backend: str, dtype: str) -> None:
    values, x = pair((2, 3), dtype)
    index, mask = np.array([2, 0]), numbered((2, 3)) % 2 == 0
    for key in (np.s_[0, 1:], np.s_[::-1, ::2], np.s_[:, index], (np.array([1, 0]), index), mask):
        assert_same(x[key], values[key], what=key)
        values[key] = values[key][..., ::-1].copy()
        x[key] = x[key][..., ::-1]
        assert_same(x, values, what=key)


@pytest.mark.parametrize(
    "key",
    [
        np.int64(1),
        np.uint8(1),
        (np.int8(-1), 0),
        np.array(1),
        (np.array(0), slice(None)),
        True,
        False,
        np.True_,
        (None, True, 0),
        [],
        [1, 0],
        [True, False],
        [[0, 1], [1, 0]],
        ([0, 1], [2, 0]),
        ([0, 1], slice(None, None, -1)),
        (slice(None), [0, 2], None),
        ([0], None, [1]),
        np.zeros((0,), np.int64),
        np.zeros((2, 3), bool),
        np.ones((2, 3), bool),
        (...,),
        (),
        None,
    ],
    ids=repr,
)
def test_keys_of_every_spelling(backend: str, key: Any) -> None:
    values, x = pair((2, 3))
    assert_same(x[key], values[key])
    values[key] = -1
    x[key] = -1
    assert_same(x, values)


NUMBERS = {
    "NumPy array": np.asarray,
    "array": lambda number: ua.asarray(number),
    "native": lambda number: ua.asarray(number).native,
    "element": lambda number: ua.asarray([number, 7])[0],
    "view": lambda number: ua.asarray([number, 7])[0, ...],
    "uint8": lambda number: ua.asarray(number % 2, dtype="uint8"),
    "int32": lambda number: ua.asarray(number, dtype="int32"),
    "argmax": lambda number: ua.argmax(ua.asarray([0, 1, 2]) == number % 3),
    "scalar": np.int64,
}


@pytest.mark.parametrize("number", NUMBERS)
def test_a_0d_integer_array_is_an_integer(backend: str, number: str) -> None:
    wrap = NUMBERS[number]
    values, x = pair((2, 3))
    assert_same(x[wrap(1)], values[1])
    assert_same(x[wrap(1), wrap(1)], values[1, 1])
    assert_same(x[wrap(0) :], values[0:])
    assert x[wrap(1), wrap(1)].base is None
    assert x[wrap(1)].base is x
    assert x[None, :, wrap(1)].base is x
    x[wrap(1)] = 0
    values[1] = 0
    x[wrap(0)][1:] = 5
    values[0][1:] = 5
    x[..., wrap(1)] += 2
    values[..., 1] += 2
    x[wrap(1), wrap(1), ...][...] = 9
    values[1, 1] = 9
    part = x[:, wrap(1)]
    part[::-1][0] *= 3
    values[:, 1][::-1][0] *= 3
    assert_same(x, values)
    with pytest.raises((IndexError, TypeError)):
        x[wrap(1), wrap(1), wrap(1)]


@pytest.mark.parametrize("wrap", [np.asarray, lambda truth: ua.asarray(truth)], ids=["NumPy array", "array"])
def test_a_0d_truth_value_is_a_mask(backend: str, wrap: Any) -> None:
    values, x = pair((2, 3))
    for truth in (True, False):
        assert_same(x[wrap(truth)], values[np.asarray(truth)])
        assert x[wrap(truth)].base is None
        assert_same(x[0, wrap(truth)], values[0, np.asarray(truth)])


def find_and_write(xp: Any, v: Any, w: Any) -> list[Any]:
    """Write to rows and columns that arrays of integers name, as programs do."""
    for i in xp.arange(3):
        v[i][0] = 9
    v[:, xp.argmax(w)] += 1
    xp.copyto(v[xp.argmin(w)], 7)
    for i, j in zip(xp.asarray([0, 2]), xp.asarray([1, 3]), strict=True):
        v[i][j] = -1
        v[:, j][i] *= 4
    row = v[xp.argmax(w) + 1]
    row += 10
    row.reshape(2, 2)[0] = 5
    first, second = xp.asarray([0, 1])
    v[first], v[second] = v[second].copy(), v[first].copy()
    xp.add(v[first], 1, out=v[second])
    v[xp.argmax(w)].sort()
    xp.fill_diagonal(v[:, None, xp.argmax(w)], 3)
    v[second].fill(2)
    np.flip(v[first])[0] = 8
    return [v, v[first], v[first, second]]


def test_programs_write_where_arrays_of_integers_say(backend: str) -> None:
    given = np.arange(12.0).reshape(3, 4), np.array([0.0, 5.0, 1.0])
    wanted = find_and_write(np, *(each.copy() for each in given))
    found = find_and_write(unp, *(ua.asarray(each, copy=True) for each in given))
    for one, other in zip(found, wanted, strict=True):
        assert_same(one, other)


def test_a_view_stays_where_it_was_taken(backend: str) -> None:
    def program(x: ua.Array, i: ua.Array) -> list[ua.Array]:
        row, column = x[i], x[:, i]
        i += 1
        row[...] = 5
        x *= 2
        column[0] = 3
        row[::-1][0] += x[0, i]
        x[i - 1] -= 1
        return [row, column, x[i - 1, 2], row + 0, row.reshape((3, 1))]

    for function in (program, ua.compile(program), ua.compile(program, mode="debug")):
        for number in (0, 0, -2):
            values, x = pair((2, 3), "float64")
            i = ua.asarray(number)
            found = function(x, i)
            row, column = values[number], values[:, number]
            row[...] = 5
            values *= 2
            column[0] = 3
            row[::-1][0] += values[0, number + 1]
            row -= 1
            wanted = [row, column, row[2].copy(), row + 0, row.reshape((3, 1))]
            for one, other in zip([*found, x], [*wanted, values], strict=True):
                assert_same(one, other)
            assert i.item() == number + 1
            # The results are still views.
            for one, other in ((found[0], row), (found[1], column), (found[4], wanted[4])):
                assert one.base is x
                one += 1
                other += 1
            found[2][...] = 0
            assert_same(x, values)


def test_a_view_at_a_place_of_a_batch_is_written(backend: str) -> None:
    def program(x: ua.Array, i: ua.Array) -> ua.Array:
        row = x[i]
        x[0] = 1
        row += 10
        x[:, i][0] *= 2
        return x[i - 1] + row

    values = np.arange(18.0).reshape(3, 2, 3)
    wanted = [program(values[k].copy(), number).tolist() for k, number in enumerate((0, 1, 0))]
    for function in (ua.vmap(program), ua.compile(ua.vmap(program))):
        found = function(ua.asarray(values, copy=True), ua.asarray([0, 1, 0]))
        assert found.tolist() == wanted
    # An array that isn't of the batch can't have a value for each element.
    x = ua.asarray(values[0], copy=True)
    assert_same(ua.vmap(lambda i: x[i] * 2)(ua.asarray([1, 0])), values[0, ::-1] * 2)
    for write in (lambda i: operator.iadd(x[i], 1), lambda i: ua.add(x[i], 1, out=x[i])):
        with pytest.raises(ua.errors.TracedMutationError):
            ua.vmap(write)(ua.asarray([1, 0]))
    assert_same(x, values[0])


def test_a_transformation_in_a_trace_takes_a_view_at_a_place_that_is_not_known(backend: str) -> None:
    def program(x: ua.Array, i: ua.Array) -> ua.Array:
        row = x[i]
        slopes = ua.grad(lambda y: ua.sum(ua.checkpoint(lambda z: row * z * z)(y)))(ua.asarray([1.0, 2.0, 3.0]))
        row += 1
        return slopes + ua.vmap(lambda y: y * row)(ua.ones((2, 3)))[1]

    for function in (program, ua.compile(program), ua.compile(program, mode="debug")):
        x = ua.asarray(np.arange(6.0).reshape(2, 3), copy=True)
        assert function(x, ua.asarray(1)).tolist() == [10.0, 21.0, 36.0]
        assert x.tolist() == [[0.0, 1.0, 2.0], [4.0, 5.0, 6.0]]


OUT_OF_BOUNDS = [2, -3, (0, 3), (0, 0, 0), (..., 5), (..., 0, ...), [2], [-3], np.array([0, 2]), ([0], [3])]
WRONG = [0.5, "a", (0, 1.0), [0.5], np.array([1.0]), ([0, 1], [0, 1, 2]), np.ones(3, bool), np.ones((2, 2), bool)]


@pytest.mark.parametrize("key", OUT_OF_BOUNDS + WRONG, ids=repr)
def test_keys_that_dont_fit_raise_and_write_nothing(backend: str, key: Any) -> None:
    values, x = pair((2, 3))
    with pytest.raises((IndexError, TypeError)):
        x[key]
    with pytest.raises((IndexError, TypeError)):
        x[key] = 0
    assert_same(x, values)


@pytest.mark.parametrize("key", [([0, 7],), (slice(None), [7]), ([3],)], ids=repr)
def test_out_of_bounds_of_what_has_no_elements_is_an_index_error(backend: str, key: Any) -> None:
    for shape in ((3, 0), (0, 3)):
        x, values = ua.zeros(shape), np.zeros(shape)
        # The third call comes by the shortest way.
        for _ in range(3):
            try:
                values[key]
            except IndexError:
                for index in (key, tuple([each if type(each) is slice else ua.asarray(each) for each in key])):
                    with pytest.raises(IndexError):
                        x[index]
            else:
                assert_same(x[key], values[key])


@pytest.mark.parametrize("key", OUT_OF_BOUNDS, ids=repr)
def test_out_of_bounds_is_an_index_error(backend: str, key: Any) -> None:
    _, x = pair((2, 3))
    with pytest.raises(IndexError):
        x[key]


KEYS = [np.s_[0], np.s_[:, ::-1], np.s_[..., 1:], ([1, 0],), (slice(None), [0, 2]), np.arange(6).reshape(2, 3) % 2 == 0]


@pytest.mark.parametrize("key", KEYS, ids=repr)
@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("int64", math.nan),
        ("int8", math.inf),
        ("uint8", -1.5),
        ("int8", 1e20),
        ("int64", [math.nan]),
        ("int8", [300]),
        ("float64", 1j),
        ("float64", [1j]),
        ("int64", 1j),
    ],
    ids=repr,
)
def test_a_number_that_has_no_place_raises_and_changes_nothing(backend: str, key: Any, dtype: str, value: Any) -> None:
    values, x = pair((2, 3), dtype)
    with pytest.raises((ValueError, TypeError, OverflowError)) as expected:
        values[key] = value
    with pytest.raises((ValueError, TypeError, OverflowError)) as found:
        x[key] = value
    # For a list that holds complex numbers, NumPy's error is about a sequence.
    assert isinstance(found.value, expected.type) or isinstance(value, list)
    assert_same(x, values)


@pytest.mark.parametrize("key", [np.s_[0], ([1, 0],), np.arange(6).reshape(2, 3) % 2 == 0], ids=repr)
@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("int64", 2.7),
        ("int8", -2.7),
        ("int64", np.float64(0.5)),
        ("int64", np.array(-0.5)),
        ("int64", [1.5]),
        ("uint8", np.int64(257)),
        ("bool", 0.5),
        ("bool", 1j),
        ("int8", np.float32(3.5)),
    ],
    ids=repr,
)
def test_an_assignment_casts_as_numpys(backend: str, key: Any, dtype: str, value: Any) -> None:
    values, x = pair((2, 3), dtype)
    y = x.copy()
    values[key] = value
    x[key] = value
    assert_same(x, values)
    y[key] = ua.asarray(value)
    assert_same(y, values)


def test_an_assignment_warns_of_an_imaginary_part_that_it_drops(backend: str) -> None:
    x = ua.zeros(2)
    for value in (np.complex64(1 + 2j), ua.asarray([1 + 2j, 3])):
        with pytest.warns(np.exceptions.ComplexWarning, match="imaginary"):
            x[...] = value
    assert_same(x, np.array([1.0, 3.0]))


def test_what_else_writes_an_array_keeps_same_kind(backend: str) -> None:
    x = ua.asarray([1, 2])
    with pytest.raises(TypeError, match="same_kind"):
        x += 0.5
    with pytest.raises(TypeError, match="same_kind"):
        x[:1] += 0.5
    with pytest.raises(TypeError, match="same_kind"):
        ua.inplace_update(x, 0.5)
    with pytest.raises(TypeError, match="same_kind"):
        ua.sin(x, out=x)
    assert_same(x, np.array([1, 2]))


def test_programs_write_floats_into_integers(backend: str) -> None:
    image, counts = np.zeros((2, 2), np.uint8), np.zeros(3, np.int64)
    x, y = ua.asarray(image), ua.asarray(counts)
    for one, other in ((image, counts), (x, y)):
        one[...] = 255 * 0.5
        other[1] = one[0, 0] / 2
        one.fill(1.75)
        other.flat = 2.5
    assert_same(x, image)
    assert_same(y, counts)


@pytest.mark.parametrize("key", KEYS, ids=repr)
@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("float32", 1),
        ("float32", np.float64(0.5)),
        ("int8", np.int64(-3)),
        ("complex64", 2.5),
        ("float64", True),
        ("uint8", 200),
    ],
    ids=repr,
)
def test_a_value_of_the_same_kind_is_cast(backend: str, key: Any, dtype: str, value: Any) -> None:
    values, x = pair((2, 3), dtype)
    values[key] = value
    x[key] = value
    assert_same(x, values)


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_a_value_that_doesnt_broadcast_raises_and_changes_nothing(backend: str, key: Any) -> None:
    values, x = pair((2, 3))
    for value in (np.arange(5), np.ones((2, 2, 7), np.int64), np.zeros((0,), np.int64)):
        with pytest.raises((ValueError, IndexError)):
            x[key] = value
        with pytest.raises((ValueError, IndexError)):
            x[key] = ua.asarray(value)
    assert_same(x, values)


def test_a_python_integer_beyond_the_dtype_raises_and_changes_nothing(backend: str) -> None:
    values, x = pair((3,), "uint8")
    for key in (0, slice(None), [0, 1], np.array([True, False, True])):
        for value in (256, -1):
            with pytest.raises(OverflowError):
                x[key] = value
    assert_same(x, values)


def test_leading_axes_of_length_one_of_a_value_fall_away(backend: str) -> None:
    values, x = pair((2, 3))
    values[0] = np.array([[[1, 2, 3]]])
    x[0] = [[[1, 2, 3]]]
    assert_same(x, values)
    x[[1]] = np.array([[[4, 5, 6]]])
    values[[1]] = np.array([[[4, 5, 6]]])
    assert_same(x, values)


@pytest.mark.parametrize("value", [[3.0], [[3.0]], np.array([3.0])], ids=repr)
def test_an_element_takes_no_array_of_an_axis(backend: str, value: Any) -> None:
    # NumPy sets an element by a scalar or a 0-d array only; an element's view takes any value that broadcasts.
    values, x = pair((2,), "float64")
    for taken in (value, ua.asarray(value)):
        with pytest.raises(ValueError, match="shape"):
            x[0] = taken
        assert_same(x, values)
        with pytest.raises(ValueError, match="shape"):
            x[(0,)] = taken
        assert_same(x, values)
        truth = ua.zeros(2, dtype="bool")
        with pytest.raises(ValueError, match="shape"):
            truth[0] = ua.astype(ua.asarray(taken), "bool")
        assert not ua.any(truth)
        with pytest.raises(ValueError, match="shape"):
            x[ua.asarray(0)] = taken
        assert_same(x, values)
        x[0, ...] = taken
        assert x[0].item() == 3
        x[0] = ua.asarray(10.0)


def test_out_of_bounds_is_an_error_where_nothing_is_written(backend: str) -> None:
    x = ua.zeros((2, 0))
    for array in (x, ua.variable(x)) if has(backend, "writes") or has(backend, "variables") else (x,):
        with pytest.raises(IndexError):
            array[[0, 2]] = 1
        array[[0, -1]] = 1


def test_of_equal_indices_the_last_one_wins(backend: str) -> None:
    x = ua.zeros(3, dtype="int64")
    x[[0, 2, 0, 0]] = [1, 2, 3, 4]
    assert_same(x, np.array([4, 0, 2]))


def test_in_place_operators_on_indexed_parts(backend: str) -> None:
    values, x = pair((2, 3))
    for key in (0, np.s_[:, 1:], np.s_[::-1], [1], (slice(None), [2, 0]), values % 2 == 0, (1, 2)):
        values[key] += 5
        x[key] += 5
        values[key] *= 2
        x[key] *= 2
        assert_same(x, values, what=key)


def test_a_mask_assignment_may_read_what_it_writes(backend: str) -> None:
    values, x = pair((4,))
    mask = np.array([True, True, False, True])
    values[mask] = values[::-1][mask].copy()
    x[mask] = x[::-1][mask]
    assert_same(x, values)
    values[[0, 1, 2]] = values[1:].copy()
    x[[0, 1, 2]] = x[1:]
    assert_same(x, values)


def test_an_index_array_may_be_the_array_it_indexes(backend: str) -> None:
    values = np.array([2, 0, 1])
    x = ua.asarray(values, copy=True)
    assert_same(x[x], values[values])
    x[x] = x
    expected = values.copy()
    expected[values] = values
    assert_same(x, expected)


def test_writing_into_a_result_of_integers_leaves_the_array_alone(backend: str) -> None:
    values, x = pair((2, 3))
    element = x[1, 2]
    assert element.shape == ()
    assert element.base is None
    element[...] = 0
    assert_same(x, values)
    # With an ellipsis it is a 0-d view.
    x[1, 2, ...][...] = 0
    assert as_numpy(x)[1, 2] == 0


def test_an_index_of_another_backend_is_an_error(backend: str) -> None:
    other = "torch" if backend == "numpy" else "numpy"
    if other not in ua.available_backends():
        pytest.skip(f"{other} is not installed")
    _, x = pair((4,))
    index = ua.asarray([0, 1], backend=other)
    with pytest.raises(ua.errors.BackendMismatchError):
        x[index]
    with pytest.raises(ua.errors.BackendMismatchError):
        x[index] = 0


def test_an_empty_mask_selects_nothing_of_an_axis_of_any_length(backend: str) -> None:
    values = np.arange(6.0).reshape(2, 3)
    x = ua.asarray(values)
    for shape in ((0,), (2, 0)):
        mask = np.zeros(shape, bool)
        assert_same(x[mask], values[mask])
        x[mask] = 7
        assert_same(x, values)
    with pytest.raises(IndexError):
        x[np.zeros(3, bool)]


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)])
def test_a_mask_without_elements_selects_nothing(backend: str, shape: tuple[int, ...]) -> None:
    def write(x: ua.Array, mask: ua.Array) -> None:
        x[mask] = 5.0
        x[mask] = ua.asarray(7.0)

    for function in (write, ua.compile(write)):
        x = ua.zeros((2, 3))
        function(x, ua.zeros(shape, dtype="bool"))
        assert_same(x, np.zeros((2, 3)))
