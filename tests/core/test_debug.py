"""``debug()``: it finds each kind of wrong declaration and of wrong kernel, and accepts right ones."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.declaring.declare import DECLARATIONS, Declaration
from unifyarr._core.declaring.plain import serve
from unifyarr._core.engines import registry
from unifyarr._core.engines.handle import LOADED
from unifyarr._core.engines.registry import load
from unifyarr.backends.kernels import support_native_out
from unifyarr.errors import BadDestroyMap, BadInplace, BadOut, BadViewMap, DebugModeError
from unifyarr.testing import lacks, needs

from ..functions import test_out as table
from ..kernels import replace_plain_call, skip_without_core
from ..natives import skip_unless, values_of, variable
from ..oracle import as_numpy
from .test_aliasing import TESTED, cases_of

Function = Callable[..., Any]


def declared(body: Function) -> Function:
    """Declare a function for one test, outside of the package's table."""
    return Declaration(body, "compositional").function()


def assert_found(error: type[DebugModeError], call: Callable[[], object], *words: str) -> None:
    """Assert that a call goes through without ``debug()``, and that inside the error names all of the words."""
    call()
    with ua.debug(), pytest.raises(error) as caught:
        call()
    for word in words:
        assert word in str(caught.value)


# -- results that share memory with arguments -------------------------------------------------------------------------


def test_a_view_that_is_not_declared(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DECLARATIONS["flip"], "view_map", {})
    x = ua.asarray([1.0, 2.0, 3.0])
    assert_found(BadViewMap, lambda: ua.flip(x), "flip()", repr(backend), "argument x", "view_map={0: (0,)}")


def test_a_view_that_is_declared_for_another_output(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DECLARATIONS["unstack"], "view_map", {0: (0,)})
    x = ua.asarray([1.0, 2.0, 3.0])
    assert_found(BadViewMap, lambda: ua.unstack(x), "unstack()", repr(backend), "output 1", "argument x")


def test_a_view_of_another_argument_than_declared(backend: str) -> None:
    def second(x1: ua.Array, x2: ua.Array, /, *, out: ua.Array | None = None) -> ua.Array:
        return x2[1:]

    function = Declaration(second, "view", view_map={0: (0,)}).function()
    x, y = ua.asarray([1.0, 2.0]), ua.asarray([3.0, 4.0])
    assert_found(BadViewMap, lambda: function(x, y), "second()", repr(backend), "argument x2", "view_map={0: (1,)}")
    # Memory that the allowed argument shares by itself isn't the function's error.
    with ua.debug():
        function(y[:1], y)


def test_an_argument_itself_is_a_view_too(backend: str) -> None:
    function = declared(lambda_named("same", lambda x: x))
    x = ua.asarray([1.0, 2.0])
    assert_found(BadViewMap, lambda: function(x), "same()", repr(backend), "argument x")


def lambda_named(name: str, body: Callable[[ua.Array], ua.Array]) -> Function:
    """Return a declaration's body of that name, of one array."""

    def function(x: ua.Array, /, *, out: ua.Array | None = None) -> ua.Array:
        return body(x)

    function.__name__ = name
    return function


