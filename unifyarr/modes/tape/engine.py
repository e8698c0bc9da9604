"""The engine of a record of calls, as the frontend sees an engine."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ..._core.engines.handle import Handle
from ..._core.engines.tracing import mode
from ..._core.values.native import Native
from ...derivatives.rule import Rule
from ...errors import LostDerivativeError
from ...typing import Shape
from ..mode import ModeEngine
from ..rule_kernels import Kernels, kernels_of
from .entries import Taped, check_running, entry_of, outlived, parents_of

running_mode = mode.get


class TapeEngine(ModeEngine[Taped]):
    """The engine of a record as the frontend sees one: what isn't said here is asked of the backend of the values."""

    native_types = (Taped,)

    def __init__(self, base: Handle) -> None:
        super().__init__(base)
        shape, dtype = base.shape, base.dtype
        k = kernels_of(base)
        own, kind_of = k.own, k.kind

        def type_key(native: Taped) -> Any:
            found = running_mode()
            if found is None or found.trace is None:
                raise outlived()
            # Bodies may refuse to lose a derivative.
            value = native.value
            if type(value) is own:
                kind: Any = kind_of(value)
                return kind if native.entry is not None else kind.constant
            return shape(value), dtype(value), native.entry is None

        # What each call asks for, without a call on the way.
        self.type_key = type_key
        self.trace_state = base.trace_state  # type: ignore[method-assign]
        for name in ("has_shapes", "has_values", "has_strides", "warns", "no_trace"):
            setattr(self, name, getattr(base, name))
        # No call of an engine that writes in place looks at the dtypes of results, either.
        self.has_fixed_dtypes = base.mutable or base.has_fixed_dtypes

    # -- what an array is ---------------------------------------------------------------------------------------------

    def dtype(self, native: Taped) -> np.dtype[np.generic]:
        return self.base.dtype(native.value)

    def shape(self, native: Taped) -> Shape:
        return self.base.shape(native.value)

    def strides(self, native: Taped) -> Shape | None:
        return self.base.strides(native.value) if native.layout is None else native.layout

    def as_stored(self, old: Taped, new: Taped) -> Taped:
        if not self.has_strides:
            return new
        strides = self.strides(old)
        return new if self.strides(new) == strides else Taped(new.value, new.entry, new.output, strides)

    def device(self, native: Taped) -> Hashable:
        return self.base.device(native.value)

    def place_beside(self, native: Taped) -> object:
        return self.base.place_beside(native.value)

    def may_meet(self, first: Taped, second: Taped) -> bool:
        return self.base.may_meet(first.value, second.value)

    def note_bounds(self, native: Taped, low: int, high: int, /) -> None:
        self.base.note_bounds(native.value, low, high)

    def sharding(self, native: Taped) -> object:
        return self.base.sharding(native.value)

    # -- values -------------------------------------------------------------------------------------------------------

    def as_native(self, value: Any) -> Taped:
        return value if type(value) is Taped else Taped(self.base.as_native(value))

    def from_numpy(self, array: np.ndarray, *, device: object = None, copy: bool = True) -> Taped:
        return Taped(self.base.from_numpy(array, device=device, copy=True))

    def constant(self, array: np.ndarray, *, device: object = None) -> Taped:
        return Taped(self.base.constant(array, device=device))

    def to_numpy(self, native: Taped) -> np.ndarray:
        return self.base.to_numpy(native.value)

    def copy(self, native: Taped) -> Taped:
        # Nothing writes a native of a record.
        return Taped(native.value, native.entry, native.output)

    def to_device(self, native: Taped, device: object) -> Taped:
        base = self.base
        found = base.to_device(native.value, device)
        if native.entry is None or found is native.value:
            return Taped(found, native.entry, native.output)
        back = base.own_device(base.device(native.value))

        def moved(k: Kernels, needs: object, g: Native, out: Native, x: Native) -> Sequence[Native]:
            return [k.handle.to_device(g, back)]

        return Taped(
            found,
            entry_of(kernels_of(base), Rule(moved, frozenset()), [native.value], [found], {}, parents_of([native])),
        )

    def from_dlpack(self, x: object, **options: Any) -> Taped:
        return Taped(self.base.from_dlpack(x, **options))

    def handed_out(self, native: Taped) -> object:
        return self.base.handed_out(self._constant(native))

    def dlpack(self, native: Taped, **options: Any) -> object:
        return self.base.dlpack(self._constant(native), **options)

    def dlpack_device(self, native: Taped) -> tuple[int, int]:
        return self.base.dlpack_device(native.value)

    def _constant(self, native: Taped) -> Native:
        if native.entry is not None:
            check_running()
            raise LostDerivativeError(
                "the engine's own array is asked of an array whose derivative is being taken, which wouldn't follow: "
                "use functions of unifyarr, declare the engine's code as an operation with @ua.op, or pass "
                "ua.stop_gradient(x) if it is a constant there"
            )
        value: Native = native.value
        return value

    # -- traces and derivatives ---------------------------------------------------------------------------------------

    def trace(self) -> object:
        return self.base.trace()

    def is_watched(self, *natives: Taped) -> bool:
        # Rules are for kernels: bodies need no other ones for derivatives' sake.
        return self.base.is_watched(*[native.value for native in natives])

    def hides_values(self, native: Taped) -> bool:
        return self.base.hides_values(native.value)

    def holds_anywhere(self, native: Taped) -> bool | None:
        return self.base.holds_anywhere(native.value)

    def records_gradient(self, native: Taped) -> bool:
        return self.base.records_gradient(native.value)

    def carries_derivative(self, native: Taped) -> bool:
        if native.entry is not None:
            check_running()
        return native.entry is not None or self.base.carries_derivative(native.value)

    def held_fixed(self, native: Taped) -> Taped:
        return Taped(self.base.held_fixed(native.value), None, 0, native.layout)

    def known_number(self, native: Taped) -> float | None:
        return self.base.known_number(native.value) if native.entry is None else None
