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

from ..._core.engines.handle import GeneralHandle, Handle
from ..._core.engines.tracing import running
from ..._core.values.caller import users_frame, where
from ..._core.values.native import Native
from ..._core.values.supplying import NotSupplied
from ...backends import Backend
from ...errors import BackendFeatureError, TraceError
from ..core.basic import Constant
from ..kernels.kernelop import COPY
from ..kernels.later import LaterOp
from .advice import advice
from .layouts import laid_out, strides_of
from .recording import count_of, node_of, record, record_operation, trace_of
from .selections import Selection, is_same
from .traced import Traced, innermost_trace, type_of

if TYPE_CHECKING:
    from ..._core.calling.applications import Application
    from ..._core.declaring.operations import Kernel


class TracingBackend(Backend[Traced]):
    """The engine of a trace, as the frontend sees an engine: what isn't said here is asked of the traced one."""

    mutable = False
    has_strides = True
    native_types = (Traced,)
    modules = ()

    def __init__(self, backend: Handle) -> None:
        self._backend = backend

    @property
    def name(self) -> str:
        return self._backend.name

    def dtype(self, native: Traced) -> Any:
        return native.dtype

    def shape(self, native: Traced) -> Any:
        return native.shape

    def strides(self, native: Traced) -> Any:
        # What is selected has memory of its own, if any.
        return None if isinstance(native, Selection) else strides_of(trace_of(self._backend), native)

    def as_stored(self, old: Traced, new: Traced) -> Traced:
        if isinstance(new, Selection):
            return new
        new = laid_out(trace_of(self._backend), new, old)
        layout = old if old.layout is None else old.layout
        return Traced(new.variable, new.device, layout, innermost_trace(self._backend))

    def device(self, native: Traced) -> Any:
        return native.device

    def devices(self) -> Any:
        return self._backend.devices()

    def as_device(self, device: object) -> object:
        return self._backend.as_device(device)

    def place_beside(self, native: Traced) -> object:
        return native.device

    def may_meet(self, first: Traced, second: Traced) -> bool:
        return self.meeting([first.device, second.device]) is not None

    def meeting(self, devices: Any) -> object:
        return self._backend.meeting(devices)

    def sharding(self, native: Traced) -> Native:
        raise TraceError(f"{where()} asks where an array lies, which isn't known when a compiled function is traced")

    def as_dtype(self, dtype: object) -> Any:
        return self._backend.as_dtype(dtype)

    def supports_dtype(self, dtype: np.dtype[np.generic], device: object = None) -> bool:
        return bool(self._backend.supports_dtype(dtype, device))

    def read(self, native: Traced) -> Traced:
        return native

    def can_write(self, native: Traced) -> bool:
        return False

    def check_writable(self, native: Traced) -> None:
        """Nothing here is written in place, which is asked before."""

    def is_read_only(self, native: Traced) -> bool:
        return False

    def assign(self, native: Traced, value: Traced) -> None:
        raise AssertionError("a write to a traced array rebinds it")

    def may_share_memory(self, first: Traced, second: Traced) -> bool:
        return first is second

    def trace(self) -> object:
        return running()

    def is_traced(self, native: Traced) -> bool:
        return True

    def known_number(self, native: Traced) -> float | None:
        known = native.variable
        return self._backend.known_number(known.data) if isinstance(known, Constant) else None

    def records_gradient(self, native: Traced) -> bool:
        return False

    def supports_out(self, kernel: object) -> bool:
        return False

    def from_numpy(self, array: np.ndarray, *, device: object = None, copy: bool = True) -> Traced:
        value = self._backend.from_numpy(array, device=device, copy=True)
        constant = Constant(value, type_of(self._backend, value))
        return Traced(constant, self._backend.device(value), None, innermost_trace(self._backend))

    def copy(self, native: Traced) -> Traced:
        copied: Traced = record(self._backend, COPY, (native,), {}, native.type, offered=False)
        return copied

    def to_numpy(self, native: Traced) -> np.ndarray:
        raise TraceError(
            f"{where()} asks for the values of an array, which aren't known when a compiled function is traced: "
            f"{advice(users_frame())}; or pass what decides as a Python number: it's traced anew for each"
        )

    def handed_out(self, native: Traced) -> Native:
        raise TraceError(
            f"{where()} asks for the engine's own array inside a compiled function, where there is none yet: use "
            "functions of unifyarr, or make an operation of the engine's code with @ua.op"
        )

    def to_device(self, native: Traced, device: object) -> Traced:
        if self._backend.own_device(native.device) == device:
            return native
        raise BackendFeatureError("a compiled function moves nothing between devices: do it outside")

    def from_dlpack(self, x: object, **options: Any) -> Any:
        raise TraceError(f"{where()} imports memory inside a compiled function: do it outside")

    def dlpack(self, native: Traced, **options: Any) -> Any:
        return self.handed_out(native)

    dlpack_device = dlpack


