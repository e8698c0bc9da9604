"""Fused operations on arrays of engines other than NumPy, which lie in the host's memory all the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..._core.engines.handle import Handle
from ..._core.kernels.types import ArrayType
from ..core.basic import Apply
from ..kernels.executors import Schedule
from ..kernels.windows import roots
from .composed import Composed
from .machine import bind, compile_now
from .region import FusedRegion


class Fused(NamedTuple):
    """A fused operation of another backend than NumPy's.

    Attributes
    ----------
    backend
        The backend of its natives.
    region, composed
        What runs, and the single operations.
    outputs
        For each output its type, and the input whose window it's written to, or ``None``.
    host
        A map: output -> the input that it overwrites.
    """

    backend: Handle
    region: FusedRegion
    composed: Composed
    outputs: tuple[tuple[ArrayType, int | None], ...]
    host: Mapping[int, int]


def bound(node: Apply, fused: Fused, wait: bool = False) -> Callable[..., Any]:
    """Return a function of natives, and of ``out=``, that runs the fused operation of a node; ``wait`` compiles it.

    Where kernels do more than to compute values, and on natives that have no memory on the host, it calls the engine's
    kernels one by one.
    """
    backend, host = fused.backend, fused.host
    loops = backend.host_loops()
    assert loops is not None
    run, by_kernels = bind(fused.region, loops), ByKernels(backend, fused.composed, host)
    if wait:
        compile_now(run)
    is_plain, note_write = loops.is_plain, loops.note_write
    makers = [(key, _maker(backend, *each)) for key, each in enumerate(fused.outputs) if key not in host]
    # Inputs first, then the memory of the other outputs, in their order. A node may have further inputs.
    count = len(fused.region.arguments) - len(makers)
    new = {key: count + number for number, (key, _) in enumerate(makers)}
    places = [host[key] if key in host else new[key] for key in range(len(fused.outputs))]
    # Callers may have what is an input, or shows one.
    noted = [place for place in host.values() if any(each.owner is None for each in roots(node.inputs[place]))]

    def compute_one(*natives: Any, out: Any = None) -> Any:
        if is_plain(natives):
            if out is None:
                out = make(natives)
            if run(*natives, out) is None:
                return out
        return by_kernels(natives)

    def compute(*natives: Any, out: Any = None) -> Any:
        if is_plain(natives):
            given = {} if out is None else dict(enumerate(out if several else (out,)))
            buffers = [make(natives) if given.get(key) is None else given[key] for key, make in makers]
            arrays = (*natives, *buffers)
            if run(*arrays) is None:
                for place in noted:
                    note_write(natives[place])
                return tuple([arrays[place] for place in places]) if several else arrays[places[0]]
        return by_kernels(natives)

    several = len(places) > 1
    if several or host:
        return compute
    ((_, make),) = makers
    return compute_one


def _maker(backend: Handle, type: ArrayType, base: int | None) -> Callable[[Sequence[Any]], Any]:
    """Return a function of the inputs that makes the memory of an output."""
    if base is not None:
        return lambda natives: backend.copy(natives[base])
    loops = backend.host_loops()
    assert loops is not None
    room = loops.room(*type)
    return lambda natives: room()


class ByKernels:
    """Runs the single operations of a fused one by the engine's kernels; ``host`` maps outputs to inputs they go to.

    Buffers stay unused.
    """

    def __init__(self, backend: Handle, composed: Composed, host: Mapping[int, int]) -> None:
        self._backend, self._composed, self._host = backend, composed, host
        self._schedule: Schedule | None = None

    def __call__(self, natives: Sequence[Any]) -> Any:
        """Return the result for natives, or the tuple of results."""
        if self._schedule is None:
            self._schedule = Schedule(self._composed.graph, {})
        results = self._schedule(*natives)
        for key, place in self._host.items():
            self._backend.assign(natives[place], results[key])
            results[key] = natives[place]
        return results[0] if len(results) == 1 else tuple(results)
