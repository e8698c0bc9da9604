"""Operations of users have the record that kernels have, and modes take the same rules from it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array
from unifyarr._core.kernels.record import ELEMENTWISE, ROWS, Alias, Batch, Derivative, Fails
from unifyarr.errors import LostDerivativeError, ShapeError, TraceError
from unifyarr.graph.kernels.failing import may_fail
from unifyarr.modes.batch.rule import OF_KINDS

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


def test_a_batch_of_selections(backend: str) -> None:
    skip_unless(backend, "numpy", "jax", why="selections of batches are the same on all engines")
    with pytest.raises(TraceError, match=r"scaled\(\) needs selected elements"):
        ua.vmap(lambda x: ua.sum(Scaled().op(x[x > 0], x[x > 0])))(ua.asarray(X))


def test_an_operation_may_fail_as_its_record_says() -> None:
    with ua.use_backend("numpy"):
        x = ua.asarray(X)
        op = Scaled(body=False).op
        (node,) = [each for each in ua.compile(lambda x: op(x, x)).graph(x).toposort() if each.op.name == "scaled"]
        assert may_fail(node)
        facts = op.declaration.operation
        facts.record = facts.record._replace(fails=Fails.NEVER)
        assert not may_fail(node)
