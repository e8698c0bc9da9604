"""Effects in a trace: nodes in a chain of their own, each of which takes what the one before returns.

The chain is an array of the trace, which each effect writes to. So loops carry it, branches return it, and effects
happen in their order; the program returns it in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._core.arrays.array import Array, wrap
from ..._core.arrays.ownership import read
from ..._core.engines.handle import Handle
from ..._core.engines.tracing import tracing
from ..._core.kernels.types import ArrayType
from ..._core.writing.inplace import assign
from ...graph.core.basic import Apply, Op
from ..batch.handle import BatchHandle
from ..selection.dense import DenseSelection
from ..side_effects import Effect, noting, silent
from .handle import TraceHandle
from .kernel_calls import node_of
from .trace import EnclosedTrace, Trace
from .traced import innermost_trace

# The chain holds the number of an error, or 0.
LINK = ArrayType((), np.dtype(np.int32))


class EffectOp(Op):
    """An effect. Its inputs are the chain so far, and the arrays; its output is the chain from then on."""

    raises = True

    def __init__(self, backend: Handle, effect: Effect) -> None:
        self.backend, self.effect = backend, effect
        name = "check" if effect.is_check else "debug_print"
        super().__init__(name, parameters=(backend.name, repr(effect)))

    def perform(self, node: Apply | None, inputs: Sequence[Any], out: object = None) -> Any:
        """Print or check, and return the chain."""
        link, *natives = inputs
        backend = self.backend
        if backend.around is not backend:
            emit(self.effect, backend, natives)
        elif silent.get():
            pass
        elif backend.trace() is not None or any(map(backend.hides_values, inputs)):
            return backend.observed(noting(self.effect), natives, link)
        else:
            _happen(self.effect, backend, natives)
        return backend.copy(link) if backend.mutable else link


def emit(effect: Effect, handle: Handle, natives: Sequence[Any]) -> None:
    """Have an effect happen for natives of a backend: at once, or where a trace or the engine runs what it records."""
    if silent.get():
        return
    while True:
        effect, natives = _opened(effect, natives)
        if handle.around is handle:
            break
        if isinstance(handle, BatchHandle):
            effect = effect._replace(batches=(tuple(not x.is_constant for x in natives), *effect.batches))
        natives, handle = [x.value for x in natives], handle.around
    if isinstance(handle, TraceHandle):
        _record(effect, handle.base, natives)
    elif any(map(handle.hides_values, natives)):
        handle.observed(lambda *values: effect.happen(list(map(np.asarray, values))), natives, None)
    else:
        _happen(effect, handle, natives)


def _opened(effect: Effect, natives: Sequence[Any]) -> tuple[Effect, list[Any]]:
    """Return the same with a whole array and a mask for each selection, the mask last."""
    found: list[Any] = []
    cuts: list[int | None] = []
    batches: list[list[bool]] = [[] for _ in effect.batches]
    place = 0
    for axis in effect.cuts:
        count = 1 if axis is None else 2
        given = natives[place : place + count]
        if isinstance(native := given[0], DenseSelection):
            given, axis = [native.dense, native.mask], native.axis
        for level, flags in zip(batches, effect.batches, strict=True):
            level += [flags[place]] * (len(given) - count + 1) + list(flags[place + 1 : place + count])
        found += given
        cuts.append(axis)
        place += count
    return effect._replace(cuts=tuple(cuts), batches=tuple(map(tuple, batches))), found


def _happen(effect: Effect, backend: Handle, natives: Sequence[Any]) -> None:
    effect.happen([backend.to_numpy(backend.held_fixed(x)) for x in natives])


def _record(effect: Effect, backend: Handle, natives: Sequence[Any]) -> None:
    trace: Trace = innermost_trace(backend)
    root = trace
    while isinstance(root, EnclosedTrace):
        root = root.enclosing
    if root.chain is None:
        with tracing(root):
            root.chain = wrap(root.handle.constant(np.zeros((), np.int32)), root.handle)
    with tracing(trace):
        chain: Array = trace.capture(root.chain)
        link = read(chain)
        op = EffectOp(backend, effect)
        assign(chain, node_of(op, [link, *natives], [LINK], link.device, trace)[0])
