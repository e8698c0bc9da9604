"""Regions by the machine: the bits and the warnings of their steps run one by one."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua
from tests.graph.fusion.random_regions import compare, make, run, values
from tests.oracle import few
from unifyarr.graph.fusion import machine
from unifyarr.graph.fusion.agreeing import can_run
from unifyarr.graph.fusion.region import Axis, FusedRegion, FusedStep, Operand, run_by_steps

F8 = np.dtype("f8")
compiled = pytest.mark.skipif(not machine.is_compiled(), reason="the package was installed without its compiled part")


def whole(argument: int, ndim: int = 1) -> Operand:
    return Operand(argument, (0,) * ndim, tuple(map(Axis, range(ndim))))


def ufunc(name: str, *inputs: int) -> FusedStep:
    return FusedStep(name, inputs, (F8,) * (len(inputs) + 1))


def chain(n: int) -> FusedRegion:
    """Return sqrt(x * y + 2) / y."""
    steps = (ufunc("multiply", 0, 1), ufunc("add", 3, 2), ufunc("sqrt", 4), ufunc("divide", 5, 1))
    return FusedRegion((n,), (((n,), F8),) * 3, (whole(0), whole(1)), (np.array(2.0),), steps, ((6, whole(2)),))


@given(st.integers(0, 2**32))
@few
def test_random_regions(seed):
    region, arrays = make(seed)
    compare(region, arrays, machine.bind(region))


# The vectors that NumPy's loops have, and wider ones, where the processor has them.
@pytest.mark.parametrize("bytes", [0, 32, 64])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "sqrt"])
def test_vectors_of_any_width(name, dtype, bytes, monkeypatch):
    monkeypatch.setattr(machine, "WIDEST", bytes)
    rng, dtype, nin = np.random.default_rng(0), np.dtype(dtype), 1 if name == "sqrt" else 2
    if dtype.kind == "i" and name in ("divide", "sqrt"):
        dtype = np.dtype("f8")
    for n in (*range(1, 36), 1000):
        still = Operand(1, (0,), (Axis(None),))
        for second in (whole(1), still):
            for inputs in ((0, 1), (1, 0), (1, 1), (0, 2), (2, 0)):
                step = FusedStep(name, inputs[:nin], (dtype,) * (nin + 1))
                reads, number = (whole(0), second), values(rng, (), dtype)
                region = FusedRegion((n,), (((n,), dtype),) * 3, reads, (number,), (step,), ((3, whole(2)),))
                arrays = [values(rng, (n,), dtype) for _ in range(2)]
                compare(region, [*arrays, np.zeros(n, dtype)], machine.bind(region))
    gaps = [values(rng, (2 * n,), dtype)[::2] for _ in range(2)]
    compare(region, [*gaps, np.zeros(n, dtype)], machine.bind(region))


@given(st.integers(0, 2**32))
@few
def test_without_the_compiled_part(seed):
    region, arrays = make(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "native", None)
        function = machine.bind(region)
    assert hasattr(function, "__code__")
    compare(region, arrays, function)


@compiled
def test_the_machine_takes_what_it_can():
    taken = [not hasattr(machine.bind(make(seed)[0]), "__code__") for seed in range(100)]
    assert sum(taken) > 70


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4", "c16"])
@pytest.mark.parametrize("shape", [(1,), (7,), (3, 1), (5, 9), (4, 129), (2, 3, 1000)])
def test_reductions_of_rows(name, dtype, shape):
    """The rows' results, and results computed from them: as softmax."""
    dtype = np.dtype(dtype)
    rows = Operand(2, (0,) * len(shape), (*map(Axis, range(len(shape) - 1)), Axis(None)))
    steps = (
        FusedStep("negative", (0,), (dtype,) * 2),
        FusedStep(name, (1,), (dtype,) * 2, reduces=True),
        FusedStep("subtract", (1, 2), (dtype,) * 3),
        FusedStep("add", (2, 2), (dtype,) * 3),
    )
    n = len(shape)
    arguments = ((shape, dtype), (shape, dtype), ((*shape[:-1], 1), dtype))
    region = FusedRegion(shape, arguments, (whole(0, n),), (), steps, ((3, whole(1, n)), (4, rows)))
    rng = np.random.default_rng(0)
    x = values(rng, shape, dtype)
    for array in (x, np.full(shape, -0.0).astype(dtype), np.asfortranarray(x), x[..., ::-1]):
        compare(region, [array, np.zeros(shape, dtype), np.zeros((*shape[:-1], 1), dtype)], machine.bind(region))


