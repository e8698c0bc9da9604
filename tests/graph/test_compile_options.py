"""Promises of compile() beside values: other engines, donated memory, calls that fail as a whole."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import unifyarr as ua
from unifyarr.container.container import flatten
from unifyarr.errors import BackendMismatchError, BackendNotFoundError, CompileWarning, ReadOnlyError
from unifyarr.graph.compiling import PROGRAMS
from unifyarr.graph.kernels.kernelop import COPY, STORE
from unifyarr.graph.run.program import COPIES
from unifyarr.modes.trace import crossing
from unifyarr.testing import has, needs

from ..natives import skip_unless
from ..oracle import as_numpy, assert_same

OTHERS = ("torch", "jax", "tensorflow", "numpy")


def only_program(compiled: Any) -> Any:
    (found,) = compiled._programs.values()
    return found


def names(compiled: Any) -> list[str]:
    return [node.op.name for node in only_program(compiled).fgraph.toposort()]


def address(x: ua.Array) -> int:
    native = x.native
    return int(native.data_ptr() if x.backend == "torch" else native.ctypes.data)


def mixed(x: ua.Array, y: ua.Array) -> list[ua.Array]:
    x[1:] += y[:-1]
    y *= 2
    z = ua.sin(x) + y
    z[0] = 5
    return [z, x[::2], ua.sum(z), y]


# Another engine


@pytest.mark.parametrize("engine", OTHERS)
def test_another_engine_computes(backend: str, engine: str) -> None:
    skip_unless(engine, *ua.available_backends(), why="an engine that is installed")
    compiled = ua.compile(mixed, backend=engine)
    mine = [ua.asarray(np.arange(5.0), copy=True), ua.asarray(np.ones(5), copy=True)]
    theirs = [x.copy() for x in mine]
    kept, native = mine[0][1:3], mine[1].native
    for _ in range(3):
        result, expected = compiled(*mine), mixed(*theirs)
        for x, y in zip([*result, *mine], [*expected, *theirs], strict=True):
            assert x.backend == backend
            assert_same(x, as_numpy(y), rtol=1e-12)
    assert result[3] is mine[1]
    assert_same(kept, as_numpy(theirs[0][1:3]), rtol=1e-12)
    assert result[1].base is mine[0]
    if has(backend, "writes"):
        assert mine[1].native is native


@pytest.mark.parametrize("engine", OTHERS)
def test_what_is_made_where_the_arguments_live_is_new_at_each_call(backend: str, engine: str) -> None:
    skip_unless(engine, *ua.available_backends(), why="an engine that is installed")

    @ua.compile(backend=engine)
    def function(x: ua.Array) -> ua.Array:
        made = ua.zeros(2, backend=backend)
        made += x
        return made

    for _ in range(2):
        assert as_numpy(function(ua.ones(2))).tolist() == [1, 1]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "bfloat16", "float32", "complex128"])
@pytest.mark.parametrize("engine", OTHERS)
def test_all_dtypes_and_shapes_cross(backend: str, engine: str, dtype: str) -> None:
    skip_unless(engine, *ua.available_backends(), why="an engine that is installed")
    compiled = ua.compile(lambda x: (ua.where(x == x, x, x), x.T), backend=engine)
    values = np.arange(6).reshape(2, 3).astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    for each in (values, values[::-1, ::2], values.T, values[0, 0], values[:0], np.asfortranarray(values)):
        x = ua.asarray(each, copy=True) if not has(backend, "writes") else ua.asarray(each)
        same, transposed = compiled(x)
        assert_same(same, each)
        assert_same(transposed, each.T) if each.ndim == 2 else None
        same[...] = ua.zeros_like(same)
        assert_same(x, each)


def edges(x: Any, y: Any) -> Any:
    # Windows that overlap, run backwards, have one element or none, and are read between.
    inner = x[1:-1, ::-2] + y
    x[1:-1, ::-2] = inner
    x[0] = x[-1] * 2
    x[2, 2] = 7.0
    x[3:3] = 1.0
    x[1:3, 1:] = x[:2, 1:] + x[2:4, :-1]
    return inner, x[1:]


def swapped(x: Any, y: Any) -> Any:
    # The last write restores the old value of the array.
    old = x + 0
    x[0, :3] = y[0]
    x[...] = old
    y[1:2] = x[:1, :3]
    y[:1] = old[:1, :3]
    return y * 1


def filled(x: Any, y: Any) -> Any:
    for row in range(5):
        x[row, 1:] = row
        x[row, 0] += y[0, 0]
    return x


@pytest.mark.parametrize("program", [edges, swapped, filled])
@pytest.mark.parametrize("engine", OTHERS)
def test_windows_come_home_by_themselves(
    backend: str, engine: str, program: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_unless(engine, *ua.available_backends(), why="an engine that is installed")
    monkeypatch.setattr(crossing, "SMALLEST", 0)
    compiled = ua.compile(program, backend=engine)
    theirs = [np.arange(30.0).reshape(5, 6), np.arange(9.0).reshape(3, 3)]
    mine = [ua.asarray(x, copy=True) for x in theirs]
    for _ in range(3):
        for x, y in zip(flatten(compiled(*mine))[0], flatten(program(*theirs))[0], strict=True):
            assert_same(x, y)
        for x, y in zip(mine, theirs, strict=True):
            assert_same(x, y)


def test_of_a_large_array_the_window_comes_home_alone(backend: str) -> None:
    skip_unless("jax", *ua.available_backends(), why="JAX")
    skip_unless(backend, "numpy", why="arrays that JAX is lent")

    @ua.compile(backend="jax")
    def step(x: ua.Array) -> None:
        x[5:9] += 1
        x[4] = 7.0
        x[9:11] = -1.0

    x = ua.zeros(200_000)
    step(x)
    assert_same(x[3:12], np.array([0.0, 7.0, 1.0, 1.0, 1.0, 1.0, -1.0, -1.0, 0.0]))
    assert [variable.type.shape for variable in only_program(step).fgraph.outputs] == [(4,), (), (2,)]


def test_large_arrays_are_where_other_engines_can_use_them(backend: str) -> None:
    skip_unless(backend, "numpy", why="memory whose addresses are the engine's choice elsewhere")
    values = np.arange(100_000.0)[1:]
    for x in (
        ua.empty(99_999),
        ua.zeros((3, 33_333), dtype=ua.int8),
        ua.ones(99_999, dtype=ua.bfloat16),
        ua.full((99_999,), 2j),
        ua.asarray(values, copy=True),
        ua.asarray(values).copy(),
        ua.zeros_like(ua.asarray(values)),
    ):
        assert address(x) % 64 == 0
        assert x.native.flags.writeable
        assert x.native.flags.c_contiguous
        assert 0 < x.native.base.nbytes - x.nbytes <= 64


def test_what_comes_home_is_nobodys(backend: str) -> None:
    skip_unless("jax", *ua.available_backends(), why="JAX")
    compiled = ua.compile(lambda x: (x + 0, x * 1, x + 0), backend="jax")
    x = ua.asarray(np.arange(1000.0), copy=True)
    first = compiled(x)
    for place, each in enumerate(first):
        each[...] = -place
    second = compiled(x)
    gc.collect()
    assert_same(x, np.arange(1000.0))
    for place, each in enumerate(first):
        assert_same(each, np.full(1000, -float(place)), signed_zeros=False)
    for each in second:
        assert_same(each, np.arange(1000.0))


def test_lent_memory_isnt_used_twice(backend: str) -> None:
    skip_unless("jax", *ua.available_backends(), why="JAX")
    skip_unless(backend, "numpy", why="memory that isn't aligned")
    compiled = ua.compile(lambda x, y: x - y, backend="jax")
    memory = np.arange(3001.0)
    x, y = ua.asarray(memory[1:3000]), ua.asarray(memory[2:3001])
    for _ in range(3):
        assert_same(compiled(x, y), np.full(2999, -1.0))
    kept = [compiled(x, x * number) for number in range(3)]
    for number, each in enumerate(kept):
        assert_same(each, memory[1:3000] * (1 - number), signed_zeros=False)


def test_captured_arrays_cross_too(backend: str) -> None:
    skip_unless("jax", *ua.available_backends(), why="JAX")
    total = ua.zeros(3)

    @ua.compile(backend="jax")
    def add(x: ua.Array) -> ua.Array:
        total[1:] += x[1:]
        return total * ua.ones(3)

    for count in (1, 2, 3):
        assert_same(add(ua.asarray([1.0, 2.0, 3.0])), np.array([0.0, 2.0, 3.0]) * count)
        assert_same(total, np.array([0.0, 2.0, 3.0]) * count)
    assert total.backend == backend


def test_what_makes_its_arrays_runs_where_it_should(backend: str) -> None:
    for engine in ua.available_backends():
        assert ua.compile(lambda n: ua.zeros(n) + 1, backend=engine)(3).backend == engine
    with pytest.raises(BackendNotFoundError):
        ua.compile(lambda x: x, backend="cupyx")(ua.ones(2))
    other = "numpy" if backend != "numpy" else "torch"
    skip_unless(other, *ua.available_backends(), why="another engine")
    with pytest.raises(BackendMismatchError):
        ua.compile(lambda x, y: x + y, backend=other)(ua.ones(2), ua.ones(2, backend=other))


# Donated arguments


@needs("writes", why="an engine that computes in given memory")
def test_mutable_arguments_are_used(backend: str) -> None:
    compiled = ua.compile(lambda x, y: ua.sin(x) * y, mutable="x")
    x, y = ua.asarray(np.arange(3.0), copy=True), ua.ones(3)
    where = address(x)
    result = compiled(x, y)
    assert address(result) == where
    assert_same(result, np.sin(np.arange(3.0)))
    assert_same(y, np.ones(3))


@pytest.mark.parametrize("mutable", ["x", 0, ("x",), [0, "y"]])
def test_ways_to_name_them(backend: str, mutable: Any) -> None:
    compiled = ua.compile(lambda x, y=None, *, z=None: (x + 1) * 2, mutable=mutable)
    for _ in range(2):
        x = ua.asarray(np.arange(4.0), copy=True)
        assert_same(compiled(x), (np.arange(4.0) + 1) * 2)
        # Whatever it has, it can be read.
        assert as_numpy(x).shape == (4,)


def test_what_isnt_mutable_stays(backend: str) -> None:
    compiled = ua.compile(lambda p, x: ua.exp(p["w"]) + x, mutable="p")
    for _ in range(3):
        p, x = {"w": ua.zeros(3)}, ua.asarray([1.0, 2.0, 3.0])
        kept = x[1:]
        assert_same(compiled(p, x), np.array([2.0, 3.0, 4.0]))
        assert_same(kept, np.array([2.0, 3.0]))


def test_bad_options(backend: str) -> None:
    with pytest.raises(ValueError, match="names 'w'"):
        ua.compile(lambda x: x, mutable="w")
    with pytest.raises(TypeError, match="names or positions"):
        ua.compile(lambda x: x, mutable=True)
    with pytest.raises(TypeError, match="names or positions"):
        ua.compile(lambda x: x, mutable=[1.5])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="mode is one of"):
        ua.compile(lambda x: x, mode="slow")
    with pytest.raises(TypeError, match="takes a function"):
        ua.compile(3)  # type: ignore[call-overload]


def test_read_only_and_overlapping_mutable_arguments(backend: str) -> None:
    compiled = ua.compile(lambda x, y: ua.sin(x) + y, mutable="x")
    x = ua.broadcast_to(ua.ones(1), (3,))
    # Elsewhere that is a recipe, or immutable memory, which isn't reused.
    expected = pytest.raises(ReadOnlyError) if backend == "numpy" else contextlib.nullcontext()
    with expected:
        assert_same(compiled(x, ua.ones(3)), np.full(3, np.sin(1) + 1))
    base = ua.asarray(np.arange(4.0), copy=True)
    assert_same(compiled(base[1:], base[:-1]), np.sin(np.arange(1.0, 4)) + np.arange(3.0))


@needs("writes", why="an engine that computes in given memory")
def test_borrowed_results_are_used_again(backend: str) -> None:

    def function(x: ua.Array) -> tuple[ua.Array, ua.Array]:
        y = ua.sin(x)
        return y + 1, x * 2

    compiled = ua.compile(function, borrow=True)
    first = compiled(ua.zeros(1000))
    places = [address(x) for x in first]
    second = compiled(ua.ones(1000))
    assert [address(x) for x in second] == places
    assert_same(first[0], np.full(1000, np.sin(1) + 1))
    not_borrowed = ua.compile(function)
    kept = not_borrowed(ua.zeros(1000))
    not_borrowed(ua.ones(1000))
    assert_same(kept[0], np.ones(1000))


# Donation


def test_an_array_of_our_own_is_updated_in_its_memory(backend: str) -> None:
    skip_unless(backend, "jax", why="an engine that takes memory over")
    x = ua.zeros(10_000)
    x += 1

    @ua.compile
    def step(x: ua.Array) -> None:
        x *= 2

    step(x)
    places = set()
    for _ in range(4):
        step(x)
        places.add(x._native.unsafe_buffer_pointer())
    assert len(places) == 1
    assert_same(x, np.full(10_000, 32.0))


def test_a_function_that_writes_its_arguments_is_compiled_once(backend: str) -> None:
    skip_unless(backend, "jax", why="an engine that takes memory over")
    compiled: list[str] = []
    importlib.import_module("jax").monitoring.register_event_duration_secs_listener(
        lambda event, seconds, **_: compiled.append(event)
    )

    @ua.compile
    def step(x: ua.Array, y: ua.Array) -> None:
        x += y

    x, y = ua.asarray(np.ones(1234)), ua.asarray(np.ones(1234))
    compiled.clear()
    # Nothing refers to the first call's results in it.
    for _ in range(4):
        step(x, y)
    # Somebody has this one, but not often enough to compile for it.
    kept = x.native
    step(x, y)
    assert compiled.count("/jax/core/compile/backend_compile_duration") == 1
    assert_same(ua.asarray(kept), np.full(1234, 5.0))
    assert_same(x, np.full(1234, 6.0))


def test_each_array_is_updated_in_its_own_memory_beside_one_that_isnt(backend: str) -> None:
    skip_unless(backend, "jax", why="an engine that takes memory over")
    arrays = [ua.zeros(1000) for _ in range(4)]

    @ua.compile(mutable="spare")
    def step(first: ua.Array, spare: ua.Array, second: ua.Array, third: ua.Array) -> ua.Array:
        first += 1
        second += 2
        third += first
        return second * spare

    step(*arrays)
    for count in range(2, COPIES + 4):
        arrays[1] = ua.ones(1000)
        arrays[1] += 1
        # Somebody else has the first, and it moves. All are of one type, and might take each other's memory.
        taken = arrays[0].native
        places = [x._native.unsafe_buffer_pointer() for x in arrays[1:]]
        result = step(*arrays)
        # Then another executor is compiled, which isn't given the first; its first call uses up copies of the others.
        if count != COPIES + 1:
            assert [x._native.unsafe_buffer_pointer() for x in (result, *arrays[2:])] == places
        assert_same(ua.asarray(taken), np.full(1000, count - 1.0))
        assert_same(arrays[0], np.full(1000, float(count)))


def test_what_somebody_else_has_is_never_given_away(backend: str) -> None:
    step = ua.compile(lambda x: x.__imul__(2))
    x = ua.ones(1000)
    x += 1
    natives = []
    for count in range(4):
        natives.append((x.native, 2.0 * 2**count))
        step(x)
    if not has(backend, "writes"):
        for native, value in natives:
            assert_same(ua.asarray(native), np.full(1000, value))
    y = x.copy()
    step(x)
    assert_same(y, np.full(1000, 32.0))


def test_a_call_that_fails_gives_back_what_it_took(backend: str) -> None:
    skip_unless(backend, "jax", why="an engine that takes memory over")
    x = ua.ones(3)
    x += 1
    step = ua.compile(lambda x: x.__imul__(2))
    step(x)

    def fail(*natives: Any, **options: Any) -> Any:
        raise RuntimeError("out of memory")

    only_program(step)._executors = dict.fromkeys([(), (0,)], fail)
    with pytest.raises(RuntimeError):
        step(x)
    assert_same(x, np.full(3, 4.0))


# All or nothing


def singular_later(x: ua.Array, y: ua.Array, matrix: ua.Array) -> ua.Array:
    x += 1
    y[1:] = 0
    z = ua.linalg.cholesky(matrix)
    y *= 2
    return z


def wrong_index_later(x: ua.Array, y: ua.Array, index: ua.Array) -> ua.Array:
    x *= 3
    x[:2] = y[:2]
    return ua.take(y, index)


@pytest.mark.parametrize("mode", ["fast", "pure"])
@pytest.mark.parametrize("function", [singular_later, wrong_index_later])
def test_a_call_that_raises_leaves_all_as_it_was(backend: str, function: Callable[..., ua.Array], mode: str) -> None:
    refusing = ("numpy", "torch", *(["tensorflow"] if function is wrong_index_later else []))
    skip_unless(backend, *refusing, why="an engine whose compiled kernels refuse such values")
    good, bad = (np.eye(2), -np.eye(2)) if function is singular_later else (np.array([0, 2]), np.array([0, 7]))
    compiled = ua.compile(function, mode=mode)
    x, y = ua.asarray(np.arange(3.0), copy=True), ua.asarray(np.ones(3), copy=True)
    compiled(x, y, ua.asarray(good))
    before = [as_numpy(each).copy() for each in (x, y)]
    with _refusal(backend):
        compiled(x, y, ua.asarray(bad))
    for each, values in zip((x, y), before, strict=True):
        assert_same(each, values)
    compiled(x, y, ua.asarray(good))


def _refusal(backend: str) -> Any:
    """Expect the error of an engine: each has its own for a matrix that isn't positive definite."""
    classes: tuple[type[Exception], ...] = (ValueError, LookupError)
    if backend == "torch":
        classes += (importlib.import_module("torch").linalg.LinAlgError,)
    elif backend == "tensorflow":
        classes += (importlib.import_module("tensorflow").errors.InvalidArgumentError,)
    return pytest.raises(classes)


