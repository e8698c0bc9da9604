"""Operations that users declare are called like the package's own functions."""

from __future__ import annotations

import inspect
import pickle
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array
from unifyarr.errors import (
    BackendFeatureError,
    BackendMismatchError,
    BackendNotFoundError,
    BadDestroyMap,
    BadInplace,
    BadViewMap,
    CastingError,
    DtypeError,
    ReadOnlyError,
    ShapeError,
)
from unifyarr.graph.compiling import compile
from unifyarr.testing import has, needs

from .natives import native, skip_unless
from .oracle import as_numpy, assert_same
from .user_ops import Axpy, array


@ua.op
def doubled(x: Array, /) -> Array:
    """Return twice an array."""
    return 2 * x


@doubled.kernel("numpy")
def _(x: Any) -> Any:
    return x + x


# -- called -----------------------------------------------------------------------------------------------------------


def test_a_call_is_that_of_any_function(backend: str) -> None:
    axpy = Axpy()
    x, y = array(1, 2, 3), array(10, 20, 30)
    assert_same(axpy.op(ua.asarray(2.0), x, y), np.array([12.0, 24.0, 36.0]))
    assert_same(axpy.op(2.0, [1.0, 2.0, 3.0], y, scale=0.5), np.array([11.0, 22.0, 33.0]))
    assert_same(axpy.op(2.0, native(backend, [1.0, 2.0, 3.0]), np.array([1.0, 1.0, 1.0]), 2.0), np.array([5.0, 9, 13]))
    assert_same(axpy.op(1.0, x[::-1], y[1:2]), np.array([23.0, 22.0, 21.0]))
    assert axpy.took() == ["kernel"] * 4
    found = axpy.op(2.0, ua.Container(b=x, c=y), y)
    assert_same(found.b, np.array([12.0, 24.0, 36.0]))
    assert_same(found.c, np.array([30.0, 60.0, 90.0]))


def test_a_function_looks_like_its_body() -> None:
    axpy = Axpy().op
    assert axpy.__name__ == "axpy"
    assert axpy.__doc__ == "Return a multiple of x, and y."
    assert list(inspect.signature(axpy).parameters) == ["a", "x", "y", "scale", "out"]
    assert pickle.loads(pickle.dumps(doubled)) is doubled


def test_without_a_kernel_the_body_computes(backend: str) -> None:
    assert_same(doubled(array(1, 2)), np.array([2.0, 4.0]))
    out = array(0, 0)
    assert doubled(array(1, 2), out=out) is out
    assert_same(out, np.array([2.0, 4.0]))


@pytest.mark.parametrize("times", [1, 2])
def test_out_takes_the_result(backend: str, times: int) -> None:
    axpy = Axpy()
    for _ in range(times):
        x, y, base = array(1, 2), array(10, 20), array(0, 0, 0)
        assert axpy.op(2.0, x, y, out=base[:0:-1]) is not None
        assert_same(base, np.array([0.0, 24.0, 12.0]))
        assert axpy.op(2.0, x, y, out=x) is x
        assert_same(x, np.array([12.0, 24.0]))
        assert axpy.op(2.0, x, y, out=y) is y
        assert_same(y, np.array([34.0, 68.0]))
        nest, outs = ua.Container(p=x), ua.Container(p=ua.zeros(2))
        assert axpy.op(1.0, nest, 1.0, out=outs) is outs
        assert_same(outs.p, np.array([13.0, 25.0]))


@needs("writes", why="others can't be written")
def test_a_native_array_is_out(backend: str) -> None:
    out = native(backend, [0.0, 0.0])
    assert Axpy().op(1.0, array(1, 2), array(3, 4), out=out) is out
    assert list(out) == [4.0, 6.0]


@pytest.mark.parametrize("times", [1, 2])
def test_a_wrong_out_is_refused_before_anything_is_written(backend: str, times: int) -> None:
    axpy = Axpy()
    x, y = array(1, 2), array(3, 4)
    for _ in range(times):
        with pytest.raises(ShapeError, match="axpy"):
            axpy.op(1.0, x, y, out=ua.zeros(3))
        whole = ua.zeros(2, dtype=ua.int64)
        with pytest.raises(CastingError, match="axpy"):
            axpy.op(1.0, x, y, out=whole)
        assert_same(whole, np.zeros(2, np.int64))
        with pytest.raises(ReadOnlyError):
            axpy.op(1.0, x, y, out=ua.broadcast_to(ua.zeros(1), (2,)))
    single = ua.zeros(2, dtype=ua.float32)
    axpy.op(1.0, x, y, out=single)
    assert_same(single, np.array([4, 6], np.float32))


