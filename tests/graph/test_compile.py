"""Compiled functions agree with eager ones, arguments, views and captured arrays included."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.errors import BackendMismatchError, LostStateError, ReadOnlyError, TraceError
from unifyarr.graph.compiling import Compiled, compile
from unifyarr.graph.kernels.kernelop import STORE
from unifyarr.testing import has, needs

from ..natives import skip_unless
from ..oracle import as_numpy, assert_same

Function = Callable[..., Any]


def arrays_in(result: Any) -> list[ua.Array]:
    if isinstance(result, ua.Array):
        return [result]
    if isinstance(result, ua.Container):
        return result.leaves()
    if isinstance(result, dict):
        return [x for each in result.values() for x in arrays_in(each)]
    return [x for each in result for x in arrays_in(each)] if isinstance(result, (list, tuple)) else []


def assert_equal_runs(function: Function, *make: Callable[[], Any], times: int = 3, mode: str = "fast") -> Compiled:
    """Assert that a compiled function gives the same as itself, time after time, and leaves the same arguments."""
    compiled = compile(function, mode=mode)
    mine, theirs = [each() for each in make], [each() for each in make]
    for _ in range(times):
        expected, result = function(*theirs), compiled(*mine)
        for x, y in zip(arrays_in(result), arrays_in(expected), strict=True):
            assert_same(x, as_numpy(y))
        for x, y in zip(arrays_in(mine), arrays_in(theirs), strict=True):
            assert_same(x, as_numpy(y))
    return compiled


def vector(*values: float) -> Callable[[], ua.Array]:
    return lambda: ua.asarray(np.array(values or (1.0, 2.0, 3.0, 4.0)), copy=True)


def matrix() -> ua.Array:
    return ua.asarray(np.arange(12.0).reshape(3, 4), copy=True)


def pure(x: ua.Array, y: ua.Array) -> ua.Array:
    z = ua.sin(x) * 2 + y
    return ua.sqrt(ua.abs(z)) - x


def with_updates(x: ua.Array, y: ua.Array) -> tuple[ua.Array, ua.Array]:
    z = x + y
    z[1:3] *= 2
    x += 1
    x[::2] = z[::2]
    ua.multiply(x, y, out=y)
    return z, x * y


def with_views(x: ua.Array) -> ua.Array:
    first, last = x[0], x[:, -1]
    first += 10
    last[...] = first[:3]
    x.T[1] -= 5
    x[x > 12] = 0.0
    x[ua.asarray([0, 2]), 1] = -1.0
    return x[::-1] + x


def swap(x: ua.Array, y: ua.Array) -> None:
    t = x.copy()
    x[...] = y
    y[...] = t


def reads_after(x: ua.Array) -> tuple[ua.Array, ua.Array]:
    before = ua.cos(x)
    x *= 2
    return before, ua.cos(x)


def several(x: ua.Array) -> dict[str, Any]:
    vectors, values = ua.linalg.qr(x[:, :3] + ua.eye(3))
    return {"q": vectors, "r": values, "both": [vectors @ values, x.sum(axis=0)]}


def composed(x: ua.Array) -> ua.Array:
    return ua.nn.softmax(ua.nn.layer_norm(x), axis=0) + ua.nn.gelu(x / 10)


PROGRAMS: dict[str, tuple[Function, tuple[Callable[[], Any], ...]]] = {
    "pure": (pure, (vector(), vector(4.0, 3.0, 2.0, 1.0))),
    "updates": (with_updates, (vector(), vector(0.5, 0.25, 0.125, 2.0))),
    "views": (with_views, (matrix,)),
    "swap": (swap, (vector(), vector(4.0, 3.0, 2.0, 1.0))),
    "reads after": (reads_after, (vector(),)),
    "several results": (several, (matrix,)),
    "composed": (composed, (matrix,)),
    "a view as argument": (with_updates, (lambda: matrix()[1], lambda: matrix()[:, 0].copy()[[0, 1, 2, 0]] / 8)),
    "a view from behind": (with_views, (lambda: matrix()[::-1],)),
}


@pytest.mark.parametrize("mode", ["fast", "pure"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_compiled_function_gives_the_same(backend: str, name: str, mode: str) -> None:
    function, make = PROGRAMS[name]
    assert_equal_runs(function, *make, mode=mode)


def test_arguments_keep_identity_views_and_bases(backend: str) -> None:
    x, y = vector()(), vector()()
    view, native = x[1:], x.native

    @compile
    def function(x: ua.Array, y: ua.Array) -> tuple[ua.Array, ua.Array, ua.Array]:
        x += y
        return x, x[::-1], x.T[1:]

    same, back, part = function(x, y)
    assert same is x
    assert_same(view, [4.0, 6.0, 8.0])
    assert back.base is x
    part[0] = 100.0
    assert_same(x, [2.0, 100.0, 6.0, 8.0])
    assert_same(back, [8.0, 6.0, 100.0, 2.0])
    assert (x.native is native) == (has(backend, "writes"))


@needs("writes", why="memory that is written")
def test_updates_are_made_in_the_memory_of_the_argument(backend: str) -> None:

    @compile
    def function(x: ua.Array, y: ua.Array) -> None:
        x *= 2
        x += ua.sin(y)

    function(vector()(), vector()())
    (program,) = function._programs.values()
    ops = [node.op for node in program.by_single_steps().toposort()]
    assert [op.name for op in ops if op.destroys(None)] == ["multiply", "add"]
    assert STORE not in [op.name for op in ops]


def test_results_are_nobodys_memory(backend: str) -> None:
    x = vector()()

    @compile
    def function(x: ua.Array) -> tuple[ua.Array, ...]:
        y = x * 1
        return y, ua.asarray(y), y[1:], x.reshape((2, 2)).copy(), ua.reshape(x + 0, (2, 2)), ua.zeros(2)

    first, second = function(x), function(x)
    for each in (*first, *second):
        each += 1
    assert_same(x, [1.0, 2.0, 3.0, 4.0])
    assert_same(first[2], as_numpy(second[2]))
    assert_same(second[-1], [1.0, 1.0])


def test_a_captured_array_is_read_and_written_at_each_call(backend: str) -> None:
    total, scale = ua.zeros(4), ua.asarray(2.0)
    view = total[1:]

    @compile
    def function(x: ua.Array) -> ua.Array:
        nonlocal total
        total += x * scale
        return total + scale * scale

    x = vector()()
    assert_same(function(x), [6.0, 8.0, 10.0, 12.0])
    scale[...] = 3.0
    assert_same(function(x), [14.0, 19.0, 24.0, 29.0])
    total[...] = 0.0
    assert_same(function(x), [12.0, 15.0, 18.0, 21.0])
    assert_same(view, [6.0, 9.0, 12.0])
    assert total.backend == backend


def test_captured_elements_and_natives(backend: str) -> None:
    table, given = ua.asarray([1.0, 2.0, 3.0]), vector()().native

    @compile
    def function(x: ua.Array) -> ua.Array:
        return x * table[1] + table[::-1][:1] + ua.add(x, given)

    x = vector()()
    expected = 2 * np.arange(1.0, 5) + 3 + 2 * np.arange(1.0, 5)
    assert_same(function(x), expected)
    table[1] = 0.0
    assert_same(function(x), expected - 2 * np.arange(1.0, 5))


def test_containers_and_nests_go_in_and_out(backend: str) -> None:
    def step(params: ua.Container, nest: dict[str, Any]) -> tuple[ua.Container, list[ua.Array]]:
        params *= 0.5
        params.w += nest["x"][0]
        return params + 1, [params.w @ params.w]

    make = lambda: ua.Container(w=ua.ones((2, 2)), b=[ua.zeros(2)])  # noqa: E731
    assert_equal_runs(step, make, lambda: {"x": [ua.asarray([[1.0, 2.0], [3.0, 4.0]])]})


@pytest.mark.parametrize(
    "overlap",
    [lambda x: (x, x), lambda x: (x[1:], x[:-1]), lambda x: (x, x[::-1]), lambda x: (x[::2], x[1::2])],
    ids=["the same", "shifted", "reversed", "beside each other"],
)
def test_arguments_may_overlap(backend: str, overlap: Function) -> None:
    def function(x: ua.Array, y: ua.Array) -> ua.Array:
        x += y
        y *= 2
        return x - y

    compiled = compile(function)
    # Traced where nothing overlaps, and where something does.
    compiled(vector(1.0, 2.0, 3.0)(), vector(1.0, 2.0, 3.0)())
    for call in (compiled, compile(function)):
        mine, theirs = vector()(), vector()()
        assert_same(call(*overlap(mine)), as_numpy(function(*overlap(theirs))))
        assert_same(mine, as_numpy(theirs))


def test_each_kind_of_argument_is_traced_once(backend: str) -> None:
    traced = []

    @compile
    def function(x: ua.Array, factor: float = 1.0, *, shift: int = 0) -> ua.Array:
        traced.append((x.shape, factor))
        return x * factor + shift if factor > 0 else -x

    x = vector()()
    for factor in (2.0, 2, True, 2.0, -1.0, 0.0, -0.0):
        assert_same(function(x, factor), as_numpy(x) * factor if factor > 0 else -as_numpy(x))
    assert len(traced) == 6
    function(x, 2.0)
    function(x + 1, 2.0, shift=0)
    assert len(traced) == 7
    function(x[:2], 2.0)
    function(x.astype("float32"), 2.0)
    assert len(traced) == 9


def test_what_depends_on_values_names_the_line(backend: str) -> None:
    @compile
    def branch(x: ua.Array) -> ua.Array:
        return x if x[0] > 0 else -x

    @compile
    def select(x: ua.Array) -> ua.Array:
        return x if ua.any(x[x > 2]) else -x

    @compile
    def number(x: ua.Array) -> float:
        return float(ua.sum(x))

    for function in (branch, select, number):
        x = vector()()
        with pytest.raises(TraceError, match=r"test_compile\.py, line \d+.*where"):
            function(x)
        assert_same(x + 1, [2.0, 3.0, 4.0, 5.0])


def test_a_failed_trace_leaves_all_as_it_was(backend: str) -> None:
    outside = ua.zeros(4)

    @compile
    def function(x: ua.Array) -> None:
        nonlocal outside
        outside += x
        x += 1
        raise KeyError("on the way")

    x = vector()()
    with pytest.raises(KeyError):
        function(x)
    assert_same(x, [1.0, 2.0, 3.0, 4.0])
    outside += 1
    assert_same(outside, np.ones(4))


def test_what_outlives_the_trace_says_so(backend: str) -> None:
    kept = []

    @compile
    def function(x: ua.Array) -> ua.Array:
        kept.append(x * 2)
        return x

    with pytest.raises(LostStateError, match=r"kept\[0\], a variable of the closure"):
        function(vector()())
    with pytest.raises(TraceError, match="outlived"):
        kept[0] + 1


def test_what_cant_be_written_or_meet_raises(backend: str) -> None:
    @compile
    def function(x: ua.Array) -> None:
        x += 1

    with pytest.raises(ReadOnlyError):
        function(ua.broadcast_to(ua.ones(1), (3,)))
    add = compile(lambda x, y: x + y)
    other = "torch" if backend == "numpy" else "numpy"
    if other in ua.available_backends():
        with pytest.raises(BackendMismatchError):
            add(ua.ones(2), ua.ones(2, backend=other))
    with pytest.raises(TypeError, match=r"ua\.asarray"):
        add(ua.ones(2), ua.ones(2).native)
    with pytest.raises(TypeError, match="hashable"):
        add(ua.ones(2), {1, 2})
    with pytest.raises(ValueError, match="mode"):
        compile(lambda x: x, mode="quick")


def test_a_compiled_function_inside_another_one(backend: str) -> None:
    @compile
    def inner(x: ua.Array) -> ua.Array:
        x *= 2
        return x + 1

    @compile
    def outer(x: ua.Array) -> ua.Array:
        return inner(x) + inner(x)

    x = vector()()
    assert_same(outer(x), 2 * np.arange(1.0, 5) + 1 + 4 * np.arange(1.0, 5) + 1)
    assert_same(x, 4 * np.arange(1.0, 5))


def test_without_arrays_and_with_other_dtypes(backend: str) -> None:
    assert_same(compile(lambda n: ua.arange(n) * 2)(4), [0, 2, 4, 6])
    for dtype in ("bool", "int8", "uint64", "float16", "bfloat16", "complex128"):
        values = np.array([[1, 0, 1]])
        x = ua.asarray(values, dtype=dtype)
        assert_same(compile(lambda x: ua.where(x != 0, x, x).T)(x), as_numpy(x).T)
    for shape in ((), (0,), (0, 3)):
        assert_equal_runs(with_size, lambda shape=shape: ua.zeros(shape))


def with_size(x: ua.Array) -> ua.Array:
    x += 1
    x[...] = x * 2
    return ua.sum(x) + x


def test_other_threads_dont_see_a_trace(backend: str) -> None:
    outside, found = vector()(), []

    @compile
    def function(x: ua.Array) -> ua.Array:
        other = vector()()
        thread = threading.Thread(target=lambda: found.append(float(ua.sum(ua.asarray(np.ones(3), backend=backend)))))
        thread.start()
        thread.join()
        return x + other + outside

    assert_same(function(vector()()), 3 * np.arange(1.0, 5))
    assert found == [3.0]


def test_arguments_and_results_die_when_nobody_has_them(backend: str) -> None:
    @compile
    def function(x: ua.Array) -> ua.Array:
        return x * 2 + 1

    x = vector()()
    dead = weakref.ref(x), weakref.ref(function(x))
    del x
    gc.collect()
    assert [each() for each in dead] == [None, None]


@pytest.mark.parametrize("function", [ua.add, ua.subtract, ua.multiply, ua.maximum, ua.equal], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["bool", "uint16", "int8", "float16", "complex64"])
def test_kernels_that_decline_a_buffer(backend: str, function: Function, dtype: str) -> None:
    if dtype == "bool" and function is ua.subtract:
        pytest.skip("there's no difference of truth values")
    skip_unless(backend, "numpy", "torch", why="only engines that write in place have buffers")
    x, y = (ua.asarray(np.array(values), dtype=dtype, copy=True) for values in ([1, 2, 3, 1], [1, 1, 2, 3]))
    wanted = as_numpy(function(x, y)).astype(dtype)

    def update(x: ua.Array, y: ua.Array) -> None:
        function(x, y, out=x) if function is not ua.equal else ua.inplace_update(x, function(x, y).astype(x.dtype))

    compile(update)(x, y)
    assert_same(x, wanted)