# Windows and cleanups


@needs("writes", why="an engine that writes in place")
def test_sums_are_computed_in_the_window_that_they_go_to(backend: str) -> None:

    def function(x: ua.Array, y: ua.Array) -> None:
        x[1:-1, 1:] += y[1:-1, 1:]
        x[0] = y[0] * y[1]
        x[:, 0] -= 1

    compiled = ua.compile(function)
    x, y = np.random.default_rng(0).normal(size=(2, 5, 6))
    mine, expected = ua.asarray(x, copy=True), x.copy()
    compiled(mine, ua.asarray(y))
    function(expected, y)
    assert_same(mine, expected)
    found = names(compiled)
    assert [name for name in found if name.startswith("set_window")] == [
        "set_window[add]",
        "set_window[multiply]",
        "set_window[subtract]",
    ]
    assert COPY not in found
    assert STORE not in found


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[1:].__iadd__(x[:-1]),
        lambda x: x[::-1].__isub__(x),
        lambda x: x[1].__imul__(x[0]),
        lambda x: x.T[1:3].__iadd__(x.T[:2]),
        lambda x: x[..., None][0].__iadd__(2),
        lambda x: x[0:0].__iadd__(1),
        lambda x: x[::2].__iadd__(x[1]),
    ],
)
def test_windows_that_read_what_they_write(backend: str, function: Callable[..., Any]) -> None:
    compiled = ua.compile(lambda x: (function(x), None)[1])
    values = np.arange(16.0).reshape(4, 4)
    mine, theirs = ua.asarray(values, copy=True), ua.asarray(values, copy=True)
    for _ in range(2):
        compiled(mine)
        with contextlib.suppress(ValueError):
            function(theirs)
        assert_same(mine, as_numpy(theirs))


