"""Operations of users have the record that kernels have, and modes take the same rules from it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array
from unifyarr._core.kernels.record import ELEMENTWISE, KERNELS, ROWS, Alias, Batch, Derivative, Fails, Twin
from unifyarr.errors import (
    BadKind,
    InvalidValueError,
    LostDerivativeError,
    ShapeError,
    TraceError,
    UnknownShapeError,
)
from unifyarr.graph.kernels.failing import may_fail
from unifyarr.modes.batch.rule import OF_KINDS
from unifyarr.testing import has

from .natives import skip_unless
from .oracle import assert_same
from .user_ops import BACKENDS

X, Y = np.arange(6.0).reshape(2, 3) - 2.5, np.array([3.0, 0.5, -1.0])


class Scaled:
    """``x * y * scale``, with kernels that note the shapes that they are called with."""

    def __init__(self, kind: Any = "elementwise", *, body: bool = True, vjp: bool = False) -> None:
        self.shapes: list[tuple[int, ...]] = []

        @ua.op(kind=kind)
        def scaled(x: Array, y: Array, /, scale: float = 1.0) -> Array:
            return x * y * scale if body else ...  # type: ignore[return-value]

        def kernel(x: Any, y: Any, *, scale: float) -> Any:
            self.shapes.append((*x.shape,))
            return x * y * scale

        for backend in BACKENDS:
            scaled.kernel(backend)(kernel)
        if vjp:
            scaled.vjp(lambda g, out, x, y, scale: (g * y * scale, g * x * scale))
        self.op = scaled


def test_a_record_says_what_was_declared() -> None:
    record = Scaled().op.declaration.operation.record
    assert (record.name, record.kind, record.batch, record.alias) == ("scaled", ELEMENTWISE, Batch.KIND, Alias.FRESH)
    assert (record.fails, record.derivative) == (Fails.VALUES, Derivative.BODY)
    assert Scaled(vjp=True).op.declaration.operation.record.derivative is Derivative.RULE

    @ua.op(view_map={0: (0,)})
    def rest(x: Array, /) -> Array:
        return x[1:]

    record = rest.declaration.operation.record
    assert (record.kind, record.alias) == (ROWS, Alias.VIEW)


def test_a_kind_that_there_is_not() -> None:
    with pytest.raises(ValueError, match=r"kind of scaled\(\) is 'rows' or 'elementwise', not 'matrix'"):
        Scaled("matrix")
    with pytest.raises(AttributeError, match=r"to the decorator, @ua.op\(kind="):
        Scaled().op.kind = "rows"


def test_a_batch_of_an_elementwise_operation_is_one_call(backend: str) -> None:
    for kind, calls in (("elementwise", 1), ("rows", 2)):
        made = Scaled(kind)
        found = ua.vmap(lambda x, f=made.op: f(x, ua.asarray(Y), scale=2.0))(ua.asarray(X))
        assert_same(found, X * Y * 2)
        assert len(made.shapes) == calls
    # A number of each element beside a row of each.
    made = Scaled()
    assert_same(ua.vmap(made.op)(ua.asarray(X), ua.asarray(Y[:2])), X * Y[:2, None])
    assert len(made.shapes) == 1


def test_a_batch_in_a_compiled_function(backend: str) -> None:
    skip_unless(backend, "numpy", "torch", why="what engines compile isn't seen at each call")
    made = Scaled(body=False)
    run = ua.compile(ua.vmap(made.op))
    run(ua.asarray(X), ua.asarray(X))
    made.shapes.clear()
    assert_same(run(ua.asarray(X), ua.asarray(X)), X * X)
    assert made.shapes == [(2, 3)]


def test_a_batch_of_derivatives_is_one_call(backend: str) -> None:
    made = Scaled(vjp=True, body=False)
    found = ua.vmap(ua.grad(lambda x: ua.sum(made.op(x, x))))(ua.asarray(X))
    assert_same(found, 2 * X)
    assert {shape[:1] for shape in made.shapes} == {(2,)}


# -- types -------------------------------------------------------------------------------------------------------------


def test_declared_types_are_read_in_place_of_a_run(backend: str) -> None:
    calls: list[Any] = []

    @ua.op
    def doubled(x: Array, /, times: int = 2) -> Array: ...

    @doubled.infer
    def _(x: Any, times: int) -> Any:
        calls.append((x.shape, x.dtype, times))
        return ua.graph.array_type((times * x.shape[0],), "float64")

    runs: list[int] = []

    def kernel(x: Any, times: int) -> Any:
        runs.append(1)
        return np.concatenate([x] * times).astype(np.float64)

    doubled.kernel(backend, natives="numpy")(kernel)
    assert doubled.declaration.operation.record.types is not None
    trace = ua.graph.trace(lambda x: doubled(x, 3), ua.asarray(np.arange(2.0, dtype=np.float32)))
    assert trace.outputs[0].type.shape == (6,)
    assert trace.outputs[0].type.dtype == np.float64
    assert calls == [((2,), np.float32, 3)]
    assert not runs
    x = ua.asarray(Y)
    assert_same(ua.compile(doubled)(x), np.tile(Y, 2))
    assert_same(doubled(x), np.tile(Y, 2))


def test_several_types(backend: str) -> None:
    @ua.op
    def both(x: Array, y: Array, /) -> tuple[Array, Array]: ...

    both.infer(lambda x, y: (y, x))
    both.kernel(backend)(lambda x, y: (y * 2, x * 3))
    found = ua.compile(both)(ua.asarray(X), ua.asarray(Y))
    assert_same(found[0], Y * 2)
    assert_same(found[1], X * 3)

    @ua.op
    def one(x: Array, /) -> tuple[Array, Array]: ...

    one.infer(lambda x: x)
    one.kernel(backend)(lambda x: (x * 1, x * 2))
    with pytest.raises(TypeError, match=r"^one\(\): infer returned one ArrayType, but the op"):
        ua.compile(one)(ua.asarray(X))


def test_types_that_are_wrong(backend: str) -> None:
    @ua.op
    def first(x: Array, /) -> Array: ...

    first.infer(lambda x: x)
    first.kernel(backend)(lambda x: x[:1] * 1)
    with ua.debug(), pytest.raises(InvalidValueError, match=r"its infer says \(3,\) and float64: correct @first.infer"):
        first(ua.asarray(Y))
    with pytest.raises((InvalidValueError, TraceError), match="correct"):
        ua.compile(first, mode="debug")(ua.asarray(Y))
    if has(backend, "writes"):
        with pytest.raises(TraceError, match="its infer says"):
            ua.compile(first)(ua.asarray(Y))


def test_infer_that_is_none() -> None:
    @ua.op
    def first(x: Array, /) -> Array: ...

    with pytest.raises(TypeError, match=r"infer of first\(\) is a function of types, not int"):
        first.infer(3)  # type: ignore[type-var]
    first.infer(lambda x: 3)
    with pytest.raises(ValueError, match="has an infer already"):
        first.infer(lambda x: x)
    first.kernel("numpy")(lambda x: x * 1)
    with ua.use_backend("numpy"), pytest.raises(TypeError, match=r"returns types, each with a shape and a dtype"):
        ua.compile(first)(ua.asarray(Y))
    with pytest.raises(AttributeError, match=r"by a function of types, @f\.infer"):
        first.infer = None  # type: ignore[method-assign]


# -- memory ------------------------------------------------------------------------------------------------------------


def test_a_record_has_the_maps_of_kernels() -> None:
    @ua.op(view_map={0: (0,), 1: (1,)})
    def parts(x: Array, y: Array, /) -> tuple[Array, Array]: ...

    record = parts.declaration.operation.record
    assert (record.view_map, record.twins) == ({0: (0,), 1: (1,)}, ())
    for backend in ("numpy", "torch"):
        parts.kernel(backend)(lambda x, y: (x[1:], y[1:]))
        parts.inplace(backend, destroy_map={0: (1,)}, scratch=[0], tolerate_same=[(1, 0)])(lambda x, y: (y, y))
    record = parts.declaration.operation.record
    assert record.twins == (Twin({0: (1,)}, (0,), frozenset({(1, 0)})),)
    # As a kernel of the package's own.
    assert KERNELS["scatter"].twins == (Twin({0: (0,)}),)
    assert KERNELS["reshape"].view_map == {0: (0,)}
    assert [each.destroys for each in KERNELS["add"].twins] == [{0: (0,)}, {0: (1,)}]


# -- selections --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [True, False])
@pytest.mark.parametrize("vjp", [True, False])
def test_an_elementwise_operation_of_a_selection(backend: str, body: bool, vjp: bool) -> None:
    op = Scaled(body=body, vjp=vjp).op
    x = ua.asarray(X)
    kept = X[X > 0]
    for run in (ua.compile, lambda function: function):
        assert_same(run(lambda x: ua.sum(op(x[x > 0], x[x > 0], 3.0)))(x), np.sum(kept * kept * 3))
        assert_same(run(lambda x: ua.sum(op(x[x > 0], ua.asarray(2.0))))(x), np.sum(kept * 2))
    # As many elements as at each call.
    run = ua.compile(lambda x: ua.max(op(x[x > 0], x[x > 0])))
    for shift in (0.0, 1.0, -1.0):
        assert_same(run(ua.asarray(X + shift)), np.max((X + shift)[X + shift > 0] ** 2))

    def written(x: Array) -> Array:
        x = x + 0.0
        x[x > 0] = op(x[x > 0], x[x > 0])
        return x

    assert_same(ua.compile(written)(x), np.where(X > 0, X * X, X))
    if body or vjp:
        slope = ua.grad(lambda x: ua.sum(op(x[x > 0], x[x > 0])))
        assert_same(ua.compile(slope)(x), np.where(X > 0, 2 * X, 0))
        assert_same(slope(x), np.where(X > 0, 2 * X, 0))


def test_a_batch_of_selections(backend: str) -> None:
    op = Scaled(vjp=True).op
    found = ua.vmap(lambda x: ua.sum(op(x[x > 0], x[x > 0])))(ua.asarray(X))
    assert_same(found, np.sum(np.where(X > 0, X * X, 0), axis=1))
    with pytest.raises(TraceError, match="two masks select"):
        ua.vmap(lambda x: ua.sum(op(x[x > 0], x[x > 1])))(ua.asarray(X))


def test_another_operation_of_a_selection(backend: str) -> None:
    @ua.op
    def total(x: Array, /) -> Array:
        return ua.sum(x)

    for each in BACKENDS:
        total.kernel(each)(lambda x: x.sum() if each != "tensorflow" else NotImplemented)
    x = ua.asarray(Y)
    assert_same(ua.compile(lambda x: total(x[x > 0]))(x), np.sum(Y[Y > 0]))
    assert_same(ua.vmap(lambda x: total(x[x > 0]))(ua.asarray(X)), np.sum(np.where(X > 0, X, 0), axis=1))

    @ua.op
    def without(x: Array, /) -> Array: ...

    without.kernel(backend)(lambda x: x * 1)
    with pytest.raises((UnknownShapeError, TraceError), match=r"needs (the lengths|selected elements)"):
        ua.compile(lambda x: without(x[x > 0]))(x)


def test_elements_that_are_not_selected_are_harmless(backend: str) -> None:
    given: list[Any] = []

    @ua.op(kind="elementwise", harmless=0.5)
    def halves(x: Array, /) -> Array: ...

    halves.kernel(backend, natives="numpy")(lambda x: (given.append(x), x * 2)[1])
    halves.infer(lambda x: x)
    assert_same(ua.vmap(lambda x: ua.sum(halves(x[x > 0])))(ua.asarray(X)), np.sum(np.where(X > 0, 2 * X, 0), axis=1))
    assert {0.5} | set(X[X > 0]) == set(np.asarray(given[-1]).ravel())
    with pytest.raises(ValueError, match=r"harmless of f\(\) isn't read: declare it with kind="):
        ua.op(harmless=0)(_named)
    with pytest.raises(TypeError, match=r"harmless of f\(\) is a number, not '0'"):
        ua.op(kind="elementwise", harmless="0")(_named)  # type: ignore[call-overload]


def f(x: Array, /) -> Array: ...  # type: ignore[empty-body]


_named = f


# -- kinds that are wrong ----------------------------------------------------------------------------------------------


def _wrongly(kernel: Any, backend: str) -> Any:
    @ua.op(kind="elementwise")
    def wrong(x: Array, y: Array, /) -> Array: ...

    wrong.kernel(backend, natives="numpy")(kernel)
    wrong.infer(lambda x, y: x)
    return wrong


WRONG = {
    "mean": lambda x, y: x - x.mean() + 0 * y,
    "cumulative": lambda x, y: np.cumsum(x, axis=-1) + 0 * y,
    "sorted": lambda x, y: np.sort(x, axis=0) + 0 * y,
    "reversed": lambda x, y: x[::-1] + y,
    "length": lambda x, y: x * len(y),
    "two axes": lambda x, y: np.einsum("ij,j->ij", x, y),
}


@pytest.mark.parametrize("kernel", WRONG.values(), ids=WRONG.keys())
def test_what_is_not_elementwise_is_found(backend: str, kernel: Any) -> None:
    wrong, x, y = _wrongly(kernel, backend), ua.asarray(X**2), ua.asarray(Y)
    wrong(x, y)
    with ua.debug(), pytest.raises(BadKind, match=r"It's declared elementwise"):
        wrong(x, y)
    with pytest.raises(BadKind, match=r"It's declared elementwise"):
        ua.compile(wrong, mode="debug")(x, y)


def test_a_wrong_body_is_found(backend: str) -> None:
    @ua.op(kind="elementwise")
    def centred(x: Array, /) -> Array:
        return x - ua.mean(x)

    with (
        ua.debug(),
        pytest.raises(BadKind, match=r"centred\(\) on backend .* gives for every second"),
    ):
        centred(ua.asarray(X))


def test_what_is_elementwise_passes(backend: str) -> None:
    made = Scaled(vjp=True)
    for x, y in ((X, Y), (X, X), (Y, np.array(2.0)), (np.array(1.0), np.array(2.0)), (X[:0], Y), (X[:, :1], Y)):
        with ua.debug():
            assert_same(made.op(ua.asarray(x), ua.asarray(y)), x * y)
        assert_same(ua.compile(made.op, mode="debug")(ua.asarray(x), ua.asarray(y)), x * y)


# -- what isn't known raises -------------------------------------------------------------------------------------------


def test_an_elementwise_operation_of_another_shape(backend: str) -> None:
    @ua.op(kind="elementwise")
    def total(x: Array, /) -> Array: ...

    total.kernel(backend)(lambda x: x[0, 0])
    with pytest.raises(ShapeError, match=r"gave shape \(\) for arrays of shapes \(2, 3\): the op is declared element"):
        total(ua.asarray(X))
    with pytest.raises(ShapeError, match="declare it without kind="):
        ua.vmap(total)(ua.asarray(X))


def test_a_derivative_that_nothing_gives() -> None:
    with ua.use_backend("numpy"), pytest.raises(LostDerivativeError, match=r"declare it with @scaled.vjp"):
        ua.grad(lambda x: ua.sum(Scaled(body=False).op(x, x)))(ua.asarray(X))


def test_a_batch_without_a_rule(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ua.vmap(ua.sin)(ua.asarray(X))
    monkeypatch.delitem(OF_KINDS, "elementwise")
    with pytest.raises(TraceError, match=r"scaled\(\) has no rule: call it outside of vmap"):
        ua.vmap(Scaled().op)(ua.asarray(X), ua.asarray(X))


def test_an_operation_may_fail_as_its_record_says() -> None:
    with ua.use_backend("numpy"):
        x = ua.asarray(X)
        op = Scaled(body=False).op
        (node,) = [each for each in ua.compile(lambda x: op(x, x)).graph(x).toposort() if each.op.name == "scaled"]
        assert may_fail(node)
        facts = op.declaration.operation
        facts.record = facts.record._replace(fails=Fails.NEVER)
        assert not may_fail(node)