def test_arrays_of_two_backends_meet(backend: str) -> None:
    other = "torch" if backend == "numpy" else "numpy"
    skip_unless(other, *ua.available_backends(), why="another engine")
    with pytest.raises(BackendMismatchError):
        Axpy().op(1.0, ua.zeros(2), ua.zeros(2, backend=other))


def test_out_that_is_destroyed_is_written_by_the_twin(backend: str) -> None:
    axpy = Axpy()
    x, y = array(1, 2), array(10, 20)
    # The first call tells the type of the result.
    axpy.op(2.0, x, y, out=y)
    assert axpy.took() == ["kernel"]
    axpy.op(2.0, x, y, out=y)
    assert axpy.took() == (["twin"] if has(backend, "writes") else ["kernel"])
    assert_same(y, np.array([14.0, 28.0]))
    # Another scale is unknown.
    axpy.op(2.0, x, y, 3.0, out=y)
    assert axpy.took() == ["kernel"]


def test_no_twin_writes_what_another_argument_needs(backend: str) -> None:
    axpy = Axpy()
    for _ in range(2):
        y = array(1, 2, 3, 4)
        axpy.op(1.0, y, y, out=y)
        assert_same(y, np.array([2.0, 4.0, 6.0, 8.0]))
        x, z = y[:-1], y[1:]
        axpy.op(1.0, x, z, out=z)
        assert_same(y, np.array([2.0, 6.0, 10.0, 14.0]))
    assert axpy.took() == ["kernel"] * 4
    tolerant = Axpy(tolerate_same=[(2, 1)])
    for _ in range(2):
        y = array(1, 2)
        tolerant.op(1.0, y, y, out=y)
        assert_same(y, np.array([2.0, 4.0]))
    assert tolerant.took() == (["kernel", "twin"] if has(backend, "writes") else ["kernel", "kernel"])


def test_no_twin_writes_a_result_of_another_type(backend: str) -> None:
    axpy = Axpy()
    for _ in range(2):
        y = ua.zeros(2, dtype=ua.int64)
        with pytest.raises(CastingError):
            axpy.op(ua.ones(2), ua.ones(2), ua.zeros(2), out=y)
        single = ua.zeros((), dtype=ua.float64)
        with pytest.raises(ShapeError):
            axpy.op(1.0, array(1, 2), single, out=single)
        if has(backend, "writes"):
            narrow = ua.zeros(2, dtype=ua.float32)
            axpy.op(ua.asarray(1.0), array(1, 2), narrow, out=narrow)
            assert_same(narrow, np.array([1, 2], np.float32))
    assert "twin" not in axpy.took()


def test_gradients_go_through_a_kernel_with_out(backend: str) -> None:
    skip_unless(backend, "torch", why="torch records gradients of arrays that are written")
    import torch

    @ua.op
    def added(x: Array, y: Array, /) -> Array: ...

    # torch refuses its own out= where it records a gradient.
    added.kernel("torch")(torch.add)
    for _ in range(2):
        x = torch.ones(2, dtype=torch.float64, requires_grad=True)
        y = ua.zeros(2)
        added(x, 3.0, out=y)
        y.native.sum().backward()
        assert x.grad is not None
        assert x.grad.tolist() == [1.0, 1.0]


def test_a_kernel_that_takes_out_gets_it(backend: str) -> None:
    given: list[Any] = []

    @ua.op
    def added(x: Array, y: Array, /) -> Array:
        return x + y

    @added.kernel(backend)
    def _(x: Any, y: Any, out: Any = None) -> Any:
        given.append(out)
        if out is None:
            return x + y
        out[...] = x
        out += y
        return out

    x, y, z = array(1, 2), array(3, 4), ua.zeros(2)
    for _ in range(2):
        assert added(x, y, out=z) is z
        assert_same(z, np.array([4.0, 6.0]))
    assert (given[1] is z.native) == (has(backend, "writes"))
    # It would read elements after writing them.
    added(y, x, out=x)
    assert_same(x, np.array([4.0, 6.0]))
    assert given[2] is None
    # In a graph a dead buffer.
    compiled = compile(lambda x, y: added(added(added(x, y), y), y))
    assert_same(compiled(x, y), np.array([13.0, 18.0]))
    given.clear()
    assert_same(compiled(x, y), np.array([13.0, 18.0]))
    if has(backend, "writes"):
        assert [each is not None for each in given] == [False, False, True]