def test_copies_and_detours_go(backend: str) -> None:
    def function(x: ua.Array) -> ua.Array:
        y = x.copy().copy()
        y = ua.permute_dims(ua.permute_dims(y, (1, 0)), (1, 0))
        y = ua.reshape(ua.reshape(y, (-1,)), (3, 4))
        z = ua.zeros((3, 4))
        z[1:] = 3
        z[1:] = y[1:]
        return z[1:] + (ua.ones(4) * 2 + 1)

    compiled = ua.compile(function)
    values = np.arange(12.0).reshape(3, 4)
    assert_same(compiled(ua.asarray(values)), values[1:] + 3)
    assert COPY not in names(compiled)
    if has(backend, "writes"):
        # Constants are folded where no compiler does it.
        assert sorted(names(compiled)) == ["add", "get_window"]


def test_one_element_is_written_by_an_array_without_axes(backend: str) -> None:
    def function(x: ua.Array) -> ua.Array:
        x[-1] = ua.sum(x) * 2
        return x[-1:] + x[-1]

    mine, theirs = ua.asarray([1.0, 2.0]), ua.asarray([1.0, 2.0])
    assert_same(ua.compile(function)(mine), as_numpy(function(theirs)))
    assert_same(mine, as_numpy(theirs))


def test_layout_decides_what_is_a_view(backend: str) -> None:
    """A reshape of an array overwritten by a broadcast one is a view exactly as before."""

    def function(x: ua.Array, y: ua.Array) -> ua.Array:
        x[...] = y
        flat = ua.reshape(x, (-1,))
        x[0] = 7
        return flat

    for make in (lambda: ua.zeros((2, 3)), lambda: ua.zeros((4, 6))[::2, ::2], lambda: ua.zeros((3, 2)).T):
        mine, theirs = make(), make()
        assert_same(ua.compile(function)(mine, ua.ones(3)), as_numpy(function(theirs, ua.ones(3))))
        assert_same(mine, as_numpy(theirs))


