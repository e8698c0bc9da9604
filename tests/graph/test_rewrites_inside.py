"""Users' rewrites inside nested graphs: loops, branches, checkpoints, derivatives, batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from tests.natives import values_of
from unifyarr import Array
from unifyarr.graph import (
    Apply,
    Constant,
    FunctionGraph,
    Op,
    Rewrite,
    Variable,
    node_rewriter,
    pattern_rewriter,
    register,
    unregister,
)
from unifyarr.testing import has, needs

TWICE = pattern_rewriter((ua.multiply, "x", 2.0), (ua.add, "x", "x"), name="twice")


@ua.custom_vjp
def _doubled(x: Array) -> Array:
    return ua.sin(x * 2.0)


_doubled.defvjp(lambda x: (_doubled(x), x), lambda x, g: (g * ua.cos(x * 2.0) * 2.0,))


def _loop(x: Array) -> Array:
    return ua.fori_loop(0, 3, lambda i, s: ua.sin(s) * 2.0, x)


def _while(x: Array) -> Array:
    return ua.while_loop(lambda s: ua.sum(s * 2.0) < 40.0, lambda s: s * 2.0 + 1.0, x)


def _graph(x: Array) -> Any:
    return _graphs[x.backend](x)


# The graph of a loop, by backends.
_graphs: dict[str, FunctionGraph] = {}


def _total(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda x: ua.sum(function(x))


PROGRAMS: dict[str, Callable[[Array], Any]] = {
    "associative scan": lambda x: ua.associative_scan(lambda one, other: one * 2.0 + other, x),
    "map": lambda x: ua.map(lambda row: ua.sin(row) * 2.0, x),
    "a branch in a step": lambda x: ua.fori_loop(
        0, 2, lambda i, s: ua.cond(ua.sum(s) > 0, lambda: s * 2.0, lambda: s), x
    ),
    "a loop in a branch": lambda x: ua.cond(ua.sum(x) > 0, _loop, lambda x: x, x),
    "checkpoint": lambda x: ua.checkpoint(lambda y: ua.exp(ua.sin(y) * 2.0))(x),
    "gradient of a checkpoint": ua.grad(_total(ua.checkpoint(lambda y: ua.exp(ua.sin(y) * 2.0)))),
    "a checkpoint in a loop": ua.grad(
        _total(lambda x: ua.fori_loop(0, 2, lambda i, s: ua.checkpoint(lambda y: ua.sin(y) * 2.0)(s), x))
    ),
    "gradient": ua.grad(_total(lambda x: ua.sin(x * 2.0))),
    "gradient of a loop": ua.grad(_total(_loop)),
    "second derivatives": lambda x: ua.hessian(_total(_loop))(x[0]),
    "forward mode of a loop": lambda x: ua.jvp(_while, (x,), (x,)),
    "linearization": lambda x: ua.linearize(_loop, x)[1](x),
    "batch": lambda x: ua.vmap(lambda row: ua.sin(row) * 2.0)(x),
    "batch of a loop": lambda x: ua.vmap(_loop)(x),
    "batch of loops that end apart": lambda x: ua.vmap(_while)(x),
    "gradients of a batch": lambda x: ua.vmap(ua.grad(_total(_loop)))(x),
    "a derivative of the user": ua.grad(_total(_doubled)),
    "a compiled function": lambda x: ua.compile(lambda x: ua.sin(x) * 2.0)(x),
    "a graph": lambda x: _graph(x),
}
# Derivatives that an engine takes itself: NumPy's arrays have none of their own.
BY_ENGINE: dict[str, Callable[[Array], Any]] = {
    "gradient": ua.grad(_total(lambda x: ua.sin(x * 2.0)), backend="torch"),
    "gradient of a loop": ua.grad(_total(_loop), backend="torch"),
    "forward mode": lambda x: ua.jvp(lambda x: ua.sin(x * 2.0), (x,), (x,), backend="torch"),
}


def graphs(fgraph: FunctionGraph) -> Iterator[FunctionGraph]:
    """Yield a graph, and all inside of it."""
    yield fgraph
    for node in fgraph.apply_nodes:
        for body in getattr(node.op, "bodies", ()):
            yield from graphs(body.rewritten)
        if hasattr(node.op, "fgraph"):
            yield from graphs(node.op.fgraph)


def left(run: Any, x: Array) -> int:
    """Return how many multiplications by two are anywhere in the graph of a compiled function."""

    def is_two(node: Apply) -> bool:
        return node.op.name == "multiply" and any(map(_is_number_two, node.inputs))

    return sum(is_two(node) for each in graphs(run.graph(x)) for node in each.apply_nodes)


def _is_number_two(variable: Variable) -> bool:
    values = None if variable.owner is None else getattr(variable.owner.op, "values", None)
    if isinstance(variable, Constant):
        values = values_of(variable.data)
    return values is not None and np.ravel(values).tolist() == [2.0]


def start() -> Array:
    return ua.asarray([[0.5, -0.25], [1.0, 0.75]])


def check(program: Callable[[Array], Any], modes: tuple[str, ...]) -> None:
    wanted = values(program(start()))
    plain = ua.compile(program, exclude="fuse")
    assert left(plain, start())
    register(TWICE, "registered", default=False)
    try:
        for options in ({"rewrites": [TWICE]}, {"include": "registered"}):
            for mode in modes:
                run = ua.compile(program, mode=mode, exclude=() if mode == "pure" else "fuse", **options)  # type: ignore[call-overload]
                for found, each in zip(values(run(start())), wanted, strict=True):
                    np.testing.assert_allclose(found, each, rtol=1e-12, atol=1e-15)
                assert not left(run, start()), (mode, options)
    finally:
        unregister("registered")


def values(result: Any) -> list[np.ndarray]:
    return [values_of(each) for each in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("name", PROGRAMS)
def test_rewrites_reach(backend: str, name: str) -> None:
    _graphs[backend] = ua.graph.trace(_loop, start())
    # On the others each call compiles.
    check(PROGRAMS[name], ("fast", "debug", "pure") if has(backend, "writes") else ("fast",))


def _needs_torch() -> None:
    if "torch" not in ua.available_backends():
        pytest.skip("the engine that transforms")


@needs("writes")
@pytest.mark.parametrize("name", BY_ENGINE)
def test_rewrites_reach_functions_that_an_engine_transforms(backend: str, name: str) -> None:
    _needs_torch()
    check(BY_ENGINE[name], ("fast", "debug", "pure"))


def _overwriting(node: Any, given: Any) -> Any:
    (x,) = given
    x *= 2.0
    return x


OVERWRITING = Op("double!", infer=lambda x: x, perform=_overwriting, destroy_map={0: [0]})


@node_rewriter(ua.multiply)
def overwrites(fgraph: FunctionGraph, node: Apply) -> Any:
    x, factor = node.inputs
    return [OVERWRITING(x)] if _is_number_two(factor) else None


def overwrites_all(fgraph: FunctionGraph) -> None:
    for node in fgraph.toposort():
        found = overwrites(fgraph, node)
        if found is not None:
            fgraph.replace(node.outputs[0], found[0])


# Each reads what would be overwritten once more, or may not overwrite it.
READ_AGAIN: dict[str, Callable[[Array], Any]] = {
    "top": lambda x: x * 2.0,
    "scan": lambda x: ua.scan(lambda s, row: (s + row * 2.0 + row, row * 2.0), x[0], x),
    "an array from outside": lambda x: ua.fori_loop(0, 3, lambda i, s: s + x * 2.0, x),
    "while_loop": lambda x: ua.while_loop(lambda s: ua.sum(s * 2.0) < 40.0, lambda s: s + s * 2.0 + 1.0, x),
    "cond": lambda x: ua.cond(ua.sum(x) > 0, lambda x: x * 2.0, lambda x: x, x),
    "a branch in a step": lambda x: ua.fori_loop(
        0, 2, lambda i, s: ua.cond(ua.sum(s) > 0, lambda: s * 2.0, lambda: s), x
    ),
    "checkpoint": ua.grad(_total(ua.checkpoint(lambda y: ua.sin(y) * ua.sin(y * 2.0)))),
    "batch": lambda x: ua.vmap(lambda row: row * 2.0 + row)(x),
}


@needs("writes")
@pytest.mark.parametrize("place", [{}, {"before": "no_copy"}, {"after": "schedule"}], ids=str)
@pytest.mark.parametrize("name", [*READ_AGAIN, "gradient by an engine", "forward mode by an engine"])
def test_a_rewrite_that_would_overwrite_is_refused_inside(backend: str, name: str, place: dict[str, str]) -> None:
    is_by_engine = name not in READ_AGAIN
    if is_by_engine:
        _needs_torch()
    program = BY_ENGINE[name.removesuffix(" by an engine")] if is_by_engine else READ_AGAIN[name]
    wanted = values(program(start()))
    for rewrite in (overwrites, overwrites_all):
        for mode in ("fast", "debug", "pure"):
            x = start()
            run = ua.compile(program, mode=mode, rewrites=[Rewrite(rewrite, "added", **place)], exclude="fuse")  # type: ignore[call-overload, arg-type]
            for found, each in zip(values(run(x)), wanted, strict=True):
                np.testing.assert_allclose(found, each, rtol=1e-12)
            np.testing.assert_array_equal(values_of(x), values_of(start()))
            (told,) = run.memory(x).programs
            # Functions that engines transform are rewritten before memory is overwritten.
            if not is_by_engine or "after" not in place:
                assert any(each.startswith("rewrite added is refused: ") and "double!" in each for each in told.refused)
                assert "rewrite added is refused" in str(run.memory(x))
            plain = ua.compile(program, mode=mode, exclude="fuse")  # type: ignore[call-overload]
            # The derivative of a checkpoint overwrites what nothing else reads.
            assert name == "checkpoint" or names(run.graph(x)) == names(plain.graph(x))


def names(fgraph: FunctionGraph) -> list[list[str]]:
    return sorted(sorted(node.op.name for node in each.apply_nodes) for each in graphs(fgraph))
