"""Operations that users declare are nodes of graphs, with their maps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array, compile
from unifyarr.errors import (
    TraceError,
)
from unifyarr.graph.kernels.user_op_nodes import UserOp
from unifyarr.testing import has, lacks, needs

from ..natives import native
from ..oracle import as_numpy, assert_same
from ..user_ops import Axpy, address, array


def nodes_of(compiled: Any, *arguments: Any) -> list[UserOp]:
    """Call a compiled function, and return the user's operations of its graph."""
    compiled(*arguments)
    (program,) = compiled._programs.values()
    return [node.op for node in program.fgraph.toposort() if isinstance(node.op, UserOp)]


def twins_in(compiled: Any, *arguments: Any) -> list[tuple[int, ...]]:
    """Return the arrays that the operations of a graph overwrite, for each."""
    return [tuple(op._victims or ()) for op in nodes_of(compiled, *arguments)]


# -- in a graph -------------------------------------------------------------------------------------------------------


def test_a_call_is_one_node(backend: str) -> None:
    axpy = Axpy()
    x, y = array(1, 2), array(3, 4)
    compiled = compile(lambda x, y: axpy.op(2.0, x, y), mode="pure")
    (op,) = nodes_of(compiled, x, y)
    assert op.name == "axpy"
    assert op.views(None) == op.destroys(None) == {}  # type: ignore[arg-type]
    # The trace of the body says of what type the result is.
    axpy.took()
    assert_same(compiled(x, y), np.array([5.0, 8.0]))
    assert "body" not in axpy.took()


def test_without_a_kernel_the_body_is_traced(backend: str) -> None:
    @ua.op
    def squared(x: Array, /) -> Array:
        return x * x

    x = array(1, 2)
    compiled = compile(squared)
    assert nodes_of(compiled, x) == []
    assert_same(compiled(x), np.array([1.0, 4.0]))
    squared.kernel(backend)(lambda x: x * x)
    assert_same(compiled(x), np.array([1.0, 4.0]))
    assert len(nodes_of(compile(squared), x)) == 1


def test_equal_calls_are_computed_once(backend: str) -> None:
    axpy = Axpy()
    x, y = array(1, 2), array(3, 4)

    def function(x: Array, y: Array) -> Array:
        same = axpy.op(x, x, y) * axpy.op(x, x, y)
        return same + axpy.op(x, x, y, 0.0) + axpy.op(x, x, y, -0.0)

    assert len(nodes_of(compile(function), x, y)) == 3
    assert_same(compile(function)(x, y), function(x, y))


def test_a_dead_temporary_is_overwritten(backend: str) -> None:
    axpy = Axpy()
    x, y = array(1, 2), array(3, 4)
    compiled = compile(lambda x, y: axpy.op(3.0, x, y * 2))
    assert twins_in(compiled, x, y) == ([(2,)] if has(backend, "writes") else [()])
    result = compiled(x, y)
    assert_same(result, np.array([9.0, 14.0]))
    assert_same(y, np.array([3.0, 4.0]))
    if has(backend, "writes"):
        assert axpy.written[-1] == address(result.native)


def test_what_is_needed_is_not_overwritten(backend: str) -> None:
    axpy = Axpy()
    x, y = array(1, 2), array(3, 4)

    def read_later(x: Array, y: Array) -> Array:
        t = y * 2
        return axpy.op(3.0, x, t) * t

    def returned(x: Array, y: Array) -> tuple[Array, Array]:
        t = y * 2
        return t, axpy.op(3.0, x, t)

    def an_argument(x: Array, y: Array) -> Array:
        return axpy.op(3.0, x, y)

    def twice(x: Array, y: Array) -> Array:
        t = y * 2
        return axpy.op(3.0, t, t)

    for function in (read_later, returned, an_argument, twice):
        compiled: Any = compile(function)
        assert twins_in(compiled, x, y) == [()], function.__name__
        results, expected = compiled(x, y), function(x, y)
        for one, other in zip(
            results if isinstance(results, tuple) else [results],
            expected if isinstance(expected, tuple) else [expected],
            strict=True,
        ):
            assert_same(one, as_numpy(other))
    assert_same(y, np.array([3.0, 4.0]))


@needs("writes", why="elsewhere no twin is asked")
def test_a_reader_comes_before_the_destroyer(backend: str) -> None:
    axpy = Axpy()
    x, y = array(1, 2), array(3, 4)

    def function(x: Array, y: Array) -> tuple[Array, Array]:
        t = y * 2
        u = axpy.op(3.0, x, t)
        return u, ua.sum(t)

    compiled = compile(function)
    assert twins_in(compiled, x, y) == [(2,)]
    u, v = compiled(x, y)
    assert_same(u, np.array([9.0, 14.0]))
    assert_same(v, np.array(14.0))