# Use in programs


def test_methods_and_decorators(backend: str) -> None:
    class Model:
        def __init__(self) -> None:
            self.w = ua.ones(3)

        @ua.compile
        def step(self, x: ua.Array) -> ua.Array:
            """Take a step."""
            self.w += x
            return self.w * 2

        @ua.compile(mode="pure")
        def loss(self, x: ua.Array) -> ua.Array:
            return ua.sum(self.w * x)

    first, second = Model(), Model()
    first.step(ua.ones(3))
    assert_same(first.step(ua.ones(3)), np.full(3, 6.0))
    assert_same(second.step(ua.ones(3)), np.full(3, 4.0))
    assert float(first.loss(ua.ones(3))) == 9.0
    assert Model.step.__doc__ == "Take a step."
    assert "step" in repr(Model.__dict__["step"])


@needs("variables")
def test_variables_are_written_by_their_engine(backend: str) -> None:
    x = ua.variable(np.arange(3.0))
    native = x.native
    compiled = ua.compile(lambda x: x.__iadd__(1) * 2)
    for count in (1, 2):
        assert_same(compiled(x), (np.arange(3.0) + count) * 2)
    assert x.native is native
    assert_same(x, np.arange(3.0) + 2)


@needs("compiling", why="an engine that compiles functions itself")
def test_inside_what_the_engine_compiles(backend: str) -> None:
    from ..gradients import traced

    @ua.compile
    def inner(x: ua.Array) -> ua.Array:
        y = x * 2
        y[1:] += x[:-1]
        return y

    values = np.arange(4.0)
    for _ in range(2):
        assert_same(traced(backend, lambda x: inner(x) + 1, values), as_numpy(inner(ua.asarray(values)) + 1))