@needs("writes", why="memory that can be written is shared on mutable engines alone")
def test_a_kernel_that_returns_memory_of_its_input(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(load(backend).kernels, "negative", lambda x: x[:])
    x = ua.asarray([1.0, 2.0])
    with ua.debug(), pytest.raises(BadViewMap, match=r"negative\(\) on backend .* argument x"):
        ua.negative(x)


@lacks("writes", why="a mutable engine shares memory by it")
def test_a_kernel_that_returns_an_immutable_input(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(load(backend).kernels, "negative", lambda x: x)
    x = ua.asarray([1.0, 2.0])
    with ua.debug():
        y = ua.negative(x)
        x[0] = 3.0
    assert as_numpy(y).tolist() == [1.0, 2.0]


def test_another_object_over_a_buffer_that_the_next_write_may_use_up(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_unless(backend, "jax", why="only JAX donates buffers")
    monkeypatch.setitem(load(backend).kernels, "negative", lambda x: x.addressable_data(0))
    x = ua.asarray([1.0, 2.0])
    with ua.debug():
        ua.negative(x)
        # After a write of our own the buffer is the array's alone.
        x[0] = 3.0
        with pytest.raises(BadViewMap, match="argument x"):
            ua.negative(x)


@needs("writes", why="memory that can be written is shared on mutable engines alone")
def test_an_index_array_that_gives_a_view(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(load(backend).kernels, "gather", lambda x, *indices: x[:2])
    x = ua.asarray([1.0, 2.0, 3.0])
    key = ua.asarray([0, 1])
    with ua.debug(), pytest.raises(BadViewMap, match=r"x\[key\] on backend .* argument x"):
        x[key, ...]


# -- arguments that change --------------------------------------------------------------------------------------------


@needs("values")
def test_an_argument_that_changes(backend: str) -> None:
    def greedy(x1: ua.Array, x2: ua.Array, /, *, out: ua.Array | None = None) -> ua.Array:
        x2 += 1
        return ua.add(x1, x2, out=out)

    function = declared(greedy)
    x, y, out = ua.asarray([1.0, 2.0]), ua.asarray([3.0, 4.0]), ua.zeros(2)
    assert_found(BadDestroyMap, lambda: function(x, y), "greedy()", repr(backend), "argument x2")
    assert_found(BadDestroyMap, lambda: function(x, y, out=out), "greedy()", repr(backend), "argument x2")
    # Its view of the argument is written just as well.
    assert_found(BadDestroyMap, lambda: function(x, y[::-1]), "argument x2")


def test_a_kernel_that_writes_to_its_input(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def written(x: Any) -> Any:
        if backend == "tensorflow":
            import tensorflow as tf

            # Writes through every alias, of an immutable tensor too.
            return tf.raw_ops.InplaceUpdate(x=x, i=[0], v=tf.zeros(1, x.dtype)) + 1
        x[:1] = 0
        return x + 1

    skip_unless(backend, "numpy", "torch", "tensorflow", why="no operation writes to an array of JAX")
    monkeypatch.setitem(load(backend).kernels, "negative", written)
    x = ua.asarray([1.0, 2.0])
    with ua.debug(), pytest.raises(BadDestroyMap, match=r"negative\(\) on backend .* argument x,"):
        ua.negative(x)


def test_an_engine_s_own_array_is_an_argument_too(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_unless(backend, "torch", why="NumPy's arrays are copied, others are never written")
    monkeypatch.setitem(load(backend).kernels, "negative", lambda x: x.neg_())
    native = ua.asarray([1.0, 2.0]).native
    with ua.debug(), pytest.raises(BadDestroyMap, match=r"negative\(\) on backend .* argument x,"):
        ua.negative(native)


@needs("values")
def test_a_change_to_the_sign_of_zero_is_one(backend: str) -> None:
    function = declared(lambda_named("unsigned", lambda x: ua.inplace_update(x, ua.abs(x)) + 1))
    x = ua.asarray([0.0, np.nan])
    with ua.debug():
        function(x)
    x[0] = -0.0
    with ua.debug(), pytest.raises(BadDestroyMap):
        function(x)


@needs("values")
def test_an_argument_in_a_sequence(backend: str) -> None:
    def joined(arrays: list[ua.Array], /, *, out: ua.Array | None = None) -> ua.Array:
        ua.inplace_increment(arrays[1], 1)
        return ua.concat(arrays)

    joined.__annotations__["arrays"] = "Sequence[Array]"
    function = declared(joined)
    x, y = ua.asarray([1.0]), ua.asarray([2.0])
    assert_found(BadDestroyMap, lambda: function([x, y]), "joined()", "argument arrays[1]")


# -- writes beside the target -----------------------------------------------------------------------------------------

OUTS: dict[str, Callable[[ua.Array], ua.Array]] = {
    "slice": lambda x: x[1:3],
    "reversed": lambda x: x[3:0:-1],
    "view of a view": lambda x: x[1:][::-1][:2],
    "other shape": lambda x: ua.reshape(x, (2, 2))[1],
}


@needs("values")
@pytest.mark.parametrize("view", OUTS.values(), ids=OUTS)
def test_a_write_beside_out(backend: str, view: Callable[[ua.Array], ua.Array]) -> None:
    base = ua.zeros(4)

    def wide(x: ua.Array, /, *, out: ua.Array | None = None) -> ua.Array:
        base[0] += 1
        return ua.positive(x, out=out)

    function = declared(wide)
    out = view(base)
    x = ua.asarray([5.0, 6.0, 7.0])[: out.size]
    assert_found(BadOut, lambda: function(x, out=out), "wide()", repr(backend), "write in out")
    with ua.debug():
        ua.positive(x, out=out)


@needs("values")
def test_a_write_to_the_other_part_of_a_complex_base(backend: str) -> None:
    base = ua.asarray([1 + 2j, 3 + 4j])

    def turned(x: ua.Array, /, *, out: ua.Array | None = None) -> ua.Array:
        base.imag += 1
        return ua.positive(x, out=out)

    function = declared(turned)
    x = ua.asarray([5.0, 6.0])
    assert_found(BadOut, lambda: function(x, out=base.real), "turned()", repr(backend), "write in out")
    with ua.debug():
        ua.positive(x, out=base.real)
    assert_same_values(base.real, [5.0, 6.0])


def assert_same_values(x: ua.Array, values: Any) -> None:
    np.testing.assert_array_equal(as_numpy(x), values)


@needs("values")
def test_a_write_beside_one_of_two_targets(backend: str) -> None:
    base, other = ua.zeros(4), ua.zeros(4)

    def two(x: ua.Array, /, *, out: tuple[ua.Array, ...] | None = None) -> tuple[ua.Array, ...]:
        base[3] += 1
        return x + 1, x + 2

    function = declared(two)
    x = ua.asarray(1.0)
    out = other[0, ...], base[0, ...]
    assert_found(BadOut, lambda: function(x, out=out), "two()", repr(backend), "out[0] and out[1]")
    assert (float(other[0]), float(base[0])) == (2.0, 3.0)


@needs("values")
def test_a_base_that_is_not_contiguous(backend: str) -> None:
    base = ua.matrix_transpose(ua.asarray(np.zeros((2, 3))), out=ua.zeros((3, 2))) + 0.0

    def wide(x: ua.Array, /, *, out: ua.Array | None = None) -> ua.Array:
        base[0, 0] += 1
        return ua.positive(x, out=out)

    function = declared(wide)
    x = ua.asarray([5.0, 6.0, 7.0])
    assert_found(BadOut, lambda: function(x, out=base[:, 1]), "wide()")


@needs("values")
@pytest.mark.parametrize("key", [slice(1, 3), slice(2, 0, -1), [1, 2]], ids=["slice", "reversed", "list"])
def test_a_kernel_that_writes_too_much(backend: str, key: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    handle = load(backend)

    def spoil(native: Any) -> Any:
        if backend == "jax":
            return native.at[0].add(1)
        if backend == "tensorflow":
            import tensorflow as tf

            return tf.tensor_scatter_nd_add(native, [[0]], [1.0])
        whole = native if native.shape[0] == 4 else (native.base if backend == "numpy" else native._base)
        whole[0] += 1
        return native

    def spoiling(kernel: Function) -> Function:
        return lambda native, *values, **window: spoil(kernel(native, *values, **window))

    assign = handle.assign
    for name in ("set_window", "scatter"):
        monkeypatch.setitem(handle.kernels, name, spoiling(handle.kernel(name)))
    monkeypatch.setattr(handle, "assign", lambda native, value: (assign(native, value), spoil(native)))
    x = ua.zeros(4)
    with ua.debug(), pytest.raises(BadOut, match=rf"x\[key\] = value on backend '{backend}' .* in x:"):
        x[key] = 2.0


def test_an_index_is_what_it_was_before_the_write(backend: str) -> None:
    x = ua.asarray([2, 0, 1])
    with ua.debug():
        x[x] = ua.asarray([5, 6, 7])
    assert as_numpy(x).tolist() == [6, 7, 5]


# -- values that differ -----------------------------------------------------------------------------------------------


@needs("values")
def test_other_values_in_out_than_without(backend: str) -> None:
    def torn(x: ua.Array, /, *, out: ua.Array | None = None) -> ua.Array:
        return ua.add(x, 1 if out is None else 1.001, out=out)

    function = declared(torn)
    x, out = ua.asarray([1.0, 2.0]), ua.zeros(4)
    assert_found(BadInplace, lambda: function(x, out=out[:2]), "torn()", repr(backend), "values to out")
    assert_found(BadInplace, lambda: function(x, out=out[::-2]), "torn()", repr(backend), "values to out")


@needs("writes", why="kernels take out= on mutable engines alone")
def test_a_kernel_s_own_out_that_computes_something_else(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:

    @support_native_out
    def kernel(x: Any, out: Any = None) -> Any:
        if out is None:
            return x + 1
        out[...] = x
        return out

    monkeypatch.setitem(load(backend).kernels, "negative", kernel)
    x, out = ua.asarray([1.0, 2.0]), ua.zeros(2)
    with ua.debug(), pytest.raises(BadInplace, match=r"negative\(\) on backend .* values to out "):
        ua.negative(x, out=out)


@needs("values")
def test_a_call_that_raises_without_out_alone(backend: str) -> None:
    def choosy(x: ua.Array, /, *, out: ua.Array | None = None) -> ua.Array:
        if out is None:
            raise ValueError("x is too small")
        return ua.negative(x, out=out)

    function = declared(choosy)
    x, out = ua.asarray([1.0, 2.0]), ua.zeros(2)
    assert_found(BadInplace, lambda: function(x, out=out), "choosy()", repr(backend), "ValueError: x is too small")


def test_rounding_is_no_difference(backend: str) -> None:
    def rounded(x: ua.Array, /, *, out: ua.Array | None = None) -> ua.Array:
        # Beside the largest value, the digits of the others are noise.
        return ua.add(x, 0.0 if out is None else 1e-9, out=out)

    function = declared(rounded)
    with ua.debug():
        function(ua.asarray([1e3, 0.0, np.nan, np.inf]), out=ua.zeros(4))


# -- calls that raise -------------------------------------------------------------------------------------------------


@needs("values")
def test_a_call_that_raises_after_a_write(backend: str) -> None:
    def failing(x: ua.Array, /, *, out: ua.Array | None = None) -> ua.Array:
        if out is not None:
            out += 1
        raise ValueError("too late")

    function = declared(failing)
    x, out = ua.asarray([1.0, 2.0]), ua.zeros(2)
    with ua.debug():
        with pytest.raises(
            BadOut, match=rf"failing\(\) on backend '{backend}' raised, but had written to out"
        ) as caught:
            function(x, out=out)
        assert isinstance(caught.value.__context__, ValueError)
        with pytest.raises(ValueError, match="too late"):
            function(x)
        with pytest.raises(ua.errors.ShapeError):
            ua.add(x, x, out=ua.zeros(3))


# -- what is right passes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", table.CALLS)
def test_the_functions_with_out_do_what_is_declared(backend: str, name: str) -> None:
    function, arguments, options, expected = table.prepared(name)
    narrow = table.NARROWER[expected.dtype.name]
    base = ua.full(tuple(length + 2 for length in expected.shape) or (3,), True, dtype=expected.dtype)
    key = tuple(slice(1, -1) for _ in expected.shape) or (1, ...)
    with ua.debug():
        for out in (ua.full(expected.shape, True, dtype=expected.dtype), base[key], ua.flip(base[key])):
            assert function(*arguments, **options, out=out) is out
        function(*arguments, **options, out=ua.full(expected.shape, True, dtype=narrow))
        for place in table.aliasing(name):
            function(*arguments, **options, out=arguments[place])
            function(*arguments, **options, out=ua.flip(arguments[place]))


@pytest.mark.parametrize("name", table.SEVERAL)
def test_the_functions_of_several_results_do_what_is_declared(backend: str, name: str) -> None:
    arguments, options = table.SEVERAL[name]
    arguments = [table.lift(name, each) for each in arguments]
    function = table.find(name)
    with ua.debug():
        results = function(*arguments, **options)
        function(*arguments, **options, out=tuple(ua.zeros(each.shape, dtype=each.dtype) for each in results))


@pytest.mark.parametrize("name", TESTED)
def test_results_share_the_memory_that_is_declared(backend: str, name: str) -> None:
    for case in cases_of(DECLARATIONS[name]):
        arrays = [ua.asarray(each, copy=True) for each in case.arrays]
        with ua.debug():
            try:
                case.call(*arrays)
            except ua.errors.BackendFeatureError:
                # A gap, which the completeness test counts.
                return


def test_operators_indexing_and_updates_pass(backend: str) -> None:
    x = ua.asarray(np.arange(12.0).reshape(3, 4))
    expected = np.arange(12.0).reshape(3, 4)
    with ua.debug():
        for each in (x, expected):
            view: Any = each[1:, ::-1]
            view += 1
            each[each > 8] = 0
            each[[0, 2], 1] = each[0, 2:]
            each[0] *= 2
            each[:, 1:] = each[:, :-1]
            each.T[1] = -each.T[2]
            each[1, 1] = view[0, 0]
        ua.inplace_update(x[0], x[1])
        ua.inplace_decrement(x, x)
        x.fill(3)
        x.flat = np.arange(12)
        ua.add(x, 1, out=x)
    expected[0] = expected[1]
    assert_same_values(x, np.arange(1.0, 13.0).reshape(3, 4))


def test_variables_pass(backend: str) -> None:
    holder = variable(backend, [1.0, 2.0, 3.0])
    x = ua.asarray(holder)
    with ua.debug():
        x[1:] += 1
        ua.add(x, ua.asarray([1.0, 1.0, 1.0]), out=x)
        x[::-1][:1] = 9
    assert values_of(holder).tolist() == [2.0, 4.0, 9.0]


@needs("writes", why="native arrays can be written on mutable engines alone")
def test_a_native_array_as_out_passes(backend: str) -> None:
    native = ua.zeros(4).native
    with ua.debug():
        assert ua.add(ua.asarray([1.0, 2.0]), 1, out=native[1:3]) is not None
    assert values_of(native).tolist() == [0.0, 2.0, 3.0, 0.0]


# -- transformations --------------------------------------------------------------------------------------------------


def compute(native: Any) -> Any:
    x = ua.asarray(native)
    y = x * 2 + ua.sin(x)
    y[0] = 1
    ua.add(y[::-1], 1, out=y[::-1])
    return ua.sum(y).native


def transform(backend: str) -> Any:
    if backend == "jax":
        import jax

        return jax.jit
    if backend == "tensorflow":
        import tensorflow as tf

        # AutoGraph would make errors its own.
        return functools.partial(tf.function, autograph=False)
    import torch

    return torch.func.grad


@needs("transformations", why="NumPy has no transformations")
def test_inside_a_transformation_views_alone_are_checked(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    native = ua.asarray([1.0, 2.0, 3.0, 4.0]).native
    expected = values_of(transform(backend)(compute)(native))
    with ua.debug():
        np.testing.assert_allclose(values_of(transform(backend)(compute)(native)), expected)
    monkeypatch.setattr(DECLARATIONS["flip"], "view_map", {})
    with ua.debug(), pytest.raises(BadViewMap, match=r"flip\(\)"):
        transform(backend)(lambda x: ua.flip(ua.asarray(x)).sum().native)(native)


def test_gradients_are_recorded_through_out(backend: str) -> None:
    skip_unless(backend, "torch", why="its gradients are recorded on the tensors themselves")
    import torch

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with ua.debug():
        out = ua.zeros(2, dtype="float32")
        ua.multiply(x, 3.0, out=out)
        out[0] = 7.0
        ua.sum(out).native.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0.0, 3.0]


def test_a_write_in_place_stays_one(backend: str) -> None:
    skip_unless(backend, "jax", why="only JAX donates buffers")

    def writes(x: ua.Array) -> None:
        with ua.debug():
            x[1] = 2
            x[3:6] = 5
            x += 1

    x, other = ua.zeros(100), ua.zeros(100)
    x[0] = other[0] = 1
    # The first write of a kind uses up a copy.
    writes(other)
    before = x._native.unsafe_buffer_pointer()
    writes(x)
    assert x._native.unsafe_buffer_pointer() == before


# -- the scope --------------------------------------------------------------------------------------------------------


@pytest.fixture
def served(backend: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[], bool]:
    """Return a function that adds two arrays, and says whether the call was plain."""
    skip_without_core()
    handle = load(backend)
    x = ua.asarray([1.0, 2.0])
    x + x
    calls: list[Any] = []
    plain = handle.plain["add"]
    replace_plain_call(monkeypatch, handle, "add", lambda *natives: calls.append(natives) or plain(*natives))

    def add() -> bool:
        calls.clear()
        x + x
        return bool(calls)

    return add


def test_calls_are_plain_for_whoever_is_in_no_scope(served: Callable[[], bool]) -> None:
    # Two tasks, of which the first to come is the first to go.
    first, second = contextvars.copy_context(), contextvars.copy_context()
    scope, other = ua.debug(), ua.debug()
    first.run(scope.__enter__)
    second.run(other.__enter__)
    assert (first.run(served), second.run(served), served()) == (False, False, True)
    first.run(scope.__exit__, None, None, None)
    assert (first.run(served), second.run(served), served()) == (True, False, True)
    second.run(other.__exit__, None, None, None)
    assert (first.run(served), second.run(served), served()) == (True, True, True)


def test_calls_are_plain_again_after_an_error(served: Callable[[], bool]) -> None:
    with pytest.raises(RuntimeError, match="mine"), ua.debug():
        raise RuntimeError("mine")
    assert served()


def test_a_backend_loaded_inside_is_checked_too(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without_core()
    monkeypatch.delitem(LOADED, backend)
    # The engine's pytrees know our classes from the first time.
    monkeypatch.setattr(registry, "_WHEN_LOADED", [serve])
    calls: list[Any] = []
    with ua.debug():
        handle = load(backend)
        plain = handle.plain["add"]
        replace_plain_call(monkeypatch, handle, "add", lambda *natives: calls.append(natives) or plain(*natives))
        x = ua.asarray([1.0, 2.0])
        assert x._backend is handle
        x + x
        assert not calls
    x + x
    assert calls


@pytest.fixture
def wrong_flip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DECLARATIONS["flip"], "view_map", {})


@pytest.mark.usefixtures("wrong_flip")
def test_other_threads_are_not_checked(backend: str) -> None:
    x = ua.asarray([1.0, 2.0])
    found: list[ua.Array] = []
    with ua.debug():
        thread = threading.Thread(target=lambda: found.append(ua.flip(x)))
        thread.start()
        thread.join()
    assert as_numpy(found[0]).tolist() == [2.0, 1.0]


@pytest.mark.usefixtures("wrong_flip")
def test_other_tasks_are_not_checked(backend: str) -> None:
    x = ua.asarray([1.0, 2.0])

    async def checked(entered: asyncio.Event, done: asyncio.Event) -> None:
        with ua.debug():
            entered.set()
            await done.wait()
            with pytest.raises(BadViewMap):
                ua.flip(x)

    async def both() -> ua.Array:
        entered, done = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(checked(entered, done))
        await entered.wait()
        flipped: ua.Array = ua.flip(x)
        done.set()
        await task
        return flipped

    assert as_numpy(asyncio.run(both())).tolist() == [2.0, 1.0]


@pytest.mark.usefixtures("wrong_flip")
def test_it_decorates_functions(backend: str) -> None:
    @ua.debug()
    def flipped(x: ua.Array) -> ua.Array:
        return ua.flip(x)

    with pytest.raises(BadViewMap):
        flipped(ua.asarray([1.0, 2.0]))


def test_errors_are_the_package_s_and_assertions() -> None:
    for error in (BadViewMap, BadDestroyMap, BadOut, BadInplace):
        assert issubclass(error, DebugModeError)
    assert issubclass(DebugModeError, ua.errors.UnifyarrError)
    assert issubclass(DebugModeError, AssertionError)
