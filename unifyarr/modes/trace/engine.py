"""The engine of a trace, as the frontend sees an engine."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from ..._core.engines.tracing import running
from ..._core.values.caller import users_frame, where
from ..._core.values.native import Native
from ...errors import BackendFeatureError, TraceError
from ...graph.core.basic import Constant
from ...graph.kernels.kernelop import COPY
from ...typing import Shape
from ..mode import ModeEngine
from .advice import advice
from .kernel_calls import record, trace_of
from .layouts import laid_out, strides_of
from .selection import Selection
from .traced import Traced, innermost_trace, type_of


class TraceEngine(ModeEngine[Traced]):
    """The engine of a trace, as the frontend sees an engine: what isn't said here is asked of the traced one."""

    has_strides = True
    native_types = (Traced,)

    def dtype(self, native: Traced) -> np.dtype[Any]:
        return native.dtype

    def shape(self, native: Traced) -> Shape:
        return native.shape

    def strides(self, native: Traced) -> Shape | None:
        # What is selected has memory of its own, if any.
        return None if isinstance(native, Selection) else strides_of(trace_of(self.base), native)

    def as_stored(self, old: Traced, new: Traced) -> Traced:
        if isinstance(new, Selection):
            return new
        new = laid_out(trace_of(self.base), new, old)
        layout = old if old.layout is None else old.layout
        return Traced(new.variable, new.device, layout, innermost_trace(self.base))

    def device(self, native: Traced) -> Hashable:
        return native.device

    def place_beside(self, native: Traced) -> object:
        return native.device

    def may_meet(self, first: Traced, second: Traced) -> bool:
        return self.meeting([first.device, second.device]) is not None

    def sharding(self, native: Traced) -> Native:
        raise TraceError(f"{where()} asks where an array lies, which isn't known when a compiled function is traced")

    def trace(self) -> object:
        return running()

    def is_traced(self, native: Traced) -> bool:
        return True

    def known_number(self, native: Traced) -> float | None:
        known = native.variable
        return self.base.known_number(known.data) if isinstance(known, Constant) else None

    def note_bounds(self, native: Traced, low: int, high: int, /) -> None:
        # Of what kernels make in a run, they note it themselves.
        if isinstance(native.variable, Constant):
            self.base.note_bounds(native.variable.data, low, high)

    def records_gradient(self, native: Traced) -> bool:
        return False

    def from_numpy(self, array: np.ndarray, *, device: object = None, copy: bool = True) -> Traced:
        return self._of_value(self.base.from_numpy(array, device=device, copy=True), array)

    def constant(self, array: np.ndarray, *, device: object = None) -> Traced:
        return self._of_value(self.base.constant(array, device=device), array)

    def _of_value(self, value: Native, array: np.ndarray) -> Traced:
        device, values = self.base.device(value), Constant(array).signature()
        # Sums go through memory in its order.
        made_of = (self.base.name, str(device), array.strides, values) if isinstance(values, tuple) else None
        constant = Constant(value, type_of(self.base, value), made_of=made_of)
        return Traced(constant, device, None, innermost_trace(self.base))

    def copy(self, native: Traced) -> Traced:
        copied: Traced = record(self.base, COPY, (native,), {}, native.type, offered=False)
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
        if self.base.own_device(native.device) == device:
            return native
        raise BackendFeatureError("a compiled function moves nothing between devices: do it outside")

    def from_dlpack(self, x: object, **options: Any) -> Any:
        raise TraceError(f"{where()} imports memory inside a compiled function: do it outside")

    def dlpack(self, native: Traced, **options: Any) -> Any:
        return self.handed_out(native)

    dlpack_device = dlpack