def test_what_xla_refuses_is_said(backend: str) -> None:
    skip_unless(backend, "tensorflow", why="an engine that can do without its compiler")
    compiled: Any = ua.compile(lambda x, places: ua.take(x, places))
    arguments = ua.asarray([1.0, 2.0]), ua.asarray([1, 0])
    with pytest.warns(CompileWarning, match="operation by operation, and doesn't compile it: take may raise for some"):
        compiled(*arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiled(*arguments).tolist() == [2.0, 1.0]
    assert "take may raise" in str(compiled.memory())
    assert "take may raise" in str(compiled.profile(*arguments))
    # Integers alone have powers that are refused.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        power: Any = ua.compile(lambda x: x**2 + x**0.5)
        assert_same(power(ua.asarray([4.0])), np.array([18.0]))
    assert power.memory().programs[0].refusal is None
    whole: Any = ua.compile(lambda x: x**2)
    with pytest.warns(CompileWarning, match="pow may raise"):
        whole(ua.asarray([4]))


def test_a_loop_names_what_may_raise_inside(backend: str) -> None:
    skip_unless(backend, "tensorflow", why="an engine that can do without its compiler")
    compiled: Any = ua.compile(lambda x, i: ua.fori_loop(0, 3, lambda k, total: total + x[i[k]], x * 0.0))
    with pytest.warns(CompileWarning, match=r"compile it: gather \(inside scan\) may raise for some values"):
        compiled(ua.asarray([1.0, 2.0, 3.0]), ua.asarray([0, 1, 2]))


@pytest.mark.parametrize("key", [0, (1, 2), (slice(None), 1), slice(None, None, -2), (slice(1, None), slice(0, 4, 3))])
def test_numbers_written_to_windows_stay_in_xla(backend: str, key: Any) -> None:
    skip_unless(backend, "tensorflow", why="an engine that can do without its compiler")
    for shape in ((3, 4), (3,)):
        if len(shape) < (len(key) if isinstance(key, tuple) else 1):
            continue
        values = np.arange(np.prod(shape)).reshape(shape) * 1.0

        def write(x: Any) -> None:
            x[key] = 7.0
            x[key] += x[key]

        compiled: Any = ua.compile(write)
        x = ua.asarray(values)
        compiled(x)
        write(values)
        assert_same(x, values)
        assert compiled.memory().programs[0].refusal is None


def test_programs_are_not_kept_for_ever(backend: str) -> None:
    skip_unless(backend, "numpy", why="one engine, since it's about a dictionary")
    compiled = ua.compile(lambda x, n: x + n)
    for n in range(PROGRAMS + 10):
        assert float(compiled(ua.asarray(1.0), n)) == n + 1
    assert len(compiled._programs) == PROGRAMS  # type: ignore[attr-defined]


def test_gradients_flow_through(backend: str) -> None:
    skip_unless(backend, "torch", "jax", "tensorflow", why="an engine that records gradients")
    from ..gradients import gradient

    compiled = ua.compile(lambda x: ua.sum(ua.square(x) * 2))
    elsewhere = ua.compile(lambda x: ua.sum(ua.square(x) * 2), backend="numpy")
    for each in (compiled, elsewhere):
        assert gradient(backend, each, np.array([1.0, 2.0, 3.0])).tolist() == [4.0, 8.0, 12.0]
    x = ua.asarray([1.0, 2.0])
    assert float(compiled(x)) == 10.0


def test_nothing_is_loaded_for_nothing() -> None:
    code = "import sys, unifyarr as ua; assert 'unifyarr.graph' not in sys.modules; ua.compile; 'compile' in dir(ua)"
    subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ))
    with pytest.raises(AttributeError, match="nothing_like_that"):
        ua.nothing_like_that  # type: ignore[attr-defined]


