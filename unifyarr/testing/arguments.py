"""What kernels are given: how many arrays, and which static arguments, as traces of the cases of all functions show."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import unifyarr as ua

from .._core.kernels.moving import METHODS
from ..graph.kernels.kernelop import KernelOp
from .calling import find
from .cases import CASES, Case


@cache
def arguments_of_kernels() -> dict[str, str]:
    """Return the arguments of the kernels that functions call on NumPy, as a signature has them, by name."""
    counts: dict[str, set[int]] = {}
    static: dict[str, dict[str, None]] = {}
    with ua.use_backend("numpy"):
        for name, cases in CASES.items():
            for call in cases:
                for kernel, count, keywords in _called(name, call):
                    counts.setdefault(kernel, set()).add(count)
                    static.setdefault(kernel, {}).update(dict.fromkeys(keywords))
    return {name: _signature(counts[name], static[name]) for name in counts.keys() - METHODS}


def _called(name: str, call: Case) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    """Yield the kernels of a call, how many arrays each takes, and the names of its static arguments."""
    try:
        fgraph = ua.graph.trace(lambda *arrays: call.call(find(name), arrays), *map(ua.asarray, call.arrays))
    except (ua.errors.UnifyarrError, TypeError, ValueError):
        # Some functions need values, as those that look into files do.
        return
    for node in fgraph.toposort():
        if isinstance(node.op, KernelOp):
            yield node.op.name, len(node.inputs), tuple(node.op.static)


def _signature(counts: set[int], static: dict[str, None]) -> str:
    least, most = min(counts), max(counts)
    names = ["x"] if most == 1 else [f"x{place}" for place in range(1, least + 1)]
    parts = [*names, "/"] if names else []
    if most > least:
        parts.append("*arrays")
    elif static:
        parts.append("*")
    return f"({', '.join([*parts, *static])})"