@needs("writes", why="elsewhere no twin is asked")
@pytest.mark.parametrize("same", [False, True])
def test_tolerance_counts_in_a_graph(backend: str, same: bool) -> None:
    axpy = Axpy(tolerate_same=[(2, 1)] if same else [])

    def function(y: Array) -> Array:
        t = y * 2
        return axpy.op(3.0, t, t)

    compiled = compile(function)
    assert twins_in(compiled, array(3, 4)) == ([(2,)] if same else [()])
    assert_same(compiled(array(3, 4)), np.array([24.0, 32.0]))


def test_an_update_is_written_where_it_goes(backend: str) -> None:
    axpy = Axpy()
    x, y = array(1, 2), array(3, 4)

    def update(x: Array, y: Array) -> None:
        axpy.op(3.0, x, y, out=y)

    compiled = compile(update)
    assert twins_in(compiled, x, y) == ([(2,)] if has(backend, "writes") else [()])
    assert_same(y, np.array([6.0, 10.0]))
    if has(backend, "writes"):
        assert axpy.written[-1] == address(y.native)


def test_a_view_in_a_graph(backend: str) -> None:
    @ua.op(view_map={0: (0, 1)})
    def either(x: Array, y: Array, /, first: bool) -> Array: ...

    either.kernel(backend)(lambda x, y, first: (x if first else y)[1:])
    x, y = array(1, 2, 3), array(4, 5, 6)

    def function(x: Array, y: Array, first: bool) -> tuple[Array, Array]:
        t, u = x * 2, y * 2
        part = either(t, u, first)
        # Neither may be overwritten before the part is read.
        t += 1
        u += 1
        return t + u, ua.sum(part * 10)

    def argument(x: Array, y: Array, first: bool) -> Array:
        part = either(x, y, first)
        x += 100
        return part

    for first in (True, False):
        compiled: Any = compile(function)
        for one, other in zip(compiled(x, y, first), function(x, y, first), strict=True):
            assert_same(one, as_numpy(other))
        (op,) = nodes_of(compiled, x, y, first)
        assert op.view_map == {0: (0, 1)}
        mine, theirs = array(1, 2, 3), array(1, 2, 3)
        part, expected = compile(argument)(mine, y, first), argument(theirs, y, first)
        assert_same(part, as_numpy(expected))
        # The result is unaliased.
        part += 1
        assert_same(mine, as_numpy(theirs))
        assert_same(y, np.array([4.0, 5.0, 6.0]))


def test_two_outputs_in_one_input(backend: str) -> None:
    @ua.op
    def halves(x: Array, /) -> tuple[Array, Array]:
        return x[:2] * 2, x[2:] * 3

    written = []

    @halves.kernel(backend)
    def _(x: Any) -> Any:
        return x[:2] * 2, x[2:] * 3

    @halves.inplace(backend, destroy_map={0: (0,), 1: (0,)})
    def _(x: Any) -> Any:
        written.append(address(x))
        x[:2] *= 2
        x[2:] *= 3
        return x[:2], x[2:]

    def function(x: Array) -> tuple[Array, Array]:
        first, second = halves(x + 1)
        return ua.sum(first) + ua.sum(second), first

    x = array(0, 1, 2, 3)
    compiled = compile(function)
    assert twins_in(compiled, x) == ([(0,)] if has(backend, "writes") else [()])
    for one, other in zip(compiled(x), function(x), strict=True):
        assert_same(one, as_numpy(other))
    assert bool(written) == (has(backend, "writes"))
    # Both results are needed, and neither may be overwritten by the input of the other.
    both = compile(lambda x: halves(x + 1))
    low, high = both(x)
    low += 100
    assert_same(high, np.array([9.0, 12.0]))
    assert_same(halves(x)[0], np.array([0.0, 2.0]))


