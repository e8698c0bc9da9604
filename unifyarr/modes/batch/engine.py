"""The engine of a batch, as the frontend sees an engine."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._core.engines.handle import Handle
from ..._core.values.lengths import shape_of
from ...errors import TraceError
from ..mode import ModeEngine
from .natives import Batched
from .selection import BatchedSelection


class BatchEngine(ModeEngine[Batched]):
    """The engine of a batch as the frontend sees one: what isn't said here is asked of the backend of the values."""

    native_types = (Batched,)

    def __init__(self, base: Handle) -> None:
        super().__init__(base)
        for name in ("has_shapes", "has_values", "has_strides", "warns", "has_fixed_dtypes", "no_trace"):
            setattr(self, name, getattr(base, name))

    # -- what an array is for one element of the batch ----------------------------------------------------------------

    def dtype(self, native: Batched) -> Any:
        return self.base.dtype(_stored(native))

    def shape(self, native: Batched) -> Any:
        if isinstance(native, BatchedSelection):
            shape, axis = self.shape(native.dense), native.axis
            return shape_of((*shape[:axis], None, *shape[axis + 1 :]))
        shape = self.base.shape(native.value)
        return shape if native.is_constant else shape[1:]

    def strides(self, native: Batched) -> Any:
        if native.layout is not None:
            return native.layout
        if isinstance(native, BatchedSelection):
            # What is selected has memory of its own, if any.
            return None
        strides = self.base.strides(native.value)
        return strides if native.is_constant or strides is None else strides[1:]

    def as_stored(self, old: Batched, new: Batched) -> Batched:
        if not self.has_strides or isinstance(new, BatchedSelection):
            return new
        strides = self.strides(old)
        return new if self.strides(new) == strides else Batched(new.value, new.is_constant, strides)

    def device(self, native: Batched) -> Any:
        return self.base.device(_stored(native))

    def place_beside(self, native: Batched) -> Any:
        return self.base.place_beside(_stored(native))

    def note_bounds(self, native: Batched, low: int, high: int, /) -> None:
        if not isinstance(native, BatchedSelection):
            self.base.note_bounds(native.value, low, high)

    def may_meet(self, first: Batched, second: Batched) -> bool:
        return self.base.may_meet(_stored(first), _stored(second))

    def sharding(self, native: Batched) -> Any:
        return self.base.sharding(_stored(native))

    # -- values -------------------------------------------------------------------------------------------------------

    def as_native(self, value: Any) -> Batched:
        return value if isinstance(value, Batched) else Batched(self.base.as_native(value), True)

    def from_numpy(self, array: np.ndarray, *, device: Any = None, copy: bool = True) -> Batched:
        return Batched(self.base.from_numpy(array, device=device, copy=True), True)

    def constant(self, array: np.ndarray, *, device: Any = None) -> Batched:
        return Batched(self.base.constant(array, device=device), True)

    def to_numpy(self, native: Batched) -> np.ndarray:
        return self.base.to_numpy(native.value)

    def copy(self, native: Batched) -> Batched:
        # Nothing writes a native of a batch.
        if isinstance(native, BatchedSelection):
            return native
        return Batched(native.value, native.is_constant)

    def to_device(self, native: Batched, device: Any) -> Batched:
        return Batched(self.base.to_device(native.value, device), native.is_constant)

    def from_dlpack(self, x: Any, **options: Any) -> Batched:
        return Batched(self.base.from_dlpack(x, **options), True)

    def handed_out(self, native: Batched) -> Any:
        return self.base.handed_out(self._constant(native))

    def dlpack(self, native: Batched, **options: Any) -> Any:
        return self.base.dlpack(self._constant(native), **options)

    def dlpack_device(self, native: Batched) -> Any:
        return self.base.dlpack_device(native.value)

    def _constant(self, native: Batched) -> Any:
        if not native.is_constant:
            raise TraceError(
                "the engine's own array is asked of an array inside vmap(), which each element of the batch has "
                "another one for: use functions of unifyarr, declare the engine's code as an operation with @ua.op, or "
                "name the engine that is to batch the function, vmap(..., backend='torch') for example"
            )
        return native.value

    # -- traces and derivatives ---------------------------------------------------------------------------------------

    def trace(self) -> object:
        return self.base.trace()

    def trace_state(self) -> object:
        return self.base.trace_state()

    def type_key(self, native: Batched) -> Any:
        return self.shape(native), self.dtype(native), native.is_constant

    def hides_values(self, native: Batched) -> bool:
        return not native.is_constant or self.base.hides_values(native.value)

    def holds_anywhere(self, native: Batched) -> bool | None:
        base = self.base
        if native.is_constant:
            return base.holds_anywhere(native.value)
        return base.holds_anywhere(base.as_native(any_of(base, native.value)))

    def records_gradient(self, native: Batched) -> bool:
        return self.base.records_gradient(_stored(native))

    def carries_derivative(self, native: Batched) -> bool:
        return self.base.carries_derivative(_stored(native))

    def held_fixed(self, native: Batched) -> Batched:
        return Batched(self.base.held_fixed(native.value), native.is_constant, native.layout)

    def known_number(self, native: Batched) -> float | None:
        return self.base.known_number(native.value) if native.is_constant else None


def _stored(native: Batched) -> Any:
    """Return a value that has the dtype and the device of a native."""
    return native.dense.value if isinstance(native, BatchedSelection) else native.value


def any_of(base: Handle, value: Any) -> Any:
    """Return whether a condition holds for one element of a batch at least."""
    told = {"result": ((), np.dtype(np.bool))} if base.records else {}
    return base.kernel("any")(value, axis=(0,), keepdims=False, **told)