@pytest.mark.parametrize("name", ["maximum", "minimum", "fmax", "fmin"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_zeros_of_either_sign(name, dtype):
    """Some of NumPy's loops choose between them by index: other elements are the last ones of a vector in a chunk."""
    dtype = np.dtype(dtype)
    steps = (FusedStep(name, (0, 1), (dtype,) * 3), FusedStep("negative", (2,), (dtype,) * 2))
    window = [Operand(i, (0, 0), (Axis(0), Axis(1))) for i in range(3)]
    region = FusedRegion((3, 40), (((3, 41), dtype),) * 3, tuple(window[:2]), (), steps, ((3, window[2]),))
    zeros = np.zeros((3, 41), dtype)
    compare(region, [zeros, -zeros, zeros.copy()], machine.bind(region))
    compare(region, [-zeros, zeros, zeros.copy()], machine.bind(region))


@pytest.mark.parametrize("n", [1, 10, 1000, 100_003])
@pytest.mark.parametrize("in_place", [False, True])
def test_long_arrays(n, in_place):
    region = chain(n)
    if in_place:
        region = region._replace(writes=((6, whole(1)),))
    rng = np.random.default_rng(1)
    compare(region, [rng.random(n), rng.random(n), np.zeros(n)], machine.bind(region))


def test_arrays_that_change_places():
    """Copied arrays are read before anything is written."""
    region = FusedRegion((5,), (((5,), F8),) * 2, (whole(0), whole(1)), (), (), ((1, whole(0)), (0, whole(1))))
    for function in (machine.bind(region), lambda *arrays: run_by_steps(region, arrays)):
        x, y = np.arange(5.0), np.arange(5.0) + 10
        function(x, y)
        assert x.tolist() == [10, 11, 12, 13, 14]
        assert y.tolist() == [0, 1, 2, 3, 4]


def test_warnings_are_of_the_steps_that_raise():
    n = 3000
    steps = (ufunc("log", 0), ufunc("divide", 0, 0), ufunc("exp", 0))
    region = FusedRegion(
        (n,), (((n,), F8),) * 4, (whole(0),), (), steps, tuple((i + 1, whole(i + 1)) for i in range(3))
    )
    x = np.ones(n)
    x[-1], x[5] = 0, 1e4
    function = machine.bind(region)
    arrays = [x, *np.zeros((3, n))]
    expected = [
        "divide by zero encountered in log",
        "invalid value encountered in divide",
        "overflow encountered in exp",
    ]
    assert run(function, arrays)[1] == sorted(expected)
    with np.errstate(divide="ignore"):
        assert run(function, arrays)[1] == sorted(expected[1:])
    with np.errstate(all="ignore"):
        assert run(function, arrays)[1] == []
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError, match="divide"):
        run(function, arrays)
    seen = []
    with np.errstate(divide="call", over="ignore", invalid="ignore", call=lambda *given: seen.append(given[0])):
        run(function, arrays)
    assert seen == ["divide by zero"]
    # And afterwards as before.
    assert run(function, arrays)[1] == sorted(expected)


@compiled
def test_warnings_name_the_line_of_the_caller():
    region = FusedRegion((1,), (((1,), F8),) * 2, (whole(0),), (), (ufunc("log", 0),), ((1, whole(1)),))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        machine.bind(region)(np.zeros(1), np.zeros(1))
    assert [each.filename for each in caught] == [__file__]


def test_other_layouts_and_dtypes_run_by_steps():
    region, rng = chain(40), np.random.default_rng(2)
    x, y = rng.random(40), rng.random(40)
    wanted = np.sqrt(x * y + 2) / y
    function = machine.bind(region)
    swapped = x.astype(">f8")
    room = np.zeros(40 * 8 + 1, np.uint8)
    unaligned = room[1:].view(F8)
    unaligned[:] = y
    out = np.zeros(40)
    function(swapped, unaligned, out)
    assert np.array_equal(out, wanted)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        function(x, y, out)


@pytest.mark.parametrize("shape", [(3, 4), (40, 70), (300, 40), (2, 3, 5)])
@pytest.mark.parametrize("in_place", [False, True])
def test_layouts_change_from_call_to_call(shape, in_place):
    """The plan of a call serves the next one, if its arrays lie alike."""
    rng, ndim = np.random.default_rng(4), len(shape)
    steps = (ufunc("multiply", 0, 1), ufunc("add", 3, 2), ufunc("exp", 4), ufunc("divide", 5, 1))
    reads, target = (whole(0, ndim), whole(1, ndim)), whole(1 if in_place else 2, ndim)
    region = FusedRegion(shape, ((shape, F8),) * 3, reads, (np.array(2.0),), steps, ((6, target),))
    function = machine.bind(region)
    layouts = [
        lambda x: x.copy(),
        lambda x: np.asfortranarray(x),
        lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
        lambda x: x[::-1].copy()[::-1],
    ]
    for wait in (False, True):
        for _ in range(12):
            order = [layouts[each] for each in rng.integers(len(layouts), size=3)]
            arrays = [layout(rng.random(shape)) for layout in order]
            for _ in range(int(rng.integers(1, 4))):
                compare(region, arrays, function)
        if not wait:
            machine.compile_now(function)


@compiled
def test_arguments_that_share_memory_run_by_steps():
    n = 5000
    region = chain(n)
    function = machine.bind(region)
    room = np.random.default_rng(3).random(n + 1)
    for which in (
        (room[:-1], room[:-1].copy(), room[1:]),
        (room[1:], room[1:], room[:-1]),
        (room[1:], room[:-1], room[1:]),
    ):
        wanted = np.sqrt(which[0] * which[1] + 2) / which[1]
        function(*which)
        assert np.array_equal(which[2], wanted)


@compiled
def test_wrong_calls_and_programs_are_refused():
    with pytest.raises(TypeError, match="3 arrays got 1"):
        machine.bind(chain(3))(np.zeros(3))
    outside = chain(3)._replace(reads=(Operand(0, (1,), (Axis(0),)), whole(1)))
    with pytest.raises(ValueError, match="inside"):
        machine.bind(outside)


def test_integers_are_not_raised_to_powers():
    """The loop raises an error, which needs the interpreter."""
    assert not can_run(FusedStep("power", (0, 1), (np.dtype("i8"),) * 3))
    assert can_run(FusedStep("power", (0, 1), (F8,) * 3))


@pytest.mark.parametrize("name", ["fmax", "fmin"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_zeros_of_two_signs_are_compared_as_in_the_whole_array(name, dtype):
    function, rng = getattr(ua, name), np.random.default_rng(5)
    # Generated loops copy separate arrays.
    compiled = ua.compile(lambda x, y: -(function(x[::2], y[::2]) * 3.0), wait=True)
    for n in range(2, 40):
        zeros = np.where(rng.random((2, n)) < 0.5, 0.0, -0.0).astype(dtype)
        expected = -(getattr(np, name)(zeros[0, ::2], zeros[1, ::2]) * zeros.dtype.type(3.0))
        found = compiled(*(ua.asarray(each, backend="numpy") for each in zeros))
        assert np.asarray(found).tobytes() == expected.tobytes()


def test_what_has_no_loop():
    for name, dtypes in [
        ("modf", (F8, F8)),
        ("add", (np.dtype("O"),) * 3),
        ("cast", (F8, np.dtype("i8"))),
        ("x", (F8,)),
    ]:
        assert not can_run(FusedStep(name, tuple(range(len(dtypes) - 1)), dtypes))


@pytest.mark.parametrize("first", [np.dtype("u8"), np.dtype("Q")])
def test_integers_of_two_signs_are_compared_step_by_step(first):
    """NumPy has one loop for them, which it names by one of C's two types of 64 bits."""
    second = np.dtype("i8")
    bools = np.dtype("?")
    steps = (FusedStep("equal", (0, 1), (first, second, bools)), FusedStep("logical_not", (2,), (bools, bools)))
    arguments = (((3,), first), ((3,), second), ((3,), bools))
    region = FusedRegion((3,), arguments, (whole(0), whole(1)), (), steps, ((3, whole(2)),))
    result = np.zeros(3, bool)
    run_by_steps(region, [np.array([1, 2, 2**63], first), np.array([1, -2, -(2**63)], second), result])
    assert result.tolist() == [False, True, True]
