"""The mode ``debug`` for users: operations that violate their declarations, and functions that are right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array
from unifyarr.errors import BadDestroyMap, BadInplace, BadThunkOutput, BadViewMap, DebugModeError
from unifyarr.graph import Apply, FunctionGraph, Variable, canonicalize
from unifyarr.testing import has

from ...oracle import as_numpy, assert_same
from ..ops import ADD, DOT, S, constant, vectors


@pytest.fixture(autouse=True)
def mutable(backend: str) -> None:
    if not has(backend, "writes"):
        pytest.skip(f"only engines that write in place have memory to share: not {backend}")


def array(*values: float) -> Array:
    return ua.asarray(np.array(values, dtype=float), copy=True)


def made(backend: str, body: Callable[..., Any], kernel: Callable[..., Any], **maps: Any) -> Any:
    """Return an operation of two arrays, whose kernel may violate the body and the maps."""

    def function(x: Array, y: Array, /) -> Array:
        """Compute something of two arrays."""
        return body(x, y)

    op = ua.op(function, **maps)
    op.kernel(backend)(kernel)
    return op


def into(x: Any, y: Any) -> Any:
    x += y
    return x


KERNELS: dict[str, tuple[Callable[..., Any], Callable[..., Any], dict[str, Any], type[DebugModeError] | None]] = {
    "right": (lambda x, y: x + y, lambda x, y: x + y, {}, None),
    "another value than the body": (lambda x, y: x + y, lambda x, y: x + y + 0.5, {}, BadThunkOutput),
    "writes its argument": (lambda x, y: x + y, into, {}, DebugModeError),
    "writes its argument and returns something new": (
        lambda x, y: x + y,
        lambda x, y: into(x, y) * 1,
        {},
        BadDestroyMap,
    ),
    "returns an argument": (lambda x, y: y.copy(), lambda x, y: y, {}, BadViewMap),
    "returns a slice of an argument": (lambda x, y: y[1:3].copy(), lambda x, y: y[1:3], {}, BadViewMap),
    "returns an argument as declared": (lambda x, y: y.copy(), lambda x, y: y, {"view_map": {0: (1,)}}, None),
    "returns a slice as declared": (lambda x, y: y[1:3].copy(), lambda x, y: y[1:3], {"view_map": {0: (1,)}}, None),
}


@pytest.mark.parametrize("case", KERNELS)
def test_kernels(backend: str, case: str) -> None:
    body, kernel, maps, error = KERNELS[case]
    op = made(backend, body, kernel, **maps)
    compiled = ua.compile(lambda x, y: op(x, y) * 2, mode="debug")
    x, y = array(1, 2, 3, 4), array(5, 6, 7, 8)
    if error is None:
        assert_same(compiled(x, y), as_numpy(body(x, y) * 2))
    else:
        with pytest.raises(error, match=repr(backend)):
            compiled(x, y)
    assert_same(x, np.array([1.0, 2.0, 3.0, 4.0]))
    assert_same(y, np.array([5.0, 6.0, 7.0, 8.0]))


def test_a_twin_that_is_wrong(backend: str) -> None:
    op = made(backend, lambda x, y: x + y, lambda x, y: x + y)

    @op.inplace(backend, destroy_map={0: (0,)})
    def _(x: Any, y: Any) -> Any:
        x -= y
        return x

    compiled = ua.compile(lambda x, y: op(x * 2, y), mode="debug")
    with pytest.raises(BadInplace):
        compiled(array(1, 2), array(3, 4))


def test_what_is_right_is_let_be(backend: str) -> None:
    compiled = ua.compile(lambda x: [x, 2 * x, ((2.0 * x) + 7) / 2.0], mode="debug")
    for found, wanted in zip(compiled(array(1, 2)), ([1, 2], [2, 4], [4.5, 5.5]), strict=True):
        assert as_numpy(found).tolist() == wanted
    # Two results of other shapes, which are broadcast.
    rows = ua.compile(lambda x: (x[None, :] * 1, x[:, None] * 1), mode="debug")(array(1, 2, 3))
    assert [each.shape for each in rows] == [(1, 3), (3, 1)]


@pytest.mark.parametrize("length", [3, 8])
def test_a_rule_that_gives_another_type_is_refused(length: int) -> None:
    x, y = vectors("x y")

    def longer(fgraph: FunctionGraph, node: Apply) -> list[Variable] | None:
        return [S(constant(*range(length)))] if node.op == ADD else None

    fgraph = FunctionGraph([x, y], [DOT(ADD(x, y), y)])
    before = str(fgraph)
    with pytest.raises(TypeError, match="can't replace"):
        canonicalize(fgraph, [longer])
    assert str(fgraph) == before