def test_an_engines_own_function_is_a_kernel() -> None:
    @ua.op
    def larger(x: Array, y: Array, /) -> Array: ...

    assert larger.kernel("numpy")(np.maximum) is np.maximum
    x, z = ua.asarray([1, 5], backend="numpy"), ua.zeros(2, dtype=ua.int64, backend="numpy")
    for _ in range(2):
        larger(x, [3, 3], out=z)
        assert_same(z, np.array([3, 5]))
    assert_same(larger(x[0], 0), np.array(1))


def test_a_kernel_declines(backend: str) -> None:
    @ua.op
    def shifted(x: Array, /, by: int = 1) -> Array:
        return x + by

    @shifted.kernel(backend)
    def _(x: Any, by: int) -> Any:
        return NotImplemented if by < 0 else x + by + 100

    assert_same(shifted(array(1, 2)), np.array([102.0, 103.0]))
    assert_same(shifted(array(1, 2), -1), np.array([0.0, 1.0]))
    assert_same(shifted(array(1, 2), -1, out=array(0, 0)), np.array([0.0, 1.0]))
    compiled = compile(lambda x, by: shifted(x, by))
    assert_same(compiled(array(1, 2), -1), np.array([0.0, 1.0]))
    assert_same(compiled(array(1, 2), 1), np.array([102.0, 103.0]))


@needs("writes", why="elsewhere no twin is asked")
def test_a_twin_declines(backend: str) -> None:

    @ua.op
    def halved(x: Array, /) -> Array: ...

    asked = []

    @halved.kernel(backend)
    def _(x: Any) -> Any:
        return x / 2

    @halved.inplace(backend, destroy_map={0: (0,)})
    def _(x: Any) -> Any:
        asked.append(x)
        return NotImplemented

    x = array(2, 4)
    halved(x, out=x)
    halved(x, out=x)
    assert_same(x, np.array([0.5, 1.0]))
    compiled = compile(lambda x: halved(x, out=x))
    compiled(x)
    assert_same(x, np.array([0.25, 0.5]))
    assert len(asked) == 2


# -- what is passed and returned --------------------------------------------------------------------------------------


def test_several_results(backend: str) -> None:
    @ua.op
    def bounds(x: Array, y: Array, /) -> tuple[Array, Array]: ...

    @bounds.kernel(backend)
    def _(x: Any, y: Any) -> Any:
        return x - y, x + y

    low, high = bounds(array(1, 2), 1.0)
    assert_same(low, np.array([0.0, 1.0]))
    assert_same(high, np.array([2.0, 3.0]))
    x, y = array(5, 6), array(1, 2)
    assert bounds(x, y, out=(y, x)) == (y, x)
    assert_same(y, np.array([4.0, 4.0]))
    assert_same(x, np.array([6.0, 8.0]))
    low, high = bounds(ua.Container(p=x), 1.0)
    assert_same(high.p, np.array([7.0, 9.0]))
    with pytest.raises(TypeError, match=r"out is a tuple"):
        bounds(x, y, out=x)


def test_sequences_optional_arrays_and_scalars(backend: str) -> None:
    seen: list[Any] = []

    @ua.op
    def total(xs: Sequence[Array], weight: Array | None = None, bias: Array | float = 0.0) -> Array:
        result = xs[0]
        for x in xs[1:]:
            result = result + x
        return (result if weight is None else result * weight) + bias

    @total.kernel(backend)
    def _(xs: Any, weight: Any, bias: Any) -> Any:
        seen.append((type(xs), len(xs), weight is None, type(bias)))
        result = xs[0]
        for x in xs[1:]:
            result = result + x
        return (result if weight is None else result * weight) + bias

    x, y = array(1, 2), array(3, 4)
    assert_same(total([x, y]), np.array([4.0, 6.0]))
    assert_same(total([x, y, x], y, bias=1.0), np.array([16.0, 33.0]))
    assert_same(total(iter([x]), bias=y), np.array([4.0, 6.0]))
    assert seen[:2] == [(tuple, 2, True, float), (tuple, 3, False, float)]
    compiled = compile(lambda x, y: total([x, y, x], bias=y) + total((x, y), y))
    for _ in range(2):
        assert_same(compiled(x, y), total([x, y, x], bias=y) + total((x, y), y))


