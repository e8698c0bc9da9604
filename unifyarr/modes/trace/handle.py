"""The backend of traces: variables of a graph as natives, and kernels that make nodes.

Tracing is one more immutable backend: its natives are variables of the graph, of which the types are known and not the
values, and its kernels make nodes. As it's immutable, the machinery of views turns every write into a pure operation by
itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._core.engines.handle import FastPath, Handle
from ..._core.values import above
from ..._core.values.native import Native
from ...graph.kernels.later import LaterOp
from ..mode import ModeHandle
from .engine import TraceEngine
from .kernel_calls import count_of, node_of, record, record_operation, trace_of
from .selection import Selection, is_same
from .traced import Traced, innermost_trace

if TYPE_CHECKING:
    from ..._core.calling.applications import Application
    from ..._core.declaring.user_ops import UserKernel


class TraceHandle(ModeHandle):
    """The backend of a trace: kernels record, and no call is plain."""

    records = hides_lengths = True

    def __init__(self, base: Handle, engine: type[TraceEngine] = TraceEngine, lowers: bool = False) -> None:
        self._lowers = lowers
        # Where selections are whole arrays and masks, these are found among their calls.
        is_dense = base.engine.can_compile and not base.engine.mutable
        of_writes = ("take_places", "put_places") if is_dense else ()
        super().__init__(engine(base), base, {*base.kernels, *of_writes})

    def performing(self, name: str) -> FastPath:
        """Return a function that makes a call of a kernel a node."""
        base, own = self.base, self.base.kernels.get(name)

        def recorded(*natives: Any, result: Any = None, offered: bool = False, **static: Any) -> object:
            static.pop("out", None)
            return record(base, name, natives, static, result, offered)

        # The trace of a loop's body, inside a derivative, asks these of a kernel.
        for asked in ("declines", "declines_transformed", "for_derivatives", "composed_on_host"):
            # The compiler wants a function as a whole.
            if hasattr(own, asked) and not (asked == "for_derivatives" and self._lowers and hasattr(own, "lowered")):
                setattr(recorded, asked, getattr(own, asked))
        return recorded

    if TYPE_CHECKING:

        def from_numpy(self, array: np.ndarray, *, device: object = None, copy: bool = True) -> Traced: ...  # noqa: D102

        def copy(self, native: Native) -> Traced: ...  # noqa: D102

    def is_same(self, one: Traced, other: Traced) -> bool:
        """Return whether two natives are computed in the same way from the same."""
        return is_same(trace_of(self.base), one, other)

    def count(self, native: Traced) -> Traced:
        """Return the number of elements of an array of unknown lengths, as a 0-d array."""
        return count_of(self.base, native)

    def later(self, native: Any, after: Sequence[Any]) -> Traced:
        """Return what is equal to an array, computed of it and of others by an operation of its own."""
        if isinstance(native, Selection):
            return native
        trace = innermost_trace(self.base)
        made = node_of(LaterOp(self.base), [native, *after], [native.type], native.device, trace)[0]
        return Traced(made.variable, made.device, native.layout, trace)

    def apply(self, application: Application, kernel: UserKernel, natives: Sequence[Any], **out: Any) -> object:
        """Make a call of a user's operation a node."""
        return record_operation(self.base, application, natives)

    # -- loops and branches of transformations inside of the trace, each a node ---------------------------------------

    def scan(
        self,
        step: Callable[..., tuple[list[object], list[object]]],
        state: Sequence[object],
        xs: Sequence[object],
        constants: Sequence[object],
        types: Sequence[object],
        length: int,
        reverse: bool,
    ) -> tuple[list[Native], list[Native]]:
        """Return what is carried after all steps, and the results of the steps."""
        return above.traced.scan(self, step, state, xs, constants, types, length, reverse)  # type: ignore[no-any-return]

    def while_loop(
        self,
        condition: Callable[..., object],
        body: Callable[..., list[Any]],
        state: Sequence[object],
        constants: Sequence[object],
    ) -> list[Native]:
        """Return what is carried once the condition is false."""
        return above.traced.while_loop(self, condition, body, state, constants)  # type: ignore[no-any-return]

    def switch(self, index: Any, branches: Sequence[Callable[..., list[Any]]], operands: Sequence[Any]) -> list[Any]:
        """Return what one of several functions of the operands returns."""
        return above.traced.switch(self, index, branches, operands)  # type: ignore[no-any-return]


@cache
def handle_for(backend: Handle, *, lowers: bool = False) -> TraceHandle:
    """Return the handle that stands for a backend inside traces, whose graph the engine's own compiler may take."""
    return TraceHandle.of(backend, TraceEngine, lowers) if lowers else TraceHandle.of(backend)


@cache
def enclosed_handle(backend: Handle, outer: Handle, inside: type[TraceEngine] = TraceEngine) -> TraceHandle:
    """Return the handle of a trace in the trace that has another handle."""
    return TraceHandle.of(backend, inside)