# The rows of the cases table that are about calls


@pytest.mark.parametrize("mode", ["fast", "pure", "debug"])
def test_case_mutable_and_not(backend: str, mode: str) -> None:
    """``In(mutable=True)`` x*2 overwrites the caller's array, ``mutable=False`` leaves it alone."""
    x = ua.asarray(np.arange(3.0), copy=True)
    assert_same(ua.compile(lambda x: x * 2, mode=mode)(x), np.arange(3.0) * 2)
    assert_same(x, np.arange(3.0))
    assert_same(ua.compile(lambda x: x * 2, mode=mode, mutable="x")(x), np.arange(3.0) * 2)
    if has(backend, "writes") and mode != "pure":
        assert_same(x, np.arange(3.0) * 2)


@pytest.mark.parametrize("mode", ["fast", "pure", "debug"])
def test_case_swaps(backend: str, mode: str) -> None:
    """A := B, B := A, and through views A := B[:, ::-1], B := A.T, give a right swap and share nothing."""

    def swap(a: ua.Array, b: ua.Array) -> None:
        old = a.copy()
        a[...] = b
        b[...] = old

    def swap_views(a: ua.Array, b: ua.Array) -> None:
        old = a.copy()
        a[...] = b[:, ::-1]
        b[...] = old.T

    first, second = np.arange(9.0).reshape(3, 3), -np.arange(9.0).reshape(3, 3)
    for function in (swap, swap_views):
        compiled = ua.compile(function, mode=mode)
        a, b = ua.asarray(first, copy=True), ua.asarray(second, copy=True)
        c, d = a.copy(), b.copy()
        for _ in range(3):
            compiled(a, b)
            function(c, d)
            assert_same(a, as_numpy(c))
            assert_same(b, as_numpy(d))
        a[0] = 100.0
        assert_same(b, as_numpy(d))