def test_any_number_of_arrays(backend: str) -> None:
    @ua.op
    def product(x: Array, /, *others: Array, power: int = 1) -> Array:
        for other in others:
            x = x * other**power
        return x

    calls = []

    @product.kernel(backend)
    def _(x: Any, *others: Any, power: int) -> Any:
        calls.append(len(others))
        if len(others) > 2:
            return NotImplemented
        for other in others:
            x = x * other**power
        return x

    x = array(1, 2)
    assert_same(product(x), np.array([1.0, 2.0]))
    assert_same(product(x, x, x, power=2), np.array([1.0, 32.0]))
    assert_same(product(x, x, x, x), np.array([1.0, 16.0]))
    compiled = compile(lambda x: product(x, x, x, power=2))
    assert_same(compiled(x), np.array([1.0, 32.0]))
    assert calls[:3] == [0, 2, 3]


def test_parameters_have_any_name(backend: str) -> None:
    @ua.op
    def step(parameters: Array, call: Array, general: float, *, Call: float = 1.0) -> Array:  # noqa: N803
        return parameters - general * Call * call

    assert_same(step(array(1, 2), array(1, 1), 0.5), np.array([0.5, 1.5]))


def test_a_method_is_an_op(backend: str) -> None:
    @ua.op
    def tripled(x: Array, /, *, out: Array | None = None) -> Array:
        return ua.multiply(x, 3.0, out=out)

    x = array(1, 2)
    assert tripled(x, out=x) is x
    assert_same(x, np.array([3.0, 6.0]))


def test_results_are_independent_of_arguments(backend: str) -> None:
    @ua.op(view_map={0: (0,)})
    def reversed_(x: Array, /) -> Array:
        return x[::-1]

    def check() -> None:
        x = array(1, 2, 3)
        y = reversed_(x)
        y += 1
        x[0] = 7
        assert_same(x, np.array([7.0, 2.0, 3.0]))
        assert_same(y, np.array([4.0, 3.0, 2.0]))

    check()
    with ua.debug():
        check()

    @reversed_.kernel(backend)
    def _(x: Any) -> Any:
        # torch has no negative strides.
        return x.flip(0) if backend == "torch" else x[::-1]

    check()
    with ua.debug():
        check()


def test_an_argument_that_is_returned_is_copied(backend: str) -> None:
    @ua.op(view_map={0: (0, 1)})
    def either(x: Array, y: Array, /, first: bool) -> Array:
        return x if first else y

    for _ in range(2):
        for first in (True, False):
            x, y = array(1, 2), array(3, 4)
            # After a write of its own an array may be all that has its memory.
            x += 1
            z = either(x, y, first)
            x += 10
            y += 10
            assert_same(z, np.array([2.0, 3.0] if first else [3.0, 4.0]))
        either.kernel(backend)(lambda x, y, first: x if first else y) if _ == 0 else None


def test_another_object_over_the_buffer_of_an_argument(backend: str) -> None:
    skip_unless(backend, "jax", why="only JAX donates buffers")

    @ua.op(view_map={0: (0,)})
    def same(x: Array, /) -> Array: ...

    same.kernel(backend)(lambda x: x.addressable_data(0))
    x = array(1, 2)
    # After a write of its own the buffer is the array's alone.
    x[0] = 3.0
    y = same(x)
    x[0] = 4.0
    assert_same(y, np.array([3.0, 2.0]))
    assert_same(x, np.array([4.0, 2.0]))


# -- debug() ----------------------------------------------------------------------------------------------------------


def test_debug_passes_what_is_right(backend: str) -> None:
    axpy = Axpy()
    y = array(10, 20)
    with ua.debug():
        for _ in range(2):
            axpy.op(2.0, array(1, 2), y, out=y)
        axpy.op(ua.Container(a=y), y, y)
    assert_same(y, np.array([14.0, 28.0]))


def wrong(kernel: Callable[..., Any], backend: str, **twin: Callable[..., Any]) -> Any:
    @ua.op
    def wrong(x: Array, y: Array, /) -> Array: ...

    wrong.kernel(backend)(kernel)
    for each in twin.values():
        wrong.inplace(backend, destroy_map={0: (0,)})(each)
    return wrong


@needs("writes", why="others can't be written")
def test_debug_finds_a_kernel_that_writes(backend: str) -> None:

    def kernel(x: Any, y: Any) -> Any:
        y += x
        return y * 1

    with ua.debug(), pytest.raises(BadDestroyMap, match=r"wrong\(\) .* argument y"):
        wrong(kernel, backend)(array(1, 2), array(3, 4))


