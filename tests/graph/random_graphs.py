"""Random graphs over the operations of ``ops``, and random changes of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from unifyarr.graph import Apply, Client, Constant, DestroyHandler, FunctionGraph, Op, Supervisor, Variable
from unifyarr.graph.core.supervisor import handler_of

from .ops import (
    A2,
    A3,
    ADD,
    B2,
    BLEND,
    BLEND_IN,
    CHOOSE,
    DOT,
    FUSE,
    HALVES,
    M_BOTH,
    M_FIRST,
    M_SAME,
    M_SECOND,
    MAYBE,
    OPAQUE,
    REVERSE,
    SCALE,
    SCALE_IN,
    SCALE_SOMEWHERE,
    SPLIT,
    SQUARES,
    SQUARES_IN,
    A,
    M,
    S,
    T,
    Vector,
    constant,
    vectors,
)  # fmt: skip

UNARY_VIEWS: list[Op] = [T, T, OPAQUE, REVERSE, *HALVES, SPLIT, MAYBE]
UNARY: list[Op] = [S, SCALE, SQUARES]
UNARY_DESTROYERS: list[Op] = [SCALE_IN, SCALE_SOMEWHERE, SQUARES_IN]
BINARY: list[Op] = [DOT, ADD, FUSE, M]
BINARY_DESTROYERS: list[Op] = [A, A, A2, A3, B2, M_BOTH, M_FIRST, M_SECOND, M_SAME]
# Both inputs have one type.
EQUAL: list[Op] = [CHOOSE, BLEND]
EQUAL_DESTROYERS: list[Op] = [BLEND_IN, B2]
PURE = {1: UNARY, 2: BINARY, 3: EQUAL}
DESTROYERS = {1: UNARY_DESTROYERS, 2: BINARY_DESTROYERS, 3: EQUAL_DESTROYERS}


def length(variable: Variable) -> int:
    return int(variable.type.shape[0])  # type: ignore[union-attr]


def apply(rng: random.Random, variables: list[Variable], destroying: float) -> Apply:
    """Return a random operation on some of the variables, rather on late ones."""
    x, y = (variables[-1 - int(min(rng.expovariate(0.4), len(variables) - 1))] for _ in range(2))
    if rng.random() < 0.35 and length(x) > 1:
        return rng.choice(UNARY_VIEWS).make_node(x)
    kind = rng.choice([1, 2, 2, 2, 3])
    if kind == 3:
        y = rng.choice([v for v in variables if length(v) == length(x)])
    op = rng.choice((DESTROYERS if rng.random() < destroying else PURE)[kind])
    if (op is B2 and length(x) != length(y)) or (op in (SCALE, *UNARY_DESTROYERS) and length(x) < 2):
        op = DOT
    return op.make_node(*([x] if op in (*UNARY, *UNARY_DESTROYERS) else [x, y]))


def random_graph(rng: random.Random, nodes: int, destroying: float = 0.0) -> FunctionGraph:
    """Return a graph, which may be inconsistent if some nodes are ``destroying``."""
    inputs = vectors("a b c d", 4)
    inputs[3].indestructible = rng.random() < 0.3
    variables: list[Variable] = [*inputs, *([constant(5, 6, 7, 8)] if rng.random() < 0.4 else [])]
    for _ in range(nodes):
        variables += apply(rng, variables, destroying).outputs
    late = variables[-4:]
    outputs = rng.sample(late, rng.randint(1, len(late)))
    return FunctionGraph(inputs, [v for v in outputs if not isinstance(v, Constant)] or inputs[:1])


def random_values(rng: random.Random, fgraph: FunctionGraph) -> list[np.ndarray]:
    return [np.array([rng.randint(-9, 9) for _ in range(length(v))]) for v in fgraph.inputs]


def substitutions(node: Apply) -> list[Op]:
    """Return the operations that could stand for a node's own, destructive or not, right or not."""
    every = [*UNARY, *UNARY_DESTROYERS, *UNARY_VIEWS, *BINARY, *BINARY_DESTROYERS, *EQUAL, *EQUAL_DESTROYERS]
    lengths = [length(output) for output in node.outputs]
    arity = {**dict.fromkeys([*UNARY, *UNARY_DESTROYERS, *UNARY_VIEWS], 1)}
    found = []
    for op in every:
        if arity.get(op, 2) != len(node.inputs) or op.nout != len(node.outputs):
            continue
        equal = length(node.inputs[0]) == length(node.inputs[-1])
        if not equal and (op in EQUAL or op in EQUAL_DESTROYERS):
            continue
        if [each.shape[0] for each in op.output_types(node.inputs)] == lengths:  # type: ignore[union-attr]
            found.append(op)
    return found


def random_change(rng: random.Random, fgraph: FunctionGraph) -> Callable[[], None]:
    """Return a change to make: another operation, another variable for all or one of its users, or a new node."""
    node = rng.choice(list(fgraph.apply_nodes))
    kind = rng.random()
    if kind < 0.5:
        op = rng.choice(substitutions(node))
        return lambda: fgraph.substitute(node, op)
    old = rng.choice([*node.inputs, *node.outputs])
    others = [v for v in fgraph.clients if length(v) == length(old)]
    new = rng.choice(others)
    if kind < 0.65:
        made = apply(rng, [v for v in fgraph.clients if length(v) == length(old)], 0.4)
        new = next((v for v in made.outputs if length(v) == length(old)), new)
    if kind < 0.85:
        return lambda: fgraph.replace(old, new)
    clients = list(fgraph.clients[old])
    client: Client | None = rng.choice(clients) if clients else None
    return lambda: None if client is None else fgraph.change_input(client, new)


def state(fgraph: FunctionGraph) -> dict[str, Any]:
    """Return the full state of a graph and its features, in a form that compares by value."""
    order = fgraph.order
    known: dict[str, Any] = {
        "outputs": list(fgraph.outputs),
        "nodes": {node: (node.op, tuple(node.inputs), tuple(node.outputs)) for node in fgraph.apply_nodes},
        "clients": {variable: dict(clients) for variable, clients in fgraph.clients.items()},
        "labels": (dict(order.labels), set(order._used), order._last, order.anchor, dict(order._suspects)),
        "history": (fgraph.history._depth, len(fgraph.history._inverses)),
    }
    for feature in fgraph.features:
        if isinstance(feature, DestroyHandler):
            watched = {k: v for k, v in vars(feature).items() if k not in ("_fgraph", "aliases")}
            known["handler"] = nested_copy(watched | vars(feature.aliases))
        elif isinstance(feature, Supervisor):
            known["supervisor"] = (list(feature.protected), dict(feature._uses))
    return known


def classes(fgraph: FunctionGraph) -> dict[str, Any]:
    """Return a handler's findings, without the way and the order."""
    handler = handler_of(fgraph)
    found = {k: vars(handler)[k] for k in ("destroyed", "destroyers", "pins", "watched")}
    return nested_copy(found | vars(handler.aliases))


def nested_copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: nested_copy(each) for key, each in value.items()}
    return set(value) if isinstance(value, set) else value


__all__ = ["Vector", "classes", "random_change", "random_graph", "random_values", "state"]
