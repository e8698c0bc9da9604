"""Seconds of rewriting in place, by form and size of the graph, beside PyTensor's where it is installed.

python benchmarks/rewriting.py [--sizes 1000,10000,100000] [--forms chain,hub] [--pytensor-limit 60]

The time is that of deciding which nodes may overwrite which inputs, and of replacing them, on a graph that is already
made, copied and watched. The time of making and watching stands beside it. They're CPU seconds, the least of several
times, with Python's garbage collector on: for 100,000 nodes that is about an eighth.
"""

from __future__ import annotations

import argparse
import gc
import random
import time
from collections.abc import Callable
from typing import Any

from unifyarr.graph import DestroyHandler, FunctionGraph, Op, Supervisor, Variable, inplace, memory_plan

# Total number of nodes: small graphs are rewritten more often.
REPEATED, REPEATS = 60_000, (3, 15)
# One of PyTensor's is larger than it finishes in reasonable time.
PYTENSOR_SIZES = (100, 300, 1000, 2000)


class Vector:
    shape = (10,)
    dtype = "float64"


TYPE = Vector()


class Elementwise(Op):
    def output_types(self, inputs: Any) -> list[Any]:
        return [TYPE] * self.nout


NEG = Elementwise("neg", inplace=[Elementwise("neg!", destroy_map={0: (0,)})], out=[0])
ADD = Elementwise(
    "add",
    inplace=[
        Elementwise("add!0", destroy_map={0: (0,)}, tolerate_same=[(0, 1)]),
        Elementwise("add!1", destroy_map={0: (1,)}, tolerate_same=[(1, 0)]),
    ],
    out=[0],
)
VIEW = Elementwise("view", view_map={0: (0,)})
# An operation that reads, and can't overwrite.
READ = Elementwise("read", out=[0])

Operations = dict[str, Callable[..., Any]]


def chain(size: int, ops: Operations, x: Any) -> list[Any]:
    """One operation after the other."""
    for _ in range(size):
        x = ops["neg"](x)
    return [x]


def random_dag(size: int, ops: Operations, x: Any) -> list[Any]:
    """Sums of two values, mostly late ones; who has no user is an output."""
    rng = random.Random(0)
    values, unused = [x], {0}
    for number in range(size):
        first, second = (max(0, number - int(rng.expovariate(0.1))) for _ in range(2))
        values.append(ops["add"](values[first], values[second]))
        unused -= {first, second}
        unused.add(number + 1)
    return [values[each] for each in sorted(unused)]


def wide_dag(size: int, ops: Operations, x: Any) -> list[Any]:
    """Sums of any two values from before."""
    rng = random.Random(0)
    values, unused = [x], {0}
    for number in range(size):
        first, second = rng.randrange(number + 1), rng.randrange(number + 1)
        values.append(ops["add"](values[first], values[second]))
        unused -= {first, second}
        unused.add(number + 1)
    return [values[each] for each in sorted(unused)]