@needs("writes", why="memory that can be written is shared on mutable engines alone")
def test_debug_finds_a_view_that_is_not_declared(backend: str) -> None:
    with ua.debug(), pytest.raises(BadViewMap, match=r"argument y.* view_map=\{0: \(1,\)\}"):
        wrong(lambda x, y: y[1:], backend)(array(1, 2), array(3, 4))


@needs("writes", why="elsewhere no twin is asked")
def test_debug_finds_a_twin_that_computes_something_else(backend: str) -> None:

    def twin(x: Any, y: Any) -> Any:
        x -= y
        return x

    x = array(1, 2)
    with ua.debug(), pytest.raises(BadInplace, match=r"wrong\(\)"):
        wrong(lambda x, y: x + y, backend, twin=twin)(x, array(3, 4), out=x)


@needs("writes", why="elsewhere no twin is asked")
def test_debug_finds_a_twin_that_destroys_more(backend: str) -> None:

    def twin(x: Any, y: Any) -> Any:
        x += y
        y *= 0
        return x

    x = array(1, 2)
    with ua.debug(), pytest.raises(BadDestroyMap, match="argument y"):
        wrong(lambda x, y: x + y, backend, twin=twin)(x, array(3, 4), out=x)


# -- registering ------------------------------------------------------------------------------------------------------


def test_a_kernel_registered_later_serves(backend: str) -> None:
    @ua.op
    def one_more(x: Array, /) -> Array:
        return x + 1

    x = array(1, 2)
    assert_same(one_more(x), np.array([2.0, 3.0]))
    one_more.kernel(backend)(lambda x: x + 100)
    assert_same(one_more(x), np.array([101.0, 102.0]))


def test_threads_register_and_call(backend: str) -> None:
    @ua.op
    def same(x: Array, /) -> Array:
        return x + 0

    failures: list[BaseException] = []
    registered: list[str] = []
    start = threading.Barrier(8)

    def work() -> None:
        start.wait()
        try:
            for _ in range(20):
                with ua.use_backend(backend):
                    assert as_numpy(same(array(1, 2))).tolist() == [1.0, 2.0]
                try:
                    same.kernel(backend)(lambda x: x + 0)
                    registered.append(backend)
                except ValueError:
                    pass
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert registered == [backend]