def test_case_mutable_inputs_that_overlap(backend: str) -> None:
    """The same array twice, a part of one, and one that isn't mutable: right values, and that one untouched."""
    compiled = ua.compile(lambda x, y, z: (x * 2 + y, y - z), mutable=("x", "y"))
    base = ua.asarray(np.arange(6.0), copy=True)
    values = np.arange(6.0)
    for first, second, third in (
        (slice(0, 4), slice(0, 4), slice(2, 6)),
        (slice(0, 4), slice(1, 5), slice(2, 6)),
        (slice(2, 6), slice(0, 2), slice(0, 2)),
    ):
        if first != slice(2, 6):
            x, y, z = base[first], base[second], base[third]
            expected = (values[first] * 2 + values[second], values[second] - values[third])
        else:
            x, y, z = base[first][:2], base[second], base[third]
            expected = (values[2:4] * 2 + values[:2], np.zeros(2))
        for found, wanted in zip(compiled(x, y, z), expected, strict=True):
            assert_same(found, wanted)
        assert_same(base, values)


def test_case_results_that_are_not_borrowed(backend: str) -> None:
    """``Out(borrow=False)`` never shares memory with internals, nor do two results with each other."""

    def function(x: ua.Array) -> list[ua.Array]:
        y = ua.sin(x)
        return [y, y, y[1:], y * 1, ua.zeros(3)]

    for mode in ("fast", "pure", "debug"):
        compiled = ua.compile(function, mode=mode)
        first = compiled(ua.ones(3))
        for x in first:
            x[...] = 9.0
        for x, wanted in zip(compiled(ua.ones(3)), function(ua.ones(3)), strict=True):
            assert_same(x, as_numpy(wanted))
        assert all(np.all(as_numpy(x) == 9.0) for x in first)


@pytest.mark.parametrize("offset", [0, 1])
def test_what_jax_is_passed_is_read_where_it_lies_or_from_a_copy(backend: str, offset: int) -> None:
    skip_unless(backend, "numpy", why="NumPy's memory")
    skip_unless("jax", *ua.available_backends(), why="JAX")
    compiled = ua.compile(lambda x, y: (x, y * 2.0, x + y), backend="jax")
    memory = np.arange(400.0)
    x, y = ua.asarray(memory[offset : offset + 8]), ua.asarray(memory[::50])
    for _ in range(2):
        same, doubled, total = compiled(x, y)
        np.testing.assert_array_equal(np.asarray(doubled), memory[::50] * 2.0)
        np.testing.assert_array_equal(np.asarray(total), memory[offset : offset + 8] + memory[::50])
        assert not any(np.shares_memory(np.asarray(each), memory) for each in (doubled, total))
        assert same is x or np.shares_memory(np.asarray(same), memory)
        # The next call sees the current values.
        memory += 1.0
