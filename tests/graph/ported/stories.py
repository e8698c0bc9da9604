"""Graphs that change step by step, and the expected verdict on each state."""

from __future__ import annotations

import numpy as np

from unifyarr.errors import InconsistencyError
from unifyarr.graph import DestroyHandler, FunctionGraph, Op

from ..naive import refusal
from ..ops import evaluate


def is_sound(fgraph: FunctionGraph) -> bool:
    """Return whether a handler accepts the graph; an accepted graph must compute right numbers in place."""
    copy = FunctionGraph(fgraph.inputs, fgraph.outputs)
    expected = refusal(copy)
    try:
        copy.attach(DestroyHandler())
    except InconsistencyError:
        assert expected is not None
        return False
    assert expected is None
    kept = survivors(copy)
    values = [np.arange(each.type.shape[0]) * (place + 2) + 1 for place, each in enumerate(copy.inputs)]
    right = evaluate(copy, [each.copy() for each in values], pure=True)
    found = evaluate(copy, [each.copy() for each in values])
    for place in kept:
        np.testing.assert_array_equal(found[place], right[place])
    return True


def survivors(fgraph: FunctionGraph) -> list[int]:
    """Return the numbers of the outputs that no node overwrites: a handler by itself lets outputs be destroyed."""
    (handler,) = fgraph.features
    assert isinstance(handler, DestroyHandler)
    gone = {root for root, nodes in handler.destroyers.items() if nodes}
    return [
        place
        for place, output in enumerate(fgraph.outputs)
        if not any(root in gone for root, _ in handler.aliases.roots_of(output))
    ]


def substituted(fgraph: FunctionGraph, old: Op, new: Op) -> int:
    """Put one operation in the place of another wherever that is accepted, and return how often it was refused."""
    refused = 0
    for node in [each for each in fgraph.toposort() if each.op == old]:
        try:
            with fgraph.transaction():
                fgraph.substitute(node, new)
        except InconsistencyError:
            refused += 1
    return refused


def names(fgraph: FunctionGraph) -> list[str]:
    """Return the names of the operations, in the order in which they run."""
    return [node.op.name for node in fgraph.toposort()]
