"""Random graphs that overwrite, whose outputs are any of their variables, run directly and compiled.

``python -m tests.graph.direct_calls BACKEND COUNT SEED`` compares so many with the values of a run in which each
operation works on copies. The backend is one whose engine writes in place: NumPy or torch.
"""

from __future__ import annotations

import copy
import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import unifyarr as ua
from unifyarr import Array
from unifyarr._core.engines.registry import load
from unifyarr.errors import InconsistencyError
from unifyarr.graph import Constant, FunctionGraph, Op

from .naive import refusal
from .ops import OPAQUE, REVERSE, Arrays, Code, T, evaluate
from .random_graphs import random_graph, random_values

WAYS: dict[str, Callable[[FunctionGraph], Callable[..., Any]]] = {
    "directly": lambda fgraph: fgraph,
    "directly in a compiled function": lambda fgraph: ua.compile(lambda *arrays: fgraph(*arrays)),
    "compiled": ua.compile,
    "pure": lambda fgraph: ua.compile(fgraph, mode="pure"),
    "checked": lambda fgraph: ua.compile(fgraph, mode="debug"),
}


def a_graph(rng: random.Random) -> FunctionGraph:
    """Return a graph in which any variables are outputs: inputs, views, and variables overwritten later."""
    fgraph = random_graph(rng, rng.randint(1, 9), rng.choice([0.3, 0.5, 0.8]))
    every = [variable for variable in fgraph.clients if not isinstance(variable, Constant)]
    computed = [variable for variable in every if variable.owner is not None]
    outputs = [*fgraph.outputs, *(rng.choice(computed or every) for _ in range(rng.randint(1, 3))), rng.choice(every)]
    return FunctionGraph(fgraph.inputs, outputs)


def on_backend(fgraph: FunctionGraph, backend: str) -> FunctionGraph:
    """Return a copy of a graph whose operations take natives of a backend."""
    if backend == "numpy":
        return fgraph
    made = fgraph.copy()
    for node in list(made.apply_nodes):
        made.substitute(node, of_natives(node.op, backend))
    return made


_MADE: dict[tuple[Op, str], Code] = {}


def of_natives(op: Op, backend: str) -> Code:
    """Return an operation that does on natives of a backend what another one does on NumPy's arrays."""
    found = _MADE.get((op, backend))
    if found is None:
        assert isinstance(op, Code)
        found = _MADE[op, backend] = copy.copy(op)
        handle, compute, several = load(backend), op.compute, op.nout > 1

        def compute_natives(natives: Sequence[Any]) -> Any:
            values: Arrays = [np.asarray(x) for x in natives]
            results = [
                handle.from_numpy(each, copy=False) for each in (compute(values) if several else [compute(values)])
            ]
            return results if several else results[0]

        found.compute = compute_natives
        found.inplace = [of_natives(twin, backend) for twin in op.inplace]  # type: ignore[assignment]
    return found


def compare(seed: str, backend: str, ways: Sequence[str]) -> str | None:
    """Run one graph in these ways; return why it's refused, ``None`` if it isn't."""
    rng = random.Random(seed)
    fgraph = a_graph(rng)
    if backend != "numpy":
        # An engine may have no views with negative steps.
        for node in list(fgraph.apply_nodes):
            if node.op in (REVERSE, OPAQUE):
                fgraph.substitute(node, T)
    reason = refusal(fgraph)
    values = random_values(rng, fgraph)
    for way in ways:
        arrays = [ua.asarray(each, copy=True) for each in values]
        about = f"{way}, seed {seed!r}:\n{fgraph}"
        try:
            found = WAYS[way](on_backend(fgraph, backend))(*arrays)
        except InconsistencyError:
            assert reason is not None, about
            continue
        assert reason is None, f"{reason} isn't refused, {about}"
        results: list[Array] = list(found if isinstance(found, tuple) else (found,))
        expected = evaluate(fgraph, values, pure=True)
        for place, (x, wanted) in enumerate(zip(results, expected, strict=True)):
            np.testing.assert_array_equal(x.to_numpy(), wanted, err_msg=f"output {place}, {about}")
        # Arguments keep their values, and each result has memory of its own.
        for place, x in enumerate(results):
            x[...] = 1000 + place
        for place, x in enumerate(results):
            assert x.tolist() == [1000 + place] * x.size, f"output {place} shares memory, {about}"
        for x, wanted in zip(arrays, values, strict=True):
            np.testing.assert_array_equal(x.to_numpy(), wanted, err_msg=f"an argument, {about}")
    return reason


def run(backend: str, count: int, seed: int, ways: Sequence[str] = tuple(WAYS)) -> Counter[str | None]:
    """Compare so many graphs, and return how many are refused for each reason."""
    with ua.use_backend(backend):
        return Counter(compare(f"{seed} {number}", backend, ways) for number in range(count))


if __name__ == "__main__":
    print(run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