def test_each_output_in_its_own_input(backend: str) -> None:
    @ua.op
    def swapped(x: Array, y: Array, /) -> tuple[Array, Array]: ...

    @swapped.kernel(backend)
    def _(x: Any, y: Any) -> Any:
        return y + 0, x + 0

    @swapped.inplace(backend, destroy_map={0: (0,), 1: (1,)})
    def _(x: Any, y: Any) -> Any:
        kept = x + 0
        x[...] = y
        y[...] = kept
        return x, y

    x, y = array(1, 2), array(3, 4)
    compiled = compile(lambda x, y: swapped(x + 1, y + 1))
    assert twins_in(compiled, x, y) == ([(0, 1)] if has(backend, "writes") else [()])
    one, other = compiled(x, y)
    assert_same(one, np.array([4.0, 5.0]))
    assert_same(other, np.array([2.0, 3.0]))
    exchange = compile(lambda x, y: swapped(x, y, out=(x, y)) and None)
    exchange(x, y)
    assert_same(x, np.array([3.0, 4.0]))
    exchange(x, y)
    assert_same(y, np.array([3.0, 4.0]))
    # Only together can the two be computed where they are stored.
    assert twins_in(exchange, x, y) == ([(0, 1)] if has(backend, "writes") else [()])


def test_scratch(backend: str) -> None:
    @ua.op
    def norm(x: Array, /) -> Array:
        return ua.sum(x * x)

    @norm.kernel(backend)
    def _(x: Any) -> Any:
        return (x * x).sum() if backend != "tensorflow" else NotImplemented

    @norm.inplace(backend, scratch=(0,))
    def _(x: Any) -> Any:
        x *= x
        return x.sum()

    x = array(1, 2, 2)
    if has(backend, "writes"):
        assert twins_in(compile(lambda x: norm(x + 1)), x) == [(0,)]
        assert twins_in(compile(norm), x) == [()]
    assert_same(compile(lambda x: norm(x + 1))(x), np.array(22.0))
    assert_same(compile(norm)(x), np.array(9.0))
    assert_same(norm(x), np.array(9.0))
    assert_same(x, np.array([1.0, 2.0, 2.0]))


def test_a_read_only_view_is_not_overwritten(backend: str) -> None:
    axpy = Axpy()
    compiled = compile(lambda x, y: axpy.op(2.0, x, ua.broadcast_to(y + 1, (3,))))
    x, y = array(1, 2, 3), array(1)
    assert twins_in(compiled, x, y) == [()]
    assert_same(compiled(x, y), np.array([4.0, 6.0, 8.0]))

    @ua.op(view_map={0: (0,)})
    def spread(x: Array, /) -> Array: ...

    spread.kernel("numpy")(lambda x: np.broadcast_to(x, (3,)))
    spread.kernel("torch")(lambda x: x.expand(3))
    if has(backend, "writes"):
        compiled = compile(lambda x: (spread(x * 2) + 1) * 1)
        assert_same(compiled(y), np.array([3.0, 3.0, 3.0]))


@lacks("compiling", why="others compile no such thing")
def test_what_depends_on_values_is_found(backend: str) -> None:

    @ua.op
    def positive(x: Array, /) -> Array: ...

    positive.kernel(backend)(lambda x: x[x > 0])
    compiled = compile(positive)
    assert_same(compiled(array(1, -1)), np.array([1.0]))
    with pytest.raises(TraceError, match=r"positive\(\) gives shape \(2,\)"):
        compiled(array(1, 2))


@needs("writes", why="other engines tell the types")
def test_what_a_run_told_is_kept(backend: str) -> None:
    runs: list[float] = []

    @ua.op
    def repeated(x: Array, /, *, count: int = 2) -> Array: ...

    def kernel(x: Any, *, count: int = 2) -> Any:
        runs.append(count)
        return x[:, None] * native(backend, np.ones((1, count)))

    repeated.kernel(backend)(kernel)
    x = array(1, 2)
    for count, wanted in ((2, 1), (2, 1), (3, 2)):
        graph = compile(lambda x, count=count: repeated(x, count=count) + 1).graph(x)
        assert graph.outputs[0].type.shape == (2, count)
        assert len(runs) == wanted
    # The node computes it, and nothing is left of the run.
    assert_same(compile(lambda x: repeated(x * 2))(x), np.array([[2.0, 2.0], [4.0, 4.0]]))
    compile(repeated, mode="debug").graph(x)
    assert len(runs) == 4


@needs("compiling", "values", why="an engine that traces kernels")
def test_engines_compile_kernels(backend: str) -> None:
    axpy = Axpy()

    def function(x: Any, y: Any) -> Any:
        out = ua.asarray(y) * 1
        axpy.op(2.0, x, out, out=out)
        return out.native

    if backend == "jax":
        import jax

        function = jax.jit(function)
    else:
        import tensorflow as tf

        function = tf.function(function)
    x, y = native(backend, [1.0, 2.0]), native(backend, [3.0, 4.0])
    assert np.asarray(function(x, y)).tolist() == [5.0, 8.0]
    assert axpy.took() == ["kernel"]