class TracingHandle(GeneralHandle):
    """The backend of a trace: kernels record, and no call takes a fast path."""

    records = hides_lengths = True

    def __init__(self, backend: Handle, engine: type[TracingBackend] = TracingBackend, lowers: bool = False) -> None:
        names = {*backend.kernels, *(() if backend.engine.mutable else ("take_places", "put_places"))}
        super().__init__(engine(backend), {name: _recording(backend, name, lowers) for name in names})
        self.traced, self.destroys = backend, False

    if TYPE_CHECKING:

        def from_numpy(self, array: np.ndarray, *, device: object = None, copy: bool = True) -> Traced: ...

        def copy(self, native: Native) -> Traced: ...

    def is_same(self, one: Traced, other: Traced) -> bool:
        """Return whether two natives are computed in the same way from the same."""
        return is_same(trace_of(self.traced), one, other)

    def count(self, native: Traced) -> Traced:
        """Return the number of elements of an array of unknown lengths, as a 0-d array."""
        return count_of(self.traced, native)

    def later(self, native: Any, after: Sequence[Any]) -> Traced:
        """Return what is equal to an array, computed of it and of others by an operation of its own."""
        if isinstance(native, Selection):
            return native
        trace = innermost_trace(self.traced)
        made = node_of(LaterOp(self.traced), [native, *after], [native.type], native.device, trace)[0]
        return Traced(made.variable, made.device, native.layout, trace)

    def apply(self, application: Application, kernel: Kernel, natives: Sequence[Any], **out: Any) -> object:
        return record_operation(self.traced, application, natives)

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
        raise NotSupplied

    def while_loop(
        self,
        condition: Callable[..., object],
        body: Callable[..., list[Any]],
        state: Sequence[object],
        constants: Sequence[object],
    ) -> list[Native]:
        """Return what is carried once the condition is false."""
        raise NotSupplied

    def switch(self, index: Any, branches: Sequence[Callable[..., list[Any]]], operands: Sequence[Any]) -> list[Any]:
        """Return what one of several functions of the operands returns."""
        raise NotSupplied


@cache
def handle_for(backend: Handle, *, lowers: bool = False) -> TracingHandle:
    """Return the handle that stands for a backend inside traces, whose graph the engine's own compiler may take."""
    return TracingHandle.of(backend, TracingBackend, lowers) if lowers else TracingHandle.of(backend)


@cache
def enclosed_handle(backend: Handle, outer: Handle, inside: type[TracingBackend] = TracingBackend) -> TracingHandle:
    """Return the handle of a trace in the trace that has another handle."""
    return TracingHandle.of(backend, inside)


def _recording(backend: Handle, name: str, lowers: bool) -> Any:
    def kernel(*natives: Any, result: Any = None, offered: bool = False, **static: Any) -> object:
        static.pop("out", None)
        return record(backend, name, natives, static, result, offered)

    # What a trace of a loop's body, inside a derivative, asks of a kernel.
    own = backend.kernels.get(name)
    for asked in ("declines", "declines_transformed", "for_derivatives"):
        # The compiler wants a function as a whole.
        if hasattr(own, asked) and not (asked == "for_derivatives" and lowers and hasattr(own, "lowered")):
            setattr(kernel, asked, getattr(own, asked))
    return kernel