def test_registering_loads_nothing() -> None:
    import subprocess
    import sys

    program = """
import sys
import unifyarr as ua
@ua.op
def f(x: ua.Array, /) -> ua.Array: ...
for name in ("torch", "jax", "tensorflow"):
    f.kernel(name)(lambda x: x)
    f.inplace(name, destroy_map={0: (0,)})(lambda x: x)
assert not {"torch", "jax", "tensorflow", "unifyarr.graph"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_wrong_registrations() -> None:
    op = Axpy().op
    with pytest.raises(BackendNotFoundError, match="'nmupy'"):
        op.kernel("nmupy")
    with pytest.raises(BackendNotFoundError):
        op.inplace("nmupy", destroy_map={0: (0,)})
    with pytest.raises(ValueError, match="has a kernel for backend 'numpy' already"):
        op.kernel("numpy")(lambda a, x, y, scale: y)
    with pytest.raises(ValueError, match="in-place kernel like this"):
        op.inplace("numpy", destroy_map={0: [2]})(lambda a, x, y, scale: y)
    op.inplace("numpy", destroy_map={0: (1,)})(lambda a, x, y, scale: x)
    with pytest.raises(ValueError, match=r"names input 3, but its arrays are a, x, y"):
        op.inplace("numpy", destroy_map={0: (3,)})
    with pytest.raises(ValueError, match=r"names output 1, but it has one output"):
        op.inplace("numpy", destroy_map={1: (0,)})
    with pytest.raises(ValueError, match=r"scratch .* from 0, so there is no -1"):
        op.inplace("numpy", scratch=(-1,))
    with pytest.raises(ValueError, match=r"tolerate_same .* names input 7"):
        op.inplace("numpy", destroy_map={0: (0,)}, tolerate_same=[(0, 7)])
    with pytest.raises(ValueError, match="overwrites something"):
        op.inplace("numpy")
    with pytest.raises(TypeError, match="a tuple of inputs"):
        op.inplace("numpy", destroy_map={0: 2})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="not int"):
        doubled.kernel("torch")(1)  # type: ignore[type-var]
    with pytest.raises(ValueError, match="register it first"):
        doubled.inplace("jax", destroy_map={0: (0,)})(lambda x: x)


def test_wrong_declarations() -> None:
    with pytest.raises(TypeError, match="takes no arrays"):

        @ua.op
        def nothing(x, y):  # type: ignore[no-untyped-def]
            return x

    with pytest.raises(TypeError, match="keyword-only"):

        @ua.op
        def keyword(x: Array, *, y: Array) -> Array:
            return x

    with pytest.raises(TypeError, match=r"\*\*options"):

        @ua.op
        def variable(x: Array, **options: int) -> Array:
            return x

    with pytest.raises(TypeError, match=r"\*axes"):

        @ua.op
        def variadic(x: Array, *axes: int) -> Array:
            return x

    with pytest.raises(ValueError, match=r"view_map of viewed\(\) names output 2, but it has 2 outputs"):

        @ua.op(view_map={2: (0,)})
        def viewed(x: Array) -> tuple[Array, Array]:
            return x, x


def test_without_kernel_and_body_there_is_nothing(backend: str) -> None:
    axpy = Axpy(body=False)

    @ua.op
    def nothing(x: Array, /) -> Array: ...

    other = "torch" if backend == "numpy" else "numpy"
    nothing.kernel(other)(lambda x: x)
    for call in (lambda: nothing(array(1)), lambda: compile(nothing)(array(1))):
        with pytest.raises(BackendFeatureError, match=rf"backend '{backend}' \(there are kernels for: '{other}'\)"):
            call()
    out = array(3)
    with pytest.raises(BackendFeatureError):
        nothing(array(1), out=out)
    assert_same(out, np.array([3.0]))
    assert_same(axpy.op(1.0, array(1), array(2)), np.array([3.0]))


def test_what_cant_be_hashed_is_refused(backend: str) -> None:
    @ua.op
    def padded(x: Array, /, widths: Any = ()) -> Array:
        return x + len(widths)

    assert_same(padded(array(1, 2), (1, (2, 3))), np.array([3.0, 4.0]))
    with pytest.raises(TypeError, match=r"^padded\(\): widths is a list"):
        padded(array(1, 2), [1])
    with pytest.raises(TypeError, match=r"^padded\(\): widths is a list"):
        padded(array(1, 2), (1, [2]))


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (lambda x: 1.0, "returned float"),
        (lambda x: None, "returned NoneType"),
        (lambda x: [x], "returned list"),
        (lambda x: (x, x), "returned a tuple of 2, but the op is declared to return one array"),
        (lambda x: ua.asarray(x), "returned Array"),
    ],
)
def test_a_kernel_returns_something_else(backend: str, result: Callable[..., Any], words: str) -> None:
    @ua.op
    def odd(x: Array, /) -> Array: ...

    odd.kernel(backend)(result)
    with pytest.raises(TypeError, match=rf"^odd\(\): the kernel for '{backend}' {words}"):
        odd(array(1, 2))
    with pytest.raises(TypeError, match=words):
        compile(odd)(array(1, 2))


def test_a_kernel_returns_too_few(backend: str) -> None:
    @ua.op
    def pair(x: Array, /) -> tuple[Array, Array]:
        return x  # type: ignore[return-value]

    with pytest.raises(TypeError, match=r"^pair\(\): the body returned one Array, .* a tuple of 2 arrays"):
        pair(array(1))
    pair.kernel(backend)(lambda x: (x,))
    with pytest.raises(TypeError, match="returned a tuple of 1"):
        pair(array(1))


def test_a_body_returns_no_array(backend: str) -> None:
    @ua.op
    def number(x: Array, /) -> Array:
        return 1.0  # type: ignore[return-value]

    with pytest.raises(TypeError, match=r"^number\(\): the body returned float"):
        number(array(1))


def test_a_kernel_returns_no_dtype_of_ours() -> None:
    @ua.op
    def texts(x: Array, /) -> Array: ...

    texts.kernel("numpy")(lambda x: x.astype(str))
    with pytest.raises(DtypeError, match=r"texts\(\): .* dtype <U"):
        texts(ua.ones(2, backend="numpy"))


@needs("writes", why="elsewhere no twin is asked")
def test_a_twin_returns_another_array(backend: str) -> None:
    x = array(1, 2)
    op = wrong(lambda x, y: x + y, backend, twin=lambda x, y: x + y)
    y = array(1, 2)
    op(x, y, out=x)
    with pytest.raises(TypeError, match=r"in-place kernel .* another \w+ than its argument 0"):
        op(x, y, out=x)