def view_chain(size: int, ops: Operations, x: Any) -> list[Any]:
    """A view of a view of a view, and in the end a sum with each hundredth of them."""
    views = [ops["neg"](x)]
    for _ in range(size - size // 100 - 1):
        views.append(ops["view"](views[-1]))
    total = ops["neg"](views[-1])
    for number in range(size // 100):
        total = ops["add"](total, views[number * 100 % len(views)])
    return [total]


def views_and_updates(size: int, ops: Operations, x: Any) -> list[Any]:
    """Operations on views of views of the last value, as a program in slices makes them."""
    for number in range(size // 5):
        y = ops["view"](ops["view"](x))
        x = ops["add"](ops["neg"](y), ops["view"](x) if number % 3 else y)
    return [x]


def hub(size: int, ops: Operations, x: Any) -> list[Any]:
    """Many readers of one value that know nothing of each other, and their sum as a tree."""
    center = ops["neg"](x)
    values = [ops["neg"](center) for _ in range(size // 2)]
    while len(values) > 1:
        pairs = zip(values[::2], values[1::2], strict=False)
        values = [*(ops["add"](*pair) for pair in pairs), *(values[-1:] if len(values) % 2 else [])]
    return values


def serial_hub(size: int, ops: Operations, x: Any) -> list[Any]:
    """Many readers of one value of which each needs the one before."""
    center = ops["neg"](x)
    total = ops["neg"](center)
    for _ in range(size):
        total = ops["add"](center, total)
    return [total]


def serial_hub_of_views(size: int, ops: Operations, x: Any) -> list[Any]:
    """Many views of one value, each read by an operation that needs the one before."""
    center = ops["neg"](x)
    total = ops["neg"](center)
    for _ in range(size // 2):
        total = ops["add"](ops["view"](center), total)
    return [total]


def spread_hub(size: int, ops: Operations, x: Any) -> list[Any]:
    """Readers of one value along a chain, five operations apart, and a last one that can't overwrite it."""
    center = ops["neg"](x)
    total = ops["neg"](center)
    for _ in range(size // 6):
        for _ in range(5):
            total = ops["neg"](total)
        total = ops["add"](center, total)
    return [ops["read"](total), ops["read"](center)]


FORMS = {
    form.__name__: form
    for form in (
        *(chain, random_dag, wide_dag, view_chain, views_and_updates),
        *(hub, serial_hub, serial_hub_of_views, spread_hub),
    )
}


def ours(form: Callable[..., list[Any]], size: int) -> tuple[float, float, float, int, int]:
    """Return the seconds of making, rewriting and planning, and the numbers of nodes and of those in place."""
    times = []
    for _ in range(min(max(REPEATED // size, REPEATS[0]), REPEATS[1])):
        x = Variable(TYPE, "x")
        outputs = form(size, {"neg": NEG, "add": ADD, "view": VIEW, "read": READ}, x)
        gc.collect()
        start = time.process_time()
        fgraph = FunctionGraph([x], outputs)
        fgraph.attach(DestroyHandler())
        fgraph.attach(Supervisor(fgraph.inputs))
        made = time.process_time()
        changed = inplace(fgraph)
        rewritten = time.process_time()
        memory_plan(fgraph)
        times.append((made - start, rewritten - made, time.process_time() - rewritten))
    making, rewriting, planning = (min(each) for each in zip(*times, strict=True))
    return making, rewriting, planning, len(fgraph.apply_nodes), changed


def theirs(form: Callable[..., list[Any]], size: int) -> tuple[float, int, int]:
    """Return PyTensor's seconds of the same, with the numbers of nodes and of those in place."""
    import pytensor.tensor as pt
    from pytensor.graph.fg import FunctionGraph as TheirGraph
    from pytensor.tensor.rewriting import elemwise

    x = pt.dvector("x")
    ops = {"neg": pt.neg, "add": pt.add, "view": lambda v: v[::-1], "read": pt.cumsum}
    fgraph = TheirGraph([x], form(size, ops, x), clone=True)
    # All from the rewriter's own module: where each is defined changes from version to version.
    fgraph.attach_feature(elemwise.ReplaceValidate())
    fgraph.attach_feature(elemwise.Supervisor(fgraph.inputs))
    start = time.process_time()
    elemwise.InplaceElemwiseOptimizer().rewrite(fgraph)
    seconds = time.process_time() - start
    changed = sum(bool(node.op.destroy_map) for node in fgraph.apply_nodes)
    return seconds, len(fgraph.apply_nodes), changed


def beside_pytensor(forms: list[str], limit: float) -> None:
    try:
        import pytensor
    except ImportError:
        print("\nPyTensor is not installed.")
        return
    print(f"\nPyTensor {pytensor.__version__} {'':10} nodes  in place   seconds    ours: nodes  in place   seconds")
    for name in forms:
        for size in PYTENSOR_SIZES:
            seconds, nodes, changed = theirs(FORMS[name], size)
            _, mine, _, my_nodes, my_changed = ours(FORMS[name], size)
            print(f"  {name:20} {nodes:9} {changed:9} {seconds:9.3f} {my_nodes:14} {my_changed:9} {mine:9.4f}")
            # The next size takes about eight times as long.
            if 8 * seconds > limit:
                break


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--forms", default=",".join(FORMS))
    parser.add_argument("--pytensor-limit", type=float, default=60.0)
    options = parser.parse_args()
    forms = options.forms.split(",")
    print(f"{'':22} {'nodes':>9} {'in place':>9} {'making':>9} {'rewriting':>9} {'planning':>9}   growth")
    for name in forms:
        before = None
        for size in map(int, options.sizes.split(",")):
            making, rewriting, planning, nodes, changed = ours(FORMS[name], size)
            growth = f"{rewriting / before:8.1f}" if before else ""
            print(
                f"{name:22} {nodes:9} {changed:9} {making:9.3f} {rewriting:9.4f} {planning:9.3f} {growth}", flush=True
            )
            before = rewriting
    beside_pytensor(forms, options.pytensor_limit)


if __name__ == "__main__":
    main()
