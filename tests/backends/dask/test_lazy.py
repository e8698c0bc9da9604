"""When dask computes: at looks that the caller asks for, each part of a history once, and nothing else."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.errors import ShapeError, UnknownShapeError
from unifyarr.testing.calling import FUNCTIONS, find, lifted
from unifyarr.testing.cases import CASES
from unifyarr.testing.comparing import assert_same

from .tasks import computed, kernels, later

# The length of such a result depends on values, and functions that need it say so.
NEEDS_LENGTHS = {"argwhere", "intersect1d", "setdiff1d", "setxor1d", "trim_zeros"}
NEEDS_COUNTS = {"bincount", "segment_max", "segment_mean", "segment_min", "segment_prod", "segment_sum"}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_call_computes_nothing(function: str) -> None:
    for call in CASES[function]:
        given = [lifted(function, x) for x in call.arrays]
        arrays = [later(x.to_numpy()) if isinstance(x, ua.Array) else x for x in given]
        with computed() as names:
            try:
                call.call(find(function), arrays)
            except UnknownShapeError:
                assert function in NEEDS_LENGTHS | NEEDS_COUNTS
        assert names == []


def test_views_writes_and_text_compute_nothing() -> None:
    x, index = later(np.arange(12.0).reshape(3, 4), 2), later(np.array([2, 0]))
    with computed() as names:
        x[1:, ::-1] += 1
        x[x > 3] = 0
        x[index] *= 2
        x.T[0] = x[:, 1][:3][0]
        y = x.copy()
        y.sort()
        ua.add(x, y, out=y[...])
        with ua.debug():
            z = x + y
        assert "not computed" in repr(x)
        assert "in 4 chunks of (2, 2)" in str(z)
        assert (x.shape, x.dtype, x.ndim, x.device) == ((3, 4), ua.float64, 2, "cpu")
        ua.shares_memory(x, x[1:])
        repr(ua.Container({"x": x}))
    assert names == []


def test_known_values_are_shown() -> None:
    x = ua.asarray([[1, 2], [3, 4]])
    with computed() as names:
        assert repr(x) == "array([[1, 2],\n       [3, 4]])"
        assert "not computed" in repr(x + 1)
    assert names == []
    with computed() as names:
        # A view of a computed array needs no other task.
        assert repr(x.T[0]) == "array([1, 3])"
    assert len(names) <= 2
    # HTML shows the elements where the text does.
    for each in (ua.asarray([[1, 2], [3, 4]])[0], x, x[0], x.T, x + 1, (x + 1)[0]):
        assert ("not computed" in repr(each)) == ("not computed" in each._repr_html_()), each


def test_computed_values_are_shown() -> None:
    x = later(np.arange(4), 2)
    y = x.copy()
    assert "in 2 chunks of (2,), not computed" in repr(x)
    assert repr(x.persist()) == repr(y.compute()) == "array([0, 1, 2, 3])"
    # A view that was computed is known, and its base isn't.
    base = y + 1
    assert repr(ua.reshape(base, (2, 2)).compute()) == "array([[1, 2],\n       [3, 4]])"
    assert "not computed" in repr(base)
    # One of all of its base has the native of that.
    assert repr(ua.reshape(base, (4,)).compute()) == repr(base) == "array([1, 2, 3, 4])"
    x += 1
    assert "not computed" in repr(x)


def test_a_look_is_kept() -> None:
    total = ua.sum(later(np.arange(4.0)))
    large = total > 5
    with kernels() as names:
        assert float(total) == 6
    assert names == ["positive", "sum", "sum"]
    with kernels() as names:
        assert float(total) == 6
        assert repr(total) == "array(6.)"
    assert names == []
    # Results computed from it earlier still have the history.
    with kernels() as names:
        assert bool(large)
    assert "sum" in names
    part = later(np.arange(4.0))[1:]
    assert part.tolist() == [1, 2, 3]
    with kernels() as names:
        assert part.tolist() == [1, 2, 3]
    assert names == []
    assert part.base is not None
    part.base[2] = 9
    assert part.tolist() == [1, 9, 3]


def test_a_large_look_isnt_kept() -> None:
    x = later(np.zeros(1 << 18), -1)
    np.asarray(x)
    with kernels() as names:
        np.asarray(x)
    assert names == ["positive"]


def test_a_loop_computes_each_step_once() -> None:
    def steps(settle: Any) -> list[int]:
        x, counts = ua.ones((64, 64), chunks=16), []
        for _ in range(4):
            x *= 0.5
            x += 1
            settle(x)
            largest = ua.max(abs(x))
            with kernels() as names:
                float(largest)
            counts.append(len(names))
        return counts

    growing, steady = steps(lambda x: None), steps(ua.persist)
    assert growing[3] - growing[2] == growing[1] - growing[0] > 16
    assert len(set(steady)) == 1


@pytest.mark.parametrize("method", ["compute", "persist"])
def test_computing_is_in_place(method: str) -> None:
    x = later(np.arange(12.0).reshape(3, 4), 2)
    view, box = x[1:], ua.Container({"y": x + 1, "z": ua.sum(x)})
    with kernels() as names:
        found = getattr(ua, method)(x, box)
    # Common parts are computed once for each chunk.
    assert names.count("positive") == 4
    assert found[0] is x
    assert found[1] is box
    assert getattr(x, method)() is x
    assert x.chunks == ((2, 1), (2, 2))
    with kernels() as names:
        assert view.tolist() == [[4, 5, 6, 7], [8, 9, 10, 11]]
        assert float(box.z) == 66
    assert names == []
    x[1, 0] = -1
    assert view[0, 0] == -1
    assert box.y[1, 0] == 5


def test_a_view_is_computed_without_its_base() -> None:
    x = later(np.arange(64.0), 8)
    view = x[3:5]
    with kernels() as names:
        assert view.persist() is view
        assert view.tolist() == [3, 4]
    assert names == ["positive"]
    x[3] = 7
    assert view.tolist() == [7, 4]


def test_containers_are_compared_in_one_graph() -> None:
    x = later(np.arange(4.0))
    one, other = ua.Container({"x": x + 1}), ua.Container({"x": x + 1.5})
    with kernels() as names:
        assert one.diff(other)
        assert not one.diff(other, atol=1)
    assert names.count("positive") == 2


def test_unknown_lengths_are_known_when_computed() -> None:
    for method in ("compute", "persist"):
        x = later(np.arange(6.0), 2)
        chosen = x[x > 2]
        with pytest.raises(UnknownShapeError, match=r"x\.compute|x\.persist"):
            chosen.reshape(3, 1)
        assert getattr(chosen, method)().shape == (3,)
        assert chosen[1:].tolist() == [4, 5]


def test_errors_of_values_come_when_they_are_computed() -> None:
    x = later(np.zeros((2, 2)))
    inverse = ua.linalg.inv(x)
    with pytest.raises(np.linalg.LinAlgError):
        inverse.compute()
    assert x.tolist() == [[0, 0], [0, 0]]


def test_dlpack_without_a_copy_gives_the_computed_values() -> None:
    held, values = ua.asarray(np.arange(6.0).reshape(2, 3)), np.arange(6.0).reshape(2, 3)
    for x, expected in ((held, values), (held[:, ::-1], values[:, ::-1]), (later(values, 1) * 2, values * 2)):
        found = np.from_dlpack(x, copy=False)
        np.testing.assert_array_equal(found, expected)
        # Who writes would think that ``x`` has it.
        assert not found.flags.writeable
        # A consumer that reads no marks.
        assert x.__dlpack__(copy=False) is not None
        copied = np.from_dlpack(x, copy=True)
        copied[...] = -1
        assert_same(x, expected)


def test_pickles_and_copies_keep_the_graph() -> None:
    x = ua.zeros((1000, 1000), chunks=100)
    x[3:5] += ua.arange(1000)
    x[x > 990] = ua.argmax(x, axis=0)[0]
    with computed() as names:
        data = pickle.dumps(x)
        other = pickle.loads(data)
        copies = copy.copy(x), copy.deepcopy(x)
    assert names == []
    assert len(data) < x.nbytes / 50
    assert other.chunks == x.chunks
    expected = x.to_numpy()
    for each in (other, *copies):
        each[0] = 1
        assert np.array_equal(each.to_numpy()[1:], expected[1:])
    assert float(x[0, 0]) == 0


def test_chunks() -> None:
    assert ua.zeros((4, 6), chunks=(2, -1)).chunks == ((2, 2), (6,))
    for made in (ua.ones, ua.empty):
        assert made(4, chunks=3).chunks == ((3, 1),)
    assert ua.full((4, 2), 1, chunks=(2, 2)).chunks == ((2, 2), (2,))
    assert ua.full((4, 2), ua.sum(later(np.ones(3))), chunks=(2, 2)).chunks == ((2, 2), (2,))
    assert ua.asarray(np.arange(4), chunks=2).chunks == ua.array([1, 2, 3, 4], chunks=2).chunks == ((2, 2),)
    x = ua.zeros((4, 6), chunks=(2, 3))
    for like in (ua.zeros_like, ua.ones_like, ua.empty_like):
        assert like(x).chunks == x.chunks
        assert like(x, chunks=4).chunks == ((4,), (4, 2))
    assert ua.full_like(x, 7).chunks == x.chunks
    with ua.using_chunks((2, 2)):
        assert ua.zeros((4, 4)).chunks == ((2, 2), (2, 2))
        assert ua.zeros(4).chunks == ((4,),)
        assert ua.zeros((4, 4), chunks=4).chunks == ((4,), (4,))
        assert ua.zeros_like(x).chunks == x.chunks
    with ua.using_chunks("auto"):
        assert ua.zeros(4, dtype="int8").chunks == ((4,),)
    with pytest.raises(ShapeError, match="divides 3 axes"):
        ua.zeros((4, 4), chunks=(2, 2, 2))
    with pytest.raises(ValueError, match=r"[Cc]hunks"):
        ua.zeros((4, 4), chunks=((3, 3), 4))


def test_rechunk() -> None:
    x = later(np.arange(12.0).reshape(3, 4), -1)
    view = x[1:]
    assert x.rechunk({0: 1}) is x
    assert x.chunks == ((1, 1, 1), (4,))
    x[1] += 1
    assert view.tolist() == [[5, 6, 7, 8], [8, 9, 10, 11]]


LARGE = 150_000
MADE = {
    "arange": lambda xp: xp.arange(LARGE),
    "arange_floats": lambda xp: xp.arange(0.1, LARGE * 0.3, 0.3),
    "arange_back": lambda xp: xp.arange(5, -2 * LARGE, -2, dtype="float64"),
    "arange_uint32": lambda xp: xp.arange(2, 2 * LARGE + 2, dtype="uint32"),
    "linspace": lambda xp: xp.linspace(0.1, 3.7, LARGE),
    "linspace_open": lambda xp: xp.linspace(-0.1, 3.7, LARGE, endpoint=False),
    "linspace_complex": lambda xp: xp.linspace(1j, 3.7, LARGE),
    "linspace_flat": lambda xp: xp.linspace(2.0, 2.0, LARGE),
    "eye": lambda xp: xp.eye(300, 600, k=-3),
    "fftfreq": lambda xp: xp.fft.fftfreq(LARGE, d=0.3),
    "fftfreq_odd": lambda xp: xp.fft.fftfreq(LARGE + 1),
    "rfftfreq": lambda xp: xp.fft.rfftfreq(2 * LARGE + 1, d=7),
}


@pytest.mark.parametrize("name", MADE)
def test_new_arrays_are_made_by_chunks(name: str) -> None:
    expected = MADE[name](np)
    with ua.using_chunks(70_001 if expected.ndim == 1 else 101):
        x = MADE[name](ua)
    assert len(x.chunks[0]) > 2
    # The graph holds no values.
    assert len(pickle.dumps(x)) < 10_000
    assert x.dtype == expected.dtype
    np.testing.assert_array_equal(x.to_numpy(), expected)


def test_kept_chunks_are_never_written() -> None:
    for method in ("compute", "persist"):
        x = later(np.arange(64.0).reshape(8, 8), 4)
        getattr(x, method)()
        run = ua.compile(lambda x: ua.sqrt(abs(x * 2 + 1)) - x)
        for _ in range(2):
            found = [(x * 2 + 1 - x).to_numpy(), run(x).to_numpy()]
            y = x.copy()
            y[2:] += 1
            y *= 3
            found.append(y.to_numpy())
        values = np.arange(64.0).reshape(8, 8)
        other = values.copy()
        other[2:] += 1
        for mine, expected in zip(found, [values + 1, np.sqrt(values * 2 + 1) - values, other * 3], strict=True):
            np.testing.assert_allclose(mine, expected)
        np.testing.assert_array_equal(x.to_numpy(), values)


def test_equal_arrays_have_one_name_and_are_computed_once() -> None:
    one, other = (later(np.arange(4.0)) * 2 for _ in range(2))
    assert one.native.name == other.native.name
    with kernels() as names:
        ua.compute(one, other)
    assert names.count("multiply") == 1
    one[0] = 9
    assert one.tolist() == [9, 2, 4, 6]
    assert other.tolist() == [0, 2, 4, 6]
